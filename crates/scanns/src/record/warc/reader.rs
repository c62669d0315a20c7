//! Reads one record of a web archive: its values for the index.

use std::borrow::Cow;

use super::MAX_HEADER;
use super::arc::ArcLine;
use super::date::{arc_date, warc_date};
use super::deviations::*;
use super::headers::{WarcHeader, unfold};
use super::http::mime_of;
use super::lines::{Begins, begins_with_version, count_line_ends, header_len, is_line_end, split_line};
use super::payload::{HttpRule, PayloadKind, WarcBlock, WarcPayload, kind_of};
use super::sniff::looks_like_text;
use super::url::{bare_url, host_of, without_brackets};
use crate::content::html::{HtmlPage, looks_like_html};
use crate::content::language_of;
use crate::record::deviations::Deviations;
use crate::record::error::RecordError;
use crate::record::made_record::MadeRecord;
use crate::record::page_charset::{CharsetHints, to_utf8};

/// What a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarcContent {
    /// A document, with values.
    Document,
    /// Something else, without values: its kind.
    LeftOut(&'static str),
}

/// The numbers of the names.
#[derive(Clone, Copy)]
enum WarcName {
    Id,
    Url,
    Host,
    Date,
    Type,
    Status,
    Mime,
    Charset,
    Ip,
    Digest,
    Length,
    Title,
    Description,
    Keywords,
    Language,
    Text,
}

/// Reads one record.
#[derive(Default)]
pub struct WarcReader {
    page: HtmlPage,
    deviations: Deviations,
    /// Whether to find out in which language a page is that does not say so.
    detects_languages: bool,
}

/// Where a record comes from, before its payload is read.
struct RecordOrigin<'a> {
    kind: &'a [u8],
    id: &'a [u8],
    url: Cow<'a, [u8]>,
    date: Option<Vec<u8>>,
    ip: &'a [u8],
    digest: &'a [u8],
}

impl WarcReader {
    /// The names of the values; a value has the number of its name.
    pub const NAMES: [&'static str; 16] = [
        "id",
        "url",
        "host",
        "date",
        "type",
        "status",
        "mime",
        "charset",
        "ip",
        "digest",
        "length",
        "title",
        "description",
        "keywords",
        "language",
        "text",
    ];

    /// Makes the values of a record as [`WarcEnds`](super::WarcEnds) cuts it.
    ///
    /// # Errors
    /// If the header of the record does not end, or is too long.
    pub fn read(&mut self, record: &[u8], into: &mut MadeRecord) -> Result<WarcContent, RecordError> {
        self.deviations.clear();
        into.clear();
        match self.split(record)? {
            RecordParts::LeftOut(kind) => Ok(WarcContent::LeftOut(kind)),
            RecordParts::Document(origin, block) => {
                let payload = WarcPayload::read(&block, &mut self.deviations);
                self.put_values(&origin, &payload, into);
                Ok(WarcContent::Document)
            }
        }
    }

    /// The kinds of deviations of the record that was read last.
    pub fn deviations(&self) -> &[&'static str] {
        self.deviations.kinds()
    }

    /// Parts a record into what its header says and its block.
    fn split<'a>(&mut self, record: &'a [u8]) -> Result<RecordParts<'a>, RecordError> {
        let start = count_line_ends(record);
        let bytes = record.get(start..).unwrap_or_default();
        if begins_with_version(bytes, true) == Begins::Yes {
            // Two line ends may be what is left of a record that was skipped to the end of its block.
            if !matches!(record.get(..start), Some(b"" | b"\r\n\r\n" | b"\n\n")) {
                self.deviations.add(LINE_ENDS_BEFORE);
            }
            return self.split_warc(bytes, start);
        }
        match ArcLine::parse(bytes) {
            Some(line) => Ok(self.split_arc(&line, bytes)),
            None => Ok(RecordParts::LeftOut("bytes between records")),
        }
    }

    /// Parts a WARC record that begins at byte `start`.
    fn split_warc<'a>(&mut self, record: &'a [u8], start: usize) -> Result<RecordParts<'a>, RecordError> {
        let Some(len) = header_len(record, MAX_HEADER) else {
            return Err(match record.len() > MAX_HEADER {
                true => RecordError::expected(start + MAX_HEADER, "the end of the header within 64 KiB"),
                false => RecordError::expected(start + record.len(), "a blank line after the header"),
            });
        };
        let (head, body) = record.split_at_checked(len).unwrap_or((record, &[]));
        let header = WarcHeader::parse(head);
        if !split_line(head).0.ends_with(b"\r\n") {
            self.deviations.add(LF_LINES);
        }
        if header.has_other_lines {
            self.deviations.add(NOT_NAMED);
        }
        let bytes = self.block_of(body, header.block_len, &[b"\r\n\r\n", b"\n\n"]);
        let content_type = unfold(header.content_type);
        let http = match warc_kind(&header, &content_type, bytes) {
            WarcKind::LeftOut(kind) => return Ok(RecordParts::LeftOut(kind)),
            WarcKind::Document(http) => http,
        };
        let block = WarcBlock { bytes, claimed_len: header.block_len, content_type, http };
        Ok(RecordParts::Document(self.origin_of(&header), block))
    }

    /// What the header of a document says.
    fn origin_of<'a>(&mut self, header: &WarcHeader<'a>) -> RecordOrigin<'a> {
        for (is, kind) in [
            (header.kind.is_empty(), NO_TYPE),
            (header.is_truncated, TRUNCATED),
            (header.is_segment, SEGMENT),
        ] {
            if is {
                self.deviations.add(kind);
            }
        }
        let id = if header.trec_id.is_empty() { header.record_id } else { header.trec_id };
        let url = match unfold(header.url) {
            Cow::Borrowed(url) => Cow::Borrowed(bare_url(url, &mut self.deviations)),
            Cow::Owned(url) => Cow::Owned(bare_url(&url, &mut self.deviations).to_vec()),
        };
        RecordOrigin {
            kind: header.kind,
            id: without_brackets(id),
            url,
            date: warc_date(header.date, &mut self.deviations),
            ip: header.ip,
            digest: header.digest,
        }
    }

    /// Parts an ARC record.
    fn split_arc<'a>(&mut self, line: &ArcLine<'a>, record: &'a [u8]) -> RecordParts<'a> {
        let body = record.get(line.len..).unwrap_or_default();
        let bytes = self.block_of(body, line.block_len, &[b"\n"]);
        if line.is_file_description() {
            return RecordParts::LeftOut("warcinfo");
        }
        let date = arc_date(line.date);
        if date.is_none() {
            self.deviations.add(BAD_DATE);
        } else if line.date.len() != 14 {
            self.deviations.add(REWRITTEN_DATE);
        }
        let url = Cow::Borrowed(bare_url(line.url, &mut self.deviations));
        let origin = RecordOrigin { kind: b"response", id: b"", url, date, ip: line.ip, digest: b"" };
        let content_type = Cow::Borrowed(line.mime);
        let block =
            WarcBlock { bytes, claimed_len: line.block_len, content_type, http: HttpRule::IfItBeginsSo };
        RecordParts::Document(origin, block)
    }

    /// The block in the bytes after a header: as long as it claims if only line ends follow; else all
    /// bytes but one of the `ends`.
    fn block_of<'a>(&mut self, body: &'a [u8], claimed: Option<u64>, ends: &[&[u8]]) -> &'a [u8] {
        let parts = claimed.and_then(|len| body.split_at_checked(usize::try_from(len).ok()?));
        if let Some((block, after)) = parts
            && after.iter().all(|byte| is_line_end(*byte))
        {
            if !ends.contains(&after) {
                self.deviations.add(LINE_ENDS_AFTER);
            }
            return block;
        }
        self.deviations.add(if claimed.is_some() { WRONG_LENGTH } else { NO_LENGTH });
        ends.iter().find_map(|end| body.strip_suffix(*end)).unwrap_or(body)
    }

    /// Puts all values of a document.
    fn put_values(&mut self, origin: &RecordOrigin<'_>, payload: &WarcPayload<'_>, into: &mut MadeRecord) {
        let host = host_of(&origin.url);
        let date = origin.date.as_deref().unwrap_or_default();
        // Records of ARC have no identifiers, but a page is fetched once at a time.
        let made_id = [&origin.url, b"@".as_slice(), date].concat();
        let id = if origin.id.is_empty() && !origin.url.is_empty() { &made_id } else { origin.id };
        for (name, value) in [
            (WarcName::Id, id),
            (WarcName::Url, &origin.url),
            (WarcName::Host, &host),
            (WarcName::Date, date),
            (WarcName::Type, &origin.kind.to_ascii_lowercase()),
            (WarcName::Status, payload.status),
            (WarcName::Mime, &payload.mime),
            (WarcName::Ip, origin.ip),
            (WarcName::Digest, origin.digest),
            (WarcName::Length, payload.bytes.len().to_string().as_bytes()),
        ] {
            self.put(name, value, into);
        }
        self.put_text(&host, payload, into);
    }

    /// Puts a value of a header; invalid UTF-8 is replaced.
    fn put(&mut self, name: WarcName, value: &[u8], into: &mut MadeRecord) {
        let value = unfold(value);
        let value = String::from_utf8_lossy(&value);
        if matches!(value, Cow::Owned(_)) {
            self.deviations.add(NOT_UTF8);
        }
        into.put(name as u32, value.as_bytes());
    }

    /// Puts the text of a payload.
    fn put_text(&mut self, host: &[u8], payload: &WarcPayload<'_>, into: &mut MadeRecord) {
        let kind = match kind_of(&payload.mime) {
            PayloadKind::Unknown if looks_like_html(&payload.bytes) => PayloadKind::Html,
            PayloadKind::Unknown if looks_like_text(&payload.bytes) => PayloadKind::Text,
            kind => kind,
        };
        if payload.bytes.is_empty() {
            return;
        }
        if matches!(kind, PayloadKind::Other | PayloadKind::Unknown) {
            return self.deviations.add(NO_TEXT);
        }
        let may_declare = kind != PayloadKind::Text;
        let named = payload.charset.as_deref();
        let hints = CharsetHints { named, may_declare, may_be_converted: false, host };
        let (text, charset) = to_utf8(&payload.bytes, &hints, &mut self.deviations);
        into.put(WarcName::Charset as u32, charset.name().to_ascii_lowercase().as_bytes());
        if kind != PayloadKind::Html {
            self.put_language(&text, into);
            return into.put(WarcName::Text as u32, &text);
        }
        self.page.read(&text);
        if self.page.language.is_empty() {
            self.put_language(&self.page.text, into);
        }
        for (name, value) in [
            (WarcName::Title, &self.page.title),
            (WarcName::Description, &self.page.description),
            (WarcName::Keywords, &self.page.keywords),
            (WarcName::Language, &self.page.language),
            (WarcName::Text, &self.page.text),
        ] {
            into.put(name as u32, value);
        }
    }

    /// Puts the language of a text, if that is asked for and certain.
    fn put_language(&self, text: &[u8], into: &mut MadeRecord) {
        if self.detects_languages
            && let Some(language) = language_of(text)
        {
            into.put(WarcName::Language as u32, language.as_bytes());
        }
    }

    /// Whether to find out in which language the pages are that do not say so.
    pub fn detect_languages(&mut self, detect: bool) {
        self.detects_languages = detect;
    }
}

/// The parts of a record.
enum RecordParts<'a> {
    Document(RecordOrigin<'a>, WarcBlock<'a>),
    LeftOut(&'static str),
}

/// What a WARC record is.
enum WarcKind {
    Document(HttpRule),
    LeftOut(&'static str),
}

/// What a WARC record is by its type, or without one by the type of its block.
fn warc_kind(header: &WarcHeader<'_>, content_type: &[u8], block: &[u8]) -> WarcKind {
    let mime = mime_of(content_type);
    let is_http = mime == b"application/http";
    match header.kind.to_ascii_lowercase().as_slice() {
        b"response" if is_http => WarcKind::Document(HttpRule::Always),
        b"response" => WarcKind::Document(HttpRule::IfItBeginsSo),
        b"resource" | b"conversion" => WarcKind::Document(HttpRule::Never),
        b"request" => WarcKind::LeftOut("request"),
        b"warcinfo" => WarcKind::LeftOut("warcinfo"),
        b"metadata" => WarcKind::LeftOut("metadata"),
        b"revisit" => WarcKind::LeftOut("revisit"),
        b"continuation" => WarcKind::LeftOut("continuation"),
        b"" if block.is_empty() => WarcKind::LeftOut("record without type and payload"),
        b"" if mime == b"application/warc-fields" => WarcKind::LeftOut("metadata"),
        b"" if is_http && memchr::memmem::find(content_type, b"msgtype=request").is_some() => {
            WarcKind::LeftOut("request")
        }
        b"" => WarcKind::Document(HttpRule::IfItBeginsSo),
        _ => WarcKind::LeftOut("record of unknown type"),
    }
}

#[cfg(test)]
pub(in crate::record::warc) mod tests;
