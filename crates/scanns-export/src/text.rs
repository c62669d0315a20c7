//! Writes rows as text.

use std::io::Write;

use scanns::columns::{BatchColumn, CsvText, JsonText};

use crate::error::{ExportError, Result};

/// A writer of rows.
pub trait RowWriter {
    /// Writes what comes before the first row.
    ///
    /// # Errors
    /// The output cannot be written.
    fn begin(&mut self) -> Result<()>;

    /// Writes rows, given by column; there is at least one column.
    ///
    /// # Errors
    /// The output cannot be written, or the format cannot hold a value.
    fn batch(&mut self, columns: &[BatchColumn]) -> Result<()>;

    /// Writes what comes after the last row.
    ///
    /// # Errors
    /// The output cannot be written.
    fn end(&mut self) -> Result<()>;
}

/// About the number of bytes to write at once.
const PIECE: usize = 1 << 20;

/// Writes out a buffer if it has at least `least` bytes.
fn pass_on(buffer: &mut Vec<u8>, out: &mut impl Write, least: usize) -> Result<()> {
    if buffer.len() >= least {
        out.write_all(buffer).map_err(ExportError::Write)?;
        buffer.clear();
    }
    Ok(())
}

/// Writes CSV, as [`CsvText`] does.
pub struct Csv<W> {
    out: W,
    names: Vec<String>,
    text: CsvText,
    buffer: Vec<u8>,
}

impl<W: Write> Csv<W> {
    /// A writer for rows of these columns.
    pub fn new(out: W, names: Vec<String>) -> Self {
        Csv { out, names, text: CsvText::default(), buffer: Vec::new() }
    }
}

impl<W: Write> RowWriter for Csv<W> {
    fn begin(&mut self) -> Result<()> {
        self.text.put_head(self.names.iter().map(String::as_str), &mut self.buffer);
        pass_on(&mut self.buffer, &mut self.out, 0)
    }

    fn batch(&mut self, columns: &[BatchColumn]) -> Result<()> {
        let Csv { out, text, buffer, .. } = self;
        for row in 0..columns.first().map_or(0, BatchColumn::rows) {
            text.put_row(columns, row, buffer);
            pass_on(buffer, out, PIECE)?;
        }
        pass_on(buffer, out, 0)
    }

    fn end(&mut self) -> Result<()> {
        self.out.flush().map_err(ExportError::Write)
    }
}

/// Writes JSON lines, as [`JsonText`] does.
pub struct JsonLines<W> {
    out: W,
    text: JsonText,
    buffer: Vec<u8>,
}

impl<W: Write> JsonLines<W> {
    /// A writer for rows of these columns.
    pub fn new(out: W, names: Vec<String>) -> Self {
        let text = JsonText::new(names.iter().map(String::as_str));
        JsonLines { out, text, buffer: Vec::new() }
    }
}

impl<W: Write> RowWriter for JsonLines<W> {
    fn begin(&mut self) -> Result<()> {
        Ok(())
    }

    fn batch(&mut self, columns: &[BatchColumn]) -> Result<()> {
        let JsonLines { out, text, buffer } = self;
        for row in 0..columns.first().map_or(0, BatchColumn::rows) {
            text.put_row(columns, row, buffer);
            pass_on(buffer, out, PIECE)?;
        }
        pass_on(buffer, out, 0)
    }

    fn end(&mut self) -> Result<()> {
        self.out.flush().map_err(ExportError::Write)
    }
}

#[cfg(test)]
mod tests {
    use scanns::columns::ColumnKind;
    use scanns::schema::ValueRef;

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

    fn written(mut rows_of: impl RowWriter) {
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
}
