//! Numbers of a sheet, which may stand for dates: days since 1899-12-30, or since 1904-01-01; and the codes
//! of numbers and errors in binary files.

use std::fmt::Write;

/// What a cell's number format makes of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NumberKind {
    /// A number.
    Plain,
    /// A day.
    Date,
    /// A time of day, or a duration.
    Time,
    /// A day and a time.
    DateTime,
}

/// What the format of this number and code shows.
pub(super) fn kind_of_format(id: u32, code: Option<&str>) -> NumberKind {
    match (id, code) {
        (14..=17 | 27..=31 | 34..=36 | 50..=54 | 57 | 58, None) => NumberKind::Date,
        (22, None) => NumberKind::DateTime,
        (18..=21 | 32 | 33 | 45..=47 | 55 | 56, None) => NumberKind::Time,
        (_, Some(code)) => kind_of_code(code),
        (_, None) => NumberKind::Plain,
    }
}

/// What a format code shows: the letters that are not quoted, escaped or in brackets tell.
fn kind_of_code(code: &str) -> NumberKind {
    let code = code.split(';').next().unwrap_or_default();
    let (mut is_quoted, mut is_bracketed, mut is_escaped) = (false, false, false);
    let (mut has_day, mut has_time) = (false, false);
    for letter in code.chars() {
        match letter {
            _ if is_escaped => is_escaped = false,
            '"' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            '\\' | '_' | '*' => is_escaped = true,
            '[' => is_bracketed = true,
            ']' => is_bracketed = false,
            _ if is_bracketed => {}
            'y' | 'Y' | 'd' | 'D' => has_day = true,
            'h' | 'H' | 's' | 'S' => has_time = true,
            _ => {}
        }
    }
    if code.eq_ignore_ascii_case("general") {
        return NumberKind::Plain;
    }
    match (has_day, has_time) {
        (true, true) => NumberKind::DateTime,
        (true, false) => NumberKind::Date,
        (false, true) => NumberKind::Time,
        (false, false) => NumberKind::Plain,
    }
}

/// A number as text: the shortest digits, or a date in the form of ISO 8601.
pub(super) fn written(value: f64, kind: NumberKind, is_1904: bool) -> String {
    let days = if is_1904 { value + 1_462.0 } else { value };
    let is_day = (0.0..2_958_466.0).contains(&days);
    if kind == NumberKind::Plain || !is_day {
        return format!("{value}");
    }
    let mut text = String::new();
    if kind != NumberKind::Time {
        let (year, month, day) = civil(whole(days));
        let _ = write!(text, "{year:04}-{month:02}-{day:02}");
    }
    if kind != NumberKind::Date {
        let seconds = whole((value.fract() * 86_400.0).round()).min(86_399);
        let between = if text.is_empty() { "" } else { " " };
        let (hours, minutes, seconds) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
        let _ = write!(text, "{between}{hours:02}:{minutes:02}:{seconds:02}");
    }
    text
}

/// A number of a checked range without its fraction.
#[expect(clippy::cast_possible_truncation, reason = "the caller has checked the range")]
fn whole(value: f64) -> i64 {
    value as i64
}

/// The date of a serial number. Before March 1900 Excel counts a day that never was.
fn civil(serial: i64) -> (i64, i64, i64) {
    let serial = if serial < 60 { serial + 1 } else { serial };
    // Days since 0000-03-01; the serial number 0 is 1899-12-30, which is 693,899 days after it.
    let days = serial + 693_899;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

/// What Excel shows for the code of an error.
pub(super) fn error_name(code: u8) -> &'static str {
    match code {
        0x00 => "#NULL!",
        0x07 => "#DIV/0!",
        0x0f => "#VALUE!",
        0x17 => "#REF!",
        0x1d => "#NAME?",
        0x24 => "#NUM!",
        0x2a => "#N/A",
        _ => "",
    }
}

/// A number in 32 bits: bit 0 divides it by 100, bit 1 makes it an integer, else it is the high half of a
/// float.
pub(super) fn rk(bits: u32) -> f64 {
    let value = if bits & 2 != 0 {
        f64::from(bits.cast_signed() >> 2)
    } else {
        f64::from_bits(u64::from(bits & !3) << 32)
    };
    if bits & 1 == 0 { value } else { value / 100.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serial_numbers_become_dates() {
        assert_eq!(written(1.0, NumberKind::Date, false), "1900-01-01");
        assert_eq!(written(61.0, NumberKind::Date, false), "1900-03-01");
        assert_eq!(written(45_000.25, NumberKind::DateTime, false), "2023-03-15 06:00:00");
        assert_eq!(written(0.0, NumberKind::Date, true), "1904-01-01");
        assert_eq!(written(0.5, NumberKind::Time, false), "12:00:00");
        assert_eq!(written(-1.5, NumberKind::Date, false), "-1.5");
        assert_eq!(written("1.1000000000000001".parse().unwrap(), NumberKind::Plain, false), "1.1");
    }

    #[test]
    fn quoted_letters_make_no_date() {
        assert_eq!(kind_of_format(164, Some("0.0\" days\"")), NumberKind::Plain);
        assert_eq!(kind_of_format(164, Some("[Red]#,##0")), NumberKind::Plain);
        assert_eq!(kind_of_format(164, Some("yyyy\\-mm\\-dd")), NumberKind::Date);
        assert_eq!(kind_of_format(164, Some("dd/mm/yy hh:mm")), NumberKind::DateTime);
        assert_eq!(kind_of_format(14, None), NumberKind::Date);
        assert_eq!(kind_of_format(0, None), NumberKind::Plain);
    }

    #[test]
    fn numbers_in_32_bits_are_integers_or_floats() {
        assert_eq!(rk(0x3ff0_0000), 1.0);
        assert_eq!(rk(0x3ff0_0001), 0.01);
        assert_eq!(rk(0x004b_5646), 1_234_321.0);
        assert_eq!(rk(0x004b_5647), 12_343.21);
        assert_eq!(rk(0xffff_fffe), -1.0);
    }
}
