//! Tests of times: how long ago (`-mtime`, `-mmin`…), after another time (`-newer`), `-used`.
//!
//! Ages are computed as find computes them, in floating point from the argument and then in whole
//! nanoseconds, so that no entry falls on the other side of a limit.

use super::error::FindError;
use super::number::{Comparison, skip_space};

const SECOND: i64 = 1_000_000_000;

/// Seconds of a day.
pub(super) const DAY: i64 = 86_400;

/// One of the times of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimeColumn {
    Modified,
    Accessed,
    Changed,
    Born,
}

/// A test of a time: later than a limit, earlier, or in a window after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TimeTest {
    how: Comparison,
    limit: i64,
    /// The end of the window, for `Equal`.
    end: i64,
}

impl TimeTest {
    /// Later than a time.
    pub(super) fn after(limit: i64) -> TimeTest {
        TimeTest { how: Comparison::More, limit, end: limit }
    }

    /// Whether a time satisfies it.
    pub(super) fn matches(self, time: i64) -> bool {
        match self.how {
            Comparison::Less => time < self.limit,
            Comparison::Equal => self.limit < time && time <= self.end,
            Comparison::More => time > self.limit,
        }
    }

    /// The least and the greatest time that satisfy it.
    pub(super) fn range(self) -> (i64, i64) {
        match self.how {
            Comparison::Less => self.limit.checked_sub(1).map_or((1, 0), |greatest| (i64::MIN, greatest)),
            Comparison::Equal => self.limit.checked_add(1).map_or((1, 0), |least| (least, self.end)),
            Comparison::More => self.limit.checked_add(1).map_or((1, 0), |least| (least, i64::MAX)),
        }
    }
}

/// The moments from which ages are counted, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AgeOrigin {
    /// A day before now, or the start of the day after `-daystart`.
    day_start: i64,
}

impl AgeOrigin {
    /// Ages count from now.
    pub(super) fn now(now: i64) -> AgeOrigin {
        AgeOrigin { day_start: now.saturating_sub(DAY * SECOND) }
    }

    /// Ages count from the end of the day that began at `midnight` (`-daystart`).
    pub(super) fn day(midnight: i64) -> AgeOrigin {
        AgeOrigin { day_start: midnight }
    }

    /// `-mtime` and the like: days.
    pub(super) fn days(self, word: &[u8], argument: &[u8]) -> Result<TimeTest, FindError> {
        let shift = match Comparison::split(argument).0 {
            Comparison::Less => (DAY - 1) * SECOND,
            Comparison::Equal | Comparison::More => 0,
        };
        relative(word, argument, self.day_start.saturating_add(shift), DAY)
    }

    /// `-mmin` and the like: minutes.
    pub(super) fn minutes(self, word: &[u8], argument: &[u8]) -> Result<TimeTest, FindError> {
        relative(word, argument, self.day_start.saturating_add(DAY * SECOND), 60)
    }
}

/// `-used`: days between the last change and the last access. The test takes the negative difference.
pub(super) fn used(argument: &[u8]) -> Result<TimeTest, FindError> {
    relative(b"-used", argument, 0, DAY)
}

/// A test of the time that lies `argument` units before `origin`.
fn relative(word: &[u8], argument: &[u8], origin: i64, unit: i64) -> Result<TimeTest, FindError> {
    let (how, number) = Comparison::split(argument);
    let amount = decimal(number)
        .ok_or_else(|| FindError::argument(word, argument, "write a number, 5, +5 or -0.5"))?;
    let limit = before(origin, amount, unit);
    let how = match how {
        Comparison::Less => Comparison::More,
        Comparison::Equal => Comparison::Equal,
        Comparison::More => Comparison::Less,
    };
    Ok(TimeTest { how, limit, end: limit.saturating_add(unit.saturating_mul(SECOND)) })
}

/// A number as strtod(3) reads it, without hexadecimal digits.
fn decimal(text: &[u8]) -> Option<f64> {
    let number: f64 = std::str::from_utf8(skip_space(text)).ok()?.parse().ok()?;
    (!number.is_nan()).then_some(number)
}

/// The time `amount` units before `origin`, with the rounding of find.
#[expect(clippy::cast_precision_loss, reason = "find computes seconds in floating point, too")]
#[expect(clippy::cast_possible_truncation, reason = "a float that does not fit becomes the nearest integer")]
fn before(origin: i64, amount: f64, unit: i64) -> i64 {
    let (seconds, fraction) = (origin.div_euclid(SECOND), origin.rem_euclid(SECOND));
    let total = amount * unit as f64;
    let whole = total.trunc();
    let rest = if total.is_finite() { (total - whole) * 1e9 } else { 0.0 };
    let seconds = (seconds as f64 - whole) as i64;
    let nanoseconds = (fraction as f64 - rest) as i64;
    seconds.saturating_mul(SECOND).saturating_add(nanoseconds)
}
