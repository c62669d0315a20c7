//! Joins in JSON: `{"join": {"from": "parent", "to": "key", "query": {…}, "score": "max"}}`.

use serde_json::Value;

use super::reader::JsonReader;
use crate::error::Result;
use crate::query::join::{JoinOn, JoinScore};
use crate::query::tree::{JoinQuery, Query};
use crate::schema::FieldKind;

/// The name of the keys of documents.
pub(super) const KEY: &str = "key";

/// What a join compares, and what its values are.
struct Side {
    on: JoinOn,
    name: String,
    kind: FieldKind,
}

impl JsonReader<'_> {
    /// A join; `None` if the clause inside has no terms.
    pub(super) fn join(&mut self, value: &Value) -> Result<Option<Query>> {
        self.count(1)?;
        let example = r#"{"from": "parent", "to": "key", "query": {}, "score": "max"}"#;
        let object = self.object(value, &["from", "to", "query", "score"], example)?;
        let from = self.required(object, "from", Self::side)?;
        let to = self.required(object, "to", Self::side)?;
        if from.kind != to.kind {
            let message = format!(
                "{} are {} and {} are {}: compare values of the same kind",
                from.name,
                from.values(),
                to.name,
                to.values()
            );
            return self.within("to", |this| this.fault(&message));
        }
        let score = self.optional(object, "score", |this, value| {
            let name = this.string(value)?;
            JoinScore::parse(&name).or_else(|_| this.fault("write none, max, sum, mean or min"))
        })?;
        let query = self.required(object, "query", Self::clause)?;
        let joined = |query| {
            let (query, score) = (Box::new(query), score.unwrap_or_default());
            Query::Join(JoinQuery { from: from.on, to: to.on, query, score })
        };
        Ok(query.map(joined))
    }

    /// The name of a column, or of the keys.
    fn side(&mut self, value: &Value) -> Result<Side> {
        if value.as_str() == Some(KEY) {
            return Ok(Side { on: JoinOn::Key, name: "keys".to_owned(), kind: FieldKind::Keyword });
        }
        let column = match value {
            Value::Object(_) => {
                let object = self.object(value, &["column"], r#"a name or {"column": "key"}"#)?;
                self.required(object, "column", Self::named_column)?
            }
            _ => self.named_column(value)?,
        };
        match column.kind {
            FieldKind::Keyword | FieldKind::Unsigned | FieldKind::Signed => {
                let name = format!("values of {}", column.name);
                Ok(Side { on: JoinOn::Column(column.field), name, kind: column.kind })
            }
            _ => self.fault(&format!(
                "{} holds {}: join by a column of keywords or whole numbers, or by key",
                column.name,
                column.holds()
            )),
        }
    }
}

impl Side {
    fn values(&self) -> &'static str {
        match self.kind {
            FieldKind::Unsigned => "whole numbers that are not negative",
            FieldKind::Signed => "whole numbers",
            _ => "keywords",
        }
    }
}
