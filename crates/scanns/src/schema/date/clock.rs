//! Parses the time of a day and the zone behind it.

use super::calendar::two;

/// The seconds by which the local time of a named zone is ahead of UTC. RFC 2822 defines these names.
const ZONES: [(&str, i64); 12] = [
    ("z", 0),
    ("utc", 0),
    ("gmt", 0),
    ("ut", 0),
    ("est", -5 * 3600),
    ("edt", -4 * 3600),
    ("cst", -6 * 3600),
    ("cdt", -5 * 3600),
    ("mst", -7 * 3600),
    ("mdt", -6 * 3600),
    ("pst", -8 * 3600),
    ("pdt", -7 * 3600),
];

/// The time of a day.
pub(super) struct DayTime {
    /// Seconds since midnight.
    pub(super) second: i64,
    pub(super) nanosecond: i64,
}

/// The numbers of a time of a day, which may be too large, and the text behind them.
struct ClockNumbers<'t> {
    hour: i64,
    minute: i64,
    second: i64,
    rest: &'t [u8],
}

/// Parses `HH:MM`, `HH:MM:SS`, or `HHMMSS`, perhaps with a fraction of a second behind `.` or `,`. Digits
/// beyond nanoseconds are ignored. Also returns the text behind the time.
pub(super) fn parse_clock(text: &[u8]) -> Option<(DayTime, &[u8])> {
    day_time(two_digits(text)?, 59)
}

/// Like [`parse_clock`], but reads numbers of one digit, too, and leap seconds, which are the first second of
/// the next minute.
pub(super) fn parse_lenient_clock(text: &[u8]) -> Option<(DayTime, &[u8])> {
    day_time(one_or_two_digits(text).or_else(|| two_digits(text))?, 60)
}

fn two_digits(text: &[u8]) -> Option<ClockNumbers<'_>> {
    let (hour, minute, second, rest) = match *text {
        [h0, h1, b':', m0, m1, b':', s0, s1, ref rest @ ..] | [h0, h1, m0, m1, s0, s1, ref rest @ ..]
            if m0 != b':' =>
        {
            (two(h0, h1)?, two(m0, m1)?, two(s0, s1)?, rest)
        }
        [h0, h1, b':', m0, m1, ref rest @ ..] => (two(h0, h1)?, two(m0, m1)?, 0, rest),
        _ => return None,
    };
    Some(ClockNumbers { hour, minute, second, rest })
}

fn one_or_two_digits(text: &[u8]) -> Option<ClockNumbers<'_>> {
    let (hour, rest) = short_number(text)?;
    let (minute, rest) = short_number(rest.strip_prefix(b":")?)?;
    let (second, rest) = match rest.strip_prefix(b":") {
        Some(rest) => short_number(rest)?,
        None => (0, rest),
    };
    Some(ClockNumbers { hour, minute, second, rest })
}

/// A number of one or two digits, and the text behind it.
fn short_number(text: &[u8]) -> Option<(i64, &[u8])> {
    match *text {
        [tens, ones, ref rest @ ..] if ones.is_ascii_digit() => Some((two(tens, ones)?, rest)),
        [ones, ref rest @ ..] => Some((two(b'0', ones)?, rest)),
        [] => None,
    }
}

/// The time of a day, with the fraction of a second that may follow, and the text behind both.
fn day_time(numbers: ClockNumbers<'_>, last_second: i64) -> Option<(DayTime, &[u8])> {
    let ClockNumbers { hour, minute, second, rest } = numbers;
    if hour > 23 || minute > 59 || second > last_second {
        return None;
    }
    let (nanosecond, rest) = match rest.split_first() {
        Some((b'.' | b',', fraction)) => {
            let digits = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let (digits, rest) = fraction.split_at_checked(digits).filter(|_| digits > 0)?;
            let padded = digits.iter().chain(&[b'0'; 9]).take(9);
            (padded.fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0')), rest)
        }
        _ => (0, rest),
    };
    Some((DayTime { second: hour * 3600 + minute * 60 + second, nanosecond }, rest))
}

/// The seconds by which the local time of a zone is ahead of UTC: `+HH:MM`, `+HHMM`, `+HH`, or a name such as
/// `Z`, `GMT` or `EST`. No zone is UTC.
pub(super) fn parse_zone(text: &[u8]) -> Option<i64> {
    let offset = |sign: u8, hours: i64, minutes: i64| {
        (hours <= 23 && minutes <= 59).then(|| ahead_of_utc(sign, hours, minutes))
    };
    match *text {
        [] => Some(0),
        [sign @ (b'+' | b'-'), h0, h1, b':', m0, m1] | [sign @ (b'+' | b'-'), h0, h1, m0, m1] => {
            offset(sign, two(h0, h1)?, two(m0, m1)?)
        }
        [sign @ (b'+' | b'-'), h0, h1] => offset(sign, two(h0, h1)?, 0),
        _ => {
            let known = ZONES.iter().find(|(name, _)| name.as_bytes().eq_ignore_ascii_case(text));
            known.map(|(_, ahead)| *ahead)
        }
    }
}

/// Like [`parse_zone`], but with the zones of RFC 5322 that clocks do not have: up to 99 hours, and single
/// letters. A letter does not say what the zone is (section 4.3), so it is UTC.
pub(super) fn parse_mail_zone(text: &[u8]) -> Option<i64> {
    match *text {
        [letter] if letter.is_ascii_alphabetic() => Some(0),
        [sign @ (b'+' | b'-'), h0, h1, m0, m1] => {
            let (hours, minutes) = (two(h0, h1)?, two(m0, m1)?);
            (minutes <= 59).then(|| ahead_of_utc(sign, hours, minutes))
        }
        _ => parse_zone(text),
    }
}

fn ahead_of_utc(sign: u8, hours: i64, minutes: i64) -> i64 {
    let ahead = hours * 3600 + minutes * 60;
    if sign == b'+' { ahead } else { -ahead }
}
