//! The best hits of each value of a column.
//!
//! The first pass finds the groups that come first by their heads. A group that is among the first n of all is among the first n
//! of the leaf that its head is in, since whatever is before it there is before it everywhere; so no more than n are taken from
//! a leaf. And once n groups of a leaf are known, a document that comes after all their heads is the head of none that will be
//! taken: its group is not even looked up, which is what most documents are spared. The second pass counts the hits of each of
//! these groups, and sorts them if more than the head is wanted.

use std::collections::HashSet;
use std::ops::ControlFlow;

use hashbrown::HashMap;

use super::aggregate::{Aggregated, Aggregation};
use super::counts::each_once;
use super::cut::refuse_strings;
use super::read::Reader;
use super::sort::{Candidate, SortedHit, Sorting, compare};
use super::values::{LeafKey, SortBy, SortKey, order_of_number, value_of};
use super::window::{Lister, Matches, each_match};
use crate::column::{Column, ColumnCursor};
use crate::error::{Error, Result};
use crate::schema::{Field, Value};
use crate::search::{Model, Query, Searcher};

/// How hits are grouped.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupBy {
    /// The column whose values are the groups: of keywords, of numbers, or of paths by their directories. A document with
    /// several values is in several groups.
    pub field: Field,
    /// The order of hits in a group, and of groups by their first hits; without keys the best score is first.
    pub keys: Vec<SortKey>,
    /// Groups at most.
    pub groups: usize,
    /// Hits of a group at most. One collapses each group to its head.
    pub hits: usize,
    /// True if documents without a value are a group too.
    pub missing: bool,
}

/// Hits by group.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Groups {
    /// The first groups by their first hits.
    pub groups: Vec<Group>,
    /// How many groups there are, with that of documents without a value if it was asked for.
    pub total: u64,
    /// Documents without a value.
    pub missing: u64,
}

/// The hits of a group.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// The value; `None` for documents without one.
    pub value: Option<Value>,
    /// How many documents have it.
    pub count: u64,
    /// The first of them.
    pub hits: Vec<SortedHit>,
}

/// A group and its first hit.
type Head = (Option<Value>, SortedHit);

impl Searcher<'_> {
    /// The first hits of the groups that come first.
    ///
    /// # Errors
    /// [`Error::Options`] for a column of texts or bytes, and those of [`Searcher::top_k_sorted`].
    pub fn top_groups(&self, query: &Query, model: Model, by: &GroupBy) -> Result<Groups> {
        (0..self.leaves()).filter_map(|leaf| self.column(leaf, by.field)).try_for_each(refuse_strings)?;
        let distinct = Aggregation::Distinct { field: by.field, exact: true };
        let found = self.aggregate(query, &[distinct])?;
        let Some(Aggregated::Distinct(distinct)) = found.first() else { return Ok(Groups::default()) };
        let with_missing = by.missing && distinct.missing > 0;
        let total = distinct.values + u64::from(with_missing);
        let mut all = Groups { groups: Vec::new(), total, missing: distinct.missing };
        if by.groups == 0 {
            return Ok(all);
        }
        let best = [SortKey::descending(SortBy::Score)];
        let keys = if by.keys.is_empty() { &best[..] } else { &by.keys };
        let mut heads = Heads { searcher: self, by, keys, first: Vec::new(), leaf: None };
        self.each_hit(query, model, keys, |leaf, docs, scores| heads.batch(leaf, docs, scores))?;
        heads.leave()?;
        let mut members = Members::new(self, by, keys, heads.first);
        self.each_hit(query, model, keys, |leaf, docs, scores| members.batch(leaf, docs, scores))?;
        for Member { value, count, head, sorting } in members.groups {
            let mut hits = sorting.map_or(Ok(vec![head]), Sorting::finish)?;
            hits.truncate(by.hits);
            all.groups.push(Group { value, count, hits });
        }
        Ok(all)
    }

    /// Calls `visit` with all hits, with scores if they are a key.
    fn each_hit(
        &self,
        query: &Query,
        model: Model,
        keys: &[SortKey],
        mut visit: impl FnMut(usize, &[u32], &[f32]) -> Result<()>,
    ) -> Result<()> {
        if !keys.iter().any(|key| key.by == SortBy::Score) {
            let (mut lister, mut scores) = (Lister::new(), Vec::new());
            return each_match(self, query, |matches| {
                let docs = lister.all(matches);
                scores.resize(docs.len(), 0.0);
                visit(matches.leaf, docs, &scores)
            });
        }
        let mut outcome = Ok(());
        self.for_each_batch(query, model, |leaf, docs, scores| {
            outcome = visit(leaf, docs, scores);
            if outcome.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        outcome
    }
}

/// Hits of a leaf, ascending, and their scores.
type Hits<'h> = (usize, &'h [u32], &'h [f32]);

/// Calls `visit` with every one of these hits, its score and its values, until that fails.
#[inline]
fn each_of(
    reader: &mut Reader<'_>,
    (leaf, docs, scores): Hits<'_>,
    mut visit: impl FnMut(u32, f32, &[u64]) -> Result<()>,
) -> Result<()> {
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

/// Calls `visit` with the groups that a document with these values is in.
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
    /// The first groups of the leaves before, in order.
    first: Vec<Head>,
    leaf: Option<LeafHeads<'a>>,
}

/// Groups that are kept beyond those that are wanted, before the last ones are dropped.
const SPARE: usize = 64;

struct LeafHeads<'a> {
    leaf: usize,
    keys: Vec<LeafKey<'a>>,
    /// Of the column of the first key.
    key: Option<Reader<'a>>,
    column: Option<&'a Column>,
    groups: Option<ColumnCursor<'a>>,
    /// By group; at least the first ones.
    best: HashMap<Option<u64>, Candidate>,
    /// The head of the last group that may be wanted, once there are enough.
    last: Option<Candidate>,
    values: Vec<u64>,
}

impl LeafHeads<'_> {
    /// Takes a document that may be a head; `first` stands for its first key.
    #[inline(never)]
    fn consider(&mut self, first: u128, (doc, score): (u32, f32), by: &GroupBy) -> Result<()> {
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
            let mut kept = std::mem::take(&mut self.best).into_iter().map(ranked).collect::<Vec<_>>();
            kept.select_nth_unstable(by.groups - 1);
            kept.truncate(by.groups);
            self.last = kept.last().map(|(head, ..)| head.clone());
            let group = |(head, is_missing, value)| (if is_missing { None } else { Some(value) }, head);
            self.best = kept.into_iter().map(group).collect();
        }
        Ok(())
    }
}

/// What groups are ordered by: of groups with the same head the least value is first, and documents without one are last.
fn ranked((group, head): (Option<u64>, Candidate)) -> (Candidate, bool, u64) {
    (head, group.is_none(), group.unwrap_or(0))
}

impl<'a> Heads<'_, 'a> {
    fn enter(&mut self, leaf: usize) -> Result<LeafHeads<'a>> {
        let keys: Result<Vec<_>> =
            self.keys.iter().map(|&key| LeafKey::new(key, self.searcher, leaf)).collect();
        let (keys, column) = (keys?, self.searcher.column(leaf, self.by.field));
        Ok(LeafHeads {
            leaf,
            key: keys.first().and_then(|key| key.column).map(Reader::new),
            keys,
            column,
            groups: column.map(ColumnCursor::new),
            best: HashMap::new(),
            last: None,
            values: Vec::new(),
        })
    }

    fn batch(&mut self, leaf: usize, docs: &[u32], scores: &[f32]) -> Result<()> {
        if self.leaf.as_ref().is_none_or(|known| known.leaf != leaf) {
            self.leave()?;
            self.leaf = Some(self.enter(leaf)?);
        }
        let Some(heads) = &mut self.leaf else { return Ok(()) };
        let Some(&key) = heads.keys.first() else { return Ok(()) };
        let mut reader = heads.key.take();
        let mut consider = |first: u128, doc: u32, score: f32| match &heads.last {
            Some(last) if first > last.first() => Ok(()),
            _ => heads.consider(first, (doc, score), self.by),
        };
        if let Some(reader) = &mut reader {
            each_of(reader, (leaf, docs, scores), |doc, score, values| {
                consider(key.of_values(values), doc, score)
            })?;
        } else {
            for (&doc, &score) in docs.iter().zip(scores) {
                consider(key.of_document(doc, score)?, doc, score)?;
            }
        }
        heads.key = reader;
        Ok(())
    }

    /// Takes the first groups of a leaf over.
    fn leave(&mut self) -> Result<()> {
        let Some(LeafHeads { leaf, keys, column, best, .. }) = self.leaf.take() else { return Ok(()) };
        let mut best: Vec<(Candidate, bool, u64)> = best.into_iter().map(ranked).collect();
        best.sort_unstable();
        for (head, is_missing, group) in best.into_iter().take(self.by.groups) {
            let value = match column.filter(|_| !is_missing) {
                Some(column) => Some(value_of(column, group)?),
                None => None,
            };
            self.first.push((value, head.hit(&keys, leaf)?));
        }
        let by_value = SortKey::ascending(SortBy::Field(self.by.field));
        self.first.sort_by(|(value, hit), (other, next)| {
            compare(self.keys, hit, next).then_with(|| by_value.compare(value.as_ref(), other.as_ref()))
        });
        let mut seen = HashSet::new();
        self.first.retain(|(value, _)| seen.insert(identity(value.as_ref())));
        self.first.truncate(self.by.groups);
        Ok(())
    }
}

/// What is the same for equal values of one column, and for no others.
fn identity(value: Option<&Value>) -> Option<Vec<u8>> {
    value.map(|value| match value {
        Value::Text(text) | Value::Bytes(text) => text.clone(),
        value => order_of_number(value.as_ref()).unwrap_or(0).to_le_bytes().to_vec(),
    })
}

/// A leaf at hand, and which group has which number there.
struct LeafGroups<'a> {
    leaf: usize,
    column: Option<Reader<'a>>,
    known: HashMap<Option<u64>, usize>,
    /// By the low bits of a number: whether some group has such a one, so that most documents need no look at `known`.
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
    sorting: Option<Sorting<'s, 'a>>,
}

/// The second pass.
struct Members<'s, 'a> {
    searcher: &'s Searcher<'a>,
    by: &'s GroupBy,
    groups: Vec<Member<'s, 'a>>,
    leaf: Option<LeafGroups<'a>>,
}

impl<'s, 'a> Members<'s, 'a> {
    fn new(searcher: &'s Searcher<'a>, by: &'s GroupBy, keys: &'s [SortKey], heads: Vec<Head>) -> Self {
        let sorting = || (by.hits > 1).then(|| Sorting::new(searcher, keys, by.hits, None));
        let member = |(value, head): Head| Member { value, count: 0, head, sorting: sorting() };
        let groups = heads.into_iter().map(member).collect();
        Members { searcher, by, groups, leaf: None }
    }

    fn enter(&mut self, leaf: usize) -> Result<()> {
        let column = self.searcher.column(leaf, self.by.field);
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
        self.leaf = Some(LeafGroups { leaf, column: column.map(Reader::new), known, filter });
        Ok(())
    }

    fn batch(&mut self, leaf: usize, docs: &[u32], scores: &[f32]) -> Result<()> {
        if self.leaf.as_ref().is_none_or(|known| known.leaf != leaf) {
            self.enter(leaf)?;
        }
        let Members { by, groups, leaf: Some(at_hand), .. } = self else {
            return Err(Error::Options("there is no such part of the index".into()));
        };
        let mut column = at_hand.column.take();
        let mut take = |doc: u32, score: f32, values: &[u64]| {
            each_group(values, by.missing, |group| {
                let Some(member) = at_hand.place(group).and_then(|at| groups.get_mut(at)) else {
                    return Ok(());
                };
                member.count += 1;
                let sorting = member.sorting.as_mut();
                sorting.map_or(Ok(()), |sorting| sorting.batch(leaf, &[doc], &[score]))
            })
        };
        match &mut column {
            Some(column) => each_of(column, (leaf, docs, scores), take)?,
            None => docs.iter().zip(scores).try_for_each(|(&doc, &score)| take(doc, score, &[]))?,
        }
        at_hand.column = column;
        Ok(())
    }
}
