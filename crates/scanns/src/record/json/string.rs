//! Strings of JSON: finds their ends, and replaces escapes.
//!
//! The end is searched in words of 8 bytes. One subtraction per word finds out whether it contains a quote, a
//! backslash or a control character. Only the first mark in a word is reliable, and only the first mark is
//! used. Long strings are searched in blocks of 32 bytes, which compilers vectorise.

use crate::record::error::RecordError;

const ONES: u64 = u64::MAX / 255;
const HIGHS: u64 = ONES << 7;

/// The number of bytes that are searched as one block.
const BLOCK: usize = 32;

/// Marks the high bit of each byte of a word that is below `least`; correct up to the first such byte.
#[inline]
fn below(word: u64, least: u8) -> u64 {
    word.wrapping_sub(ONES * u64::from(least)) & !word & HIGHS
}

/// The first quote, backslash or control character at or after `at`, or the end.
#[inline]
fn stop(bytes: &[u8], mut at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    let (words, _) = rest.as_chunks::<8>();
    for (number, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let quote = below(word ^ (ONES * u64::from(b'"')), 1);
        let backslash = below(word ^ (ONES * u64::from(b'\\')), 1);
        let found = quote | backslash | below(word, 0x20);
        if found != 0 {
            return at + found.trailing_zeros() as usize / 8;
        }
        at += 8;
        // Most strings have ended here.
        if number == 3 {
            return stop_far(bytes, at);
        }
    }
    stop_slow(bytes, at)
}

#[inline]
fn stops(byte: u8) -> bool {
    byte == b'"' || byte == b'\\' || byte < 0x20
}

/// Like [`stop`], for long strings.
fn stop_far(bytes: &[u8], at: usize) -> usize {
    let (blocks, _) = bytes.get(at..).unwrap_or_default().as_chunks::<BLOCK>();
    let clean = |block: &[u8; BLOCK]| !block.iter().fold(false, |any, &byte| any | stops(byte));
    let clean = blocks.iter().take_while(|block| clean(block)).count();
    stop_slow(bytes, at + clean * BLOCK)
}

/// Like [`stop`], byte by byte.
fn stop_slow(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest.iter().position(|&byte| stops(byte)).unwrap_or(rest.len())
}

/// Returns the position of the closing quote of the string whose first byte is at `start`, and true if the
/// string contains escapes.
///
/// # Errors
/// A string that is not closed, or that contains control characters or invalid escapes.
#[inline]
pub(in crate::record) fn end(bytes: &[u8], start: usize) -> Result<(usize, bool), RecordError> {
    let at = stop(bytes, start);
    if bytes.get(at) == Some(&b'"') {
        return Ok((at, false));
    }
    end_behind(bytes, at)
}

/// Like [`end`], from a backslash or an invalid byte on.
fn end_behind(bytes: &[u8], mut at: usize) -> Result<(usize, bool), RecordError> {
    loop {
        match bytes.get(at) {
            Some(b'"') => return Ok((at, true)),
            Some(b'\\') => at = stop(bytes, escape(bytes, at)?.1),
            Some(_) => return Err(RecordError::expected(at, "a control character written as \\u00XX")),
            None => return Err(RecordError::expected(at, "the closing quote of a string")),
        }
    }
}

/// The character of the escape whose backslash is at `at`, and where the escape ends.
fn escape(bytes: &[u8], at: usize) -> Result<(char, usize), RecordError> {
    let plain = match bytes.get(at + 1) {
        Some(&byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => return unicode(bytes, at),
        _ => return Err(RecordError::expected(at + 1, "one of \" \\ / b f n r t u")),
    };
    Ok((plain, at + 2))
}

/// Like [`escape`] for `\uXXXX`, or for two of them that form a surrogate pair.
fn unicode(bytes: &[u8], at: usize) -> Result<(char, usize), RecordError> {
    let wrong = || RecordError::expected(at + 2, "four hexadecimal digits");
    let high = hexadecimal(bytes, at + 2).ok_or_else(wrong)?;
    if let Some(character) = char::from_u32(high) {
        return Ok((character, at + 6));
    }
    let follows = bytes.get(at + 6..).is_some_and(|rest| rest.starts_with(b"\\u"));
    let low = if follows { hexadecimal(bytes, at + 8) } else { None };
    match (high, low) {
        (0xd800..0xdc00, Some(low @ 0xdc00..0xe000)) => {
            let character = char::from_u32(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00));
            Ok((character.unwrap_or(char::REPLACEMENT_CHARACTER), at + 12))
        }
        _ => Err(RecordError::expected(at, "a character or a whole surrogate pair")),
    }
}

fn hexadecimal(bytes: &[u8], at: usize) -> Option<u32> {
    let digits = bytes.get(at..)?.first_chunk::<4>()?;
    digits.iter().try_fold(0, |sum, &digit| Some(sum << 4 | char::from(digit).to_digit(16)?))
}

/// Writes the text of a string to `out`; `raw` is what [`end`] found between the quotes.
pub(in crate::record) fn unescape(raw: &[u8], out: &mut Vec<u8>) {
    out.clear();
    let mut at = 0;
    while let Some(clean) = memchr::memchr(b'\\', raw.get(at..).unwrap_or_default()) {
        out.extend_from_slice(raw.get(at..at + clean).unwrap_or_default());
        // Invalid escapes were refused by [`end`].
        let Ok((character, next)) = escape(raw, at + clean) else { return };
        out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        at = next;
    }
    out.extend_from_slice(raw.get(at..).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_the_same_as_byte_by_byte() {
        let seed = 0x5eed_57a6;
        let mut random = fastrand::Rng::with_seed(seed);
        for round in 0..50_000 {
            let rare = [b'"', b'\\', 0x1f, 0x20, 0, 0x21, 0x23, 0x5b, 0x5d, 0x7f, 0x80, 0xa2, 0xdc, 0xff];
            let often = random.usize(1..60);
            let byte = |random: &mut fastrand::Rng| match random.usize(..often) {
                0 => rare[random.usize(..rare.len())],
                _ => random.u8(b'a'..=b'z'),
            };
            let bytes: Vec<u8> = (0..random.usize(..150)).map(|_| byte(&mut random)).collect();
            let at = random.usize(..=bytes.len());
            assert_eq!(stop(&bytes, at), stop_slow(&bytes, at), "seed {seed:x} round {round} {bytes:?} {at}");
        }
    }

    #[test]
    fn escapes_stand_for_characters() {
        for (raw, text) in [
            (r"", ""),
            (r"\n\r\t\b\f\/\\\u0041", "\n\r\t\u{8}\u{c}/\\A"),
            (r"a\u00e4\u00C4z", "aäÄz"),
            (r"\ud83d\ude00!", "😀!"),
            (r"\u0000\uffff\ud7ff\ue000", "\0\u{ffff}\u{d7ff}\u{e000}"),
            (r"\ud800\udc00\udbff\udfff", "\u{10000}\u{10ffff}"),
        ] {
            let quoted = format!("{raw}\" more");
            assert_eq!(end(quoted.as_bytes(), 0), Ok((raw.len(), !raw.is_empty())), "{raw}");
            let mut out = b"old".to_vec();
            unescape(raw.as_bytes(), &mut out);
            assert_eq!(std::str::from_utf8(&out), Ok(text), "{raw}");
        }
        for raw in [
            r"\",
            r"\x41",
            r"\U0041",
            r"\u",
            r"\u004",
            r"\u00g0",
            r"\u+041",
            r"\ud800",
            r"\udc00",
            r"\ud800x",
            r"\ud800\n",
            r"\ud800\u0041",
            r"\ud800\ud800",
            r"\udc00\ud800",
            r"\ud800\u",
        ] {
            assert!(end(format!("{raw}\"").as_bytes(), 0).is_err(), "{raw}");
        }
    }
}
