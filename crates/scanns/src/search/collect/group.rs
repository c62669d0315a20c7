//! The best hits of each value of a column.
//!
//! The first pass finds the head of every group, and which groups come first by their heads. A group that is among the first n
//! of all is among the first n of the leaf that its head is in, since whatever is before it there is before it everywhere; so
//! no more than n are taken from a leaf. The second pass sorts the hits of each of these.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use super::aggregate::{Aggregated, Aggregation};
use super::each_match;
use super::sort::{Candidate, SortedHit, Sorting, compare};
use super::values::{LeafKey, SortBy, SortKey, order_of_number, value_of};
use crate::column::Column;
use crate::error::{Error, Result};
use crate::schema::{Field, Value};
use crate::search::sets::docs_of;
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
        for (value, count, sorting) in members.groups {
            let mut hits = sorting.finish()?;
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
            let (mut docs, mut scores) = (Vec::new(), Vec::new());
            return each_match(self, query, |leaf, start, bits| {
                docs.clear();
                docs.extend(docs_of(start, bits));
                scores.resize(docs.len(), 0.0);
                visit(leaf, &docs, &scores)
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

/// Calls `visit` with the groups of a document in a leaf.
fn each_group(
    column: Option<&Column>,
    missing: bool,
    (doc, memory): (u32, &mut Vec<u64>),
    mut visit: impl FnMut(Option<u64>) -> Result<()>,
) -> Result<()> {
    memory.clear();
    if let Some(column) = column {
        column.get(doc, memory)?;
    }
    if memory.is_empty() && missing {
        return visit(None);
    }
    memory.sort_unstable();
    memory.dedup();
    memory.iter().try_for_each(|&value| visit(Some(value)))
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

struct LeafHeads<'a> {
    leaf: usize,
    keys: Vec<LeafKey<'a>>,
    column: Option<&'a Column>,
    /// By group.
    best: HashMap<Option<u64>, Candidate>,
    memory: Vec<u64>,
}

impl Heads<'_, '_> {
    fn batch(&mut self, leaf: usize, docs: &[u32], scores: &[f32]) -> Result<()> {
        if self.leaf.as_ref().is_none_or(|known| known.leaf != leaf) {
            self.leave()?;
            let keys: Result<_> =
                self.keys.iter().map(|&key| LeafKey::new(key, self.searcher, leaf)).collect();
            let (column, best) = (self.searcher.column(leaf, self.by.field), HashMap::new());
            self.leaf = Some(LeafHeads { leaf, keys: keys?, column, best, memory: Vec::new() });
        }
        let Some(LeafHeads { keys, column, best, memory, .. }) = &mut self.leaf else { return Ok(()) };
        for (&doc, &score) in docs.iter().zip(scores) {
            let one = Candidate::new(keys, doc, score)?;
            each_group(*column, self.by.missing, (doc, memory), |group| {
                let head = best.entry(group).or_insert_with(|| one.clone());
                if one < *head {
                    *head = one.clone();
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Takes the first groups of a leaf over.
    fn leave(&mut self) -> Result<()> {
        let Some(LeafHeads { leaf, keys, column, best, .. }) = self.leaf.take() else { return Ok(()) };
        // Of groups with the same head the least value is first, and documents without one are last.
        let mut best: Vec<(Candidate, bool, u64)> =
            best.into_iter().map(|(group, head)| (head, group.is_none(), group.unwrap_or(0))).collect();
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

/// A leaf at hand: its column, and which group has which number there.
type LeafGroups<'a> = (usize, Option<&'a Column>, HashMap<Option<u64>, usize>);

/// The second pass.
struct Members<'s, 'a> {
    searcher: &'s Searcher<'a>,
    by: &'s GroupBy,
    groups: Vec<(Option<Value>, u64, Sorting<'s, 'a>)>,
    leaf: Option<LeafGroups<'a>>,
    memory: Vec<u64>,
}

impl<'s, 'a> Members<'s, 'a> {
    fn new(searcher: &'s Searcher<'a>, by: &'s GroupBy, keys: &'s [SortKey], heads: Vec<Head>) -> Self {
        let sorting = || Sorting::new(searcher, keys, by.hits, None);
        let groups = heads.into_iter().map(|(value, _)| (value, 0, sorting())).collect();
        Members { searcher, by, groups, leaf: None, memory: Vec::new() }
    }

    fn enter(&mut self, leaf: usize) -> Result<()> {
        let column = self.searcher.column(leaf, self.by.field);
        let mut known = HashMap::new();
        for (at, (value, ..)) in self.groups.iter().enumerate() {
            let number = match (value, column.map(|column| (column, column.terms()))) {
                (None, _) => Some(None),
                (Some(_), None) => None,
                (Some(Value::Text(term)), Some((_, Some(terms)))) => {
                    terms.find(term)?.ok().map(|number| Some(number.into()))
                }
                (Some(value), Some((column, _))) => column.kind().order_of(value.as_ref()).map(Some),
            };
            known.extend(number.map(|number| (number, at)));
        }
        self.leaf = Some((leaf, column, known));
        Ok(())
    }

    fn batch(&mut self, leaf: usize, docs: &[u32], scores: &[f32]) -> Result<()> {
        if self.leaf.as_ref().is_none_or(|known| known.0 != leaf) {
            self.enter(leaf)?;
        }
        let Members { by, groups, leaf: Some((_, column, known)), memory, .. } = self else {
            return Err(Error::Options("there is no such part of the index".into()));
        };
        for (&doc, &score) in docs.iter().zip(scores) {
            each_group(*column, by.missing, (doc, memory), |group| {
                let Some((_, count, sorting)) = known.get(&group).and_then(|&at| groups.get_mut(at)) else {
                    return Ok(());
                };
                *count += 1;
                sorting.batch(leaf, &[doc], &[score])
            })?;
        }
        Ok(())
    }
}
