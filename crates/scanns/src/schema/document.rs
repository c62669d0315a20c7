//! A document as a program gives it: a key and values of fields.

use super::{Field, FieldKind, Schema};
use crate::error::{Error, Result};

/// Longest key of a document, in bytes.
const MAX_KEY: usize = 32 << 10;

/// The value of a field.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Of a text or a keyword, UTF-8 or any bytes.
    Text(Vec<u8>),
    /// Of an unsigned number.
    Unsigned(u64),
    /// Of a signed number.
    Signed(i64),
    /// Of a number of double precision.
    Float(f64),
    /// Of a field of bytes.
    Bytes(Vec<u8>),
}

impl Value {
    fn fits(&self, kind: &FieldKind) -> bool {
        matches!(
            (self, kind),
            (Value::Text(_), FieldKind::Text { .. } | FieldKind::Keyword)
                | (Value::Unsigned(_), FieldKind::Unsigned)
                | (Value::Signed(_), FieldKind::Signed)
                | (Value::Float(_), FieldKind::Float)
                | (Value::Bytes(_), FieldKind::Bytes)
        )
    }

    fn name(&self) -> &'static str {
        match self {
            Value::Text(_) => "text",
            Value::Unsigned(_) => "unsigned",
            Value::Signed(_) => "signed",
            Value::Float(_) => "float",
            Value::Bytes(_) => "bytes",
        }
    }
}

/// A key, and values of fields in any number: none, one, or several of the same field, which are taken as one text after
/// the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    key: Vec<u8>,
    values: Vec<(Field, Value)>,
}

impl Document {
    /// A document called `key`, without values.
    pub fn new(key: impl Into<Vec<u8>>) -> Self {
        Document { key: key.into(), values: Vec::new() }
    }

    /// Adds a value.
    #[must_use]
    pub fn with(mut self, field: Field, value: Value) -> Self {
        self.values.push((field, value));
        self
    }

    /// Adds a text, or a keyword.
    #[must_use]
    pub fn text(self, field: Field, text: impl Into<Vec<u8>>) -> Self {
        self.with(field, Value::Text(text.into()))
    }

    /// What it is called.
    pub fn key(&self) -> &[u8] {
        &self.key
    }

    /// Its values, in the order in which they were added.
    pub fn values(&self) -> &[(Field, Value)] {
        &self.values
    }

    /// The texts of a field.
    pub(crate) fn texts(&self, field: Field) -> impl Iterator<Item = &[u8]> {
        self.values.iter().filter_map(move |(of, value)| match value {
            Value::Text(text) if *of == field => Some(text.as_slice()),
            _ => None,
        })
    }

    /// Refuses a document that does not fit a schema.
    pub(crate) fn check(&self, schema: &Schema) -> Result<()> {
        let refuse = |why: String| Err(Error::Options(why));
        if self.key.is_empty() || self.key.len() > MAX_KEY {
            return refuse(format!(
                "a document has a key of {} bytes: give it one of 1 to {MAX_KEY}",
                self.key.len()
            ));
        }
        for (field, value) in &self.values {
            let Some(entry) = schema.entry(*field) else {
                return refuse(
                    "a document has a field of another schema: take fields from that of the index".into(),
                );
            };
            if !value.fits(&entry.kind) {
                let (name, kind) = (&entry.name, entry.kind.name());
                return refuse(format!(
                    "field '{name}' holds {kind} values, and is given one of {}",
                    value.name()
                ));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_must_fit_the_fields() {
        let mut schema = Schema::new();
        let owner = schema.add("owner", FieldKind::Keyword, false).unwrap();
        let size = schema.add("size", FieldKind::Unsigned, true).unwrap();
        let good = Document::new("k").text(owner, "me").with(size, Value::Unsigned(1)).text(owner, "you");
        good.check(&schema).unwrap();
        assert!(good.texts(owner).eq([b"me".as_slice(), b"you"]));
        assert!(Document::new("").check(&schema).is_err());
        assert!(Document::new(vec![b'x'; MAX_KEY + 1]).check(&schema).is_err());
        assert!(Document::new("k").text(size, "7").check(&schema).is_err());
        assert!(Document::new("k").with(owner, Value::Float(1.0)).check(&schema).is_err());
        assert!(good.check(&Schema::new()).is_err());
    }
}
