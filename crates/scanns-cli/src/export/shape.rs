//! The columns of the output.

use std::fmt::{self, Display, Formatter};

use scanns::columns::{BatchColumn, ColumnKind};

/// A column of the output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The name.
    pub name: String,
    /// The kind of its values.
    pub kind: ColumnKind,
    /// True if every row has a value.
    pub required: bool,
    /// True if a row may have several values.
    pub several: bool,
    /// True for texts of which some are not valid UTF-8.
    pub binary: bool,
}

/// The error that the column with this number contains invalid UTF-8.
#[derive(Clone, Copy, Debug)]
pub struct NotUnicode(pub usize);

impl Display for NotUnicode {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "column {} contains a text that is not valid UTF-8", self.0 + 1)
    }
}

impl std::error::Error for NotUnicode {}

impl Shape {
    /// True if values are texts, which may be invalid UTF-8.
    pub fn is_text(&self) -> bool {
        !self.kind.is_number() && self.kind != ColumnKind::Bytes
    }

    /// Marks the shape as binary if the column contains invalid UTF-8.
    pub fn look_at(&mut self, column: &BatchColumn) {
        let is_binary = |string| std::str::from_utf8(string).is_err();
        self.binary = self.binary || (self.is_text() && column.distinct_strings().any(is_binary));
    }
}
