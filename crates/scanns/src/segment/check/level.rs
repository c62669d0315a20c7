//! How thoroughly an index is verified.

/// How much of an index is verified; each level includes those before it.
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
