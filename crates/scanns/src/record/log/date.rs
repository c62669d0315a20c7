//! Dates of logs: writes them, and finds the year of dates that have none.

use crate::schema::{day_of, days_since_1970, parse_log_date, parse_rfc3339};

const NANOSECONDS: i64 = 1_000_000_000;
const SECONDS_OF_DAY: i64 = 86_400;

/// The last second of the year 9999, in seconds since 1970.
const END_OF_9999: i64 = 253_402_300_799;

/// A date that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LogDate {
    /// Nanoseconds since 1970.
    pub nanoseconds: i64,
    /// Whether the date says how far its zone is from UTC. Otherwise it is read as UTC.
    pub has_zone: bool,
}

impl LogDate {
    /// Reads a date of the common log format: `01/May/2024:10:00:00 +0200`.
    pub fn common(text: &[u8]) -> Option<Self> {
        Some(LogDate { nanoseconds: parse_log_date(text)?, has_zone: text.contains(&b' ') })
    }

    /// Reads a date and time in RFC 3339, perhaps without a zone, or with an offset without a colon.
    pub fn rfc3339(text: &[u8]) -> Option<Self> {
        let (day, time) = text.split_at_checked(10)?;
        let [b'T' | b't' | b' ', _, _, b':', _, _, b':', _, _, zone @ ..] = time else { return None };
        if !matches!(day, [_, _, _, _, b'-', _, _, b'-', _, _]) {
            return None;
        }
        let has_zone = zone.iter().any(|byte| matches!(byte, b'+' | b'-') || byte.is_ascii_alphabetic());
        Some(LogDate { nanoseconds: parse_rfc3339(text)?, has_zone })
    }
}

/// Writes dates. Most dates of a log are on the same day as the date before.
#[derive(Clone, Debug)]
pub(super) struct DateWriter {
    /// The day that was written last, in days since 1970, and its text.
    day: i64,
    text: [u8; 11],
}

impl Default for DateWriter {
    fn default() -> Self {
        DateWriter { day: 0, text: *b"1970-01-01T" }
    }
}

impl DateWriter {
    /// Appends a date, in nanoseconds since 1970, as RFC 3339 in UTC, with 0, 3, 6 or 9 digits of a second.
    pub fn push(&mut self, nanoseconds: i64, into: &mut Vec<u8>) {
        let (seconds, fraction) = (nanoseconds.div_euclid(NANOSECONDS), nanoseconds.rem_euclid(NANOSECONDS));
        let (day, second) = (seconds.div_euclid(SECONDS_OF_DAY), seconds.rem_euclid(SECONDS_OF_DAY));
        if day != self.day {
            *self = DateWriter { day, text: day_text(day) };
        }
        let [[h0, h1], [m0, m1], [s0, s1]] = [second / 3600, second / 60 % 60, second % 60].map(two_digits);
        into.extend_from_slice(&self.text);
        into.extend_from_slice(&[h0, h1, b':', m0, m1, b':', s0, s1]);
        if fraction != 0 {
            push_fraction(fraction, into);
        }
        into.push(b'Z');
    }
}

/// A day, in days since 1970, with the letter behind it.
fn day_text(days: i64) -> [u8; 11] {
    let (year, month, day) = day_of(days);
    let [[y0, y1], [y2, y3]] = [year / 100, year % 100].map(two_digits);
    let [[m0, m1], [d0, d1]] = [month, day].map(two_digits);
    [y0, y1, y2, y3, b'-', m0, m1, b'-', d0, d1, b'T']
}

fn two_digits(number: i64) -> [u8; 2] {
    [number / 10 % 10, number % 10].map(|digit| b'0' + u8::try_from(digit).unwrap_or_default())
}

/// Appends a point and the digits of a number of nanoseconds, without groups of three zeros at the end.
fn push_fraction(nanoseconds: i64, into: &mut Vec<u8>) {
    into.push(b'.');
    let groups = [nanoseconds / 1_000_000, nanoseconds / 1000 % 1000, nanoseconds % 1000];
    let count = groups.iter().rposition(|group| *group != 0).map_or(0, |at| at + 1);
    for group in groups.iter().take(count) {
        let [tens, ones] = two_digits(group % 100);
        let [_, hundreds] = two_digits(group / 100);
        into.extend_from_slice(&[hundreds, tens, ones]);
    }
}

/// The number of an English month of three letters, from 1.
pub(super) fn month_of(name: &[u8]) -> Option<i64> {
    Some(match name {
        b"Jan" => 1,
        b"Feb" => 2,
        b"Mar" => 3,
        b"Apr" => 4,
        b"May" => 5,
        b"Jun" => 6,
        b"Jul" => 7,
        b"Aug" => 8,
        b"Sep" => 9,
        b"Oct" => 10,
        b"Nov" => 11,
        b"Dec" => 12,
        _ => return None,
    })
}

/// A day of a month without a year, and a time of that day.
#[derive(Clone, Copy, Debug)]
pub(super) struct YearlessTime {
    pub month: i64,
    pub day: i64,
    /// Seconds since midnight; 86,400 in a leap second.
    pub second: i64,
}

impl YearlessTime {
    /// Seconds since 1970 in a year; None if the month does not have the day.
    pub fn in_year(self, year: i64) -> Option<i64> {
        if !(1..=12).contains(&self.month) || !(1..=31).contains(&self.day) {
            return None;
        }
        let days = days_since_1970(year, self.month, self.day);
        (day_of(days) == (year, self.month, self.day)).then_some(days * SECONDS_OF_DAY + self.second)
    }
}

/// The latest time at which a line may have been written.
#[derive(Clone, Copy, Debug)]
pub(super) struct LatestTime {
    /// Seconds since 1970.
    seconds: i64,
    year: i64,
}

impl LatestTime {
    /// The time one day after `now`, which is in seconds since 1970; but no year before 1970 or of five
    /// digits.
    pub fn after(now: i64) -> Self {
        let seconds = now.saturating_add(SECONDS_OF_DAY).clamp(0, END_OF_9999);
        LatestTime { seconds, year: day_of(seconds.div_euclid(SECONDS_OF_DAY)).0 }
    }

    /// Seconds since 1970 of a time in the latest possible year. Eight years may be between two leap years.
    pub fn guess(&self, time: YearlessTime) -> Option<i64> {
        let years = (0..=8).map(|back| self.year - back);
        years.filter_map(|year| time.in_year(year)).find(|seconds| *seconds <= self.seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::test_ends::seed;
    use crate::schema::format_date;

    fn written(nanoseconds: i64) -> String {
        let mut text = Vec::new();
        DateWriter::default().push(nanoseconds, &mut text);
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn dates_are_written_as_everywhere_else() {
        let mut random = fastrand::Rng::with_seed(seed());
        let mut writer = DateWriter::default();
        let rounds = [1, 1000, 1_000_000, NANOSECONDS];
        for _ in 0..20_000 {
            let unit = rounds[random.usize(..4)];
            let nanoseconds = (random.i64(..) >> random.u32(..40)) / unit * unit;
            assert_eq!(written(nanoseconds), format_date(nanoseconds));
            let near = nanoseconds.saturating_add(random.i64(-100_000..100_000) * NANOSECONDS);
            let mut text = Vec::new();
            writer.push(near, &mut text);
            assert_eq!(String::from_utf8(text).unwrap(), format_date(near));
        }
        for nanoseconds in [i64::MIN, -1, 0, 1, i64::MAX] {
            assert_eq!(written(nanoseconds), format_date(nanoseconds));
        }
    }

    #[test]
    fn the_latest_possible_year_is_assumed() {
        let now = |text: &[u8]| parse_rfc3339(text).unwrap() / NANOSECONDS;
        for (today, month, day, expected) in [
            ("2024-05-01T10:00:00Z", 5, 1, Some("2024-05-01T12:00:00Z")),
            ("2024-05-01T10:00:00Z", 5, 2, Some("2023-05-02T12:00:00Z")),
            ("2024-05-01T12:00:00Z", 5, 2, Some("2024-05-02T12:00:00Z")),
            ("2024-12-31T23:00:00Z", 1, 1, Some("2025-01-01T12:00:00Z")),
            ("2025-01-01T00:00:00Z", 12, 31, Some("2024-12-31T12:00:00Z")),
            ("2023-05-01T00:00:00Z", 2, 29, Some("2020-02-29T12:00:00Z")),
            ("2103-05-01T00:00:00Z", 2, 29, Some("2096-02-29T12:00:00Z")),
            ("2024-05-01T00:00:00Z", 2, 30, None),
            ("2024-05-01T00:00:00Z", 13, 1, None),
            ("2024-05-01T00:00:00Z", 1, 0, None),
        ] {
            let time = YearlessTime { month, day, second: 12 * 3600 };
            let guess = LatestTime::after(now(today.as_bytes())).guess(time);
            assert_eq!(guess.map(|seconds| written(seconds * NANOSECONDS)).as_deref(), expected, "{today}");
        }
        for now in [i64::MIN, i64::MAX] {
            LatestTime::after(now).guess(YearlessTime { month: 2, day: 29, second: 0 });
        }
    }

    #[test]
    fn dates_say_whether_they_have_a_zone() {
        for (text, expected) in [
            ("1970-01-01T01:00:00+01:00", Some(true)),
            ("1970-01-01T01:00:00.5+0100", Some(true)),
            ("1970-01-01T01:00:00,5Z", Some(true)),
            ("1970-01-01T01:00:00.123456", Some(false)),
            ("1970-01-01", None),
            ("1970-01-01T01:00:00Z,", None),
            ("1970-01-01T25:00:00Z", None),
        ] {
            assert_eq!(LogDate::rfc3339(text.as_bytes()).map(|date| date.has_zone), expected, "{text}");
        }
        for (text, expected) in [
            ("01/Jan/1970:00:00:01 +0000", Some(true)),
            ("01/Jan/1970:00:00:01", Some(false)),
            ("32/Jan/1970:00:00:01 +0000", None),
        ] {
            assert_eq!(LogDate::common(text.as_bytes()).map(|date| date.has_zone), expected, "{text}");
        }
    }
}
