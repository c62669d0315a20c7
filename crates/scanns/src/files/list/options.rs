//! How entries are listed.

use jiff::tz::TimeZone;

use crate::source::Entry;

/// A path that is listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedPath {
    /// The path as it was written.
    pub written: Vec<u8>,
    /// The path in the index.
    pub path: Vec<u8>,
}

/// Which names with a dot before them are listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ListHidden {
    /// None.
    #[default]
    None,
    /// All but `.` and `..` (`-A`).
    Almost,
    /// All (`-a`).
    All,
}

/// The order of entries. Entries that are equal are in the order of their names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ListSort {
    /// By the bytes of names.
    #[default]
    Name,
    /// The latest date first (`-t`).
    Time,
    /// By the last dot in the name and what follows it (`-X`).
    Extension,
    /// By the bytes of names, in which numbers count as such (`-v`).
    Version,
    /// The greatest first (`-S`).
    Size,
    /// In the order of the index (`-U`).
    Unsorted,
}

/// The date that is shown, and sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ListDate {
    /// Of the last modification.
    #[default]
    Modified,
    /// Of the last change of the status (`-c`).
    Changed,
    /// Of the last access (`-u`).
    Accessed,
}

impl ListDate {
    /// The date of an entry.
    pub(super) fn of(self, entry: &Entry<'_>) -> Option<i64> {
        match self {
            ListDate::Modified => entry.mtime,
            ListDate::Changed => entry.ctime,
            ListDate::Accessed => entry.atime,
        }
    }

    /// The name of its column.
    pub(super) fn name(self) -> &'static str {
        match self {
            ListDate::Modified => "mtime",
            ListDate::Changed => "ctime",
            ListDate::Accessed => "atime",
        }
    }
}

/// The mark after names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ListMark {
    /// None.
    #[default]
    None,
    /// A slash after directories (`-p`).
    Slash,
    /// One of `*/=@|` for the type (`-F`).
    Type,
}

/// The format of dates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListTime {
    /// The format for entries that are older than half a year or have a time in the future.
    pub old: String,
    /// The format for the others.
    pub recent: String,
}

/// Options of [`list_entries`](super::list_entries).
#[derive(Clone, Debug)]
pub struct ListOptions {
    /// Which names with a dot before them are listed.
    pub hidden: ListHidden,
    /// Lists directories themselves instead of what is in them (`-d`).
    pub directories: bool,
    /// Lists directories in directories, too (`-R`).
    pub recursive: bool,
    /// One line with all columns for each entry (`-l`).
    pub long: bool,
    /// Numbers instead of the names of owners (`-n`).
    pub numeric: bool,
    /// The inode before each entry (`-i`).
    pub inode: bool,
    /// The space before each entry, in KiB (`-s`).
    pub blocks: bool,
    /// Sizes with a unit (`-h`).
    pub human: bool,
    /// The date that is shown, and sorted by.
    pub date: ListDate,
    /// The order.
    pub sort: ListSort,
    /// The opposite order (`-r`).
    pub reverse: bool,
    /// The mark after names.
    pub mark: ListMark,
    /// The format of dates.
    pub time: ListTime,
    /// The byte after each line.
    pub end: u8,
    /// The time zone of dates.
    pub zone: TimeZone,
    /// The current time, in nanoseconds since 1970.
    pub now: i64,
    /// Quotes a name, for terminals.
    pub quote: Option<fn(&[u8]) -> String>,
}
