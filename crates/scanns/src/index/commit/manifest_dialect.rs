//! How rows of CSV are written, in the manifest; `manifest.rs` has the format.

use crate::codec::{ByteReader, put_varint};
use crate::record::{CsvDelimiter, CsvDialect, CsvNames, CsvQuotes};

/// Writes a dialect.
pub(super) fn put_dialect(dialect: &CsvDialect, out: &mut Vec<u8>) {
    for delimiter in [dialect.delimiter, dialect.likely] {
        out.extend(delimiter.map_or(0, |delimiter| u32::from(delimiter.byte()) + 1).to_le_bytes());
    }
    let quotes = match dialect.quotes {
        CsvQuotes::Always => 0u32,
        CsvQuotes::Never => 1,
        CsvQuotes::ExceptWithTabs => 2,
    };
    let (kind, names) = match &dialect.names {
        CsvNames::FirstRow => (0u32, &[][..]),
        CsvNames::Numbered => (1, &[][..]),
        CsvNames::Given(names) => (2, names.as_slice()),
    };
    let count = u32::try_from(names.len()).unwrap_or(u32::MAX);
    out.extend([quotes, kind, count].map(u32::to_le_bytes).as_flattened());
    for name in names {
        put_varint(out, name.len() as u64);
        out.extend_from_slice(name.as_bytes());
    }
}

/// Reads a dialect; `None` for damage.
pub(super) fn read_dialect(reader: &mut ByteReader<'_>) -> Option<CsvDialect> {
    let delimiter = read_delimiter(reader)?;
    let likely = read_delimiter(reader)?;
    let quotes = match reader.u32()? {
        0 => CsvQuotes::Always,
        1 => CsvQuotes::Never,
        2 => CsvQuotes::ExceptWithTabs,
        _ => return None,
    };
    let names = match (reader.u32()?, reader.u32()?) {
        (0, 0) => CsvNames::FirstRow,
        (1, 0) => CsvNames::Numbered,
        (2, count) => {
            let mut names = Vec::new();
            for _ in 0..count {
                let len = usize::try_from(reader.varint()?).ok()?;
                names.push(String::from_utf8(reader.take(len)?.to_vec()).ok()?);
            }
            CsvNames::Given(names)
        }
        _ => return None,
    };
    Some(CsvDialect { delimiter, likely, quotes, names })
}

/// A delimiter, or none; `None` for damage.
fn read_delimiter(reader: &mut ByteReader<'_>) -> Option<Option<CsvDelimiter>> {
    match reader.u32()? {
        0 => Some(None),
        code => {
            let byte = u8::try_from(code - 1).ok()?;
            CsvDelimiter::of_byte(byte).map(Some)
        }
    }
}
