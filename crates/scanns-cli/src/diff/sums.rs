//! Writes sums of differences as a table, CSV or JSON lines.

use std::io::{self, Write};

use scanns::files::{Growth, GrowthLine};
use serde_json::{Map, Value, json};

use crate::args::DiffFormatArg;
use crate::output::Output;
use crate::quoting::quoted;
use crate::report::put_bytes;

/// The columns after what the sum is of.
pub const COLUMNS: [&str; 8] = [
    "entries_added",
    "entries_removed",
    "entries_net",
    "bytes_added",
    "bytes_removed",
    "bytes_net",
    "entries_unseen",
    "bytes_unseen",
];

/// Writes the sums.
pub fn write(out: &mut Output, growth: &Growth, format: DiffFormatArg) -> io::Result<()> {
    let separator = if format == DiffFormatArg::Csv { "," } else { "\t" };
    if format != DiffFormatArg::Json {
        writeln!(out, "by{separator}name{separator}{}", COLUMNS.join(separator))?;
    }
    for (by, name, line) in growth.lines() {
        let values = values(line);
        match format {
            DiffFormatArg::Json => {
                let mut object = Map::new();
                object.insert("by".into(), by.name().into());
                put_bytes(&mut object, "name", name);
                for (column, value) in COLUMNS.into_iter().zip(values) {
                    // Larger numbers are not exact in most readers.
                    let value = i64::try_from(value).map_or_else(|_| json!(value.to_string()), Value::from);
                    object.insert(column.into(), value);
                }
                out.json(&object.into())?;
            }
            _ => {
                write!(out, "{}{separator}", by.name())?;
                match format {
                    DiffFormatArg::Csv => out.write_all(&super::write::cell(name))?,
                    _ => out.write_all(quoted(name).as_bytes())?,
                }
                for value in values {
                    write!(out, "{separator}{value}")?;
                }
                writeln!(out)?;
            }
        }
    }
    Ok(())
}

pub fn values(line: &GrowthLine) -> [i128; 8] {
    [
        line.entries_added.into(),
        line.entries_removed.into(),
        line.entries(),
        line.bytes_added.into(),
        line.bytes_removed.into(),
        line.bytes(),
        line.entries_unseen.into(),
        line.bytes_unseen.into(),
    ]
}
