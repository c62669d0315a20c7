//! Transfer encodings of mail: base64 and quoted-printable (RFC 2045), and escapes of two hex digits.

use memchr::memchr;

/// Appends decoded base64. Other bytes are skipped. Returns whether all bytes were base64.
pub(super) fn push_base64(text: &[u8], into: &mut Vec<u8>) -> bool {
    let mut is_clean = true;
    let (mut bits, mut count) = (0_u32, 0);
    for &byte in text {
        let Some(value) = base64_value(byte) else {
            is_clean &= byte == b'=' || byte.is_ascii_whitespace();
            if byte == b'=' {
                count = 0;
            }
            continue;
        };
        bits = (bits << 6) | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            into.push((bits >> count).to_le_bytes()[0]);
        }
    }
    is_clean
}

fn base64_value(byte: u8) -> Option<u8> {
    Some(match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    })
}

/// Appends decoded quoted-printable text. Returns whether each `=` began an escape or ended a line.
pub(super) fn push_quoted_printable(text: &[u8], into: &mut Vec<u8>) -> bool {
    let mut joined = Vec::with_capacity(text.len());
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        match line.trim_ascii_end().strip_suffix(b"=") {
            Some(line) => joined.extend_from_slice(line),
            None => joined.extend_from_slice(line),
        }
    }
    push_hex_escapes(&joined, b'=', into)
}

/// Appends text with a mark and two hex digits replaced by a byte. Returns whether each mark had two digits.
pub(super) fn push_hex_escapes(text: &[u8], mark: u8, into: &mut Vec<u8>) -> bool {
    let mut is_clean = true;
    let mut rest = text;
    while let Some(at) = memchr(mark, rest) {
        let (before, after) = rest.split_at_checked(at).unwrap_or((rest, b""));
        into.extend_from_slice(before);
        let byte = match after {
            [_, high, low, ..] => hex_value(*high).zip(hex_value(*low)).map(|(high, low)| high * 16 + low),
            _ => None,
        };
        is_clean &= byte.is_some();
        into.push(byte.unwrap_or(mark));
        rest = after.get(if byte.is_some() { 3 } else { 1 }..).unwrap_or_default();
    }
    into.extend_from_slice(rest);
    is_clean
}

fn hex_value(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}
