//! Everything that is asked about the documents that match, in as few passes over them as it takes.
//!
//! The first pass counts. What is asked about the documents of each bucket is found by a pass more: now that is known which
//! buckets are shown, each gets its documents, and what is nested in it is fed with these as the whole was with all.
//! So every level takes a pass, and what is nested knows nothing of it. What is asked side by side is shared out to threads.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};

use super::count::FacetCount;
use super::cut::{Cut, holds};
use super::distinct::{Distinct, DistinctCount};
use super::facet::{BucketKey, Buckets, Facet};
use super::read::Reader;
use super::stats::{Stats, StatsCount};
use super::window::{Matches, each_match};
use crate::column::Column;
use crate::error::{Error, Result};
use crate::schema::{Field, Value};
use crate::search::{Query, Searcher};

/// What is asked about documents.
#[derive(Clone, Debug, PartialEq)]
pub enum Aggregation {
    /// How many there are by their values, and what is asked about those of each bucket that is shown.
    Facet(Facet, Vec<Aggregation>),
    /// Figures of a column of numbers.
    Stats {
        /// The column.
        field: Field,
        /// Percentiles, from 0 to 100. For these all values are kept in memory, eight bytes each.
        percentiles: Vec<f64>,
    },
    /// How many different values there are.
    Distinct {
        /// The column.
        field: Field,
        /// True to count them, which takes memory for each of them; false for an estimate.
        exact: bool,
    },
}

/// The answer to an [`Aggregation`].
#[derive(Clone, Debug, PartialEq)]
pub enum Aggregated {
    /// To a facet.
    Buckets(Buckets),
    /// Figures.
    Stats(Stats),
    /// How many different values there are.
    Distinct(Distinct),
}

/// Most levels.
const MOST_LEVELS: usize = 8;

impl<'a> Searcher<'a> {
    /// Answers what is asked about all documents that match, in the same order.
    ///
    /// # Errors
    /// [`Error::Options`] for what a column cannot answer, [`Error::Corrupt`] if one cannot be read.
    pub fn aggregate(&self, query: &Query, asked: &[Aggregation]) -> Result<Vec<Aggregated>> {
        let mut nodes: Vec<Node> = asked.iter().map(Node::new).collect::<Result<_>>()?;
        for _ in 0..MOST_LEVELS {
            self.pass(query, &mut nodes)?;
            let mut more = false;
            for node in &mut nodes {
                more |= node.advance()?;
            }
            if !more {
                return nodes.into_iter().map(Node::answer).collect();
            }
        }
        Err(Error::Options(format!("aggregations are nested too deep: in {MOST_LEVELS} levels at most")))
    }

    /// Has all of the nodes see what matches. Each is the business of one thread, so that what is found does not depend
    /// on how many there are.
    fn pass(&self, query: &Query, nodes: &mut [Node<'_, 'a>]) -> Result<()> {
        let helpers = if nodes.len() > 1 { self.helpers_for(query)? } else { None };
        let Some((helpers, wanted)) = helpers else { return self.see(query, nodes) };
        let shares = nodes.chunks_mut(nodes.len().div_ceil(wanted.saturating_add(1)));
        let (shares, failed) = (Mutex::new(shares.enumerate()), Mutex::new(BTreeMap::new()));
        let work = || {
            let next = || shares.lock().unwrap_or_else(PoisonError::into_inner).next();
            while let Some((number, nodes)) = next() {
                if let Err(error) = self.see(query, nodes) {
                    failed.lock().unwrap_or_else(PoisonError::into_inner).insert(number, error);
                }
            }
        };
        helpers.share(wanted, &work, work);
        // The first is what one thread would have met.
        let failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
        failed.into_values().next().map_or(Ok(()), Err)
    }

    fn see(&self, query: &Query, nodes: &mut [Node<'_, 'a>]) -> Result<()> {
        let mut readers = Readers { searcher: self, leaf: 0, open: Vec::new() };
        each_match(self, query, |matches| {
            nodes.iter_mut().try_for_each(|node| node.take(&mut readers, matches))
        })
    }
}

/// The readers of a leaf, shared by all that count.
struct Readers<'s, 'a> {
    searcher: &'s Searcher<'a>,
    leaf: usize,
    open: Vec<(Field, Option<Reader<'a>>)>,
}

impl<'a> Readers<'_, 'a> {
    /// That of a field; `None` if no document of the leaf has a value.
    fn of(&mut self, leaf: usize, field: Field) -> Option<&mut Reader<'a>> {
        if self.leaf != leaf {
            self.open.clear();
            self.leaf = leaf;
        }
        let at = match self.open.iter().position(|(known, _)| *known == field) {
            Some(at) => at,
            None => {
                self.open.push((field, self.searcher.column(leaf, field).map(Reader::new)));
                self.open.len() - 1
            }
        };
        self.open.get_mut(at).and_then(|(_, reader)| reader.as_mut())
    }
}

/// Something that is asked, and how far it has got.
struct Node<'r, 'a> {
    asked: &'r Aggregation,
    state: State<'r, 'a>,
}

enum State<'r, 'a> {
    Counting(Box<FacetCount<'a>>),
    Summing(StatsCount),
    Telling(DistinctCount<'a>),
    /// What is nested is being found.
    Nested(Box<Nested<'r, 'a>>),
    Done(Aggregated),
}

struct Nested<'r, 'a> {
    buckets: Buckets,
    router: Router,
    /// By bucket.
    nodes: Vec<Vec<Node<'r, 'a>>>,
}

impl<'r, 'a> Node<'r, 'a> {
    fn new(asked: &'r Aggregation) -> Result<Self> {
        let state = match asked {
            Aggregation::Facet(facet, _) => State::Counting(Box::new(FacetCount::new(facet.clone()))),
            Aggregation::Stats { percentiles, .. } => State::Summing(StatsCount::new(percentiles)?),
            Aggregation::Distinct { field, exact: true } => {
                State::Counting(Box::new(FacetCount::distinct(*field)))
            }
            Aggregation::Distinct { exact: false, .. } => State::Telling(DistinctCount::new()),
        };
        Ok(Node { asked, state })
    }

    fn field(&self) -> Field {
        match self.asked {
            Aggregation::Facet(facet, _) => facet.field(),
            Aggregation::Stats { field, .. } | Aggregation::Distinct { field, .. } => *field,
        }
    }

    fn take(&mut self, readers: &mut Readers<'_, 'a>, matches: &Matches<'_>) -> Result<()> {
        let (field, leaf) = (self.field(), matches.leaf);
        let searcher = readers.searcher;
        match &mut self.state {
            State::Counting(count) => count.take(searcher, readers.of(leaf, field), matches),
            State::Summing(count) => count.take(readers.of(leaf, field), matches),
            State::Telling(count) => count.take(readers.of(leaf, field), matches),
            State::Nested(nested) => {
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
            State::Done(_) => Ok(()),
        }
    }

    /// Ends a pass; true if it takes another one.
    fn advance(&mut self) -> Result<bool> {
        let done = Aggregated::Buckets(Buckets::default());
        let (state, more) = match std::mem::replace(&mut self.state, State::Done(done)) {
            State::Counting(count) => {
                let (buckets, numbers) = count.finish()?;
                match self.asked {
                    Aggregation::Facet(facet, nested)
                        if !nested.is_empty() && !buckets.buckets.is_empty() =>
                    {
                        let of_bucket = |_: &_| nested.iter().map(Node::new).collect::<Result<_>>();
                        let nodes = buckets.buckets.iter().map(of_bucket).collect::<Result<_>>()?;
                        let router = Router::new(facet.clone(), numbers, buckets.buckets.len());
                        (State::Nested(Box::new(Nested { buckets, router, nodes })), true)
                    }
                    Aggregation::Distinct { .. } => {
                        let found = Distinct { values: buckets.total, exact: true, missing: buckets.missing };
                        (State::Done(Aggregated::Distinct(found)), false)
                    }
                    _ => (State::Done(Aggregated::Buckets(buckets)), false),
                }
            }
            State::Summing(count) => (State::Done(Aggregated::Stats(count.finish())), false),
            State::Telling(count) => (State::Done(Aggregated::Distinct(count.finish()?)), false),
            State::Nested(mut nested) => {
                let mut more = false;
                for node in nested.nodes.iter_mut().flatten() {
                    more |= node.advance()?;
                }
                (State::Nested(nested), more)
            }
            done @ State::Done(_) => (done, false),
        };
        self.state = state;
        Ok(more)
    }

    fn answer(self) -> Result<Aggregated> {
        match self.state {
            State::Done(found) => Ok(found),
            State::Nested(nested) => {
                let Nested { mut buckets, nodes, .. } = *nested;
                for (bucket, nodes) in buckets.buckets.iter_mut().zip(nodes) {
                    bucket.nested = nodes.into_iter().map(Node::answer).collect::<Result<_>>()?;
                }
                Ok(Aggregated::Buckets(buckets))
            }
            State::Counting(_) | State::Summing(_) | State::Telling(_) => {
                Err(Error::Options("an aggregation was not done".into()))
            }
        }
    }
}

/// Says which of the buckets that are shown documents belong to.
struct Router {
    facet: Facet,
    /// By bucket: its number, where numbers are the same in all leaves.
    numbers: Vec<u64>,
    /// The leaf at hand: how it is cut, and which bucket has which number there.
    leaf: Option<(usize, Cut, HashMap<u64, usize>)>,
    /// By bucket: those of its documents that are at hand.
    docs: Vec<Vec<u32>>,
}

impl Router {
    fn new(facet: Facet, numbers: Vec<u64>, buckets: usize) -> Self {
        Router { facet, numbers, leaf: None, docs: vec![Vec::new(); buckets] }
    }

    fn enter(&mut self, buckets: &Buckets, column: &Column, leaf: usize) -> Result<()> {
        let cut = Cut::new(&self.facet, column)?;
        let mut known = HashMap::new();
        for (at, bucket) in buckets.buckets.iter().enumerate() {
            let number = match (&bucket.key, &cut) {
                (BucketKey::Value(Value::Text(name)), Cut::Directories(all)) => {
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
        self.leaf = Some((leaf, cut, known));
        Ok(())
    }

    fn route(&mut self, buckets: &Buckets, reader: &mut Reader<'_>, matches: &Matches<'_>) -> Result<()> {
        if self.leaf.as_ref().is_none_or(|known| known.0 != matches.leaf) {
            self.enter(buckets, reader.column(), matches.leaf)?;
        }
        let Router { leaf: Some((_, cut, known)), docs: routed, .. } = self else { return Ok(()) };
        routed.iter_mut().for_each(Vec::clear);
        let mut set = |bucket: usize, doc: u32| {
            // Two values of a document may be in one bucket.
            if let Some(docs) = routed.get_mut(bucket).filter(|docs| docs.last() != Some(&doc)) {
                docs.push(doc);
            }
        };
        reader.each(matches, |doc, values| {
            if let Cut::Ranges(ranges) = &*cut {
                for (bucket, &range) in ranges.iter().enumerate() {
                    if values.iter().any(|&value| holds(range, value)) {
                        set(bucket, doc);
                    }
                }
                return;
            }
            for bucket in values.iter().filter_map(|&value| known.get(&cut.of(value)?)) {
                set(*bucket, doc);
            }
        })
    }
}
