//! Reads JSON values, and keeps their paths for error messages.

use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::query::limits::{MAX_CLAUSES, MAX_DEPTH};
use crate::query::operator::Operator;
use crate::query::query_text::{QueryText, in_best_field};
use crate::query::tree::Query;
use crate::schema::{Field, MAX_TOKEN};

/// Reads the values of a query. After an error, the path is the place of the error.
pub(super) struct JsonReader<'w> {
    pub(super) words: &'w mut dyn QueryText,
    /// The operator for a `match` without one.
    pub(super) operator: Operator,
    /// The field of the current terms; `None` for the default fields.
    pub(super) field: Option<Field>,
    /// The path of the current value, as in `bool.must[1]`.
    path: String,
    depth: usize,
    /// The number of terms so far.
    terms: usize,
}

impl<'w> JsonReader<'w> {
    pub(super) fn new(words: &'w mut dyn QueryText, operator: Operator) -> Self {
        JsonReader { words, operator, field: None, path: String::new(), depth: 0, terms: 0 }
    }

    /// A term without analysis: text, or bytes in hexadecimal.
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
                _ => this.fault("write two hexadecimal digits for each byte"),
            }
        })
    }

    pub(super) fn terms(&mut self, value: &Value) -> Result<Vec<Vec<u8>>> {
        self.array(value, Self::term)
    }

    /// Text of any length. Its number of terms is limited instead.
    pub(super) fn text(&mut self, value: &Value) -> Result<String> {
        value.as_str().map_or_else(|| self.fault("write a string"), |text| Ok(text.to_owned()))
    }

    /// A string that is not longer than the maximum length of a term.
    pub(super) fn string(&mut self, value: &Value) -> Result<String> {
        let text = self.text(value)?;
        if text.len() > 2 * MAX_TOKEN {
            return self.fault("this is longer than any term");
        }
        Ok(text)
    }

    pub(super) fn number_of_32_bits(&mut self, value: &Value) -> Result<u32> {
        let number = self.number(value, u64::from(u32::MAX), "write a whole number from 0 to 4294967295")?;
        Ok(u32::try_from(number).unwrap_or(u32::MAX))
    }

    pub(super) fn number(&mut self, value: &Value, most: u64, expected: &str) -> Result<u64> {
        match value.as_u64() {
            Some(number) if number <= most => Ok(number),
            _ => self.fault(expected),
        }
    }

    /// An object without any other keys than `keys`.
    pub(super) fn object<'v>(
        &mut self,
        value: &'v Value,
        keys: &[&str],
        example: &str,
    ) -> Result<&'v Map<String, Value>> {
        let Value::Object(object) = value else { return self.fault(&format!("write {example}")) };
        match object.keys().find(|key| !keys.contains(&key.as_str())) {
            None => Ok(object),
            Some(key) => self.within(key, |this| this.fault(&format!("unknown key: write {example}"))),
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

    /// All values of an array.
    pub(super) fn array<T>(
        &mut self,
        value: &Value,
        mut read: impl FnMut(&mut Self, &Value) -> Result<T>,
    ) -> Result<Vec<T>> {
        let Value::Array(values) = value else { return self.fault("write an array") };
        let outer = self.path.len();
        let mut all = Vec::with_capacity(values.len());
        for (place, value) in values.iter().enumerate() {
            self.path.push_str(&format!("[{place}]"));
            all.push(read(self, value)?);
            self.path.truncate(outer);
        }
        Ok(all)
    }

    /// Reads the value of `key`.
    pub(super) fn within<T>(&mut self, key: &str, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let outer = self.path.len();
        if outer > 0 {
            self.path.push('.');
        }
        self.path.push_str(key);
        let found = read(self)?;
        self.path.truncate(outer);
        Ok(found)
    }

    /// Reads a clause or list inside another one.
    pub(super) fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return self.too_deep();
        }
        let found = inner(self)?;
        self.depth -= 1;
        Ok(found)
    }

    /// The field of the current terms, or the first of the default fields.
    pub(super) fn term_field(&self) -> Field {
        let default = || self.words.default_fields().first().map(|default| default.field);
        self.field.or_else(default).unwrap_or_default()
    }

    /// The clause in the field that was named, or in the best of the default fields.
    pub(super) fn in_best_field(
        &mut self,
        mut clause: impl FnMut(&mut Self) -> Result<Option<Query>>,
    ) -> Result<Option<Query>> {
        if self.field.is_some() {
            return clause(self);
        }
        let (defaults, terms) = (self.words.default_fields().to_vec(), self.terms);
        let query = in_best_field(&defaults, |field| {
            // The same terms again.
            (self.field, self.terms) = (Some(field), terms);
            clause(self)
        });
        self.field = None;
        query
    }

    /// Counts terms of the query.
    pub(super) fn count(&mut self, terms: usize) -> Result<()> {
        self.terms += terms;
        if self.terms > MAX_CLAUSES {
            return self.fault("more than 1,024 terms: ask for fewer at a time");
        }
        Ok(())
    }

    pub(super) fn too_deep<T>(&self) -> Result<T> {
        self.fault("nested more than 64 deep: write fewer lists")
    }

    /// An error at the current place.
    pub(super) fn fault<T>(&self, message: &str) -> Result<T> {
        Err(Error::QueryJson { path: self.path.clone(), message: message.to_owned() })
    }
}
