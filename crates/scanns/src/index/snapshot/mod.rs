//! A commit of an index, opened for reading.
//!
//! `open.rs` opens a commit as a [`Snapshot`] and creates searchers over it, and `joined.rs` several indexes,
//! each a `part.rs`. `uncommitted.rs` makes a snapshot of a writer, and `refresh.rs` one of a newer commit.
//! The other files add methods: `terms.rs` parses queries and reads keys, terms and positions, `documents.rs`
//! reads stored text and values, `snippets.rs` and `similar.rs` create snippets and queries from them,
//! `batch/` reads the values of all hits, and `column_info.rs` describes columns. `seen.rs` shows some of the
//! documents and hides the others, and `access.rs` says who may see documents (`access_bits.rs`). `trace.rs`
//! says which parts of a query match a document.

pub(crate) mod access;
pub(crate) mod access_bits;
pub(crate) mod batch;
pub(crate) mod column_info;
mod distinct_terms;
mod documents;
mod info;
mod joined;
mod open;
mod part;
mod refresh;
mod seen;
mod similar;
mod snippets;
mod terms;
pub(crate) mod trace;
mod uncommitted;
pub(crate) mod words;

pub use info::{IndexInfo, SegmentInfo};
pub use open::Snapshot;
