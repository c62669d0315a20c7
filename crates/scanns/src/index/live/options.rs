//! The options of an index writer, and the sizes, schema and storage that follow from them.

use crate::error::{Error, Result};
use crate::index::build::budget::LEAST_PER_FIELD;
use crate::index::build::options::SEGMENT_MEMORY;
use crate::index::commit::manifest::Manifest;
use crate::index::commit::merge_budget::merging_bytes;
use crate::index::commit::merge_policy::MergePolicy;
use crate::index::stored_options::StoredOptions;
use crate::schema::{Schema, Store, Stored};
use crate::segment::{FLUSH_BYTES, FlushBuffers, StoredCollector};

/// Options of an [`IndexWriter`](super::IndexWriter).
#[derive(Clone, Copy, Debug)]
pub struct WriterOptions {
    /// The memory limit in bytes; by default half of the memory of the machine or the container. The maximum
    /// size of a document is limited by the share of a lane, about a fifth of the memory divided by the
    /// number of lanes.
    pub memory: u64,
    /// The number of lanes, that is, of threads that can add documents without waiting for each other. 0 for
    /// one per core, as far as memory permits.
    pub lanes: usize,
    /// Bytes of memory after which a lane is written as a segment, unless its share of `memory` is smaller.
    pub segment_memory: u64,
    /// What to store of documents. Values of fields that the schema stores are always stored; if it stores
    /// none, [`Store::Content`] stores the text of the default field.
    pub stored: StoredOptions,
    /// Which segments to merge in the background, after commits; `None` for none. The default is
    /// [`MergePolicy::of_frequent_commits`].
    pub merge: Option<MergePolicy>,
    /// Sizes of the buffers through which segments are written.
    pub buffers: FlushBuffers,
}

impl Default for WriterOptions {
    fn default() -> Self {
        WriterOptions {
            memory: crate::sys::memory_limit_bytes().map_or(1 << 30, |limit| limit / 2),
            lanes: 0,
            segment_memory: SEGMENT_MEMORY,
            stored: StoredOptions::default(),
            merge: Some(MergePolicy::of_frequent_commits()),
            buffers: FlushBuffers::default(),
        }
    }
}

/// Bytes for the program itself.
const PROGRAM: usize = 32 << 20;

/// The minimum size of a lane buffer, in bytes.
const LEAST: usize = 8 << 20;

/// The maximum size of a lane buffer, in bytes: chains of postings reach 32 GiB.
const MOST: usize = 30 << 30;

/// Lane buffers for each lane: see `buffer_pool.rs`.
const BUFFERS_PER_LANE: usize = 3;

/// The division of the memory, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct LaneSizes {
    pub(super) lanes: usize,
    /// The size at which a lane is written.
    pub(super) limit: usize,
    /// The maximum size of a lane buffer.
    pub(super) share: usize,
    /// The maximum number of bytes that may wait for a commit.
    pub(super) pending: usize,
}

impl LaneSizes {
    /// The sizes for an index with this schema and storage.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] if the memory is too small for the lanes.
    pub(super) fn new(options: &WriterOptions, schema: &Schema, stored: &Stored) -> Result<Self> {
        let least = LEAST.max(LEAST_PER_FIELD * schema.searched().count());
        // Buffers that are being written have left their lanes, and each also needs the buffers of a flush.
        let per_lane = (BUFFERS_PER_LANE - 1) * (FLUSH_BYTES + options.buffers.extra_bytes())
            + BUFFERS_PER_LANE * StoredCollector::fixed_bytes(stored);
        let memory = usize::try_from(options.memory).unwrap_or(usize::MAX);
        let merging = options.merge.map_or(0, |_| merging_bytes(options.memory));
        let merging = usize::try_from(merging).unwrap_or(usize::MAX);
        let fixed = PROGRAM.saturating_add(merging);
        let sizes = |lanes: usize| {
            let most = memory.checked_sub(fixed.checked_add(lanes.checked_mul(per_lane)?)?)?;
            // A buffer may keep a quarter more than its share from earlier segments. A quarter of the memory
            // is for segments and edits that wait for a commit.
            let share = (most / 4 * 3 / BUFFERS_PER_LANE / lanes / 5 * 4).min(MOST);
            let segment = usize::try_from(options.segment_memory).unwrap_or(usize::MAX);
            let limit = segment.clamp(least, share.max(least));
            (share >= least).then_some(LaneSizes { lanes, limit, share, pending: most / 4 })
        };
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let found = match options.lanes {
            0 => (1..=cores).rev().find_map(sizes),
            lanes => sizes(lanes),
        };
        found.ok_or_else(|| {
            let lanes = options.lanes.max(1);
            let least_for_all = least / 4 * 5 * BUFFERS_PER_LANE / 3 * 4 + per_lane;
            let needed = least_for_all.saturating_mul(lanes).saturating_add(fixed);
            let fields = schema.searched().count();
            Error::invalid(
                format!("memory for {lanes} lanes and {fields} fields"),
                format!("{} MiB", memory >> 20),
                format!("at least {} MiB, or fewer lanes", (needed >> 20) + 1),
            )
        })
    }
}

/// Returns the schema of the index. A given schema must be equal to it.
///
/// # Errors
/// [`Error::Conflict`] if the schemas differ, or if the index does not exist and no schema is given;
/// [`Error::InvalidValue`] for a schema without a searched field.
pub(super) fn choose_schema(current: Option<&Schema>, given: Option<&Schema>) -> Result<Schema> {
    match (current, given) {
        (Some(current), Some(given)) if current != given => Err(conflict(
            "the given schema",
            "the schema of the index",
            "open the index without a schema, or create another index",
        )),
        (Some(current), _) => Ok(current.clone()),
        (None, Some(given)) if given.default_field().is_none() => Err(Error::invalid(
            "schema",
            "without a searched field",
            "at least one searched text or keyword field",
        )),
        (None, Some(given)) => Ok(given.clone()),
        (None, None) => Err(conflict(
            "opening without a schema",
            "an index that does not exist",
            "give the schema of a new index",
        )),
    }
}

/// Returns the storage options: an existing index keeps its choice, a new one follows its schema and the
/// options.
///
/// # Errors
/// [`Error::Conflict`] if the options or the schema contradict what the index stores.
pub(super) fn what_to_store(
    current: Option<&Manifest>,
    schema: &Schema,
    options: &WriterOptions,
) -> Result<Stored> {
    let stored = options.stored.resolve_for(schema, current.map(|current| current.stored))?;
    if stored.store == Store::Reference {
        return Err(conflict(
            "a document that is not a file",
            "an index that stores references to files",
            "create another index for documents from programs",
        ));
    }
    Ok(stored)
}

fn conflict(what: &str, with: &str, remedy: &str) -> Error {
    Error::Conflict { what: what.to_owned(), with: with.to_owned(), remedy: remedy.to_owned() }
}
