//! Documents as programs create them: a key and values of fields.

use serde::{Deserialize, Serialize};

use super::{Field, FieldKind, Schema};
use crate::codec::{ByteReader, put_varint};
use crate::error::{Error, Result};

/// The maximum length of the key of a document, and of a keyword, in bytes.
pub(crate) const MAX_KEY: usize = 32 << 10;

/// The value of a field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Value {
    /// A text, a keyword or a path: UTF-8 or any other bytes.
    Text(#[serde(with = "serde_bytes")] Vec<u8>),
    /// An unsigned number.
    Unsigned(u64),
    /// A signed number.
    Signed(i64),
    /// A number of double precision.
    Float(f64),
    /// Bytes of a field of bytes.
    Bytes(#[serde(with = "serde_bytes")] Vec<u8>),
    /// A boolean.
    Boolean(bool),
    /// A date, in nanoseconds since 1970, UTC.
    Date(i64),
}

/// A borrowed [`Value`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ValueRef<'v> {
    /// A text, a keyword or a path.
    Text(&'v [u8]),
    /// An unsigned number.
    Unsigned(u64),
    /// A signed number.
    Signed(i64),
    /// A number of double precision.
    Float(f64),
    /// Bytes of a field of bytes.
    Bytes(&'v [u8]),
    /// A boolean.
    Boolean(bool),
    /// A date, in nanoseconds since 1970, UTC.
    Date(i64),
}

impl ValueRef<'_> {
    /// True if a field of this kind can hold the value.
    pub(crate) fn fits(&self, kind: &FieldKind) -> bool {
        matches!(
            (self, kind),
            (ValueRef::Text(_), FieldKind::Text { .. } | FieldKind::Keyword | FieldKind::Path)
                | (ValueRef::Unsigned(_), FieldKind::Unsigned)
                | (ValueRef::Signed(_), FieldKind::Signed)
                | (ValueRef::Float(_), FieldKind::Float)
                | (ValueRef::Bytes(_), FieldKind::Bytes)
                | (ValueRef::Boolean(_), FieldKind::Boolean)
                | (ValueRef::Date(_), FieldKind::Date)
        )
    }

    fn name(&self) -> &'static str {
        match self {
            ValueRef::Text(_) => "text",
            ValueRef::Unsigned(_) => "unsigned",
            ValueRef::Signed(_) => "signed",
            ValueRef::Float(_) => "float",
            ValueRef::Bytes(_) => "bytes",
            ValueRef::Boolean(_) => "boolean",
            ValueRef::Date(_) => "date",
        }
    }
}

impl Value {
    /// Borrows the value.
    pub fn as_ref(&self) -> ValueRef<'_> {
        match self {
            Value::Text(text) => ValueRef::Text(text),
            Value::Unsigned(number) => ValueRef::Unsigned(*number),
            Value::Signed(number) => ValueRef::Signed(*number),
            Value::Float(number) => ValueRef::Float(*number),
            Value::Bytes(bytes) => ValueRef::Bytes(bytes),
            Value::Boolean(truth) => ValueRef::Boolean(*truth),
            Value::Date(time) => ValueRef::Date(*time),
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::Text(text.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Value::Text(text.into())
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Value::Unsigned(number)
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Value::Signed(number)
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Value::Float(number)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Value::Boolean(value)
    }
}

/// A key and the values of fields. A field may have any number of values. Several texts of a field are
/// indexed one after the other.
///
/// ```
/// use scanns::schema::{Document, FieldEntry, FieldKind, Schema, Value};
///
/// # fn main() -> scanns::Result<()> {
/// let mut schema = Schema::new();
/// let text = schema.add(FieldEntry::text("text"))?;
/// let size = schema.add(FieldEntry::new("size", FieldKind::Unsigned).column())?;
/// let document = Document::new("mail-1").with(text, "The index is ready.").with(size, 19u64);
/// assert_eq!(document.values()[1], (size, Value::Unsigned(19)));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    key: Vec<u8>,
    values: Vec<(Field, Value)>,
}

impl Document {
    /// Creates a document with the key `key` and without values.
    pub fn new(key: impl Into<Vec<u8>>) -> Self {
        Document { key: key.into(), values: Vec::new() }
    }

    /// Adds a value.
    #[must_use]
    pub fn with(mut self, field: Field, value: impl Into<Value>) -> Self {
        self.values.push((field, value.into()));
        self
    }

    /// Adds a text, a keyword or a path.
    #[must_use]
    pub fn text(self, field: Field, text: impl Into<Vec<u8>>) -> Self {
        self.with(field, Value::Text(text.into()))
    }

    /// The key of the document.
    pub fn key(&self) -> &[u8] {
        &self.key
    }

    /// The values, in the order in which they were added.
    pub fn values(&self) -> &[(Field, Value)] {
        &self.values
    }

    /// Checks that the document fits a schema.
    pub(crate) fn check(&self, schema: &Schema) -> Result<()> {
        if self.key.is_empty() || self.key.len() > MAX_KEY {
            let found = format!("of {} bytes", self.key.len());
            return Err(Error::invalid("key of a document", found, format!("1 to {MAX_KEY} bytes")));
        }
        for (field, value) in &self.values {
            let Some(entry) = schema.entry(*field) else {
                return Err(Error::Conflict {
                    what: "a field of another schema in a document".into(),
                    with: "the schema of the index".into(),
                    remedy: "take fields from the schema of the index".into(),
                });
            };
            let refuse = |problem: String, remedy: &str| {
                Err(Error::InvalidField { field: entry.name.clone(), problem, remedy: remedy.into() })
            };
            if let (Value::Text(text), FieldKind::Keyword | FieldKind::Path) = (value, &entry.kind)
                && text.len() > MAX_KEY
            {
                let problem = format!("has a value of {} bytes, which is too long", text.len());
                return refuse(problem, &format!("shorten it to at most {MAX_KEY} bytes"));
            }
            if !value.as_ref().fits(&entry.kind) {
                let (kind, given) = (entry.kind.name(), value.as_ref().name());
                return refuse(
                    format!("holds {kind} values, but the document has a {given} value"),
                    "convert the value",
                );
            }
        }
        Ok(())
    }
}

/// Appends a stored value in the format of [`decode_stored`].
pub(crate) fn put_stored(field: Field, value: ValueRef<'_>, out: &mut Vec<u8>) {
    put_varint(out, u64::from(field.number()));
    match value {
        ValueRef::Text(bytes) | ValueRef::Bytes(bytes) => {
            put_varint(out, bytes.len() as u64);
            out.extend_from_slice(bytes);
        }
        ValueRef::Unsigned(number) => put_varint(out, number),
        // Zigzag encoding keeps small numbers of either sign short.
        ValueRef::Signed(number) => put_varint(out, ((number << 1) ^ (number >> 63)).cast_unsigned()),
        ValueRef::Float(number) => out.extend_from_slice(&number.to_le_bytes()),
        ValueRef::Boolean(truth) => out.push(truth.into()),
        ValueRef::Date(time) => out.extend_from_slice(&time.to_le_bytes()),
    }
}

/// The stored values of a document in the wanted fields, in order; `None` if the bytes do not fit the schema.
pub(crate) fn decode_stored(
    schema: &Schema,
    bytes: &[u8],
    is_wanted: impl Fn(Field) -> bool,
) -> Option<Vec<(Field, Value)>> {
    let mut reader = ByteReader::new(bytes);
    let mut values = Vec::new();
    while !reader.remaining().is_empty() {
        let field = Field::new(u16::try_from(reader.varint()?).ok()?)?;
        let wanted = is_wanted(field);
        let mut text = || {
            let len = usize::try_from(reader.varint()?).ok()?;
            reader.take(len).map(|text| if wanted { text.to_vec() } else { Vec::new() })
        };
        let value = match schema.entry(field)?.kind {
            FieldKind::Text { .. } | FieldKind::Keyword | FieldKind::Path => Value::Text(text()?),
            FieldKind::Bytes => Value::Bytes(text()?),
            FieldKind::Unsigned => Value::Unsigned(reader.varint()?),
            FieldKind::Signed => {
                let number = reader.varint()?;
                Value::Signed((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
            }
            FieldKind::Float => Value::Float(f64::from_bits(reader.u64()?)),
            FieldKind::Boolean => match reader.take(1)? {
                [0] => Value::Boolean(false),
                [1] => Value::Boolean(true),
                _ => return None,
            },
            FieldKind::Date => Value::Date(reader.u64()?.cast_signed()),
        };
        if wanted {
            values.push((field, value));
        }
    }
    Some(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::FieldEntry;

    #[test]
    fn stored_values_read_back_and_any_bytes_do_no_harm() {
        let mut schema = Schema::new();
        let kinds =
            [FieldKind::Keyword, FieldKind::Unsigned, FieldKind::Signed, FieldKind::Float, FieldKind::Bytes];
        let fields: Vec<Field> = ["a", "b", "c", "d", "e"]
            .into_iter()
            .zip(kinds)
            .map(|(name, kind)| schema.add(FieldEntry::new(name, kind).stored()).unwrap())
            .collect();
        let seed = 0x5eed_0520;
        let mut random = fastrand::Rng::with_seed(seed);
        for round in 0..2000 {
            let values = [
                Value::Text((0..random.usize(..200)).map(|_| random.u8(..)).collect()),
                Value::Unsigned(random.u64(..) >> random.u32(..64)),
                Value::Signed(random.i64(..) >> random.u32(..64)),
                Value::Float(random.f64() * 1e9 - 5e8),
                Value::Bytes((0..random.usize(..9)).map(|_| random.u8(..)).collect()),
            ];
            let mut expected: Vec<_> = fields.iter().copied().zip(values).filter(|_| random.bool()).collect();
            random.shuffle(&mut expected);
            let mut bytes = Vec::new();
            expected.iter().for_each(|(field, value)| put_stored(*field, value.as_ref(), &mut bytes));
            let chosen = fields[random.usize(..fields.len())];
            let of_chosen: Vec<_> = expected.iter().filter(|(field, _)| *field == chosen).cloned().collect();
            let found = decode_stored(&schema, &bytes, |field| field == chosen);
            assert_eq!(found, Some(of_chosen), "seed {seed:x} round {round}");
            assert_eq!(
                decode_stored(&schema, &bytes, |_| true),
                Some(expected),
                "seed {seed:x} round {round}"
            );
            for _ in 0..bytes.len().min(20) {
                let at = random.usize(..bytes.len());
                bytes[at] = random.u8(..);
                let _ = decode_stored(&schema, &bytes, |_| true);
            }
        }
        for number in [0, 1, -1, i64::MIN, i64::MAX] {
            let mut bytes = Vec::new();
            put_stored(fields[2], ValueRef::Signed(number), &mut bytes);
            assert_eq!(
                decode_stored(&schema, &bytes, |_| true),
                Some(vec![(fields[2], Value::Signed(number))])
            );
        }
    }

    #[test]
    fn values_must_fit_the_fields() {
        let mut schema = Schema::new();
        let owner = schema.add(FieldEntry::new("owner", FieldKind::Keyword)).unwrap();
        let size = schema.add(FieldEntry::new("size", FieldKind::Unsigned).stored()).unwrap();
        let good = Document::new("k").text(owner, "me").with(size, Value::Unsigned(1)).text(owner, "you");
        good.check(&schema).unwrap();
        assert!(Document::new("").check(&schema).is_err());
        assert!(Document::new(vec![b'x'; MAX_KEY + 1]).check(&schema).is_err());
        assert!(Document::new("k").text(size, "7").check(&schema).is_err());
        assert!(Document::new("k").with(owner, Value::Float(1.0)).check(&schema).is_err());
        assert!(good.check(&Schema::new()).is_err());
        assert!(Document::new("k").text(owner, vec![b'x'; MAX_KEY + 1]).check(&schema).is_err());
    }
}
