//! A report as one table for programs, whose rows say to which section they belong.

use scanns::files::{
    AGE_CLASSES, AgeTable, EntrySums, FilesReport, NamedSums, RankedDirectory, RankedPath, SIZE_CLASSES,
};
use scanns::schema::format_date;

use super::sections::notable_lists;

/// A row; what is not told is empty.
#[derive(Default)]
pub struct ReportRow<'r> {
    /// The section.
    pub section: &'r str,
    /// A path, an owner or another name.
    pub name: &'r [u8],
    /// A class of sizes, or the owner of a file.
    pub class: &'r [u8],
    /// How many entries there are, and their size and space.
    pub sums: Option<EntrySums>,
    /// A count, a length or a date.
    pub value: String,
}

/// The names of the columns.
pub const COLUMNS: [&str; 7] = ["section", "name", "class", "entries", "size", "space", "value"];

/// Takes rows.
type PutRow<'p> = dyn FnMut(&ReportRow<'_>) + 'p;

/// Calls `put` with the rows of a report.
pub fn each_row(report: &FilesReport, put: &mut PutRow<'_>) {
    put_totals(put, report);
    let named = [
        ("types", &report.types, "(unknown)"),
        ("owners", &report.owners, "(unknown)"),
        ("groups", &report.groups, "(unknown)"),
        ("extensions", &report.extensions, "(none)"),
        ("cold", &report.cold, "(unknown)"),
    ];
    named.into_iter().for_each(|(section, all, none)| put_named(put, section, all, none.as_bytes()));
    put_ages(put, "modified", &report.modified);
    put_ages(put, "accessed", &report.accessed);
    let rankings = &report.rankings;
    put_directories(put, "directories by space", &rankings.by_space);
    put_directories(put, "directories by entries", &rankings.by_entries);
    put_directories(put, "directories by names", &rankings.by_names);
    for file in &report.rankings.files {
        let sums = EntrySums { entries: 1, size: file.size, space: file.space };
        put(&ReportRow {
            section: "files by size",
            name: &file.path,
            class: file.owner.as_deref().unwrap_or_default(),
            sums: Some(sums),
            value: file.mtime.map(format_date).unwrap_or_default(),
        });
    }
    put_paths(put, "deepest paths", &rankings.deepest);
    put_paths(put, "longest names", &rankings.longest_names);
    put_paths(put, "longest paths", &rankings.longest_paths);
    for (section, list) in notable_lists(report) {
        put(&ReportRow {
            section: "counts",
            name: section.as_bytes(),
            value: list.count.to_string(),
            ..ReportRow::default()
        });
        list.first.iter().for_each(|path| put(&ReportRow { section, name: path, ..ReportRow::default() }));
    }
    for unknown in &report.unknown {
        let (name, class, value) = (&unknown.example, unknown.column.as_bytes(), unknown.count.to_string());
        put(&ReportRow { section: "unknown", name, class, value, ..ReportRow::default() });
    }
}

fn put_totals(put: &mut PutRow<'_>, report: &FilesReport) {
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
        put(&ReportRow {
            section: "totals",
            name: name.as_bytes(),
            sums: Some(sums),
            ..ReportRow::default()
        });
    }
    let value = totals.further_names.to_string();
    put(&ReportRow { section: "counts", name: b"further names", value, ..ReportRow::default() });
}

fn put_named(put: &mut PutRow<'_>, section: &str, all: &[NamedSums], none: &[u8]) {
    for named in all {
        let name = named.name.as_deref().unwrap_or(none);
        put(&ReportRow { section, name, sums: Some(named.sums), ..ReportRow::default() });
    }
}

fn put_ages(put: &mut PutRow<'_>, section: &str, table: &AgeTable) {
    for (age, row) in AGE_CLASSES.iter().zip(&table.cells) {
        for (size, sums) in SIZE_CLASSES.iter().zip(row).filter(|(_, sums)| sums.entries > 0) {
            let (name, class, sums) = (age.as_bytes(), size.as_bytes(), Some(*sums));
            put(&ReportRow { section, name, class, sums, ..ReportRow::default() });
        }
    }
}

fn put_directories(put: &mut PutRow<'_>, section: &str, all: &[RankedDirectory]) {
    for RankedDirectory { path, sums, names } in all {
        let (name, sums, value) = (&path[..], Some(*sums), names.to_string());
        put(&ReportRow { section, name, sums, value, ..ReportRow::default() });
    }
}

fn put_paths(put: &mut PutRow<'_>, section: &str, all: &[RankedPath]) {
    for ranked in all {
        let value = ranked.value.to_string();
        put(&ReportRow { section, name: &ranked.path, value, ..ReportRow::default() });
    }
}
