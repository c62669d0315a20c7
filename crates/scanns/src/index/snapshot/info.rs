//! Figures of a commit and of its segments.

use crate::schema::{Analyzer, Postings, Records, Schema, Stored};

/// Figures of one segment.
#[derive(Clone, Debug)]
pub struct SegmentInfo {
    /// Its identity, 32 hexadecimal digits.
    pub id: String,
    /// Documents in it, without deleted ones.
    pub documents: u64,
    /// Deleted documents, which still take space until the segment is merged.
    pub deleted: u64,
    /// Distinct terms.
    pub terms: u64,
    /// Tokens of its documents.
    pub tokens: u64,
    /// Bytes of its file and of the file of changed values.
    pub bytes: u64,
}

/// Figures of a whole index.
#[derive(Clone, Debug)]
pub struct IndexInfo {
    /// The number of the commit, from 1.
    pub generation: u64,
    /// Documents, without deleted ones.
    pub documents: u64,
    /// Deleted documents, which still take space.
    pub deleted: u64,
    /// Tokens of all documents.
    pub tokens: u64,
    /// The fields of documents.
    pub schema: Schema,
    /// The analyzer of the default field.
    pub analyzer: Analyzer,
    /// What a document was in the latest build.
    pub records: Records,
    /// What the default field keeps of a term in a document.
    pub postings: Postings,
    /// What is stored of documents. The compression is the one of the latest commit.
    pub stored: Stored,
    /// Bytes of all segments.
    pub index_bytes: u64,
    /// Bytes of positions and offsets in all segments.
    pub position_bytes: u64,
    /// The version of the segment format.
    pub format_version: u32,
}
