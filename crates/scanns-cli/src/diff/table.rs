//! Writes differences, and their sums, as tables of Parquet.

use std::io::Write;

use anyhow::Result;
use scanns::columns::ColumnKind;
use scanns::files::{Difference, DifferenceKind, EntryField, Growth};
use scanns::schema::ValueRef;

use super::sums::{self, values};
use super::write::{kind_name, paths};
use crate::export::row_table::{RowCell, RowColumn, RowTable, RowText, number};

/// The columns: those of CSV, and the bytes of paths that are not valid UTF-8.
const COLUMNS: [RowColumn; 11] = [
    RowColumn::new("kind", ColumnKind::Text),
    RowColumn::new("path", ColumnKind::Text),
    RowColumn::new("old_path", ColumnKind::Text),
    RowColumn::new("type", ColumnKind::Text),
    RowColumn::new("old_size", ColumnKind::Unsigned),
    RowColumn::new("size", ColumnKind::Unsigned),
    RowColumn::new("old_mtime", ColumnKind::Date),
    RowColumn::new("mtime", ColumnKind::Date),
    RowColumn { name: "fields", kind: ColumnKind::Text, several: true },
    RowColumn::new("path_bytes", ColumnKind::Bytes),
    RowColumn::new("old_path_bytes", ColumnKind::Bytes),
];

/// A table of differences.
pub struct DifferenceTable<W: Write + Send>(RowTable<W>);

impl<W: Write + Send> DifferenceTable<W> {
    /// A table without rows.
    pub fn new(out: W) -> Result<Self> {
        RowTable::new(out, &COLUMNS).map(DifferenceTable)
    }

    /// Adds a difference, unless the row of a directory stands for it.
    pub fn write(&mut self, difference: &Difference<'_>) -> Result<()> {
        if difference.kind == DifferenceKind::Along {
            return Ok(());
        }
        let (old, new) = (difference.old.unwrap_or_default(), difference.new.unwrap_or_default());
        let (path, old_path) = paths(difference, &old, &new);
        let (path, old_path) = (RowText::new(path), RowText::new(old_path.unwrap_or_default()));
        let kind = new.kind.or(old.kind);
        let date = |date: Option<i64>| date.map(ValueRef::Date).into_iter().collect();
        self.0.row([
            vec![text(kind_name(difference.kind))],
            path.text(),
            old_path.text(),
            kind.map(|kind| text(kind.name())).into_iter().collect(),
            number(old.size),
            number(new.size),
            date(old.mtime),
            date(new.mtime),
            difference.fields.iter().map(|field: EntryField| text(field.name())).collect(),
            path.raw(),
            old_path.raw(),
        ])
    }

    /// Completes the table.
    pub fn finish(self) -> Result<()> {
        self.0.finish().map(drop)
    }
}

fn text(text: &str) -> ValueRef<'_> {
    ValueRef::Text(text.as_bytes())
}

/// Writes sums as a table.
pub fn write_sums(out: impl Write + Send, growth: &Growth) -> Result<()> {
    let mut columns = vec![RowColumn::new("by", ColumnKind::Text), RowColumn::new("name", ColumnKind::Text)];
    columns.extend(sums::COLUMNS.map(|name| RowColumn::new(name, ColumnKind::Signed)));
    columns.push(RowColumn::new("name_bytes", ColumnKind::Bytes));
    let mut table = RowTable::new(out, &columns)?;
    for (by, name, line) in growth.lines() {
        let name = RowText::new(name);
        let mut cells: Vec<RowCell<'_>> = vec![vec![text(by.name())], name.text()];
        for value in values(line) {
            cells.push(vec![ValueRef::Signed(i64::try_from(value)?)]);
        }
        cells.push(name.raw());
        table.row(cells)?;
    }
    table.finish().map(drop)
}
