//! Exports of ncdu, version 1.2, with the extended information of `-e`: ncdu, gdu and others load them.
//!
//! The grammar is in `record/dump/ncdu/`. Sizes of 0 are left out, and so are devices that equal the
//! device of the directory. What could not be read has `read_error`. Names are written as bytes; control
//! characters, `"` and `\` are escaped.
//!
//! The format has whole seconds of the modification alone, no other times, no names of owners, no targets of
//! links, no number of links of directories, and no type for an entry without a mode that is neither a file
//! nor a directory.

use std::io::{self, Write};

use super::tally::ExportReport;
use super::tree::TreeStep;
use crate::files::place::name_of;
use crate::files::unread::UnreadPlaces;
use crate::source::{Entry, EntryKind};

/// Writes an export of ncdu.
pub(super) struct NcduWriter<'o> {
    out: &'o mut dyn Write,
    /// The devices of the directories that were entered.
    devices: Vec<Option<u64>>,
    /// The time of the scan, in seconds.
    timestamp: i64,
    /// What could not be read when the index was made.
    unread: UnreadPlaces,
    has_begun: bool,
}

impl<'o> NcduWriter<'o> {
    pub(super) fn new(out: &'o mut dyn Write, timestamp: i64, unread: UnreadPlaces) -> Self {
        NcduWriter { out, devices: Vec::new(), timestamp, unread, has_begun: false }
    }

    /// Writes a step of a walk.
    pub(super) fn step(&mut self, step: TreeStep<'_>, report: &mut ExportReport) -> io::Result<()> {
        match step {
            TreeStep::Enter(entry) => {
                self.next()?;
                self.out.write_all(b"[")?;
                self.info(entry, report)?;
                self.devices.push(entry.device.or(self.devices.last().copied().flatten()));
                Ok(())
            }
            TreeStep::Leaf(entry) => {
                self.next()?;
                self.info(entry, report)
            }
            TreeStep::Leave => {
                self.devices.pop();
                self.out.write_all(b"]")
            }
        }
    }

    /// Ends the export; without any entry, its root is an empty directory.
    pub(super) fn end(&mut self) -> io::Result<()> {
        if !self.has_begun {
            self.next()?;
            self.out.write_all(b"[{\"name\":\".\"}]")?;
        }
        self.out.write_all(b"]\n")
    }

    /// Writes what stands before an entry.
    fn next(&mut self) -> io::Result<()> {
        if !self.has_begun {
            self.has_begun = true;
            let (version, time) = (env!("CARGO_PKG_VERSION"), self.timestamp);
            let head = format!("{{\"progname\":\"scanns\",\"progver\":\"{version}\",\"timestamp\":{time}}}");
            write!(self.out, "[1,2,{head}")?;
        }
        self.out.write_all(b",\n")
    }

    fn info(&mut self, entry: &Entry<'_>, report: &mut ExportReport) -> io::Result<()> {
        let is_root = self.devices.is_empty();
        let name = if is_root && !entry.path.is_empty() { entry.path } else { name_of(entry.path) };
        self.out.write_all(b"{\"name\":")?;
        self.text(name)?;
        let space = entry.blocks.map(|blocks| blocks.saturating_mul(512));
        for (key, size, value) in [("asize", entry.size, "size"), ("dsize", space, "blocks")] {
            match size {
                Some(0) => {}
                Some(size) => write!(self.out, ",\"{key}\":{size}")?,
                None => report.lack(value, entry.path),
            }
        }
        let parent = self.devices.last().copied().flatten();
        if let Some(device) = entry.device.filter(|device| parent != Some(*device)) {
            write!(self.out, ",\"dev\":{device}")?;
        }
        self.links(entry, report)?;
        let short = |number: Option<u32>| number.map(i64::from);
        let mode = short(entry.mode_with_type());
        // Seconds of times before 1970 are rounded downwards, as ncdu does it.
        let mtime = entry.mtime.map(|time| time.div_euclid(1_000_000_000));
        for (key, number) in
            [("uid", short(entry.uid)), ("gid", short(entry.gid)), ("mode", mode), ("mtime", mtime)]
        {
            match number {
                Some(number) => write!(self.out, ",\"{key}\":{number}")?,
                None => report.lack(key, entry.path),
            }
        }
        if self.unread.contains(entry.path) {
            self.out.write_all(b",\"read_error\":true")?;
        }
        let is_special = !matches!(entry.kind, None | Some(EntryKind::File | EntryKind::Directory));
        self.out.write_all(if is_special { b",\"notreg\":true}" } else { b"}" })
    }

    fn links(&mut self, entry: &Entry<'_>, report: &mut ExportReport) -> io::Result<()> {
        match entry.inode {
            Some(inode) => write!(self.out, ",\"ino\":{inode}")?,
            None => report.lack("inode", entry.path),
        }
        // ncdu 1.18 takes any entry with more than one link for a file with several names.
        if entry.kind == Some(EntryKind::Directory) {
            return Ok(());
        }
        if let Some(links) = entry.links {
            let has_others = links > 1 && entry.inode.is_some();
            let marked = if has_others { ",\"hlnkc\":true" } else { "" };
            return write!(self.out, "{marked},\"nlink\":{links}");
        }
        report.lack("links", entry.path);
        Ok(())
    }

    /// Writes a text in quotes.
    fn text(&mut self, text: &[u8]) -> io::Result<()> {
        self.out.write_all(b"\"")?;
        let mut rest = text;
        while let Some(at) = rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..=31 | 127)) {
            let (plain, after) = rest.split_at(at);
            self.out.write_all(plain)?;
            match after.first() {
                Some(byte @ (b'"' | b'\\')) => self.out.write_all(&[b'\\', *byte])?,
                Some(byte) => write!(self.out, "\\u{byte:04x}")?,
                None => {}
            }
            rest = after.get(1..).unwrap_or_default();
        }
        self.out.write_all(rest)?;
        self.out.write_all(b"\"")
    }
}
