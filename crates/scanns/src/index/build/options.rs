//! The options of a build.

use std::time::Duration;

use crate::index::commit::merge_policy::MergePolicy;
use crate::index::stored_options::StoredOptions;
use crate::read::ReadOptions;
use crate::record::{CsvDelimiter, Sources};
use crate::schema::{Analyzer, Postings, Records, Schema};
use crate::segment::FlushBuffers;
use crate::source::SourceOptions;

/// What to index, and how.
#[derive(Clone, Debug)]
pub struct IndexOptions {
    /// The inputs.
    pub source: SourceOptions,
    /// How inputs are read; `lanes` is the number of index threads.
    pub read: ReadOptions,
    /// What a document is.
    pub records: Records,
    /// The fields of documents.
    pub fields: FieldOptions,
    /// How text is split into terms; `None` for the analyzer of the index, or [`Analyzer::Standard`] for a
    /// new index.
    pub analyzer: Option<Analyzer>,
    /// What is kept of a term in a document; `None` for what the index keeps, or frequencies for a new
    /// index.
    pub postings: Option<Postings>,
    /// What is stored of documents beside what searching needs.
    pub stored: StoredOptions,
    /// The most memory to use, in bytes.
    pub memory: u64,
    /// Bytes of memory after which an index thread writes its first segments, at most its share of `memory`.
    /// Later segments grow up to eight times as large.
    pub segment_memory: u64,
    /// Sizes of the buffers through which segments are written. The defaults are the fastest that were
    /// measured.
    pub buffers: FlushBuffers,
    /// Which segments are merged while others are written; `None` to merge none.
    pub merge: Option<MergePolicy>,
    /// Whether files that are in the index and have not changed are indexed again.
    pub again: bool,
    /// Time between commits; `None` to commit only at the end.
    pub commit_every: Option<Duration>,
    /// Bytes of text between commits; `None` for no such commits.
    pub commit_bytes: Option<u64>,
    /// Time after which a build stops and has committed what it indexed.
    pub time_limit: Option<Duration>,
}

impl Default for IndexOptions {
    /// Files, without a source yet, on half of the memory, with commits every five minutes.
    fn default() -> Self {
        IndexOptions {
            source: SourceOptions::default(),
            read: ReadOptions::default(),
            records: Records::File,
            fields: FieldOptions::default(),
            analyzer: None,
            postings: None,
            stored: StoredOptions::default(),
            memory: crate::sys::memory_limit_bytes().map_or(1 << 30, |limit| limit / 2),
            segment_memory: SEGMENT_MEMORY,
            buffers: FlushBuffers::default(),
            merge: Some(MergePolicy::default()),
            again: false,
            commit_every: Some(Duration::from_secs(300)),
            commit_bytes: None,
            time_limit: None,
        }
    }
}

/// The default of [`IndexOptions::segment_memory`], the fastest that was measured on metadata dumps and
/// source trees. With more memory there are fewer segments, and the build is slower.
pub const SEGMENT_MEMORY: u64 = 64 << 20;

/// Which fields documents have: records of JSON and CSV, and files beside their text.
#[derive(Clone, Debug, Default)]
pub struct FieldOptions {
    /// The fields, and the names of their values in records; `None` for the fields of the index, or for a
    /// new index the fields that a sample suggests.
    pub schema: Option<(Schema, Sources)>,
    /// Whether the file metadata (path, name, ext, size, mtime and others) is kept as columns. Only the
    /// first build of an index can choose this.
    pub metadata: bool,
    /// The delimiter of CSV values; `None` for the delimiter that the header suggests.
    pub delimiter: Option<CsvDelimiter>,
}
