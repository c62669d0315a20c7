//! The lane buffers: their number, the threads that get an empty one, and the threads that have to wait.
//!
//! The memory cap is enforced by counting buffers, each of which has a share of the memory. There is one
//! buffer in every lane, the same number of buffers that are being written, and the same number reserved for
//! commits, so that a commit never waits until others are written. A thread that fills a lane while no empty
//! buffer is left waits until one is written.

use std::sync::{Condvar, Mutex, MutexGuard};

use super::lane_buffer::LaneBuffer;
use crate::error::{Error, Result};
use crate::sys::{lock, unpoisoned};

/// The pool of lane buffers. See the module documentation.
pub(super) struct BufferPool {
    state: Mutex<PoolState>,
    changed: Condvar,
    /// The number of buffers reserved for commits, and also the number for all other threads.
    lanes: usize,
}

#[derive(Default)]
struct PoolState {
    empty: Vec<LaneBuffer>,
    /// Buffers that have left their lane or are about to leave it, except those that a commit took.
    full: usize,
    /// The epochs of the buffers that are being written.
    writing: Vec<u64>,
    /// Why the writer failed, if it did.
    failed: Option<String>,
}

/// A buffer that has left its lane and is being written. If it is dropped before [`BufferPool::end_writing`],
/// its content is lost, and the writer has failed.
pub(super) struct DetachedBuffer<'p> {
    pool: &'p BufferPool,
    /// `None` once it is written.
    buffer: Option<LaneBuffer>,
    pub(super) epoch: u64,
    by_commit: bool,
}

impl DetachedBuffer<'_> {
    /// The buffer to be written.
    pub(super) fn buffer(&mut self) -> Option<&mut LaneBuffer> {
        self.buffer.as_mut()
    }
}

impl Drop for DetachedBuffer<'_> {
    fn drop(&mut self) {
        if self.buffer.is_some() {
            self.pool.fail(&"a segment could not be written");
            self.pool.release(self, None);
        }
    }
}

impl BufferPool {
    pub(super) fn new(lanes: usize) -> Self {
        BufferPool { state: Mutex::default(), changed: Condvar::new(), lanes }
    }

    fn state(&self) -> MutexGuard<'_, PoolState> {
        lock(&self.state)
    }

    /// Returns an error once the writer has failed.
    pub(super) fn check(&self) -> Result<()> {
        self.state().check()
    }

    /// Marks the writer as failed. Only the first reason is reported.
    pub(super) fn fail(&self, why: &dyn ToString) {
        let mut state = self.state();
        state.failed.get_or_insert_with(|| why.to_string());
        drop(state);
        self.changed.notify_all();
    }

    /// Returns an empty buffer to exchange for a full one; waits until one is available. Call
    /// [`BufferPool::begin_writing`] with the full one.
    ///
    /// # Errors
    /// [`Error::WriterFailed`] once the writer has failed, or the error of `make`.
    pub(super) fn empty(&self, make: &dyn Fn() -> Result<LaneBuffer>) -> Result<LaneBuffer> {
        let full = |state: &mut PoolState| state.failed.is_none() && state.full >= self.lanes;
        let mut state = unpoisoned(self.changed.wait_while(self.state(), full));
        state.check()?;
        state.full += 1;
        self.give(state, make)
    }

    /// Returns empty buffers for all lanes, for a commit. Only one commit runs at a time.
    pub(super) fn empty_for_all(&self, make: &dyn Fn() -> Result<LaneBuffer>) -> Result<Vec<LaneBuffer>> {
        (0..self.lanes).map(|_| self.give(self.state(), make)).collect()
    }

    fn give(
        &self,
        mut state: MutexGuard<'_, PoolState>,
        make: &dyn Fn() -> Result<LaneBuffer>,
    ) -> Result<LaneBuffer> {
        state.check()?;
        let kept = state.empty.pop();
        drop(state);
        kept.map_or_else(|| make().inspect_err(|error| self.fail(error)), Ok)
    }

    /// Notes that a buffer has left its lane and is now being written.
    pub(super) fn begin_writing(
        &self,
        buffer: LaneBuffer,
        epoch: u64,
        by_commit: bool,
    ) -> DetachedBuffer<'_> {
        self.state().writing.push(epoch);
        DetachedBuffer { pool: self, buffer: Some(buffer), epoch, by_commit }
    }

    /// Notes that a buffer was written and is empty. Its memory is reused if `keep` returns true.
    pub(super) fn end_writing(
        &self,
        mut detached: DetachedBuffer<'_>,
        keep: impl FnOnce(&LaneBuffer) -> bool,
    ) {
        let buffer = detached.buffer.take().filter(|buffer| keep(buffer));
        self.release(&detached, buffer);
    }

    /// Takes back buffers that a commit did not need.
    pub(super) fn give_back(&self, buffers: Vec<LaneBuffer>) {
        self.state().empty.extend(buffers);
    }

    fn release(&self, detached: &DetachedBuffer<'_>, buffer: Option<LaneBuffer>) {
        let mut state = self.state();
        if let Some(place) = state.writing.iter().position(|&epoch| epoch == detached.epoch) {
            state.writing.swap_remove(place);
        }
        state.full -= usize::from(!detached.by_commit);
        state.empty.extend(buffer);
        drop(state);
        self.changed.notify_all();
    }

    /// True if no buffer is being written.
    pub(super) fn writes_nothing(&self) -> bool {
        self.state().writing.is_empty()
    }

    /// Waits until all buffers that left their lane before `epoch` are written.
    pub(super) fn wait_for_older(&self, epoch: u64) -> Result<()> {
        let older = |state: &mut PoolState| {
            state.failed.is_none() && state.writing.iter().any(|&written| written < epoch)
        };
        unpoisoned(self.changed.wait_while(self.state(), older)).check()
    }
}

impl PoolState {
    fn check(&self) -> Result<()> {
        self.failed.clone().map_or(Ok(()), |cause| Err(Error::WriterFailed { cause }))
    }
}
