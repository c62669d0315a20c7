//! The tree that explains a score.

use std::fmt;

/// A score, or a part of a score, and what it was made of.
///
/// It displays as one line for each part, with the value first, indented by its depth.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The value; at the root the score of the hit.
    pub value: f32,
    /// What the value is, and its formula, for people to read.
    pub description: String,
    /// The parts of the formula.
    pub details: Vec<Explanation>,
}

impl Explanation {
    pub(super) fn new(value: f32, description: impl Into<String>, details: Vec<Explanation>) -> Self {
        Explanation { value, description: description.into(), details }
    }

    /// A part without parts of its own.
    pub(super) fn plain(value: f32, description: impl Into<String>) -> Self {
        Explanation::new(value, description, Vec::new())
    }

    /// A count. The description gives it in full if the value cannot hold it.
    pub(super) fn count(number: u64, description: &str) -> Self {
        if number < 1 << f32::MANTISSA_DIGITS {
            Explanation::plain(number as f32, description)
        } else {
            Explanation::plain(number as f32, format!("{description}, {number} to be exact"))
        }
    }

    fn write(&self, depth: usize, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "{:indent$}{} {}", "", self.value, self.description, indent = 2 * depth)?;
        self.details.iter().try_for_each(|detail| detail.write(depth + 1, out))
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(0, out)
    }
}
