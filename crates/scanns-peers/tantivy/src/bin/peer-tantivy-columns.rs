//! The adapter for the columns (fast fields) of tantivy. It supports facets by the terms aggregation, sorts
//! by a collector, and fields of hits, but no groups and no exports.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};
use scanns_peers::columns::answer::{Both, Digests};
use scanns_peers::columns::protocol::{Built, Operation};
use scanns_peers::columns::serve::{Engine, Index as Answering, peak_since, serve};
use scanns_peers::columns::{FACETS, FETCHED, FIRST, NUMBERS, STRINGS, fetches};
use scanns_peers::engine::bytes_below;
use serde_json::json;
use tantivy::aggregation::agg_req::Aggregations;
use tantivy::aggregation::agg_result::{AggregationResult, AggregationResults, BucketEntry, BucketResult};
use tantivy::aggregation::{AggContextParams, AggregationCollector, Key};
use tantivy::collector::TopDocs;
use tantivy::indexer::NoMergePolicy;
use tantivy::query::TermQuery;
use tantivy::schema::{
    DateOptions, DateTimePrecision, Field, IndexRecordOption, NumericOptions, Schema, TextFieldIndexing,
    TextOptions,
};
use tantivy::{
    DateTime, DocAddress, Index, IndexWriter, Order, Searcher, SegmentReader, TantivyDocument, Term,
};

/// The memory budget of the writer in bytes.
const BUFFER: usize = 512 << 20;

struct Tantivy;

fn schema() -> (Schema, Field, Vec<Field>) {
    let mut schema = Schema::builder();
    let words = TextFieldIndexing::default()
        .set_tokenizer("raw")
        .set_index_option(IndexRecordOption::Basic)
        .set_fieldnorms(false);
    let tag = schema.add_text_field("tag", TextOptions::default().set_indexing_options(words));
    let columns = STRINGS.into_iter().chain(NUMBERS).map(|name| match name {
        "crawl_date" => {
            let seconds = DateOptions::default().set_fast().set_precision(DateTimePrecision::Seconds);
            schema.add_date_field(name, seconds)
        }
        name if NUMBERS.contains(&name) => schema.add_u64_field(name, NumericOptions::default().set_fast()),
        name => schema.add_text_field(name, TextOptions::default().set_fast("raw")),
    });
    let columns = columns.collect();
    (schema.build(), tag, columns)
}

impl Engine for Tantivy {
    type Index = Opened;

    fn build(&self, path: &Path, out: &Path) -> Result<Built> {
        let (schema, tag, columns) = schema();
        let (strings, numbers) = columns.split_at(STRINGS.len());
        let begun = Instant::now();
        let index = Index::create_in_dir(out, schema)?;
        let mut writer: IndexWriter = index.writer_with_num_threads(1, BUFFER)?;
        writer.set_merge_policy(Box::new(NoMergePolicy));
        let documents = fetches::each(path, |fetch| {
            let mut made = TantivyDocument::new();
            for (&field, text) in strings.iter().zip(fetch.strings) {
                made.add_text(field, text);
            }
            for ((&field, name), value) in numbers.iter().zip(NUMBERS).zip(fetch.numbers) {
                match name {
                    "crawl_date" => {
                        made.add_date(field, DateTime::from_timestamp_nanos(i64::try_from(value)?));
                    }
                    _ => made.add_u64(field, value),
                }
            }
            for text in fetch.tags {
                made.add_text(tag, text);
            }
            writer.add_document(made)?;
            Ok(())
        })?;
        writer.commit()?;
        let (seconds, peak_bytes) = (begun.elapsed().as_secs_f64(), peak_since());
        let begun = Instant::now();
        let segments = in_order(&index)?;
        if segments.len() > 1 {
            writer.merge(&segments).wait()?;
        }
        writer.wait_merging_threads()?;
        let (merge_seconds, merge_peak_bytes) = (begun.elapsed().as_secs_f64(), peak_since());
        let usage = index.reader()?.searcher().space_usage()?;
        let segment = usage.segments().first().context("the index has no segment")?;
        let fields = segment.fast_fields().fields();
        Ok(Built {
            documents,
            seconds,
            segments: segments.len() as u64,
            merge_seconds,
            peak_bytes,
            merge_peak_bytes,
            index_bytes: bytes_below(out)?,
            columns: fields.map(|field| (field.field_name().to_owned(), field.total().get_bytes())).collect(),
        })
    }

    fn open(&self, path: &Path) -> Result<Opened> {
        let index = Index::open_in_dir(path)?;
        let facets = FACETS.map(|name| (name.to_owned(), json!({"terms": {"field": name, "size": FIRST}})));
        let facets = serde_json::Map::from_iter(facets);
        Ok(Opened {
            tag: index.schema().get_field("tag")?,
            searcher: index.reader()?.searcher(),
            facets: serde_json::from_value(facets.into())?,
        })
    }
}

/// The segments by their earliest date, which is the order of documents. The merged segment keeps this order.
fn in_order(index: &Index) -> Result<Vec<tantivy::index::SegmentId>> {
    let searcher = index.reader()?.searcher();
    let mut found = Vec::new();
    for segment in searcher.segment_readers() {
        found.push((segment.fast_fields().date("crawl_date")?.min_value(), segment.segment_id()));
    }
    found.sort_by_key(|(date, _)| *date);
    Ok(found.into_iter().map(|(_, segment)| segment).collect())
}

/// An open index.
struct Opened {
    searcher: Searcher,
    tag: Field,
    facets: Aggregations,
}

/// The longest hits, with their lengths.
type Sorted = Vec<(Option<u64>, DocAddress)>;

/// The results of an operation. Parts that were not requested are empty.
#[derive(Default)]
struct Answer {
    facets: Option<AggregationResults>,
    sorted: Option<Sorted>,
    rows: Vec<Vec<String>>,
}

impl Opened {
    fn sorted(&self, query: &TermQuery) -> Result<Sorted> {
        let by_length = TopDocs::with_limit(FIRST).order_by_u64_field("content_length", Order::Desc);
        Ok(self.searcher.search(query, &by_length)?)
    }

    fn segment(&self) -> Result<&SegmentReader> {
        self.searcher.segment_readers().first().context("the index has no segment")
    }

    /// Reads the fields of hits, column by column.
    fn rows(&self, hits: &Sorted) -> Result<Vec<Vec<String>>> {
        let fields = self.segment()?.fast_fields();
        let mut rows = vec![Vec::with_capacity(FETCHED.len()); hits.len()];
        let mut put = |text: &dyn Fn(u32) -> Result<String>| {
            rows.iter_mut().zip(hits).try_for_each(|(row, hit)| {
                row.push(text(hit.1.doc_id)?);
                anyhow::Ok(())
            })
        };
        for name in FETCHED {
            match name {
                "crawl_date" => {
                    let dates = fields.date(name)?;
                    put(&|doc| {
                        let nanos = dates.first(doc).map(DateTime::into_timestamp_nanos);
                        Ok(nanos.unwrap_or(0).to_string())
                    })?;
                }
                name if NUMBERS.contains(&name) => {
                    let numbers = fields.u64(name)?;
                    put(&|doc| Ok(numbers.first(doc).unwrap_or(0).to_string()))?;
                }
                name => {
                    let column = fields.str(name)?.with_context(|| format!("no column {name}"))?;
                    put(&|doc| {
                        let mut text = String::new();
                        let ord = column.ords().first(doc).context("a document has no value")?;
                        column.ord_to_str(ord, &mut text)?;
                        Ok(text)
                    })?;
                }
            }
        }
        Ok(rows)
    }
}

impl Answering for Opened {
    type Query = (TermQuery, Sorted);
    type Answer = Answer;

    fn size(&self) -> (u64, u64) {
        (self.searcher.num_docs(), self.searcher.segment_readers().len() as u64)
    }

    fn can(&self, operation: Operation) -> bool {
        matches!(operation, Operation::Facets | Operation::Sort | Operation::Fetch)
    }

    fn query(&self, term: &str) -> Result<Self::Query> {
        let query = TermQuery::new(Term::from_field_text(self.tag, term), IndexRecordOption::Basic);
        let hits = self.sorted(&query)?;
        Ok((query, hits))
    }

    fn run(&self, operation: Operation, asked: &Self::Query) -> Result<Answer> {
        let (query, hits) = asked;
        let mut answer = Answer::default();
        match operation {
            Operation::Facets => {
                let collector =
                    AggregationCollector::from_aggs(self.facets.clone(), AggContextParams::default());
                answer.facets = Some(self.searcher.search(query, &collector)?);
            }
            Operation::Sort => answer.sorted = Some(self.sorted(query)?),
            Operation::Fetch => answer.rows = self.rows(hits)?,
            other => anyhow::bail!("tantivy does not support {other}"),
        }
        Ok(answer)
    }

    fn digests(&self, answer: &Answer) -> Result<Digests> {
        let mut both = Both::default();
        for name in FACETS.into_iter().filter(|_| answer.facets.is_some()) {
            let found = answer.facets.as_ref().and_then(|all| all.0.get(name));
            let Some(AggregationResult::BucketResult(BucketResult::Terms { buckets, .. })) = found else {
                anyhow::bail!("the facet {name} has no buckets");
            };
            both.number(buckets.len() as u64);
            for BucketEntry { key, doc_count, .. } in buckets {
                both.strict.string(text(key).as_bytes());
                both.number(*doc_count);
            }
        }
        let ids = self.segment()?.fast_fields().str("id")?.context("no column id")?;
        for (length, hit) in answer.sorted.iter().flatten() {
            let length = length.context("a hit has no length")?.to_string();
            both.strict.string(length.as_bytes());
            both.loose.string(length.as_bytes());
            let mut id = String::new();
            ids.ord_to_str(ids.ords().first(hit.doc_id).context("a hit has no id")?, &mut id)?;
            both.strict.string(id.as_bytes());
        }
        answer.rows.iter().flatten().for_each(|value| both.strict.string(value.as_bytes()));
        Ok(both.finish())
    }
}

fn text(key: &Key) -> String {
    match key {
        Key::Str(text) => text.clone(),
        Key::U64(number) => number.to_string(),
        Key::I64(number) => number.to_string(),
        Key::F64(number) => number.to_string(),
    }
}

fn main() -> Result<()> {
    serve(&Tantivy)
}
