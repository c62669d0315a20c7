//! The payload of a record: what it is, and its bytes without chunks and content encodings.

use std::borrow::Cow;

use super::chunks::join_chunks;
use super::deviations::{EXTRA_LINE_END, HTTP_WITHOUT_END, NO_HTTP, TRUNCATED};
use super::encoding::decode;
use super::http::{HttpHeader, mime_of};
use crate::record::deviations::Deviations;
use crate::record::page_charset::charset_of;

/// The block of a record, and what its header says of it.
pub(super) struct WarcBlock<'a> {
    pub(super) bytes: &'a [u8],
    /// The length that the header claims.
    pub(super) claimed_len: Option<u64>,
    /// The type, perhaps with parameters.
    pub(super) content_type: Cow<'a, [u8]>,
    /// Whether the block is an HTTP response.
    pub(super) http: HttpRule,
}

/// Whether a block is an HTTP response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HttpRule {
    /// It must be one.
    Always,
    /// It is one if it begins as one.
    IfItBeginsSo,
    /// It is none, whatever it begins with.
    Never,
}

/// The payload of a record.
#[derive(Debug)]
pub(super) struct WarcPayload<'a> {
    /// The status code of the response.
    pub(super) status: &'a [u8],
    /// The type in lower case without parameters.
    pub(super) mime: Vec<u8>,
    /// The character set that the type names.
    pub(super) charset: Option<Vec<u8>>,
    /// The decoded bytes.
    pub(super) bytes: Cow<'a, [u8]>,
}

impl<'a> WarcPayload<'a> {
    /// Takes the payload out of a block.
    pub(super) fn read(block: &WarcBlock<'a>, deviations: &mut Deviations) -> Self {
        let header = match block.http {
            HttpRule::Never => None,
            _ => HttpHeader::parse(block.bytes),
        };
        let Some(header) = header else {
            if block.http == HttpRule::Always {
                deviations.add(NO_HTTP);
            }
            let is_http =
                block.http != HttpRule::Never && mime_of(&block.content_type) == b"application/http";
            let content_type = if is_http { Cow::Borrowed(&b""[..]) } else { block.content_type.clone() };
            return Self::new(b"", &content_type, Cow::Borrowed(block.bytes));
        };
        if !header.has_end {
            deviations.add(HTTP_WITHOUT_END);
        }
        let bytes = decode_body(body_of(block, &header, deviations), &header, deviations);
        let content_type = super::headers::unfold(header.content_type);
        Self::new(header.status, &content_type, bytes)
    }

    fn new(status: &'a [u8], content_type: &[u8], bytes: Cow<'a, [u8]>) -> Self {
        let charset = charset_of(content_type).map(<[u8]>::to_vec);
        Self { status, mime: mime_of(content_type), charset, bytes }
    }
}

/// The body of a response, without the line end that some of Common Crawl's files have before it.
fn body_of<'a>(block: &WarcBlock<'a>, header: &HttpHeader<'a>, deviations: &mut Deviations) -> &'a [u8] {
    let body = block.bytes.get(header.len..).unwrap_or_default();
    if !header.is_chunked && header.body_len > u64::try_from(body.len()).ok() {
        deviations.add(TRUNCATED);
    }
    let Some(rest) = body.strip_prefix(b"\r\n") else { return body };
    let is_len = |len: Option<u64>, found: usize| len.is_some() && len == u64::try_from(found).ok();
    let is_extra = is_len(header.body_len, rest.len())
        || is_len(block.claimed_len, block.bytes.len().saturating_sub(2))
        || (!header.encodings.is_empty() && rest.starts_with(&[0x1f, 0x8b]));
    if !is_extra {
        return body;
    }
    deviations.add(EXTRA_LINE_END);
    rest
}

/// The bytes of a body without chunks and content encodings.
fn decode_body<'a>(body: &'a [u8], header: &HttpHeader<'_>, deviations: &mut Deviations) -> Cow<'a, [u8]> {
    let joined = if header.is_chunked { join_chunks(body, deviations) } else { None };
    let joined = joined.map_or(Cow::Borrowed(body), Cow::Owned);
    if header.encodings.is_empty() {
        return joined;
    }
    decode(&joined, &header.encodings, deviations).map_or(joined, Cow::Owned)
}

/// What a payload is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PayloadKind {
    /// A page.
    Html,
    /// XML, which is plain text and may declare its character set.
    Xml,
    /// Plain text.
    Text,
    /// It is told from its bytes.
    Unknown,
    /// Something without text.
    Other,
}

/// What the payload of a type is.
pub(super) fn kind_of(mime: &[u8]) -> PayloadKind {
    match mime {
        b""
        | b"application/octet-stream"
        | b"binary/octet-stream"
        | b"application/unknown"
        | b"application/x-unknown-content-type"
        | b"unknown/unknown" => PayloadKind::Unknown,
        b"text/html" | b"application/xhtml+xml" | b"application/vnd.wap.xhtml+xml" => PayloadKind::Html,
        b"text/xml" | b"application/xml" => PayloadKind::Xml,
        _ if mime.starts_with(b"image/") => PayloadKind::Other,
        _ if mime.ends_with(b"+xml") => PayloadKind::Xml,
        b"application/json"
        | b"application/javascript"
        | b"application/x-javascript"
        | b"application/ecmascript"
        | b"application/x-ndjson" => PayloadKind::Text,
        _ if mime.starts_with(b"text/") || mime.ends_with(b"+json") => PayloadKind::Text,
        _ => PayloadKind::Other,
    }
}
