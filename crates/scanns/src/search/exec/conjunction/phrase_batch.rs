//! Counts phrases in a run of documents that contain all of their terms.
//!
//! Where each term occurs once, only the first position of each is read, term by term for all documents
//! together, and the phrase occurs where these fit: a few loops over numbers. In the other documents the
//! places where the phrase may begin are marked (`marks.rs`).

use crate::codec::{PositionCursor, PostingPlace};
use crate::search::budget::Clock;
use crate::search::exec::conjunction::candidates::Candidates;
use crate::search::exec::phrase::PhraseMatcher;
use crate::search::exec::phrase::marks::{MarkedTerm, StartMarks};

/// Occurrences that are read before the clock is checked again.
const AT_ONCE: u64 = 32_768;

/// Buffers that are reused from run to run.
#[derive(Default)]
pub(crate) struct PhraseBatch {
    /// Made when they are needed.
    marks: Option<StartMarks>,
    /// The places of the postings of the current term.
    places: Vec<PostingPlace>,
    /// By index in the run: the frequency of the most frequent term.
    most: Vec<u32>,
    /// The remaining documents in which each term occurs once, by index in the run, with the place where the
    /// phrase may begin.
    once: Vec<(u32, u32)>,
    /// The positions of the current term in them.
    firsts: Vec<u32>,
}

/// What is to be known about a phrase in documents, and until when.
#[derive(Clone, Copy)]
pub(crate) struct PhraseCounting<'c> {
    pub(crate) wanted: PhraseFact,
    pub(crate) clock: Clock<'c>,
}

/// What is to be known about a phrase in a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PhraseFact {
    /// How often it occurs.
    Frequency,
    /// Whether it occurs: every frequency above 0 says so.
    Presence,
}

/// A term of a phrase: the cursor of its positions, its position in the phrase, and its clause.
type PhraseTermPositions<'m, 's> = (&'m mut PositionCursor<'s>, u32, usize);

impl PhraseBatch {
    /// Appends the frequency of the phrase in each of the documents to `freqs`, 0 once time is up. `clauses`
    /// are the clauses of its terms. Returns false and appends nothing if the phrase has to be counted
    /// document by document.
    pub(crate) fn count(
        &mut self,
        matcher: &mut PhraseMatcher,
        clauses: &[usize],
        found: &Candidates,
        counting: PhraseCounting,
        freqs: &mut Vec<f32>,
    ) -> bool {
        let Some(terms) = matcher.exact_terms() else { return false };
        let clause = |(cursor, offset, number)| (cursor, offset, clauses[number]);
        let mut terms: Vec<PhraseTermPositions> = terms.into_iter().map(clause).collect();
        freqs.resize(found.docs.len(), 0.0);
        self.find_most(clauses, found);
        let counted = self.count_once(&mut terms, found, freqs).and_then(|()| {
            if self.once.len() == found.docs.len() {
                return Some(Vec::new());
            }
            let mut marks = self.marks.take().unwrap_or_default();
            let left = self.count_others(&mut marks, &mut terms, found, counting, freqs);
            self.marks = Some(marks);
            left
        });
        if counted.is_none() {
            matcher.give_up();
        }
        let clock = counting.clock;
        for at in counted.unwrap_or_default() {
            let posting = |term: usize| (found.places[clauses[term]][at], found.tfs[clauses[term]][at]);
            freqs[at] = if clock.is_up() { 0.0 } else { matcher.freq_at(found.docs[at], posting) };
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
        terms: &mut [PhraseTermPositions],
        found: &Candidates,
        freqs: &mut [f32],
    ) -> Option<()> {
        self.once.clear();
        let numbers = (0..).zip(&self.most);
        self.once.extend(numbers.filter(|&(_, &most)| most == 1).map(|(number, _)| (number, 0)));
        for (place, (cursor, offset, clause)) in terms.iter_mut().enumerate() {
            let places = &found.places[*clause];
            self.places.clear();
            self.places.extend(self.once.iter().map(|&(number, _)| places[number as usize]));
            self.firsts.clear();
            self.firsts.resize(self.once.len(), 0);
            cursor.firsts_of(&self.places, &mut self.firsts)?;
            let mut kept = 0;
            for at in 0..self.once.len().min(self.firsts.len()) {
                let ((number, start), first) = (self.once[at], self.firsts[at]);
                let here = first.wrapping_sub(*offset);
                self.once[kept] = (number, here);
                kept += usize::from(first >= *offset && (place == 0 || here == start));
            }
            self.once.truncate(kept);
        }
        for &(number, _) in &self.once {
            freqs[number as usize] = 1.0;
        }
        Some(())
    }

    /// Counts the other documents. Returns the indexes of those that marks cannot tell.
    fn count_others(
        &self,
        marks: &mut StartMarks,
        terms: &mut [PhraseTermPositions],
        found: &Candidates,
        counting: PhraseCounting,
        freqs: &mut [f32],
    ) -> Option<Vec<usize>> {
        let (mut left, mut occurrences) = (Vec::new(), 0);
        for at in (0..found.docs.len()).filter(|&at| self.most[at] > 1) {
            occurrences += u64::from(self.most[at]);
            if occurrences > AT_ONCE {
                if counting.clock.is_up() {
                    break;
                }
                occurrences = 0;
            }
            match count_one(marks, terms, found, at, counting.wanted)? {
                Some(freq) => freqs[at] = freq as f32,
                None => left.push(at),
            }
        }
        Some(left)
    }
}

/// Counts the phrase in one document, the term that is rarest there first. The inner value is `None` if marks
/// cannot tell; the outer one if positions are damaged.
#[inline]
fn count_one(
    marks: &mut StartMarks,
    terms: &mut [PhraseTermPositions],
    found: &Candidates,
    at: usize,
    wanted: PhraseFact,
) -> Option<Option<u32>> {
    let most = terms.iter().map(|&(_, offset, _)| offset).max().unwrap_or(0);
    let rarest = (0..terms.len()).min_by_key(|&term| found.tfs[terms[term].2][at])?;
    let others = (0..terms.len()).filter(|&term| term != rarest);
    marks.clear();
    let (mut count, mut left) = (0, terms.len());
    for number in std::iter::once(rarest).chain(others) {
        let (cursor, offset, clause) = &mut terms[number];
        let (place, tf) = (found.places[*clause][at], found.tfs[*clause][at]);
        let mut term = MarkedTerm::new(*offset, most);
        left -= 1;
        cursor.each_slice(place, tf, |deltas| {
            if number == rarest {
                marks.mark(&mut term, deltas);
                true
            } else if left > 0 {
                marks.keep(&mut term, deltas)
            } else {
                marks.count(&mut term, deltas) && (wanted == PhraseFact::Frequency || term.count() == 0)
            }
        })?;
        if !term.is_exact() {
            return Some(None);
        }
        if number != rarest && left > 0 {
            marks.end_term();
        }
        count = term.count();
        if count == 0 {
            break;
        }
    }
    Some(Some(count))
}
