//! Shows how the columns of a table are read, and the first entries of dumps.

use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Mutex;

use anyhow::Result;
use scanns::sources::{DumpOptions, Entry, MapView, TableFormat, preview_dumps};
use serde_json::{Map, Value, json};

use super::dumps::list;
use crate::output::Output;
use crate::quoting::{quoted, text_line};
use crate::report::{self, Outcome};

/// The longest first value that a map shows.
const VALUE: usize = 60;

/// The formats of tables that this program can open.
pub fn tables() -> Vec<TableFormat> {
    #[cfg(feature = "arrow")]
    let formats = crate::tables::FORMATS.to_vec();
    #[cfg(not(feature = "arrow"))]
    let formats = Vec::new();
    formats
}

/// True unless a map with the same columns was shown before this one.
fn is_new(view: &MapView) -> bool {
    static SHOWN: Mutex<Option<MapView>> = Mutex::new(None);
    let mut plain = view.clone();
    plain.fields.iter_mut().for_each(|field| field.first.clear());
    let Ok(mut shown) = SHOWN.lock() else { return false };
    let is_new = shown.as_ref() != Some(&plain);
    *shown = Some(plain);
    is_new
}

/// Shows which columns of a table are not used, and nothing if all are.
pub fn show_unused(path: &Path, view: &MapView) {
    if (view.unused.is_empty() && view.remarks.is_empty()) || !is_new(view) {
        return;
    }
    let mut text = format!("{}: columns are not used (--map changes it):", report::path_text(path));
    push_unused(&mut text, view);
    report::note(&text);
}

/// Shows how the columns of a table are read, unless this is shown already.
pub fn show_map(path: &Path, view: &MapView) {
    if !is_new(view) {
        return;
    }
    let mut text =
        format!("{}: this is how its columns are read (--map changes it):", report::path_text(path));
    let shown_fields = view.fields.iter().map(|field| {
        let first = field.first.get(..VALUE).unwrap_or(&field.first);
        let more = if first.len() < field.first.len() { "…" } else { "" };
        let first = format!("{}{more}", quoted(first));
        [field.field.to_owned(), text_line(field.column.as_bytes()), field.conversion.clone(), first]
    });
    let names = ["field", "column", "conversion", "first value"].map(str::to_owned);
    let rows: Vec<_> = std::iter::once(names).chain(shown_fields).collect();
    let width = |at: usize| rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.chars().count()).max();
    let (one, two, three) = (width(0).unwrap_or(0), width(1).unwrap_or(0), width(2).unwrap_or(0));
    for [field, column, conversion, first] in &rows {
        let line = format!("  {field:one$}  {column:two$}  {conversion:three$}  {first}");
        text.push('\n');
        text.push_str(line.trim_end());
    }
    push_unused(&mut text, view);
    report::note(&text);
}

/// Adds the columns that are not used, and why.
fn push_unused(text: &mut String, view: &MapView) {
    if !view.unused.is_empty() {
        let names: Vec<_> = view.unused.iter().map(|name| text_line(name.as_bytes())).collect();
        text.push_str(&format!("\n  not used: {}", names.join(", ")));
    }
    for remark in &view.remarks {
        text.push_str(&format!("\n  {remark}"));
    }
}

/// Prints the first entries of the dumps, and indexes nothing.
pub fn preview(dumps: &DumpOptions, most: u64) -> Result<Outcome> {
    let mut out = Output::stdout();
    let mut failed = None;
    let mut visit = |entry: &Entry<'_>| match out.json(&entry_json(entry)) {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => {
            failed = Some(error);
            ControlFlow::Break(())
        }
    };
    let reports = preview_dumps(dumps, most, &mut visit)?;
    if let Some(error) = failed {
        return Err(error.into());
    }
    out.flush()?;
    list(&reports);
    let is_lossy = reports.iter().any(|report| report.tally.bad > 0 || !report.tally.bad_values.is_empty());
    Ok(if is_lossy { Outcome::WithFailures } else { Outcome::Done })
}

/// What is known of an entry.
fn entry_json(entry: &Entry<'_>) -> Value {
    let mut object = Map::new();
    report::put_bytes(&mut object, "path", entry.path);
    let texts =
        [("target", entry.target), ("owner", entry.owner), ("group", entry.group), ("pool", entry.pool)];
    for (name, text) in texts {
        if let Some(text) = text {
            report::put_bytes(&mut object, name, text);
        }
    }
    let date = |moment: Option<i64>| moment.map(scanns::schema::format_date);
    for (name, value) in [
        ("type", json!(entry.kind.map(scanns::sources::EntryKind::name))),
        ("size", json!(entry.size)),
        ("blocks", json!(entry.blocks)),
        ("mtime", json!(date(entry.mtime))),
        ("atime", json!(date(entry.atime))),
        ("ctime", json!(date(entry.ctime))),
        ("btime", json!(date(entry.btime))),
        ("uid", json!(entry.uid)),
        ("gid", json!(entry.gid)),
        ("mode", json!(entry.mode.map(|mode| format!("{mode:04o}")))),
        ("inode", json!(entry.inode)),
        ("links", json!(entry.links)),
        ("device", json!(entry.device)),
        ("stripes", json!(entry.stripes)),
        ("project", json!(entry.project)),
    ] {
        if !value.is_null() {
            object.insert(name.into(), value);
        }
    }
    object.into()
}
