//! Compares scanns with Lucene and tantivy. All engines get the same text, terms and queries, and run in
//! turns. Times count only if documents, tokens and hits are equal.
//!
//! Each engine has an *adapter*, a process that builds, merges or searches, and prints lines of JSON. The
//! adapters are `src/bin/peer-scanns.rs`, `tantivy/`, `seekstorm/` and `java/`. `protocol.rs` defines their
//! protocol; `adapter.rs`, `texts.rs` and `contents.rs` are the common code of the adapters in Rust.
//! SeekStorm finds words by rules of its own and has not all kinds of queries, so it is a guest: how many of
//! its answers agree is told, and what it does not have is left empty.
//!
//! The driver is `main.rs`. It prepares the adapters (`peers.rs`, `toolchain.rs`), describes the corpus
//! (`corpus.rs`), runs the adapters (`engine.rs`), draws queries (`form.rs`) from the corpus (`text.rs`,
//! `queries.rs`), runs the rounds (`job.rs`), and verifies the answers (`verify.rs`). It writes the figures
//! to a table (`table.rs`, `figures.rs`) and to the results of `scanns-bench`. With `--scores` it compares
//! the scores of random queries instead (`random.rs`, `scores.rs`).
//!
//! The peers are not part of the workspace: they would be its largest dependencies, Lucene needs a JDK, and
//! none is needed to build or test scanns. Therefore those in Rust are packages with their own lock files,
//! and the driver builds the adapters when it runs. The driver itself is tested with the workspace.
//!
//! The comparison of an application, which adds, updates and deletes documents and asks for pages of hits,
//! has its own driver and adapters; see `application/`. The comparison of columns has its own driver and
//! adapters; see `columns/`. The comparison with tools for file systems has a driver, too, and runs the tools
//! as they are; see `files/`. So has the comparison of web archives, with the Lucene of `java/` and the
//! programs of the package `warc/`; see `src/warc/`.

pub mod adapter;
pub mod analyzer;
pub mod application;
pub mod columns;
pub mod contents;
pub mod corpus;
pub mod engine;
pub mod figures;
pub mod files;
pub mod form;
pub mod job;
pub mod natural;
pub mod peers;
pub mod protocol;
pub mod queries;
pub mod random;
pub mod scores;
pub mod summary;
pub mod table;
pub mod text;
pub mod texts;
pub mod toolchain;
pub mod verify;
pub mod warc;
