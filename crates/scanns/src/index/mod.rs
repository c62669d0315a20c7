//! Builds and changes a committed index from files and documents, and opens it as a snapshot that can be
//! searched.
//!
//! Modules, lowest first; each uses only those before it:
//! - `progress.rs`, `stored_options.rs`, `field_views.rs`, `path_json.rs`, `access_column.rs`: types and
//!   forms that the others share.
//! - `commit/`: the manifest, which names the segments of a commit; the writer, which replaces it; the ledger
//!   of inputs that are indexed already; the merging of segments.
//! - `named_snapshot.rs`: commits that are kept under a name.
//! - `build/`: indexes files and records with many threads.
//! - `live/`: programs write to an index document by document.
//! - `snapshot/`: a commit opened for reading.
//! - `maintain.rs`, `preview.rs`, `update.rs`, `check.rs`, `memory.rs`: delete and merge, say what would be
//!   deleted, change values, verify and salvage, and the index in memory.
//! - `shards/`: several indexes, in other processes, searched as one.
//! - `plan/`: builds that are shared out over many processes or machines.
//! - `tune/`: finds the parameters of a build that suit a machine.
//! - `handle.rs`: [`Index`](crate::Index), the entry point for all of this.

pub(crate) mod access_column;
pub(crate) mod build;
mod check;
pub(crate) mod commit;
pub(crate) mod coverage;
pub(crate) mod field_views;
pub(crate) mod handle;
pub(crate) mod live;
mod maintain;
mod memory;
mod named_snapshot;
pub(crate) mod path_json;
pub(crate) mod plan;
mod preview;
pub(crate) mod progress;
pub(crate) mod shards;
pub(crate) mod snapshot;
pub(crate) mod stored_options;
#[cfg(feature = "tune")]
pub(crate) mod tune;
mod update;

pub use build::follow::FollowStep;
pub use build::options::{IndexOptions, SEGMENT_MEMORY};
pub use build::report::{
    ChangesReport, DoubleRecord, DumpReport, FieldConflict, IndexReport, MalformedRecord, MixedPaths,
    NotedRecords, RecordReport, RowRemark,
};
pub use check::{CheckReport, SegmentCheck};
pub use commit::shard_list::shards_of;
pub use coverage::{Coverage, ListUpdates};
pub use maintain::{DeleteReport, MergeOptions, MergeReport, Selection};
pub use memory::MemoryIndex;
pub use named_snapshot::NamedSnapshot;
pub use plan::{
    AssembledIndex, DamagedShard, PlanReport, PlanRequest, PlannedShard, ShardOptions, ShardOutcome,
    ShardPlan, ShardState, ShardStatus, make_plan,
};
pub use preview::Preview;
pub use progress::{Phase, Progress};
pub use snapshot::trace::{ClauseRole, TracedClause};
pub use snapshot::{IndexInfo, SegmentInfo};
pub use update::UpdateReport;

pub use crate::invert::InvertOptions;
pub use crate::segment::{CheckLevel, FieldStats, SegmentStats, StoredFigures, TermInDocument};
pub use crate::sys::BLOCK_PADDING;

#[cfg(test)]
pub(crate) use {
    build::options::FieldOptions,
    build::run::{build, build_in},
    check::{check_in, salvage_in},
    commit::merge_policy::MergePolicy,
    handle::Index,
    live::{IndexWriter, WriterOptions},
    maintain::{delete_in, merge_in},
    snapshot::Snapshot,
    stored_options::StoredOptions,
    update::update_in,
};

#[cfg(test)]
mod tests;
