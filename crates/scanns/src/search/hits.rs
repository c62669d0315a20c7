//! All hits of a query as an iterator.

use std::ops::ControlFlow;
use std::vec::IntoIter;

use super::parallel::LeafRange;
use super::prepared::PreparedQuery;
use super::similarity::Model;
use super::top_k::Hit;
use crate::error::{Error, Result};
use crate::search::exec::view::GRAIN;

/// Number of documents of a leaf that are searched together. Between them the iterator stores only its place.
const DOCUMENTS: u32 = if cfg!(test) { GRAIN } else { 16 * GRAIN };

/// The hits of a query in document order: see [`PreparedQuery::hits`].
pub struct Hits<'p, 's, 'a, 'q> {
    prepared: &'p PreparedQuery<'s, 'a, 'q>,
    model: Model,
    /// The next document to search.
    leaf: usize,
    first: u32,
    /// The hits of the documents that were searched last.
    found: IntoIter<Hit>,
    /// The error that ended the search, to be returned after these hits.
    failed: Option<Error>,
}

impl<'s, 'a, 'q> PreparedQuery<'s, 'a, 'q> {
    /// Returns an iterator over all hits in document order, which searches as it is advanced. The hits are
    /// the same as in [`PreparedQuery::for_each`], which takes less time per hit and may use several threads.
    ///
    /// If an error occurs, the iterator returns the hits before the damage, then the error, and then ends. It
    /// also ends when the budget of the searcher [ran out](crate::search::Budget::ran_out).
    ///
    /// # Errors
    /// [`Error::InvalidValue`](crate::Error::InvalidValue) for a parameter of the model outside its range.
    pub fn hits<'p>(&'p self, model: Model) -> Result<Hits<'p, 's, 'a, 'q>> {
        model.check()?;
        Ok(Hits { prepared: self, model, leaf: 0, first: 0, found: Vec::new().into_iter(), failed: None })
    }
}

impl Hits<'_, '_, '_, '_> {
    /// Finds the hits of the next documents; false if there are no more documents.
    fn look_further(&mut self) -> bool {
        let fields = self.prepared.fields();
        let Some(of) = fields.all_leaves().get(self.leaf).filter(|_| !fields.clock().is_up()) else {
            self.end();
            return false;
        };
        let max_doc = of.max_doc();
        let count = if of.is_in_ranges() { DOCUMENTS } else { max_doc };
        let end = self.first.saturating_add(count).min(max_doc);
        let range = LeafRange { leaf: self.leaf, first: self.first, end };
        (self.leaf, self.first) = if end == max_doc { (self.leaf + 1, 0) } else { (self.leaf, end) };
        let mut found = Vec::new();
        let mut sink = |docs: &[u32], scores: &[f32]| {
            let hits = docs.iter().zip(scores);
            found.extend(hits.map(|(&doc, &score)| Hit { score, leaf: range.leaf, doc }));
            ControlFlow::Continue(())
        };
        let result = self
            .prepared
            .run(self.model, &mut |run| self.prepared.live(&range, run.in_range, &mut sink).map(drop));
        self.found = found.into_iter();
        self.failed = result.err();
        true
    }

    fn end(&mut self) {
        self.leaf = usize::MAX;
    }
}

impl Iterator for Hits<'_, '_, '_, '_> {
    type Item = Result<Hit>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(hit) = self.found.next() {
                return Some(Ok(hit));
            }
            if let Some(error) = self.failed.take() {
                self.end();
                return Some(Err(error));
            }
            if !self.look_further() {
                return None;
            }
        }
    }
}
