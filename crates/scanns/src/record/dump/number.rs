//! Numbers, times and permissions in the texts of dumps, read from bytes.
//!
//! All functions return `None` for a text that is not wholly such a number, and for a number that does not
//! fit: nothing wraps.

use crate::source::{EntryKind, nanoseconds};

/// An unsigned decimal number.
pub(super) fn decimal(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    let mut value = 0u64;
    if text.len() <= 19 {
        for byte in text {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                return None;
            }
            value = value * 10 + u64::from(digit);
        }
        return Some(value);
    }
    for byte in text {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value.checked_mul(10)?.checked_add(u64::from(digit))?;
    }
    Some(value)
}

/// A decimal number of 32 bits.
pub(super) fn decimal32(text: &[u8]) -> Option<u32> {
    decimal(text).and_then(|value| u32::try_from(value).ok())
}

/// A decimal number that may have a sign before it.
pub(super) fn signed(text: &[u8]) -> Option<i64> {
    match text.split_first()? {
        (b'-', digits) => 0i64.checked_sub_unsigned(decimal(digits)?),
        (b'+', digits) => i64::try_from(decimal(digits)?).ok(),
        _ => i64::try_from(decimal(text)?).ok(),
    }
}

/// An octal number of 32 bits, as permissions are.
pub(super) fn octal(text: &[u8]) -> Option<u32> {
    if text.is_empty() {
        return None;
    }
    let mut value = 0u32;
    for byte in text {
        let digit = byte.wrapping_sub(b'0');
        if digit > 7 || value > u32::MAX >> 3 {
            return None;
        }
        value = value << 3 | u32::from(digit);
    }
    Some(value)
}

/// A hexadecimal number, in upper or lower case, without `0x`.
pub(super) fn hexadecimal(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    let mut value = 0u64;
    for byte in text {
        if value > u64::MAX >> 4 {
            return None;
        }
        value = value << 4 | u64::from(hexadecimal_digit(*byte)?);
    }
    Some(value)
}

/// The value of a hexadecimal digit.
pub(super) fn hexadecimal_digit(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

/// A time in seconds since 1970, with or without a sign and a fraction, as nanoseconds; digits after the
/// ninth of the fraction are dropped.
pub(super) fn seconds(text: &[u8]) -> Option<i64> {
    let Some(point) = memchr::memchr(b'.', text) else {
        return signed(text).map(|seconds| nanoseconds(seconds, 0));
    };
    let (whole, fraction) = text.split_at_checked(point)?;
    let fraction = fraction_of_second(fraction.get(1..)?)?;
    let negative = whole.first() == Some(&b'-');
    Some(nanoseconds(signed(whole)?, if negative { -fraction } else { fraction }))
}

/// The digits after the point of a second, as nanoseconds.
fn fraction_of_second(digits: &[u8]) -> Option<i64> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let nanoseconds = (0..9)
        .fold(0i64, |value, place| value * 10 + i64::from(digits.get(place).map_or(0, |digit| digit - b'0')));
    Some(nanoseconds)
}

/// The time `yyyy-MM-dd HH:mm[:ss[.fraction]]` at the start of `text` as seconds and nanoseconds since 1970
/// in UTC, and the number of bytes that it takes. Between the date and the time stands a blank, `T` or `@`.
pub(super) fn calendar(text: &[u8]) -> Option<(i64, i64, usize)> {
    let (date, time) = (text.get(..10)?, text.get(10..16)?);
    let ([_, _, _, _, b'-', _, _, b'-', _, _], [b' ' | b'T' | b'@', _, _, b':', _, _]) = (date, time) else {
        return None;
    };
    let part = |bytes: Option<&[u8]>| bytes.and_then(decimal).and_then(|value| i64::try_from(value).ok());
    let (year, month, day) = (part(date.get(..4))?, part(date.get(5..7))?, part(date.get(8..10))?);
    let (hour, minute) = (part(time.get(1..3))?, part(time.get(4..6))?);
    let (second, length) = match text.get(16..19) {
        Some([b':', digits @ ..]) => (part(Some(digits))?, 19),
        _ => (0, 16),
    };
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let seconds = days(year, month, day)? * 86_400 + hour * 3600 + minute * 60 + second;
    let fraction = match text.get(length..) {
        Some([b'.', rest @ ..]) if length == 19 => {
            rest.iter().position(|byte| !byte.is_ascii_digit()).map_or(rest, |end| rest.split_at(end).0)
        }
        _ => return Some((seconds, 0, length)),
    };
    Some((seconds, fraction_of_second(fraction)?, length + 1 + fraction.len()))
}

/// The number of days from 1970-01-01 to a day of the Gregorian calendar.
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=length).contains(&day) {
        return None;
    }
    // Years begin in March here, so that the leap day is the last of its year.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    let leaps = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    Some(365 * year + leaps + day_of_year - 719_468)
}

/// Permissions as `ls` writes them, `drwxr-xr-x`, with or without the letter of the type and with or without
/// a last `+`, `.` or `@`: the kind, and the mode with the bits of the type if there is a letter.
pub(super) fn permissions(text: &[u8]) -> Option<(Option<EntryKind>, u32)> {
    let text =
        text.strip_suffix(b"+").or(text.strip_suffix(b".")).or(text.strip_suffix(b"@")).unwrap_or(text);
    let (kind, bits, letters) = match text.split_first()? {
        (letter, letters) if letters.len() == 9 => {
            let bits = type_bits(*letter)?;
            (EntryKind::of_mode(bits), bits, letters)
        }
        _ => (None, 0, text),
    };
    let [letters @ .., o_read, o_write, o_run] = letters else { return None };
    let [letters @ .., g_read, g_write, g_run] = letters else { return None };
    let [u_read, u_write, u_run] = letters else { return None };
    let user = triple(*u_read, *u_write)? << 6 | run(*u_run, b's', 0o100, 0o4000)?;
    let group = triple(*g_read, *g_write)? << 3 | run(*g_run, b's', 0o010, 0o2000)?;
    let others = triple(*o_read, *o_write)? | run(*o_run, b't', 0o001, 0o1000)?;
    Some((kind, bits | user | group | others))
}

/// True for permissions that end as `ls` marks those of a file with an ACL.
pub(super) fn marks_acl(permissions: &[u8]) -> bool {
    permissions.ends_with(b"+")
}

/// The bits of the mode for the letter of a type.
fn type_bits(letter: u8) -> Option<u32> {
    match letter {
        b'-' | b'f' => Some(0o100_000),
        b'd' => Some(0o040_000),
        b'l' => Some(0o120_000),
        b'p' => Some(0o010_000),
        b's' => Some(0o140_000),
        b'c' => Some(0o020_000),
        b'b' => Some(0o060_000),
        _ => None,
    }
}

/// The bits 4 and 2 of the letters for reading and writing.
fn triple(read: u8, write: u8) -> Option<u32> {
    let read = match read {
        b'r' => 4,
        b'-' => 0,
        _ => return None,
    };
    match write {
        b'w' => Some(read | 2),
        b'-' => Some(read),
        _ => None,
    }
}

/// The bits of the third letter, which also tells the special bit: `x`, `-`, or a lower or upper `special`.
fn run(letter: u8, special: u8, execute: u32, bit: u32) -> Option<u32> {
    match letter {
        b'x' => Some(execute),
        b'-' => Some(0),
        _ if letter == special => Some(execute | bit),
        _ if letter == special.to_ascii_uppercase() => Some(bit),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seed() -> fastrand::Rng {
        let seed = fastrand::u64(..);
        println!("seed {seed}");
        fastrand::Rng::with_seed(seed)
    }

    /// A number of any length in bits, so that limits of all lengths are met.
    fn number(random: &mut fastrand::Rng) -> u64 {
        let value = random.u64(..) >> random.u32(0..64);
        if random.u8(..) < 20 { u64::MAX - random.u64(0..3) } else { value }
    }

    #[test]
    fn random_texts_are_the_numbers_that_std_reads() {
        let mut random = seed();
        for _ in 0..200_000 {
            let mut text = match random.u8(0..5) {
                0 => format!("{}", number(&mut random)),
                1 => format!("{}", number(&mut random).cast_signed()),
                2 => format!("{:o}", number(&mut random)),
                3 => format!("{:x}", number(&mut random)),
                _ => format!("{:024}", number(&mut random)),
            };
            if random.u8(0..4) == 0 {
                let place = random.usize(0..=text.len());
                text.insert(place, *random.choice(&['0', '9', '8', '-', '.', ' ', 'x', '/', ':']).unwrap());
            }
            let bytes = text.as_bytes();
            let plain = bytes.iter().all(u8::is_ascii_hexdigit);
            let std = |radix| if plain { u64::from_str_radix(&text, radix).ok() } else { None };
            assert_eq!(decimal(bytes), std(10), "{text}");
            assert_eq!(decimal32(bytes), if plain { text.parse().ok() } else { None }, "{text}");
            assert_eq!(signed(bytes), text.parse().ok(), "{text}");
            assert_eq!(octal(bytes), std(8).and_then(|value| u32::try_from(value).ok()), "{text}");
            assert_eq!(hexadecimal(bytes), std(16), "{text}");
        }
    }

    #[test]
    fn the_limits_of_numbers_are_read_and_one_more_is_not() {
        assert_eq!(decimal(b"18446744073709551615"), Some(u64::MAX));
        assert_eq!(decimal(b"18446744073709551616"), None);
        assert_eq!(decimal(b"00000000000000000000018446744073709551615"), Some(u64::MAX));
        assert_eq!(signed(b"-9223372036854775808"), Some(i64::MIN));
        assert_eq!(signed(b"-9223372036854775809"), None);
        assert_eq!(signed(b"--1"), None);
        assert_eq!(octal(b"37777777777"), Some(u32::MAX));
        assert_eq!(octal(b"40000000000"), None);
        assert_eq!(octal(b"8"), None);
        assert_eq!(hexadecimal(b"fFfFfFfFfFfFfFfF"), Some(u64::MAX));
        assert_eq!(hexadecimal(b"10000000000000000"), None);
        for none in [&b""[..], b"-", b"+", b" 1", b"1 ", b"0x1"] {
            assert_eq!((decimal(none), signed(none), octal(none)), (None, None, None));
        }
    }

    #[test]
    fn seconds_have_signs_and_fractions() {
        assert_eq!(seconds(b"12"), Some(12_000_000_000));
        assert_eq!(seconds(b"-12.5"), Some(-12_500_000_000));
        assert_eq!(seconds(b"-0.25"), Some(-250_000_000));
        assert_eq!(seconds(b"1.0000000019"), Some(1_000_000_001));
        assert_eq!(seconds(b"9223372036854775807"), Some(i64::MAX));
        assert_eq!(seconds(b"-9223372036854775807.9"), Some(i64::MIN));
        for none in [&b"1."[..], b".5", b"1.x", b"1.5.5", b"9223372036854775808", b""] {
            assert_eq!(seconds(none), None);
        }
    }

    #[test]
    fn every_day_of_eight_centuries_follows_the_day_before() {
        let mut expected = days(1600, 1, 1).unwrap();
        assert_eq!(days(1970, 1, 1), Some(0));
        assert_eq!(days(2000, 2, 29), Some(11_016));
        for year in 1600..2400 {
            for month in 1..=12 {
                let mut day = 1;
                while let Some(number) = days(year, month, day) {
                    assert_eq!(number, expected, "{year}-{month}-{day}");
                    expected += 1;
                    day += 1;
                }
                assert!((29..=32).contains(&day));
            }
        }
        assert_eq!(days(2400, 1, 1), Some(expected));
        assert_eq!((days(2001, 2, 29), days(2000, 13, 1), days(2000, 0, 1)), (None, None, None));
    }

    #[test]
    fn calendar_times_are_read_with_and_without_seconds() {
        assert_eq!(calendar(b"1970-01-02 00:01"), Some((86_460, 0, 16)));
        assert_eq!(calendar(b"2026-11-23@10:11:12.25,x"), Some((1_795_428_672, 250_000_000, 22)));
        assert_eq!(calendar(b"2026-11-23T10:11:12 x"), Some((1_795_428_672, 0, 19)));
        assert_eq!(calendar(b"1969-12-31 23:59"), Some((-60, 0, 16)));
        for none in [&b"2026-11-23"[..], b"2026-13-23 10:11", b"2026-11-23 24:00", b"2026-11-23 10-11", b""] {
            assert_eq!(calendar(none), None);
        }
    }

    #[test]
    fn permissions_of_ls_are_bits_of_a_mode() {
        assert_eq!(permissions(b"drwxr-xr-x"), Some((Some(EntryKind::Directory), 0o040_755)));
        assert_eq!(permissions(b"-rw-r-----+"), Some((Some(EntryKind::File), 0o100_640)));
        assert_eq!(permissions(b"lrwsrwSrwt"), Some((Some(EntryKind::Link), 0o127_767)));
        assert_eq!(permissions(b"rwx-w---T"), Some((None, 0o1720)));
        for none in [&b""[..], b"+", b"rwxrwxrw", b"drwxrwxrwxx", b"xrwxrwxrwx", b"drwxrwxrwz", b"drwrrwxrwx"]
        {
            assert_eq!(permissions(none), None);
        }
    }
}
