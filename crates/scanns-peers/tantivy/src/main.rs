//! The adapter for tantivy, tuned as its experts would: one shared writer with a thread for each core, the
//! fastest buffer size for each kind of corpus, lines added in batches, and code compiled for the processor
//! of this machine.
//!
//! tantivy indexes text, so invalid UTF-8 is replaced by replacement characters. The number of tokens stays
//! the same. Stored text is in the default document store, which compresses blocks with lz4 on a separate
//! thread. tantivy has no term vectors.

use std::cell::RefCell;
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use anyhow::{Context, Result};
use peer_tantivy::queries;
use peer_tantivy::terms::Delimited;
use peer_tantivy::words::Words;
use scanns_peers::adapter::{Engine, Index as Answering, bytes_written, peak_bytes, serve};
use scanns_peers::analyzer::AnalyzerName;
use scanns_peers::contents::Digest;
use scanns_peers::engine::bytes_below;
use scanns_peers::form::Form;
use scanns_peers::protocol::{BuildTask, Built, Contents, Kept, Merged, Scoring, Unit};
use scanns_peers::texts::{Record, paths};
use tantivy::collector::{Collector, Count, SegmentCollector, TopDocs};
use tantivy::indexer::{NoMergePolicy, UserOperation};
use tantivy::postings::Postings;
use tantivy::query::Query;
use tantivy::schema::{
    FAST, Field, IndexRecordOption, STORED, Schema, TextFieldIndexing, TextOptions, Value,
};
use tantivy::tokenizer::TextAnalyzer;
use tantivy::{
    DocId, DocSet, Index, IndexWriter, Score, Searcher, SegmentReader, TERMINATED, TantivyDocument, Term,
};

/// The number of lines that are added to the writer at once.
const BATCH: usize = 1000;

struct Tantivy;

/// The fields of a document: its text and, if the document is a file, its path.
#[derive(Clone, Copy)]
struct Fields {
    body: Field,
    path: Field,
    bytes: Field,
}

fn schema(task: &BuildTask) -> (Schema, Fields) {
    let BuildTask { kept, analyzer, records, .. } = *task;
    let mut builder = Schema::builder();
    let postings =
        if kept.positions { IndexRecordOption::WithFreqsAndPositions } else { IndexRecordOption::WithFreqs };
    let indexing =
        TextFieldIndexing::default().set_tokenizer(&analyzer.to_string()).set_index_option(postings);
    let body = TextOptions::default().set_indexing_options(indexing);
    let body = builder.add_text_field("body", if kept.stored { body.set_stored() } else { body });
    // Lines of JSON have columns, and no engine stores them besides.
    let (path, bytes) = if records == Unit::Json {
        let column = TextOptions::default().set_fast("raw");
        (builder.add_text_field("path", column), builder.add_u64_field("bytes", FAST))
    } else {
        let path = builder.add_text_field("path", STORED);
        (path, path)
    };
    (builder.build(), Fields { body, path, bytes })
}

/// Takes files from `next` on until none are left, adds their documents, and returns the bytes of their text.
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
        // Valid UTF-8, which is the usual case, is not copied.
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
            batch.push(UserOperation::Add(document(line, fields, task.records)?));
            if batch.len() == BATCH {
                writer.run(std::mem::replace(&mut batch, Vec::with_capacity(BATCH)))?;
            }
        }
        writer.run(batch)?;
    }
    Ok(bytes)
}

/// The document of a line.
fn document(line: &str, fields: Fields, records: Unit) -> Result<TantivyDocument> {
    let mut document = TantivyDocument::default();
    if records == Unit::Json {
        let record: Record = serde_json::from_str(line).context("a line is not JSON")?;
        document.add_text(fields.path, record.path);
        document.add_u64(fields.bytes, record.bytes);
        document.add_text(fields.body, record.text);
    } else {
        document.add_text(fields.body, line);
    }
    Ok(document)
}

/// Runs [`feed`] on one thread for every four indexing threads, because adding is cheap compared to indexing.
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

/// Registers the tokenizers by the names of [`AnalyzerName`].
fn register(index: &Index) -> Result<()> {
    let tokenizers = index.tokenizers();
    let add = |name: AnalyzerName, analyzer: TextAnalyzer| tokenizers.register(&name.to_string(), analyzer);
    add(AnalyzerName::Delimited, TextAnalyzer::builder(Delimited::with_slash()).build());
    add(AnalyzerName::Whitespace, TextAnalyzer::builder(Delimited::white_space()).build());
    add(AnalyzerName::Standard, TextAnalyzer::builder(Words::standard()).build());
    add(AnalyzerName::English, TextAnalyzer::builder(Words::english()?).build());
    add(AnalyzerName::Code, TextAnalyzer::builder(Words::code()).build());
    Ok(())
}

/// The number of tokens in all documents, from the statistics of the index.
fn tokens(searcher: &Searcher, body: Field) -> Result<u64> {
    let of = |segment: &SegmentReader| anyhow::Ok(segment.inverted_index(body)?.total_num_tokens());
    searcher.segment_readers().iter().map(of).sum()
}

/// Reads the stored text back and returns its digest, or none if no text is stored.
fn contents(searcher: &Searcher, body: Field, kept: Kept) -> Result<Option<Contents>> {
    if !kept.stored {
        return Ok(None);
    }
    let mut digest = Digest::default();
    for segment in searcher.segment_readers() {
        for document in segment.get_store_reader(1)?.iter::<TantivyDocument>(None) {
            let document = document?;
            let text = document.get_first(body).and_then(|value| value.as_str());
            digest.add(text.context("a document has no stored text")?.as_bytes());
        }
    }
    Ok(Some(digest.finish()))
}

/// Adds all files as fast as possible and commits. Returns the bytes of the text.
fn fill(writer: &mut IndexWriter, fields: Fields, task: &BuildTask) -> Result<u64> {
    let bytes = feed_all(writer, fields, task, &paths(&task.files)?)?;
    writer.commit()?;
    Ok(bytes)
}

/// Adds the files of each share and commits them as one segment. Returns the bytes of the text.
fn fill_shares(writer: &mut IndexWriter, fields: Fields, task: &BuildTask) -> Result<u64> {
    writer.set_merge_policy(Box::new(NoMergePolicy));
    let mut bytes = 0;
    for list in task.shares() {
        bytes += feed(writer, fields, task, &paths(&list)?, &AtomicUsize::new(0))?;
        writer.commit()?;
    }
    Ok(bytes)
}

impl Engine for Tantivy {
    type Index = Opened;

    fn build(&self, task: &BuildTask) -> Result<Built> {
        anyhow::ensure!(!task.kept.vectors, "tantivy has no term vectors");
        let written = bytes_written();
        let begin = Instant::now();
        let (schema, fields) = schema(task);
        let index = Index::create_in_dir(&task.out, schema)?;
        register(&index)?;
        let threads = if task.segments == 0 { task.threads } else { 1 };
        let mut writer = index.writer_with_num_threads(threads, (task.buffer_mib << 20) * threads)?;
        let fill = if task.segments == 0 { fill } else { fill_shares };
        let bytes = fill(&mut writer, fields, task)?;
        let seconds = begin.elapsed().as_secs_f64();
        writer.wait_merging_threads()?;
        let rest_seconds = begin.elapsed().as_secs_f64();
        let (bytes_written, peak_bytes) = (bytes_written() - written, peak_bytes());

        let searcher = index.reader()?.searcher();
        Ok(Built {
            documents: searcher.num_docs(),
            tokens: tokens(&searcher, fields.body)?,
            bytes,
            seconds,
            rest_seconds,
            segments: searcher.segment_readers().len() as u64,
            bytes_written,
            peak_bytes,
            contents: contents(&searcher, fields.body, task.kept)?,
        })
    }

    fn merge(&self, directory: &Path, kept: Kept) -> Result<Merged> {
        let (bytes_before, written) = (bytes_below(directory)?, bytes_written());
        let begin = Instant::now();
        let index = Index::open_in_dir(directory)?;
        register(&index)?;
        // The writer gets no documents, so the minimum budget is enough.
        let mut writer: IndexWriter = index.writer_with_num_threads(1, 15_000_000)?;
        writer.set_merge_policy(Box::new(NoMergePolicy));
        let segments = index.searchable_segment_ids()?;
        // This commits the merged segment and removes the files of its sources.
        writer.merge(&segments).wait()?;
        let seconds = begin.elapsed().as_secs_f64();
        writer.wait_merging_threads()?;
        let (bytes_written, peak_bytes) = (bytes_written() - written, peak_bytes());

        let searcher = index.reader()?.searcher();
        let body = index.schema().get_field("body")?;
        Ok(Merged {
            documents: searcher.num_docs(),
            tokens: tokens(&searcher, body)?,
            segments_before: segments.len() as u64,
            segments: searcher.segment_readers().len() as u64,
            bytes_before,
            bytes_after: bytes_below(directory)?,
            seconds,
            bytes_written,
            peak_bytes,
            contents: contents(&searcher, body, kept)?,
        })
    }

    fn open(&self, directory: &Path, scoring: Scoring) -> Result<Opened> {
        anyhow::ensure!(scoring == Scoring::Bm25, "tantivy supports only BM25");
        let index = Index::open_in_dir(directory)?;
        register(&index)?;
        let body = index.schema().get_field("body")?;
        Ok(Opened { searcher: index.reader()?.searcher(), body })
    }
}

/// An open index.
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

    fn query(&self, form: &Form) -> Result<Box<dyn Query>> {
        queries::query(form, self.body)
    }

    fn best(&self, query: &Box<dyn Query>, k: usize) -> Result<Vec<f32>> {
        let hits = self.searcher.search(query, &TopDocs::with_limit(k).order_by_score())?;
        Ok(hits.into_iter().map(|(score, _)| score).collect())
    }

    fn count(&self, query: &Box<dyn Query>) -> Result<usize> {
        Ok(self.searcher.search(query, &Count)?)
    }

    fn all(&self, query: &Box<dyn Query>) -> Result<usize> {
        let found = self.searcher.search(query, &Everything)?;
        let count = found.iter().map(Vec::len).sum();
        USED.with_borrow_mut(|used| used.extend(std::hint::black_box(found)));
        Ok(count)
    }

    fn positions(&self, term: &str) -> Result<(u64, u64)> {
        let term = Term::from_field_text(self.body, term);
        let (mut documents, mut sum, mut found) = (0, 0, Vec::new());
        for segment in self.searcher.segment_readers() {
            let inverted = segment.inverted_index(self.body)?;
            let postings = inverted.read_postings(&term, IndexRecordOption::WithFreqsAndPositions)?;
            let Some(mut postings) = postings else { continue };
            while postings.doc() != TERMINATED {
                postings.positions(&mut found);
                documents += 1;
                sum += found.iter().map(|&position| u64::from(position) + 1).sum::<u64>();
                postings.advance();
            }
        }
        Ok((documents, sum))
    }
}

thread_local! {
    /// Buffers for the hits of segments. The next query reuses them, as in the other adapters.
    static USED: RefCell<Vec<Vec<(DocId, Score)>>> = const { RefCell::new(Vec::new()) };
}

/// Collects all hits with their scores, by segment and in any order.
struct Everything;

/// The hits of one segment.
struct InSegment(Vec<(DocId, Score)>);

impl Collector for Everything {
    type Fruit = Vec<Vec<(DocId, Score)>>;
    type Child = InSegment;

    fn for_segment(&self, _: u32, _: &SegmentReader) -> tantivy::Result<InSegment> {
        let mut room = USED.with_borrow_mut(Vec::pop).unwrap_or_default();
        room.clear();
        Ok(InSegment(room))
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
