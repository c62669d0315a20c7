//! Parses moments that are numbers: seconds since 1970, or parts of seconds.

/// The unit of a moment that is a number since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EpochUnit {
    /// Seconds, as `date +%s`, `find -printf %T@` and `time.time()` write them.
    Seconds,
    /// Milliseconds, as Java and JavaScript write them.
    Milliseconds,
    /// Microseconds.
    Microseconds,
    /// Nanoseconds, as Go writes them.
    Nanoseconds,
}

impl EpochUnit {
    /// All units.
    pub const ALL: [Self; 4] =
        [EpochUnit::Seconds, EpochUnit::Milliseconds, EpochUnit::Microseconds, EpochUnit::Nanoseconds];

    /// The power of ten of the nanoseconds in the unit.
    fn digits(self) -> i64 {
        match self {
            EpochUnit::Seconds => 9,
            EpochUnit::Milliseconds => 6,
            EpochUnit::Microseconds => 3,
            EpochUnit::Nanoseconds => 0,
        }
    }

    /// The unit in which a moment of the years 1990 to 2100 is written like this; `None` if there is none.
    /// These ranges do not overlap.
    pub(crate) fn guess(text: &[u8]) -> Option<Self> {
        const FIRST: i64 = 631_152_000_000_000_000;
        const LAST: i64 = 4_102_444_800_000_000_000;
        Self::ALL
            .into_iter()
            .find(|unit| parse_epoch(text, *unit).is_some_and(|moment| (FIRST..LAST).contains(&moment)))
    }
}

/// Parses a number since 1970, such as `1709288430`, `-1.5` or `1.7e12`; returns nanoseconds, or `None` for
/// text that is not a decimal number or does not fit 64 bits. Digits beyond nanoseconds are ignored.
///
/// ```
/// use scanns::schema::{EpochUnit, parse_epoch};
///
/// assert_eq!(parse_epoch(b"1.1234567890", EpochUnit::Seconds), Some(1_123_456_789));
/// assert_eq!(parse_epoch(b"-1500", EpochUnit::Milliseconds), Some(-1_500_000_000));
/// assert_eq!(parse_epoch(b"soon", EpochUnit::Seconds), None);
/// ```
pub fn parse_epoch(text: &[u8], unit: EpochUnit) -> Option<i64> {
    let (is_negative, text) = match text.split_first()? {
        (b'-', rest) => (true, rest),
        (b'+', rest) => (false, rest),
        _ => (false, text),
    };
    let (mantissa, exponent) = match text.iter().position(|byte| matches!(byte, b'e' | b'E')) {
        Some(at) => {
            let exponent = std::str::from_utf8(text.get(at + 1..)?).ok()?;
            (text.get(..at)?, exponent.parse::<i16>().ok()?)
        }
        None => (text, 0),
    };
    let mut parts = mantissa.splitn(2, |byte| *byte == b'.');
    let (whole, fraction) = (parts.next()?, parts.next());
    let fraction = match fraction {
        Some([]) => return None,
        other => other.unwrap_or_default(),
    };
    let are_digits = |text: &[u8]| text.iter().all(u8::is_ascii_digit);
    if whole.is_empty() || !are_digits(whole) || !are_digits(fraction) {
        return None;
    }
    // The number of digits in front of the nanoseconds' point.
    let digits = i64::try_from(whole.len()).ok()? + i64::from(exponent) + unit.digits();
    let mut sum = 0i128;
    let all = whole.iter().chain(fraction).copied().chain(std::iter::repeat(b'0'));
    for digit in all.take(usize::try_from(digits).unwrap_or(0)) {
        sum = sum.checked_mul(10)?.checked_add(i128::from(digit - b'0'))?;
        if sum > i128::from(u64::MAX) {
            return None;
        }
    }
    i64::try_from(if is_negative { -sum } else { sum }).ok()
}
