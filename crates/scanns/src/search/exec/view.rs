//! A leaf, or a range of its documents, as the loops see it.

use std::ops::Range;
use std::sync::Arc;

use crate::codec::{ListCursor, set_range};
use crate::error::{Error, Result};
use crate::search::budget::Clock;
use crate::search::doc_set::DocSet;
use crate::search::exec::bits::{MatchBits, WINDOW};
use crate::search::fields::Fields;
use crate::search::filter_cache::{FilterBits, FilterCache, FilterPlace};
use crate::search::leaf::Leaf;
use crate::search::plan::QueryPlan;
use crate::segment::has_bit;

/// A range of documents begins and ends at a multiple of this, or with its leaf, so that no window is cut.
pub(crate) const GRAIN: u32 = 4_096;

const _: () = assert!(GRAIN.is_multiple_of(WINDOW));

/// A range of documents of a leaf, seen through the fields of a plan.
pub(crate) struct View<'a> {
    /// The leaf through any field. All fields have the same documents and the same deletions.
    pub(crate) leaf: &'a dyn Leaf,
    /// The first field of the plan, and the other ones.
    field: FieldLeaf<'a>,
    others: Vec<FieldLeaf<'a>>,
    /// Documents of the leaf.
    pub(crate) max_doc: u32,
    /// The first document of the range.
    pub(crate) first: u32,
    /// The document after the last one of the range.
    pub(crate) end: u32,
    live: LiveDocs<'a>,
    /// True if few documents may be kept, since the leaf is seen by a view or its documents are filtered.
    keeps_few: bool,
    pub(crate) clock: Clock<'a>,
    /// The number of the leaf.
    number: usize,
    /// The documents of filters that repeat, if they are kept.
    filters: Option<&'a FilterCache>,
}

/// The documents of a leaf that can be hits.
#[derive(Clone, Copy)]
enum LiveDocs<'a> {
    All,
    /// Those that the leaf says are live.
    OfLeaf,
    /// Those whose bits are set.
    Bits(&'a [u64]),
}

/// A leaf through one field, with a norm for every document.
#[derive(Clone)]
struct FieldLeaf<'a> {
    leaf: &'a dyn Leaf,
    norms: &'a [u8],
    /// The documents that have the field, if others can be hits.
    only: Option<&'a [u64]>,
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
            let only = leaf.field_bits().filter(|_| plan.content.is_none());
            Ok(FieldLeaf { leaf, norms, only })
        };
        let (first, others) = plan
            .fields
            .split_first()
            .map_or((all.default_place(), &[][..]), |(&first, others)| (first, others));
        let field = through(&first)?;
        let others: Vec<FieldLeaf> = others.iter().map(through).collect::<Result<_>>()?;
        let content = plan.content.and_then(|place| field_at(&field, &others, place)?.leaf.field_bits());
        let all_live = || leaf.stats().documents >= u64::from(max_doc);
        let live = match content {
            Some(bits) => LiveDocs::Bits(bits),
            None if all_live() => LiveDocs::All,
            None => leaf.live_bits().map_or(LiveDocs::OfLeaf, LiveDocs::Bits),
        };
        let (keeps_few, clock) = (leaf.is_of_view(), all.clock());
        let (first, end, filters) = (0, max_doc, all.filters());
        Ok(View { leaf, field, others, max_doc, first, end, live, keeps_few, clock, number, filters })
    }

    /// The documents of a filter in the range, if they are kept. `key` identifies the filter.
    pub(crate) fn kept_filter(&self, key: &Arc<[u8]>) -> Option<Arc<FilterBits>> {
        self.filters?.get(&self.place_of_filter(key))
    }

    /// Keeps the documents of a filter in the range if it comes again.
    pub(crate) fn keep_filter(&self, key: &Arc<[u8]>, bits: &Arc<FilterBits>) {
        // What was found when the time was up is not all.
        if let Some(filters) = self.filters.filter(|_| !self.clock.is_up()) {
            filters.offer(self.place_of_filter(key), bits);
        }
    }

    fn place_of_filter(&self, key: &Arc<[u8]>) -> FilterPlace {
        FilterPlace { key: key.clone(), leaf: self.number, docs: self.first..self.end }
    }

    /// The part of the view from `first` to before `end`.
    pub(crate) fn part(&self, first: u32, end: u32) -> Self {
        View { field: self.field.clone(), others: self.others.clone(), ..*self }.between(first, end)
    }

    /// The view with only the documents whose bits are set: one for each document of the leaf.
    pub(crate) fn keeping<'m>(&self, bits: &'m [u64]) -> View<'m>
    where
        'a: 'm,
    {
        let (field, others) = (self.field.clone(), self.others.clone());
        // What a filter matches among these documents is not what it matches.
        View { field, others, live: LiveDocs::Bits(bits), keeps_few: true, filters: None, ..*self }
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

    /// How many of this number of documents of the leaf are in the range, if they are spread evenly.
    pub(crate) fn share_of(&self, documents: u64) -> u64 {
        let range = u64::from(self.end - self.first);
        documents.saturating_mul(range).checked_div(self.max_doc.into()).unwrap_or(0)
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
        self.of_field(field).leaf
    }

    /// The leaf through a field of the plan; through the first one if the plan has fewer.
    #[inline]
    fn of_field(&self, field: usize) -> &FieldLeaf<'a> {
        field_at(&self.field, &self.others, field).unwrap_or(&self.field)
    }

    /// The norms of a field of the plan.
    pub(crate) fn norms(&self, field: usize) -> &'a [u8] {
        self.of_field(field).norms
    }

    /// The documents of the range that have any term in a field of the plan.
    pub(crate) fn with_terms(&self, field: usize) -> DocSet {
        DocSet::with_terms(self.norms(field), self.first, self.end)
    }

    /// False for documents that are deleted or that a view does not show.
    #[inline]
    pub(crate) fn keeps(&self, doc: u32) -> bool {
        match self.live {
            LiveDocs::All => true,
            LiveDocs::OfLeaf => self.leaf.is_live(doc),
            LiveDocs::Bits(bits) => has_bit(bits, doc),
        }
    }

    /// How many of `docs` are kept.
    pub(crate) fn count_kept(&self, docs: &[u32]) -> u64 {
        if self.all_live() {
            docs.len() as u64
        } else {
            docs.iter().filter(|&&doc| self.keeps(doc)).count() as u64
        }
    }

    /// Keeps the bits of documents that are kept, in the window that begins with `start`. Returns false
    /// without a change if only [`View::keeps`] can tell.
    #[inline]
    pub(crate) fn keep_bits(&self, start: u32, bits: &mut MatchBits) -> bool {
        match self.live {
            LiveDocs::All => true,
            LiveDocs::OfLeaf => false,
            LiveDocs::Bits(live) => {
                keep_window(live, start, bits);
                true
            }
        }
    }

    /// A bit for each document that is kept, if not all are and the leaf has bits.
    pub(crate) fn kept_bits(&self) -> Option<&'a [u64]> {
        match self.live {
            LiveDocs::Bits(live) => Some(live),
            LiveDocs::All | LiveDocs::OfLeaf => None,
        }
    }

    /// A bit for each document that is kept, if these may be few.
    pub(crate) fn shown_bits(&self) -> Option<&'a [u64]> {
        self.kept_bits().filter(|_| self.keeps_few)
    }

    /// False if none of these documents is kept, as far as bits tell.
    #[inline]
    pub(crate) fn may_keep(&self, docs: Range<u32>) -> bool {
        match self.live {
            LiveDocs::Bits(live) => any_bit(live, docs),
            LiveDocs::All | LiveDocs::OfLeaf => true,
        }
    }

    /// Sets the bits of all documents of the range that are kept; `None` if the leaf has no bits for them.
    pub(crate) fn kept_of_range(&self) -> Option<Vec<u64>> {
        let mut kept = vec![0; (self.max_doc as usize).div_ceil(64)];
        set_range(self.first.into(), self.end.into(), &mut kept);
        match self.live {
            LiveDocs::All => {}
            LiveDocs::OfLeaf => return None,
            LiveDocs::Bits(bits) => {
                let (first, end) = ((self.first / 64) as usize, (self.end as usize).div_ceil(64));
                let words = kept.iter_mut().zip(bits).take(end).skip(first);
                words.for_each(|(kept, bits)| *kept &= bits);
            }
        }
        Some(kept)
    }

    /// True if all documents are kept.
    pub(crate) fn all_live(&self) -> bool {
        matches!(self.live, LiveDocs::All)
    }

    /// True if the documents are those of a view.
    pub(crate) fn is_of_view(&self) -> bool {
        self.leaf.is_of_view()
    }

    /// The documents that have a field of the plan, if others can be hits.
    pub(crate) fn only(&self, field: usize) -> Option<&'a [u64]> {
        field_at(&self.field, &self.others, field).and_then(|field| field.only)
    }

    /// True if some documents that can be hits lack a field of the plan although lists have them.
    pub(crate) fn hides_fields(&self) -> bool {
        self.field.only.is_some() || self.others.iter().any(|field| field.only.is_some())
    }
}

/// A field of a plan by its place.
#[inline]
fn field_at<'f, 'a>(
    first: &'f FieldLeaf<'a>,
    others: &'f [FieldLeaf<'a>],
    place: usize,
) -> Option<&'f FieldLeaf<'a>> {
    place.checked_sub(1).map_or(Some(first), |place| others.get(place))
}

/// True if a bit is set in this range.
fn any_bit(live: &[u64], docs: Range<u32>) -> bool {
    let (first, last) = (docs.start / 64, docs.end.saturating_sub(1) / 64);
    let words = live.get(first as usize..=(last as usize).min(live.len().saturating_sub(1)));
    let mut words = (first..).zip(words.unwrap_or_default());
    words.any(|(place, &word)| {
        let from = if place == first { u64::MAX << (docs.start % 64) } else { u64::MAX };
        let to = if place == last { u64::MAX >> (63 - docs.end.saturating_sub(1) % 64) } else { u64::MAX };
        word & from & to != 0
    })
}

/// Keeps the bits of a window that are set in `live`, which has a bit for each document.
#[inline]
pub(crate) fn keep_window(live: &[u64], start: u32, bits: &mut MatchBits) {
    let live = live.get((start / 64) as usize..).unwrap_or_default();
    let count = live.len().min(bits.len());
    let (known, beyond) = bits.split_at_mut(count);
    known.iter_mut().zip(live).for_each(|(word, live)| *word &= live);
    beyond.fill(0);
}
