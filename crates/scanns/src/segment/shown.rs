//! A segment as a view shows it: only some of its documents exist, and of some of these only the metadata.
//!
//! The statistics of a view are those of an index that has nothing else. The figures of a term are found by
//! walking its list, a nanosecond for each posting, or by looking up the documents of the view, if they are
//! few. Figures and sizes are kept for as long as the view.

use std::sync::Arc;

use super::doc_bits::DocBits;
use super::lengths::exact_length;
use super::reader::Segment;
use super::terms::TermInfo;
use super::visible::{SegmentView, ShownFigures, ShownSet, ShownSizes, VisibleDocs};
use crate::codec::{ListCursor, NO_MORE};
use crate::error::Result;
use crate::schema::{Field, Schema};

/// Looking up a document in a list takes as long as reading this number of postings.
const LOOK_UP: u64 = 64;

impl Segment {
    /// Returns the segment as a view shows it. `schema` has the fields with their numbers in the segment,
    /// `metadata` are those that do not come from the content of documents, and `hidden` is one whose column
    /// no view shows. If it is seen by a view already, both must show what is to be seen. The lists of terms
    /// and most columns still have other documents: [`Segment::is_live`] and [`Segment::field_bits`] say
    /// which ones to leave out.
    ///
    /// # Errors
    /// [`Error::InvalidValue`](crate::Error::InvalidValue) if the documents are those of another segment.
    pub fn seen_by(
        mut self,
        visible: &VisibleDocs,
        metadata: &[Field],
        hidden: Option<Field>,
        schema: &Schema,
    ) -> Result<Self> {
        let mut view = SegmentView::new(self.stats(), self.deletes(), visible, metadata)?;
        if let Some(before) = self.view() {
            view = view.within(before);
        }
        self.view = Some(Arc::new(view));
        self.with_shown_columns(hidden, schema)
    }

    /// Returns the view, if the segment is seen by one.
    pub fn view(&self) -> Option<&SegmentView> {
        self.view.as_deref()
    }

    /// Returns the documents that have the field in a view, if they are fewer than those that exist.
    pub fn field_bits(&self) -> Option<&DocBits> {
        let view = self.view()?;
        view.contents().filter(|_| view.is_content(self.field()))
    }

    /// Returns true if the view shows the field in a document.
    pub fn shows_field(&self, doc: u32) -> bool {
        self.field_bits().is_none_or(|docs| docs.contains(doc))
    }

    /// Returns true if the content of a document may be read.
    pub fn has_content(&self, doc: u32) -> bool {
        let hidden = self.view().and_then(SegmentView::contents);
        hidden.is_none_or(|contents| contents.contains(doc))
    }

    /// Returns the frequencies of a term in the documents of the view; those of the segment without a view.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if the postings cannot be read.
    pub fn shown_figures(&self, term: TermInfo) -> Result<ShownFigures> {
        let (doc_freq, total_freq) = (u64::from(term.doc_freq()), term.total_freq());
        let all = ShownFigures { doc_freq, total_freq };
        let Some(view) = self.view() else { return Ok(all) };
        let shown = view.of_field(self.field());
        if shown.is_all() {
            return Ok(all);
        }
        let (doc_freq, offset, len) = match term {
            TermInfo::Single { doc, term_freq } => {
                let mut figures = ShownFigures::default();
                figures.add(term_freq, shown.docs.contains(doc));
                return Ok(figures);
            }
            TermInfo::List { doc_freq, offset, len, .. } => (doc_freq, offset, len),
        };
        if let Some(known) = view.figures(self.field(), offset) {
            return Ok(known);
        }
        let list = ListCursor::new(self.list(offset, len)?, doc_freq, self.stats().max_doc);
        let found = list.and_then(|list| count_shown(list, shown)).ok_or_else(|| self.damaged_list(b""))?;
        view.keep_figures(self.field(), offset, found);
        Ok(found)
    }

    /// Returns true if a term occurs in a document of the view; without a view, every term does.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if the postings cannot be read.
    pub fn is_shown(&self, term: TermInfo) -> Result<bool> {
        let Some(view) = self.view() else { return Ok(true) };
        let shown = view.of_field(self.field());
        match term {
            TermInfo::Single { doc, .. } => Ok(shown.docs.contains(doc)),
            TermInfo::List { doc_freq, offset, len, .. } => {
                let damaged = || self.damaged_list(b"");
                let bytes = self.list(offset, len)?;
                let mut list = ListCursor::new(bytes, doc_freq, self.stats().max_doc).ok_or_else(damaged)?;
                let first = first_shown(&mut list, &shown.docs);
                if list.corrupt() { Err(damaged()) } else { Ok(first.is_some()) }
            }
        }
    }

    /// Returns the sizes of the field in the documents of the view; those of the segment without a view.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if norms or postings cannot be read, [`Error::OutOfMemory`] without memory for the
    /// lengths of documents.
    pub fn shown_sizes(&self) -> Result<ShownSizes> {
        let stats = self.field_stats();
        let all = ShownSizes { documents_with_terms: stats.documents_with_terms, tokens: stats.tokens };
        let Some(view) = self.view() else { return Ok(all) };
        let shown = view.of_field(self.field());
        if !self.has_field() || shown.is_all() {
            return Ok(all);
        }
        if let Some(known) = view.sizes(self.field()) {
            return Ok(known);
        }
        let sizes = self.sizes_of(&shown.docs, all)?;
        view.keep_sizes(self.field(), sizes);
        Ok(sizes)
    }

    /// The sizes of the field in some documents; `all` are those in all documents.
    fn sizes_of(&self, docs: &DocBits, all: ShownSizes) -> Result<ShownSizes> {
        let (mut shown, mut hidden) = (LengthSum::default(), LengthSum::default());
        let mut documents_with_terms = 0;
        for (doc, &norm) in (0..).zip(self.norms()?) {
            let is_shown = docs.contains(doc);
            documents_with_terms += u64::from(is_shown && norm > 0);
            (if is_shown { &mut shown } else { &mut hidden }).add(norm);
        }
        let exact = self.has_lengths_in_norms();
        let tokens = match (shown.exact().filter(|_| exact), hidden.exact().filter(|_| exact)) {
            (Some(tokens), _) => tokens,
            (None, Some(hidden)) => all.tokens.saturating_sub(hidden),
            (None, None) => {
                let lengths = self.lengths()?;
                let length = |doc: u32| lengths.get(doc as usize).map_or(0, |&length| u64::from(length));
                docs.iter().map(length).sum()
            }
        };
        Ok(ShownSizes { documents_with_terms, tokens })
    }
}

/// A sum of lengths, and whether norms give all of them.
#[derive(Default)]
struct LengthSum {
    tokens: u64,
    is_rounded: bool,
}

impl LengthSum {
    #[inline]
    fn add(&mut self, norm: u8) {
        match exact_length(norm) {
            Some(length) => self.tokens += length,
            None => self.is_rounded = true,
        }
    }

    fn exact(&self) -> Option<u64> {
        (!self.is_rounded).then_some(self.tokens)
    }
}

/// The figures of a list in some documents; `None` if the list is damaged.
fn count_shown(mut list: ListCursor<'_>, shown: &ShownSet) -> Option<ShownFigures> {
    let mut figures = ShownFigures::default();
    if shown.count * LOOK_UP < u64::from(list.doc_freq()) {
        while first_shown(&mut list, &shown.docs).is_some() {
            figures.add(list.tf(), true);
            list.step();
        }
    } else {
        while list.doc() != NO_MORE {
            let (docs, freqs) = list.rest_of_block();
            docs.iter().zip(freqs).for_each(|(&doc, &tf)| figures.add(tf, shown.docs.contains(doc)));
            let count = docs.len();
            list.consume(count);
        }
    }
    (!list.corrupt()).then_some(figures)
}

/// Moves a list to its first document that is shown.
fn first_shown(list: &mut ListCursor<'_>, docs: &DocBits) -> Option<u32> {
    let mut doc = list.doc();
    while doc != NO_MORE {
        let next = docs.next(doc)?;
        if next == doc {
            return Some(doc);
        }
        doc = list.advance(next);
    }
    None
}
