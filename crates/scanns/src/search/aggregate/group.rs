//! The best hits of each value of a column.
//!
//! The first pass finds the groups whose heads, their first hits, come first. If a group is among the first n
//! of all leaves, it is among the first n of the leaf of its head, because every group before it in that leaf
//! is before it overall; so n groups of each leaf suffice. Once n groups of a leaf are known, a document that
//! comes after all their heads cannot be the head of a group that is shown, so its group is not even looked
//! up. That spares most documents. The second pass counts the hits of the groups that are shown, and sorts
//! them if more than the head is wanted.

use serde::{Deserialize, Serialize};

use std::collections::HashSet;

use hashbrown::HashMap;

use super::answer::Aggregated;
use super::bucketing::refuse_strings;
use super::collector::Collector;
use super::match_reader::MatchReader;
use super::matches::{Lister, Matches};
use super::number_counts::each_once;
use super::request::Aggregation;
use super::sort::{Candidate, SortedHit, SortedHits, compare};
use super::sort_key::{LeafKey, SortBy, SortKey, order_of_number, value_of};
use crate::column::{Column, ColumnCursor};
use crate::error::Result;
use crate::query::Query;
use crate::schema::{Field, Value};
use crate::search::prepared::PreparedQuery;
use crate::search::searcher::Searcher;
use crate::search::similarity::Model;

/// How hits are grouped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupBy {
    /// The column whose values are the groups: keywords, numbers, or paths, which are grouped by directory.
    /// A document with several values is in several groups.
    pub field: Field,
    /// The order of the hits of a group, and of groups by their first hits. Without keys the hit with the
    /// best score is first.
    pub keys: Vec<SortKey>,
    /// The maximum number of groups.
    pub groups: usize,
    /// The maximum number of hits of a group; with 1, each group has only its first hit.
    pub hits: usize,
    /// True if documents without a value form a group.
    pub missing: bool,
}

impl GroupBy {
    /// The order of hits and groups.
    pub(crate) fn order(&self) -> Vec<SortKey> {
        let best = || vec![SortKey::descending(SortBy::Score)];
        if self.keys.is_empty() { best() } else { self.keys.clone() }
    }

    /// Puts the first hits of groups in order, and keeps one of each group, and the first groups.
    pub(crate) fn first(&self, heads: &mut Vec<GroupHead>) {
        let (keys, by_value) = (self.order(), SortKey::ascending(SortBy::Field(self.field)));
        heads.sort_by(|a, b| {
            let by_value = || by_value.compare(a.value.as_ref(), b.value.as_ref());
            compare(&keys, &a.hit, &b.hit).then_with(by_value)
        });
        let mut seen = HashSet::new();
        heads.retain(|head| seen.insert(identity(head.value.as_ref())));
        heads.truncate(self.groups);
    }
}

/// Hits by group.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Groups {
    /// The first groups, in the order of their first hits.
    pub groups: Vec<Group>,
    /// The number of groups, including the group of documents without a value if it was requested.
    pub total: u64,
    /// The number of documents without a value.
    pub missing: u64,
}

/// The hits of a group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// The value; `None` for the group of documents without a value.
    pub value: Option<Value>,
    /// The number of documents in the group.
    pub count: u64,
    /// The first hits.
    pub hits: Vec<SortedHit>,
}

/// A group and its first hit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct GroupHead {
    pub(crate) value: Option<Value>,
    pub(crate) hit: SortedHit,
}

impl Searcher<'_> {
    /// Finds the first hits of the first groups; see [`PreparedQuery::top_groups`].
    pub fn top_groups(&self, query: &Query, model: Model, by: &GroupBy) -> Result<Groups> {
        self.prepare(query)?.top_groups(model, by)
    }
}

impl PreparedQuery<'_, '_, '_> {
    /// Finds the first hits of the first groups.
    ///
    /// # Errors
    /// [`Error::Unsupported`](crate::Error::Unsupported) for a column of texts or bytes, and the errors of
    /// [`PreparedQuery::top_k_sorted`].
    pub fn top_groups(&self, model: Model, by: &GroupBy) -> Result<Groups> {
        let searcher = self.searcher;
        (0..searcher.leaves())
            .filter_map(|leaf| searcher.column_in(leaf, by.field))
            .try_for_each(refuse_strings)?;
        let distinct = Aggregation::Distinct { field: by.field, exact: true };
        let found = self.aggregate(&[distinct])?;
        let Some(Aggregated::Distinct(distinct)) = found.first() else { return Ok(Groups::default()) };
        let with_missing = by.missing && distinct.missing > 0;
        let total = distinct.values + u64::from(with_missing);
        let mut all = Groups { groups: Vec::new(), total, missing: distinct.missing };
        if by.groups == 0 {
            return Ok(all);
        }
        all.groups = self.members_of_groups(model, by, self.heads_of_groups(model, by)?)?;
        Ok(all)
    }

    /// The first groups, each with its first hit.
    pub(crate) fn heads_of_groups(&self, model: Model, by: &GroupBy) -> Result<Vec<GroupHead>> {
        let keys = &by.order();
        let mut heads = Heads { searcher: self.searcher, by, keys, first: Vec::new(), leaf: None };
        self.collect(model, &mut HitLister::new(keys, &mut heads))?;
        heads.leave()?;
        Ok(heads.first)
    }

    /// The hits of groups, whose first hits are known. These need not be among the documents searched.
    pub(crate) fn members_of_groups(
        &self,
        model: Model,
        by: &GroupBy,
        heads: Vec<GroupHead>,
    ) -> Result<Vec<Group>> {
        let keys = &by.order();
        let mut members = Members::new(self.searcher, by, keys, heads);
        self.collect(model, &mut HitLister::new(keys, &mut members))?;
        let group = |Member { value, count, head, sorting }| {
            let mut hits = sorting.map_or(Ok(vec![head]), SortedHits::finish)?;
            hits.truncate(by.hits);
            Ok(Group { value, count, hits })
        };
        members.groups.into_iter().map(group).collect()
    }
}

/// One of the two passes.
trait Pass {
    fn take(&mut self, hits: LeafHits<'_>) -> Result<()>;
}

/// Lists the documents and scores of a batch for a pass.
struct HitLister<'p, P> {
    pass: &'p mut P,
    lister: Lister,
    needs_scores: bool,
    /// Scores of documents that were not scored.
    zeros: Vec<f32>,
}

/// Hits of a leaf, ascending, and their scores.
#[derive(Clone, Copy)]
struct LeafHits<'h> {
    leaf: usize,
    docs: &'h [u32],
    scores: &'h [f32],
}

impl<'p, P: Pass> HitLister<'p, P> {
    fn new(keys: &[SortKey], pass: &'p mut P) -> Self {
        let needs_scores = keys.iter().any(|key| key.by == SortBy::Score);
        HitLister { pass, lister: Lister::new(), needs_scores, zeros: Vec::new() }
    }
}

impl<P: Pass> Collector for HitLister<'_, P> {
    fn needs_scores(&self) -> bool {
        self.needs_scores
    }

    fn collect(&mut self, matches: &Matches<'_>) -> Result<()> {
        let docs = self.lister.all(matches);
        let scores = match matches.scores.filter(|_| self.needs_scores) {
            Some(scores) => scores,
            None => {
                self.zeros.resize(docs.len(), 0.0);
                &self.zeros
            }
        };
        self.pass.take(LeafHits { leaf: matches.leaf, docs, scores })
    }
}

/// Calls `visit` with each hit, its score and its values, until that fails.
#[inline]
fn each_of(
    reader: &mut MatchReader<'_>,
    hits: LeafHits<'_>,
    mut visit: impl FnMut(u32, f32, &[u64]) -> Result<()>,
) -> Result<()> {
    let LeafHits { leaf, docs, scores } = hits;
    let (mut hits, mut outcome) = (docs.iter().copied().zip(scores.iter().copied()), Ok(()));
    reader.each(&Matches::of(leaf, docs), |doc, values| {
        while let (true, Some((hit, score))) = (outcome.is_ok(), hits.next()) {
            if hit == doc {
                outcome = visit(doc, score, values);
                break;
            }
            outcome = visit(hit, score, &[]);
        }
    })?;
    outcome?;
    hits.try_for_each(|(doc, score)| visit(doc, score, &[]))
}

/// Calls `visit` with the groups of a document with these values.
#[inline]
fn each_group(values: &[u64], missing: bool, mut visit: impl FnMut(Option<u64>) -> Result<()>) -> Result<()> {
    match values {
        [] if missing => visit(None),
        [value] => visit(Some(*value)),
        values => {
            let mut outcome = Ok(());
            each_once(values, |value| {
                if outcome.is_ok() {
                    outcome = visit(Some(value));
                }
            });
            outcome
        }
    }
}

/// The first pass.
struct Heads<'s, 'a> {
    searcher: &'s Searcher<'a>,
    by: &'s GroupBy,
    keys: &'s [SortKey],
    /// The first groups of the previous leaves, in order.
    first: Vec<GroupHead>,
    leaf: Option<LeafHeads<'a>>,
}

/// Number of groups, beyond twice the requested number, that are kept before the last ones are dropped.
const SPARE: usize = 64;

struct LeafHeads<'a> {
    leaf: usize,
    keys: Vec<LeafKey<'a>>,
    /// Reads the column of the first key.
    key: Option<MatchReader<'a>>,
    column: Option<&'a Column>,
    groups: Option<ColumnCursor<'a>>,
    /// The heads by group, at least of the first groups.
    best: HashMap<Option<u64>, Candidate>,
    /// The head of the last group that may be shown, once there are enough groups.
    last: Option<Candidate>,
    values: Vec<u64>,
}

impl LeafHeads<'_> {
    /// Takes a document that may be a head; `first` is the integer of its first key.
    #[inline(never)]
    fn consider(&mut self, first: u128, doc: u32, score: f32, by: &GroupBy) -> Result<()> {
        let one = Candidate::new(&self.keys, first, doc, score)?;
        if self.last.as_ref().is_some_and(|last| *last < one) {
            return Ok(());
        }
        let LeafHeads { groups, best, values, .. } = self;
        values.clear();
        groups.as_mut().map_or(Ok(()), |groups| groups.get(doc, values))?;
        each_group(values, by.missing, |group| {
            let head = best.entry(group).or_insert_with(|| one.clone());
            if one < *head {
                *head = one.clone();
            }
            Ok(())
        })?;
        if self.best.len() >= by.groups.saturating_mul(2).saturating_add(SPARE) {
            let mut kept = rank(std::mem::take(&mut self.best));
            kept.select_nth_unstable(by.groups - 1);
            kept.truncate(by.groups);
            self.last = kept.last().map(|(head, ..)| head.clone());
            let group = |(head, is_missing, value)| (if is_missing { None } else { Some(value) }, head);
            self.best = kept.into_iter().map(group).collect();
        }
        Ok(())
    }
}

/// Sorts groups by their heads, then by their values. Documents without a value are last.
fn rank(best: HashMap<Option<u64>, Candidate>) -> Vec<(Candidate, bool, u64)> {
    best.into_iter().map(|(group, head)| (head, group.is_none(), group.unwrap_or(0))).collect()
}

impl<'a> Heads<'_, 'a> {
    fn enter(&mut self, leaf: usize) -> Result<LeafHeads<'a>> {
        let keys: Result<Vec<_>> =
            self.keys.iter().map(|&key| LeafKey::new(key, self.searcher, leaf)).collect();
        let (keys, column) = (keys?, self.searcher.column_in(leaf, self.by.field));
        Ok(LeafHeads {
            leaf,
            key: keys.first().and_then(|key| key.column).map(MatchReader::new),
            keys,
            column,
            groups: column.map(ColumnCursor::new),
            best: HashMap::new(),
            last: None,
            values: Vec::new(),
        })
    }

    /// Keeps the first groups of the current leaf.
    fn leave(&mut self) -> Result<()> {
        let Some(LeafHeads { leaf, keys, column, best, .. }) = self.leaf.take() else { return Ok(()) };
        let mut best = rank(best);
        best.sort_unstable();
        for (head, is_missing, group) in best.into_iter().take(self.by.groups) {
            let value = match column.filter(|_| !is_missing) {
                Some(column) => Some(value_of(column, group)?),
                None => None,
            };
            self.first.push(GroupHead { value, hit: head.hit(&keys, leaf)? });
        }
        self.by.first(&mut self.first);
        Ok(())
    }
}

/// Returns a key that is the same only for equal values of one column.
fn identity(value: Option<&Value>) -> Option<Vec<u8>> {
    value.map(|value| match value {
        Value::Text(text) | Value::Bytes(text) => text.clone(),
        value => order_of_number(value.as_ref()).unwrap_or(0).to_le_bytes().to_vec(),
    })
}

/// The current leaf, with the groups by their numbers there.
struct LeafGroups<'a> {
    leaf: usize,
    column: Option<MatchReader<'a>>,
    known: HashMap<Option<u64>, usize>,
    /// A bit for each value of the low bits of group numbers: set if some group has such a number. It spares
    /// most documents a look-up in `known`.
    filter: [u64; 64],
}

impl LeafGroups<'_> {
    #[inline]
    fn place(&self, group: Option<u64>) -> Option<usize> {
        let low = group.unwrap_or(0);
        let word = self.filter.get((low / 64 % 64) as usize)?;
        if word >> (low % 64) & 1 == 1 { self.known.get(&group).copied() } else { None }
    }
}

/// A group that is shown.
struct Member<'s, 'a> {
    value: Option<Value>,
    count: u64,
    head: SortedHit,
    /// Its first hits, if more than the head is wanted.
    sorting: Option<SortedHits<'s, 'a>>,
}

/// The second pass.
struct Members<'s, 'a> {
    searcher: &'s Searcher<'a>,
    by: &'s GroupBy,
    groups: Vec<Member<'s, 'a>>,
    leaf: Option<LeafGroups<'a>>,
}

impl<'s, 'a> Members<'s, 'a> {
    fn new(searcher: &'s Searcher<'a>, by: &'s GroupBy, keys: &'s [SortKey], heads: Vec<GroupHead>) -> Self {
        let sorting = || (by.hits > 1).then(|| SortedHits::over(searcher, keys, by.hits, None));
        let member =
            |head: GroupHead| Member { value: head.value, count: 0, head: head.hit, sorting: sorting() };
        let groups = heads.into_iter().map(member).collect();
        Members { searcher, by, groups, leaf: None }
    }

    fn enter(&mut self, leaf: usize) -> Result<()> {
        let column = self.searcher.column_in(leaf, self.by.field);
        let (mut known, mut filter) = (HashMap::new(), [0u64; 64]);
        for (at, Member { value, .. }) in self.groups.iter().enumerate() {
            let number = match (value, column.map(|column| (column, column.terms()))) {
                (None, _) => Some(None),
                (Some(_), None) => None,
                (Some(Value::Text(term)), Some((_, Some(terms)))) => {
                    terms.find(term)?.ok().map(|number| Some(number.into()))
                }
                (Some(value), Some((column, _))) => column.kind().order_of(value.as_ref()).map(Some),
            };
            let low = number.flatten().unwrap_or(0);
            if let Some(word) = filter.get_mut((low / 64 % 64) as usize) {
                *word |= 1 << (low % 64);
            }
            known.extend(number.map(|number| (number, at)));
        }
        self.leaf = Some(LeafGroups { leaf, column: column.map(MatchReader::new), known, filter });
        Ok(())
    }
}

impl Pass for Heads<'_, '_> {
    fn take(&mut self, hits: LeafHits<'_>) -> Result<()> {
        let LeafHits { leaf, docs, scores } = hits;
        if self.leaf.as_ref().is_none_or(|known| known.leaf != leaf) {
            self.leave()?;
            self.leaf = Some(self.enter(leaf)?);
        }
        let Some(heads) = &mut self.leaf else { return Ok(()) };
        let Some(&key) = heads.keys.first() else { return Ok(()) };
        let mut reader = heads.key.take();
        let mut consider = |first: u128, doc: u32, score: f32| match &heads.last {
            Some(last) if first > last.first() => Ok(()),
            _ => heads.consider(first, doc, score, self.by),
        };
        if let Some(reader) = &mut reader {
            each_of(reader, hits, |doc, score, values| consider(key.of_values(values), doc, score))?;
        } else {
            for (&doc, &score) in docs.iter().zip(scores) {
                consider(key.of_document(doc, score)?, doc, score)?;
            }
        }
        heads.key = reader;
        Ok(())
    }
}

impl Pass for Members<'_, '_> {
    fn take(&mut self, hits: LeafHits<'_>) -> Result<()> {
        let LeafHits { leaf, docs, scores } = hits;
        if self.leaf.as_ref().is_none_or(|known| known.leaf != leaf) {
            self.enter(leaf)?;
        }
        let Members { by, groups, leaf: Some(current), .. } = self else { return Ok(()) };
        let mut column = current.column.take();
        let mut take = |doc: u32, score: f32, values: &[u64]| {
            each_group(values, by.missing, |group| {
                let Some(member) = current.place(group).and_then(|at| groups.get_mut(at)) else {
                    return Ok(());
                };
                member.count += 1;
                let sorting = member.sorting.as_mut();
                sorting.map_or(Ok(()), |sorting| sorting.take(leaf, doc, score))
            })
        };
        match &mut column {
            Some(column) => each_of(column, hits, take)?,
            None => docs.iter().zip(scores).try_for_each(|(&doc, &score)| take(doc, score, &[]))?,
        }
        current.column = column;
        Ok(())
    }
}
