//! The adapter for scanns, with the defaults of its command line.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result, bail, ensure};
use scanns::index::{IndexOptions, IndexReport, MergeOptions, Progress};

use scanns::schema::{Field, FieldEntry, FieldKind, Postings, Records, Schema, Store};
use scanns::search::{Model, Searcher};
use scanns::sources::{FieldOptions, FileList, ListFrom, ReadOptions, Separator, SourceOptions, Sources};
use scanns::writer::StoredOptions;
use scanns::{Hit, Query, Snapshot};
use scanns_peers::adapter::{Engine, Index, peak_bytes, serve};
use scanns_peers::contents::Digest;
use scanns_peers::form::Form;
use scanns_peers::protocol::{BuildTask, Built, Contents, Kept, Merged, Scoring, Unit};

thread_local! {
    /// Buffers for all hits of a query, segment by segment: documents and scores. The next query reuses them,
    /// as in the other adapters.
    static ALL: RefCell<(Vec<u32>, Vec<f32>)> = const { RefCell::new((Vec::new(), Vec::new())) };
}

struct Scanns;

struct Opened {
    searcher: Searcher<'static>,
    snapshot: &'static Snapshot,
    model: Model,
}

/// The defaults of the command line, with what the task keeps.
fn options(task: &BuildTask) -> Result<IndexOptions> {
    // One read thread for every four lanes, as in the command line.
    let most = task.threads.div_ceil(4);
    let read_threads = (1..=most).rev().find(|&read| task.threads.is_multiple_of(read)).unwrap_or(1);
    Ok(IndexOptions {
        source: SourceOptions { threads: task.threads + read_threads, ..SourceOptions::default() },
        read: ReadOptions { lanes: task.threads, read_threads, ..ReadOptions::default() },
        records: match task.records {
            Unit::File => Records::File,
            Unit::Line => Records::Lines,
            Unit::Json => Records::Jsonl,
        },
        fields: FieldOptions {
            metadata: Some(false),
            schema: (task.records == Unit::Json).then(|| schema(task)).transpose()?,
            ..FieldOptions::default()
        },
        analyzer: Some(task.analyzer.of_scanns()?),
        postings: Some(if task.kept.positions { Postings::Positions } else { Postings::Frequencies }),
        stored: StoredOptions {
            store: Some(if task.kept.stored { Store::Content } else { Store::None }),
            compression: None,
            vectors: Some(task.kept.vectors),
        },
        commit_every: None,
        ..IndexOptions::default()
    })
}

/// The fields of JSON: the text first, then two columns that are not searched.
fn schema(task: &BuildTask) -> Result<(Schema, Sources)> {
    let postings = if task.kept.positions { Postings::Positions } else { Postings::Frequencies };
    let text = FieldKind::Text { analyzer: task.analyzer.of_scanns()?, postings };
    let mut schema = Schema::new();
    schema.add(FieldEntry::new("text", text))?;
    for (name, kind) in [("path", FieldKind::Keyword), ("bytes", FieldKind::Unsigned)] {
        schema.add(FieldEntry { searched: false, ..FieldEntry::new(name, kind).column() })?;
    }
    let sources = Sources::of(&schema);
    Ok((schema, sources))
}

/// Reads the stored text back and returns its digest, or none if no text is stored.
fn contents(snapshot: &Snapshot, kept: Kept) -> Result<Option<Contents>> {
    if !kept.stored {
        return Ok(None);
    }
    let mut digest = Digest::default();
    for (leaf, segment) in snapshot.segments().iter().enumerate() {
        for doc in 0..u32::try_from(segment.documents)? {
            let text = snapshot.document(&Hit { score: 0.0, leaf, doc })?;
            digest.add(&text.context("a document has no stored text")?);
        }
    }
    Ok(Some(digest.finish()))
}

/// Adds the files in `list` to the index at `out`, which is created if it does not exist.
fn build(out: &Path, options: &IndexOptions, list: &Path) -> Result<IndexReport> {
    let list = FileList { from: ListFrom::Path(list.into()), separator: Separator::Nul };
    let source = SourceOptions { files_from: Some(list), ..options.source.clone() };
    let options = IndexOptions { source, ..options.clone() };
    let report =
        scanns::Index::at(out).build(&options, &Progress::new(), &Arc::new(AtomicBool::new(false)))?;
    if let Some(failure) = report.failed.first() {
        bail!("{} inputs failed, first {failure:?}", report.failed.len());
    }
    Ok(report)
}

impl Engine for Scanns {
    type Index = Opened;

    fn build(&self, task: &BuildTask) -> Result<Built> {
        let options = options(task)?;
        let reports = if task.segments == 0 {
            vec![build(&task.out, &options, &task.files)?]
        } else {
            // One lane with the whole memory budget, so that each build writes one segment.
            let read = ReadOptions { lanes: 1, read_threads: 1, ..options.read.clone() };
            let options = IndexOptions { read, segment_memory: Some(options.memory), merge: None, ..options };
            task.shares().iter().map(|list| build(&task.out, &options, list)).collect::<Result<_>>()?
        };
        let sum = |of: fn(&IndexReport) -> u64| reports.iter().map(of).sum::<u64>();
        let snapshot = Snapshot::open(&task.out)?;
        let (info, tokens) = (snapshot.info(), sum(|report| report.tokens));
        ensure!(info.tokens == tokens, "{tokens} tokens were added, but the index has {}", info.tokens);
        let seconds = reports.iter().map(|report| report.seconds).sum();
        Ok(Built {
            documents: info.documents,
            tokens,
            bytes: sum(|report| report.bytes),
            seconds,
            rest_seconds: seconds,
            segments: snapshot.segments().len() as u64,
            bytes_written: sum(|report| report.bytes_written),
            peak_bytes: reports.iter().map(|report| report.peak_rss).max().unwrap_or(0),
            contents: contents(&snapshot, task.kept)?,
        })
    }

    fn merge(&self, directory: &Path, kept: Kept) -> Result<Merged> {
        let before = Snapshot::open(directory)?.info().index_bytes;
        let report = scanns::Index::open(directory)?.merge(
            &MergeOptions::default(),
            &Progress::new(),
            &AtomicBool::new(false),
        )?;
        let peak_bytes = peak_bytes();
        let snapshot = Snapshot::open(directory)?;
        let info = snapshot.info();
        Ok(Merged {
            documents: info.documents,
            tokens: info.tokens,
            segments_before: report.before as u64,
            segments: snapshot.segments().len() as u64,
            bytes_before: before,
            bytes_after: info.index_bytes,
            seconds: report.seconds,
            bytes_written: report.bytes_written,
            peak_bytes,
            contents: contents(&snapshot, kept)?,
        })
    }

    fn open(&self, directory: &Path, scoring: Scoring) -> Result<Opened> {
        // The snapshot may live until the process ends, which is after the last query.
        let snapshot = Box::leak(Box::new(Snapshot::open(directory)?));
        Ok(Opened { searcher: snapshot.searcher(), snapshot, model: scoring.of_scanns() })
    }
}

impl Index for Opened {
    type Query = Query;

    fn documents(&self) -> u64 {
        self.searcher.documents()
    }

    fn segments(&self) -> u64 {
        self.snapshot.segments().len() as u64
    }

    fn query(&self, form: &Form) -> Result<Query> {
        Ok(form.to_scanns())
    }

    fn best(&self, query: &Query, k: usize) -> Result<Vec<f32>> {
        let hits = self.searcher.top_k(query, self.model, k)?;
        Ok(hits.iter().map(|hit| hit.score).collect())
    }

    fn count(&self, query: &Query) -> Result<usize> {
        Ok(usize::try_from(self.searcher.count(query)?)?)
    }

    fn all(&self, query: &Query) -> Result<usize> {
        ALL.with_borrow_mut(|(all_docs, all_scores)| {
            all_docs.clear();
            all_scores.clear();
            self.searcher.for_each_batch(query, self.model, |_, docs, scores| {
                all_docs.extend_from_slice(docs);
                all_scores.extend_from_slice(scores);
                ControlFlow::Continue(())
            })?;
            Ok(std::hint::black_box(&*all_docs).len().min(std::hint::black_box(&*all_scores).len()))
        })
    }

    fn positions(&self, term: &str) -> Result<(u64, u64)> {
        let mut hits = Vec::new();
        self.searcher.for_each(&Query::term(Field::default(), term), self.model, |hit| {
            hits.push(hit);
            ControlFlow::Continue(())
        })?;
        let mut sum = 0;
        for hit in &hits {
            let found = self.snapshot.positions(hit, term.as_bytes())?;
            sum += found.iter().map(|&position| u64::from(position) + 1).sum::<u64>();
        }
        Ok((hits.len() as u64, sum))
    }
}

fn main() -> Result<()> {
    serve(&Scanns)
}
