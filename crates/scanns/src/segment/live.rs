//! Which documents of a segment are live.

use std::sync::Arc;

use super::deletes::Deletes;
use super::doc_bits::DocBits;
use super::reader::Segment;
use super::stats::SegmentStats;

impl Segment {
    /// Returns false for documents that are void or deleted, or that the view does not show.
    pub fn is_live(&self, doc: u32) -> bool {
        if let Some(view) = &self.view {
            return view.entries().contains(doc);
        }
        if let Some(live) = self.live.get() {
            return live.contains(doc);
        }
        doc < self.stats().max_doc
            && self.stats().void.binary_search(&doc).is_err()
            && !self.deletes.contains(doc)
    }

    /// Returns a bit for each document that is live: neither void nor deleted, and shown by the view; `None`
    /// if these are all documents.
    pub fn live_bits(&self) -> Option<&DocBits> {
        if let Some(view) = &self.view {
            return Some(view.entries());
        }
        let SegmentStats { max_doc, ref void, .. } = *self.stats();
        if void.is_empty() && self.deletes.count() == 0 {
            return None;
        }
        Some(self.live.get_or_init(|| {
            let mut live = DocBits::all(max_doc);
            void.iter().copied().chain(self.deletes.within(0..max_doc)).for_each(|doc| live.remove(doc));
            live
        }))
    }

    /// Returns the deleted documents.
    pub fn deletes(&self) -> &Deletes {
        &self.deletes
    }

    /// Deletes a document in this copy; returns false if it was already void or deleted.
    pub fn delete(&mut self, doc: u32) -> bool {
        if !self.is_live(doc) {
            return false;
        }
        match Arc::get_mut(&mut self.live) {
            Some(live) => drop(live.take()),
            None => self.live = Arc::default(),
        }
        Arc::make_mut(&mut self.deletes).insert(doc)
    }

    /// Returns the number of documents that are neither void nor deleted, and that the view shows.
    pub fn live_documents(&self) -> u64 {
        if let Some(view) = &self.view {
            return view.count();
        }
        self.stats().documents - self.deletes.count()
    }
}
