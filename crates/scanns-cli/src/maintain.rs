//! `scanns merge` and `scanns check`: merge segments, or verify an index. `maintain/change.rs` has
//! `scanns delete` and `scanns update`.

mod change;

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use scanns::index::{CheckReport, MergeOptions, MergeReport, Progress};
use scanns::{Error, Index};
use serde_json::{Map, Value, json};

use crate::args::{CheckArgs, MergeArgs};
use crate::output::Output;
use crate::progress;
use crate::report::{self, Outcome};
use crate::units;
pub use change::{delete, update};

fn about(index: &Path) -> Map<String, Value> {
    let mut object = Map::new();
    report::put_bytes(&mut object, "index", index.as_os_str().as_encoded_bytes());
    object
}

/// Runs `work` with a progress bar and a stop flag; `None` if it was stopped.
fn watched<T>(
    quiet: bool,
    work: impl FnOnce(&Progress, &std::sync::atomic::AtomicBool) -> scanns::Result<T>,
) -> Result<Option<T>> {
    let cancel = progress::stop_flag()?;
    let state = Progress::default();
    match progress::during(&state, !quiet, || work(&state, &cancel)) {
        Err(error @ Error::Cancelled) => {
            report::note(&error.to_string());
            Ok(None)
        }
        done => Ok(Some(done?)),
    }
}

/// Runs `scanns merge`.
pub fn merge(args: &MergeArgs) -> Result<Outcome> {
    let merged = watched(args.quiet, |state, cancel| {
        let usual = MergeOptions::default();
        let options = MergeOptions {
            segments: args.segments,
            rate: args.rate,
            threads: args.threads.unwrap_or(usual.threads),
            reorder: args.reorder,
            memory: args.memory.unwrap_or(usual.memory),
        };
        Index::open(&args.index)?.merge(&options, state, cancel)
    })?;
    let Some(mut merged) = merged else { return Ok(Outcome::Stopped) };
    merged.seconds = report::seconds();
    print_merged(args, &merged).context("the merge is complete and committed")?;
    Ok(Outcome::Done)
}

fn print_merged(args: &MergeArgs, merged: &MergeReport) -> Result<()> {
    let mut out = Output::stdout();
    if args.json {
        out.json(&merge_json(args, merged))?;
    } else if !args.quiet && args.reorder && merged.bytes_written == 0 {
        writeln!(
            out,
            "Nothing was done: reordering the documents would save no space; the index is {}",
            units::size(merged.index_bytes)
        )?;
    } else if !args.quiet {
        let order = match (args.reorder, merged.reordered) {
            (true, true) => "reordered, ",
            (true, false) => "in the same order, since reordering would save no space, ",
            _ => "",
        };
        writeln!(
            out,
            "{} became {}, {order}{} freed, {} written in {:.1} s, the index is {}",
            units::counted(merged.before as u64, "segment"),
            units::count(merged.after as u64),
            units::counted(merged.reclaimed, "deleted document"),
            units::size(merged.bytes_written),
            merged.seconds,
            units::size(merged.index_bytes)
        )?;
    }
    Ok(out.flush()?)
}

fn merge_json(args: &MergeArgs, merged: &MergeReport) -> Value {
    let mut object = about(&args.index);
    for (name, value) in [
        ("segments_before", json!(merged.before)),
        ("segments", json!(merged.after)),
        ("reclaimed", json!(merged.reclaimed)),
        ("reordered", json!(merged.reordered)),
        ("bytes_written", json!(merged.bytes_written)),
        ("index_bytes", json!(merged.index_bytes)),
        ("seconds", json!(merged.seconds)),
    ] {
        object.insert(name.into(), value);
    }
    object.into()
}

/// Runs `scanns check`.
pub fn check(args: &CheckArgs) -> Result<Outcome> {
    let level = args.level.into();
    let checked = watched(args.quiet, |state, cancel| {
        let index = Index::open(&args.index)?;
        if args.salvage { index.salvage(level, state, cancel) } else { index.check(level, state, cancel) }
    })?;
    let Some(checked) = checked else { return Ok(Outcome::Stopped) };
    let mut out = Output::stdout();
    if args.json {
        out.json(&check_json(args, &checked))?
    } else {
        tell(&mut out, &checked)?
    }
    out.flush()?;
    Ok(if checked.is_whole() { Outcome::Done } else { Outcome::WithFailures })
}

fn tell(out: &mut Output, checked: &CheckReport) -> Result<()> {
    let documents: u64 = checked.segments.iter().map(|segment| segment.documents).sum();
    for fault in &checked.manifests {
        writeln!(out, "damaged: {fault}")?;
    }
    for segment in &checked.segments {
        if let Some(fault) = &segment.fault {
            let lost = units::counted(segment.documents, "document");
            writeln!(out, "damaged: segment {} with {lost}: {fault}", segment.id)?;
        }
    }
    if !checked.leftovers.is_empty() {
        let files = units::counted(checked.leftovers.len() as u64, "file");
        writeln!(out, "left by a killed writer: {files}, to be removed by the next writer")?;
    }
    let segments = units::counted(checked.segments.len() as u64, "segment");
    let commit = checked.generation;
    if checked.is_whole() {
        let documents = units::counted(documents, "document");
        writeln!(out, "commit {commit} is intact: {segments}, {documents}")?;
        return Ok(());
    }
    writeln!(
        out,
        "commit {commit}: {} of {} are in damaged segments",
        units::count(checked.lost()),
        units::counted(documents, "document")
    )?;
    match checked.salvaged {
        Some(commit) => {
            writeln!(out, "commit {commit} has the rest; index the inputs again to restore lost documents")?
        }
        None => writeln!(out, "restore the files from backup, or keep the rest with scanns check --salvage")?,
    }
    Ok(())
}

fn check_json(args: &CheckArgs, checked: &CheckReport) -> Value {
    let mut object = about(&args.index);
    let segment = |segment: &scanns::index::SegmentCheck| {
        json!({
            "id": segment.id,
            "documents": segment.documents,
            "bytes": segment.bytes,
            "fault": segment.fault,
        })
    };
    for (name, value) in [
        ("generation", json!(checked.generation)),
        ("whole", json!(checked.is_whole())),
        ("lost", json!(checked.lost())),
        ("manifests", json!(checked.manifests)),
        ("segments", checked.segments.iter().map(segment).collect()),
        ("leftovers", json!(checked.leftovers)),
        ("salvaged", json!(checked.salvaged)),
        ("seconds", json!(report::seconds())),
    ] {
        object.insert(name.into(), value);
    }
    object.into()
}
