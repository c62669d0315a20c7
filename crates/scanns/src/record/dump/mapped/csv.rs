//! CSV and TSV with a map of columns, read in parts by several threads.
//!
//! The rules of `record/csv/` say where rows end and what their values are. Here every row stands for itself:
//! where it ends depends on at most 64 KiB behind its first line, and on nothing before it, so that any
//! division of a dump into rows gives the same entries. A quote that is never closed therefore spoils one
//! line, and not the rest of the dump. Rows with too few or too many values are bad rows. A row that repeats
//! the header, as in files that were joined, is not an entry.
//!
//! Cost: a row without quotes is searched once for its end, and once for its delimiters.

use std::ops::ControlFlow;

use super::resolve::resolve;
use super::row::MappedRow;
use super::spec::ColumnMap;
use super::table_map::{MapView, TableColumn, TableMap};
use super::value::TableValue;
use crate::record::csv::quotes::undouble;
use crate::record::csv::{
    CsvDelimiter, CsvDialect, CsvHeader, CsvNames, CsvOptions, CsvQuotes, CsvRows, CsvSniffer,
};
use crate::record::dump::{DUMP_HEAD, DumpTally, ReadRows, Visit};
use crate::record::raw::{BYTE_ORDER_MARK, RawScalar, ScalarKind};

/// The most bytes behind the first line of a row that a quoted value may take.
const WINDOW: usize = 64 << 10;

/// Rows at the start of a dump whose values are looked at.
const SAMPLED: usize = 200;

/// How the rows of a table are written, as far as the user says it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CsvTable {
    /// The delimiter; `None` if the first rows tell.
    pub delimiter: Option<u8>,
    /// True if the first row is data.
    pub no_header: bool,
    /// The names of the columns, if they do not stand in the first row.
    pub names: Option<Vec<String>>,
    /// True if the rows are objects of a store.
    pub objects: bool,
}

/// Reads CSV.
#[derive(Debug)]
pub struct MappedCsv {
    map: TableMap,
    header: CsvHeader,
    rows: CsvRows,
    /// The first row, if it has names.
    head: Vec<u8>,
    /// Where the first row of data begins.
    begin: u64,
}

impl MappedCsv {
    /// Reads the map of a dump that begins with `start`.
    ///
    /// # Errors
    /// What is wrong with the table or the map.
    pub fn new(start: &[u8], table: &CsvTable, spec: &ColumnMap) -> Result<(Self, MapView), String> {
        let (header, rows, end) = open(start, table, spec)?;
        let begin = match (header.is_row(), start.starts_with(BYTE_ORDER_MARK)) {
            (false, _) => end,
            (true, true) => BYTE_ORDER_MARK.len(),
            (true, false) => 0,
        };
        let head = if header.is_row() { &[][..] } else { start.get(..end).unwrap_or_default() };
        let head = head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(head).to_vec();
        let mut reader = MappedCsv { map: TableMap::default(), header, rows, head, begin: begin as u64 };
        let columns = reader.sample(start);
        let (map, view) = resolve(spec, &columns).map_err(|reason| match reader.seems_headless(start) {
            true => format!("{reason}; the first row may be data: --dump-no-header --map path=#1"),
            false => reason,
        })?;
        reader.map = TableMap { objects: table.objects, ..map };
        Ok((reader, view))
    }

    /// True if the first row was taken for names, and looks like data.
    fn seems_headless(&self, start: &[u8]) -> bool {
        let mut sniffer = CsvSniffer::new(&CsvOptions::default());
        sniffer.sample(start, start.len() < DUMP_HEAD);
        !self.header.is_row() && sniffer.dialect().names == CsvNames::Numbered
    }

    /// The columns and their first values.
    fn sample(&self, start: &[u8]) -> Vec<TableColumn> {
        let mut columns: Vec<TableColumn> = self
            .header
            .names()
            .iter()
            .map(|name| TableColumn { name: name.clone(), ..TableColumn::default() })
            .collect();
        let mut rest = start.get(usize::try_from(self.begin).unwrap_or(0)..).unwrap_or_default();
        let is_end = start.len() < DUMP_HEAD;
        let mut plain = Vec::new();
        for _ in 0..SAMPLED {
            let Some((row, after)) = self.row_end(rest, is_end).and_then(|end| rest.split_at_checked(end))
            else {
                break;
            };
            let mut cells = Vec::new();
            let is_row = self.cells(row, &mut cells).is_ok_and(|count| count == columns.len());
            if is_row && row != self.head {
                for (column, cell) in columns.iter_mut().zip(&cells) {
                    let text = cell.text(row, &mut plain);
                    if !text.is_empty() {
                        column.samples.push(text.to_vec());
                    }
                }
            }
            rest = after;
        }
        columns
    }

    /// The length of the row that `bytes` begin with, or `None` if it goes on behind them.
    #[inline]
    fn row_end(&self, bytes: &[u8], is_end: bool) -> Option<usize> {
        let found = match self.header.has_quotes() {
            true => memchr::memchr2(b'"', b'\n', bytes),
            false => memchr::memchr(b'\n', bytes),
        };
        match found.and_then(|at| Some((at, bytes.get(at)?))) {
            Some((at, b'\n')) => Some(at + 1),
            Some(_) => self.rows.clone().next_end(bytes, is_end),
            None => (is_end && !bytes.is_empty()).then_some(bytes.len()),
        }
    }

    /// Finds the values of a row. Returns their number, 0 for a blank row.
    #[inline]
    fn cells(&self, row: &[u8], cells: &mut Vec<CsvCell>) -> Result<usize, String> {
        cells.clear();
        if self.header.has_quotes() && memchr::memchr(b'"', row).is_some() {
            return self.quoted_cells(row, cells);
        }
        let row = row.strip_suffix(b"\n").unwrap_or(row);
        let row = row.strip_suffix(b"\r").unwrap_or(row);
        if row.is_empty() {
            return Ok(0);
        }
        let mut start = 0;
        for end in memchr::memchr_iter(self.header.delimiter().byte(), row) {
            cells.push(CsvCell { start, end, is_doubled: false });
            start = end + 1;
        }
        cells.push(CsvCell { start, end: row.len(), is_doubled: false });
        Ok(cells.len())
    }

    /// Finds the values of a row that has quotes.
    fn quoted_cells(&self, row: &[u8], cells: &mut Vec<CsvCell>) -> Result<usize, String> {
        let mut take = |cell: RawScalar| {
            let is_doubled = cell.kind == ScalarKind::Doubled;
            cells.push(CsvCell { start: cell.start as usize, end: cell.end as usize, is_doubled });
        };
        match self.header.parse_row(row, &mut take) {
            Ok(_) => Ok(cells.len()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Reads a row into an entry and visits it.
    fn row(
        &self,
        row: &[u8],
        state: &mut RowState<'_>,
        call: RowCall<'_, '_>,
    ) -> Result<ControlFlow<()>, String> {
        let RowCall { offset, tally, visit } = call;
        let count = match self.cells(row, &mut state.cells) {
            Err(_) if self.header.fits_plain(row) => {
                tally.guessed(offset, "a quote seems to belong to a value", row);
                state.cells.clear();
                let cells = &mut state.cells;
                let mut take = |cell: RawScalar| {
                    let (start, end) = (cell.start as usize, cell.end as usize);
                    cells.push(CsvCell { start, end, is_doubled: false });
                };
                self.header.parse_plain(row, &mut take).map_err(|error| error.to_string())?;
                state.cells.len()
            }
            count => count?,
        };
        let names = self.header.names().len();
        if count == 0 {
            return Ok(ControlFlow::Continue(()));
        }
        if count != names {
            return Err(format!("it has {count} values, but the table has {names} columns"));
        }
        state.entry.start(offset);
        for (number, column) in self.map.used().enumerate() {
            if let Some(cell) = state.cells.get(column) {
                state.entry.put(number, TableValue::Text(cell.text(row, &mut state.plain)), tally);
            }
        }
        match state.entry.finish()? {
            Some(entry) => Ok(visit(&entry)),
            None => {
                tally.passed += 1;
                Ok(ControlFlow::Continue(()))
            }
        }
    }
}

/// The place of a value in its row.
#[derive(Clone, Copy, Debug)]
struct CsvCell {
    start: usize,
    end: usize,
    /// True if it has doubled quotes.
    is_doubled: bool,
}

impl CsvCell {
    #[inline]
    fn text<'t>(self, row: &'t [u8], plain: &'t mut Vec<u8>) -> &'t [u8] {
        let raw = row.get(self.start..self.end).unwrap_or_default();
        if self.is_doubled {
            undouble(raw, plain);
            return plain;
        }
        raw
    }
}

/// What is used again for every row.
struct RowState<'m> {
    entry: MappedRow<'m>,
    cells: Vec<CsvCell>,
    plain: Vec<u8>,
}

/// Where a row stands, and who takes its entry.
struct RowCall<'c, 'v> {
    offset: u64,
    tally: &'c mut DumpTally,
    visit: &'c mut Visit<'v>,
}

/// Reads the first row: the columns, how rows end, and the length of the row.
fn open(start: &[u8], table: &CsvTable, spec: &ColumnMap) -> Result<(CsvHeader, CsvRows, usize), String> {
    let is_whole = start.len() < DUMP_HEAD;
    let delimiter = table.delimiter.and_then(CsvDelimiter::of_byte);
    let names = match &table.names {
        Some(names) => Some(CsvNames::Given(names.clone())),
        None if table.no_header => Some(CsvNames::Numbered),
        // Columns that are told by their numbers may have no names.
        None => (!spec.is_by_number()).then_some(CsvNames::FirstRow),
    };
    let mut sniffer = CsvSniffer::new(&CsvOptions { delimiter, quotes: None, names });
    sniffer.sample(start, is_whole);
    let mut dialect: CsvDialect = sniffer.dialect();
    if delimiter.is_some_and(|delimiter| delimiter != CsvDelimiter::TAB) {
        dialect.quotes = CsvQuotes::Always;
    }
    let mut rows = CsvRows::new(&dialect);
    let end = rows.next_end(start, is_whole).ok_or("its first row has no end within 64 KiB")?;
    let first = start.get(..end).unwrap_or_default();
    let header = CsvHeader::parse(first, &dialect).map_err(|error| format!("its first row: {error}"))?;
    let rows = CsvRows::new(&dialect).below(&header).with_credit(WINDOW);
    Ok((header, rows, end))
}

impl ReadRows for MappedCsv {
    fn complete(&self, bytes: &[u8]) -> usize {
        if !self.header.has_quotes() || memchr::memchr(b'"', bytes).is_none() {
            return memchr::memrchr(b'\n', bytes).map_or(0, |last| last + 1);
        }
        let mut at = 0;
        while let Some(end) = bytes.get(at..).and_then(|rest| self.row_end(rest, false)) {
            at += end;
        }
        at
    }

    fn read(
        &self,
        bytes: &[u8],
        offset: u64,
        tally: &mut DumpTally,
        visit: &mut Visit<'_>,
    ) -> ControlFlow<()> {
        let mut state = RowState { entry: MappedRow::new(&self.map), cells: Vec::new(), plain: Vec::new() };
        let mut at =
            usize::try_from(self.begin.saturating_sub(offset)).unwrap_or(usize::MAX).min(bytes.len());
        while let Some(rest) = bytes.get(at..)
            && let Some(end) = self.row_end(rest, true)
        {
            let row = rest.get(..end).unwrap_or_default();
            let place = offset + at as u64;
            at += end;
            if row == self.head && self.header.names().len() > 1 {
                continue;
            }
            let is_cut = !row.ends_with(b"\n");
            match self.row(row, &mut state, RowCall { offset: place, tally, visit }) {
                Ok(flow) => {
                    if is_cut {
                        tally.guessed(place, "the last row of the dump has no end: it may be cut", row);
                    }
                    flow?;
                }
                Err(reason) => {
                    tally.bad(place, reason, row);
                    tally.truncated |= is_cut;
                }
            }
        }
        ControlFlow::Continue(())
    }
}
