//! Writes differences as lines, CSV or JSON lines.

use std::io::{self, Write};

use scanns::files::{Difference, DifferenceKind, Entry, EntryField, EntryFieldSet, FieldValue};
use serde_json::{Map, Value, json};

use crate::args::DiffFormatArg;
use crate::output::Output;
use crate::quoting::quoted;
use crate::report::put_bytes;

/// The columns of CSV.
const COLUMNS: &str = "kind,path,old_path,type,old_size,size,old_mtime,mtime,fields";

/// Writes differences as text.
pub struct DifferenceWriter {
    out: Output,
    format: DiffFormatArg,
    /// Whether paths end with NUL and stay as they are.
    null: bool,
}

impl DifferenceWriter {
    /// A writer of a format.
    pub fn new(out: Output, format: DiffFormatArg, null: bool) -> Self {
        DifferenceWriter { out, format, null }
    }

    /// Writes what comes before all differences.
    pub fn header(&mut self) -> io::Result<()> {
        match self.format {
            DiffFormatArg::Csv => writeln!(self.out, "{COLUMNS}"),
            _ => Ok(()),
        }
    }

    /// Writes a difference, unless the line of a directory stands for it.
    pub fn write(&mut self, difference: &Difference<'_>) -> io::Result<()> {
        if difference.kind == DifferenceKind::Along {
            return Ok(());
        }
        let (old, new) = (difference.old.unwrap_or_default(), difference.new.unwrap_or_default());
        match self.format {
            DiffFormatArg::Lines if self.null => self.paths(difference.kind, &old, &new),
            DiffFormatArg::Lines => self.line(difference, &old, &new),
            DiffFormatArg::Csv => self.row(difference, &old, &new),
            DiffFormatArg::Json => {
                let object = object(difference, &old, &new);
                self.out.json(&object)
            }
        }
    }

    /// Writes what is buffered.
    pub fn finish(self) -> io::Result<()> {
        self.out.finish()
    }

    fn paths(&mut self, kind: DifferenceKind, old: &Entry<'_>, new: &Entry<'_>) -> io::Result<()> {
        write!(self.out, "{} ", sign(kind))?;
        match kind {
            DifferenceKind::Removed => self.out.with_nul(old.path),
            DifferenceKind::Unseen => self.out.with_nul(one_path(old, new)),
            DifferenceKind::Moved => {
                self.out.with_nul(old.path)?;
                self.out.with_nul(new.path)
            }
            _ => self.out.with_nul(new.path),
        }
    }

    fn line(&mut self, difference: &Difference<'_>, old: &Entry<'_>, new: &Entry<'_>) -> io::Result<()> {
        write!(self.out, "{} ", sign(difference.kind))?;
        match difference.kind {
            DifferenceKind::Removed => self.out.quoted(old.path)?,
            DifferenceKind::Unseen => {
                self.out.quoted(one_path(old, new))?;
                let tree = if difference.new.is_none() { "NEW" } else { "OLD" };
                write!(self.out, "  not seen in {tree}")?;
            }
            DifferenceKind::Moved => {
                self.out.quoted(old.path)?;
                self.out.write_all(b" -> ")?;
                self.out.quoted(new.path)?;
            }
            _ => self.out.quoted(new.path)?,
        }
        for (at, field) in difference.fields.iter().enumerate() {
            let comma = if at == 0 { " " } else { "," };
            let (old, new) = (value_text(field, old), value_text(field, new));
            write!(self.out, "{comma} {} {old} -> {new}", field.name())?;
        }
        self.out.write_all(b"\n")
    }

    fn row(&mut self, difference: &Difference<'_>, old: &Entry<'_>, new: &Entry<'_>) -> io::Result<()> {
        let (path, old_path) = paths(difference, old, new);
        write!(self.out, "{},", kind_name(difference.kind))?;
        self.out.write_all(&cell(path))?;
        self.out.write_all(b",")?;
        self.out.write_all(&cell(old_path.unwrap_or_default()))?;
        let kind = new.kind.or(old.kind).map_or("", |kind| kind.name());
        write!(self.out, ",{kind}")?;
        for field in [EntryField::Size, EntryField::Mtime] {
            let text = |entry| field.value(entry).map_or(String::new(), |_| value_text(field, entry));
            write!(self.out, ",{},{}", text(old), text(new))?;
        }
        writeln!(self.out, ",{}", names(difference.fields))
    }
}

fn sign(kind: DifferenceKind) -> char {
    match kind {
        DifferenceKind::Added => '+',
        DifferenceKind::Removed => '-',
        DifferenceKind::Moved | DifferenceKind::Along => '>',
        DifferenceKind::Changed => 'M',
        DifferenceKind::Unseen => '?',
    }
}

pub fn kind_name(kind: DifferenceKind) -> &'static str {
    match kind {
        DifferenceKind::Added => "added",
        DifferenceKind::Removed => "removed",
        DifferenceKind::Moved | DifferenceKind::Along => "moved",
        DifferenceKind::Changed => "changed",
        DifferenceKind::Unseen => "unseen",
    }
}

/// The path of an entry that one of the trees has.
fn one_path<'e>(old: &Entry<'e>, new: &Entry<'e>) -> &'e [u8] {
    if old.path.is_empty() { new.path } else { old.path }
}

/// The path of a difference, and the old path if it is another one.
pub fn paths<'e>(
    difference: &Difference<'_>,
    old: &Entry<'e>,
    new: &Entry<'e>,
) -> (&'e [u8], Option<&'e [u8]>) {
    match difference.kind {
        DifferenceKind::Removed => (old.path, None),
        DifferenceKind::Added => (new.path, None),
        DifferenceKind::Unseen => (one_path(old, new), None),
        _ => (new.path, Some(old.path).filter(|path| *path != new.path)),
    }
}

fn names(fields: EntryFieldSet) -> String {
    fields.iter().map(EntryField::name).collect::<Vec<_>>().join(" ")
}

/// A value for people.
fn value_text(field: EntryField, entry: &Entry<'_>) -> String {
    match field.value(entry) {
        None => "?".into(),
        Some(FieldValue::Text(b"")) => "''".into(),
        Some(FieldValue::Text(text)) => quoted(text).into_owned(),
        Some(FieldValue::Number(number)) => number.to_string(),
        Some(FieldValue::Mode(mode)) => format!("{mode:04o}"),
        Some(FieldValue::Time(time)) => time_text(time),
    }
}

/// A time in UTC, or nanoseconds since 1970 if it is beyond the calendar.
fn time_text(time: i64) -> String {
    jiff::Timestamp::from_nanosecond(time.into()).map_or_else(|_| time.to_string(), |time| time.to_string())
}

/// A cell of CSV, in quotes if necessary.
pub fn cell(text: &[u8]) -> Vec<u8> {
    if !text.iter().any(|byte| matches!(byte, b'"' | b',' | b'\n' | b'\r')) {
        return text.to_vec();
    }
    let mut quoted = vec![b'"'];
    for &byte in text {
        quoted.push(byte);
        if byte == b'"' {
            quoted.push(b'"');
        }
    }
    quoted.push(b'"');
    quoted
}

fn object(difference: &Difference<'_>, old: &Entry<'_>, new: &Entry<'_>) -> Value {
    let mut object = Map::new();
    object.insert("kind".into(), kind_name(difference.kind).into());
    let (path, old_path) = paths(difference, old, new);
    put_bytes(&mut object, "path", path);
    if let Some(old_path) = old_path {
        put_bytes(&mut object, "old_path", old_path);
    }
    if let Some(kind) = new.kind.or(old.kind) {
        object.insert("type".into(), kind.name().into());
    }
    for (name, entry) in [("old", old), ("new", new)] {
        let mut values = Map::new();
        for field in [EntryField::Size, EntryField::Mtime].into_iter().chain(difference.fields.iter()) {
            let value = match field.value(entry) {
                None => continue,
                Some(FieldValue::Text(text)) => {
                    put_bytes(&mut values, field.name(), text);
                    continue;
                }
                Some(FieldValue::Number(number)) => json!(number),
                Some(FieldValue::Mode(mode)) => json!(format!("{mode:04o}")),
                Some(FieldValue::Time(time)) => json!(time_text(time)),
            };
            values.insert(field.name().into(), value);
        }
        if !values.is_empty() {
            object.insert(name.into(), values.into());
        }
    }
    if !difference.fields.is_empty() {
        let names: Vec<_> = difference.fields.iter().map(EntryField::name).collect();
        object.insert("fields".into(), names.into());
    }
    object.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_with_separators_are_quoted() {
        for (text, expected) in [("a b", "a b"), ("a,b", "\"a,b\""), ("a\"\n", "\"a\"\"\n\"")] {
            assert_eq!(cell(text.as_bytes()), expected.as_bytes());
        }
    }

    #[test]
    fn times_have_their_fractions() {
        assert_eq!(time_text(1_500_000_000), "1970-01-01T00:00:01.5Z");
        assert_eq!(time_text(-1_000_000_000), "1969-12-31T23:59:59Z");
    }
}
