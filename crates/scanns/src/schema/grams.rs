//! Which runs of characters stand for a word, and how they are written.

use std::fmt;

use crate::error::{Error, Result};

/// Which runs of characters of a word are terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grams {
    min: u8,
    max: u8,
    edge: bool,
}

/// Most characters of a run.
const MAX_GRAM: u8 = 16;

/// Most lengths of runs, so that a text is not multiplied beyond what an index thread has room for.
const MAX_LENGTHS: u8 = 8;

impl Grams {
    /// Runs of `min` to `max` characters; with `edge` only those at the beginning of a word.
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

    /// Reads `3` or `2-3`.
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

    /// What stands in files: the fewest characters, the most, 1 for the beginning only.
    pub(super) fn parameters(&self) -> [u64; 4] {
        [self.min.into(), self.max.into(), self.edge.into(), 0]
    }

    /// Fewest characters.
    pub fn min(&self) -> usize {
        usize::from(self.min)
    }

    /// Most characters.
    pub fn max(&self) -> usize {
        usize::from(self.max)
    }

    /// True if only those at the beginning of a word are taken.
    pub fn edge(&self) -> bool {
        self.edge
    }
}

impl fmt::Display for Grams {
    /// As in `ngram:2-3`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.edge { "edge-ngram" } else { "ngram" };
        write!(out, "{kind}:{}-{}", self.min, self.max)
    }
}
