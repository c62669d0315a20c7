//! The adapter of the application for tantivy, as its documentation suggests to write one: deletes by key
//! before adding again, the default merge policy, one reader for all queries.

use std::ops::Bound;
use std::path::Path;

use anyhow::{Context, Result, bail};
use peer_tantivy::queries;
use peer_tantivy::words::Words;
use scanns_peers::application::documents::Call;
use scanns_peers::application::protocol::{INTERVAL, Kind, PRICES, Question};
use scanns_peers::application::serve::{Engine, Index as Answering, Writer, serve};
use scanns_peers::application::{BODY, DATE, ID, PAGE, PRICE, STOCK, TAG, TITLE, by_age};
use serde_json::{Value as Json, json};
use tantivy::aggregation::agg_req::Aggregations;
use tantivy::aggregation::{AggContextParams, AggregationCollector};
use tantivy::collector::{Count, TopDocs};
use tantivy::query::{BooleanQuery, Occur, Query, RangeQuery};
use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, STORED, Schema, TextFieldIndexing, TextOptions, Value,
};
use tantivy::snippet::SnippetGenerator;
use tantivy::tokenizer::TextAnalyzer;
use tantivy::{DocAddress, Index, IndexWriter, Order, Score, Searcher, SegmentReader, TantivyDocument, Term};

/// The memory budget of the writer in bytes, for all threads.
const BUFFER: usize = 512 << 20;

/// The name of the tokenizer.
const WORDS: &str = "words";

struct Tantivy;

#[derive(Clone, Copy)]
struct Fields {
    id: Field,
    title: Field,
    body: Field,
    tag: Field,
    price: Field,
    stock: Field,
    date: Field,
}

fn schema() -> (Schema, Fields) {
    let mut schema = Schema::builder();
    let text = |option| {
        let indexing = TextFieldIndexing::default().set_tokenizer(WORDS).set_index_option(option);
        TextOptions::default().set_indexing_options(indexing).set_stored()
    };
    let key = TextFieldIndexing::default()
        .set_tokenizer("raw")
        .set_index_option(IndexRecordOption::Basic)
        .set_fieldnorms(false);
    let key = TextOptions::default().set_indexing_options(key);
    let fields = Fields {
        id: schema.add_text_field(ID, key.clone().set_stored()),
        title: schema.add_text_field(TITLE, text(IndexRecordOption::WithFreqs)),
        body: schema.add_text_field(BODY, text(IndexRecordOption::WithFreqsAndPositions)),
        tag: schema.add_text_field(TAG, key.set_fast("raw").set_stored()),
        price: schema.add_f64_field(PRICE, FAST | STORED | INDEXED),
        stock: schema.add_u64_field(STOCK, FAST),
        date: schema.add_i64_field(DATE, FAST),
    };
    (schema.build(), fields)
}

fn opened(path: &Path) -> Result<Index> {
    let index = Index::open_in_dir(path)?;
    register(&index);
    Ok(index)
}

fn register(index: &Index) {
    index.tokenizers().register(WORDS, TextAnalyzer::builder(Words::standard()).build());
}

impl Engine for Tantivy {
    type Writer = Writing;
    type Index = Opened;

    fn create(&self, path: &Path) -> Result<Writing> {
        let (schema, fields) = schema();
        let index = Index::create_in_dir(path, schema)?;
        register(&index);
        Ok(Writing { writer: index.writer_with_num_threads(2, BUFFER)?, fields })
    }

    fn merge(&self, path: &Path) -> Result<()> {
        let index = opened(path)?;
        let mut writer: IndexWriter = index.writer_with_num_threads(1, BUFFER)?;
        let segments = index.searchable_segment_ids()?;
        if segments.len() > 1 {
            writer.merge(&segments).wait()?;
        }
        writer.wait_merging_threads()?;
        Ok(())
    }

    fn open(&self, path: &Path) -> Result<Opened> {
        Ok(Opened { searcher: opened(path)?.reader()?.searcher(), fields: schema().1 })
    }
}

struct Writing {
    writer: IndexWriter,
    fields: Fields,
}

impl Writer for Writing {
    fn call(&self, call: &Call<'_>) -> Result<()> {
        let Fields { id, title, body, tag, price, stock, date } = self.fields;
        let key = |number: u32| Term::from_field_text(id, &number.to_string());
        match call {
            Call::Put(item) => {
                let mut made = TantivyDocument::new();
                made.add_text(id, item.id.to_string());
                made.add_text(title, &item.title);
                made.add_text(body, &item.body);
                item.tags.iter().for_each(|number| made.add_text(tag, format!("tag{number}")));
                made.add_f64(price, item.price);
                made.add_u64(stock, item.stock);
                made.add_i64(date, item.date);
                self.writer.delete_term(key(item.id));
                self.writer.add_document(made)?;
            }
            Call::Delete(number) => {
                self.writer.delete_term(key(*number));
            }
            Call::Commit => {}
        }
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        self.writer.commit()?;
        Ok(())
    }

    fn close(self) -> Result<()> {
        Ok(self.writer.wait_merging_threads()?)
    }
}

struct Opened {
    searcher: Searcher,
    fields: Fields,
}

/// A query, and its best hits where they are asked for.
struct Prepared {
    query: Box<dyn Query>,
    hits: Vec<(Score, DocAddress)>,
}

impl Opened {
    fn best(&self, query: &dyn Query) -> Result<Vec<(Score, DocAddress)>> {
        Ok(self.searcher.search(query, &TopDocs::with_limit(PAGE).order_by_score())?)
    }

    fn aggregate(&self, query: &dyn Query, asked: &Json) -> Result<Json> {
        let asked: Aggregations = serde_json::from_value(json!({"it": asked}))?;
        let collector = AggregationCollector::from_aggs(asked, AggContextParams::default());
        let found = serde_json::to_value(self.searcher.search(query, &collector)?)?;
        found.get("it").cloned().context("an aggregation has no answer")
    }

    /// The number, the least, the greatest and the sum of prices.
    fn statistics(&self, query: &dyn Query) -> Result<Vec<f64>> {
        let found = self.aggregate(query, &json!({"stats": {"field": PRICE}}))?;
        let of = |name: &str| found.get(name).and_then(Json::as_f64);
        let all = [of("count"), of("min"), of("max"), of("sum")].into_iter().collect::<Option<_>>();
        all.context("statistics are incomplete")
    }

    /// The stock and the price of the hits with the greatest stock, and among equals the lowest price.
    fn sorted_twice(&self, query: &dyn Query) -> Result<Vec<f64>> {
        use tantivy::collector::sort_key::SortByStaticFastValue;
        let stock = (SortByStaticFastValue::<u64>::for_field(STOCK), Order::Desc);
        let price = (SortByStaticFastValue::<f64>::for_field(PRICE), Order::Asc);
        let found = self.searcher.search(query, &TopDocs::with_limit(PAGE).order_by((stock, price)))?;
        let mut keys = Vec::new();
        for ((stock, price), _) in found {
            keys.push(f64::from(u32::try_from(stock.unwrap_or(0))?));
            keys.push(price.unwrap_or(0.0));
        }
        Ok(keys)
    }

    /// The counts of the buckets that have documents.
    fn buckets(&self, query: &dyn Query, asked: &Json) -> Result<Vec<f64>> {
        let found = self.aggregate(query, asked)?;
        let buckets = found.get("buckets").and_then(Json::as_array).context("a facet has no buckets")?;
        let counts = buckets.iter().filter_map(|bucket| bucket.get("doc_count")?.as_f64());
        Ok(counts.filter(|count| *count > 0.0).collect())
    }
}

impl Answering for Opened {
    type Prepared = Prepared;

    fn size(&self) -> (u64, u64) {
        (self.searcher.num_docs(), self.searcher.segment_readers().len() as u64)
    }

    fn prepare(&self, question: &Question) -> Result<Option<Prepared>> {
        let mut query = match &question.form {
            scanns_peers::form::Form::All => Box::new(tantivy::query::AllQuery),
            form => queries::query(form, self.fields.body)?,
        };
        if question.kind == Kind::Range {
            let [low, high] =
                PRICES.map(|price| Bound::Included(Term::from_field_f64(self.fields.price, price)));
            // The score of a range is constant, and would be added.
            let range = tantivy::query::ConstScoreQuery::new(Box::new(RangeQuery::new(low, high)), 0.0);
            query = Box::new(BooleanQuery::new(vec![(Occur::Must, query), (Occur::Must, Box::new(range))]));
        }
        let asks_for_hits = matches!(question.kind, Kind::Stored | Kind::Snippets | Kind::Keys);
        let hits = if asks_for_hits { self.best(&query)? } else { Vec::new() };
        Ok(Some(Prepared { query, hits }))
    }

    fn answer(&self, kind: Kind, prepared: &Prepared) -> Result<Vec<f64>> {
        let Prepared { query, hits } = prepared;
        let (searcher, fields) = (&self.searcher, self.fields);
        let count = |count: usize| anyhow::Ok(f64::from(u32::try_from(count)?));
        match kind {
            Kind::Stored => {
                let mut values = 0;
                for (_, hit) in hits {
                    let document: TantivyDocument = searcher.doc(*hit)?;
                    // The key is a stored field here.
                    values += document.field_values().count() - 1;
                }
                Ok(vec![count(values)?])
            }
            Kind::Snippets => {
                let mut generator = SnippetGenerator::create(searcher, query, fields.body)?;
                generator.set_max_num_chars(80);
                let mut marked = 0;
                for (_, hit) in hits {
                    let document: TantivyDocument = searcher.doc(*hit)?;
                    marked += usize::from(!generator.snippet_from_doc(&document).highlighted().is_empty());
                }
                Ok(vec![count(marked)?])
            }
            Kind::Keys => {
                let mut keys = 0;
                for (_, hit) in hits {
                    let document: TantivyDocument = searcher.doc(*hit)?;
                    let key = document.get_first(fields.id).and_then(|value| value.as_str());
                    keys += usize::from(key.is_some_and(|key| !key.is_empty()));
                }
                Ok(vec![count(keys)?])
            }
            Kind::ByAge => {
                let collector = TopDocs::with_limit(PAGE).tweak_score(|segment: &SegmentReader| {
                    let dates =
                        segment.fast_fields().i64(DATE).ok().map(|dates| dates.first_or_default_col(0));
                    move |doc, score: Score| {
                        let by_age = dates.as_ref().map_or(0.0, |dates| by_age(dates.get_val(doc)));
                        (f64::from(score) * by_age) as f32
                    }
                });
                let found = searcher.search(query, &collector)?;
                Ok(found.into_iter().map(|(score, _)| f64::from(score)).collect())
            }
            Kind::Statistics => self.statistics(query),
            Kind::Histogram => self.buckets(
                query,
                &json!({"histogram": {"field": DATE, "interval": INTERVAL, "min_doc_count": 1}}),
            ),
            Kind::Facet => self.buckets(query, &json!({"terms": {"field": TAG, "size": PAGE}})),
            Kind::Range | Kind::Top => {
                Ok(self.best(query)?.into_iter().map(|(score, _)| f64::from(score)).collect())
            }
            Kind::Sort => {
                let by_stock = TopDocs::with_limit(PAGE).order_by_fast_field::<u64>(STOCK, Order::Desc);
                let found = searcher.search(query, &by_stock)?;
                found.into_iter().map(|(stock, _)| count(usize::try_from(stock.unwrap_or(0))?)).collect()
            }
            Kind::SortTwice => self.sorted_twice(query),
            Kind::Count => count(searcher.search(query, &Count)?).map(|count| vec![count]),
            Kind::Open => bail!("the index is open"),
        }
    }
}

fn main() -> Result<()> {
    serve(&Tantivy)
}
