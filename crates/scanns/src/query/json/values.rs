//! Values of a column in JSON: `{"values": {"column": "size", "gte": "1GiB"}}`.

use std::ops::Bound;

use serde_json::Value;

use super::reader::JsonReader;
use crate::error::Result;
use crate::query::named_column::NamedColumn;
use crate::query::pattern::Pattern;
use crate::query::tree::Query;
use crate::query::value_range::ValueRange;
use crate::schema::{self, FieldKind, literal};

/// The keys that give a pattern of values.
const PATTERNS: [&str; 6] = ["prefix", "wildcard", "regexp", "fuzzy", "range", "set"];

/// The keys that give a range of values.
const BOUNDS: [&str; 5] = ["gte", "gt", "lte", "lt", "equals"];

impl JsonReader<'_> {
    /// A range of values of a column, or a pattern of them.
    pub(super) fn values(&mut self, value: &Value) -> Result<Query> {
        self.count(1)?;
        let example = r#"{"column": "size", "gte": "1GiB", "lt": 5e9}, or equals, or a pattern"#;
        let keys = [&["column"][..], &BOUNDS, &PATTERNS].concat();
        let object = self.object(value, &keys, example)?;
        let column = self.required(object, "column", Self::named_column)?;
        let field = column.field;
        if let Some(key) = PATTERNS.into_iter().find(|key| object.contains_key(*key)) {
            if object.len() > 2 {
                return self.fault("a pattern cannot be combined with other keys: put several into a bool");
            }
            if !column.has_patterns() {
                return self.fault(&column.no_pattern());
            }
            let pattern = self.required(object, key, |this, value| this.value_pattern(key, value))?;
            return Ok(Query::ValuePattern { field, pattern });
        }
        let bounds =
            |this: &mut Self, key| this.optional(object, key, |this, value| this.bounds(&column, value));
        let equals = bounds(self, "equals")?;
        let (from, after) = (bounds(self, "gte")?, bounds(self, "gt")?);
        let (to, before) = (bounds(self, "lte")?, bounds(self, "lt")?);
        let low = match (from, after, &equals) {
            (None, None, None) => Bound::Unbounded,
            (Some((first, _)), None, None) => Bound::Included(first),
            (None, Some((_, last)), None) => Bound::Excluded(last),
            (None, None, Some((first, _))) => Bound::Included(first.clone()),
            _ => return self.fault("gte, gt and equals bound the same end: give only one"),
        };
        let high = match (to, before, equals) {
            (None, None, None) => Bound::Unbounded,
            (Some((_, last)), None, None) => Bound::Included(last),
            (None, Some((first, _)), None) => Bound::Excluded(first),
            (None, None, Some((_, last))) => Bound::Included(last),
            _ => return self.fault("lte, lt and equals bound the same end: give only one"),
        };
        Ok(Query::Values(ValueRange { field, low, high }))
    }

    fn value_pattern(&mut self, kind: &str, value: &Value) -> Result<Pattern> {
        match kind {
            "set" => {
                let terms = self.terms(value)?;
                self.count(terms.len())?;
                Ok(Pattern::Set(terms))
            }
            "fuzzy" => Ok(match self.fuzzy(value)? {
                Pattern::Fuzzy { term, edits: 0, .. } => Pattern::Set(vec![term.into_bytes()]),
                fuzzy => fuzzy,
            }),
            kind => self.pattern(kind, value),
        }
    }

    pub(super) fn named_column(&mut self, value: &Value) -> Result<NamedColumn> {
        let name = self.string(value)?;
        match self.words.column(&name) {
            Some((field, kind)) => Ok(NamedColumn { field, kind, name }),
            None => self.fault(&format!("there is no column '{name}': give the name of one")),
        }
    }

    /// The least and the greatest value that a JSON value means.
    fn bounds(&mut self, column: &NamedColumn, value: &Value) -> Result<(schema::Value, schema::Value)> {
        let kind = &column.kind;
        let is_text = matches!(kind, FieldKind::Keyword | FieldKind::Path | FieldKind::Text { .. });
        let text = match value {
            Value::Number(number) => number.to_string(),
            Value::Bool(boolean) => boolean.to_string(),
            Value::Object(_) if is_text => {
                let term = schema::Value::Text(self.term(value)?);
                return Ok((term.clone(), term));
            }
            Value::Object(_) if *kind == FieldKind::Bytes => {
                let bytes = schema::Value::Bytes(self.term(value)?);
                return Ok((bytes.clone(), bytes));
            }
            _ => self.string(value)?,
        };
        literal(kind, &text)
            .or_else(|expected| self.fault(&format!("{} holds {}: {expected}", column.name, column.holds())))
    }
}
