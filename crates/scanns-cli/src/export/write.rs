//! Writes rows as text.

use std::io::{self, Write};

use anyhow::Result;
use scanns::columns::BatchColumn;
use scanns::schema::{ValueRef, format_date};

/// A writer of rows.
pub trait Rows {
    /// Writes what comes before the first row.
    fn begin(&mut self) -> Result<()>;

    /// Writes rows, given by column; there is at least one column.
    fn batch(&mut self, columns: &[BatchColumn]) -> Result<()>;

    /// Writes what comes after the last row.
    fn end(&mut self) -> Result<()>;
}

/// About the number of bytes to write at once.
const PIECE: usize = 1 << 20;

/// Writes out a buffer if it has at least `least` bytes.
fn pass_on(buffer: &mut Vec<u8>, out: &mut impl Write, least: usize) -> io::Result<()> {
    if buffer.len() >= least {
        out.write_all(buffer)?;
        buffer.clear();
    }
    Ok(())
}

/// Writes CSV as in RFC 4180, with a header. Several values of a field are separated by `;`, and a backslash
/// comes before a `;` or a backslash in a value.
pub struct Csv<W> {
    out: W,
    names: Vec<String>,
    buffer: Vec<u8>,
}

impl<W: Write> Csv<W> {
    /// A writer for rows of these columns.
    pub fn new(out: W, names: Vec<String>) -> Self {
        Csv { out, names, buffer: Vec::new() }
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
fn put_value(value: ValueRef<'_>, out: &mut Vec<u8>) -> io::Result<()> {
    match value {
        ValueRef::Text(text) => out.extend_from_slice(text),
        ValueRef::Bytes(bytes) => put_hex(bytes, out),
        ValueRef::Unsigned(number) => put_number(number, out),
        ValueRef::Signed(number) => put_number(number, out),
        ValueRef::Float(number) => write!(out, "{number}")?,
        ValueRef::Boolean(flag) => write!(out, "{flag}")?,
        ValueRef::Date(moment) => out.extend_from_slice(format_date(moment).as_bytes()),
    }
    Ok(())
}

impl<W: Write> Rows for Csv<W> {
    fn begin(&mut self) -> Result<()> {
        for (place, name) in self.names.iter().enumerate() {
            if place > 0 {
                self.buffer.push(b',');
            }
            put_cell(&mut self.buffer, name.as_bytes());
        }
        self.buffer.push(b'\n');
        Ok(pass_on(&mut self.buffer, &mut self.out, 0)?)
    }

    fn batch(&mut self, columns: &[BatchColumn]) -> Result<()> {
        let Csv { out, buffer, .. } = self;
        let mut cell = Vec::new();
        for row in 0..columns.first().map_or(0, BatchColumn::rows) {
            for (place, column) in columns.iter().enumerate() {
                if place > 0 {
                    buffer.push(b',');
                }
                let mut values = column.values(row);
                match (values.len(), values.next()) {
                    (0, _) | (_, None) => {}
                    (1, Some(ValueRef::Text(text))) => put_cell(buffer, text),
                    // Only texts and empty bytes need quotes.
                    (1, Some(ValueRef::Bytes([]))) => put_cell(buffer, b""),
                    (1, Some(only)) => put_value(only, buffer)?,
                    _ => {
                        cell.clear();
                        put_several(column.values(row), &mut cell)?;
                        put_cell(buffer, &cell);
                    }
                }
            }
            buffer.push(b'\n');
            pass_on(buffer, out, PIECE)?;
        }
        Ok(pass_on(buffer, out, 0)?)
    }

    fn end(&mut self) -> Result<()> {
        Ok(self.out.flush()?)
    }
}

/// Appends several values to one cell.
fn put_several<'v>(values: impl Iterator<Item = ValueRef<'v>>, cell: &mut Vec<u8>) -> io::Result<()> {
    let mut text = Vec::new();
    for (place, value) in values.enumerate() {
        if place > 0 {
            cell.push(b';');
        }
        text.clear();
        put_value(value, &mut text)?;
        for &byte in &text {
            if matches!(byte, b';' | b'\\') {
                cell.push(b'\\');
            }
            cell.push(byte);
        }
    }
    Ok(())
}

/// Writes one JSON object per line: several values are a list, and missing values are omitted. Invalid UTF-8
/// in texts is replaced, and the bytes of these texts follow in hexadecimal, as `name_bytes`.
pub struct JsonLines<W> {
    out: W,
    /// The names of the columns as JSON, each with a colon.
    names: Vec<JsonName>,
    buffer: Vec<u8>,
}

struct JsonName {
    of_values: Vec<u8>,
    of_bytes: Vec<u8>,
}

impl<W: Write> JsonLines<W> {
    /// A writer for rows of these columns.
    pub fn new(out: W, names: Vec<String>) -> Self {
        let json = |name: String| format!("{}:", serde_json::Value::from(name)).into_bytes();
        let name = |name: String| JsonName { of_bytes: json(format!("{name}_bytes")), of_values: json(name) };
        JsonLines { out, names: names.into_iter().map(name).collect(), buffer: Vec::new() }
    }
}

/// Appends one value, or a list of several.
fn put_list<'v>(values: impl ExactSizeIterator<Item = ValueRef<'v>>, out: &mut Vec<u8>) -> io::Result<()> {
    let several = values.len() > 1;
    for (place, value) in values.enumerate() {
        if several {
            out.push(if place == 0 { b'[' } else { b',' });
        }
        put_json(value, out)?;
    }
    if several {
        out.push(b']');
    }
    Ok(())
}

/// True for a text that is not valid UTF-8.
fn is_invalid(value: &ValueRef<'_>) -> bool {
    matches!(value, ValueRef::Text(text) if std::str::from_utf8(text).is_err())
}

fn as_bytes(value: ValueRef<'_>) -> ValueRef<'_> {
    if let ValueRef::Text(text) = value { ValueRef::Bytes(text) } else { value }
}

/// Appends a value as JSON; infinite numbers and NaN are `null`.
fn put_json(value: ValueRef<'_>, out: &mut Vec<u8>) -> io::Result<()> {
    match value {
        ValueRef::Text(text) => {
            serde_json::to_writer(out, &String::from_utf8_lossy(text)).map_err(io::Error::from)?;
        }
        ValueRef::Bytes(bytes) => {
            out.push(b'"');
            put_hex(bytes, out);
            out.push(b'"');
        }
        ValueRef::Unsigned(number) => put_number(number, out),
        ValueRef::Signed(number) => put_number(number, out),
        ValueRef::Float(number) if number.is_finite() => write!(out, "{number:?}")?,
        ValueRef::Float(_) => out.extend_from_slice(b"null"),
        ValueRef::Boolean(flag) => write!(out, "{flag}")?,
        ValueRef::Date(moment) => write!(out, "\"{}\"", format_date(moment))?,
    }
    Ok(())
}

impl<W: Write> Rows for JsonLines<W> {
    fn begin(&mut self) -> Result<()> {
        Ok(())
    }

    fn batch(&mut self, columns: &[BatchColumn]) -> Result<()> {
        let JsonLines { out, names, buffer } = self;
        for row in 0..columns.first().map_or(0, BatchColumn::rows) {
            let mut separator = b'{';
            for (column, name) in columns.iter().zip(&*names) {
                if column.values(row).len() == 0 {
                    continue;
                }
                buffer.push(separator);
                separator = b',';
                buffer.extend_from_slice(&name.of_values);
                put_list(column.values(row), buffer)?;
                if column.values(row).any(|value| is_invalid(&value)) {
                    buffer.push(b',');
                    buffer.extend_from_slice(&name.of_bytes);
                    put_list(column.values(row).map(as_bytes), buffer)?;
                }
            }
            buffer.extend_from_slice(if separator == b'{' { b"{}\n" } else { b"}\n" });
            pass_on(buffer, out, PIECE)?;
        }
        Ok(pass_on(buffer, out, 0)?)
    }

    fn end(&mut self) -> Result<()> {
        Ok(self.out.flush()?)
    }
}

#[cfg(test)]
mod tests {
    use scanns::columns::ColumnKind;

    use super::*;

    fn names() -> Vec<String> {
        ["_key", "a,b", "n", "f"].map(String::from).to_vec()
    }

    fn columns() -> Vec<BatchColumn> {
        let kinds = [ColumnKind::Text, ColumnKind::Text, ColumnKind::Signed, ColumnKind::Float];
        let mut columns = kinds.map(BatchColumn::new).to_vec();
        let text = |text: &'static str| ValueRef::Text(text.as_bytes());
        let rows = [
            [vec![text("k1")], vec![text("plain")], vec![ValueRef::Signed(-5)], vec![]],
            [vec![text("k,2")], vec![text("say \"hi\"\nthere")], vec![], vec![]],
            [vec![text("k3")], vec![text("")], vec![], vec![ValueRef::Float(0.1), ValueRef::Float(1.0)]],
            [vec![text("k4")], vec![], vec![ValueRef::Signed(i64::MIN), ValueRef::Signed(i64::MAX)], vec![]],
            [vec![text("k5")], vec![text("x;y"), text("z\\")], vec![ValueRef::Signed(0)], vec![]],
        ];
        for row in rows {
            row.into_iter().zip(&mut columns).for_each(|(values, column)| column.push_row(values));
        }
        columns
    }

    fn written(mut rows_of: impl Rows) {
        rows_of.begin().unwrap();
        rows_of.batch(&columns()).unwrap();
        rows_of.end().unwrap();
    }

    #[test]
    fn cells_are_quoted_where_they_must_be() {
        let mut out = Vec::new();
        written(Csv::new(&mut out, names()));
        let expected = "_key,\"a,b\",n,f\nk1,plain,-5,\n\"k,2\",\"say \"\"hi\"\"\nthere\",,\nk3,\"\",,0.1;1\n\
                        k4,,-9223372036854775808;9223372036854775807,\nk5,x\\;y;z\\\\,0,\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn lines_are_objects_that_a_reader_of_json_understands() {
        let mut out = Vec::new();
        written(JsonLines::new(&mut out, names()));
        let lines: Vec<serde_json::Value> =
            String::from_utf8(out).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let expected = [
            r#"{"_key":"k1","a,b":"plain","n":-5}"#,
            r#"{"_key":"k,2","a,b":"say \"hi\"\nthere"}"#,
            r#"{"_key":"k3","a,b":"","f":[0.1,1.0]}"#,
            r#"{"_key":"k4","n":[-9223372036854775808,9223372036854775807]}"#,
            r#"{"_key":"k5","a,b":["x;y","z\\"],"n":0}"#,
        ];
        let expected: Vec<serde_json::Value> =
            expected.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines, expected);
    }

    #[test]
    fn values_of_every_kind_are_as_the_standard_library_writes_them() {
        let of = |value| {
            let (mut text, mut json) = (Vec::new(), Vec::new());
            put_value(value, &mut text).unwrap();
            put_json(value, &mut json).unwrap();
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
