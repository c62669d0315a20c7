//! Literals in queries: `1.5GiB`, `2024-03`, `now-30d`, `true`.
//!
//! A date may be incomplete, and then means a whole year, month, day, hour or minute; comparisons by the
//! caller use the appropriate end. A date with seconds is one moment. Hyphens may be left out of a day:
//! `20240301`. `today`, `yesterday` and `tomorrow` are days in UTC. `now` is the time of the query. A number
//! of seconds, minutes, hours, days, weeks, months or years can be added to it or subtracted from it:
//! `now-90m`, `now-6mo`, `now-1y` (a year is 365 days; a month ends at the same time of the same day of
//! another month, or on its last day).

use std::time::{SystemTime, UNIX_EPOCH};

use super::date::{day_of, days_since_1970};
use super::{FieldKind, Value, parse_date};

const SECOND: i64 = 1_000_000_000;

const DAY: i64 = 86_400 * SECOND;

/// Units of sizes: powers of 1024 as a single letter or with an `i`, powers of 1000 with only a `b`.
const UNITS: [(&str, u64); 18] = [
    ("kib", 1 << 10),
    ("mib", 1 << 20),
    ("gib", 1 << 30),
    ("tib", 1 << 40),
    ("pib", 1 << 50),
    ("eib", 1 << 60),
    ("kb", 1_000),
    ("mb", 1_000_000),
    ("gb", 1_000_000_000),
    ("tb", 1_000_000_000_000),
    ("pb", 1_000_000_000_000_000),
    ("b", 1),
    ("k", 1 << 10),
    ("m", 1 << 20),
    ("g", 1 << 30),
    ("t", 1 << 40),
    ("p", 1 << 50),
    ("e", 1 << 60),
];

/// The least and the greatest value that a text means in a field of this kind.
///
/// # Errors
/// A description of the expected text.
pub(crate) fn literal(kind: &FieldKind, text: &str) -> Result<(Value, Value), String> {
    let alone = |value: Value| (value.clone(), value);
    match kind {
        FieldKind::Unsigned => unsigned(text).map(Value::Unsigned).map(alone),
        FieldKind::Signed => signed(text).map(Value::Signed).map(alone),
        FieldKind::Float => float(text).map(Value::Float).map(alone),
        FieldKind::Boolean => match text.to_ascii_lowercase().as_str() {
            "true" | "yes" | "1" => Some(alone(Value::Boolean(true))),
            "false" | "no" | "0" => Some(alone(Value::Boolean(false))),
            _ => None,
        },
        FieldKind::Date => date(text).map(|(first, last)| (Value::Date(first), Value::Date(last))),
        FieldKind::Keyword | FieldKind::Path | FieldKind::Text { .. } => {
            Some(alone(Value::Text(text.as_bytes().to_vec())))
        }
        FieldKind::Bytes => Some(alone(Value::Bytes(text.as_bytes().to_vec()))),
    }
    .ok_or_else(|| {
        match kind {
            FieldKind::Unsigned => {
                "write a whole number that is not negative, perhaps with a unit: 5, 500k, 1.5GiB"
            }
            FieldKind::Signed => "write a whole number, perhaps with a unit: -5, 500k, 1.5GiB",
            FieldKind::Float => "write a number such as 2, -0.5 or 1e9",
            FieldKind::Boolean => "write true or false",
            _ => "write a date such as 2024, 2024-03, 2024-03-01, 2024-03-01T10:30:00Z, today or now-30d",
        }
        .into()
    })
}

/// A number and the factor of its unit.
fn with_unit(text: &str) -> (&str, u64) {
    let lower = text.to_ascii_lowercase();
    let unit = UNITS.iter().find(|(unit, _)| lower.ends_with(unit));
    match unit {
        Some((unit, factor)) => (text.get(..text.len() - unit.len()).unwrap_or_default().trim_end(), *factor),
        None => (text, 1),
    }
}

fn unsigned(text: &str) -> Option<u64> {
    let (number, factor) = with_unit(text);
    if let Ok(number) = number.parse::<u64>() {
        return number.checked_mul(factor);
    }
    // A fraction of a unit, which must be a whole number of the smallest unit.
    let (whole, part) = number.split_once('.')?;
    let digits = u32::try_from(part.len()).ok().filter(|&digits| (1..=18).contains(&digits))?;
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(part) || !is_number(whole) {
        return None;
    }
    let whole = if whole.is_empty() { 0 } else { whole.parse::<u64>().ok()? };
    let part = u128::from(part.parse::<u64>().ok()?) * u128::from(factor) / 10u128.pow(digits);
    whole.checked_mul(factor)?.checked_add(u64::try_from(part).ok()?).filter(|_| factor > 1)
}

fn signed(text: &str) -> Option<i64> {
    if let Ok(number) = text.parse::<i64>() {
        return Some(number);
    }
    match text.strip_prefix('-') {
        Some(text) => i64::try_from(unsigned(text)?).ok().map(|number| -number),
        None => i64::try_from(unsigned(text.strip_prefix('+').unwrap_or(text))?).ok(),
    }
}

fn float(text: &str) -> Option<f64> {
    text.parse().ok()
}

/// The first and the last nanosecond of a date.
fn date(text: &str) -> Option<(i64, i64)> {
    if let Some(rest) = text.strip_prefix("now") {
        let moment = shifted(now()?, rest)?;
        return Some((moment, moment));
    }
    let days_from_today = match text.to_ascii_lowercase().as_str() {
        "yesterday" => Some(-1),
        "today" => Some(0),
        "tomorrow" => Some(1),
        _ => None,
    };
    if let Some(days) = days_from_today {
        let first = (now()?.div_euclid(DAY) + days) * DAY;
        return Some((first, first + (DAY - 1)));
    }
    let pattern: String = text.chars().map(|char| if char.is_ascii_digit() { '0' } else { char }).collect();
    let begins = |rest: &str| parse_date(format!("{text}{rest}").as_bytes());
    let until = |next: Option<i64>| next.map_or(i64::MAX, |next| next - 1);
    let number = |range: std::ops::Range<usize>| text.get(range)?.parse::<u32>().ok();
    match pattern.as_str() {
        "0000" => {
            let next = format!("{:04}-01-01", number(0..4)? + 1);
            Some((begins("-01-01")?, until(parse_date(next.as_bytes()))))
        }
        "0000-00" => {
            let (year, month) = (number(0..4)?, number(5..7)?);
            let (year, month) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
            Some((begins("-01")?, until(parse_date(format!("{year:04}-{month:02}-01").as_bytes()))))
        }
        "0000-00-00" => begins("").map(|first| (first, first.saturating_add(DAY - 1))),
        "00000000" => {
            let (month, day) = text.get(4..)?.split_at_checked(2)?;
            date(&format!("{}-{month}-{day}", text.get(..4)?))
        }
        "0000-00-00T00" | "0000-00-00 00" => {
            begins(":00:00").map(|first| (first, first.saturating_add(3_600 * SECOND - 1)))
        }
        "0000-00-00T00:00" | "0000-00-00 00:00" => {
            begins(":00").map(|first| (first, first.saturating_add(60 * SECOND - 1)))
        }
        _ => begins("").map(|moment| (moment, moment)),
    }
}

/// The current time in nanoseconds since 1970.
fn now() -> Option<i64> {
    i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).ok()?.as_nanos()).ok()
}

/// The time before or after `from` by the distance in `text`, such as `-30d`, or `from` itself for no text.
fn shifted(from: i64, text: &str) -> Option<i64> {
    let (sign, text) = match text.split_at_checked(1) {
        None => return text.is_empty().then_some(from),
        Some(("-", rest)) => (-1, rest),
        Some(("+", rest)) => (1, rest),
        Some(_) => return None,
    };
    let (number, unit) = number_and_unit(text)?;
    match unit {
        "mo" => months_later(from, sign * number),
        _ => from.checked_add((sign * number).checked_mul(nanoseconds(unit)?)?),
    }
}

/// The nanoseconds of a length of time such as `30d`. A month is 30 days, a year 365.
pub(crate) fn length_of_time(text: &str) -> Option<i64> {
    let (number, unit) = number_and_unit(text)?;
    number.checked_mul(if unit == "mo" { 30 * DAY } else { nanoseconds(unit)? })
}

fn number_and_unit(text: &str) -> Option<(i64, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at_checked(digits)?;
    Some((number.parse::<u32>().ok()?.into(), unit))
}

/// The nanoseconds of a unit of time, other than a month.
fn nanoseconds(unit: &str) -> Option<i64> {
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        "w" => 7 * 86_400,
        "y" => 365 * 86_400,
        _ => return None,
    };
    Some(seconds * SECOND)
}

/// The same time of day, `months` later, on the same day of the month or else on the last one.
fn months_later(from: i64, months: i64) -> Option<i64> {
    let (year, month, day) = day_of(from.div_euclid(DAY));
    let month = year * 12 + month - 1 + months;
    let first = |month: i64| days_since_1970(month.div_euclid(12), month.rem_euclid(12) + 1, 1);
    let days = (first(month) + day - 1).min(first(month + 1) - 1);
    days.checked_mul(DAY)?.checked_add(from.rem_euclid(DAY))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_sizes_are_read_and_bad_ones_refused() {
        let unsigned = |text| literal(&FieldKind::Unsigned, text).map(|(value, _)| value);
        for (text, value) in [
            ("0", 0),
            ("18446744073709551615", u64::MAX),
            ("1KiB", 1024),
            ("1.5 GiB", 3 << 29),
            ("10kB", 10_000),
            ("500k", 500 << 10),
            ("1M", 1 << 20),
            ("1.5G", 3 << 29),
            ("2 t", 2 << 40),
            ("15e", 15 << 60),
        ] {
            assert_eq!(unsigned(text), Ok(Value::Unsigned(value)), "{text}");
        }
        for text in [
            "",
            "-1",
            "1.5",
            "x",
            "1.5.5GiB",
            "99999999999GiB",
            "GiB",
            "1..5kb",
            "18446744073709551616",
            "16e",
            "k",
        ] {
            assert!(unsigned(text).is_err(), "{text}");
        }
        let signed = |text| literal(&FieldKind::Signed, text).map(|(value, _)| value);
        assert_eq!(signed("-9223372036854775808"), Ok(Value::Signed(i64::MIN)));
        assert_eq!(signed("-1KiB"), Ok(Value::Signed(-1024)));
        assert_eq!(literal(&FieldKind::Float, "-1e3").unwrap().0, Value::Float(-1000.0));
        assert_eq!(literal(&FieldKind::Boolean, "True").unwrap().0, Value::Boolean(true));
        assert!(literal(&FieldKind::Boolean, "maybe").is_err() && literal(&FieldKind::Float, "1,5").is_err());
    }

    #[test]
    fn dates_stand_for_all_of_what_they_name() {
        let span = |text: &str| {
            literal(&FieldKind::Date, text).ok().map(|(first, last)| match (first, last) {
                (Value::Date(first), Value::Date(last)) => {
                    (super::super::format_date(first), (last - first + 1) / SECOND)
                }
                other => panic!("{other:?}"),
            })
        };
        let day = 86_400;
        for (text, first, seconds) in [
            ("2024", "2024-01-01T00:00:00Z", 366 * day),
            ("2023-12", "2023-12-01T00:00:00Z", 31 * day),
            ("2024-02", "2024-02-01T00:00:00Z", 29 * day),
            ("2024-02-29", "2024-02-29T00:00:00Z", day),
            ("20240229", "2024-02-29T00:00:00Z", day),
            ("2024-02-29T10", "2024-02-29T10:00:00Z", 3_600),
            ("2024-02-29 10:30", "2024-02-29T10:30:00Z", 60),
            ("2024-02-29T10:30:05Z", "2024-02-29T10:30:05Z", 0),
        ] {
            assert_eq!(span(text), Some((first.into(), seconds)), "{text}");
        }
        for text in [
            "",
            "24",
            "2024-13",
            "2023-02-29",
            "nowhere",
            "now-",
            "now-5",
            "now-5x",
            "9999",
            "now-4000000000y",
            "now-4000000000mo",
            "now-mo",
            "now--1d",
            "20230229",
            "2024022",
            "todays",
        ] {
            assert_eq!(span(text), None, "{text}");
        }
        let now = |text| match literal(&FieldKind::Date, text) {
            Ok((Value::Date(moment), _)) => moment,
            other => panic!("{other:?}"),
        };
        let apart = now("now") - now("now-2w");
        assert!((14 * day * SECOND - SECOND..=14 * day * SECOND + SECOND).contains(&apart), "{apart}");
        let days = ["yesterday", "today", "Tomorrow"].map(now);
        assert!(days.iter().all(|first| first % DAY == 0), "{days:?}");
        assert!(days[1] - days[0] == DAY && days[2] - days[1] == DAY, "{days:?}");
        assert_eq!(span("today").map(|(_, seconds)| seconds), Some(day));
    }

    #[test]
    fn months_keep_the_day_or_end_on_the_last_one() {
        let moment = |text: &str| parse_date(text.as_bytes()).unwrap();
        for (from, distance, to) in [
            ("2024-03-31T10:00:00Z", "-1mo", "2024-02-29T10:00:00Z"),
            ("2024-08-31T10:00:00Z", "-6mo", "2024-02-29T10:00:00Z"),
            ("2024-01-15T10:00:00Z", "-1mo", "2023-12-15T10:00:00Z"),
            ("2023-12-31T23:59:59.5Z", "+2mo", "2024-02-29T23:59:59.5Z"),
            ("1970-01-01T00:00:00Z", "-13mo", "1968-12-01T00:00:00Z"),
            ("2024-03-01T00:00:00Z", "-1d", "2024-02-29T00:00:00Z"),
            ("2024-03-01T00:00:00Z", "+0mo", "2024-03-01T00:00:00Z"),
        ] {
            assert_eq!(shifted(moment(from), distance), Some(moment(to)), "{from} {distance}");
        }
    }

    #[test]
    fn lengths_of_time_have_units() {
        for (text, days) in [("30d", 30), ("2w", 14), ("6mo", 180), ("1y", 365), ("24h", 1), ("1440m", 1)] {
            assert_eq!(length_of_time(text), Some(days * DAY), "{text}");
        }
        for bad in ["", "30", "d", "-1d", "1.5d", "3 d", "4000000000y", "1x"] {
            assert_eq!(length_of_time(bad), None, "{bad}");
        }
    }
}
