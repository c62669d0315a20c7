//! The documents of a segment that a view shows: the sets, and what is known of terms and fields over them.
//! `shown.rs` finds it out.

use std::collections::HashMap;
use std::sync::Mutex;

use super::deletes::Deletes;
use super::doc_bits::DocBits;
use super::stats::SegmentStats;
use crate::error::{Error, Result};
use crate::schema::Field;
use crate::sys::lock;

/// The number of terms whose figures are kept; with more, all are forgotten.
const KEPT: usize = 1 << 18;

/// The documents of a segment that a view shows. Deleted documents do not count, in either set or not.
///
/// What the sets say of a segment is all that a view knows of rights: who may see which document is for the
/// program to decide.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VisibleDocs {
    /// The documents that exist, with their metadata.
    pub entries: DocBits,
    /// The documents whose content may be read. A document that is not among `entries` does not exist.
    pub contents: DocBits,
}

impl VisibleDocs {
    /// All that is to be seen of documents, or nothing: their content may be read if they exist.
    pub fn whole(docs: DocBits) -> Self {
        VisibleDocs { entries: docs.clone(), contents: docs }
    }
}

/// The view of one segment, and what is known of it so far.
#[derive(Debug)]
pub struct SegmentView {
    entries: ShownSet,
    /// The documents with their content; `None` if these are all.
    contents: Option<ShownSet>,
    /// The fields that do not come from the content of documents, with their numbers in the segment.
    metadata: Vec<Field>,
    figures: Mutex<HashMap<(Field, u64), ShownFigures>>,
    sizes: Mutex<HashMap<Field, ShownSizes>>,
}

/// Documents and their number.
#[derive(Debug)]
pub(super) struct ShownSet {
    pub(super) docs: DocBits,
    pub(super) count: u64,
}

impl ShownSet {
    fn new(docs: DocBits) -> Self {
        ShownSet { count: docs.count(), docs }
    }

    /// True if these are all documents of the segment.
    pub(super) fn is_all(&self) -> bool {
        self.count == u64::from(self.docs.documents())
    }
}

/// The frequencies of a term in the documents of a view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShownFigures {
    /// The number of documents that contain the term.
    pub doc_freq: u64,
    /// The number of occurrences in all of them.
    pub total_freq: u64,
}

impl ShownFigures {
    /// Adds a posting, if it is shown.
    #[inline]
    pub(super) fn add(&mut self, tf: u32, is_shown: bool) {
        self.doc_freq += u64::from(is_shown);
        self.total_freq += if is_shown { u64::from(tf) } else { 0 };
    }
}

/// The sizes of a field in the documents of a view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShownSizes {
    /// The number of documents with a term.
    pub documents_with_terms: u64,
    /// The number of their tokens.
    pub tokens: u64,
}

impl SegmentView {
    /// The view of a segment with these figures and deletes. `metadata` are the fields that do not come from
    /// the content of documents.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] if the sets are those of another segment.
    pub(super) fn new(
        stats: &SegmentStats,
        deletes: &Deletes,
        visible: &VisibleDocs,
        metadata: &[Field],
    ) -> Result<Self> {
        let documents = stats.max_doc;
        for docs in [&visible.entries, &visible.contents] {
            if docs.documents() != documents {
                let what = "number of documents of a segment of a view";
                return Err(Error::invalid(what, docs.documents(), documents.to_string()));
            }
        }
        let mut entries = visible.entries.clone();
        stats.void.iter().for_each(|&doc| entries.remove(doc));
        deletes.within(0..documents).for_each(|doc| entries.remove(doc));
        let mut contents = visible.contents.clone();
        contents.intersect(&entries);
        Ok(SegmentView {
            contents: (contents != entries).then(|| ShownSet::new(contents)),
            entries: ShownSet::new(entries),
            metadata: metadata.to_vec(),
            figures: Mutex::default(),
            sizes: Mutex::default(),
        })
    }

    /// What this view and another view of the same segment both show.
    pub(super) fn within(self, other: &SegmentView) -> Self {
        let both = |mut docs: DocBits, others: &ShownSet| {
            docs.intersect(&others.docs);
            docs
        };
        let entries = both(self.entries.docs, &other.entries);
        let contents = self.contents.map_or_else(|| entries.clone(), |contents| contents.docs);
        let contents = both(contents, other.contents.as_ref().unwrap_or(&other.entries));
        SegmentView {
            contents: (contents != entries).then(|| ShownSet::new(contents)),
            entries: ShownSet::new(entries),
            ..self
        }
    }

    /// The documents that exist.
    pub fn entries(&self) -> &DocBits {
        &self.entries.docs
    }

    /// The number of documents that exist.
    pub fn count(&self) -> u64 {
        self.entries.count
    }

    /// The documents with their content, if not all that exist have it.
    pub fn contents(&self) -> Option<&DocBits> {
        self.contents.as_ref().map(|contents| &contents.docs)
    }

    /// True if a field comes from the content of documents, by its number in the segment.
    pub fn is_content(&self, field: Field) -> bool {
        !self.metadata.contains(&field)
    }

    /// The documents that have a field.
    pub(super) fn of_field(&self, field: Field) -> &ShownSet {
        match &self.contents {
            Some(contents) if self.is_content(field) => contents,
            _ => &self.entries,
        }
    }

    /// The figures of the term whose list is at this place of a field, if they are known.
    pub(super) fn figures(&self, field: Field, list: u64) -> Option<ShownFigures> {
        lock(&self.figures).get(&(field, list)).copied()
    }

    /// Keeps the figures of a term.
    pub(super) fn keep_figures(&self, field: Field, list: u64, found: ShownFigures) {
        let mut figures = lock(&self.figures);
        if figures.len() >= KEPT {
            figures.clear();
        }
        figures.insert((field, list), found);
    }

    /// The sizes of a field, if they are known.
    pub(super) fn sizes(&self, field: Field) -> Option<ShownSizes> {
        lock(&self.sizes).get(&field).copied()
    }

    /// Keeps the sizes of a field.
    pub(super) fn keep_sizes(&self, field: Field, found: ShownSizes) {
        lock(&self.sizes).insert(field, found);
    }
}
