//! Segments and edits that have left their lane and are not yet part of a commit.
//!
//! An edit deletes documents or sets new values in them. It applies to the documents that were added before
//! it, in any lane, and not to later ones. A commit contains every operation up to some number and no later
//! one, so the documents of earlier commits are older than every edit here. For new segments, the number of
//! the operation that added each document is known.

use std::collections::HashMap;
use std::ops::{ControlFlow, Range};

use super::lane_buffer::{Edit, EditAction, EditTarget};
use crate::error::Result;
use crate::index::commit::column_setting::ColumnSetting;
use crate::index::field_views::FieldViews;
use crate::query::Query;
use crate::search::Model;
use crate::segment::{Changes, Flushed, Segment};
use crate::store::Unsynced;

/// A new segment, with the number of the operation that added each of its documents.
pub(super) struct NewSegment {
    pub(super) segment: Flushed,
    /// `None` once the segment is on the medium.
    pub(super) unsynced: Option<Unsynced>,
    pub(super) sequences: Vec<u64>,
}

/// The output of the lanes in one epoch, that is, before the same commit.
#[derive(Default)]
pub(super) struct EpochOutput {
    pub(super) segments: Vec<NewSegment>,
    pub(super) edits: Vec<Edit>,
}

impl EpochOutput {
    /// Bytes of memory in use.
    pub(super) fn bytes(&self) -> usize {
        let sequences: usize = self.segments.iter().map(|new| new.sequences.len() * 8).sum();
        sequences + self.edits.iter().map(Edit::bytes).sum::<usize>()
    }
}

/// Edits that can be applied to a segment together, because none depends on the result of another.
#[derive(Default)]
pub(super) struct EditBatch {
    /// The number of the latest deletion of each deleted key.
    deleted: HashMap<Vec<u8>, u64>,
    /// The settings of each key, by ascending number.
    set: HashMap<Vec<u8>, Vec<NumberedSetting>>,
    /// By ascending number.
    queries: Vec<QueryEdit>,
    /// The numbers of operations whose documents are deleted.
    withdrawn: Vec<u64>,
}

/// A setting and the number of its operation.
struct NumberedSetting {
    sequence: u64,
    setting: ColumnSetting,
}

/// An edit of the documents that a query matches.
struct QueryEdit {
    sequence: u64,
    query: Query,
    action: EditAction,
}

/// The changes that edits make to one segment.
#[derive(Default)]
pub(super) struct SegmentEdits {
    deleted: Vec<Range<u32>>,
    set: Vec<SettingOfDocuments>,
}

/// A setting of some documents, with the number of its operation. If there are several settings, the latest
/// one applies.
struct SettingOfDocuments {
    sequence: u64,
    documents: Range<u32>,
    setting: ColumnSetting,
}

impl EditBatch {
    /// Splits edits into batches, to be applied in order. A query that reads column values starts a new batch
    /// after a setting, because it may depend on the new values.
    pub(super) fn in_order(mut edits: Vec<Edit>) -> Vec<Self> {
        edits.sort_by_key(|edit| edit.sequence);
        let mut all = vec![EditBatch::default()];
        let mut has_set = false;
        for edit in edits {
            if has_set && matches!(&edit.target, EditTarget::Query(query) if query.reads_values()) {
                all.push(EditBatch::default());
                has_set = false;
            }
            has_set |= matches!(edit.action, EditAction::Set(_));
            if let Some(last) = all.last_mut() {
                last.add(edit);
            }
        }
        all.retain(|edits| !edits.is_empty());
        all
    }

    fn add(&mut self, Edit { target, action, sequence }: Edit) {
        match (target, action) {
            (EditTarget::Key(key), EditAction::Delete) => {
                let latest = self.deleted.entry(key).or_default();
                *latest = sequence.max(*latest);
            }
            (EditTarget::Key(key), EditAction::Set(setting)) => {
                self.set.entry(key).or_default().push(NumberedSetting { sequence, setting });
            }
            (EditTarget::Query(query), action) => self.queries.push(QueryEdit { sequence, query, action }),
            (EditTarget::Operation, _) => self.withdrawn.push(sequence),
        }
    }

    fn is_empty(&self) -> bool {
        self.deleted.is_empty() && self.set.is_empty() && self.queries.is_empty() && self.withdrawn.is_empty()
    }

    /// True if documents with this key are deleted.
    pub(super) fn deletes_key(&self, key: &[u8]) -> bool {
        self.deleted.contains_key(key)
    }

    /// Finds the changes that the edits make to a segment that contains only older documents.
    pub(super) fn in_old(&self, segment: &Segment) -> Result<SegmentEdits> {
        let deleted = segment.documents_named(self.deleted.keys().map(Vec::as_slice))?;
        let mut found = SegmentEdits { deleted, ..SegmentEdits::default() };
        for (key, settings) in &self.set {
            for documents in segment.documents_named([key.as_slice()])? {
                settings.iter().for_each(|setting| found.set.push(setting.of(documents.clone())));
            }
        }
        self.find_queried(segment, &|_| 0, &mut found)?;
        Ok(found)
    }

    /// Finds the changes that the edits make to a new segment, whose documents were added by the operations
    /// `sequences`.
    pub(super) fn in_new(&self, segment: &Segment, sequences: &[u64]) -> Result<SegmentEdits> {
        let added = |document: u32| sequences.get(document as usize).copied().unwrap_or(u64::MAX);
        let mut found = SegmentEdits::default();
        for operation in &self.withdrawn {
            // Numbers ascend in a segment.
            let below = |end: u64| sequences.partition_point(|&added| added < end);
            let [first, end] = [below(*operation), below(operation + 1)].map(u32::try_from);
            found.deleted.push(first.unwrap_or(u32::MAX)..end.unwrap_or(u32::MAX));
        }
        if !self.deleted.is_empty() || !self.set.is_empty() {
            segment.each_document_named(&mut |key, document| {
                if self.deleted.get(key).is_some_and(|&deleted| added(document) < deleted) {
                    found.deleted.push(document..document + 1);
                }
                let settings = self.set.get(key).into_iter().flatten();
                let later = settings.filter(|setting| added(document) < setting.sequence);
                found.set.extend(later.map(|setting| setting.of(document..document + 1)));
            })?;
        }
        self.find_queried(segment, &added, &mut found)?;
        Ok(found)
    }

    /// Finds the documents that the queries match among the documents added before each of them.
    fn find_queried(
        &self,
        segment: &Segment,
        added: &dyn Fn(u32) -> u64,
        found: &mut SegmentEdits,
    ) -> Result<()> {
        for QueryEdit { sequence, query, action } in &self.queries {
            each_match(segment, query, |document| {
                if added(document) < *sequence {
                    let documents = document..document + 1;
                    match action {
                        EditAction::Delete => found.deleted.push(documents),
                        EditAction::Set(setting) => {
                            let (sequence, setting) = (*sequence, setting.clone());
                            found.set.push(SettingOfDocuments { sequence, documents, setting });
                        }
                    }
                }
            })?;
        }
        Ok(())
    }
}

impl NumberedSetting {
    fn of(&self, documents: Range<u32>) -> SettingOfDocuments {
        SettingOfDocuments { sequence: self.sequence, documents, setting: self.setting.clone() }
    }
}

impl SegmentEdits {
    /// Applies the edits to the segment in which they were found.
    pub(super) fn apply(mut self, segment: &mut Segment) -> Result<()> {
        for document in self.deleted.into_iter().flatten() {
            segment.delete(document);
        }
        self.set.sort_by_key(|set| set.sequence);
        let mut changes = Changes::new();
        for SettingOfDocuments { documents, setting, .. } in self.set {
            for document in documents.filter(|&document| segment.is_live(document)) {
                setting.put(document, &mut changes);
            }
        }
        if changes.is_empty() { Ok(()) } else { segment.set(&changes) }
    }
}

/// Calls `found` with each document that a query matches.
fn each_match(segment: &Segment, query: &Query, mut found: impl FnMut(u32)) -> Result<()> {
    let views = FieldViews::of_query(query, segment);
    // The matches of a query in a segment must not depend on other segments or on the number of terms.
    views.searcher().exhaustive().for_each(query, Model::Classic, |hit| {
        found(hit.doc);
        ControlFlow::Continue(())
    })
}
