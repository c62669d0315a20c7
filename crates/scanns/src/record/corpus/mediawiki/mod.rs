//! Pages of a dump of MediaWiki, such as `pages-articles.xml` of Wikipedia.
//!
//! ```text
//! dump     = "<mediawiki …>" siteinfo page* "</mediawiki>"
//! page     = "<page>" title ns id [ '<redirect title="…" />' ] revision* "</page>"
//! revision = "<revision>" id … timestamp … model … "<text …>" wikitext "</text>" "</revision>"
//! ```
//! The text has no `<` in it, since XML escapes it; so the names of elements are found without a parser of
//! XML. Of a page with several revisions, the last one is read. All pages are documents, also redirects and
//! those outside of the main namespace: "redirect" and "ns" tell them apart. `wikitext.rs` says what of the
//! markup remains; text of another model than `wikitext` stays as it is. Source: the schema export-0.11.

mod brackets;
mod lines;
mod links;
mod regions;
mod stripper;
#[cfg(test)]
mod tests;
mod wikitext;

use crate::record::corpus::element_ends::ElementEnds;
use crate::record::corpus::entities::push_xml_text;
use crate::record::corpus::tags::{Tag, Tags, has_text};
use crate::record::deviations::Deviations;
use crate::record::error::RecordError;
use crate::record::made_record::MadeRecord;
use memchr::{memchr, memmem};
use std::borrow::Cow;

/// Finds the ends of the pages of a dump.
#[derive(Clone, Debug)]
pub struct MediaWikiEnds(ElementEnds);

impl Default for MediaWikiEnds {
    fn default() -> Self {
        Self::new()
    }
}

impl MediaWikiEnds {
    /// Begins at the start of a dump.
    pub fn new() -> Self {
        Self(ElementEnds::new(b"page"))
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

const TITLE: u32 = 0;
const ID: u32 = 1;
const NS: u32 = 2;
const DATE: u32 = 3;
const REDIRECT: u32 = 4;
const TEXT: u32 = 5;

/// Reads the pages of a dump.
#[derive(Clone, Debug, Default)]
pub struct MediaWikiReader {
    deviations: Deviations,
    /// A text of the page without the escapes of XML.
    unescaped: Vec<u8>,
}

impl MediaWikiReader {
    /// The names of the values.
    pub const NAMES: [&'static str; 6] = ["title", "id", "ns", "date", "redirect", "text"];

    /// Reads a record. Returns false if it has no page.
    pub fn read(&mut self, record: &[u8], into: &mut MadeRecord) -> Result<bool, RecordError> {
        into.clear();
        self.deviations.clear();
        let Some(start) = Tags::new(record, 0).find(|tag| tag.opens(b"page")) else {
            self.note_outside(record);
            return Ok(false);
        };
        self.note_outside(record.get(..start.start).unwrap_or_default());
        let page = record.get(start.end..).unwrap_or_default();
        let tail = record.get(record.len().saturating_sub(b"</page>".len())..).unwrap_or_default();
        if !tail.eq_ignore_ascii_case(b"</page>") {
            self.deviations.add("document without end");
        }
        let head = page.get(..memmem::find(page, b"<revision").unwrap_or(page.len())).unwrap_or(page);
        let title = content(head, b"title").filter(|title| !title.trim_ascii().is_empty());
        self.put(TITLE, title.ok_or(RecordError::Lacks { what: "<title>" })?, into);
        self.put(ID, content(head, b"id").unwrap_or_default(), into);
        self.put(NS, content(head, b"ns").unwrap_or_default(), into);
        let revision = page.get(memmem::rfind(page, b"<revision>").unwrap_or(0)..).unwrap_or(page);
        self.put(DATE, content(revision, b"timestamp").unwrap_or_default(), into);
        let redirect = tag(head, b"redirect").and_then(|tag| tag.attribute(b"title"));
        self.put(REDIRECT, redirect.unwrap_or_default(), into);
        self.put_text(revision, into);
        Ok(true)
    }

    /// The deviations of the last record.
    pub fn deviations(&self) -> &[&'static str] {
        self.deviations.kinds()
    }

    /// The head of a dump is no text, and neither is its end.
    fn note_outside(&mut self, bytes: &[u8]) {
        let start = memmem::find(bytes, b"</siteinfo>").unwrap_or(0);
        let is_head = start == 0 && memmem::find(bytes, b"<siteinfo").is_some();
        if !is_head && has_text(bytes.get(start..).unwrap_or_default()) {
            self.deviations.add("text outside of documents");
        }
    }

    fn put(&mut self, name: u32, xml: &[u8], into: &mut MadeRecord) {
        self.unescape(xml);
        into.put(name, &self.unescaped);
    }

    /// Makes `unescaped` from XML.
    fn unescape(&mut self, xml: &[u8]) {
        self.unescaped.clear();
        if !push_xml_text(xml.trim_ascii(), &mut self.unescaped) {
            self.deviations.add("unknown entity");
        }
        if let Cow::Owned(replaced) = String::from_utf8_lossy(&self.unescaped) {
            self.deviations.add("invalid UTF-8");
            self.unescaped = replaced.into_bytes();
        }
    }

    fn put_text(&mut self, revision: &[u8], into: &mut MadeRecord) {
        let Some(start) = tag(revision, b"text").filter(|tag| !tag.is_empty_element()) else {
            return;
        };
        let text = until_tag(revision, start.end);
        let rest = revision.get(start.end + text.len()..).unwrap_or_default();
        if !rest.starts_with(b"</text>") {
            self.deviations.add("element without end");
        }
        self.unescape(text);
        if content(revision, b"model").is_some_and(|model| model.trim_ascii() != b"wikitext") {
            return into.put(TEXT, &self.unescaped);
        }
        into.make(TEXT, |bytes| wikitext::push_plain_text(&self.unescaped, bytes, &mut self.deviations));
    }
}

/// The first start tag with a name.
fn tag<'a>(bytes: &'a [u8], name: &[u8]) -> Option<Tag<'a>> {
    Tags::new(bytes, 0).find(|tag| tag.opens(name))
}

/// The text of the first element with a name.
fn content<'a>(bytes: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    tag(bytes, name).map(|tag| if tag.is_empty_element() { b"" } else { until_tag(bytes, tag.end) })
}

fn until_tag(bytes: &[u8], start: usize) -> &[u8] {
    let rest = bytes.get(start..).unwrap_or_default();
    rest.get(..memchr(b'<', rest).unwrap_or(rest.len())).unwrap_or(rest)
}
