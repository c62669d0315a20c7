//! Divides the text of a piece into documents, and long documents into parts.
//!
//! A document may extend over several pieces. A long document is cut into parts between tokens, so that the
//! indexer can check its memory at short intervals.

use std::ops::Range;

use crate::schema::{Analyzer, Records};

/// A range of text that contains documents or parts of documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentRange {
    /// The bytes in the text.
    pub range: Range<usize>,
    /// A document began before the range. It ends with the range even if none of its bytes are left.
    pub is_open: bool,
    /// The last byte ends a document.
    pub closes: bool,
}

impl DocumentRange {
    /// A range whose first byte starts a document and whose last byte ends one.
    pub fn whole(range: Range<usize>) -> Self {
        DocumentRange { range, is_open: false, closes: true }
    }
}

/// A part of one document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentPart {
    /// Its bytes in the text.
    pub range: Range<usize>,
    /// Where the next part starts: after the line feed, if one ends this part.
    pub next: usize,
    /// True if the document ends with this part.
    pub closes: bool,
}

/// Steps through the parts of the documents in a text.
#[derive(Clone, Debug)]
pub struct DocumentParts<'a> {
    records: Records,
    analyzer: &'a Analyzer,
    /// The maximum length of a part; longer parts are cut.
    most: usize,
    at: usize,
    end: usize,
    /// True if the document ends where the range does.
    closes: bool,
    /// True if the next step yields a part even without bytes, because a document ends here.
    due: bool,
}

/// The end of the text of a document or of its range.
struct DocumentEnd {
    /// End of the text.
    stop: usize,
    /// Start of the next document.
    next: usize,
    /// Whether the document ends here.
    closes: bool,
}

impl<'a> DocumentParts<'a> {
    /// The parts of the documents in `text`, cut if they are longer than `most` bytes.
    ///
    /// A file is a document even without bytes; a line without bytes and without a line feed is not.
    pub fn new(records: Records, analyzer: &'a Analyzer, text: DocumentRange, most: usize) -> Self {
        let DocumentRange { range, is_open, closes } = text;
        let due = closes && (is_open || records == Records::File) || !range.is_empty();
        DocumentParts { records, analyzer, most, at: range.start, end: range.end, closes, due }
    }

    /// Returns the next part. `text` must be the same text in every call; bytes before the next part may have
    /// changed.
    #[inline]
    pub fn step(&mut self, text: &[u8]) -> Option<DocumentPart> {
        if !self.due {
            return None;
        }
        let start = self.at;
        let mut end = self.document_end(text);
        if end.stop - start > self.most
            && let Some(cut) = self.cut(text, start, end.stop)
        {
            end = DocumentEnd { stop: cut, next: cut, closes: false };
        }
        self.at = end.next;
        self.due = end.next < self.end;
        Some(DocumentPart { range: start..end.stop, next: end.next, closes: end.closes })
    }

    /// The end of the current document, or of the range.
    ///
    /// A line feed, and a carriage return before it, are not text, so they need not be delimiters.
    #[inline]
    fn document_end(&self, text: &[u8]) -> DocumentEnd {
        if self.records == Records::Lines
            && let Some(line) = memchr::memchr(b'\n', &text[self.at..self.end])
        {
            let feed = self.at + line;
            let stop = if line > 0 && text[feed - 1] == b'\r' { feed - 1 } else { feed };
            return DocumentEnd { stop, next: feed + 1, closes: true };
        }
        DocumentEnd { stop: self.end, next: self.end, closes: self.closes }
    }

    /// The last position within `most` bytes where no token is split, or else the first after that.
    #[cold]
    fn cut(&self, text: &[u8], start: usize, stop: usize) -> Option<usize> {
        let may = |&at: &usize| self.analyzer.may_cut(text[at - 1], text[at]);
        let most = start + self.most;
        (start + 1..=most).rev().find(may).or_else(|| (most + 1..stop).find(may))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(records: Records, text: &[u8], closes: bool, most: usize) -> Vec<(Vec<u8>, bool)> {
        continued(records, text, (false, closes), most)
    }

    fn continued(records: Records, text: &[u8], ends: (bool, bool), most: usize) -> Vec<(Vec<u8>, bool)> {
        let analyzer = Analyzer::parse("whitespace").unwrap();
        let range = DocumentRange { range: 0..text.len(), is_open: ends.0, closes: ends.1 };
        let mut parts = DocumentParts::new(records, &analyzer, range, most);
        let step = || parts.step(text).map(|part| (text[part.range].to_vec(), part.closes));
        std::iter::from_fn(step).collect()
    }

    fn strs(parts: &[(Vec<u8>, bool)]) -> Vec<(&str, bool)> {
        parts.iter().map(|(text, closes)| (std::str::from_utf8(text).unwrap(), *closes)).collect()
    }

    #[test]
    fn lines_are_documents_and_empty_lines_too() {
        let got = parts(Records::Lines, b"one two\n\nthree\n", true, 99);
        assert_eq!(strs(&got), [("one two", true), ("", true), ("three", true)]);
        let got = parts(Records::Lines, b"one\nopen", false, 99);
        assert_eq!(strs(&got), [("one", true), ("open", false)]);
        let got = parts(Records::Lines, b"one\r\n\r\n", true, 99);
        assert_eq!(strs(&got), [("one", true), ("", true)]);
        let got = parts(Records::Lines, b"one\nlast", true, 99);
        assert_eq!(strs(&got), [("one", true), ("last", true)]);
        assert!(parts(Records::Lines, b"", true, 99).is_empty());
    }

    #[test]
    fn a_line_begun_before_the_range_is_ended_even_if_no_bytes_are_left() {
        assert_eq!(strs(&continued(Records::Lines, b"", (true, true), 99)), [("", true)]);
        assert!(continued(Records::Lines, b"", (true, false), 99).is_empty());
        assert_eq!(
            strs(&continued(Records::Lines, b"\nnext\n", (true, true), 99)),
            [("", true), ("next", true)]
        );
    }

    #[test]
    fn a_file_is_one_document_even_if_it_is_empty() {
        assert_eq!(strs(&parts(Records::File, b"", true, 99)), [("", true)]);
        assert!(parts(Records::File, b"", false, 99).is_empty());
        assert_eq!(strs(&parts(Records::File, b"a\nb", false, 99)), [("a\nb", false)]);
    }

    #[test]
    fn long_documents_are_cut_between_tokens_and_lose_nothing() {
        let text = b"aaa bb c dddddddddd ee f\ngg hh\n";
        for records in [Records::File, Records::Lines] {
            for most in 1..text.len() {
                let got = parts(records, text, true, most);
                let words =
                    |text: &[u8]| text.iter().filter(|byte| **byte != b'\n').copied().collect::<Vec<u8>>();
                let all: Vec<u8> = got.iter().flat_map(|(text, _)| text.clone()).collect();
                assert_eq!(words(&all), words(text));
                let ends = got.iter().filter(|(_, closes)| *closes).count();
                assert_eq!(ends, if records == Records::File { 1 } else { 2 });
                let inside = |(text, closes): &(Vec<u8>, bool)| {
                    *closes || text.ends_with(b" ") || text.ends_with(b"\n")
                };
                assert!(got.iter().all(inside), "most {most}: {got:?}");
            }
        }
    }
}
