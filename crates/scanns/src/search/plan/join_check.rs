//! Refuses joins by fields whose values cannot be compared.

use crate::error::{Error, Result};
use crate::query::{JoinOn, JoinQuery};
use crate::schema::{Field, FieldKind, Schema};

/// What the values of one side of a join are, and its name.
struct JoinSide {
    values: &'static str,
    name: String,
}

/// Refuses a join whose sides are not columns of keywords or whole numbers, or whose kinds differ.
///
/// # Errors
/// [`Error::InvalidField`] for a field that is not in the index or not such a column, [`Error::Conflict`] for
/// values of different kinds.
pub(super) fn check_join(join: &JoinQuery, schema: &Schema) -> Result<()> {
    let (from, to) = (JoinSide::of(join.from, schema)?, JoinSide::of(join.to, schema)?);
    if from.values == to.values {
        return Ok(());
    }
    Err(Error::Conflict {
        what: format!("a join from {}, {},", from.name, from.values),
        with: format!("{}, {}", to.name, to.values),
        remedy: "compare values of the same kind; keys are keywords".into(),
    })
}

impl JoinSide {
    fn of(on: JoinOn, schema: &Schema) -> Result<Self> {
        match on {
            JoinOn::Key => Ok(JoinSide { values: "keywords", name: "the key".into() }),
            JoinOn::Column(field) => JoinSide::of_column(field, schema),
        }
    }

    fn of_column(field: Field, schema: &Schema) -> Result<Self> {
        let invalid = |field: String, problem: &str, remedy: &str| Error::InvalidField {
            field,
            problem: problem.into(),
            remedy: remedy.into(),
        };
        let Some(entry) = schema.entry(field) else {
            let number = field.number().to_string();
            return Err(invalid(
                number,
                "of a join is not in the index",
                "use a column of the index, or the key",
            ));
        };
        let values = match entry.kind {
            FieldKind::Keyword => "keywords",
            FieldKind::Unsigned => "unsigned numbers",
            FieldKind::Signed => "signed numbers",
            _ => {
                let problem = "of a join has neither keywords nor whole numbers";
                return Err(invalid(entry.name.clone(), problem, "use a field of these kinds, or the key"));
            }
        };
        if !entry.column {
            let remedy = "build the index with a column of the field, or use another column, or the key";
            return Err(invalid(entry.name.clone(), "of a join is not a column", remedy));
        }
        Ok(JoinSide { values, name: format!("'{}'", entry.name) })
    }
}
