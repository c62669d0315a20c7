//! Ranges of values of a column, and their text form: `5`, `>=5`.

use std::ops::Bound;

use crate::schema::{Field, FieldKind, Value, literal};

/// Values of a column.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueRange {
    /// The field, which must be a column.
    pub field: Field,
    /// The lower bound, a value of the kind of the field.
    pub low: Bound<Value>,
    /// The upper bound.
    pub high: Bound<Value>,
}

/// The result of a parser of values; the error describes what was expected.
pub(crate) type Parsed<T> = std::result::Result<T, String>;

impl ValueRange {
    /// The range of the value that `text` means: for a date without a time, the whole day.
    pub(crate) fn exact(field: Field, kind: &FieldKind, text: &str) -> Parsed<Self> {
        let (low, high) = literal(kind, text)?;
        Ok(ValueRange { field, low: Bound::Included(low), high: Bound::Included(high) })
    }

    /// One value.
    pub(crate) fn one(field: Field, value: Value) -> Self {
        ValueRange { field, low: Bound::Included(value.clone()), high: Bound::Included(value) }
    }

    /// All values.
    pub(crate) fn any(field: Field) -> Self {
        ValueRange { field, low: Bound::Unbounded, high: Bound::Unbounded }
    }

    /// All keywords or paths that begin with `prefix`.
    pub(crate) fn prefix(field: Field, prefix: &[u8]) -> Self {
        let high = after_prefix(prefix).map_or(Bound::Unbounded, |end| Bound::Excluded(Value::Text(end)));
        ValueRange { field, low: Bound::Included(Value::Text(prefix.to_vec())), high }
    }

    /// Parses a range: `5`, `>5`, `>=5`, `<5`, `<=5`.
    pub(crate) fn parse(field: Field, kind: &FieldKind, text: &str) -> Parsed<Self> {
        let after_sign = |sign: &str| text.strip_prefix(sign).map(str::trim_start);
        let (low, high) = if let Some(text) = after_sign(">=") {
            (Bound::Included(literal(kind, text)?.0), Bound::Unbounded)
        } else if let Some(text) = after_sign(">") {
            (Bound::Excluded(literal(kind, text)?.1), Bound::Unbounded)
        } else if let Some(text) = after_sign("<=") {
            (Bound::Unbounded, Bound::Included(literal(kind, text)?.1))
        } else if let Some(text) = after_sign("<") {
            (Bound::Unbounded, Bound::Excluded(literal(kind, text)?.0))
        } else {
            return Self::exact(field, kind, text);
        };
        Ok(ValueRange { field, low, high })
    }

    /// The range between two texts.
    pub(crate) fn between(
        field: Field,
        kind: &FieldKind,
        from: Bound<&str>,
        to: Bound<&str>,
    ) -> Parsed<Self> {
        let low = match from {
            Bound::Included(text) => Bound::Included(literal(kind, text)?.0),
            Bound::Excluded(text) => Bound::Excluded(literal(kind, text)?.1),
            Bound::Unbounded => Bound::Unbounded,
        };
        let high = match to {
            Bound::Included(text) => Bound::Included(literal(kind, text)?.1),
            Bound::Excluded(text) => Bound::Excluded(literal(kind, text)?.0),
            Bound::Unbounded => Bound::Unbounded,
        };
        Ok(ValueRange { field, low, high })
    }

    /// Bytes on the heap.
    pub(super) fn heap_bytes(&self) -> usize {
        let bound = |bound: &Bound<Value>| match bound {
            Bound::Included(Value::Text(text)) | Bound::Excluded(Value::Text(text)) => text.len(),
            _ => 0,
        };
        bound(&self.low) + bound(&self.high)
    }
}

/// The first text after all texts with the prefix `prefix`; `None` if there is none.
pub(crate) fn after_prefix(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|&byte| byte < u8::MAX)?;
    let mut after = prefix.get(..=last)?.to_vec();
    if let Some(byte) = after.last_mut() {
        *byte += 1;
    }
    Some(after)
}
