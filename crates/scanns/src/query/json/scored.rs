//! Scores by columns in JSON: `{"scored": {"query": {…}, "column": "mtime", "curve": "near", "origin": "now",
//! "scale": "30d"}}`.

use serde_json::{Map, Value};

use super::reader::JsonReader;
use crate::error::Result;
use crate::query::named_column::NamedColumn;
use crate::query::score_arguments::{CURVES, closeness, distance, has_numbers, missing, origin, plain_curve};
use crate::query::tree::{Query, ScoredQuery};
use crate::query::value_range::Parsed;
use crate::query::value_score::{ScoreChange, ScoreCurve, ValueScore};
use crate::schema::FieldKind;

impl JsonReader<'_> {
    /// A query with scores that a column changes; `None` if the clause inside has no terms.
    pub(super) fn scored(&mut self, value: &Value) -> Result<Option<Query>> {
        let example = r#"{"query": {}, "column": "mtime", "curve": "near", "origin": "now", "scale": "30d"}"#;
        let keys = ["query", "column", "curve", "origin", "scale", "closeness", "half", "missing", "change"];
        let object = self.object(value, &keys, example)?;
        let column = self.required(object, "column", Self::named_column)?;
        if !has_numbers(&column.kind) {
            let message =
                format!("{} holds {}: give a column of numbers or dates", column.name, column.holds());
            return self.within("column", |this| this.fault(&message));
        }
        let curve = self.curve(object, &column)?;
        let missing = self.optional(object, "missing", |this, value| this.argument(value, missing))?;
        let change = self.optional(object, "change", |this, value| {
            let name = this.string(value)?;
            match ScoreChange::ALL.iter().find(|(_, known)| *known == name) {
                Some((change, _)) => Ok(*change),
                None => this.fault("write multiply, add or replace"),
            }
        })?;
        let query = self.required(object, "query", Self::clause)?;
        let by = ValueScore { field: column.field, curve, missing: missing.unwrap_or(0.0) };
        Ok(query.map(|query| {
            let (query, change) = (Box::new(query), change.unwrap_or_default());
            Query::Scored(ScoredQuery { query, by, change })
        }))
    }

    fn curve(&mut self, object: &Map<String, Value>, column: &NamedColumn) -> Result<ScoreCurve> {
        let kind = &column.kind;
        let name = self.required(object, "curve", Self::string)?;
        let allowed: &[&str] = match name.as_str() {
            "near" => &["origin", "scale", "closeness"],
            "saturate" => &["half"],
            _ => &[],
        };
        for key in ["origin", "scale", "closeness", "half"] {
            if object.contains_key(key) && !allowed.contains(&key) && CURVES.contains(&name.as_str()) {
                return self.within(key, |this| this.fault(&format!("{name} has no {key}: remove it")));
            }
        }
        match (plain_curve(&name), name.as_str()) {
            (Some(curve), _) => Ok(curve),
            (None, "saturate") => {
                let half = self.required(object, "half", |this, value| this.distance(value, kind))?;
                Ok(ScoreCurve::Saturation { half })
            }
            (None, "near") => {
                let origin = self.required(object, "origin", |this, value| {
                    this.argument(value, |text| origin(kind, text))
                })?;
                let scale = self.required(object, "scale", |this, value| this.distance(value, kind))?;
                let closeness =
                    self.optional(object, "closeness", |this, value| this.argument(value, closeness))?;
                Ok(ScoreCurve::Near { origin, scale, closeness: closeness.unwrap_or_default() })
            }
            (None, _) => {
                let message = format!("write one of {}", CURVES.join(", "));
                self.within("curve", |this| this.fault(&message))
            }
        }
    }

    /// A distance between values: a number in the units of the column, or a text.
    fn distance(&mut self, value: &Value, kind: &FieldKind) -> Result<f64> {
        match value.as_f64() {
            Some(number) if number > 0.0 => Ok(number),
            _ => self.argument(value, |text| distance(kind, text)),
        }
    }

    /// A number, boolean or string as text.
    fn argument<T>(&mut self, value: &Value, parse: impl FnOnce(&str) -> Parsed<T>) -> Result<T> {
        let text = match value {
            Value::Number(number) => number.to_string(),
            Value::Bool(boolean) => boolean.to_string(),
            _ => self.string(value)?,
        };
        parse(&text).or_else(|message| self.fault(&message))
    }
}
