//! The formats of dumps by their names, and how to tell which one a dump has.

use std::sync::Arc;

use super::dwalk::DwalkDump;
use super::dwalk_lite::DwalkLite;
use super::find::{FindDialect, FindRows, RECOMMENDED_FORMAT};
use super::gufi::GufiTrace;
use super::hdfs::HdfsList;
use super::known::{DumpReader, KnownDump};
use super::lester::LesterList;
use super::mlocate::MlocateDump;
use super::mtree::MtreeDump;
use super::ncdu::NcduDump;
use super::paths::PathList;
use super::plocate::PlocateDump;
use super::policy::{PolicyList, PolicyRecords, ShowColumns};
use super::pwalk::PwalkCsv;
use super::tables::{TABLE_FORMATS, TableDump};
use super::{ReadDump, ReadRows};

/// A format in the table.
struct FormatEntry {
    name: &'static str,
    /// A reader for a dump with this start, if it is certain that the dump has this format.
    detect: fn(&[u8]) -> Option<DumpReader>,
    /// A reader with the details that the user gives.
    make: fn(Option<&str>) -> Result<DumpReader, String>,
    /// What the user should know about dumps of this format.
    remarks: &'static [&'static str],
}

/// The format of a dump.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum DumpFormat {
    /// The format that the start of the dump shows.
    #[default]
    Detect,
    /// A format by its name.
    Named {
        /// One of [`DUMP_FORMATS`].
        name: &'static str,
        /// Details: the format string of find, the columns of SHOW, the separator of GUFI, the time zone of
        /// HDFS.
        details: Option<String>,
    },
    /// A table with a map of columns.
    Table(TableDump),
}

impl DumpFormat {
    /// The format with a name and details; see [`DumpFormat::Named`].
    ///
    /// # Errors
    /// What to write instead.
    pub fn named(name: &str, details: Option<&str>) -> Result<Self, String> {
        if let Some(name) = TABLE_FORMATS.iter().find(|known| **known == name) {
            return TableDump::named(name, details).map(DumpFormat::Table);
        }
        let entry = entry(name).ok_or_else(|| format!("unknown format '{name}': {}", known()))?;
        (entry.make)(details)?;
        Ok(DumpFormat::Named { name: entry.name, details: details.map(str::to_owned) })
    }

    /// A reader for a dump that begins with `start`, at most 64 KiB.
    ///
    /// # Errors
    /// What is wrong, and what to write instead.
    pub fn open(&self, start: &[u8]) -> Result<KnownDump, String> {
        let (entry, reader) = match self {
            DumpFormat::Named { name, details } => {
                let entry = entry(name).ok_or_else(known)?;
                (entry, (entry.make)(details.as_deref())?)
            }
            DumpFormat::Detect => {
                let mut found = FORMATS.iter().filter_map(|entry| Some((entry, (entry.detect)(start)?)));
                match (found.next(), found.next()) {
                    (Some(only), None) => only,
                    (None, _) => return TableDump::detect(start).ok_or_else(uncertain),
                    _ => return Err(uncertain()),
                }
            }
            DumpFormat::Table(table) => return table.open(start),
        };
        Ok(KnownDump { format: entry.name, reader, remarks: entry.remarks, view: None })
    }
}

/// The names of the formats of which a dump with this start may be one.
#[cfg(test)]
pub(super) fn detected(start: &[u8]) -> Vec<&'static str> {
    FORMATS.iter().filter(|entry| (entry.detect)(start).is_some()).map(|entry| entry.name).collect()
}

fn entry(name: &str) -> Option<&'static FormatEntry> {
    FORMATS.iter().find(|entry| entry.name == name)
}

fn known() -> String {
    format!("name one of {}", DUMP_FORMATS.join(", "))
}

fn uncertain() -> String {
    format!("its format is not certain: {}", known())
}

fn rows(reader: impl ReadRows + 'static) -> DumpReader {
    DumpReader::Rows(Arc::new(reader))
}

fn whole(reader: impl ReadDump + 'static) -> DumpReader {
    DumpReader::Whole(Box::new(reader))
}

/// The reader, unless details were given to a format that has none.
fn plain(reader: DumpReader, details: Option<&str>) -> Result<DumpReader, String> {
    match details {
        None => Ok(reader),
        Some(details) => Err(format!("this format has no details such as '{details}': leave them out")),
    }
}

fn find(details: Option<&str>, dialect: FindDialect) -> Result<DumpReader, String> {
    FindRows::new(details.unwrap_or(RECOMMENDED_FORMAT), dialect).map(rows)
}

fn detect_find(start: &[u8]) -> Option<DumpReader> {
    let found = FindRows::new(RECOMMENDED_FORMAT, FindDialect::Gnu).ok()?;
    found.detect(start).then(|| rows(found))
}

/// A trace of GUFI with another separator.
fn gufi(details: Option<&str>, old: bool) -> Result<DumpReader, String> {
    let separator = match details.map(str::as_bytes) {
        None => GufiTrace::SEPARATOR,
        Some(&[separator]) if !separator.is_ascii_alphanumeric() => separator,
        Some(_) => return Err("the separator of GUFI is one byte, such as '|'".into()),
    };
    Ok(rows(GufiTrace { separator, old }))
}

/// A list of HDFS in a time zone: `+02:00`.
fn hdfs(details: Option<&str>) -> Result<DumpReader, String> {
    let zone_minutes = match details {
        None => 0,
        Some(zone) => zone_of(zone).ok_or("the details are the time zone of the list, such as +02:00")?,
    };
    Ok(rows(HdfsList { zone_minutes, ..HdfsList::new() }))
}

fn zone_of(zone: &str) -> Option<i32> {
    let (sign, rest) = match zone.split_at_checked(1)? {
        ("+", rest) => (1, rest),
        ("-", rest) => (-1, rest),
        _ => return None,
    };
    let (hours, minutes) = rest.split_once(':')?;
    let part = |text: &str, most: i32| {
        text.parse::<i32>().ok().filter(|&number| text.len() == 2 && (0..=most).contains(&number))
    };
    Some(sign * (part(hours, 23)? * 60 + part(minutes, 59)?))
}

fn list(details: Option<&str>, escaped: bool) -> DumpReader {
    rows(PolicyList { escaped, show: details.map(ShowColumns::new) })
}

const LINES: &str = "A name with a line feed is read as two paths; a list with NUL bytes (paths0) is exact.";

/// The names of all formats, in the order of the table, and behind them those of tables.
pub const DUMP_FORMATS: [&str; FORMATS.len() + TABLE_FORMATS.len()] = {
    let (mut names, mut at) = ([""; FORMATS.len() + TABLE_FORMATS.len()], 0);
    while at < names.len() {
        names[at] = if at < FORMATS.len() { FORMATS[at].name } else { TABLE_FORMATS[at - FORMATS.len()] };
        at += 1;
    }
    names
};

const FORMATS: [FormatEntry; 20] = [
    FormatEntry {
        name: "find",
        detect: detect_find,
        make: |details| find(details, FindDialect::Gnu),
        remarks: &[],
    },
    FormatEntry {
        name: "lfs-find",
        detect: |_| None,
        make: |details| find(details, FindDialect::Lustre),
        remarks: &[],
    },
    FormatEntry {
        name: "rbh-find",
        detect: |_| None,
        make: |details| match details {
            Some(_) => find(details, FindDialect::Robinhood),
            None => Err(r"rbh-find needs its format string, such as '%y\t%s\t%Ts\t%p\n'".into()),
        },
        remarks: &[],
    },
    FormatEntry {
        name: "rbh-find-escaped",
        detect: |_| None,
        make: |details| match details {
            Some(format) => {
                FindRows::new(format, FindDialect::Robinhood).map(|found| rows(found.with_escapes()))
            }
            None => Err(r"rbh-find needs its format string, such as '%y\t%s\t%Ts\t%p\n'".into()),
        },
        remarks: &[],
    },
    FormatEntry {
        name: "gufi",
        detect: |start| GufiTrace::detect(start).filter(|trace| !trace.old).map(rows),
        make: |details| gufi(details, false),
        remarks: &[],
    },
    FormatEntry {
        name: "gufi-old",
        detect: |start| GufiTrace::detect(start).filter(|trace| trace.old).map(rows),
        make: |details| gufi(details, true),
        remarks: &[],
    },
    FormatEntry {
        name: "policy",
        detect: |start| PolicyList::detect(start).filter(|list| !list.escaped).map(rows),
        make: |details| Ok(list(details, false)),
        remarks: &[
            "A name with a line feed cannot be read in this list; ESCAPE '%' in the rule makes it exact.",
        ],
    },
    FormatEntry {
        name: "policy-escaped",
        detect: |start| PolicyList::detect(start).filter(|list| list.escaped).map(rows),
        make: |details| Ok(list(details, true)),
        remarks: &[],
    },
    FormatEntry {
        name: "policy-records",
        detect: |start| PolicyRecords::detect(start).map(rows),
        make: |details| {
            Ok(rows(PolicyRecords { show: details.map(ShowColumns::new), ..PolicyRecords::new() }))
        },
        remarks: &[],
    },
    FormatEntry {
        name: "lester",
        detect: |start| LesterList::detect(start).map(rows),
        make: |details| plain(rows(LesterList), details),
        remarks: LesterList::REMARKS,
    },
    FormatEntry {
        name: "pwalk",
        detect: |start| PwalkCsv::detect(start).map(rows),
        make: |details| plain(rows(PwalkCsv), details),
        remarks: &["pwalk drops control characters from names; such paths do not exist as they are listed."],
    },
    FormatEntry {
        name: "dwalk",
        detect: |start| DwalkDump::detect(start).then(|| whole(DwalkDump::new())),
        make: |details| plain(whole(DwalkDump::new()), details),
        remarks: &[],
    },
    FormatEntry {
        name: "dwalk-lite",
        detect: |start| DwalkLite::detect(start).map(rows),
        make: |details| plain(rows(DwalkLite), details),
        remarks: &[],
    },
    FormatEntry {
        name: "ncdu",
        detect: |start| NcduDump::detect(start).then(|| whole(NcduDump::new())),
        make: |details| plain(whole(NcduDump::new()), details),
        remarks: &[],
    },
    FormatEntry {
        name: "mlocate",
        detect: |start| MlocateDump::detect(start).then(|| whole(MlocateDump::new())),
        make: |details| plain(whole(MlocateDump::new()), details),
        remarks: &[],
    },
    FormatEntry {
        name: "plocate",
        detect: |start| PlocateDump::detect(start).then(|| whole(PlocateDump::new())),
        make: |details| plain(whole(PlocateDump::new()), details),
        remarks: &[],
    },
    FormatEntry {
        name: "mtree",
        detect: |start| MtreeDump::detect(start).then(|| whole(MtreeDump::new())),
        make: |details| plain(whole(MtreeDump::new()), details),
        remarks: &[],
    },
    FormatEntry {
        name: "hdfs",
        detect: |start| HdfsList::detect(start).map(rows),
        make: hdfs,
        remarks: &["Times are in minutes, in the time zone of the machine that printed the list."],
    },
    FormatEntry {
        name: "paths",
        detect: |_| None,
        make: |details| plain(rows(PathList::LINES), details),
        remarks: &[LINES],
    },
    FormatEntry {
        name: "paths0",
        detect: |_| None,
        make: |details| plain(rows(PathList::NUL), details),
        remarks: &[],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_can_be_named_and_details_are_checked() {
        for name in DUMP_FORMATS {
            if TABLE_FORMATS.contains(&name) {
                let format = DumpFormat::named(name, None).unwrap();
                assert!(matches!(format, DumpFormat::Table(table) if table.format == Some(name)));
                continue;
            }
            let details = name.starts_with("rbh-find").then_some(r"%p\n");
            let format = DumpFormat::named(name, details).unwrap();
            assert_eq!(format.open(b"").unwrap().format, name);
        }
        for (name, details, expected) in [
            ("none", None, "unknown format 'none': name one of find, lfs-find"),
            ("find", Some("%s\n"), "the format has no path"),
            ("rbh-find", None, "needs its format string"),
            ("gufi", Some("ab"), "one byte"),
            ("hdfs", Some("2"), "such as +02:00"),
            ("ncdu", Some("x"), "leave them out"),
            ("csv", Some("ab"), "one character, or tab"),
            ("parquet", Some("x"), "leave them out"),
        ] {
            let error = DumpFormat::named(name, details).unwrap_err();
            assert!(error.contains(expected), "{name}: {error}");
        }
        assert_eq!((zone_of("+02:30"), zone_of("-11:00"), zone_of("+2:00")), (Some(150), Some(-660), None));
    }
}
