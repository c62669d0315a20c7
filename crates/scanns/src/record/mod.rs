//! Bytes of a piece to the documents in them: whole files, or lines; and records with fields to their values.
//!
//! A piece comes from a block of the reader and cuts no token; a document may still reach over several pieces.
//! What goes out are parts: stretches of one document, cut between tokens where they are long, so that who
//! indexes them can look at the memory they take at short intervals.
//!
//! A line of JSON (`json/`) or a row of CSV (`csv/`) is a document with fields instead. `reader.rs` is where to begin: it
//! leads names to fields (`names.rs`), converts values to what the fields hold (`typed.rs`) and counts what cannot be
//! (`counts.rs`). `infer.rs` makes a schema of a sample.

mod counts;
mod csv;
mod error;
mod format;
mod infer;
mod json;
mod names;
mod raw;
mod reader;
mod typed;

use std::ops::Range;

use crate::schema::{Analyzer, Records};

pub(crate) use counts::MALFORMED;
pub use counts::{Conflict, Malformed, RecordCounts};
pub use csv::{CsvDelimiter, CsvEnds, CsvHeader};
pub use error::RecordError;
pub use format::{FileFormat, RecordFormat};
pub use infer::{FieldFigures, Inference, Inferred};
pub use names::{Sources, map_name};
pub use reader::{RecordReader, Recorded};

/// What some programs put in front of UTF-8.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// A stretch of one document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its bytes in the piece's text.
    pub range: Range<usize>,
    /// Where the next part begins: behind the line feed, if one ends this part.
    pub next: usize,
    /// True if the document ends with it.
    pub closes: bool,
}

/// Steps through the parts of a piece.
#[derive(Clone, Debug)]
pub struct Parts<'a> {
    records: Records,
    analyzer: &'a Analyzer,
    /// Bytes above which a part is cut.
    most: usize,
    at: usize,
    end: usize,
    /// True if the document ends where the piece does.
    closes: bool,
    /// True if the next step gives a part even without bytes: the end of a document is due.
    due: bool,
}

impl<'a> Parts<'a> {
    /// The parts of `text[range]`, whose last byte ends a document if `closes`; parts are cut above `most` bytes.
    ///
    /// `open` says that a document was begun before the range. It must be ended even if nothing of it is left; so
    /// must a file, which is a document even without bytes, while a line without bytes and line feed is none.
    pub fn new(
        records: Records,
        analyzer: &'a Analyzer,
        range: Range<usize>,
        (open, closes): (bool, bool),
        most: usize,
    ) -> Self {
        let due = closes && (open || records == Records::File) || !range.is_empty();
        Parts { records, analyzer, most, at: range.start, end: range.end, closes, due }
    }

    /// The next part; `text` is always the same.
    #[inline]
    pub fn step(&mut self, text: &[u8]) -> Option<Part> {
        if !self.due {
            return None;
        }
        let start = self.at;
        let (stop, next, closes) = self.document_end(text);
        let cut = if stop - start > self.most { self.cut(text, start, stop) } else { None };
        let (stop, next, closes) = cut.map_or((stop, next, closes), |cut| (cut, cut, false));
        self.at = next;
        self.due = next < self.end;
        Some(Part { range: start..stop, next, closes })
    }

    /// Where the text of the document at hand ends, or the piece; where the next one begins; whether this one ends.
    ///
    /// The line feed, and a carriage return before it, are no text: they need not be delimiters.
    #[inline]
    fn document_end(&self, text: &[u8]) -> (usize, usize, bool) {
        if self.records == Records::Lines
            && let Some(line) = memchr::memchr(b'\n', &text[self.at..self.end])
        {
            let feed = self.at + line;
            let end = if line > 0 && text[feed - 1] == b'\r' { feed - 1 } else { feed };
            return (end, feed + 1, true);
        }
        (self.end, self.end, self.closes)
    }

    /// The last place at most `most` bytes on where no token is cut, else the first after that.
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
        let mut parts = Parts::new(records, &analyzer, 0..text.len(), ends, most);
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
    fn a_line_begun_before_is_ended_even_if_nothing_of_it_is_left() {
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
