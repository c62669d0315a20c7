//! A job, as it sees itself, and the guard that cancels it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use scanns::search::Budget;

/// A job that runs or waits.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    cancelled: Arc<AtomicBool>,
    /// The user whose share of the threads is limited; others can have all.
    pub(super) user: Option<Arc<str>>,
}

impl Task {
    pub(super) fn new(user: Option<Arc<str>>) -> Self {
        Task { cancelled: Arc::default(), user }
    }

    /// True if nobody waits for the result.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// A budget that begins now, and that a cancellation of the job ends.
    pub(crate) fn budget(&self, time: Duration) -> Budget {
        let cancelled = Arc::clone(&self.cancelled);
        Budget::of(time).asking(move |_| cancelled.load(Ordering::Relaxed))
    }
}

/// Cancels a job when it is dropped, as the future of a request is when its client hangs up.
#[derive(Debug)]
pub(crate) struct CancelOnDrop {
    cancelled: Option<Arc<AtomicBool>>,
}

impl CancelOnDrop {
    pub(super) fn of(task: &Task) -> Self {
        CancelOnDrop { cancelled: Some(Arc::clone(&task.cancelled)) }
    }

    /// Lets the job be.
    pub(super) fn disarm(mut self) {
        self.cancelled = None;
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        if let Some(cancelled) = &self.cancelled {
            cancelled.store(true, Ordering::Relaxed);
        }
    }
}
