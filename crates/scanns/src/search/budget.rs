//! How long a query may take.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A time that what a searcher is asked may take. When it has run out, what was found until then is the answer: hits are
/// then real hits with their scores, but there may be better ones, and more. One budget is good for one query.
#[derive(Debug)]
pub struct Budget {
    until: Instant,
    ran_out: AtomicBool,
}

impl Budget {
    /// From now on.
    pub fn of(time: Duration) -> Self {
        let now = Instant::now();
        // As good as for ever.
        let until = now.checked_add(time).unwrap_or_else(|| now + Duration::from_secs(1 << 30));
        Budget { until, ran_out: AtomicBool::new(false) }
    }

    /// True if the query was ended before it was done: its answer is a part of the whole one.
    pub fn ran_out(&self) -> bool {
        self.ran_out.load(Ordering::Relaxed)
    }
}

/// What loops ask whether they may go on: often enough that no query takes much longer, at most some ten microseconds apart.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Clock<'a>(pub(super) Option<&'a Budget>);

impl Clock<'_> {
    /// True if time is up. Takes some ten nanoseconds where there is a budget, and nothing where there is none.
    #[inline]
    pub(super) fn is_up(self) -> bool {
        let Some(budget) = self.0 else { return false };
        if !budget.ran_out() && Instant::now() >= budget.until {
            budget.ran_out.store(true, Ordering::Relaxed);
        }
        budget.ran_out()
    }
}
