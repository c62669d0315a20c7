//! Parses dates with names of months, as mails, logs and `date` write them.
//!
//! ```text
//! mail = [ weekday [ "," ] ] day month year clock [ zone ] [ "(" comment ")" ]      RFC 5322, HTTP
//! date = weekday month day clock [ zone ] year | weekday month day clock year [ zone ]   asctime, date, git
//! log  = [ "[" ] day "/" month "/" year ":" clock [ " " zone ] [ "]" ]               common log format
//! ```
//!
//! Names are English, with three letters or in full, in either case. A year of two digits is in 1950 to 2049.
//! A weekday is not compared with the date.
//!
//! [`parse_mail`] also reads the obsolete forms of RFC 5322: comments and commas anywhere, years of three
//! digits from 1900 on, letters as zones, times such as `1:2:3`, leap seconds, and any word as a weekday.
//! They would be a risk where it is not known that a text is a date.

use super::calendar::{UnixTime, checked_day, four, two};
use super::clock::{parse_clock, parse_lenient_clock, parse_mail_zone, parse_zone};

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

/// Like [`year`], but counts a year of three digits from 1900.
fn mail_year(digits: &[u8]) -> Option<i64> {
    match *digits {
        [y0, y1, y2] => Some(1900 + four(&[b'0', y0, y1, y2])?),
        _ => year(digits),
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

impl<'t> Parts<'t> {
    /// The parts of a date whose words have no weekday in front.
    fn of(words: &[&'t [u8]]) -> Option<Self> {
        Some(match *words {
            [month, day, clock, year] if is_name(month) => Parts { day, month, year, clock, zone: b"" },
            [day, month, year, clock] => Parts { day, month, year, clock, zone: b"" },
            [day, month, year, clock, zone] if !is_name(day) => Parts { day, month, year, clock, zone },
            [month, day, clock, year, zone] if year.len() == 4 && is_number(year) => {
                Parts { day, month, year, clock, zone }
            }
            [month, day, clock, zone, year] => Parts { day, month, year, clock, zone },
            _ => return None,
        })
    }

    fn moment(&self) -> Option<UnixTime> {
        let days = checked_day(year(self.year)?, month(self.month)?, day(self.day)?)?;
        let (clock, rest) = parse_clock(self.clock)?;
        let ahead = parse_zone(self.zone).filter(|_| rest.is_empty())?;
        Some(UnixTime::new(days, clock.second - ahead, clock.nanosecond))
    }

    /// Like [`Parts::moment`], with the obsolete forms.
    fn mail_moment(&self) -> Option<UnixTime> {
        let days = checked_day(mail_year(self.year)?, month(self.month)?, day(self.day)?)?;
        let (clock, rest) = parse_lenient_clock(self.clock)?;
        let ahead = parse_mail_zone(self.zone).filter(|_| rest.is_empty())?;
        Some(UnixTime::new(days, clock.second - ahead, clock.nanosecond))
    }
}

/// The most words of a date.
const MOST_WORDS: usize = 6;

/// The words of a date.
#[derive(Default)]
struct DateWords<'t> {
    words: [&'t [u8]; MOST_WORDS],
    count: usize,
}

impl<'t> DateWords<'t> {
    /// Splits a text; `None` if it has more words than a date.
    fn split(text: &'t [u8]) -> Option<Self> {
        let mut split = DateWords::default();
        for word in text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()) {
            *split.words.get_mut(split.count)? = word;
            split.count += 1;
        }
        Some(split)
    }

    fn all(&self) -> &[&'t [u8]] {
        self.words.get(..self.count).unwrap_or_default()
    }
}

/// Parses a date of mails, logs or `date`.
pub(super) fn parse(text: &[u8]) -> Option<UnixTime> {
    parse_log(text).or_else(|| parse_words(text))
}

/// Parses a date of the common log format.
pub(super) fn parse_log(text: &[u8]) -> Option<UnixTime> {
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

/// Parses a date in RFC 5322, or as `date` and `asctime` write it.
fn parse_words(text: &[u8]) -> Option<UnixTime> {
    let text = match text.iter().position(|byte| *byte == b'(') {
        Some(comment) if text.ends_with(b")") => text.get(..comment)?,
        _ => text,
    };
    let words = DateWords::split(text)?;
    let (first, rest) = words.all().split_first()?;
    let is_weekday = is_weekday(first.strip_suffix(b",").unwrap_or(first));
    Parts::of(if is_weekday { rest } else { words.all() })?.moment()
}

/// Like [`parse_words`], with the obsolete forms.
pub(super) fn parse_mail(text: &[u8]) -> Option<UnixTime> {
    let text = without_comments(text);
    let words = DateWords::split(&text)?;
    let (first, rest) = words.all().split_first()?;
    // In `Mar, 2 Jan 2024`, the first word is not a month, but a weekday in Spanish.
    let is_before_day = is_name(first) && rest.get(1).is_some_and(|second| is_name(second));
    Parts::of(if is_before_day || is_weekday(first) { rest } else { words.all() })?.mail_moment()
}

/// A text without comments, which may be nested, and with blanks for commas.
fn without_comments(text: &[u8]) -> Vec<u8> {
    let mut depth = 0_u32;
    let mut kept = Vec::with_capacity(text.len());
    for &byte in text {
        match byte {
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            _ if depth > 0 => {}
            b',' => kept.push(b' '),
            _ => kept.push(byte),
        }
    }
    kept
}

fn is_weekday(name: &[u8]) -> bool {
    place_of(name, &WEEKDAYS).is_some()
}

fn is_name(word: &[u8]) -> bool {
    word.first().is_some_and(u8::is_ascii_alphabetic)
}

fn is_number(word: &[u8]) -> bool {
    word.iter().all(u8::is_ascii_digit)
}
