//! The line before each record of an ARC file.

use super::lines::{Begins, parse_number, split_line, without_end};
use super::{MAX_HEADER, MAX_LENGTH};

/// The most bytes of a URL line.
pub(super) const MAX_ARC_LINE: usize = 16 << 10;

/// What a URL line says.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ArcLine<'a> {
    /// The number of bytes, with the line end.
    pub(super) len: usize,
    /// The length of the block, or None if there is no valid one.
    pub(super) block_len: Option<u64>,
    pub(super) url: &'a [u8],
    pub(super) ip: &'a [u8],
    pub(super) date: &'a [u8],
    pub(super) mime: &'a [u8],
}

impl<'a> ArcLine<'a> {
    /// Reads the line that `bytes` begin with.
    pub(super) fn parse(bytes: &'a [u8]) -> Option<Self> {
        let line = split_line(bytes.get(..MAX_ARC_LINE).unwrap_or(bytes)).0;
        if line.len() == MAX_ARC_LINE {
            return None;
        }
        let text = without_end(line).trim_ascii_end();
        // From the end, since URLs may have spaces.
        let mut words = text.rsplitn(5, |byte| *byte == b' ');
        let mut next = || words.next().unwrap_or_default();
        let parts = [next(), next(), next(), next()];
        if let Some(parsed) = Self::from_parts(line.len(), next(), parts) {
            return Some(parsed);
        }
        let mut words = text.rsplitn(10, |byte| *byte == b' ');
        let length = words.next().unwrap_or_default();
        let mut words = words.skip(5);
        let mut next = || words.next().unwrap_or_default();
        let parts = [length, next(), next(), next()];
        Self::from_parts(line.len(), next(), parts)
    }

    /// Checks the length, the type, the date, and the address of a line, and its URL.
    fn from_parts(len: usize, url: &'a [u8], parts: [&'a [u8]; 4]) -> Option<Self> {
        let [length, mime, date, ip] = parts;
        let block_len = parse_number(length).filter(|len| *len <= MAX_LENGTH);
        let line = Self { len, block_len, url, ip, date, mime };
        let is_date = (12..=18).contains(&date.len()) && date.iter().all(u8::is_ascii_digit);
        let is_ip = !ip.is_empty() && ip.iter().all(|byte| byte.is_ascii_hexdigit() || b".:".contains(byte));
        let is_url = memchr::memchr(b':', url)
            .and_then(|colon| url.get(..colon))
            .is_some_and(|scheme| scheme.first().is_some_and(u8::is_ascii_alphabetic) && is_scheme(scheme));
        (is_date && is_ip && is_url).then_some(line)
    }

    /// Whether the record describes the file.
    pub(super) fn is_file_description(&self) -> bool {
        self.url.starts_with(b"filedesc:")
    }

    /// The number of bytes of the line and the block.
    pub(super) fn record_len(&self) -> Option<u64> {
        Some(self.block_len? + u64::try_from(self.len.min(MAX_HEADER)).ok()?)
    }
}

/// Whether bytes may be the scheme of a URL.
fn is_scheme(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(byte))
}

/// Whether `bytes` begin with a URL line.
pub(super) fn begins_with_arc_line(bytes: &[u8], is_end: bool) -> Begins {
    let head = bytes.get(..MAX_ARC_LINE).unwrap_or(bytes);
    if !is_end && head.len() < MAX_ARC_LINE && memchr::memchr(b'\n', head).is_none() {
        return Begins::Unknown;
    }
    if ArcLine::parse(head).is_some() { Begins::Yes } else { Begins::No }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_both_versions_are_read_and_urls_may_have_spaces() {
        let one = ArcLine::parse(b"http://a/b c 1.2.3.4 20140216050221 text/html 15\nx").unwrap();
        assert_eq!((one.url, one.ip, one.block_len), (&b"http://a/b c"[..], &b"1.2.3.4"[..], Some(15)));
        let two =
            ArcLine::parse(b"http://a/ 1.2.3.4 20140216050221 text/html 200 c - 10 f.arc 15\r\n").unwrap();
        assert_eq!((two.url, two.mime, two.block_len), (&b"http://a/"[..], &b"text/html"[..], Some(15)));
        assert_eq!(two.len, 64);
        for line in ["http://a/ 1.2.3.4 2014 text/html 15", "a b c d e", "", " 1.2.3.4 20140216050221 t 15"] {
            assert_eq!(ArcLine::parse(line.as_bytes()), None, "{line}");
        }
    }
}
