//! Parses and formats dates; a date is a number of nanoseconds since 1970.
//!
//! Dates are accepted in RFC 3339, and in shorter forms:
//!
//! ```text
//! date   = day [ ("T" | "t" | " ") time [ zone ] ]
//! day    = YYYY "-" MM "-" DD
//! time   = HH ":" MM ":" SS [ "." 1 to 9 digits ]
//! zone   = "Z" | "z" | ("+" | "-") HH ":" MM
//! ```
//!
//! A date without a zone is in UTC; a date without a time is midnight. All years use the Gregorian calendar.
//! These dates are invalid: leap seconds (60), since timestamps cannot represent them; days that the month
//! does not have; and dates that do not fit 64 bits, before 1677-09-21T00:12:43.145224192Z or after
//! 2262-04-11T23:47:16.854775807Z.

const NANOSECONDS: i64 = 1_000_000_000;
const SECONDS_OF_DAY: i64 = 86_400;

/// Days in 400 years, after which the calendar repeats.
const DAYS_OF_ERA: i64 = 146_097;

/// Days from the first of March of the year 0 to 1970.
const DAYS_TO_1970: i64 = 719_468;

/// Parses a date in RFC 3339 or a shorter form, as in `2024-03-01`; returns nanoseconds since 1970 in UTC, or
/// `None` for invalid text.
///
/// ```
/// assert_eq!(scanns::schema::parse_date(b"1970-01-02"), Some(86_400_000_000_000));
/// assert_eq!(scanns::schema::parse_date(b"1970-01-01T01:00:00.5+01:00"), Some(500_000_000));
/// assert_eq!(scanns::schema::parse_date(b"1970-02-29"), None);
/// ```
pub fn parse_date(text: &[u8]) -> Option<i64> {
    let (day, rest) = text.split_at_checked(10)?;
    let days = parse_day(day)?;
    let (second, nanosecond) = match rest.split_first() {
        None => (0, 0),
        Some((b'T' | b't' | b' ', time)) => parse_time(time)?,
        Some(_) => return None,
    };
    // Before 1970, the seconds alone may be just below the range of 64 bits although the sum is within it.
    let seconds = i128::from(days * SECONDS_OF_DAY + second);
    i64::try_from(seconds * i128::from(NANOSECONDS) + i128::from(nanosecond)).ok()
}

/// Days since 1970 of `YYYY-MM-DD`.
fn parse_day(text: &[u8]) -> Option<i64> {
    let &[y0, y1, y2, y3, b'-', m0, m1, b'-', d0, d1] = text else { return None };
    let (year, month, day) = (two(y0, y1)? * 100 + two(y2, y3)?, two(m0, m1)?, two(d0, d1)?);
    let longest = match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    (1..=longest).contains(&day).then(|| days_since_1970(year, month, day))
}

/// Seconds since midnight in UTC, which may be negative or more than a day, and nanoseconds.
fn parse_time(text: &[u8]) -> Option<(i64, i64)> {
    let (time, mut rest) = text.split_at_checked(8)?;
    let &[h0, h1, b':', m0, m1, b':', s0, s1] = time else { return None };
    let (hour, minute, second) = (two(h0, h1)?, two(m0, m1)?, two(s0, s1)?);
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let mut nanosecond = 0;
    if let Some((b'.', fraction)) = rest.split_first() {
        let digits = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (digits, after) = fraction.split_at_checked(digits)?;
        if !(1..=9).contains(&digits.len()) {
            return None;
        }
        let padded = digits.iter().chain(&[b'0'; 9]).take(9);
        nanosecond = padded.fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0'));
        rest = after;
    }
    let ahead = match *rest {
        [] | [b'Z' | b'z'] => 0,
        [sign @ (b'+' | b'-'), h0, h1, b':', m0, m1] => {
            let (hours, minutes) = (two(h0, h1)?, two(m0, m1)?);
            if hours > 23 || minutes > 59 {
                return None;
            }
            let ahead = hours * 3600 + minutes * 60;
            if sign == b'+' { ahead } else { -ahead }
        }
        _ => return None,
    };
    Some((hour * 3600 + minute * 60 + second - ahead, nanosecond))
}

/// The number with these two digits.
fn two(tens: u8, ones: u8) -> Option<i64> {
    let digit = |byte: u8| byte.is_ascii_digit().then(|| i64::from(byte - b'0'));
    Some(digit(tens)? * 10 + digit(ones)?)
}

/// Days since 1970 of a day of the Gregorian calendar.
///
/// Years begin in March here, so that the leap day is the last day. Then months have 30.6 days, rounded down
/// to the right lengths (H. Hinnant, "chrono-compatible low-level date algorithms").
pub(crate) fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * DAYS_OF_ERA + of_era * 365 + of_era / 4 - of_era / 100 + of_year - DAYS_TO_1970
}

/// Year, month and day of a number of days since 1970.
pub(crate) fn day_of(days: i64) -> (i64, i64, i64) {
    let days = days + DAYS_TO_1970;
    let (era, of_era) = (days.div_euclid(DAYS_OF_ERA), days.rem_euclid(DAYS_OF_ERA));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * march + 2) / 5 + 1;
    let month = if march < 10 { march + 3 } else { march - 9 };
    (era * 400 + year + i64::from(month <= 2), month, day)
}

/// Formats a date in RFC 3339 in UTC, with 0, 3, 6 or 9 digits of a second, as needed.
///
/// ```
/// assert_eq!(scanns::schema::format_date(1_500_000_000), "1970-01-01T00:00:01.500Z");
/// ```
pub fn format_date(nanoseconds: i64) -> String {
    let (seconds, fraction) = (nanoseconds.div_euclid(NANOSECONDS), nanoseconds.rem_euclid(NANOSECONDS));
    let (days, second) = (seconds.div_euclid(SECONDS_OF_DAY), seconds.rem_euclid(SECONDS_OF_DAY));
    let (year, month, day) = day_of(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    let fraction = match fraction {
        0 => String::new(),
        _ if fraction % 1_000_000 == 0 => format!(".{:03}", fraction / 1_000_000),
        _ if fraction % 1000 == 0 => format!(".{:06}", fraction / 1000),
        _ => format!(".{fraction:09}"),
    };
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A slow calendar: returns the day after a day.
    fn next_day(year: i64, month: i64, day: i64) -> (i64, i64, i64) {
        let leap = year % 400 == 0 || year % 4 == 0 && year % 100 != 0;
        let days = [31, if leap { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
        let last = days[usize::try_from(month).unwrap() - 1];
        match (day == last, month) {
            (false, _) => (year, month, day + 1),
            (true, 12) => (year + 1, 1, 1),
            (true, _) => (year, month + 1, 1),
        }
    }

    #[test]
    fn every_day_is_where_a_slow_calendar_has_it() {
        let mut date = (1970, 1, 1);
        let mut numbers = std::collections::HashMap::new();
        // Go backwards by two eras. The calendar repeats after each era, so days of 1970 - 800 are the days
        // of 1970, shifted.
        for number in -2 * DAYS_OF_ERA..2 * DAYS_OF_ERA {
            let (year, month, day) = date;
            let shifted = (year - 800, month, day);
            assert_eq!(days_since_1970(shifted.0, month, day), number, "{shifted:?}");
            assert_eq!(day_of(number), shifted);
            numbers.insert(shifted, number);
            date = next_day(year, month, day);
        }
        for year in 1600..=2300 {
            for (month, day) in (0..=13).flat_map(|month| (0..=32).map(move |day| (month, day))) {
                let text = format!("{year:04}-{month:02}-{day:02}");
                let expected = numbers.get(&(year, month, day));
                assert_eq!(parse_day(text.as_bytes()), expected.copied(), "{text}");
                let nanoseconds = expected.and_then(|days| days.checked_mul(SECONDS_OF_DAY * NANOSECONDS));
                assert_eq!(parse_date(text.as_bytes()), nanoseconds, "{text}");
            }
        }
    }

    #[test]
    fn every_form_is_read() {
        for (text, seconds, nanoseconds) in [
            ("1970-01-01", 0, 0),
            ("1970-01-01T00:00:00Z", 0, 0),
            ("1970-01-01 00:00:01", 1, 0),
            ("1970-01-01t00:01:00z", 60, 0),
            ("1970-01-01T00:00:00.000000001", 0, 1),
            ("1970-01-01T00:00:00.1Z", 0, 100_000_000),
            ("1970-01-01T01:30:00+01:30", 0, 0),
            ("1969-12-31T23:00:00.25-01:00", 0, 250_000_000),
            ("1969-12-31T23:59:59.999999999Z", -1, 999_999_999),
            ("2000-02-29T12:00:00Z", 951_825_600, 0),
            ("2038-01-19T03:14:08+00:00", 1 << 31, 0),
        ] {
            assert_eq!(parse_date(text.as_bytes()), Some(seconds * NANOSECONDS + nanoseconds), "{text}");
        }
        assert_eq!(parse_date(b"1677-09-21T00:12:43.145224192Z"), Some(i64::MIN));
        assert_eq!(parse_date(b"2262-04-11T23:47:16.854775807Z"), Some(i64::MAX));
        assert_eq!(parse_date(b"2262-04-12T00:47:16.854775807+01:00"), Some(i64::MAX));
    }

    #[test]
    fn what_is_no_date_is_refused() {
        for text in [
            "",
            "1970",
            "1970-1-1",
            "1970-01",
            "70-01-01",
            "+1970-01-01",
            "1970/01/01",
            "1970-01-01T",
            "1970-01-01Z",
            "1970-01-01T00:00",
            "1970-01-01T00:00Z",
            "1970-01-01T24:00:00",
            "1970-01-01T00:60:00",
            "1970-01-01T00:00:60Z",
            "2016-12-31T23:59:60Z",
            "1970-01-01T00:00:00.",
            "1970-01-01T00:00:00.Z",
            "1970-01-01T00:00:00.0000000000",
            "1970-01-01T00:00:00,5",
            "1970-01-01T00:00:00 Z",
            "1970-01-01T00:00:00+1:00",
            "1970-01-01T00:00:00+0100",
            "1970-01-01T00:00:00+24:00",
            "1970-01-01T00:00:00+00:60",
            "1970-01-01T00:00:00ZZ",
            "1970-01-01  00:00:00",
            " 1970-01-01",
            "1970-01-01 ",
            "1970-02-29",
            "1900-02-29",
            "1677-09-21T00:12:43.145224191Z",
            "2262-04-11T23:47:16.854775808Z",
            "0000-01-01",
            "9999-12-31",
            "١٩٧٠-٠١-٠١",
        ] {
            assert_eq!(parse_date(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn what_is_written_reads_back_and_no_bytes_do_harm() {
        let seed = 0x5eed_da7e;
        let mut random = fastrand::Rng::with_seed(seed);
        for round in 0..20_000 {
            let unit = [1, 1000, 1_000_000, NANOSECONDS][random.usize(..4)];
            let date = match round {
                0 => i64::MIN,
                1 => i64::MAX,
                2 => 0,
                _ => (random.i64(..) >> random.u32(..60)) / unit * unit,
            };
            let mut text = format_date(date).into_bytes();
            assert_eq!(parse_date(&text), Some(date), "seed {seed:x} round {round} date {date}");
            let at = random.usize(..text.len());
            text[at] = random.u8(..);
            text.truncate(random.usize(..=text.len()));
            if let Some(other) = parse_date(&text) {
                assert_eq!(parse_date(format_date(other).as_bytes()), Some(other), "seed {seed:x} {round}");
            }
        }
        assert_eq!(format_date(-1), "1969-12-31T23:59:59.999999999Z");
        assert_eq!(format_date(1_000), "1970-01-01T00:00:00.000001Z");
    }
}
