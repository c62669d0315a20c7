//! Work of the threads of a scan.
//!
//! Every thread has a stack of its own and takes from its top, so that a scan goes into the depth and few
//! directories are pending. Only if another thread has nothing to do, it gives work to this queue: the
//! lowest of its stack, which is usually the most, or half of the only list that it has. In a large
//! directory, it gives names whose values are to be read.

use std::ops::Range;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use crate::source::scan::directory::ScanDirectory;
use crate::source::scan::names::NameList;
use crate::sys::{lock, wait};

/// Something to do.
#[derive(Debug)]
pub(super) enum ScanWork {
    /// Directories below one that was listed, all of its file system.
    Below(PendingList),
    /// A directory that is named, or another file system.
    Directory(Arc<ScanDirectory>),
    /// Names in a directory whose values are to be read.
    Names(Arc<ScanDirectory>, Arc<OwnedFd>, NameList),
    /// Paths at which to look.
    Look(LookWork),
}

/// Paths below a directory at which to look.
#[derive(Debug)]
pub(super) struct LookWork {
    pub(super) directory: Arc<ScanDirectory>,
    /// Their places in the list.
    pub(super) range: Range<usize>,
    /// The device of the directory, as far as the caller of the scan knows it.
    pub(super) device: Option<u64>,
    /// Keeps the directory above it open.
    pub(super) held: Option<HeldOpen>,
}

/// A directory that may keep its descriptor as long as this exists.
#[derive(Debug)]
pub(super) struct HeldOpen(Arc<ScanDirectory>);

impl HeldOpen {
    pub(super) fn new(directory: Arc<ScanDirectory>) -> Self {
        directory.begin_list();
        HeldOpen(directory)
    }
}

impl Drop for HeldOpen {
    fn drop(&mut self) {
        self.0.end_list();
    }
}

/// Directories that are to be scanned, by their names in their parent.
#[derive(Debug)]
pub(super) struct PendingList {
    pub(super) parent: Arc<ScanDirectory>,
    pub(super) names: NameList,
}

impl PendingList {
    pub(super) fn new(parent: Arc<ScanDirectory>, names: NameList) -> Self {
        parent.begin_list();
        PendingList { parent, names }
    }

    /// Half of the directories; `None` if there is only one.
    pub(super) fn split(&mut self) -> Option<PendingList> {
        let names = self.names.split()?;
        Some(PendingList::new(self.parent.clone(), names))
    }
}

impl Drop for PendingList {
    fn drop(&mut self) {
        self.parent.end_list();
    }
}

/// Work for any thread. One thread takes part from the beginning, and more can join.
#[derive(Debug, Default)]
pub(super) struct ScanQueue {
    state: Mutex<ScanQueueState>,
    more: Condvar,
    /// The number of threads for which there is no work.
    wanted: AtomicUsize,
}

#[derive(Debug, Default)]
struct ScanQueueState {
    works: Vec<ScanWork>,
    /// Threads that have joined.
    joined: usize,
    idle: usize,
    closed: bool,
}

impl ScanQueue {
    /// Lets one more thread take part, which has not started yet.
    pub(super) fn join(&self) {
        lock(&self.state).joined += 1;
    }

    /// Takes back [`ScanQueue::join`] for a thread that could not be started, while this thread has work.
    pub(super) fn leave(&self) {
        lock(&self.state).joined -= 1;
    }

    /// True if a thread waits for work.
    pub(super) fn wants(&self) -> bool {
        self.wanted.load(Ordering::Relaxed) > 0
    }

    /// Gives work to any thread.
    pub(super) fn give(&self, work: ScanWork) {
        let mut state = lock(&self.state);
        state.works.push(work);
        self.tell(&state);
        drop(state);
        self.more.notify_one();
    }

    /// Takes work; `None` if there is none and no thread can give more.
    pub(super) fn next(&self) -> Option<ScanWork> {
        let mut state = lock(&self.state);
        loop {
            if state.closed {
                return None;
            }
            if let Some(work) = state.works.pop() {
                self.tell(&state);
                return Some(work);
            }
            state.idle += 1;
            if state.idle > state.joined {
                drop(state);
                self.close();
                return None;
            }
            self.tell(&state);
            state = wait(&self.more, state);
            state.idle -= 1;
            self.tell(&state);
        }
    }

    /// Lets all threads end.
    pub(super) fn close(&self) {
        let works = {
            let mut state = lock(&self.state);
            state.closed = true;
            std::mem::take(&mut state.works)
        };
        self.wanted.store(0, Ordering::Relaxed);
        self.more.notify_all();
        drop(works);
    }

    fn tell(&self, state: &ScanQueueState) {
        self.wanted.store(state.idle.saturating_sub(state.works.len()), Ordering::Relaxed);
    }
}
