//! Finds fields of a schema by name, and formats their values.

use anyhow::{Result, anyhow};
use scanns::schema::{Field, FieldEntry, FieldKind, Store, Value, format_date, format_mode};
use scanns::{Hit, Snapshot};
use serde_json::Value as Json;

use crate::quoting::quoted;
use crate::units;

/// A field of the index.
pub(super) fn named(snapshot: &Snapshot, name: &str) -> Result<Field> {
    snapshot.schema().field(name).ok_or_else(|| {
        let names: Vec<&str> = snapshot.schema().fields().map(|(_, entry)| entry.name.as_str()).collect();
        anyhow!("the index has no field '{name}': it has {}", names.join(", "))
    })
}

/// A field that is a column, with its kind.
pub fn column<'s>(snapshot: &'s Snapshot, name: &str) -> Result<(Field, &'s FieldKind)> {
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
        let remedy = match snapshot.schema().field(name) {
            Some(_) if snapshot.info().stored.store == Store::Content => {
                "; it is only searched: --content shows the whole record, and --schema of a new index can \
                 say that it is a column or stored"
            }
            Some(_) => "; it is only searched: --schema of a new index can say that it is a column or stored",
            None => "",
        };
        anyhow!("no field '{name}' is a column or stored; such fields are: {there}{remedy}")
    })
}

/// Fields whose values are shown for each hit.
pub(super) struct Shown<'s> {
    snapshot: &'s Snapshot,
    names: Vec<&'s str>,
    fields: Vec<Field>,
}

impl<'s> Shown<'s> {
    /// Fields by their names.
    pub(super) fn new(snapshot: &'s Snapshot, names: &'s [String]) -> Result<Self> {
        let fields = names.iter().map(|name| kept(snapshot, name)).collect::<Result<_>>()?;
        Ok(Shown { snapshot, names: names.iter().map(String::as_str).collect(), fields })
    }

    /// No fields.
    pub(super) fn none(snapshot: &'s Snapshot) -> Self {
        Shown { snapshot, names: Vec::new(), fields: Vec::new() }
    }

    /// Fields that are known to exist, and to be columns or stored.
    pub(super) fn of_known(snapshot: &'s Snapshot, names: Vec<&'s str>) -> Self {
        let fields = names.iter().filter_map(|name| snapshot.schema().field(name)).collect();
        Shown { snapshot, names, fields }
    }

    /// The names of the fields.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().copied()
    }

    /// The values of a hit, in the order of the fields.
    pub(super) fn of(&self, hit: &Hit) -> Result<Vec<Vec<Value>>> {
        if self.fields.is_empty() {
            return Ok(Vec::new());
        }
        Ok(self.snapshot.field_values(hit, &self.fields)?)
    }

    /// The fields with values, as `size=1.20 MiB`.
    pub(super) fn for_people(&self, values: &[Vec<Value>]) -> Vec<String> {
        let part = |(name, values): (&str, &Vec<Value>)| {
            let values: Vec<String> = values.iter().map(|value| for_people(name, value)).collect();
            format!("{name}={}", values.join(", "))
        };
        self.names().zip(values).filter(|(_, values)| !values.is_empty()).map(part).collect()
    }
}

/// A value of the field `name` for people: sizes with a unit, modes as `rw-r--r--`, others as [`text`].
pub fn for_people(name: &str, value: &Value) -> String {
    match value {
        Value::Unsigned(bytes) if is_size(name) => units::size(*bytes),
        Value::Unsigned(mode) if name == "mode" && *mode < 0o20_0000 => format_mode(*mode),
        value => text(value),
    }
}

/// True for the names of fields that count bytes.
pub(super) fn is_size(name: &str) -> bool {
    name == "size" || name.ends_with("_size") || name.ends_with("bytes")
}

/// A value for people; text is quoted if it is not safe to print.
pub(super) fn text(value: &Value) -> String {
    match value {
        Value::Text(text) => quoted(text).into_owned(),
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

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_modes_are_shown_as_people_know_them() {
        assert_eq!(for_people("size", &Value::Unsigned(1 << 20)), "1.00 MiB");
        assert_eq!(for_people("count", &Value::Unsigned(1 << 20)), "1048576");
        for (mode, expected) in [
            (0o100_644, "rw-r--r--"),
            (0o104_755, "rwsr-xr-x"),
            (0o41_777, "rwxrwxrwt"),
            (0o2060, "---rwS---"),
        ] {
            assert_eq!(for_people("mode", &Value::Unsigned(mode)), expected);
        }
    }
}
