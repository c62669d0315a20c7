//! Total readers over bytes: every read is checked, and a lying length costs no memory.

use std::io::{self, Read, Seek, SeekFrom};

/// The most bytes one read may take. No header of a sound file has a larger part.
pub(crate) const MOST_READ: usize = 64 << 20;

/// A file that is read at offsets.
pub(crate) struct Source<'a, R> {
    inner: &'a mut R,
    size: u64,
}

impl<'a, R: Read + Seek> Source<'a, R> {
    /// Reads `inner`, which has `size` bytes.
    pub(crate) fn new(inner: &'a mut R, size: u64) -> Self {
        Self { inner, size }
    }

    /// The bytes of the file.
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// The file itself at its first byte, for parsers of others.
    pub(crate) fn rewound(&mut self) -> io::Result<&mut R> {
        self.inner.seek(SeekFrom::Start(0))?;
        Ok(self.inner)
    }

    /// Up to `len` bytes at `offset`: fewer at the end of the file, none after it.
    pub(crate) fn read_at(&mut self, offset: u64, len: usize) -> io::Result<Vec<u8>> {
        let left = self.size.saturating_sub(offset);
        let len = usize::try_from(left).unwrap_or(usize::MAX).min(len).min(MOST_READ);
        let mut bytes = Vec::new();
        if len > 0 {
            self.inner.seek(SeekFrom::Start(offset))?;
            self.inner.by_ref().take(len as u64).read_to_end(&mut bytes)?;
        }
        Ok(bytes)
    }
}

/// The order of the bytes in a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// The least significant byte first.
    Little,
    /// The most significant byte first.
    Big,
}

/// A position in bytes. Each read gives `None` after the end and then stays where it was.
#[derive(Clone, Debug)]
pub(crate) struct Bytes<'a> {
    rest: &'a [u8],
    order: Order,
}

impl<'a> Bytes<'a> {
    /// Starts at the first byte of `data`.
    pub(crate) fn new(data: &'a [u8], order: Order) -> Self {
        Self { rest: data, order }
    }

    /// What is not yet read.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// The next `len` bytes.
    pub(crate) fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest;
        Some(taken)
    }

    /// Leaves out `len` bytes.
    pub(crate) fn skip(&mut self, len: usize) -> Option<()> {
        self.take(len).map(|_| ())
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let mut bytes: [u8; N] = self.take(N)?.try_into().ok()?;
        if self.order == Order::Big {
            bytes.reverse();
        }
        Some(bytes)
    }

    /// The next byte.
    pub(crate) fn u8(&mut self) -> Option<u8> {
        self.array().map(u8::from_le_bytes)
    }

    /// The next two bytes.
    pub(crate) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    /// The next four bytes.
    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    /// The next eight bytes.
    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// An integer of `size` bytes (1, 2, 4 or 8), with or without a sign.
    pub(crate) fn integer(&mut self, size: usize, signed: bool) -> Option<i128> {
        Some(match (size, signed) {
            (1, false) => self.u8()?.into(),
            (1, true) => self.array().map(i8::from_le_bytes)?.into(),
            (2, false) => self.u16()?.into(),
            (2, true) => self.array().map(i16::from_le_bytes)?.into(),
            (4, false) => self.u32()?.into(),
            (4, true) => self.array().map(i32::from_le_bytes)?.into(),
            (8, false) => self.u64()?.into(),
            (8, true) => self.array().map(i64::from_le_bytes)?.into(),
            _ => return None,
        })
    }

    /// The text of a float of four or eight bytes.
    pub(crate) fn float(&mut self, size: usize) -> Option<String> {
        match size {
            4 => self.array().map(f32::from_le_bytes).map(|x| shorter(x.to_string(), format!("{x:e}"))),
            8 => self.array().map(f64::from_le_bytes).map(|x| shorter(x.to_string(), format!("{x:e}"))),
            _ => None,
        }
    }

    /// The text of a number: a float or an integer of `size` bytes.
    pub(crate) fn number(&mut self, size: usize, kind: Kind) -> Option<String> {
        match kind {
            Kind::Float => self.float(size),
            Kind::Signed => self.integer(size, true).map(|x| x.to_string()),
            Kind::Unsigned => self.integer(size, false).map(|x| x.to_string()),
        }
    }
}

/// The kind of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An integer with a sign.
    Signed,
    /// An integer without a sign.
    Unsigned,
    /// An IEEE float.
    Float,
}

/// `plain`, or the form with an exponent where `plain` is a long row of zeros.
fn shorter(plain: String, exponent: String) -> String {
    if plain.len() <= 24 { plain } else { exponent }
}

/// Text up to the first NUL. Bytes that are not UTF-8 are read as Latin-1.
pub(crate) fn text_of(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    let bytes = bytes.get(..end).unwrap_or(bytes);
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_string(),
        Err(_) => bytes.iter().map(|&byte| char::from(byte)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_in_both_orders_and_never_past_the_end() {
        let mut big = Bytes::new(&[1, 2, 0xff, 0xfe], Order::Big);
        assert_eq!((big.u16(), big.integer(2, true), big.u8()), (Some(258), Some(-2), None));
        let mut little = Bytes::new(&[1, 2, 3], Order::Little);
        assert_eq!((little.u32(), little.u16()), (None, Some(513)));
    }

    #[test]
    fn floats_have_short_texts() {
        let mut data = Vec::new();
        data.extend(1.5f32.to_le_bytes());
        data.extend(9.969_21e36f32.to_le_bytes());
        let mut bytes = Bytes::new(&data, Order::Little);
        assert_eq!(bytes.float(4).unwrap(), "1.5");
        assert_eq!(bytes.float(4).unwrap(), "9.96921e36");
    }

    #[test]
    fn a_read_after_the_end_is_short() {
        let mut file = std::io::Cursor::new(vec![7; 10]);
        let mut source = Source::new(&mut file, 10);
        assert_eq!(source.read_at(8, usize::MAX).unwrap(), [7, 7]);
        assert!(source.read_at(u64::MAX, 5).unwrap().is_empty());
    }
}
