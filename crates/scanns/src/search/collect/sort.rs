//! The best hits in an order by values: one page of it.
//!
//! Leaf after leaf goes through a heap of the first `k`, whose worst one turns away what comes after it: a document by its
//! first key, a block of documents by the least or the greatest value that the column tells of it. Only those that become
//! hits have their other keys looked up, and terms of keywords are read when a leaf is done, for what is left of it.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ops::ControlFlow;

use super::read::Reader;
use super::values::{LeafKey, Missing, SortBy, SortKey};
use super::window::{Matches, each_match};
use crate::column::Entry;
use crate::error::{Error, Result};
use crate::schema::Value;
use crate::search::{Hit, Model, Query, Searcher};

/// A hit and what it was sorted by.
#[derive(Clone, Debug, PartialEq)]
pub struct SortedHit {
    /// The document; its score is 0 unless some key is the score.
    pub hit: Hit,
    /// Its value of each key: `None` if it has none, and for [`SortBy::Document`]; a score is [`Value::Float`].
    pub keys: Vec<Option<Value>>,
}

/// The order of hits of any leaves.
pub(super) fn compare(keys: &[SortKey], left: &SortedHit, right: &SortedHit) -> Ordering {
    let place = |hit: &SortedHit| (hit.hit.leaf, hit.hit.doc);
    for (key, (a, b)) in keys.iter().zip(left.keys.iter().zip(&right.keys)) {
        let order = match (key.by, key.descending) {
            (SortBy::Document, false) => place(left).cmp(&place(right)),
            (SortBy::Document, true) => place(right).cmp(&place(left)),
            _ => key.compare(a.as_ref(), b.as_ref()),
        };
        if order.is_ne() {
            return order;
        }
    }
    place(left).cmp(&place(right))
}

impl Searcher<'_> {
    /// The first `k` hits in an order by keys, of those that come after the hit `after` of the same order if there is one:
    /// of the last hit of a page this is the next page. Hits with equal keys are in the order of documents.
    ///
    /// Scores are computed only if one of the keys is the score.
    ///
    /// # Errors
    /// [`Error::Options`] without a key, for a key by a column of texts, bytes or paths, and if `after` has not as many
    /// values as there are keys. [`Error::Corrupt`] if a column cannot be read.
    pub fn top_k_sorted(
        &self,
        query: &Query,
        model: Model,
        keys: &[SortKey],
        k: usize,
        after: Option<&SortedHit>,
    ) -> Result<Vec<SortedHit>> {
        if keys.is_empty() {
            return Err(Error::Options("there is nothing to sort by: name at least one key".into()));
        }
        if let Some(after) = after {
            self.leaf_of(&after.hit)?;
            if after.keys.len() != keys.len() {
                return Err(Error::Options("the hit to go on after was found in another order".into()));
            }
        }
        if k == 0 {
            return Ok(Vec::new());
        }
        let mut sorting = Sorting::new(self, keys, k, after);
        if keys.iter().any(|key| key.by == SortBy::Score) {
            let mut outcome = Ok(());
            self.for_each_batch(query, model, |leaf, docs, scores| {
                outcome = sorting.batch(leaf, docs, scores);
                if outcome.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            })?;
            outcome?;
        } else {
            each_match(self, query, |matches| sorting.take(matches))?;
        }
        sorting.finish()
    }

    /// A hit with its values of an order, for whoever has kept nothing else of it; its score must be what it was if that is
    /// one of the keys.
    ///
    /// # Errors
    /// [`Error::Options`] for a hit that is none of this searcher, and as [`Searcher::top_k_sorted`].
    pub fn sorted_hit(&self, keys: &[SortKey], hit: Hit) -> Result<SortedHit> {
        if hit.doc >= self.leaf_of(&hit)?.max_doc() {
            let message = format!("there is no document {} in that part of the index", hit.doc);
            return Err(Error::Options(message));
        }
        let value = |&key: &SortKey| {
            let key = LeafKey::new(key, self, hit.leaf)?;
            key.value(key.of_document(hit.doc, hit.score)?)
        };
        Ok(SortedHit { hit, keys: keys.iter().map(value).collect::<Result<_>>()? })
    }
}

/// A sort that goes on, of at least one hit.
pub(super) struct Sorting<'s, 'a> {
    searcher: &'s Searcher<'a>,
    keys: &'s [SortKey],
    k: usize,
    after: Option<&'s SortedHit>,
    /// The first `k` of the leaves before, in order.
    best: Vec<SortedHit>,
    leaf: Option<LeafSort<'a>>,
}

impl<'s, 'a> Sorting<'s, 'a> {
    pub(super) fn new(
        searcher: &'s Searcher<'a>,
        keys: &'s [SortKey],
        k: usize,
        after: Option<&'s SortedHit>,
    ) -> Self {
        Sorting { searcher, keys, k: k.max(1), after, best: Vec::new(), leaf: None }
    }

    fn enter(&mut self, leaf: usize) -> Result<&mut LeafSort<'a>> {
        if self.leaf.as_ref().is_none_or(|known| known.leaf != leaf) {
            self.leave()?;
            let keys: Result<Vec<_>> =
                self.keys.iter().map(|&key| LeafKey::new(key, self.searcher, leaf)).collect();
            let keys = keys?;
            let limit = |hit: &SortedHit| Limit::new(&keys, hit);
            let after = self.after.map(limit).transpose()?;
            let end = self.best.get(self.k - 1).map(limit).transpose()?;
            let reader = keys.first().and_then(|key| key.column).map(Reader::new);
            let worst = end.as_ref().map_or(u128::MAX, Limit::first);
            let heap = BinaryHeap::new();
            self.leaf =
                Some(LeafSort { leaf, keys, reader, k: self.k, after, end, heap, found: Vec::new(), worst });
        }
        self.leaf.as_mut().ok_or_else(|| Error::Options("there is no such part of the index".into()))
    }

    fn leave(&mut self) -> Result<()> {
        let Some(LeafSort { leaf, keys, heap, .. }) = self.leaf.take() else { return Ok(()) };
        for one in heap.into_sorted_vec() {
            self.best.push(one.hit(&keys, leaf)?);
        }
        self.best.sort_by(|left, right| compare(self.keys, left, right));
        self.best.truncate(self.k);
        Ok(())
    }

    /// Takes hits of a leaf; leaves come in order.
    pub(super) fn batch(&mut self, leaf: usize, docs: &[u32], scores: &[f32]) -> Result<()> {
        let sort = self.enter(leaf)?;
        for (&doc, &score) in docs.iter().zip(scores) {
            let first = sort.keys.first().map_or(Ok(0), |key| key.of_document(doc, score))?;
            sort.offer(first, doc, score)?;
        }
        Ok(())
    }

    fn take(&mut self, matches: &Matches<'_>) -> Result<()> {
        self.enter(matches.leaf)?.take(matches)
    }

    /// The first hits of all leaves.
    pub(super) fn finish(mut self) -> Result<Vec<SortedHit>> {
        self.leave()?;
        Ok(self.best)
    }
}

/// A hit of any leaf, as a leaf compares it.
struct Limit {
    keys: Vec<u128>,
    place: (usize, u32),
}

impl Limit {
    fn new(keys: &[LeafKey<'_>], hit: &SortedHit) -> Result<Self> {
        let of = |(key, value): (&LeafKey<'_>, &Option<Value>)| key.of_value(value.as_ref(), &hit.hit);
        let keys: Result<_> = keys.iter().zip(&hit.keys).map(of).collect();
        Ok(Limit { keys: keys?, place: (hit.hit.leaf, hit.hit.doc) })
    }

    fn first(&self) -> u128 {
        self.keys.first().copied().unwrap_or(u128::MAX)
    }

    /// How a document of a leaf compares with it.
    fn compare(&self, leaf: usize, one: &Candidate) -> Ordering {
        let own = std::iter::once(&one.first).chain(&one.rest);
        own.cmp(&self.keys).then_with(|| (leaf, one.doc).cmp(&self.place))
    }
}

/// The first `k` of a leaf.
struct LeafSort<'a> {
    leaf: usize,
    keys: Vec<LeafKey<'a>>,
    /// The column of the first key.
    reader: Option<Reader<'a>>,
    k: usize,
    after: Option<Limit>,
    /// The last one of `k` that earlier leaves have.
    end: Option<Limit>,
    heap: BinaryHeap<Candidate>,
    /// What may be hits of a window, by their first key.
    found: Vec<(u128, u32)>,
    /// What comes after this by its first key is no hit.
    worst: u128,
}

/// A document and its keys, compared as the leaf does.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    first: u128,
    rest: Vec<u128>,
    doc: u32,
    score: f32,
}

impl Candidate {
    /// A document whose first key is known.
    pub(super) fn new(keys: &[LeafKey<'_>], first: u128, doc: u32, score: f32) -> Result<Self> {
        let rest = keys.iter().skip(1).map(|key| key.of_document(doc, score));
        Ok(Candidate { first, rest: rest.collect::<Result<_>>()?, doc, score })
    }

    /// What stands for its first key.
    pub(super) fn first(&self) -> u128 {
        self.first
    }

    /// What it stands for.
    pub(super) fn hit(self, keys: &[LeafKey<'_>], leaf: usize) -> Result<SortedHit> {
        let stands = std::iter::once(self.first).chain(self.rest);
        let values: Result<_> = keys.iter().zip(stands).map(|(key, stands)| key.value(stands)).collect();
        Ok(SortedHit { hit: Hit { score: self.score, leaf, doc: self.doc }, keys: values? })
    }
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        let rest = || self.rest.cmp(&other.rest);
        self.first.cmp(&other.first).then_with(rest).then_with(|| self.doc.cmp(&other.doc))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Candidate {}

impl LeafSort<'_> {
    fn take(&mut self, matches: &Matches<'_>) -> Result<()> {
        let Some(&key) = self.keys.first() else { return Ok(()) };
        let Some(mut reader) = self.reader.take() else {
            return matches.each(|doc| self.offer(key.of_document(doc, 0.0)?, doc, 0.0));
        };
        // Of equal ones those that come first stay, and all that come are behind those that are here.
        let (worst, only) = (self.worst, self.keys.len() == 1 && self.heap.len() == self.k);
        let admits = |first: u128| if only { first < worst } else { first <= worst };
        let with_missing = worst == u128::MAX || key.key.missing == Missing::First || admits(key.missing());
        let may_have = |entry: &Entry| {
            let best = if key.key.descending { entry.most } else { entry.least };
            with_missing || admits(key.of_order(best))
        };
        let (mut found, mut present) = (std::mem::take(&mut self.found), 0);
        reader.each_if(matches, may_have, |doc, values| {
            present += 1;
            let first = key.of_values(values);
            if first <= worst {
                found.push((first, doc));
            }
        })?;
        for &(first, doc) in &found {
            self.offer(first, doc, 0.0)?;
        }
        found.clear();
        self.found = found;
        if with_missing && present < matches.count && key.missing() <= self.worst {
            let mut with = Vec::new();
            reader.each(matches, |doc, _| with.push(doc))?;
            let mut with = with.into_iter().peekable();
            matches.each(|doc| match with.next_if_eq(&doc) {
                Some(_) => Ok(()),
                None => self.offer(key.missing(), doc, 0.0),
            })?;
        }
        self.reader = Some(reader);
        Ok(())
    }

    #[inline]
    fn offer(&mut self, first: u128, doc: u32, score: f32) -> Result<()> {
        if first > self.worst || self.after.as_ref().is_some_and(|after| first < after.first()) {
            return Ok(());
        }
        self.consider(first, doc, score)
    }

    #[inline(never)]
    fn consider(&mut self, first: u128, doc: u32, score: f32) -> Result<()> {
        let one = Candidate::new(&self.keys, first, doc, score)?;
        let after = |after: &Limit| after.compare(self.leaf, &one).is_gt();
        let before = |end: &Limit| end.compare(self.leaf, &one).is_lt();
        if !self.after.as_ref().is_none_or(after) || !self.end.as_ref().is_none_or(before) {
            return Ok(());
        }
        if self.heap.len() < self.k {
            self.heap.push(one);
        } else if let Some(mut last) = self.heap.peek_mut()
            && one < *last
        {
            *last = one;
        }
        if self.heap.len() == self.k
            && let Some(last) = self.heap.peek()
        {
            self.worst = self.worst.min(last.first);
        }
        Ok(())
    }
}
