//! The documents of a [`DocSource`], the one kind of node that is a plain set.

use std::sync::Arc;

use crate::codec::{BLOCK, ListCursor};
use crate::error::Result;
use crate::search::doc_set::{DocSet, DocSetBuilder};
use crate::search::exec::bound_terms::BoundTerms;
use crate::search::exec::view::View;
use crate::search::exec::{joined, value_filter, value_pattern};
use crate::search::leaf::{Leaf, ListSource, TermRef, damaged_list};
use crate::search::plan::found::PatternTerms;
use crate::search::plan::node::DocSource;
use crate::search::terms::patterns::MatchingTerms;

/// The maximum number of terms of a pattern in a leaf that are kept as a list. The documents of more terms
/// are collected in a set, in less memory and without reading the long lists lazily.
const MAX_LISTED: usize = 1024;

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
            DocSource::ValuePattern(pattern) => value_pattern::docs(view, self.plan, &self.found, pattern)?,
            DocSource::Joined(join) => joined::docs(view, self.plan.joins[join].query, &self.joins[join])?,
            DocSource::Pattern(pattern) => match &*self.of_pattern(view, pattern)? {
                PatternTerms::Docs(set) => Arc::clone(set),
                PatternTerms::Listed(terms) => {
                    let leaf = view.through(self.plan.patterns[pattern].0);
                    let set = &self.found.patterns[pattern].all;
                    set.get_or_find(|| DocSet::of_terms(leaf, terms, view.clock))?
                }
            },
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
        let found = self.of_pattern(view, pattern)?;
        let terms = match &*found {
            PatternTerms::Listed(terms) => terms,
            PatternTerms::Docs(set) => {
                return Ok(LazyDocs::Union { lists: Vec::new(), set: Some(Arc::clone(set)) });
            }
        };
        if terms.iter().any(|term| term.doc_freq == view.max_doc) {
            return Ok(LazyDocs::All);
        }
        let leaf = view.through(self.plan.patterns[pattern].0);
        let is_long = |term: &TermRef| term.doc_freq as usize >= BLOCK;
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

    /// What a pattern matches in the leaf: there is no limit on the number of terms.
    fn of_pattern(&self, view: &View, pattern: usize) -> Result<Arc<PatternTerms>> {
        let (field, matcher) = &self.plan.patterns[pattern];
        let leaf = view.through(*field);
        self.found.patterns[pattern].terms.get_or_find(|| {
            let mut matching = matcher.matching(leaf.into(), view.clock)?;
            let mut listed = Vec::new();
            while matching.next()? {
                listed.push(matching.found()?);
                if listed.len() > MAX_LISTED {
                    return add_rest(leaf, &listed, &mut matching);
                }
            }
            Ok(PatternTerms::Listed(listed))
        })
    }
}

/// Collects the documents of the terms found so far, and of the remaining ones.
fn add_rest(leaf: &dyn Leaf, listed: &[TermRef], rest: &mut MatchingTerms) -> Result<PatternTerms> {
    let mut docs = DocSetBuilder::new(leaf.max_doc());
    for term in listed {
        docs.add_term(leaf, term)?;
    }
    while rest.next()? {
        docs.add_term(leaf, &rest.found()?)?;
    }
    Ok(PatternTerms::Docs(Arc::new(docs.finish())))
}
