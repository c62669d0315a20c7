//! Finds which documents match, without scores: a bit for each, one window of documents at a time.
//!
//! Lists are written into the window posting by posting, and nesting costs a handful of instructions per 64
//! documents. If few documents of a window are left that all clauses of a list could contain, they are looked
//! up in the other lists instead, which skips blocks. Windows that a required list does not reach are
//! skipped.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::phrase::PhraseMatcher;
use crate::codec::{ListCursor, NO_MORE, WindowedList, count_ones};
use crate::error::Result;
use crate::search::doc_set::DocSet;
use crate::search::exec::bits::{MatchBits, NONE, WINDOW, clear, docs_of, merge, set_if};
use crate::search::exec::bound_terms::BoundTerms;
use crate::search::exec::doc_source::{LazyDocs, SourceDocs};
use crate::search::exec::view::{View, keep_window};
use crate::search::leaf::{ListSource, damaged_list};
use crate::search::plan::node::{DocSource, NodeKind, PlanNode};
use crate::search::top_k::TopK;

/// Looking up a document takes as long as reading this many postings.
const LOOK_UP: u64 = 16;

/// The number of matches that are not deleted.
pub(crate) fn count(root: &PlanNode, view: &View, terms: BoundTerms<()>) -> Result<u64> {
    let sources = terms.sources(view)?;
    let among = terms.candidates(view, root, &sources)?;
    let builder = SetBuilder { view, terms, sources: &sources, among: among.as_deref() };
    let Some(mut set) = builder.node(root)? else { return Ok(0) };
    if let Some(known) = set.known_size().filter(|_| view.all_live()) {
        // The size covers the whole leaf: the range that begins with the first document counts it.
        return Ok(if view.first == 0 { known } else { 0 });
    }
    let mut count = 0;
    each_window(&mut set, view, |start, bits| {
        count += if view.keep_bits(start, bits) {
            count_ones(&bits[..])
        } else {
            docs_of(start, bits).filter(|&doc| view.keeps(doc)).count() as u64
        };
        ControlFlow::Continue(())
    })?;
    Ok(count)
}

/// Calls `visit` with windows of matches that are not deleted, until it breaks: the first document of the
/// window, a multiple of [`WINDOW`], and its bits.
pub(crate) fn visit(
    root: &PlanNode,
    view: &View,
    terms: BoundTerms<()>,
    mut visit: impl FnMut(u32, &MatchBits) -> ControlFlow<()>,
) -> Result<()> {
    let sources = terms.sources(view)?;
    let among = terms.candidates(view, root, &sources)?;
    let builder = SetBuilder { view, terms, sources: &sources, among: among.as_deref() };
    let Some(mut set) = builder.node(root)? else { return Ok(()) };
    each_window(&mut set, view, |start, bits| {
        if view.keep_bits(start, bits) {
            return visit(start, bits);
        }
        let mut live = *bits;
        for doc in docs_of(start, bits).filter(|&doc| !view.keeps(doc)) {
            clear(&mut live, doc);
        }
        visit(start, &live)
    })
}

/// A bit for each document of the leaf, which is set for the matches in the view that are not deleted.
pub(crate) fn mask(node: &PlanNode, view: &View, terms: BoundTerms<()>) -> Result<Vec<u64>> {
    let mut mask = vec![0; (view.max_doc as usize).div_ceil(64)];
    visit(node, view, terms, |start, bits| {
        let words = mask.iter_mut().skip((start / 64) as usize);
        words.zip(bits).for_each(|(word, bits)| *word = *bits);
        ControlFlow::Continue(())
    })?;
    Ok(mask)
}

/// Some matches.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MatchedDocs<'m> {
    /// Ascending numbers.
    Docs(&'m [u32]),
    /// A bit for each document of the window that begins with this one.
    Window(u32, &'m MatchBits),
}

/// Calls `visit` with the matches that are not deleted, in order, until it breaks. The documents of a rare
/// term are listed, since their windows would be nearly empty.
pub(crate) fn visit_all(
    root: &PlanNode,
    view: &View,
    terms: BoundTerms<()>,
    mut visit: impl FnMut(MatchedDocs<'_>) -> ControlFlow<()>,
) -> Result<()> {
    let Some(mut docs) = terms.docs_of_rare(view, root)? else {
        return self::visit(root, view, terms, |start, bits| visit(MatchedDocs::Window(start, bits)));
    };
    docs.retain(|&doc| view.keeps(doc));
    // It only ends early if `visit` breaks.
    let _ = docs.chunks(WINDOW as usize).try_for_each(|docs| visit(MatchedDocs::Docs(docs)));
    Ok(())
}

/// Offers matches in order, all with one score, until no more are wanted.
pub(crate) fn offer_all<S>(
    root: &PlanNode,
    score: f32,
    view: &View,
    terms: BoundTerms<S>,
    top: &mut TopK,
) -> Result<()> {
    if !top.admits_now(score, view.first) {
        return Ok(());
    }
    let terms = BoundTerms::unscored(terms.plan, terms.found);
    let sources = terms.sources(view)?;
    let among = terms.candidates(view, root, &sources)?;
    let builder = SetBuilder { view, terms, sources: &sources, among: among.as_deref() };
    let Some(mut set) = builder.node(root)? else { return Ok(()) };
    each_window(&mut set, view, |start, bits| {
        for doc in docs_of(start, bits) {
            if view.keeps(doc) {
                top.push(doc, score);
            }
        }
        let next = start.saturating_add(WINDOW);
        if top.admits_now(score, next) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })
}

/// Calls `each` with every window in which something may match, and its matches, until it breaks.
fn each_window(
    set: &mut Set,
    view: &View,
    mut each: impl FnMut(u32, &mut MatchBits) -> ControlFlow<()>,
) -> Result<()> {
    let mut next = set.next(view.first);
    while next < view.end && !view.clock.is_up() {
        let start = next - next % WINDOW;
        let mut bits = NONE;
        set.fill(start, &mut bits);
        if each(start, &mut bits).is_break() {
            break;
        }
        next = set.next(start.saturating_add(WINDOW));
    }
    if set.corrupt() { Err(damaged_list()) } else { Ok(()) }
}

struct SetBuilder<'b, 's> {
    view: &'b View<'s>,
    terms: BoundTerms<'s, ()>,
    /// By term.
    sources: &'s [Option<ListSource<'s>>],
    /// The only documents that can match, if they are known.
    among: Option<&'b [u32]>,
}

impl<'s> SetBuilder<'_, 's> {
    /// The documents of a node; `None` if nothing in this leaf can match it.
    fn node(&self, node: &PlanNode) -> Result<Option<Set<'s>>> {
        let max_doc = self.view.max_doc;
        Ok(match &node.kind {
            NodeKind::Term(term) => {
                let set = match &self.sources[*term] {
                    None => None,
                    // Every document contains the term.
                    Some(_) if self.terms.doc_freq(*term) == max_doc => Some(Set::All { max_doc }),
                    Some(source) => Some(Set::list(self.terms.cursor(self.view, *term, source)?)),
                };
                set.map(|set| self.within(self.terms.plan.field_of(*term), set))
            }
            NodeKind::Bool { must, should, must_not, at_least } => {
                return self.list(must, should, must_not, *at_least);
            }
            NodeKind::Best { any, .. } => {
                let any = self.nodes(any)?;
                (!any.is_empty()).then(|| Set::any(any))
            }
            NodeKind::Filter(node) | NodeKind::Scored(node, _) => return self.node(node),
            NodeKind::Phrase { terms, slop } => {
                let lists: Option<Vec<_>> =
                    terms.iter().map(|&(_, term)| self.sources[term].as_ref()).collect();
                let Some(lists) = lists else { return Ok(None) };
                let matcher = self.terms.phrase_matcher(self.view, terms, *slop, &lists)?;
                let cursors = terms.iter().zip(lists);
                let cursors = cursors
                    .map(|(&(_, term), source)| Ok(Set::list(self.terms.cursor(self.view, term, source)?)));
                let every = Set::every(cursors.collect::<Result<_>>()?);
                let phrase = Set::Phrase { every: Box::new(every), matcher: Box::new(matcher) };
                let first = terms.first().map_or(0, |&(_, term)| self.terms.plan.field_of(term));
                Some(self.within(first, phrase))
            }
            NodeKind::Joined(join) => {
                let join = DocSource::Joined(*join);
                match self.terms.docs(self.view, join, self.among)? {
                    SourceDocs::All => Some(Set::All { max_doc }),
                    SourceDocs::Set(set) => Some(Set::Fixed(set)),
                }
            }
            NodeKind::Docs(source) => {
                let set = match self.terms.lazy_docs(self.view, *source, self.among)? {
                    LazyDocs::All => Set::All { max_doc },
                    LazyDocs::Union { lists, set: None } => {
                        Set::any(lists.into_iter().map(Set::list).collect())
                    }
                    LazyDocs::Union { lists, set: Some(set) } if lists.is_empty() => Set::Fixed(set),
                    LazyDocs::Union { lists, set } => {
                        let lists = lists.into_iter().map(Set::list);
                        Set::any(lists.chain(set.map(Set::Fixed)).collect())
                    }
                };
                Some(match self.terms.plan.field_of_source(*source) {
                    Some(field) => self.within(field, set),
                    None => set,
                })
            }
        })
    }

    /// The documents of a set that have a field of the plan.
    fn within(&self, field: usize, set: Set<'s>) -> Set<'s> {
        match self.view.only(field) {
            Some(only) => Set::Only { base: Box::new(set), only },
            None => set,
        }
    }

    fn list(
        &self,
        must: &[PlanNode],
        should: &[PlanNode],
        must_not: &[PlanNode],
        at_least: usize,
    ) -> Result<Option<Set<'s>>> {
        let required = self.required(must)?;
        // Optional clauses are built even if they are not needed, so that their errors are the same with and
        // without scores.
        let optional = self.nodes(should)?;
        let Some(mut required) = required.filter(|_| optional.len() >= at_least) else { return Ok(None) };
        match (required.is_empty(), at_least) {
            (false, 0) => {}
            (true, 0 | 1) if !optional.is_empty() => required.push(Set::any(optional)),
            (_, 1) => required.push(Set::any(optional)),
            (_, 2..) => required.push(Set::AtLeast(optional, at_least)),
            _ if !should.is_empty() || must_not.is_empty() => return Ok(None),
            _ => required.push(Set::All { max_doc: self.view.max_doc }),
        }
        let excluded = self.nodes(must_not)?;
        let base = Set::every(required);
        Ok(Some(if excluded.is_empty() { base } else { Set::Without { base: Box::new(base), excluded } }))
    }

    /// The sets of required nodes, in any order; `None` if nothing can match one of them.
    fn required(&self, must: &[PlanNode]) -> Result<Option<Vec<Set<'s>>>> {
        let ranges: Vec<usize> = must.iter().filter_map(PlanNode::value_range).collect();
        let mut sets = Vec::with_capacity(must.len());
        for node in must.iter().filter(|node| node.value_range().is_none()) {
            match self.node(node)? {
                Some(set) => sets.push(set),
                None => return Ok(None),
            }
        }
        let of_ranges = self.terms.in_ranges(self.view, &ranges, self.among)?;
        sets.extend(of_ranges.into_iter().map(|set| Set::Fixed(Arc::new(set))));
        Ok(Some(sets))
    }

    /// The sets of the nodes that can match.
    fn nodes(&self, nodes: &[PlanNode]) -> Result<Vec<Set<'s>>> {
        nodes.iter().filter_map(|node| self.node(node).transpose()).collect()
    }
}

/// The documents that match a node. Windows must be requested in ascending order.
enum Set<'s> {
    List(Box<WindowedList<'s>>),
    /// Documents of `every` that contain the phrase.
    Phrase {
        every: Box<Set<'s>>,
        matcher: Box<PhraseMatcher<'s>>,
    },
    Fixed(Arc<DocSet>),
    All {
        max_doc: u32,
    },
    /// Documents of all sets, the smallest set first.
    Every(Vec<Set<'s>>),
    Any(Vec<Set<'s>>),
    /// Documents of at least this many sets.
    AtLeast(Vec<Set<'s>>, usize),
    Without {
        base: Box<Set<'s>>,
        excluded: Vec<Set<'s>>,
    },
    /// Documents whose bits are set.
    Only {
        base: Box<Set<'s>>,
        only: &'s [u64],
    },
}

impl<'s> Set<'s> {
    fn list(cursor: ListCursor<'s>) -> Self {
        Set::List(Box::new(WindowedList::new(cursor)))
    }

    /// The union with all documents is all documents.
    fn any(mut sets: Vec<Set<'s>>) -> Self {
        match sets.iter().position(|set| matches!(set, Set::All { .. })) {
            Some(all) => sets.swap_remove(all),
            None => Set::Any(sets),
        }
    }

    /// The intersection with all documents changes nothing.
    fn every(mut sets: Vec<Set<'s>>) -> Self {
        let is_all = |set: &Set| matches!(set, Set::All { .. });
        if !sets.iter().all(is_all) {
            sets.retain(|set| !is_all(set));
        }
        sets.truncate(if sets.iter().all(is_all) { 1 } else { usize::MAX });
        if sets.len() == 1
            && let Some(only) = sets.pop()
        {
            return only;
        }
        sets.sort_by_key(Set::size);
        Set::Every(sets)
    }

    /// Returns an estimate of the maximum number of documents.
    fn size(&self) -> u64 {
        match self {
            Set::List(list) => u64::from(list.doc_freq()),
            Set::Phrase { every, .. } => every.size(),
            Set::Fixed(set) => set.size(),
            Set::All { max_doc } => u64::from(*max_doc),
            Set::Every(sets) => sets.first().map_or(0, Set::size),
            Set::Any(sets) | Set::AtLeast(sets, _) => sets.iter().map(Set::size).sum(),
            Set::Without { base, .. } | Set::Only { base, .. } => base.size(),
        }
    }

    /// The number of its documents, if that is known without looking at them.
    fn known_size(&self) -> Option<u64> {
        match self {
            Set::List(list) => Some(u64::from(list.doc_freq())),
            Set::All { max_doc } => Some(u64::from(*max_doc)),
            _ => None,
        }
    }

    /// Returns a lower bound of the next document: no document from `target` on is before it, and it need not
    /// match.
    fn next(&mut self, target: u32) -> u32 {
        match self {
            Set::List(list) => list.next(target),
            Set::Phrase { every, .. } => every.next(target),
            Set::Fixed(set) => set.next(target),
            Set::All { max_doc } => {
                if target < *max_doc {
                    target
                } else {
                    NO_MORE
                }
            }
            Set::Every(sets) => sets.iter_mut().fold(target, |target, set| set.next(target)),
            Set::Any(sets) | Set::AtLeast(sets, _) => {
                sets.iter_mut().map(|set| set.next(target)).min().unwrap_or(NO_MORE)
            }
            Set::Without { base, .. } | Set::Only { base, .. } => base.next(target),
        }
    }

    /// Sets the bits of the documents in the window that begins at `start`; other bits may be set.
    fn fill(&mut self, start: u32, bits: &mut MatchBits) {
        match self {
            Set::List(list) => list.fill(start, &mut bits[..]),
            Set::Fixed(set) => set.fill(start, bits),
            Set::All { max_doc } => {
                for (word, first) in bits.iter_mut().zip((start..).step_by(64)) {
                    *word |= match max_doc.saturating_sub(first) {
                        left @ 0..64 => !(u64::MAX << left),
                        _ => u64::MAX,
                    };
                }
            }
            Set::Any(sets) => sets.iter_mut().for_each(|set| set.fill(start, bits)),
            Set::AtLeast(sets, needed) => fill_at_least(sets, *needed, start, bits),
            Set::Phrase { every, matcher } => {
                let mut found = NONE;
                every.fill(start, &mut found);
                for doc in docs_of(start, &found) {
                    set_if(bits, doc, matcher.freq(doc) > 0.0);
                }
            }
            Set::Every(sets) => {
                let Some((first, others)) = sets.split_first_mut() else { return };
                let mut found = NONE;
                first.fill(start, &mut found);
                others.iter_mut().for_each(|set| set.keep(start, &mut found));
                merge(bits, &found);
            }
            Set::Only { base, only } => {
                let mut found = NONE;
                base.fill(start, &mut found);
                keep_window(only, start, &mut found);
                merge(bits, &found);
            }
            Set::Without { base, excluded } => {
                let mut found = NONE;
                base.fill(start, &mut found);
                for set in excluded {
                    let mut kept = found;
                    set.keep(start, &mut kept);
                    found.iter_mut().zip(kept).for_each(|(word, excluded)| *word &= !excluded);
                }
                merge(bits, &found);
            }
        }
    }

    /// Keeps the documents of a window that are in the set.
    fn keep(&mut self, start: u32, bits: &mut MatchBits) {
        let left = count_ones(&bits[..]);
        if left == 0 {
            return;
        }
        match self {
            Set::List(list) if left * LOOK_UP < in_window(list) => {
                for doc in docs_of(start, &bits.clone()) {
                    if !list.contains(doc) {
                        clear(bits, doc);
                    }
                }
            }
            _ => {
                let mut found = NONE;
                self.fill(start, &mut found);
                bits.iter_mut().zip(found).for_each(|(word, found)| *word &= found);
            }
        }
    }

    /// Returns true if a list is damaged.
    fn corrupt(&self) -> bool {
        match self {
            Set::List(list) => list.corrupt(),
            Set::Phrase { every, matcher } => every.corrupt() || matcher.corrupt(),
            Set::Only { base, .. } => base.corrupt(),
            Set::Fixed(_) | Set::All { .. } => false,
            Set::Every(sets) | Set::Any(sets) | Set::AtLeast(sets, _) => sets.iter().any(Set::corrupt),
            Set::Without { base, excluded } => base.corrupt() || excluded.iter().any(Set::corrupt),
        }
    }
}

/// Returns an estimate of the number of postings of a list in a window.
fn in_window(list: &WindowedList) -> u64 {
    u64::from(list.doc_freq()) * u64::from(WINDOW) / u64::from(list.last_doc().max(1))
}

fn fill_at_least(sets: &mut [Set], needed: usize, start: u32, bits: &mut MatchBits) {
    let mut counts = [0u16; WINDOW as usize];
    for set in sets {
        let mut found = NONE;
        set.fill(start, &mut found);
        for doc in docs_of(start, &found) {
            let count = &mut counts[(doc % WINDOW) as usize];
            *count = count.saturating_add(1);
        }
    }
    for (doc, count) in (start..).zip(counts) {
        set_if(bits, doc, usize::from(count) >= needed);
    }
}
