//! Terms with their frequencies.

/// A term, and how frequent it is in all leaves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TermCount {
    /// The term.
    pub term: Vec<u8>,
    /// Documents that contain it. Deleted documents count until they are merged away.
    pub doc_freq: u64,
    /// How often it occurs in them.
    pub total_freq: u64,
}
