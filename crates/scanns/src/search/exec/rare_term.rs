//! Queries whose matches are all in the list of one rare term.

use crate::codec::{NO_MORE, count_below};
use crate::error::Result;
use crate::search::exec::bound_terms::BoundTerms;
use crate::search::exec::view::View;
use crate::search::leaf::{ListSource, damaged_list};
use crate::search::plan::node::{NodeKind, PlanNode};

/// Comparing the values of this many documents in a scan takes as long as looking up the value of one
/// document.
pub(crate) const RARE: u64 = 64;

impl<S> BoundTerms<'_, S> {
    /// The only documents that can match, if the query filters by values and requires a rare term.
    pub(crate) fn candidates(
        &self,
        view: &View,
        root: &PlanNode,
        sources: &[Option<ListSource>],
    ) -> Result<Option<Vec<u32>>> {
        let (false, NodeKind::Bool { must, .. }) = (self.plan.ranges.is_empty(), &root.kind) else {
            return Ok(None);
        };
        let term = |node: &PlanNode| match node.kind {
            NodeKind::Term(term) => Some(term),
            _ => None,
        };
        let Some(rarest) = must.iter().filter_map(term).min_by_key(|&term| self.doc_freq(term)) else {
            return Ok(None);
        };
        match &sources[rarest] {
            Some(source) if self.is_rare(view, rarest) => self.docs_of(view, rarest, source).map(Some),
            _ => Ok(None),
        }
    }

    /// The documents of a query that is nothing but a rare term.
    pub(crate) fn docs_of_rare(&self, view: &View, root: &PlanNode) -> Result<Option<Vec<u32>>> {
        match root.kind {
            NodeKind::Term(term) if self.is_rare(view, term) => match self.source(view, term)? {
                Some(source) => self.docs_of(view, term, &source).map(Some),
                None => Ok(Some(Vec::new())),
            },
            _ => Ok(None),
        }
    }

    fn is_rare(&self, view: &View, term: usize) -> bool {
        u64::from(self.doc_freq(term)) * RARE <= u64::from(view.end - view.first)
    }

    /// The documents of a term in the view.
    fn docs_of(&self, view: &View, term: usize, source: &ListSource) -> Result<Vec<u32>> {
        let mut cursor = self.cursor(view, term, source)?;
        cursor.advance(view.first);
        let mut docs = Vec::new();
        while cursor.doc() != NO_MORE && cursor.doc() < view.end {
            let rest = cursor.rest_of_docs();
            docs.extend_from_slice(rest);
            let count = rest.len();
            cursor.consume(count);
        }
        docs.truncate(count_below(&docs, view.end));
        if cursor.corrupt() { Err(damaged_list()) } else { Ok(docs) }
    }
}
