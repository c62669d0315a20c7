//! Bytes of a piece to the documents in them: whole files, or lines.
//!
//! A piece comes from a block of the reader and cuts no token; a document may still reach over several pieces.
//! What goes out are parts: stretches of one document, cut between tokens where they are long, so that who
//! indexes them can look at the memory they take at short intervals.

use std::ops::Range;

use crate::schema::{Analyzer, Records};

/// A stretch of one document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its bytes in the piece's text.
    pub range: Range<usize>,
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
    pub fn new(
        records: Records,
        analyzer: &'a Analyzer,
        range: Range<usize>,
        closes: bool,
        most: usize,
    ) -> Self {
        let due = closes && records == Records::File || !range.is_empty();
        Parts { records, analyzer, most, at: range.start, end: range.end, closes, due }
    }

    /// The next part; `text` is always the same.
    #[inline]
    pub fn step(&mut self, text: &[u8]) -> Option<Part> {
        if !self.due {
            return None;
        }
        let start = self.at;
        let (stop, ends) = self.document_end(text);
        let (stop, closes) = if stop - start > self.most {
            match self.cut(text, start, stop) {
                Some(cut) => (cut, false),
                None => (stop, ends),
            }
        } else {
            (stop, ends)
        };
        self.at = stop;
        self.due = stop < self.end;
        Some(Part { range: start..stop, closes })
    }

    /// Where the document at hand ends, or the piece, and whether the document does.
    #[inline]
    fn document_end(&self, text: &[u8]) -> (usize, bool) {
        if self.records == Records::Lines
            && let Some(line) = memchr::memchr(b'\n', &text[self.at..self.end])
        {
            return (self.at + line + 1, true);
        }
        (self.end, self.closes)
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
        let analyzer = Analyzer::parse("whitespace").unwrap();
        let mut parts = Parts::new(records, &analyzer, 0..text.len(), closes, most);
        let step = || parts.step(text).map(|part| (text[part.range].to_vec(), part.closes));
        std::iter::from_fn(step).collect()
    }

    fn strs(parts: &[(Vec<u8>, bool)]) -> Vec<(&str, bool)> {
        parts.iter().map(|(text, closes)| (std::str::from_utf8(text).unwrap(), *closes)).collect()
    }

    #[test]
    fn lines_are_documents_and_empty_lines_too() {
        let got = parts(Records::Lines, b"one two\n\nthree\n", true, 99);
        assert_eq!(strs(&got), [("one two\n", true), ("\n", true), ("three\n", true)]);
        let got = parts(Records::Lines, b"one\nopen", false, 99);
        assert_eq!(strs(&got), [("one\n", true), ("open", false)]);
        let got = parts(Records::Lines, b"one\nlast", true, 99);
        assert_eq!(strs(&got), [("one\n", true), ("last", true)]);
        assert!(parts(Records::Lines, b"", true, 99).is_empty());
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
                assert_eq!(got.iter().flat_map(|(text, _)| text.clone()).collect::<Vec<u8>>(), text);
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
