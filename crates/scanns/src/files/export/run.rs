//! Reads entries of an index, and writes them in the format of another tool.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::Path;

use super::gufi::{GufiWriter, by_stanza};
use super::ncdu::NcduWriter;
use super::sorter::{EntrySorter, by_walk};
use super::tally::ExportReport;
use super::tree::{FindDirectory, TreeSorter, TreeStep};
use crate::error::{Error, Result};
use crate::files::answer::{FindOptions, find_entries};
use crate::files::entries::{ALL, EntryReader};
use crate::files::find::{FindOutput, FindSink};
use crate::files::order::without_slash;
use crate::files::place::name_of;
use crate::files::select::{all_of, below};
use crate::files::unread::UnreadPlaces;
use crate::index::snapshot::Snapshot;
use crate::query::{Operator, Query};
use crate::source::{Entry, is_below};
use crate::store::SortSpace;

/// A format of another tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryFormat {
    /// What `find -printf` prints with this format string.
    Find(Vec<u8>),
    /// A trace of GUFI with this separator.
    Gufi(u8),
    /// An export of ncdu with extended information.
    Ncdu,
    /// Paths, each ended by this byte.
    Paths(u8),
}

/// Options of [`export_entries`].
#[derive(Clone, Debug)]
pub struct ExportOptions {
    /// The format.
    pub format: EntryFormat,
    /// The paths at and below which entries are written; none for all.
    pub paths: Vec<Vec<u8>>,
    /// A query that entries match, too.
    pub query: Option<String>,
    /// The directory to which paths become relative, for lists of paths and traces.
    pub relative_to: Option<Vec<u8>>,
    /// Where entries are sorted.
    pub space: SortSpace,
    /// The time of the export, in seconds since 1970.
    pub now: i64,
}

/// Writes the entries of an index in the format of another tool.
///
/// # Errors
/// [`Error::Unsupported`] if the documents are not files with metadata, or if the entries have no common
/// directory and the format needs one; [`Error::Expression`] for a format string that is not valid; and the
/// errors of reading and writing.
pub fn export_entries(
    snapshot: &Snapshot,
    options: &ExportOptions,
    out: &mut dyn Write,
) -> Result<ExportReport> {
    let reader = EntryReader::new(snapshot)?;
    if let EntryFormat::Find(format) = &options.format {
        return export_find(snapshot, options, format, out);
    }
    let mut export = EntryExport { reader, options, report: ExportReport::default() };
    match options.format {
        EntryFormat::Ncdu => export.ncdu(out)?,
        EntryFormat::Gufi(separator) => export.gufi(separator, out)?,
        EntryFormat::Paths(end) => export.paths(end, out)?,
        EntryFormat::Find(_) => {}
    }
    Ok(export.report)
}

/// What find prints with a format goes to one output.
struct SingleSink<'o>(&'o mut dyn Write);

impl FindSink for SingleSink<'_> {
    fn write(&mut self, _: usize, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }
}

fn export_find(
    snapshot: &Snapshot,
    options: &ExportOptions,
    format: &[u8],
    out: &mut dyn Write,
) -> Result<ExportReport> {
    let mut command = options.paths.clone();
    if let Some(query) = &options.query {
        command.extend([b"-content".to_vec(), query.as_bytes().to_vec()]);
    }
    command.extend([b"-printf".to_vec(), format.to_vec()]);
    let found =
        find_entries(snapshot, &command, FindOptions::default(), |_: &[FindOutput]| Ok(SingleSink(out)))?;
    Ok(ExportReport {
        entries: found.evaluated,
        unknown: found.unknown,
        missing: found.missing,
        ..ExportReport::default()
    })
}

/// An export of sorted entries.
struct EntryExport<'s, 'o> {
    reader: EntryReader<'s>,
    options: &'o ExportOptions,
    report: ExportReport,
}

impl EntryExport<'_, '_> {
    fn ncdu(&mut self, out: &mut dyn Write) -> Result<()> {
        let mut tree = TreeSorter::new(self.options.space.clone());
        self.for_each(&ALL, &mut |entry| tree.push(entry))?;
        let unread = UnreadPlaces::of_index(self.reader.snapshot)?;
        let mut writer = NcduWriter::new(out, self.options.now, unread);
        let reader = &self.reader;
        let find: &mut FindDirectory<'_> = &mut |path| reader.at(path);
        tree.finish(&mut self.report, find, &mut |step, report| writer.step(step, report).map_err(written))?;
        writer.end().map_err(written)
    }

    fn gufi(&mut self, separator: u8, out: &mut dyn Write) -> Result<()> {
        // The first sorter tells which entries are directories, and adds those that are missing.
        let half = SortSpace { memory: self.options.space.memory / 2, ..self.options.space.clone() };
        let mut tree = TreeSorter::new(half.clone());
        self.for_each(&ALL, &mut |entry| tree.push(entry))?;
        let mut stanzas = EntrySorter::new(by_stanza, half);
        let reader = &self.reader;
        let find: &mut FindDirectory<'_> = &mut |path| reader.at(path);
        tree.finish(&mut self.report, find, &mut |step, _| match step {
            TreeStep::Enter(entry) | TreeStep::Leaf(entry) => stanzas.push(entry),
            TreeStep::Leave => Ok(()),
        })?;
        let mut writer = GufiWriter::new(out, separator);
        let (report, base) = (&mut self.report, self.options.relative_to.as_deref());
        stanzas.finish(&mut |entry| match shown(entry.path, base) {
            Some(name) => writer.entry(entry, name, report).map_err(written),
            None => {
                report.leave_out(entry.path);
                Ok(())
            }
        })
    }

    fn paths(&mut self, end: u8, out: &mut dyn Write) -> Result<()> {
        let mut sorter = EntrySorter::new(by_walk, self.options.space.clone());
        self.for_each(&[], &mut |entry| sorter.push(entry))?;
        let (report, base) = (&mut self.report, self.options.relative_to.as_deref());
        sorter.finish(&mut |entry| {
            let Some(name) = shown(entry.path, base) else {
                report.leave_out(entry.path);
                return Ok(());
            };
            if memchr::memchr(end, name).is_some() {
                report.divide(entry.path);
            }
            report.entries += 1;
            out.write_all(name).and_then(|()| out.write_all(&[end])).map_err(written)
        })
    }

    /// Calls `visit` with the entries that were asked for.
    fn for_each(&mut self, wanted: &[&str], visit: &mut dyn FnMut(&Entry<'_>) -> Result<()>) -> Result<()> {
        let mut filter = Vec::new();
        let mut places = Vec::new();
        for path in &self.options.paths {
            let path = without_slash(path);
            if self.reader.at(path)?.is_none() {
                self.report.missing.push(path.to_vec());
            }
            places.push(below(&self.reader, path));
        }
        if !places.is_empty() {
            filter.push(Query::any_of(places));
        }
        if let Some(query) = &self.options.query {
            filter.push(self.reader.snapshot.parse(query, Operator::Or)?);
        }
        self.reader.for_each(&all_of(filter), wanted, &mut |entry| {
            visit(entry)?;
            Ok(ControlFlow::Continue(()))
        })
    }
}

/// The path that is written: relative to `base`, of which the path itself is `.`; `None` if it is not below.
fn shown<'p>(path: &'p [u8], base: Option<&[u8]>) -> Option<&'p [u8]> {
    match base {
        None if path.is_empty() => Some(name_of(path)),
        None => Some(path),
        Some(base) if path == base => Some(b"."),
        Some(base) if base == b"/" => path.strip_prefix(base),
        Some(base) if is_below(path, base) => path.get(base.len() + 1..),
        Some(_) => None,
    }
}

fn written(source: io::Error) -> Error {
    Error::io("write to", Path::new("the output"), source)
}
