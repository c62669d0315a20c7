//! The limits of a dictionary.

/// Maximum number of bytes of a term.
pub(super) const MAX_TERM: usize = 32 << 10;
/// Maximum number of terms.
pub(super) const MAX_TERMS: usize = 1 << 31;
/// Number of blocks that share a table.
pub(super) const CHAPTER: usize = 512;
