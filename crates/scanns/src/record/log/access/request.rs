//! The first line of an HTTP request.

use crate::record::log::line::split_word;
use memchr::memrchr;

/// The most bytes of a method and of a protocol.
const MOST_NAME: usize = 32;

/// The parts of a request line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RequestLine<'r> {
    pub method: &'r [u8],
    /// With the query, and as it is written.
    pub path: &'r [u8],
    /// Such as `HTTP/1.1`; empty in HTTP/0.9.
    pub protocol: &'r [u8],
}

impl<'r> RequestLine<'r> {
    /// Splits a request line; None if it is not one, such as the first bytes of TLS. The path may contain
    /// blanks.
    pub fn split(line: &'r [u8]) -> Option<Self> {
        let (method, rest) = split_word(line);
        if method.is_empty() || method.len() > MOST_NAME || !method.iter().all(is_of_method) {
            return None;
        }
        let last = memrchr(b' ', rest).map_or(0, |at| at + 1);
        let (path, protocol) = rest.split_at_checked(last)?;
        if is_protocol(protocol) {
            return Some(RequestLine { method, path: path.trim_ascii(), protocol });
        }
        let path = rest.trim_ascii();
        let is_path = path.starts_with(b"/") || path.starts_with(b"http") || path == b"*";
        is_path.then_some(RequestLine { method, path, protocol: b"" })
    }
}

fn is_of_method(byte: &u8) -> bool {
    byte.is_ascii_alphabetic() || matches!(byte, b'-' | b'_')
}

/// True for a name in capital letters, a slash and a number.
fn is_protocol(word: &[u8]) -> bool {
    if let [b'H', b'T', b'T', b'P', b'/', b'0'..=b'9', b'.', b'0'..=b'9'] = word {
        return true;
    }
    let mut parts = word.splitn(2, |byte| *byte == b'/');
    let (name, version) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    word.len() <= MOST_NAME
        && !name.is_empty()
        && name.iter().all(u8::is_ascii_uppercase)
        && version.first().is_some_and(u8::is_ascii_digit)
        && version.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn request_lines_have_a_method_a_path_and_a_protocol() {
        for (line, expected) in [
            ("GET / HTTP/1.1", Some(("GET", "/", "HTTP/1.1"))),
            ("GET /a b HTTP/1.0", Some(("GET", "/a b", "HTTP/1.0"))),
            ("GET /", Some(("GET", "/", ""))),
            ("GET /a HTTP", Some(("GET", "/a HTTP", ""))),
            ("OPTIONS * HTTP/1.0", Some(("OPTIONS", "*", "HTTP/1.0"))),
            ("CONNECT example.org:443 HTTP/1.1", Some(("CONNECT", "example.org:443", "HTTP/1.1"))),
            ("PRI * HTTP/2.0", Some(("PRI", "*", "HTTP/2.0"))),
            ("M-SEARCH http://x/ HTTP/3", Some(("M-SEARCH", "http://x/", "HTTP/3"))),
            ("OPTIONS rtsp://x RTSP/1.0", Some(("OPTIONS", "rtsp://x", "RTSP/1.0"))),
            ("GET  HTTP/1.1", Some(("GET", "", "HTTP/1.1"))),
            ("GET HTTP/1.1", Some(("GET", "", "HTTP/1.1"))),
            ("GET", None),
            ("", None),
            ("-", None),
            (" / HTTP/1.1", None),
            ("SSH-2.0-Go", None),
            ("t3 12.1.2", None),
            ("hello world", None),
            (r"\x16\x03\x01 / HTTP/1.1", None),
            ("MGLNDD_192.0.2.1_443 /", None),
        ] {
            let found = RequestLine::split(line.as_bytes());
            let text = |bytes| std::str::from_utf8(bytes).unwrap();
            let found = found.map(|parts| (text(parts.method), text(parts.path), text(parts.protocol)));
            assert_eq!(found, expected, "{line}");
        }
    }
}
