//! Cuts a query into ranges of documents and has several threads work on them.
//!
//! A range is a leaf, or some of the documents of a large leaf on disk. The calling thread takes ranges in
//! document order, and so does every helper that is free. Small queries are not shared, because waking a
//! thread takes longer than they do. The time of a query is estimated from the lengths of its lists and the
//! kind of the result.

pub(crate) mod in_order;

use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::fields::Fields;
use super::leaf::Leaf;
use super::plan::found::{FoundTerms, LeafTerms};
use super::plan::shape::Shape;
use super::threads::SearchThreads;
use crate::error::{Error, Result};
use crate::search::budget::Clock;
use crate::search::exec::strategy::Want;
use crate::search::exec::view::GRAIN;
use crate::sys::{Helpers, lock};

/// A range of documents of a leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LeafRange {
    pub(crate) leaf: usize,
    pub(crate) first: u32,
    /// The document after the last one.
    pub(crate) end: u32,
}

/// The threads that help with a query, and how many of them are wanted.
#[derive(Clone, Copy)]
pub(crate) struct Help<'a> {
    pub(crate) helpers: &'a Helpers,
    pub(crate) wanted: usize,
}

/// A query cut into ranges, in document order.
pub(crate) struct SearchRanges<'a> {
    pub(crate) all: Vec<LeafRange>,
    /// `None` if the query is not shared.
    pub(crate) help: Option<Help<'a>>,
}

impl<'a> SearchRanges<'a> {
    /// Whole leaves, for the calling thread alone.
    fn whole(fields: &Fields) -> Self {
        let whole = |(leaf, of): (usize, &&dyn Leaf)| LeafRange { leaf, first: 0, end: of.max_doc() };
        SearchRanges { all: fields.all_leaves().iter().enumerate().map(whole).collect(), help: None }
    }

    /// Cuts a query of this shape.
    pub(crate) fn new(
        fields: &Fields,
        threads: Option<&'a SearchThreads>,
        shape: &Shape,
        found: &FoundTerms,
        want: Want,
    ) -> Self {
        let Some(threads) = threads.filter(|threads| threads.threads() > 1) else {
            return SearchRanges::whole(fields);
        };
        let leaves = fields.all_leaves();
        let of_leaf = |(found, &leaf): (LeafTerms, &&dyn Leaf)| estimate(shape, want, &found, leaf);
        let times: Vec<u64> = found.leaves().zip(leaves).map(of_leaf).collect();
        let time = times.iter().sum::<u64>();
        if time < threads.sizes.query {
            return SearchRanges::whole(fields);
        }
        let mut all = Vec::new();
        for (leaf, (time, of)) in times.into_iter().zip(leaves).enumerate() {
            let max_doc = of.max_doc();
            let range =
                if of.is_in_ranges() { threads.sizes.range_of(time, max_doc, GRAIN) } else { max_doc };
            let mut first = 0u32;
            loop {
                let end = first.saturating_add(range).min(max_doc);
                all.push(LeafRange { leaf, first, end });
                first = end;
                if first == max_doc {
                    break;
                }
            }
        }
        let most = time.checked_div(threads.sizes.range).unwrap_or(u64::MAX).min(all.len() as u64);
        let wanted = usize::try_from(most).unwrap_or(usize::MAX);
        let wanted = wanted.saturating_sub(1).min(threads.helpers.most());
        SearchRanges { all, help: (wanted > 0).then_some(Help { helpers: &threads.helpers, wanted }) }
    }

    /// Runs `work` on every range, each on some thread. Each thread has its own state, made by `new`; returns
    /// all states.
    ///
    /// Ends when `work` breaks or fails, or when time is up. The error is the one that a single thread would
    /// have returned.
    pub(crate) fn fold<T: Send>(
        &self,
        clock: Clock<'_>,
        new: impl Fn() -> T + Sync,
        work: impl Fn(&mut T, &LeafRange) -> Result<ControlFlow<()>> + Sync,
    ) -> Result<Vec<T>> {
        let Some(Help { helpers, wanted }) = self.help else {
            let mut own = new();
            for range in &self.all {
                if clock.is_up() || work(&mut own, range)?.is_break() {
                    break;
                }
            }
            return Ok(vec![own]);
        };
        let next = AtomicUsize::new(0);
        let (done, first_failed) = (Mutex::new(Vec::new()), Mutex::new(None::<(usize, Error)>));
        let take = || {
            let (mut own, mut failed) = (None, None);
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(range) = self.all.get(at).filter(|_| !clock.is_up()) else { break };
                match work(own.get_or_insert_with(&new), range) {
                    Ok(ControlFlow::Continue(())) => continue,
                    Ok(ControlFlow::Break(())) => {}
                    Err(error) => failed = Some((at, error)),
                }
                next.store(self.all.len(), Ordering::Relaxed);
            }
            lock(&done).extend(own);
            // All ranges before the first failed one have been processed, so a single thread would have
            // failed there too.
            if let Some(failed) = failed {
                let mut first = lock(&first_failed);
                if first.as_ref().is_none_or(|first| failed.0 < first.0) {
                    *first = Some(failed);
                }
            }
        };
        helpers.share(wanted, &take, take);
        let failed = lock(&first_failed).take();
        match failed {
            Some((_, error)) => Err(error),
            None => Ok(std::mem::take(&mut *lock(&done))),
        }
    }
}

/// Estimates the nanoseconds that one thread needs for a leaf.
///
/// The factors are measured. For queries whose time depends on pruning or phrases they are averages, rather
/// too low than too high, because needless sharing costs more.
fn estimate(shape: &Shape, want: Want, found: &LeafTerms, leaf: &dyn Leaf) -> u64 {
    let scanned = found.value_patterns.len() + found.joins.len();
    let patterns = 10 * scanned as u64 * u64::from(leaf.max_doc());
    patterns + estimate_rest(shape, want, found, leaf)
}

/// The same without the patterns of values and joins.
fn estimate_rest(shape: &Shape, want: Want, found: &LeafTerms, leaf: &dyn Leaf) -> u64 {
    let doc_freq = |term: usize| u64::from(found.doc_freq(term));
    let all = || (0..found.refs.len()).map(doc_freq).sum::<u64>();
    let max_doc = u64::from(leaf.max_doc());
    let all_live = leaf.stats().documents >= max_doc;
    match (shape, want) {
        (Shape::Tree(root), Want::Keys) if root.matches_beyond_terms() => 1_000 * all() + 10 * max_doc,
        (_, Want::Keys) => 1_000 * all(),
        // One thread finds the first documents, which are the best.
        (Shape::Tree(root), Want::Best) if root.same_score().is_some() => 0,
        (Shape::Any { terms, .. }, Want::Best) => all() / if terms.len() > 1 { 4 } else { 32 },
        (Shape::Any { .. }, Want::All) => 3 * all(),
        (Shape::Required(required), want) => {
            let rarest = required.terms().map(|boosted| doc_freq(boosted.term)).min().unwrap_or(0);
            match (required.has_phrase(), want) {
                (true, Want::Best) => 3 * rarest / 2,
                (true, _) => 50 * rarest,
                (false, Want::Best) => rarest,
                // Optional terms do not count, and the length of a list is known.
                (false, Want::Count)
                    if all_live && required.required.len() + required.excluded.len() == 1 =>
                {
                    0
                }
                (false, Want::Count) if all_live => rarest / 2,
                (false, _) => 10 * rarest,
            }
        }
        (Shape::Any { terms, excluded, .. }, Want::Count) if all_live && excluded.is_empty() => {
            if terms.len() > 1 { all() / 12 } else { 0 }
        }
        (Shape::Tree(root), Want::Count) if root.matches_beyond_terms() => {
            if all_live {
                all() / 4 + max_doc / 12
            } else {
                3 * all() + 2 * max_doc
            }
        }
        (_, Want::Count) if all_live => all() / 4,
        (_, Want::Count) => 3 * all(),
        (Shape::Tree(root), _) => 10 * (all() + if root.matches_beyond_terms() { max_doc } else { 0 }),
    }
}
