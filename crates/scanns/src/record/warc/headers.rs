//! The named values of a header: of a record and of an HTTP response.

use std::borrow::Cow;

use super::lines::{parse_number, split_line, without_end};
use super::{MAX_HEADER, MAX_LENGTH};

/// One line of a header, with the lines that continue it.
pub(super) enum HeaderLine<'a> {
    /// A name, and the bytes of its value with line ends between continued lines.
    Named(&'a [u8], &'a [u8]),
    /// A line without a colon.
    Other,
}

/// The lines of a header after its first line; `header` may end with a blank line.
pub(super) fn header_lines(header: &[u8]) -> impl Iterator<Item = HeaderLine<'_>> {
    let mut rest = split_line(header).1;
    std::iter::from_fn(move || {
        let first = split_line(rest).0;
        if without_end(first).is_empty() {
            return None;
        }
        let mut len = first.len();
        while let Some(more) = rest.get(len..)
            && (more.starts_with(b" ") || more.starts_with(b"\t"))
        {
            len += split_line(more).0.len();
        }
        let (line, after) = rest.split_at_checked(len)?;
        rest = after;
        Some(parse_line(line))
    })
}

/// Parts a line into its name and its value.
fn parse_line(line: &[u8]) -> HeaderLine<'_> {
    let parts = memchr::memchr(b':', line).and_then(|colon| line.split_at_checked(colon));
    match parts {
        Some((name, value)) if !name.trim_ascii().is_empty() => {
            let value = value.strip_prefix(b":").unwrap_or(value);
            HeaderLine::Named(name.trim_ascii(), value.trim_ascii())
        }
        _ => HeaderLine::Other,
    }
}

/// A value with each line end between continued lines, and the blanks around it, as one space.
pub(super) fn unfold(value: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memchr(b'\n', value).is_none() {
        return Cow::Borrowed(value);
    }
    let lines: Vec<&[u8]> = value.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).collect();
    Cow::Owned(lines.join(&b' '))
}

/// What the header of a record says, each value from the first line that has it.
#[derive(Debug, Default)]
pub(super) struct WarcHeader<'a> {
    /// The number of bytes, with the blank line.
    pub(super) len: usize,
    /// The length of the block, or None if there is no valid one.
    pub(super) block_len: Option<u64>,
    pub(super) kind: &'a [u8],
    pub(super) record_id: &'a [u8],
    pub(super) trec_id: &'a [u8],
    pub(super) url: &'a [u8],
    pub(super) date: &'a [u8],
    pub(super) ip: &'a [u8],
    pub(super) digest: &'a [u8],
    pub(super) content_type: &'a [u8],
    pub(super) is_truncated: bool,
    pub(super) is_segment: bool,
    /// Whether there are lines without a name.
    pub(super) has_other_lines: bool,
}

impl<'a> WarcHeader<'a> {
    /// Reads a header that ends with a blank line.
    pub(super) fn parse(header: &'a [u8]) -> Self {
        let mut parsed = Self { len: header.len(), ..Self::default() };
        let mut length: &[u8] = b"";
        for line in header_lines(header) {
            match line {
                HeaderLine::Named(name, value) if name.eq_ignore_ascii_case(b"Content-Length") => {
                    first(&mut length, value);
                }
                HeaderLine::Named(name, value) => parsed.take(name, value),
                HeaderLine::Other => parsed.has_other_lines = true,
            }
        }
        parsed.block_len = parse_number(length).filter(|len| *len <= MAX_LENGTH);
        parsed
    }

    /// Takes the value of a name.
    fn take(&mut self, name: &[u8], value: &'a [u8]) {
        if name.eq_ignore_ascii_case(b"Content-Type") {
            return first(&mut self.content_type, value);
        }
        let Some((prefix, name)) = name.split_at_checked(5) else { return };
        if !prefix.eq_ignore_ascii_case(b"WARC-") {
            return;
        }
        let is = |wanted: &str| name.eq_ignore_ascii_case(wanted.as_bytes());
        match () {
            () if is("Type") => first(&mut self.kind, value),
            () if is("Record-ID") => first(&mut self.record_id, value),
            () if is("TREC-ID") => first(&mut self.trec_id, value),
            () if is("Target-URI") => first(&mut self.url, value),
            () if is("Date") => first(&mut self.date, value),
            () if is("IP-Address") => first(&mut self.ip, value),
            () if is("Payload-Digest") => first(&mut self.digest, value),
            () if is("Truncated") => self.is_truncated = true,
            () if is("Segment-Number") => self.is_segment = true,
            () => {}
        }
    }

    /// The number of bytes of the header and the block.
    pub(super) fn record_len(&self) -> Option<u64> {
        Some(self.block_len? + u64::try_from(self.len.min(MAX_HEADER)).ok()?)
    }
}

/// Sets a value that is not there yet.
fn first<'a>(place: &mut &'a [u8], value: &'a [u8]) {
    if place.is_empty() {
        *place = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_any_case_and_values_continue_on_lines_that_begin_with_blanks() {
        let header = b"WARC/1.0\r\nwarc-TYPE: response\r\nWARC-Target-URI: http://a\r\n  b\nno name\n\
            Content-Length:\n 12\nWARC-Date:x\n\n";
        let header = WarcHeader::parse(header);
        assert_eq!(header.kind, b"response");
        assert_eq!(unfold(header.url).as_ref(), b"http://a b");
        assert_eq!(header.block_len, Some(12));
        assert_eq!(header.date, b"x");
        assert!(header.has_other_lines);
    }

    #[test]
    fn a_length_that_is_negative_or_absurd_is_none() {
        for length in ["-1", "18446744073709551616", "9999999999999999", "1x", "", "0x10", "+3"] {
            let header = format!("WARC/1.0\nContent-Length: {length}\n\n");
            assert_eq!(WarcHeader::parse(header.as_bytes()).block_len, None, "{length}");
        }
    }
}
