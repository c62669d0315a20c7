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

/// Parses `HH:MM`, `HH:MM:SS`, or `HHMMSS`, perhaps with a fraction of a second behind `.` or `,`. Digits
/// beyond nanoseconds are ignored. Also returns the text behind the time.
pub(super) fn parse_clock(text: &[u8]) -> Option<(DayTime, &[u8])> {
    let (hour, minute, second, rest) = match *text {
        [h0, h1, b':', m0, m1, b':', s0, s1, ref rest @ ..] | [h0, h1, m0, m1, s0, s1, ref rest @ ..]
            if m0 != b':' =>
        {
            (two(h0, h1)?, two(m0, m1)?, two(s0, s1)?, rest)
        }
        [h0, h1, b':', m0, m1, ref rest @ ..] => (two(h0, h1)?, two(m0, m1)?, 0, rest),
        _ => return None,
    };
    if hour > 23 || minute > 59 || second > 59 {
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
        let ahead = hours * 3600 + minutes * 60;
        (hours <= 23 && minutes <= 59).then_some(if sign == b'+' { ahead } else { -ahead })
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
