//! Parsers for the values of options. Their errors say what is expected.

use std::fmt::Display;
use std::num::NonZeroU32;
use std::str::FromStr;
use std::time::Duration;

use scanns::schema::Analyzer;

use crate::units;

/// Parses an analyzer.
pub(super) fn analyzer(text: &str) -> Result<Analyzer, String> {
    Analyzer::parse(text).map_err(|error| error.to_string())
}

/// Parses a time of at least a second.
pub(super) fn time(text: &str) -> Result<Duration, String> {
    let wrong = || "not a time: write 30s, 2m or 1h".to_string();
    match humantime::parse_duration(text).map_err(|_| wrong())? {
        time if time < Duration::from_secs(1) => Err("must be at least 1s".into()),
        time => Ok(time),
    }
}

/// Parses a time longer than zero.
pub(super) fn timeout(text: &str) -> Result<Duration, String> {
    match humantime::parse_duration(text) {
        Ok(Duration::ZERO) => Err("must be longer than zero".into()),
        Ok(time) => Ok(time),
        Err(_) if text.parse::<f64>().is_ok() => Err(format!("a time has a unit: write {text}s or {text}ms")),
        Err(_) => Err("not a time: write 50ms, 2s or 1m".into()),
    }
}

/// When a build commits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommitEvery {
    /// After this time.
    Time(Duration),
    /// After this number of bytes of input.
    Bytes(u64),
}

/// Parses a time or a size.
pub(super) fn commit_every(text: &str) -> Result<CommitEvery, String> {
    if let Ok(time) = time(text) {
        return Ok(CommitEvery::Time(time));
    }
    match units::parse_size(text) {
        Ok(bytes) if bytes >= 1 << 20 => Ok(CommitEvery::Bytes(bytes)),
        _ => {
            Err("neither a time of at least 1s, such as 5m, nor a size of at least 1MiB, such as 10GiB"
                .into())
        }
    }
}

/// Parses a whole number.
pub(super) fn whole<T: TryFrom<u64>>(text: &str) -> Result<T, String> {
    let number = text.parse::<u64>().map_err(|_| "not a whole number: write digits alone, such as 5000")?;
    T::try_from(number).map_err(|_| "too large".into())
}

/// Parses a number of days.
pub(super) fn days(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| "not a number of days: write digits alone, such as 365 for a year".into())
}

/// Parses a number of operations per second.
pub(super) fn operations(text: &str) -> Result<NonZeroU32, String> {
    NonZeroU32::new(whole(text)?).ok_or("must be at least 1".into())
}

/// Parses a whole number of at least 1.
pub(super) fn positive(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("must be at least 1".into()),
        Ok(number) => Ok(number),
        Err(_) => Err("not a whole number of at least 1".into()),
    }
}

/// Parses a number from `low` to `high`.
pub(super) fn number<T: FromStr + PartialOrd + Display>(text: &str, low: T, high: T) -> Result<T, String> {
    match text.parse::<T>() {
        Ok(number) if (&low..=&high).contains(&&number) => Ok(number),
        Ok(_) => Err(format!("must be between {low} and {high}")),
        Err(_) => Err("not a number".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_out_of_range_are_refused() {
        assert!(positive("0").is_err() && positive("-1").is_err() && positive("two").is_err());
        assert_eq!(positive("8"), Ok(8));
        assert!(whole::<u64>("5k").is_err() && whole::<u64>("-1").is_err() && whole::<u8>("300").is_err());
        assert_eq!((whole("0"), whole("70")), (Ok(0_u64), Ok(70_usize)));
        assert!(days("1y").is_err() && days("-1").is_err() && operations("0").is_err());
        assert_eq!((days("365"), operations("5000").map(NonZeroU32::get)), (Ok(365), Ok(5000)));
        assert!(time("much").is_err() && time("0s").is_err() && time("500ms").is_err());
        assert_eq!(time("2m"), Ok(Duration::from_secs(120)));
        assert!(timeout("0ms").is_err() && timeout("50").is_err());
        assert_eq!(timeout("50ms"), Ok(Duration::from_millis(50)));
        assert!(number("nan", 0.0, f64::INFINITY).is_err() && number("1.5", 0.0, 1.0).is_err());
        assert_eq!(number("inf", 1.0, f64::INFINITY), Ok(f64::INFINITY));
        assert_eq!(number("0.75", 0.0, 1.0), Ok(0.75));
    }

    #[test]
    fn a_build_commits_after_a_time_or_a_size() {
        assert_eq!(commit_every("5m"), Ok(CommitEvery::Time(Duration::from_secs(300))));
        assert_eq!(commit_every("10GiB"), Ok(CommitEvery::Bytes(10 << 30)));
        assert!(
            commit_every("1KiB").is_err() && commit_every("0s").is_err() && commit_every("often").is_err()
        );
    }
}
