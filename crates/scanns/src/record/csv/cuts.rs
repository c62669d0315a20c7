//! Where a CSV file can be cut, so that several threads can read it.
//!
//! The end of a row may depend on bytes far behind it, see `rows.rs`. A file is cut only where no row before
//! the cut was decided by bytes after it. So a thread that knows the header and the credit of the search, and
//! no byte outside of its part, finds the rows that one thread finds in the whole file.

use std::sync::Arc;

use super::dialect::CsvDialect;
use super::header::CsvHeader;
use super::rows::CsvRows;
use crate::read::{Cut, FindCuts, PieceStart};

/// The maximum size of the first row of a file that is cut: every part gets a copy.
const MOST_HEAD: usize = 256 << 10;

/// The maximum size of a row of a file that is cut, if rows may have quotes. The rest of the file is not cut.
const MOST_ROW: usize = 4 << 20;

/// Finds cuts in one CSV file.
#[derive(Clone, Debug)]
pub struct CsvCuts {
    dialect: CsvDialect,
    rows: CsvRows,
    /// The first row.
    head: Arc<[u8]>,
    state: CutState,
    /// The bytes from the current row on.
    carry: Vec<u8>,
    /// How many of these bytes have decided where earlier rows end.
    reach: usize,
    /// Records and lines before the current row.
    records: u64,
    lines: u64,
}

/// What is known about a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CutState {
    /// The first row comes next.
    FirstRow,
    /// Rows may have quotes.
    Quotes,
    /// Every line is a row.
    Lines,
    /// The rest of the file is not cut.
    Whole,
}

impl CsvCuts {
    /// Starts a file in this dialect.
    pub fn new(dialect: &CsvDialect) -> Self {
        CsvCuts {
            dialect: dialect.clone(),
            rows: CsvRows::new(dialect),
            head: Arc::default(),
            state: CutState::FirstRow,
            carry: Vec::new(),
            reach: 0,
            records: 0,
            lines: 0,
        }
    }

    /// How to read the file from the current row on.
    fn start(&self) -> PieceStart {
        let (head, credit) = (Arc::clone(&self.head), self.rows.credit());
        PieceStart { head, records: self.records, lines: self.lines, credit }
    }

    /// Cuts behind the last of the lines that end in `bytes`.
    fn last_line(&mut self, bytes: &[u8]) -> Option<Cut> {
        let at = memchr::memrchr(b'\n', bytes)? + 1;
        let lines = memchr::memchr_iter(b'\n', bytes).count() as u64;
        self.records += lines;
        self.lines += lines;
        Some(Cut { at, start: self.start() })
    }

    /// Looks at all rows that end in `bytes`.
    fn last_row(&mut self, bytes: &[u8]) -> Option<Cut> {
        let mut text = std::mem::take(&mut self.carry);
        let earlier = text.len();
        text.extend_from_slice(bytes);
        let (mut start, mut cut) = (0, None);
        while let Some(rest) = text.get(start..)
            && let Some(end) = self.rows.next_end(rest, false)
        {
            self.reach = self.reach.max(self.rows.reach()).saturating_sub(end);
            self.lines += self.rows.lines();
            if self.state == CutState::FirstRow {
                self.read_head(rest.get(..end).unwrap_or_default());
            } else {
                self.records += 1;
            }
            start += end;
            // A part without a record would not be known to be indexed.
            if self.reach == 0 && self.records > 0 {
                cut = Some((start, self.records, self.lines, self.rows.credit()));
            }
            if self.state == CutState::Whole {
                return None;
            }
        }
        if self.state == CutState::Lines {
            text.clear();
        }
        text.drain(..start.min(text.len()));
        let most = if self.state == CutState::FirstRow { MOST_HEAD } else { MOST_ROW };
        match text.len() > most {
            true => self.state = CutState::Whole,
            false => self.carry = text,
        }
        let (at, records, lines, credit) = cut?;
        let at = at.checked_sub(earlier).filter(|&at| at > 0)?;
        Some(Cut { at, start: PieceStart { head: Arc::clone(&self.head), records, lines, credit } })
    }

    /// Reads the first row. If it has no columns, the file is not cut.
    fn read_head(&mut self, row: &[u8]) {
        self.state = match CsvHeader::parse(row, &self.dialect) {
            Ok(header) if row.len() <= MOST_HEAD => {
                self.rows = self.rows.below(&header);
                self.head = row.into();
                self.records = u64::from(header.is_row());
                if header.has_quotes() { CutState::Quotes } else { CutState::Lines }
            }
            _ => CutState::Whole,
        };
    }
}

impl FindCuts for CsvCuts {
    fn of_next_text(&self) -> Box<dyn FindCuts> {
        Box::new(CsvCuts::new(&self.dialect))
    }

    fn of_rest(&self, start: &PieceStart) -> Box<dyn FindCuts> {
        let mut cuts = CsvCuts::new(&self.dialect);
        cuts.read_head(&start.head);
        cuts.rows = cuts.rows.with_credit(start.credit);
        Box::new(CsvCuts { records: start.records, lines: start.lines, ..cuts })
    }

    fn take(&mut self, bytes: &[u8]) -> Option<Cut> {
        match self.state {
            CutState::Whole => None,
            CutState::Lines => self.last_line(bytes),
            CutState::FirstRow | CutState::Quotes => self.last_row(bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;
    use crate::record::csv::{CsvDelimiter, CsvNames};

    /// The ends of the rows of `text`, whose first row is the header, and the state behind each.
    fn all_rows(dialect: &CsvDialect, text: &[u8]) -> Vec<(usize, PieceStart)> {
        let (mut rows, mut at, mut found) = (CsvRows::new(dialect), 0, Vec::new());
        let (mut records, mut lines, mut head) = (0, 0, None);
        while let Some(end) = rows.next_end(&text[at..], true) {
            lines += rows.lines();
            match head {
                Some(_) => records += 1,
                None => {
                    let header = CsvHeader::parse(&text[..end], dialect).unwrap();
                    rows = rows.below(&header);
                    records = u64::from(header.is_row());
                    head = Some(Arc::from(&text[..end]));
                }
            }
            at += end;
            let head = head.clone().unwrap();
            found.push((at, PieceStart { head, records, lines, credit: rows.credit() }));
        }
        found
    }

    /// The cuts of a text that comes in pieces of random lengths.
    fn cuts_of(random: &mut Rng, dialect: &CsvDialect, text: &[u8], most: usize) -> Vec<(usize, PieceStart)> {
        let mut finder = CsvCuts::new(dialect).of_next_text();
        let (mut at, mut found) = (0, Vec::new());
        while at < text.len() {
            let len = random.usize(1..=most).min(text.len() - at);
            if let Some(cut) = finder.take(&text[at..at + len]) {
                assert!((1..=len).contains(&cut.at));
                found.push((at + cut.at, cut.start));
            }
            at += len;
        }
        found
    }

    fn random_text(random: &mut Rng, len: usize) -> Vec<u8> {
        let mut text = b"a,b,c\n".to_vec();
        let (strays, ends) = (random.bool(), ["\n", "\r\n"][random.usize(..2)]);
        while text.len() < len {
            for column in 0..3 {
                let most = if random.u8(..) == 0 { 3000 } else { 9 };
                let word = "x".repeat(random.usize(..most));
                let value = match random.u32(..30) {
                    0 if strays => format!("\"{word}"),
                    1 if strays => format!("\"{word}\"{word}"),
                    2 | 3 => format!("\"{word}\n{word}\r\n\""),
                    4 => format!("\"{word},\"\"\n\""),
                    5 => format!("{word}\"{word},"),
                    6 => String::new(),
                    _ => word,
                };
                text.extend_from_slice(value.as_bytes());
                text.extend_from_slice(if column < 2 { b"," } else { ends.as_bytes() });
            }
        }
        text.truncate(len);
        text
    }

    #[test]
    fn parts_have_the_rows_of_the_whole_text() {
        let seed = fastrand::u64(..);
        let mut random = Rng::with_seed(seed);
        let mut count = 0;
        for round in 0..300 {
            let what = format!("seed {seed:#x} round {round}");
            let numbered = CsvDialect { names: CsvNames::Numbered, ..CsvDialect::default() };
            let dialect = if random.bool() { CsvDialect::default() } else { numbered };
            // What unclosed quotes search in vain shows in long texts.
            let len = if round < 4 { 5 << 20 } else { random.usize(10..60_000) };
            let text = random_text(&mut random, len);
            let most = [20, 3000, 200_000][random.usize(..3)].max(len / 1000);
            let (rows, cuts) = (all_rows(&dialect, &text), cuts_of(&mut random, &dialect, &text, most));
            count += cuts.len();
            for (number, (at, start)) in cuts.iter().enumerate() {
                let row = rows.partition_point(|(end, _)| end < at);
                assert_eq!(rows.get(row), Some(&(*at, start.clone())), "{what} at {at}");
                let end = cuts.get(number + 1).map_or(text.len(), |(end, _)| *end);
                let header = CsvHeader::parse(&start.head, &dialect).unwrap();
                let mut part = CsvRows::new(&dialect).below(&header).with_credit(start.credit);
                let (mut from, mut expected) = (*at, rows[row + 1..].iter());
                while from < end {
                    from += part.next_end(&text[from..end], true).unwrap();
                    assert_eq!(Some(from), expected.next().map(|(end, _)| *end), "{what}");
                }
            }
        }
        assert!(count > 10_000, "seed {seed:#x}: only {count} cuts");
    }

    #[test]
    fn lines_without_quotes_are_cut_at_their_ends() {
        let dialect = CsvDialect { delimiter: Some(CsvDelimiter::TAB), ..CsvDialect::default() };
        let dialect = CsvDialect { quotes: crate::record::csv::CsvQuotes::Never, ..dialect };
        let mut cuts = CsvCuts::new(&dialect);
        assert!(cuts.take(b"a\tb\n").is_none(), "a part has at least one record");
        let start = |records, lines| PieceStart {
            head: b"a\tb\n"[..].into(),
            records,
            lines,
            credit: CsvRows::new(&dialect).credit(),
        };
        let cut = cuts.take(b"\"1\t\n2\t\"\n3").unwrap();
        assert_eq!((cut.at, cut.start), (8, start(2, 3)));
        assert!(cuts.take(b"456").is_none());
        let cut = cuts.take(b"7\n\n\n8\n9").unwrap();
        assert_eq!((cut.at, cut.start), (6, start(6, 7)));
    }

    #[test]
    fn a_text_without_columns_or_with_a_huge_row_is_not_cut() {
        let comma = CsvDialect::default();
        let mut cuts = CsvCuts::new(&comma);
        assert!(cuts.take(b"\n1,2\n3,4\n").is_none());
        assert!(cuts.take(b"5,6\n").is_none());
        let mut cuts = CsvCuts::new(&comma);
        assert_eq!(cuts.take(b"a,b\n1,2\n3").map(|cut| cut.at), Some(8));
        assert!(cuts.take(&vec![b'x'; MOST_ROW]).is_none());
        assert!(cuts.take(b"\n1,2\n").is_none());
        let mut cuts = CsvCuts::new(&comma);
        assert!(cuts.take(&vec![b'x'; MOST_HEAD + 1]).is_none());
        assert!(cuts.take(b"\n1,2\n").is_none());
    }
}
