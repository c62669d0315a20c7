//! Inputs to a committed index: starts readers and index threads, gathers their segments, publishes the manifest.

use std::collections::HashSet;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::budget::lane_budget;
use super::gate::Gate;
use super::lane::{LaneContext, LaneIndexer, LaneReport};
use super::manifest::Manifest;
use super::merging::Merging;
use super::writer::Writer;
use super::{IndexOptions, IndexReport, Phase, Progress};
use crate::error::{Error, Result};
use crate::invert::InvertOptions;
use crate::read::{Lane, ReaderDriver, start};
use crate::schema::{Analyzer, Postings};
use crate::segment::{is_deletes_file_name, is_file_name};
use crate::source::{Failure, Input, Inputs, collect};
use crate::store::{Directory, FsDirectory};
use crate::sys;

/// Adds inputs to the index at `path`, which is made if there is none, and commits once at the end.
///
/// Set `cancel` to stop: nothing is then committed, and the report says so.
///
/// # Errors
/// Where nothing could be committed: no index and no empty directory at `path`, another writer, a full disk, …
/// Inputs that cannot be read are no error; they are listed in the report.
pub fn build(
    path: &Path,
    options: &IndexOptions,
    progress: &Progress,
    cancel: &Arc<AtomicBool>,
) -> Result<IndexReport> {
    let begun = Instant::now();
    let made = prepare(path)?;
    let directory = FsDirectory::new(path);
    let outcome = build_in(&directory, options, progress, cancel);
    let committed = matches!(&outcome, Ok(report) if !report.cancelled);
    if made && !committed {
        // Leave no directory behind that never was an index; what cannot be removed does no harm.
        if let Ok(_lock) = directory.lock() {
            let _ = directory.remove("lock");
            let _ = fs::remove_dir(path);
        }
    }
    let mut report = outcome?;
    report.seconds = begun.elapsed().as_secs_f64();
    report.peak_rss = sys::peak_resident_bytes().unwrap_or(0);
    Ok(report)
}

/// Makes sure that `path` is an index, or an empty directory; true if it had to be made.
fn prepare(path: &Path) -> Result<bool> {
    let refuse = |why| Err(Error::NotAnIndex { path: path.to_path_buf(), why });
    match fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let absolute = std::path::absolute(path).map_err(|source| Error::io("create", path, source))?;
            let missing: Vec<&Path> = absolute.ancestors().take_while(|parent| !parent.exists()).collect();
            fs::create_dir_all(path).map_err(|source| Error::io("create", path, source))?;
            // A commit inside is only as durable as the names on the way to it.
            missing
                .iter()
                .filter_map(|made| made.parent())
                .try_for_each(|parent| FsDirectory::new(parent).sync())?;
            Ok(true)
        }
        Err(source) => Err(Error::io("look at", path, source)),
        Ok(found) if !found.is_dir() => refuse("a file of that name exists; give another output"),
        Ok(_) => {
            let names = FsDirectory::new(path).list()?;
            let ours = |name: &String| {
                name == "lock"
                    || name.starts_with("manifest")
                    || is_file_name(name)
                    || is_deletes_file_name(name)
            };
            if names.iter().all(ours) {
                Ok(false)
            } else {
                refuse("the directory holds other files; give another output")
            }
        }
    }
}

/// Like [`build`], in any directory; the report leaves out seconds and memory.
pub fn build_in(
    directory: &dyn Directory,
    options: &IndexOptions,
    progress: &Progress,
    cancel: &Arc<AtomicBool>,
) -> Result<IndexReport> {
    let writer = Writer::open(directory)?;
    let outcome = add_and_commit(&writer, options, progress, cancel);
    if !matches!(&outcome, Ok(report) if !report.cancelled) {
        // What was written is in no commit. Where it cannot be removed, the next writer sweeps it.
        writer.roll_back();
    }
    outcome
}

/// Writes the segments of the inputs and commits them together with those of the commit before.
fn add_and_commit(
    writer: &Writer<'_>,
    options: &IndexOptions,
    progress: &Progress,
    cancel: &Arc<AtomicBool>,
) -> Result<IndexReport> {
    let before = writer.manifest();
    let analyzer = choose_analyzer(before.as_ref(), options.analyzer.as_ref())?;
    let postings = choose_postings(before.as_ref(), options.postings)?;
    writer.describe(|manifest| {
        let (segments, notes) =
            manifest.map(|manifest| (manifest.segments, manifest.notes)).unwrap_or_default();
        Ok(Manifest { analyzer: analyzer.clone(), records: options.records, postings, segments, notes })
    })?;

    progress.enter(Phase::Walking);
    let mut inputs = collect(&options.source, cancel)?;
    leave_out_index(writer.directory, &mut inputs);
    let mut report =
        IndexReport { failed: inputs.failures.clone(), skipped: inputs.skipped, ..Default::default() };
    let old: Vec<u128> =
        before.iter().flat_map(|manifest| &manifest.segments).map(|segment| segment.id).collect();
    let replaced = known_paths(writer, &old, &inputs.inputs)?;
    // Where documents are replaced, those of earlier commits must stay apart from the new ones of the same files.
    let merging = Merging::new(writer, options, if replaced.is_empty() { &[] } else { &old });
    let lanes = std::thread::scope(|scope| {
        let merger = merging.start(scope)?;
        let lanes = run_lanes(writer, options, (&analyzer, postings), inputs, progress, cancel, &mut report);
        merger.stop(cancel.load(Ordering::Relaxed) || lanes.is_err())?;
        lanes
    })?;
    if cancel.load(Ordering::Relaxed) {
        report.cancelled = true;
        return Ok(report);
    }

    progress.enter(Phase::Committing);
    let mut added = Vec::new();
    for lane in lanes {
        for segment in &lane.segments {
            report.documents += segment.stats.documents;
            report.tokens += segment.stats.tokens;
            report.segments += 1;
            added.push(segment.id);
        }
        report.cut_terms += lane.cut_terms;
        report.flush_seconds += lane.flushing.as_secs_f64();
        report.failed.extend(lane.failures);
    }
    report.replaced = replace(writer, &old, &replaced, &report.failed)?;
    writer.commit()?;
    (report.bytes_written, report.index_bytes) = (writer.bytes_written(), writer.index_bytes());
    Ok(report)
}

/// The paths of inputs that have documents in the index.
fn known_paths(writer: &Writer<'_>, old: &[u128], inputs: &[Input]) -> Result<Vec<Vec<u8>>> {
    let mut known = Vec::new();
    let segments = old.iter().map(|&id| writer.segment(id)).collect::<Result<Vec<_>>>()?;
    for input in inputs {
        let path = input.path.as_os_str().as_bytes();
        for segment in &segments {
            if segment.has_path(path)? {
                known.push(path.to_vec());
                break;
            }
        }
    }
    Ok(known)
}

/// Deletes the old documents of inputs that have new ones; returns how many.
fn replace(writer: &Writer<'_>, old: &[u128], paths: &[Vec<u8>], failed: &[Failure]) -> Result<u64> {
    if paths.is_empty() {
        return Ok(0);
    }
    // A file that could not be read may have no new document; then it keeps the old one.
    let failed: HashSet<&[u8]> = failed.iter().map(|failure| failure.path.as_os_str().as_bytes()).collect();
    let now: Vec<u128> =
        writer.manifest().iter().flat_map(|now| &now.segments).map(|entry| entry.id).collect();
    let new: Vec<u128> = now.iter().copied().filter(|id| !old.contains(id)).collect();
    let has_new = |path: &[u8]| -> Result<bool> {
        for &id in &new {
            if writer.segment(id)?.has_path(path)? {
                return Ok(true);
            }
        }
        Ok(false)
    };
    let mut replaced = Vec::new();
    for path in paths {
        if !failed.contains(path.as_slice()) || has_new(path)? {
            replaced.push(path.as_slice());
        }
    }
    writer.delete_paths(old, &replaced)
}

/// The index may lie in a tree that it indexes; its own files are no inputs.
fn leave_out_index(directory: &dyn Directory, inputs: &mut Inputs) {
    let Ok(index) = fs::canonicalize(directory.describe()) else { return };
    // Only directories of the same name are worth a system call.
    let is_index = |parent: &Path| {
        parent.file_name() == index.file_name()
            && fs::canonicalize(parent).is_ok_and(|parent| parent == index)
    };
    let before = inputs.inputs.len();
    inputs.inputs.retain(|input| !input.path.parent().is_some_and(is_index));
    inputs.skipped += (before - inputs.inputs.len()) as u64;
    inputs.bytes = inputs.inputs.iter().map(|input| input.bytes).sum();
}

/// The analyzer of the index, which what is added must share.
fn choose_analyzer(current: Option<&Manifest>, wanted: Option<&Analyzer>) -> Result<Analyzer> {
    match (current, wanted) {
        (None, None) => Ok(Analyzer::Standard),
        (None, Some(wanted)) => Ok(wanted.clone()),
        (Some(current), Some(wanted)) if current.analyzer != *wanted => Err(Error::Options(format!(
            "the index was built with analyzer {}, what is added needs the same, not {}: leave the option out or \
             build another index",
            current.analyzer.name(),
            wanted.name()
        ))),
        (Some(current), _) => Ok(current.analyzer.clone()),
    }
}

/// What the index keeps of a term in a document, which what is added must share.
fn choose_postings(current: Option<&Manifest>, wanted: Option<Postings>) -> Result<Postings> {
    let refuse = |what| {
        Err(Error::Options(format!(
            "the index was built {what}, and what is added needs the same: leave the option out or build another index"
        )))
    };
    match (current.map(|current| current.postings), wanted) {
        (None, wanted) => Ok(wanted.unwrap_or_default()),
        (Some(Postings::Frequencies), Some(Postings::Positions)) => refuse("without positions"),
        (Some(Postings::Positions), Some(Postings::Frequencies)) => refuse("with positions"),
        (Some(postings), _) => Ok(postings),
    }
}

/// Runs the pipeline to its end; the segments are on the medium then.
fn run_lanes(
    writer: &Writer<'_>,
    options: &IndexOptions,
    (analyzer, postings): (&Analyzer, Postings),
    inputs: Inputs,
    progress: &Progress,
    cancel: &Arc<AtomicBool>,
    report: &mut IndexReport,
) -> Result<Vec<LaneReport>> {
    progress.total_bytes.store(inputs.bytes, Ordering::Relaxed);
    progress.total_files.store(inputs.inputs.len() as u64, Ordering::Relaxed);
    progress.failures.store(inputs.failures.len() as u64, Ordering::Relaxed);
    options.flush.buffers.check()?;
    let budget = lane_budget(options, &inputs.inputs)?;
    let shared = Arc::new(inputs.inputs);
    // Readers are stopped through their own flag too, when an index thread fails.
    let stop = Arc::new(AtomicBool::new(cancel.load(Ordering::Relaxed)));
    let (driver, lanes) = start(shared.clone(), options.records, analyzer, &options.read, stop.clone())?;
    let gate = Gate::new(options.flush.policy);
    let context = LaneContext {
        writer,
        inputs: &shared,
        records: options.records,
        analyzer,
        invert: InvertOptions {
            budget: budget.most,
            expected_terms: expected_terms(analyzer, inputs.bytes, lanes.len(), budget.first),
            pages: options.read.pages,
            postings,
        },
        budget,
        gate: &gate,
        buffers: options.flush.buffers,
        progress,
    };
    progress.enter(Phase::Indexing);
    let reports = index_all(context, &driver, lanes, cancel, &stop);
    let read = driver.finish();
    let reports = reports?;
    let read = read?;
    report.bytes = read.bytes;
    report.failed.extend(read.failures);
    Ok(reports)
}

/// Terms to make room for at once: what a quarter of the text would bring if it were a metadata dump, the
/// richest in distinct terms of all that was measured (one per 60 bytes).
fn expected_terms(analyzer: &Analyzer, bytes: u64, lanes: usize, budget: usize) -> usize {
    let bytes_per_term = match analyzer {
        Analyzer::Standard => 4096,
        Analyzer::Bytes(_) => 256,
    };
    let share = usize::try_from(bytes).unwrap_or(usize::MAX) / lanes;
    (share / bytes_per_term).min(budget / 256)
}

/// Runs every index thread to its end, or stops all at the first error.
fn index_all(
    context: LaneContext<'_>,
    driver: &ReaderDriver,
    lanes: Vec<Lane>,
    cancel: &AtomicBool,
    stop: &AtomicBool,
) -> Result<Vec<LaneReport>> {
    std::thread::scope(|scope| {
        let index = |lane: Lane| {
            let outcome = index_one(context, lane, stop);
            if outcome.is_err() {
                stop.store(true, Ordering::Relaxed);
            }
            outcome
        };
        let threads: Vec<_> = lanes.into_iter().map(|lane| scope.spawn(move || index(lane))).collect();
        // This thread carries the stop flag over and keeps the counters of the readers in view.
        while threads.iter().any(|thread| !thread.is_finished()) {
            if cancel.load(Ordering::Relaxed) {
                stop.store(true, Ordering::Relaxed);
            }
            context.progress.files.store(driver.files_done(), Ordering::Relaxed);
            std::thread::park_timeout(Duration::from_millis(2));
        }
        let join = |thread: std::thread::ScopedJoinHandle<'_, Result<LaneReport>>| {
            thread.join().unwrap_or_else(|_| {
                Err(Error::System {
                    action: "index on",
                    source: std::io::Error::other("an index thread ended unexpectedly"),
                    remedy: "this is a fault in the program: please report it",
                })
            })
        };
        threads.into_iter().map(join).collect()
    })
}

fn index_one(context: LaneContext<'_>, lane: Lane, stop: &AtomicBool) -> Result<LaneReport> {
    let mut indexer = LaneIndexer::new(context)?;
    indexer.run(lane)?;
    if stop.load(Ordering::Relaxed) {
        return Ok(LaneReport::default());
    }
    context.progress.enter(Phase::Flushing);
    indexer.finish()
}
