//! Starts readers and index threads for the inputs of a build, and waits for their segments.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::ScopedJoinHandle;
use std::time::Duration;

use super::budget::lane_budget;
use super::document_source::{DocumentSource, TextField};
use super::file_fields::EntrySource;
use super::formed_document::ExtractCall;
use super::lane::index_lane;
use super::lane_output::LaneContext;
use super::lane_report::LaneReport;
use super::lane_segments::SegmentContext;
use super::options::IndexOptions;
use super::record_fields::RecordFields;
use super::record_lane::RecordIndexer;
use super::text_lane::{FileColumns, TextIndexer, TextJob};
use super::watch::Watch;
use crate::content::{ContentOptions, Extraction};
use crate::error::{Error, Result};
use crate::index::commit::ledger::{Ledger, RemainingInputs};
use crate::index::progress::{Phase, Progress};
use crate::invert::InvertOptions;
use crate::read::{Lane, ReadOptions, ReadReport, ReaderDriver, Rules, start_after};
use crate::record::{COLLECTIONS, contents_of_records};
use crate::schema::{Analyzer, Base, Stored};

/// Time between two looks at the threads.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// The arguments of a build.
#[derive(Clone, Copy)]
pub(crate) struct BuildCall<'a> {
    pub(crate) options: &'a IndexOptions,
    pub(crate) progress: &'a Progress,
    pub(crate) cancel: &'a Arc<AtomicBool>,
}

/// What readers and index threads did.
pub(crate) struct ThreadsReport {
    pub(crate) lanes: Vec<LaneReport>,
    pub(crate) read: ReadReport,
    /// True if the build was stopped before the end of the inputs.
    pub(crate) cancelled: bool,
}

/// Indexes the inputs `remaining`. All segments are durable afterwards.
pub(crate) fn index_inputs(
    call: BuildCall<'_>,
    ledger: &Ledger<'_>,
    source: &DocumentSource,
    stored: Stored,
    contents: ContentOptions,
    remaining: RemainingInputs,
) -> Result<ThreadsReport> {
    let BuildCall { options, progress, cancel } = call;
    let done = remaining.parts.done.values().flatten().map(|span| span.end - span.start).sum::<u64>();
    let bytes = remaining.inputs.iter().map(|input| input.bytes).sum::<u64>().saturating_sub(done);
    progress.total_bytes.store(bytes, Ordering::Relaxed);
    progress.total_files.store(remaining.inputs.len() as u64, Ordering::Relaxed);
    options.buffers.check()?;
    let contents = contents_for(contents, options);
    let tables = options.read.tables.in_index(options.records, stored.store);
    let budget = lane_budget(options, source.schema(), &stored, &remaining.inputs)?;
    let inputs = Arc::new(remaining.inputs);
    // Readers have their own flag, because they are also stopped when an index thread fails.
    let stop = Arc::new(AtomicBool::new(cancel.load(Ordering::Relaxed)));
    let rules = Rules {
        records: options.records,
        analyzer: source.analyzer().clone(),
        cuts: source.cuts(options.records),
    };
    let (driver, lanes) = start_after(
        inputs.clone(),
        remaining.parts,
        rules,
        &ReadOptions { contents, tables, collections: Some(&COLLECTIONS), ..options.read.clone() },
        stop.clone(),
    )?;
    let context = LaneContext {
        ledger,
        inputs: &inputs,
        records: options.records,
        stored,
        languages: contents.languages,
        sketch: contents.sketch_field(source.schema()),
        segments: SegmentContext { writer: ledger.writer(), budget, buffers: options.buffers, progress },
    };
    let from = EntrySource::of_scan(&options.source.paths);
    let job = match source {
        DocumentSource::Records(fields) => LaneJob::Records(fields),
        DocumentSource::Text(TextField { field, analyzer, postings, files, .. }) => {
            let invert = InvertOptions {
                budget: budget.most,
                expected_terms: expected_terms(analyzer, bytes, lanes.len(), budget.first),
                pages: options.read.pages,
                postings: *postings,
            };
            let files = files.as_ref().map(|fields| FileColumns { fields, from: &from });
            let (schema, cancel) = (source.schema(), &stop);
            // The path may lead to another file by then.
            let reopens = !source.has_access();
            let extractors = options.extractors.as_deref();
            let extractors = extractors.map(|extractors| ExtractCall { extractors, cancel, reopens });
            LaneJob::Text(TextJob { field: *field, schema, analyzer, invert, files, extractors })
        }
    };
    progress.enter(Phase::Indexing);
    let mut watch = Watch::new(options, cancel, &stop);
    let indexed =
        IndexThreads { context, job, failed: AtomicBool::new(false) }.run(&driver, lanes, &mut watch);
    let read = driver.finish();
    let (lanes, cancelled) = indexed?;
    Ok(ThreadsReport { lanes, read: read?, cancelled })
}

/// What to do with the content of files in this build. There may be no extractors.
fn contents_for(contents: ContentOptions, options: &IndexOptions) -> ContentOptions {
    let contents = contents_of_records(contents, options.records);
    match contents.extract {
        Extraction::All if options.extractors.is_none() => {
            ContentOptions { extract: Extraction::Safe, ..contents }
        }
        _ => contents,
    }
}

/// The number of terms to make room for at the start: the terms of a quarter of the text if it were a
/// metadata dump, which of all measured text is the richest in distinct terms (one per 60 bytes).
fn expected_terms(analyzer: &Analyzer, bytes: u64, lanes: usize, budget: usize) -> usize {
    let bytes_per_term = match analyzer.base() {
        Base::Bytes(_) | Base::Ancestors | Base::Keyword => 256,
        Base::Standard | Base::Code => 4096,
    };
    let share = usize::try_from(bytes).unwrap_or(usize::MAX) / lanes;
    (share / bytes_per_term).min(budget / 256)
}

/// What an index thread does with blocks.
#[derive(Clone, Copy)]
enum LaneJob<'a> {
    Text(TextJob<'a>),
    Records(&'a RecordFields),
}

/// The index threads of a build.
struct IndexThreads<'a> {
    context: LaneContext<'a>,
    job: LaneJob<'a>,
    /// True once a thread or a commit failed.
    failed: AtomicBool,
}

impl IndexThreads<'_> {
    /// Runs every index thread to its end, or stops all at the first error, and commits whenever a commit is
    /// due. The boolean is true if the build was stopped before the end of the inputs.
    fn run(
        &self,
        driver: &ReaderDriver,
        lanes: Vec<Lane>,
        watch: &mut Watch<'_>,
    ) -> Result<(Vec<LaneReport>, bool)> {
        let stop = watch.stop_flag();
        std::thread::scope(|scope| {
            let fail = || {
                self.failed.store(true, Ordering::Relaxed);
                stop.store(true, Ordering::Relaxed);
            };
            let start = |lane| {
                let work = move || self.index(lane).inspect_err(|_| fail());
                std::thread::Builder::new().name("scanns-index".into()).spawn_scoped(scope, work)
            };
            let (mut threads, mut refused) = (Vec::with_capacity(lanes.len()), None);
            for lane in lanes {
                match start(lane) {
                    Ok(thread) => threads.push(thread),
                    Err(source) => {
                        // The other lanes are dropped, which ends their readers.
                        fail();
                        refused = Some(Error::System {
                            action: "start an index thread",
                            source,
                            remedy: "raise the limits (ulimit -u, ulimit -v) or use fewer threads",
                        });
                        break;
                    }
                }
            }
            let watched = self.watch(&threads, driver, watch);
            let join = |thread: ScopedJoinHandle<'_, Result<LaneReport>>| {
                thread.join().unwrap_or_else(|payload| Err(Error::panicked("an index thread", &*payload)))
            };
            let reports: Result<Vec<LaneReport>> = threads.into_iter().map(join).collect();
            if let Some(error) = refused {
                return Err(error);
            }
            let stopped = watched?;
            reports.map(|reports| (reports, stopped))
        })
    }

    fn index(&self, lane: Lane) -> Result<LaneReport> {
        let (context, progress) = (self.context, self.context.segments.progress);
        match self.job {
            LaneJob::Text(job) => index_lane(TextIndexer::new(context, job)?, lane, progress, &self.failed),
            LaneJob::Records(fields) => {
                index_lane(RecordIndexer::new(context, fields)?, lane, progress, &self.failed)
            }
        }
    }

    /// Updates the clock and the count of files until all threads have ended. Returns true if the build was
    /// stopped.
    fn watch(
        &self,
        threads: &[ScopedJoinHandle<'_, Result<LaneReport>>],
        driver: &ReaderDriver,
        watch: &mut Watch<'_>,
    ) -> Result<bool> {
        let progress = self.context.segments.progress;
        // A stop that was requested before the build began is set already.
        let mut stopping = watch.is_stopped();
        let mut outcome = Ok(());
        while threads.iter().any(|thread| !thread.is_finished()) {
            if !stopping && watch.is_over(progress) {
                stopping = true;
                if self.context.records.ends_with_lines() {
                    // The numbers of lines are known only if all lines before them were read.
                    driver.begin_nothing();
                } else {
                    watch.stop();
                }
            }
            progress.files.store(driver.files_done(), Ordering::Relaxed);
            progress.bytes.store(driver.bytes_done(), Ordering::Relaxed);
            if outcome.is_ok() && watch.commit_is_due(progress) {
                outcome = self.context.ledger.commit();
                if outcome.is_err() {
                    self.failed.store(true, Ordering::Relaxed);
                    watch.stop();
                }
                watch.committed(progress);
            }
            std::thread::park_timeout(LOOK_EVERY);
        }
        outcome.map(|()| stopping)
    }
}
