//! Dates and times as text, in the forms of RFC 3339 and ISO 8601.
//!
//! A year before 0 or after 9999 has a sign, as ISO 8601 wants it: `+12024-03-01`. Fractions of a second have
//! 3, 6 or 9 digits, or are left out if there is none.

use super::json_text::push_integer;

const DAY: i64 = 86_400;

/// Ticks in a second, as Arrow counts time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TicksPerSecond(pub(super) i64);

impl TicksPerSecond {
    /// Whole seconds, rounded down, and the nanoseconds after them.
    fn split(self, ticks: i64) -> (i64, i64) {
        let rest = ticks.rem_euclid(self.0);
        (ticks.div_euclid(self.0), rest * (1_000_000_000 / self.0))
    }
}

/// Writes a day, counted from 1970-01-01, as `2024-03-01`.
pub(super) fn push_day(out: &mut Vec<u8>, days: i64) {
    let (year, month, day) = civil(days);
    if (0..=9999).contains(&year) {
        push_padded(out, year / 100);
        push_padded(out, year % 100);
    } else {
        out.push(if year < 0 { b'-' } else { b'+' });
        let text = format!("{:04}", year.unsigned_abs());
        out.extend_from_slice(text.as_bytes());
    }
    out.push(b'-');
    push_padded(out, month);
    out.push(b'-');
    push_padded(out, day);
}

/// Writes a moment as `2024-03-01T10:20:30.500`, and a `Z` if it is in UTC.
pub(super) fn push_moment(out: &mut Vec<u8>, ticks: i64, unit: TicksPerSecond, is_utc: bool) {
    let (seconds, nanoseconds) = unit.split(ticks);
    push_day(out, seconds.div_euclid(DAY));
    out.push(b'T');
    push_clock(out, seconds.rem_euclid(DAY), nanoseconds);
    if is_utc {
        out.push(b'Z');
    }
}

/// Writes a time of day as `10:20:30.500`. Times outside of a day keep their hours.
pub(super) fn push_time(out: &mut Vec<u8>, ticks: i64, unit: TicksPerSecond) {
    let (seconds, nanoseconds) = unit.split(ticks);
    push_clock(out, seconds, nanoseconds);
}

fn push_clock(out: &mut Vec<u8>, seconds: i64, nanoseconds: i64) {
    let hours = seconds.div_euclid(3600);
    if (0..100).contains(&hours) {
        push_padded(out, hours)
    } else {
        push_integer(out, hours)
    }
    out.push(b':');
    push_padded(out, seconds.rem_euclid(3600) / 60);
    out.push(b':');
    push_padded(out, seconds.rem_euclid(60));
    let (digits, value) = match nanoseconds {
        0 => return,
        _ if nanoseconds % 1_000_000 == 0 => (3, nanoseconds / 1_000_000),
        _ if nanoseconds % 1000 == 0 => (6, nanoseconds / 1000),
        _ => (9, nanoseconds),
    };
    out.push(b'.');
    let start = out.len();
    out.resize(start + digits, b'0');
    let mut rest = value;
    for place in out.iter_mut().skip(start).rev() {
        *place = digit(rest % 10);
        rest /= 10;
    }
}

/// Writes months, days and nanoseconds as a duration of ISO 8601: `P1M2DT3.5S`. Each part has its own sign.
pub(super) fn push_interval(out: &mut Vec<u8>, months: i32, days: i32, nanoseconds: i64) {
    out.push(b'P');
    if months != 0 {
        push_integer(out, months);
        out.push(b'M');
    }
    if days != 0 || months == 0 && nanoseconds == 0 {
        push_integer(out, days);
        out.push(b'D');
    }
    if nanoseconds != 0 {
        out.push(b'T');
        if nanoseconds < 0 {
            out.push(b'-');
        }
        let size = nanoseconds.unsigned_abs();
        push_integer(out, size / 1_000_000_000);
        if !size.is_multiple_of(1_000_000_000) {
            let fraction = format!(".{:09}", size % 1_000_000_000);
            out.extend_from_slice(fraction.trim_end_matches('0').as_bytes());
        }
        out.push(b'S');
    }
}

/// Year, month and day of a day of the Gregorian calendar. Years are counted from March on, so that a leap
/// day comes last, in eras of 400 years. After Howard Hinnant, "chrono-compatible low-level date algorithms".
fn civil(days: i64) -> (i64, i64, i64) {
    // From 0000-03-01; every caller divides by at least the milliseconds of a day, or has 32 bits of days.
    let days = days.saturating_add(719_468);
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

/// Writes a number from 0 to 99 with two digits.
fn push_padded(out: &mut Vec<u8>, number: i64) {
    out.extend_from_slice(&[digit(number / 10), digit(number % 10)]);
}

/// The digit of a number from 0 to 9.
fn digit(number: i64) -> u8 {
    u8::try_from(number).map_or(b'?', |number| b'0' + number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn days_follow_each_other() {
        let is_leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let (mut year, mut month, mut day) = civil(-800_000);
        for days in -799_999..800_000 {
            let last = match month {
                2 => 28 + i64::from(is_leap(year)),
                4 | 6 | 9 | 11 => 30,
                _ => 31,
            };
            day += 1;
            if day > last {
                (day, month) = (1, month + 1);
            }
            if month > 12 {
                (month, year) = (1, year + 1);
            }
            assert_eq!(civil(days), (year, month, day), "{days}");
        }
        assert_eq!(civil(0), (1970, 1, 1));
        assert_eq!(civil(19_783), (2024, 3, 1));
    }

    #[test]
    fn moments_have_the_forms_of_rfc_3339() {
        let moment = |ticks, unit, is_utc| text(|out| push_moment(out, ticks, TicksPerSecond(unit), is_utc));
        assert_eq!(moment(0, 1, true), "1970-01-01T00:00:00Z");
        assert_eq!(moment(1_500, 1000, true), "1970-01-01T00:00:01.500Z");
        assert_eq!(moment(-1, 1_000_000, false), "1969-12-31T23:59:59.999999");
        assert_eq!(moment(i64::MAX, 1_000_000_000, true), "2262-04-11T23:47:16.854775807Z");
        assert_eq!(moment(i64::MIN, 1_000_000_000, true), "1677-09-21T00:12:43.145224192Z");
        assert_eq!(moment(253_402_300_800, 1, true), "+10000-01-01T00:00:00Z");
        assert_eq!(moment(-62_167_219_201, 1, true), "-0001-12-31T23:59:59Z");
        assert_eq!(moment(i64::MAX, 1, true), "+292277026596-12-04T15:30:07Z");
    }

    #[test]
    fn times_and_intervals_keep_their_parts() {
        assert_eq!(text(|out| push_time(out, 3_723_000_001, TicksPerSecond(1_000_000))), "01:02:03.000001");
        assert_eq!(text(|out| push_time(out, -1, TicksPerSecond(1))), "-1:59:59");
        assert_eq!(text(|out| push_interval(out, 0, 0, 0)), "P0D");
        assert_eq!(text(|out| push_interval(out, 14, -3, -1_500_000_000)), "P14M-3DT-1.5S");
        assert_eq!(text(|out| push_interval(out, 0, 0, i64::MIN)), "PT-9223372036.854775808S");
    }
}
