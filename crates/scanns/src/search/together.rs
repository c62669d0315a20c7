//! Phrases in a run of documents that have all of their terms: term by term, the rarest first, for all documents together.
//!
//! Mostly each term occurs once in a document. The first positions of a term are then all that there is to read, and the
//! phrase stands where those of all its terms fit: one loop over numbers after the other. In other documents positions are
//! still read in one loop for all of them that are left, which takes about half as long as looking at each on its own.

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
    /// By number in the run: how often the term occurs that occurs most.
    most: Vec<u32>,
    /// Documents that are left in which each term occurs once, by their numbers in the run, and where the phrase may begin.
    once: Vec<(u32, u32)>,
    /// Where the term at hand stands in them.
    firsts: Vec<u32>,
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
        self.find_most(clauses, found);
        let counted = self.count_once(matcher, clauses, found, freqs);
        if counted.and_then(|()| self.count_others(matcher, clauses, found, (clock, freqs))).is_none() {
            matcher.give_up();
        }
        true
    }

    fn find_most(&mut self, clauses: &[usize], found: &Candidates) {
        self.most.clear();
        self.most.resize(found.docs.len(), 0);
        for &clause in clauses {
            for (most, &tf) in self.most.iter_mut().zip(&found.tfs[clause]) {
                *most = tf.max(*most);
            }
        }
    }

    /// Counts the documents in which each term occurs once.
    fn count_once(
        &mut self,
        matcher: &mut PhraseMatcher,
        clauses: &[usize],
        found: &Candidates,
        freqs: &mut [f32],
    ) -> Option<()> {
        self.once.clear();
        let numbers = (0..).zip(&self.most);
        self.once.extend(numbers.filter(|&(_, &most)| most == 1).map(|(number, _)| (number, 0)));
        for (place, (cursor, offset, number)) in matcher.exact_terms()?.into_iter().enumerate() {
            let places = &found.places[clauses[number]];
            self.places.clear();
            self.places.extend(self.once.iter().map(|&(number, _)| places[number as usize]));
            self.firsts.clear();
            self.firsts.resize(self.once.len(), 0);
            cursor.firsts_of(&self.places, &mut self.firsts)?;
            let mut kept = 0;
            for at in 0..self.once.len().min(self.firsts.len()) {
                let ((number, start), first) = (self.once[at], self.firsts[at]);
                let here = first.wrapping_sub(offset);
                self.once[kept] = (number, here);
                kept += usize::from(first >= offset && (place == 0 || here == start));
            }
            self.once.truncate(kept);
        }
        for &(number, _) in &self.once {
            freqs[number as usize] = 1.0;
        }
        Some(())
    }

    /// Counts the other documents, as many at once as the clock allows.
    fn count_others(
        &mut self,
        matcher: &mut PhraseMatcher,
        clauses: &[usize],
        found: &Candidates,
        (clock, freqs): (Clock, &mut [f32]),
    ) -> Option<()> {
        let occurrences =
            |doc: usize| clauses.iter().map(|&clause| u64::from(found.tfs[clause][doc])).sum::<u64>();
        let mut from = 0;
        while from < found.docs.len() && !clock.is_up() {
            self.left.clear();
            let mut sum = 0;
            while let Some(&most) = self.most.get(from) {
                if most > 1 {
                    sum += occurrences(from);
                    if sum > AT_ONCE && !self.left.is_empty() {
                        break;
                    }
                    self.left.push((from, 0));
                }
                from += 1;
            }
            self.count_some(matcher, clauses, found, freqs)?;
        }
        Some(())
    }

    /// Counts the documents that are left.
    fn count_some(
        &mut self,
        matcher: &mut PhraseMatcher,
        clauses: &[usize],
        found: &Candidates,
        freqs: &mut [f32],
    ) -> Option<()> {
        if self.left.is_empty() {
            return Some(());
        }
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
