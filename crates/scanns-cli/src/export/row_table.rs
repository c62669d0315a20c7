//! A table of Parquet that a verb fills row by row.
//!
//! Its columns are always the same, so that tables of several runs fit together. A text that is not valid
//! UTF-8 is replaced, as in JSON, and its bytes are in a second column of the name `NAME_bytes`.

use std::borrow::Cow;
use std::io::Write;

use anyhow::Result;
use scanns::columns::{BatchColumn, ColumnKind};
use scanns::schema::ValueRef;
use scanns_export::{Parquet, RowWriter, Shape, TableCompression};

use super::errors::told;

/// The most rows that wait to be written, and about the most bytes of them in a column.
const WAITING: (usize, usize) = (8 << 10, 4 << 20);

/// A column of a table.
#[derive(Clone, Copy, Debug)]
pub struct RowColumn {
    /// Its name.
    pub name: &'static str,
    /// The kind of its values.
    pub kind: ColumnKind,
    /// True if it is a list.
    pub several: bool,
}

impl RowColumn {
    /// A column of at most one value.
    pub const fn new(name: &'static str, kind: ColumnKind) -> Self {
        RowColumn { name, kind, several: false }
    }
}

/// The values of a row in a column: none for a null.
pub type RowCell<'v> = Vec<ValueRef<'v>>;

/// A table that is being written.
pub struct RowTable<W: Write + Send> {
    columns: Vec<BatchColumn>,
    rows: usize,
    writer: Parquet<W>,
}

impl<W: Write + Send> RowTable<W> {
    /// A table without rows.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn new(out: W, columns: &[RowColumn]) -> Result<Self> {
        let shape = |column: &RowColumn| Shape {
            name: column.name.into(),
            kind: column.kind,
            required: false,
            several: column.several,
            binary: false,
        };
        let shapes = columns.iter().map(shape).collect();
        let writer = Parquet::new(out, shapes, TableCompression::Zstd).map_err(told)?;
        let columns = columns.iter().map(|column| BatchColumn::new(column.kind)).collect();
        Ok(RowTable { columns, rows: 0, writer })
    }

    /// Adds a row with a cell for each column.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn row<'v>(&mut self, cells: impl IntoIterator<Item = RowCell<'v>>) -> Result<()> {
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            column.push_row(cell);
        }
        self.rows += 1;
        if self.rows >= WAITING.0 || self.columns.iter().any(|column| column.bytes() >= WAITING.1) {
            self.pass_on()?;
        }
        Ok(())
    }

    /// Completes the table, and returns the output.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn finish(mut self) -> Result<W> {
        if self.rows > 0 {
            self.pass_on()?;
        }
        self.writer.into_inner().map_err(told)
    }

    fn pass_on(&mut self) -> Result<()> {
        self.writer.batch(&self.columns).map_err(told)?;
        self.columns.iter_mut().for_each(BatchColumn::clear);
        self.rows = 0;
        Ok(())
    }
}

/// A text as its two columns show it.
pub struct RowText<'t> {
    bytes: &'t [u8],
    shown: Cow<'t, str>,
}

impl<'t> RowText<'t> {
    /// A text; an empty one is a null.
    pub fn new(bytes: &'t [u8]) -> Self {
        RowText { bytes, shown: String::from_utf8_lossy(bytes) }
    }

    /// The cell of the text, in which invalid UTF-8 is replaced.
    pub fn text(&self) -> RowCell<'_> {
        Some(self.shown.as_bytes()).filter(|text| !text.is_empty()).map(ValueRef::Text).into_iter().collect()
    }

    /// The cell of the bytes, if the text has invalid UTF-8.
    pub fn raw(&self) -> RowCell<'_> {
        let is_valid = matches!(self.shown, Cow::Borrowed(_));
        if is_valid { Vec::new() } else { vec![ValueRef::Bytes(self.bytes)] }
    }
}

/// The cell of a number.
pub fn number<'v>(number: Option<u64>) -> RowCell<'v> {
    number.map(ValueRef::Unsigned).into_iter().collect()
}
