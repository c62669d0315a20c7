//! Which files are tables, by their first bytes.
//!
//! ```text
//! Parquet      = "PAR1" …                     "PARE" where the footer is encrypted
//! Arrow file   = "ARROW1" padding:2 …         also called Feather 2
//! Arrow stream = ffffffff length:4 root:4 …   a flatbuffer of `length` bytes, whose root lies in it
//! ```

/// A format of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowsFormat {
    /// Parquet.
    Parquet,
    /// Arrow IPC with a footer.
    ArrowFile,
    /// Arrow IPC without a footer.
    ArrowStream,
}

/// The longest schema of an Arrow stream.
const MOST_SCHEMA: u32 = 64 << 20;

impl RowsFormat {
    /// The format of a file with these first bytes; 12 are enough.
    pub fn of(head: &[u8]) -> Option<Self> {
        match head {
            [b'P', b'A', b'R', b'1' | b'E', ..] => Some(Self::Parquet),
            [b'A', b'R', b'R', b'O', b'W', b'1', 0, 0, ..] => Some(Self::ArrowFile),
            [0xff, 0xff, 0xff, 0xff, l0, l1, l2, l3, r0, r1, r2, r3, ..] => {
                let length = u32::from_le_bytes([*l0, *l1, *l2, *l3]);
                let root = u32::from_le_bytes([*r0, *r1, *r2, *r3]);
                let is_schema = length <= MOST_SCHEMA && length % 8 == 0 && root % 2 == 0 && root >= 4;
                (is_schema && root < length).then_some(Self::ArrowStream)
            }
            _ => None,
        }
    }

    /// The name for reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Parquet => "Parquet",
            Self::ArrowFile | Self::ArrowStream => "Arrow",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_told_from_other_files() {
        let stream = [0xff, 0xff, 0xff, 0xff, 0x78, 0, 0, 0, 0x10, 0, 0, 0, 0, 0];
        for (head, format) in [
            (b"PAR1\x15\x04".as_slice(), Some(RowsFormat::Parquet)),
            (b"PARE", Some(RowsFormat::Parquet)),
            (b"ARROW1\0\0\xff\xff", Some(RowsFormat::ArrowFile)),
            (&stream, Some(RowsFormat::ArrowStream)),
            (b"PAR", None),
            (b"ARROW1 is a name", None),
            (&[0xff; 64], None),
            (b"", None),
        ] {
            assert_eq!(RowsFormat::of(head), format);
        }
    }
}
