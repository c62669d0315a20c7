//! Queries become JSON.

use std::ops::Bound;

use serde_json::{Map, Value, json};

use crate::error::{Error, Result};
use crate::schema::{self, Field, ValueRef, format_date};
use crate::search::query::{BoolQuery, Pattern, PhraseQuery, Query, ValueRange, WildcardPart};

impl Query {
    /// The query as JSON on one line, which [`parse_json`](crate::parse_json) reads as the same query, as long as it is
    /// within the limits there. `name` says what a field is called.
    ///
    /// # Errors
    /// [`Error::Options`] if the query names a field that has no name.
    pub fn to_json(&self, name: &dyn Fn(Field) -> Option<String>) -> Result<String> {
        Ok(Value::from(clause(self, name)?).to_string())
    }
}

/// The object of a clause.
fn clause(query: &Query, name: &dyn Fn(Field) -> Option<String>) -> Result<Map<String, Value>> {
    let (kind, value) = match query {
        Query::Term(bytes) => ("term", term(bytes)),
        Query::Bool(list) => ("bool", lists(list, name)?),
        Query::Phrase(phrase) => ("phrase", places(phrase)),
        Query::Pattern(pattern) => of_pattern(pattern),
        Query::All => ("match_all", json!({})),
        Query::Exists => ("exists", json!({})),
        Query::Values(range) => ("values", values(range, name)?),
        Query::In(field, inner) => {
            let missing = || Error::Options("the query names a field that the index does not have".into());
            let name_of = name(*field).ok_or_else(missing)?;
            let mut object = around(clause(inner, name)?, &["field"]);
            object.insert("field".into(), name_of.into());
            return Ok(object);
        }
        Query::Boost(inner, boost) => {
            // A boost beside a field is within the field.
            let mut object = around(clause(inner, name)?, &["field", "boost"]);
            object.insert("boost".into(), factor(*boost));
            return Ok(object);
        }
    };
    Ok(Map::from_iter([(kind.to_owned(), value)]))
}

/// A range of values of a column.
fn values(range: &ValueRange, name: &dyn Fn(Field) -> Option<String>) -> Result<Value> {
    let missing = || Error::Options("the query names a field that the index does not have".into());
    let mut object = Map::new();
    object.insert("column".into(), name(range.field).ok_or_else(missing)?.into());
    for (bound, included, excluded) in [(&range.low, "gte", "gt"), (&range.high, "lte", "lt")] {
        match bound {
            Bound::Unbounded => None,
            Bound::Included(bound) => object.insert(included.into(), value(bound)),
            Bound::Excluded(bound) => object.insert(excluded.into(), value(bound)),
        };
    }
    Ok(object.into())
}

fn value(value: &schema::Value) -> Value {
    match value.as_ref() {
        ValueRef::Text(bytes) | ValueRef::Bytes(bytes) => term(bytes),
        ValueRef::Unsigned(number) => number.into(),
        ValueRef::Signed(number) => number.into(),
        ValueRef::Float(number) if number.is_finite() => number.into(),
        ValueRef::Float(number) => number.to_string().into(),
        ValueRef::Boolean(truth) => truth.into(),
        ValueRef::Date(moment) => format_date(moment).into(),
    }
}

/// The object, in another one if it has one of these keys already.
fn around(object: Map<String, Value>, keys: &[&str]) -> Map<String, Value> {
    match keys.iter().any(|key| object.contains_key(*key)) {
        true => Map::from_iter([("query".to_owned(), object.into())]),
        false => object,
    }
}

fn lists(list: &BoolQuery, name: &dyn Fn(Field) -> Option<String>) -> Result<Value> {
    let mut object = Map::new();
    for (key, clauses) in [("must", &list.must), ("should", &list.should), ("must_not", &list.must_not)] {
        if !clauses.is_empty() {
            let values = clauses.iter().map(|inner| clause(inner, name).map(Value::from));
            object.insert(key.into(), Value::Array(values.collect::<Result<_>>()?));
        }
    }
    if list.at_least > 0 {
        object.insert("at_least".into(), list.at_least.into());
    }
    Ok(object.into())
}

/// A term; in hexadecimal if it is no text.
fn term(bytes: &[u8]) -> Value {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.into(),
        Err(_) => json!({ "bytes": bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>() }),
    }
}

fn places(phrase: &PhraseQuery) -> Value {
    let terms: Value = phrase.terms.iter().map(|(_, bytes)| term(bytes)).collect();
    let in_a_row = phrase.terms.iter().zip(0..).all(|((place, _), row)| *place == row);
    if in_a_row && phrase.slop == 0 {
        return terms;
    }
    let mut object = Map::from_iter([("terms".to_owned(), terms)]);
    if !in_a_row {
        object.insert("places".into(), phrase.terms.iter().map(|(place, _)| *place).collect());
    }
    if phrase.slop > 0 {
        object.insert("slop".into(), phrase.slop.into());
    }
    object.into()
}

fn of_pattern(pattern: &Pattern) -> (&'static str, Value) {
    match pattern {
        Pattern::Prefix(prefix) => ("prefix", term(prefix)),
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
            for (bound, included, excluded) in [(from, "gte", "gt"), (to, "lte", "lt")] {
                match bound {
                    Bound::Unbounded => None,
                    Bound::Included(bytes) => object.insert(included.into(), term(bytes)),
                    Bound::Excluded(bytes) => object.insert(excluded.into(), term(bytes)),
                };
            }
            ("range", object.into())
        }
        Pattern::Set(terms) => ("set", terms.iter().map(|bytes| term(bytes)).collect()),
    }
}

/// A wildcard as one string, or, where reading that would find other parts, as its parts.
fn wildcard(parts: &[WildcardPart]) -> Value {
    let mut text = String::new();
    let mut is_plain = true;
    for part in parts {
        match part {
            WildcardPart::AnyChar => text.push('?'),
            WildcardPart::Anything => text.push('*'),
            WildcardPart::Text(bytes) => match std::str::from_utf8(bytes) {
                Ok(plain) => plain.chars().for_each(|char| {
                    text.extend(matches!(char, '*' | '?' | '\\').then_some('\\'));
                    text.push(char);
                }),
                Err(_) => is_plain = false,
            },
        }
    }
    if is_plain && super::read::wildcard_parts(&text).as_deref() == Some(parts) {
        return text.into();
    }
    let part = |part: &WildcardPart| match part {
        WildcardPart::AnyChar => "?".into(),
        WildcardPart::Anything => "*".into(),
        WildcardPart::Text(bytes) => json!({ "text": term(bytes) }),
    };
    json!({ "parts": parts.iter().map(part).collect::<Value>() })
}

/// A factor as the shortest number that reads back as it.
fn factor(boost: f32) -> Value {
    let short = boost.to_string().parse::<f64>().unwrap_or_default();
    #[expect(clippy::cast_possible_truncation, reason = "rounding is what reading does too")]
    let same = short as f32 == boost;
    Value::from(if same { short } else { f64::from(boost) })
}
