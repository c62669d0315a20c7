//! Finds out from samples how the rows of CSV files are written.
//!
//! - The delimiter is the one of `, ; | tab` that nearly all lines of a sample have equally often.
//! - Quotes are ordinary characters in tab-separated files unless most values of the samples that begin with
//!   a quote also end with one: databases and `find` write tabs without quotes.
//! - The first row has names if a cell is the name of a known field, or if it is over a column of numbers or
//!   dates and is neither. It is data if a cell of it is a number or date, as most values of its column are,
//!   or if a cell is one of twenty values in its column. Years over several columns are names. If the samples
//!   do not say, the first row has names.

use hashbrown::HashSet;

use super::delimiter::{CsvDelimiter, USUAL};
use super::dialect::{CsvDialect, CsvNames, CsvOptions, CsvQuotes};
use super::header::CsvHeader;
use super::row::{count_plain, without_line_end};
use super::rows::CsvRows;
use crate::record::json::number;
use crate::record::names::Sources;
use crate::record::raw::{BYTE_ORDER_MARK, RawScalar};
use crate::schema::parse_date;

/// The number of lines or rows of a sample that are considered.
const ROWS: usize = 1000;

/// A value that recurs is one of this number of values in its column.
const OFTEN: u64 = 20;

/// A value that recurs occurs at least this number of times below the first row.
const LEAST_REPEATS: u64 = 2;

/// The number of columns that are considered.
const COLUMNS: usize = 1000;

/// Finds out from samples how the rows of CSV files are written.
///
/// ```
/// # use scanns::sources::{CsvNames, CsvOptions, CsvSniffer};
/// let mut sniffer = CsvSniffer::new(&CsvOptions::default());
/// sniffer.sample(b"/etc/hosts\t220\n/etc/motd\t17\n", true);
/// assert_eq!(sniffer.dialect().names, CsvNames::Numbered);
/// ```
#[derive(Clone, Debug)]
pub struct CsvSniffer {
    options: CsvOptions,
    /// Names of values in records that fields take.
    known: HashSet<String>,
    likely: Option<CsvDelimiter>,
    /// Values between tabs that are quoted as a whole, and that only begin with a quote.
    quoted: u64,
    broken: u64,
    /// Samples whose first row has names, and whose first row is data.
    named: u64,
    data: u64,
}

impl CsvSniffer {
    /// No samples yet. What the options demand is not searched for.
    pub fn new(options: &CsvOptions) -> Self {
        CsvSniffer {
            options: options.clone(),
            known: HashSet::new(),
            likely: None,
            quoted: 0,
            broken: 0,
            named: 0,
            data: 0,
        }
    }

    /// Says which names of columns are expected, if there is a schema already.
    pub fn expect(&mut self, sources: &Sources) {
        self.known.extend(sources.names().map(str::to_owned));
    }

    /// Whether the first row has names that are expected; `None` if none are expected, or other ones.
    fn has_known_names(&self, first_row: &[u8], dialect: &CsvDialect) -> Option<bool> {
        let with_names = CsvDialect { names: CsvNames::FirstRow, ..dialect.clone() };
        let header = CsvHeader::parse(first_row, &with_names).ok()?;
        let is_known = header.names().iter().any(|name| self.known.contains(name));
        is_known.then_some(true).or(self.known.contains("column1").then_some(false))
    }

    /// Adds the beginning of a file. Bytes after the last line end are ignored, unless `is_whole` says that
    /// the file ends there.
    pub fn sample(&mut self, bytes: &[u8], is_whole: bool) {
        let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
        let last = memchr::memrchr(b'\n', bytes).map_or(0, |feed| feed + 1);
        let end = if is_whole { bytes.len() } else { last };
        let bytes = bytes.get(..end).unwrap_or_default();
        let lines: Vec<_> = lines(bytes).collect();
        let usual = usual_delimiter(&lines);
        self.likely = self.likely.or(usual);
        let Some(first) = lines.first() else { return };
        let own = CsvDialect { delimiter: self.options.delimiter, likely: usual, ..CsvDialect::default() };
        let delimiter = own.delimiter_of(first);
        if delimiter.byte() == b'\t' {
            for value in lines.iter().flat_map(|line| line.split(|&byte| byte == b'\t')) {
                let begins = value.first() == Some(&b'"');
                let ends = value.len() > 1 && value.last() == Some(&b'"');
                self.quoted += u64::from(begins && ends);
                self.broken += u64::from(begins && !ends);
            }
        }
        let dialect = CsvDialect {
            delimiter: Some(delimiter),
            quotes: self.quotes(),
            names: CsvNames::Numbered,
            likely: None,
        };
        let known = self.has_known_names(first, &dialect);
        match known.or_else(|| first_row_has_names(bytes, is_whole, &dialect)) {
            Some(true) => self.named += 1,
            Some(false) => self.data += 1,
            None => {}
        }
    }

    /// The dialect of the samples.
    pub fn dialect(&self) -> CsvDialect {
        let names = if self.data > 0 && self.named == 0 { CsvNames::Numbered } else { CsvNames::FirstRow };
        CsvDialect {
            delimiter: self.options.delimiter,
            likely: self.likely.filter(|_| self.options.delimiter.is_none()),
            quotes: self.quotes(),
            names: self.options.names.clone().unwrap_or(names),
        }
    }

    fn quotes(&self) -> CsvQuotes {
        let has_quoted = self.quoted > self.broken;
        let found = if has_quoted { CsvQuotes::Always } else { CsvQuotes::ExceptWithTabs };
        self.options.quotes.unwrap_or(found)
    }
}

/// The lines that are not blank, without their ends.
fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let all = bytes.split_inclusive(|&byte| byte == b'\n').map(without_line_end);
    all.filter(|line| !line.is_empty()).take(ROWS)
}

/// The delimiter that at least nine of ten lines have as often as the first one.
fn usual_delimiter(lines: &[&[u8]]) -> Option<CsvDelimiter> {
    let first = lines.first().filter(|_| lines.len() > 1)?;
    let agreeing = |delimiter: u8| {
        let count = count_plain(first, delimiter);
        let same = lines.iter().filter(|line| count_plain(line, delimiter) == count).count();
        (count > 1 && same * 10 >= lines.len() * 9).then_some((same, count))
    };
    let candidates = USUAL.iter().rev().filter_map(|&byte| Some((agreeing(byte)?, byte)));
    candidates.max_by_key(|(agreement, _)| *agreement).and_then(|(_, byte)| CsvDelimiter::of_byte(byte))
}

/// What the sample says about one column.
#[derive(Debug, Default)]
struct ColumnEvidence {
    first: Vec<u8>,
    /// Values below the first one that are not empty, those that are numbers or dates, and those that equal
    /// the first one.
    values: u64,
    typed: u64,
    repeats: u64,
}

impl ColumnEvidence {
    fn add(&mut self, value: &[u8]) {
        self.values += u64::from(!value.is_empty());
        self.typed += u64::from(is_typed(value));
        self.repeats += u64::from(!value.is_empty() && value == self.first);
    }

    fn is_typed(&self) -> bool {
        self.values > 0 && self.typed * 4 >= self.values * 3
    }

    fn recurs(&self) -> bool {
        self.repeats >= LEAST_REPEATS && self.repeats * OFTEN >= self.values
    }
}

fn is_typed(value: &[u8]) -> bool {
    let value = value.trim_ascii();
    number::is_plain(value) || parse_date(value).is_some()
}

/// Whether the first row has names; `None` if the sample does not say.
fn first_row_has_names(bytes: &[u8], is_whole: bool, dialect: &CsvDialect) -> Option<bool> {
    let mut rest = bytes;
    let mut rows = CsvRows::new(dialect);
    let mut next = |rows: &mut CsvRows| {
        let (row, behind) = rest.split_at_checked(rows.next_end(rest, is_whole)?)?;
        rest = behind;
        Some(row)
    };
    let first = next(&mut rows)?;
    let header = CsvHeader::parse(first, dialect).ok()?;
    rows = rows.below(&header);
    let mut columns: Vec<ColumnEvidence> = Vec::new();
    let _ = header.parse_row(first, &mut |cell: RawScalar| {
        if columns.len() < COLUMNS {
            columns.push(ColumnEvidence { first: cell.bytes(first).to_vec(), ..Default::default() });
        }
    });
    let mut repeated_rows = 0;
    for _ in 0..ROWS {
        let Some(row) = next(&mut rows) else { break };
        repeated_rows += u64::from(without_line_end(row) == without_line_end(first));
        let _ = header.parse_row(row, &mut |cell: RawScalar| {
            if let Some(column) = columns.get_mut(cell.name as usize) {
                column.add(cell.bytes(row));
            }
        });
    }
    verdict(&columns, repeated_rows > 0)
}

/// Whether the first cells of columns are names. A first row that occurs again is the header of files that
/// were joined.
fn verdict(columns: &[ColumnEvidence], is_repeated: bool) -> Option<bool> {
    let typed = || columns.iter().filter(|column| column.is_typed());
    if typed().any(|column| !column.first.is_empty() && !is_typed(&column.first)) {
        return Some(true);
    }
    let mut years: Vec<_> = typed().map(|column| column.first.as_slice()).collect();
    let are_years = years.len() > 1 && years.iter().all(|first| is_year(first));
    years.dedup();
    if are_years && years.len() == typed().count() {
        return None;
    }
    if typed().any(|column| is_typed(&column.first)) {
        return Some(false);
    }
    (!is_repeated && columns.iter().any(ColumnEvidence::recurs)).then_some(false)
}

fn is_year(cell: &[u8]) -> bool {
    matches!(
        cell.trim_ascii(),
        [b'1', b'9', b'0'..=b'9', b'0'..=b'9'] | [b'2', b'0', b'0'..=b'9', b'0'..=b'9']
    )
}
