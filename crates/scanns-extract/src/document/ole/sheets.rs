//! Excel 5 to 2003 ([MS-XLS]): each sheet's name, a line for each row with tabs between its cells, text boxes
//! and comments.
//!
//! The stream is records of `type u16, size u16, body`. The globals come first, with the names of the sheets,
//! the shared strings and the number formats; then the cells of each sheet in the order of rows.

use std::collections::HashMap;
use std::io::{Read, Seek};

use encoding_rs::{Encoding, WINDOWS_1252};

use super::super::bytes::{f64_at, size_at, u16_at, u32_at};
use super::super::charset;
use super::super::flow::{Break, Flow};
use super::super::number::{NumberKind, error_name, kind_of_format, rk, written};
use super::compound::Compound;
use super::strings::Chunks;
use super::summary;
use crate::error::ExtractError;
use crate::output::Output;

/// The name of the format in errors.
pub(super) const NAME: &str = "Excel 97";

/// Types of records.
const FORMULA: u16 = 0x006;
const EOF: u16 = 0x00a;
const DATE_1904: u16 = 0x022;
const FILE_PASS: u16 = 0x02f;
const CONTINUE: u16 = 0x03c;
const CODE_PAGE: u16 = 0x042;
const BOUND_SHEET: u16 = 0x085;
const MUL_RK: u16 = 0x0bd;
const R_STRING: u16 = 0x0d6;
const XF: u16 = 0x0e0;
const SHARED_STRINGS: u16 = 0x0fc;
const LABEL_SHARED: u16 = 0x0fd;
const TEXT_OBJECT: u16 = 0x1b6;
const NUMBER: u16 = 0x203;
const LABEL: u16 = 0x204;
const BOOL_OR_ERROR: u16 = 0x205;
const STRING: u16 = 0x207;
const RK: u16 = 0x27e;
const FORMAT: u16 = 0x41e;
const BOF: u16 = 0x809;

/// A record and its continuations.
struct Record<'r> {
    kind: u16,
    place: usize,
    body: &'r [u8],
    more: Vec<&'r [u8]>,
}

/// Takes the text and the fields of a workbook.
pub(super) fn extract<S: Read + Seek>(
    compound: &mut Compound<S>,
    out: &mut Output,
) -> Result<(), ExtractError> {
    summary::read(compound, out);
    let stream = match compound.stream("/Workbook")? {
        Some(stream) => stream,
        None => compound.needed("/Book")?,
    };
    let mut book = Book::new(Flow::new(out));
    let mut rest = (&stream[..], 0);
    while let Some(record) = next_record(&mut rest) {
        if record.kind == FILE_PASS {
            return Err(ExtractError::Encrypted { format: NAME });
        }
        book.record(&record);
        if book.flow.is_full() {
            return Ok(());
        }
    }
    if book.is_ended { Ok(()) } else { Err(ExtractError::damaged(NAME, "the records are cut off")) }
}

/// The next record with its continuations. A body that is cut off is as long as the stream.
fn next_record<'r>(rest: &mut (&'r [u8], usize)) -> Option<Record<'r>> {
    let place = rest.1;
    let (kind, body) = take_record(rest)?;
    let mut more = Vec::new();
    while u16_at(rest.0, 0) == Some(CONTINUE) {
        more.push(take_record(rest)?.1);
    }
    Some(Record { kind, place, body, more })
}

/// Takes one record off the stream.
fn take_record<'r>(rest: &mut (&'r [u8], usize)) -> Option<(u16, &'r [u8])> {
    let kind = u16_at(rest.0, 0)?;
    let size = usize::from(u16_at(rest.0, 2)?);
    let after = rest.0.get(4..)?;
    let body = after.get(..size.min(after.len()))?;
    *rest = (after.get(body.len()..)?, rest.1 + 4 + body.len());
    Some((kind, body))
}

/// What the records so far have told.
struct Book<'o> {
    flow: Flow<'o>,
    is_biff8: bool,
    is_1904: bool,
    /// Whether the last substream is closed.
    is_ended: bool,
    encoding: &'static Encoding,
    names: HashMap<usize, String>,
    strings: Vec<String>,
    codes: HashMap<u16, NumberKind>,
    kinds: Vec<NumberKind>,
    row: Option<u16>,
}

impl<'o> Book<'o> {
    fn new(flow: Flow<'o>) -> Self {
        Self {
            flow,
            is_biff8: true,
            is_1904: false,
            is_ended: false,
            encoding: WINDOWS_1252,
            names: HashMap::new(),
            strings: Vec::new(),
            codes: HashMap::new(),
            kinds: Vec::new(),
            row: None,
        }
    }

    /// Takes a record. One that is too short gives nothing.
    fn record(&mut self, record: &Record<'_>) {
        let body = record.body;
        match record.kind {
            BOF => self.begin(record),
            EOF => self.is_ended = true,
            CODE_PAGE => {
                self.encoding = charset::of_code_page(u16_at(body, 0).map_or(1252, i32::from));
            }
            DATE_1904 => self.is_1904 = u16_at(body, 0) == Some(1),
            BOUND_SHEET => {
                if let (Some(place), Some(name)) = (size_at(body, 0), self.string(body, 6, 1)) {
                    self.names.insert(place, name);
                }
            }
            FORMAT => self.format(body),
            XF => self.style(body),
            SHARED_STRINGS => self.shared_strings(record),
            STRING => self.text_of(record.body, 0),
            TEXT_OBJECT => self.text_object(record),
            _ => {
                let _ = self.cell(record);
            }
        }
    }

    /// Begins a substream: a sheet has its name at the place of its first record.
    fn begin(&mut self, record: &Record<'_>) {
        // Some programs note another version in each sheet than in the globals, which are right.
        if record.place == 0 {
            self.is_biff8 = u16_at(record.body, 0) == Some(0x600);
        }
        self.is_ended = false;
        self.row = None;
        if let Some(name) = self.names.get(&record.place) {
            self.flow.part(Break::Line);
            self.flow.words(name);
            self.flow.part(Break::Line);
        }
    }

    /// The string at `at` whose length takes `size` bytes.
    fn string(&self, body: &[u8], at: usize, size: u32) -> Option<String> {
        let mut chunks = Chunks::new(vec![body.get(at..)?]);
        if self.is_biff8 {
            return chunks.string(size);
        }
        let length = chunks.number(size)?;
        let start = at + usize::try_from(size).ok()?;
        let bytes = body.get(start..)?;
        let bytes = bytes.get(..length.min(bytes.len()))?;
        Some(self.encoding.decode_without_bom_handling(bytes).0.into_owned())
    }

    fn format(&mut self, body: &[u8]) {
        let size = if self.is_biff8 { 2 } else { 1 };
        if let (Some(id), Some(code)) = (u16_at(body, 0), self.string(body, 2, size)) {
            self.codes.insert(id, kind_of_format(u32::from(id), Some(&code)));
        }
    }

    fn style(&mut self, body: &[u8]) {
        let id = u16_at(body, 2).unwrap_or(0);
        let kind = self.codes.get(&id).copied();
        self.kinds.push(kind.unwrap_or_else(|| kind_of_format(u32::from(id), None)));
    }

    fn shared_strings(&mut self, record: &Record<'_>) {
        let bodies = std::iter::once(record.body).chain(record.more.iter().copied()).collect();
        let mut chunks = Chunks::new(bodies);
        if chunks.skip(8).is_some() {
            self.strings = std::iter::from_fn(|| chunks.string(2)).collect();
        }
    }

    /// Appends the string at `at` of a cell.
    fn text_of(&mut self, body: &[u8], at: usize) {
        let text = self.string(body, at, 2).unwrap_or_default();
        self.flow.words(&text);
        self.flow.part(Break::Tab);
    }

    /// Appends the text of a text box or comment, which is in the continuations.
    fn text_object(&mut self, record: &Record<'_>) {
        let length = u16_at(record.body, 10).map_or(0, usize::from);
        let Some((flags, _)) = record.more.first().and_then(|body| body.split_first()) else { return };
        let mut chunks = Chunks::new(record.more.clone());
        let _ = chunks.skip(1);
        self.flow.part(Break::Line);
        let text = chunks.letters(length, *flags);
        self.flow.words(&text);
        self.flow.part(Break::Line);
    }

    /// Appends a cell, or the cells of a run. `None`: no cell, or it is cut off.
    fn cell(&mut self, record: &Record<'_>) -> Option<()> {
        let body = record.body;
        let kinds = [FORMULA, MUL_RK, R_STRING, LABEL_SHARED, NUMBER, LABEL, BOOL_OR_ERROR, RK];
        if !kinds.contains(&record.kind) {
            return None;
        }
        self.turn_to(u16_at(body, 0)?);
        let style = u16_at(body, 4)?;
        match record.kind {
            LABEL_SHARED => {
                let string = self.strings.get(size_at(body, 6)?)?;
                self.flow.words(string);
            }
            R_STRING | LABEL => self.text_of(body, 6),
            NUMBER => self.number(f64_at(body, 6)?, style),
            RK => self.number(rk(u32_at(body, 6)?), style),
            MUL_RK => {
                for run in body.get(4..body.len().saturating_sub(2))?.chunks_exact(6) {
                    self.number(rk(u32_at(run, 2)?), u16_at(run, 0)?);
                }
            }
            BOOL_OR_ERROR if body.get(7) == Some(&0) => self.truth(*body.get(6)?),
            BOOL_OR_ERROR => self.flow.words(error_name(*body.get(6)?)),
            FORMULA if u16_at(body, 12)? != 0xffff => self.number(f64_at(body, 6)?, style),
            FORMULA if body.get(6) == Some(&1) => self.truth(*body.get(8)?),
            FORMULA if body.get(6) == Some(&2) => self.flow.words(error_name(*body.get(8)?)),
            _ => {}
        }
        self.flow.part(Break::Tab);
        Some(())
    }

    /// Ends the line when the row changes.
    fn turn_to(&mut self, row: u16) {
        if self.row.replace(row) != Some(row) {
            self.flow.part(Break::Line);
        }
    }

    fn number(&mut self, value: f64, style: u16) {
        let kind = self.kinds.get(usize::from(style)).copied().unwrap_or(NumberKind::Plain);
        self.flow.words(&written(value, kind, self.is_1904));
        self.flow.part(Break::Tab);
    }

    fn truth(&mut self, value: u8) {
        self.flow.words(if value == 0 { "FALSE" } else { "TRUE" });
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::samples::compound;
    use super::*;

    #[test]
    fn the_version_of_the_globals_counts() {
        let record = |kind: u16, body: &[u8]| {
            let size = u16::try_from(body.len()).unwrap();
            [&kind.to_le_bytes()[..], &size.to_le_bytes(), body].concat()
        };
        let stream = [
            record(BOF, &[0, 5, 5, 0]),
            record(CODE_PAGE, &1251_u16.to_le_bytes()),
            record(EOF, &[]),
            record(BOF, &[0, 6, 16, 0]),
            record(LABEL, b"\0\0\0\0\0\0\x02\0\xe4\xe0"),
            record(EOF, &[]),
        ];
        let mut out = Output::new(99, 9);
        let file = compound(&[("Book", stream.concat())]);
        let file = Compound::open(std::io::Cursor::new(file), NAME).unwrap();
        file.extract(extract, &mut out).unwrap();
        assert_eq!(out.into_parts().0, "да\n");
    }
}
