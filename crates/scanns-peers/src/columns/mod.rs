//! Compares the columns of scanns with those of Lucene (DocValues) and tantivy (fast fields). All engines
//! index the same fetches of a web archive, and run the same operations on the hits of queries. The queries
//! have between one hit and all documents.
//!
//! The driver (`drive.rs`) writes the fetches to a file (`fetches.rs`) that all adapters read. An adapter
//! builds an index of it, merges the index into one segment, and then answers requests one by one
//! (`protocol.rs`), so that engines take turns while all of them stay warm. `serve.rs` is the common code of
//! the adapters in Rust, `answer.rs` compares answers, and `lines.rs` makes the tables.

pub mod answer;
pub mod drive;
pub mod fetches;
pub mod lines;
pub mod protocol;
pub mod serve;

/// The columns of strings, in the order of the file.
pub const STRINGS: [&str; 7] =
    ["id", "url_norm", "host", "domain", "public_suffix", "content_type_norm", "language"];

/// The columns of numbers, which follow them: year, date, status, length.
pub const NUMBERS: [&str; 4] = ["crawl_year", "crawl_date", "status_code", "content_length"];

/// The columns for facets.
pub const FACETS: [&str; 6] =
    ["host", "domain", "public_suffix", "crawl_year", "content_type_norm", "language"];

/// The columns that are read for the first hits.
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

/// The number of buckets of a facet, and of hits of a sort.
pub const FIRST: usize = 20;

/// The number of groups to return.
pub const GROUPS: usize = 10;
