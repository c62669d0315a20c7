//! The types of terms for the readers and writers of blocks: bytes, postings, positions.

use crate::codec::{Occurrence, head};

/// Terms in a group.
pub(super) const GROUP: usize = 64;

/// Terms in the first half of a group that has more.
pub(super) const HALF: usize = 32;

/// Bytes of `count` symbols of `width` bits.
pub(super) fn packed_len(count: usize, width: u8) -> Option<usize> {
    count.checked_mul(usize::from(width)).map(|bits| bits.div_ceil(8))
}

/// A term and its [`head`], the first 16 bytes as a number.
#[derive(Clone, Copy, Debug)]
pub struct HeadedTerm<'a> {
    pub term: &'a [u8],
    pub head: u128,
}

/// A term and its first eight bytes as a number, as in the sparse index.
#[derive(Clone, Copy, Debug)]
pub(super) struct PrefixedTerm<'a> {
    pub(super) term: &'a [u8],
    pub(super) prefix: u64,
}

impl<'a> PrefixedTerm<'a> {
    #[inline(always)]
    pub(super) fn new(term: &'a [u8]) -> Self {
        PrefixedTerm { term, prefix: prefix_of(head(term)) }
    }
}

/// The only posting of a term, or the place of its list of postings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TermInfo {
    /// The term occurs in one document.
    Single {
        /// The document.
        doc: u32,
        /// The number of occurrences in it.
        term_freq: u32,
    },
    /// The term has a list.
    List {
        /// Number of documents in the list.
        doc_freq: u32,
        /// Number of occurrences in all of them.
        total_freq: u64,
        /// Offset of the list in the section of terms.
        offset: u64,
        /// Length of the list in bytes.
        len: u64,
    },
}

impl TermInfo {
    /// Returns the number of documents that contain the term.
    pub fn doc_freq(&self) -> u32 {
        match self {
            TermInfo::Single { .. } => 1,
            TermInfo::List { doc_freq, .. } => *doc_freq,
        }
    }

    /// Returns the number of occurrences in all documents.
    pub fn total_freq(&self) -> u64 {
        match self {
            TermInfo::Single { term_freq, .. } => u64::from(*term_freq),
            TermInfo::List { total_freq, .. } => *total_freq,
        }
    }
}

/// The place of the positions of a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TermPositions {
    /// The segment has no positions.
    NotKept,
    /// The term occurs once, at this place.
    Only(Occurrence),
    /// The positions are a run in the section of terms.
    Run {
        /// Offset of the run.
        offset: u64,
        /// Length of the run in bytes.
        len: u64,
        /// True if the run has offsets.
        offsets: bool,
    },
}

/// The first eight bytes of a term as a number, from its [`head`].
pub(super) fn prefix_of(head: u128) -> u64 {
    u64::try_from(head >> 64).unwrap_or(u64::MAX)
}
