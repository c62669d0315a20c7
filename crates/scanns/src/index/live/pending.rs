//! Segments and deletes between leaving memory and being part of a commit.
//!
//! A delete concerns what was added before it, whichever lane added that, and nothing that was added after. Since a
//! commit takes everything up to one operation and nothing beyond, documents of earlier commits are older than every
//! delete at hand; of new segments it is known which operation added each document.

use std::collections::HashMap;
use std::ops::{ControlFlow, Range};

use super::part::{Delete, Target};
use crate::error::Result;
use crate::schema::Field;
use crate::search::{Leaf, Model, Query, Searcher};
use crate::segment::{Flushed, Segment};
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
    pub(super) deletes: Vec<Delete>,
}

impl Pending {
    /// Memory that it takes.
    pub(super) fn bytes(&self) -> usize {
        let sequences: usize = self.segments.iter().map(|landed| landed.sequences.len() * 8).sum();
        sequences + self.deletes.iter().map(|(target, _)| target.bytes()).sum::<usize>()
    }
}

/// Deletes in the form in which they are applied: of each key, the latest.
pub(super) struct Deletes {
    keys: HashMap<Vec<u8>, u64>,
    queries: Vec<(Field, Query, u64)>,
}

impl Deletes {
    pub(super) fn new(deletes: Vec<Delete>) -> Self {
        let mut all = Deletes { keys: HashMap::new(), queries: Vec::new() };
        for (target, sequence) in deletes {
            match target {
                Target::Key(key) => {
                    let latest = all.keys.entry(key).or_default();
                    *latest = sequence.max(*latest);
                }
                Target::Query(field, query) => all.queries.push((field, query, sequence)),
            }
        }
        all
    }

    pub(super) fn is_empty(&self) -> bool {
        self.keys.is_empty() && self.queries.is_empty()
    }

    /// True if documents with this key are deleted.
    pub(super) fn names(&self, key: &[u8]) -> bool {
        self.keys.contains_key(key)
    }

    /// What falls out of a segment all of whose documents are older than the deletes.
    pub(super) fn in_old(&self, segment: &Segment) -> Result<Vec<Range<u32>>> {
        let mut found = segment.documents_named(self.keys.keys().map(Vec::as_slice))?;
        for (field, query, _) in &self.queries {
            matching(segment, *field, query, |document| found.push(document..document + 1))?;
        }
        Ok(found)
    }

    /// What falls out of a segment whose documents were added by the operations `sequences`.
    pub(super) fn in_new(&self, segment: &Segment, sequences: &[u64]) -> Result<Vec<Range<u32>>> {
        let added = |document: u32| sequences.get(document as usize).copied().unwrap_or(u64::MAX);
        let mut found = Vec::new();
        segment.each_document_named(&mut |key, document| {
            if self.keys.get(key).is_some_and(|&deleted| added(document) < deleted) {
                found.push(document..document + 1);
            }
        })?;
        for (field, query, deleted) in &self.queries {
            matching(segment, *field, query, |document| {
                if added(document) < *deleted {
                    found.push(document..document + 1);
                }
            })?;
        }
        Ok(found)
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
