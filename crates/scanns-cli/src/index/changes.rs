//! Lists of changes: their options, and what `scanns index` says about them.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Result, anyhow, bail};
use scanns::index::ChangesReport;
use scanns::sources::{BadRow, CHANGE_FORMATS, ChangeFormat, ChangeOptions};
use serde_json::{Map, Value, json};

use crate::args::ScanArgs;
use crate::output::Output;
use crate::report;
use crate::units;

/// The list of changes, if one is given. It is the first of the paths, and is taken away from them.
pub fn options(args: &ScanArgs, paths: &mut Vec<PathBuf>) -> Result<Option<ChangeOptions>> {
    let Some(name) = &args.changes else { return Ok(None) };
    let format = match name.as_str() {
        "auto" => None,
        name => Some(ChangeFormat::named(name).ok_or_else(|| {
            let known: Vec<_> = CHANGE_FORMATS.iter().map(|(name, _)| *name).collect();
            anyhow!("unknown format '{name}' of lists of changes: use {}", known.join(", "))
        })?),
    };
    if paths.is_empty() {
        bail!("--changes needs a list: give its file, or - for standard input");
    }
    let list = paths.remove(0);
    Ok(Some(ChangeOptions { list, format, mdt: args.mdt.clone(), ..ChangeOptions::default() }))
}

/// Prints a line about the list.
pub fn print(out: &mut Output, changes: Option<&ChangesReport>) -> Result<()> {
    let Some(ChangesReport { path, format, compression, tally, paths, number, .. }) = changes else {
        return Ok(());
    };
    let compression = compression.map(|name| format!(", {name}")).unwrap_or_default();
    let (rows, paths) = (units::counted(tally.rows, "row"), units::counted(*paths, "path"));
    write!(out, "changes ")?;
    out.quoted(path.as_os_str().as_encoded_bytes())?;
    write!(out, ": {rows}, {paths} looked at, format {format}{compression}")?;
    if let Some(number) = number {
        write!(out, ", up to record {number}")?;
    }
    writeln!(out)?;
    Ok(())
}

/// Says what could not be used of the list.
pub fn list(changes: Option<&ChangesReport>) {
    let Some(changes) = changes else { return };
    let ChangesReport { path, tally, outside, number, is_first, .. } = changes;
    let path = report::path_text(path);
    let note = |text: String| report::note(&format!("{path}: {text}"));
    if let Some(BadRow { offset, reason, text }) = &tally.first_bad {
        let rows = units::counted(tally.bad, "row");
        let text = text.escape_ascii();
        note(format!("{rows} could not be read; the first at byte {offset}: {reason}: {text}"));
    }
    if tally.truncated {
        note("the last row has no end and was not used: the list is cut off".into());
    }
    if let Some((fid, why)) = &tally.first_unresolved {
        let files = units::counted(tally.unresolved, "file");
        note(format!("{files} of Lustre without a path, such as {fid}: {why}"));
    }
    if tally.lost() > 0 {
        note("the index may lack changes: scan again, without --changes".into());
    }
    if let Some(first) = &outside.first {
        let paths = units::counted(outside.count, "path");
        let first = report::path_text(first);
        note(format!("{paths} outside of the scanned directories, such as {first}"));
    }
    if let (Some(_), true) = (number, is_first) {
        note("the first list after the scan: make sure that its first record is older than the scan".into());
    }
}

/// The report of a list as JSON.
pub fn as_json(changes: Option<&ChangesReport>) -> Value {
    let Some(changes) = changes else { return Value::Null };
    let ChangesReport { path, format, compression, tally, paths, outside, number, .. } = changes;
    let mut object = Map::new();
    report::put_bytes(&mut object, "path", path.as_os_str().as_encoded_bytes());
    let first_bad = tally.first_bad.as_ref().map(|row| {
        let mut object = Map::new();
        object.insert("offset".into(), json!(row.offset));
        object.insert("reason".into(), json!(row.reason));
        report::put_bytes(&mut object, "text", &row.text);
        Value::from(object)
    });
    let first_outside = outside.first.as_ref().map(|path| report::path_text(path));
    let unresolved = tally.first_unresolved.as_ref().map(|(fid, why)| json!({ "fid": fid, "reason": why }));
    for (name, value) in [
        ("format", json!(format)),
        ("compression", json!(compression)),
        ("rows", json!(tally.rows)),
        ("paths", json!(paths)),
        ("passed", json!(tally.passed)),
        ("bad", json!(tally.bad)),
        ("first_bad", json!(first_bad)),
        ("truncated", json!(tally.truncated)),
        ("unresolved", json!(tally.unresolved)),
        ("first_unresolved", json!(unresolved)),
        ("outside", json!(outside.count)),
        ("first_outside", json!(first_outside)),
        ("record", json!(number)),
    ] {
        object.insert(name.into(), value);
    }
    object.into()
}
