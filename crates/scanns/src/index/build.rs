//! Inputs to a committed index: starts readers and index threads, gathers their segments, publishes the manifest.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::budget::lane_budget;
use super::gate::Gate;
use super::lane::{LaneIndexer, TextLane};
use super::lane_output::{LaneContext, LaneReport};
use super::ledger::{Ledger, ToDo};
use super::manifest::Manifest;
use super::merging::Merging;
use super::record_lane::RecordIndexer;
use super::records::RecordFields;
use super::what::{TextField, What};
use super::writer::Writer;
use super::{IndexOptions, IndexReport, Phase, Progress};
use crate::error::{Error, Result};
use crate::invert::InvertOptions;
use crate::read::{Lane, ReaderDriver, start_after};
use crate::schema::{Analyzer, Base, Stored};
use crate::segment::is_of_segment;
use crate::source::{Inputs, SourceOptions, collect};
use crate::store::{Directory, FsDirectory, read_newest};
use crate::sys;

/// Brings the index at `path`, which is made if there is none, up to date with the inputs, and commits.
///
/// Files that are in the index and have not changed since are left out; the documents of those that have are replaced.
/// Set `cancel` to stop: what was indexed so far is then committed, and the report says so; a later build goes on.
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
    let made = prepare_directory(path)?;
    let directory = FsDirectory::new(path);
    let outcome = build_in(&directory, options, progress, cancel);
    if made && read_newest(&directory).is_ok_and(|newest| newest.is_none()) {
        leave_nothing_behind(&directory, path);
    }
    let mut report = outcome?;
    report.seconds = begun.elapsed().as_secs_f64();
    report.peak_rss = sys::peak_resident_bytes().unwrap_or(0);
    Ok(report)
}

/// Removes a directory that was made for an index that never was one; what cannot be removed does no harm.
pub(super) fn leave_nothing_behind(directory: &FsDirectory, path: &Path) {
    if let Ok(_lock) = directory.lock() {
        let _ = directory.remove("lock");
        let _ = directory.remove("readers");
        let _ = fs::remove_dir(path);
    }
}

/// Makes sure that `path` is an index, or an empty directory; true if it had to be made.
pub(super) fn prepare_directory(path: &Path) -> Result<bool> {
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
                name == "lock" || name == "readers" || name.starts_with("manifest") || is_of_segment(name)
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
    // What was written since the last commit is in none. Where it cannot be removed, the next writer sweeps it.
    add_and_commit(&writer, options, progress, cancel).inspect_err(|_| writer.roll_back())
}

/// Writes the segments of the inputs and commits them together with those of the commit before.
fn add_and_commit(
    writer: &Writer<'_>,
    options: &IndexOptions,
    progress: &Progress,
    cancel: &Arc<AtomicBool>,
) -> Result<IndexReport> {
    // What cannot be is said before the inputs are looked for.
    let current = writer.manifest();
    let known = What::choose(current.as_ref(), options)?;
    progress.enter(Phase::Walking);
    let status = known.as_ref().is_some_and(What::has_files);
    let mut inputs = collect(&SourceOptions { status, ..options.source.clone() }, cancel)?;
    leave_out_index(writer.directory(), &mut inputs);
    let mut report =
        IndexReport { failed: inputs.failures.clone(), skipped: inputs.skipped, ..Default::default() };
    let what = match known {
        Some(known) => known,
        None => {
            let (fields, inferred) = RecordFields::infer(&inputs.inputs, options)?;
            report.records.inferred = Some(inferred);
            What::Records(fields)
        }
    };
    let stored = what.stored(current.as_ref(), options)?;
    writer.describe(|manifest| {
        let records = options.records;
        Some(match manifest {
            Some(manifest) => Manifest { records, stored, ..manifest },
            None => what.manifest(records, stored),
        })
    });
    let (ledger, to_do) = Ledger::open(writer, inputs.inputs, options.records, options.again)?;
    report.unchanged = to_do.unchanged;
    let merging = Merging::new(writer, options, ledger.spared());
    let lanes = std::thread::scope(|scope| {
        let merger = merging.start(scope)?;
        let lanes = run_lanes(&ledger, options, (&what, stored), to_do, progress, cancel, &mut report);
        report.merge_failure = merger.stop(report.cancelled || lanes.is_err()).map(|error| error.to_string());
        lanes
    })?;
    add_up(&mut report, &what, lanes);
    if !report.cancelled {
        ledger.finish(&report.failed)?;
    }
    if options.records.are_parts() {
        ledger.distrust(&report.failed);
    }
    report.replaced = ledger.replaced_documents();
    if writer.has_changed() {
        progress.enter(Phase::Committing);
        writer.commit()?;
    }
    if !report.cancelled && report.merge_failure.is_none() && !ledger.spared().is_empty() {
        // Now that the old documents of changed files are deleted, all segments may be merged.
        report.merge_failure = merging.merge_spared(cancel).map(|error| error.to_string());
        if writer.has_changed() {
            writer.commit()?;
        }
    }
    (report.bytes_written, report.index_bytes) = (writer.bytes_written(), writer.index_bytes());
    Ok(report)
}

/// Adds what index threads did to the report.
fn add_up(report: &mut IndexReport, what: &What, mut lanes: Vec<LaneReport>) {
    if let What::Records(fields) = what {
        report.records.add_up(&fields.schema, &mut lanes);
    }
    for lane in lanes {
        for segment in &lane.segments {
            report.documents += segment.stats.documents;
            report.tokens += segment.stats.tokens();
            report.segments += 1;
        }
        report.cut_terms += lane.cut_terms;
        report.flush_seconds += lane.flushing.as_secs_f64();
        report.failed.extend(lane.failures);
    }
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

/// Runs the pipeline to its end; the segments are on the medium then.
fn run_lanes(
    ledger: &Ledger<'_>,
    options: &IndexOptions,
    (what, stored): (&What, Stored),
    to_do: ToDo,
    progress: &Progress,
    cancel: &Arc<AtomicBool>,
    report: &mut IndexReport,
) -> Result<Vec<LaneReport>> {
    let done = to_do.done.values().flatten().map(|span| span.end - span.start).sum::<u64>();
    let bytes = to_do.inputs.iter().map(|input| input.bytes).sum::<u64>().saturating_sub(done);
    progress.total_bytes.store(bytes, Ordering::Relaxed);
    progress.total_files.store(to_do.inputs.len() as u64, Ordering::Relaxed);
    progress.failures.store(report.failed.len() as u64, Ordering::Relaxed);
    options.flush.buffers.check()?;
    let budget = lane_budget(options, (what.schema(), &stored), &to_do.inputs)?;
    let shared = Arc::new(to_do.inputs);
    // Readers are stopped through their own flag too, when an index thread fails.
    let stop = Arc::new(AtomicBool::new(cancel.load(Ordering::Relaxed)));
    let (driver, lanes) = start_after(
        shared.clone(),
        to_do.done,
        options.records,
        what.analyzer(),
        &options.read,
        stop.clone(),
    )?;
    let gate = Gate::new(options.flush.policy);
    let context = LaneContext {
        ledger,
        inputs: &shared,
        records: options.records,
        stored,
        budget,
        gate: &gate,
        buffers: options.flush.buffers,
        progress,
    };
    let kind = match what {
        What::Records(fields) => LaneKind::Records(fields),
        What::Text(TextField { field, analyzer, postings, files, .. }) => {
            let invert = InvertOptions {
                budget: budget.most,
                expected_terms: expected_terms(analyzer, bytes, lanes.len(), budget.first),
                pages: options.read.pages,
                postings: *postings,
            };
            let files = files.as_ref().map(|files| (files, what.schema()));
            LaneKind::Text(TextLane { field: *field, analyzer, invert, files })
        }
    };
    progress.enter(Phase::Indexing);
    let reports = index_all((context, kind), &driver, lanes, &Watch::new(options, cancel, &stop));
    let read = driver.finish();
    let (reports, cancelled) = reports?;
    let read = read?;
    report.cancelled = cancelled;
    report.bytes = read.bytes;
    report.failed.extend(read.failures);
    Ok(reports)
}

/// Terms to make room for at once: what a quarter of the text would bring if it were a metadata dump, the
/// richest in distinct terms of all that was measured (one per 60 bytes).
fn expected_terms(analyzer: &Analyzer, bytes: u64, lanes: usize, budget: usize) -> usize {
    let bytes_per_term = match analyzer.base() {
        Base::Bytes(_) | Base::Ancestors | Base::Keyword => 256,
        Base::Standard | Base::Code => 4096,
    };
    let share = usize::try_from(bytes).unwrap_or(usize::MAX) / lanes;
    (share / bytes_per_term).min(budget / 256)
}

/// Runs every index thread to its end, or stops all at the first error; commits now and then meanwhile. True if it was
/// stopped before the end of the inputs.
fn index_all(
    (context, kind): (LaneContext<'_>, LaneKind<'_>),
    driver: &ReaderDriver,
    lanes: Vec<Lane>,
    watch: &Watch<'_>,
) -> Result<(Vec<LaneReport>, bool)> {
    let failed = &AtomicBool::new(false);
    std::thread::scope(|scope| {
        let index = |lane: Lane| {
            let outcome = index_one((context, kind), lane, failed);
            if outcome.is_err() {
                failed.store(true, Ordering::Relaxed);
                watch.stop.store(true, Ordering::Relaxed);
            }
            outcome
        };
        let threads: Vec<_> = lanes.into_iter().map(|lane| scope.spawn(move || index(lane))).collect();
        // This thread keeps the time, and the counters of the readers in view.
        // A stop that was asked for before is in `watch.stop` already.
        let (mut committed, mut stopping) = ((Instant::now(), 0), watch.stop.load(Ordering::Relaxed));
        let mut outcome = Ok(());
        while threads.iter().any(|thread| !thread.is_finished()) {
            if !stopping && watch.is_over(context.progress) {
                stopping = true;
                // The numbers of lines are known only where all lines before them were read.
                match context.records.ends_with_lines() {
                    true => driver.begin_nothing(),
                    false => watch.stop.store(true, Ordering::Relaxed),
                }
            }
            context.progress.files.store(driver.files_done(), Ordering::Relaxed);
            if outcome.is_ok() && watch.commit_is_due(committed, context.progress) {
                let writer = context.ledger.writer();
                outcome = if writer.has_changed() { writer.commit() } else { Ok(()) };
                if outcome.is_err() {
                    failed.store(true, Ordering::Relaxed);
                    watch.stop.store(true, Ordering::Relaxed);
                }
                committed = (Instant::now(), context.progress.bytes());
            }
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
        let reports: Result<Vec<LaneReport>> = threads.into_iter().map(join).collect();
        outcome.and(reports).map(|reports| (reports, stopping))
    })
}

/// What an index thread makes of blocks.
#[derive(Clone, Copy)]
enum LaneKind<'a> {
    Text(TextLane<'a>),
    Records(&'a RecordFields),
}

/// Brings what a lane gives into segments. If the build is stopped, what came before is kept; if it failed, nothing.
fn index_one(
    (context, kind): (LaneContext<'_>, LaneKind<'_>),
    lane: Lane,
    failed: &AtomicBool,
) -> Result<LaneReport> {
    let give_up = || failed.load(Ordering::Relaxed);
    match kind {
        LaneKind::Text(text) => {
            let mut indexer = LaneIndexer::new(context, text)?;
            indexer.run(lane)?;
            if give_up() {
                return Ok(LaneReport::default());
            }
            context.progress.enter(Phase::Flushing);
            indexer.finish()
        }
        LaneKind::Records(fields) => {
            let mut indexer = RecordIndexer::new(context, fields)?;
            indexer.run(lane)?;
            if give_up() {
                return Ok(LaneReport::default());
            }
            context.progress.enter(Phase::Flushing);
            indexer.finish()
        }
    }
}

/// When a build stops, and when it commits.
struct Watch<'a> {
    cancel: &'a AtomicBool,
    /// Set to stop readers and index threads.
    stop: &'a AtomicBool,
    begun: Instant,
    limit: Option<Duration>,
    commit_every: Option<Duration>,
    commit_bytes: Option<u64>,
}

/// Time that a build with a limit keeps for writing its last segments, at least.
const LAST_FLUSH: Duration = Duration::from_secs(2);

impl<'a> Watch<'a> {
    fn new(options: &IndexOptions, cancel: &'a AtomicBool, stop: &'a AtomicBool) -> Self {
        let IndexOptions { time_limit: limit, commit_every, commit_bytes, .. } = *options;
        Watch { cancel, stop, begun: Instant::now(), limit, commit_every, commit_bytes }
    }

    /// True if so much time has passed, or so much been read, since the last commit that another is due.
    fn commit_is_due(&self, (at, bytes): (Instant, u64), progress: &Progress) -> bool {
        self.commit_every.is_some_and(|every| at.elapsed() >= every)
            || self.commit_bytes.is_some_and(|every| progress.bytes() - bytes >= every)
    }

    /// True if the user asks to stop, or there is just time to write down what there is.
    fn is_over(&self, progress: &Progress) -> bool {
        let spare = |limit: Duration| {
            // Half of the time that a segment took to fill, since it is written in less than that.
            let segments = u32::try_from(progress.segments()).unwrap_or(u32::MAX).saturating_add(1);
            (self.begun.elapsed() / segments / 2).max(LAST_FLUSH).min(limit / 2)
        };
        self.cancel.load(Ordering::Relaxed)
            || self.limit.is_some_and(|limit| self.begun.elapsed() + spare(limit) >= limit)
    }
}
