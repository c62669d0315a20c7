//! The steps of an import or a scan: check the options against the index, find and index the entries, delete
//! what is gone, commit.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::block::SendBlock;
use super::dump_access::DumpAccess;
use super::known::{KnownEntries, KnownFields};
use super::lane::EntryContext;
use super::mixed::mixed_paths;
use super::threads::{ImportThreads, run};
use super::untyped::index_parents;
use crate::content::ContentOptions;
use crate::error::{Error, Result};
use crate::index::build::budget::lane_budget;
use crate::index::build::covered::{covered_before, note};
use crate::index::build::document_source::{DocumentSource, TextField};
use crate::index::build::index_threads::BuildCall;
use crate::index::build::lane_segments::SegmentContext;
use crate::index::build::report::IndexReport;
use crate::index::build::watch::Watch;
use crate::index::commit::background_merge::BackgroundMerge;
use crate::index::commit::manifest::Manifest;
use crate::index::commit::merge_budget::merging_room;
use crate::index::commit::policy_merge::PolicyMerge;
use crate::index::commit::writer::{SegmentDocuments, Writer};
use crate::index::coverage::Coverage;
use crate::index::progress::Phase;
use crate::invert::InvertOptions;
use crate::schema::Stored;
use crate::segment::{DoublePaths, KnownPaths, Segment, double_paths};

/// Where entries come from, and what their absence means.
pub(super) trait FindEntries: Sync {
    /// What is found out beside the entries.
    type Found: Send;

    /// The directory to which relative paths belong.
    fn root(&self) -> Option<&[u8]> {
        None
    }

    /// Who may see the entries, if they come without access classes.
    fn access(&self) -> Option<&DumpAccess> {
        None
    }

    /// Whether entries may come without their types.
    fn lacks_types(&self) -> bool {
        false
    }

    /// Passes blocks of all entries on, with as many threads as it likes. Ends early if `send` returns false,
    /// or `stop` is set.
    fn find(&self, import: &Import<'_>, stop: &AtomicBool, send: &SendBlock<'_>) -> Result<Self::Found>;

    /// Reports what was found, and deletes documents whose entries are gone. Returns what is covered now.
    fn settle(
        &self,
        import: &Import<'_>,
        threads: ImportThreads<Self::Found>,
        report: &mut IndexReport,
    ) -> Result<Vec<Coverage>>;
}

/// An import that is under way.
pub(super) struct Import<'a> {
    pub(super) writer: &'a Writer<'a>,
    pub(super) call: BuildCall<'a>,
    text: &'a TextField,
    pub(super) known: &'a KnownEntries<'a>,
    replaced: &'a AtomicU64,
}

/// Indexes the entries of `kind`, and commits.
pub(super) fn index_entries<K: FindEntries>(
    kind: &K,
    writer: &Writer<'_>,
    call: BuildCall<'_>,
    source: &DocumentSource,
    contents: ContentOptions,
) -> Result<IndexReport> {
    let BuildCall { options, progress, cancel } = call;
    let DocumentSource::Text(text) = source else { return Err(no_files()) };
    let current = writer.manifest();
    let stored = source.stored(current.as_ref(), options)?;
    writer.describe(|manifest| {
        let manifest = manifest.unwrap_or_else(|| source.manifest(options.records, stored));
        Some(Manifest { records: options.records, stored, contents, ..manifest })
    });
    let old = writer.segment_ids();
    let segments = open_segments(writer)?;
    let scanned = covered_before(writer)?.iter().map(|coverage| coverage.began).min();
    let fields = KnownFields::of(current.as_ref(), scanned);
    let known = KnownEntries::new(&segments, fields, options.again)?;
    let merge = options.merge.map(|policy| PolicyMerge {
        writer,
        policy,
        buffers: options.buffers,
        room: merging_room(options.memory),
    });
    let merging = BackgroundMerge::new(merge, &old);
    let replaced = AtomicU64::new(0);
    let import = Import { writer, call, text, known: &known, replaced: &replaced };
    let (threads, merge_failure) = std::thread::scope(|scope| {
        let merger = merging.start(scope)?;
        let threads = import.threads(kind, source, stored);
        let cancelled = threads.as_ref().is_ok_and(|threads| threads.cancelled);
        let failure = merger.stop(cancelled || threads.is_err()).map(|error| error.to_string());
        threads.map(|threads| (threads, failure))
    })?;
    let mut report = IndexReport { merge_failure, cancelled: threads.cancelled, ..Default::default() };
    let covered = kind.settle(&import, threads, &mut report)?;
    import.delete_repeated(&mut report)?;
    if kind.lacks_types() && !report.cancelled {
        report.segments +=
            index_parents(&open_segments(writer)?, import.context(kind.access(), source, stored)?)?;
    }
    report.mixed = mixed_paths(&open_segments(writer)?, source.schema())?;
    report.replaced = replaced.load(Ordering::Relaxed);
    note(writer, covered)?;
    progress.enter(Phase::Committing);
    writer.commit()?;
    if !report.cancelled && report.merge_failure.is_none() && !old.is_empty() {
        // Now that documents are deleted, all segments may be merged.
        report.merge_failure = merging.merge_all(cancel).map(|error| error.to_string());
        if writer.has_changed() {
            writer.commit()?;
        }
    }
    (report.bytes_written, report.index_bytes) = (writer.bytes_written(), writer.index_bytes());
    Ok(report)
}

/// The segments of the next commit.
fn open_segments(writer: &Writer<'_>) -> Result<Vec<Segment>> {
    writer.segment_ids().into_iter().filter_map(|id| writer.segment(id).transpose()).collect()
}

impl Import<'_> {
    /// Runs the threads.
    fn threads<K: FindEntries>(
        &self,
        kind: &K,
        source: &DocumentSource,
        stored: Stored,
    ) -> Result<ImportThreads<K::Found>> {
        let BuildCall { options, cancel, .. } = self.call;
        options.buffers.check()?;
        let context = EntryContext { root: kind.root(), ..self.context(kind.access(), source, stored)? };
        // The threads have their own flag, because they are also stopped when one of them fails.
        let stop = Arc::new(AtomicBool::new(cancel.load(Ordering::Relaxed)));
        let mut watch = Watch::new(options, cancel, &stop);
        let find = |send: &SendBlock<'_>| kind.find(self, &stop, send);
        run(find, context, options.read.lanes, &mut watch)
    }

    /// What index threads need.
    fn context<'c>(
        &'c self,
        access: Option<&'c DumpAccess>,
        source: &'c DocumentSource,
        stored: Stored,
    ) -> Result<EntryContext<'c>> {
        let BuildCall { options, progress, .. } = self.call;
        let fields = self.text.files.as_deref().ok_or_else(no_files)?;
        let budget = lane_budget(options, source.schema(), &stored, &[])?;
        let invert = InvertOptions {
            budget: budget.most,
            expected_terms: 0,
            pages: options.read.pages,
            postings: self.text.postings,
        };
        Ok(EntryContext {
            segments: SegmentContext { writer: self.writer, budget, buffers: options.buffers, progress },
            known: self.known,
            schema: source.schema(),
            fields,
            text: self.text.field,
            invert,
            stored,
            root: None,
            access,
            are_directories: false,
            replaced: self.replaced,
        })
    }

    /// Deletes documents of which another one has the same path.
    fn delete_repeated(&self, report: &mut IndexReport) -> Result<()> {
        let segments = open_segments(self.writer)?;
        let paths = segments.iter().map(KnownPaths::of).collect::<Result<Vec<_>>>()?;
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

    /// Deletes the documents of entries that were not found and that `gone` accepts, unless the options keep
    /// them. Returns the number of these entries, and of the documents that were deleted.
    pub(super) fn delete_unseen(&self, gone: impl FnMut(&[u8]) -> Result<bool>) -> Result<(u64, u64)> {
        let (documents, entries) = self.known.unseen(gone)?;
        self.delete(documents, entries)
    }

    /// The same for documents that are known; `entries` is the number of their entries.
    pub(super) fn delete(&self, documents: Vec<SegmentDocuments>, entries: u64) -> Result<(u64, u64)> {
        if self.call.options.keep_removed {
            return Ok((entries, 0));
        }
        for documents in &documents {
            self.writer.segment(documents.id)?;
        }
        Ok((entries, self.writer.take_in(None, documents, Vec::new())))
    }
}

fn no_files() -> Error {
    Error::Unsupported {
        what: "metadata of file systems in an index without the metadata of files".into(),
        remedy: "use a new index".into(),
    }
}
