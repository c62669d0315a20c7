//! A leaf, or a range of its documents, as the loops see it.

use std::ops::Range;

use crate::codec::ListCursor;
use crate::error::{Error, Result};
use crate::search::budget::Clock;
use crate::search::doc_set::DocSet;
use crate::search::exec::bits::WINDOW;
use crate::search::fields::Fields;
use crate::search::leaf::Leaf;
use crate::search::plan::QueryPlan;

/// A range of documents begins and ends at a multiple of this, or with its leaf, so that no window is cut.
pub(crate) const GRAIN: u32 = 4_096;

const _: () = assert!(GRAIN.is_multiple_of(WINDOW));

/// A range of documents of a leaf, seen through the fields of a plan.
pub(crate) struct View<'a> {
    /// The leaf through any field. All fields have the same documents and the same deletions.
    pub(crate) leaf: &'a dyn Leaf,
    /// By field of the plan.
    fields: Vec<FieldLeaf<'a>>,
    /// Documents of the leaf.
    pub(crate) max_doc: u32,
    /// The first document of the range.
    pub(crate) first: u32,
    /// The document after the last one of the range.
    pub(crate) end: u32,
    all_live: bool,
    pub(crate) clock: Clock<'a>,
}

/// A leaf through one field, with a norm for every document.
struct FieldLeaf<'a> {
    leaf: &'a dyn Leaf,
    norms: &'a [u8],
}

impl<'a> View<'a> {
    /// All documents of leaf `number`.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if norms cannot be read or are missing.
    pub(crate) fn new(all: &Fields<'a>, plan: &QueryPlan, number: usize) -> Result<Self> {
        let leaf = all.leaf(all.default_place(), number);
        let max_doc = leaf.max_doc();
        let through = |&place: &usize| {
            let leaf = all.leaf(place, number);
            let norms = leaf.norms()?;
            if norms.len() < max_doc as usize {
                return Err(Error::corrupt("norms", format!("{} for {max_doc} documents", norms.len())));
            }
            Ok(FieldLeaf { leaf, norms })
        };
        let fields = plan.fields.iter().map(through).collect::<Result<_>>()?;
        let all_live = leaf.stats().documents >= u64::from(max_doc);
        Ok(View { leaf, fields, max_doc, first: 0, end: max_doc, all_live, clock: all.clock() })
    }

    /// Restricts the view to the documents from `first` to before `end`.
    pub(crate) fn between(mut self, first: u32, end: u32) -> Self {
        self.end = end.min(self.max_doc);
        self.first = first.min(self.end);
        self
    }

    /// True if the view covers the whole leaf.
    pub(crate) fn is_whole(&self) -> bool {
        self.first == 0 && self.end == self.max_doc
    }

    /// The blocks of a list that contain documents of the range.
    pub(crate) fn blocks_of(&self, list: &ListCursor) -> Range<usize> {
        if self.is_whole() {
            return 0..list.blocks();
        }
        let first = list.find_block(0, self.first);
        let last = list.find_block(first, self.end.saturating_sub(1));
        first..(last + 1).min(list.blocks())
    }

    /// The leaf through a field of the plan.
    pub(crate) fn through(&self, field: usize) -> &'a dyn Leaf {
        self.fields[field].leaf
    }

    /// The norms of a field of the plan.
    pub(crate) fn norms(&self, field: usize) -> &'a [u8] {
        self.fields[field].norms
    }

    /// The documents of the range that have any term in a field of the plan.
    pub(crate) fn with_terms(&self, field: usize) -> DocSet {
        DocSet::with_terms(self.norms(field), self.first, self.end)
    }

    /// False for deleted documents.
    #[inline]
    pub(crate) fn keeps(&self, doc: u32) -> bool {
        self.all_live || self.leaf.is_live(doc)
    }

    /// How many of `docs` are not deleted.
    pub(crate) fn count_kept(&self, docs: &[u32]) -> u64 {
        if self.all_live {
            docs.len() as u64
        } else {
            docs.iter().filter(|&&doc| self.keeps(doc)).count() as u64
        }
    }

    /// True if no document is deleted.
    pub(crate) fn all_live(&self) -> bool {
        self.all_live
    }
}

/// How many of the ascending `docs` are below `end`.
#[inline]
pub(crate) fn count_below(docs: &[u32], end: u32) -> usize {
    if docs.last().is_some_and(|&last| last < end) {
        docs.len()
    } else {
        docs.partition_point(|&doc| doc < end)
    }
}
