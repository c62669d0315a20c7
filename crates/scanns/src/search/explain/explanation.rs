//! The tree that explains a score.

use std::fmt;

/// A score, or a part of a score, with the parts that it was computed from.
///
/// It displays as one line for each part, with the value first, indented by its depth.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The value; at the root the score of the hit.
    pub value: f32,
    /// The meaning of the value and its formula, for display.
    pub description: String,
    /// The parts of the formula.
    pub details: Vec<Explanation>,
}

impl Explanation {
    pub(super) fn new(value: f32, description: impl Into<String>, details: Vec<Explanation>) -> Self {
        Explanation { value, description: description.into(), details }
    }

    /// Creates a part without parts.
    pub(super) fn plain(value: f32, description: impl Into<String>) -> Self {
        Explanation::new(value, description, Vec::new())
    }

    /// Creates a part for a count. The description contains the exact count if the value cannot hold it.
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
