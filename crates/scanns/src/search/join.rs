//! Looks a run of documents up in a list in one pass over its postings, without a branch for each.

use super::run::{Clause, count_below};
use super::similarity::Similarity;
use crate::codec::{Picked, SLOTS, Slots, slot_of};

/// What joins work with, again and again.
#[derive(Default)]
pub(super) struct Joiner {
    /// By document of the run: its place in it, from 1. All 0 between joins; there from the first join on.
    slots: Option<Box<Slots>>,
    picked: Picked,
}

impl Joiner {
    /// Calls `each` for every block of the clause from where it is up to document `end`, before that is passed, with the
    /// postings there of `docs`, which are in order; a run that begins with document `first` spans as many as there are slots.
    pub(super) fn join<S: Similarity>(
        &mut self,
        docs: &[u32],
        clause: &mut Clause<S>,
        (first, end): (u32, u32),
        mut each: impl FnMut(&Picked, &mut Clause<S>),
    ) {
        let slots = self.slots.get_or_insert_with(|| Box::new([0; SLOTS]));
        for (&doc, place) in docs.iter().zip(1..) {
            slots[slot_of(doc, first)] = place;
        }
        while clause.cursor.doc() < end {
            let (all, tfs) = clause.cursor.rest_of_block();
            let count = count_below(all, end);
            self.picked.pick(slots, first, (&all[..count], tfs));
            each(&self.picked, clause);
            clause.cursor.consume(count);
        }
        for &doc in docs {
            slots[slot_of(doc, first)] = 0;
        }
    }
}
