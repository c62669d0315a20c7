//! The header of an HTTP response.

use super::MAX_HEADER;
use super::headers::{HeaderLine, header_lines};
use super::lines::{header_len, parse_number, split_line, without_end};

/// What the header of an HTTP response says.
#[derive(Debug, Default)]
pub(super) struct HttpHeader<'a> {
    /// The number of bytes, with the blank line.
    pub(super) len: usize,
    /// Whether a blank line ends it.
    pub(super) has_end: bool,
    pub(super) status: &'a [u8],
    pub(super) content_type: &'a [u8],
    pub(super) body_len: Option<u64>,
    pub(super) is_chunked: bool,
    /// All values of Content-Encoding, in order.
    pub(super) encodings: Vec<&'a [u8]>,
}

impl<'a> HttpHeader<'a> {
    /// Reads the header that a block begins with, if it is a response.
    pub(super) fn parse(block: &'a [u8]) -> Option<Self> {
        let first = without_end(split_line(block.get(..MAX_HEADER).unwrap_or(block)).0);
        if !first.get(..5)?.eq_ignore_ascii_case(b"HTTP/") {
            return None;
        }
        let end = header_len(block, MAX_HEADER);
        let len = end.unwrap_or(block.len().min(MAX_HEADER));
        let mut header = Self { len, has_end: end.is_some(), ..Self::default() };
        header.status = status_of(first);
        for line in header_lines(block.get(..len)?) {
            if let HeaderLine::Named(name, value) = line {
                header.take(name, value);
            }
        }
        Some(header)
    }

    /// Takes the value of a name.
    fn take(&mut self, name: &[u8], value: &'a [u8]) {
        let is = |wanted: &str| name.eq_ignore_ascii_case(wanted.as_bytes());
        match () {
            () if is("Content-Type") && self.content_type.is_empty() => self.content_type = value,
            () if is("Content-Length") => self.body_len = parse_number(value),
            () if is("Content-Encoding") => self.encodings.push(value),
            () if is("Transfer-Encoding") => self.is_chunked |= ends_with_chunked(value),
            () => {}
        }
    }
}

/// The status code of a status line, if it is one.
fn status_of(line: &[u8]) -> &[u8] {
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).skip(1);
    let status = words.next().unwrap_or_default();
    if status.len() == 3 && parse_number(status).is_some() { status } else { b"" }
}

/// Whether the last transfer encoding is `chunked`.
fn ends_with_chunked(value: &[u8]) -> bool {
    let last = value.rsplit(|byte| *byte == b',').next().unwrap_or_default();
    last.trim_ascii().eq_ignore_ascii_case(b"chunked")
}

/// The type of a Content-Type in lower case without its parameters, if it is one.
pub(super) fn mime_of(content_type: &[u8]) -> Vec<u8> {
    let end = content_type.iter().position(|byte| b";, \t\r\n".contains(byte));
    let mime = end.and_then(|end| content_type.get(..end)).unwrap_or(content_type);
    let is_mime = mime.contains(&b'/') && mime.iter().all(u8::is_ascii_graphic);
    if is_mime { mime.to_ascii_lowercase() } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::warc::headers::unfold;

    #[test]
    fn a_header_is_read_with_either_line_end_and_folded_lines() {
        for end in ["\n", "\r\n"] {
            let block = [
                "HTTP/1.1 404 Not Found",
                "content-type: text/html;",
                "  charset=\"x\"",
                "Transfer-Encoding: gzip, Chunked",
                "Content-Encoding: gzip",
                "Content-Encoding: br",
                "",
                "body",
            ]
            .join(end);
            let header = HttpHeader::parse(block.as_bytes()).unwrap();
            assert_eq!(header.status, b"404");
            assert_eq!(unfold(header.content_type).as_ref(), b"text/html; charset=\"x\"");
            assert_eq!(mime_of(header.content_type), b"text/html");
            assert!(header.is_chunked && header.has_end);
            assert_eq!(header.encodings, [&b"gzip"[..], b"br"]);
            assert_eq!(&block.as_bytes()[header.len..], b"body");
        }
    }

    #[test]
    fn a_block_without_a_status_line_has_no_header() {
        for block in ["", "HTTP", "HTTP is a protocol\n\n", "HTTPS/1.1 200\n\n", "<html>"] {
            assert!(HttpHeader::parse(block.as_bytes()).is_none(), "{block}");
        }
        let cut = HttpHeader::parse(b"HTTP/1.0 20\nContent-Type: a/b").unwrap();
        assert_eq!((cut.has_end, cut.status, cut.content_type), (false, &b""[..], &b"a/b"[..]));
    }
}
