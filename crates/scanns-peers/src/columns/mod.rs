//! Columns (DocValues, fast fields) of scanns, Lucene and tantivy: what is built of the same fetches of a web
//! archive, and what is done with the hits of queries that have from one hit to all documents.
//!
//! The driver (`drive.rs`) writes the fetches to a file (`fetches.rs`) that all adapters read. An adapter
//! (`serve.rs` is what those in Rust have in common) builds an index of it, merges that into one segment, and
//! then answers requests one by one (`protocol.rs`), so that engines take turns while all of them stay warm.
//! `answer.rs` is how answers are compared, `lines.rs` the table.

pub mod answer;
pub mod drive;
pub mod fetches;
pub mod lines;
pub mod protocol;
pub mod serve;

/// The columns in the order of the file, those of strings first.
pub const STRINGS: [&str; 7] =
    ["id", "url_norm", "host", "domain", "public_suffix", "content_type_norm", "language"];

/// The columns of numbers: year, date, status, length.
pub const NUMBERS: [&str; 4] = ["crawl_year", "crawl_date", "status_code", "content_length"];

/// Columns that are counted by value.
pub const FACETS: [&str; 6] =
    ["host", "domain", "public_suffix", "crawl_year", "content_type_norm", "language"];

/// Columns that are read of the first hits.
pub const FETCHED: [&str; 9] = [
    "id",
    "url_norm",
    "host",
    "domain",
    "crawl_date",
    "content_type_norm",
    "status_code",
    "content_length",
    "language",
];

/// Buckets of a facet, and hits of a sort.
pub const FIRST: usize = 20;

/// Groups.
pub const GROUPS: usize = 10;
