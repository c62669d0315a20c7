//! The levels of verification.

/// How thoroughly to verify an index; each level includes the levels before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CheckLevel {
    /// The commit is valid, and its files exist and belong to it.
    Manifest,
    /// Every byte matches its checksum.
    Checksums,
    /// Terms, postings and keys can be read to their end and are in order.
    Structure,
    /// Figures, lengths and bounds agree with the postings.
    Cross,
}
