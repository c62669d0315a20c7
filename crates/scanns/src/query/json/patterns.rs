//! Patterns in JSON: prefixes, wildcards, regular expressions, fuzzy words and ranges.

use std::ops::Bound;

use serde_json::Value;

use super::reader::JsonReader;
use super::wildcard::wildcard_parts;
use crate::error::Result;
use crate::query::limits::MAX_PATTERN;
use crate::query::pattern::{Pattern, WildcardPart};
use crate::query::regex::{RegexFault, regex_fault};

impl JsonReader<'_> {
    /// The pattern of a kind that is not `fuzzy` or `set`.
    pub(super) fn pattern(&mut self, kind: &str, value: &Value) -> Result<Pattern> {
        match kind {
            "prefix" => self.term(value).map(Pattern::Prefix),
            "wildcard" => self.wildcard(value),
            "regexp" => {
                let text = self.string(value)?;
                self.check_pattern(text.chars().count())?;
                if let Some(RegexFault { after, message }) = regex_fault(&text) {
                    return self.fault(&format!("{message}, at character {}: {text}", after + 1));
                }
                Ok(Pattern::Regex(text))
            }
            _ => self.range(value),
        }
    }

    /// A fuzzy word, with 0 edits if only the term itself is wanted.
    pub(super) fn fuzzy(&mut self, value: &Value) -> Result<Pattern> {
        if let Value::String(_) = value {
            return Ok(Pattern::Fuzzy { term: self.string(value)?, edits: 2, prefix: 0 });
        }
        let example = r#"a string or {"term": "lisence", "edits": 2, "prefix": 0}"#;
        let object = self.object(value, &["term", "edits", "prefix"], example)?;
        let edits = self
            .optional(object, "edits", |this, value| this.number(value, 2, "write a number from 0 to 2"))?;
        let prefix = self.optional(object, "prefix", Self::number_of_32_bits)?;
        let term = self.required(object, "term", Self::string)?;
        let edits = edits.and_then(|edits| u8::try_from(edits).ok()).unwrap_or(2);
        Ok(Pattern::Fuzzy { term, edits, prefix: prefix.map_or(0, |prefix| prefix as usize) })
    }

    fn wildcard(&mut self, value: &Value) -> Result<Pattern> {
        if let Value::String(_) = value {
            let text = self.string(value)?;
            self.check_pattern(text.chars().count())?;
            return match wildcard_parts(&text) {
                Some(parts) => Ok(Pattern::Wildcard(parts)),
                None => self.fault("a backslash at the end escapes nothing: write two"),
            };
        }
        let example = r#"a string or {"parts": [{"text": "li"}, "?", "*"]}"#;
        let object = self.object(value, &["parts"], example)?;
        let parts = self.required(object, "parts", |this, value| {
            this.array(value, |this, value| match value.as_str() {
                Some("?") => Ok(WildcardPart::AnyChar),
                Some("*") => Ok(WildcardPart::Anything),
                _ => {
                    let object = this.object(value, &["text"], r#""?", "*" or {"text": "li"}"#)?;
                    this.required(object, "text", Self::term).map(WildcardPart::Text)
                }
            })
        })?;
        let length = |part: &WildcardPart| match part {
            WildcardPart::Text(text) => text.len(),
            WildcardPart::AnyChar | WildcardPart::Anything => 1,
        };
        self.check_pattern(parts.iter().map(length).sum())?;
        Ok(Pattern::Wildcard(parts))
    }

    /// Refuses a pattern that is too long.
    fn check_pattern(&self, length: usize) -> Result<()> {
        if length > MAX_PATTERN {
            return self
                .fault("a pattern of more than 1,000 characters: write a shorter one, such as *part*");
        }
        Ok(())
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
                    return self
                        .fault(&format!("{included} and {excluded} bound the same end: leave one out"));
                }
                (one, other) => one.or(other).unwrap_or(Bound::Unbounded),
            };
        }
        let [from, to] = bounds;
        Ok(Pattern::Range(from, to))
    }
}
