//! JSON lines with a map of columns: each line is an object, and each scalar in it is the value of a column.
//! Names of nested members have dots between them.
//!
//! A string is UTF-8, so a path of other bytes can only stand in it with `:percent` or `:base64`.

use std::ops::ControlFlow;

use super::resolve::resolve;
use super::row::MappedRow;
use super::spec::{ColumnMap, ColumnRef};
use super::table_map::{MapView, TableColumn, TableMap};
use super::value::TableValue;
use crate::record::dump::rows::{DumpRow, Visited, complete_rows, each_row};
use crate::record::dump::{DUMP_HEAD, DumpTally, ReadRows, Visit};
use crate::record::json::{parse, paths::Paths, string::unescape};
use crate::record::raw::{RawScalar, ScalarKind};

/// Rows at the start of a dump whose values are looked at.
const SAMPLED: usize = 200;

/// Reads JSON lines.
#[derive(Debug)]
pub struct MappedJson {
    map: TableMap,
}

/// What is used again for every row.
struct JsonState<'m> {
    paths: Paths,
    scalars: Vec<RawScalar>,
    /// By the number of a name: the first slot that takes its values, if it is known.
    slots: Vec<Option<usize>>,
    /// The number of names for which `slots` is known.
    values: Vec<Option<RawScalar>>,
    /// The slots with several values.
    several: Vec<usize>,
    text: Vec<u8>,
    entry: MappedRow<'m>,
}

impl MappedJson {
    /// Reads the map of a dump that begins with `start`.
    ///
    /// # Errors
    /// What is wrong with the table or the map.
    pub fn new(start: &[u8], spec: &ColumnMap) -> Result<(Self, MapView), String> {
        let mut columns = sample(start)?;
        // Columns of which the first rows have no values.
        for name in spec.entries.iter().flat_map(|entry| &entry.columns) {
            if let ColumnRef::Name(name) = name
                && !columns.iter().any(|column| column.name.eq_ignore_ascii_case(name))
            {
                columns.push(TableColumn { name: name.clone(), ..TableColumn::default() });
            }
        }
        let (map, view) = resolve(spec, &columns)?;
        Ok((MappedJson { map }, view))
    }

    /// Reads a row and visits its entry.
    fn row(
        &self,
        row: &DumpRow<'_>,
        state: &mut JsonState<'_>,
        tally: &mut DumpTally,
        visit: &mut Visit<'_>,
    ) -> Visited {
        let JsonState { paths, scalars, slots, values, several, text, entry } = state;
        if paths.is_full() {
            paths.clear();
            slots.clear();
        }
        scalars.clear();
        let is_object = parse(row.bytes, paths, &mut |scalar| scalars.push(scalar));
        if !is_object.map_err(|error| error.to_string())? {
            return Ok(ControlFlow::Continue(()));
        }
        while slots.len() < paths.len() {
            let name = u32::try_from(slots.len()).map_or("", |number| paths.source(number));
            slots.push(self.map.used().position(|column| self.map.column(column) == name));
        }
        values.fill(None);
        several.clear();
        for scalar in scalars.iter() {
            let Some(first) = slots.get(scalar.name as usize).copied().flatten() else { continue };
            match values.get_mut(first) {
                Some(Some(_)) => several.push(first),
                Some(value) => *value = Some(*scalar),
                None => {}
            }
        }
        entry.start(row.offset);
        for (number, slot) in self.map.slots.iter().enumerate() {
            // Several fields may take the values of a column.
            let first = self.map.used().position(|column| column == slot.column).unwrap_or(number);
            if several.contains(&first) {
                entry.refuse(slot, "one value", TableValue::Null, tally);
            } else if let Some(scalar) = values.get(first).copied().flatten() {
                entry.put(number, value(&scalar, row.bytes, text), tally);
            }
        }
        Ok(match entry.finish()? {
            Some(entry) => visit(&entry),
            None => {
                tally.passed += 1;
                ControlFlow::Continue(())
            }
        })
    }
}

/// The value of a scalar; `text` holds a string with escapes.
#[inline]
fn value<'t>(scalar: &RawScalar, row: &'t [u8], text: &'t mut Vec<u8>) -> TableValue<'t> {
    let bytes = scalar.bytes(row);
    match scalar.kind {
        ScalarKind::Null => TableValue::Null,
        ScalarKind::True => TableValue::Flag(true),
        ScalarKind::False => TableValue::Flag(false),
        ScalarKind::Escaped => {
            unescape(bytes, text);
            TableValue::Text(text)
        }
        _ => TableValue::Text(bytes),
    }
}

/// The columns of the first rows, and their values.
fn sample(start: &[u8]) -> Result<Vec<TableColumn>, String> {
    let len = if start.len() < DUMP_HEAD { start.len() } else { complete_rows(start, b'\n') };
    let lines = start.get(..len).unwrap_or_default().split(|byte| *byte == b'\n');
    let (mut paths, mut columns) = (Paths::new(), Vec::<TableColumn>::new());
    let (mut first_error, mut text, mut count) = (None, Vec::new(), 0);
    for line in lines.take(SAMPLED) {
        let mut scalars = Vec::new();
        match parse(line, &mut paths, &mut |scalar| scalars.push(scalar)) {
            Ok(is_object) => count += usize::from(is_object),
            Err(error) => {
                first_error.get_or_insert(error);
                continue;
            }
        }
        for scalar in scalars {
            let name = paths.source(scalar.name);
            let at = columns.iter().position(|column| column.name == name).unwrap_or(columns.len());
            if at == columns.len() {
                columns.push(TableColumn { name: name.to_owned(), ..TableColumn::default() });
            }
            let value: &[u8] = match value(&scalar, line, &mut text) {
                TableValue::Text(text) => text,
                TableValue::Flag(true) => b"true",
                TableValue::Flag(false) => b"false",
                _ => continue,
            };
            if let Some(column) = columns.get_mut(at) {
                column.samples.push(value.to_vec());
            }
        }
    }
    match first_error {
        Some(error) if count == 0 => Err(format!("its first rows are not objects of JSON: {error}")),
        _ => Ok(columns),
    }
}

impl ReadRows for MappedJson {
    fn complete(&self, bytes: &[u8]) -> usize {
        complete_rows(bytes, b'\n')
    }

    fn read(
        &self,
        bytes: &[u8],
        offset: u64,
        tally: &mut DumpTally,
        visit: &mut Visit<'_>,
    ) -> ControlFlow<()> {
        let mut state = JsonState {
            paths: Paths::new(),
            scalars: Vec::new(),
            slots: Vec::new(),
            values: vec![None; self.map.slots.len()],
            several: Vec::new(),
            text: Vec::new(),
            entry: MappedRow::new(&self.map),
        };
        let (lines, last) = bytes.split_at_checked(complete_rows(bytes, b'\n')).unwrap_or((bytes, &[]));
        let mut read = |row: &DumpRow<'_>, tally: &mut DumpTally| self.row(row, &mut state, tally, visit);
        each_row(lines, offset, b'\n', tally, &mut read)?;
        // An object that is closed is not cut.
        let row = DumpRow { bytes: last, offset: offset + lines.len() as u64 };
        match read(&row, tally) {
            Ok(flow) => flow,
            Err(reason) => {
                tally.bad(row.offset, reason, row.bytes);
                tally.truncated = true;
                ControlFlow::Continue(())
            }
        }
    }
}
