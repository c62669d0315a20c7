//! Parses and formats dates; a date is a number of nanoseconds since 1970.
//!
//! [`parse_date`] reads dates in RFC 3339 and the forms that other programs make of it:
//!
//! ```text
//! date   = day [ ("T" | "t" | " " | "+") clock [ [ " " ] zone ] ]
//! day    = YYYY "-" MM "-" DD | YYYY "/" MM "/" DD | YYYYMMDD, with a clock behind "T"
//! clock  = HH ":" MM [ ":" SS ] [ ("." | ",") digits ] | HHMMSS
//! zone   = "Z" | "GMT" | ("+" | "-") HH [ [ ":" ] MM ] …
//! ```
//!
//! and dates with names of months (`named.rs`): RFC 2822, `date`, and the common log format. A number is not
//! a date, because its unit is unknown; [`parse_epoch`] reads numbers (`epoch.rs`).
//!
//! A date without a zone is in UTC; a date without a time is midnight. All years use the Gregorian calendar.
//! Digits beyond nanoseconds are ignored. These dates are invalid: leap seconds (60), since timestamps cannot
//! represent them; days that the month does not have; and dates that do not fit 64 bits, before
//! 1677-09-21T00:12:43.145224192Z or after 2262-04-11T23:47:16.854775807Z.

mod calendar;
mod clock;
mod epoch;
mod named;
#[cfg(test)]
mod tests;

use calendar::{UnixTime, checked_day, four, two};
pub(crate) use calendar::{day_of, days_since_1970};
use clock::{DayTime, parse_clock, parse_lenient_clock, parse_zone};
pub use epoch::{EpochUnit, parse_epoch};

/// Parses a date, as in `2024-03-01` or `Fri, 1 Mar 2024 10:20:30 +0100`; returns nanoseconds since 1970 in
/// UTC, or `None` for invalid text.
///
/// ```
/// use scanns::schema::parse_date;
///
/// assert_eq!(parse_date(b"1970-01-02"), Some(86_400_000_000_000));
/// assert_eq!(parse_date(b"1970-01-01T01:00:00.5+01:00"), Some(500_000_000));
/// assert_eq!(parse_date(b"01/Jan/1970:00:00:01 +0000"), Some(1_000_000_000));
/// assert_eq!(parse_date(b"1970-02-29"), None);
/// ```
pub fn parse_date(text: &[u8]) -> Option<i64> {
    read_rfc3339(text, parse_clock).or_else(|| named::parse(text))?.nanoseconds()
}

/// Parses a date in RFC 2822 or 5322 with their obsolete forms, as mails have it, or as `date` writes it.
pub(crate) fn parse_rfc2822(text: &[u8]) -> Option<i64> {
    named::parse_mail(text)?.nanoseconds()
}

/// A date that [`parse_rfc2822`] reads, in RFC 3339 and UTC. It may be one that does not fit 64 bits.
pub(crate) fn rfc2822_in_rfc3339(text: &[u8]) -> Option<String> {
    named::parse_mail(text)?.in_rfc3339()
}

/// Parses a date of the common log format.
pub(crate) fn parse_log_date(text: &[u8]) -> Option<i64> {
    named::parse_log(text)?.nanoseconds()
}

/// Parses a date in RFC 3339 or a form that is close to it.
pub(crate) fn parse_rfc3339(text: &[u8]) -> Option<i64> {
    read_rfc3339(text, parse_clock)?.nanoseconds()
}

/// True for a date with a time and a zone as RFC 3339 defines them, which may be in a leap second or may not
/// fit 64 bits.
pub(crate) fn is_rfc3339(text: &[u8]) -> bool {
    let [_, _, _, _, b'-', _, _, b'-', _, _, b'T' | b't' | b' ', time @ ..] = text else { return false };
    let clock = match time {
        [clock @ .., b'Z' | b'z'] | [clock @ .., b'+' | b'-', _, _, b':', _, _] => clock,
        _ => return false,
    };
    let is_full = matches!(
        clock,
        [_, _, b':', _, _, b':', _, _] | [_, _, b':', _, _, b':', _, _, b'.', .., b'0'..=b'9']
    );
    is_full && read_rfc3339(text, parse_lenient_clock).is_some()
}

/// Reads the time of day at the start of a text, and returns the rest.
type ReadClock = fn(&[u8]) -> Option<(DayTime, &[u8])>;

/// Reads a date in RFC 3339 or a form that is close to it, with `clock` for its time.
fn read_rfc3339(text: &[u8], clock: ReadClock) -> Option<UnixTime> {
    let (days, rest) = parse_day(text)?;
    let (clock, rest) = match rest.split_first() {
        None => return Some(UnixTime::new(days, 0, 0)),
        Some((b'T' | b't' | b' ' | b'+', time)) => clock(time)?,
        Some(_) => return None,
    };
    let ahead = parse_zone(rest.strip_prefix(b" ").filter(|zone| !zone.is_empty()).unwrap_or(rest))?;
    Some(UnixTime::new(days, clock.second - ahead, clock.nanosecond))
}

/// Days since 1970 of the day at the start of a text, and the text behind it.
fn parse_day(text: &[u8]) -> Option<(i64, &[u8])> {
    let (year, rest) = text.split_at_checked(4)?;
    let (month, day, rest) = match *rest {
        [b'-', m0, m1, b'-', d0, d1, ref rest @ ..] | [b'/', m0, m1, b'/', d0, d1, ref rest @ ..] => {
            (two(m0, m1)?, two(d0, d1)?, rest)
        }
        // Eight digits alone may be any number.
        [m0, m1, d0, d1, ref rest @ ..] if matches!(rest, [b'T' | b't', ..]) => {
            (two(m0, m1)?, two(d0, d1)?, rest)
        }
        _ => return None,
    };
    Some((checked_day(four(year)?, month, day)?, rest))
}

/// Formats a date in RFC 3339 in UTC, with 0, 3, 6 or 9 digits of a second, as needed.
///
/// ```
/// assert_eq!(scanns::schema::format_date(1_500_000_000), "1970-01-01T00:00:01.500Z");
/// ```
pub fn format_date(nanoseconds: i64) -> String {
    UnixTime::from_nanoseconds(nanoseconds).in_rfc3339().unwrap_or_default()
}
