//! Answers aggregations from what was counted in parts of the documents.

use std::collections::BTreeMap;

use super::aggregation::{MOST_LEVELS, NodeParts};
use super::answer::{Aggregated, Bucket, BucketKey, Buckets, Distinct};
use super::bucket_chooser::BucketChooser;
use super::distinct::SketchParts;
use super::partial::PartialAggregation;
use super::request::{Aggregation, Facet, FacetTerms};
use super::stats::{StatsCount, StatsParts};
use crate::column::ColumnKind;
use crate::error::{Error, Result};
use crate::schema::{Field, Value};

/// Aggregations whose answers are put together from parts, in one round for each level of nesting.
#[derive(Debug)]
pub(crate) struct JoinedAggregations {
    nodes: Vec<JoinedNode>,
    rounds: usize,
}

#[derive(Debug)]
struct JoinedNode {
    asked: Aggregation,
    state: NodeState,
}

#[derive(Debug)]
enum NodeState {
    /// Nothing is known yet.
    Asked,
    /// The buckets to show are known, but not all that is nested in them.
    Open {
        buckets: Buckets,
        numbers: Vec<u64>,
        nested: Vec<Vec<JoinedNode>>,
    },
    Done(Aggregated),
}

impl JoinedAggregations {
    pub(crate) fn new(asked: &[Aggregation]) -> Self {
        JoinedAggregations { nodes: asked.iter().map(JoinedNode::new).collect(), rounds: 0 }
    }

    /// What to ask in the next round; `None` if all answers are known.
    pub(crate) fn next(&self) -> Option<Vec<PartialAggregation>> {
        let asked: Vec<PartialAggregation> = self.nodes.iter().map(JoinedNode::next).collect();
        asked.iter().any(|asked| *asked != PartialAggregation::Nothing).then_some(asked)
    }

    /// Takes the answers of all parts to what was asked. `kind` returns the kind of a column.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if a part answers something else; [`Error::TooMany`] if aggregations are nested too
    /// deep.
    pub(crate) fn take(
        &mut self,
        parts: Vec<Vec<NodeParts>>,
        kind: &dyn Fn(Field) -> Option<ColumnKind>,
    ) -> Result<()> {
        take_all(&mut self.nodes, parts, kind)?;
        self.rounds += 1;
        if self.rounds > MOST_LEVELS && self.next().is_some() {
            return Err(Error::TooMany {
                what: "levels of nested aggregations",
                limit: MOST_LEVELS as u64,
                remedy: "request the inner levels in a separate query",
            });
        }
        Ok(())
    }

    /// The answers, when nothing is left to ask.
    pub(crate) fn finish(self) -> Vec<Aggregated> {
        self.nodes.into_iter().map(JoinedNode::answer).collect()
    }
}

/// Gives each node its answers, one of each part.
fn take_all(
    nodes: &mut [JoinedNode],
    parts: Vec<Vec<NodeParts>>,
    kind: &dyn Fn(Field) -> Option<ColumnKind>,
) -> Result<()> {
    let mut of_nodes: Vec<Vec<NodeParts>> = nodes.iter().map(|_| Vec::new()).collect();
    for part in parts {
        if part.len() != nodes.len() {
            return Err(foreign());
        }
        of_nodes.iter_mut().zip(part).for_each(|(of_node, part)| of_node.push(part));
    }
    nodes.iter_mut().zip(of_nodes).try_for_each(|(node, parts)| node.take(parts, kind))
}

fn foreign() -> Error {
    Error::corrupt("the answer of a part of the index", "it does not answer what was asked")
}

impl JoinedNode {
    fn new(asked: &Aggregation) -> Self {
        JoinedNode { asked: asked.clone(), state: NodeState::Asked }
    }

    fn next(&self) -> PartialAggregation {
        match (&self.state, &self.asked) {
            (NodeState::Asked, Aggregation::Facet(facet, _)) => {
                PartialAggregation::Count(Aggregation::Facet(facet.clone(), Vec::new()))
            }
            (NodeState::Asked, asked) => PartialAggregation::Count(asked.clone()),
            (NodeState::Open { buckets, numbers, nested }, Aggregation::Facet(facet, _)) => {
                let all: Vec<Vec<PartialAggregation>> =
                    nested.iter().map(|nodes| nodes.iter().map(JoinedNode::next).collect()).collect();
                if all.iter().flatten().all(|asked| *asked == PartialAggregation::Nothing) {
                    return PartialAggregation::Nothing;
                }
                PartialAggregation::Nested {
                    facet: facet.clone(),
                    buckets: buckets.buckets.iter().map(|bucket| bucket.key.clone()).collect(),
                    numbers: numbers.clone(),
                    nested: all,
                }
            }
            _ => PartialAggregation::Nothing,
        }
    }

    fn take(&mut self, parts: Vec<NodeParts>, kind: &dyn Fn(Field) -> Option<ColumnKind>) -> Result<()> {
        if let NodeState::Open { nested, .. } = &mut self.state {
            return take_nested(nested, parts, kind);
        }
        if matches!(self.state, NodeState::Done(_)) {
            return Ok(());
        }
        self.state = match &self.asked {
            Aggregation::Facet(facet, nested) => {
                let (buckets, numbers) = FacetSums::of(facet, parts)?.choose(facet);
                if nested.is_empty() || buckets.buckets.is_empty() {
                    NodeState::Done(Aggregated::Buckets(buckets))
                } else {
                    let of_bucket = |_: &Bucket| nested.iter().map(JoinedNode::new).collect();
                    let nested = buckets.buckets.iter().map(of_bucket).collect();
                    NodeState::Open { buckets, numbers, nested }
                }
            }
            Aggregation::Distinct { field, exact: true } => {
                let all = Facet::Terms(FacetTerms { limit: 0, ..FacetTerms::new(*field) });
                let (found, _) = FacetSums::of(&all, parts)?.choose(&all);
                let found = Distinct { values: found.total, exact: true, missing: found.missing };
                NodeState::Done(Aggregated::Distinct(found))
            }
            Aggregation::Distinct { exact: false, .. } => {
                let mut all = SketchParts::new();
                for part in parts {
                    let NodeParts::Estimated(part) = part else { return Err(foreign()) };
                    all.join(&part)?;
                }
                NodeState::Done(Aggregated::Distinct(all.finish()))
            }
            Aggregation::Stats { field, percentiles } => {
                let mut all = StatsParts::default();
                for part in parts {
                    let NodeParts::Summed(part) = part else { return Err(foreign()) };
                    all.join(part);
                }
                let kind = kind(*field).unwrap_or(ColumnKind::Unsigned);
                let stats = StatsCount::of_parts(percentiles, kind, all)?.finish();
                NodeState::Done(Aggregated::Stats(stats))
            }
        };
        Ok(())
    }

    fn answer(self) -> Aggregated {
        match self.state {
            NodeState::Done(found) => found,
            NodeState::Open { mut buckets, nested, .. } => {
                for (bucket, nodes) in buckets.buckets.iter_mut().zip(nested) {
                    bucket.nested = nodes.into_iter().map(JoinedNode::answer).collect();
                }
                Aggregated::Buckets(buckets)
            }
            NodeState::Asked => Aggregated::Buckets(Buckets::default()),
        }
    }
}

/// Gives the nodes of each bucket their answers.
fn take_nested(
    nested: &mut [Vec<JoinedNode>],
    parts: Vec<NodeParts>,
    kind: &dyn Fn(Field) -> Option<ColumnKind>,
) -> Result<()> {
    let mut of_buckets: Vec<Vec<Vec<NodeParts>>> = nested.iter().map(|_| Vec::new()).collect();
    for part in parts {
        let buckets = match part {
            NodeParts::Nothing => return Ok(()),
            NodeParts::Nested(buckets) if buckets.len() == nested.len() => buckets,
            _ => return Err(foreign()),
        };
        of_buckets.iter_mut().zip(buckets).for_each(|(of_bucket, part)| of_bucket.push(part));
    }
    nested.iter_mut().zip(of_buckets).try_for_each(|(nodes, parts)| take_all(nodes, parts, kind))
}

/// Adds a count that came in a message.
fn add(sum: &mut u64, count: u64) {
    *sum = sum.saturating_add(count);
}

/// The counts of all buckets of a facet.
#[derive(Default)]
struct FacetSums {
    documents: u64,
    missing: u64,
    /// By number, if numbers are the same everywhere.
    numbers: BTreeMap<u64, (BucketKey, u64)>,
    texts: BTreeMap<Vec<u8>, u64>,
    ranges: Vec<(BucketKey, u64)>,
}

impl FacetSums {
    fn of(facet: &Facet, parts: Vec<NodeParts>) -> Result<Self> {
        let mut all = FacetSums::default();
        for part in parts {
            let NodeParts::Counted { documents, missing, counts, numbers } = part else {
                return Err(foreign());
            };
            all.documents = all.documents.saturating_add(documents);
            all.missing = all.missing.saturating_add(missing);
            if let Facet::Ranges { ranges, .. } = facet {
                all.add_ranges(ranges.len(), counts)?;
            } else if numbers.len() == counts.len() {
                for (number, (key, count)) in numbers.into_iter().zip(counts) {
                    add(&mut all.numbers.entry(number).or_insert((key, 0)).1, count);
                }
            } else {
                for (key, count) in counts {
                    let BucketKey::Value(Value::Text(text)) = key else { return Err(foreign()) };
                    add(all.texts.entry(text).or_default(), count);
                }
            }
        }
        Ok(all)
    }

    fn add_ranges(&mut self, ranges: usize, counts: Vec<(BucketKey, u64)>) -> Result<()> {
        if counts.len() != ranges {
            return Err(foreign());
        }
        if self.ranges.is_empty() {
            self.ranges = counts;
        } else {
            self.ranges.iter_mut().zip(counts).for_each(|((_, sum), (_, count))| add(sum, count));
        }
        Ok(())
    }

    /// The buckets to show, and the number of each if numbers are the same everywhere.
    fn choose(self, facet: &Facet) -> (Buckets, Vec<u64>) {
        let mut found = Buckets { documents: self.documents, missing: self.missing, ..Buckets::default() };
        let bucket = |key, count| Bucket { key, count, nested: Vec::new() };
        if let Facet::Ranges { .. } = facet {
            found.total = self.ranges.len() as u64;
            found.buckets = self.ranges.into_iter().map(|(key, count)| bucket(key, count)).collect();
            return (found, Vec::new());
        }
        let (limit, min_count, order) = facet.limits();
        if self.texts.is_empty() {
            let mut chooser = BucketChooser::new(limit, min_count, order);
            self.numbers.iter().for_each(|(number, (_, count))| chooser.push(*count, || *number));
            let (mut keys, shown) = (self.numbers, chooser.close(&mut found));
            let numbers = shown.iter().map(|(number, _)| *number).collect();
            let key = |(number, count)| keys.remove(&number).map(|(key, _)| bucket(key, count));
            found.buckets = shown.into_iter().filter_map(key).collect();
            return (found, numbers);
        }
        let mut chooser = BucketChooser::new(limit, min_count, order);
        self.texts.into_iter().for_each(|(text, count)| chooser.push(count, || text));
        let shown = chooser.close(&mut found).into_iter();
        found.buckets =
            shown.map(|(text, count)| bucket(BucketKey::Value(Value::Text(text)), count)).collect();
        (found, Vec::new())
    }
}
