//! The set of bytes that separate tokens.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};

/// A set of bytes, one bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delimiters {
    bits: [u64; 4],
}

const WHITESPACE: &[u8] = b" \t\n\x0b\x0c\r";

impl Delimiters {
    /// The set of exactly `bytes`.
    pub const fn new(bytes: &[u8]) -> Self {
        let mut bits = [0u64; 4];
        let mut i = 0;
        while i < bytes.len() {
            bits[(bytes[i] >> 6) as usize] |= 1 << (bytes[i] & 63);
            i += 1;
        }
        Delimiters { bits }
    }

    /// ASCII white space: space, tab, line feed, vertical tab, form feed, carriage return.
    pub const fn whitespace() -> Self {
        Self::new(WHITESPACE)
    }

    /// White space and `/`: for paths and metadata dumps.
    pub const fn paths() -> Self {
        Self::new(b" \t\n\x0b\x0c\r/")
    }

    /// Parses a set that is written as text, with the escapes `\t \n \r \0 \s` (all white space) `\\` and
    /// `\xHH`.
    pub fn parse(text: &str) -> Result<Self> {
        let bad = |expected: &str| Error::invalid("delimiters", format!("'{text}'"), expected);
        let mut bytes = Vec::new();
        let mut rest = text.bytes();
        while let Some(byte) = rest.next() {
            if byte != b'\\' {
                bytes.push(byte);
                continue;
            }
            match rest.next() {
                Some(b't') => bytes.push(b'\t'),
                Some(b'n') => bytes.push(b'\n'),
                Some(b'r') => bytes.push(b'\r'),
                Some(b'0') => bytes.push(0),
                Some(b's') => bytes.extend_from_slice(WHITESPACE),
                Some(b'\\') => bytes.push(b'\\'),
                Some(b'x') => {
                    let digit = |d: Option<u8>| d.and_then(|d| (d as char).to_digit(16));
                    match (digit(rest.next()), digit(rest.next())) {
                        (Some(high), Some(low)) => bytes.extend(u8::try_from(high * 16 + low)),
                        _ => return Err(bad("two hexadecimal digits after \\x")),
                    }
                }
                _ => return Err(bad("one of the escapes \\t \\n \\r \\0 \\s \\\\ \\xHH")),
            }
        }
        if bytes.is_empty() {
            return Err(bad("at least one byte"));
        }
        Ok(Self::new(&bytes))
    }

    /// True if `byte` separates tokens.
    #[inline]
    pub const fn contains(&self, byte: u8) -> bool {
        self.bits[(byte >> 6) as usize] >> (byte & 63) & 1 != 0
    }

    /// The set as four words, bit `b & 63` of word `b >> 6` for byte `b`.
    pub const fn words(&self) -> [u64; 4] {
        self.bits
    }

    /// The inverse of [`Delimiters::words`].
    pub const fn from_words(bits: [u64; 4]) -> Self {
        Delimiters { bits }
    }
}

impl FromStr for Delimiters {
    type Err = Error;

    /// Parses a set as [`Delimiters::parse`] does.
    fn from_str(text: &str) -> Result<Self> {
        Self::parse(text)
    }
}

impl fmt::Display for Delimiters {
    /// Writes the set in the notation that [`Delimiters::parse`] reads.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for byte in (0..=255u8).filter(|&b| self.contains(b)) {
            match byte {
                b'\\' => out.write_str("\\\\")?,
                0x21..=0x7e => write!(out, "{}", byte as char)?,
                _ => write!(out, "\\x{byte:02x}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_form_reads_back_for_every_single_byte() {
        for byte in 0..=255u8 {
            let set = Delimiters::new(&[byte]);
            assert_eq!(Delimiters::parse(&set.to_string()).unwrap(), set, "byte {byte}");
            assert!((0..=255u8).all(|b| set.contains(b) == (b == byte)));
        }
    }

    #[test]
    fn escapes_name_what_a_shell_cannot_type() {
        assert_eq!(Delimiters::parse("\\s/").unwrap(), Delimiters::paths());
        for bad in ["", "\\", "\\x4", "\\q"] {
            assert!(Delimiters::parse(bad).is_err(), "{bad:?}");
        }
    }
}
