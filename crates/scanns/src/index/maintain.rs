//! Changes to a committed index that need no inputs: deleting documents, merging segments.

use std::ops::{ControlFlow, Range};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::manifest::{Partial, SegmentEntry};
use super::pace::Pace;
use super::words::QueryWords;
use super::writer::{Plan, Writer};
use super::{Phase, Progress};
use crate::error::{Error, Result};
use crate::schema::Field;
use crate::search::{Leaf, Model, Operator, Query, Searcher, parse};
use crate::segment::{MergeWork, Order, Reordering, Segment};
use crate::store::{Directory, FsDirectory};

/// Which documents to delete or to change.
#[derive(Clone, Debug)]
pub enum Selection {
    /// Those with these keys: the path of a file, for the file or all of its lines, or a path, a colon and a line.
    Keys(Vec<Vec<u8>>),
    /// Those that a query matches.
    Query(String, Operator),
}

/// What a deletion did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeleteReport {
    /// Documents deleted.
    pub deleted: u64,
    /// Documents left in the index.
    pub documents: u64,
}

/// Deletes documents from the index at `path`, and commits if there were any.
///
/// # Errors
/// [`Error::NotAnIndex`], a query that does not parse, another writer, a full disk: nothing is deleted then.
pub fn delete(path: &Path, what: &Selection) -> Result<DeleteReport> {
    existing(path)?;
    delete_in(&FsDirectory::new(path), what)
}

/// Like [`delete`], in any directory.
pub fn delete_in(directory: &dyn Directory, what: &Selection) -> Result<DeleteReport> {
    let writer = Writer::open(directory)?;
    let segments = ids(&writer)?;
    let mut deleted = 0;
    for (&id, documents) in segments.iter().zip(selected(&writer, &segments, what)?) {
        deleted += writer.delete(id, documents)?;
    }
    if let Selection::Keys(keys) = what {
        writer.describe(|manifest| {
            let mut manifest = manifest?;
            // What is left of a file that was indexed in part would not be found by a later build otherwise.
            for key in keys {
                manifest.partial.entry(key.clone()).and_modify(|begun| *begun = Partial::default());
            }
            Some(manifest)
        });
    }
    if deleted > 0 {
        writer.commit().inspect_err(|_| writer.roll_back())?;
    }
    let left =
        writer.manifest().iter().flat_map(|manifest| &manifest.segments).map(|entry| entry.live()).sum();
    Ok(DeleteReport { deleted, documents: left })
}

/// The documents that are selected, by segment; deleted ones may be among them.
pub(super) fn selected(writer: &Writer<'_>, ids: &[u128], what: &Selection) -> Result<Vec<Vec<Range<u32>>>> {
    match what {
        Selection::Keys(keys) => {
            let named = |&id: &u128| writer.segment(id)?.documents_named(keys.iter().map(Vec::as_slice));
            ids.iter().map(named).collect()
        }
        Selection::Query(text, operator) => {
            let found = matching(writer, ids, text, *operator)?;
            let ranges = |documents: Vec<u32>| documents.into_iter().map(|document| document..document + 1);
            Ok(found.into_iter().map(|documents| ranges(documents).collect()).collect())
        }
    }
}

/// The documents that a query matches, by segment.
fn matching(writer: &Writer<'_>, ids: &[u128], text: &str, operator: Operator) -> Result<Vec<Vec<u32>>> {
    let Some(manifest) = writer.manifest() else { return Ok(Vec::new()) };
    let default = manifest.schema.default_field().unwrap_or_default();
    let query: Query = parse(text, operator, &mut QueryWords::new(&manifest.schema, default))?;
    let open = |&id: &u128| writer.segment(id);
    let segments = ids.iter().map(open).collect::<Result<Vec<Segment>>>()?;
    let through = |field| segments.iter().map(|segment: &Segment| segment.in_field(field)).collect();
    let views: Vec<(Field, Vec<Segment>)> =
        manifest.schema.searched().map(|(field, _)| (field, through(field))).collect();
    let leaves =
        views.iter().map(|(field, views)| (*field, views.iter().map(|view| view as &dyn Leaf).collect()));
    let searcher = Searcher::over(leaves.collect(), default);
    let mut found = vec![Vec::new(); segments.len()];
    searcher.for_each(&query, Model::Classic, |hit| {
        if let Some(found) = found.get_mut(hit.leaf) {
            found.push(hit.doc);
        }
        ControlFlow::Continue(())
    })?;
    Ok(found)
}

/// The segments of an index.
pub(super) fn ids(writer: &Writer<'_>) -> Result<Vec<u128>> {
    let nothing = || Error::NotAnIndex {
        path: writer.directory().describe().into(),
        why: "nothing was ever committed in it; build it with scanns index",
    };
    let manifest = writer.manifest().ok_or_else(nothing)?;
    Ok(manifest.segments.iter().map(|segment| segment.id).collect())
}

/// Refuses a path that no index can be at, before anything is made there.
pub(super) fn existing(path: &Path) -> Result<()> {
    let refuse = |why| Err(Error::NotAnIndex { path: path.to_path_buf(), why });
    if !path.exists() {
        return refuse("there is no such directory; build one with scanns index");
    }
    if path.is_dir() { Ok(()) } else { refuse("it is a file, an index is a directory") }
}

/// What a merge did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MergeReport {
    /// Segments before.
    pub before: usize,
    /// Segments after.
    pub after: usize,
    /// Deleted documents whose space was freed.
    pub reclaimed: u64,
    /// True if documents were put in another order; they keep theirs where another would not make the index smaller.
    pub reordered: bool,
    /// Bytes written; 0 if the index was left as it was.
    pub bytes_written: u64,
    /// Bytes of the index after the commit.
    pub index_bytes: u64,
    /// Seconds until the commit was durable.
    pub seconds: f64,
}

/// What [`merge`] is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MergeOptions {
    /// Merge until there are at most so many segments.
    pub segments: usize,
    /// Bytes per second to write at most; `None` for as many as the machine can.
    pub rate: Option<u64>,
    /// Threads to merge terms and to find an order with; each takes about 16 MiB.
    pub threads: usize,
    /// Merge all segments into one, whatever [`MergeOptions::segments`] says, in which documents with similar terms stand
    /// near each other: lists get shorter, and queries pass more of them. Documents with equal scores change their order.
    /// Where that would not make the index smaller, as where similar ones stand together already, they keep their order; one
    /// segment without deleted documents is then left as it is.
    pub reorder: bool,
    /// Bytes of memory to reorder with: 12 for each posting of the terms that count and 72 for each document are best. With
    /// less, consecutive stretches of documents are put in order, each by itself. Threads share more of the work if each
    /// doubling of them has 4 bytes more for each posting and 16 for each document.
    pub memory: u64,
}

impl Default for MergeOptions {
    /// To one segment, with all processors, up to eight. Documents keep their order; to reorder them, half of the memory of
    /// the machine or of its control group may be used.
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(8);
        let memory = crate::sys::memory_limit_bytes().map_or(1 << 30, |limit| limit / 2);
        MergeOptions { segments: 1, rate: None, threads, reorder: false, memory }
    }
}

/// Merges the smallest segments of the index at `path` until there are as few as asked for, frees the space of deleted
/// documents, and commits.
///
/// # Errors
/// [`Error::NotAnIndex`], another writer, a full disk, [`Error::Cancelled`] after `cancel` was set, and [`Error::Options`]
/// where the memory is too little to reorder: the index is then as it was.
pub fn merge(
    path: &Path,
    options: &MergeOptions,
    progress: &Progress,
    cancel: &AtomicBool,
) -> Result<MergeReport> {
    existing(path)?;
    merge_in(&FsDirectory::new(path), options, progress, cancel)
}

/// Like [`merge`], in any directory.
pub fn merge_in(
    directory: &dyn Directory,
    options: &MergeOptions,
    progress: &Progress,
    cancel: &AtomicBool,
) -> Result<MergeReport> {
    let begun = Instant::now();
    let writer = Writer::open(directory)?;
    let before = ids(&writer)?.len();
    let manifest = writer.manifest();
    let mut entries = manifest.map(|manifest| manifest.segments).unwrap_or_default();
    let reclaimed = entries.iter().map(|entry| entry.deleted).sum();
    let jobs = jobs(&mut entries, options);
    let mine = || entries.iter().filter(|entry| jobs.iter().flatten().any(|id| *id == entry.id));
    let expected: u64 = mine().map(|entry| entry.bytes).sum();
    progress.documents.store(mine().map(|entry| entry.live()).sum(), Ordering::Relaxed);
    let mut pace = Pace::new(options.rate);
    let reordered = AtomicBool::new(false);
    let mut changed = false;
    let merged = jobs.iter().try_for_each(|job| {
        let (writer, pace, reordered) = (&writer, &mut pace, &reordered);
        let bytes = OneMerge { writer, options, expected, pace, reordered, progress, cancel }.run(job)?;
        changed |= bytes > 0;
        Ok(())
    });
    let committed = merged.and_then(|()| if changed { writer.commit() } else { Ok(()) });
    committed.inspect_err(|_| writer.roll_back())?;
    Ok(MergeReport {
        before,
        after: ids(&writer)?.len(),
        reclaimed,
        reordered: reordered.into_inner(),
        bytes_written: writer.bytes_written(),
        index_bytes: writer.index_bytes(),
        seconds: begun.elapsed().as_secs_f64(),
    })
}

/// Which segments are to be merged, one job for each that is made.
fn jobs(entries: &mut [SegmentEntry], options: &MergeOptions) -> Vec<Vec<u128>> {
    if options.reorder {
        return if entries.is_empty() {
            Vec::new()
        } else {
            vec![entries.iter().map(|entry| entry.id).collect()]
        };
    }
    entries.sort_by_key(|entry| entry.bytes);
    let few = (entries.len() + 1).saturating_sub(options.segments.max(1));
    // The smallest together, and beyond them those with deleted documents, each by itself.
    let (small, large) = entries.split_at(few.min(entries.len()));
    let mut jobs: Vec<Vec<u128>> = Vec::new();
    if small.len() > 1 || small.iter().any(|entry| entry.deleted > 0) {
        jobs.push(small.iter().map(|entry| entry.id).collect());
    }
    jobs.extend(large.iter().filter(|entry| entry.deleted > 0).map(|entry| vec![entry.id]));
    jobs
}

/// What a merge on request needs.
struct OneMerge<'a> {
    writer: &'a Writer<'a>,
    options: &'a MergeOptions,
    /// Bytes that all merges may write.
    expected: u64,
    pace: &'a mut Pace,
    /// Set if documents get another order.
    reordered: &'a AtomicBool,
    progress: &'a Progress,
    cancel: &'a AtomicBool,
}

impl OneMerge<'_> {
    /// Returns the bytes of the new segment, 0 if there was nothing to do.
    fn run(&mut self, job: &[u128]) -> Result<u64> {
        let OneMerge { writer, options, expected, reordered, progress, cancel, .. } = *self;
        // In the order of the index, so that documents keep theirs.
        let in_order: Vec<u128> = ids(writer)?.into_iter().filter(|id| job.contains(id)).collect();
        let done = progress.bytes();
        let begin = || {
            progress.bytes.store(done, Ordering::Relaxed);
            progress.total_bytes.store(expected, Ordering::Relaxed);
            progress.enter(Phase::Merging);
        };
        begin();
        self.pace.begin_file();
        let pace = &mut *self.pace;
        let mut go_on = |written| {
            progress.bytes.store(done + written, Ordering::Relaxed);
            pace.keep(written, cancel)
        };
        let decide = |sources: &[Segment]| {
            if !options.reorder {
                return Ok(Plan::Keep);
            }
            let order = find_order(sources, options, progress, cancel)?;
            reordered.store(order.is_some(), Ordering::Relaxed);
            begin();
            Ok(match (order, sources) {
                (Some(order), _) => Plan::Reorder(order),
                (None, [only]) if only.live_documents() == u64::from(only.stats().max_doc) => Plan::Stay,
                (None, _) => Plan::Keep,
            })
        };
        let work = MergeWork { threads: options.threads, ..MergeWork::default() };
        let bytes = writer.merge_as(&in_order, &decide, &work, &mut go_on)?;
        progress.bytes.store(done + bytes, Ordering::Relaxed);
        Ok(bytes)
    }
}

/// The order in which documents are written anew; the progress counts documents times cuts meanwhile.
fn find_order(
    sources: &[Segment],
    options: &MergeOptions,
    progress: &Progress,
    cancel: &AtomicBool,
) -> Result<Option<Order>> {
    progress.total_bytes.store(0, Ordering::Relaxed);
    progress.enter(Phase::Ordering);
    let how = Reordering { memory: options.memory, threads: options.threads };
    Order::of_similar(sources, &how, &|done, all| {
        progress.bytes.store(done, Ordering::Relaxed);
        progress.total_bytes.store(all, Ordering::Relaxed);
        if cancel.load(Ordering::Relaxed) { Err(Error::Cancelled) } else { Ok(()) }
    })
}
