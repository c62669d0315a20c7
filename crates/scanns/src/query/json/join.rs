//! Joins in JSON: `{"join": {"from": "parent", "to": "key", "query": {…}, "score": "max"}}`.

use serde_json::Value;

use super::reader::JsonReader;
use crate::error::Result;
use crate::query::join::JoinScore;
use crate::query::join_side::{KEY, NamedJoinSide};
use crate::query::tree::{JoinQuery, Query};

impl JsonReader<'_> {
    /// A join; `None` if the clause inside has no terms.
    pub(super) fn join(&mut self, value: &Value) -> Result<Option<Query>> {
        self.count(1)?;
        let example = r#"{"from": "parent", "to": "key", "query": {}, "score": "max"}"#;
        let object = self.object(value, &["from", "to", "query", "score"], example)?;
        let from = self.required(object, "from", Self::side)?;
        let to = self.required(object, "to", Self::side)?;
        if let Some(message) = from.cannot_be(&to) {
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
    fn side(&mut self, value: &Value) -> Result<NamedJoinSide> {
        if value.as_str() == Some(KEY) {
            return Ok(NamedJoinSide::keys());
        }
        let column = match value {
            Value::Object(_) => {
                let object = self.object(value, &["column"], r#"a name or {"column": "key"}"#)?;
                self.required(object, "column", Self::named_column)?
            }
            _ => self.named_column(value)?,
        };
        NamedJoinSide::column(column).or_else(|message| self.fault(&message))
    }
}
