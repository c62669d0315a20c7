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

/// How an [`IndexWriter`](super::IndexWriter) works.
#[derive(Clone, Copy, Debug)]
pub struct WriterOptions {
    /// The most memory to take, in bytes; by default half of what the machine or the container has. The
    /// largest document is bounded by the share of a lane, about a fifth of the memory divided by the
    /// number of lanes.
    pub memory: u64,
    /// Lanes: the number of threads that can add without waiting for each other. 0 for as many as there are
    /// cores and memory for.
    pub lanes: usize,
    /// Bytes of memory after which a lane is written as a segment, if its share of `memory` is not less.
    pub segment_memory: u64,
    /// What is stored of documents. Values of fields that the schema stores are stored in any case; if it
    /// stores none, [`Store::Content`] stores the text of the default field.
    pub stored: StoredOptions,
    /// Which segments are merged in the background; `None` for none.
    pub merge: Option<MergePolicy>,
    /// Sizes of the buffers on the way to the file.
    pub buffers: FlushBuffers,
}

impl Default for WriterOptions {
    fn default() -> Self {
        WriterOptions {
            memory: crate::sys::memory_limit_bytes().map_or(1 << 30, |limit| limit / 2),
            lanes: 0,
            segment_memory: SEGMENT_MEMORY,
            stored: StoredOptions::default(),
            merge: Some(MergePolicy::default()),
            buffers: FlushBuffers::default(),
        }
    }
}

/// Bytes for the program itself.
const PROGRAM: usize = 32 << 20;

/// The least that a lane buffer can work with, in bytes.
const LEAST: usize = 8 << 20;

/// The most for a lane buffer, in bytes: chains of postings reach 32 GiB.
const MOST: usize = 30 << 30;

/// Lane buffers for each lane: see `buffer_pool.rs`.
const BUFFERS_PER_LANE: usize = 3;

/// How the memory is shared out, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct LaneSizes {
    pub(super) lanes: usize,
    /// The size at which a lane is written.
    pub(super) limit: usize,
    /// The most that a lane buffer may take.
    pub(super) share: usize,
    /// The most that may wait for a commit.
    pub(super) pending: usize,
}

impl LaneSizes {
    /// The sizes for an index with this schema and storage.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] if the memory is too little for the lanes.
    pub(super) fn new(options: &WriterOptions, schema: &Schema, stored: &Stored) -> Result<Self> {
        let least = LEAST.max(LEAST_PER_FIELD * schema.searched().count());
        // Buffers that are being written are no longer in lanes, and each has the buffers of a flush.
        let per_lane = (BUFFERS_PER_LANE - 1) * (FLUSH_BYTES + options.buffers.extra_bytes())
            + BUFFERS_PER_LANE * StoredCollector::fixed_bytes(stored);
        let memory = usize::try_from(options.memory).unwrap_or(usize::MAX);
        let merging = options.merge.map_or(0, |_| merging_bytes(options.memory));
        let merging = usize::try_from(merging).unwrap_or(usize::MAX);
        let fixed = PROGRAM.saturating_add(merging);
        let sizes = |lanes: usize| {
            let most = memory.checked_sub(fixed.checked_add(lanes.checked_mul(per_lane)?)?)?;
            // A buffer may keep a quarter more than its share from earlier segments; a quarter of the memory
            // is for what waits for a commit.
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

/// Returns the schema of the index. A schema that is given must be the same.
///
/// # Errors
/// [`Error::Conflict`] for another schema or none where there is no index; [`Error::InvalidValue`] for a
/// schema that cannot be searched.
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

/// Returns what is stored of documents: an index keeps its choice, a new one follows its schema and the
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
