//! Finds where a phrase occurs in one document, by marks in an array of places.
//!
//! The term that is rarest there marks each place where the phrase may begin, and each further term keeps the
//! marks that it allows. Occurrences are taken by the chunk: those before the next mark are only summed up,
//! and the others cost a few instructions each, without a branch.

/// The number of places of a document that can be marked.
const PLACES: usize = 1 << 16;

/// The number of words of 64 marks.
const WORDS: usize = PLACES / 64;

/// The number of differences that are summed up together.
const CHUNK: usize = 16;

/// A mark for each place where a phrase may begin, according to the terms so far.
///
/// A place is the position where the phrase begins plus the offset of its last term, so that none is
/// negative.
#[derive(Debug)]
pub(crate) struct StartMarks {
    bits: Box<[u64]>,
    /// The marked places, ascending.
    starts: Vec<u32>,
    /// Those that the current term keeps.
    kept: Vec<u32>,
}

/// The occurrences of one term of a phrase in one document, on the way from the first to the last.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MarkedTerm {
    /// The current place.
    at: u32,
    /// All places and differences so far, combined bit by bit.
    all: u32,
    /// True before the first occurrence.
    is_first: bool,
    /// True if the term occurs twice at a position.
    repeats: bool,
    /// The index of the first start that is not before the current place.
    next: usize,
    /// The number of starts that the term keeps.
    count: u32,
}

impl MarkedTerm {
    /// A term at `offset` in a phrase whose last term is at `most`.
    pub(crate) fn new(offset: u32, most: u32) -> Self {
        let at = most.saturating_sub(offset);
        MarkedTerm { at, all: at, is_first: true, repeats: false, next: 0, count: 0 }
    }

    /// The number of starts that the term allows, of those that all terms before it allow.
    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    /// False if marks do not tell where the phrase occurs: a place is too large, the bytes are damaged, or
    /// there are two occurrences at one position.
    pub(crate) fn is_exact(&self) -> bool {
        (self.all as usize) < PLACES && !self.repeats
    }

    /// Takes note of differences of positions, of which the first of all is a position.
    #[inline(always)]
    fn look_at(&mut self, deltas: &[u32]) -> u32 {
        let (mut sum, mut zeros) = (0u32, 0);
        for &delta in deltas {
            sum = sum.wrapping_add(delta);
            self.all |= delta;
            zeros += u32::from(delta == 0);
        }
        zeros -= u32::from(self.is_first && deltas.first() == Some(&0));
        self.repeats |= zeros > 0;
        self.is_first &= deltas.is_empty();
        sum
    }
}

impl Default for StartMarks {
    fn default() -> Self {
        StartMarks { bits: vec![0; WORDS].into_boxed_slice(), starts: Vec::new(), kept: Vec::new() }
    }
}

#[inline(always)]
fn bit_of(place: u32) -> (usize, u64) {
    (place as usize / 64 % WORDS, 1 << (place % 64))
}

impl StartMarks {
    /// Removes everything, for the next document.
    pub(crate) fn clear(&mut self) {
        self.kept.clear();
        self.unmark();
    }

    fn unmark(&mut self) {
        let Some(bits) = self.bits.first_chunk_mut::<WORDS>() else { return };
        self.starts.drain(..).for_each(|start| bits[bit_of(start).0] = 0);
    }

    /// Takes the next occurrences of the first term, as differences of positions, and marks them.
    #[inline]
    pub(crate) fn mark(&mut self, term: &mut MarkedTerm, deltas: &[u32]) {
        let Some(bits) = self.bits.first_chunk_mut::<WORDS>() else { return };
        term.look_at(deltas);
        self.starts.extend(deltas.iter().map(|&delta| {
            term.at = term.at.wrapping_add(delta);
            term.all |= term.at;
            let (word, bit) = bit_of(term.at);
            bits[word] |= bit;
            term.at
        }));
        term.count = u32::try_from(self.starts.len()).unwrap_or(u32::MAX);
    }

    /// Takes the next occurrences of a further term. Returns false if no later one can keep a mark.
    #[inline]
    pub(crate) fn keep(&mut self, term: &mut MarkedTerm, deltas: &[u32]) -> bool {
        self.take::<true>(term, deltas)
    }

    /// Does the same for the last term, which leaves no marks.
    #[inline]
    pub(crate) fn count(&mut self, term: &mut MarkedTerm, deltas: &[u32]) -> bool {
        self.take::<false>(term, deltas)
    }

    /// After a term between the first and the last: marks what it keeps, and nothing else.
    pub(crate) fn end_term(&mut self) {
        self.unmark();
        std::mem::swap(&mut self.starts, &mut self.kept);
        for &start in &self.starts {
            let (word, bit) = bit_of(start);
            self.bits[word] |= bit;
        }
    }

    #[inline(always)]
    fn take<const KEEPS: bool>(&mut self, term: &mut MarkedTerm, deltas: &[u32]) -> bool {
        let (chunks, rest) = deltas.as_chunks::<CHUNK>();
        for chunk in chunks {
            let to = term.at.wrapping_add(term.look_at(chunk));
            term.all |= to;
            while self.starts.get(term.next).is_some_and(|&start| start < term.at) {
                term.next += 1;
            }
            match self.starts.get(term.next) {
                None => return false,
                Some(&start) if start > to => term.at = to,
                Some(_) => self.test::<KEEPS>(term, chunk),
            }
            if !term.is_exact() {
                return false;
            }
        }
        term.look_at(rest);
        self.test::<KEEPS>(term, rest);
        self.starts.last().is_some_and(|&last| term.at < last)
    }

    #[inline(always)]
    fn test<const KEEPS: bool>(&mut self, term: &mut MarkedTerm, deltas: &[u32]) {
        let Some(bits) = self.bits.first_chunk::<WORDS>() else { return };
        for &delta in deltas {
            term.at = term.at.wrapping_add(delta);
            term.all |= term.at;
            let (word, bit) = bit_of(term.at);
            let is_marked = bits[word] & bit != 0;
            term.count += u32::from(is_marked);
            if KEEPS && is_marked {
                self.kept.push(term.at);
            }
        }
    }
}

#[cfg(test)]
#[expect(clippy::cast_possible_truncation, reason = "test data is small")]
mod tests {
    use super::*;
    use crate::search::exec::phrase::{all_starts, keep_starts};

    /// Positions of a term, sometimes large, sometimes twice the same.
    fn positions(random: &mut fastrand::Rng) -> Vec<u32> {
        let spread = [6, 40, 3_000, 80_000][random.usize(..4)];
        let most = [4, 60, 400][random.usize(..3)];
        let mut all: Vec<u32> = (0..1 + random.usize(..most)).map(|_| random.u32(..spread)).collect();
        all.sort_unstable();
        if random.usize(..8) > 0 {
            all.dedup();
        }
        all
    }

    fn deltas(positions: &[u32]) -> Vec<u32> {
        let before = std::iter::once(0).chain(positions.iter().copied());
        positions.iter().zip(before).map(|(&position, before)| position - before).collect()
    }

    /// The number of starts by marks; `None` if these cannot tell.
    fn by_marks(marks: &mut StartMarks, terms: &[(u32, Vec<u32>)], slice: usize) -> Option<u32> {
        let mut count = 0;
        marks.clear();
        for (number, (offset, positions)) in terms.iter().enumerate() {
            let mut term = MarkedTerm::new(*offset, terms.len() as u32 - 1);
            let is_last = number + 1 == terms.len();
            for slice in deltas(positions).chunks(slice) {
                let goes_on = match number {
                    0 => {
                        marks.mark(&mut term, slice);
                        true
                    }
                    _ if is_last => marks.count(&mut term, slice),
                    _ => marks.keep(&mut term, slice),
                };
                if !goes_on {
                    break;
                }
            }
            if !term.is_exact() {
                // What the term has kept so far must not be seen in the next document.
                return None;
            }
            if number > 0 && !is_last {
                marks.end_term();
            }
            count = term.count();
        }
        Some(count)
    }

    #[test]
    fn marks_count_what_lists_of_starts_count() {
        let seed = 0x5eed_26a1;
        let mut random = fastrand::Rng::with_seed(seed);
        let (mut told, mut found, mut marks) = (0, 0, StartMarks::default());
        for round in 0..6_000 {
            let mut terms: Vec<(u32, Vec<u32>)> =
                (0..2 + random.u32(..3)).map(|offset| (offset, positions(&mut random))).collect();
            random.shuffle(&mut terms);
            let mut starts = Vec::new();
            for (number, (offset, positions)) in terms.iter().enumerate() {
                match number {
                    0 => all_starts(positions, *offset, &mut starts),
                    _ => keep_starts(positions, *offset, &mut starts),
                }
            }
            if let Some(count) = by_marks(&mut marks, &terms, 1 + random.usize(..128)) {
                assert_eq!(count as usize, starts.len(), "seed {seed:x} round {round}: {terms:?}");
                (told, found) = (told + 1, found + usize::from(count > 0));
            }
        }
        assert!(told > 1_500 && found > 150, "seed {seed:x}: {told} told, {found} found");
    }

    #[test]
    fn damaged_differences_are_not_told() {
        let mut marks = StartMarks::default();
        for damaged in [&[5, u32::MAX - 2][..], &[u32::MAX], &[1, 1, 1 << 16], &[3, 0], &[40_000; 40]] {
            for first in [true, false] {
                marks.clear();
                let mut term = MarkedTerm::new(0, 1);
                if first {
                    marks.mark(&mut term, damaged);
                } else {
                    marks.mark(&mut MarkedTerm::new(0, 1), &[60_000]);
                    marks.count(&mut term, damaged);
                }
                assert!(!term.is_exact(), "{damaged:?}");
            }
        }
    }
}
