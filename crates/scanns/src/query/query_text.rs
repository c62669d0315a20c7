//! How the parsers see an index: its fields, and the terms that it makes of text.

use crate::schema::{Field, FieldKind};

/// Resolves the names of fields in a query, and turns its text into terms as the index does.
pub trait QueryText {
    /// The field of terms for which the query names no field.
    fn default_field(&self) -> Field;

    /// The searched field with this name.
    ///
    /// # Errors
    /// The names of the searched fields, if it is none of them.
    fn field(&self, name: &str) -> std::result::Result<Field, Vec<String>>;

    /// The field with this name and the kind of its values, if it is a column.
    fn column(&self, _name: &str) -> Option<(Field, FieldKind)> {
        None
    }

    /// The terms of a text, as documents have them, with their positions from 0.
    fn terms(&mut self, field: Field, text: &str) -> Vec<(u32, Vec<u8>)>;

    /// A part of a term in the spelling of the field's terms: in lower case if they are.
    fn spelling(&self, field: Field, text: &str) -> String;
}

/// What to say about a name that is not the name of a searched field; `known` are the names that are.
pub(super) fn no_such_field(name: &str, known: &[String]) -> String {
    match known {
        [] => format!("there is no field '{name}' to search"),
        known => format!("there is no field '{name}' to search, only {}", known.join(", ")),
    }
}

/// What to say about a value that does not fit its column; `expected` says what does.
pub(super) fn not_a_value(kind: &FieldKind, expected: &str) -> String {
    format!("this is not a value of kind {}: {expected}", kind.name())
}
