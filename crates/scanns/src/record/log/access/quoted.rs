//! Values in quotes, with escapes: `\"`, `\\`, `\n` and the like, and `\xHH` for any byte.
//!
//! Apache and nginx escape quotes, but old versions and other servers do not. A quote therefore only ends a
//! value if what must follow does.

use memchr::{memchr, memchr2};

/// Splits a text that begins behind an opening quote: the value, and the text behind its closing quote. None
/// if no quote ends it.
pub(super) fn split_quoted(text: &[u8], may_follow: fn(&[u8]) -> bool) -> Option<(&[u8], &[u8])> {
    let mut at = 0;
    loop {
        at += memchr2(b'"', b'\\', text.get(at..)?)?;
        let rest = text.get(at + 1..)?;
        if text.get(at) == Some(&b'\\') {
            at += 2;
        } else if may_follow(rest) {
            return Some((text.get(..at)?, rest));
        } else {
            at += 1;
        }
    }
}

/// Appends a value with the bytes that its escapes stand for. What is not an escape stays as it is.
pub(super) fn push_unescaped(value: &[u8], into: &mut Vec<u8>) {
    let mut rest = value;
    while let Some(at) = memchr(b'\\', rest) {
        let (plain, escape) = rest.split_at_checked(at).unwrap_or((rest, b""));
        into.extend_from_slice(plain);
        let (byte, len) = unescape(escape).unwrap_or((b'\\', 1));
        into.push(byte);
        rest = escape.get(len..).unwrap_or_default();
    }
    into.extend_from_slice(rest);
}

/// The byte of the escape that a text begins with, and the length of the escape.
fn unescape(text: &[u8]) -> Option<(u8, usize)> {
    let byte = match *text.get(1)? {
        byte @ (b'"' | b'\\') => byte,
        b'b' => 8,
        b't' => b'\t',
        b'n' => b'\n',
        b'v' => 11,
        b'r' => b'\r',
        b'x' => return Some((hexadecimal(*text.get(2)?)? << 4 | hexadecimal(*text.get(3)?)?, 4)),
        _ => return None,
    };
    Some((byte, 2))
}

fn hexadecimal(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_stand_for_bytes_and_others_stay() {
        for (value, expected) in [
            (r"plain", &b"plain"[..]),
            (r#"a\"b\\c"#, br#"a"b\c"#),
            (r"\x16\x03\x01\xFfz", b"\x16\x03\x01\xffz"),
            (r"K\xc3\xb6ln", "Köln".as_bytes()),
            (r"\b\t\n\v\r", b"\x08\t\n\x0b\r"),
            (r"\", br"\"),
            (r"\x", br"\x"),
            (r"\x4", br"\x4"),
            (r"\xg0\q", br"\xg0\q"),
            (r"\\x41", br"\x41"),
        ] {
            let mut into = Vec::new();
            push_unescaped(value.as_bytes(), &mut into);
            assert_eq!(into, expected, "{value}");
        }
    }

    #[test]
    fn a_quote_ends_a_value_only_if_what_must_follow_does() {
        let split = |text| split_quoted(text, |rest| rest.is_empty() || rest.starts_with(b" "));
        assert_eq!(split(br#"a b" c"#), Some((&b"a b"[..], &b" c"[..])));
        assert_eq!(split(br#"a"b" c"#), Some((&br#"a"b"#[..], &b" c"[..])));
        assert_eq!(split(br#"a\" b""#), Some((&br#"a\" b"#[..], &b""[..])));
        assert_eq!(split(br#"a\\" b"#), Some((&br"a\\"[..], &b" b"[..])));
        for open in [&br#"a\""#[..], b"a", b"", br"a\", br#"a"b"#] {
            assert_eq!(split(open), None);
        }
    }
}
