//! Scalars as values: decodes the bytes of a [`RawScalar`].

use super::csv::quotes;
use super::json::string;
use super::raw::{RawScalar, ScalarKind};

/// The value of a scalar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Scalar<'r> {
    Boolean(bool),
    /// A number as JSON writes it; true if it has neither fraction nor exponent.
    Number(&'r [u8], bool),
    Text(&'r [u8]),
}

impl RawScalar {
    /// The value; `None` for null. `text` is the buffer for a text that differs from the bytes in the record.
    #[inline]
    pub fn scalar<'r>(&self, record: &'r [u8], text: &'r mut Vec<u8>) -> Option<Scalar<'r>> {
        let bytes = self.bytes(record);
        Some(match self.kind {
            ScalarKind::Null => return None,
            ScalarKind::True => Scalar::Boolean(true),
            ScalarKind::False => Scalar::Boolean(false),
            ScalarKind::Whole => Scalar::Number(bytes, true),
            ScalarKind::Fraction => Scalar::Number(bytes, false),
            ScalarKind::Text => Scalar::Text(bytes),
            ScalarKind::Escaped => {
                string::unescape(bytes, text);
                Scalar::Text(text)
            }
            ScalarKind::Doubled => {
                quotes::undouble(bytes, text);
                Scalar::Text(text)
            }
        })
    }
}

impl<'r> Scalar<'r> {
    /// The scalar as text.
    #[inline]
    pub fn as_text(self) -> &'r [u8] {
        match self {
            Scalar::Boolean(true) => b"true",
            Scalar::Boolean(false) => b"false",
            Scalar::Number(text, _) | Scalar::Text(text) => text,
        }
    }
}

/// Parses `true` or `false`, with optional spaces around it.
pub(super) fn parse_boolean(text: &[u8]) -> Option<bool> {
    match text.trim_ascii() {
        b"true" => Some(true),
        b"false" => Some(false),
        _ => None,
    }
}
