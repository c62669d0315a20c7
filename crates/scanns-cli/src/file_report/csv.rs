//! A report as one table in CSV.
//!
//! Names are written as their bytes. A name that a spreadsheet would take for a formula is left as it is.

use scanns::files::FilesReport;

use super::rows::{COLUMNS, ReportRow, each_row};

/// The bytes of a report.
pub fn bytes(report: &FilesReport) -> Vec<u8> {
    let mut out = COLUMNS.join(",").into_bytes();
    out.push(b'\n');
    each_row(report, &mut |row| put_row(&mut out, row));
    out
}

fn put_row(out: &mut Vec<u8>, row: &ReportRow<'_>) {
    put_cell(out, row.section.as_bytes());
    for cell in [row.name, row.class] {
        out.push(b',');
        put_cell(out, cell);
    }
    let numbers = row.sums.map(|sums| [sums.entries, sums.size, sums.space]);
    for at in 0..3 {
        let number = numbers.as_ref().and_then(|numbers| numbers.get(at));
        out.push(b',');
        out.extend(number.map(u64::to_string).unwrap_or_default().as_bytes());
    }
    out.push(b',');
    put_cell(out, row.value.as_bytes());
    out.push(b'\n');
}

/// Writes a cell, in quotes if it has a comma, a quote or the end of a line.
fn put_cell(out: &mut Vec<u8>, cell: &[u8]) {
    if !cell.iter().any(|byte| b",\"\r\n".contains(byte)) {
        return out.extend_from_slice(cell);
    }
    out.push(b'"');
    for &byte in cell {
        if byte == b'"' {
            out.push(b'"');
        }
        out.push(byte);
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_where_they_must_be_and_formulas_stay() {
        for (cell, expected) in [
            (&b"plain name"[..], &b"plain name"[..]),
            (b"a,b", b"\"a,b\""),
            (b"say \"x\"\n", b"\"say \"\"x\"\"\n\""),
            (b"=1+1", b"=1+1"),
            (b"\xff\r", b"\"\xff\r\""),
        ] {
            let mut out = Vec::new();
            put_cell(&mut out, cell);
            assert_eq!(out, expected);
        }
    }
}
