//! The byte between the values of a row.

use crate::error::{Error, Result};

/// The delimiters that a header is searched for, in order of preference.
pub(super) const USUAL: [u8; 4] = [b',', b';', b'\t', b'|'];

/// The byte between the values of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CsvDelimiter(u8);

impl CsvDelimiter {
    /// The tab.
    pub const TAB: CsvDelimiter = CsvDelimiter(b'\t');

    /// Parses one ASCII character, or `tab`.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] for other text, and for characters with another meaning: quote, line feed,
    /// carriage return.
    pub fn parse(text: &str) -> Result<Self> {
        let byte = match text.as_bytes() {
            b"tab" | b"\\t" => Some(b'\t'),
            &[byte] => Some(byte),
            _ => None,
        };
        byte.and_then(Self::of_byte).ok_or_else(|| {
            let expected = "tab, or one ASCII character other than a quote or a line end";
            Error::invalid("delimiter", format!("{text:?}"), expected)
        })
    }

    /// A byte as delimiter; `None` for bytes with another meaning, and bytes that are not ASCII.
    pub fn of_byte(byte: u8) -> Option<Self> {
        (byte.is_ascii() && !matches!(byte, b'"' | b'\n' | b'\r')).then_some(CsvDelimiter(byte))
    }

    /// The byte.
    pub fn byte(self) -> u8 {
        self.0
    }

    /// Guesses the delimiter: the usual one that occurs most often in a header outside of quotes, or a comma
    /// if none occurs.
    pub(super) fn guess(header: &[u8]) -> Self {
        let mut counts = [0u64; USUAL.len()];
        let (mut quoted, mut last) = (false, b',');
        for &byte in header {
            if byte == b'"' && (quoted || last == b'"' || USUAL.contains(&last)) {
                quoted = !quoted;
            } else if !quoted
                && let Some(count) =
                    USUAL.iter().position(|usual| *usual == byte).and_then(|at| counts.get_mut(at))
            {
                *count += 1;
            }
            last = byte;
        }
        let most = counts.iter().copied().max().unwrap_or(0);
        let first = USUAL.iter().zip(counts).find(|(_, count)| *count == most);
        CsvDelimiter(first.map_or(b',', |(usual, _)| *usual))
    }
}
