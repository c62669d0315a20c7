//! What `scanns index` prints about imported dumps.

use std::io::Write;

use anyhow::Result;
use scanns::index::{DumpReport, IndexReport};
use scanns::sources::BadRow;
use serde_json::{Map, Value, json};

use crate::output::Output;
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
            "{entries} have the path of another entry, and are left out; the first such path is {}",
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
        for (count, first, what) in [
            (tally.bad, &tally.first_bad, "could not be read"),
            (tally.guessed, &tally.first_guessed, "had to be guessed"),
        ] {
            if let Some(BadRow { offset, reason, text }) = first {
                let rows = units::counted(count, "row");
                note(format!("{rows} {what}; the first at byte {offset}: {reason}: {}", shown(text)));
            }
        }
        if let Some((path, reason)) = &tally.first_unread {
            let paths = units::counted(tally.unread, "path");
            let example = String::from_utf8_lossy(path);
            note(format!("the dump says that {paths} could not be read; the first is {example}: {reason}"));
        }
        if tally.truncated {
            note("the dump is cut off; everything before its end is indexed".into());
        } else if tally.complete == Some(false) {
            note("the dump has no proof that it is complete".into());
        }
        dump.remarks.iter().for_each(|remark| note((*remark).into()));
    }
}

fn shown(text: &[u8]) -> String {
    text.escape_ascii().to_string()
}

/// The report of a dump as JSON.
pub fn as_json(dump: &DumpReport) -> Value {
    let tally = &dump.tally;
    let row = |row: &Option<BadRow>| match row {
        Some(BadRow { offset, reason, text }) => {
            let mut object = Map::new();
            object.insert("offset".into(), json!(offset));
            object.insert("reason".into(), json!(reason));
            report::put_bytes(&mut object, "text", text);
            object.into()
        }
        None => Value::Null,
    };
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
        ("unread", json!(tally.unread)),
        ("truncated", json!(tally.truncated)),
        ("complete", json!(tally.complete)),
        ("remarks", json!(dump.remarks)),
    ] {
        object.insert(name.into(), value);
    }
    object.into()
}
