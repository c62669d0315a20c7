//! Traces of GUFI in the new format, which `gufi_trace2index` loads.
//!
//! The grammar is in `record/dump/gufi/`. A directory is followed by the entries in it that are not
//! directories, so entries are sorted a second time: by their directory, the directory itself first.
//!
//! The format has whole seconds, and no names of owners, no devices and no word for a value that is not
//! known: 0 is written, and counted.

use std::cmp::Ordering;
use std::io::{self, Write};

use super::sorter::by_number;
use super::tally::ExportReport;
use crate::files::entry_record::{is_directory, path_of};
use crate::files::order::walk_order;
use crate::files::place::{directory_of, holds};
use crate::source::{Entry, EntryKind};

/// The longest name, linkname or path: its length has four hexadecimal digits.
const LONGEST: usize = 0xffff;

/// The mode of an entry whose type is known, if the rest of it is not.
fn mode_of_kind(kind: Option<EntryKind>) -> u32 {
    match kind {
        None | Some(EntryKind::File | EntryKind::Member) => 0o100_000,
        Some(EntryKind::Directory) => 0o040_000,
        Some(EntryKind::Link) => 0o120_000,
        Some(EntryKind::Fifo) => 0o010_000,
        Some(EntryKind::Socket) => 0o140_000,
        Some(EntryKind::Device) => 0o020_000,
    }
}

/// A directory, the entries in it that are not directories, then its directories.
pub(super) fn by_stanza(one: &[u8], other: &[u8]) -> Ordering {
    let by_stanza = walk_order(stanza(one), stanza(other));
    let by_kind = by_stanza.then_with(|| is_directory(other).cmp(&is_directory(one)));
    by_kind.then_with(|| path_of(one).cmp(path_of(other))).then_with(|| by_number(one, other))
}

/// The directory whose row an entry follows.
fn stanza(record: &[u8]) -> &[u8] {
    let path = path_of(record);
    if is_directory(record) { path } else { directory_of(path).unwrap_or_default() }
}

/// Writes a trace.
pub(super) struct GufiWriter<'o> {
    out: &'o mut dyn Write,
    separator: u8,
    /// The directories above the current place, with their inodes.
    above: Vec<(Vec<u8>, u64)>,
    row: Vec<u8>,
}

impl<'o> GufiWriter<'o> {
    pub(super) fn new(out: &'o mut dyn Write, separator: u8) -> Self {
        GufiWriter { out, separator, above: Vec::new(), row: Vec::new() }
    }

    /// Writes an entry under the given name; entries come in the order of stanzas.
    pub(super) fn entry(
        &mut self,
        entry: &Entry<'_>,
        name: &[u8],
        report: &mut ExportReport,
    ) -> io::Result<()> {
        let target = entry.target.filter(|_| entry.kind == Some(EntryKind::Link)).unwrap_or_default();
        if name.len() > LONGEST || target.len() > LONGEST {
            report.leave_out(entry.path);
            return Ok(());
        }
        let parent = self.parent(entry);
        let (kind, letter) = match entry.kind {
            Some(EntryKind::Directory) => (entry.kind, b'd'),
            Some(EntryKind::Link) => (entry.kind, b'l'),
            kind => (kind, b'f'),
        };
        if kind.is_none() {
            report.lack("type", entry.path);
        }
        if kind == Some(EntryKind::Link) && entry.target.is_none() {
            report.lack("target", entry.path);
        }
        self.row.clear();
        self.named(name);
        self.column(&[letter]);
        let mode =
            entry.mode_with_type().map(|mode| if mode >> 12 == 0 { mode | mode_of_kind(kind) } else { mode });
        let number = |number: Option<u32>| number.map(u64::from);
        for (value, name) in [(entry.inode, "inode"), (number(mode), "mode"), (entry.links, "links")] {
            self.number(
                value,
                if name == "mode" { mode_of_kind(kind).into() } else { 0 },
                name,
                entry,
                report,
            );
        }
        for (value, name) in [(number(entry.uid), "uid"), (number(entry.gid), "gid"), (entry.size, "size")] {
            self.number(value, 0, name, entry, report);
        }
        // The index does not keep the block size.
        self.column(b"0");
        self.number(entry.blocks, 0, "blocks", entry, report);
        for (time, name) in [(entry.atime, "atime"), (entry.mtime, "mtime"), (entry.ctime, "ctime")] {
            self.time(time, name, entry, report);
        }
        self.named(target);
        self.column(b"00040000");
        self.column(entry.btime.unwrap_or(0).div_euclid(1_000_000_000).to_string().as_bytes());
        (0..4).for_each(|_| self.column(b"0"));
        (0..2).for_each(|_| self.named(b""));
        self.column(parent.to_string().as_bytes());
        self.row.push(b'\n');
        self.out.write_all(&self.row)
    }

    /// The inode of the directory of an entry, which becomes the current place if it is a directory.
    fn parent(&mut self, entry: &Entry<'_>) -> u64 {
        let directory = directory_of(entry.path);
        while self.above.last().is_some_and(|last| !holds(&last.0, entry.path)) {
            self.above.pop();
        }
        let inode =
            self.above.last().filter(|last| Some(last.0.as_slice()) == directory).map_or(0, |last| last.1);
        if entry.kind == Some(EntryKind::Directory) {
            self.above.push((entry.path.to_vec(), entry.inode.unwrap_or(0)));
        }
        inode
    }

    fn column(&mut self, text: &[u8]) {
        self.row.extend_from_slice(text);
        self.row.push(self.separator);
    }

    /// A column with its length before it.
    fn named(&mut self, text: &[u8]) {
        let length = text.len();
        self.row.extend_from_slice(format!("{length:04x}").as_bytes());
        self.column(text);
    }

    fn number(
        &mut self,
        value: Option<u64>,
        unknown: u64,
        name: &str,
        entry: &Entry<'_>,
        report: &mut ExportReport,
    ) {
        if value.is_none() {
            report.lack(name, entry.path);
        }
        self.column(value.unwrap_or(unknown).to_string().as_bytes());
    }

    fn time(&mut self, time: Option<i64>, name: &str, entry: &Entry<'_>, report: &mut ExportReport) {
        if time.is_none() {
            report.lack(name, entry.path);
        }
        self.column(time.unwrap_or(0).div_euclid(1_000_000_000).to_string().as_bytes());
    }
}
