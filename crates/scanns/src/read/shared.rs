//! Decoded text whose lines are shared out to all lanes of a reader.
//!
//! Text can only be decoded from its start, by one thread, but one lane would index it more slowly than it is
//! decoded. So each block of whole lines goes to the lane that needs data next. Where a line is longer than a
//! block, the lane that has its beginning gets the rest, too, and the others wait.

use std::sync::Arc;

use crate::read::block::{Buffer, CARRY};
use crate::read::unit::LargeUnit;
use crate::read::wave::Rules;
use crate::read::work::WorkList;

/// A decoded text that is being read. See the module documentation.
pub(super) struct SharedText {
    unit: Box<LargeUnit>,
    /// Bytes of the text read so far.
    offset: u64,
    /// The lane that has the beginning of an unfinished line.
    owner: Option<usize>,
    /// Lanes that wait for the end of that line.
    waiting: Vec<usize>,
}

/// What became of the request of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SharedState {
    /// The lane has to wait.
    Waiting,
    /// The block was filled, and more text follows.
    More,
    /// The block was filled with the last lines.
    Ended,
}

impl SharedText {
    pub(super) fn new(unit: Box<LargeUnit>) -> Self {
        SharedText { unit, offset: 0, owner: None, waiting: Vec::new() }
    }

    /// Fills a block for `lane`; the block may stay without pieces.
    pub(super) fn fill(
        &mut self,
        work: &Arc<WorkList>,
        rules: &Rules,
        lane: usize,
        buffer: &mut Buffer,
    ) -> SharedState {
        if self.owner.is_some_and(|owner| owner != lane) {
            self.waiting.push(lane);
            return SharedState::Waiting;
        }
        let end = buffer.memory.capacity();
        let into = &mut buffer.memory.as_mut_slice()[CARRY..end];
        let ended = match self.unit.read(into, self.offset) {
            Ok(got) => {
                let ends = got < into.len();
                let ended = self.unit.wave.take(rules, buffer, self.offset, got, ends);
                self.offset += got as u64;
                ended
            }
            Err(error) => {
                work.fail(self.unit.wave.unit.input, &error);
                self.unit.wave.fail(rules, buffer, self.offset);
                true
            }
        };
        work.count_bytes(buffer.pieces.iter().map(|piece| piece.end - piece.start).sum());
        if let Some(last) = buffer.pieces.last() {
            self.owner = (!last.closes).then_some(lane);
        }
        if ended { SharedState::Ended } else { SharedState::More }
    }

    /// The lanes that need not wait any more.
    pub(super) fn released(&mut self) -> Vec<usize> {
        if self.owner.is_none() { std::mem::take(&mut self.waiting) } else { Vec::new() }
    }

    /// True if only this lane can go on.
    pub(super) fn belongs_to(&self, lane: usize) -> bool {
        self.owner == Some(lane)
    }

    /// Ends the text, and returns all lanes that waited.
    pub(super) fn end(mut self, work: &WorkList) -> Vec<usize> {
        work.finish(&mut self.unit.wave.unit);
        self.waiting
    }
}
