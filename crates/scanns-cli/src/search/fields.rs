//! Finds fields of a schema by name, and formats their values.

use anyhow::{Result, anyhow};
use scanns::aggregate::Sum;
use scanns::schema::{Field, FieldEntry, FieldKind, Value, format_date};
use scanns::{Hit, Snapshot};
use serde_json::Value as Json;

use crate::report;

/// A field of the index.
pub(super) fn named(snapshot: &Snapshot, name: &str) -> Result<Field> {
    snapshot.schema().field(name).ok_or_else(|| {
        let names: Vec<&str> = snapshot.schema().fields().map(|(_, entry)| entry.name.as_str()).collect();
        anyhow!("the index has no field '{name}': it has {}", names.join(", "))
    })
}

/// A field that is a column, with its kind.
pub(super) fn column<'s>(snapshot: &'s Snapshot, name: &str) -> Result<(Field, &'s FieldKind)> {
    let field = named(snapshot, name)?;
    let entry = snapshot.schema().entry(field).filter(|entry| entry.column);
    let entry = entry.ok_or_else(|| {
        let names: Vec<&str> = snapshot.schema().columns().map(|(_, entry)| entry.name.as_str()).collect();
        let there = if names.is_empty() { "none".into() } else { names.join(", ") };
        anyhow!("the field '{name}' is not a column; the columns are: {there}")
    })?;
    Ok((field, &entry.kind))
}

/// A field that is a column or stored.
pub fn kept(snapshot: &Snapshot, name: &str) -> Result<Field> {
    let is_kept = |entry: &FieldEntry| entry.column || entry.stored;
    let found = snapshot.schema().fields().find(|(_, entry)| entry.name == name && is_kept(entry));
    found.map(|(field, _)| field).ok_or_else(|| {
        let kept = snapshot.schema().fields().filter(|(_, entry)| is_kept(entry));
        let names: Vec<&str> = kept.map(|(_, entry)| entry.name.as_str()).collect();
        let there = if names.is_empty() { "none".into() } else { names.join(", ") };
        anyhow!("no field '{name}' is a column or stored; such fields are: {there}")
    })
}

/// The fields whose values are shown for each hit.
pub(super) struct Shown<'s> {
    snapshot: &'s Snapshot,
    names: &'s [String],
    fields: Vec<Field>,
}

impl<'s> Shown<'s> {
    pub(super) fn new(snapshot: &'s Snapshot, names: &'s [String]) -> Result<Self> {
        let fields = names.iter().map(|name| kept(snapshot, name)).collect::<Result<_>>()?;
        Ok(Shown { snapshot, names, fields })
    }

    /// The values of a hit by field name, in the requested order.
    pub(super) fn of(&self, hit: &Hit) -> Result<Vec<(&'s str, Vec<Value>)>> {
        let values = self.snapshot.field_values(hit, &self.fields)?;
        Ok(self.names.iter().map(String::as_str).zip(values).collect())
    }
}

/// A value for people; unprintable characters are escaped.
pub(super) fn text(value: &Value) -> String {
    match value {
        Value::Text(text) => report::escaped(text),
        Value::Bytes(bytes) => hex(bytes),
        Value::Unsigned(number) => number.to_string(),
        Value::Signed(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Boolean(flag) => flag.to_string(),
        Value::Date(moment) => format_date(*moment),
    }
}

/// A value for programs: dates are strings in RFC 3339, bytes are hexadecimal.
pub(super) fn json(value: &Value) -> Json {
    match value {
        Value::Text(text) => String::from_utf8_lossy(text).into(),
        Value::Unsigned(number) => (*number).into(),
        Value::Signed(number) => (*number).into(),
        Value::Float(number) => (*number).into(),
        Value::Boolean(flag) => (*flag).into(),
        Value::Date(_) | Value::Bytes(_) => self::text(value).into(),
    }
}

/// A sum for programs: a whole number that does not fit into 64 bits is a string of digits.
pub(super) fn json_sum(sum: Sum) -> Json {
    match sum {
        Sum::Float(number) => number.into(),
        Sum::Whole(number) => match (i64::try_from(number), u64::try_from(number)) {
            (Ok(number), _) => number.into(),
            (_, Ok(number)) => number.into(),
            _ => number.to_string().into(),
        },
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
