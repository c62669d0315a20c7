//! A page of hits in an order by values.
//!
//! Each leaf passes a heap of the first `k` hits, whose worst hit excludes everything that comes after it: a
//! document by its first key, a block of documents by the least or greatest value in the index of the column.
//! Only documents that become hits have their other keys looked up. The terms of keywords are read at the end
//! of a leaf, for the remaining hits.

use serde::{Deserialize, Serialize};

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::collector::Collector;
use super::match_reader::MatchReader;
use super::matches::Matches;
use super::sort_key::{LeafKey, Missing, SortBy, SortKey};
use crate::column::JumpEntry;
use crate::error::{Error, Result};
use crate::query::Query;
use crate::schema::Value;
use crate::search::prepared::PreparedQuery;
use crate::search::searcher::Searcher;
use crate::search::similarity::Model;
use crate::search::top_k::Hit;

/// A hit and the values it was sorted by.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SortedHit {
    /// The hit. Its score is 0 unless one of the keys is the score.
    pub hit: Hit,
    /// The value of each key: `None` if the document has no value, and for [`SortBy::Document`]; a score is a
    /// [`Value::Float`].
    pub keys: Vec<Option<Value>>,
}

/// Compares hits of any leaves.
pub(crate) fn compare(keys: &[SortKey], left: &SortedHit, right: &SortedHit) -> Ordering {
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
    /// Finds the first `k` hits in an order; see [`PreparedQuery::top_k_sorted`].
    pub fn top_k_sorted(
        &self,
        query: &Query,
        model: Model,
        keys: &[SortKey],
        k: usize,
        after: Option<&SortedHit>,
    ) -> Result<Vec<SortedHit>> {
        self.prepare(query)?.top_k_sorted(model, keys, k, after)
    }

    /// Returns a hit with the values by which an order sorts it, for callers that kept only the hit. If the
    /// score is one of the keys, the hit must have its score.
    ///
    /// # Errors
    /// [`Error::UnknownHit`] for a hit of another searcher, and the errors of
    /// [`PreparedQuery::top_k_sorted`].
    pub fn sorted_hit(&self, keys: &[SortKey], hit: Hit) -> Result<SortedHit> {
        self.leaf_with(&hit)?;
        let value = |&key: &SortKey| {
            let key = LeafKey::new(key, self, hit.leaf)?;
            key.value(key.of_document(hit.doc, hit.score)?)
        };
        Ok(SortedHit { hit, keys: keys.iter().map(value).collect::<Result<_>>()? })
    }
}

impl PreparedQuery<'_, '_, '_> {
    /// Finds the first `k` hits in an order by keys; with `after`, the first `k` that come after this hit. If
    /// `after` is the last hit of a page, the result is the next page. Hits with equal keys are in document
    /// order.
    ///
    /// Scores are computed only if one of the keys is the score.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] if there is no key, [`Error::Unsupported`] for a column of texts, bytes or
    /// paths, [`Error::Conflict`] if `after` comes from another order, [`Error::Corrupt`] if a column cannot
    /// be read.
    pub fn top_k_sorted(
        &self,
        model: Model,
        keys: &[SortKey],
        k: usize,
        after: Option<&SortedHit>,
    ) -> Result<Vec<SortedHit>> {
        let mut sorted = SortedHits::new(self.searcher, keys, k, after)?;
        if k > 0 {
            self.collect(model, &mut sorted)?;
        }
        sorted.finish()
    }
}

/// Collects the first hits in an order.
pub struct SortedHits<'s, 'a> {
    searcher: &'s Searcher<'a>,
    keys: &'s [SortKey],
    /// Hits of the page.
    limit: usize,
    /// Hits to keep: at least one.
    k: usize,
    after: Option<&'s SortedHit>,
    /// The first `k` hits of the previous leaves, in order.
    best: Vec<SortedHit>,
    leaf: Option<LeafSort<'a>>,
}

impl<'s, 'a> SortedHits<'s, 'a> {
    /// Creates a collector of the first `k` hits in an order by `keys`; with `after`, only of hits that come
    /// after it.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] if there is no key, [`Error::Conflict`] if `after` comes from another order,
    /// [`Error::UnknownHit`] if its leaf does not exist.
    pub fn new(
        searcher: &'s Searcher<'a>,
        keys: &'s [SortKey],
        k: usize,
        after: Option<&'s SortedHit>,
    ) -> Result<Self> {
        if keys.is_empty() {
            return Err(Error::invalid("order", "without a key", "at least one key"));
        }
        if let Some(after) = after {
            searcher.leaf_of(&after.hit)?;
            if after.keys.len() != keys.len() {
                return Err(Error::Conflict {
                    what: format!("an order by {} keys", keys.len()),
                    with: format!("the hit to continue after, which has {}", after.keys.len()),
                    remedy: "use the order of the previous page".into(),
                });
            }
        }
        Ok(SortedHits::over(searcher, keys, k, after))
    }

    /// Creates the same collector without checks.
    pub(super) fn over(
        searcher: &'s Searcher<'a>,
        keys: &'s [SortKey],
        k: usize,
        after: Option<&'s SortedHit>,
    ) -> Self {
        SortedHits { searcher, keys, limit: k, k: k.max(1), after, best: Vec::new(), leaf: None }
    }

    fn enter(&self, leaf: usize) -> Result<LeafSort<'a>> {
        let keys: Result<Vec<_>> =
            self.keys.iter().map(|&key| LeafKey::new(key, self.searcher, leaf)).collect();
        let keys = keys?;
        let limit = |hit: &SortedHit| Limit::new(&keys, hit);
        let after = self.after.map(limit).transpose()?;
        let end = self.best.get(self.k - 1).map(limit).transpose()?;
        let reader = keys.first().and_then(|key| key.column).map(MatchReader::new);
        let worst = end.as_ref().map_or(u128::MAX, Limit::first);
        let heap = BinaryHeap::new();
        Ok(LeafSort { leaf, keys, reader, k: self.k, after, end, heap, found: Vec::new(), worst })
    }

    /// Makes a leaf the current one and ends the previous leaf.
    #[inline]
    fn go_to(&mut self, leaf: usize) -> Result<()> {
        if self.leaf.as_ref().is_none_or(|sort| sort.leaf != leaf) {
            self.leave()?;
            self.leaf = Some(self.enter(leaf)?);
        }
        Ok(())
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

    /// Takes one hit. Hits come in document order.
    pub(super) fn take(&mut self, leaf: usize, doc: u32, score: f32) -> Result<()> {
        self.go_to(leaf)?;
        self.leaf.as_mut().map_or(Ok(()), |sort| sort.take_scored(doc, score))
    }

    /// Returns the first hits of all leaves.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if the terms of a keyword cannot be read.
    pub fn finish(mut self) -> Result<Vec<SortedHit>> {
        self.leave()?;
        self.best.truncate(self.limit);
        Ok(self.best)
    }
}

impl Collector for SortedHits<'_, '_> {
    fn needs_scores(&self) -> bool {
        self.keys.iter().any(|key| key.by == SortBy::Score)
    }

    fn collect(&mut self, matches: &Matches<'_>) -> Result<()> {
        let by_score = self.needs_scores();
        self.go_to(matches.leaf)?;
        let Some(sort) = &mut self.leaf else { return Ok(()) };
        match matches.scores.filter(|_| by_score) {
            Some(scores) => {
                matches.docs().zip(scores).try_for_each(|(doc, &score)| sort.take_scored(doc, score))
            }
            None => sort.take(matches),
        }
    }
}

/// A hit of any leaf, with its keys as one leaf compares them.
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

    /// Compares a document of a leaf with the limit.
    fn compare(&self, leaf: usize, one: &Candidate) -> Ordering {
        let own = std::iter::once(&one.first).chain(&one.rest);
        own.cmp(&self.keys).then_with(|| (leaf, one.doc).cmp(&self.place))
    }
}

/// The first `k` hits of a leaf.
struct LeafSort<'a> {
    leaf: usize,
    keys: Vec<LeafKey<'a>>,
    /// Reads the column of the first key.
    reader: Option<MatchReader<'a>>,
    k: usize,
    after: Option<Limit>,
    /// The last of `k` hits of earlier leaves.
    end: Option<Limit>,
    heap: BinaryHeap<Candidate>,
    /// Documents of a batch that may be hits, with their first keys.
    found: Vec<(u128, u32)>,
    /// A document whose first key is greater is not a hit.
    worst: u128,
}

/// A document and its keys, as a leaf compares them.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    first: u128,
    rest: Vec<u128>,
    doc: u32,
    score: f32,
}

impl Candidate {
    /// A document whose first key is known.
    pub(crate) fn new(keys: &[LeafKey<'_>], first: u128, doc: u32, score: f32) -> Result<Self> {
        let rest = keys.iter().skip(1).map(|key| key.of_document(doc, score));
        Ok(Candidate { first, rest: rest.collect::<Result<_>>()?, doc, score })
    }

    /// The integer of the first key.
    pub(crate) fn first(&self) -> u128 {
        self.first
    }

    /// The hit with the values of its keys.
    pub(crate) fn hit(self, keys: &[LeafKey<'_>], leaf: usize) -> Result<SortedHit> {
        let integers = std::iter::once(self.first).chain(self.rest);
        let values: Result<_> = keys.iter().zip(integers).map(|(key, integer)| key.value(integer)).collect();
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
    fn take_scored(&mut self, doc: u32, score: f32) -> Result<()> {
        let first = self.keys.first().map_or(Ok(0), |key| key.of_document(doc, score))?;
        self.offer(first, doc, score)
    }

    fn take(&mut self, matches: &Matches<'_>) -> Result<()> {
        let Some(&key) = self.keys.first() else { return Ok(()) };
        let Some(mut reader) = self.reader.take() else {
            return matches.docs().try_for_each(|doc| self.offer(key.of_document(doc, 0.0)?, doc, 0.0));
        };
        // Of documents with equal keys the first ones are kept, and all new documents come after the kept
        // ones.
        let (worst, only) = (self.worst, self.keys.len() == 1 && self.heap.len() == self.k);
        let admits = |first: u128| if only { first < worst } else { first <= worst };
        let with_missing = worst == u128::MAX || key.key.missing == Missing::First || admits(key.missing());
        let may_have = |entry: &JumpEntry| {
            let best = if key.key.descending { entry.most } else { entry.least };
            with_missing || admits(key.of_order(best))
        };
        let mut found = std::mem::take(&mut self.found);
        // No order means that only documents without a value may be hits, which are not visited.
        let orders = key.orders_up_to(worst).unwrap_or(0..=0);
        let present = reader.each_within(matches, may_have, &orders, |doc, values| {
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
            matches.docs().try_for_each(|doc| match with.next_if_eq(&doc) {
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
