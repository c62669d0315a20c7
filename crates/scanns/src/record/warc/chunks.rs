//! The body of a response in chunks: `Transfer-Encoding: chunked`.
//!
//! ```text
//! body  = *chunk "0" rest-of-line [ named values ] CRLF
//! chunk = length in hexadecimal, rest-of-line, bytes, CRLF
//! ```
//!
//! Source: RFC 9112, section 7.1.

use super::deviations::{CUT_CHUNKS, NOT_CHUNKED, WRONG_CHUNKS};
use super::lines::{split_line, without_end};
use crate::record::deviations::Deviations;

/// The most bytes of a line with a length.
const MAX_CHUNK_LINE: usize = 4 << 10;

/// The bytes of all chunks, or None if `body` is not chunked.
///
/// A wrong chunk and all bytes after it are taken as they are.
pub(super) fn join_chunks(body: &[u8], deviations: &mut Deviations) -> Option<Vec<u8>> {
    let mut joined = Vec::new();
    let mut rest = body;
    let mut is_first = true;
    while !rest.is_empty() {
        let Some((len, after)) = chunk_len(rest) else {
            if is_first {
                deviations.add(NOT_CHUNKED);
                return None;
            }
            deviations.add(WRONG_CHUNKS);
            joined.extend_from_slice(rest);
            return Some(joined);
        };
        if len == 0 {
            return Some(joined);
        }
        is_first = false;
        let Some((chunk, after)) = after.split_at_checked(len) else {
            joined.extend_from_slice(after);
            break;
        };
        joined.extend_from_slice(chunk);
        let line_end = after.strip_prefix(b"\r\n").or(after.strip_prefix(b"\n"));
        if line_end.is_none() && !after.is_empty() {
            deviations.add(WRONG_CHUNKS);
            joined.extend_from_slice(after);
            return Some(joined);
        }
        rest = line_end.unwrap_or(after);
    }
    // The last chunk was not there.
    if !body.is_empty() {
        deviations.add(CUT_CHUNKS);
    }
    Some(joined)
}

/// The length of the chunk that `bytes` begin with, and the bytes after its line.
fn chunk_len(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let line = split_line(bytes.get(..MAX_CHUNK_LINE).unwrap_or(bytes)).0;
    if !line.ends_with(b"\n") {
        return None;
    }
    let len = without_end(line).split(|byte| *byte == b';').next()?.trim_ascii();
    if len.is_empty() || !len.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    let len = usize::from_str_radix(std::str::from_utf8(len).ok()?, 16).ok()?;
    Some((len, bytes.get(line.len()..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_joined_and_deviations_told() {
        type ChunkRow = (&'static [u8], Option<&'static [u8]>, &'static [&'static str]);
        let rows: &[ChunkRow] = &[
            (b"3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n", Some(b"abcde"), &[]),
            (b"3\nabc\n0\n\n", Some(b"abc"), &[]),
            (b"000003 \r\nabc\r\n0\r\nA: b\r\n\r\n", Some(b"abc"), &[]),
            (b"<html>\r\n", None, &[NOT_CHUNKED]),
            (b"-3\r\nabc", None, &[NOT_CHUNKED]),
            (b"fffffffffffffffff\r\nabc", None, &[NOT_CHUNKED]),
            (b"ffffffffffffffff\r\nabc", Some(b"abc"), &[CUT_CHUNKS]),
            (b"3\r\nabc\r\nzz\r\n", Some(b"abczz\r\n"), &[WRONG_CHUNKS]),
            (b"3\r\nabcd\r\n", Some(b"abcd\r\n"), &[WRONG_CHUNKS]),
            (b"3\r\nabc\r\n", Some(b"abc"), &[CUT_CHUNKS]),
            (b"", Some(b""), &[]),
        ];
        for (body, joined, kinds) in rows {
            let mut deviations = Deviations::default();
            assert_eq!(join_chunks(body, &mut deviations).as_deref(), *joined, "{}", body.escape_ascii());
            assert_eq!(deviations.kinds(), *kinds, "{}", body.escape_ascii());
        }
    }
}
