//! JSON becomes a query; what is wrong with it is told with its place.

use std::ops::Bound;

use serde_json::{Map, Value};

use super::depth::is_too_deep;
use crate::error::{Error, Result};
use crate::schema::Field;
use crate::search::parse::{MAX_CLAUSES, MAX_DEPTH, QueryText};
use crate::search::query::{BoolQuery, Operator, Pattern, PhraseQuery, Query, WildcardPart};
use crate::tokenize::MAX_TOKEN;

/// Keys of a clause that say its kind.
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

/// Reads a query from JSON. Terms are taken as they are, but in `match` and in the `text` of a phrase, which become
/// terms by `words`; `operator` combines those of a `match` that does not say how.
///
/// The limits are those of [`parse`](crate::parse): 1,024 terms, and lists nested 64 deep.
///
/// # Errors
/// [`Error::QueryJson`], which names the place.
pub fn parse_json(text: &str, operator: Operator, words: &mut dyn QueryText) -> Result<Query> {
    let mut reader = Reader { words, operator, field: None, path: String::new(), depth: 0, clauses: 0 };
    if is_too_deep(text) {
        return reader.fault("nested more than 64 deep: write fewer lists");
    }
    let mut json = serde_json::Deserializer::from_str(text);
    // How deep it is has been looked at.
    json.disable_recursion_limit();
    let mut values = json.into_iter::<Value>();
    match (values.next(), values.next()) {
        (Some(Ok(value)), None) => Ok(reader.clause(&value)?.unwrap_or_else(Query::nothing)),
        (Some(Err(error)), _) | (_, Some(Err(error))) => reader.fault(&format!("this is no JSON: {error}")),
        (None, _) => reader.fault(r#"nothing is there: write a clause such as {"term": "word"}"#),
        (Some(Ok(_)), Some(Ok(_))) => reader.fault("something follows the query: put both into a bool"),
    }
}

/// The parts of a wildcard: `?` and `*`, unless a backslash is before them. `None` if one is at the end.
pub(super) fn wildcard_parts(text: &str) -> Option<Vec<WildcardPart>> {
    let mut parts = Vec::new();
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        let char = match char {
            '?' => {
                parts.push(WildcardPart::AnyChar);
                continue;
            }
            '*' => {
                parts.push(WildcardPart::Anything);
                continue;
            }
            '\\' => chars.next()?,
            char => char,
        };
        let mut buffer = [0; 4];
        let bytes = char.encode_utf8(&mut buffer).as_bytes();
        match parts.last_mut() {
            Some(WildcardPart::Text(before)) => before.extend_from_slice(bytes),
            _ => parts.push(WildcardPart::Text(bytes.to_vec())),
        }
    }
    Some(parts)
}

pub(super) struct Reader<'w> {
    pub(super) words: &'w mut dyn QueryText,
    operator: Operator,
    /// The field that is named around what is read.
    field: Option<Field>,
    /// Where it is.
    path: String,
    depth: usize,
    /// Terms so far.
    clauses: usize,
}

impl Reader<'_> {
    /// A clause; `None` if its text has no terms.
    fn clause(&mut self, value: &Value) -> Result<Option<Query>> {
        let Value::Object(object) = value else {
            return self.fault(r#"a clause is an object such as {"term": "word"}"#);
        };
        let mut kind = None;
        for (key, value) in object {
            match key.as_str() {
                "field" | "boost" => {}
                key if !KINDS.contains(&key) => {
                    let all = KINDS.join(", ");
                    return self.within(key, |this| {
                        this.fault(&format!(
                            "this is no kind of clause: use one of {all}, and field or boost beside it"
                        ))
                    });
                }
                key if kind.is_none() => kind = Some((key, value)),
                key => {
                    return self.within(key, |this| {
                        this.fault("a clause has one kind: put several into the lists of a bool")
                    });
                }
            }
        }
        let Some((kind, value)) = kind else {
            return self.fault(&format!("a clause must say what it finds: give one of {}", KINDS.join(", ")));
        };
        let named = self.optional(object, "field", Self::named_field)?;
        let boost = self.optional(object, "boost", Self::boost)?;
        let outer = self.field;
        self.field = named.or(outer);
        let query = self.within(kind, |this| this.kind(kind, value));
        self.field = outer;
        let Some(query) = query? else { return Ok(None) };
        let query = match boost {
            Some(boost) => Query::Boost(Box::new(query), boost),
            None => query,
        };
        Ok(Some(match named {
            Some(field) => Query::In(field, Box::new(query)),
            None => query,
        }))
    }

    fn kind(&mut self, kind: &str, value: &Value) -> Result<Option<Query>> {
        let pattern = match kind {
            "bool" => return self.nested(|this| this.list(value)),
            "query" => return self.nested(|this| this.clause(value)),
            "match" => return self.text(value),
            "phrase" => return self.phrase(value),
            "term" => {
                self.count(1)?;
                return Ok(Some(Query::Term(self.term(value)?)));
            }
            "match_all" | "exists" => {
                self.count(1)?;
                self.object(value, &[], "{}")?;
                return Ok(Some(if kind == "exists" { Query::Exists } else { Query::All }));
            }
            "set" => {
                let terms = self.terms(value)?;
                self.count(terms.len().max(1))?;
                return Ok(Some(Query::Pattern(Pattern::Set(terms))));
            }
            "fuzzy" => return self.fuzzy(value).map(Some),
            "values" => return self.values(value).map(Some),
            "prefix" => Pattern::Prefix(self.term(value)?),
            "wildcard" => self.wildcard(value)?,
            "regexp" => Pattern::Regex(self.string(value)?),
            _ => self.range(value)?,
        };
        self.count(1)?;
        Ok(Some(Query::Pattern(pattern)))
    }

    fn list(&mut self, value: &Value) -> Result<Option<Query>> {
        let keys = ["must", "should", "must_not", "at_least"];
        let object =
            self.object(value, &keys, r#"{"must": [], "should": [], "must_not": [], "at_least": 0}"#)?;
        let mut given = [0; 3];
        let mut lists = [Vec::new(), Vec::new(), Vec::new()];
        for ((key, list), given) in keys.iter().zip(&mut lists).zip(&mut given) {
            let found = self.optional(object, key, |this, value| this.each(value, Self::clause))?;
            let found = found.unwrap_or_default();
            *given = found.len();
            list.extend(found.into_iter().flatten());
        }
        let [must, should, must_not] = lists;
        let at_least = self.optional(object, "at_least", |this, value| {
            let most = u64::try_from(given[1]).unwrap_or(u64::MAX);
            this.number(value, most, &format!("should has {most} clauses: give a number from 0 to that"))
        })?;
        // What has no terms is not there, and cannot be asked for.
        let at_least = usize::try_from(at_least.unwrap_or(0)).unwrap_or(usize::MAX).min(should.len());
        let list = BoolQuery { must, should, must_not, at_least };
        let is_empty = list == BoolQuery::default() && given != [0; 3];
        Ok((!is_empty).then_some(Query::Bool(list)))
    }

    /// Words that a user has typed.
    fn text(&mut self, value: &Value) -> Result<Option<Query>> {
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
                (self.required(object, "text", Self::typed)?, operator)
            }
        };
        let terms = self.words.terms(self.field, &text);
        self.count(terms.len())?;
        let mut terms: Vec<Query> = terms.into_iter().map(|(_, term)| Query::Term(term)).collect();
        if terms.len() < 2 {
            return Ok(terms.pop());
        }
        Ok(Some(Query::Bool(match operator.unwrap_or(self.operator) {
            Operator::And => BoolQuery { must: terms, ..BoolQuery::default() },
            Operator::Or => BoolQuery { should: terms, ..BoolQuery::default() },
        })))
    }

    fn phrase(&mut self, value: &Value) -> Result<Option<Query>> {
        let (terms, places, slop) = match value {
            Value::String(text) => return self.phrase_of(text, 0),
            Value::Array(_) => (self.terms(value)?, None, 0),
            _ => {
                let example = r#"text, a list of terms, {"terms": ["a", "b"], "slop": 1} or {"text": "a b"}"#;
                let object = self.object(value, &["terms", "places", "slop", "text"], example)?;
                let slop = self.optional(object, "slop", Self::number_of_32_bits)?.unwrap_or(0);
                match self.optional(object, "text", Self::typed)? {
                    Some(_) if object.contains_key("terms") || object.contains_key("places") => {
                        return self.fault("text has its own terms and places: leave one out");
                    }
                    Some(text) => return self.phrase_of(&text, slop),
                    None => {}
                }
                let places =
                    self.optional(object, "places", |this, value| this.each(value, Self::number_of_32_bits))?;
                (self.required(object, "terms", Self::terms)?, places, slop)
            }
        };
        self.count(terms.len().max(1))?;
        let places = places.unwrap_or_else(|| (0..).take(terms.len()).collect());
        if places.len() != terms.len() || !places.is_sorted() {
            return self.within("places", |this| {
                this.fault("give one place a term, none lower than the one before")
            });
        }
        Ok(Some(Query::Phrase(PhraseQuery { terms: places.into_iter().zip(terms).collect(), slop })))
    }

    /// A phrase of words that a user has typed.
    fn phrase_of(&mut self, text: &str, slop: u32) -> Result<Option<Query>> {
        let mut terms = self.words.terms(self.field, text);
        self.count(terms.len())?;
        Ok(match terms.len() {
            0 => None,
            1 => terms.pop().map(|(_, term)| Query::Term(term)),
            _ => Some(Query::Phrase(PhraseQuery { terms, slop })),
        })
    }

    fn wildcard(&mut self, value: &Value) -> Result<Pattern> {
        if let Value::String(_) = value {
            let text = self.string(value)?;
            return match wildcard_parts(&text) {
                Some(parts) => Ok(Pattern::Wildcard(parts)),
                None => self.fault("a backslash at the end escapes nothing: write two"),
            };
        }
        let example = r#"a string or {"parts": [{"text": "li"}, "?", "*"]}"#;
        let object = self.object(value, &["parts"], example)?;
        let parts = self.required(object, "parts", |this, value| {
            this.each(value, |this, value| match value.as_str() {
                Some("?") => Ok(WildcardPart::AnyChar),
                Some("*") => Ok(WildcardPart::Anything),
                _ => {
                    let object = this.object(value, &["text"], r#""?", "*" or {"text": "li"}"#)?;
                    this.required(object, "text", Self::term).map(WildcardPart::Text)
                }
            })
        })?;
        if parts.len() > MAX_CLAUSES {
            return self.within("parts", |this| this.fault("there may be 1,024 of them"));
        }
        Ok(Pattern::Wildcard(parts))
    }

    fn fuzzy(&mut self, value: &Value) -> Result<Query> {
        self.count(1)?;
        let (term, edits, prefix) = match value {
            Value::String(_) => (self.string(value)?, None, None),
            _ => {
                let example = r#"a string or {"term": "lisence", "edits": 2, "prefix": 0}"#;
                let object = self.object(value, &["term", "edits", "prefix"], example)?;
                let edits = self.optional(object, "edits", |this, value| {
                    this.number(value, 2, "write a number from 0 to 2")
                })?;
                let prefix = self.optional(object, "prefix", Self::number_of_32_bits)?;
                (self.required(object, "term", Self::string)?, edits, prefix)
            }
        };
        let prefix = prefix.map_or(0, |prefix| prefix as usize);
        Ok(match edits {
            Some(0) => Query::Term(term.into_bytes()),
            Some(1) => Query::Pattern(Pattern::Fuzzy { term, edits: 1, prefix }),
            _ => Query::Pattern(Pattern::Fuzzy { term, edits: 2, prefix }),
        })
    }

    fn range(&mut self, value: &Value) -> Result<Pattern> {
        let example = r#"{"gte": "2019", "lt": "2021"}, or gt and lte"#;
        let object = self.object(value, &["gte", "gt", "lte", "lt"], example)?;
        let mut bounds = [Bound::Unbounded, Bound::Unbounded];
        for (bound, included, excluded) in [(0, "gte", "gt"), (1, "lte", "lt")] {
            let first = self.optional(object, included, Self::term)?.map(Bound::Included);
            let second = self.optional(object, excluded, Self::term)?.map(Bound::Excluded);
            bounds[bound] = match (first, second) {
                (Some(_), Some(_)) => {
                    return self.fault(&format!(
                        "{included} and {excluded} are two bounds of one end: leave one out"
                    ));
                }
                (one, other) => one.or(other).unwrap_or(Bound::Unbounded),
            };
        }
        let [from, to] = bounds;
        Ok(Pattern::Range(from, to))
    }

    fn named_field(&mut self, value: &Value) -> Result<Field> {
        let name = self.string(value)?;
        let found = self.words.field(&name);
        found.or_else(|names| self.fault(&format!("there is no field '{name}' that is searched{names}")))
    }

    fn boost(&mut self, value: &Value) -> Result<f32> {
        #[expect(clippy::cast_possible_truncation, reason = "what becomes 0 or infinite is refused")]
        let boost = value.as_f64().map(|boost| boost as f32);
        match boost.filter(|boost| *boost > 0.0 && boost.is_finite()) {
            Some(boost) => Ok(boost),
            None => self.fault("a boost is a number above 0"),
        }
    }

    fn terms(&mut self, value: &Value) -> Result<Vec<Vec<u8>>> {
        self.each(value, Self::term)
    }

    /// A term as it is: text, or bytes in hexadecimal.
    pub(super) fn term(&mut self, value: &Value) -> Result<Vec<u8>> {
        if let Value::String(_) = value {
            return self.string(value).map(String::into_bytes);
        }
        let object = self.object(value, &["bytes"], r#"a string or {"bytes": "ff61"}"#)?;
        self.required(object, "bytes", |this, value| {
            let text = this.string(value)?;
            let digits: Option<Vec<u8>> =
                text.chars().map(|char| char.to_digit(16)?.try_into().ok()).collect();
            match digits.as_deref().map(<[u8]>::as_chunks) {
                Some((pairs, [])) => Ok(pairs.iter().map(|[high, low]| high << 4 | low).collect()),
                _ => this.fault("bytes are two hexadecimal digits each"),
            }
        })
    }

    /// What a user has typed, whose terms are counted.
    fn typed(&mut self, value: &Value) -> Result<String> {
        value.as_str().map_or_else(|| self.fault("this must be a string"), |text| Ok(text.to_owned()))
    }

    pub(super) fn string(&mut self, value: &Value) -> Result<String> {
        match self.typed(value)? {
            text if text.len() <= 2 * MAX_TOKEN => Ok(text),
            _ => self.fault("this is longer than any term"),
        }
    }

    fn number_of_32_bits(&mut self, value: &Value) -> Result<u32> {
        let number = self.number(value, u64::from(u32::MAX), "write a whole number from 0 to 4294967295")?;
        Ok(u32::try_from(number).unwrap_or(u32::MAX))
    }

    fn number(&mut self, value: &Value, most: u64, expected: &str) -> Result<u64> {
        match value.as_u64() {
            Some(number) if number <= most => Ok(number),
            _ => self.fault(expected),
        }
    }

    /// An object without other keys than these.
    pub(super) fn object<'v>(
        &mut self,
        value: &'v Value,
        keys: &[&str],
        example: &str,
    ) -> Result<&'v Map<String, Value>> {
        let Value::Object(object) = value else { return self.fault(&format!("write {example}")) };
        match object.keys().find(|key| !keys.contains(&key.as_str())) {
            None => Ok(object),
            Some(key) => {
                self.within(key, |this| this.fault(&format!("this means nothing here: write {example}")))
            }
        }
    }

    pub(super) fn required<T>(
        &mut self,
        object: &Map<String, Value>,
        key: &str,
        read: impl FnOnce(&mut Self, &Value) -> Result<T>,
    ) -> Result<T> {
        match self.optional(object, key, read)? {
            Some(found) => Ok(found),
            None => self.fault(&format!("{key} is missing")),
        }
    }

    pub(super) fn optional<T>(
        &mut self,
        object: &Map<String, Value>,
        key: &str,
        read: impl FnOnce(&mut Self, &Value) -> Result<T>,
    ) -> Result<Option<T>> {
        object.get(key).map(|value| self.within(key, |this| read(this, value))).transpose()
    }

    /// All of an array.
    fn each<T>(
        &mut self,
        value: &Value,
        mut read: impl FnMut(&mut Self, &Value) -> Result<T>,
    ) -> Result<Vec<T>> {
        let Value::Array(values) = value else { return self.fault("this must be an array") };
        let before = self.path.len();
        let mut all = Vec::with_capacity(values.len());
        for (place, value) in values.iter().enumerate() {
            self.path.push_str(&format!("[{place}]"));
            all.push(read(self, value)?);
            self.path.truncate(before);
        }
        Ok(all)
    }

    /// What `read` makes of what is at `key`. After an error the path stays where it was.
    pub(super) fn within<T>(&mut self, key: &str, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let before = self.path.len();
        if before > 0 {
            self.path.push('.');
        }
        self.path.push_str(key);
        let found = read(self)?;
        self.path.truncate(before);
        Ok(found)
    }

    fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return self.fault("nested more than 64 deep: write fewer lists");
        }
        let found = inner(self)?;
        self.depth -= 1;
        Ok(found)
    }

    /// Counts terms of the query.
    pub(super) fn count(&mut self, terms: usize) -> Result<()> {
        self.clauses += terms;
        match self.clauses > MAX_CLAUSES {
            true => self.fault("more than 1,024 terms: ask for fewer at a time"),
            false => Ok(()),
        }
    }

    pub(super) fn fault<T>(&self, message: &str) -> Result<T> {
        Err(Error::QueryJson { path: self.path.clone(), message: message.to_owned() })
    }
}
