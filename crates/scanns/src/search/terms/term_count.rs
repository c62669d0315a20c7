//! Terms with their frequencies.

/// A term, and its frequencies in all leaves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TermCount {
    /// The term.
    pub term: Vec<u8>,
    /// The number of documents that contain the term. Deleted documents count until they are merged away.
    pub doc_freq: u64,
    /// The number of occurrences of the term in all of these documents.
    pub total_freq: u64,
}
