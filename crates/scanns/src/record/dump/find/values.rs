//! Values of a row: numbers, times, permissions and letters of types.

use super::format::FindField;
use crate::record::dump::number::{decimal, octal, permissions};
use crate::source::{Entry, EntryKind, nanoseconds};

/// Puts a value into the entry.
///
/// # Errors
/// What was expected.
#[inline]
pub(super) fn put<'a>(field: FindField, value: &'a [u8], entry: &mut Entry<'a>) -> Result<(), &'static str> {
    const SIZE: &str = "a number was expected";
    // `scanns find` prints this for what its index does not know.
    if value == b"?" && !field.is_name() && field != FindField::Target {
        return Ok(());
    }
    match field {
        FindField::Size => entry.size = Some(number(value).ok_or(SIZE)?),
        FindField::Blocks => entry.blocks = Some(number(value).ok_or(SIZE)?),
        FindField::Kibibytes => {
            entry.blocks = Some(number(value).and_then(|units| units.checked_mul(2)).ok_or(SIZE)?);
        }
        FindField::Uid => entry.uid = Some(short(value).ok_or("a user id was expected")?),
        FindField::Gid => entry.gid = Some(short(value).ok_or("a group id was expected")?),
        FindField::Inode => entry.inode = Some(number(value).ok_or(SIZE)?),
        FindField::Links => entry.links = Some(number(value).ok_or(SIZE)?),
        FindField::Device => entry.device = Some(number(value).ok_or(SIZE)?),
        FindField::Modified => entry.mtime = time(value)?,
        FindField::Accessed => entry.atime = time(value)?,
        FindField::Changed => entry.ctime = time(value)?,
        FindField::Born => entry.btime = time(value)?,
        FindField::Kind => entry.kind = letter(value)?,
        FindField::Mode => {
            entry.mode = Some(octal(trimmed(value)).ok_or("permissions in octal were expected")?)
        }
        FindField::SymbolicMode => {
            let found = permissions(trimmed(value)).ok_or("permissions such as -rw-r--r-- were expected")?;
            (entry.mode, entry.kind) = (Some(found.1), entry.kind.or(found.0));
        }
        FindField::Stripes => entry.stripes = number(value),
        FindField::Project => entry.project = number(value),
        FindField::Pool => entry.pool = Some(value).filter(|pool| !pool.is_empty()),
        // A number instead of a name is an owner without a name.
        FindField::Owner => entry.owner = Some(value).filter(|name| !name.is_empty()),
        FindField::Group => entry.group = Some(value).filter(|name| !name.is_empty()),
        FindField::Target => entry.target = Some(value).filter(|target| !target.is_empty()),
        FindField::Path | FindField::Directory | FindField::Name | FindField::Other => {}
    }
    Ok(())
}

/// The value without the blanks and zeros of a width.
fn trimmed(value: &[u8]) -> &[u8] {
    value.trim_ascii()
}

#[inline]
fn number(value: &[u8]) -> Option<u64> {
    decimal(trimmed(value))
}

fn short(value: &[u8]) -> Option<u32> {
    u32::try_from(number(value)?).ok()
}

/// Nanoseconds since 1970; `None` for a time that is not known.
///
/// The fraction counts upwards from the second before, also for times before 1970, as find prints it: -1.5 is
/// half a second before 1970. Find prints an unknown time of birth with a negative fraction.
#[inline]
fn time(value: &[u8]) -> Result<Option<i64>, &'static str> {
    const EXPECTED: &str = "seconds since 1970 were expected";
    let value = trimmed(value);
    let (is_negative, digits) = match value.split_first() {
        None => return Ok(None),
        Some((b'-', digits)) => (true, digits),
        Some(_) => (false, value),
    };
    let dot = memchr::memchr(b'.', digits).unwrap_or(digits.len());
    let (whole, fraction) = digits.split_at_checked(dot).ok_or(EXPECTED)?;
    let seconds = number(whole).ok_or(EXPECTED)?;
    let fraction = fraction.get(1..).unwrap_or_default();
    if fraction.first() == Some(&b'-') {
        return Ok(None);
    }
    // Nine digits count; find prints one more.
    let nano = fraction.get(..9).unwrap_or(fraction);
    let scale = 10_u64.pow(9 - u32::try_from(nano.len()).unwrap_or(9));
    let nano = if nano.is_empty() { 0 } else { number(nano).ok_or(EXPECTED)? * scale };
    let seconds = i64::try_from(seconds).unwrap_or(i64::MAX);
    let seconds = if is_negative { -seconds } else { seconds };
    Ok(Some(nanoseconds(seconds, i64::try_from(nano).unwrap_or(0))))
}

fn letter(value: &[u8]) -> Result<Option<EntryKind>, &'static str> {
    Ok(Some(match trimmed(value) {
        [b'f' | b'-', ..] => EntryKind::File,
        [b'd', ..] => EntryKind::Directory,
        [b'l', ..] => EntryKind::Link,
        [b'p', ..] => EntryKind::Fifo,
        [b's', ..] => EntryKind::Socket,
        [b'b' | b'c' | b'D', ..] => EntryKind::Device,
        [b'U' | b'?', ..] => return Ok(None),
        _ => return Err("a letter of a type (f d l p s b c) was expected"),
    }))
}

/// Writes a path to `out` in which `\ooo` is a byte; false if a backslash stands for none, or for NUL.
pub(super) fn unescape(path: &[u8], out: &mut Vec<u8>) -> bool {
    out.clear();
    let mut bytes = path.iter();
    while let Some(&byte) = bytes.next() {
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        let digits = bytes.as_slice().get(..3).unwrap_or_default();
        match octal(digits).and_then(|value| u8::try_from(value).ok()).filter(|byte| *byte != 0) {
            Some(byte) if digits.len() == 3 => out.push(byte),
            _ => return false,
        }
        bytes = bytes.as_slice().get(3..).unwrap_or_default().iter();
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaped_bytes_are_read_back() {
        let mut out = Vec::new();
        assert!(unescape(br"/a\012\134b\377c", &mut out));
        assert_eq!(out, b"/a\n\\b\xffc");
        for text in [&b"/a\\"[..], br"\1", br"\12", br"\n12", br"\400", br"\000"] {
            assert!(!unescape(text, &mut out), "{}", text.escape_ascii());
        }
    }

    #[test]
    fn times_before_1970_count_their_fraction_upwards_and_unknown_births_have_none() {
        let times: [(&str, Option<i64>); 8] = [
            ("0.0000000000", Some(0)),
            ("1795669039.7186132900", Some(1_795_669_039_718_613_290)),
            ("-2.5000000000", Some(-1_500_000_000)),
            ("-1.-000000010", None),
            ("", None),
            (" 12", Some(12_000_000_000)),
            ("1.5", Some(1_500_000_000)),
            ("99999999999999999", Some(i64::MAX)),
        ];
        for (text, expected) in times {
            assert_eq!(time(text.as_bytes()), Ok(expected), "{text}");
        }
        for text in ["-", ".", "x", "1.x", "1-2", "--1"] {
            assert!(time(text.as_bytes()).is_err(), "{text}");
        }
    }

    #[test]
    fn a_question_mark_is_a_value_that_is_not_known_except_in_names() {
        let mut entry = Entry::default();
        for field in [FindField::Size, FindField::Uid, FindField::Mode, FindField::Modified, FindField::Owner]
        {
            assert_eq!(put(field, b"?", &mut entry), Ok(()));
        }
        assert_eq!(entry, Entry::default());
        assert_eq!(put(FindField::Target, b"?", &mut entry), Ok(()));
        assert_eq!(entry.target, Some(b"?".as_slice()));
    }
}
