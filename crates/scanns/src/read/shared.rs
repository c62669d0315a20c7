//! Inputs that are read from their start, and whose records or members are shared out to all lanes of a
//! reader.
//!
//! Text can only be decoded from its start, by one thread, where rows of CSV end can only be found from the
//! start, and archives are unpacked from theirs. But one lane would index an input more slowly than that. So
//! each block of whole records or members goes to the lane that needs data next. Where one is longer than a
//! block, the lane that has its beginning gets the rest, too, and the others wait.

use std::sync::Arc;

use crate::read::block::{Buffer, CARRY};
use crate::read::members::ArchiveUnit;
use crate::read::unit::LargeUnit;
use crate::read::wave::Rules;
use crate::read::work::WorkList;

/// An input that is being read. See the module documentation.
pub(super) struct SharedInput {
    source: SharedSource,
    /// The lane that has the beginning of an unfinished record or member.
    owner: Option<usize>,
    /// Lanes that wait for its end.
    waiting: Vec<usize>,
}

/// Where the blocks come from.
enum SharedSource {
    Text(SharedText),
    Archive(Box<ArchiveUnit>),
}

/// A text whose records are shared out.
struct SharedText {
    unit: Box<LargeUnit>,
    /// Drop a file from the page cache after it was read.
    drop_behind: bool,
    /// Where the next read begins in the text.
    offset: u64,
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

impl SharedInput {
    /// Shares out the records of a text.
    pub(super) fn text(mut unit: Box<LargeUnit>, rules: &Rules, drop_behind: bool) -> Self {
        unit.wave.share(rules);
        let offset = unit.begins_at();
        Self::of(SharedSource::Text(SharedText { unit, drop_behind, offset }))
    }

    /// Shares out the members of an archive.
    pub(super) fn archive(archive: Box<ArchiveUnit>) -> Self {
        Self::of(SharedSource::Archive(archive))
    }

    fn of(source: SharedSource) -> Self {
        SharedInput { source, owner: None, waiting: Vec::new() }
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
        let ended = match &mut self.source {
            SharedSource::Text(text) => text.fill(work, rules, buffer),
            SharedSource::Archive(archive) => archive.fill(work, rules, buffer),
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

    /// Ends the input, and returns all lanes that waited.
    pub(super) fn end(mut self, work: &WorkList) -> Vec<usize> {
        let unit = match &mut self.source {
            SharedSource::Text(text) => &mut text.unit.wave.unit,
            SharedSource::Archive(archive) => &mut archive.unit,
        };
        work.finish(unit);
        self.waiting
    }
}

impl SharedText {
    /// Fills a block; true if nothing follows.
    fn fill(&mut self, work: &WorkList, rules: &Rules, buffer: &mut Buffer) -> bool {
        let end = buffer.memory.capacity();
        let into = &mut buffer.memory.as_mut_slice()[CARRY..end];
        let result = self.unit.read(into, self.offset);
        let ended = match self.unit.complete(result, into, self.offset) {
            Ok((got, ends)) => {
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
        if self.unit.file().is_some() {
            let bytes: usize = buffer.pieces.iter().map(|piece| piece.end - piece.start).sum();
            work.count_consumed(bytes as u64);
        }
        ended
    }
}
