//! Counts the documents of a facet over all leaves.

use std::collections::BTreeMap;

use super::answer::{Bucket, BucketKey, Buckets};
use super::bucket_chooser::{BucketChooser, LeafCounts, merge};
use super::bucketing::{Bucketing, holds};
use super::match_reader::{MatchReader, ValueRun};
use super::matches::Matches;
use super::number_counts::NumberCounts;
use super::request::{Facet, FacetTerms, TermsOrder};
use crate::column::Column;
use crate::error::Result;
use crate::schema::{Field, Value};
use crate::search::searcher::Searcher;

/// A facet that is being counted.
#[derive(Debug)]
pub(crate) struct FacetCount<'a> {
    facet: Facet,
    documents: u64,
    missing: u64,
    /// The current leaf.
    leaf: Option<LeafCount<'a>>,
    /// A column that converts numbers to values, if numbers are the same in all leaves.
    column: Option<&'a Column>,
    numbers: Option<NumberCounts>,
    /// For each range, its count.
    ranges: Vec<u64>,
    terms: Vec<LeafCounts<'a>>,
    directories: BTreeMap<Vec<u8>, u64>,
    /// True if only the number of distinct values is wanted.
    is_distinct: bool,
}

/// The current leaf.
#[derive(Debug)]
struct LeafCount<'a> {
    number: usize,
    bucketing: Bucketing,
    column: &'a Column,
    /// Counts by numbers that are only valid in this leaf.
    local: Option<NumberCounts>,
}

/// Buckets, and the number of each if numbers are the same in all leaves.
pub(crate) type CountedBuckets = (Buckets, Vec<u64>);

impl<'a> FacetCount<'a> {
    pub(crate) fn new(facet: Facet) -> Self {
        FacetCount {
            facet,
            documents: 0,
            missing: 0,
            leaf: None,
            column: None,
            numbers: None,
            ranges: Vec::new(),
            terms: Vec::new(),
            directories: BTreeMap::new(),
            is_distinct: false,
        }
    }

    /// Creates a count of the number of distinct values only.
    pub(crate) fn distinct(field: Field) -> Self {
        let all = Facet::Terms(FacetTerms { limit: 0, ..FacetTerms::new(field) });
        FacetCount { is_distinct: true, ..Self::new(all) }
    }

    /// Counts matches; `reader` reads the column in their leaf.
    pub(crate) fn take(
        &mut self,
        searcher: &Searcher<'a>,
        reader: Option<&mut MatchReader<'a>>,
        matches: &Matches<'_>,
    ) -> Result<()> {
        let (leaf, count) = (matches.leaf, matches.count);
        self.documents += count;
        let Some(reader) = reader else {
            self.missing += count;
            return Ok(());
        };
        if self.leaf.as_ref().is_none_or(|known| known.number != leaf) {
            self.enter(searcher, leaf, reader.column())?;
        }
        let Some(LeafCount { bucketing, local, .. }) = &mut self.leaf else { return Ok(()) };
        let ranges = &mut self.ranges;
        let present = match (&*bucketing, local.as_mut().or(self.numbers.as_mut())) {
            (Bucketing::Ranges(all), _) => reader.runs(matches, |run| count_ranges(all, run, ranges))?,
            (_, None) => 0,
            (Bucketing::Values, Some(counts)) => {
                counts.expect(count)?;
                reader.runs(matches, |run| counts.add_run(run))?
            }
            (bucketing, Some(counts)) => {
                counts.expect(count)?;
                reader.runs(matches, |run| counts.add_run_by(run, |value| bucketing.of(value)))?
            }
        };
        self.missing += count.saturating_sub(present);
        Ok(())
    }

    fn enter(&mut self, searcher: &Searcher<'a>, leaf: usize, column: &'a Column) -> Result<()> {
        self.leave()?;
        let bucketing = Bucketing::new(&self.facet, column)?;
        let mut local = None;
        if bucketing.is_local(column) {
            let terms = column.terms().map_or(0, |terms| u64::from(terms.len()));
            let numbers = if let Bucketing::Directories(all) = &bucketing { all.len() as u64 } else { terms };
            local = Some(NumberCounts::new(0, numbers.saturating_sub(1), self.is_distinct));
        } else if let Bucketing::Ranges(all) = &bucketing {
            self.ranges.resize(all.len(), 0);
        } else if self.numbers.is_none() {
            let columns =
                (0..searcher.leaves()).filter_map(|leaf| searcher.column_in(leaf, self.facet.field()));
            let bounds = columns.filter_map(Column::bounds).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
            let (least, most) = bounds.unwrap_or((0, 0));
            self.numbers = Some(match (bucketing.of(least), bucketing.of(most)) {
                (Some(least), Some(most)) => NumberCounts::new(least, most, self.is_distinct),
                _ => NumberCounts::new(0, u64::MAX, self.is_distinct),
            });
        }
        self.column = Some(column);
        self.leaf = Some(LeafCount { number: leaf, bucketing, column, local });
        Ok(())
    }

    /// Keeps the counts of the current leaf.
    fn leave(&mut self) -> Result<()> {
        let Some(LeafCount { bucketing, column, local: Some(local), .. }) = self.leaf.take() else {
            return Ok(());
        };
        // In any order: dictionary order is needed only for several leaves, or if it is the order of buckets.
        let mut counts = local.pairs();
        if let Bucketing::Directories(all) = &bucketing {
            for (number, count) in counts {
                if let Some(directory) = usize::try_from(number).ok().and_then(|number| all.get(number)) {
                    *self.directories.entry(directory.name.clone()).or_default() += count;
                }
            }
        } else if let (Some(terms), Facet::Terms(FacetTerms { prefix, .. })) = (column.terms(), &self.facet) {
            if !prefix.is_empty() {
                let range = terms.prefix_range(prefix)?;
                counts
                    .retain(|(number, _)| u32::try_from(*number).is_ok_and(|number| range.contains(&number)));
            }
            if !counts.is_empty() {
                self.terms.push((terms, counts));
            }
        }
        Ok(())
    }

    /// Returns the number of distinct values, if only this is wanted and the numbers of one leaf give it.
    fn distinct_of_one_leaf(&self) -> Option<u64> {
        let local = self.leaf.as_ref().and_then(|leaf| leaf.local.as_ref());
        let counts = local.filter(|_| self.terms.is_empty()).or(self.numbers.as_ref());
        counts.filter(|_| self.is_distinct).map(NumberCounts::distinct)
    }

    /// The buckets.
    pub(crate) fn finish(mut self) -> Result<CountedBuckets> {
        if let Some(total) = self.distinct_of_one_leaf() {
            let (documents, missing) = (self.documents, self.missing);
            return Ok((Buckets { total, documents, missing, ..Buckets::default() }, Vec::new()));
        }
        let intervals = match self.leaf.as_ref().map(|leaf| &leaf.bucketing) {
            Some(Bucketing::Intervals(intervals)) => Some(*intervals),
            _ => None,
        };
        self.leave()?;
        let (limit, min_count, order) = self.facet.limits();
        let mut found = Buckets { documents: self.documents, missing: self.missing, ..Buckets::default() };
        let mut chooser = BucketChooser::new(limit, min_count, order);
        let (shown, numbers) = if let Facet::Ranges { ranges, .. } = self.facet {
            let counts = self.ranges.into_iter().chain(std::iter::repeat(0));
            let shown: Vec<_> = ranges.into_iter().map(BucketKey::Range).zip(counts).collect();
            found.total = shown.len() as u64;
            (shown, Vec::new())
        } else if let (Some(numbers), Some(column)) = (self.numbers, self.column) {
            let counts = if order == TermsOrder::Term { numbers.sorted() } else { numbers.pairs() };
            counts.into_iter().for_each(|(number, count)| chooser.offer(count, number));
            let shown = chooser.close(&mut found);
            let start = |number| intervals.map_or(column.kind().value_of(number), |all| all.start(number));
            let key = |&(number, count): &(u64, u64)| (BucketKey::Value(start(number)), count);
            (shown.iter().map(key).collect(), shown.iter().map(|(number, _)| *number).collect())
        } else if let [(dictionary, counts)] = &mut self.terms[..] {
            if order == TermsOrder::Term {
                counts.sort_unstable();
            }
            counts.iter().for_each(|&(number, count)| chooser.offer(count, number));
            let mut shown = Vec::new();
            for (number, count) in chooser.close(&mut found) {
                let mut term = Vec::new();
                dictionary.term(u32::try_from(number).unwrap_or(u32::MAX), &mut term)?;
                shown.push((BucketKey::Value(Value::Text(term)), count));
            }
            (shown, Vec::new())
        } else {
            let mut chooser = BucketChooser::new(limit, min_count, order);
            self.terms.iter_mut().for_each(|(_, counts)| counts.sort_unstable());
            merge(&self.terms, |term, count| chooser.push(count, || term.to_vec()))?;
            self.directories.into_iter().for_each(|(name, count)| chooser.push(count, || name));
            let key = |(term, count)| (BucketKey::Value(Value::Text(term)), count);
            (chooser.close(&mut found).into_iter().map(key).collect(), Vec::new())
        };
        let bucket = |(key, count)| Bucket { key, count, nested: Vec::new() };
        found.buckets = shown.into_iter().map(bucket).collect();
        Ok((found, numbers))
    }
}

/// Counts the documents of a run in each range that contains one of their values.
fn count_ranges(ranges: &[Option<(u64, u64)>], run: ValueRun<'_>, counts: &mut [u64]) {
    for (&range, count) in ranges.iter().zip(counts) {
        *count += match run {
            ValueRun::Same(value, documents) => {
                if holds(range, value) {
                    documents
                } else {
                    0
                }
            }
            ValueRun::Singles(values) => {
                let Some((first, length)) = range else { continue };
                values.iter().map(|value| u64::from(value.wrapping_sub(first) <= length)).sum()
            }
            ValueRun::Document(values) => values.iter().any(|&value| holds(range, value)).into(),
        };
    }
}
