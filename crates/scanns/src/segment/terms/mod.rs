//! Terms and their postings, in groups of 64 terms.
//!
//! ```text
//! section = group …                              terms ascending by bytes
//! group   = list … | block                       the lists of the group's terms, then its terms
//! block   = count u8 | width u8 | lists varint | lengths varint | suffixes varint | half (if count > 32) |
//!           symbols u128 (if width > 0) | length … | suffix … | posting …
//! half    = bytes of the first 32 postings varint | bytes of their lists varint
//! length  = shared << 4 | own                    per term; a nibble of 15 is followed by a varint of the excess
//! suffix  = the bytes that the term does not share with the one before. If the suffixes of a block use at most 64
//!           different bytes, all ASCII, `symbols` has a bit for each and suffixes are one stream of their ranks, of
//!           `width` 4, 5 or 6 bits each, lowest bits first; else, or if
//!           that saves nothing, `width` is 0 and they are bytes
//! posting = varint(doc << 2 | (freq == 1) << 1 | 1) varint(freq)?         term in one document
//!         | varint(doc_freq << 1) varint(list length) varint(total_freq - doc_freq)
//!           with positions, each followed by varint(position) if the term occurs once, or varint(run length)
//!           with offsets, the position is followed by varint(start << 1 | (extra != 0)) varint(extra)?
//! sparse  = first eight bytes of each block's first term, and where the block is: in the section after this one, see
//!           `sparse.rs`
//! ```
//!
//! The bytes of a group's lists stand right before its block, in the order of the terms; `lists` is how many. In a segment
//! with positions the run of a term, see `codec/positions`, stands before its list, or alone if the term is in one document.
//! Two thirds of all terms of a metadata dump occur in one document and are numbers: those cost about five bytes
//! with their posting.

mod batch;
mod block;
mod lookup;
mod runs;
mod seek;
mod sparse;
mod suffixes;
mod walk;
mod write;

pub use lookup::{Terms, TermsIter};
pub(super) use sparse::{SPARSE_ENTRY, write_sparse};
pub use walk::TermsWalk;
pub(super) use write::{TermsOut, TermsWriter};

use crate::codec::Occurrence;
#[cfg(test)]
use crate::codec::head;
#[cfg(test)]
use crate::schema::Postings;

/// Terms in a group.
const GROUP: usize = 64;

/// Terms in the first half of a group that has more.
const HALF: usize = 32;

/// Bytes of `count` symbols of `width` bits.
fn packed_len(count: usize, width: u8) -> Option<usize> {
    count.checked_mul(usize::from(width)).map(|bits| bits.div_ceil(8))
}

/// The postings of a term, or where they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TermInfo {
    /// The term occurs in one document.
    Single {
        /// The document.
        doc: u32,
        /// How often it occurs there.
        term_freq: u32,
    },
    /// The term has a list.
    List {
        /// Documents in the list.
        doc_freq: u32,
        /// Occurrences in all of them.
        total_freq: u64,
        /// Offset of the list in the section of terms.
        offset: u64,
        /// Length of the list in bytes.
        len: u64,
    },
}

impl TermInfo {
    /// Documents that contain the term.
    pub fn doc_freq(&self) -> u32 {
        match self {
            TermInfo::Single { .. } => 1,
            TermInfo::List { doc_freq, .. } => *doc_freq,
        }
    }

    /// How often the term occurs in all of them.
    pub fn total_freq(&self) -> u64 {
        match self {
            TermInfo::Single { term_freq, .. } => u64::from(*term_freq),
            TermInfo::List { total_freq, .. } => *total_freq,
        }
    }
}

/// Where the positions of a term are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TermPositions {
    /// The segment has none.
    NotKept,
    /// The term occurs once, here.
    Only(Occurrence),
    /// They are a run in the section of terms.
    Run {
        /// Its offset.
        offset: u64,
        /// Its length in bytes.
        len: u64,
        /// True if it has offsets.
        offsets: bool,
    },
}

/// The first eight bytes of a term, as the sparse index has them, from its [`head`](crate::codec::head).
fn prefix_of(head: u128) -> u64 {
    u64::try_from(head >> 64).unwrap_or(u64::MAX)
}

/// Reads `bytes` as a block to its end or its first fault.
#[cfg(test)]
pub(super) fn read_any(bytes: &[u8]) {
    for kept in [Postings::Frequencies, Postings::Positions, Postings::Offsets] {
        for term in [b"".as_slice(), b"a", b"mm", b"term0042", &[0xff; 40]] {
            for first in [0, prefix_of(head(term)), u64::MAX] {
                let _ = seek::find(bytes, 1 << 20, kept, (term, prefix_of(head(term))), first);
            }
        }
        let Some(mut block) = block::Block::open(bytes, 1 << 20, kept) else { continue };
        let mut term = Vec::new();
        while block.step(&mut term) == Some(true) && block.info().is_some() {}
    }
}
