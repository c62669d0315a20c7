//! `scanns report`: what is in a file system, whose it is, how old it is, and what deserves a look.
//!
//! `sections.rs` arranges a report in tables for people, which `table.rs` prints and `page.rs` writes as a
//! page with a map of the directories. `json.rs` writes everything for programs, and `rows.rs` makes one
//! table of it, which `csv.rs` and `parquet.rs` write.

mod csv;
mod heat;
mod json;
mod markup;
mod page;
#[cfg(feature = "arrow")]
mod parquet;
mod rows;
mod sections;
mod table;

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use anyhow::{Context, Result, bail};
use scanns::Snapshot;
use scanns::files::{FilesReport, ReportOptions, report_files};

use crate::args::{ReportArgs, ReportFormat};
use crate::export::must_be_built;
use crate::indexed_path::{all_in_index, note_not_in_index};
use crate::missing::{AskedPlaces, missing, note_missing};
use crate::quoting::quoted;
use crate::report::{self, Outcome, path_text};
use crate::{units, whole_file};

/// Runs the verb.
pub fn run(args: &ReportArgs) -> Result<Outcome> {
    let format = args.format.map_or_else(|| format_of(&args.output), Ok)?;
    must_be_built(format == ReportFormat::Parquet)?;
    let mut options = ReportOptions {
        cold_days: args.cold,
        top: args.top.unwrap_or(if format == ReportFormat::Table { 10 } else { 50 }),
        ..ReportOptions::default()
    };
    options.now = args.now.unwrap_or(options.now);
    let snapshot = Snapshot::open(&args.index)?;
    let paths = all_in_index(&snapshot, &args.paths);
    let asked = AskedPlaces { paths: &paths, depth: None };
    let lacks = note_missing(&snapshot, &args.index, asked)?;
    let found = report_files(&snapshot, &paths, options)?;
    note_not_in_index(&snapshot, &found.missing);
    if !paths.is_empty() && found.missing.len() == paths.len() {
        return Ok(Outcome::WithFailures);
    }
    let text = match format {
        ReportFormat::Table => table::text(&found).into_bytes(),
        ReportFormat::Csv => csv::bytes(&found),
        ReportFormat::Parquet => parquet_bytes(&found)?,
        ReportFormat::Json => format!("{}\n", json::value(&found)).into_bytes(),
        ReportFormat::Html => page::html(&found, &missing(&snapshot, asked)?).into_bytes(),
    };
    if args.output.as_os_str() == "-" {
        let mut out = io::stdout().lock();
        out.write_all(&text).and_then(|()| out.flush())?;
    } else {
        whole_file::replace(&args.output, &text)
            .with_context(|| format!("cannot write {}", path_text(&args.output)))?;
    }
    let is_shown = format == ReportFormat::Table && io::stdout().is_terminal();
    Ok(outcome(&found, is_shown).lacking(lacks))
}

/// The bytes of a table of Parquet.
fn parquet_bytes(found: &FilesReport) -> Result<Vec<u8>> {
    #[cfg(feature = "arrow")]
    return parquet::bytes(found);
    #[cfg(not(feature = "arrow"))]
    return Ok(csv::bytes(found));
}

/// The format that the name of a file asks for; a table without an extension.
///
/// # Errors
/// The extension is not one of a format.
fn format_of(path: &Path) -> Result<ReportFormat> {
    let extension = path.extension().map(|extension| extension.to_ascii_lowercase()).unwrap_or_default();
    Ok(match extension.as_encoded_bytes() {
        b"" | b"txt" => ReportFormat::Table,
        b"csv" => ReportFormat::Csv,
        b"json" => ReportFormat::Json,
        b"parquet" => ReportFormat::Parquet,
        b"html" | b"htm" => ReportFormat::Html,
        // A device or a pipe.
        _ if path.metadata().is_ok_and(|found| !found.is_file()) => ReportFormat::Table,
        _ => bail!(
            "{}: the name does not say the format: let it end in .html, .csv, .json, .parquet or .txt, \
             or give --format",
            path_text(path)
        ),
    })
}

/// Notes what is missing or not known, unless a user has just seen it.
fn outcome(found: &FilesReport, is_shown: bool) -> Outcome {
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
