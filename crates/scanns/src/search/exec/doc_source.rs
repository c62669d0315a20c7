//! The documents of a [`DocSource`], the one kind of node that is a plain set.

use std::sync::Arc;

use crate::codec::{BLOCK, ListCursor};
use crate::error::Result;
use crate::search::doc_set::DocSet;
use crate::search::exec::bound_terms::BoundTerms;
use crate::search::exec::value_filter;
use crate::search::exec::view::View;
use crate::search::leaf::{ListSource, TermRef, damaged_list};
use crate::search::plan::node::DocSource;
use crate::search::terms::patterns::MAX_EXPANSIONS;

/// The documents of a source.
pub(crate) enum SourceDocs {
    /// Every document of the leaf.
    All,
    Set(Arc<DocSet>),
}

/// The documents of a source; long lists of a pattern are not read yet.
pub(crate) enum LazyDocs<'s> {
    /// Every document of the leaf.
    All,
    /// The union of lists and a set.
    Union { lists: Vec<ListCursor<'s>>, set: Option<Arc<DocSet>> },
}

impl<S> BoundTerms<'_, S> {
    /// The documents of a source. If only the documents `among` matter, others may be left out.
    pub(crate) fn docs(&self, view: &View, source: DocSource, among: Option<&[u32]>) -> Result<SourceDocs> {
        Ok(SourceDocs::Set(match source {
            DocSource::All => return Ok(SourceDocs::All),
            DocSource::Exists(field) => Arc::new(view.with_terms(field)),
            DocSource::Values(range) => Arc::new(value_filter::filter(view, self.plan.ranges[range], among)?),
            DocSource::Pattern(pattern) => {
                let terms = self.of_pattern(view, pattern)?;
                let leaf = view.through(self.plan.patterns[pattern].0);
                let set = &self.found.patterns[pattern].all;
                set.get_or_find(|| DocSet::of_terms(leaf, &terms, view.clock))?
            }
        }))
    }

    /// Does the same for callers that may read only some windows: they read the long lists of a pattern
    /// themselves.
    pub(crate) fn lazy_docs<'s>(
        &self,
        view: &View<'s>,
        source: DocSource,
        among: Option<&[u32]>,
    ) -> Result<LazyDocs<'s>> {
        let DocSource::Pattern(pattern) = source else {
            return Ok(match self.docs(view, source, among)? {
                SourceDocs::All => LazyDocs::All,
                SourceDocs::Set(set) => LazyDocs::Union { lists: Vec::new(), set: Some(set) },
            });
        };
        let terms = self.of_pattern(view, pattern)?;
        if terms.iter().any(|term| term.doc_freq == view.max_doc) {
            return Ok(LazyDocs::All);
        }
        let leaf = view.through(self.plan.patterns[pattern].0);
        let is_long = |term: &TermRef| term.doc_freq as usize >= BLOCK && terms.len() <= MAX_EXPANSIONS;
        let (long, mut short): (Vec<TermRef>, Vec<TermRef>) = terms.iter().partition(|&term| is_long(term));
        let mut lists = Vec::with_capacity(long.len());
        for term in long {
            if let ListSource::Packed(bytes) = leaf.postings(&term)? {
                lists.push(ListCursor::new(bytes, term.doc_freq, view.max_doc).ok_or_else(damaged_list)?);
            } else {
                short.push(term);
            }
        }
        if short.is_empty() && !lists.is_empty() {
            return Ok(LazyDocs::Union { lists, set: None });
        }
        let set = &self.found.patterns[pattern].short;
        let set = set.get_or_find(|| DocSet::of_terms(leaf, &short, view.clock))?;
        Ok(LazyDocs::Union { lists, set: Some(set) })
    }

    /// The terms of the leaf that a pattern matches.
    fn of_pattern(&self, view: &View, pattern: usize) -> Result<Arc<Vec<TermRef>>> {
        let (field, matcher) = &self.plan.patterns[pattern];
        let leaf = view.through(*field);
        let find = || matcher.terms(leaf, self.plan.expansions, view.clock);
        self.found.patterns[pattern].terms.get_or_find(find)
    }
}
