//! Scalars as they stand in a record, and what they stand for.

use super::json::string;

/// What stands in a record as a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `null` of JSON, or nothing at all in CSV.
    Null,
    /// `true` of JSON.
    True,
    /// `false` of JSON.
    False,
    /// A number of JSON: digits, perhaps behind a minus.
    Whole,
    /// A number of JSON with a fraction or an exponent.
    Fraction,
    /// A string of JSON without escapes, or a value of CSV.
    Text,
    /// A string of JSON with escapes, all of which are valid.
    Escaped,
    /// A quoted value of CSV with quotes in it, each of which is doubled.
    Doubled,
}

/// A scalar of a record. Of what is quoted, the bytes between the quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Raw {
    /// The number of its name.
    pub name: u32,
    pub kind: Kind,
    pub start: u32,
    pub end: u32,
}

/// A scalar, read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Scalar<'r> {
    Boolean(bool),
    /// A number as JSON writes it; true if it is digits only, perhaps behind a minus.
    Number(&'r [u8], bool),
    Text(&'r [u8]),
}

impl Raw {
    /// What stands in the record.
    #[inline]
    pub fn bytes<'r>(&self, record: &'r [u8]) -> &'r [u8] {
        record.get(self.start as usize..self.end as usize).unwrap_or_default()
    }

    /// What it stands for; `None` for null. Text that differs from what stands in the record is put into `text`.
    #[inline]
    pub fn scalar<'r>(&self, record: &'r [u8], text: &'r mut Vec<u8>) -> Option<Scalar<'r>> {
        let bytes = self.bytes(record);
        Some(match self.kind {
            Kind::Null => return None,
            Kind::True => Scalar::Boolean(true),
            Kind::False => Scalar::Boolean(false),
            Kind::Whole => Scalar::Number(bytes, true),
            Kind::Fraction => Scalar::Number(bytes, false),
            Kind::Text => Scalar::Text(bytes),
            Kind::Escaped => {
                string::unescape(bytes, text);
                Scalar::Text(text)
            }
            Kind::Doubled => {
                super::csv::undouble(bytes, text);
                Scalar::Text(text)
            }
        })
    }
}
