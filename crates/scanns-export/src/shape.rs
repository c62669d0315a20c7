//! The columns of the output.

use scanns::Snapshot;
use scanns::columns::{BatchColumn, ColumnKind};
use scanns::schema::Field;

/// The name of the column of the document's key, which is not a field.
pub const KEY: &str = "_key";

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

impl Shape {
    /// The column of keys.
    pub fn of_key() -> Self {
        let kind = ColumnKind::Text;
        Shape { name: KEY.into(), kind, required: true, several: false, binary: false }
    }

    /// The column of a field of a snapshot.
    pub fn of_field(snapshot: &Snapshot, field: Field) -> Self {
        let entry = snapshot.schema().entry(field);
        Shape {
            name: entry.map(|entry| entry.name.clone()).unwrap_or_default(),
            kind: entry.map_or(ColumnKind::Text, |entry| ColumnKind::of(&entry.kind)),
            required: false,
            several: snapshot.may_have_several(field),
            binary: false,
        }
    }

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
