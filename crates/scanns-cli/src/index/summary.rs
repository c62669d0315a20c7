//! What `scanns index` prints about a build.

use std::io::Write;
use std::path::Path;

use anyhow::Result;
use scanns::index::IndexReport;
use scanns::sources::{ContentCount, Failure};
use serde_json::{Map, Value, json};

use super::{changes, dumps, scans, snapshot};
use crate::output::Output;
use crate::records;
use crate::report;
use crate::units;

const FAILURES_SHOWN: usize = 20;

/// The number of kinds of files that the summary lists.
const KINDS_SHOWN: usize = 6;

/// Prints what a build did.
pub fn print_summary(output: &Path, built: &IndexReport) -> Result<()> {
    let mut out = Output::stdout();
    let (documents, bytes) = (units::counted(built.documents, "document"), units::size(built.bytes));
    let (seconds, segments) =
        (units::duration(built.seconds), units::counted(built.segments as u64, "segment"));
    if built.bytes == 0 {
        let rate = units::approximate(built.documents) / built.seconds.max(1e-9);
        writeln!(out, "{documents} without text in {seconds}: {rate:.0} per second")?;
        writeln!(out, "{segments}")?;
    } else {
        let rate = units::mib_per_second(built.bytes, built.seconds);
        writeln!(out, "{documents}, {bytes} in {seconds}: {rate:.0} MiB/s")?;
        if built.dumps.is_empty() {
            write!(out, "{} in ", units::counted(built.tokens, "token"))?;
        }
        writeln!(out, "{segments}")?;
    }
    write!(out, "index ")?;
    out.quoted(output.as_os_str().as_encoded_bytes())?;
    writeln!(out, ", {}; peak memory {}", units::size(built.index_bytes), units::size(built.peak_rss))?;
    if built.unchanged > 0 {
        writeln!(out, "unchanged: {} skipped", units::counted(built.unchanged, "file"))?;
    }
    if built.moved > 0 {
        writeln!(out, "moved: {}, whose text was not read again", units::counted(built.moved, "file"))?;
    }
    if built.replaced > 0 {
        let replaced = units::counted(built.replaced, "document");
        writeln!(out, "replaced: {replaced} of files indexed before")?;
    }
    if built.removed_files > 0 {
        let files = units::counted(built.removed_files, "file");
        let documents = units::counted(built.removed, "document");
        match built.removed {
            0 => writeln!(out, "kept: the documents of {files} that are gone or excluded now")?,
            _ => writeln!(out, "removed: {documents} of {files} that are gone or excluded now")?,
        }
    }
    if let Some(why) = built.kept {
        writeln!(out, "kept: documents of entries that may be gone, because {why}")?;
    }
    dumps::print(&mut out, &built.dumps)?;
    changes::print(&mut out, built.changes.as_ref())?;
    print_contents(&mut out, built)?;
    if built.skipped > 0 {
        writeln!(out, "skipped: {}, excluded or not a regular file", units::counted(built.skipped, "input"))?;
    }
    if let Some(failure) = &built.merge_failure {
        writeln!(out, "segments were not merged, but the index is correct: {failure}")?;
    }
    if built.cut_terms > 0 {
        writeln!(out, "cut: {} longer than the maximum", units::counted(built.cut_terms, "term"))?;
    }
    records::print(&mut out, &built.records)?;
    if let Some(kept) = &built.snapshot {
        snapshot::print(&mut out, kept)?;
    }
    out.flush()?;
    Ok(())
}

/// Prints how many files were binary or decoded.
fn print_contents(out: &mut Output, built: &IndexReport) -> Result<()> {
    for (what, counts) in [("binary, only metadata indexed", &built.binary), ("decoded", &built.decoded)] {
        let Some(first) = counts.first() else { continue };
        let files: u64 = counts.iter().map(|count| count.files).sum();
        let shown = counts.iter().take(KINDS_SHOWN);
        let kinds: Vec<_> =
            shown.map(|count| format!("{} {}", units::count(count.files), count.kind)).collect();
        let more = if counts.len() > KINDS_SHOWN { ", …" } else { "" };
        let example = report::path_text(&first.example);
        let files = units::counted(files, "file");
        writeln!(out, "{what}: {files} ({}{more}), such as {example}", kinds.join(", "))?;
    }
    Ok(())
}

/// Lists the first failed inputs.
pub fn list_failures(failed: &[Failure]) {
    list_some_failures(failed, failed.len() as u64);
}

/// Lists the first inputs that failed, of which there are `count`.
pub fn list_some_failures(failed: &[Failure], count: u64) {
    for failure in failed.iter().take(FAILURES_SHOWN) {
        report::note(&format!("{}: {}", report::path_text(&failure.path), failure.reason));
    }
    let all = units::counted(count, "input");
    let listed = if failed.len() as u64 == count { "lists all" } else { "lists the first" };
    match count.saturating_sub(FAILURES_SHOWN as u64) {
        _ if failed.is_empty() => {}
        0 => report::note(&format!("{all} failed; the rest is indexed")),
        more => report::note(&format!(
            "{all} failed, {more} of them not shown (--json {listed}); the rest is indexed"
        )),
    }
}

/// Lists what was left out of files that did not fail.
pub fn list_remarks(remarks: &[Failure]) {
    for remark in remarks.iter().take(FAILURES_SHOWN) {
        report::note(&format!("{}: {}", report::path_text(&remark.path), remark.reason));
    }
    let more = remarks.len().saturating_sub(FAILURES_SHOWN);
    if more > 0 {
        let more = units::counted(more as u64, "more remark");
        report::note(&format!("{more} not shown (--json lists all)"));
    }
}

/// Prints the report as one JSON object.
pub fn print_json(output: &Path, built: &IndexReport, extract_cache: Value) -> Result<()> {
    let mut object = Map::new();
    report::put_bytes(&mut object, "index", output.as_os_str().as_encoded_bytes());
    for (name, value) in [
        ("documents", json!(built.documents)),
        ("bytes", json!(built.bytes)),
        ("tokens", json!(built.tokens)),
        ("seconds", json!(built.seconds)),
        ("mib_per_s", json!(units::mib_per_second(built.bytes, built.seconds))),
        ("bytes_written", json!(built.bytes_written)),
        ("index_bytes", json!(built.index_bytes)),
        ("peak_rss", json!(built.peak_rss)),
        ("segments", json!(built.segments)),
        ("replaced", json!(built.replaced)),
        ("removed", json!(built.removed)),
        ("removed_files", json!(built.removed_files)),
        ("unchanged", json!(built.unchanged)),
        ("moved", json!(built.moved)),
        ("failed", json!(built.failed.len())),
        ("failures", built.failed.iter().map(failure_json).collect()),
        ("remarks", built.remarks.iter().map(failure_json).collect()),
        ("records", records::as_json(&built.records)),
        ("skipped", json!(built.skipped)),
        ("binary", built.binary.iter().map(content_json).collect()),
        ("decoded", built.decoded.iter().map(content_json).collect()),
        ("extract_cache", extract_cache),
        ("dumps", built.dumps.iter().map(dumps::as_json).collect()),
        ("scan", scans::as_json(built.scan.as_ref())),
        ("changes", changes::as_json(built.changes.as_ref())),
        ("unused_globs", json!(built.unused_globs)),
        ("rule_faults", scans::rule_faults_json(&built.rule_faults)),
        ("undecided_access", scans::skipped_json(&built.undecided_access)),
        ("kept", json!(built.kept)),
        ("repeated", json!(built.repeated)),
        ("mixed_paths", dumps::mixed_json(built.mixed.as_ref())),
        ("cut_terms", json!(built.cut_terms)),
        ("merge_failure", json!(built.merge_failure)),
        ("snapshot", json!(built.snapshot.as_ref().map(snapshot::as_json))),
        ("snapshot_failure", json!(built.snapshot_failure)),
        ("cancelled", json!(built.cancelled)),
    ] {
        object.insert(name.into(), value);
    }
    let mut out = Output::stdout();
    out.json(&object.into())?;
    out.flush()?;
    Ok(())
}

fn content_json(count: &ContentCount) -> Value {
    let mut object = Map::new();
    for (name, value) in
        [("kind", json!(count.kind)), ("files", json!(count.files)), ("bytes", json!(count.bytes))]
    {
        object.insert(name.into(), value);
    }
    report::put_bytes(&mut object, "example", count.example.as_os_str().as_encoded_bytes());
    object.into()
}

/// An input that failed, as JSON.
pub fn failure_json(failure: &Failure) -> Value {
    let mut object = Map::new();
    report::put_bytes(&mut object, "path", failure.path.as_os_str().as_encoded_bytes());
    object.insert("reason".into(), failure.reason.as_str().into());
    object.into()
}
