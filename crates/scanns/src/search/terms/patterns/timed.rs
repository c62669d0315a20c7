//! A stream of sorted terms that ends when the time of a query is up.

use super::sorted::SortedTerms;
use crate::error::Result;
use crate::search::budget::Clock;
use crate::search::leaf::{TermRef, TermStream};

/// Number of moves between two checks of the clock: a move takes less time than a check.
const MOVES: u32 = 64;

/// A stream that ends early when time is up.
pub(crate) struct TimedTerms<'l> {
    terms: Box<dyn TermStream + 'l>,
    clock: Clock<'l>,
    moves: u32,
}

impl<'l> TimedTerms<'l> {
    pub(super) fn new(terms: SortedTerms<'l>, clock: Clock<'l>) -> Result<Self> {
        Ok(TimedTerms { terms: terms.stream()?, clock, moves: 0 })
    }

    fn is_in_time(&mut self) -> bool {
        self.moves = self.moves.wrapping_add(1);
        !self.moves.is_multiple_of(MOVES) || !self.clock.is_up()
    }

    /// Moves to the next term; false at the end.
    pub(super) fn step(&mut self) -> Result<bool> {
        Ok(self.is_in_time() && self.terms.step()?)
    }

    /// Moves to the first term that is not less than `target`; false if there is none.
    pub(super) fn seek(&mut self, target: &[u8]) -> Result<bool> {
        Ok(self.is_in_time() && self.terms.seek(target)?)
    }

    pub(super) fn term(&self) -> &[u8] {
        self.terms.term()
    }

    pub(super) fn found(&mut self) -> Result<TermRef> {
        self.terms.found()
    }
}
