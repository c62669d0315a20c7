//! Imports dumps: their entries become documents, and documents below their directories that they do not list
//! are deleted.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use super::block::SendBlock;
use super::dump_access::DumpAccess;
use super::dump_reader::{DumpSource, ReadDumpReport};
use super::lane::EntryReport;
use super::rooted::rooted;
use super::run::{FindEntries, Import, index_entries};
use super::threads::ImportThreads;
use super::told::ToldFields;
use super::tops::Tops;
use crate::content::ContentOptions;
use crate::error::{Error, Result};
use crate::index::build::document_source::DocumentSource;
use crate::index::build::index_threads::BuildCall;
use crate::index::build::options::DumpOptions;
use crate::index::build::report::{DumpReport, IndexReport};
use crate::index::commit::writer::Writer;
use crate::index::coverage::{Coverage, some_of};
use crate::index::progress::Phase;
use crate::record::dump::{BadRow, DumpTally, UnreadPath};
use crate::source::{Failure, Skipped, UnlistedDirectories, absolute, ancestors};

/// Why documents are kept that the dumps do not list.
const INCOMPLETE: &str = "the dumps were not read to their ends";
const BAD_ROWS: &str = "rows of the dumps could not be read";
const NO_DIRECTORIES: &str = "the dumps list no directories, so it is not known what they cover; name the \
                              directory that they cover";

/// Imports `dump`, and commits.
pub(in crate::index::build) fn import(
    dump: &DumpOptions,
    writer: &Writer<'_>,
    call: BuildCall<'_>,
    source: &DocumentSource,
    contents: ContentOptions,
) -> Result<IndexReport> {
    let root = match &dump.root {
        None => None,
        Some(root) => {
            let failed = |error| Error::io("find the directory", root, error);
            Some(absolute(root).map_err(failed)?.as_os_str().as_bytes().to_vec())
        }
    };
    let access = source.has_access().then(|| DumpAccess::read(dump, root.as_deref())).transpose()?;
    index_entries(&DumpImport { dump, root, access }, writer, call, source, contents)
}

/// An import of dumps.
struct DumpImport<'a> {
    dump: &'a DumpOptions,
    /// The directory to which relative paths belong.
    root: Option<Vec<u8>>,
    /// Who may see the entries, if that is wanted.
    access: Option<DumpAccess>,
}

impl FindEntries for DumpImport<'_> {
    type Found = Vec<ReadDumpReport>;

    fn root(&self) -> Option<&[u8]> {
        self.root.as_deref()
    }

    fn access(&self) -> Option<&DumpAccess> {
        self.access.as_ref()
    }

    fn lacks_types(&self) -> bool {
        true
    }

    fn find(
        &self,
        import: &Import<'_>,
        stop: &AtomicBool,
        send: &SendBlock<'_>,
    ) -> Result<Vec<ReadDumpReport>> {
        let progress = import.call.progress;
        progress.enter(Phase::Indexing);
        DumpSource { options: self.dump, progress, stop }.read(&mut |block| send(block))
    }

    fn settle(
        &self,
        import: &Import<'_>,
        threads: ImportThreads<Vec<ReadDumpReport>>,
        report: &mut IndexReport,
    ) -> Result<Vec<Coverage>> {
        report.bytes = import.call.progress.bytes();
        let made: Vec<i64> = threads.found.iter().map(|dump| dump.made).collect();
        let tops = take_reports(threads, report);
        report.dumps.iter_mut().for_each(|dump| root_unread(&mut dump.tally, self.root()));
        refuse_unreadable(report)?;
        self.delete_gone(import, tops, report)?;
        Ok(report.dumps.iter().zip(made).map(|(dump, made)| coverage(dump, made, report.cancelled)).collect())
    }
}

impl DumpImport<'_> {
    /// Deletes documents that the dumps should list and do not, if the dumps are complete.
    fn delete_gone(&self, import: &Import<'_>, tops: Tops, report: &mut IndexReport) -> Result<()> {
        if import.known.is_empty() || report.cancelled {
            return Ok(());
        }
        let tops = self.root.as_deref().map_or(tops, Tops::only);
        let is_cut = |dump: &DumpReport| {
            dump.tally.truncated || dump.tally.complete == Some(false) || !dump.tally.knows_unread()
        };
        report.kept = if report.dumps.iter().any(is_cut) || !report.failed.is_empty() {
            Some(INCOMPLETE)
        } else if report.dumps.iter().any(|dump| dump.tally.bad > 0) {
            Some(BAD_ROWS)
        } else if tops.is_empty() {
            Some(NO_DIRECTORIES)
        } else {
            None
        };
        if let Some(why) = report.kept.filter(|_| self.access.is_some()) {
            // What is kept would keep its old rights.
            return Err(Error::Unsupported {
                what: format!("an update of access classes from this dump ({why})"),
                remedy: "nothing was changed: make a complete dump, or another index of this one".into(),
            });
        }
        if report.kept.is_some() {
            return Ok(());
        }
        // What the dumps say that they could not read may still exist. With access classes, nobody knows who
        // may see it now.
        let mut unread = Tops::default();
        report.dumps.iter().flat_map(|dump| &dump.tally.unread_paths).for_each(|path| unread.add(&path.path));
        let forgets_unread = self.access.is_some();
        let gone = |path: &[u8]| Ok(tops.cover(path) && (forgets_unread || !unread.cover(path)));
        (report.removed_files, report.removed) = import.delete_unseen(gone)?;
        Ok(())
    }
}

/// Makes the paths of what was not read those of the index.
fn root_unread(tally: &mut DumpTally, root: Option<&[u8]>) {
    for path in tally.unread_paths.iter_mut().map(|unread| &mut unread.path) {
        let mut space = Vec::new();
        *path = rooted(path, root, &mut space).to_vec();
    }
}

/// What a dump covers.
fn coverage(dump: &DumpReport, made: i64, cancelled: bool) -> Coverage {
    let tally = &dump.tally;
    let path = match absolute(&dump.path) {
        Ok(path) if dump.path.as_os_str() != "-" => path,
        _ => dump.path.clone(),
    };
    let path_of = |unread: &UnreadPath| PathBuf::from(OsStr::from_bytes(&unread.path));
    let unread: Vec<Failure> = tally
        .unread_paths
        .iter()
        .filter(|unread| !unread.excluded)
        .map(|unread| Failure { path: path_of(unread), reason: unread.reason.clone() })
        .collect();
    let excluded = Skipped { count: tally.excluded, first: tally.first_unread(true).map(path_of) };
    Coverage {
        path,
        format: Some(dump.format.to_owned()),
        began: made,
        ended: made,
        entries: dump.entries,
        directories: 0,
        complete: !(cancelled || tally.truncated || tally.complete == Some(false) || tally.bad > 0),
        unread: tally.unread,
        failures: some_of(unread.iter()).0,
        left_out: if tally.excluded > 0 {
            vec![("excluded from the dump".into(), excluded)]
        } else {
            Vec::new()
        },
        unlisted: unlisted(tally),
        updated: None,
    }
}

/// The excluded places of a dump, which may be directories, and the directories that they are in.
fn unlisted(tally: &DumpTally) -> UnlistedDirectories {
    let excluded = || tally.unread_paths.iter().filter(|unread| unread.excluded);
    let mut unlisted = UnlistedDirectories::default();
    for place in excluded() {
        ancestors(&place.path).take(2).for_each(|path| unlisted.add(path));
        unlisted.leave_out(&place.path);
    }
    unlisted.more += tally.excluded - (excluded().count() as u64).min(tally.excluded);
    unlisted
}

/// Refuses a build in which no row of any dump could be read: another format was meant.
pub(super) fn refuse_unreadable(report: &IndexReport) -> Result<()> {
    if report.cancelled || report.dumps.iter().any(|dump| dump.entries > 0) {
        return Ok(());
    }
    let failed = report.failed.first().map(|failure| failure.reason.clone());
    for dump in &report.dumps {
        let first = dump.tally.first_bad.as_ref().map(|row| {
            let BadRow { offset, reason, text } = row;
            format!("{reason}; the first row, at byte {offset}, is '{}'", text.escape_ascii())
        });
        if let Some(reason) = failed.clone().or(first) {
            let reason = format!("no row is one of the format {}: {reason}", dump.format);
            return Err(Error::Dump { path: dump.path.clone(), reason });
        }
    }
    Ok(())
}

/// Adds what the threads report; returns the directories that the dumps cover.
fn take_reports(threads: ImportThreads<Vec<ReadDumpReport>>, report: &mut IndexReport) -> Tops {
    let mut dumps: Vec<DumpReport> = Vec::new();
    for read in threads.found {
        if let Some(reason) = read.failure {
            report.failed.push(Failure { path: read.path.clone(), reason });
        }
        dumps.push(DumpReport {
            path: read.path,
            format: read.format,
            compression: read.compression,
            entries: 0,
            tally: read.tally,
            remarks: read.remarks,
            lacking: Vec::new(),
        });
    }
    let (mut tops, mut lanes) = (Tops::default(), Vec::new());
    let mut told = vec![ToldFields::default(); dumps.len()];
    for EntryReport { lane, unchanged, tops: of_lane, undecided, dumps: of_dumps } in threads.lanes {
        report.unchanged += unchanged;
        report.undecided_access.append(undecided);
        tops.merge(of_lane);
        lanes.push(lane);
        for ((dump, told), counts) in dumps.iter_mut().zip(&mut told).zip(of_dumps) {
            dump.entries += counts.entries;
            dump.tally.merge(counts.tally);
            told.merge(counts.told);
        }
    }
    for (dump, told) in dumps.iter_mut().zip(told).filter(|(dump, _)| dump.entries > 0) {
        dump.lacking = told.lacking();
    }
    report.add_lanes(lanes);
    report.dumps = dumps;
    tops
}
