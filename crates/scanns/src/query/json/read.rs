//! Parses queries in JSON.

use serde_json::Value;

use super::depth::is_too_deep;
use super::reader::JsonReader;
use crate::error::Result;
use crate::query::operator::Operator;
use crate::query::pattern::Pattern;
use crate::query::query_text::{QueryText, no_such_field};
use crate::query::tree::{BestQuery, BoolQuery, PhraseQuery, Query};
use crate::schema::Field;

/// The keys that determine the kind of a clause.
const KINDS: [&str; 17] = [
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
    "best",
    "match_all",
    "exists",
    "join",
    "scored",
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
    pub(super) fn clause(&mut self, value: &Value) -> Result<Option<Query>> {
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
        self.field = field.or(outer);
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
        match kind {
            "bool" => self.nested(|this| this.list(value)),
            "best" => self.nested(|this| this.best(value)),
            "query" => self.nested(|this| this.clause(value)),
            "match" => self.matching(value),
            "values" => self.values(value).map(Some),
            "join" => self.nested(|this| this.join(value)),
            "scored" => self.nested(|this| this.scored(value)),
            "match_all" => {
                self.count(1)?;
                self.object(value, &[], "{}")?;
                Ok(Some(Query::All))
            }
            _ => self.in_best_field(|this| this.terms_of_kind(kind, value)),
        }
    }

    /// A clause whose terms are in one field.
    fn terms_of_kind(&mut self, kind: &str, value: &Value) -> Result<Option<Query>> {
        let field = self.term_field();
        let pattern = match kind {
            "phrase" => return self.phrase(value),
            "term" => {
                self.count(1)?;
                return Ok(Some(Query::term(field, self.term(value)?)));
            }
            "exists" => {
                self.count(1)?;
                self.object(value, &[], "{}")?;
                return Ok(Some(Query::Exists(field)));
            }
            "set" => {
                let terms = self.terms(value)?;
                self.count(terms.len().max(1))?;
                return Ok(Some(Query::pattern(field, Pattern::Set(terms))));
            }
            "fuzzy" => {
                self.count(1)?;
                return Ok(Some(match self.fuzzy(value)? {
                    Pattern::Fuzzy { term, edits: 0, .. } => Query::term(field, term),
                    fuzzy => Query::pattern(field, fuzzy),
                }));
            }
            kind => self.pattern(kind, value)?,
        };
        self.count(1)?;
        Ok(Some(Query::pattern(field, pattern)))
    }

    fn best(&mut self, value: &Value) -> Result<Option<Query>> {
        let object = self.object(value, &["clauses", "tie"], r#"{"clauses": [], "tie": 0.3}"#)?;
        let clauses = self.required(object, "clauses", |this, value| this.array(value, Self::clause))?;
        let given = clauses.len();
        let clauses: Vec<Query> = clauses.into_iter().flatten().collect();
        let tie = self.optional(object, "tie", |this, value| {
            #[expect(clippy::cast_possible_truncation, reason = "the number is from 0 to 1")]
            match value.as_f64().filter(|tie| (0.0..=1.0).contains(tie)) {
                Some(tie) => Ok(tie as f32),
                None => this.fault("write a number from 0 to 1"),
            }
        })?;
        let is_empty = clauses.is_empty() && given > 0;
        Ok((!is_empty).then(|| Query::Best(BestQuery { clauses, tie: tie.unwrap_or(0.0) })))
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
        let operator = operator.unwrap_or(self.operator);
        if self.field.is_some() || self.words.default_fields().len() == 1 {
            return self.in_best_field(|this| this.match_in_field(&text, operator));
        }
        // Each word in the field where it scores best.
        let mut words = Vec::new();
        for word in text.split_whitespace() {
            words.extend(self.in_best_field(|this| this.match_in_field(word, operator))?);
        }
        Ok(joined(words, operator))
    }

    /// The terms of a text in the current field.
    fn match_in_field(&mut self, text: &str, operator: Operator) -> Result<Option<Query>> {
        let field = self.term_field();
        let terms = self.words.terms(field, text);
        self.count(terms.len())?;
        Ok(joined(terms.into_iter().map(|(_, term)| Query::term(field, term)).collect(), operator))
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
            field: self.term_field(),
            terms: places.into_iter().zip(terms).collect(),
            slop,
        })))
    }

    /// A phrase of the terms of a text.
    fn phrase_of(&mut self, text: &str, slop: u32) -> Result<Option<Query>> {
        let mut terms = self.words.terms(self.term_field(), text);
        self.count(terms.len())?;
        Ok(match terms.len() {
            0 => None,
            1 => terms.pop().map(|(_, term)| Query::term(self.term_field(), term)),
            _ => Some(Query::Phrase(PhraseQuery { field: self.term_field(), terms, slop })),
        })
    }
}

/// Clauses combined by an operator; a single one stays as it is.
fn joined(mut clauses: Vec<Query>, operator: Operator) -> Option<Query> {
    match (clauses.len(), operator) {
        (0 | 1, _) => clauses.pop(),
        (_, Operator::And) => Some(Query::all_of(clauses)),
        (_, Operator::Or) => Some(Query::any_of(clauses)),
    }
}
