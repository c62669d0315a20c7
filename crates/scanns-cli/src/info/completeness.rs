//! `scanns info --completeness`: what an index covers of file systems, since when, and what is missing.

use std::io::Write;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Result, bail};
use scanns::Snapshot;
use scanns::index::{Coverage, ListUpdates};
use scanns::schema::format_date;
use scanns::sources::{Failure, Skipped};
use serde_json::{Map, Value, json};

use crate::output::Output;
use crate::quoting::harmless;
use crate::report::{self, Outcome};
use crate::units;

/// The number of failures that are shown.
const SHOWN: usize = 10;

/// Prints what the index covers.
pub fn run(snapshot: &Snapshot, json: bool) -> Result<Outcome> {
    let all = snapshot.coverage()?;
    if all.is_empty() {
        bail!(
            "the index does not know what it covers: builds note it of the directories that they are given, \
             and imports of dumps do"
        );
    }
    let mut out = Output::stdout();
    if json {
        let all: Vec<Value> = all.iter().map(as_json).collect();
        out.json(&json!({ "covered": all }))?;
    } else {
        let has_entries = snapshot.has_entries();
        all.iter().try_for_each(|coverage| print(&mut out, coverage, has_entries))?;
    }
    out.flush()?;
    Ok(if all.iter().all(Coverage::is_whole) { Outcome::Done } else { Outcome::WithFailures })
}

fn print(out: &mut Output, coverage: &Coverage, has_entries: bool) -> Result<()> {
    let Coverage { path, format, began, ended, entries, directories, complete, unread, .. } = coverage;
    out.quoted(path.as_os_str().as_encoded_bytes())?;
    match format {
        None => writeln!(out, ": scanned {}, {} ago", format_date(*began), age(*began))?,
        Some(format) => {
            writeln!(out, ": dump of format {format}, made {}, {} ago", format_date(*began), age(*began))?;
        }
    }
    let entries = units::counted(*entries, if has_entries { "entry" } else { "file" });
    match format {
        None => {
            let seconds = units::approximate(u64::try_from(ended - began).unwrap_or(0)) / 1e9;
            let directories = match has_entries {
                true => format!(", {} listed", units::counted(*directories, "directory")),
                false => String::new(),
            };
            writeln!(out, "  {entries}{directories} in {}", units::duration(seconds))?;
        }
        Some(_) => writeln!(out, "  {entries}")?,
    }
    if let Some(updated) = &coverage.updated {
        print_updates(out, updated)?;
    }
    if !complete {
        let what = if format.is_some() { "the dump was not read completely" } else { "the scan was stopped" };
        writeln!(out, "  not complete: {what}")?;
    }
    for (what, Skipped { count, first }) in &coverage.left_out {
        write!(out, "  left out: {} ({what})", units::count(*count))?;
        if let Some(first) = first {
            write!(out, ", such as ")?;
            out.quoted(first.as_os_str().as_encoded_bytes())?;
        }
        writeln!(out)?;
    }
    if *unread > 0 {
        writeln!(out, "  could not be read: {}", units::counted(*unread, "path"))?;
    }
    for Failure { path, reason } in coverage.failures.iter().take(SHOWN) {
        write!(out, "    ")?;
        out.quoted(path.as_os_str().as_encoded_bytes())?;
        writeln!(out, ": {reason}")?;
    }
    if *unread > SHOWN as u64 {
        writeln!(out, "    … (--json shows up to 10,000)")?;
    }
    Ok(())
}

/// Prints which lists of changes were applied after the scan.
fn print_updates(out: &mut Output, updated: &ListUpdates) -> Result<()> {
    let ListUpdates { format, applied, lists, lost, records } = updated;
    let lists = units::counted(*lists, "list");
    let (when, age) = (format_date(*applied), age(*applied));
    writeln!(out, "  updated {when}, {age} ago, by {lists} of changes, the last of format {format}")?;
    for (mdt, number) in records {
        writeln!(out, "  last record of {}: {number}", harmless(mdt))?;
    }
    if *lost > 0 {
        let rows = units::counted(*lost, "row");
        writeln!(out, "  not complete: {rows} of the lists could not be used; a scan finds what is missing")?;
    }
    Ok(())
}

/// The time since a date, such as "3 h 12 min".
fn age(date: i64) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs());
    let then = u64::try_from(date / 1_000_000_000).unwrap_or(0);
    let seconds = now.saturating_sub(then);
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds / 60),
        3600..172_800 => format!("{} h", seconds / 3600),
        _ => format!("{} days", seconds / 86_400),
    }
}

fn as_json(coverage: &Coverage) -> Value {
    let failures = coverage.failures.iter().map(|Failure { path, reason }| {
        let mut object = Map::new();
        report::put_bytes(&mut object, "path", path.as_os_str().as_encoded_bytes());
        object.insert("reason".into(), reason.as_str().into());
        Value::from(object)
    });
    let left_out = coverage.left_out.iter().map(|(what, Skipped { count, first })| {
        let mut object = Map::new();
        object.insert("what".into(), what.as_str().into());
        object.insert("count".into(), json!(count));
        if let Some(first) = first {
            report::put_bytes(&mut object, "first", first.as_os_str().as_encoded_bytes());
        }
        Value::from(object)
    });
    let mut object = Map::new();
    report::put_bytes(&mut object, "path", coverage.path.as_os_str().as_encoded_bytes());
    for (name, value) in [
        ("format", json!(coverage.format)),
        ("began", json!(format_date(coverage.began))),
        ("ended", json!(format_date(coverage.ended))),
        ("entries", json!(coverage.entries)),
        ("directories", json!(coverage.directories)),
        ("complete", json!(coverage.complete)),
        ("unread", json!(coverage.unread)),
        ("failures", failures.collect()),
        ("left_out", left_out.collect()),
    ] {
        object.insert(name.into(), value);
    }
    object.insert("updated".into(), json!(coverage.updated.as_ref().map(updates_json)));
    object.into()
}

fn updates_json(updated: &ListUpdates) -> Value {
    let ListUpdates { format, applied, lists, lost, records } = updated;
    let applied = format_date(*applied);
    json!({ "format": format, "applied": applied, "lists": lists, "lost": lost, "records": records })
}
