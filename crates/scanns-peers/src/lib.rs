//! scanns, Lucene and tantivy side by side: the same text, the same terms, the same queries, in turns, and no
//! time is believed before documents, tokens and hits are equal.
//!
//! Each engine is behind an *adapter*, a process that builds, merges or asks and prints a line of JSON:
//! `protocol.rs` is what is said, `adapter.rs` and `contents.rs` what adapters in Rust share,
//! `src/bin/peer-scanns.rs`, `tantivy/` and `java/` are the adapters. The driver, `main.rs`, makes them ready
//! (`toolchain.rs`), says what is indexed (`corpus.rs`) and what each is to do (`engine.rs`), draws queries
//! (`form.rs`) from the corpus (`text.rs`, `queries.rs`), runs rounds (`job.rs`), compares (`verify.rs`) and
//! puts it all into a table (`table.rs`, `figures.rs`) and into the results of `scanns-bench`.
//!
//! tantivy and Lucene are no part of the workspace: tantivy would be its largest dependency, Lucene needs a
//! JDK, and neither is needed to build or test scanns. So `tantivy/` is a package with a lock file of its
//! own, and the driver builds both when it runs. The driver itself is tested with everything else.
//!
//! Columns are compared by a driver and adapters of their own: `columns/`.

pub mod adapter;
pub mod columns;
pub mod contents;
pub mod corpus;
pub mod engine;
pub mod figures;
pub mod form;
pub mod job;
pub mod protocol;
pub mod queries;
pub mod random;
pub mod scores;
pub mod table;
pub mod text;
pub mod toolchain;
pub mod verify;
