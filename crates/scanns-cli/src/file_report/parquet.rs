//! A report as one table of Parquet, with the columns of CSV.

use anyhow::Result;
use scanns::columns::ColumnKind;
use scanns::files::FilesReport;

use super::rows::{COLUMNS, each_row};
use crate::export::row_table::{RowColumn, RowTable, RowText, number};

/// The bytes of a report.
pub fn bytes(report: &FilesReport) -> Result<Vec<u8>> {
    let kind = |name| match name {
        "entries" | "size" | "space" => ColumnKind::Unsigned,
        _ => ColumnKind::Text,
    };
    let mut columns = COLUMNS.map(|name| RowColumn::new(name, kind(name))).to_vec();
    columns.extend(["name_bytes", "class_bytes"].map(|name| RowColumn::new(name, ColumnKind::Bytes)));
    let mut table = RowTable::new(Vec::new(), &columns)?;
    let mut written = Ok(());
    each_row(report, &mut |row| {
        let [section, name, class] = [row.section.as_bytes(), row.name, row.class].map(RowText::new);
        let value = RowText::new(row.value.as_bytes());
        let cells = [
            section.text(),
            name.text(),
            class.text(),
            number(row.sums.map(|sums| sums.entries)),
            number(row.sums.map(|sums| sums.size)),
            number(row.sums.map(|sums| sums.space)),
            value.text(),
            name.raw(),
            class.raw(),
        ];
        if written.is_ok() {
            written = table.row(cells);
        }
    });
    written?;
    table.finish()
}
