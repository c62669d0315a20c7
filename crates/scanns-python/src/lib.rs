//! The native module of the Python package: what its classes call, and nothing that users call themselves.
//!
//! `guard.rs` runs work without the interpreter, with signals, forks and panics in mind, and `errors.rs`
//! turns failures into the exceptions of `scanns/errors.py`. `core.rs` holds an open index. `snapshot.rs`
//! has its methods for Python, with `request.rs` and `asked.rs` for what is asked, `answer.rs` and `json.rs`
//! for the answers, and `hits.rs` for hits. `export.rs` streams record batches, and `capsule.rs` hands them
//! over. `writer.rs` adds documents, from Python objects in `documents.rs` or from Arrow in
//! `arrow_documents.rs`, and `pending.rs` knows what is not committed. `values.rs` converts values and
//! `fields.rs` fields. `files.rs` answers questions about file systems. `shards.rs` has the two ends of a
//! search over several processes, and `shard_hits.rs` its hits.

mod answer;
mod arrow_documents;
mod asked;
mod capsule;
mod core;
mod documents;
mod errors;
mod export;
mod fields;
mod files;
mod guard;
mod hits;
mod json;
mod pending;
mod request;
mod shard_hits;
mod shards;
mod snapshot;
mod values;
mod writer;

/// The native module of the package `scanns`.
#[pyo3::pymodule(gil_used = false)]
mod _native {
    #[pymodule_export]
    use super::capsule::ArrowStream;
    #[pymodule_export]
    use super::guard::panic_for_tests;
    #[pymodule_export]
    use super::hits::NativeHits;
    #[pymodule_export]
    use super::shard_hits::NativeShardHits;
    #[pymodule_export]
    use super::shards::{NativeShard, NativeShardSearch, NativeShardSet, shards_of};
    #[pymodule_export]
    use super::snapshot::{NativeQuery, NativeSnapshot};
    #[pymodule_export]
    use super::writer::NativeWriter;
}
