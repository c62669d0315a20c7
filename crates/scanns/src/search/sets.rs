//! Which documents match, without scores: a bit for each, a window of documents at a time.
//!
//! Lists are written into the window posting by posting, and what nests is a handful of instructions on 64 documents at
//! once. Where a window has few documents left that all of a list of clauses could have, they are looked up in the other
//! lists instead, which skips their blocks; and windows that no required list reaches into are passed.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::docset::DocSet;
use super::leaf::{ListSource, TermRef, damaged_list};
use super::patterns::MAX_EXPANSIONS;
use super::phrase::PhraseMatcher;
use super::plan::{Kind, Node};
use super::run::{Terms, View};
use super::topk::TopK;
use crate::codec::{BLOCK, ListCursor, NO_MORE, WindowedList, count_ones};
use crate::error::Result;

/// Documents in a window.
pub const WINDOW: u32 = 4_096;

/// A bit for each document of a window, lowest first.
pub type Bits = [u64; (WINDOW / 64) as usize];

pub(super) const NONE: Bits = [0; (WINDOW / 64) as usize];

/// To look a document up takes as long as to read so many postings.
const LOOK_UP: u64 = 16;

/// How many documents match that are not deleted.
pub(super) fn count(root: &Node, view: &View, terms: Terms<()>) -> Result<u64> {
    let sources = sources(view, terms)?;
    let among = terms.candidates(view, root, &sources)?;
    let builder = Builder { view, terms, sources: &sources, among: among.as_deref() };
    let Some(mut set) = builder.node(root)? else { return Ok(0) };
    if let Some(known) = set.known_size().filter(|_| view.all_live()) {
        // Of all documents of the leaf: the range that begins with the first one counts them.
        return Ok(if view.first == 0 { known } else { 0 });
    }
    let mut count = 0;
    each_window(&mut set, view, |start, bits| {
        count += if view.all_live() {
            count_ones(&bits[..])
        } else {
            docs_of(start, bits).filter(|&doc| view.keeps(doc)).count() as u64
        };
        ControlFlow::Continue(())
    })?;
    Ok(count)
}

/// Calls `visit` with the first document of each window that may have matches, a multiple of [`WINDOW`], and those of them
/// that are not deleted, until it breaks.
pub(super) fn visit(
    root: &Node,
    view: &View,
    terms: Terms<()>,
    mut visit: impl FnMut(u32, &Bits) -> ControlFlow<()>,
) -> Result<()> {
    let sources = sources(view, terms)?;
    let among = terms.candidates(view, root, &sources)?;
    let builder = Builder { view, terms, sources: &sources, among: among.as_deref() };
    let Some(mut set) = builder.node(root)? else { return Ok(()) };
    let all_live = view.all_live();
    each_window(&mut set, view, |start, bits| {
        if all_live {
            return visit(start, bits);
        }
        let mut live = *bits;
        for doc in docs_of(start, bits).filter(|&doc| !view.keeps(doc)) {
            clear(&mut live, doc);
        }
        visit(start, &live)
    })
}

/// Some documents that match.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MatchedDocs<'m> {
    /// Their numbers, ascending.
    Docs(&'m [u32]),
    /// A bit for each document of the window that begins with this one.
    Window(u32, &'m Bits),
}

/// Calls `visit` with what matches and is not deleted, in order, until it breaks. The documents of a rare word are in few
/// windows, and those would be full of zeros.
pub(super) fn visit_all(
    root: &Node,
    view: &View,
    terms: Terms<()>,
    mut visit: impl FnMut(MatchedDocs<'_>) -> ControlFlow<()>,
) -> Result<()> {
    let Some(mut docs) = terms.docs_of_rare(view, root)? else {
        return self::visit(root, view, terms, |start, bits| visit(MatchedDocs::Window(start, bits)));
    };
    docs.retain(|&doc| view.keeps(doc));
    // Breaking is all that ends this early.
    let _ = docs.chunks(WINDOW as usize).try_for_each(|docs| visit(MatchedDocs::Docs(docs)));
    Ok(())
}

/// Offers what matches in order, all with one score, until no more is wanted.
pub(super) fn offer_all<S>(
    root: &Node,
    score: f32,
    view: &View,
    terms: Terms<S>,
    top: &mut TopK,
) -> Result<()> {
    if !top.admits_now(score, view.first) {
        return Ok(());
    }
    let terms = Terms::unscored(terms.plan, terms.found);
    let sources = sources(view, terms)?;
    let among = terms.candidates(view, root, &sources)?;
    let builder = Builder { view, terms, sources: &sources, among: among.as_deref() };
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

/// The postings of all terms.
fn sources<'a>(view: &View<'a>, terms: Terms<()>) -> Result<Vec<Option<ListSource<'a>>>> {
    (0..terms.found.refs.len()).map(|term| terms.source(view, term)).collect()
}

/// Calls `each` with the first document of every window in which something may match, and what does, until it breaks.
fn each_window(
    set: &mut Set,
    view: &View,
    mut each: impl FnMut(u32, &Bits) -> ControlFlow<()>,
) -> Result<()> {
    let mut next = set.next(view.first);
    while next < view.end && !view.clock.is_up() {
        let start = next - next % WINDOW;
        let mut bits = NONE;
        set.fill(start, &mut bits);
        if each(start, &bits).is_break() {
            break;
        }
        next = set.next(start.saturating_add(WINDOW));
    }
    if set.corrupt() { Err(damaged_list()) } else { Ok(()) }
}

/// The documents of a window.
pub(crate) fn docs_of(start: u32, bits: &[u64]) -> impl Iterator<Item = u32> {
    (start..).step_by(64).zip(bits).flat_map(|(first, &word)| {
        let mut left = word;
        std::iter::from_fn(move || {
            let bit = (left != 0).then(|| left.trailing_zeros())?;
            left &= left - 1;
            Some(first + bit)
        })
    })
}

struct Builder<'b, 's> {
    view: &'b View<'s>,
    terms: Terms<'s, ()>,
    /// By term.
    sources: &'s [Option<ListSource<'s>>],
    /// The documents that alone can match, if they are known.
    among: Option<&'b [u32]>,
}

impl<'s> Builder<'_, 's> {
    /// The documents of a node; `None` if nothing in this leaf can match it.
    fn node(&self, node: &Node) -> Result<Option<Set<'s>>> {
        let max_doc = self.view.max_doc;
        Ok(match &node.kind {
            Kind::Term(term) => match &self.sources[*term] {
                None => None,
                // Every document has the term.
                Some(_) if self.terms.doc_freq(*term) == max_doc => Some(Set::All { max_doc }),
                Some(source) => Some(Set::list(self.terms.cursor(self.view, *term, source)?)),
            },
            Kind::Bool { must, should, must_not, at_least } => {
                return self.list((must, should, must_not), *at_least);
            }
            Kind::Phrase { terms, slop } => {
                let lists: Option<Vec<_>> =
                    terms.iter().map(|&(_, term)| self.sources[term].as_ref()).collect();
                let Some(lists) = lists else { return Ok(None) };
                let matcher = self.terms.phrase_matcher(self.view, terms, *slop, &lists)?;
                let cursors = terms.iter().zip(lists);
                let cursors = cursors
                    .map(|(&(_, term), source)| Ok(Set::list(self.terms.cursor(self.view, term, source)?)));
                let every = Set::every(cursors.collect::<Result<_>>()?);
                Some(Set::Phrase { every: Box::new(every), matcher: Box::new(matcher) })
            }
            Kind::Pattern(pattern) => {
                let terms = self.terms.of_pattern(self.view, *pattern)?;
                if terms.iter().any(|term| term.doc_freq == max_doc) {
                    return Ok(Some(Set::All { max_doc }));
                }
                Some(self.of_pattern(*pattern, &terms)?)
            }
            Kind::Exists(field) => Some(Set::Fixed(Arc::new(self.view.with_terms(*field)))),
            Kind::Values(range) => {
                Some(Set::Fixed(Arc::new(self.terms.in_range(self.view, *range, self.among)?)))
            }
            Kind::All => Some(Set::All { max_doc }),
        })
    }

    /// The documents of the terms of a pattern. Long lists are read as far as they are asked for.
    fn of_pattern(&self, pattern: usize, terms: &[TermRef]) -> Result<Set<'s>> {
        let leaf = self.terms.leaf_of_pattern(self.view, pattern);
        let is_long = |term: &TermRef| term.doc_freq as usize >= BLOCK && terms.len() <= MAX_EXPANSIONS;
        let (long, mut short): (Vec<TermRef>, Vec<TermRef>) = terms.iter().partition(|&term| is_long(term));
        let mut sets = Vec::with_capacity(long.len() + 1);
        for term in long {
            match leaf.postings(&term)? {
                ListSource::Packed(bytes) => {
                    let list = ListCursor::new(bytes, term.doc_freq, self.view.max_doc);
                    sets.push(Set::list(list.ok_or_else(damaged_list)?));
                }
                _ => short.push(term),
            }
        }
        if !short.is_empty() || sets.is_empty() {
            let set = &self.terms.found.patterns[pattern].short;
            sets.push(Set::Fixed(set.get_or_find(|| DocSet::of_terms(leaf, &short, self.view.clock))?));
        }
        Ok(Set::any(sets))
    }

    fn list(
        &self,
        (must, should, must_not): (&[Node], &[Node], &[Node]),
        at_least: usize,
    ) -> Result<Option<Set<'s>>> {
        let mut required = self.nodes(must)?;
        // Where they are not needed too: what refuses to be scored is not counted either.
        let optional = self.nodes(should)?;
        if required.len() < must.len() || optional.len() < at_least {
            return Ok(None);
        }
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
        Ok(Some(match excluded.is_empty() {
            true => base,
            false => Set::Without { base: Box::new(base), excluded },
        }))
    }

    /// The sets of those nodes that can match.
    fn nodes(&self, nodes: &[Node]) -> Result<Vec<Set<'s>>> {
        nodes.iter().filter_map(|node| self.node(node).transpose()).collect()
    }
}

/// Documents that match a node. They are asked for in windows that rise.
enum Set<'s> {
    List(Box<WindowedList<'s>>),
    /// Documents of `every` in which the phrase occurs.
    Phrase {
        every: Box<Set<'s>>,
        matcher: Box<PhraseMatcher<'s>>,
    },
    Fixed(Arc<DocSet>),
    All {
        max_doc: u32,
    },
    /// Documents of all, the one with the fewest first.
    Every(Vec<Set<'s>>),
    Any(Vec<Set<'s>>),
    /// Documents of at least so many.
    AtLeast(Vec<Set<'s>>, usize),
    Without {
        base: Box<Set<'s>>,
        excluded: Vec<Set<'s>>,
    },
}

impl<'s> Set<'s> {
    fn list(cursor: ListCursor<'s>) -> Self {
        Set::List(Box::new(WindowedList::new(cursor)))
    }

    /// What all documents have is all that there is.
    fn any(mut sets: Vec<Set<'s>>) -> Self {
        match sets.iter().position(|set| matches!(set, Set::All { .. })) {
            Some(all) => sets.swap_remove(all),
            None => Set::Any(sets),
        }
    }

    /// What all documents have leaves out nothing.
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

    /// About how many documents it has at most.
    fn size(&self) -> u64 {
        match self {
            Set::List(list) => u64::from(list.doc_freq()),
            Set::Phrase { every, .. } => every.size(),
            Set::Fixed(set) => set.size(),
            Set::All { max_doc } => u64::from(*max_doc),
            Set::Every(sets) => sets.first().map_or(0, Set::size),
            Set::Any(sets) | Set::AtLeast(sets, _) => sets.iter().map(Set::size).sum(),
            Set::Without { base, .. } => base.size(),
        }
    }

    /// How many documents it has, where that is known without a look at them.
    fn known_size(&self) -> Option<u64> {
        match self {
            Set::List(list) => Some(u64::from(list.doc_freq())),
            Set::All { max_doc } => Some(u64::from(*max_doc)),
            _ => None,
        }
    }

    /// No document from `target` on is before this one, which may or may not match.
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
            Set::Without { base, .. } => base.next(target),
        }
    }

    /// Sets the bits of documents of the window that begins at `start`; `bits` may have others set.
    fn fill(&mut self, start: u32, bits: &mut Bits) {
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

    /// Leaves of the documents of a window those that are in the set.
    fn keep(&mut self, start: u32, bits: &mut Bits) {
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

    /// True if a list turned out damaged.
    fn corrupt(&self) -> bool {
        match self {
            Set::List(list) => list.corrupt(),
            Set::Phrase { every, matcher } => every.corrupt() || matcher.corrupt(),
            Set::Fixed(_) | Set::All { .. } => false,
            Set::Every(sets) | Set::Any(sets) | Set::AtLeast(sets, _) => sets.iter().any(Set::corrupt),
            Set::Without { base, excluded } => base.corrupt() || excluded.iter().any(Set::corrupt),
        }
    }
}

/// About how many postings a list has in a window around its current document.
fn in_window(list: &WindowedList) -> u64 {
    u64::from(list.doc_freq()) * u64::from(WINDOW) / u64::from(list.last_doc().max(1))
}

fn fill_at_least(sets: &mut [Set], needed: usize, start: u32, bits: &mut Bits) {
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

/// True if the bit of a document in the window is set.
#[inline]
pub(super) fn has(bits: &Bits, doc: u32) -> bool {
    bits[(doc % WINDOW / 64) as usize] >> (doc % 64) & 1 == 1
}

#[inline]
fn set_if(bits: &mut Bits, doc: u32, wanted: bool) {
    bits[(doc % WINDOW / 64) as usize] |= u64::from(wanted) << (doc % 64);
}

#[inline]
fn clear(bits: &mut Bits, doc: u32) {
    bits[(doc % WINDOW / 64) as usize] &= !(1 << (doc % 64));
}

fn merge(bits: &mut Bits, found: &Bits) {
    bits.iter_mut().zip(found).for_each(|(word, found)| *word |= found);
}
