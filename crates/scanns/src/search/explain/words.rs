//! The text of parts of a query, in query syntax.

use std::ops::Bound;

use crate::query::{
    Closeness, JoinOn, JoinQuery, Pattern, PhraseQuery, Query, ScoreChange, ScoreCurve, ValueRange,
    ValueScore, WildcardPart,
};
use crate::schema::{Field, Value, format_date};

/// A term, on one line.
pub(super) fn term(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for char in String::from_utf8_lossy(bytes).chars() {
        if char.is_control() {
            text.extend(char.escape_default());
        } else {
            text.push(char);
        }
    }
    text
}

/// The query without the boosts around it, which the plan has merged into its nodes.
pub(super) fn bare(query: &Query) -> &Query {
    match query {
        Query::Boost(inner, _) => bare(inner),
        _ => query,
    }
}

pub(super) fn phrase(phrase: &PhraseQuery) -> String {
    let words: Vec<String> = phrase.terms.iter().map(|(_, word)| term(word)).collect();
    let moved = if phrase.slop > 0 { format!("~{}", phrase.slop) } else { String::new() };
    format!("\"{}\"{moved}", words.join(" "))
}

pub(super) fn pattern(pattern: &Pattern) -> String {
    let bound = |bound: &Bound<Vec<u8>>| match bound {
        Bound::Unbounded => "*".to_owned(),
        Bound::Included(to) | Bound::Excluded(to) => term(to),
    };
    match pattern {
        Pattern::Prefix(prefix) => format!("{}*", term(prefix)),
        Pattern::Wildcard(parts) => {
            let written = |part: &WildcardPart| match part {
                WildcardPart::Text(text) => term(text),
                WildcardPart::AnyChar => "?".to_owned(),
                WildcardPart::Anything => "*".to_owned(),
            };
            parts.iter().map(written).collect()
        }
        Pattern::Regex(text) => format!("re\"{}\"", term(text.as_bytes())),
        Pattern::Fuzzy { term: word, edits, .. } => format!("{}~{edits}", term(word.as_bytes())),
        Pattern::Range(from, to) => {
            let open = if matches!(from, Bound::Excluded(_)) { '{' } else { '[' };
            let close = if matches!(to, Bound::Excluded(_)) { '}' } else { ']' };
            format!("{open}{} TO {}{close}", bound(from), bound(to))
        }
        Pattern::Set(terms) => {
            let terms: Vec<String> = terms.iter().map(|word| term(word)).collect();
            format!("in({})", terms.join(" "))
        }
    }
}

/// A clause without clauses of its own; `name` has the names of fields.
pub(crate) fn clause(query: &Query, name: &dyn Fn(Field) -> String) -> String {
    match query {
        Query::Term(found) => format!("{}:{}", name(found.field), term(&found.text)),
        Query::Phrase(found) => format!("{}:{}", name(found.field), phrase(found)),
        Query::Pattern { field, pattern: found } | Query::ValuePattern { field, pattern: found } => {
            format!("{}:{}", name(*field), pattern(found))
        }
        Query::Exists(field) => format!("{}:*", name(*field)),
        Query::Values(range) => format!("{}:{}", name(range.field), values(range)),
        Query::Boost(inner, factor) => format!("{}^{factor}", clause(inner, name)),
        Query::Scored(scored) => {
            let sign = match scored.change {
                ScoreChange::Multiply => "",
                ScoreChange::Add => "+",
                ScoreChange::Replace => "=",
            };
            format!("{}^{sign}{}", clause(&scored.query, name), value_score(&scored.by, name))
        }
        Query::All => "*".to_owned(),
        Query::Join(found) => join(found, name),
        Query::Bool(_) | Query::Best(_) => "( )".to_owned(),
    }
}

/// A number by the value of a column.
pub(super) fn value_score(by: &ValueScore, name: &dyn Fn(Field) -> String) -> String {
    let arguments = match &by.curve {
        ScoreCurve::Value | ScoreCurve::Log | ScoreCurve::Root => String::new(),
        ScoreCurve::Saturation { half } => format!(",{half}"),
        ScoreCurve::Near { origin, scale, closeness } => {
            let scale = match origin {
                Value::Date(_) => format!("{}s", scale / 1e9),
                _ => scale.to_string(),
            };
            let closeness = match closeness {
                Closeness::Reciprocal => String::new(),
                _ => format!(",{}", closeness.name()),
            };
            format!(",{},{scale}{closeness}", value(origin))
        }
    };
    let missing = match by.missing {
        0.0 => String::new(),
        missing => format!(",missing={missing}"),
    };
    format!("{}({}{arguments}{missing})", by.curve.name(), name(by.field))
}

/// A join without the query inside.
pub(super) fn join(join: &JoinQuery, name: &dyn Fn(Field) -> String) -> String {
    let side = |on| match on {
        JoinOn::Key => "key".to_owned(),
        JoinOn::Column(field) => name(field),
    };
    format!("join from {} to {}", side(join.from), side(join.to))
}

fn value(value: &Value) -> String {
    match value {
        Value::Text(text) => term(text),
        Value::Bytes(bytes) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
        Value::Unsigned(number) => number.to_string(),
        Value::Signed(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Boolean(flag) => flag.to_string(),
        Value::Date(moment) => format_date(*moment),
    }
}

fn values(range: &ValueRange) -> String {
    let text = value;
    match (&range.low, &range.high) {
        (Bound::Unbounded, Bound::Unbounded) => "*".to_owned(),
        (Bound::Included(low), Bound::Included(high)) if low == high => text(low),
        (Bound::Included(low), Bound::Unbounded) => format!(">={}", text(low)),
        (Bound::Excluded(low), Bound::Unbounded) => format!(">{}", text(low)),
        (Bound::Unbounded, Bound::Included(high)) => format!("<={}", text(high)),
        (Bound::Unbounded, Bound::Excluded(high)) => format!("<{}", text(high)),
        (Bound::Included(low) | Bound::Excluded(low), Bound::Included(high) | Bound::Excluded(high)) => {
            let open = if matches!(range.low, Bound::Excluded(_)) { '{' } else { '[' };
            let close = if matches!(range.high, Bound::Excluded(_)) { '}' } else { ']' };
            format!("{open}{} TO {}{close}", text(low), text(high))
        }
    }
}
