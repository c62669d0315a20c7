//! From inputs to a committed index.
//!
//! Start with `run.rs`, the steps of a build. `document_source.rs` chooses the contents of documents from the
//! options and the index; `file_fields.rs` adds the metadata of files, with the names of their owners
//! (`owner_names.rs`) and the classes of who may see them (`access_field.rs`), and `record_fields.rs` infers
//! the fields of records or takes those of a collection (`collection_fields.rs`). `index_threads.rs` starts
//! readers and index threads and watches them. `lane.rs` is the loop of an index thread: it passes the pieces
//! of blocks to `text_lane.rs` (files and lines) or `record_lane.rs` (JSON, CSV and collections), which fill
//! memory and write segments through `lane_output.rs`; `near_sketch.rs` has the sketches of their texts.
//! `relocation.rs` moves the documents of files that were moved. `slice.rs` has the inputs of a build that is
//! one of many, and `shard_note.rs` what it notes about that. `describe.rs` says what a new index would be.
//! `field_checks.rs` refuses options that fields do not allow, `covered.rs` notes what was looked at, and
//! `inferred_note.rs` that fields were inferred. `entries/` indexes entries of file systems, whose text is
//! not read, and `follow.rs` does so whenever something happens.

pub(crate) mod access_field;
pub(crate) mod budget;
mod collection_fields;
mod covered;
pub(crate) mod describe;
pub(crate) mod directory;
mod document_source;
pub(crate) mod entries;
mod field_checks;
pub(crate) mod field_set;
mod file_fields;
pub(crate) mod follow;
mod formed_document;
mod found_fields;
pub(crate) mod index_threads;
mod inferred_note;
mod lane;
mod lane_output;
mod lane_report;
mod lane_segments;
mod line_keys;
mod member_records;
mod near_sketch;
pub(crate) mod options;
mod owner_names;
mod rare_fields;
mod record_ends;
pub(crate) mod record_fields;
mod record_lane;
mod record_place;
pub(crate) mod record_sample;
mod relocation;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod shard_note;
pub(crate) mod slice;
mod text_lane;
mod watch;

pub(crate) use file_fields::is_file_field;
