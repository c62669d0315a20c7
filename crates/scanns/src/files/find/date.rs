//! Dates of `-newerXt`, and the start of a day for `-daystart`.
//!
//! Accepted: `@SECONDS[.FRACTION]`, RFC 3339 (`2024-05-01T12:30:00Z`, `…+02:00`), a date with or without a
//! time in the local zone (`2024-05-01`, `2024-05-01 12:30[:45[.5]]`), `now`, `today`, `yesterday`,
//! `tomorrow`, and `N UNIT ago` with seconds, minutes, hours, days or weeks.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

use super::error::FindError;

const SECOND: i64 = 1_000_000_000;

/// When and where a command runs: what `-mtime`, `-ls` and local times count from.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Now, in nanoseconds since 1970.
    pub now: i64,
    /// The local time zone.
    pub zone: TimeZone,
}

impl Setting {
    /// Now, in the time zone of the system.
    pub fn current() -> Self {
        Setting { now: clamp(Timestamp::now().as_nanosecond()), zone: TimeZone::system() }
    }

    /// The start of the day in nanoseconds.
    pub(super) fn midnight(&self) -> i64 {
        let date = self.zone.to_datetime(timestamp(self.now)).date();
        let midnight = self.zone.to_timestamp(date.at(0, 0, 0, 0));
        midnight.map_or(self.now, |midnight| clamp(midnight.as_nanosecond()))
    }

    /// The time that the argument of `word` names.
    pub(super) fn time(&self, word: &[u8], argument: &[u8]) -> Result<i64, FindError> {
        let text = std::str::from_utf8(argument).unwrap_or_default().trim();
        self.read(text).ok_or_else(|| {
            let expected = "write YYYY-MM-DD, 'YYYY-MM-DD HH:MM:SS', 2024-05-01T12:30:00Z or @SECONDS";
            FindError::argument(word, argument, expected)
        })
    }

    fn read(&self, text: &str) -> Option<i64> {
        if let Some(seconds) = text.strip_prefix('@') {
            return epoch(seconds);
        }
        if let Some(time) = self.named(text) {
            return Some(time);
        }
        let compact = join_offset(text);
        if let Ok(time) = compact.parse::<Timestamp>() {
            return Some(clamp(time.as_nanosecond()));
        }
        let local: DateTime = compact.parse().ok()?;
        Some(clamp(self.zone.to_timestamp(local).ok()?.as_nanosecond()))
    }

    fn named(&self, text: &str) -> Option<i64> {
        let days = match text {
            "now" | "today" => 0,
            "yesterday" => -1,
            "tomorrow" => 1,
            _ => return self.ago(text),
        };
        self.shifted(days)
    }

    /// This time of the day some days from now.
    fn shifted(&self, days: i64) -> Option<i64> {
        let now = timestamp(self.now).to_zoned(self.zone.clone());
        let then = now
            .checked_add(days.checked_abs().filter(|days| *days < 4_000_000)?.days() * days.signum())
            .ok()?;
        Some(clamp(then.timestamp().as_nanosecond()))
    }

    fn ago(&self, text: &str) -> Option<i64> {
        let mut words = text.split_ascii_whitespace();
        let (Some(number), Some(unit), Some("ago"), None) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            return None;
        };
        let number: i64 = number.parse().ok()?;
        let seconds = match unit.strip_suffix('s').unwrap_or(unit) {
            "sec" | "second" => 1,
            "min" | "minute" => 60,
            "hour" => 3600,
            "day" => return self.shifted(number.checked_neg()?),
            "week" => return self.shifted(number.checked_mul(-7)?),
            _ => return None,
        };
        self.now.checked_sub(number.checked_mul(seconds)?.checked_mul(SECOND)?)
    }
}

/// The text without a space before an offset such as `+02:00` or `Z`.
fn join_offset(text: &str) -> String {
    match text.rsplit_once(' ') {
        Some((start, offset)) if offset.starts_with(['+', '-', 'Z']) && start.contains(':') => {
            format!("{}{offset}", start.trim_end())
        }
        _ => text.to_owned(),
    }
}

/// Seconds since 1970 with a fraction.
fn epoch(text: &str) -> Option<i64> {
    let negative = text.starts_with('-');
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = whole.strip_prefix(['-', '+']).unwrap_or(whole);
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if digits.is_empty() || !is_number(digits) || !is_number(fraction) {
        return None;
    }
    let nine: String = fraction.chars().chain("000000000".chars()).take(9).collect();
    let seconds: i64 = digits.parse().ok()?;
    let nanoseconds = seconds.saturating_mul(SECOND).saturating_add(nine.parse().ok()?);
    Some(if negative { -nanoseconds } else { nanoseconds })
}

/// Nanoseconds that fit.
fn clamp(nanoseconds: i128) -> i64 {
    i64::try_from(nanoseconds).unwrap_or(if nanoseconds < 0 { i64::MIN } else { i64::MAX })
}

/// The time of nanoseconds since 1970.
pub fn timestamp(nanoseconds: i64) -> Timestamp {
    Timestamp::from_nanosecond(i128::from(nanoseconds)).unwrap_or_default()
}
