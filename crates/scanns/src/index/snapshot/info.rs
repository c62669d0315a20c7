//! Statistics of a commit and of its segments.

use crate::schema::{Analyzer, Postings, Records, Schema, Stored};

/// Statistics of one segment.
#[derive(Clone, Debug)]
pub struct SegmentInfo {
    /// The identity of the segment, as 32 hexadecimal digits.
    pub id: String,
    /// The number of documents, excluding deleted ones.
    pub documents: u64,
    /// The number of deleted documents, which take space until the segment is merged.
    pub deleted: u64,
    /// The number of distinct terms.
    pub terms: u64,
    /// The number of tokens of its documents.
    pub tokens: u64,
    /// The size of its file and of the file of changed values, in bytes.
    pub bytes: u64,
}

/// Statistics of a whole index.
#[derive(Clone, Debug)]
pub struct IndexInfo {
    /// The number of the commit, from 1. Of a snapshot of a writer: the number of the newest commit when it
    /// was made, or 0 before the first.
    pub generation: u64,
    /// The number of documents, excluding deleted ones.
    pub documents: u64,
    /// The number of deleted documents, which still take space.
    pub deleted: u64,
    /// The number of tokens of all documents.
    pub tokens: u64,
    /// The fields of documents.
    pub schema: Schema,
    /// The analyzer of the default field.
    pub analyzer: Analyzer,
    /// What a document was in the latest build: a file, a line, or a record.
    pub records: Records,
    /// What the default field stores about a term in a document.
    pub postings: Postings,
    /// What the index stores of documents. The compression is the one of the latest commit.
    pub stored: Stored,
    /// The size of all segments, in bytes.
    pub index_bytes: u64,
    /// The size of positions and offsets in all segments, in bytes.
    pub position_bytes: u64,
    /// The memory of this snapshot that keeps what was decompressed of stored documents, in bytes.
    pub stored_cache_bytes: u64,
    /// The memory of this snapshot that keeps which documents match the filters that repeat, in bytes.
    pub filter_cache_bytes: u64,
    /// The version of the segment format.
    pub format_version: u32,
}
