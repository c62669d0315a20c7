//! The interface between the parsers and an index: its fields, and its analysis of text.

use crate::schema::{Field, FieldKind};

/// Resolves the names of fields in a query, and turns its text into terms as the index does.
pub trait QueryText {
    /// The field of terms without a field in the query.
    fn default_field(&self) -> Field;

    /// The searched field with this name.
    ///
    /// # Errors
    /// The names of the searched fields, if there is no such field.
    fn field(&self, name: &str) -> std::result::Result<Field, Vec<String>>;

    /// The field with this name and the kind of its values, if the field is a column.
    fn column(&self, _name: &str) -> Option<(Field, FieldKind)> {
        None
    }

    /// The terms of a text, analyzed as in documents, with their positions from 0.
    fn terms(&mut self, field: Field, text: &str) -> Vec<(u32, Vec<u8>)>;

    /// Spells a part of a term as the analyzer of the field spells terms, for example in lower case.
    fn spelling(&self, field: Field, text: &str) -> String;
}

/// The message for a name that is not the name of a searched field; `known` are the names of the searched
/// fields.
pub(super) fn no_such_field(name: &str, known: &[String]) -> String {
    match known {
        [] => format!("there is no field '{name}' to search"),
        known => format!("there is no field '{name}' to search, only {}", known.join(", ")),
    }
}

/// The message for a value that does not fit its column; `expected` describes valid values.
pub(super) fn not_a_value(kind: &FieldKind, expected: &str) -> String {
    format!("this is not a value of kind {}: {expected}", kind.name())
}
