//! Phrases in a run of documents that have all of their terms: the two rarest terms first, for all documents together.
//!
//! Positions are read in one loop for each of the two, and mostly there is one in each document: then a comparison says
//! whether they stand as they should. That takes about a third of looking at each document on its own. Where the phrase has
//! more terms, those documents are looked at that are left.

use super::candidates::Candidates;
use super::phrase::{PhraseMatcher, all_starts, keep_starts};
use crate::codec::PositionCursor;

/// What is used again from run to run.
#[derive(Default)]
pub(super) struct Pairs {
    /// By term: the differences of the positions in all documents, one document after the other.
    deltas: [Vec<u32>; 2],
    positions: Vec<u32>,
    starts: Vec<u32>,
}

impl Pairs {
    /// Adds to `freqs` what the phrase counts in each of the documents found; `clauses` are those of its terms. False,
    /// and nothing is added, if it has to be counted document by document.
    pub(super) fn count(
        &mut self,
        matcher: &mut PhraseMatcher,
        clauses: &[usize],
        found: &Candidates,
        freqs: &mut Vec<f32>,
    ) -> bool {
        let Some([first, second]) = matcher.rarest() else { return false };
        let of = |number: usize| (&found.places[clauses[number]][..], &found.tfs[clauses[number]][..]);
        let [one, other] = &mut self.deltas;
        let read = |cursor: &mut PositionCursor, number: usize, deltas: &mut Vec<u32>| {
            let (places, tfs) = of(number);
            deltas.clear();
            cursor.deltas_of(places, tfs, deltas)
        };
        let read = read(first.0, first.2, one).and_then(|()| read(second.0, second.2, other));
        let (offsets, tfs) = ((first.1, second.1), (of(first.2).1, of(second.2).1));
        if read.is_none() {
            matcher.give_up();
            freqs.resize(found.docs.len(), 0.0);
            return true;
        }
        self.compare(offsets, tfs, freqs);
        if matcher.terms() > 2 {
            for (freq, at) in freqs.iter_mut().zip(0..).filter(|(freq, _)| **freq > 0.0) {
                *freq = matcher.freq_at(found.docs[at], |number| (of(number).0[at], of(number).1[at]));
            }
        }
        true
    }

    fn compare(&mut self, offsets: (u32, u32), tfs: (&[u32], &[u32]), freqs: &mut Vec<f32>) {
        let (mut first, mut second) = (&self.deltas[0][..], &self.deltas[1][..]);
        for (&one, &other) in tfs.0.iter().zip(tfs.1) {
            let (of_first, of_second);
            (of_first, first) = first.split_at_checked(one as usize).unwrap_or_default();
            (of_second, second) = second.split_at_checked(other as usize).unwrap_or_default();
            freqs.push(match (of_first, of_second) {
                (&[one], &[other]) => {
                    let (one, other) = (u64::from(one), u64::from(other));
                    f32::from(u8::from(one + u64::from(offsets.1) == other + u64::from(offsets.0)))
                }
                _ => {
                    sum_up(of_first, &mut self.positions);
                    all_starts(&self.positions, offsets.0, &mut self.starts);
                    sum_up(of_second, &mut self.positions);
                    keep_starts(&self.positions, offsets.1, &mut self.starts);
                    self.starts.len() as f32
                }
            });
        }
    }
}

/// Positions from their differences.
fn sum_up(deltas: &[u32], positions: &mut Vec<u32>) {
    let mut position = 0u32;
    positions.clear();
    positions.extend(deltas.iter().map(|&delta| {
        position = position.saturating_add(delta);
        position
    }));
}
