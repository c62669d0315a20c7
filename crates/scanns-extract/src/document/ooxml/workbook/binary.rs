//! Binary workbooks, xlsb ([MS-XLSB]): the same parts as xlsx, as records of `type, size, body`.
//!
//! A type has one or two bytes and a size up to four, each with 7 bits of the number, the lowest first; the
//! high bit says that another byte follows. A string is its length as `u32` and UTF-16.

use std::io::{self, BufRead, BufReader, Read, Seek};
use std::ops::ControlFlow;

use super::super::Office;
use super::shared::{Shared, texts};
use crate::document::bytes::{f64_at, size_at, u16_at, u32_at, utf16};
use crate::document::flow::{Break, Flow};
use crate::document::number::{NumberKind, error_name, kind_of_format, rk, written};
use crate::error::ExtractError;
use crate::output::Output;

/// Types of records.
const ROW: u32 = 0;
const CELL_RK: u32 = 2;
const CELL_ERROR: u32 = 3;
const CELL_BOOL: u32 = 4;
const CELL_REAL: u32 = 5;
const CELL_STRING: u32 = 6;
const CELL_SHARED: u32 = 7;
const FORMULA_STRING: u32 = 8;
const FORMULA_NUMBER: u32 = 9;
const FORMULA_BOOL: u32 = 10;
const FORMULA_ERROR: u32 = 11;
const SHARED_STRING: u32 = 19;
const FORMAT: u32 = 44;
const STYLE: u32 = 47;
const CELL_RICH: u32 = 62;
const BOOK_PROPERTIES: u32 = 153;
const SHEET: u32 = 156;
const BEGIN_CELL_STYLES: u32 = 617;
const END_CELL_STYLES: u32 = 618;
const COMMENT_TEXT: u32 = 637;

/// What takes the type and the body of each record, up to a break.
type Taker<'t> = &'t mut dyn FnMut(u32, &[u8]) -> ControlFlow<()>;

/// Takes the text of the workbook with this main part.
pub(super) fn extract<S: Read + Seek>(
    mut office: Office<S>,
    main: &str,
    out: &mut Output,
) -> Result<(), ExtractError> {
    let mut flow = Flow::new(out);
    let mut shared = Shared::default();
    let sheets = listed_sheets(&mut office, main, &mut shared);
    for part in office.parts_of("ms-excel.sharedStrings") {
        records(&mut office, &part, flow.room(), &mut |kind, body| shared_string(kind, body, &mut shared));
    }
    for part in office.parts_of("ms-excel.styles") {
        styles(&mut office, &part, &mut shared);
    }
    for (name, part) in sheets {
        if flow.is_full() {
            break;
        }
        flow.words(&name);
        flow.part(Break::Line);
        records(&mut office, &part, flow.room(), &mut |kind, body| {
            let _ = cell(kind, body, &shared, &mut flow);
            if flow.is_full() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        flow.part(Break::Line);
    }
    for part in office.parts_of("ms-excel.comments") {
        records(&mut office, &part, flow.room(), &mut |kind, body| {
            if kind == COMMENT_TEXT {
                flow.words(&string(body, 1).unwrap_or_default());
                flow.part(Break::Line);
            }
            ControlFlow::Continue(())
        });
    }
    texts(&mut office, &mut flow);
    office.finish()
}

/// The name and the part of each sheet.
fn listed_sheets<S: Read + Seek>(
    office: &mut Office<S>,
    main: &str,
    shared: &mut Shared,
) -> Vec<(String, String)> {
    let relations = office.relations(main);
    let mut sheets = Vec::new();
    records(office, main, 0, &mut |kind, body| {
        match kind {
            BOOK_PROPERTIES => shared.is_1904 = u32_at(body, 0).is_some_and(|flags| flags & 1 == 1),
            SHEET => {
                let id = string(body, 8).unwrap_or_default();
                let after = size_at(body, 8).and_then(|length| length.checked_mul(2)?.checked_add(12));
                let name = after.and_then(|at| string(body, at)).unwrap_or_default();
                let target = relations.iter().find(|found| found.id == id);
                sheets.extend(target.map(|found| (name, found.target.clone())));
            }
            _ => {}
        }
        ControlFlow::Continue(())
    });
    sheets
}

/// Takes a record of the table of shared strings.
fn shared_string(kind: u32, body: &[u8], shared: &mut Shared) -> ControlFlow<()> {
    if kind == SHARED_STRING {
        shared.text.push_str(&string(body, 1).unwrap_or_default());
        shared.ends.push(shared.text.len());
    }
    ControlFlow::Continue(())
}

/// Reads which cell styles show dates.
fn styles<S: Read + Seek>(office: &mut Office<S>, part: &str, shared: &mut Shared) {
    let mut codes: Vec<(u16, NumberKind)> = Vec::new();
    let mut is_cell_style = false;
    records(office, part, 0, &mut |kind, body| {
        match kind {
            FORMAT => {
                if let (Some(id), Some(code)) = (u16_at(body, 0), string(body, 2)) {
                    codes.push((id, kind_of_format(u32::from(id), Some(&code))));
                }
            }
            BEGIN_CELL_STYLES => is_cell_style = true,
            END_CELL_STYLES => is_cell_style = false,
            STYLE if is_cell_style => {
                let id = u16_at(body, 2).unwrap_or(0);
                let own = codes.iter().find(|(known, _)| *known == id).map(|(_, kind)| *kind);
                shared.kinds.push(own.unwrap_or_else(|| kind_of_format(u32::from(id), None)));
            }
            _ => {}
        }
        ControlFlow::Continue(())
    });
}

/// Appends the text of a cell: a column and a style of 24 bits, then the value. `None`: no cell, or cut off.
fn cell(kind: u32, body: &[u8], shared: &Shared, flow: &mut Flow<'_>) -> Option<()> {
    if kind == ROW {
        flow.part(Break::Line);
    }
    let style = size_at(body, 4)? & 0x00ff_ffff;
    let number = |value| {
        let kind = shared.kinds.get(style).copied().unwrap_or(NumberKind::Plain);
        written(value, kind, shared.is_1904)
    };
    match kind {
        CELL_RK => flow.words(&number(rk(u32_at(body, 8)?))),
        CELL_REAL | FORMULA_NUMBER => flow.words(&number(f64_at(body, 8)?)),
        CELL_ERROR | FORMULA_ERROR => flow.words(error_name(*body.get(8)?)),
        CELL_BOOL | FORMULA_BOOL => flow.words(if *body.get(8)? == 0 { "FALSE" } else { "TRUE" }),
        CELL_STRING | FORMULA_STRING => flow.words(&string(body, 8)?),
        CELL_RICH => flow.words(&string(body, 9)?),
        CELL_SHARED => flow.words(shared.string(size_at(body, 8)?)?),
        _ => return None,
    }
    flow.part(Break::Tab);
    Some(())
}

/// The string at `at`; of one that is cut off, what there is.
fn string(body: &[u8], at: usize) -> Option<String> {
    let size = size_at(body, at)?.saturating_mul(2);
    let letters = body.get(at + 4..)?;
    letters.get(..size.min(letters.len())).map(utf16)
}

/// Gives each record of a part to `take`. An absent part is passed over; an error is kept for the end.
fn records<S: Read + Seek>(office: &mut Office<S>, name: &str, room: usize, take: Taker<'_>) {
    let format = office.package.format();
    let result = match office.package.part(name, room) {
        Ok(None) => Ok(()),
        Ok(Some(part)) => each_record(BufReader::new(part), take)
            .map_err(|error| ExtractError::damaged(format, format!("{name}: {error}"))),
        Err(error) => Err(error),
    };
    if let Err(error) = result {
        office.error.get_or_insert(error);
    }
}

fn each_record(mut input: impl BufRead, take: Taker<'_>) -> io::Result<()> {
    let mut body = Vec::new();
    while let Some(kind) = number(&mut input, 2)? {
        let size = number(&mut input, 4)?.ok_or(io::ErrorKind::UnexpectedEof)?;
        body.clear();
        let found = input.by_ref().take(u64::from(size)).read_to_end(&mut body)?;
        if take(kind, &body).is_break() {
            return Ok(());
        }
        if u32::try_from(found) != Ok(size) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(())
}

/// A number of up to `most` bytes; `None` at the end of the input.
fn number(input: &mut impl BufRead, most: u32) -> io::Result<Option<u32>> {
    let mut value = 0;
    for place in 0..most {
        let Some(byte) = input.fill_buf()?.first().copied() else {
            return if place == 0 { Ok(None) } else { Err(io::ErrorKind::UnexpectedEof.into()) };
        };
        input.consume(1);
        value |= u32::from(byte & 0x7f) << (7 * place);
        if byte < 0x80 {
            break;
        }
    }
    Ok(Some(value))
}

#[cfg(test)]
mod tests;
