//! `scanns export`: the values of all hits, as CSV, JSON lines, Arrow or Parquet.
//!
//! Rows go out as they are found, some thousand at a time, so memory does not grow with them. A file gets its name when it
//! is whole. `write.rs` is text, `arrow.rs` what columns are in Arrow, `binary.rs` its formats and Parquet.

mod arrow;
mod binary;
mod write;

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, IsTerminal, Seek};
use std::ops::ControlFlow;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Error, Result, anyhow, bail};
use scanns::{BatchColumn, BatchField, BatchOptions, ColumnKind, Query, Snapshot};

use crate::args::{ExportArgs, ExportCompression, ExportFormat};
use crate::progress::{Ticker, stop_flag};
use crate::report::{self, Outcome};
use crate::search::fields::kept;
use crate::units;
use arrow::{NotUnicode, Shape};
use binary::{Arrow, Parquet};
use write::{Csv, JsonLines, Rows};

/// The column of a document's name, which is no field.
const KEY: &str = "_key";

/// Runs the verb.
pub fn run(args: &ExportArgs) -> Result<Outcome> {
    let export = Export::new(args)?;
    let (partial, out) = match &args.output {
        path if path.as_os_str() == "-" => (None, File::from(io::stdout().as_fd().try_clone_to_owned()?)),
        path => {
            let mut name = OsString::from(path);
            name.push(".part");
            let partial = PathBuf::from(name);
            let file =
                File::create(&partial).with_context(|| format!("cannot write {}", partial.display()))?;
            (Some(partial), file)
        }
    };
    let sent = export.send(&out, partial.is_none());
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
        Some("arrow" | "feather") => ExportFormat::Arrow,
        Some("parquet") => ExportFormat::Parquet,
        _ => ExportFormat::Csv,
    }
}

/// How the output is compressed.
fn compression(args: &ExportArgs, format: ExportFormat) -> Result<ExportCompression> {
    let wrong =
        |how: &str| Err(anyhow!("--compression: {how}; leave it out, or write another format with --format"));
    match (format, args.compression) {
        (ExportFormat::Csv | ExportFormat::Jsonl, Some(_)) => {
            wrong("text is not compressed here, send it through gzip or zstd instead")
        }
        (ExportFormat::Arrow, Some(ExportCompression::Snappy)) => wrong("Arrow knows lz4, zstd and none"),
        (_, Some(how)) => Ok(how),
        (ExportFormat::Parquet, None) => Ok(ExportCompression::Zstd),
        (_, None) => Ok(ExportCompression::None),
    }
}

/// What is exported, and how.
struct Export {
    snapshot: Snapshot,
    query: Query,
    fields: Vec<BatchField>,
    shapes: Vec<Shape>,
    format: ExportFormat,
    compression: ExportCompression,
}

impl Export {
    fn new(args: &ExportArgs) -> Result<Self> {
        let format = args.format.unwrap_or_else(|| format_of(&args.output));
        let compression = compression(args, format)?;
        let snapshot = Snapshot::open(&args.index)?;
        let operator = args.default_operator.into();
        let query = match args.query.as_deref() {
            None => Query::All,
            Some(text) => snapshot.parse(text, operator)?,
        };
        let (fields, shapes) = columns(&snapshot, &args.fields)?;
        Ok(Export { snapshot, query, fields, shapes, format, compression })
    }

    /// Sends all rows; returns how many.
    fn send(&self, out: &File, stream: bool) -> Result<u64> {
        let stop = stop_flag()?;
        let is_binary = matches!(self.format, ExportFormat::Arrow | ExportFormat::Parquet);
        let mut shapes = self.shapes.clone();
        if is_binary && stream {
            self.find_binary(&mut shapes, &stop)?;
        }
        match self.send_as(out, &shapes, stream, &stop) {
            Err(error) if error.is::<NotUnicode>() && !stream => {
                self.find_binary(&mut shapes, &stop)?;
                let mut out = out;
                out.set_len(0).and_then(|()| out.rewind()).context("cannot begin the file anew")?;
                self.send_as(out, &shapes, stream, &stop)
            }
            sent => sent,
        }
    }

    fn send_as(&self, out: &File, shapes: &[Shape], stream: bool, stop: &AtomicBool) -> Result<u64> {
        let names = || shapes.iter().map(|shape| shape.name.clone()).collect();
        let (shapes, how) = (shapes.to_vec(), self.compression);
        let mut rows: Box<dyn Rows + '_> = match self.format {
            ExportFormat::Csv => Box::new(Csv::new(out, names())),
            ExportFormat::Jsonl => Box::new(JsonLines::new(out, names())),
            ExportFormat::Arrow => Box::new(Arrow::new(out, shapes, how, stream)?),
            ExportFormat::Parquet => Box::new(Parquet::new(out, shapes, how)?),
        };
        let (mut ticker, mut count) = (Ticker::new("row"), 0u64);
        rows.begin().context("cannot write the rows")?;
        self.each(&self.fields, stop, |columns| {
            rows.batch(columns).context("cannot write the rows")?;
            count += columns.first().map_or(0, BatchColumn::rows) as u64;
            ticker.at(count);
            Ok(())
        })?;
        ticker.clear();
        if stop.load(Ordering::Relaxed) {
            bail!("stopped after {} rows", units::count(count));
        }
        rows.end().context("cannot write the rows")?;
        Ok(count)
    }

    /// Calls `visit` with the values of all hits, some at a time, until the user asks to stop.
    fn each(
        &self,
        fields: &[BatchField],
        stop: &AtomicBool,
        mut visit: impl FnMut(&[BatchColumn]) -> Result<()>,
    ) -> Result<()> {
        let mut outcome = Ok::<(), Error>(());
        self.snapshot.for_each_batch(&self.query, fields, &BatchOptions::default(), &mut |batch| {
            outcome = visit(batch.columns);
            let ends = outcome.is_err() || stop.load(Ordering::Relaxed);
            Ok(if ends { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        outcome
    }

    /// Notes which columns have texts that are no Unicode.
    fn find_binary(&self, shapes: &mut [Shape], stop: &AtomicBool) -> Result<()> {
        let texts = self.fields.iter().zip(&*shapes).zip(0usize..).filter(|((_, shape), _)| shape.is_text());
        let (fields, places): (Vec<_>, Vec<_>) = texts.map(|((&field, _), place)| (field, place)).unzip();
        self.each(&fields, stop, |columns| {
            for (column, &place) in columns.iter().zip(&places) {
                if let Some(shape) = shapes.get_mut(place).filter(|shape| !shape.binary) {
                    let is_binary = |string| std::str::from_utf8(string).is_err();
                    shape.binary = column.distinct_strings().any(is_binary);
                }
            }
            Ok(())
        })
    }
}

/// The fields that are read, and the columns of the output.
fn columns(snapshot: &Snapshot, names: &[String]) -> Result<(Vec<BatchField>, Vec<Shape>)> {
    let all = || {
        let kept = snapshot.schema().fields().filter(|(_, entry)| entry.column || entry.stored);
        std::iter::once(KEY.into()).chain(kept.map(|(_, entry)| entry.name.clone())).collect()
    };
    let names: Vec<String> = if names.is_empty() { all() } else { names.to_vec() };
    let column = |name: String| {
        if name == KEY {
            let shape = Shape { name, kind: ColumnKind::Text, required: true, several: false, binary: false };
            return Ok((BatchField::Key, shape));
        }
        let field = kept(snapshot, &name)?;
        let kind =
            snapshot.schema().entry(field).map_or(ColumnKind::Text, |entry| ColumnKind::of(&entry.kind));
        let several = snapshot.may_have_several(field);
        Ok((BatchField::Values(field), Shape { name, kind, required: false, several, binary: false }))
    };
    Ok(names.into_iter().map(column).collect::<Result<Vec<_>>>()?.into_iter().unzip())
}
