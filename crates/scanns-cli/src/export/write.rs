//! Rows as text.

use std::io::{self, Write};

use scanns::{Value, ValueRef, format_date};

/// A column of the output.
#[derive(Clone, Debug)]
pub struct Column {
    /// What it is called.
    pub name: String,
    /// Where its values are in a row; `None` for the name of the document.
    pub place: Option<usize>,
}

/// Takes rows.
pub trait Rows {
    /// Before the first.
    fn begin(&mut self) -> io::Result<()>;

    /// True if names of documents are wanted.
    fn needs_keys(&self) -> bool;

    /// A row: the name of the document, and its values by field.
    fn row(&mut self, key: &[u8], values: &[Vec<Value>]) -> io::Result<()>;

    /// After the last.
    fn end(&mut self) -> io::Result<()>;
}

fn has_key(columns: &[Column]) -> bool {
    columns.iter().any(|column| column.place.is_none())
}

/// As RFC 4180 has it, with a header; several values of a field have `;` between them, with a backslash before one in a value.
pub struct Csv<W> {
    out: W,
    columns: Vec<Column>,
    cell: Vec<u8>,
}

impl<W: Write> Csv<W> {
    /// Rows of these columns.
    pub fn new(out: W, columns: Vec<Column>) -> Self {
        Csv { out, columns, cell: Vec::new() }
    }
}

/// Writes a cell, in quotes where it needs them. An empty text has some, so that it is not taken for no value.
fn put_cell(out: &mut impl Write, cell: &[u8], is_value: bool) -> io::Result<()> {
    let needs = |byte: &u8| matches!(byte, b',' | b'"' | b'\n' | b'\r');
    let quotes = cell.iter().any(needs) || (cell.is_empty() && is_value);
    if !quotes {
        return out.write_all(cell);
    }
    out.write_all(b"\"")?;
    for part in cell.split_inclusive(|&byte| byte == b'"') {
        out.write_all(part)?;
        if part.last() == Some(&b'"') {
            out.write_all(b"\"")?;
        }
    }
    out.write_all(b"\"")
}

/// A value as text.
fn put_value(value: &Value, cell: &mut Vec<u8>) -> io::Result<()> {
    match value.as_ref() {
        ValueRef::Text(text) => cell.write_all(text),
        ValueRef::Bytes(bytes) => bytes.iter().try_for_each(|byte| write!(cell, "{byte:02x}")),
        ValueRef::Unsigned(number) => write!(cell, "{number}"),
        ValueRef::Signed(number) => write!(cell, "{number}"),
        ValueRef::Float(number) => write!(cell, "{number}"),
        ValueRef::Boolean(truth) => write!(cell, "{truth}"),
        ValueRef::Date(moment) => cell.write_all(format_date(moment).as_bytes()),
    }
}

impl<W: Write> Rows for Csv<W> {
    fn begin(&mut self) -> io::Result<()> {
        for (place, column) in self.columns.iter().enumerate() {
            if place > 0 {
                self.out.write_all(b",")?;
            }
            put_cell(&mut self.out, column.name.as_bytes(), true)?;
        }
        self.out.write_all(b"\n")
    }

    fn needs_keys(&self) -> bool {
        has_key(&self.columns)
    }

    fn row(&mut self, key: &[u8], values: &[Vec<Value>]) -> io::Result<()> {
        let Csv { out, columns, cell } = self;
        for (place, column) in columns.iter().enumerate() {
            if place > 0 {
                out.write_all(b",")?;
            }
            cell.clear();
            let Some(values) = column.place.map(|place| values.get(place).map_or(&[][..], Vec::as_slice))
            else {
                put_cell(out, key, true)?;
                continue;
            };
            if let [only] = values {
                put_value(only, cell)?;
            } else {
                put_several(values, cell)?;
            }
            put_cell(out, cell, !values.is_empty())?;
        }
        out.write_all(b"\n")
    }

    fn end(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Several values in one cell.
fn put_several(values: &[Value], cell: &mut Vec<u8>) -> io::Result<()> {
    let mut text = Vec::new();
    for (place, value) in values.iter().enumerate() {
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

/// An object a line: a value, a list where there are several, and nothing where there is none. In texts, bytes that
/// are no UTF-8 are replaced.
pub struct JsonLines<W> {
    out: W,
    columns: Vec<Column>,
    /// The names of the columns as JSON, with the colon.
    names: Vec<Vec<u8>>,
}

impl<W: Write> JsonLines<W> {
    /// Rows of these columns.
    pub fn new(out: W, columns: Vec<Column>) -> Self {
        let name =
            |column: &Column| format!("{}:", serde_json::Value::from(column.name.as_str())).into_bytes();
        let names = columns.iter().map(name).collect();
        JsonLines { out, columns, names }
    }
}

/// A value as JSON; numbers that JSON has none for are `null`.
fn put_json(value: &Value, out: &mut impl Write) -> io::Result<()> {
    match value.as_ref() {
        ValueRef::Text(text) => put_text(text, out),
        ValueRef::Bytes(bytes) => {
            out.write_all(b"\"")?;
            bytes.iter().try_for_each(|byte| write!(out, "{byte:02x}"))?;
            out.write_all(b"\"")
        }
        ValueRef::Unsigned(number) => write!(out, "{number}"),
        ValueRef::Signed(number) => write!(out, "{number}"),
        ValueRef::Float(number) if number.is_finite() => write!(out, "{number:?}"),
        ValueRef::Float(_) => out.write_all(b"null"),
        ValueRef::Boolean(truth) => write!(out, "{truth}"),
        ValueRef::Date(moment) => write!(out, "\"{}\"", format_date(moment)),
    }
}

fn put_text(text: &[u8], out: &mut impl Write) -> io::Result<()> {
    serde_json::to_writer(out, &String::from_utf8_lossy(text)).map_err(io::Error::from)
}

impl<W: Write> Rows for JsonLines<W> {
    fn begin(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn needs_keys(&self) -> bool {
        has_key(&self.columns)
    }

    fn row(&mut self, key: &[u8], values: &[Vec<Value>]) -> io::Result<()> {
        let JsonLines { out, columns, names } = self;
        let mut separator = b"{";
        for (column, name) in columns.iter().zip(&*names) {
            let values = column.place.map(|place| values.get(place).map_or(&[][..], Vec::as_slice));
            if values.is_some_and(<[Value]>::is_empty) {
                continue;
            }
            out.write_all(separator)?;
            separator = b",";
            out.write_all(name)?;
            match values {
                None => put_text(key, out)?,
                Some([only]) => put_json(only, out)?,
                Some(several) => {
                    for (place, value) in several.iter().enumerate() {
                        out.write_all(if place == 0 { b"[" } else { b"," })?;
                        put_json(value, out)?;
                    }
                    out.write_all(b"]")?;
                }
            }
        }
        out.write_all(if separator == b"{" { b"{}\n" } else { b"}\n" })
    }

    fn end(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns() -> Vec<Column> {
        let column = |(name, place): (&str, Option<usize>)| Column { name: name.into(), place };
        [("_key", None), ("a,b", Some(0)), ("n", Some(1))].map(column).to_vec()
    }

    fn rows() -> Vec<(&'static [u8], Vec<Vec<Value>>)> {
        let text = |text: &str| Value::Text(text.into());
        vec![
            (b"k1", vec![vec![text("plain")], vec![Value::Signed(-5)]]),
            (b"k,2", vec![vec![text("say \"hi\"\nthere")], vec![]]),
            (b"k3", vec![vec![text("")], vec![Value::Float(1.0), Value::Float(0.1)]]),
            (b"k4", vec![vec![Value::Bytes(vec![0, 0xff])], vec![Value::Date(0)]]),
            (b"k5", vec![vec![text("x;y"), text("z\\")], vec![Value::Boolean(true)]]),
        ]
    }

    fn written(mut rows_of: impl Rows) {
        rows_of.begin().unwrap();
        rows().iter().for_each(|(key, values)| rows_of.row(key, values).unwrap());
        rows_of.end().unwrap();
    }

    #[test]
    fn cells_are_quoted_where_they_must_be() {
        let mut out = Vec::new();
        written(Csv::new(&mut out, columns()));
        let expected = "_key,\"a,b\",n\nk1,plain,-5\n\"k,2\",\"say \"\"hi\"\"\nthere\",\nk3,\"\",1;0.1\n\
                        k4,00ff,1970-01-01T00:00:00Z\nk5,x\\;y;z\\\\,true\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn lines_are_objects_that_a_reader_of_json_understands() {
        let mut out = Vec::new();
        written(JsonLines::new(&mut out, columns()));
        let lines: Vec<serde_json::Value> =
            String::from_utf8(out).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let expected = [
            r#"{"_key":"k1","a,b":"plain","n":-5}"#,
            r#"{"_key":"k,2","a,b":"say \"hi\"\nthere"}"#,
            r#"{"_key":"k3","a,b":"","n":[1.0,0.1]}"#,
            r#"{"_key":"k4","a,b":"00ff","n":"1970-01-01T00:00:00Z"}"#,
            r#"{"_key":"k5","a,b":["x;y","z\\"],"n":true}"#,
        ];
        let expected: Vec<serde_json::Value> =
            expected.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines, expected);
    }
}
