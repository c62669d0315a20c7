//! A limit for the operations of all threads per second.
//!
//! The limit is a token bucket, kept as the time at which the next operation may begin. A thread takes a
//! place in time under a lock and sleeps until then. After a pause, up to [`BURST`] of places are caught up.

use std::num::NonZeroU32;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::sys::lock;

/// The time whose unused operations may follow each other at once.
const BURST: Duration = Duration::from_millis(20);

/// The longest sleep before the next look whether the scan was stopped.
const NAP: Duration = Duration::from_millis(5);

/// The limit.
pub(super) struct Pace {
    interval: Duration,
    next: Mutex<Instant>,
}

impl Pace {
    pub(super) fn new(per_second: NonZeroU32) -> Pace {
        Pace { interval: Duration::from_secs(1) / per_second.get(), next: Mutex::new(Instant::now()) }
    }

    /// Waits until an operation may begin, or until `stopped` is true.
    pub(super) fn wait(&self, stopped: impl Fn() -> bool) {
        let now = Instant::now();
        let start = {
            let mut next = lock(&self.next);
            let start = now.checked_sub(BURST).map_or(*next, |earliest| earliest.max(*next));
            *next = start + self.interval;
            start
        };
        while !stopped() {
            let left = start.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            std::thread::sleep(left.min(NAP));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_together_stay_below_the_limit_and_come_close_to_it() {
        let pace = Pace::new(NonZeroU32::new(1000).unwrap());
        let began = Instant::now();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..75).for_each(|_| pace.wait(|| false)));
            }
        });
        let taken = began.elapsed();
        assert!(taken >= Duration::from_millis(270), "{taken:?}");
    }

    #[test]
    fn a_stop_ends_the_wait() {
        let pace = Pace::new(NonZeroU32::new(1).unwrap());
        let began = Instant::now();
        (0..3).for_each(|_| pace.wait(|| began.elapsed() > Duration::from_millis(30)));
        assert!(began.elapsed() < Duration::from_millis(900));
    }
}
