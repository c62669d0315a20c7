//! A report as tables for people.

use scanns::files::{AgeTable, CountedPaths, EntrySums, FilesReport, NamedSums, RankedDirectory, RankedPath};

use crate::units;

/// A value of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReportCell {
    /// A name or a path, as it is in the file system.
    Name(Vec<u8>),
    /// A word of the report itself.
    Label(String),
    /// A number of things.
    Count(u64),
    /// A number of bytes.
    Bytes(u64),
    /// A part of a whole.
    Share(u64, u64),
    /// A date, in nanoseconds since 1970.
    Date(Option<i64>),
}

/// A table with a title.
#[derive(Clone, Debug)]
pub struct ReportSection {
    /// The name of the section for programs and links.
    pub id: &'static str,
    /// The title.
    pub title: String,
    /// A sentence about it, or nothing.
    pub note: String,
    /// The names of the columns; the last one holds names or paths.
    pub head: Vec<&'static str>,
    /// The rows.
    pub rows: Vec<Vec<ReportCell>>,
}

/// The sections of a report that have rows, but not the ages.
pub fn sections(report: &FilesReport) -> Vec<ReportSection> {
    let rankings = &report.rankings;
    let days = units::counted(report.options.cold_days.into(), "day");
    let mut all = vec![
        summary(report),
        named("owners", "Owners", &report.owners, report, "(unknown)"),
        named("groups", "Groups", &report.groups, report, "(unknown)"),
        named("extensions", "Extensions of files", &report.extensions, report, "(none)"),
        ReportSection {
            note: format!("Files that were neither read nor written for {days}."),
            ..named("cold", "Cold files by owner", &report.cold, report, "(unknown)")
        },
        directories("by-space", "Largest directories", "Everything at and below.", &rankings.by_space),
        directories("by-entries", "Directories with the most entries", "All below.", &rankings.by_entries),
        directories("by-names", "Huge directories", "By the number of names in them.", &rankings.by_names),
        files(report),
        paths("deepest", "Deepest paths", "names", &rankings.deepest),
        paths("longest-names", "Longest names", "bytes", &rankings.longest_names),
        paths("longest-paths", "Longest paths", "bytes", &rankings.longest_paths),
        notable(report),
        unknown(report),
    ];
    all.retain(|section| !section.rows.is_empty());
    all
}

/// The lists of a report with entries that deserve a look, each with what they are.
pub fn notable_lists(report: &FilesReport) -> [(&'static str, &CountedPaths); 7] {
    let notable = &report.notable;
    [
        ("empty files", &notable.empty_files),
        ("empty directories", &notable.empty_directories),
        ("directories whose entries are not known", &notable.unread_directories),
        ("files with the set-user-ID bit", &notable.set_user),
        ("files with the set-group-ID bit", &notable.set_group),
        ("files that everybody may change", &notable.writable_files),
        ("directories that everybody may change (no sticky bit)", &notable.writable_directories),
    ]
}

/// The tables of ages by size that have files, each with its title.
pub fn age_tables(report: &FilesReport) -> Vec<(&'static str, &'static str, &AgeTable)> {
    let tables = [
        ("modified", "Files by age of their content", &report.modified),
        ("accessed", "Files by time since they were read", &report.accessed),
    ];
    tables.into_iter().filter(|_| report.totals.files.entries > 0).collect()
}

/// The name of the place that a report is about.
pub fn place(report: &FilesReport) -> Vec<u8> {
    if report.top.is_empty() { b"all entries".to_vec() } else { report.top.clone() }
}

fn summary(report: &FilesReport) -> ReportSection {
    let totals = &report.totals;
    let row = |name: &str, sums: EntrySums| {
        let EntrySums { entries, size, space } = sums;
        let share = ReportCell::Share(space, totals.all.space);
        vec![
            ReportCell::Count(entries),
            ReportCell::Bytes(space),
            share,
            ReportCell::Bytes(size),
            ReportCell::Label(name.into()),
        ]
    };
    let cold = format!("cold files (not used for {} days)", units::count(report.options.cold_days.into()));
    let all = [
        ("files", totals.files),
        ("directories", totals.directories),
        ("links", totals.links),
        ("pipes, sockets and devices", totals.others),
        ("all", totals.all),
        (cold.as_str(), totals.cold),
    ];
    let shown = all.into_iter().filter(|(name, sums)| sums.entries > 0 || *name == "all");
    let further = match totals.further_names {
        0 => String::new(),
        names => format!("{} of files that count once already.", units::counted(names, "further name")),
    };
    ReportSection {
        id: "summary",
        title: "Summary".into(),
        note: further,
        head: vec!["entries", "space", "share", "size", "type"],
        rows: shown.map(|(name, sums)| row(name, sums)).collect(),
    }
}

/// The first names of a list, and a row for all others.
fn named(
    id: &'static str,
    title: &str,
    all: &[NamedSums],
    report: &FilesReport,
    none: &str,
) -> ReportSection {
    let whole = report.totals.all.space;
    let row = |sums: EntrySums, name: ReportCell| {
        let EntrySums { entries, size, space } = sums;
        let numbers = [ReportCell::Count(entries), ReportCell::Bytes(space), ReportCell::Share(space, whole)];
        numbers.into_iter().chain([ReportCell::Bytes(size), name]).collect::<Vec<_>>()
    };
    let (shown, others) = all.split_at(all.len().min(report.options.top));
    let name_of = |named: &NamedSums| match &named.name {
        Some(name) => ReportCell::Name(name.clone()),
        None => ReportCell::Label(none.into()),
    };
    let mut rows: Vec<Vec<ReportCell>> = shown.iter().map(|named| row(named.sums, name_of(named))).collect();
    if !others.is_empty() {
        let mut sums = EntrySums::default();
        others.iter().for_each(|named| sums += named.sums);
        let name = format!("({})", units::counted(others.len() as u64, "other"));
        rows.push(row(sums, ReportCell::Label(name)));
    }
    let head = vec!["entries", "space", "share", "size", "name"];
    ReportSection { id, title: title.into(), note: String::new(), head, rows }
}

fn directories(id: &'static str, title: &str, note: &str, all: &[RankedDirectory]) -> ReportSection {
    let row = |directory: &RankedDirectory| {
        let RankedDirectory { path, sums, names } = directory;
        vec![
            ReportCell::Bytes(sums.space),
            ReportCell::Bytes(sums.size),
            ReportCell::Count(sums.entries),
            ReportCell::Count(*names),
            ReportCell::Name(path.clone()),
        ]
    };
    let head = vec!["space", "size", "entries", "names", "path"];
    ReportSection { id, title: title.into(), note: note.into(), head, rows: all.iter().map(row).collect() }
}

fn files(report: &FilesReport) -> ReportSection {
    let row = |file: &scanns::files::RankedFile| {
        let owner = match &file.owner {
            Some(owner) => ReportCell::Name(owner.clone()),
            None => ReportCell::Label("(unknown)".into()),
        };
        let numbers =
            [ReportCell::Bytes(file.size), ReportCell::Bytes(file.space), ReportCell::Date(file.mtime)];
        numbers.into_iter().chain([owner, ReportCell::Name(file.path.clone())]).collect()
    };
    ReportSection {
        id: "files",
        title: "Largest files".into(),
        note: String::new(),
        head: vec!["size", "space", "modified", "owner", "path"],
        rows: report.rankings.files.iter().filter(|file| file.size > 0).map(row).collect(),
    }
}

fn paths(id: &'static str, title: &str, unit: &'static str, all: &[RankedPath]) -> ReportSection {
    let row =
        |ranked: &RankedPath| vec![ReportCell::Count(ranked.value), ReportCell::Name(ranked.path.clone())];
    let rows = all.iter().map(row).collect();
    ReportSection { id, title: title.into(), note: String::new(), head: vec![unit, "path"], rows }
}

fn notable(report: &FilesReport) -> ReportSection {
    let found = notable_lists(report).into_iter().filter(|(_, list)| list.count > 0);
    let row = |what: &str, list: &CountedPaths| {
        let first = list.first.first().cloned().unwrap_or_default();
        vec![ReportCell::Count(list.count), ReportCell::Label(what.into()), ReportCell::Name(first)]
    };
    ReportSection {
        id: "notable",
        title: "Worth a look".into(),
        note: String::new(),
        head: vec!["count", "what", "the first"],
        rows: found.map(|(what, list)| row(what, list)).collect(),
    }
}

fn unknown(report: &FilesReport) -> ReportSection {
    let row = |unknown: &scanns::files::UnknownValues| {
        let column = ReportCell::Label(unknown.column.into());
        vec![ReportCell::Count(unknown.count), column, ReportCell::Name(unknown.example.clone())]
    };
    ReportSection {
        id: "unknown",
        title: "Values that the index does not know".into(),
        note: String::new(),
        head: vec!["entries", "value", "the first"],
        rows: report.unknown.iter().map(row).collect(),
    }
}
