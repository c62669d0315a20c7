//! The web pages of WT2G, WT10G and GOV2: a header with the address and the answer of the server, and HTML.

use super::body::{Body, HEADLINE, MIME, STATUS, TEXT, TrecReader, URL};
use super::sgml::element_of;
use crate::record::corpus::tags::Tags;
use crate::record::made_record::MadeRecord;
use crate::record::page_charset::{CharsetHints, charset_of, to_utf8};
use crate::record::warc::host_of;
use memchr::{memchr, memmem};

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
        let lines = || page.header.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
        lines().for_each(|line| self.put_line(line, into));
        let named = lines().find_map(|line| charset_of(content_type(line)?));
        let host = host_of(lines().find(|line| is_url(line)).unwrap_or_default());
        // Files of TREC are converted as a whole if they are not in UTF-8.
        let hints = CharsetHints { named, may_declare: true, may_be_converted: true, host: &host };
        let (text, _) = to_utf8(page.html, &hints, &mut self.deviations);
        self.page.read(&text);
        into.put(HEADLINE, self.page.title.trim_ascii());
        into.put(TEXT, self.page.text.trim_ascii());
    }

    /// Puts what a line of the header says.
    fn put_line(&mut self, line: &[u8], into: &mut MadeRecord) {
        let first = line.split(u8::is_ascii_whitespace).next().unwrap_or_default();
        let after = line.get(first.len()..).unwrap_or_default().trim_ascii();
        let is_missing = |name| into.values().all(|value| value.0 != name);
        if first.starts_with(b"HTTP/") {
            let status = after.get(..3).filter(|digits| digits.iter().all(u8::is_ascii_digit));
            if is_missing(STATUS) {
                self.put_value(STATUS, status.unwrap_or_default(), into);
            }
        } else if is_url(first) && is_missing(URL) {
            self.put_value(URL, first, into);
        } else if let Some(content_type) = content_type(line)
            && is_missing(MIME)
        {
            let mime = content_type.split(|byte| *byte == b';').next().unwrap_or_default();
            self.put_value(MIME, mime.trim_ascii(), into);
        }
    }
}

/// True for a line or word with a URL.
fn is_url(text: &[u8]) -> bool {
    let first = text.split(u8::is_ascii_whitespace).next().unwrap_or_default();
    memmem::find(first, b"://").is_some()
}

/// The type that a line of the header names.
fn content_type(line: &[u8]) -> Option<&[u8]> {
    let (name, value) = line.split_at_checked(b"content-type:".len())?;
    name.eq_ignore_ascii_case(b"content-type:").then(|| value.trim_ascii())
}
