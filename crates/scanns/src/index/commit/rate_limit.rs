//! Limits merges to a number of bytes per second, so that they leave the device to others.
//!
//! This is a token bucket, as networks use it for traffic shaping, seen from the other side: it knows the
//! time at which the bytes written so far are due. A merge reports its progress now and then, and waits until
//! that time.

use std::time::{Duration, Instant};

use crate::error::Result;

/// After a pause, this amount of time's bytes may be written without waiting.
const BURST: Duration = Duration::from_millis(100);

/// The maximum sleep between two checks for cancellation.
const NAP: Duration = Duration::from_millis(50);

/// The limit of one writer.
pub(crate) struct RateLimit {
    /// Bytes per second; `None` for no limit.
    rate: Option<u64>,
    begun: Instant,
    schedule: WriteSchedule,
}

impl RateLimit {
    /// At most `rate` bytes per second; `None` for no limit.
    pub(crate) fn new(rate: Option<u64>) -> Self {
        RateLimit { rate, begun: Instant::now(), schedule: WriteSchedule::default() }
    }

    /// Begins a file, of which nothing is written yet.
    pub(crate) fn begin_file(&mut self) {
        self.schedule.written = 0;
    }

    /// Waits until the file may have `written` bytes. Calls `go_on` at least once, and about every 50 ms
    /// while it waits.
    ///
    /// # Errors
    /// Returns the error of `go_on` immediately.
    pub(crate) fn wait(&mut self, written: u64, go_on: impl Fn() -> Result<()>) -> Result<()> {
        let now = || self.begun.elapsed();
        let mut wait = self.rate.map_or(Duration::ZERO, |rate| self.schedule.wait(now(), written, rate));
        let until = now() + wait;
        loop {
            go_on()?;
            if wait.is_zero() {
                return Ok(());
            }
            std::thread::sleep(wait.min(NAP));
            wait = until.saturating_sub(now());
        }
    }
}

/// When the bytes written are due, on a clock that starts at 0.
#[derive(Default)]
struct WriteSchedule {
    /// When the bytes written so far are due.
    due: Duration,
    /// Bytes of the current file.
    written: u64,
}

impl WriteSchedule {
    /// How long to wait at `now` after `written` bytes of the file.
    fn wait(&mut self, now: Duration, written: u64, rate: u64) -> Duration {
        let more = u128::from(written.saturating_sub(self.written));
        self.written = written.max(self.written);
        let nanos = more * 1_000_000_000 / u128::from(rate.max(1));
        let takes = Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX));
        self.due = self.due.max(now.saturating_sub(BURST)).saturating_add(takes);
        self.due.saturating_sub(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    const MIB: u64 = 1 << 20;

    #[test]
    fn the_rate_does_not_depend_on_the_size_of_the_steps() {
        for step in [MIB / 7, MIB, 30 * MIB] {
            let (mut schedule, mut now, mut written) = (WriteSchedule::default(), Duration::ZERO, 0);
            while written < 300 * MIB {
                written += step;
                // Writing takes some time by itself.
                now += Duration::from_micros(step / 2000);
                now += schedule.wait(now, written, 10 * MIB);
            }
            let expected = Duration::from_secs_f64(written as f64 / (10 * MIB) as f64);
            assert!(now <= expected + BURST && now + 2 * BURST >= expected, "{now:?} for {written} bytes");
        }
    }

    #[test]
    fn after_a_rest_only_a_burst_is_written_at_once() {
        let mut schedule = WriteSchedule::default();
        assert_eq!(schedule.wait(Duration::ZERO, 10 * MIB, 10 * MIB), Duration::from_secs(1));
        let later = Duration::from_secs(60);
        assert_eq!(schedule.wait(later, 20 * MIB, 10 * MIB), Duration::from_secs(1) - BURST);
        schedule.written = 0;
        assert_eq!(schedule.wait(later, 10 * MIB, 10 * MIB), Duration::from_secs(2) - BURST);
    }

    #[test]
    fn cancelling_ends_the_wait() {
        let mut limit = RateLimit::new(Some(1));
        assert!(matches!(limit.wait(u64::MAX, || Err(Error::Cancelled)), Err(Error::Cancelled)));
        let mut unlimited = RateLimit::new(None);
        unlimited.begin_file();
        unlimited.wait(u64::MAX, || Ok(())).unwrap();
    }
}
