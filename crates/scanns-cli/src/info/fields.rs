//! `scanns info --fields`: the type, the uses and the values of each field.

use std::io::Write;

use anyhow::Result;
use scanns::columns::ColumnInfo;
use scanns::schema::{Field, FieldEntry, FieldKind, Postings, Schema, Value, format_date};
use serde_json::{Map, Value as Json, json};

use crate::output::Output;
use crate::quoting::quoted;
use crate::report;
use crate::units;

/// The maximum number of characters of a value to show.
const SHOWN: usize = 24;

/// The name of what a field stores of each term of a document.
pub(super) fn kept(postings: Postings) -> &'static str {
    match postings {
        Postings::Documents => "documents",
        Postings::Frequencies => "frequencies",
        Postings::Positions => "positions",
        Postings::Offsets => "offsets",
    }
}

pub(super) fn field_json(entry: &FieldEntry) -> Json {
    let mut object = json!({
        "name": entry.name,
        "kind": entry.kind.name(),
        "stored": entry.stored,
        "column": entry.column,
        "searched": entry.searched,
    });
    if let FieldKind::Text { analyzer, postings } = &entry.kind {
        object["analyzer"] = analyzer.name().into();
        object["postings"] = kept(*postings).into();
    }
    object
}

/// Prints a table with one line per field; numbers are aligned to the right.
pub fn print(out: &mut Output, schema: &Schema, columns: &[ColumnInfo]) -> Result<()> {
    let head =
        ["field", "type", "uses", "documents", "values", "least", "greatest", "different", "size", "blocks"];
    let mut rows = vec![head.map(str::to_owned)];
    rows.extend(schema.fields().map(|(field, entry)| row(entry, of(columns, field))));
    let widths: Vec<usize> = (0..head.len())
        .map(|at| {
            rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.chars().count()).max().unwrap_or(0)
        })
        .collect();
    writeln!(out)?;
    for row in &rows {
        let cells = row.iter().zip(&widths).enumerate().map(|(at, (cell, &width))| match at {
            3 | 4 | 7 | 8 => format!("{cell:>width$}"),
            _ => format!("{cell:width$}"),
        });
        writeln!(out, "{}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
    }
    Ok(())
}

fn of(columns: &[ColumnInfo], field: Field) -> Option<&ColumnInfo> {
    columns.iter().find(|column| column.field == field)
}

fn row(entry: &FieldEntry, column: Option<&ColumnInfo>) -> [String; 10] {
    let postings = entry.postings().filter(|_| entry.searched).map(kept);
    let uses = [
        postings.map(|kept| format!("searched ({kept})")),
        entry.column.then(|| "column".to_owned()),
        entry.stored.then(|| "stored".to_owned()),
    ];
    let uses: Vec<String> = uses.into_iter().flatten().collect();
    let number = |count: Option<u64>| count.map_or(String::new(), units::count);
    let shown = |value: Option<&Value>| {
        let text = value.map(text).unwrap_or_default();
        match text.chars().count() {
            0..=SHOWN => text,
            _ => text.chars().take(SHOWN - 1).chain(['…']).collect(),
        }
    };
    let blocks: Vec<_> = column
        .iter()
        .flat_map(|column| &column.blocks)
        .map(|(name, count)| format!("{name} {}", units::count(*count)))
        .collect();
    [
        entry.name.clone(),
        entry.kind.name().into(),
        uses.join(", "),
        number(column.map(|column| column.documents)),
        number(column.map(|column| column.values)),
        shown(column.and_then(|column| column.least.as_ref())),
        shown(column.and_then(|column| column.greatest.as_ref())),
        number(column.and_then(|column| column.distinct)),
        column.map_or(String::new(), |column| units::size(column.bytes)),
        blocks.join(", "),
    ]
}

/// A value for people.
fn text(value: &Value) -> String {
    match value {
        Value::Text(text) | Value::Bytes(text) => quoted(text).into_owned(),
        Value::Unsigned(number) => number.to_string(),
        Value::Signed(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Boolean(flag) => flag.to_string(),
        Value::Date(time) => format_date(*time),
    }
}

/// The fields for programs, with the figures of columns.
pub fn as_json(schema: &Schema, columns: &[ColumnInfo]) -> Json {
    let field = |(field, entry): (Field, &FieldEntry)| {
        let mut object = field_json(entry);
        if let Some(column) = of(columns, field) {
            let mut figures = Map::new();
            for (name, value) in [("least", &column.least), ("greatest", &column.greatest)] {
                put(&mut figures, name, value.as_ref());
            }
            for (name, value) in [
                ("documents", json!(column.documents)),
                ("values", json!(column.values)),
                ("distinct", json!(column.distinct)),
                ("bytes", json!(column.bytes)),
                ("blocks", json!(column.blocks)),
            ] {
                figures.insert(name.into(), value);
            }
            object["values"] = figures.into();
        }
        object
    };
    schema.fields().map(field).collect()
}

/// Puts a value into an object: numbers and booleans as they are, all others as text.
fn put(object: &mut Map<String, Json>, name: &str, value: Option<&Value>) {
    let json = match value {
        None => Json::Null,
        Some(Value::Text(text) | Value::Bytes(text)) => return report::put_bytes(object, name, text),
        Some(Value::Unsigned(number)) => json!(number),
        Some(Value::Signed(number)) => json!(number),
        Some(Value::Float(number)) => json!(number),
        Some(Value::Boolean(flag)) => json!(flag),
        Some(date @ Value::Date(_)) => json!(text(date)),
    };
    object.insert(name.into(), json);
}
