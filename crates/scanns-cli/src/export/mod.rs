//! `scanns export`: the values of all hits, as CSV or JSON lines.
//!
//! Rows go out as they are found, so memory does not grow with them. A file gets its name when it is whole.

mod write;

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use anyhow::{Context, Result, bail};
use scanns::{Field, Query, Snapshot};

use crate::args::{ExportArgs, ExportFormat};
use crate::progress::{Ticker, stop_flag};
use crate::report::{self, Outcome};
use crate::search::fields::kept;
use crate::units;
use write::{Column, Csv, JsonLines, Rows};

/// The column of a document's name, which is no field.
const KEY: &str = "_key";

/// Runs the verb.
pub fn run(args: &ExportArgs) -> Result<Outcome> {
    let snapshot = Snapshot::open(&args.index)?;
    let operator = args.default_operator.into();
    let query = match args.query.as_deref() {
        None => Query::All,
        Some(text) => snapshot.parse(text, operator)?,
    };
    let (columns, fields) = columns(&snapshot, &args.fields)?;
    let (partial, out): (Option<PathBuf>, Box<dyn Write>) = match &args.output {
        path if path.as_os_str() == "-" => (None, Box::new(io::stdout().lock())),
        path => {
            let mut name = OsString::from(path);
            name.push(".part");
            let partial = PathBuf::from(name);
            let file =
                File::create(&partial).with_context(|| format!("cannot write {}", partial.display()))?;
            (Some(partial), Box::new(file))
        }
    };
    let out = BufWriter::with_capacity(1 << 20, out);
    let format = args.format.unwrap_or_else(|| format_of(&args.output));
    let rows: Box<dyn Rows> = match format {
        ExportFormat::Csv => Box::new(Csv::new(out, columns)),
        ExportFormat::Jsonl => Box::new(JsonLines::new(out, columns)),
    };
    let sent = send(&snapshot, &query, &fields, rows);
    if let (Err(_), Some(partial)) = (&sent, &partial) {
        // What went wrong is told; a part of a file helps nobody.
        let _ = fs::remove_file(partial);
    }
    let count = sent?;
    if let Some(partial) = &partial {
        let named = fs::rename(partial, &args.output);
        named.with_context(|| format!("cannot give {} its name", args.output.display()))?;
    }
    if partial.is_some() || io::stderr().is_terminal() {
        report::note(&format!("{} rows", units::count(count)));
    }
    Ok(Outcome::Done)
}

/// The format that the ending of a name says.
fn format_of(path: &Path) -> ExportFormat {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("jsonl" | "json" | "ndjson") => ExportFormat::Jsonl,
        _ => ExportFormat::Csv,
    }
}

/// The columns of the output, and the fields that are read.
fn columns(snapshot: &Snapshot, names: &[String]) -> Result<(Vec<Column>, Vec<Field>)> {
    let all = || {
        let kept = snapshot.schema().fields().filter(|(_, entry)| entry.column || entry.stored);
        std::iter::once(KEY.into()).chain(kept.map(|(_, entry)| entry.name.clone())).collect()
    };
    let names: Vec<String> = if names.is_empty() { all() } else { names.to_vec() };
    let (mut columns, mut fields) = (Vec::new(), Vec::new());
    for name in names {
        if name == KEY {
            columns.push(Column { name, place: None });
            continue;
        }
        fields.push(kept(snapshot, &name)?);
        columns.push(Column { name, place: Some(fields.len() - 1) });
    }
    Ok((columns, fields))
}

/// Sends all rows; returns how many.
fn send(snapshot: &Snapshot, query: &Query, fields: &[Field], mut rows: Box<dyn Rows>) -> Result<u64> {
    let stop = stop_flag()?;
    let (mut ticker, mut count, mut failed) = (Ticker::new("row"), 0u64, Ok(()));
    rows.begin()?;
    let needs_keys = rows.needs_keys();
    snapshot.for_each_row(query, fields, &mut |hit, values| {
        let key = if needs_keys { snapshot.key(hit)? } else { Vec::new() };
        failed = rows.row(&key, values);
        count += 1;
        if count.is_multiple_of(1 << 12) {
            ticker.at(count);
        }
        let ends = failed.is_err() || stop.load(Ordering::Relaxed);
        Ok(if ends { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })?;
    ticker.clear();
    failed.context("cannot write the rows")?;
    if stop.load(Ordering::Relaxed) {
        bail!("stopped after {} rows", units::count(count));
    }
    rows.end().context("cannot write the rows")?;
    Ok(count)
}
