//! Counts phrases in a run of documents that contain all of their terms: term by term, the rarest first, for
//! all documents together.
//!
//! Mostly each term occurs once in a document. Then only the first position of each term is read, and the
//! phrase occurs where these fit: a few loops over numbers. For the other documents positions are still read
//! in one loop, which takes about half as long as looking at each document on its own.

use crate::codec::{PositionCursor, PostingPlace};
use crate::search::budget::Clock;
use crate::search::exec::conjunction::candidates::Candidates;
use crate::search::exec::phrase::{PhraseMatcher, keep_starts};

/// Occurrences that are read before the clock is checked again. They, or one document, bound the memory.
const AT_ONCE: u64 = 32_768;

/// Buffers that are reused from run to run.
#[derive(Default)]
pub(crate) struct PhraseBatch {
    /// The remaining documents, by index in the run, with their numbers of starts.
    left: Vec<(usize, usize)>,
    /// Where the phrase may begin in them according to the terms so far, one document after another.
    starts: Vec<u32>,
    /// The position differences of the current term in them, one document after another.
    deltas: Vec<u32>,
    /// The places of its postings, and its frequencies.
    places: Vec<PostingPlace>,
    tfs: Vec<u32>,
    /// Positions in one document.
    positions: Vec<u32>,
    kept: Vec<u32>,
    /// By index in the run: the frequency of the most frequent term.
    most: Vec<u32>,
    /// The remaining documents in which each term occurs once, by index in the run, with the place where the
    /// phrase may begin.
    once: Vec<(u32, u32)>,
    /// The positions of the current term in them.
    firsts: Vec<u32>,
}

impl PhraseBatch {
    /// Appends the frequency of the phrase in each of the documents to `freqs`, 0 once time is up. `clauses`
    /// are the clauses of its terms. Returns false and appends nothing if the phrase has to be counted
    /// document by document.
    pub(crate) fn count(
        &mut self,
        matcher: &mut PhraseMatcher,
        clauses: &[usize],
        found: &Candidates,
        clock: Clock,
        freqs: &mut Vec<f32>,
    ) -> bool {
        if matcher.exact_terms().is_none() {
            return false;
        }
        freqs.resize(found.docs.len(), 0.0);
        self.find_most(clauses, found);
        let counted = self.count_once(matcher, clauses, found, freqs);
        if counted.and_then(|()| self.count_others(matcher, clauses, found, clock, freqs)).is_none() {
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

    /// Counts the other documents, in batches as large as the clock allows.
    fn count_others(
        &mut self,
        matcher: &mut PhraseMatcher,
        clauses: &[usize],
        found: &Candidates,
        clock: Clock,
        freqs: &mut [f32],
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

    /// Counts the remaining documents.
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
            self.read(cursor, &found.places[clause], &found.tfs[clause])?;
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

    /// Reads the position differences of a term in the remaining documents.
    fn read(&mut self, cursor: &mut PositionCursor, places: &[PostingPlace], tfs: &[u32]) -> Option<()> {
        self.deltas.clear();
        self.places.clear();
        self.tfs.clear();
        self.places.extend(self.left.iter().map(|&(number, _)| places[number]));
        self.tfs.extend(self.left.iter().map(|&(number, _)| tfs[number]));
        cursor.deltas_of(&self.places, &self.tfs, &mut self.deltas)
    }

    /// Finds every place where the phrase could begin, given its first term at `offset`.
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

    /// Keeps the starts that a further term at `offset` allows.
    fn go_on(&mut self, offset: u32) -> Option<()> {
        let (mut from, mut start, mut kept, mut written) = (0, 0, 0, 0);
        for at in 0..self.left.len() {
            let (number, count) = self.left[at];
            let to = from + self.tfs[at] as usize;
            let deltas = &self.deltas[from..to];
            let starts = &self.starts[start..start + count];
            let left = if let (&[position], &[start]) = (deltas, starts) {
                // The usual case. If it does not match, the start is overwritten.
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

/// Positions from their differences; `None` if they are too large.
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
