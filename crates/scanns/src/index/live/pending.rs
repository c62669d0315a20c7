//! Segments, and what is to be done to documents, between leaving memory and being part of a commit.
//!
//! An edit, which deletes documents or gives them other values, concerns what was added before it, whichever lane added
//! that, and nothing that was added after. Since a commit takes everything up to one operation and nothing beyond, documents
//! of earlier commits are older than every edit at hand; of new segments it is known which operation added each document.

use std::collections::HashMap;
use std::ops::{ControlFlow, Range};

use super::part::{Action, Edit, Target};
use crate::error::Result;
use crate::index::update::Setting;
use crate::schema::Field;
use crate::search::{Leaf, Model, Query, Searcher};
use crate::segment::{Changes, Flushed, Segment};
use crate::store::Unsynced;

/// A segment that is written, with the number of the operation that added each of its documents.
pub(super) struct Landed {
    pub(super) segment: Flushed,
    /// None once it is on the medium.
    pub(super) unsynced: Option<Unsynced>,
    pub(super) sequences: Vec<u64>,
}

/// What left its lane before the same commit.
#[derive(Default)]
pub(super) struct Pending {
    pub(super) segments: Vec<Landed>,
    pub(super) edits: Vec<Edit>,
}

impl Pending {
    /// Memory that it takes.
    pub(super) fn bytes(&self) -> usize {
        let sequences: usize = self.segments.iter().map(|landed| landed.sequences.len() * 8).sum();
        sequences + self.edits.iter().map(Edit::bytes).sum::<usize>()
    }
}

/// Edits in the form in which they are applied, which do not depend on each other.
#[derive(Default)]
pub(super) struct Edits {
    /// Of each key that is deleted, the latest number.
    deleted: HashMap<Vec<u8>, u64>,
    /// Of each key that gets values, those by rising numbers.
    set: HashMap<Vec<u8>, Vec<(u64, Setting)>>,
    /// By rising numbers.
    queries: Vec<(u64, Field, Query, Action)>,
}

/// What becomes of the documents of a segment.
#[derive(Default)]
pub(super) struct Found {
    gone: Vec<Range<u32>>,
    /// By number of the operation, so that the latest counts.
    set: Vec<(u64, Range<u32>, Setting)>,
}

impl Edits {
    /// Edits one after the other: what a query finds by values of columns may depend on values that were set before.
    pub(super) fn in_turns(mut edits: Vec<Edit>) -> Vec<Self> {
        edits.sort_by_key(|edit| edit.sequence);
        let mut all = vec![Edits::default()];
        let mut has_set = false;
        for edit in edits {
            if has_set && matches!(&edit.target, Target::Query(_, query) if query.reads_values()) {
                all.push(Edits::default());
                has_set = false;
            }
            has_set |= matches!(edit.action, Action::Set(_));
            if let Some(last) = all.last_mut() {
                last.add(edit);
            }
        }
        all.retain(|edits| !edits.is_empty());
        all
    }

    fn add(&mut self, Edit { target, action, sequence }: Edit) {
        match (target, action) {
            (Target::Key(key), Action::Delete) => {
                let latest = self.deleted.entry(key).or_default();
                *latest = sequence.max(*latest);
            }
            (Target::Key(key), Action::Set(setting)) => {
                self.set.entry(key).or_default().push((sequence, setting));
            }
            (Target::Query(field, query), action) => self.queries.push((sequence, field, query, action)),
        }
    }

    fn is_empty(&self) -> bool {
        self.deleted.is_empty() && self.set.is_empty() && self.queries.is_empty()
    }

    /// True if documents with this key are deleted.
    pub(super) fn delete(&self, key: &[u8]) -> bool {
        self.deleted.contains_key(key)
    }

    /// What becomes of a segment all of whose documents are older than the edits.
    pub(super) fn in_old(&self, segment: &Segment) -> Result<Found> {
        let gone = segment.documents_named(self.deleted.keys().map(Vec::as_slice))?;
        let mut found = Found { gone, ..Found::default() };
        for (key, settings) in &self.set {
            for documents in segment.documents_named([key.as_slice()])? {
                let of =
                    |(sequence, setting): &(u64, Setting)| (*sequence, documents.clone(), setting.clone());
                found.set.extend(settings.iter().map(of));
            }
        }
        self.queried(segment, &|_| 0, &mut found)?;
        Ok(found)
    }

    /// What becomes of a segment whose documents were added by the operations `sequences`.
    pub(super) fn in_new(&self, segment: &Segment, sequences: &[u64]) -> Result<Found> {
        let added = |document: u32| sequences.get(document as usize).copied().unwrap_or(u64::MAX);
        let mut found = Found::default();
        if !self.deleted.is_empty() || !self.set.is_empty() {
            segment.each_document_named(&mut |key, document| {
                if self.deleted.get(key).is_some_and(|&deleted| added(document) < deleted) {
                    found.gone.push(document..document + 1);
                }
                for (sequence, setting) in self.set.get(key).into_iter().flatten() {
                    if added(document) < *sequence {
                        found.set.push((*sequence, document..document + 1, setting.clone()));
                    }
                }
            })?;
        }
        self.queried(segment, &added, &mut found)?;
        Ok(found)
    }

    /// What queries find among documents that were added before.
    fn queried(&self, segment: &Segment, added: &dyn Fn(u32) -> u64, found: &mut Found) -> Result<()> {
        for (sequence, field, query, action) in &self.queries {
            matching(segment, *field, query, |document| {
                if added(document) < *sequence {
                    let document = document..document + 1;
                    match action {
                        Action::Delete => found.gone.push(document),
                        Action::Set(setting) => found.set.push((*sequence, document, setting.clone())),
                    }
                }
            })?;
        }
        Ok(())
    }
}

impl Found {
    /// Does it.
    pub(super) fn apply(mut self, segment: &mut Segment) -> Result<()> {
        for document in self.gone.into_iter().flatten() {
            segment.delete(document);
        }
        self.set.sort_by_key(|(sequence, ..)| *sequence);
        let mut changes = Changes::new();
        for (_, documents, setting) in self.set {
            for document in documents.filter(|&document| segment.is_live(document)) {
                setting.put(document, &mut changes);
            }
        }
        if changes.is_empty() { Ok(()) } else { segment.set(&changes) }
    }
}

fn matching(segment: &Segment, field: Field, query: &Query, mut found: impl FnMut(u32)) -> Result<()> {
    let views: Vec<(Field, Segment)> =
        query.fields().into_iter().chain([field]).map(|field| (field, segment.in_field(field))).collect();
    let leaves = views.iter().map(|(field, view)| (*field, vec![view as &dyn Leaf])).collect();
    // A segment must not be judged by its neighbours, nor be too rich in terms to be judged at all.
    Searcher::over(leaves, field).exhaustive().for_each(query, Model::Classic, |hit| {
        found(hit.doc);
        ControlFlow::Continue(())
    })
}
