//! Counts the documents of a facet: the first pass over what matches.

use std::collections::BTreeMap;

use super::choose::{Chooser, LeafCounts, merge};
use super::counts::Counts;
use super::cut::{Cut, holds};
use super::facet::{Bucket, BucketKey, Buckets, Facet, Terms, TermsOrder};
use super::read::{Reader, Run};
use super::window::Matches;
use crate::column::Column;
use crate::error::Result;
use crate::schema::{Field, Value};
use crate::search::Searcher;

/// A facet that is being counted.
#[derive(Debug)]
pub(super) struct FacetCount<'a> {
    facet: Facet,
    documents: u64,
    missing: u64,
    /// What is counted of the leaf at hand.
    leaf: Option<LeafCount<'a>>,
    /// What numbers mean that are the same in all leaves.
    column: Option<&'a Column>,
    numbers: Option<Counts>,
    /// By range.
    ranges: Vec<u64>,
    terms: Vec<LeafCounts<'a>>,
    directories: BTreeMap<Vec<u8>, u64>,
    /// True if only the number of different values matters.
    is_distinct: bool,
}

/// A leaf at hand.
#[derive(Debug)]
struct LeafCount<'a> {
    number: usize,
    cut: Cut,
    column: &'a Column,
    /// Counts that mean something here only.
    local: Option<Counts>,
}

/// Buckets, and the number of each where numbers are the same in all leaves.
pub(super) type Counted = (Buckets, Vec<u64>);

impl<'a> FacetCount<'a> {
    pub(super) fn new(facet: Facet) -> Self {
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

    /// Of which only how many different values there are will be asked.
    pub(super) fn distinct(field: Field) -> Self {
        let all = Facet::Terms(Terms { limit: 0, ..Terms::new(field) });
        FacetCount { is_distinct: true, ..Self::new(all) }
    }

    /// Counts documents that match; `reader` is that of the column in their leaf.
    pub(super) fn take(
        &mut self,
        searcher: &Searcher<'a>,
        reader: Option<&mut Reader<'a>>,
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
        let Some(LeafCount { cut, local, .. }) = &mut self.leaf else { return Ok(()) };
        let ranges = &mut self.ranges;
        let present = match (&*cut, local.as_mut().or(self.numbers.as_mut())) {
            (Cut::Ranges(all), _) => reader.runs(matches, |run| count_ranges(all, run, ranges))?,
            (_, None) => 0,
            (Cut::Values, Some(counts)) => {
                counts.expect(count)?;
                reader.runs(matches, |run| counts.add_run(run))?
            }
            (cut, Some(counts)) => {
                counts.expect(count)?;
                reader.runs(matches, |run| counts.add_run_by(run, |value| cut.of(value)))?
            }
        };
        self.missing += count.saturating_sub(present);
        Ok(())
    }

    fn enter(&mut self, searcher: &Searcher<'a>, leaf: usize, column: &'a Column) -> Result<()> {
        self.leave()?;
        let cut = Cut::new(&self.facet, column)?;
        let mut local = None;
        if cut.is_local(column) {
            let terms = column.terms().map_or(0, |terms| u64::from(terms.len()));
            let numbers = if let Cut::Directories(all) = &cut { all.len() as u64 } else { terms };
            local = Some(Counts::new(0, numbers.saturating_sub(1), self.is_distinct));
        } else if let Cut::Ranges(all) = &cut {
            self.ranges.resize(all.len(), 0);
        } else if self.numbers.is_none() {
            let columns = (0..searcher.leaves()).filter_map(|leaf| searcher.column(leaf, self.facet.field()));
            let bounds = columns.filter_map(Column::bounds).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
            let (least, most) = bounds.unwrap_or((0, 0));
            self.numbers = Some(match (cut.of(least), cut.of(most)) {
                (Some(least), Some(most)) => Counts::new(least, most, self.is_distinct),
                _ => Counts::new(0, u64::MAX, self.is_distinct),
            });
        }
        self.column = Some(column);
        self.leaf = Some(LeafCount { number: leaf, cut, column, local });
        Ok(())
    }

    /// Keeps what was counted of a leaf.
    fn leave(&mut self) -> Result<()> {
        let Some(LeafCount { cut, column, local: Some(local), .. }) = self.leaf.take() else { return Ok(()) };
        // In any order: that of the dictionary is of use only where there are several, or where it is asked for.
        let mut counts = local.pairs();
        if let Cut::Directories(all) = &cut {
            for (number, count) in counts {
                if let Some(directory) = usize::try_from(number).ok().and_then(|number| all.get(number)) {
                    *self.directories.entry(directory.name.clone()).or_default() += count;
                }
            }
        } else if let (Some(terms), Facet::Terms(Terms { prefix, .. })) = (column.terms(), &self.facet) {
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

    /// How many different values there are where that is all that is asked, and numbers of one leaf tell.
    fn distinct_of_one_leaf(&self) -> Option<u64> {
        let local = self.leaf.as_ref().and_then(|leaf| leaf.local.as_ref());
        let counts = local.filter(|_| self.terms.is_empty()).or(self.numbers.as_ref());
        counts.filter(|_| self.is_distinct).map(Counts::distinct)
    }

    /// What was counted.
    pub(super) fn finish(mut self) -> Result<Counted> {
        if let Some(total) = self.distinct_of_one_leaf() {
            let (documents, missing) = (self.documents, self.missing);
            return Ok((Buckets { total, documents, missing, ..Buckets::default() }, Vec::new()));
        }
        let intervals = match self.leaf.as_ref().map(|leaf| &leaf.cut) {
            Some(Cut::Intervals(intervals)) => Some(*intervals),
            _ => None,
        };
        self.leave()?;
        let (limit, min_count, order) = match &self.facet {
            Facet::Terms(Terms { limit, min_count, order, .. }) => (*limit, *min_count, *order),
            Facet::Path { limit, .. } => (*limit, 1, TermsOrder::Count),
            _ => (usize::MAX, 1, TermsOrder::Term),
        };
        let mut found = Buckets { documents: self.documents, missing: self.missing, ..Buckets::default() };
        let mut chooser = Chooser::new(limit, min_count, order);
        let (shown, numbers) = if let Facet::Ranges { ranges, .. } = self.facet {
            let counts = self.ranges.into_iter().chain(std::iter::repeat(0));
            let shown: Vec<_> = ranges.into_iter().map(BucketKey::Range).zip(counts).collect();
            found.total = shown.len() as u64;
            (shown, Vec::new())
        } else if let (Some(numbers), Some(column)) = (self.numbers, self.column) {
            let counts = if order == TermsOrder::Term { numbers.sorted() } else { numbers.pairs() };
            counts.into_iter().for_each(|(number, count)| chooser.offer(count, number));
            let shown = close(chooser, &mut found);
            let start = |number| intervals.map_or(column.kind().value_of(number), |all| all.start(number));
            let key = |&(number, count): &(u64, u64)| (BucketKey::Value(start(number)), count);
            (shown.iter().map(key).collect(), shown.iter().map(|(number, _)| *number).collect())
        } else if let [(dictionary, counts)] = &mut self.terms[..] {
            if order == TermsOrder::Term {
                counts.sort_unstable();
            }
            counts.iter().for_each(|&(number, count)| chooser.offer(count, number));
            let mut shown = Vec::new();
            for (number, count) in close(chooser, &mut found) {
                let mut term = Vec::new();
                dictionary.term(u32::try_from(number).unwrap_or(u32::MAX), &mut term)?;
                shown.push((BucketKey::Value(Value::Text(term)), count));
            }
            (shown, Vec::new())
        } else {
            let mut chooser = Chooser::new(limit, min_count, order);
            self.terms.iter_mut().for_each(|(_, counts)| counts.sort_unstable());
            merge(&self.terms, |term, count| chooser.push(count, || term.to_vec()))?;
            self.directories.into_iter().for_each(|(name, count)| chooser.push(count, || name));
            let key = |(term, count)| (BucketKey::Value(Value::Text(term)), count);
            (close(chooser, &mut found).into_iter().map(key).collect(), Vec::new())
        };
        let bucket = |(key, count)| Bucket { key, count, nested: Vec::new() };
        found.buckets = shown.into_iter().map(bucket).collect();
        Ok((found, numbers))
    }
}

/// What is shown, with the figures of all.
fn close<K: Ord>(chooser: Chooser<K>, found: &mut Buckets) -> Vec<(K, u64)> {
    found.total = chooser.total;
    let (shown, others) = chooser.finish();
    found.others = others;
    shown
}

/// Counts the documents of a run in each range that they have a value in.
fn count_ranges(ranges: &[Option<(u64, u64)>], run: Run<'_>, counts: &mut [u64]) {
    for (&range, count) in ranges.iter().zip(counts) {
        *count += match run {
            Run::Same(value, documents) => {
                if holds(range, value) {
                    documents
                } else {
                    0
                }
            }
            Run::Singles(values) => {
                let Some((first, length)) = range else { continue };
                values.iter().map(|value| u64::from(value.wrapping_sub(first) <= length)).sum()
            }
            Run::Document(values) => values.iter().any(|&value| holds(range, value)).into(),
        };
    }
}
