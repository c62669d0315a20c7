//! What `scanns index` prints about imported dumps.

use std::io::Write;

use anyhow::Result;
use scanns::index::{DumpReport, IndexReport, MixedPaths};
use scanns::sources::{BadRow, BadValues, UnreadPath};
use serde_json::{Map, Value, json};

use crate::output::Output;
use crate::quoting::quoted;
use crate::report;
use crate::units;

/// Prints a line about each dump.
pub fn print(out: &mut Output, dumps: &[DumpReport]) -> Result<()> {
    for dump in dumps {
        let entries = units::counted(dump.entries, "entry");
        let compression = dump.compression.map(|name| format!(", {name}")).unwrap_or_default();
        write!(out, "dump ")?;
        out.quoted(dump.path.as_os_str().as_encoded_bytes())?;
        writeln!(out, ": {entries}, format {}{compression}", dump.format)?;
    }
    Ok(())
}

/// Says how many entries have the paths of others.
pub fn list_repeated(built: &IndexReport) {
    if let Some(first) = &built.first_repeated {
        let entries = units::counted(built.repeated, "entry");
        report::note(&format!(
            "{entries} left out, with the path of another one: of equal paths the one indexed last is kept; \
             the first is {}",
            report::path_text(first)
        ));
    }
}

/// Lists what could not be read of dumps, what was guessed, and whether they are complete.
pub fn list(dumps: &[DumpReport]) {
    for dump in dumps {
        let path = report::path_text(&dump.path);
        let note = |text: String| report::note(&format!("{path}: {text}"));
        let tally = &dump.tally;
        let mut is_doubtful = false;
        for (count, first, what) in [
            (tally.bad, &tally.first_bad, "could not be read"),
            (tally.guessed, &tally.first_guessed, "had to be guessed"),
        ] {
            if let Some(BadRow { offset, reason, text }) = first {
                let rows = units::counted(count, "row");
                let at = place(dump);
                note(format!("{rows} {what}; the first at {at} {offset}: {reason}: {}", shown(text)));
                is_doubtful = true;
            }
        }
        if is_doubtful {
            let format = dump.format;
            note(format!(
                "read as {format}: --dump and --dump-format say how rows are written, and --dump-preview 3 \
                 shows how they are read"
            ));
        }
        for BadValues { field, column, count, first } in &tally.bad_values {
            let values = units::counted(*count, "value");
            let BadRow { offset, reason, text } = first;
            let at = place(dump);
            note(format!(
                "{values} of the column {column} ({field}) could not be read, and their entries lack it; the \
                 first in the row at {at} {offset}: {reason}: {}",
                shown(text)
            ));
        }
        if tally.passed > 0 {
            let rows = units::counted(tally.passed, "row");
            note(format!("{rows} left out: older versions and deletions of objects"));
        }
        if let Some(UnreadPath { path, reason, .. }) = tally.first_unread(false) {
            let (paths, first) = (units::counted(tally.unread, "path"), quoted(path).into_owned());
            note(format!("the dump says that {paths} could not be read; the first is {first}: {reason}"));
        }
        if let Some(UnreadPath { path, reason, .. }) = tally.first_unread(true) {
            let (paths, first) = (units::counted(tally.excluded, "path"), quoted(path).into_owned());
            note(format!("the dump leaves out {paths} on purpose; the first is {first}: {reason}"));
        }
        if tally.truncated {
            note("the dump is cut off; everything before its end is indexed".into());
        } else if tally.complete == Some(false) {
            note("the dump has no proof that it is complete".into());
        }
        dump.remarks.iter().for_each(|remark| note((*remark).into()));
    }
}

/// Says which questions dumps cannot answer.
pub fn list_lacking(dumps: &[DumpReport]) {
    for dump in dumps.iter().filter(|dump| !dump.lacking.is_empty()) {
        report::note(&format!("{}: {}", report::path_text(&dump.path), lacking(&dump.lacking)));
    }
}

/// Which questions cannot be answered because no row has some fields.
fn lacking(fields: &[&str]) -> String {
    let questions = fields.iter().map(|field| match *field {
        "type" => "-type",
        "size" => "du, duplicates",
        "mtime" => "-mtime",
        _ => "-user",
    });
    let questions: Vec<_> = questions.collect();
    format!("no row has {}: {} cannot be answered from it", listed(fields, "or"), listed(&questions, "and"))
}

/// Words with commas, and a last one.
fn listed(words: &[&str], joint: &str) -> String {
    match words {
        [start @ .., last] if !start.is_empty() => format!("{} {joint} {last}", start.join(", ")),
        words => words.concat(),
    }
}

/// Says that the index has absolute and relative paths.
pub fn list_mixed(built: &IndexReport) {
    let Some(MixedPaths { absolute, relative }) = &built.mixed else { return };
    let (absolute, relative) = (report::path_text(absolute), report::path_text(relative));
    let remedy = match built.dumps.is_empty() {
        true => "import the dump with --dump-root DIR into a new index",
        false => "--dump-root DIR puts relative paths of a dump below DIR; use a new index",
    };
    report::note(&format!(
        "the index has absolute paths such as {absolute} and relative ones such as {relative}, and counts \
         files that have both twice: {remedy}"
    ));
}

/// What the places in a dump count.
fn place(dump: &DumpReport) -> &'static str {
    if matches!(dump.format, "parquet" | "arrow") { "row" } else { "byte" }
}

fn shown(text: &[u8]) -> String {
    text.escape_ascii().to_string()
}

/// The report of a dump as JSON.
pub fn as_json(dump: &DumpReport) -> Value {
    let tally = &dump.tally;
    let row = |row: &Option<BadRow>| row.as_ref().map_or(Value::Null, row_json);
    let mut object = Map::new();
    report::put_bytes(&mut object, "path", dump.path.as_os_str().as_encoded_bytes());
    for (name, value) in [
        ("format", json!(dump.format)),
        ("compression", json!(dump.compression)),
        ("entries", json!(dump.entries)),
        ("bad", json!(tally.bad)),
        ("first_bad", row(&tally.first_bad)),
        ("guessed", json!(tally.guessed)),
        ("first_guessed", row(&tally.first_guessed)),
        ("bad_values", tally.bad_values.iter().map(values_json).collect()),
        ("passed", json!(tally.passed)),
        ("unread", json!(tally.unread)),
        ("excluded", json!(tally.excluded)),
        ("truncated", json!(tally.truncated)),
        ("complete", json!(tally.complete)),
        ("remarks", json!(dump.remarks)),
        ("lacking", json!(dump.lacking)),
    ] {
        object.insert(name.into(), value);
    }
    object.into()
}

/// An absolute and a relative path of the index as JSON.
pub fn mixed_json(mixed: Option<&MixedPaths>) -> Value {
    let Some(MixedPaths { absolute, relative }) = mixed else { return Value::Null };
    let mut object = Map::new();
    report::put_bytes(&mut object, "absolute", absolute.as_os_str().as_encoded_bytes());
    report::put_bytes(&mut object, "relative", relative.as_os_str().as_encoded_bytes());
    object.into()
}

fn row_json(row: &BadRow) -> Value {
    let BadRow { offset, reason, text } = row;
    let mut object = Map::new();
    object.insert("offset".into(), json!(offset));
    object.insert("reason".into(), json!(reason));
    report::put_bytes(&mut object, "text", text);
    object.into()
}

fn values_json(values: &BadValues) -> Value {
    let BadValues { field, column, count, first } = values;
    json!({ "field": field, "column": column, "count": count, "first": row_json(first) })
}
