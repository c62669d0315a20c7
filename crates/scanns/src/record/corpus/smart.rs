//! Collections of the SMART system: CACM, CISI, CRAN, MED.
//!
//! ```text
//! file     = document*
//! document = ".I " number LF ( field )*
//! field    = "." letter LF line*        letter: T W B A N X K C
//! ```
//! A line that begins with `.I` and a blank begins a document, and a line of `.` and one of the letters
//! begins a field. T is "title", W "text", B "bib" (where it was published), A "author" (a value a line),
//! N "note" (when it was entered), X "references", K "keywords" and C "category". Source: the files of
//! the Glasgow IR group.

#[cfg(test)]
mod tests;

use crate::record::corpus::latin1::push_text;
use crate::record::deviations::Deviations;
use crate::record::error::RecordError;
use crate::record::made_record::MadeRecord;
use memchr::{memchr, memmem};

/// Finds the ends of the documents of a SMART file.
#[derive(Clone, Debug, Default)]
pub struct SmartEnds {
    /// The bytes of the record that were searched.
    searched: usize,
}

impl SmartEnds {
    /// Begins at the start of a file.
    pub fn new() -> Self {
        Self::default()
    }

    /// The length of the record that `bytes` begins with, or None if it continues after them; then the same
    /// bytes must come again with more behind them. If `is_end`, nothing follows: Some for all non-empty
    /// bytes. No byte is searched twice for one record, but for the last three of a piece.
    pub fn next_end(&mut self, bytes: &[u8], is_end: bool) -> Option<usize> {
        let end = self.search(bytes).or_else(|| (is_end && !bytes.is_empty()).then_some(bytes.len()));
        if end.is_some() {
            self.searched = 0;
        }
        end
    }

    /// Starts a record after one that was not given to `next_end` to its end.
    pub fn start_record(&mut self) {
        self.searched = 0;
    }

    fn search(&mut self, bytes: &[u8]) -> Option<usize> {
        let finder = memmem::Finder::new(b"\n.I");
        while let Some(at) = finder.find(bytes.get(self.searched..)?) {
            let at = self.searched + at;
            self.searched = at;
            if matches!(bytes.get(at + 3)?, b' ' | b'\t') {
                return Some(at + 1);
            }
            self.searched = at + 1;
        }
        self.searched = self.searched.max(bytes.len().saturating_sub(2));
        None
    }
}

const DOCNO: u32 = 0;
const TEXT: u32 = 2;
const AUTHOR: u32 = 4;

/// The letters of the fields, and the names of their values.
const FIELDS: [(u8, u32); 8] =
    [(b'T', 1), (b'W', TEXT), (b'B', 3), (b'A', AUTHOR), (b'K', 5), (b'C', 6), (b'N', 7), (b'X', 8)];

/// Reads the documents of a SMART file.
#[derive(Clone, Debug, Default)]
pub struct SmartReader {
    deviations: Deviations,
    is_latin1: bool,
}

impl SmartReader {
    /// The names of the values.
    pub const NAMES: [&'static str; 9] =
        ["docno", "title", "text", "bib", "author", "keywords", "category", "note", "references"];

    /// Reads a record. Returns false if it has no document.
    pub fn read(&mut self, record: &[u8], into: &mut MadeRecord) -> Result<bool, RecordError> {
        into.clear();
        self.deviations.clear();
        let Some(rest) = record.strip_prefix(b".I").filter(|rest| matches!(rest.first(), Some(b' ' | b'\t')))
        else {
            if !record.trim_ascii().is_empty() {
                self.deviations.add("text outside of documents");
            }
            return Ok(false);
        };
        self.is_latin1 = std::str::from_utf8(record).is_err();
        if self.is_latin1 {
            self.deviations.add("text is not UTF-8: read as Latin-1");
        }
        let line = memchr(b'\n', rest).unwrap_or(rest.len());
        let (number, rest) = rest.split_at_checked(line).unwrap_or((rest, b""));
        if number.trim_ascii().is_empty() {
            return Err(RecordError::Lacks { what: "number behind '.I'" });
        }
        self.put(DOCNO, number, into);
        self.read_fields(rest.get(1..).unwrap_or_default(), into);
        Ok(true)
    }

    /// The deviations of the last record.
    pub fn deviations(&self) -> &[&'static str] {
        self.deviations.kinds()
    }

    fn read_fields(&mut self, bytes: &[u8], into: &mut MadeRecord) {
        let mut field = None;
        let mut rest = bytes;
        let mut value = 0;
        while let Some(line) = rest.get(value..).filter(|rest| !rest.is_empty()) {
            let length = memchr(b'\n', line).map_or(line.len(), |at| at + 1);
            if let Some(next) = self.field_of(line.get(..length).unwrap_or(line)) {
                self.put_field(field, rest.get(..value).unwrap_or_default(), into);
                field = Some(next);
                rest = line.get(length..).unwrap_or_default();
                value = 0;
            } else {
                value += length;
            }
        }
        self.put_field(field, rest, into);
    }

    /// The name of the values of the field that a line begins.
    fn field_of(&mut self, line: &[u8]) -> Option<u32> {
        let [b'.', letter] = *line.trim_ascii_end() else {
            return None;
        };
        let field = FIELDS.iter().find(|field| field.0 == letter).map(|field| field.1);
        if field.is_none() && letter.is_ascii_uppercase() {
            self.deviations.add("unknown field: read as text of the field before it");
        }
        field
    }

    fn put_field(&mut self, field: Option<u32>, value: &[u8], into: &mut MadeRecord) {
        if field.is_none() && !value.trim_ascii().is_empty() {
            self.deviations.add("text outside of fields");
        }
        let name = field.unwrap_or(TEXT);
        if name != AUTHOR {
            return self.put(name, value, into);
        }
        for line in value.split(|byte| *byte == b'\n') {
            self.put(name, line, into);
        }
    }

    fn put(&self, name: u32, value: &[u8], into: &mut MadeRecord) {
        into.make(name, |bytes| push_text(value.trim_ascii(), self.is_latin1, bytes));
    }
}
