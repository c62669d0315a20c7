//! A limit for the time of a query.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A time limit for one query. When the time is up, the query returns what it has found so far: the hits are
/// valid and have their scores, but better hits and more hits may exist.
#[derive(Debug)]
pub struct Budget {
    until: Instant,
    ran_out: AtomicBool,
}

impl Budget {
    /// Creates a budget that begins now.
    pub fn of(time: Duration) -> Self {
        let now = Instant::now();
        // Practically unlimited.
        let until = now.checked_add(time).unwrap_or_else(|| now + Duration::from_secs(1 << 30));
        Budget { until, ran_out: AtomicBool::new(false) }
    }

    /// Returns true if the query ended early, so that its answer is incomplete.
    pub fn ran_out(&self) -> bool {
        self.ran_out.load(Ordering::Relaxed)
    }
}

/// Tells loops when to stop. They ask at intervals of at most some ten microseconds, so no query takes much
/// longer than its budget.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Clock<'a>(pub(crate) Option<&'a Budget>);

impl Clock<'_> {
    /// Returns true if time is up. Takes about ten nanoseconds with a budget, and no time without one.
    #[inline]
    pub(crate) fn is_up(self) -> bool {
        let Some(budget) = self.0 else { return false };
        if !budget.ran_out() && Instant::now() >= budget.until {
            budget.ran_out.store(true, Ordering::Relaxed);
        }
        budget.ran_out()
    }
}
