//! scanns as an adapter, with the defaults of its command.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Result, ensure};
use scanns::{
    Analyzer, BoolQuery, FileList, IndexOptions, ListFrom, Model, Progress, Query, ReadOptions, Records,
    SEGMENT_MEMORY, Searcher, Separator, Snapshot, SourceOptions,
};
use scanns_peers::adapter::{Engine, Index, TOP, serve};
use scanns_peers::protocol::{BuildTask, Built, Scoring, Unit};

struct Scanns;

struct Opened {
    searcher: Searcher<'static>,
    segments: usize,
    model: Model,
}

impl Engine for Scanns {
    type Index = Opened;

    fn build(&self, task: &BuildTask) -> Result<Built> {
        let list = FileList { from: ListFrom::Path(task.files.clone()), separator: Separator::Nul };
        // A read thread for four that index, as the command has them.
        let most = task.threads.div_ceil(4);
        let read_threads = (1..=most).rev().find(|&read| task.threads.is_multiple_of(read)).unwrap_or(1);
        let options = IndexOptions {
            source: SourceOptions {
                files_from: Some(list),
                threads: task.threads + read_threads,
                ..SourceOptions::default()
            },
            read: ReadOptions { lanes: task.threads, read_threads, ..ReadOptions::default() },
            records: if task.records == Unit::Line { Records::Lines } else { Records::File },
            analyzer: Some(Analyzer::parse("paths")?),
            postings: None,
            stored: scanns::StoredOptions::default(),
            memory: scanns::memory_limit_bytes().map_or(1 << 30, |limit| limit / 2),
            segment_memory: SEGMENT_MEMORY,
            flush: scanns::FlushOptions::default(),
            merge: Some(scanns::MergePolicy::default()),
            again: false,
            commit_every: None,
            time_limit: None,
        };
        let report = scanns::build(&task.out, &options, &Progress::new(), &Arc::new(AtomicBool::new(false)))?;
        if let Some(failure) = report.failed.first() {
            anyhow::bail!("{} inputs failed, first {failure:?}", report.failed.len());
        }
        let info = Snapshot::open(&task.out)?.info();
        ensure!(info.tokens == report.tokens, "{} tokens went in, {} are there", report.tokens, info.tokens);
        Ok(Built {
            documents: info.documents,
            tokens: info.tokens,
            bytes: report.bytes,
            seconds: report.seconds,
            rest_seconds: report.seconds,
            segments: report.segments as u64,
            bytes_written: report.bytes_written,
            peak_bytes: report.peak_rss,
        })
    }

    fn open(&self, directory: &Path, scoring: Scoring) -> Result<Opened> {
        let model = match scoring {
            Scoring::Bm25 => Model::Bm25 { k1: 1.2, b: 0.75 },
            Scoring::Classic => Model::Classic,
        };
        // The process ends with the last query, and so may the snapshot.
        let snapshot = Box::leak(Box::new(Snapshot::open(directory)?));
        Ok(Opened { searcher: snapshot.searcher(), segments: snapshot.segments().len(), model })
    }
}

impl Index for Opened {
    type Query = Query;

    fn documents(&self) -> u64 {
        self.searcher.stats().documents
    }

    fn segments(&self) -> u64 {
        self.segments as u64
    }

    fn query(&self, all: bool, terms: &[&str]) -> Result<Query> {
        let mut terms: Vec<_> = terms.iter().map(|term| Query::Term(term.as_bytes().to_vec())).collect();
        Ok(match (terms.len(), all) {
            (1, _) => terms.remove(0),
            (_, true) => Query::Bool(BoolQuery { must: terms, ..BoolQuery::default() }),
            (_, false) => Query::Bool(BoolQuery { should: terms, ..BoolQuery::default() }),
        })
    }

    fn best(&self, query: &Query) -> Result<Vec<f32>> {
        let hits = self.searcher.top_k(query, self.model, TOP)?;
        Ok(hits.iter().map(|hit| hit.score).collect())
    }

    fn all(&self, query: &Query) -> Result<usize> {
        let mut hits = Vec::with_capacity(1024);
        self.searcher.for_each(query, self.model, |hit| {
            hits.push((hit.leaf, hit.doc, hit.score));
            ControlFlow::Continue(())
        })?;
        Ok(std::hint::black_box(hits).len())
    }
}

fn main() -> Result<()> {
    serve(&Scanns)
}
