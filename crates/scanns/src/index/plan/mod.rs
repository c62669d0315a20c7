//! Builds that are shared out over many processes or machines. The plan is a file, and the result does not
//! depend on who runs its steps, and how often.
//!
//! In: a listing of inputs and the options that say what documents are. Out: indexes, the *shards*, whose
//! documents in their order are those of one index of the same listing. There are three steps, and each may
//! be repeated:
//!
//! 1. [`make_plan`] (`make.rs`) lists the inputs, decides the fields, and slices the listing (`slicing.rs`).
//!    Large files of records are cut where records end (`cuts.rs`). The listing is sorted in bounded memory
//!    (`source/sorted/`), and both pass over it from its start (`write_slices.rs`). `plan_file.rs` has the
//!    files of a plan, `slice_codec.rs` the bytes of a slice.
//! 2. [`ShardPlan::build`] (`build_shard.rs`) builds a shard under a name of its own (`attempt.rs`) and
//!    publishes it by a rename, so an attempt may be killed at any moment, and two may run at once.
//! 3. [`ShardPlan::assemble`] (`assemble.rs`) verifies that every shard is there, and writes the manifest of
//!    the shards last (`commit/shard_list.rs`), which [`shards_of`](crate::index::shards_of) reads. If a
//!    field is the key of documents, it deletes those that one index would not have (`same_keys.rs`).
//!
//! `status.rs` says which shards are done. `commit/sealed_json.rs` is the form of the files in JSON.

mod assemble;
mod attempt;
mod build_shard;
mod cuts;
mod make;
mod plan_file;
mod same_keys;
mod slice_codec;
mod slicing;
mod status;
#[cfg(test)]
mod tests;
mod write_slices;

pub use assemble::{AssembledIndex, DamagedShard};
pub use build_shard::{ShardOptions, ShardOutcome};
pub use make::{PlanReport, PlanRequest, make_plan};
pub use plan_file::{PlannedShard, ShardPlan};
#[cfg(any(test, feature = "internals"))]
pub(crate) use slice_codec::{decode_slice, encode_slice};
pub use status::{ShardState, ShardStatus};
