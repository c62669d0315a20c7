//! Lines of headers: they end with LF or CRLF.

use memchr::{memchr, memmem};

/// The most bytes of a version line.
const MAX_VERSION_LINE: usize = 20;

/// What bytes begin with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Begins {
    /// The line that was looked for.
    Yes,
    /// Something else.
    No,
    /// More bytes are needed to tell.
    Unknown,
}

/// Whether `bytes` begin with a version line such as `WARC/1.0`.
pub(super) fn begins_with_version(bytes: &[u8], is_end: bool) -> Begins {
    let head = bytes.get(..MAX_VERSION_LINE).unwrap_or(bytes);
    let is_cut = head.len() < MAX_VERSION_LINE && !is_end;
    let Some(rest) = head.strip_prefix(b"WARC/") else {
        return if is_cut && b"WARC/".starts_with(head) { Begins::Unknown } else { Begins::No };
    };
    let (line, has_end) = match memchr(b'\n', rest) {
        Some(end) => (rest.get(..end).unwrap_or(rest), true),
        None => (rest, false),
    };
    if line.iter().any(|byte| !byte.is_ascii_digit() && !b". \t\r".contains(byte)) {
        return Begins::No;
    }
    let is_version = line.first().is_some_and(u8::is_ascii_digit);
    match (has_end, is_cut) {
        (false, true) => Begins::Unknown,
        (false, false) if head.len() == MAX_VERSION_LINE => Begins::No,
        _ if is_version => Begins::Yes,
        _ => Begins::No,
    }
}

/// The place of the first version line at a line start in `bytes`, searched from `from` on; or the
/// place from which to search again when more bytes are there.
pub(super) fn find_version(bytes: &[u8], from: usize, is_end: bool) -> Result<usize, usize> {
    let mut at = from;
    while let Some(found) = bytes.get(at..).and_then(|rest| memmem::find(rest, b"WARC/")) {
        let place = at + found;
        if is_line_start(bytes, place) {
            match begins_with_version(bytes.get(place..).unwrap_or_default(), is_end) {
                Begins::Yes => return Ok(place),
                Begins::Unknown => return Err(place),
                Begins::No => {}
            }
        }
        at = place + 1;
    }
    Err(at.max(bytes.len().saturating_sub(4)))
}

/// Whether a line begins at a place.
fn is_line_start(bytes: &[u8], place: usize) -> bool {
    place.checked_sub(1).is_none_or(|before| bytes.get(before).is_some_and(|byte| *byte == b'\n'))
}

/// The first line of `bytes` with its end, and the rest. The last line may have no end.
pub(super) fn split_line(bytes: &[u8]) -> (&[u8], &[u8]) {
    let end = memchr(b'\n', bytes).map_or(bytes.len(), |end| end + 1);
    bytes.split_at_checked(end).unwrap_or((bytes, &[]))
}

/// A line without its end.
pub(super) fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// The number of bytes of line ends that `bytes` begin with.
pub(super) fn count_line_ends(bytes: &[u8]) -> usize {
    bytes.iter().position(|byte| !is_line_end(*byte)).unwrap_or(bytes.len())
}

/// Whether a byte is part of a line end.
pub(super) fn is_line_end(byte: u8) -> bool {
    byte == b'\n' || byte == b'\r'
}

/// The length of the header that `bytes` begin with, including the blank line after it, if it ends
/// within `limit` bytes.
pub(super) fn header_len(bytes: &[u8], limit: usize) -> Option<usize> {
    let head = bytes.get(..limit).unwrap_or(bytes);
    let mut rest = head;
    while !rest.is_empty() {
        let (line, after) = split_line(rest);
        if line.ends_with(b"\n") && without_end(line).is_empty() {
            return Some(head.len() - after.len());
        }
        rest = after;
    }
    None
}

/// A number of decimal digits.
pub(super) fn parse_number(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_line_is_told_from_its_first_bytes() {
        for (bytes, is_end, begins) in [
            (&b"WARC/1.0\r\n"[..], false, Begins::Yes),
            (b"WARC/0.18\nX", false, Begins::Yes),
            (b"WARC/1.0", true, Begins::Yes),
            (b"WARC/1.0", false, Begins::Unknown),
            (b"WA", false, Begins::Unknown),
            (b"WA", true, Begins::No),
            (b"WARC/", true, Begins::No),
            (b"WARC/x", false, Begins::No),
            (b"WARC/1.0 is a format\n", false, Begins::No),
            (b"WARC/11111111111111111111111111\n", false, Begins::No),
        ] {
            assert_eq!(begins_with_version(bytes, is_end), begins, "{:?}", bytes.escape_ascii().to_string());
        }
    }

    #[test]
    fn a_version_line_is_found_at_a_line_start_only() {
        assert_eq!(find_version(b"a WARC/1.0\nb\nWARC/1.0\n", 0, true), Ok(13));
        assert_eq!(find_version(b"a\nWARC/1", 0, false), Err(2));
        assert_eq!(find_version(b"a\nWAR", 0, false), Err(1));
    }
}
