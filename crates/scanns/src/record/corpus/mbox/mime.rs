//! The parts of a message (RFC 2045, 2046): which are text, which are named only.
//!
//! ```text
//! multipart = ( "--" boundary LF header LF body LF )* "--" boundary "--" LF
//! ```
//! Text and HTML are read, also those of messages inside of the message. Of alternatives, the plain text is
//! read, or else the HTML, or else the first multipart. All other parts, and those marked as attachments,
//! give their name if they have one. HTML is in the charset of its part, or else in the one that it declares.
//! Parts may be nested 20 deep, and a message has at most 1,000; each level is one pass over its bytes.

use super::{
    ATTACHMENT, MboxReader, TEXT,
    header::{Headers, main_value, parameter},
    transfer,
};
use crate::content::html::declared_charset;
use crate::record::made_record::MadeRecord;
use memchr::memmem;
use std::borrow::Cow;

const NESTING_MAX: usize = 20;
const PARTS_MAX: usize = 1_000;

/// How a part stands in its message.
#[derive(Clone, Copy)]
struct PartPlace {
    depth: usize,
    /// Whether its text is read, and not only the names of attachments.
    wants_text: bool,
    /// The content type if it has none.
    default_type: &'static [u8],
}

impl MboxReader {
    /// Reads the parts of a message.
    pub(super) fn put_parts(&mut self, headers: &Headers<'_>, into: &mut MadeRecord) {
        self.parts_left = PARTS_MAX;
        self.put_part(headers, PartPlace { depth: 0, wants_text: true, default_type: b"text/plain" }, into);
    }

    fn put_part(&mut self, headers: &Headers<'_>, place: PartPlace, into: &mut MadeRecord) {
        if place.depth > NESTING_MAX {
            return self.text.deviations.add("parts nested more than 20 deep");
        }
        let Some(left) = self.parts_left.checked_sub(1) else {
            return self.text.deviations.add("more than 1,000 parts");
        };
        self.parts_left = left;
        let content_type = headers.first(b"content-type").unwrap_or(place.default_type);
        let kind = main_value(content_type);
        if kind.starts_with(b"multipart/") {
            self.put_multipart(headers, &kind, place, into);
        } else if kind == b"message/rfc822" {
            let place = PartPlace { depth: place.depth + 1, default_type: b"text/plain", ..place };
            self.put_part(&Headers::read(headers.body), place, into);
        } else if is_text(headers, &kind) {
            if place.wants_text {
                self.put_text(headers, &kind, content_type, into);
            }
        } else {
            self.put_attachment(headers, content_type, into);
        }
    }

    fn put_multipart(&mut self, headers: &Headers<'_>, kind: &[u8], place: PartPlace, into: &mut MadeRecord) {
        let content_type = headers.first(b"content-type").unwrap_or_default();
        let boundary = parameter(content_type, b"boundary").unwrap_or_default().value;
        let (parts, is_closed) = split_parts(headers.body, &boundary);
        if !is_closed {
            self.text.deviations.add("multipart without end");
        }
        if parts.is_empty() {
            self.text.deviations.add("multipart without parts");
            return self.put_text(headers, b"text/plain", b"", into);
        }
        let default_type: &[u8] = if kind == b"multipart/digest" { b"message/rfc822" } else { b"text/plain" };
        let parts: Vec<Headers<'_>> = parts.into_iter().map(Headers::read).collect();
        let chosen = if kind == b"multipart/alternative" { choose(&parts) } else { None };
        for (number, part) in parts.iter().enumerate() {
            let wants_text = place.wants_text && chosen.is_none_or(|chosen| chosen == number);
            self.put_part(part, PartPlace { depth: place.depth + 1, wants_text, default_type }, into);
        }
    }

    fn put_text(&mut self, headers: &Headers<'_>, kind: &[u8], content_type: &[u8], into: &mut MadeRecord) {
        let bytes = self.decode(headers);
        let charset = parameter(content_type, b"charset").unwrap_or_default().value;
        let mut text = Vec::new();
        if kind != b"text/html" {
            self.text.push(&charset, &bytes, &mut text);
            return into.put(TEXT, text.trim_ascii());
        }
        let declared = declared_charset(&bytes).unwrap_or_default();
        let charset = if charset.is_empty() { declared } else { &charset };
        self.text.push(charset, &bytes, &mut text);
        self.page.read(&text);
        into.put(TEXT, self.page.text.trim_ascii());
    }

    /// The body of a part without its transfer encoding.
    fn decode<'a>(&mut self, headers: &Headers<'a>) -> Cow<'a, [u8]> {
        let encoding = main_value(headers.first(b"content-transfer-encoding").unwrap_or_default());
        let mut decoded = Vec::new();
        let is_clean = match encoding.as_slice() {
            b"base64" => transfer::push_base64(headers.body, &mut decoded),
            b"quoted-printable" => transfer::push_quoted_printable(headers.body, &mut decoded),
            b"" | b"7bit" | b"8bit" | b"binary" => return headers.body.into(),
            _ => {
                self.text.deviations.add("unknown transfer encoding");
                return headers.body.into();
            }
        };
        if !is_clean {
            self.text.deviations.add("malformed transfer encoding");
        }
        decoded.into()
    }

    fn put_attachment(&mut self, headers: &Headers<'_>, content_type: &[u8], into: &mut MadeRecord) {
        let disposition = headers.first(b"content-disposition").unwrap_or_default();
        let name = parameter(disposition, b"filename").or_else(|| parameter(content_type, b"name"));
        let name = name.unwrap_or_default();
        into.make(ATTACHMENT, |bytes| match &name.charset {
            Some(charset) => self.text.push(charset, &name.value, bytes),
            None => self.text.push_header(&name.value, bytes),
        });
    }
}

/// Whether a part is text to be read.
fn is_text(headers: &Headers<'_>, kind: &[u8]) -> bool {
    let disposition = main_value(headers.first(b"content-disposition").unwrap_or_default());
    // A content type without a slash is read as plain text (RFC 2045, 5.2).
    let is_readable = matches!(kind, b"text/plain" | b"text/html") || !kind.contains(&b'/');
    is_readable && disposition != b"attachment"
}

/// The number of the alternative that is read.
fn choose(parts: &[Headers<'_>]) -> Option<usize> {
    let rank =
        |part: &Headers<'_>| match main_value(part.first(b"content-type").unwrap_or_default()).as_slice() {
            b"text/plain" | b"" => 0,
            b"text/html" => 1,
            kind if kind.starts_with(b"multipart/") => 2,
            _ => 3,
        };
    (0..parts.len()).min_by_key(|&number| parts.get(number).map_or(4, rank))
}

/// The parts between lines of a boundary, and whether the last line is there.
fn split_parts<'a>(body: &'a [u8], boundary: &[u8]) -> (Vec<&'a [u8]>, bool) {
    let mut parts = Vec::new();
    let mut start = None;
    if boundary.is_empty() {
        return (parts, false);
    }
    let mark = [b"--", boundary].concat();
    for at in memmem::find_iter(body, &mark) {
        let before = body.get(..at).unwrap_or_default();
        let after = body.get(at + mark.len()..).unwrap_or_default();
        let Some((is_last, length)) =
            line_end(after).filter(|_| before.is_empty() || before.ends_with(b"\n"))
        else {
            continue;
        };
        let before = before.strip_suffix(b"\n").unwrap_or(before);
        let before = before.strip_suffix(b"\r").unwrap_or(before);
        parts.extend(start.map(|start| before.get(start..).unwrap_or_default()));
        if is_last || parts.len() > PARTS_MAX {
            return (parts, is_last);
        }
        start = Some(at + mark.len() + length);
    }
    parts.extend(start.and_then(|start| body.get(start..)));
    (parts, false)
}

/// Whether a line of a boundary is the last one, and the length of what follows the boundary.
fn line_end(after: &[u8]) -> Option<(bool, usize)> {
    let is_last = after.starts_with(b"--");
    let rest = after.get(if is_last { 2 } else { 0 }..)?;
    let blanks = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r')).count();
    let length = after.len() - rest.len() + blanks;
    match rest.get(blanks) {
        Some(b'\n') => Some((is_last, length + 1)),
        None => Some((is_last, length)),
        Some(_) => None,
    }
}
