//! Values of headers: unfolded, with encoded words (RFC 2047) decoded.
//!
//! ```text
//! word = "=?" charset [ "*" language ] "?" ( "B" | "Q" ) "?" text "?="
//! ```
//! Blanks between two words are left out. Words of one charset that follow one another are joined before
//! they are decoded, since some programs cut characters.

use super::{charset::MailText, transfer};
use memchr::{memchr, memmem};

/// The longest label of a charset.
const LABEL_MAX: usize = 64;

/// An encoded word.
struct Word<'a> {
    charset: &'a [u8],
    bytes: Vec<u8>,
    length: usize,
}

impl MailText {
    /// Appends the value of a header.
    pub(super) fn push_header(&mut self, value: &[u8], into: &mut Vec<u8>) {
        let value = unfold(value);
        let mut rest = value.trim_ascii();
        // The charset and the bytes of the words before `rest`.
        let mut joined: Option<(&[u8], Vec<u8>)> = None;
        let mut searched = 0;
        while let Some(at) = memmem::find(rest.get(searched..).unwrap_or_default(), b"=?") {
            let at = searched + at;
            let (text, after) = rest.split_at_checked(at).unwrap_or((rest, b""));
            let Some(word) = word_at(after) else {
                searched = at + 2;
                continue;
            };
            let is_joined = text.iter().all(u8::is_ascii_whitespace);
            let same = joined.as_ref().is_some_and(|words| words.0.eq_ignore_ascii_case(word.charset));
            if joined.is_some() && !(is_joined && same) {
                self.flush(joined.take(), into);
                if !is_joined {
                    self.push(b"", text, into);
                }
            } else if joined.is_none() {
                self.push(b"", text, into);
            }
            joined.get_or_insert((word.charset, Vec::new())).1.extend_from_slice(&word.bytes);
            rest = after.get(word.length..).unwrap_or_default();
            searched = 0;
        }
        self.flush(joined, into);
        self.push(b"", rest, into);
    }

    fn flush(&mut self, words: Option<(&[u8], Vec<u8>)>, into: &mut Vec<u8>) {
        if let Some((charset, bytes)) = words {
            self.push(charset, &bytes, into);
        }
    }
}

/// A value without its line breaks.
fn unfold(value: &[u8]) -> Vec<u8> {
    value.iter().copied().filter(|byte| !matches!(byte, b'\r' | b'\n')).collect()
}

/// Reads the word that begins at a `=?`.
fn word_at(bytes: &[u8]) -> Option<Word<'_>> {
    let start = bytes.get(2..)?;
    let label = start.get(..start.len().min(LABEL_MAX))?;
    let label = label.get(..memchr(b'?', label)?)?;
    let encoding = *start.get(label.len() + 1)?;
    let text = start.get(label.len() + 2..)?.strip_prefix(b"?")?;
    let text = text.get(..memchr(b'?', text)?)?;
    let length = 2 + label.len() + 3 + text.len() + 2;
    if label.is_empty() || bytes.get(length - 1) != Some(&b'=') {
        return None;
    }
    let mut decoded = Vec::new();
    match encoding.to_ascii_uppercase() {
        b'B' => {
            transfer::push_base64(text, &mut decoded);
        }
        b'Q' => push_q(text, &mut decoded),
        _ => return None,
    }
    let charset = label.split(|byte| *byte == b'*').next()?;
    Some(Word { charset, bytes: decoded, length })
}

fn push_q(text: &[u8], into: &mut Vec<u8>) {
    let text: Vec<u8> = text.iter().map(|&byte| if byte == b'_' { b' ' } else { byte }).collect();
    transfer::push_hex_escapes(&text, b'=', into);
}
