//! Converts the values of columns. A value is unknown if it is empty, `null` or the like; nothing wraps, and
//! nothing is rounded in silence except digits beyond nanoseconds, and sizes with suffixes.

use jiff::civil;
use jiff::fmt::strtime;
use jiff::tz::TimeZone;

use super::conversion::Conversion;
use crate::record::dump::number;
use crate::schema::{EpochUnit, parse_date, parse_epoch};
use crate::source::{EntryKind, nanoseconds};

/// A value of a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TableValue<'v> {
    /// No value.
    Null,
    /// A text, or a number in digits.
    Text(&'v [u8]),
    /// A number without a sign.
    Unsigned(u64),
    /// A number with a sign.
    Signed(i64),
    /// A number that may have a fraction.
    Float(f64),
    /// A time, in nanoseconds since 1970.
    Moment(i64),
    /// True or false.
    Flag(bool),
}

/// A value, `None` if it is unknown, or what was expected instead.
pub(super) type Converted<T> = Result<Option<T>, &'static str>;

const NUMBER: &str = "a whole number";
const MOMENT: &str = "a time";
const MODE: &str = "permissions";

/// The words with which programs write that a value is unknown.
const UNKNOWN: [&str; 8] = ["null", "none", "nan", "nat", "na", "n/a", "\\n", "-"];

/// True if a text says that a value is unknown.
pub(super) fn is_unknown(text: &[u8]) -> bool {
    let text = text.trim_ascii();
    text.is_empty() || UNKNOWN.iter().any(|word| text.eq_ignore_ascii_case(word.as_bytes()))
}

/// The value of a text, if it is one; `None` for one that says that it is unknown.
#[inline]
fn of_text<T>(text: &[u8], what: &'static str, read: impl Fn(&[u8]) -> Option<T>) -> Converted<T> {
    match read(text) {
        Some(value) => Ok(Some(value)),
        None => of_odd_text(text, what, read),
    }
}

/// Like [`of_text`], for a text that may have blanks around it.
#[cold]
fn of_odd_text<T>(text: &[u8], what: &'static str, read: impl Fn(&[u8]) -> Option<T>) -> Converted<T> {
    match read(text.trim_ascii()) {
        Some(value) => Ok(Some(value)),
        None if is_unknown(text) => Ok(None),
        None => Err(what),
    }
}

/// The value as a number of 64 bits.
#[inline]
pub(super) fn number(conversion: &Conversion, value: TableValue<'_>) -> Converted<u64> {
    match value {
        TableValue::Null => Ok(None),
        TableValue::Text(text) if *conversion == Conversion::Hexadecimal => {
            of_text(text, "a hexadecimal number", |text| {
                number::hexadecimal(text.strip_prefix(b"0x").unwrap_or(text))
            })
        }
        TableValue::Text(text) => of_text(text, NUMBER, whole),
        TableValue::Unsigned(number) => Ok(Some(number)),
        TableValue::Signed(number) => u64::try_from(number).map(Some).map_err(|_| NUMBER),
        TableValue::Float(number) => of_float(number),
        TableValue::Moment(_) | TableValue::Flag(_) => Err(NUMBER),
    }
}

/// A whole number in decimal digits; programs that know floating-point numbers only add `.0` or an exponent.
fn whole(text: &[u8]) -> Option<u64> {
    number::decimal(text).or_else(|| {
        let is_float = text.iter().any(|byte| matches!(byte, b'.' | b'e' | b'E'));
        let is_number = text.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+'));
        let text = std::str::from_utf8(text).ok().filter(|_| is_float && is_number)?;
        of_float(text.parse().ok()?).ok()?
    })
}

/// A floating-point number that is whole and exact.
#[expect(clippy::cast_possible_truncation, reason = "the number is whole and less than 2^64")]
#[expect(clippy::cast_sign_loss, reason = "the number is not negative")]
fn of_float(number: f64) -> Converted<u64> {
    if number.is_nan() {
        return Ok(None);
    }
    let is_whole = number.fract() == 0.0 && (0.0..18_446_744_073_709_551_616.0).contains(&number);
    if is_whole { Ok(Some(number as u64)) } else { Err(NUMBER) }
}

/// The value as a size in bytes.
#[inline]
pub(super) fn size(conversion: &Conversion, value: TableValue<'_>) -> Converted<u64> {
    const LARGE: &str = "a size below 16 EiB";
    match (conversion, value) {
        (Conversion::Human, TableValue::Text(text)) => of_text(text, "a size such as 1.5 GiB", human),
        (Conversion::Units(units), value) => match number(conversion, value)? {
            Some(number) => number.checked_mul(*units).map(Some).ok_or(LARGE),
            None => Ok(None),
        },
        (_, value) => number(conversion, value),
    }
}

/// A number with a suffix as on the command line: `k` and `KiB` are 1024, `kB` is 1000.
#[expect(clippy::cast_possible_truncation, reason = "the number is less than 2^64")]
#[expect(clippy::cast_sign_loss, reason = "the number has no sign")]
#[expect(clippy::cast_precision_loss, reason = "a size with a suffix is rounded anyway")]
fn human(text: &[u8]) -> Option<u64> {
    let digits = text.iter().position(|byte| !byte.is_ascii_digit() && *byte != b'.').unwrap_or(text.len());
    let (digits, suffix) = text.split_at_checked(digits)?;
    let suffix = suffix.trim_ascii().to_ascii_lowercase();
    let (letter, rest) = suffix.split_first().map_or((b'b', &[][..]), |(letter, rest)| (*letter, rest));
    let base: u64 = match rest {
        b"" | b"ib" => 1024,
        b"b" => 1000,
        b"ytes" | b"yte" if letter == b'b' => 1024,
        _ => return None,
    };
    let factor = match letter {
        b'b' if rest != b"ib" && rest != b"b" => 1,
        letter => {
            let power = b"kmgtpe".iter().position(|known| *known == letter)?;
            base.checked_pow(u32::try_from(power).ok()? + 1)?
        }
    };
    if let Some(number) = number::decimal(digits) {
        return number.checked_mul(factor);
    }
    let number: f64 = std::str::from_utf8(digits).ok()?.parse().ok()?;
    let size = (number * factor as f64).round();
    (size < 18_446_744_073_709_551_616.0).then_some(size as u64)
}

/// The value as a time in nanoseconds since 1970. A time that does not fit is the least or greatest one.
#[inline]
pub(super) fn moment(conversion: &Conversion, value: TableValue<'_>) -> Converted<i64> {
    match (value, conversion) {
        (TableValue::Null, _) => Ok(None),
        (TableValue::Moment(moment), _) => Ok(Some(moment)),
        (TableValue::Text(text), Conversion::Epoch(unit)) => {
            of_text(text, "a number since 1970", |text| epoch(text, *unit))
        }
        (TableValue::Text(text), Conversion::Iso(zone)) => {
            of_text(text, "a date such as 2026-01-31 12:00:00", |text| date(text, zone.as_ref()))
        }
        (TableValue::Text(text), Conversion::Strptime(format)) => {
            of_text(text, "a date in the format of its column", |text| formatted(text, format))
        }
        (TableValue::Unsigned(number), Conversion::Epoch(unit)) => {
            Ok(Some(i64::try_from(number).unwrap_or(i64::MAX).saturating_mul(factor(*unit))))
        }
        (TableValue::Signed(number), Conversion::Epoch(unit)) => {
            Ok(Some(number.saturating_mul(factor(*unit))))
        }
        (TableValue::Float(number), Conversion::Epoch(unit)) => Ok(of_seconds(number, *unit)),
        _ => Err(MOMENT),
    }
}

/// Nanoseconds of a unit.
fn factor(unit: EpochUnit) -> i64 {
    match unit {
        EpochUnit::Seconds => 1_000_000_000,
        EpochUnit::Milliseconds => 1_000_000,
        EpochUnit::Microseconds => 1000,
        EpochUnit::Nanoseconds => 1,
    }
}

#[inline]
fn epoch(text: &[u8], unit: EpochUnit) -> Option<i64> {
    if let Some(number) = number::signed(text) {
        return Some(number.saturating_mul(factor(unit)));
    }
    match unit {
        EpochUnit::Seconds => number::seconds(text),
        _ => None,
    }
    .or_else(|| parse_epoch(text, unit))
}

/// A number of floating point as a time: whole units are exact.
#[expect(clippy::cast_possible_truncation, reason = "a number out of range becomes the nearest one")]
#[expect(clippy::cast_precision_loss, reason = "the factor is a power of ten below 2^53")]
fn of_seconds(number: f64, unit: EpochUnit) -> Option<i64> {
    if number.is_nan() {
        return None;
    }
    let (whole, rest) = (number.floor() as i64, number - number.floor());
    let factor = factor(unit);
    Some(whole.saturating_mul(factor).saturating_add((rest * factor as f64).round() as i64))
}

/// A date; one without an offset is in `zone`, or in UTC.
fn date(text: &[u8], zone: Option<&TimeZone>) -> Option<i64> {
    // Most dates are of this form.
    match (number::calendar(text), zone) {
        (Some((seconds, fraction, len)), None) => match text.get(len..)? {
            b"" | b"Z" => return Some(nanoseconds(seconds, fraction)),
            _ => {}
        },
        (Some((seconds, fraction, len)), Some(zone)) if len == text.len() => {
            let civil = civil::DateTime::constant(1970, 1, 1, 0, 0, 0, 0);
            let span = jiff::SignedDuration::new(seconds, i32::try_from(fraction).ok()?);
            let local = civil.checked_add(span).ok()?.to_zoned(zone.clone()).ok()?;
            return of_timestamp(local.timestamp());
        }
        (None, Some(_)) if text.len() == 10 => {
            return date(&[text, b" 00:00"].concat(), zone);
        }
        _ => {}
    }
    parse_date(text)
}

/// A date in a format of `strptime`; one without an offset is in UTC.
fn formatted(text: &[u8], format: &str) -> Option<i64> {
    let parsed = strtime::parse(format, text).ok()?;
    if let Ok(timestamp) = parsed.to_timestamp() {
        return of_timestamp(timestamp);
    }
    let civil = parsed.to_datetime().or_else(|_| {
        let midnight = civil::Time::midnight();
        parsed.to_date().map(|date| date.to_datetime(midnight))
    });
    of_timestamp(civil.ok()?.to_zoned(TimeZone::UTC).ok()?.timestamp())
}

fn of_timestamp(timestamp: jiff::Timestamp) -> Option<i64> {
    Some(nanoseconds(timestamp.as_second(), i64::from(timestamp.subsec_nanosecond())))
}

/// The value as permissions, with the kind if they tell it.
pub(super) fn mode(conversion: &Conversion, value: TableValue<'_>) -> Converted<(u32, Option<EntryKind>)> {
    let with_kind = |mode: u32| (mode, EntryKind::of_mode(mode));
    match (conversion, value) {
        (Conversion::Symbolic, TableValue::Text(text)) => {
            let read = |text: &[u8]| number::permissions(text).map(|(kind, mode)| (mode, kind));
            of_text(text, "permissions such as drwxr-x---", read)
        }
        (Conversion::Octal, TableValue::Text(text)) => {
            let read = |text: &[u8]| number::octal(text.strip_prefix(b"0o").unwrap_or(text)).map(with_kind);
            of_text(text, "permissions in octal digits", read)
        }
        // Digits of an octal number that were taken for a decimal one.
        (Conversion::Octal, TableValue::Unsigned(_) | TableValue::Signed(_)) => {
            match number(&Conversion::Plain, value)? {
                Some(digits) => {
                    number::octal(digits.to_string().as_bytes()).map(with_kind).map(Some).ok_or(MODE)
                }
                None => Ok(None),
            }
        }
        (Conversion::Symbolic, TableValue::Null) => Ok(None),
        (Conversion::Symbolic, _) => Err(MODE),
        _ => match number(&Conversion::Plain, value)? {
            Some(mode) => u32::try_from(mode).map(with_kind).map(Some).map_err(|_| MODE),
            None => Ok(None),
        },
    }
}

/// Types by the words and letters that programs use.
const KINDS: [(&str, EntryKind); 39] = [
    ("file", EntryKind::File),
    ("f", EntryKind::File),
    ("-", EntryKind::File),
    ("directory", EntryKind::Directory),
    ("dir", EntryKind::Directory),
    ("d", EntryKind::Directory),
    ("regular file", EntryKind::File),
    ("regular empty file", EntryKind::File),
    ("regular", EntryKind::File),
    ("reg", EntryKind::File),
    ("object", EntryKind::File),
    ("folder", EntryKind::Directory),
    ("link", EntryKind::Link),
    ("l", EntryKind::Link),
    ("symlink", EntryKind::Link),
    ("symbolic link", EntryKind::Link),
    ("lnk", EntryKind::Link),
    ("slink", EntryKind::Link),
    ("fifo", EntryKind::Fifo),
    ("p", EntryKind::Fifo),
    ("pipe", EntryKind::Fifo),
    ("named pipe", EntryKind::Fifo),
    ("socket", EntryKind::Socket),
    ("s", EntryKind::Socket),
    ("sock", EntryKind::Socket),
    ("device", EntryKind::Device),
    ("b", EntryKind::Device),
    ("c", EntryKind::Device),
    ("blk", EntryKind::Device),
    ("chr", EntryKind::Device),
    ("block", EntryKind::Device),
    ("char", EntryKind::Device),
    ("block device", EntryKind::Device),
    ("character device", EntryKind::Device),
    ("char device", EntryKind::Device),
    ("block special file", EntryKind::Device),
    ("character special file", EntryKind::Device),
    ("block special", EntryKind::Device),
    ("character special", EntryKind::Device),
];

/// The value as a type.
pub(super) fn kind(conversion: &Conversion, value: TableValue<'_>) -> Converted<EntryKind> {
    if *conversion == Conversion::IsDirectory {
        let of = |is: bool| if is { EntryKind::Directory } else { EntryKind::File };
        return Ok(flag(value)?.map(of));
    }
    let TableValue::Text(text) = value else {
        return if value == TableValue::Null { Ok(None) } else { Err("a type such as file or directory") };
    };
    if *conversion == Conversion::Symbolic {
        let read = |text: &[u8]| number::permissions(text).and_then(|(kind, _)| kind);
        return of_text(text, "permissions such as drwxr-x---", read);
    }
    let read = |text: &[u8]| {
        let same = |(word, _): &&(&str, EntryKind)| text.eq_ignore_ascii_case(word.as_bytes());
        KINDS.iter().find(same).map(|(_, kind)| *kind)
    };
    of_text(text, "a type such as file or directory", read)
}

/// The value as true or false.
pub(super) fn flag(value: TableValue<'_>) -> Converted<bool> {
    match value {
        TableValue::Null => Ok(None),
        TableValue::Flag(flag) => Ok(Some(flag)),
        TableValue::Unsigned(number @ 0..=1) => Ok(Some(number == 1)),
        TableValue::Signed(number @ 0..=1) => Ok(Some(number == 1)),
        TableValue::Text(text) => {
            of_text(text, "true or false", |text| match text.to_ascii_lowercase().as_slice() {
                b"true" | b"t" | b"yes" | b"1" => Some(true),
                b"false" | b"f" | b"no" | b"0" => Some(false),
                _ => None,
            })
        }
        _ => Err("true or false"),
    }
}

/// Appends a text to `out`; false if there is none.
#[inline]
pub(super) fn text(
    conversion: &Conversion,
    value: TableValue<'_>,
    out: &mut Vec<u8>,
) -> Result<bool, &'static str> {
    match value {
        TableValue::Text(b"") | TableValue::Null => return Ok(false),
        TableValue::Text(text) => match conversion {
            Conversion::Percent => percent(text, false, out)?,
            Conversion::Url => percent(text, true, out)?,
            Conversion::Base64 => base64(text, out)?,
            _ => out.extend_from_slice(text),
        },
        TableValue::Unsigned(number) => out.extend_from_slice(number.to_string().as_bytes()),
        TableValue::Signed(number) => out.extend_from_slice(number.to_string().as_bytes()),
        TableValue::Float(_) | TableValue::Moment(_) | TableValue::Flag(_) => return Err("a text"),
    }
    Ok(true)
}

/// Appends a text in which `%XX` is a byte.
fn percent(text: &[u8], plus: bool, out: &mut Vec<u8>) -> Result<(), &'static str> {
    const WRONG: &str = "a text with bytes as %XX";
    let mut bytes = text.iter();
    while let Some(&byte) = bytes.next() {
        out.push(match byte {
            b'%' => {
                let mut digit = || bytes.next().and_then(|digit| number::hexadecimal_digit(*digit));
                digit().ok_or(WRONG)? << 4 | digit().ok_or(WRONG)?
            }
            b'+' if plus => b' ',
            byte => byte,
        });
    }
    Ok(())
}

/// Appends what a text in base 64 stands for, in the usual alphabet or the one for addresses.
fn base64(text: &[u8], out: &mut Vec<u8>) -> Result<(), &'static str> {
    const WRONG: &str = "a text in base 64";
    let end = text.iter().rposition(|byte| *byte != b'=').map_or(0, |last| last + 1);
    let (digits, padding) = text.split_at_checked(end).ok_or(WRONG)?;
    if padding.len() > 2 || !padding.is_empty() && !text.len().is_multiple_of(4) {
        return Err(WRONG);
    }
    for group in digits.chunks(4) {
        let mut bits = 0u32;
        for digit in group {
            bits = bits << 6 | u32::from(digit_of_64(*digit).ok_or(WRONG)?);
        }
        let [_, one, two, three] = (bits << (6 * (4 - group.len()))).to_be_bytes();
        let (bytes, rest): (&[u8], u8) = match group.len() {
            4 => (&[one, two, three], 0),
            3 => (&[one, two], three),
            2 => (&[one], two | three),
            _ => return Err(WRONG),
        };
        if rest != 0 {
            return Err(WRONG);
        }
        out.extend_from_slice(bytes);
    }
    Ok(())
}

fn digit_of_64(digit: u8) -> Option<u8> {
    match digit {
        b'A'..=b'Z' => Some(digit - b'A'),
        b'a'..=b'z' => Some(digit - b'a' + 26),
        b'0'..=b'9' => Some(digit - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    }
}
