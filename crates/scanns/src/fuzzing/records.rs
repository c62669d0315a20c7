//! The readers of collections and of web pages, as an index is built with them.
//!
//! The first eight bytes of the data are the lengths of the pieces in which the rest comes, again and again.

use crate::content::html::{HtmlPage, declared_charset, looks_like_html};
use crate::read::FindCuts;
use crate::record::{
    CollectionCuts, CollectionEnds, CollectionFormat, RecordFormat, RecordReader, TextFieldOptions,
};
use crate::schema::{Analyzer, Postings, ValueRef};

/// Records of web archives.
pub(super) fn warc(data: &[u8]) {
    read(CollectionFormat::Warc, data);
}

/// Documents of TREC.
pub(super) fn trec(data: &[u8]) {
    read(CollectionFormat::Trec, data);
}

/// Documents of SMART.
pub(super) fn smart(data: &[u8]) {
    read(CollectionFormat::Smart, data);
}

/// Mail.
pub(super) fn mbox(data: &[u8]) {
    read(CollectionFormat::Mbox, data);
}

/// Pages of wikis.
pub(super) fn mediawiki(data: &[u8]) {
    read(CollectionFormat::MediaWiki, data);
}

/// Lines of logs, in each of their formats.
pub(super) fn logs(data: &[u8]) {
    for format in [CollectionFormat::Access, CollectionFormat::Syslog, CollectionFormat::Journal] {
        read(format, data);
    }
}

/// A page of UTF-8 gives UTF-8, and the same in a reader that has read another page before.
pub(super) fn html(data: &[u8]) {
    looks_like_html(data);
    declared_charset(data);
    let text = String::from_utf8_lossy(data);
    let (mut page, mut again) = (HtmlPage::default(), HtmlPage::default());
    page.read(text.as_bytes());
    again.read(b"<html lang=x><title>x</title><meta name=description content=x><pre><p>x");
    again.read(text.as_bytes());
    assert_eq!(page, again);
    for value in [&page.title, &page.text, &page.description, &page.keywords, &page.language] {
        assert!(std::str::from_utf8(value).is_ok(), "{}", value.escape_ascii());
    }
}

/// Lengths of pieces, and the bytes that come in them.
struct DataPieces<'a> {
    lens: &'a [u8; 8],
    bytes: &'a [u8],
}

impl<'a> DataPieces<'a> {
    /// The ends of the pieces.
    fn ends(&self) -> impl Iterator<Item = usize> + use<'a> {
        let (mut end, all) = (0, self.bytes.len());
        let next = move |len: &u8| {
            let is_before = end < all;
            end = all.min(end + 1 + usize::from(*len));
            is_before.then_some(end)
        };
        self.lens.iter().cycle().map_while(next)
    }

    /// The ends of the records.
    fn record_ends(&self, format: CollectionFormat) -> Vec<usize> {
        let mut ends = CollectionEnds::new(format);
        let (mut start, mut found) = (0, Vec::new());
        for given in self.ends() {
            let is_end = given == self.bytes.len();
            while let Some(rest) = self.bytes.get(start..given).filter(|rest| !rest.is_empty())
                && let Some(len) = ends.next_end(rest, is_end)
            {
                assert!((1..=rest.len()).contains(&len), "a record of {len} in {} bytes", rest.len());
                start += len;
                found.push(start);
            }
        }
        assert_eq!(start, self.bytes.len(), "every byte belongs to a record");
        found
    }

    /// Every cut is at the end of a record, and says how many numbers the records before it take.
    fn check_cuts(&self, format: CollectionFormat, ends: &[usize]) {
        let (mut cuts, mut whole, mut from, mut sum) =
            (CollectionCuts::new(format), CollectionEnds::new(format), 0, 0);
        let mut numbers = Vec::new();
        for &end in ends {
            assert_eq!(whole.next_end(self.bytes.get(from..).unwrap_or_default(), true), Some(end - from));
            sum += whole.numbers();
            numbers.push(sum);
            from = end;
        }
        let mut start = 0;
        for end in self.ends() {
            if let Some(cut) = cuts.take(self.bytes.get(start..end).unwrap_or_default()) {
                let records = ends.binary_search(&(start + cut.at)).ok().and_then(|place| numbers.get(place));
                assert_eq!(records, Some(&cut.start.records), "a cut at {} of {ends:?}", start + cut.at);
            }
            start = end;
        }
    }
}

/// The records of a text are the same in pieces and at once. Each is read or refused; values are UTF-8.
fn read(format: CollectionFormat, data: &[u8]) {
    let Some((lens, bytes)) = data.split_first_chunk::<8>() else { return };
    let pieces = DataPieces { lens, bytes };
    let ends = pieces.record_ends(format);
    let (mut whole, mut start, mut at_once) = (CollectionEnds::new(format), 0, Vec::new());
    while let Some(rest) = bytes.get(start..).filter(|rest| !rest.is_empty())
        && let Some(len) = whole.next_end(rest, true)
    {
        start += len;
        at_once.push(start);
    }
    assert_eq!(ends, at_once);
    pieces.check_cuts(format, &ends);
    let Some(mut reader) = reader(format) else { return };
    let mut start = 0;
    for (line, end) in (1..).zip(ends) {
        let _ = reader.record(line, bytes.get(start..end).unwrap_or_default(), &mut |_, value| {
            if let ValueRef::Text(text) = value {
                assert!(std::str::from_utf8(text).is_ok(), "{}", text.escape_ascii());
            }
        });
        start = end;
    }
}

fn reader(format: CollectionFormat) -> Option<RecordReader> {
    let options =
        TextFieldOptions { analyzer: Analyzer::Standard, postings: Postings::default(), stored: false };
    let (schema, sources) = format.fields(&options).ok()?;
    Some(RecordReader::new(&schema, &sources, RecordFormat::Collection(format)))
}
