//! tantivy as an adapter, tuned as its experts would: one shared writer with a thread for each core, the memory that
//! was best for the kind of corpus, lines handed over in batches, and code for the processor it runs on.
//!
//! tantivy indexes text, so bytes that are no UTF-8 become replacement characters; the number of tokens stays the same.

mod terms;

use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use anyhow::{Context, Result};
use scanns_peers::adapter::{Engine, Index as Answering, TOP, bytes_written, paths, peak_bytes, serve};
use scanns_peers::protocol::{BuildTask, Built, Scoring, Unit};
use tantivy::collector::{Collector, SegmentCollector, TopDocs};
use tantivy::indexer::UserOperation;
use tantivy::query::{BooleanQuery, Occur, Query, TermQuery};
use tantivy::schema::{Field, IndexRecordOption, STORED, Schema, TextFieldIndexing, TextOptions};
use tantivy::tokenizer::TextAnalyzer;
use tantivy::{DocId, Index, IndexWriter, Score, Searcher, SegmentReader, TantivyDocument, Term};

use crate::terms::Delimited;

/// Lines that are handed to the writer at once.
const BATCH: usize = 1000;

struct Tantivy;

/// The fields of a document: its terms and, where it is a file, its path.
#[derive(Clone, Copy)]
struct Fields {
    body: Field,
    path: Field,
}

fn schema() -> (Schema, Fields) {
    let mut builder = Schema::builder();
    let indexing = TextFieldIndexing::default()
        .set_tokenizer("delimited")
        .set_index_option(IndexRecordOption::WithFreqs);
    let body = builder.add_text_field("body", TextOptions::default().set_indexing_options(indexing));
    let path = builder.add_text_field("path", STORED);
    (builder.build(), Fields { body, path })
}

/// Adds the documents of the files that are left to take, and returns the bytes of their text.
fn feed(
    writer: &IndexWriter,
    fields: Fields,
    task: &BuildTask,
    files: &[String],
    next: &AtomicUsize,
) -> Result<u64> {
    let mut bytes = 0;
    while let Some(path) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
        let text = std::fs::read(path).with_context(|| format!("cannot read {path}"))?;
        bytes += text.len() as u64;
        // Text that is UTF-8 already, and most is, is not copied.
        let text = String::from_utf8(text)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        if task.records == Unit::File {
            let mut document = TantivyDocument::default();
            document.add_text(fields.path, path);
            document.add_text(fields.body, text);
            writer.add_document(document)?;
            continue;
        }
        let mut batch = Vec::with_capacity(BATCH);
        for line in text.split_terminator('\n') {
            let mut document = TantivyDocument::default();
            document.add_text(fields.body, line);
            batch.push(UserOperation::Add(document));
            if batch.len() == BATCH {
                writer.run(std::mem::replace(&mut batch, Vec::with_capacity(BATCH)))?;
            }
        }
        writer.run(batch)?;
    }
    Ok(bytes)
}

/// Runs [`feed`] on a thread for four that index: handing over is cheap beside indexing.
fn feed_all(writer: &IndexWriter, fields: Fields, task: &BuildTask, files: &[String]) -> Result<u64> {
    let (next, bytes) = (AtomicUsize::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        let feeder = || {
            bytes.fetch_add(feed(writer, fields, task, files, &next)?, Ordering::Relaxed);
            anyhow::Ok(())
        };
        let feeders: Vec<_> = (0..task.threads.div_ceil(4)).map(|_| scope.spawn(feeder)).collect();
        let join = |thread: std::thread::ScopedJoinHandle<_>| {
            thread.join().unwrap_or_else(|_| Err(anyhow::anyhow!("a thread that feeds the writer panicked")))
        };
        feeders.into_iter().try_for_each(join)
    })?;
    Ok(bytes.into_inner())
}

fn register(index: &Index) {
    index.tokenizers().register("delimited", TextAnalyzer::builder(Delimited::default()).build());
}

/// Tokens of all documents, as the index counts them.
fn tokens(searcher: &Searcher, body: Field) -> Result<u64> {
    let of = |segment: &SegmentReader| anyhow::Ok(segment.inverted_index(body)?.total_num_tokens());
    searcher.segment_readers().iter().map(of).sum()
}

impl Engine for Tantivy {
    type Index = Opened;

    fn build(&self, task: &BuildTask) -> Result<Built> {
        let files = paths(&task.files)?;
        let written = bytes_written();
        let begin = Instant::now();
        let (schema, fields) = schema();
        let index = Index::create_in_dir(&task.out, schema)?;
        register(&index);
        let budget = (task.buffer_mib << 20) * task.threads;
        let mut writer: IndexWriter = index.writer_with_num_threads(task.threads, budget)?;
        let bytes = feed_all(&writer, fields, task, &files)?;
        writer.commit()?;
        let seconds = begin.elapsed().as_secs_f64();
        writer.wait_merging_threads()?;
        let rest_seconds = begin.elapsed().as_secs_f64();
        let bytes_written = bytes_written() - written;

        let searcher = index.reader()?.searcher();
        Ok(Built {
            documents: searcher.num_docs(),
            tokens: tokens(&searcher, fields.body)?,
            bytes,
            seconds,
            rest_seconds,
            segments: searcher.segment_readers().len() as u64,
            bytes_written,
            peak_bytes: peak_bytes(),
        })
    }

    fn open(&self, directory: &Path, scoring: Scoring) -> Result<Opened> {
        anyhow::ensure!(scoring == Scoring::Bm25, "tantivy scores by BM25 only");
        let index = Index::open_in_dir(directory)?;
        register(&index);
        let body = index.schema().get_field("body")?;
        Ok(Opened { searcher: index.reader()?.searcher(), body })
    }
}

/// An index that is open.
struct Opened {
    searcher: Searcher,
    body: Field,
}

impl Answering for Opened {
    type Query = Box<dyn Query>;

    fn documents(&self) -> u64 {
        self.searcher.num_docs()
    }

    fn segments(&self) -> u64 {
        self.searcher.segment_readers().len() as u64
    }

    fn query(&self, all: bool, terms: &[&str]) -> Result<Box<dyn Query>> {
        let occur = if all { Occur::Must } else { Occur::Should };
        let term = |text: &&str| -> Box<dyn Query> {
            Box::new(TermQuery::new(Term::from_field_text(self.body, text), IndexRecordOption::WithFreqs))
        };
        Ok(match terms {
            [only] => term(only),
            terms => Box::new(BooleanQuery::new(terms.iter().map(|text| (occur, term(text))).collect())),
        })
    }

    fn best(&self, query: &Box<dyn Query>) -> Result<Vec<f32>> {
        let hits = self.searcher.search(query, &TopDocs::with_limit(TOP).order_by_score())?;
        Ok(hits.into_iter().map(|(score, _)| score).collect())
    }

    fn all(&self, query: &Box<dyn Query>) -> Result<usize> {
        Ok(self.searcher.search(query, &Everything)?.iter().map(Vec::len).sum())
    }
}

/// Gathers all hits with their scores, by segment and in no order.
struct Everything;

/// The hits of one segment.
struct InSegment(Vec<(DocId, Score)>);

impl Collector for Everything {
    type Fruit = Vec<Vec<(DocId, Score)>>;
    type Child = InSegment;

    fn for_segment(&self, _: u32, _: &SegmentReader) -> tantivy::Result<InSegment> {
        Ok(InSegment(Vec::with_capacity(1024)))
    }

    fn requires_scoring(&self) -> bool {
        true
    }

    fn merge_fruits(&self, segments: Self::Fruit) -> tantivy::Result<Self::Fruit> {
        Ok(segments)
    }
}

impl SegmentCollector for InSegment {
    type Fruit = Vec<(DocId, Score)>;

    fn collect(&mut self, doc: DocId, score: Score) {
        self.0.push((doc, score));
    }

    fn harvest(self) -> Self::Fruit {
        self.0
    }
}

fn main() -> Result<()> {
    serve(&Tantivy)
}
