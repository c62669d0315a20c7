//! Intersects lists, one run of documents at a time.
//!
//! The rarest list leads: its documents are taken in runs, and each other list, the rarer first, removes the
//! documents that it does not contain. A list that is not much longer than the run is joined: the run is
//! written to an array of slots by document, and one pass over the list looks each posting up there, without
//! a branch that could be mispredicted. A much longer list is advanced from document to document instead (10
//! to 20 ns each), which skips blocks. Excluded and optional lists are searched in the same two ways.

use crate::codec::{BLOCK, PostingPlace, SLACK, SLOTS, count_below, list};
use crate::search::exec::bound_terms::Clause;
use crate::search::exec::join::ListJoiner;
use crate::search::exec::view::View;
use crate::search::exec::windows::MAX_SHIFT;
use crate::search::similarity::Similarity;
use crate::segment::has_bit;
use crate::sys::in_wide_vectors;

/// Maximum number of documents that a run may span if lists are joined.
const SPAN: u32 = 1 << MAX_SHIFT;

const _: () = assert!(SPAN as usize == SLOTS);

/// A list this many times as long as the run is not joined.
const MUCH_LONGER: u64 = 16;

/// The documents that all clauses processed so far contain.
pub(crate) struct Candidates {
    pub(crate) docs: Vec<u32>,
    /// Term frequencies by clause, then by document, for the clauses processed so far.
    pub(crate) tfs: Vec<Vec<u32>>,
    /// Places of postings by clause, then by document, for the clauses of phrases.
    pub(crate) places: Vec<Vec<PostingPlace>>,
    in_phrases: Vec<bool>,
    joiner: ListJoiner,
    /// Indexes of the run's documents that the current clause contains, and its term frequencies there.
    kept: Vec<u32>,
    kept_tfs: Vec<u32>,
    kept_places: Vec<PostingPlace>,
}

impl Candidates {
    /// Creates an empty run. `in_phrases` has, for each clause, whether it belongs to a phrase.
    pub(crate) fn new(in_phrases: Vec<bool>) -> Self {
        Candidates {
            docs: Vec::new(),
            tfs: vec![Vec::new(); in_phrases.len()],
            places: vec![Vec::new(); in_phrases.len()],
            in_phrases,
            joiner: ListJoiner::default(),
            kept: Vec::new(),
            kept_tfs: Vec::new(),
            kept_places: Vec::new(),
        }
    }

    /// Starts a run with the documents of the current block of clause `number` that are in the view.
    pub(crate) fn take_block<S: Similarity>(&mut self, clause: &mut Clause<S>, number: usize, view: &View) {
        clause.cursor.advance(view.first);
        let count = count_below(clause.cursor.rest_of_docs(), view.end);
        self.places[number].clear();
        if self.in_phrases[number] {
            add_places(clause, count, &mut self.places[number]);
        }
        let (docs, tfs) = clause.cursor.rest_of_block();
        replace(&mut self.docs, &docs[..count]);
        replace(&mut self.tfs[number], &tfs[..count]);
    }

    /// Starts a run with the next documents of the clause: a block of them, or a span if that holds more.
    pub(crate) fn take<S: Similarity>(&mut self, clause: &mut Clause<S>, number: usize, view: &View) {
        let span = u64::from(clause.cursor.doc_freq()) * u64::from(SPAN) / u64::from(view.max_doc.max(1));
        let dense = span > BLOCK as u64;
        let end = if dense { clause.cursor.doc().saturating_add(SPAN).min(view.end) } else { view.end };
        self.docs.clear();
        self.tfs[number].clear();
        self.places[number].clear();
        while clause.cursor.doc() < end {
            let count = count_below(clause.cursor.rest_of_docs(), end);
            if self.in_phrases[number] {
                add_places(clause, count, &mut self.places[number]);
            }
            let (docs, tfs) = clause.cursor.rest_of_block();
            self.docs.extend_from_slice(&docs[..count]);
            self.tfs[number].extend_from_slice(&tfs[..count]);
            clause.cursor.consume(count);
            if !dense {
                break;
            }
        }
    }

    /// Keeps the documents of the run that all clauses in `order` contain. The run comes from the first
    /// clause, and no clause is beyond it.
    pub(crate) fn intersect<S: Similarity>(
        &mut self,
        clauses: &mut [Clause<S>],
        order: &[usize],
        view: &View,
    ) {
        for (place, &other) in order.iter().enumerate().skip(1) {
            if self.docs.is_empty() {
                return;
            }
            self.find(&mut clauses[other], self.in_phrases[other], view);
            std::mem::swap(&mut self.tfs[other], &mut self.kept_tfs);
            std::mem::swap(&mut self.places[other], &mut self.kept_places);
            self.keep(&order[..place]);
        }
    }

    /// Removes the documents that the clause contains, also from the frequencies of the clauses `held`.
    pub(crate) fn exclude<S: Similarity>(&mut self, clause: &mut Clause<S>, held: &[usize], view: &View) {
        if self.docs.is_empty() {
            return;
        }
        self.find(clause, false, view);
        let mut left = vec![u64::MAX; self.docs.len().div_ceil(64)];
        for &place in &self.kept {
            left[place as usize / 64] &= !(1 << (place % 64));
        }
        if let Some(last) = left.last_mut() {
            *last &= u64::MAX >> (self.docs.len().wrapping_neg() % 64);
        }
        self.keep_places(left.into_iter());
        self.keep(held);
    }

    /// Finds the frequency of the term of clause `number` in each document; 0 if it does not occur.
    pub(crate) fn look_up<S: Similarity>(&mut self, clauses: &mut [Clause<S>], number: usize, view: &View) {
        let mut tfs = std::mem::take(&mut self.tfs[number]);
        tfs.clear();
        tfs.resize(self.docs.len(), 0);
        self.find(&mut clauses[number], false, view);
        for (&place, &tf) in self.kept.iter().zip(&self.kept_tfs) {
            tfs[place as usize] = tf;
        }
        self.tfs[number] = tfs;
    }

    /// Keeps the documents whose entry in `values` is at least `least`.
    pub(crate) fn retain<T: Copy + PartialOrd>(&mut self, held: &[usize], values: &[T], least: T) {
        self.keep_places(values[..self.docs.len()].chunks(64).map(|values| at_least(values, least)));
        self.keep(held);
    }

    /// Keeps the documents that the view keeps, if it is a view of a snapshot: others need not be looked up.
    pub(crate) fn retain_kept(&mut self, held: &[usize], view: &View) {
        let Some(kept) = view.shown_bits() else { return };
        let word = |docs: &[u32]| {
            docs.iter().zip(0..).fold(0, |word, (&doc, at)| word | u64::from(has_bit(kept, doc)) << at)
        };
        let words: Vec<u64> = self.docs.chunks(64).map(word).collect();
        self.keep_places(words.into_iter());
        self.keep(held);
    }

    /// Remembers the indexes whose bits are set.
    fn keep_places(&mut self, words: impl Iterator<Item = u64>) {
        let mut room = [0; 64 + SLACK];
        self.kept.clear();
        for (word, first) in words.zip((0..).step_by(64)) {
            // There is room for all indexes of a word.
            let count = list(std::iter::once(word), first, &mut room).unwrap_or_default();
            self.kept.extend_from_slice(&room[..count]);
        }
    }

    /// The indexes that the last [`Candidates::retain`] kept, ascending.
    pub(crate) fn retained(&self) -> &[u32] {
        &self.kept
    }

    /// Finds the documents of the run that the clause contains, and the places of its postings if `placed`.
    fn find<S: Similarity>(&mut self, clause: &mut Clause<S>, placed: bool, view: &View) {
        self.kept.clear();
        self.kept_tfs.clear();
        self.kept_places.clear();
        let (Some(&first), Some(&last)) = (self.docs.first(), self.docs.last()) else { return };
        let span = last - first;
        let expected = u64::from(clause.cursor.doc_freq()) * u64::from(span) / u64::from(view.max_doc.max(1));
        if span < SPAN && expected < MUCH_LONGER * self.docs.len() as u64 {
            if placed {
                self.join::<true, S>(clause, first, last);
            } else {
                self.join::<false, S>(clause, first, last);
            }
        } else {
            self.probe(clause, placed);
        }
    }

    /// By one pass over the postings of the clause; with their places if `PLACED`.
    fn join<const PLACED: bool, S: Similarity>(&mut self, clause: &mut Clause<S>, first: u32, last: u32) {
        clause.cursor.advance(first);
        let (kept, kept_tfs, kept_places) = (&mut self.kept, &mut self.kept_tfs, &mut self.kept_places);
        self.joiner.join(&self.docs, clause, first..last + 1, |picked, clause| {
            kept.extend_from_slice(picked.places());
            kept_tfs.extend_from_slice(picked.tfs());
            if PLACED {
                let place = clause.cursor.place();
                let (_, tfs) = clause.cursor.rest_of_block();
                let (mut before, mut passed) = (place.before, 0);
                kept_places.extend(picked.numbers().iter().map(|&number| {
                    let between = &tfs[passed..number as usize];
                    before += between.iter().map(|&tf| u64::from(tf)).sum::<u64>();
                    passed = number as usize;
                    PostingPlace { before, ..place }
                }));
            }
        });
    }

    /// By advancing the clause to each document.
    fn probe<S: Similarity>(&mut self, clause: &mut Clause<S>, placed: bool) {
        for (&doc, place) in self.docs.iter().zip(0..) {
            if clause.cursor.advance(doc) == doc {
                self.kept.push(place);
                self.kept_tfs.push(clause.cursor.tf());
                self.kept_places.extend(placed.then(|| clause.cursor.place()));
            }
        }
    }

    /// Drops all but the kept indexes from the run and from the frequencies of the clauses `held`.
    fn keep(&mut self, held: &[usize]) {
        if self.kept.len() == self.docs.len() {
            return;
        }
        compact(&mut self.docs, &self.kept);
        for &number in held {
            compact(&mut self.tfs[number], &self.kept);
            if self.in_phrases[number] {
                compact(&mut self.places[number], &self.kept);
            }
        }
    }
}

/// Adds the places of the next postings of the current block, up to `count`.
fn add_places<S>(clause: &mut Clause<S>, count: usize, places: &mut Vec<PostingPlace>) {
    let mut place = clause.cursor.place();
    let (_, tfs) = clause.cursor.rest_of_block();
    places.extend(tfs.iter().take(count).map(|&tf| {
        let before = place.before;
        place.before += u64::from(tf);
        PostingPlace { before, ..place }
    }));
}

fn replace(list: &mut Vec<u32>, with: &[u32]) {
    list.clear();
    list.extend_from_slice(with);
}

/// A bit for each of up to 64 values that is at least `least`.
#[inline]
fn at_least<T: Copy + PartialOrd>(values: &[T], least: T) -> u64 {
    in_wide_vectors(
        #[inline(always)]
        move || {
            let mut bits = 0;
            for (&value, bit) in values.iter().take(64).zip(0..) {
                bits |= u64::from(value >= least) << bit;
            }
            bits
        },
    )
}

/// Keeps the entries of `list` at the ascending indexes `places`.
pub(crate) fn compact<T: Copy>(list: &mut Vec<T>, places: &[u32]) {
    for (to, &from) in places.iter().enumerate() {
        list[to] = list[from as usize];
    }
    list.truncate(places.len());
}
