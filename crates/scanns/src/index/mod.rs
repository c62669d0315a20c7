//! The whole: from inputs to a committed index, and from a committed index to a snapshot that can be searched.
//!
//! [`build`] runs the pipeline; read `build.rs` first, then `lane.rs`, the index thread of files and
//! lines. `record_lane.rs` is that of records with fields, `field_set.rs` what it fills,
//! `file_fields.rs` is what an index keeps of files beside their text, `what.rs` and `records.rs` say which fields
//! there are; `lane_output.rs` is where the segments of both go. `budget.rs` shares the
//! memory out, `gate.rs` stops the world where that is asked for. `ledger.rs` knows
//! which inputs are in the index already. `writer.rs` holds what the next commit will say,
//! `manifest.rs` is how it says it; `merge_policy.rs` finds segments that should be one, `merging.rs` merges them in the
//! background; `maintain.rs` deletes and merges on request, `update.rs` changes values, `check.rs` proves that all is
//! whole; [`Snapshot`] is what a reader opens; `column_info.rs` says what is in
//! its columns, `stored.rs` gives it the text and the terms of its documents,
//! `similar.rs` makes queries of them. [`MemoryIndex`] is an index that stays in memory. `unique.rs` counts distinct
//! terms over segments. `live/` is how programs write to an index document by document. [`tune()`] finds the
//! parameters of a build that suit a machine.
//! `variants.rs` names what else could read, tokenize and
//! index, `pipeline.rs` runs that.

mod batch;
mod budget;
mod build;
mod check;
mod column_info;
mod field_set;
mod file_fields;
mod gate;
mod lane;
mod lane_output;
mod ledger;
mod line_keys;
mod live;
mod maintain;
mod manifest;
mod memory;
mod merge_policy;
mod merging;
mod pace;
mod pipeline;
mod progress;
mod record_lane;
mod records;
mod similar;
mod snapshot;
mod snippets;
mod stored;
mod tune;
mod unique;
mod update;
mod variants;
mod what;
mod words;
mod writer;

pub use batch::{Batch, BatchColumn, BatchField, BatchOptions, BatchVisit};
pub use build::{build, build_in};
pub use check::{CheckReport, SegmentCheck, check, check_in, salvage, salvage_in};
pub use column_info::ColumnInfo;
pub use live::{Commit, IndexWriter, PreparedCommit, WriterOptions};
pub use maintain::{DeleteReport, MergeOptions, MergeReport, Selection, delete, delete_in, merge, merge_in};
pub use memory::MemoryIndex;
pub use merge_policy::MergePolicy;
pub use pipeline::{LadderOptions, LadderPart, LadderRun, index_files};
pub use progress::{Phase, Progress};
pub use records::{FieldConflict, FieldOptions, MalformedRecord, RecordReport, infer_fields};
pub use snapshot::{IndexInfo, SegmentInfo, Snapshot};
pub use stored::StoredOptions;
pub use tune::{
    DeviceLimits, MemoryLimits, ProcessorLimits, Profile, ReadRate, Resource, Roofline, Trial, Trials, Tried,
    TuneOptions, TuneReport, TuneStep, Tuned, find_parameters, tune,
};
pub use update::{UpdateReport, update, update_in};
pub use variants::{IndexerVariant, ReaderVariant, TokenizerVariant, VariantTokenizer};

use std::time::Duration;

use crate::read::ReadOptions;
use crate::schema::{Analyzer, Postings, Records};
use crate::segment::FlushBuffers;
use crate::source::{Failure, SourceOptions};

/// What to index, and how.
#[derive(Clone, Debug)]
pub struct IndexOptions {
    /// The inputs.
    pub source: SourceOptions,
    /// How they are read; `lanes` is the number of index threads.
    pub read: ReadOptions,
    /// What a document is.
    pub records: Records,
    /// The fields of documents that are records of JSON or CSV.
    pub fields: FieldOptions,
    /// How terms are found; `None` for that of the index, or [`Analyzer::Standard`] for a new one.
    pub analyzer: Option<Analyzer>,
    /// What is kept of a term in a document; `None` for what the index has, or frequencies for a new one.
    pub postings: Option<Postings>,
    /// What is kept of documents beside what searching needs.
    pub stored: StoredOptions,
    /// Most memory to take, in bytes.
    pub memory: u64,
    /// Bytes of memory after which an index thread writes its first segments, if its share of `memory` is not less;
    /// after many segments up to eight times as much.
    pub segment_memory: u64,
    /// How segments are written.
    pub flush: FlushOptions,
    /// Which segments are merged while others are written; `None` for none.
    pub merge: Option<MergePolicy>,
    /// Index files again that are in the index and have not changed.
    pub again: bool,
    /// Time after which a build commits what it has, again and again; `None` for a commit at the end only.
    pub commit_every: Option<Duration>,
    /// Bytes of text indexed after which it does so too.
    pub commit_bytes: Option<u64>,
    /// Time after which a build has stopped by itself and committed what it has.
    pub time_limit: Option<Duration>,
}

impl Default for IndexOptions {
    /// Files without a source yet, on half of the memory, with commits every five minutes.
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
            flush: FlushOptions::default(),
            merge: Some(MergePolicy::default()),
            again: false,
            commit_every: Some(Duration::from_secs(300)),
            commit_bytes: None,
            time_limit: None,
        }
    }
}

/// How index threads write their segments. The defaults are the fastest that was measured; the rest is for measuring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlushOptions {
    /// What the other threads do meanwhile.
    pub policy: FlushPolicy,
    /// Sizes of the buffers on the way to the file.
    pub buffers: FlushBuffers,
}

impl Default for FlushOptions {
    fn default() -> Self {
        FlushOptions { policy: FlushPolicy::Concurrent, buffers: FlushBuffers::default() }
    }
}

/// What other index threads do while one writes a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlushPolicy {
    /// They go on.
    Concurrent,
    /// They wait until it is written, as in engines where all threads fill one buffer.
    StopTheWorld,
}

/// What [`IndexOptions::segment_memory`] should be where nothing is known better: the fastest that was measured
/// on metadata dumps and source trees. More makes fewer segments, and a slower build.
pub const SEGMENT_MEMORY: u64 = 64 << 20;

/// What a build did: every input is in one of the counts.
#[derive(Clone, Debug, Default)]
pub struct IndexReport {
    /// Documents added.
    pub documents: u64,
    /// Bytes of text read.
    pub bytes: u64,
    /// Tokens in all documents added.
    pub tokens: u64,
    /// Seconds from the start until the commit was durable.
    pub seconds: f64,
    /// Bytes written to the index directory.
    pub bytes_written: u64,
    /// Bytes of the whole index after the commit.
    pub index_bytes: u64,
    /// Most memory that the process ever had resident, in bytes.
    pub peak_rss: u64,
    /// Inputs that could not be indexed, with the reason.
    pub failed: Vec<Failure>,
    /// Directory entries that are no regular files or were excluded.
    pub skipped: u64,
    /// Terms that were longer than 32 KiB and were cut.
    pub cut_terms: u64,
    /// What became of records of JSON and CSV.
    pub records: RecordReport,
    /// Segments that were added.
    pub segments: usize,
    /// Documents of earlier commits that were deleted, as their files were indexed again.
    pub replaced: u64,
    /// Inputs that were left out, as they are in the index and have not changed.
    pub unchanged: u64,
    /// Seconds that index threads spent writing segments, all threads together; waiting for each other is not in it.
    pub flush_seconds: f64,
    /// Why segments could not be merged, if that failed; the index is right without.
    pub merge_failure: Option<String>,
    /// True if the build was stopped; what it had by then is committed, and the same build again goes on from there.
    pub cancelled: bool,
}

#[cfg(test)]
mod tests;
