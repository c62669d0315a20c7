//! How a commit is described and made durable.
//!
//! Goes in: segments on the medium, deletes and changed values. Comes out: the next commit. Read
//! `manifest.rs` first, the description of a commit, then `writer.rs`, which holds the next one. `merge.rs`
//! replaces segments by one while others write; `merge_policy.rs` chooses them, `policy_merge.rs` runs the
//! merges of a policy, `background_merge.rs` does so during a build, under the limits of `merge_budget.rs`
//! and `rate_limit.rs`. `ledger.rs` knows which inputs the commit covers, `column_setting.rs` is a change of
//! column values.

pub(crate) mod background_merge;
pub(crate) mod column_setting;
pub(crate) mod ledger;
pub(crate) mod manifest;
pub(crate) mod merge;
pub(crate) mod merge_budget;
pub(crate) mod merge_policy;
pub(crate) mod policy_merge;
pub(crate) mod rate_limit;
pub(crate) mod writer;
mod writer_state;
