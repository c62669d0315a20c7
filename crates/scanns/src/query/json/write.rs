//! Writes queries as JSON.

use std::ops::Bound;

use serde_json::{Map, Value, json};

use super::wildcard::wildcard_text;
use crate::error::{Error, Result};
use crate::query::join::{JoinOn, JoinScore};
use crate::query::join_side::KEY;
use crate::query::pattern::{Pattern, WildcardPart};
use crate::query::tree::{BestQuery, BoolQuery, JoinQuery, PhraseQuery, Query, ScoredQuery};
use crate::query::value_range::ValueRange;
use crate::query::value_score::{Closeness, ScoreChange, ScoreCurve};
use crate::schema::{self, Field, ValueRef, format_date};

impl Query {
    /// The query as JSON on one line.
    ///
    /// [`parse_json`](crate::query::parse_json) parses the result as the same query, within its limits, if
    /// its default field is `default`: clauses in this field do not name it. `None` is for several default
    /// fields: all clauses name their field. `name` returns the names of fields.
    ///
    /// # Errors
    /// [`Error::InvalidField`] if the query contains a field without a name.
    pub fn to_json(&self, default: Option<Field>, name: &dyn Fn(Field) -> Option<String>) -> Result<String> {
        let writer = JsonWriter { name };
        Ok(Value::from(writer.clause(self, default)?).to_string())
    }
}

struct JsonWriter<'n> {
    name: &'n dyn Fn(Field) -> Option<String>,
}

impl JsonWriter<'_> {
    /// The object of a clause inside a clause with the field `around`.
    fn clause(&self, query: &Query, around: Option<Field>) -> Result<Map<String, Value>> {
        // A field that all terms inside have in common is named once, here.
        let field = only_field(query).or(around);
        let (kind, value) = match query {
            Query::Term(term) => ("term", term_value(&term.text)),
            Query::Bool(list) => ("bool", self.lists(list, field)?),
            Query::Best(best) => ("best", self.best(best, field)?),
            Query::Phrase(phrase) => ("phrase", phrase_value(phrase)),
            Query::Pattern { pattern, .. } => pattern_value(pattern),
            Query::All => ("match_all", json!({})),
            Query::Exists(_) => ("exists", json!({})),
            Query::Values(range) => ("values", self.values(range)?),
            Query::ValuePattern { field, pattern } => {
                let (kind, value) = pattern_value(pattern);
                ("values", json!({ "column": self.name_of(*field)?, kind: value }))
            }
            Query::Join(join) => ("join", self.join(join, field)?),
            Query::Scored(scored) => ("scored", self.scored(scored, field)?),
            Query::Boost(inner, factor) => {
                let mut object = self.clause(inner, field)?;
                if object.contains_key("boost") {
                    object = Map::from_iter([("query".to_owned(), object.into())]);
                }
                object.insert("boost".into(), shortest(*factor));
                return self.with_field(object, field, around);
            }
        };
        self.with_field(Map::from_iter([(kind.to_owned(), value)]), field, around)
    }

    /// Adds the field to an object, unless it is the field of the enclosing clause.
    fn with_field(
        &self,
        mut object: Map<String, Value>,
        field: Option<Field>,
        around: Option<Field>,
    ) -> Result<Map<String, Value>> {
        if let Some(field) = field.filter(|field| Some(*field) != around) {
            object.insert("field".into(), self.name_of(field)?.into());
        }
        Ok(object)
    }

    fn best(&self, best: &BestQuery, field: Option<Field>) -> Result<Value> {
        let clauses = best.clauses.iter().map(|inner| self.clause(inner, field).map(Value::from));
        let clauses = Value::Array(clauses.collect::<Result<_>>()?);
        Ok(json!({ "clauses": clauses, "tie": shortest(best.tie) }))
    }

    fn lists(&self, list: &BoolQuery, field: Option<Field>) -> Result<Value> {
        let mut object = Map::new();
        let lists = [
            ("must", &list.must),
            ("filter", &list.filter),
            ("should", &list.should),
            ("must_not", &list.must_not),
        ];
        for (key, clauses) in lists {
            if !clauses.is_empty() {
                let values = clauses.iter().map(|inner| self.clause(inner, field).map(Value::from));
                object.insert(key.into(), Value::Array(values.collect::<Result<_>>()?));
            }
        }
        if list.at_least > 0 {
            object.insert("at_least".into(), list.at_least.into());
        }
        Ok(object.into())
    }

    fn values(&self, range: &ValueRange) -> Result<Value> {
        let mut object = Map::new();
        object.insert("column".into(), self.name_of(range.field)?.into());
        insert_bounds(&mut object, range.low.as_ref().map(value), range.high.as_ref().map(value));
        Ok(object.into())
    }

    fn join(&self, join: &JoinQuery, field: Option<Field>) -> Result<Value> {
        let mut object = Map::new();
        for (key, on) in [("from", join.from), ("to", join.to)] {
            let value = match on {
                JoinOn::Key => KEY.into(),
                JoinOn::Column(field) => match self.name_of(field)? {
                    name if name == KEY => json!({ "column": name }),
                    name => name.into(),
                },
            };
            object.insert(key.into(), value);
        }
        object.insert("query".into(), self.clause(&join.query, field)?.into());
        if join.score != JoinScore::None {
            object.insert("score".into(), join.score.name().into());
        }
        Ok(object.into())
    }

    fn scored(&self, scored: &ScoredQuery, field: Option<Field>) -> Result<Value> {
        let ScoredQuery { query, by, change } = scored;
        let mut object = Map::new();
        object.insert("query".into(), self.clause(query, field)?.into());
        object.insert("column".into(), self.name_of(by.field)?.into());
        object.insert("curve".into(), by.curve.name().into());
        match &by.curve {
            ScoreCurve::Near { origin, scale, closeness } => {
                object.insert("origin".into(), value(origin));
                object.insert("scale".into(), exact(*scale));
                if *closeness != Closeness::default() {
                    object.insert("closeness".into(), closeness.name().into());
                }
            }
            ScoreCurve::Saturation { half } => drop(object.insert("half".into(), exact(*half))),
            ScoreCurve::Value | ScoreCurve::Log | ScoreCurve::Root => {}
        }
        if by.missing != 0.0 {
            object.insert("missing".into(), exact(by.missing));
        }
        if *change != ScoreChange::default() {
            object.insert("change".into(), change.name().into());
        }
        Ok(object.into())
    }

    fn name_of(&self, field: Field) -> Result<String> {
        (self.name)(field).ok_or_else(|| Error::InvalidField {
            field: field.number().to_string(),
            problem: "has no name".to_owned(),
            remedy: "use the names of fields of the index that the query was built for".to_owned(),
        })
    }
}

/// The field of all terms of a query; `None` if it has no terms, or terms of several fields.
fn only_field(query: &Query) -> Option<Field> {
    let mut fields = query.clauses().filter_map(Query::field);
    let first = fields.next()?;
    fields.all(|field| field == first).then_some(first)
}

fn value(value: &schema::Value) -> Value {
    match value.as_ref() {
        ValueRef::Text(bytes) | ValueRef::Bytes(bytes) => term_value(bytes),
        ValueRef::Unsigned(number) => number.into(),
        ValueRef::Signed(number) => number.into(),
        ValueRef::Float(number) if number.is_finite() => number.into(),
        ValueRef::Float(number) => number.to_string().into(),
        ValueRef::Boolean(boolean) => boolean.into(),
        ValueRef::Date(moment) => format_date(moment).into(),
    }
}

/// A term as a string, or in hexadecimal if it is not UTF-8.
fn term_value(bytes: &[u8]) -> Value {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.into(),
        Err(_) => json!({ "bytes": bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>() }),
    }
}

fn phrase_value(phrase: &PhraseQuery) -> Value {
    let terms: Value = phrase.terms.iter().map(|(_, bytes)| term_value(bytes)).collect();
    let is_consecutive = phrase.terms.iter().zip(0..).all(|((place, _), row)| *place == row);
    if is_consecutive && phrase.slop == 0 {
        return terms;
    }
    let mut object = Map::from_iter([("terms".to_owned(), terms)]);
    if !is_consecutive {
        object.insert("places".into(), phrase.terms.iter().map(|(place, _)| *place).collect());
    }
    if phrase.slop > 0 {
        object.insert("slop".into(), phrase.slop.into());
    }
    object.into()
}

fn pattern_value(pattern: &Pattern) -> (&'static str, Value) {
    match pattern {
        Pattern::Prefix(prefix) => ("prefix", term_value(prefix)),
        Pattern::Wildcard(parts) => ("wildcard", wildcard(parts)),
        Pattern::Regex(text) => ("regexp", text.as_str().into()),
        Pattern::Fuzzy { term, edits, prefix } => {
            let mut object = json!({ "term": term, "edits": edits });
            if *prefix > 0 {
                object["prefix"] = (*prefix).into();
            }
            ("fuzzy", object)
        }
        Pattern::Range(from, to) => {
            let mut object = Map::new();
            let bound = |bound: &Bound<Vec<u8>>| bound.as_ref().map(|bytes| term_value(bytes));
            insert_bounds(&mut object, bound(from), bound(to));
            ("range", object.into())
        }
        Pattern::Set(terms) => ("set", terms.iter().map(|bytes| term_value(bytes)).collect()),
    }
}

/// Inserts the bounds of a range as `gte` or `gt` and `lte` or `lt`.
fn insert_bounds(object: &mut Map<String, Value>, low: Bound<Value>, high: Bound<Value>) {
    for (bound, included, excluded) in [(low, "gte", "gt"), (high, "lte", "lt")] {
        match bound {
            Bound::Unbounded => None,
            Bound::Included(value) => object.insert(included.into(), value),
            Bound::Excluded(value) => object.insert(excluded.into(), value),
        };
    }
}

/// A wildcard as one string, or as its parts if no string is parsed as these parts.
fn wildcard(parts: &[WildcardPart]) -> Value {
    if let Some(text) = wildcard_text(parts) {
        return text.into();
    }
    let part = |part: &WildcardPart| match part {
        WildcardPart::AnyChar => "?".into(),
        WildcardPart::Anything => "*".into(),
        WildcardPart::Text(bytes) => json!({ "text": term_value(bytes) }),
    };
    json!({ "parts": parts.iter().map(part).collect::<Value>() })
}

/// A number from 0 on, in a form that is parsed as the same number: as a string if readers of JSON might
/// round it.
fn exact(number: f64) -> Value {
    const WHOLE: f64 = (1u64 << 53) as f64;
    if number < WHOLE && number.fract() == 0.0 {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is whole and small"
        )]
        return Value::from(number as u64);
    }
    let text = format!("{number:?}");
    match serde_json::from_str::<f64>(&text) {
        Ok(parsed) if parsed.to_bits() == number.to_bits() => number.into(),
        _ => text.into(),
    }
}

/// A factor as the shortest number that is parsed as the same factor.
fn shortest(factor: f32) -> Value {
    let short = factor.to_string().parse::<f64>().unwrap_or_default();
    #[expect(clippy::cast_possible_truncation, reason = "reading rounds in the same way")]
    let is_same = short as f32 == factor;
    Value::from(if is_same { short } else { f64::from(factor) })
}
