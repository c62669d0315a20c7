//! Changes scores by the values of a column.
//!
//! Where only the best hits are wanted, blocks of the column tell the greatest number that their values give.
//! So only values of documents that may compete are read.

use std::ops::{ControlFlow, RangeInclusive};

use crate::codec::first_after;
use crate::column::{Column, ColumnKind, JumpEntry};
use crate::error::{Error, Result};
use crate::query::{ScoreChange, ScoreCurve, ScoredQuery, ValueScore};
use crate::schema::ValueRef;
use crate::search::exec::goal::Sink;
use crate::search::exec::live_filter::LiveFilter;
use crate::search::exec::value_filter;
use crate::search::exec::view::View;
use crate::search::similarity::narrow;
use crate::search::top_k::TopK;

/// Changes scores of documents of a view.
pub(crate) struct ValueScorer<'a, 'q> {
    by: &'q ValueScore,
    change: ScoreChange,
    /// The factor of the numbers that are not multiplied.
    boost: f64,
    /// `None` if no document of the leaf has a value.
    column: Option<&'a Column>,
    /// The origin of the curve.
    origin: f64,
    held: Option<HeldBlock>,
    values: Vec<u64>,
    /// Buffers for documents that may compete, and for their scores.
    docs: Vec<u32>,
    scores: Vec<f32>,
    numbers: Vec<f64>,
}

/// # Errors
/// [`Error::Unsupported`] for a column without numbers.
pub(crate) fn must_be_number(kind: ColumnKind) -> Result<()> {
    if kind.is_number() {
        return Ok(());
    }
    Err(Error::Unsupported {
        what: "a score by a column without numbers or dates".into(),
        remedy: "use a column of numbers, dates or booleans".into(),
    })
}

/// The block of the last document.
struct HeldBlock {
    number: u32,
    entry: JumpEntry,
    /// The greatest number that a document of the block has, or slightly more.
    greatest: f64,
}

impl<'a, 'q> ValueScorer<'a, 'q> {
    /// A scorer inside boosts whose product is `boost`.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a column without numbers, or of another kind than the origin.
    pub(crate) fn new(view: &View<'a>, scored: &'q ScoredQuery, boost: f32) -> Result<Self> {
        let ScoredQuery { by, change, .. } = scored;
        let column = view.leaf.column(by.field);
        let mut origin = 0.0;
        if let Some(kind) = column.map(Column::kind) {
            must_be_number(kind)?;
            if let ScoreCurve::Near { origin: value, .. } = &by.curve {
                let order = kind.order_of(value.as_ref()).ok_or_else(|| Error::Unsupported {
                    what: "a score near a value of another kind than the field".into(),
                    remedy: "use a value of the same kind as the field".into(),
                })?;
                origin = kind.number_of(order);
            }
        }
        Ok(ValueScorer {
            by,
            change: *change,
            boost: boost.into(),
            column,
            origin,
            held: None,
            values: Vec::new(),
            docs: Vec::new(),
            scores: Vec::new(),
            numbers: Vec::new(),
        })
    }

    /// The score of a document, from its score in the query inside.
    pub(crate) fn score(&mut self, doc: u32, score: f32) -> Result<f32> {
        self.find_numbers(&[doc])?;
        Ok(self.changed(score, self.numbers.first().copied().unwrap_or(self.by.missing)))
    }

    /// The same, if it may reach the threshold; otherwise any score that is not lower, below the threshold.
    pub(crate) fn lowered(&mut self, doc: u32, score: f32, threshold: f32) -> Result<f32> {
        if let Some(column) = self.column {
            let greatest = self.hold(column, doc)?.greatest;
            let most = self.changed(score, greatest);
            if most < threshold {
                return Ok(most);
            }
        }
        self.score(doc, score)
    }

    /// The number of a document.
    pub(crate) fn number(&mut self, doc: u32) -> Result<f64> {
        self.find_numbers(&[doc])?;
        Ok(self.numbers.first().copied().unwrap_or(self.by.missing))
    }

    /// A bit for each document of a view that may reach the threshold if no score is above `highest`; `None`
    /// if that is not known or excludes nothing.
    pub(crate) fn may_reach(&self, view: &View, threshold: f32, highest: f64) -> Result<Option<Vec<u64>>> {
        // Scores are rounded to 24 bits.
        let (threshold, highest) = (f64::from(threshold) * (1.0 - 1e-6), highest * (1.0 + 1e-6));
        let least = match self.change {
            ScoreChange::Multiply => threshold / highest,
            ScoreChange::Add => (threshold - highest) / self.boost,
            ScoreChange::Replace => threshold / self.boost,
        };
        // If the threshold is not finite, `least` is not, or is not a number.
        let (Some(column), true) = (self.column, least > 0.0 && least.is_finite()) else { return Ok(None) };
        if self.by.missing >= least {
            return Ok(None);
        }
        let Some(mut kept) = view.kept_of_range() else { return Ok(None) };
        let orders = self.orders_from(column, least);
        let found = value_filter::between(view, column, *orders.start(), *orders.end())?;
        let of_range = kept.iter_mut().skip((view.first / 64) as usize);
        of_range.zip(&found).for_each(|(kept, found)| *kept &= found);
        Ok(Some(kept))
    }

    /// Bounds of the integers of values that give at least this number.
    fn orders_from(&self, column: &Column, least: f64) -> RangeInclusive<u64> {
        let kind = column.kind();
        // Slightly less is enough, since exponentials and logarithms are rounded in either direction.
        let reaches =
            |order: u64| self.by.curve.at(kind.number_of(order), self.origin) >= least * (1.0 - 1e-9);
        let peak = match &self.by.curve {
            ScoreCurve::Near { origin, .. } => kind.order_of(origin.as_ref()).unwrap_or(0),
            // The greatest number; what is not a number counts as 0, and is greater.
            _ => kind.order_of(ValueRef::Float(f64::INFINITY)).unwrap_or(u64::MAX),
        };
        let low = first_after(peak, |order| !reaches(order)).unwrap_or(peak);
        let high = match &self.by.curve {
            // The first that no longer reaches it, or the last of all.
            ScoreCurve::Near { .. } => first_after(u64::MAX - peak, |above| reaches(peak + above))
                .map_or(u64::MAX, |above| peak + above),
            _ => peak,
        };
        low..=high
    }

    /// True if no score is raised, unless it is negative.
    pub(crate) fn only_lowers(&self) -> bool {
        self.change == ScoreChange::Multiply && self.by.curve.is_at_most_1() && self.by.missing <= 1.0
    }

    #[inline]
    fn changed(&self, score: f32, number: f64) -> f32 {
        let score = f64::from(score);
        let changed = match self.change {
            ScoreChange::Multiply => score * number,
            ScoreChange::Add => score + number * self.boost,
            ScoreChange::Replace => number * self.boost,
        };
        narrow(changed.min(f64::from(f32::MAX)))
    }

    /// Sends hits with their changed scores.
    pub(crate) fn send(&mut self, docs: &[u32], scores: &[f32], sink: &mut Sink) -> Result<ControlFlow<()>> {
        let mut changed = std::mem::take(&mut self.scores);
        changed.clear();
        let (mut docs_left, mut scores_left) = (docs, scores);
        while let Some((here, later)) = self.split_at_block(docs_left)? {
            let (of_here, of_later) = scores_left.split_at(here.len().min(scores_left.len()));
            self.find_numbers(here)?;
            changed.extend(
                of_here.iter().zip(&self.numbers).map(|(&score, &number)| self.changed(score, number)),
            );
            (docs_left, scores_left) = (later, of_later);
        }
        let flow = sink(docs, &changed);
        self.scores = changed;
        Ok(flow)
    }

    /// Offers hits with their changed scores to `top`.
    pub(crate) fn offer(
        &mut self,
        top: &mut TopK,
        keep: &mut LiveFilter,
        docs: &[u32],
        scores: &[f32],
    ) -> Result<()> {
        let (mut docs, mut scores) = (docs, scores);
        while let Some((here, later)) = self.split_at_block(docs)? {
            let (of_here, of_later) = scores.split_at(here.len().min(scores.len()));
            let greatest = self.held.as_ref().map_or(self.by.missing, |held| held.greatest);
            let (mut few, mut few_scores) =
                (std::mem::take(&mut self.docs), std::mem::take(&mut self.scores));
            few.clear();
            few_scores.clear();
            let least = self.least_score(top.threshold(), greatest);
            for (&doc, &score) in here.iter().zip(of_here) {
                // The first comparison nearly always decides. A negative score is greatest where it is
                // multiplied by nothing.
                if score >= least
                    && keep.keeps(doc)
                    && top.admits(self.changed(score.max(0.0), greatest), doc)
                {
                    few.push(doc);
                    few_scores.push(score);
                }
            }
            if !few.is_empty() {
                self.find_numbers(&few)?;
                for ((&doc, &score), &number) in few.iter().zip(&few_scores).zip(&self.numbers) {
                    top.push(doc, self.changed(score, number));
                }
            }
            (self.docs, self.scores) = (few, few_scores);
            (docs, scores) = (later, of_later);
        }
        Ok(())
    }

    /// The least score with which a document may reach the threshold, or slightly less, if its number is at
    /// most `greatest`.
    fn least_score(&self, threshold: f32, greatest: f64) -> f32 {
        if threshold <= 0.0 {
            return f32::NEG_INFINITY;
        }
        // Slightly less is enough, since scores are rounded to 24 bits.
        let threshold = f64::from(threshold) * (1.0 - 1e-6);
        let least = match self.change {
            ScoreChange::Multiply => threshold / greatest,
            ScoreChange::Add => threshold - greatest * self.boost,
            ScoreChange::Replace if greatest * self.boost >= threshold => f64::NEG_INFINITY,
            ScoreChange::Replace => f64::INFINITY,
        };
        if least.is_nan() { f32::NEG_INFINITY } else { narrow(least).next_down() }
    }

    /// Splits ascending documents after those in the block of the first one; `None` without documents.
    fn split_at_block<'d>(&mut self, docs: &'d [u32]) -> Result<Option<(&'d [u32], &'d [u32])>> {
        let (Some(&first), Some(&last)) = (docs.first(), docs.last()) else { return Ok(None) };
        let Some(column) = self.column else { return Ok(Some((docs, &[]))) };
        let entry = self.hold(column, first)?.entry;
        let end = entry.first.saturating_add(entry.documents).max(first.saturating_add(1));
        let count = if last < end { docs.len() } else { docs.partition_point(|&doc| doc < end) };
        Ok(Some(docs.split_at(count)))
    }

    /// The block of a document.
    #[inline]
    fn hold(&mut self, column: &Column, doc: u32) -> Result<&HeldBlock> {
        let is_there = |held: &HeldBlock| doc.wrapping_sub(held.entry.first) < held.entry.documents;
        if !self.held.as_ref().is_some_and(is_there) {
            self.held = None;
            let number = column.block_of(doc)?;
            let entry = column.entry(number)?;
            let kind = column.kind();
            let (least, most) = (kind.number_of(entry.least), kind.number_of(entry.most));
            let mut greatest = if entry.present < entry.documents { self.by.missing } else { 0.0 };
            if entry.values > 0 {
                greatest = greatest.max(self.by.curve.greatest(least, most, self.origin));
            }
            self.held = Some(HeldBlock { number, entry, greatest });
        }
        self.held.as_ref().ok_or_else(|| column.damaged(0))
    }

    /// Finds the numbers of documents of one block.
    fn find_numbers(&mut self, docs: &[u32]) -> Result<()> {
        self.numbers.clear();
        let (Some(column), Some(&first)) = (self.column, docs.first()) else {
            self.numbers.resize(docs.len(), self.by.missing);
            return Ok(());
        };
        let held = self.hold(column, first)?;
        let (number, entry) = (held.number, held.entry);
        let ValueScorer { by, origin, values, numbers, .. } = self;
        let of = |order: u64| by.curve.at(column.kind().number_of(order), *origin);
        values.clear();
        if entry.is_plain() {
            column.pick(number, &entry, docs, values)?;
            numbers.extend(values.iter().map(|&order| of(order)));
            return Ok(());
        }
        let block = column.block(number)?;
        for &doc in docs {
            values.clear();
            block.get(doc, values).map_err(|_| column.damaged(number))?;
            let most = values.iter().map(|&order| of(order)).max_by(f64::total_cmp);
            numbers.push(most.unwrap_or(by.missing));
        }
        Ok(())
    }
}
