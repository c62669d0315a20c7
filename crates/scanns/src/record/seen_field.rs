//! One field of a sample: statistics of its values, and the kind of field that can hold them.

use std::collections::BTreeSet;

use xxhash_rust::xxh3::xxh3_64;

use super::json::number;
use super::scalar::{Scalar, parse_boolean};
use crate::schema::{Analyzer, FieldKind, MAX_KEY, Postings, parse_date};

/// A text field is a keyword if its values have at most this many bytes and words on average.
const KEYWORD_BYTES: u64 = 64;
const KEYWORD_WORDS: u64 = 3;

/// The number of smallest hashes that are used to estimate the number of distinct values.
const SKETCH: usize = 256;

/// Statistics of one field in the sample.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldFigures {
    /// Values, nulls not counted.
    pub values: u64,
    /// Nulls; in CSV, empty values.
    pub nulls: u64,
    /// Number of distinct values, estimated above 256.
    pub distinct: u64,
    /// Bytes of all values, as text.
    pub bytes: u64,
    /// Bytes of the longest value.
    pub longest: u64,
}

/// A name of the sample, with the properties of its values.
#[derive(Default)]
pub(super) struct SeenField {
    pub name: String,
    pub source: String,
    /// True if records have several names for this field.
    pub several: bool,
    pub figures: FieldFigures,
    words: u64,
    booleans: u64,
    integers: u64,
    fractions: u64,
    dates: u64,
    /// Integers outside of the range of unsigned numbers.
    not_unsigned: u64,
    not_signed: u64,
    /// The smallest hashes of values.
    sketch: BTreeSet<u64>,
}

impl SeenField {
    /// Creates a field without values.
    pub fn new(name: String, source: String) -> Self {
        SeenField { name, source, ..SeenField::default() }
    }

    /// Counts one value.
    pub fn add(&mut self, scalar: Scalar<'_>, is_json: bool) {
        let text = scalar.as_text();
        let trimmed = text.trim_ascii();
        match scalar {
            Scalar::Boolean(_) => self.booleans += 1,
            Scalar::Number(number, whole) => self.add_number(number, whole),
            Scalar::Text(_) if !is_json && parse_boolean(text).is_some() => self.booleans += 1,
            Scalar::Text(_) if !is_json && number::is_plain(trimmed) => {
                self.add_number(trimmed, number::is_plain_integer(trimmed));
            }
            Scalar::Text(_) => self.dates += u64::from(parse_date(trimmed).is_some()),
        }
        let len = text.len() as u64;
        let words = text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).count();
        self.words += words as u64;
        self.figures.values += 1;
        self.figures.bytes += len;
        self.figures.longest = self.figures.longest.max(len);
        let hash = xxh3_64(text);
        if self.sketch.len() < SKETCH || self.sketch.last().is_some_and(|last| hash < *last) {
            self.sketch.insert(hash);
            if self.sketch.len() > SKETCH {
                self.sketch.pop_last();
            }
        }
    }

    fn add_number(&mut self, text: &[u8], whole: bool) {
        if whole {
            self.integers += 1;
            self.not_unsigned += u64::from(number::unsigned(text).is_none());
            self.not_signed += u64::from(number::signed(text).is_none());
        } else {
            self.fractions += 1;
        }
    }

    /// The kind of field that can hold all values.
    pub fn kind(&self) -> FieldKind {
        let FieldFigures { values, bytes, longest, .. } = self.figures;
        let is_short = bytes <= KEYWORD_BYTES * values && self.words <= KEYWORD_WORDS * values;
        if self.booleans == values {
            FieldKind::Boolean
        } else if self.integers == values && self.not_unsigned == 0 {
            FieldKind::Unsigned
        } else if self.integers == values && self.not_signed == 0 {
            FieldKind::Signed
        } else if self.integers + self.fractions == values {
            FieldKind::Float
        } else if self.dates == values {
            FieldKind::Date
        } else if is_short && longest <= MAX_KEY as u64 {
            FieldKind::Keyword
        } else {
            FieldKind::Text { analyzer: Analyzer::Standard, postings: Postings::Frequencies }
        }
    }

    /// The statistics of the field.
    pub fn figures(&self) -> FieldFigures {
        FieldFigures { distinct: self.distinct(), ..self.figures.clone() }
    }

    /// The number of distinct values. Hashes are spread evenly, so the range of the 256 smallest shows how
    /// dense they are (Z. Bar-Yossef and others, "Counting distinct elements in a data stream", 2002).
    fn distinct(&self) -> u64 {
        match self.sketch.last() {
            Some(last) if self.sketch.len() == SKETCH => {
                let all = u128::from(u64::MAX) * (SKETCH as u128 - 1) / u128::from(*last).max(1);
                u64::try_from(all).unwrap_or(u64::MAX).min(self.figures.values)
            }
            _ => self.sketch.len() as u64,
        }
    }
}
