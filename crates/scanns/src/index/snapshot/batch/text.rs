//! Writes rows of values as text: CSV and JSON lines.
//!
//! The command and the server export rows in this form.

use std::io::{self, Write};

use super::column::BatchColumn;
use crate::schema::{ValueRef, format_date};

/// Writes CSV as in RFC 4180, with a header. Several values of a field are separated by `;`, and a backslash
/// comes before a `;` or a backslash in a value. An empty text is quoted, a missing value is not.
#[derive(Debug, Default)]
pub struct CsvText {
    cell: Vec<u8>,
}

/// Writes one JSON object per line: several values are a list, and missing values are omitted. Invalid UTF-8
/// in texts is replaced, and the bytes of these texts follow in hexadecimal, as `name_bytes`.
#[derive(Debug)]
pub struct JsonText {
    names: Vec<JsonName>,
}

/// The names of a column as JSON, each with a colon.
#[derive(Debug)]
struct JsonName {
    of_values: Vec<u8>,
    of_bytes: Vec<u8>,
}

impl CsvText {
    /// Appends the header.
    pub fn put_head<'n>(&self, names: impl IntoIterator<Item = &'n str>, out: &mut Vec<u8>) {
        for (place, name) in names.into_iter().enumerate() {
            if place > 0 {
                out.push(b',');
            }
            put_cell(out, name.as_bytes());
        }
        out.push(b'\n');
    }

    /// Appends a row of columns.
    pub fn put_row(&mut self, columns: &[BatchColumn], row: usize, out: &mut Vec<u8>) {
        for (place, column) in columns.iter().enumerate() {
            if place > 0 {
                out.push(b',');
            }
            let mut values = column.values(row);
            match (values.len(), values.next()) {
                (0, _) | (_, None) => {}
                (1, Some(ValueRef::Text(text))) => put_cell(out, text),
                // Only texts and empty bytes need quotes.
                (1, Some(ValueRef::Bytes([]))) => put_cell(out, b""),
                (1, Some(only)) => put_value(only, out),
                _ => {
                    self.cell.clear();
                    put_several(column.values(row), &mut self.cell);
                    put_cell(out, &self.cell);
                }
            }
        }
        out.push(b'\n');
    }
}

impl JsonText {
    /// A writer for rows of columns with these names.
    pub fn new<'n>(names: impl IntoIterator<Item = &'n str>) -> Self {
        let json = |name: &str| format!("{}:", serde_json::Value::from(name)).into_bytes();
        let name = |name: &str| JsonName { of_bytes: json(&format!("{name}_bytes")), of_values: json(name) };
        JsonText { names: names.into_iter().map(name).collect() }
    }

    /// Appends a row of columns.
    pub fn put_row(&self, columns: &[BatchColumn], row: usize, out: &mut Vec<u8>) {
        let mut separator = b'{';
        for (column, name) in columns.iter().zip(&self.names) {
            if column.values(row).len() == 0 {
                continue;
            }
            out.push(separator);
            separator = b',';
            out.extend_from_slice(&name.of_values);
            put_list(column.values(row), out);
            if column.values(row).any(|value| is_invalid(&value)) {
                out.push(b',');
                out.extend_from_slice(&name.of_bytes);
                put_list(column.values(row).map(as_bytes), out);
            }
        }
        out.extend_from_slice(if separator == b'{' { b"{}\n" } else { b"}\n" });
    }
}

/// Writes a cell, quoted if necessary. An empty text is quoted, which distinguishes it from a missing value.
fn put_cell(out: &mut Vec<u8>, cell: &[u8]) {
    let needs = |byte: &u8| matches!(byte, b',' | b'"' | b'\n' | b'\r');
    if !cell.is_empty() && !cell.iter().any(needs) {
        return out.extend_from_slice(cell);
    }
    out.push(b'"');
    for part in cell.split_inclusive(|&byte| byte == b'"') {
        out.extend_from_slice(part);
        if part.last() == Some(&b'"') {
            out.push(b'"');
        }
    }
    out.push(b'"');
}

/// Appends a whole number in decimal digits.
fn put_number(number: impl itoa::Integer, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

fn put_hex(bytes: &[u8], out: &mut Vec<u8>) {
    let digit = |nibble: u8| b"0123456789abcdef"[usize::from(nibble)];
    out.extend(bytes.iter().flat_map(|&byte| [digit(byte >> 4), digit(byte & 15)]));
}

/// Appends a value as text.
fn put_value(value: ValueRef<'_>, out: &mut Vec<u8>) {
    match value {
        ValueRef::Text(text) => out.extend_from_slice(text),
        ValueRef::Bytes(bytes) => put_hex(bytes, out),
        ValueRef::Unsigned(number) => put_number(number, out),
        ValueRef::Signed(number) => put_number(number, out),
        ValueRef::Float(number) => put_shown(format_args!("{number}"), out),
        ValueRef::Boolean(flag) => put_shown(format_args!("{flag}"), out),
        ValueRef::Date(moment) => out.extend_from_slice(format_date(moment).as_bytes()),
    }
}

/// Appends what a format says.
fn put_shown(what: std::fmt::Arguments<'_>, out: &mut Vec<u8>) {
    // Writing to memory does not fail.
    let _: io::Result<()> = out.write_fmt(what);
}

/// Appends several values to one cell.
fn put_several<'v>(values: impl Iterator<Item = ValueRef<'v>>, cell: &mut Vec<u8>) {
    let mut text = Vec::new();
    for (place, value) in values.enumerate() {
        if place > 0 {
            cell.push(b';');
        }
        text.clear();
        put_value(value, &mut text);
        for &byte in &text {
            if matches!(byte, b';' | b'\\') {
                cell.push(b'\\');
            }
            cell.push(byte);
        }
    }
}

/// Appends one value, or a list of several.
fn put_list<'v>(values: impl ExactSizeIterator<Item = ValueRef<'v>>, out: &mut Vec<u8>) {
    let several = values.len() > 1;
    for (place, value) in values.enumerate() {
        if several {
            out.push(if place == 0 { b'[' } else { b',' });
        }
        put_json(value, out);
    }
    if several {
        out.push(b']');
    }
}

/// True for a text that is not valid UTF-8.
fn is_invalid(value: &ValueRef<'_>) -> bool {
    matches!(value, ValueRef::Text(text) if std::str::from_utf8(text).is_err())
}

fn as_bytes(value: ValueRef<'_>) -> ValueRef<'_> {
    if let ValueRef::Text(text) = value { ValueRef::Bytes(text) } else { value }
}

/// Appends a value as JSON; infinite numbers and NaN are `null`.
fn put_json(value: ValueRef<'_>, out: &mut Vec<u8>) {
    match value {
        ValueRef::Text(text) => {
            // Writing to memory does not fail.
            let _: serde_json::Result<()> = serde_json::to_writer(out, &String::from_utf8_lossy(text));
        }
        ValueRef::Bytes(bytes) => {
            out.push(b'"');
            put_hex(bytes, out);
            out.push(b'"');
        }
        ValueRef::Unsigned(number) => put_number(number, out),
        ValueRef::Signed(number) => put_number(number, out),
        ValueRef::Float(number) if number.is_finite() => put_shown(format_args!("{number:?}"), out),
        ValueRef::Float(_) => out.extend_from_slice(b"null"),
        ValueRef::Boolean(flag) => put_shown(format_args!("{flag}"), out),
        ValueRef::Date(moment) => put_shown(format_args!("\"{}\"", format_date(moment)), out),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_every_kind_are_as_the_standard_library_writes_them() {
        let of = |value| {
            let (mut text, mut json) = (Vec::new(), Vec::new());
            put_value(value, &mut text);
            put_json(value, &mut json);
            (String::from_utf8(text).unwrap(), String::from_utf8(json).unwrap())
        };
        for number in [0, 9, 10, 99, 100, 12_345_678_901, u64::MAX - 1, u64::MAX] {
            assert_eq!(of(ValueRef::Unsigned(number)), (number.to_string(), number.to_string()));
            let signed = number.cast_signed();
            assert_eq!(of(ValueRef::Signed(signed)), (signed.to_string(), signed.to_string()));
        }
        assert_eq!(of(ValueRef::Bytes(&[0, 0x9a, 0xff])), ("009aff".into(), "\"009aff\"".into()));
        let date = "1970-01-01T00:00:00Z".to_string();
        assert_eq!(of(ValueRef::Date(0)), (date.clone(), format!("\"{date}\"")));
        assert_eq!(of(ValueRef::Boolean(true)), ("true".into(), "true".into()));
        assert_eq!(of(ValueRef::Float(f64::NAN)).1, "null");
    }
}
