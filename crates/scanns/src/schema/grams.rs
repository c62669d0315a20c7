//! Character n-grams of words, and their text form.

use std::fmt;

use crate::error::{Error, Result};

/// The character n-grams of words: their lengths and places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grams {
    min: u8,
    max: u8,
    edge: bool,
}

/// The maximum length of an n-gram, in characters.
const MAX_GRAM: u8 = 16;

/// The maximum number of different lengths, so that the terms of a text fit into the memory of an index
/// thread.
const MAX_LENGTHS: u8 = 8;

impl Grams {
    /// N-grams of `min` to `max` characters; with `edge` only those at the beginning of a word.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] unless 1 ≤ `min` ≤ `max` ≤ 16, and, without `edge`, for more than eight
    /// lengths.
    pub fn new(min: u8, max: u8, edge: bool) -> Result<Self> {
        let fits = 0 < min && min <= max && max <= MAX_GRAM && (edge || max - min < MAX_LENGTHS);
        fits.then_some(Grams { min, max, edge }).ok_or_else(|| {
            Error::invalid(
                "n-grams",
                format!("of {min} to {max} characters"),
                format!("1 to {MAX_GRAM}, and at most {MAX_LENGTHS} lengths, or edge-ngram"),
            )
        })
    }

    /// Parses `3` or `2-3`.
    pub(super) fn parse(text: &str, edge: bool) -> Result<Self> {
        let (min, max) = text.split_once('-').unwrap_or((text, text));
        match (min.parse(), max.parse()) {
            (Ok(min), Ok(max)) => Grams::new(min, max, edge),
            _ => Err(Error::invalid(
                "n-grams",
                format!("of '{text}' characters"),
                "a number, or two as in 2-3",
            )),
        }
    }

    /// The parameters in files: the minimum length, the maximum length, 1 for the beginning of words only.
    pub(super) fn parameters(&self) -> [u64; 4] {
        [self.min.into(), self.max.into(), self.edge.into(), 0]
    }

    /// The minimum length, in characters.
    pub fn min(&self) -> usize {
        usize::from(self.min)
    }

    /// The maximum length, in characters.
    pub fn max(&self) -> usize {
        usize::from(self.max)
    }

    /// True if n-grams are taken at the beginning of a word only.
    pub fn edge(&self) -> bool {
        self.edge
    }
}

impl fmt::Display for Grams {
    /// Writes the step of a chain, as in `ngram:2-3`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.edge { "edge-ngram" } else { "ngram" };
        write!(out, "{kind}:{}-{}", self.min, self.max)
    }
}
