//! Documents that several lists have, a run of them at a time.
//!
//! The rarest list leads: its documents are taken in runs, and every other one, the rarer first, leaves those of the
//! run that it contains. Where the other list is not much longer it is joined: the run is written to an array of slots
//! by document, and one pass over the list looks every posting up there, without a branch that could be mispredicted. A much longer list is advanced from document to document of the run instead (10 to 20 ns
//! each), which skips blocks. What is excluded and what only adds to scores is found in the same two ways.

use super::join::Joiner;
use super::run::{Clause, View, count_below};
use super::similarity::Similarity;
use super::windows::MAX_SHIFT;
use crate::codec::{BLOCK, PostingPlace, SLACK, SLOTS, list};
use crate::sys::in_wide_vectors;

/// Documents that a run may span where lists are joined.
const SPAN: u32 = 1 << MAX_SHIFT;

const _: () = assert!(SPAN as usize == SLOTS);

/// A list this many times as long as the run is not joined.
const MUCH_LONGER: u64 = 16;

/// Documents that all clauses looked at so far have.
pub(super) struct Candidates {
    pub(super) docs: Vec<u32>,
    /// By clause, then by document: how often the term occurs. Of clauses that have been looked at.
    pub(super) tfs: Vec<Vec<u32>>,
    /// The same: where the posting is. Of clauses of phrases.
    pub(super) places: Vec<Vec<PostingPlace>>,
    in_phrases: Vec<bool>,
    joiner: Joiner,
    /// Places in the run that the clause at hand has, and how often its term occurs there.
    kept: Vec<u32>,
    kept_tfs: Vec<u32>,
    kept_places: Vec<PostingPlace>,
}

impl Candidates {
    /// For clauses of which it is known whether they are of phrases.
    pub(super) fn new(in_phrases: Vec<bool>) -> Self {
        Candidates {
            docs: Vec::new(),
            tfs: vec![Vec::new(); in_phrases.len()],
            places: vec![Vec::new(); in_phrases.len()],
            in_phrases,
            joiner: Joiner::default(),
            kept: Vec::new(),
            kept_tfs: Vec::new(),
            kept_places: Vec::new(),
        }
    }

    /// Starts a run: the documents of the block at hand of clause `number`, as far as the view has them.
    pub(super) fn take_block<S: Similarity>(&mut self, clause: &mut Clause<S>, number: usize, view: &View) {
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

    /// Starts a run: documents of the clause, as many as a block has, or a span where that is more.
    pub(super) fn take<S: Similarity>(&mut self, clause: &mut Clause<S>, number: usize, view: &View) {
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

    /// Leaves the documents of the run that all clauses in `order` have; the first has them, none is beyond them.
    pub(super) fn intersect<S: Similarity>(
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

    /// Leaves the documents that the clause does not have, of clauses `held` with their frequencies.
    pub(super) fn exclude<S: Similarity>(&mut self, clause: &mut Clause<S>, held: &[usize], view: &View) {
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

    /// Finds how often the term of clause `number` occurs in each document, which may be not at all.
    pub(super) fn look_up<S: Similarity>(&mut self, clauses: &mut [Clause<S>], number: usize, view: &View) {
        let mut tfs = std::mem::take(&mut self.tfs[number]);
        tfs.clear();
        tfs.resize(self.docs.len(), 0);
        self.find(&mut clauses[number], false, view);
        for (&place, &tf) in self.kept.iter().zip(&self.kept_tfs) {
            tfs[place as usize] = tf;
        }
        self.tfs[number] = tfs;
    }

    /// Leaves the documents for which `values`, one for each, are at least `least`.
    pub(super) fn retain<T: Copy + PartialOrd>(&mut self, held: &[usize], values: &[T], least: T) {
        self.keep_places(values[..self.docs.len()].chunks(64).map(|values| at_least(values, least)));
        self.keep(held);
    }

    /// Notes the places whose bits are set.
    fn keep_places(&mut self, words: impl Iterator<Item = u64>) {
        let mut room = [0; 64 + SLACK];
        self.kept.clear();
        for (word, first) in words.zip((0..).step_by(64)) {
            // There is room for all numbers of a word.
            let count = list(std::iter::once(word), first, &mut room).unwrap_or_default();
            self.kept.extend_from_slice(&room[..count]);
        }
    }

    /// The places, in order, that the last [`Candidates::retain`] left.
    pub(super) fn retained(&self) -> &[u32] {
        &self.kept
    }

    /// Finds the documents of the run that the clause has, and where its postings are if that is `placed`.
    fn find<S: Similarity>(&mut self, clause: &mut Clause<S>, placed: bool, view: &View) {
        self.kept.clear();
        self.kept_tfs.clear();
        self.kept_places.clear();
        let (Some(&first), Some(&last)) = (self.docs.first(), self.docs.last()) else { return };
        let span = last - first;
        let expected = u64::from(clause.cursor.doc_freq()) * u64::from(span) / u64::from(view.max_doc.max(1));
        if span < SPAN && expected < MUCH_LONGER * self.docs.len() as u64 {
            match placed {
                true => self.join::<true, S>(clause, (first, last)),
                false => self.join::<false, S>(clause, (first, last)),
            }
        } else {
            self.probe(clause, placed);
        }
    }

    /// In one pass over its postings, whose places are wanted if `PLACED`.
    fn join<const PLACED: bool, S: Similarity>(&mut self, clause: &mut Clause<S>, (first, last): (u32, u32)) {
        clause.cursor.advance(first);
        let (kept, kept_tfs, kept_places) = (&mut self.kept, &mut self.kept_tfs, &mut self.kept_places);
        self.joiner.join(&self.docs, clause, (first, last + 1), |picked, clause| {
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

    /// By advancing to each.
    fn probe<S: Similarity>(&mut self, clause: &mut Clause<S>, placed: bool) {
        for (&doc, place) in self.docs.iter().zip(0..) {
            if clause.cursor.advance(doc) == doc {
                self.kept.push(place);
                self.kept_tfs.push(clause.cursor.tf());
                self.kept_places.extend(placed.then(|| clause.cursor.place()));
            }
        }
    }

    /// Drops all but the kept places from the run and from the frequencies of the clauses `held`.
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

/// Adds where the next postings of the block at hand are, `count` of them or as many as there are.
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

/// A bit for each of at most 64 values that is at least `least`.
#[inline]
fn at_least<T: Copy + PartialOrd>(values: &[T], least: T) -> u64 {
    let mut bits = 0;
    in_wide_vectors(
        #[inline(always)]
        || {
            for (&value, bit) in values.iter().take(64).zip(0..) {
                bits |= u64::from(value >= least) << bit;
            }
        },
    );
    bits
}

/// Leaves the entries of `list` at `places`, which rise.
pub(super) fn compact<T: Copy>(list: &mut Vec<T>, places: &[u32]) {
    for (to, &from) in places.iter().enumerate() {
        list[to] = list[from as usize];
    }
    list.truncate(places.len());
}
