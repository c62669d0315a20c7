//! Dates of mail (RFC 5322, with its obsolete forms) as RFC 3339 in UTC.
//!
//! ```text
//! date = [ day-name "," ] day month year hour ":" minute [ ":" second ] zone
//! zone = ( "+" | "-" ) hhmm | "UT" | "UTC" | "GMT" | "EST" | "EDT" | "CST" | "CDT" | "MST" | "MDT"
//!      | "PST" | "PDT" | letter
//! ```
//! A single letter other than Z says nothing about the zone (RFC 5322, 4.3) and is UTC. A year of two digits
//! is from 1950 to 2049, one of three digits counts from 1900. Comments in parentheses are left out.

const MONTHS: [&[u8]; 12] =
    [b"jan", b"feb", b"mar", b"apr", b"may", b"jun", b"jul", b"aug", b"sep", b"oct", b"nov", b"dec"];

/// The zones of North America, in hours.
const ZONES: [(&[u8], i64); 11] = [
    (b"ut", 0),
    (b"utc", 0),
    (b"gmt", 0),
    (b"est", -5),
    (b"edt", -4),
    (b"cst", -6),
    (b"cdt", -5),
    (b"mst", -7),
    (b"mdt", -6),
    (b"pst", -8),
    (b"pdt", -7),
];

/// Reads a date.
pub(super) fn to_rfc3339(value: &[u8]) -> Option<String> {
    let value = without_comments(value).to_ascii_lowercase();
    let mut words =
        value.split(|byte| byte.is_ascii_whitespace() || *byte == b',').filter(|word| !word.is_empty());
    let mut first = words.next()?;
    if first.first()?.is_ascii_alphabetic() {
        first = words.next()?;
    }
    let day = number(first, 2)?;
    let month_name = words.next()?;
    let month = MONTHS.iter().position(|month| *month == month_name)?;
    let month = i64::try_from(month).ok()? + 1;
    let year = year(words.next()?)?;
    let seconds = time(words.next()?)?;
    let zone = zone(words.next()?)?;
    if words.next().is_some() || day < 1 || day > days_of_month(year, month) {
        return None;
    }
    to_text(days_since_1970(year, month, day) * 86_400 + seconds - zone)
}

fn without_comments(value: &[u8]) -> Vec<u8> {
    let mut depth = 0_u32;
    let mut kept = Vec::with_capacity(value.len());
    for &byte in value {
        match byte {
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            _ if depth == 0 => kept.push(byte),
            _ => {}
        }
    }
    kept
}

fn number(digits: &[u8], digits_max: usize) -> Option<i64> {
    if digits.is_empty() || digits.len() > digits_max || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(digits).ok()?.parse().ok()
}

fn year(digits: &[u8]) -> Option<i64> {
    let year = number(digits, 4)?;
    match digits.len() {
        2 if year < 50 => Some(year + 2000),
        2 | 3 => Some(year + 1900),
        4 => Some(year),
        _ => None,
    }
}

/// The seconds since midnight.
fn time(text: &[u8]) -> Option<i64> {
    let mut parts = text.split(|byte| *byte == b':');
    let hour = number(parts.next()?, 2)?;
    let minute = number(parts.next()?, 2)?;
    let second = parts.next().map_or(Some(0), |second| number(second, 2))?;
    let is_time = hour < 24 && minute < 60 && second <= 60 && parts.next().is_none();
    is_time.then_some(hour * 3_600 + minute * 60 + second)
}

/// The seconds that a zone is ahead of UTC.
fn zone(text: &[u8]) -> Option<i64> {
    let (sign, digits) = match text {
        [b'+', digits @ ..] => (1, digits),
        [b'-', digits @ ..] => (-1, digits),
        [letter] if letter.is_ascii_alphabetic() => return Some(0),
        _ => return ZONES.iter().find(|zone| zone.0 == text).map(|zone| zone.1 * 3_600),
    };
    let zone = number(digits, 4).filter(|zone| digits.len() == 4 && zone % 100 < 60)?;
    Some(sign * (zone / 100 * 3_600 + zone % 100 * 60))
}

fn days_of_month(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Counts years from March, so that the leap day is the last day of a year.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    year * 365 + leap_days + (month * 153 + 2) / 5 + day - 1 - 719_468
}

fn to_text(seconds: i64) -> Option<String> {
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // The estimate is the year or the one after it.
    let estimate = 1970 + (days * 400).div_euclid(146_097) + 1;
    let year = (estimate - 2..=estimate).rev().find(|year| days_since_1970(*year, 1, 1) <= days)?;
    let month = (1..=12).rev().find(|month| days_since_1970(year, *month, 1) <= days)?;
    let day = days - days_since_1970(year, month, 1) + 1;
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    (0..=9_999)
        .contains(&year)
        .then(|| format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z"))
}
