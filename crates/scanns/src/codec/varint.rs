//! Single integers: little-endian base-128 varints and a bounds-checked reader of mixed fields.

#![expect(clippy::indexing_slicing, reason = "a number of 64 bits has at most ten groups of seven")]

/// Appends `value` in groups of seven bits, lowest first. The high bit of a byte is set if more bytes follow.
#[inline]
pub fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push((value & 0x7f) as u8);
}

/// Returns the bytes that [`put_varint`] appends, in an array, and their number.
#[inline]
pub fn varint(mut value: u64) -> ([u8; 10], usize) {
    let (mut bytes, mut len) = ([0; 10], 0);
    while value >= 0x80 {
        bytes[len] = (value & 0x7f) as u8 | 0x80;
        value >>= 7;
        len += 1;
    }
    bytes[len] = (value & 0x7f) as u8;
    (bytes, len + 1)
}

/// Reads fields from the front of a byte slice. Every method returns `None` if too few bytes are left.
#[derive(Clone, Copy, Debug)]
pub struct ByteReader<'a> {
    bytes: &'a [u8],
}

impl<'a> ByteReader<'a> {
    /// Creates a reader at the start of `bytes`.
    #[inline]
    pub fn new(bytes: &'a [u8]) -> Self {
        ByteReader { bytes }
    }

    /// Returns the bytes that have not been read.
    #[inline]
    pub fn remaining(&self) -> &'a [u8] {
        self.bytes
    }

    /// Reads the next `count` bytes.
    #[inline]
    pub fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.bytes.split_at_checked(count)?;
        self.bytes = tail;
        Some(head)
    }

    /// Reads the next byte.
    #[inline]
    pub fn u8(&mut self) -> Option<u8> {
        let (&first, tail) = self.bytes.split_first()?;
        self.bytes = tail;
        Some(first)
    }

    /// Reads the next four bytes, little-endian.
    #[inline]
    pub fn u32(&mut self) -> Option<u32> {
        let (head, tail) = self.bytes.split_first_chunk()?;
        self.bytes = tail;
        Some(u32::from_le_bytes(*head))
    }

    /// Reads the next eight bytes, little-endian.
    #[inline]
    pub fn u64(&mut self) -> Option<u64> {
        let (head, tail) = self.bytes.split_first_chunk()?;
        self.bytes = tail;
        Some(u64::from_le_bytes(*head))
    }

    /// Reads a varint; `None` if it does not end within ten bytes or exceeds 64 bits.
    #[inline]
    pub fn varint(&mut self) -> Option<u64> {
        let first = self.u8()?;
        if first < 0x80 {
            return Some(u64::from(first));
        }
        let mut value = u64::from(first & 0x7f);
        for shift in (7..64).step_by(7) {
            let byte = self.u8()?;
            let bits = u64::from(byte & 0x7f);
            if bits << shift >> shift != bits {
                return None;
            }
            value |= bits << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    /// Reads a varint that fits into 32 bits.
    #[inline]
    pub fn varint32(&mut self) -> Option<u32> {
        u32::try_from(self.varint()?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_power_of_two_and_its_neighbours_read_back() {
        for bit in 0..64 {
            for value in [(1u64 << bit) - 1, 1 << bit, (1 << bit) + 1, u64::MAX] {
                let mut bytes = Vec::new();
                put_varint(&mut bytes, value);
                let (array, len) = varint(value);
                assert_eq!(bytes, array[..len]);
                let mut reader = ByteReader::new(&bytes);
                assert_eq!(reader.varint(), Some(value));
                assert!(reader.remaining().is_empty());
                for cut in 0..bytes.len() {
                    assert_eq!(ByteReader::new(&bytes[..cut]).varint(), None);
                }
            }
        }
    }

    #[test]
    fn overlong_varints_are_refused() {
        assert_eq!(ByteReader::new(&[0xff; 20]).varint(), None);
        assert_eq!(
            ByteReader::new(&[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x02]).varint(),
            None
        );
        assert_eq!(ByteReader::new(&[0xff, 0xff, 0xff, 0xff, 0x1f]).varint32(), None);
    }
}
