//! Messages of GRIB, the files of weather services, editions 1 and 2.
//!
//! A file is a row of messages. Each begins with `GRIB`, tells its length and ends with `7777`. Only the
//! sections that describe the field are read. `field.rs` has what the editions have in common, and
//! `tables.rs` the names that the WMO gives to the usual parameters. Source: WMO manual on codes, FM 92.

mod edition1;
mod edition2;
mod field;
mod tables;

use std::collections::BTreeSet;
use std::io::{Read, Seek};

use super::bytes::Source;
use super::cdl::shape_text;
use crate::error::ExtractError;
use crate::output::Output;
use field::Field;

const FORMAT: &str = "GRIB";
/// The most messages that are read.
const MOST_MESSAGES: usize = 100_000;
/// The most bytes between two messages.
const MOST_GAP: usize = 64 << 10;
/// Writes a line for each different field of a file.
pub(crate) fn extract(
    source: &mut Source<'_, impl Read + Seek>,
    out: &mut Output,
) -> Result<(), ExtractError> {
    let mut seen = Seen::default();
    let mut offset = 0;
    let mut messages = 0;
    out.line(FORMAT);
    while let Some(start) = next_message(source, offset)? {
        messages += 1;
        if out.is_full() || messages > MOST_MESSAGES {
            return Ok(());
        }
        let head = source.read_at(start, 16)?;
        let (fields, len) = match head.get(7) {
            Some(1) => edition1::read(source, start)?,
            Some(2) => edition2::read(source, start)?,
            _ => return Err(ExtractError::damaged(FORMAT, "the edition of a message is neither 1 nor 2")),
        };
        for field in &fields {
            seen.add(field, out);
        }
        let next = len.filter(|&len| len >= 8).and_then(|len| start.checked_add(len));
        offset = next.ok_or_else(|| ExtractError::damaged(FORMAT, "a message has no length"))?;
    }
    if messages == 0 {
        return Err(ExtractError::damaged(FORMAT, "no message is found"));
    }
    if offset > source.size() {
        return Err(ExtractError::damaged(FORMAT, "the last message is cut off"));
    }
    Ok(())
}

/// The offset of the next `GRIB`: writers may leave padding or a header of a line between messages.
fn next_message(source: &mut Source<'_, impl Read + Seek>, offset: u64) -> std::io::Result<Option<u64>> {
    let head = source.read_at(offset, 4)?;
    if head == b"GRIB" {
        return Ok(Some(offset));
    }
    let gap = source.read_at(offset, MOST_GAP)?;
    let found = gap.windows(4).position(|four| four == b"GRIB");
    Ok(found.map(|at| offset + at as u64))
}

/// What was already written: files repeat the same field for many times and levels.
#[derive(Default)]
struct Seen {
    lines: BTreeSet<String>,
    fields: BTreeSet<(&'static str, String)>,
}

impl Seen {
    fn field(&mut self, name: &'static str, value: String, out: &mut Output) {
        if self.fields.insert((name, value.clone())) {
            out.field(name, &value);
        }
    }

    fn add(&mut self, field: &Field, out: &mut Output) {
        let centre = tables::centre(field.centre);
        let (var, name, units) = match field.parameter {
            Some(known) => (known.short, known.name, field.units),
            None => (field.code.as_str(), "unknown parameter", ""),
        };
        let shape = shape_text(&field.shape);
        let line = format!(
            "GRIB{} {var} ({name}) [{units}] parameter {} ; {} ; centre {} {centre} ; {} ; {} {shape}",
            field.edition, field.code, field.level, field.centre, field.date, field.grid
        );
        if !self.lines.insert(line.clone()) {
            return;
        }
        out.line(&line);
        self.field("var", var.to_string(), out);
        if let Some(other) = tables::other_name(var, &field.level) {
            out.line(other);
            self.field("var", other.to_string(), out);
        }
        self.field("units", units.to_string(), out);
        self.field("shape", shape, out);
        let long_name = field.parameter.map(|known| known.name);
        let attributes = [
            ("long_name", long_name.unwrap_or("")),
            ("parameter", &field.code),
            ("centre", centre),
            ("level", &field.level),
            ("date", &field.date),
            ("grid", &field.grid),
        ];
        for (name, value) in attributes.into_iter().filter(|(_, value)| !value.is_empty()) {
            self.field("attr", format!("{name}={value}"), out);
        }
        if let [rows, columns] = field.shape[..] {
            self.field("dim", format!("Ni={columns}"), out);
            self.field("dim", format!("Nj={rows}"), out);
        }
    }
}

#[cfg(test)]
mod tests;
