//! A report as one table in CSV, whose rows say to which section they belong.
//!
//! Names are written as their bytes. A name that a spreadsheet would take for a formula is left as it is.

use scanns::files::{
    AGE_CLASSES, AgeTable, EntrySums, FilesReport, NamedSums, RankedDirectory, RankedPath, SIZE_CLASSES,
};
use scanns::schema::format_date;

use super::sections::notable_lists;

/// A row; what is not told is empty.
#[derive(Default)]
struct CsvRow<'r> {
    section: &'r str,
    name: &'r [u8],
    class: &'r [u8],
    sums: Option<EntrySums>,
    value: String,
}

/// The bytes of a report.
pub fn bytes(report: &FilesReport) -> Vec<u8> {
    let mut out = b"section,name,class,entries,size,space,value\n".to_vec();
    put_totals(&mut out, report);
    let named = [
        ("types", &report.types, "(unknown)"),
        ("owners", &report.owners, "(unknown)"),
        ("groups", &report.groups, "(unknown)"),
        ("extensions", &report.extensions, "(none)"),
        ("cold", &report.cold, "(unknown)"),
    ];
    named.into_iter().for_each(|(section, all, none)| put_named(&mut out, section, all, none.as_bytes()));
    put_ages(&mut out, "modified", &report.modified);
    put_ages(&mut out, "accessed", &report.accessed);
    let rankings = &report.rankings;
    put_directories(&mut out, "directories by space", &rankings.by_space);
    put_directories(&mut out, "directories by entries", &rankings.by_entries);
    put_directories(&mut out, "directories by names", &rankings.by_names);
    for file in &report.rankings.files {
        let sums = EntrySums { entries: 1, size: file.size, space: file.space };
        put_row(
            &mut out,
            &CsvRow {
                section: "files by size",
                name: &file.path,
                class: file.owner.as_deref().unwrap_or_default(),
                sums: Some(sums),
                value: file.mtime.map(format_date).unwrap_or_default(),
            },
        );
    }
    put_paths(&mut out, "deepest paths", &rankings.deepest);
    put_paths(&mut out, "longest names", &rankings.longest_names);
    put_paths(&mut out, "longest paths", &rankings.longest_paths);
    for (section, list) in notable_lists(report) {
        put_row(
            &mut out,
            &CsvRow {
                section: "counts",
                name: section.as_bytes(),
                value: list.count.to_string(),
                ..CsvRow::default()
            },
        );
        list.first
            .iter()
            .for_each(|path| put_row(&mut out, &CsvRow { section, name: path, ..CsvRow::default() }));
    }
    for unknown in &report.unknown {
        let (name, class, value) = (&unknown.example, unknown.column.as_bytes(), unknown.count.to_string());
        put_row(&mut out, &CsvRow { section: "unknown", name, class, value, ..CsvRow::default() });
    }
    out
}

fn put_totals(out: &mut Vec<u8>, report: &FilesReport) {
    let totals = &report.totals;
    let sums = [
        ("all", totals.all),
        ("files", totals.files),
        ("directories", totals.directories),
        ("links", totals.links),
        ("others", totals.others),
        ("cold", totals.cold),
    ];
    for (name, sums) in sums {
        put_row(
            out,
            &CsvRow { section: "totals", name: name.as_bytes(), sums: Some(sums), ..CsvRow::default() },
        );
    }
    let value = totals.further_names.to_string();
    put_row(out, &CsvRow { section: "counts", name: b"further names", value, ..CsvRow::default() });
}

fn put_named(out: &mut Vec<u8>, section: &str, all: &[NamedSums], none: &[u8]) {
    for named in all {
        let name = named.name.as_deref().unwrap_or(none);
        put_row(out, &CsvRow { section, name, sums: Some(named.sums), ..CsvRow::default() });
    }
}

fn put_ages(out: &mut Vec<u8>, section: &str, table: &AgeTable) {
    for (age, row) in AGE_CLASSES.iter().zip(&table.cells) {
        for (size, sums) in SIZE_CLASSES.iter().zip(row).filter(|(_, sums)| sums.entries > 0) {
            let (name, class, sums) = (age.as_bytes(), size.as_bytes(), Some(*sums));
            put_row(out, &CsvRow { section, name, class, sums, ..CsvRow::default() });
        }
    }
}

fn put_directories(out: &mut Vec<u8>, section: &str, all: &[RankedDirectory]) {
    for RankedDirectory { path, sums, names } in all {
        let (name, sums, value) = (&path[..], Some(*sums), names.to_string());
        put_row(out, &CsvRow { section, name, sums, value, ..CsvRow::default() });
    }
}

fn put_paths(out: &mut Vec<u8>, section: &str, all: &[RankedPath]) {
    for ranked in all {
        let value = ranked.value.to_string();
        put_row(out, &CsvRow { section, name: &ranked.path, value, ..CsvRow::default() });
    }
}

fn put_row(out: &mut Vec<u8>, row: &CsvRow<'_>) {
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
