//! What a report is about.

use super::classes::DAY;
use crate::sys::now;

/// Options of a report about files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReportOptions {
    /// The time from which ages count, in nanoseconds since 1970.
    pub now: i64,
    /// Files that were neither read nor written for this number of days are cold.
    pub cold_days: u32,
    /// The most directories, files or paths of each list.
    pub top: usize,
}

impl Default for ReportOptions {
    fn default() -> Self {
        ReportOptions { now: now(), cold_days: 365, top: 10 }
    }
}

impl ReportOptions {
    /// Files whose dates are before this time are cold.
    pub(super) fn cold_before(&self) -> i64 {
        self.now.saturating_sub(i64::from(self.cold_days).saturating_mul(DAY))
    }
}
