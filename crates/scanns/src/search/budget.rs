//! A limit for the time of a query, and a way to cancel it.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Returns true if the query is to end. The argument is the current time.
type Interrupt = dyn Fn(Instant) -> bool + Send + Sync;

/// A time limit for one query, which can also be cancelled from outside. When the time is up, or after a
/// cancellation, the query returns what it has found so far: the hits are valid and have their scores, but
/// better hits and more hits may exist.
///
/// ```
/// use std::time::Duration;
///
/// use scanns::search::Budget;
///
/// let budget = Budget::of(Duration::from_secs(60));
/// assert!(!budget.ran_out());
/// budget.cancel();
/// assert!(budget.ran_out());
/// ```
pub struct Budget {
    until: Instant,
    ran_out: AtomicBool,
    interrupt: Option<Box<Interrupt>>,
}

impl Budget {
    /// Creates a budget that begins now.
    pub fn of(time: Duration) -> Self {
        let now = Instant::now();
        // Practically unlimited.
        let until = now.checked_add(time).unwrap_or_else(|| now + Duration::from_secs(1 << 30));
        Budget { until, ran_out: AtomicBool::new(false), interrupt: None }
    }

    /// Creates a budget without a time limit, for queries that may be cancelled.
    pub fn unlimited() -> Self {
        Budget::of(Duration::MAX)
    }

    /// Lets the query ask `interrupt`, with the current time, whether to end. All threads of the query ask,
    /// about every ten microseconds, so the function must be fast most of the time.
    #[must_use]
    pub fn asking(self, interrupt: impl Fn(Instant) -> bool + Send + Sync + 'static) -> Self {
        Budget { interrupt: Some(Box::new(interrupt)), ..self }
    }

    /// Ends the query, from any thread.
    pub fn cancel(&self) {
        self.ran_out.store(true, Ordering::Relaxed);
    }

    /// Returns true if the query ended early, so that its answer is incomplete.
    pub fn ran_out(&self) -> bool {
        self.ran_out.load(Ordering::Relaxed)
    }
}

impl fmt::Debug for Budget {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Budget")
            .field("until", &self.until)
            .field("ran_out", &self.ran_out)
            .field("asks", &self.interrupt.is_some())
            .finish()
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
        if !budget.ran_out() {
            let now = Instant::now();
            if now >= budget.until || budget.interrupt.as_ref().is_some_and(|interrupt| interrupt(now)) {
                budget.cancel();
            }
        }
        budget.ran_out()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_ends_by_time_by_cancellation_or_when_asked() {
        assert!(!Clock(None).is_up());
        assert!(Clock(Some(&Budget::of(Duration::ZERO))).is_up());
        let budget = Budget::unlimited();
        assert!(!Clock(Some(&budget)).is_up() && !budget.ran_out());
        budget.cancel();
        assert!(Clock(Some(&budget)).is_up() && budget.ran_out());
        let asked = Budget::unlimited().asking(|_| true);
        assert!(!asked.ran_out(), "nothing asked yet");
        assert!(Clock(Some(&asked)).is_up() && asked.ran_out());
    }
}
