//! Phrases in a run of documents that have all of their terms: term by term, the rarest first, for all documents together.
//!
//! Positions of a term are read in one loop for all documents that are left, and mostly there is one in each: then a
//! comparison says whether it stands as it should. That takes about half as long as looking at each document on its own.

use std::ops::Range;

use super::budget::Clock;
use super::candidates::Candidates;
use super::phrase::{PhraseMatcher, keep_starts};
use crate::codec::{PositionCursor, PostingPlace};

/// Occurrences that are read before the clock is looked at again: memory is bounded by them, or by one document.
const AT_ONCE: u64 = 32_768;

/// What is used again from run to run.
#[derive(Default)]
pub(super) struct Together {
    /// Documents that are left, by their numbers in the run, and how many starts each has.
    left: Vec<(usize, usize)>,
    /// Where the phrase may begin in them, as far as the terms looked at say: one document after the other.
    starts: Vec<u32>,
    /// The differences of the positions of the term at hand in them, likewise.
    deltas: Vec<u32>,
    /// Where its postings are, and how often it occurs.
    places: Vec<PostingPlace>,
    tfs: Vec<u32>,
    /// Of one document.
    positions: Vec<u32>,
    kept: Vec<u32>,
}

impl Together {
    /// Adds to `freqs` what the phrase counts in each of the documents found, 0 once time is up; `clauses` are those of its
    /// terms. False, and nothing is added, if it has to be counted document by document.
    pub(super) fn count(
        &mut self,
        matcher: &mut PhraseMatcher,
        clauses: &[usize],
        found: &Candidates,
        (clock, freqs): (Clock, &mut Vec<f32>),
    ) -> bool {
        if matcher.exact_terms().is_none() {
            return false;
        }
        freqs.resize(found.docs.len(), 0.0);
        let occurrences =
            |doc: usize| clauses.iter().map(|&clause| u64::from(found.tfs[clause][doc])).sum::<u64>();
        let (mut from, mut to) = (0, 0);
        while from < found.docs.len() && !clock.is_up() {
            let mut sum = 0;
            while to < found.docs.len() && (to == from || sum + occurrences(to) <= AT_ONCE) {
                sum += occurrences(to);
                to += 1;
            }
            if self.count_some(matcher, clauses, (found, from..to), freqs).is_none() {
                matcher.give_up();
                break;
            }
            from = to;
        }
        true
    }

    fn count_some(
        &mut self,
        matcher: &mut PhraseMatcher,
        clauses: &[usize],
        (found, docs): (&Candidates, Range<usize>),
        freqs: &mut [f32],
    ) -> Option<()> {
        self.left.clear();
        self.left.extend(docs.map(|number| (number, 0)));
        for (place, (cursor, offset, number)) in matcher.exact_terms()?.into_iter().enumerate() {
            let clause = clauses[number];
            self.read(cursor, (&found.places[clause], &found.tfs[clause]))?;
            if place == 0 {
                self.begin(offset)?;
            } else {
                self.go_on(offset)?;
            }
        }
        for &(number, count) in &self.left {
            freqs[number] = count as f32;
        }
        Some(())
    }

    /// Reads the differences of a term in the documents that are left.
    fn read(&mut self, cursor: &mut PositionCursor, (places, tfs): (&[PostingPlace], &[u32])) -> Option<()> {
        self.deltas.clear();
        self.places.clear();
        self.tfs.clear();
        self.places.extend(self.left.iter().map(|&(number, _)| places[number]));
        self.tfs.extend(self.left.iter().map(|&(number, _)| tfs[number]));
        cursor.deltas_of(&self.places, &self.tfs, &mut self.deltas)
    }

    /// Every place where the phrase could begin that has the first term at `offset`.
    fn begin(&mut self, offset: u32) -> Option<()> {
        let (mut from, mut kept) = (0, 0);
        self.starts.clear();
        for at in 0..self.left.len() {
            let to = from + self.tfs[at] as usize;
            let before = self.starts.len();
            sum_up(&self.deltas[from..to], &mut self.positions)?;
            self.starts.extend(self.positions.iter().filter_map(|position| position.checked_sub(offset)));
            self.left[kept] = (self.left[at].0, self.starts.len() - before);
            kept += usize::from(self.starts.len() > before);
            from = to;
        }
        self.left.truncate(kept);
        Some(())
    }

    /// Leaves the starts that a further term at `offset` allows.
    fn go_on(&mut self, offset: u32) -> Option<()> {
        let (mut from, mut start, mut kept, mut written) = (0, 0, 0, 0);
        for at in 0..self.left.len() {
            let (number, count) = self.left[at];
            let to = from + self.tfs[at] as usize;
            let deltas = &self.deltas[from..to];
            let starts = &self.starts[start..start + count];
            let left = if let (&[position], &[start]) = (deltas, starts) {
                // What is mostly so. Where it does not count it is written over.
                self.starts[written] = start;
                usize::from(position.checked_sub(offset) == Some(start))
            } else {
                self.kept.clear();
                self.kept.extend_from_slice(starts);
                sum_up(deltas, &mut self.positions)?;
                keep_starts(&self.positions, offset, &mut self.kept);
                self.starts[written..written + self.kept.len()].copy_from_slice(&self.kept);
                self.kept.len()
            };
            self.left[kept] = (number, left);
            kept += usize::from(left > 0);
            written += left;
            (from, start) = (to, start + count);
        }
        self.left.truncate(kept);
        self.starts.truncate(written);
        Some(())
    }
}

/// Positions from their differences; `None` if they are too large to be any.
#[inline]
fn sum_up(deltas: &[u32], positions: &mut Vec<u32>) -> Option<()> {
    positions.clear();
    let mut position = 0u32;
    for &delta in deltas {
        position = position.checked_add(delta)?;
        positions.push(position);
    }
    Some(())
}
