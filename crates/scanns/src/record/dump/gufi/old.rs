//! The old format of traces, without lengths: a row ends at the first separator with a line feed behind it,
//! so that names may contain line feeds.
//!
//! A row with more than 23 columns has separators in its name, its linkname or its attributes. Then the name
//! ends before the first letter of a type that 11 numbers follow, and the last columns are counted from the
//! end; such a row is counted as guessed.

use std::ops::ControlFlow;

use memchr::memmem;

use super::trace::{GufiRow, GufiTrace};
use crate::record::dump::number::signed;
use crate::record::dump::rows::Reason;
use crate::record::dump::{DumpTally, Visit};

/// The most columns that are looked at in a row whose columns have to be guessed.
const MOST: usize = 256;

/// What a row tells that has more columns.
const GUESS: &str =
    "the row has more than 23 columns: its name, its link or its attributes contain the separator";

/// Calls `visit` for the entries in `bytes`.
pub(super) fn read(
    bytes: &[u8],
    offset: u64,
    trace: GufiTrace,
    tally: &mut DumpTally,
    visit: &mut Visit<'_>,
) -> ControlFlow<()> {
    let end = trace.end();
    let finder = memmem::Finder::new(&end);
    let mut rest = bytes;
    while !rest.is_empty() {
        let place = offset + (bytes.len() - rest.len()) as u64;
        let length = finder.find(rest);
        let row = length.and_then(|length| rest.get(..length)).unwrap_or(rest);
        // Only the last row of the dump may lack its end, of which the separator belongs to the last column.
        let closed = length.is_some() || row.ends_with(&[trace.separator]);
        let columns = match length {
            None => row.strip_suffix(&[trace.separator]).unwrap_or(row),
            Some(_) => row,
        };
        let visited = cut(columns, trace.separator).and_then(|mut row| {
            row.closed = closed;
            row.visit(place, tally, visit)
        });
        match visited {
            Ok(flow) => flow?,
            Err(reason) => {
                tally.bad(place, reason, row);
                tally.truncated |= length.is_none();
            }
        }
        rest = length.and_then(|length| rest.get(length + 2..)).unwrap_or_default();
    }
    ControlFlow::Continue(())
}

/// Takes a row without its end apart.
pub(super) fn cut(row: &[u8], separator: u8) -> Result<GufiRow<'_>, Reason> {
    let mut found = GufiRow { length: row.len() + 2, ..GufiRow::EMPTY };
    let mut columns = row.split(|byte| *byte == separator);
    let mut count = 0;
    for (cell, column) in found.cells.iter_mut().zip(&mut columns) {
        *cell = column;
        count += 1;
    }
    match (count, found.cells) {
        (23, _) if columns.next().is_none() => Ok(found),
        (23, _) => guess(row, separator),
        (2, [_, b"e", ..]) => Ok(GufiRow { external: true, ..found }),
        _ => Err(format!("the row has {count} columns instead of 23")),
    }
}

/// Takes a row apart that has more separators than it should.
fn guess(row: &[u8], separator: u8) -> Result<GufiRow<'_>, Reason> {
    let columns: Vec<&[u8]> = row.split(|byte| *byte == separator).take(MOST + 1).collect();
    let last = columns.len().checked_sub(8).filter(|_| columns.len() <= MOST);
    let is_type = |at: &usize| {
        let numbers = columns.get(at + 1..at + 12).unwrap_or_default();
        matches!(columns.get(*at), Some(&(b"d" | b"f" | b"l")))
            && numbers.len() == 11
            && numbers.iter().all(|number| signed(number).is_some())
    };
    let (Some(kind), Some(last)) = ((1..columns.len()).find(is_type), last) else {
        return Err(format!("the row has more than 23 columns ({})", columns.len()));
    };
    if kind + 14 > last {
        return Err("the row has more than 23 columns, and they cannot be told apart".into());
    }
    let name = columns.iter().take(kind).map(|column| column.len() + 1).sum::<usize>() - 1;
    let mut found = GufiRow { length: row.len() + 2, guessed: Some(GUESS), ..GufiRow::EMPTY };
    for (index, cell) in found.cells.iter_mut().enumerate() {
        let column = match index {
            0 => row.get(..name),
            1..14 => columns.get(kind + index - 1).copied(),
            14 => Some(&[][..]),
            _ => columns.get(last + index - 15).copied(),
        };
        *cell = column.unwrap_or_default();
    }
    Ok(found)
}
