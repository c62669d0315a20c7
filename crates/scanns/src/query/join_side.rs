//! One side of a join as a query names it, and the messages about sides that cannot be joined.

use crate::query::join::JoinOn;
use crate::query::named_column::NamedColumn;
use crate::schema::FieldKind;

/// The name of the keys of documents.
pub(super) const KEY: &str = "key";

/// What a join compares, and what its values are.
pub(super) struct NamedJoinSide {
    pub(super) on: JoinOn,
    /// What it is called in messages.
    name: String,
    kind: FieldKind,
}

impl NamedJoinSide {
    /// The keys of documents.
    pub(super) fn keys() -> Self {
        NamedJoinSide { on: JoinOn::Key, name: "keys".to_owned(), kind: FieldKind::Keyword }
    }

    /// The values of a column.
    ///
    /// # Errors
    /// A message if they are neither keywords nor whole numbers.
    pub(super) fn column(column: NamedColumn) -> Result<Self, String> {
        match column.kind {
            FieldKind::Keyword | FieldKind::Unsigned | FieldKind::Signed => {
                let name = format!("values of {}", column.name);
                Ok(NamedJoinSide { on: JoinOn::Column(column.field), name, kind: column.kind })
            }
            _ => Err(format!(
                "{} holds {}: join by a column of keywords or whole numbers, or by {KEY}",
                column.name,
                column.holds()
            )),
        }
    }

    /// The message if values of this side cannot be values of `to`.
    pub(super) fn cannot_be(&self, to: &NamedJoinSide) -> Option<String> {
        (self.kind != to.kind).then(|| {
            format!(
                "{} are {} and {} are {}: compare values of the same kind",
                self.name,
                self.values(),
                to.name,
                to.values()
            )
        })
    }

    fn values(&self) -> &'static str {
        match self.kind {
            FieldKind::Unsigned => "whole numbers that are not negative",
            FieldKind::Signed => "whole numbers",
            _ => "keywords",
        }
    }
}
