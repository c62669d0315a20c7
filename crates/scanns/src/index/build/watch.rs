//! Decides when a build stops, and when it commits.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::options::IndexOptions;
use crate::index::progress::Progress;

/// The minimum time that a build with a time limit reserves for writing its last segments.
const LAST_FLUSH: Duration = Duration::from_secs(2);

/// Watches the clock, the progress and the flags of a build.
pub(crate) struct Watch<'a> {
    cancel: &'a AtomicBool,
    /// Set to stop readers and index threads.
    stop: &'a AtomicBool,
    begun: Instant,
    limit: Option<Duration>,
    commit_every: Option<Duration>,
    commit_bytes: Option<u64>,
    last_commit: Instant,
    /// Bytes indexed when the last commit was made.
    committed_bytes: u64,
}

impl<'a> Watch<'a> {
    pub(crate) fn new(options: &IndexOptions, cancel: &'a AtomicBool, stop: &'a AtomicBool) -> Self {
        let IndexOptions { time_limit: limit, commit_every, commit_bytes, .. } = *options;
        let begun = Instant::now();
        Watch {
            cancel,
            stop,
            begun,
            limit,
            commit_every,
            commit_bytes,
            last_commit: begun,
            committed_bytes: 0,
        }
    }

    /// Stops readers and index threads.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// The flag that stops readers and index threads.
    pub(crate) fn stop_flag(&self) -> &'a AtomicBool {
        self.stop
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// True if enough time has passed, or enough was read, since the last commit to make another one.
    pub(crate) fn commit_is_due(&self, progress: &Progress) -> bool {
        self.commit_every.is_some_and(|every| self.last_commit.elapsed() >= every)
            || self.commit_bytes.is_some_and(|every| progress.bytes() - self.committed_bytes >= every)
    }

    /// Notes that a commit was made.
    pub(crate) fn committed(&mut self, progress: &Progress) {
        (self.last_commit, self.committed_bytes) = (Instant::now(), progress.bytes());
    }

    /// True if the build was cancelled, or has just enough time left to write what is in memory.
    pub(crate) fn is_over(&self, progress: &Progress) -> bool {
        let reserve = |limit: Duration| {
            // Writing a segment takes less than half of the time that filling it took.
            let segments = u32::try_from(progress.segments()).unwrap_or(u32::MAX).saturating_add(1);
            (self.begun.elapsed() / segments / 2).max(LAST_FLUSH).min(limit / 2)
        };
        self.cancel.load(Ordering::Relaxed)
            || self.limit.is_some_and(|limit| self.begun.elapsed() + reserve(limit) >= limit)
    }
}
