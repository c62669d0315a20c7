//! The web pages of WT2G, WT10G and GOV2: a header with the address and the answer of the server, and HTML.

use super::body::{Body, HEADLINE, MIME, STATUS, TEXT, TrecReader, URL};
use super::sgml::element_of;
use crate::content::html::declared_charset;
use crate::record::corpus::tags::Tags;
use crate::record::made_record::MadeRecord;
use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};
use memchr::{memchr, memmem};
use std::borrow::Cow;

/// A page: its header and its HTML.
#[derive(Clone, Copy)]
pub(super) struct Page<'a> {
    header: &'a [u8],
    html: &'a [u8],
    is_closed: bool,
}

/// The page of a document that has a header before any other element that counts.
pub(super) fn find_header(body: Body<'_>) -> Option<Page<'_>> {
    let mut tags = Tags::new(body.bytes, body.start);
    let start = tags.find(|tag| tag.opens(b"dochdr") || element_of(tag).is_some())?;
    if !start.opens(b"dochdr") {
        return None;
    }
    if let Some(end) = tags.find(|tag| tag.closes(b"dochdr")) {
        let header = body.bytes.get(start.end..end.start)?;
        return Some(Page { header, html: body.bytes.get(end.end..)?, is_closed: true });
    }
    let rest = body.bytes.get(start.end..)?;
    let length = memmem::find(rest, b"\n\n").or_else(|| memchr(b'<', rest)).unwrap_or(rest.len());
    let (header, html) = rest.split_at_checked(length)?;
    Some(Page { header, html, is_closed: false })
}

impl TrecReader {
    /// Reads a web page.
    pub(super) fn read_web(&mut self, page: Page<'_>, into: &mut MadeRecord) {
        if !page.is_closed {
            self.deviations.add("header without end");
        }
        for line in page.header.split(|byte| *byte == b'\n') {
            put_line(line.trim_ascii(), into);
        }
        self.page.read(&to_utf8(page.html));
        into.put(HEADLINE, self.page.title.trim_ascii());
        into.put(TEXT, self.page.text.trim_ascii());
    }
}

/// A page as UTF-8. One that is not is in the encoding that it declares, or else in windows-1252.
fn to_utf8(html: &[u8]) -> Cow<'_, [u8]> {
    if std::str::from_utf8(html).is_ok() {
        return html.into();
    }
    let declared = declared_charset(html).and_then(Encoding::for_label);
    let encoding = declared.filter(|encoding| *encoding != UTF_8).unwrap_or(WINDOWS_1252);
    Cow::Owned(encoding.decode_without_bom_handling(html).0.into_owned().into_bytes())
}

/// Puts what a line of the header says.
fn put_line(line: &[u8], into: &mut MadeRecord) {
    let first = line.split(u8::is_ascii_whitespace).next().unwrap_or_default();
    let after = line.get(first.len()..).unwrap_or_default().trim_ascii();
    let is_missing = |name| into.values().all(|value| value.0 != name);
    if first.starts_with(b"HTTP/") {
        let status = after.get(..3).filter(|digits| digits.iter().all(u8::is_ascii_digit));
        if is_missing(STATUS) {
            into.put(STATUS, status.unwrap_or_default());
        }
    } else if memmem::find(first, b"://").is_some() && is_missing(URL) {
        into.put(URL, first);
    } else if first.eq_ignore_ascii_case(b"content-type:") && is_missing(MIME) {
        let mime = after.split(|byte| *byte == b';').next().unwrap_or_default();
        into.put(MIME, mime.trim_ascii());
    }
}
