//! The limits of a dictionary.

/// Most bytes of a term.
pub(super) const MAX_TERM: usize = 32 << 10;
/// Most terms.
pub(super) const MAX_TERMS: usize = 1 << 31;
/// Number of blocks that share a table.
pub(super) const CHAPTER: usize = 512;
