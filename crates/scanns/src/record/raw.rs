//! Scalars as they are written in a record.

pub(crate) use crate::content::BYTE_ORDER_MARK;

/// How a scalar is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScalarKind {
    /// `null` of JSON, or an empty value of CSV.
    Null,
    /// `true` of JSON.
    True,
    /// `false` of JSON.
    False,
    /// A number of JSON: digits with an optional minus sign.
    Whole,
    /// A number of JSON with a fraction or an exponent.
    Fraction,
    /// A string of JSON without escapes, or a value of CSV.
    Text,
    /// A string of JSON with escapes, all of which are valid.
    Escaped,
    /// A quoted value of CSV that contains doubled quotes.
    Doubled,
}

/// The place of a scalar in its record; for a quoted scalar, of the bytes between the quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RawScalar {
    /// The number of its name.
    pub name: u32,
    pub kind: ScalarKind,
    pub start: u32,
    pub end: u32,
}

impl RawScalar {
    /// The bytes of the scalar in the record.
    #[inline]
    pub fn bytes<'r>(&self, record: &'r [u8]) -> &'r [u8] {
        record.get(self.start as usize..self.end as usize).unwrap_or_default()
    }
}
