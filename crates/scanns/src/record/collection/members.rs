//! The records of a collection that is a file among others: what is the text of each, and what its fields
//! are called in an index of files.

use std::fs::File;
use std::io;

use super::ends::CollectionEnds;
use super::format::CollectionFormat;
use super::note::RecordNote;
use super::reader::CollectionReader;
use crate::content::{CollectionKind, ContentOptions};
use crate::read::{self, FindLongEnd, FindRecords, KnowCollections, LongEnd, TextReading};
use crate::record::error::RecordError;
use crate::record::made_record::MadeRecord;
use crate::record::warc::{LongClaim, LongClaimLook};
use crate::schema::parse_date;

/// What an index of files does with a value of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ValueUse {
    /// It is the text of the document, or a part of it.
    Text,
    /// A line of the text, and this field.
    Line(&'static str),
    /// This field.
    Field(&'static str),
    /// A date: the field `created`, and the time of modification of the document.
    Created,
    /// A value `NAME=VALUE` of the field `attr`, below this name.
    Attribute,
    /// A line `NAME: VALUE` of the text, and a value of the field `attr`.
    LineAttribute,
    Nothing,
}

use ValueUse::{Attribute, Created, Field, Line, LineAttribute, Nothing, Text};

/// What knows the records of collections, for readers of files.
#[derive(Clone, Copy, Debug)]
pub struct CollectionMembers;

/// [`CollectionMembers`], for as long as the program runs.
pub static COLLECTIONS: CollectionMembers = CollectionMembers;

impl KnowCollections for CollectionMembers {
    fn ends(&self, kind: CollectionKind) -> Box<dyn FindRecords> {
        Box::new(CollectionEnds::new(CollectionFormat::of_kind(kind)))
    }

    fn append_text(&self, kind: CollectionKind, record: &[u8], into: &mut Vec<u8>) {
        // A record that cannot be read has no text.
        let _ = MemberRecordReader::new(kind).read(record, into, &mut MemberValues::default());
    }
}

/// Reads `len` bytes, or less at its end, from byte `start` of the text of a file as a build reads it:
/// decoded if need be, and empty for a binary file, for an archive and for a collection.
///
/// # Errors
/// The file cannot be read or decoded, or only an extractor finds its text.
pub fn text_of_file(file: &mut File, contents: ContentOptions, start: u64, len: u64) -> io::Result<Vec<u8>> {
    read::text_of_file(file, TextReading { contents, collections: &COLLECTIONS }, start, len)
}

impl FindRecords for CollectionEnds {
    fn next_end(&mut self, bytes: &[u8], is_end: bool) -> Option<usize> {
        CollectionEnds::next_end(self, bytes, is_end)
    }

    fn start_record(&mut self) {
        CollectionEnds::start_record(self);
    }

    fn long_end(&self, start: &[u8]) -> Option<Box<dyn FindLongEnd>> {
        self.long_claim(start).map(|claim| Box::new(claim) as Box<dyn FindLongEnd>)
    }

    fn distrust(&mut self) {
        CollectionEnds::distrust(self);
    }
}

impl FindLongEnd for LongClaim {
    fn take(&mut self, bytes: &[u8], is_end: bool) -> Option<LongEnd> {
        match LongClaim::take(self, bytes, is_end) {
            LongClaimLook::Continues => None,
            LongClaimLook::Right => Some(LongEnd::AsClaimed),
            LongClaimLook::Wrong => Some(LongEnd::Earlier(self.lost())),
        }
    }

    fn behind(&self) -> &[u8] {
        LongClaim::behind(self)
    }
}

/// What a record has beside its text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemberValues {
    /// Values of fields of an index of files, by the names of the fields.
    pub fields: Vec<(&'static str, Vec<u8>)>,
    /// When the record was written or fetched, in nanoseconds since 1970.
    pub modified: Option<i64>,
}

/// Reads the records of a collection as documents of an index of files.
pub struct MemberRecordReader {
    kind: CollectionKind,
    reader: CollectionReader,
    made: MadeRecord,
    notes: Vec<RecordNote>,
}

impl MemberRecordReader {
    /// A reader of records of a kind.
    pub fn new(kind: CollectionKind) -> Self {
        MemberRecordReader {
            kind,
            // None of these formats has dates without a year.
            reader: CollectionReader::new(CollectionFormat::of_kind(kind), 0),
            made: MadeRecord::default(),
            notes: Vec::new(),
        }
    }

    /// The kind of the records.
    pub fn kind(&self) -> CollectionKind {
        self.kind
    }

    /// Appends the text of a record, and adds its other values; returns false if it is not a document.
    ///
    /// # Errors
    /// The record cannot be read.
    pub fn read(
        &mut self,
        record: &[u8],
        into: &mut Vec<u8>,
        values: &mut MemberValues,
    ) -> Result<bool, RecordError> {
        if !self.reader.read(record, &mut self.made, &mut self.notes)? {
            return Ok(false);
        }
        let names = self.reader.names();
        let mut body = Vec::new();
        for (number, place) in self.made.values() {
            let Some(name) = names.get(number as usize) else { continue };
            let value = self.made.bytes().get(place).unwrap_or_default();
            let mut line = |prefix: &[&[u8]]| {
                prefix.iter().for_each(|part| into.extend_from_slice(part));
                into.extend_from_slice(value);
                into.push(b'\n');
            };
            let mut attribute = || values.fields.push(("attr", [name.as_bytes(), b"=", value].concat()));
            match self.kind.value_use(name) {
                Text => {
                    body.extend_from_slice(value);
                    body.push(b'\n');
                }
                Line(field) => {
                    line(&[]);
                    values.fields.push((field, value.to_vec()));
                }
                Field(field) => values.fields.push((field, value.to_vec())),
                Created => {
                    values.modified = values.modified.or_else(|| parse_date(value));
                    values.fields.push(("created", value.to_vec()));
                }
                Attribute => attribute(),
                LineAttribute => {
                    line(&[name.as_bytes(), b": "]);
                    attribute();
                }
                Nothing => {}
            }
        }
        into.extend_from_slice(&body);
        Ok(true)
    }

    /// What is unusual about the last record, or why it is not a document.
    pub fn notes(&self) -> &[RecordNote] {
        &self.notes
    }
}

impl CollectionKind {
    /// What a value of this name is used for.
    fn value_use(self, name: &str) -> ValueUse {
        match (self, name) {
            (_, "text") => Text,
            (_, "title" | "subject" | "headline") => Line("title"),
            (_, "date") => Created,
            (CollectionKind::Warc, "language") => Field("language"),
            (CollectionKind::Warc, "keywords") => Field("keywords"),
            (CollectionKind::Warc, "description") => Field("subject"),
            (CollectionKind::Warc, "url" | "status" | "mime" | "id") => Attribute,
            (CollectionKind::Trec, "docno" | "url") => Attribute,
            (CollectionKind::Mbox, "from") => Line("author"),
            (CollectionKind::Mbox, "to" | "cc" | "attachment") => LineAttribute,
            (CollectionKind::Mbox, "message_id" | "list_id") => Attribute,
            (CollectionKind::MediaWiki, "id" | "redirect") => Attribute,
            _ => Nothing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text and the fields of a record.
    fn read(kind: CollectionKind, record: &str) -> Option<(String, Vec<String>, Option<i64>)> {
        let (mut text, mut values) = (Vec::new(), MemberValues::default());
        let is_document =
            MemberRecordReader::new(kind).read(record.as_bytes(), &mut text, &mut values).unwrap();
        let field = |(name, value): &(&str, Vec<u8>)| format!("{name}: {}", String::from_utf8_lossy(value));
        let fields = values.fields.iter().map(field).collect();
        is_document.then(|| (String::from_utf8(text).unwrap(), fields, values.modified))
    }

    #[test]
    fn a_mail_has_its_head_as_fields_and_in_its_text() {
        let mail = "From: Ada <ada@example.org>\nTo: bob@example.org\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\n\
                    Date: Thu, 01 Jan 1970 01:00:01 +0100\nContent-Transfer-Encoding: base64\n\n\
                    d29yZHM=\n";
        let (text, fields, modified) = read(CollectionKind::Mbox, mail).unwrap();
        assert_eq!(text, "Ada <ada@example.org>\nto: bob@example.org\nGr\u{fc}\u{df}e\nwords\n");
        let expected = [
            "author: Ada <ada@example.org>",
            "attr: to=bob@example.org",
            "title: Gr\u{fc}\u{df}e",
            "created: 1970-01-01T00:00:01Z",
        ];
        assert_eq!(
            (fields.as_slice(), modified),
            (expected.map(String::from).as_slice(), Some(1_000_000_000))
        );
    }

    #[test]
    fn pages_and_articles_have_titles() {
        let http = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<title>Tea</title><p>pots";
        let page = format!(
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.example/b\r\n\
             WARC-Date: 2026-11-27T01:02:03Z\r\nContent-Type: application/http\r\nContent-Length: {}\r\n\r\n\
             {http}\r\n\r\n",
            http.len()
        );
        let (text, fields, modified) = read(CollectionKind::Warc, &page).unwrap();
        assert_eq!(text, "Tea\npots\n");
        assert!(
            fields.contains(&"title: Tea".into()) && fields.contains(&"attr: url=http://a.example/b".into())
        );
        assert!(modified.is_some());
        let request = page.replace("Type: response", "Type: request");
        assert_eq!(read(CollectionKind::Warc, &request), None);
        let article = "<DOC>\n<DOCNO> AP-1 </DOCNO>\n<HEAD>Tea</HEAD>\n<TEXT>pots</TEXT>\n</DOC>\n";
        let (text, fields, _) = read(CollectionKind::Trec, article).unwrap();
        assert_eq!(text.split_whitespace().collect::<Vec<_>>(), ["Tea", "pots"]);
        assert!(fields.contains(&"attr: docno=AP-1".into()));
    }

    #[test]
    fn the_same_text_is_found_without_a_build() {
        let record = b"<page><title>Tea</title><id>1</id><revision><text>pots</text></revision></page>";
        let (mut built, mut shown) = (Vec::new(), Vec::new());
        let mut reader = MemberRecordReader::new(CollectionKind::MediaWiki);
        assert!(reader.read(record, &mut built, &mut MemberValues::default()).unwrap());
        COLLECTIONS.append_text(CollectionKind::MediaWiki, record, &mut shown);
        assert_eq!((built.as_slice(), reader.kind()), (shown.as_slice(), CollectionKind::MediaWiki));
        assert_eq!(shown, b"Tea\npots\n");
    }
}
