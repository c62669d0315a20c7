//! What search needs of a part of an index, be it a segment on disk or one that is still in memory.

use crate::codec::{ListCursor, PositionCursor, PostingPlace};
use crate::column::Column;
use crate::error::{Error, Result};
use crate::schema::Field;

/// A set of documents, numbered from 0, with postings by term.
pub trait Leaf: Sync {
    /// Documents in the leaf, deleted ones included; at most 2³¹.
    fn max_doc(&self) -> u32;

    /// The norm of every document, see [`length_to_norm`](crate::codec::length_to_norm).
    fn norms(&self) -> Result<&[u8]>;

    /// Figures that are summed over all leaves before anything is scored.
    fn stats(&self) -> LeafStats;

    /// Looks a term up; `None` if no document has it.
    fn find(&self, term: &[u8]) -> Result<Option<TermRef>>;

    /// The postings of a term that [`Leaf::find`] found.
    fn postings<'a>(&'a self, term: &TermRef) -> Result<ListSource<'a>>;

    /// All terms, in the order of their bytes.
    fn terms<'a>(&'a self) -> Result<Box<dyn TermStream + 'a>>;

    /// Where a term that was found here stands in its documents.
    ///
    /// # Errors
    /// [`Error::Options`] if that is not kept.
    fn positions<'a>(&'a self, term: &TermRef) -> Result<PositionSource<'a>>;

    /// False for deleted documents. Asked per hit, and only where [`LeafStats::documents`] says that some are.
    fn is_live(&self, doc: u32) -> bool;

    /// True if postings and positions are read only as far as they are asked for, so that several threads can each begin
    /// somewhere else in a list.
    fn is_in_ranges(&self) -> bool {
        false
    }

    /// The column of a field; `None` where no document of the leaf has a value there.
    fn column(&self, _field: Field) -> Option<&Column> {
        None
    }

    /// What the document is called: its path, and its line where lines are documents.
    fn key(&self, doc: u32) -> Result<Vec<u8>>;
}

/// Sizes of a leaf.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeafStats {
    /// Documents that are not deleted.
    pub documents: u64,
    /// Documents that have at least one term, deleted ones included.
    pub documents_with_terms: u64,
    /// Tokens in all documents, those of deleted ones included.
    pub total_length: u64,
}

/// A term of one leaf.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TermRef {
    /// Documents that contain it, deleted ones included.
    pub doc_freq: u32,
    /// How often it occurs in all of them.
    pub total_freq: u64,
    /// Where its postings are; only the leaf knows what it means.
    pub handle: [u64; 2],
    /// The same of its positions.
    pub positions: [u64; 2],
}

/// Steps through the terms of a leaf; before the first one at the start.
pub trait TermStream {
    /// Moves to the next term; false at the end.
    fn step(&mut self) -> Result<bool>;

    /// Moves to the first term from the one at hand on that is not before `target`; false if there is none.
    fn seek(&mut self, target: &[u8]) -> Result<bool>;

    /// The term at hand.
    fn term(&self) -> &[u8];

    /// What is known of it.
    fn found(&mut self) -> Result<TermRef>;
}

/// Where the positions of a term are.
pub enum PositionSource<'a> {
    /// As a segment has them.
    Packed(Box<PositionCursor<'a>>),
    /// In memory: documents, ascending, and the positions in each of them.
    Decoded(Vec<u32>, Vec<Vec<u32>>),
}

impl PositionSource<'_> {
    /// The positions in the current document of the list of the same term, ascending. `None` if they turn out damaged.
    #[inline]
    pub fn of_current(&mut self, list: &mut ListCursor<'_>) -> Option<&[u32]> {
        match self {
            PositionSource::Packed(cursor) => {
                let found = cursor.positions_of_current(list).len();
                (!cursor.corrupt()).then(|| &cursor.positions()[..found])
            }
            PositionSource::Decoded(docs, all) => Some(decoded(docs, all, list.doc())),
        }
    }

    /// The positions of a posting of `doc`, of which the place and the frequency are known.
    #[inline]
    pub(super) fn at(&mut self, doc: u32, place: PostingPlace, tf: u32) -> Option<&[u32]> {
        match self {
            PositionSource::Packed(cursor) => {
                cursor.positions_at(place, tf);
                (!cursor.corrupt()).then(|| cursor.positions())
            }
            PositionSource::Decoded(docs, all) => Some(decoded(docs, all, doc)),
        }
    }
}

fn decoded<'p>(docs: &[u32], all: &'p [Vec<u32>], doc: u32) -> &'p [u32] {
    docs.binary_search(&doc).ok().and_then(|at| all.get(at)).map_or(&[], Vec::as_slice)
}

/// Where the postings of a term are.
pub enum ListSource<'a> {
    /// The only posting of a term that occurs in one document.
    Single {
        /// The document.
        doc: u32,
        /// How often the term occurs in it.
        tf: u32,
    },
    /// A list as [`ListEncoder`](crate::codec::ListEncoder) writes it.
    Packed(&'a [u8]),
    /// Postings in memory.
    Decoded {
        /// Documents below [`Leaf::max_doc`], strictly increasing.
        docs: Vec<u32>,
        /// The frequency in each of them.
        tfs: Vec<u32>,
    },
}

impl ListSource<'_> {
    /// A cursor at the first of the `doc_freq` postings of a leaf of `max_doc` documents.
    pub fn cursor(&self, doc_freq: u32, max_doc: u32) -> Result<ListCursor<'_>> {
        match self {
            ListSource::Single { doc, tf } if *doc < max_doc => Some(ListCursor::single(*doc, *tf)),
            ListSource::Single { .. } => None,
            ListSource::Packed(bytes) => ListCursor::new(bytes, doc_freq, max_doc),
            ListSource::Decoded { docs, tfs } => Some(ListCursor::from_decoded(docs, tfs)),
        }
        .ok_or_else(damaged_list)
    }
}

/// The error for a list that does not decode.
pub(super) fn damaged_list() -> Error {
    Error::corrupt("a postings list", "its blocks, its table and its length do not agree")
}
