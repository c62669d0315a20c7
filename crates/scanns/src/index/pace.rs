//! Keeps merges to so many bytes per second, so that they leave the device to others.
//!
//! A bucket of tokens (as networks shape traffic) that is read the other way round: it knows when what was written so far
//! would be due. A merge says now and then how far it is, and waits until then.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};

/// What may be made up for after a rest: so much time's worth is written at once.
const BURST: Duration = Duration::from_millis(100);

/// The longest sleep between two looks at whether to go on.
const NAP: Duration = Duration::from_millis(50);

/// The pace of one writer.
pub(super) struct Pace {
    rate: Option<u64>,
    begun: Instant,
    bucket: Bucket,
}

impl Pace {
    /// At most `rate` bytes per second.
    pub(super) fn new(rate: Option<u64>) -> Self {
        Pace { rate, begun: Instant::now(), bucket: Bucket::default() }
    }

    /// A file is begun, of which nothing is written yet.
    pub(super) fn begin_file(&mut self) {
        self.bucket.written = 0;
    }

    /// Waits until the file may have `written` bytes.
    ///
    /// # Errors
    /// [`Error::Cancelled`] as soon as `cancel` is set.
    pub(super) fn keep(&mut self, written: u64, cancel: &AtomicBool) -> Result<()> {
        let now = || self.begun.elapsed();
        let mut wait = self.rate.map_or(Duration::ZERO, |rate| self.bucket.wait(now(), written, rate));
        let until = now() + wait;
        loop {
            if cancel.load(Ordering::Relaxed) {
                return Err(Error::Cancelled);
            }
            if wait.is_zero() {
                return Ok(());
            }
            std::thread::sleep(wait.min(NAP));
            wait = until.saturating_sub(now());
        }
    }
}

/// When what was written is due, by a clock that counts from some start.
#[derive(Default)]
struct Bucket {
    /// When the bytes so far are due.
    due: Duration,
    /// Bytes of the file at hand.
    written: u64,
}

impl Bucket {
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

    const MIB: u64 = 1 << 20;

    #[test]
    fn bytes_come_at_the_rate_whatever_the_steps() {
        for step in [MIB / 7, MIB, 30 * MIB] {
            let (mut bucket, mut now, mut written) = (Bucket::default(), Duration::ZERO, 0);
            while written < 300 * MIB {
                written += step;
                // Writing takes some time by itself.
                now += Duration::from_micros(step / 2000);
                now += bucket.wait(now, written, 10 * MIB);
            }
            let expected = Duration::from_secs_f64(written as f64 / (10 * MIB) as f64);
            assert!(now <= expected + BURST && now + 2 * BURST >= expected, "{now:?} for {written} bytes");
        }
    }

    #[test]
    fn a_rest_is_made_up_for_by_no_more_than_a_burst() {
        let mut bucket = Bucket::default();
        assert_eq!(bucket.wait(Duration::ZERO, 10 * MIB, 10 * MIB), Duration::from_secs(1));
        let later = Duration::from_secs(60);
        assert_eq!(bucket.wait(later, 20 * MIB, 10 * MIB), Duration::from_secs(1) - BURST);
        bucket.written = 0;
        assert_eq!(bucket.wait(later, 10 * MIB, 10 * MIB), Duration::from_secs(2) - BURST);
    }

    #[test]
    fn whoever_cancels_does_not_wait_for_what_is_due() {
        let mut pace = Pace::new(Some(1));
        let cancelled = AtomicBool::new(true);
        assert!(matches!(pace.keep(u64::MAX, &cancelled), Err(Error::Cancelled)));
        let mut unbounded = Pace::new(None);
        unbounded.begin_file();
        unbounded.keep(u64::MAX, &AtomicBool::new(false)).unwrap();
    }
}
