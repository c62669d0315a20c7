//! Looks a run of documents up in a list by one pass over its postings, without a branch for each.

use std::ops::Range;

use crate::codec::{Picked, SLOTS, Slots, count_below, slot_of};
use crate::search::exec::bound_terms::Clause;
use crate::search::similarity::Similarity;

/// Buffers that are reused from join to join.
#[derive(Default)]
pub(crate) struct ListJoiner {
    /// By document of the run: its index in the run, from 1. All 0 between joins; allocated by the first
    /// join.
    slots: Option<Box<Slots>>,
    picked: Picked,
}

impl ListJoiner {
    /// Calls `each` for every block of the clause from the current one to the end of `span`, before the block
    /// is passed, with the postings of `docs` in it. `docs` ascend and span at most as many documents as
    /// there are slots, from the start of `span` on.
    pub(crate) fn join<S: Similarity>(
        &mut self,
        docs: &[u32],
        clause: &mut Clause<S>,
        span: Range<u32>,
        mut each: impl FnMut(&Picked, &mut Clause<S>),
    ) {
        let slots = self.slots.get_or_insert_with(|| Box::new([0; SLOTS]));
        for (&doc, place) in docs.iter().zip(1..) {
            slots[slot_of(doc, span.start)] = place;
        }
        while clause.cursor.doc() < span.end {
            let (all, tfs) = clause.cursor.rest_of_block();
            let count = count_below(all, span.end);
            self.picked.pick(slots, span.start, &all[..count], tfs);
            each(&self.picked, clause);
            clause.cursor.consume(count);
        }
        for &doc in docs {
            slots[slot_of(doc, span.start)] = 0;
        }
    }
}
