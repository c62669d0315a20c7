//! TREC collections: documents `<DOC> … </DOC>` with a name in `<DOCNO>`, in SGML or around web pages.
//!
//! ```text
//! file      = ( text | document )*
//! document  = "<DOC>" "<DOCNO>" name "</DOCNO>" ( elements | "<DOCHDR>" header "</DOCHDR>" html ) "</DOC>"
//!           | '<DOC id="' name '"' … ">" elements "</DOC>"                        (NTCIR, Gigaword)
//! header    = url … LF "HTTP/1.1" status … LF ( field LF )*                       (WT2G, WT10G, GOV2)
//! ```
//! The files are not XML: tags are in either case, unknown entities and unclosed elements occur, and the
//! text may be Latin-1. Which elements count is what Anserini searches: TEXT HEADLINE TITLE HL HEAD TTL DD
//! DATE LP LEADPARA. "headline" has HEADLINE, TITLE, HL, HEAD and TTL, "text" has the others, and so both
//! together are what Anserini searches. "date" has DATE and DATE1 as they stand. Elements inside of these
//! are text, and elements beside them are left out. If a document has none of these elements, all that
//! follows DOCNO is its text. Unlike in Anserini, elements count also where they do not begin a line, and
//! one without an end tag ends before the next one that counts. A document without a name is an error.
//! Read [`TrecReader::read`] first.

mod body;
mod sgml;
#[cfg(test)]
mod tests;
mod web;

use crate::record::corpus::element_ends::ElementEnds;
use crate::record::corpus::tags::{Tag, Tags, has_text};
use crate::record::error::RecordError;
use crate::record::made_record::MadeRecord;
pub use body::TrecReader;
use body::{Body, DOCNO};

/// Finds the ends of the documents of a TREC file.
#[derive(Clone, Debug)]
pub struct TrecEnds(ElementEnds);

impl Default for TrecEnds {
    fn default() -> Self {
        Self::new()
    }
}

impl TrecEnds {
    /// Begins at the start of a file.
    pub fn new() -> Self {
        Self(ElementEnds::new(b"doc"))
    }

    /// The length of the record that `bytes` begins with, or None if it continues after them; then the same
    /// bytes must come again with more behind them. If `is_end`, nothing follows: Some for all non-empty
    /// bytes. No byte is searched twice for one record.
    pub fn next_end(&mut self, bytes: &[u8], is_end: bool) -> Option<usize> {
        self.0.next_end(bytes, is_end)
    }

    /// Starts a record after one that was not given to `next_end` to its end.
    pub fn start_record(&mut self) {
        self.0.start_record();
    }
}

impl TrecReader {
    /// The names of the values.
    pub const NAMES: [&'static str; 7] = ["docno", "headline", "date", "text", "url", "status", "mime"];

    /// Reads a record. Returns false if it has no document.
    pub fn read(&mut self, record: &[u8], into: &mut MadeRecord) -> Result<bool, RecordError> {
        into.clear();
        self.deviations.clear();
        let Some(doc) = Tags::new(record, 0).find(|tag| tag.opens(b"doc")) else {
            self.note_outside(record);
            return Ok(false);
        };
        self.note_outside(record.get(..doc.start).unwrap_or_default());
        let inside = self.inside(record.get(doc.end..).unwrap_or_default());
        let (docno, start) =
            self.docno(doc, inside).ok_or(RecordError::Lacks { what: "<DOCNO>, and no id" })?;
        self.put_value(DOCNO, docno, into);
        let is_latin1 = std::str::from_utf8(record).is_err();
        let body = Body { bytes: inside, start, is_latin1 };
        if let Some(header) = web::find_header(body) {
            self.read_web(header, into);
        } else {
            self.read_sgml(body, into);
        }
        Ok(true)
    }

    /// The deviations of the last record.
    pub fn deviations(&self) -> &[&'static str] {
        self.deviations.kinds()
    }

    fn note_outside(&mut self, bytes: &[u8]) {
        if has_text(bytes) {
            self.deviations.add("text outside of documents");
        }
    }

    /// The bytes before `</DOC>`.
    fn inside<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let length = bytes.len().saturating_sub(b"</doc>".len());
        match bytes.split_at_checked(length) {
            Some((inside, end)) if end.eq_ignore_ascii_case(b"</doc>") => inside,
            _ => {
                self.deviations.add("document without end");
                bytes
            }
        }
    }

    /// The name of the document, and the place after it.
    fn docno<'a>(&mut self, doc: Tag<'a>, inside: &'a [u8]) -> Option<(&'a [u8], usize)> {
        let tag = Tags::new(inside, 0).find(|tag| tag.opens(b"docno"));
        let Some(tag) = tag else {
            let id = doc.attribute(b"id").or_else(|| doc.attribute(b"docno"))?.trim_ascii();
            return (!id.is_empty()).then_some((id, 0));
        };
        let rest = inside.get(tag.end..)?.trim_ascii_start();
        let start = inside.len() - rest.len();
        let length = rest.iter().position(|byte| matches!(byte, b'<' | b'\n')).unwrap_or(rest.len());
        let docno = rest.get(..length)?.trim_ascii();
        let next = Tags::new(inside, start).next();
        let end = match next {
            Some(next) if next.closes(b"docno") => next.end,
            _ => {
                self.deviations.add("element without end");
                start + length
            }
        };
        (!docno.is_empty()).then_some((docno, end))
    }
}
