//! Parses dates with names of months, as mails, logs and `date` write them.
//!
//! ```text
//! mail = [ weekday [ "," ] ] day month year clock [ zone ] [ "(" comment ")" ]      RFC 2822, HTTP
//! date = weekday month day clock [ zone ] year | weekday month day clock year [ zone ]   asctime, date, git
//! log  = [ "[" ] day "/" month "/" year ":" clock [ " " zone ] [ "]" ]               common log format
//! ```
//!
//! Names are English, with three letters or in full, in either case. A year of two digits is in 1950 to 2049.
//! A weekday is not compared with the date.

use super::calendar::{checked_day, four, moment, two};
use super::clock::{parse_clock, parse_zone};

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

const WEEKDAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// The place of a name in a list, from 0; names have three letters or are complete.
fn place_of(name: &[u8], names: &[&str]) -> Option<usize> {
    let is = |full: &&str| {
        full.as_bytes().eq_ignore_ascii_case(name)
            || name.len() == 3
                && full.as_bytes().get(..3).is_some_and(|short| short.eq_ignore_ascii_case(name))
    };
    names.iter().position(is)
}

fn month(name: &[u8]) -> Option<i64> {
    place_of(name, &MONTHS).and_then(|place| i64::try_from(place + 1).ok())
}

/// A day of one or two digits.
fn day(digits: &[u8]) -> Option<i64> {
    match *digits {
        [one] => two(b'0', one),
        [tens, ones] => two(tens, ones),
        _ => None,
    }
}

/// A year of four or two digits.
fn year(digits: &[u8]) -> Option<i64> {
    match *digits {
        [tens, ones] => two(tens, ones).map(|year| if year < 50 { 2000 + year } else { 1900 + year }),
        _ => four(digits),
    }
}

/// The parts of a date.
struct Parts<'t> {
    day: &'t [u8],
    month: &'t [u8],
    year: &'t [u8],
    clock: &'t [u8],
    zone: &'t [u8],
}

impl Parts<'_> {
    fn moment(&self) -> Option<i64> {
        let days = checked_day(year(self.year)?, month(self.month)?, day(self.day)?)?;
        let (clock, rest) = parse_clock(self.clock)?;
        let ahead = parse_zone(self.zone).filter(|_| rest.is_empty())?;
        moment(days, clock.second - ahead, clock.nanosecond)
    }
}

/// Parses a date of mails, logs or `date`; returns nanoseconds since 1970 in UTC.
pub(super) fn parse(text: &[u8]) -> Option<i64> {
    parse_log(text).or_else(|| parse_words(text))
}

/// Parses a date of the common log format.
pub(super) fn parse_log(text: &[u8]) -> Option<i64> {
    let text = match text {
        [b'[', inner @ .., b']'] => inner,
        plain => plain,
    };
    let mut parts = text.splitn(3, |byte| *byte == b'/');
    let (day, month, rest) = (parts.next()?, parts.next()?, parts.next()?);
    let (year, rest) = rest.split_at_checked(4)?;
    let rest = rest.strip_prefix(b":")?;
    let mut words = rest.splitn(2, |byte| *byte == b' ');
    let (clock, zone) = (words.next()?, words.next().unwrap_or_default());
    Parts { day, month, year, clock, zone }.moment()
}

/// Parses a date in RFC 2822, or as `date` and `asctime` write it.
pub(super) fn parse_words(text: &[u8]) -> Option<i64> {
    let text = match text.iter().position(|byte| *byte == b'(') {
        Some(comment) if text.ends_with(b")") => text.get(..comment)?,
        _ => text,
    };
    let mut words: [&[u8]; 6] = [&[]; 6];
    let mut count = 0;
    for word in text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()) {
        *words.get_mut(count)? = word;
        count += 1;
    }
    let words = words.get(..count)?;
    let words = match words {
        [first, rest @ ..] => {
            let name = first.strip_suffix(b",").unwrap_or(first);
            if place_of(name, &WEEKDAYS).is_some() { rest } else { words }
        }
        [] => return None,
    };
    let parts = match *words {
        [month, day, clock, year] if is_name(month) => Parts { day, month, year, clock, zone: b"" },
        [day, month, year, clock] => Parts { day, month, year, clock, zone: b"" },
        [day, month, year, clock, zone] if !is_name(day) => Parts { day, month, year, clock, zone },
        [month, day, clock, year, zone] if year.len() == 4 && is_number(year) => {
            Parts { day, month, year, clock, zone }
        }
        [month, day, clock, zone, year] => Parts { day, month, year, clock, zone },
        _ => return None,
    };
    parts.moment()
}

fn is_name(word: &[u8]) -> bool {
    word.first().is_some_and(u8::is_ascii_alphabetic)
}

fn is_number(word: &[u8]) -> bool {
    word.iter().all(u8::is_ascii_digit)
}
