//! The records of pax extension headers: `LENGTH KEY=VALUE\n`, with the length of the whole record.

use super::number::{decimal, set_parsed};
use super::sparse::SparseRecords;

/// What pax records tell about a member.
#[derive(Clone, Default)]
pub(super) struct PaxRecords {
    pub(super) path: Option<Vec<u8>>,
    pub(super) target: Option<Vec<u8>>,
    pub(super) size: Option<u64>,
    pub(super) modified: Option<i64>,
    pub(super) uid: Option<u32>,
    pub(super) gid: Option<u32>,
    pub(super) owner: Option<Vec<u8>>,
    pub(super) group: Option<Vec<u8>>,
    pub(super) sparse: SparseRecords,
}

impl PaxRecords {
    /// Takes in records, of which later ones replace earlier ones; returns the number that are not valid.
    pub(super) fn read(&mut self, bytes: &[u8]) -> u64 {
        let mut malformed = 0;
        let mut rest = bytes;
        // Some writers pad the records with NULs.
        while rest.first().is_some_and(|&byte| byte != 0) {
            let Some((record, after)) = next_record(rest) else { return malformed + 1 };
            malformed += u64::from(!self.set(record));
            rest = after;
        }
        malformed
    }

    /// Sets the value of a record; returns whether it is valid. An empty value removes an earlier one.
    fn set(&mut self, record: PaxRecord<'_>) -> bool {
        let value = record.value;
        match record.key {
            b"path" => set_text(&mut self.path, value),
            b"linkpath" => set_text(&mut self.target, value),
            b"uname" => set_text(&mut self.owner, value),
            b"gname" => set_text(&mut self.group, value),
            b"size" => set_parsed(&mut self.size, value, decimal),
            b"mtime" => set_parsed(&mut self.modified, value, time),
            b"uid" => set_parsed(&mut self.uid, value, |value| u32::try_from(decimal(value)?).ok()),
            b"gid" => set_parsed(&mut self.gid, value, |value| u32::try_from(decimal(value)?).ok()),
            key => match key.strip_prefix(b"GNU.sparse.") {
                Some(key) => self.sparse.set(key, value),
                None => true,
            },
        }
    }
}

/// A record.
#[derive(Clone, Copy)]
struct PaxRecord<'b> {
    key: &'b [u8],
    value: &'b [u8],
}

/// The first record and the bytes after it.
fn next_record(bytes: &[u8]) -> Option<(PaxRecord<'_>, &[u8])> {
    let space = bytes.iter().take(20).position(|&byte| byte == b' ')?;
    let length = usize::try_from(decimal(bytes.get(..space)?)?).ok()?;
    let (record, rest) = bytes.split_at_checked(length)?;
    let record = record.get(space + 1..)?.strip_suffix(b"\n")?;
    let equals = memchr::memchr(b'=', record)?;
    Some((PaxRecord { key: record.get(..equals)?, value: record.get(equals + 1..)? }, rest))
}

fn set_text(to: &mut Option<Vec<u8>>, value: &[u8]) -> bool {
    *to = (!value.is_empty()).then(|| value.to_vec());
    !value.contains(&0)
}

/// Nanoseconds of seconds with a fraction, such as `-1.5`. Digits beyond nanoseconds are cut off.
fn time(value: &[u8]) -> Option<i64> {
    let (negative, value) = match value.strip_prefix(b"-") {
        Some(value) => (true, value),
        None => (false, value),
    };
    let dot = memchr::memchr(b'.', value).unwrap_or(value.len());
    let (seconds, fraction) = value.split_at_checked(dot)?;
    let fraction = fraction.get(1..).unwrap_or_default();
    if !fraction.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let digits = fraction.iter().chain(std::iter::repeat(&b'0')).take(9);
    let nanoseconds = digits.fold(0_i64, |value, digit| value * 10 + i64::from(digit - b'0'));
    let seconds = i64::try_from(decimal(seconds)?).ok()?;
    let total = seconds.checked_mul(1_000_000_000)?.checked_add(nanoseconds)?;
    Some(if negative { -total } else { total })
}

#[cfg(test)]
mod tests {
    use super::{PaxRecords, time};

    #[test]
    fn the_latest_record_wins_and_an_empty_one_removes() {
        let mut records = PaxRecords::default();
        assert_eq!(records.read(b"9 path=a\n9 path=b\n11 size=12\n9 uname=\n"), 0);
        assert_eq!(records.path.as_deref(), Some(&b"b"[..]));
        assert_eq!(records.size, Some(12));
        assert_eq!(records.read(b"8 path=\n\0\0\0"), 0);
        assert_eq!(records.path, None);
    }

    #[test]
    fn malformed_records_are_counted_and_left_out() {
        let cases: [(&[u8], u64); 8] = [
            (b"11 size=1x\n", 1),
            (b"11 size=-1\n", 1),
            (b"9 path=a", 1),
            (b"99999999999999999999 path=a\n", 1),
            (b"x path=a\n", 1),
            (b"0 path=a\n", 1),
            (b"8 patha\n", 1),
            (b"29 size=18446744073709551615\n", 1),
        ];
        for (bytes, malformed) in cases {
            let mut records = PaxRecords::default();
            assert_eq!(records.read(bytes), malformed, "{}", bytes.escape_ascii());
            assert!(records.path.is_none() && records.size.is_none());
        }
    }

    #[test]
    fn a_time_has_a_sign_and_a_fraction() {
        let cases: [(&[u8], Option<i64>); 8] = [
            (b"1", Some(1_000_000_000)),
            (b"1.5", Some(1_500_000_000)),
            (b"-1.25", Some(-1_250_000_000)),
            (b"1.0000000019", Some(1_000_000_001)),
            (b"1.", Some(1_000_000_000)),
            (b".5", None),
            (b"1.x", None),
            (b"9999999999999", None),
        ];
        for (text, value) in cases {
            assert_eq!(time(text), value, "{}", text.escape_ascii());
        }
    }
}
