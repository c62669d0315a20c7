//! Text that is read from its start, and whose records are shared out to all lanes of a reader.
//!
//! Text can only be decoded from its start, by one thread, and where rows of CSV end can only be found from
//! the start. But one lane would index a text more slowly than that. So each block of whole records goes to
//! the lane that needs data next. Where a record is longer than a block, the lane that has its beginning gets
//! the rest, too, and the others wait.

use std::sync::Arc;

use crate::read::block::{Buffer, CARRY};
use crate::read::unit::LargeUnit;
use crate::read::wave::Rules;
use crate::read::work::WorkList;

/// A text that is being read. See the module documentation.
pub(super) struct SharedText {
    unit: Box<LargeUnit>,
    /// Drop a file from the page cache after it was read.
    drop_behind: bool,
    /// Bytes of the text read so far.
    offset: u64,
    /// The lane that has the beginning of an unfinished record.
    owner: Option<usize>,
    /// Lanes that wait for the end of that record.
    waiting: Vec<usize>,
}

/// What became of the request of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SharedState {
    /// The lane has to wait.
    Waiting,
    /// The block was filled, and more text follows.
    More,
    /// The block was filled with the last records.
    Ended,
}

impl SharedText {
    pub(super) fn new(mut unit: Box<LargeUnit>, rules: &Rules, drop_behind: bool) -> Self {
        unit.wave.share(rules);
        SharedText { unit, drop_behind, offset: 0, owner: None, waiting: Vec::new() }
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
                if let Some(file) = self.unit.file().filter(|file| self.drop_behind && !file.is_direct()) {
                    file.drop_cached(self.offset, got as u64);
                }
                self.offset += got as u64;
                ended
            }
            Err(error) => {
                work.fail(self.unit.wave.unit.input, &error);
                self.unit.wave.fail(rules, buffer, self.offset);
                true
            }
        };
        let bytes = buffer.pieces.iter().map(|piece| piece.end - piece.start).sum();
        work.count_bytes(bytes);
        if self.unit.file().is_some() {
            work.count_consumed(bytes as u64);
        }
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
