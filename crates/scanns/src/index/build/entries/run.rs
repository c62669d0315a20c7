//! The steps of an import: check the options against the index, read and index the dumps, delete what is
//! gone, commit.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::dump_reader::DumpSource;
use super::known::KnownEntries;
use super::lane::{EntryContext, EntryReport};
use super::threads::{ImportThreads, run};
use super::tops::Tops;
use crate::error::{Error, Result};
use crate::index::build::budget::lane_budget;
use crate::index::build::document_source::{DocumentSource, TextField};
use crate::index::build::index_threads::BuildCall;
use crate::index::build::lane_segments::SegmentContext;
use crate::index::build::options::DumpOptions;
use crate::index::build::report::{DumpReport, IndexReport};
use crate::index::build::watch::Watch;
use crate::index::commit::background_merge::BackgroundMerge;
use crate::index::commit::ledger::changed_field;
use crate::index::commit::manifest::Manifest;
use crate::index::commit::merge_budget::merging_room;
use crate::index::commit::policy_merge::PolicyMerge;
use crate::index::commit::writer::{SegmentDocuments, Writer};
use crate::index::progress::Phase;
use crate::invert::InvertOptions;
use crate::read::ContentOptions;
use crate::schema::Stored;
use crate::segment::{DoublePaths, KnownPaths, Segment, double_paths};
use crate::source::{Failure, absolute};

/// Why documents are kept that the dumps do not list.
const INCOMPLETE: &str = "the dumps were not read to their ends";
const BAD_ROWS: &str = "rows of the dumps could not be read";
const NO_DIRECTORIES: &str = "the dumps list no directories, so it is not known what they cover; name the \
                              directory that they cover";

/// Imports the dumps of the options, and commits.
pub(in crate::index::build) fn import(
    writer: &Writer<'_>,
    call: BuildCall<'_>,
    source: &DocumentSource,
    contents: ContentOptions,
) -> Result<IndexReport> {
    let BuildCall { options, progress, cancel } = call;
    let DocumentSource::Text(text) = source else { return Err(no_files()) };
    let Some(dump) = &options.dump else { return Ok(IndexReport::default()) };
    let current = writer.manifest();
    let stored = source.stored(current.as_ref(), options)?;
    writer.describe(|manifest| {
        let manifest = manifest.unwrap_or_else(|| source.manifest(options.records, stored));
        Some(Manifest { records: options.records, stored, contents, ..manifest })
    });
    let old = writer.segment_ids();
    let segments = old.iter().filter_map(|&id| writer.segment(id).transpose());
    let segments = segments.collect::<Result<Vec<Segment>>>()?;
    let known = KnownEntries::new(&segments, changed_field(current.as_ref()), options.again)?;
    let merge = options.merge.map(|policy| PolicyMerge {
        writer,
        policy,
        buffers: options.buffers,
        room: merging_room(options.memory),
    });
    let merging = BackgroundMerge::new(merge, &old);
    progress.enter(Phase::Indexing);
    let replaced = AtomicU64::new(0);
    let import = Import { writer, call, text, dump, known: &known, replaced: &replaced };
    let (threads, merge_failure) = std::thread::scope(|scope| {
        let merger = merging.start(scope)?;
        let threads = import.threads(source, stored);
        let cancelled = threads.as_ref().is_ok_and(|threads| threads.cancelled);
        let failure = merger.stop(cancelled || threads.is_err()).map(|error| error.to_string());
        threads.map(|threads| (threads, failure))
    })?;
    let mut report = IndexReport { merge_failure, cancelled: threads.cancelled, ..Default::default() };
    let tops = take_reports(threads, &mut report);
    refuse_unreadable(&report)?;
    import.delete_gone(tops, &mut report)?;
    import.delete_repeated(&mut report)?;
    report.replaced = replaced.load(Ordering::Relaxed);
    if writer.has_changed() {
        progress.enter(Phase::Committing);
        writer.commit()?;
    }
    if !report.cancelled && report.merge_failure.is_none() && !old.is_empty() {
        // Now that documents are deleted, all segments may be merged.
        report.merge_failure = merging.merge_all(cancel).map(|error| error.to_string());
        if writer.has_changed() {
            writer.commit()?;
        }
    }
    report.bytes = progress.bytes();
    (report.bytes_written, report.index_bytes) = (writer.bytes_written(), writer.index_bytes());
    Ok(report)
}

/// An import that is under way.
struct Import<'a> {
    writer: &'a Writer<'a>,
    call: BuildCall<'a>,
    text: &'a TextField,
    dump: &'a DumpOptions,
    known: &'a KnownEntries<'a>,
    replaced: &'a AtomicU64,
}

impl Import<'_> {
    /// Runs the threads.
    fn threads(&self, source: &DocumentSource, stored: Stored) -> Result<ImportThreads> {
        let BuildCall { options, progress, cancel } = self.call;
        options.buffers.check()?;
        let fields = self.text.files.as_deref().ok_or_else(no_files)?;
        let budget = lane_budget(options, source.schema(), &stored, &[])?;
        let root = self.root()?;
        let invert = InvertOptions {
            budget: budget.most,
            expected_terms: 0,
            pages: options.read.pages,
            postings: self.text.postings,
        };
        let context = EntryContext {
            segments: SegmentContext { writer: self.writer, budget, buffers: options.buffers, progress },
            known: self.known,
            schema: source.schema(),
            fields,
            text: self.text.field,
            invert,
            stored,
            root: root.as_deref(),
            replaced: self.replaced,
        };
        // The threads have their own flag, because they are also stopped when one of them fails.
        let stop = Arc::new(AtomicBool::new(cancel.load(Ordering::Relaxed)));
        let mut watch = Watch::new(options, cancel, &stop);
        let reader = DumpSource { options: self.dump, progress, stop: &stop };
        run(&reader, context, options.read.lanes, &mut watch)
    }

    /// The bytes of the directory to which relative paths belong.
    fn root(&self) -> Result<Option<Vec<u8>>> {
        let Some(root) = &self.dump.root else { return Ok(None) };
        let failed = |error| Error::io("find the directory", root, error);
        Ok(Some(absolute(root).map_err(failed)?.as_os_str().as_bytes().to_vec()))
    }

    /// Deletes documents of which another one has the same path.
    fn delete_repeated(&self, report: &mut IndexReport) -> Result<()> {
        let segments =
            self.writer.segment_ids().into_iter().filter_map(|id| self.writer.segment(id).transpose());
        let segments = segments.collect::<Result<Vec<Segment>>>()?;
        let paths =
            segments.iter().map(|segment| KnownPaths::of(segment, None)).collect::<Result<Vec<_>>>()?;
        let DoublePaths { documents, first } = double_paths(&paths)?;
        let deletions = segments.iter().zip(documents).filter(|(_, documents)| !documents.is_empty());
        let deletions = deletions.map(|(segment, documents)| SegmentDocuments {
            id: segment.id(),
            documents: documents.into_iter().map(|document| document..document + 1).collect(),
        });
        let deletions: Vec<_> = deletions.collect();
        report.repeated = self.writer.take_in(None, deletions, Vec::new());
        report.first_repeated = first.map(|path| PathBuf::from(OsString::from_vec(path)));
        report.documents = report.documents.saturating_sub(report.repeated);
        Ok(())
    }

    /// Deletes documents that the dumps should list and do not, if the dumps are complete.
    fn delete_gone(&self, tops: Tops, report: &mut IndexReport) -> Result<()> {
        if self.known.is_empty() || report.cancelled {
            return Ok(());
        }
        let tops = self.root()?.map_or(tops, |root| Tops::only(&root));
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
        if report.kept.is_some() {
            return Ok(());
        }
        // What the dumps say that they could not read may still exist.
        let mut unread = Tops::default();
        report.dumps.iter().flat_map(|dump| &dump.tally.unread_paths).for_each(|path| unread.add(path));
        let gone = |path: &[u8]| tops.cover(path) && !unread.cover(path);
        let (documents, count) = self.known.unseen(gone)?;
        report.removed_files = count;
        if !self.call.options.keep_removed {
            for documents in &documents {
                self.writer.segment(documents.id)?;
            }
            report.removed = self.writer.take_in(None, documents, Vec::new());
        }
        Ok(())
    }
}

/// Refuses a build in which no row of any dump could be read: another format was meant.
fn refuse_unreadable(report: &IndexReport) -> Result<()> {
    if report.cancelled || report.dumps.iter().any(|dump| dump.entries > 0) {
        return Ok(());
    }
    let failed = report.failed.first().map(|failure| failure.reason.clone());
    for dump in &report.dumps {
        let first = dump.tally.first_bad.as_ref().map(|row| row.reason.clone());
        if let Some(reason) = failed.clone().or(first) {
            let reason = format!("no row is one of the format {}: {reason}", dump.format);
            return Err(Error::Dump { path: dump.path.clone(), reason });
        }
    }
    Ok(())
}

fn no_files() -> Error {
    Error::Unsupported {
        what: "importing a dump into an index without the metadata of files".into(),
        remedy: "import it into a new index".into(),
    }
}

/// Adds what the threads report; returns the directories that the dumps cover.
fn take_reports(threads: ImportThreads, report: &mut IndexReport) -> Tops {
    let mut dumps: Vec<DumpReport> = Vec::new();
    for read in threads.dumps {
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
        });
    }
    let (mut tops, mut lanes) = (Tops::default(), Vec::new());
    for EntryReport { lane, unchanged, tops: of_lane, dumps: of_dumps } in threads.lanes {
        report.unchanged += unchanged;
        tops.merge(of_lane);
        lanes.push(lane);
        for (dump, (entries, tally)) in dumps.iter_mut().zip(of_dumps) {
            dump.entries += entries;
            dump.tally.merge(tally);
        }
    }
    report.add_lanes(lanes);
    report.dumps = dumps;
    tops
}
