//! Parts in memory: how many there may be, who gets an empty one, who has to wait.
//!
//! The memory cap is kept by counting parts, each of which has its share: one in every lane, as many that are being
//! written, and as many that are set aside for commits, so that a commit never waits for others to be written. Who
//! fills a lane while none is left for an exchange waits until one is written.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::part::Part;
use crate::error::{Error, Result};

/// See the module.
pub(super) struct Pool {
    state: Mutex<State>,
    changed: Condvar,
    /// How many are set aside for commits, and how many for everybody else.
    lanes: usize,
}

#[derive(Default)]
struct State {
    empty: Vec<Part>,
    /// Parts that left their lane, or are about to, but for those that a commit took.
    full: usize,
    /// Epochs of the parts that are being written.
    writing: Vec<u64>,
    /// Why the writer failed, if it did.
    failed: Option<String>,
}

/// A part that left its lane and is being written. Dropped before [`Pool::end_writing`], the writer has failed: what is
/// in it is lost.
pub(super) struct Taken<'p> {
    pool: &'p Pool,
    /// None once it is written.
    part: Option<Part>,
    pub(super) epoch: u64,
    by_commit: bool,
}

impl Taken<'_> {
    /// What is to be written.
    pub(super) fn part(&mut self) -> Option<&mut Part> {
        self.part.as_mut()
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        if self.part.is_some() {
            self.pool.fail(&"a segment could not be written");
            self.pool.release(self, None);
        }
    }
}

impl Pool {
    pub(super) fn new(lanes: usize) -> Self {
        Pool { state: Mutex::default(), changed: Condvar::new(), lanes }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Refuses to go on after a failure.
    pub(super) fn check(&self) -> Result<()> {
        self.state().check()
    }

    /// Nothing goes on from here; the first reason is the one that is told.
    pub(super) fn fail(&self, why: &dyn ToString) {
        let mut state = self.state();
        state.failed.get_or_insert_with(|| why.to_string());
        drop(state);
        self.changed.notify_all();
    }

    /// An empty part to exchange for a full one, which [`Pool::begin_writing`] follows; waits until there may be one.
    ///
    /// # Errors
    /// [`Error::WriterFailed`] once the writer has failed, and what `make` says.
    pub(super) fn empty(&self, make: &dyn Fn() -> Result<Part>) -> Result<Part> {
        let full = |state: &mut State| state.failed.is_none() && state.full >= self.lanes;
        let mut state = self.changed.wait_while(self.state(), full).unwrap_or_else(PoisonError::into_inner);
        state.check()?;
        state.full += 1;
        self.give(state, make)
    }

    /// Empty parts for all lanes, for the one commit that may be under way.
    pub(super) fn empty_for_all(&self, make: &dyn Fn() -> Result<Part>) -> Result<Vec<Part>> {
        (0..self.lanes).map(|_| self.give(self.state(), make)).collect()
    }

    fn give(&self, mut state: MutexGuard<'_, State>, make: &dyn Fn() -> Result<Part>) -> Result<Part> {
        state.check()?;
        let kept = state.empty.pop();
        drop(state);
        kept.map_or_else(|| make().inspect_err(|error| self.fail(error)), Ok)
    }

    /// A part has left its lane, and is written from here on.
    pub(super) fn begin_writing(&self, part: Part, epoch: u64, by_commit: bool) -> Taken<'_> {
        self.state().writing.push(epoch);
        Taken { pool: self, part: Some(part), epoch, by_commit }
    }

    /// It is written, and empty; its memory is kept for another if `keep` says so.
    pub(super) fn end_writing(&self, mut taken: Taken<'_>, keep: impl FnOnce(&Part) -> bool) {
        let part = taken.part.take().filter(|part| keep(part));
        self.release(&taken, part);
    }

    /// Gives parts back that a commit did not need.
    pub(super) fn give_back(&self, parts: Vec<Part>) {
        self.state().empty.extend(parts);
    }

    fn release(&self, taken: &Taken<'_>, part: Option<Part>) {
        let mut state = self.state();
        if let Some(place) = state.writing.iter().position(|&of| of == taken.epoch) {
            state.writing.swap_remove(place);
        }
        state.full -= usize::from(!taken.by_commit);
        state.empty.extend(part);
        drop(state);
        self.changed.notify_all();
    }

    /// Waits until nothing is being written that left its lane before `epoch`.
    pub(super) fn wait_for_older(&self, epoch: u64) -> Result<()> {
        let older = |state: &mut State| state.failed.is_none() && state.writing.iter().any(|&of| of < epoch);
        self.changed.wait_while(self.state(), older).unwrap_or_else(PoisonError::into_inner).check()
    }
}

impl State {
    fn check(&self) -> Result<()> {
        self.failed.clone().map_or(Ok(()), |cause| Err(Error::WriterFailed { cause }))
    }
}
