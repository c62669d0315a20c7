//! New values for documents in one column of numbers. The documents themselves are not indexed again.

use crate::column::{ColumnKind, NewValues};
use crate::error::{Error, Result};
use crate::schema::{Field, Schema, Value};
use crate::segment::Changes;

/// New values of documents in a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ColumnSetting {
    field: Field,
    kind: ColumnKind,
    /// The values in the form in which the column stores them.
    orders: Vec<u64>,
}

impl ColumnSetting {
    /// Creates a setting for a field; without values, documents lose their value.
    ///
    /// # Errors
    /// [`Error::InvalidField`] if the field is not in the schema, is not a column of numbers, or is also
    /// stored with the documents; [`Error::InvalidValue`] for values of another kind.
    pub(crate) fn new(schema: &Schema, field: Field, values: &[Value]) -> Result<Self> {
        let refuse = |field: &str, problem: &str, remedy: &str| {
            Err(Error::InvalidField {
                field: field.to_owned(),
                problem: problem.to_owned(),
                remedy: remedy.to_owned(),
            })
        };
        let Some(entry) = schema.entry(field) else {
            let name = format!("{field:?}");
            return refuse(&name, "is not in the schema of the index", "take fields from that schema");
        };
        let kind = ColumnKind::of(&entry.kind);
        if !entry.column || !kind.is_number() {
            let problem =
                "is not a column of numbers, dates or booleans, so its values cannot be changed in place";
            return refuse(&entry.name, problem, "replace the documents");
        }
        if entry.stored {
            let problem = "is also stored with the documents, which would keep the old values";
            return refuse(&entry.name, problem, "replace the documents");
        }
        let wrong_kind = || {
            let values = values.iter().map(|value| format!("{value:?}")).collect::<Vec<_>>().join(", ");
            Error::invalid(format!("value of field '{}'", entry.name), values, entry.kind.name())
        };
        let orders = values.iter().map(|value| kind.order_of(value.as_ref())).collect::<Option<Vec<u64>>>();
        Ok(ColumnSetting { field, kind, orders: orders.ok_or_else(wrong_kind)? })
    }

    /// Adds the values of a document to `changes`.
    pub(crate) fn put(&self, document: u32, changes: &mut Changes) {
        let (_, values) = changes.entry(self.field).or_insert_with(|| (self.kind, NewValues::new()));
        values.insert(document, self.orders.clone());
    }

    /// Bytes of memory in use.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<Self>() + self.orders.capacity() * 8
    }
}
