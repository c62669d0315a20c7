//! Parses queries in JSON.

use serde_json::Value;

use super::depth::is_too_deep;
use super::reader::JsonReader;
use crate::error::Result;
use crate::query::operator::Operator;
use crate::query::pattern::Pattern;
use crate::query::query_text::{QueryText, no_such_field};
use crate::query::tree::{BoolQuery, PhraseQuery, Query};
use crate::schema::Field;

/// The keys that determine the kind of a clause.
const KINDS: [&str; 14] = [
    "term",
    "match",
    "phrase",
    "prefix",
    "wildcard",
    "regexp",
    "fuzzy",
    "range",
    "values",
    "set",
    "bool",
    "match_all",
    "exists",
    "query",
];

/// Parses a query in JSON.
///
/// `words` resolves fields, and finds the terms of `match` and of the `text` of a phrase; all other terms are
/// used unchanged. `operator` is the default operator of `match`. The limits are the same as in
/// [`parse`](crate::query::parse): 1,024 terms, and lists nested 64 deep.
///
/// # Errors
/// [`Error::QueryJson`](crate::Error::QueryJson), with the path of the faulty value.
pub fn parse_json(text: &str, operator: Operator, words: &mut dyn QueryText) -> Result<Query> {
    let mut reader = JsonReader::new(words, operator);
    if is_too_deep(text) {
        return reader.too_deep();
    }
    let mut json = serde_json::Deserializer::from_str(text);
    // The depth is limited above.
    json.disable_recursion_limit();
    let mut values = json.into_iter::<Value>();
    match (values.next(), values.next()) {
        (Some(Ok(value)), None) => Ok(reader.clause(&value)?.unwrap_or_else(Query::nothing)),
        (Some(Err(error)), _) | (_, Some(Err(error))) => reader.fault(&format!("invalid JSON: {error}")),
        (None, _) => reader.fault(r#"the query is empty: write a clause such as {"term": "word"}"#),
        (Some(Ok(_)), Some(Ok(_))) => reader.fault("another value follows the query: put both into a bool"),
    }
}

impl JsonReader<'_> {
    /// Parses a clause; returns `None` if its text has no terms.
    fn clause(&mut self, value: &Value) -> Result<Option<Query>> {
        let Value::Object(object) = value else {
            return self.fault(r#"a clause is an object: write one such as {"term": "word"}"#);
        };
        let mut kind = None;
        for (key, value) in object {
            match key.as_str() {
                "field" | "boost" => {}
                key if !KINDS.contains(&key) => {
                    let all = KINDS.join(", ");
                    let message =
                        format!("unknown kind of clause: use one of {all}, optionally with field and boost");
                    return self.within(key, |this| this.fault(&message));
                }
                key if kind.is_none() => kind = Some((key, value)),
                key => {
                    let message = "a clause has one kind: put several into the lists of a bool";
                    return self.within(key, |this| this.fault(message));
                }
            }
        }
        let Some((kind, value)) = kind else {
            return self
                .fault(&format!("the kind of the clause is missing: give one of {}", KINDS.join(", ")));
        };
        let field = self.optional(object, "field", Self::named_field)?;
        let boost = self.optional(object, "boost", Self::boost)?;
        let outer = self.field;
        self.field = field.unwrap_or(outer);
        let query = self.within(kind, |this| this.kind(kind, value));
        self.field = outer;
        Ok(query?.map(|query| match boost {
            Some(boost) => query.boosted(boost),
            None => query,
        }))
    }

    fn named_field(&mut self, value: &Value) -> Result<Field> {
        let name = self.string(value)?;
        let found = self.words.field(&name);
        found.or_else(|known| self.fault(&no_such_field(&name, &known)))
    }

    fn boost(&mut self, value: &Value) -> Result<f32> {
        #[expect(clippy::cast_possible_truncation, reason = "what becomes 0 or infinite is refused")]
        let boost = value.as_f64().map(|boost| boost as f32);
        match boost.filter(|boost| *boost > 0.0 && boost.is_finite()) {
            Some(boost) => Ok(boost),
            None => self.fault("write a number greater than 0"),
        }
    }

    fn kind(&mut self, kind: &str, value: &Value) -> Result<Option<Query>> {
        let pattern = match kind {
            "bool" => return self.nested(|this| this.list(value)),
            "query" => return self.nested(|this| this.clause(value)),
            "match" => return self.matching(value),
            "phrase" => return self.phrase(value),
            "term" => {
                self.count(1)?;
                return Ok(Some(Query::term(self.field, self.term(value)?)));
            }
            "match_all" | "exists" => {
                self.count(1)?;
                self.object(value, &[], "{}")?;
                return Ok(Some(if kind == "exists" { Query::Exists(self.field) } else { Query::All }));
            }
            "set" => {
                let terms = self.terms(value)?;
                self.count(terms.len().max(1))?;
                return Ok(Some(Query::pattern(self.field, Pattern::Set(terms))));
            }
            "fuzzy" => {
                self.count(1)?;
                return Ok(Some(match self.fuzzy(value)? {
                    Pattern::Fuzzy { term, edits: 0, .. } => Query::term(self.field, term),
                    fuzzy => Query::pattern(self.field, fuzzy),
                }));
            }
            "values" => return self.values(value).map(Some),
            kind => self.pattern(kind, value)?,
        };
        self.count(1)?;
        Ok(Some(Query::pattern(self.field, pattern)))
    }

    fn list(&mut self, value: &Value) -> Result<Option<Query>> {
        let keys = ["must", "filter", "should", "must_not", "at_least"];
        let object = self.object(
            value,
            &keys,
            r#"{"must": [], "filter": [], "should": [], "must_not": [], "at_least": 0}"#,
        )?;
        let mut given = [0; 4];
        let mut lists = [const { Vec::new() }; 4];
        for ((key, list), given) in keys.iter().zip(&mut lists).zip(&mut given) {
            let found = self.optional(object, key, |this, value| this.array(value, Self::clause))?;
            let found = found.unwrap_or_default();
            *given = found.len();
            list.extend(found.into_iter().flatten());
        }
        let [must, filter, should, must_not] = lists;
        let at_least = self.optional(object, "at_least", |this, value| {
            let most = u64::try_from(given[2]).unwrap_or(u64::MAX);
            this.number(value, most, &format!("should has {most} clauses: write a number from 0 to {most}"))
        })?;
        // A clause without terms was removed, and cannot match.
        let at_least = usize::try_from(at_least.unwrap_or(0)).unwrap_or(usize::MAX).min(should.len());
        let list = BoolQuery { must, filter, should, must_not, at_least };
        let is_empty = list == BoolQuery::default() && given != [0; 4];
        Ok((!is_empty).then_some(Query::Bool(list)))
    }

    /// Parses a `match`: the terms of a text.
    fn matching(&mut self, value: &Value) -> Result<Option<Query>> {
        let (text, operator) = match value {
            Value::String(text) => (text.clone(), None),
            _ => {
                let example = r#"a string or {"text": "free software", "operator": "and"}"#;
                let object = self.object(value, &["text", "operator"], example)?;
                let operator = self.optional(object, "operator", |this, value| match value.as_str() {
                    Some("and") => Ok(Operator::And),
                    Some("or") => Ok(Operator::Or),
                    _ => this.fault("write \"and\" or \"or\""),
                })?;
                (self.required(object, "text", Self::text)?, operator)
            }
        };
        let terms = self.words.terms(self.field, &text);
        self.count(terms.len())?;
        let mut terms: Vec<Query> =
            terms.into_iter().map(|(_, term)| Query::term(self.field, term)).collect();
        if terms.len() < 2 {
            return Ok(terms.pop());
        }
        Ok(Some(match operator.unwrap_or(self.operator) {
            Operator::And => Query::all_of(terms),
            Operator::Or => Query::any_of(terms),
        }))
    }

    fn phrase(&mut self, value: &Value) -> Result<Option<Query>> {
        let (terms, places, slop) = match value {
            Value::String(text) => return self.phrase_of(text, 0),
            Value::Array(_) => (self.terms(value)?, None, 0),
            _ => {
                let example = r#"text, a list of terms, {"terms": ["a", "b"], "slop": 1} or {"text": "a b"}"#;
                let object = self.object(value, &["terms", "places", "slop", "text"], example)?;
                let slop = self.optional(object, "slop", Self::number_of_32_bits)?.unwrap_or(0);
                match self.optional(object, "text", Self::text)? {
                    Some(_) if object.contains_key("terms") || object.contains_key("places") => {
                        return self.fault("text cannot be combined with terms or places: remove one");
                    }
                    Some(text) => return self.phrase_of(&text, slop),
                    None => {}
                }
                let places = self
                    .optional(object, "places", |this, value| this.array(value, Self::number_of_32_bits))?;
                (self.required(object, "terms", Self::terms)?, places, slop)
            }
        };
        self.count(terms.len().max(1))?;
        let places = places.unwrap_or_else(|| (0..).take(terms.len()).collect());
        if places.len() != terms.len() || !places.is_sorted() {
            return self
                .within("places", |this| this.fault("write one place for each term, in ascending order"));
        }
        Ok(Some(Query::Phrase(PhraseQuery {
            field: self.field,
            terms: places.into_iter().zip(terms).collect(),
            slop,
        })))
    }

    /// A phrase of the terms of a text.
    fn phrase_of(&mut self, text: &str, slop: u32) -> Result<Option<Query>> {
        let mut terms = self.words.terms(self.field, text);
        self.count(terms.len())?;
        Ok(match terms.len() {
            0 => None,
            1 => terms.pop().map(|(_, term)| Query::term(self.field, term)),
            _ => Some(Query::Phrase(PhraseQuery { field: self.field, terms, slop })),
        })
    }
}
