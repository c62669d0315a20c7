//! The dates that lines of syslog and of `journalctl` begin with.
//!
//! ```text
//! date  = Mmm " " day " " [ YYYY " " ] HH ":" MM ":" SS [ "." digits ]           RFC 3164, short-precise
//!       | RFC 3339 with "T"                                                    rsyslog, short-iso
//!       | Www " " YYYY "-" MM "-" DD " " HH ":" MM ":" SS [ "." digits ] [ " " zone ]   short-full
//!       | seconds "." six digits                                               short-unix
//! ```

use crate::record::log::date::{LatestTime, LogDate, YearlessTime, month_of};
use crate::record::log::line::split_word;
use crate::schema::{EpochUnit, parse_epoch};

const NANOSECONDS: i64 = 1_000_000_000;
const NO_ZONE: &str = "date without a zone: read as UTC";

/// The date that a line begins with.
#[derive(Clone, Copy, Debug)]
pub(in crate::record::log) struct LineDate<'r> {
    /// As it is written.
    pub text: &'r [u8],
    /// Nanoseconds since 1970; None if there is no such date.
    pub nanoseconds: Option<i64>,
    /// What was assumed about the date.
    pub remark: Option<&'static str>,
}

impl<'r> LineDate<'r> {
    /// Splits off the date that a line begins with; the rest begins behind the blank or the colon after it.
    pub fn split(line: &'r [u8], latest: &LatestTime) -> Option<(Self, &'r [u8])> {
        match line {
            [b'0'..=b'9', _, _, _, b'-', ..] => {
                let (word, rest) = split_word(line);
                Some((Self::rfc3339(word)?, rest))
            }
            [b'0'..=b'9', ..] => Self::epoch(line),
            [_, _, _, b' ', _, _, _, _, b'-', ..] => Self::full(line),
            [b'A'..=b'Z', _, _, b' ', ..] => Self::month(line, latest),
            _ => None,
        }
    }

    /// Reads a date in RFC 3339 with a time.
    pub fn rfc3339(text: &'r [u8]) -> Option<Self> {
        let date = LogDate::rfc3339(text)?;
        let remark = (!date.has_zone).then_some(NO_ZONE);
        Some(LineDate { text, nanoseconds: Some(date.nanoseconds), remark })
    }

    fn epoch(line: &'r [u8]) -> Option<(Self, &'r [u8])> {
        let (text, rest) = split_word(line);
        let mut parts = text.split(|byte| *byte == b'.');
        let is_digits = |part: Option<&[u8]>, len: &[usize]| {
            part.is_some_and(|part| len.contains(&part.len()) && part.iter().all(u8::is_ascii_digit))
        };
        let is_epoch = is_digits(parts.next(), &[9, 10]) && is_digits(parts.next(), &[6]);
        if !is_epoch || parts.next().is_some() {
            return None;
        }
        let nanoseconds = Some(parse_epoch(text, EpochUnit::Seconds)?);
        Some((LineDate { text, nanoseconds, remark: None }, rest))
    }

    fn full(line: &'r [u8]) -> Option<(Self, &'r [u8])> {
        let weekday = line.get(..3)?;
        if ![b"Mon", b"Tue", b"Wed", b"Thu", b"Fri", b"Sat", b"Sun"].iter().any(|name| *name == weekday) {
            return None;
        }
        let date = line.get(4..)?;
        let day = split_word(date).0.len();
        let clock = day + 1 + split_word(date.get(day + 1..)?).0.len();
        let zone = clock + 1 + split_word(date.get(clock + 1..).unwrap_or_default()).0.len();
        let local = LogDate::rfc3339(date.get(..clock)?)?;
        let zone_text = date.get(clock + 1..zone).unwrap_or_default();
        let zoned = date.get(..zone).and_then(LogDate::rfc3339).filter(|_| !zone_text.is_empty());
        let is_zone = !zone_text.is_empty() && zone_text.iter().all(u8::is_ascii_uppercase);
        let (end, nanoseconds, remark) = match zoned {
            Some(zoned) => (zone, zoned.nanoseconds, None),
            None if is_zone => (zone, local.nanoseconds, Some("date in an unknown zone: read as UTC")),
            None => (clock, local.nanoseconds, Some(NO_ZONE)),
        };
        let text = date.get(..end)?;
        let rest = date.get(end + 1..).unwrap_or_default();
        Some((LineDate { text, nanoseconds: Some(nanoseconds), remark }, rest))
    }

    fn month(line: &'r [u8], latest: &LatestTime) -> Option<(Self, &'r [u8])> {
        let month = month_of(line.get(..3)?)?;
        let (day, rest) = match *line.get(4..)? {
            [b' ', ones, b' ', ref rest @ ..] | [ones, b' ', ref rest @ ..] => (two(b'0', ones)?, rest),
            [tens, ones, b' ', ref rest @ ..] => (two(tens, ones)?, rest),
            _ => return None,
        };
        let (year, rest) = match *rest {
            [y0, y1, y2, y3, b' ', ref rest @ ..] => (Some(two(y0, y1)? * 100 + two(y2, y3)?), rest),
            _ => (None, rest),
        };
        let &[h0, h1, b':', m0, m1, b':', s0, s1, ref behind @ ..] = rest else { return None };
        let (hour, minute, second) = (two(h0, h1)?, two(m0, m1)?, two(s0, s1)?);
        let (fraction, behind) = split_fraction(behind);
        let rest = match behind.split_first() {
            None => behind,
            Some((b' ', rest)) => rest,
            Some((b':', rest)) => rest.strip_prefix(b" ").unwrap_or(rest),
            Some(_) => return None,
        };
        let time = YearlessTime { month, day, second: hour * 3600 + minute * 60 + second };
        let seconds = match year {
            Some(year) => time.in_year(year),
            None => latest.guess(time),
        };
        let seconds = seconds.filter(|_| hour < 24 && minute < 60 && second <= 60);
        let nanoseconds = seconds.and_then(|seconds| seconds.checked_mul(NANOSECONDS)?.checked_add(fraction));
        let text = line.get(..line.len() - behind.len())?;
        let remark = match year {
            Some(_) => NO_ZONE,
            None => "date without a year and a zone: the latest possible year and UTC are assumed",
        };
        Some((LineDate { text, nanoseconds, remark: nanoseconds.is_some().then_some(remark) }, rest))
    }
}

/// Nanoseconds of the fraction of a second that a text may begin with, and the text behind it.
fn split_fraction(text: &[u8]) -> (i64, &[u8]) {
    let Some(digits) = text.strip_prefix(b".") else { return (0, text) };
    let count = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let padded = digits.iter().take(count).chain(&[b'0'; 9]).take(9);
    let nanoseconds = padded.fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0'));
    (nanoseconds, digits.get(count..).unwrap_or_default())
}

/// The number with these two digits.
fn two(tens: u8, ones: u8) -> Option<i64> {
    let digit = |byte: u8| byte.is_ascii_digit().then(|| i64::from(byte - b'0'));
    Some(digit(tens)? * 10 + digit(ones)?)
}
