//! A limit for the time of a query.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A limit for the time of one query. When it has run out, the answer is what was found until then: hits are
/// real hits with their scores, but better ones and more of them may exist.
#[derive(Debug)]
pub struct Budget {
    until: Instant,
    ran_out: AtomicBool,
}

impl Budget {
    /// A budget that begins now.
    pub fn of(time: Duration) -> Self {
        let now = Instant::now();
        // Practically unlimited.
        let until = now.checked_add(time).unwrap_or_else(|| now + Duration::from_secs(1 << 30));
        Budget { until, ran_out: AtomicBool::new(false) }
    }

    /// True if the query ended early: its answer is only part of the whole one.
    pub fn ran_out(&self) -> bool {
        self.ran_out.load(Ordering::Relaxed)
    }
}

/// Tells loops when to stop. They ask at most some ten microseconds apart, so no query takes much longer than
/// its budget.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Clock<'a>(pub(crate) Option<&'a Budget>);

impl Clock<'_> {
    /// True if time is up. Takes about ten nanoseconds with a budget, and nothing without one.
    #[inline]
    pub(crate) fn is_up(self) -> bool {
        let Some(budget) = self.0 else { return false };
        if !budget.ran_out() && Instant::now() >= budget.until {
            budget.ran_out.store(true, Ordering::Relaxed);
        }
        budget.ran_out()
    }
}
