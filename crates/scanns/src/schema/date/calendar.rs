//! Days of the Gregorian calendar as numbers, and the numbers in the text of a date.

pub(super) const NANOSECONDS: i64 = 1_000_000_000;
pub(super) const SECONDS_OF_DAY: i64 = 86_400;

/// Days in 400 years, after which the calendar repeats.
pub(super) const DAYS_OF_ERA: i64 = 146_097;

/// Days from the first of March of the year 0 to 1970.
const DAYS_TO_1970: i64 = 719_468;

/// Days since 1970 of a day of the Gregorian calendar.
///
/// Years begin in March here, so that the leap day is the last day. Then months have 30.6 days, rounded down
/// to the right lengths (H. Hinnant, "chrono-compatible low-level date algorithms").
pub(crate) fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * DAYS_OF_ERA + of_era * 365 + of_era / 4 - of_era / 100 + of_year - DAYS_TO_1970
}

/// Year, month and day of a number of days since 1970.
pub(crate) fn day_of(days: i64) -> (i64, i64, i64) {
    let days = days + DAYS_TO_1970;
    let (era, of_era) = (days.div_euclid(DAYS_OF_ERA), days.rem_euclid(DAYS_OF_ERA));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * march + 2) / 5 + 1;
    let month = if march < 10 { march + 3 } else { march - 9 };
    (era * 400 + year + i64::from(month <= 2), month, day)
}

/// Days since 1970 of a day that a text names; `None` if the month does not have the day.
pub(super) fn checked_day(year: i64, month: i64, day: i64) -> Option<i64> {
    let longest = match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    (1..=longest).contains(&day).then(|| days_since_1970(year, month, day))
}

/// A moment of any year.
#[derive(Clone, Copy, Debug)]
pub(super) struct UnixTime {
    /// Seconds since 1970.
    seconds: i64,
    nanosecond: i64,
}

impl UnixTime {
    pub(super) fn new(days: i64, seconds: i64, nanosecond: i64) -> Self {
        UnixTime { seconds: days * SECONDS_OF_DAY + seconds, nanosecond }
    }

    pub(super) fn from_nanoseconds(nanoseconds: i64) -> Self {
        UnixTime {
            seconds: nanoseconds.div_euclid(NANOSECONDS),
            nanosecond: nanoseconds.rem_euclid(NANOSECONDS),
        }
    }

    /// Nanoseconds since 1970; `None` if they do not fit 64 bits.
    pub(super) fn nanoseconds(self) -> Option<i64> {
        // Before 1970, the seconds alone may be just below the range of 64 bits although the sum is within
        // it.
        i64::try_from(i128::from(self.seconds) * i128::from(NANOSECONDS) + i128::from(self.nanosecond)).ok()
    }

    /// The moment in RFC 3339; `None` if its year does not have four digits.
    pub(super) fn in_rfc3339(self) -> Option<String> {
        let (days, second) =
            (self.seconds.div_euclid(SECONDS_OF_DAY), self.seconds.rem_euclid(SECONDS_OF_DAY));
        let (year, month, day) = day_of(days);
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        let fraction = match self.nanosecond {
            0 => String::new(),
            part if part % 1_000_000 == 0 => format!(".{:03}", part / 1_000_000),
            part if part % 1000 == 0 => format!(".{:06}", part / 1000),
            part => format!(".{part:09}"),
        };
        (0..=9999)
            .contains(&year)
            .then(|| format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}Z"))
    }
}

/// The number with these two digits.
pub(super) fn two(tens: u8, ones: u8) -> Option<i64> {
    let digit = |byte: u8| byte.is_ascii_digit().then(|| i64::from(byte - b'0'));
    Some(digit(tens)? * 10 + digit(ones)?)
}

/// A year of four digits.
pub(super) fn four(digits: &[u8]) -> Option<i64> {
    let &[y0, y1, y2, y3] = digits else { return None };
    Some(two(y0, y1)? * 100 + two(y2, y3)?)
}
