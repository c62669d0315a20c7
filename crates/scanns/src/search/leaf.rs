//! The interface of a leaf: a segment on disk, or documents in memory.

use serde::{Deserialize, Serialize};

use crate::codec::{ListCursor, PositionCursor, PostingPlace};
use crate::column::Column;
use crate::error::{Error, Result};
use crate::schema::Field;
use crate::segment::TermBlocks;

/// A set of documents, numbered from 0, with postings by term: a segment, or a custom type that the same
/// [`Searcher`](super::Searcher) can search.
///
/// Implementations must be consistent: documents are below [`Leaf::max_doc`] and ascend, and their number is
/// [`TermRef::doc_freq`]. Inconsistent answers cause wrong hits or a panic, but no undefined behaviour.
pub trait Leaf: Sync {
    /// Returns the number of documents in the leaf, including deleted ones; at most 2³¹.
    fn max_doc(&self) -> u32;

    /// Returns the norm of every document: the code of its length by
    /// [`length_to_norm`](super::length_to_norm).
    fn norms(&self) -> Result<&[u8]>;

    /// Returns the sizes of the leaf. They are summed over all leaves before anything is scored.
    fn stats(&self) -> LeafStats;

    /// Looks up a term; `None` if no document contains it.
    fn find(&self, term: &[u8]) -> Result<Option<TermRef>>;

    /// Returns the postings of a term that [`Leaf::find`] returned.
    fn postings<'a>(&'a self, term: &TermRef) -> Result<ListSource<'a>>;

    /// Returns all terms, in byte order.
    fn terms<'a>(&'a self) -> Result<Box<dyn TermStream + 'a>>;

    /// Returns all terms in the blocks of a segment; `None` if the leaf is not a segment.
    fn term_blocks(&self) -> Option<TermBlocks<'_>> {
        None
    }

    /// Returns the positions of a term that [`Leaf::find`] returned.
    ///
    /// # Errors
    /// An error if the leaf has no positions.
    fn positions<'a>(&'a self, term: &TermRef) -> Result<PositionSource<'a>>;

    /// Returns false for deleted documents. Without [`Leaf::live_bits`] it is called per hit, and only if
    /// [`LeafStats::documents`] shows that there are deletions.
    fn is_live(&self, doc: u32) -> bool;

    /// Returns the sizes of the leaf as statistics count them. A leaf that is seen by a view may have to read
    /// its postings for them; in [`Leaf::stats`] it only has the number of documents.
    fn sizes(&self) -> Result<LeafStats> {
        Ok(self.stats())
    }

    /// Returns the frequencies of a term as statistics count them: in the documents of a view, if the leaf is
    /// seen by one. [`TermRef::doc_freq`] is the length of the list.
    fn figures(&self, term: &TermRef) -> Result<TermFigures> {
        Ok(TermFigures { doc_freq: term.doc_freq.into(), total_freq: term.total_freq })
    }

    /// Returns false if a term that the leaf has is in no document of the view by which the leaf is seen.
    fn is_shown(&self, _term: &TermRef) -> Result<bool> {
        Ok(true)
    }

    /// Returns true if the leaf is seen by a view.
    fn is_of_view(&self) -> bool {
        false
    }

    /// Returns a bit for each document, lowest first, that is set if it is live. A leaf that is seen by a
    /// view must have it. Without it, [`Leaf::is_live`] is asked.
    fn live_bits(&self) -> Option<&[u64]> {
        None
    }

    /// Returns the same for the documents that have the field of the leaf in a view, if these are not all
    /// live documents. The lists of terms have other documents, too.
    fn field_bits(&self) -> Option<&[u64]> {
        None
    }

    /// Returns true if postings and positions are read only as far as needed, so that several threads can
    /// each begin at another place in a list.
    fn is_in_ranges(&self) -> bool {
        false
    }

    /// Returns the column of a field; `None` if no document of the leaf has a value.
    fn column(&self, _field: Field) -> Option<&Column> {
        None
    }

    /// Returns the key of a document: its path, with a line number if lines are documents.
    fn key(&self, doc: u32) -> Result<Vec<u8>>;

    /// Calls `found` with each document whose key is among `keys`, and the index of the key. The keys ascend.
    /// Documents come in any order, and may come several times or be deleted.
    fn documents_of_keys(&self, keys: &[Vec<u8>], found: &mut dyn FnMut(u32, usize)) -> Result<()> {
        each_key_among(keys, self.max_doc(), &|doc| self.key(doc), found)
    }
}

/// Calls `found` with each document below `max_doc` whose `key` is among `keys`, which ascend.
pub(super) fn each_key_among(
    keys: &[Vec<u8>],
    max_doc: u32,
    key: &dyn Fn(u32) -> Result<Vec<u8>>,
    found: &mut dyn FnMut(u32, usize),
) -> Result<()> {
    for doc in 0..max_doc {
        if let Ok(place) = keys.binary_search(&key(doc)?) {
            found(doc, place);
        }
    }
    Ok(())
}

/// The sizes of a leaf.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeafStats {
    /// The number of documents that are not deleted.
    pub documents: u64,
    /// The number of documents with at least one term, including deleted ones.
    pub documents_with_terms: u64,
    /// The number of tokens in all documents, including deleted ones.
    pub total_length: u64,
}

impl LeafStats {
    /// The sizes of two leaves together.
    pub(crate) fn plus(self, other: LeafStats) -> Self {
        LeafStats {
            documents: self.documents + other.documents,
            documents_with_terms: self.documents_with_terms + other.documents_with_terms,
            total_length: self.total_length + other.total_length,
        }
    }
}

/// The frequencies of a term.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TermFigures {
    /// The number of documents that contain the term.
    pub doc_freq: u64,
    /// The number of occurrences of the term in all of these documents.
    pub total_freq: u64,
}

/// A term of one leaf.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TermRef {
    /// The number of documents that contain the term, including deleted ones.
    pub doc_freq: u32,
    /// The number of occurrences of the term in all of these documents.
    pub total_freq: u64,
    /// The place of the postings. Its meaning is private to the leaf.
    pub handle: [u64; 2],
    /// The place of the positions. Its meaning is private to the leaf.
    pub positions: [u64; 2],
}

/// A cursor over the terms of a leaf. It starts before the first term.
pub trait TermStream {
    /// Moves to the next term. Returns false at the end.
    fn step(&mut self) -> Result<bool>;

    /// Moves to the first term, from the current one on, that is not before `target`. Returns false if there
    /// is none.
    fn seek(&mut self, target: &[u8]) -> Result<bool>;

    /// Returns the current term.
    fn term(&self) -> &[u8];

    /// Returns the reference of the current term.
    fn found(&mut self) -> Result<TermRef>;
}

/// The positions of a term.
pub enum PositionSource<'a> {
    /// Positions in the encoding of segments.
    Packed(Box<PositionCursor<'a>>),
    /// Positions in memory: ascending documents, and the positions in each.
    Decoded(Vec<u32>, Vec<Vec<u32>>),
}

impl PositionSource<'_> {
    /// Returns the ascending positions in the current document of the list of the same term; `None` if they
    /// are damaged.
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

    /// The positions of a posting of `doc` whose place and frequency are known.
    #[inline]
    pub(crate) fn at(&mut self, doc: u32, place: PostingPlace, tf: u32) -> Option<&[u32]> {
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

/// The postings of a term.
pub enum ListSource<'a> {
    /// The only posting of a term that occurs in one document.
    Single {
        /// The document that contains the term.
        doc: u32,
        /// The frequency of the term in the document.
        tf: u32,
    },
    /// A list in the encoding of segments.
    Packed(&'a [u8]),
    /// Postings in memory.
    Decoded {
        /// Documents below [`Leaf::max_doc`], strictly ascending.
        docs: Vec<u32>,
        /// The frequency in each document.
        tfs: Vec<u32>,
    },
}

impl ListSource<'_> {
    /// Returns a cursor at the first of the `doc_freq` postings in a leaf of `max_doc` documents.
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

/// Returns the error for a list that cannot be decoded.
pub(crate) fn damaged_list() -> Error {
    Error::corrupt("a postings list", "its blocks, its table and its length do not agree")
}
