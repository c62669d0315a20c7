//! Changes to a committed index that need no input files: deleting documents and merging segments.
//!
//! These functions have exclusive use of the writer: nothing else adds, merges or commits in the meantime.

use std::ffi::OsStr;
use std::ops::{ControlFlow, Range};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::progress::{Phase, Progress};
use crate::error::{Error, Result};
use crate::index::commit::manifest::{Partial, SegmentEntry};
use crate::index::commit::merge::{MergeClaim, MergePlan};
use crate::index::commit::rate_limit::RateLimit;
use crate::index::commit::writer::Writer;
use crate::index::coverage::forget;
use crate::index::field_views::FieldViews;
use crate::index::snapshot::words::QueryWords;
use crate::query::{Operator, Query, parse};
use crate::search::Model;
use crate::segment::{DocumentOrder, MergeWork, Reordering, Segment, path_order, similar_order};
use crate::store::Directory;

/// The documents to delete or to change.
#[derive(Clone, Debug)]
pub enum Selection {
    /// The documents with these keys. The path of a file selects the file or all its lines; a path, a colon
    /// and a number select one line. An absolute path that no document has selects all files below this
    /// directory; where directories are documents, their paths select what is below them, too. If a field
    /// is the key, keys are its values, and the path of a directory selects all values below it; places of
    /// records are understood where no key is meant.
    Keys(Vec<Vec<u8>>),
    /// The documents that a query matches.
    Query(String, Operator),
}

/// The result of a deletion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeleteReport {
    /// Documents deleted.
    pub deleted: u64,
    /// Documents left in the index.
    pub documents: u64,
}

/// Deletes documents from the index at `path`, and commits if any were deleted.
///
/// # Errors
/// Returns an error, and deletes nothing, for [`Error::NotAnIndex`], a query that does not parse, another
/// writer, or a full disk.
pub(crate) fn delete_in(directory: &dyn Directory, selection: &Selection) -> Result<DeleteReport> {
    let writer = Writer::open(directory)?;
    let segments = open_segments(&writer)?;
    let mut deleted = 0;
    for (segment, documents) in segments.iter().zip(selected(&writer, &segments, selection)?) {
        deleted += writer.delete(segment.id(), documents)?;
    }
    if let Selection::Keys(keys) = selection {
        let places: Vec<&Path> = keys.iter().map(|key| Path::new(OsStr::from_bytes(key))).collect();
        let mut forgotten = Ok(());
        writer.describe(|manifest| {
            let mut manifest = manifest?;
            forgotten = forget(&mut manifest.notes, &places);
            // Lines of a file that was indexed in part are gone: the next build must read the file from its
            // start.
            for (path, begun) in &mut manifest.partial {
                if keys.iter().any(|key| is_at_or_below(path, key)) {
                    *begun = Partial::default();
                }
            }
            Some(manifest)
        });
        forgotten?;
    }
    if deleted > 0 || writer.has_changed() {
        writer.commit().inspect_err(|_| writer.roll_back())?;
    }
    let left = writer.manifest().iter().flat_map(|manifest| &manifest.segments).map(SegmentEntry::live).sum();
    Ok(DeleteReport { deleted, documents: left })
}

/// The selected documents, by segment. They may include deleted documents.
pub(super) fn selected(
    writer: &Writer<'_>,
    segments: &[Segment],
    selection: &Selection,
) -> Result<Vec<Vec<Range<u32>>>> {
    match selection {
        Selection::Keys(keys) => {
            let contents = writer.manifest().map(|manifest| manifest.contents);
            named_or_below(segments, keys, contents.is_some_and(|contents| contents.names_only))
        }
        Selection::Query(text, operator) => matching(writer, segments, text, *operator),
    }
}

/// The documents with these keys, and those below keys that no document has, by segment. If directories are
/// documents too (`entries`), a key that is known also selects what is below it.
pub(super) fn named_or_below(
    segments: &[Segment],
    keys: &[Vec<u8>],
    entries: bool,
) -> Result<Vec<Vec<Range<u32>>>> {
    let named = |segment: &Segment| segment.documents_named(keys.iter().map(Vec::as_slice));
    let mut found = segments.iter().map(named).collect::<Result<Vec<_>>>()?;
    let mut directories = Vec::new();
    for key in keys {
        let key = key.as_slice();
        let is_known = in_any(segments, |segment| segment.documents_named([key]))?.is_some();
        let has_keys_below = || in_any(segments, |segment| segment.documents_with_keys_below(key));
        // Where a field is the key, a place is not the key of a record, but selects it if no key does.
        let is_place = || in_any(segments, |segment| segment.documents_at([key]));
        let unnamed =
            if is_known { None } else { has_keys_below()?.map_or_else(is_place, |found| Ok(Some(found)))? };
        match unnamed {
            Some(unnamed) => found.iter_mut().zip(unnamed).for_each(|(found, more)| found.extend(more)),
            None if (entries || !is_known) && key.starts_with(b"/") => directories.push(key),
            None => {}
        }
    }
    if !directories.is_empty() {
        for (segment, found) in segments.iter().zip(&mut found) {
            found.extend(segment.documents_below(&directories)?);
        }
    }
    Ok(found)
}

/// What `find` finds in each segment; `None` if it finds nothing in any of them.
fn in_any(
    segments: &[Segment],
    find: impl Fn(&Segment) -> Result<Vec<Range<u32>>>,
) -> Result<Option<Vec<Vec<Range<u32>>>>> {
    let found = segments.iter().map(find).collect::<Result<Vec<_>>>()?;
    Ok(found.iter().any(|found| !found.is_empty()).then_some(found))
}

/// True if `path` is `key`, or a file below it.
fn is_at_or_below(path: &[u8], key: &[u8]) -> bool {
    path.strip_prefix(key)
        .is_some_and(|rest| rest.is_empty() || key.ends_with(b"/") || rest.starts_with(b"/"))
}

/// The documents that a query matches, by segment.
fn matching(
    writer: &Writer<'_>,
    segments: &[Segment],
    text: &str,
    operator: Operator,
) -> Result<Vec<Vec<Range<u32>>>> {
    let Some(manifest) = writer.manifest() else { return Ok(Vec::new()) };
    let views = FieldViews::of_schema(&manifest.schema, segments);
    let mut words = QueryWords::new(&manifest.schema, &[]);
    let query: Query = parse(text, operator, &mut words)?;
    let mut found = vec![Vec::new(); segments.len()];
    views.searcher().for_each(&query, Model::Classic, |hit| {
        if let Some(found) = found.get_mut(hit.leaf) {
            found.push(hit.doc..hit.doc + 1);
        }
        ControlFlow::Continue(())
    })?;
    Ok(found)
}

/// Opens the segments of an index.
///
/// # Errors
/// [`Error::NotAnIndex`] if nothing was ever committed.
pub(super) fn open_segments(writer: &Writer<'_>) -> Result<Vec<Segment>> {
    let entries = entries(writer)?;
    entries.iter().filter_map(|entry| writer.segment(entry.id).transpose()).collect()
}

/// The segments of an index, as described in the manifest.
fn entries(writer: &Writer<'_>) -> Result<Vec<SegmentEntry>> {
    let nothing = || Error::NotAnIndex {
        path: writer.directory().describe().into(),
        why: "nothing was ever committed in it",
    };
    Ok(writer.manifest().ok_or_else(nothing)?.segments)
}

/// Returns an error for a path that cannot be an index, before anything is created there.
pub(super) fn must_exist(path: &Path) -> Result<()> {
    let refuse = |why| Err(Error::NotAnIndex { path: path.to_path_buf(), why });
    if !path.exists() {
        return refuse("there is no such directory");
    }
    if path.is_dir() { Ok(()) } else { refuse("it is a file, but an index is a directory") }
}

/// The result of a merge.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct MergeReport {
    /// The number of segments before the merge.
    pub before: usize,
    /// The number of segments after the merge.
    pub after: usize,
    /// The number of deleted documents whose space was freed.
    pub reclaimed: u64,
    /// True if [`MergeOptions::reorder`] put similar documents near each other. They keep their order if
    /// another one would not make the index smaller.
    pub reordered: bool,
    /// Bytes written; 0 if the index was left as it was.
    pub bytes_written: u64,
    /// Bytes of the index after the commit.
    pub index_bytes: u64,
    /// Seconds until the commit was durable.
    pub seconds: f64,
}

/// The options of an explicit merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MergeOptions {
    /// The number of segments to merge down to.
    pub segments: usize,
    /// The maximum number of bytes to write per second; `None` for no limit.
    pub rate: Option<u64>,
    /// The number of threads that merge terms and compute an order; each takes about 16 MiB.
    pub threads: usize,
    /// Merge all segments into one, regardless of [`MergeOptions::segments`], and put documents with similar
    /// terms close to each other: posting lists get shorter, and queries skip more of them. The order of
    /// documents with equal scores changes. Documents keep their order if the new order would not make the
    /// index smaller, because similar documents are already close to each other; a single segment without
    /// deleted documents is then not rewritten.
    pub reorder: bool,
    /// Bytes of memory for reordering. The best result needs 12 bytes for each posting of the terms that are
    /// considered and 72 bytes for each document. With less memory, consecutive ranges of documents are
    /// ordered one by one. Each doubling of the number of threads runs more of the work in parallel if there
    /// are another 4 bytes for each posting and 16 bytes for each document.
    pub memory: u64,
}

impl Default for MergeOptions {
    /// One segment, with up to eight processors. Documents keep their order; reordering may use half of the
    /// memory of the machine or its control group.
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(8);
        let memory = crate::sys::memory_limit_bytes().map_or(1 << 30, |limit| limit / 2);
        MergeOptions { segments: 1, rate: None, threads, reorder: false, memory }
    }
}

/// Merges the smallest segments of the index at `path` until the requested number is left, frees the space of
/// deleted documents, and commits. Entries of file systems are put in the order of their directories.
///
/// # Errors
/// Returns an error, and leaves the index unchanged, for [`Error::NotAnIndex`], another writer, a full disk,
/// [`Error::Cancelled`] after `cancel` was set, or too little memory to reorder.
pub(crate) fn merge_in(
    directory: &dyn Directory,
    options: &MergeOptions,
    progress: &Progress,
    cancel: &AtomicBool,
) -> Result<MergeReport> {
    let begun = Instant::now();
    let writer = Writer::open(directory)?;
    let mut entries = entries(&writer)?;
    let before = entries.len();
    let reclaimed = entries.iter().map(|entry| entry.deleted).sum();
    let groups = groups(&mut entries, options);
    let is_merged = |entry: &&SegmentEntry| groups.iter().flatten().any(|id| *id == entry.id);
    let merged = || entries.iter().filter(is_merged);
    progress.documents.store(merged().map(SegmentEntry::live).sum(), Ordering::Relaxed);
    let run = MergeRun {
        writer: &writer,
        options,
        expected: merged().map(|entry| entry.bytes).sum(),
        reordered: AtomicBool::new(false),
        progress,
        cancel,
    };
    let (mut limit, mut has_changed) = (RateLimit::new(options.rate), false);
    let merged = groups.iter().try_for_each(|group| {
        has_changed |= run.merge(group, &mut limit)? > 0;
        Ok(())
    });
    let committed = merged.and_then(|()| if has_changed { writer.commit() } else { Ok(()) });
    committed.inspect_err(|_| writer.roll_back())?;
    Ok(MergeReport {
        before,
        after: writer.segment_ids().len(),
        reclaimed,
        reordered: run.reordered.into_inner(),
        bytes_written: writer.bytes_written(),
        index_bytes: writer.index_bytes(),
        seconds: begun.elapsed().as_secs_f64(),
    })
}

/// The segments to merge, one group for each new segment.
fn groups(entries: &mut [SegmentEntry], options: &MergeOptions) -> Vec<Vec<u128>> {
    let ids = |entries: &[SegmentEntry]| entries.iter().map(|entry| entry.id).collect();
    if options.reorder {
        return if entries.is_empty() { Vec::new() } else { vec![ids(entries)] };
    }
    entries.sort_by_key(|entry| entry.bytes);
    let few = (entries.len() + 1).saturating_sub(options.segments.max(1));
    // The smallest segments become one segment. Of the others, each one with deleted documents is rewritten
    // by itself.
    let (small, large) = entries.split_at(few.min(entries.len()));
    let mut groups: Vec<Vec<u128>> = Vec::new();
    if small.len() > 1 || small.iter().any(|entry| entry.deleted > 0) {
        groups.push(ids(small));
    }
    groups.extend(large.iter().filter(|entry| entry.deleted > 0).map(|entry| vec![entry.id]));
    groups
}

/// The merges of one request.
struct MergeRun<'a> {
    writer: &'a Writer<'a>,
    options: &'a MergeOptions,
    /// The number of bytes that all merges are expected to write.
    expected: u64,
    /// True once documents were reordered.
    reordered: AtomicBool,
    progress: &'a Progress,
    cancel: &'a AtomicBool,
}

impl MergeRun<'_> {
    /// Merges segments into one. Returns the size of the new segment in bytes, or 0 if there was nothing to
    /// do.
    fn merge(&self, group: &[u128], limit: &mut RateLimit) -> Result<u64> {
        let Some(claim) = MergeClaim::take(self.writer, |_, _| Some(group.to_vec())) else { return Ok(0) };
        let done = self.progress.bytes();
        self.show_merging(done);
        let work = MergeWork { threads: self.options.threads, ..MergeWork::default() };
        limit.begin_file();
        let mut go_on = |written| {
            self.progress.bytes.store(done + written, Ordering::Relaxed);
            limit.wait(written, || self.not_cancelled())
        };
        let bytes = claim.merge(&|sources| self.plan(sources, done), &work, &mut go_on)?;
        self.progress.bytes.store(done + bytes, Ordering::Relaxed);
        Ok(bytes)
    }

    fn plan(&self, sources: &[Segment], done: u64) -> Result<MergePlan> {
        if !self.options.reorder {
            let order = self.order_of_paths(sources)?;
            self.show_merging(done);
            return Ok(order.map_or(MergePlan::KeepOrder, MergePlan::Reorder));
        }
        let order = self.find_order(sources)?;
        self.reordered.store(order.is_some(), Ordering::Relaxed);
        self.show_merging(done);
        Ok(match (order, sources) {
            (Some(order), _) => MergePlan::Reorder(order),
            (None, [only]) if only.live_documents() == u64::from(only.stats().max_doc) => {
                MergePlan::LeaveAlone
            }
            (None, _) => MergePlan::KeepOrder,
        })
    }

    /// Computes the order in which to write documents. During this time the progress counts documents times
    /// cuts.
    fn find_order(&self, sources: &[Segment]) -> Result<Option<DocumentOrder>> {
        self.progress.total_bytes.store(0, Ordering::Relaxed);
        self.progress.enter(Phase::Ordering);
        let how = Reordering { memory: self.options.memory, threads: self.options.threads };
        similar_order(sources, &how, &|done, all| {
            self.progress.bytes.store(done, Ordering::Relaxed);
            self.progress.total_bytes.store(all, Ordering::Relaxed);
            self.not_cancelled()
        })
    }

    /// The order of directories, if documents are entries of file systems that are not in it.
    fn order_of_paths(&self, sources: &[Segment]) -> Result<Option<DocumentOrder>> {
        let Some(manifest) = self.writer.manifest().filter(|manifest| manifest.contents.names_only) else {
            return Ok(None);
        };
        let Some(field) = manifest.schema.field("path") else { return Ok(None) };
        path_order(sources, field, self.options.memory, &|_, _| self.not_cancelled())
    }

    fn show_merging(&self, done: u64) {
        self.progress.bytes.store(done, Ordering::Relaxed);
        self.progress.total_bytes.store(self.expected, Ordering::Relaxed);
        self.progress.enter(Phase::Merging);
    }

    fn not_cancelled(&self) -> Result<()> {
        if self.cancel.load(Ordering::Relaxed) { Err(Error::Cancelled) } else { Ok(()) }
    }
}
