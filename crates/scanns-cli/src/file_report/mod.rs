//! `scanns report`: what is in a file system, whose it is, how old it is, and what deserves a look.
//!
//! `sections.rs` arranges a report in tables for people, which `table.rs` prints and `page.rs` writes as a
//! page with a map of the directories. `csv.rs` and `json.rs` write everything for programs.

mod csv;
mod heat;
mod json;
mod markup;
mod page;
mod sections;
mod table;

use std::io::{self, IsTerminal, Write};
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

use anyhow::{Context, Result};
use scanns::Snapshot;
use scanns::files::{FilesReport, ReportOptions, report_files};

use crate::args::{ReportArgs, ReportFormat};
use crate::info::completeness::note_missing;
use crate::quoting::quoted;
use crate::report::{self, Outcome, path_text};
use crate::{units, whole_file};

/// Runs the verb.
pub fn run(args: &ReportArgs) -> Result<Outcome> {
    let format = args.format.unwrap_or_else(|| format_of(&args.output));
    let mut options = ReportOptions {
        cold_days: args.cold,
        top: args.top.unwrap_or(if format == ReportFormat::Table { 10 } else { 50 }),
        ..ReportOptions::default()
    };
    options.now = args.now.unwrap_or(options.now);
    let snapshot = Snapshot::open(&args.index)?;
    note_missing(&snapshot, &args.index)?;
    let paths: Vec<Vec<u8>> = args.paths.iter().map(|path| path.clone().into_vec()).collect();
    let found = report_files(&snapshot, &paths, options)?;
    let text = match format {
        ReportFormat::Table => table::text(&found).into_bytes(),
        ReportFormat::Csv => csv::bytes(&found),
        ReportFormat::Json => format!("{}\n", json::value(&found)).into_bytes(),
        ReportFormat::Html => page::html(&found).into_bytes(),
    };
    if args.output.as_os_str() == "-" {
        let mut out = io::stdout().lock();
        out.write_all(&text).and_then(|()| out.flush())?;
    } else {
        whole_file::replace(&args.output, &text)
            .with_context(|| format!("cannot write {}", path_text(&args.output)))?;
    }
    let is_shown = format == ReportFormat::Table && io::stdout().is_terminal();
    Ok(outcome(&found, is_shown))
}

/// The format that the name of a file asks for.
fn format_of(path: &Path) -> ReportFormat {
    let extension = path.extension().map(|extension| extension.to_ascii_lowercase()).unwrap_or_default();
    match extension.as_encoded_bytes() {
        b"csv" => ReportFormat::Csv,
        b"json" => ReportFormat::Json,
        b"html" | b"htm" => ReportFormat::Html,
        _ => ReportFormat::Table,
    }
}

/// Notes what is missing or not known, unless a user has just seen it.
fn outcome(found: &FilesReport, is_shown: bool) -> Outcome {
    for path in &found.missing {
        report::note(&format!("{}: not in the index", quoted(path)));
    }
    for unknown in found.unknown.iter().filter(|_| !is_shown) {
        let entries = units::counted(unknown.count, "entry");
        let example = quoted(&unknown.example).into_owned();
        report::note(&format!(
            "the index does not know the {} of {entries}; the first is {example}",
            unknown.column
        ));
    }
    if found.missing.is_empty() { Outcome::Done } else { Outcome::WithFailures }
}
