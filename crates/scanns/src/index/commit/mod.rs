//! The description of a commit, and how it becomes durable.
//!
//! The input is segments on the medium, deletes and changed values. The output is the next commit. Read
//! `manifest.rs` first, the description of a commit, then `writer.rs`, which prepares the next one, and
//! `writer_view.rs`, which shows the next one to readers before it is durable.
//! `merge.rs` replaces several segments by one while other threads write. `merge_policy.rs` chooses the
//! segments, `policy_merge.rs` runs the merges of a policy, and `background_merge.rs` runs them during a
//! build, within the limits of `merge_budget.rs` and `rate_limit.rs`. `ledger.rs` tracks the inputs that
//! the commit covers, `indexed_files.rs` finds files that are gone, and `moved_files.rs` those that were
//! moved. `unique_keys.rs` keeps one document for each value of the field that is the key, and `displaced.rs`
//! notes where others were left out.
//! `manifest_field.rs` encodes fields, `schema_bytes.rs` schemas in messages, and `column_setting.rs` is a
//! change of column values. `shard_list.rs` lists the shards of an index that was assembled, in the form of
//! `sealed_json.rs`.

pub(crate) mod background_merge;
pub(crate) mod column_setting;
mod displaced;
pub(crate) mod indexed_files;
pub(crate) mod ledger;
pub(crate) mod manifest;
mod manifest_dialect;
mod manifest_field;
pub(crate) mod merge;
pub(crate) mod merge_budget;
pub(crate) mod merge_policy;
pub(crate) mod moved_files;
pub(crate) mod policy_merge;
pub(crate) mod rate_limit;
pub(crate) mod schema_bytes;
pub(crate) mod sealed_json;
pub(crate) mod shard_list;
pub(crate) mod unique_keys;
pub(crate) mod writer;
mod writer_state;
pub(crate) mod writer_view;
