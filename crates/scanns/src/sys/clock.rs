//! The time of day, and processor time of this process over all threads.

use std::time::{SystemTime, UNIX_EPOCH};

/// The time in nanoseconds since 1970; 0 before.
pub fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

/// Seconds of processor time that this process has used so far, in user and system mode; 0 if the system does
/// not report it.
#[expect(clippy::cast_precision_loss, reason = "seconds and nanoseconds of a process are far below 2^53")]
pub fn process_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes one timespec, which is exclusively borrowed.
    let told = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    if told == 0 { time.tv_sec as f64 + time.tv_nsec as f64 / 1e9 } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_takes_processor_time() {
        let before = process_seconds();
        let mut sum = 0u64;
        while process_seconds() - before < 0.002 {
            sum = std::hint::black_box(sum + 1);
        }
        assert!(before > 0.0 && sum > 0);
    }
}
