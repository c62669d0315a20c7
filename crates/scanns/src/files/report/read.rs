//! Reads the entries of a report out of an index, on several threads.

use std::io;
use std::ops::ControlFlow;

use super::answer::FilesReport;
use super::collector::ReportCollector;
use super::options::ReportOptions;
use crate::error::{Error, Result};
use crate::files::entries::{DocumentPart, EntryReader};
use crate::files::order::without_slash;
use crate::files::select::below;
use crate::index::snapshot::Snapshot;
use crate::query::Query;
use crate::source::is_at_or_below;

/// The columns that a report needs besides paths.
const COLUMNS: [&str; 14] = [
    "type", "owner", "group", "mtime", "atime", "size", "blocks", "uid", "gid", "mode", "inode", "links",
    "device", "path",
];

/// The documents from which on another thread pays, since collectors have to be merged.
const LEAST_DOCUMENTS: u64 = 100_000;

/// Reports on the entries at and below `paths`, or on all entries of an index if there are none.
///
/// Memory holds about 60 bytes and a name for each directory, and the files with several names, on each
/// thread.
///
/// # Errors
/// [`Error::Unsupported`] if the documents are not files with metadata; the errors of reading.
pub fn report_files(snapshot: &Snapshot, paths: &[Vec<u8>], options: ReportOptions) -> Result<FilesReport> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    report_on(snapshot, paths, options, (threads, LEAST_DOCUMENTS))
}

/// Like [`report_files`], on at most this number of threads, each with at least this number of documents.
pub(super) fn report_on(
    snapshot: &Snapshot,
    paths: &[Vec<u8>],
    options: ReportOptions,
    share: (usize, u64),
) -> Result<FilesReport> {
    let reader = EntryReader::new(snapshot)?;
    let starts: Vec<&[u8]> = paths.iter().map(|path| without_slash(path)).collect();
    let query = match starts.is_empty() {
        true => Query::All,
        false => Query::any_of(starts.iter().map(|start| below(&reader, start)).collect()),
    };
    let job = ReportJob { reader: &reader, query: &query, starts: &starts, options };
    let (collected, found) = job.run(&reader.parts(share.0, share.1))?;
    let missing = paths.iter().zip(found).filter(|(_, found)| !found).map(|(path, _)| path.clone()).collect();
    Ok(FilesReport::new(collected, missing))
}

/// What all threads need.
struct ReportJob<'j> {
    reader: &'j EntryReader<'j>,
    query: &'j Query,
    starts: &'j [&'j [u8]],
    options: ReportOptions,
}

/// What was collected, and by start point whether anything is at or below it.
type CollectedPart = (ReportCollector, Vec<bool>);

impl ReportJob<'_> {
    /// Collects all parts, each on a thread of its own.
    fn run(&self, parts: &[DocumentPart]) -> Result<CollectedPart> {
        let (first, others) =
            parts.split_first().map_or((None, parts), |(first, others)| (Some(first), others));
        std::thread::scope(|scope| {
            let spawn = |part| {
                let thread = std::thread::Builder::new().spawn_scoped(scope, move || self.collect(part));
                thread.map_err(|_| part)
            };
            let helpers: Vec<_> = others.iter().map(spawn).collect();
            let start = || (ReportCollector::new(self.options), vec![false; self.starts.len()]);
            let (mut all, mut found) = first.map_or_else(|| Ok(start()), |first| self.collect(first))?;
            for helper in helpers {
                let (collected, seen) = match helper {
                    Ok(helper) => helper.join().map_err(|_| ended())??,
                    Err(part) => self.collect(part)?,
                };
                all.merge(collected);
                found.iter_mut().zip(seen).for_each(|(found, seen)| *found |= seen);
            }
            Ok((all, found))
        })
    }

    fn collect(&self, part: &DocumentPart) -> Result<CollectedPart> {
        let mut collected = ReportCollector::new(self.options);
        let mut found = vec![false; self.starts.len()];
        self.reader.for_each_in(part, self.query, &COLUMNS, &mut |entry| {
            for (found, start) in found.iter_mut().zip(self.starts) {
                *found = *found || is_at_or_below(entry.path, start);
            }
            collected.push(entry);
            Ok(ControlFlow::Continue(()))
        })?;
        Ok((collected, found))
    }
}

fn ended() -> Error {
    Error::System {
        action: "read the entries",
        source: io::Error::other("a thread ended unexpectedly"),
        remedy: "this is a bug in scanns: please report it",
    }
}
