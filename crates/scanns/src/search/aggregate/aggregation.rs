//! Answers aggregations in as few passes over the matches as possible.
//!
//! The first pass counts. Nested aggregations take one more pass per level: when the buckets to show are
//! known, each bucket gets its documents, and its nested aggregations read them as the outer ones read all
//! matches. So nested aggregations need no special code. Several threads share the aggregations of the
//! outermost level.

use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;

use serde::{Deserialize, Serialize};

use super::answer::{Aggregated, Bucket, BucketKey, Buckets, Distinct};
use super::bucketing::{Bucketing, holds};
use super::collector::Collector;
use super::distinct::{DistinctCount, SketchParts};
use super::facet_count::FacetCount;
use super::match_reader::MatchReader;
use super::matches::{Matches, each_match};
use super::request::{Aggregation, Facet};
use super::stats::{StatsCount, StatsParts};
use crate::column::Column;
use crate::error::{Error, Result};
use crate::query::Query;
use crate::schema::{Field, Value};
use crate::search::exec::strategy::Want;
use crate::search::parallel::Help;
use crate::search::prepared::PreparedQuery;
use crate::search::searcher::Searcher;
use crate::sys::lock;

/// Maximum number of levels of nesting.
pub(super) const MOST_LEVELS: usize = 8;

impl Searcher<'_> {
    /// Answers aggregations over all matches; see [`PreparedQuery::aggregate`].
    pub fn aggregate(&self, query: &Query, asked: &[Aggregation]) -> Result<Vec<Aggregated>> {
        self.prepare(query)?.aggregate(asked)
    }
}

impl<'a> PreparedQuery<'_, 'a, '_> {
    /// Answers aggregations over all matches, in the order of `asked`.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if a column of this kind does not support its aggregation,
    /// [`Error::InvalidValue`] for a parameter outside its range, [`Error::TooMany`] if aggregations are
    /// nested too deep or count too many distinct values, [`Error::Corrupt`] if a column cannot be read.
    pub fn aggregate(&self, asked: &[Aggregation]) -> Result<Vec<Aggregated>> {
        let mut aggregations = Aggregations::new(self.searcher, asked)?;
        if !asked.is_empty() {
            self.pass(&mut aggregations.nodes)?;
        }
        aggregations.finish(self)
    }

    /// Feeds all matches to the nodes. One thread works on each node, so the answers do not depend on the
    /// number of threads.
    pub(super) fn pass(&self, nodes: &mut [AggregationNode<'_, 'a>]) -> Result<()> {
        let help = if nodes.len() > 1 { self.ranges(Want::All).help } else { None };
        let Some(Help { helpers, wanted }) = help else { return self.feed(nodes) };
        let shares = nodes.chunks_mut(nodes.len().div_ceil(wanted.saturating_add(1)));
        let (shares, failed) = (Mutex::new(shares.enumerate()), Mutex::new(BTreeMap::new()));
        let work = || {
            let next = || lock(&shares).next();
            while let Some((number, nodes)) = next() {
                if let Err(error) = self.feed(nodes) {
                    lock(&failed).insert(number, error);
                }
            }
        };
        helpers.share(wanted, &work, work);
        // This is the error that a single thread would have returned.
        let first = lock(&failed).pop_first();
        first.map_or(Ok(()), |(_, error)| Err(error))
    }

    fn feed(&self, nodes: &mut [AggregationNode<'_, 'a>]) -> Result<()> {
        let mut readers = Readers::new(self.searcher);
        each_match(self, |matches| nodes.iter_mut().try_for_each(|node| node.take(&mut readers, matches)))
    }
}

/// Collects the first pass of aggregations.
pub struct Aggregations<'r, 's, 'a> {
    readers: Readers<'s, 'a>,
    nodes: Vec<AggregationNode<'r, 'a>>,
}

impl<'r, 's, 'a> Aggregations<'r, 's, 'a> {
    /// Creates a collector for these aggregations, over the matches of a query of `searcher`.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] for a parameter outside its range.
    pub fn new(searcher: &'s Searcher<'a>, asked: &'r [Aggregation]) -> Result<Self> {
        let nodes = asked.iter().map(AggregationNode::new).collect::<Result<_>>()?;
        Ok(Aggregations { readers: Readers::new(searcher), nodes })
    }

    /// Returns the answers. `query` must be the query whose matches were collected; nested aggregations take
    /// more passes over its matches.
    ///
    /// # Errors
    /// The errors of [`PreparedQuery::aggregate`].
    pub fn finish(self, query: &PreparedQuery<'_, 'a, '_>) -> Result<Vec<Aggregated>> {
        let mut nodes = self.nodes;
        for level in 1.. {
            let mut more = false;
            for node in &mut nodes {
                more |= node.advance()?;
            }
            if !more {
                break;
            }
            if level == MOST_LEVELS {
                return Err(Error::TooMany {
                    what: "levels of nested aggregations",
                    limit: MOST_LEVELS as u64,
                    remedy: "request the inner levels in a separate query",
                });
            }
            query.pass(&mut nodes)?;
        }
        Ok(nodes.into_iter().map(AggregationNode::answer).collect())
    }
}

impl Collector for Aggregations<'_, '_, '_> {
    fn collect(&mut self, matches: &Matches<'_>) -> Result<()> {
        let Aggregations { readers, nodes } = self;
        nodes.iter_mut().try_for_each(|node| node.take(readers, matches))
    }
}

/// The column readers of a leaf, shared by all nodes.
struct Readers<'s, 'a> {
    searcher: &'s Searcher<'a>,
    leaf: usize,
    open: Vec<(Field, Option<MatchReader<'a>>)>,
}

impl<'s, 'a> Readers<'s, 'a> {
    fn new(searcher: &'s Searcher<'a>) -> Self {
        Readers { searcher, leaf: 0, open: Vec::new() }
    }

    /// Returns the reader of a field; `None` if no document of the leaf has a value.
    fn of(&mut self, leaf: usize, field: Field) -> Option<&mut MatchReader<'a>> {
        if self.leaf != leaf {
            self.open.clear();
            self.leaf = leaf;
        }
        let at = match self.open.iter().position(|(known, _)| *known == field) {
            Some(at) => at,
            None => {
                self.open.push((field, self.searcher.column_in(leaf, field).map(MatchReader::new)));
                self.open.len() - 1
            }
        };
        self.open.get_mut(at).and_then(|(_, reader)| reader.as_mut())
    }
}

/// An aggregation and its state.
pub(super) struct AggregationNode<'r, 'a> {
    asked: &'r Aggregation,
    state: AggregationState<'r, 'a>,
}

enum AggregationState<'r, 'a> {
    Counting(Box<FacetCount<'a>>),
    Summing(StatsCount),
    Estimating(DistinctCount<'a>),
    /// The buckets are known, and their nested aggregations are being fed.
    Nested(Box<Nested<'r, 'a>>),
    Done(Aggregated),
}

/// What an aggregation counted in some of the documents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum NodeParts {
    /// All buckets of a facet. If numbers are the same in all leaves, `numbers` has the number of each.
    Counted {
        documents: u64,
        missing: u64,
        counts: Vec<(BucketKey, u64)>,
        numbers: Vec<u64>,
    },
    Summed(StatsParts),
    Estimated(SketchParts),
    /// By bucket: the parts of what is nested.
    Nested(Vec<Vec<NodeParts>>),
    Nothing,
}

struct Nested<'r, 'a> {
    buckets: Buckets,
    router: Router,
    /// By bucket.
    nodes: Vec<Vec<AggregationNode<'r, 'a>>>,
}

impl<'r, 'a> AggregationNode<'r, 'a> {
    pub(super) fn new(asked: &'r Aggregation) -> Result<Self> {
        let state = match asked {
            Aggregation::Facet(facet, _) => {
                AggregationState::Counting(Box::new(FacetCount::new(facet.clone())))
            }
            Aggregation::Stats { percentiles, .. } => {
                AggregationState::Summing(StatsCount::new(percentiles)?)
            }
            Aggregation::Distinct { field, exact: true } => {
                AggregationState::Counting(Box::new(FacetCount::distinct(*field)))
            }
            Aggregation::Distinct { exact: false, .. } => AggregationState::Estimating(DistinctCount::new()),
        };
        Ok(AggregationNode { asked, state })
    }

    fn take(&mut self, readers: &mut Readers<'_, 'a>, matches: &Matches<'_>) -> Result<()> {
        let (field, leaf) = (self.asked.field(), matches.leaf);
        let searcher = readers.searcher;
        match &mut self.state {
            AggregationState::Counting(count) => count.take(searcher, readers.of(leaf, field), matches),
            AggregationState::Summing(count) => count.take(readers.of(leaf, field), matches),
            AggregationState::Estimating(count) => count.take(readers.of(leaf, field), matches),
            AggregationState::Nested(nested) => {
                let Nested { buckets, router, nodes } = &mut **nested;
                let Some(reader) = readers.of(leaf, field) else { return Ok(()) };
                router.route(buckets, reader, matches)?;
                for (nodes, docs) in nodes.iter_mut().zip(&router.docs) {
                    if !docs.is_empty() {
                        let matches = Matches::of(leaf, docs);
                        nodes.iter_mut().try_for_each(|node| node.take(readers, &matches))?;
                    }
                }
                Ok(())
            }
            AggregationState::Done(_) => Ok(()),
        }
    }

    /// A facet whose buckets to show are known, and what is asked of the documents of each. `numbers` has the
    /// number of each bucket if numbers are the same in all leaves.
    pub(super) fn of_buckets(
        asked: &'r Aggregation,
        facet: &Facet,
        buckets: Vec<BucketKey>,
        numbers: Vec<u64>,
        nodes: Vec<Vec<AggregationNode<'r, 'a>>>,
    ) -> Self {
        let router = Router::new(facet.clone(), numbers, buckets.len());
        let bucket = |key| Bucket { key, count: 0, nested: Vec::new() };
        let buckets = Buckets { buckets: buckets.into_iter().map(bucket).collect(), ..Buckets::default() };
        let state = AggregationState::Nested(Box::new(Nested { buckets, router, nodes }));
        AggregationNode { asked, state }
    }

    /// Ends the only pass: what was counted, without choosing what to show.
    pub(super) fn into_parts(self) -> Result<NodeParts> {
        Ok(match self.state {
            AggregationState::Counting(count) => {
                let (found, numbers) = count.finish()?;
                let counts = found.buckets.into_iter().map(|bucket| (bucket.key, bucket.count)).collect();
                NodeParts::Counted { documents: found.documents, missing: found.missing, counts, numbers }
            }
            AggregationState::Summing(count) => NodeParts::Summed(count.into_parts()),
            AggregationState::Estimating(count) => NodeParts::Estimated(count.into_parts()?),
            AggregationState::Nested(nested) => {
                let parts = |nodes: Vec<Self>| nodes.into_iter().map(Self::into_parts).collect();
                NodeParts::Nested(nested.nodes.into_iter().map(parts).collect::<Result<_>>()?)
            }
            AggregationState::Done(_) => NodeParts::Nothing,
        })
    }

    /// A node that is not asked for anything.
    pub(super) fn nothing(asked: &'r Aggregation) -> Self {
        AggregationNode { asked, state: AggregationState::Done(Aggregated::Buckets(Buckets::default())) }
    }

    /// Ends a pass; true if the node needs another one.
    fn advance(&mut self) -> Result<bool> {
        let done = AggregationState::Done(Aggregated::Buckets(Buckets::default()));
        let (state, more) = match std::mem::replace(&mut self.state, done) {
            AggregationState::Counting(count) => self.counted(*count)?,
            AggregationState::Summing(count) => {
                (AggregationState::Done(Aggregated::Stats(count.finish())), false)
            }
            AggregationState::Estimating(count) => {
                (AggregationState::Done(Aggregated::Distinct(count.finish()?)), false)
            }
            AggregationState::Nested(mut nested) => {
                let mut more = false;
                for node in nested.nodes.iter_mut().flatten() {
                    more |= node.advance()?;
                }
                (AggregationState::Nested(nested), more)
            }
            done @ AggregationState::Done(_) => (done, false),
        };
        self.state = state;
        Ok(more)
    }

    /// The state after counting, and whether it needs another pass.
    fn counted(&self, count: FacetCount<'a>) -> Result<(AggregationState<'r, 'a>, bool)> {
        let (buckets, numbers) = count.finish()?;
        Ok(match self.asked {
            Aggregation::Facet(facet, nested) if !nested.is_empty() && !buckets.buckets.is_empty() => {
                let of_bucket = |_: &_| nested.iter().map(AggregationNode::new).collect::<Result<_>>();
                let nodes = buckets.buckets.iter().map(of_bucket).collect::<Result<_>>()?;
                let router = Router::new(facet.clone(), numbers, buckets.buckets.len());
                (AggregationState::Nested(Box::new(Nested { buckets, router, nodes })), true)
            }
            Aggregation::Distinct { .. } => {
                let found = Distinct { values: buckets.total, exact: true, missing: buckets.missing };
                (AggregationState::Done(Aggregated::Distinct(found)), false)
            }
            _ => (AggregationState::Done(Aggregated::Buckets(buckets)), false),
        })
    }

    /// The answer after the last pass.
    fn answer(self) -> Aggregated {
        match self.state {
            AggregationState::Done(found) => found,
            AggregationState::Nested(nested) => {
                let Nested { mut buckets, nodes, .. } = *nested;
                for (bucket, nodes) in buckets.buckets.iter_mut().zip(nodes) {
                    bucket.nested = nodes.into_iter().map(AggregationNode::answer).collect();
                }
                Aggregated::Buckets(buckets)
            }
            AggregationState::Counting(_)
            | AggregationState::Summing(_)
            | AggregationState::Estimating(_) => unreachable!("`advance` ends these states"),
        }
    }
}

/// Finds the shown buckets that documents are in.
struct Router {
    facet: Facet,
    /// By bucket: its number, if numbers are the same in all leaves.
    numbers: Vec<u64>,
    leaf: Option<RoutedLeaf>,
    /// By bucket: its documents of the current batch.
    docs: Vec<Vec<u32>>,
}

/// The current leaf of a router.
struct RoutedLeaf {
    number: usize,
    bucketing: Bucketing,
    /// Buckets by their numbers in this leaf.
    known: HashMap<u64, usize>,
}

impl Router {
    fn new(facet: Facet, numbers: Vec<u64>, buckets: usize) -> Self {
        Router { facet, numbers, leaf: None, docs: vec![Vec::new(); buckets] }
    }

    fn enter(&self, buckets: &Buckets, column: &Column, leaf: usize) -> Result<RoutedLeaf> {
        let bucketing = Bucketing::new(&self.facet, column)?;
        let mut known = HashMap::new();
        for (at, bucket) in buckets.buckets.iter().enumerate() {
            let number = match (&bucket.key, &bucketing) {
                (BucketKey::Value(Value::Text(name)), Bucketing::Directories(all)) => {
                    all.iter().position(|one| one.name == *name).map(|number| number as u64)
                }
                (BucketKey::Value(Value::Text(term)), _) => match column.terms() {
                    Some(terms) => terms.find(term)?.ok().map(u64::from),
                    None => None,
                },
                _ => self.numbers.get(at).copied(),
            };
            known.extend(number.map(|number| (number, at)));
        }
        Ok(RoutedLeaf { number: leaf, bucketing, known })
    }

    fn route(
        &mut self,
        buckets: &Buckets,
        reader: &mut MatchReader<'_>,
        matches: &Matches<'_>,
    ) -> Result<()> {
        let leaf = match self.leaf.take().filter(|leaf| leaf.number == matches.leaf) {
            Some(leaf) => leaf,
            None => self.enter(buckets, reader.column(), matches.leaf)?,
        };
        let RoutedLeaf { bucketing, known, .. } = self.leaf.insert(leaf);
        let routed = &mut self.docs;
        routed.iter_mut().for_each(Vec::clear);
        let mut set = |bucket: usize, doc: u32| {
            // Two values of a document may be in one bucket.
            if let Some(docs) = routed.get_mut(bucket).filter(|docs| docs.last() != Some(&doc)) {
                docs.push(doc);
            }
        };
        reader.each(matches, |doc, values| {
            if let Bucketing::Ranges(ranges) = &*bucketing {
                for (bucket, &range) in ranges.iter().enumerate() {
                    if values.iter().any(|&value| holds(range, value)) {
                        set(bucket, doc);
                    }
                }
                return;
            }
            for bucket in values.iter().filter_map(|&value| known.get(&bucketing.of(value)?)) {
                set(*bucket, doc);
            }
        })
    }
}
