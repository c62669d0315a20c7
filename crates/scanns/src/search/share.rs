//! One query on several threads: the parts that it is made of, and who takes them.
//!
//! A part is a leaf, or a range of the documents of a large one on disk. The thread that asks takes parts in the order of
//! documents, and so does every helper that is free. Small queries are not shared out: to wake a thread takes longer than
//! they do. How long a query takes is guessed from the lengths of its lists, for what is asked of it.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::Searcher;
use super::leaf::Leaf;
use super::plan::{Found, InLeaf, Kind, Node, Plan, Shape};
use super::query::Query;
use super::run::{GRAIN, View};
use crate::error::{Error, Result};
use crate::sys::Helpers;

/// Threads that share out single queries, for [`Searcher::with_threads`]. They start with the first query that is worth it
/// and wait for the next until this is dropped. Any number of searchers may use them at once: what no thread is free for,
/// the thread that asks does itself.
#[derive(Debug)]
pub struct SearchThreads {
    helpers: Helpers,
    sizes: Sizes,
}

/// What is worth a thread.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    /// Nanoseconds, about, that a query must take to be shared out,
    query: u64,
    /// and each range of a leaf,
    range: u64,
    /// and documents that it must have.
    documents: u32,
}

/// Measured with other work on the machine: a query that is shared out for nothing takes 25 to 60 µs more, to wake a helper
/// and since each range begins with less knowledge of what scores are high.
const SIZES: Sizes = Sizes { query: 400_000, range: 200_000, documents: 1 << 16 };

impl SearchThreads {
    /// For queries on at most so many threads, the one that asks counted; at least 1.
    pub fn new(threads: usize) -> Self {
        SearchThreads { helpers: Helpers::new(threads.saturating_sub(1)), sizes: SIZES }
    }

    /// Shares out everything, in ranges of so many documents, rounded up to a multiple of [`GRAIN`].
    #[cfg(test)]
    pub(crate) fn always(threads: usize, documents: u32) -> Self {
        SearchThreads { sizes: Sizes { query: 0, range: 0, documents }, ..SearchThreads::new(threads) }
    }

    /// How many threads a query is shared out to at most.
    pub fn threads(&self) -> usize {
        self.helpers.most() + 1
    }
}

impl Sizes {
    /// Documents of a range of a leaf that takes so long.
    fn range_of(&self, time: u64, max_doc: u32) -> u32 {
        let most = u64::from(max_doc / self.documents.max(1)).max(1);
        let ranges = time.checked_div(self.range).unwrap_or(u64::MAX).clamp(1, most);
        let documents = u64::from(max_doc).div_ceil(ranges).next_multiple_of(u64::from(GRAIN));
        u32::try_from(documents).unwrap_or(u32::MAX)
    }
}

/// A range of documents of a leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) leaf: usize,
    pub(super) first: u32,
    /// The document that it ends before.
    pub(super) end: u32,
}

/// A query in parts, in the order of documents, and who helps.
pub(super) struct Parts<'a> {
    pub(super) all: Vec<Part>,
    /// The threads, and how many of them are wanted.
    pub(super) helpers: Option<(&'a Helpers, usize)>,
}

/// What a query is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Want {
    Best,
    All,
    Count,
    /// All, with the key of each.
    Keys,
}

impl<'a> Searcher<'a> {
    /// The parts of a query; whole leaves where it is not shared out.
    pub(super) fn parts(&self, plan: &Plan, found: &Found, want: Want) -> Parts<'a> {
        let leaves = self.fields.all_leaves();
        let whole = |(leaf, of): (usize, &&dyn Leaf)| Part { leaf, first: 0, end: of.max_doc() };
        let whole = || leaves.iter().enumerate().map(whole).collect();
        let Some(threads) = self.threads.filter(|threads| threads.threads() > 1) else {
            return Parts { all: whole(), helpers: None };
        };
        let shape = plan.shape();
        let of_leaf = |(found, &leaf): (&InLeaf, &&dyn Leaf)| time(&shape, want, found, leaf);
        let times: Vec<u64> = found.leaves.iter().zip(leaves).map(of_leaf).collect();
        let time = times.iter().sum::<u64>();
        if time < threads.sizes.query {
            return Parts { all: whole(), helpers: None };
        }
        let mut all = Vec::new();
        for (leaf, (time, of)) in times.into_iter().zip(leaves).enumerate() {
            let max_doc = of.max_doc();
            let range = if of.is_in_ranges() { threads.sizes.range_of(time, max_doc) } else { max_doc };
            let mut first = 0u32;
            loop {
                let end = first.saturating_add(range).min(max_doc);
                all.push(Part { leaf, first, end });
                first = end;
                if first == max_doc {
                    break;
                }
            }
        }
        let most = time.checked_div(threads.sizes.range).unwrap_or(u64::MAX).min(all.len() as u64);
        let wanted =
            usize::try_from(most).unwrap_or(usize::MAX).saturating_sub(1).min(threads.helpers.most());
        Parts { all, helpers: (wanted > 0).then_some((&threads.helpers, wanted)) }
    }

    /// Who helps with all documents of a query, if that is worth it.
    pub(super) fn helpers_for(&self, query: &Query) -> Result<Option<(&'a Helpers, usize)>> {
        let plan = Plan::new(query, &self.fields)?;
        let found = plan.find(&self.fields)?;
        Ok(self.parts(&plan, &found, Want::All).helpers)
    }

    /// Has each part worked on by a thread, which has something of its own made by `new`; returns what they all have come
    /// to. Ends when `work` breaks or fails, or time is up.
    pub(super) fn fold<T: Send>(
        &self,
        parts: &Parts,
        new: impl Fn() -> T + Sync,
        work: impl Fn(&mut T, &Part) -> Result<ControlFlow<()>> + Sync,
    ) -> Result<Vec<T>> {
        let clock = self.fields.clock();
        let Some((helpers, wanted)) = parts.helpers else {
            let mut own = new();
            for part in &parts.all {
                if clock.is_up() || work(&mut own, part)?.is_break() {
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
                let Some(part) = parts.all.get(at).filter(|_| !clock.is_up()) else { break };
                match work(own.get_or_insert_with(&new), part) {
                    Ok(ControlFlow::Continue(())) => continue,
                    Ok(ControlFlow::Break(())) => {}
                    Err(error) => failed = Some((at, error)),
                }
                next.store(parts.all.len(), Ordering::Relaxed);
            }
            done.lock().unwrap_or_else(PoisonError::into_inner).extend(own);
            // All parts before the first that failed have been worked on, so it is what one thread would have met.
            if let Some(failed) = failed {
                let mut first = first_failed.lock().unwrap_or_else(PoisonError::into_inner);
                if first.as_ref().is_none_or(|first| failed.0 < first.0) {
                    *first = Some(failed);
                }
            }
        };
        helpers.share(wanted, &take, take);
        match first_failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some((_, error)) => Err(error),
            None => Ok(done.into_inner().unwrap_or_else(PoisonError::into_inner)),
        }
    }

    /// What a part is seen through.
    pub(super) fn view(&self, plan: &Plan, part: &Part) -> Result<View<'a>> {
        Ok(View::new(&self.fields, plan, part.leaf)?.between(part.first, part.end))
    }
}

/// About how many nanoseconds one thread needs for a leaf. The factors are measured; where pruning or phrases decide, it is
/// a middle, and rather too low, since what is shared out for nothing takes longer.
fn time(shape: &Shape, want: Want, found: &InLeaf, leaf: &dyn Leaf) -> u64 {
    let doc_freq = |term: usize| found.refs[term].map_or(0, |term| u64::from(term.doc_freq));
    let all = || (0..found.refs.len()).map(doc_freq).sum::<u64>();
    let max_doc = u64::from(leaf.max_doc());
    let all_live = leaf.stats().documents >= max_doc;
    match (shape, want) {
        (Shape::Tree(root), Want::Keys) if may_be_all(root) => 1_000 * all() + 10 * max_doc,
        (_, Want::Keys) => 1_000 * all(),
        // That the first documents are the best is found out by one thread.
        (Shape::Tree(root), Want::Best) if root.same_score().is_some() => 0,
        (Shape::Any { terms, .. }, Want::Best) => all() / if terms.len() > 1 { 4 } else { 32 },
        (Shape::Any { .. }, Want::All) => 3 * all(),
        (Shape::Required(required), want) => {
            let lists = required.required.iter().flat_map(|atom| atom.terms());
            let rarest = lists.map(|list| doc_freq(list.term)).min().unwrap_or(0);
            match (required.has_phrase(), want) {
                (true, Want::Best) => 3 * rarest / 2,
                (true, _) => 50 * rarest,
                (false, Want::Best) => rarest,
                // What only adds to scores does not count, and the length of a list is known.
                (false, Want::Count)
                    if all_live && required.required.len() + required.excluded.len() == 1 =>
                {
                    0
                }
                (false, Want::Count) if all_live => rarest / 2,
                (false, _) => 10 * rarest,
            }
        }
        (Shape::Any { terms, excluded }, Want::Count) if all_live && excluded.is_empty() => {
            if terms.len() > 1 { all() / 12 } else { 0 }
        }
        (Shape::Tree(root), Want::Count) if may_be_all(root) => match all_live {
            true => all() / 4 + max_doc / 12,
            false => 3 * all() + 2 * max_doc,
        },
        (_, Want::Count) if all_live => all() / 4,
        (_, Want::Count) => 3 * all(),
        (Shape::Tree(root), _) => 10 * (all() + if may_be_all(root) { max_doc } else { 0 }),
    }
}

/// True if documents may match that have none of the terms that are known.
fn may_be_all(node: &Node) -> bool {
    match &node.kind {
        Kind::Term(_) | Kind::Phrase { .. } => false,
        Kind::Pattern(_) | Kind::All | Kind::Exists(_) | Kind::Values(_) => true,
        Kind::Bool { must, should, must_not, .. } => {
            must.iter().chain(should).any(may_be_all)
                || must.is_empty() && should.is_empty() && !must_not.is_empty()
        }
    }
}
