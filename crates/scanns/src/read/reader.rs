//! One reader thread: takes empty blocks, fills them for their lanes, and passes them on.
//!
//! Reads of large files past the page cache are asynchronous, up to the queue depth for each lane. They
//! complete in any order and are passed on in file order. Everything else is read synchronously.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::read::block::{Buffer, CARRY, Piece, give_out};
use crate::read::options::ReadOptions;
use crate::read::pack::Pack;
use crate::read::queue::{Demand, DualQueue};
use crate::read::shared::{SharedInput, SharedState};
use crate::read::unit::{LargeUnit, OpenedUnit, ReadRange, open, open_examined};
use crate::read::wave::Rules;
use crate::read::work::WorkList;
use crate::sys::{BlockMemory, Cpus, Ring};

/// The maximum number of pieces in one block, so that a million empty files take bounded memory.
const MAX_PIECES: usize = 4096;

/// The number of small files that are opened and fetched ahead if they come from the disk.
const READ_AHEAD: usize = 32;

/// The state of a reader thread.
pub(super) struct ReaderThread {
    pub(super) work: Arc<WorkList>,
    pub(super) rules: Rules,
    pub(super) options: ReadOptions,
    pub(super) queue: Arc<DualQueue<Buffer>>,
    pub(super) lanes: Vec<LaneState>,
    pub(super) ring: Option<Ring>,
    pub(super) next_token: u64,
    /// Holds the decoded text of a small file.
    pub(super) scratch: Vec<u8>,
    /// The input whose records or members go to all lanes.
    pub(super) shared: Option<SharedInput>,
    /// Lanes that can go on after they waited.
    pub(super) ready: Vec<usize>,
}

/// A lane as its reader sees it.
#[derive(Default)]
pub(super) struct LaneState {
    /// Processors of the lane's thread, if threads are pinned.
    cpus: Option<Cpus>,
    /// Empty blocks.
    spare: Vec<Buffer>,
    /// Blocks in flight, in the order in which they will be passed on.
    flights: VecDeque<BlockInFlight>,
    /// Large units in progress: the first is being passed on, the last is being read.
    open: VecDeque<(u64, Box<LargeUnit>)>,
    /// Units opened but not begun: more than one while small files come from the disk.
    ahead: VecDeque<OpenedUnit>,
    /// Small files for which to continue reading ahead, because one was not in the page cache.
    cold: usize,
}

impl LaneState {
    pub(super) fn new(cpus: Option<Cpus>, spare: Vec<Buffer>) -> Self {
        LaneState { cpus, spare, ..LaneState::default() }
    }
}

/// A block that is not passed on yet.
enum BlockInFlight {
    /// Filled with small files.
    Packed(Buffer),
    /// A range of the large unit numbered `unit`; `landed` is set once the read has ended.
    Read { unit: u64, token: u64, range: ReadRange, pieces: Vec<Piece>, landed: Option<LandedRead> },
}

type LandedRead = (BlockMemory, io::Result<usize>);

impl ReaderThread {
    /// Reads until no lane wants data any more, or until cancelled.
    pub(super) fn run(mut self) -> Result<()> {
        let lanes = self.lanes.iter_mut();
        give_out(&self.queue, lanes.map(|lane| (lane.cpus.as_deref(), std::mem::take(&mut lane.spare))));
        while !self.work.cancelled() {
            if let Some(lane) = self.ready.pop() {
                self.advance(lane);
                continue;
            }
            let in_flight = self.ring.as_ref().is_some_and(|ring| ring.in_flight() > 0);
            let demand = if in_flight { self.queue.try_take_empty() } else { Some(self.queue.take_empty()) };
            match demand {
                Some(Demand::Fill(lane, buffer)) => {
                    self.lanes[lane].spare.push(buffer);
                    self.advance(lane);
                }
                Some(Demand::GiveUp(lane)) => self.give_up(lane),
                Some(Demand::Nothing) => break,
                None => self.land()?,
            }
        }
        Ok(())
    }

    /// Forgets a lane that has left.
    fn give_up(&mut self, lane: usize) {
        self.lanes[lane] = LaneState::default();
        if self.shared.as_ref().is_some_and(|shared| shared.belongs_to(lane)) {
            self.end_shared();
        }
    }

    fn end_shared(&mut self) {
        if let Some(shared) = self.shared.take() {
            self.ready.extend(shared.end(&self.work));
        }
    }

    /// Waits for an asynchronous read and continues with its lane.
    fn land(&mut self) -> Result<()> {
        let Some(ring) = &mut self.ring else { return Ok(()) };
        let refused = |source| Error::System {
            action: "read through io_uring",
            source,
            remedy: "turn io_uring off and try again",
        };
        let Some(done) = ring.wait().map_err(refused)? else { return Ok(()) };
        for number in 0..self.lanes.len() {
            let mut flights = self.lanes[number].flights.iter_mut();
            let found = flights.find_map(|flight| match flight {
                BlockInFlight::Read { token, landed, .. } if *token == done.token => Some(landed),
                _ => None,
            });
            if let Some(landed) = found {
                *landed = Some((done.memory, done.result));
                self.advance(number);
                return Ok(());
            }
        }
        Ok(()) // the lane is gone, and its memory is freed
    }

    /// Passes on complete blocks and starts new ones, until neither makes progress.
    fn advance(&mut self, lane: usize) {
        loop {
            self.deliver(lane);
            if self.work.cancelled() || !self.feed(lane) {
                return;
            }
        }
    }

    /// Passes on the lane's complete blocks, in order.
    fn deliver(&mut self, lane: usize) {
        while let Some(flight) = self.lanes[lane].flights.pop_front() {
            let buffer = match flight {
                BlockInFlight::Packed(buffer) => buffer,
                BlockInFlight::Read { landed: None, .. } => {
                    return self.lanes[lane].flights.push_front(flight);
                }
                BlockInFlight::Read { unit, range, pieces, landed: Some((memory, result)), .. } => {
                    let mut buffer = Buffer { memory, pieces };
                    self.assemble(lane, unit, range, result, &mut buffer);
                    buffer
                }
            };
            if buffer.pieces.is_empty() {
                self.lanes[lane].spare.push(buffer);
            } else if self.queue.put_full(lane, buffer).is_err() {
                self.lanes[lane] = LaneState::default(); // the lane is gone
            }
        }
    }

    /// Turns a range that was read of a large unit into pieces.
    fn assemble(
        &mut self,
        lane: usize,
        number: u64,
        range: ReadRange,
        result: io::Result<usize>,
        buffer: &mut Buffer,
    ) {
        let ReadRange { offset, len } = range;
        let state = &mut self.lanes[lane];
        let Some((_, unit)) = state.open.front_mut().filter(|(front, _)| *front == number) else {
            return; // the unit ended before this read
        };
        let into = &mut buffer.memory.as_mut_slice()[CARRY..CARRY + len];
        let complete = match unit.complete(result, into, offset) {
            Ok((got, ends)) => unit.wave.take(&self.rules, buffer, offset, got, ends),
            Err(error) => {
                self.work.fail(unit.wave.unit.input, &error);
                unit.wave.fail(&self.rules, buffer, offset);
                true
            }
        };
        if let Some(file) = unit.file().filter(|file| self.options.drop_behind && !file.is_direct()) {
            file.drop_cached(offset, len as u64);
        }
        let bytes = buffer.pieces.iter().map(|piece| piece.end - piece.start).sum();
        self.work.count_bytes(bytes);
        if unit.file().is_some() {
            self.work.count_consumed(bytes as u64);
        }
        if complete {
            self.work.finish(&mut unit.wave.unit);
            state.open.pop_front();
        } else if state.flights.is_empty() {
            unit.extend(self.options.queue_depth.max(1));
        }
    }

    /// Starts one more block for the lane; returns false if that is not possible now.
    fn feed(&mut self, lane: usize) -> bool {
        let state = &mut self.lanes[lane];
        if state.spare.is_empty() || state.flights.len() >= self.options.queue_depth {
            return false;
        }
        if let Some((_, unit)) = state.open.back_mut() {
            if let Some(read) = unit.next_read() {
                self.start_read(lane, read);
                return true;
            }
            if !unit.is_bounded() {
                return false;
            }
        }
        if self.shared.is_some() && self.work.is_closed() {
            self.end_shared();
        }
        if self.shared.is_some() {
            return self.feed_shared(lane);
        }
        match self.next_unit(lane) {
            Some(OpenedUnit::Large(unit)) => self.push_large(lane, unit),
            Some(OpenedUnit::Archive(archive)) => self.shared = Some(SharedInput::archive(archive)),
            Some(opened) => self.pack(lane, opened),
            None if self.lanes[lane].flights.is_empty() => {
                self.queue.end_lane(lane);
                self.lanes[lane] = LaneState::default();
                return false;
            }
            None => return false,
        }
        true
    }

    /// Fills one block with records or members of the shared input; returns false if the lane has to wait.
    fn feed_shared(&mut self, lane: usize) -> bool {
        let (Some(shared), Some(mut buffer)) = (&mut self.shared, self.lanes[lane].spare.pop()) else {
            return false;
        };
        let state = shared.fill(&self.work, &self.rules, lane, &mut buffer);
        let released = shared.released();
        self.ready.extend(released);
        if buffer.pieces.is_empty() {
            self.lanes[lane].spare.push(buffer);
        } else {
            self.lanes[lane].flights.push_back(BlockInFlight::Packed(buffer));
        }
        if state == SharedState::Ended {
            self.end_shared();
        }
        state != SharedState::Waiting
    }

    /// The lane's next unit. While small files come from the disk, several are opened ahead and the system is
    /// told to fetch them, so that a file does not cost a whole disk latency: twice the rate or more.
    fn next_unit(&mut self, lane: usize) -> Option<OpenedUnit> {
        let state = &mut self.lanes[lane];
        let window = if state.cold > 0 { READ_AHEAD } else { 1 };
        while state.ahead.len() < window && !state.ahead.back().is_some_and(OpenedUnit::is_large) {
            let Some(unit) = self.work.next() else { break };
            let opened = open(&self.work, unit, &self.options);
            if let (OpenedUnit::Small(_, file), READ_AHEAD) = (&opened, window) {
                file.will_need();
            }
            state.ahead.push_back(opened);
        }
        state.cold = state.cold.saturating_sub(1);
        state.ahead.pop_front()
    }

    fn push_large(&mut self, lane: usize, unit: Box<LargeUnit>) {
        let is_shared = match self.rules.cuts {
            Some(_) => self.lanes.len() > 1,
            None => unit.file().is_none() && self.rules.records.ends_with_lines(),
        };
        if is_shared && self.shared.is_none() {
            self.shared = Some(SharedInput::text(unit, &self.rules, self.options.drop_behind));
            return;
        }
        self.next_token += 1;
        self.lanes[lane].open.push_back((self.next_token, unit));
    }

    /// Reads a range of the lane's last open unit: synchronously, or asynchronously past the page cache.
    fn start_read(&mut self, lane: usize, range: ReadRange) {
        let ReadRange { offset, len } = range;
        let state = &mut self.lanes[lane];
        let (Some(Buffer { memory, pieces }), Some((unit, large))) =
            (state.spare.pop(), state.open.back_mut())
        else {
            return;
        };
        self.next_token += 1;
        let (unit, token) = (*unit, self.next_token);
        let into = CARRY..CARRY + len;
        let direct = large.file().filter(|file| file.is_direct());
        let here = match (self.ring.as_mut(), direct) {
            (Some(ring), Some(file)) => ring.read(file, offset, memory, into.clone(), token).err(),
            _ => Some(memory),
        };
        let landed = here.map(|mut memory| {
            let result = large.read(&mut memory.as_mut_slice()[into], offset);
            (memory, result)
        });
        state.flights.push_back(BlockInFlight::Read { unit, token, range, pieces, landed });
    }

    /// Fills a block with small files, starting with `first`.
    fn pack(&mut self, lane: usize, first: OpenedUnit) {
        let Some(buffer) = self.lanes[lane].spare.pop() else { return };
        let mut pack = Pack { buffer, filled: 0, scratch: std::mem::take(&mut self.scratch) };
        let mut next = Some(first);
        while let Some(opened) = next {
            match opened {
                OpenedUnit::Small(unit, file) if !pack.has_room_for(&file) => {
                    self.lanes[lane].ahead.push_front(OpenedUnit::Small(unit, file));
                    break;
                }
                OpenedUnit::Small(unit, file) => {
                    let packed = pack.add(&self.work, &self.rules, &self.options, unit, &file);
                    if !packed.warm {
                        self.lanes[lane].cold = 2 * READ_AHEAD;
                    }
                    if let Some(unit) = packed.is_large {
                        let opened = open_examined(&self.work, unit, file, &self.options);
                        self.lanes[lane].ahead.push_front(opened);
                    }
                }
                OpenedUnit::Bare(mut unit) => {
                    pack.leave_out(&self.rules, unit.input);
                    self.work.finish(&mut unit);
                }
                OpenedUnit::Failed(mut unit, error) => {
                    pack.fail(&self.work, unit.input, &error);
                    self.work.finish(&mut unit);
                }
                OpenedUnit::Large(unit) => {
                    self.push_large(lane, unit);
                    break;
                }
                OpenedUnit::Archive(archive) => {
                    self.shared = Some(SharedInput::archive(archive));
                    break;
                }
            }
            if pack.buffer.pieces.len() >= MAX_PIECES || self.work.cancelled() {
                break;
            }
            next = self.next_unit(lane);
        }
        self.scratch = pack.scratch;
        self.lanes[lane].flights.push_back(BlockInFlight::Packed(pack.buffer));
    }
}

impl Drop for ReaderThread {
    fn drop(&mut self) {
        self.queue.end_all();
    }
}
