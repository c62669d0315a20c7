//! Terms and their postings, in groups of 64 terms.
//!
//! ```text
//! section = group …                              terms ascending by bytes
//! group   = list … | block                       the lists of the group's terms, then its terms
//! block   = count u8 | width u8 | lists varint | lengths varint | suffixes varint | half (if count > 32) |
//!           symbols u128 (if width > 0) | length … | suffix … | posting …
//! half    = bytes of the first 32 postings varint | bytes of their lists varint
//! length  = shared << 4 | own                    per term; a varint of the excess follows a nibble of 15
//! suffix  = the bytes that the term does not share with the one before. If the suffixes of a block use at
//!           most 64 different bytes, all ASCII, `symbols` has a bit for each, and suffixes are one stream of
//!           their ranks, of `width` 4, 5 or 6 bits each, lowest bits first; else, or if that saves nothing,
//!           `width` is 0 and they are bytes
//! posting = varint(doc << 2 | (freq == 1) << 1 | 1) varint(freq)?         term in one document
//!         | varint(doc_freq << 1) varint(list length) varint(total_freq - doc_freq)
//!           with positions, each followed by varint(position) if the term occurs once, or varint(run length)
//!           with offsets, the position is followed by varint(start << 1 | (extra != 0)) varint(extra)?
//! sparse  = first eight bytes of each block's first term, and the place of the block, in another section:
//!           see `sparse.rs`
//! ```
//!
//! The lists of a group are stored directly before its block, in the order of the terms; `lists` is their
//! size in bytes. In a segment with positions, the run of a term (see `codec/positions`) is stored before its
//! list, or alone if the term is in one document. Two thirds of the terms of a metadata dump are numbers that
//! occur in one document; each costs about five bytes including its posting.
//!
//! `info.rs` defines the types. `write.rs` writes terms, with `suffixes.rs` for their bytes and `runs.rs` for
//! positions. `lookup.rs` finds a term: `sparse.rs` finds its block, `seek.rs` its place in the block.
//! `block.rs` steps through a block, `batch.rs` decodes a whole block for a merge, `blocks.rs` looks
//! for terms in a block for automata, and `walk.rs` steps through terms and skips most of them.

mod batch;
mod block;
mod blocks;
mod info;
mod lookup;
mod recent;
mod runs;
mod seek;
mod sparse;
mod suffixes;
mod walk;
mod write;

pub use blocks::TermBlocks;
pub(super) use info::HeadedTerm;
pub use info::{TermInfo, TermPositions};
pub use lookup::{TermDictionary, TermsIter};
pub(super) use sparse::{SPARSE_ENTRY, write_sparse};
pub use walk::TermsWalk;
pub(super) use write::{TermsOut, TermsWriter};

/// Reads `bytes` as a block up to its end or its first error.
#[cfg(test)]
pub(super) fn read_any(bytes: &[u8]) {
    use crate::schema::Postings;
    use info::PrefixedTerm;

    for kept in [Postings::Frequencies, Postings::Positions, Postings::Offsets] {
        for term in [b"".as_slice(), b"a", b"mm", b"term0042", &[0xff; 40]] {
            let term = PrefixedTerm::new(term);
            for first in [0, term.prefix, u64::MAX] {
                let _ = seek::find(bytes, 1 << 20, kept, term, first);
            }
        }
        let Some(mut block) = block::TermBlock::open(bytes, 1 << 20, kept) else { continue };
        let mut term = Vec::new();
        while block.step(&mut term) == Some(true) && block.info().is_some() {}
    }
}
