//! The adapter of the application for scanns, with default options.

use std::ops::Bound;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};
use scanns::aggregate::{Aggregated, Aggregation, BucketKey, Facet, FacetTerms, Sum};
use scanns::index::{MergeOptions, Progress};
use scanns::query::{BoolQuery, Closeness, ScoreChange, ScoreCurve, ScoredQuery, ValueRange, ValueScore};
use scanns::schema::{Document, Field, FieldEntry, FieldKind, Schema, Value};
use scanns::search::{Model, SnippetOptions, SortBy, SortKey};
use scanns::writer::IndexWriter;
use scanns::{Hit, Query, Snapshot};
use scanns_peers::application::documents::Call;
use scanns_peers::application::protocol::{INTERVAL, Kind, PRICES, Question};
use scanns_peers::application::serve::{Engine, Index, Writer, serve};
use scanns_peers::application::{BODY, DATE, HALF, NOW, PAGE, PRICE, STOCK, TAG, TITLE};

const MODEL: Model = Model::Bm25 { k1: 1.2, b: 0.75 };

/// Nanoseconds of a second.
const SECOND: i64 = 1_000_000_000;

struct Scanns;

/// The fields, in the order of the schema.
#[derive(Clone, Copy)]
struct Fields {
    body: Field,
    title: Field,
    tag: Field,
    price: Field,
    stock: Field,
    date: Field,
}

fn schema() -> Result<(Schema, Fields)> {
    let mut schema = Schema::new();
    let mut add = |entry: FieldEntry| schema.add(entry);
    let only_column =
        |name: &str, kind| FieldEntry { searched: false, ..FieldEntry::new(name, kind).column() };
    let fields = Fields {
        body: add(FieldEntry::text(BODY).positions().stored())?,
        title: add(FieldEntry::text(TITLE).stored())?,
        tag: add(FieldEntry::new(TAG, FieldKind::Keyword).column().stored())?,
        price: add(only_column(PRICE, FieldKind::Float).stored())?,
        stock: add(only_column(STOCK, FieldKind::Unsigned))?,
        date: add(only_column(DATE, FieldKind::Date))?,
    };
    Ok((schema, fields))
}

impl Engine for Scanns {
    type Writer = Writing;
    type Index = Opened;

    fn create(&self, path: &Path) -> Result<Writing> {
        let (schema, fields) = schema()?;
        let writer = scanns::Index::create(path, &schema)?.writer()?;
        Ok(Writing { writer, fields })
    }

    fn merge(&self, path: &Path) -> Result<()> {
        let index = scanns::Index::open(path)?;
        index.merge(&MergeOptions::default(), &Progress::new(), &AtomicBool::new(false))?;
        Ok(())
    }

    fn open(&self, path: &Path) -> Result<Opened> {
        Ok(Opened { snapshot: scanns::Index::open(path)?.snapshot()?, fields: schema()?.1 })
    }
}

struct Writing {
    writer: IndexWriter,
    fields: Fields,
}

impl Writer for Writing {
    fn call(&self, call: &Call<'_>) -> Result<()> {
        let Fields { body, title, tag, price, stock, date } = self.fields;
        match call {
            Call::Put(item) => {
                let mut made = Document::new(item.id.to_string())
                    .text(title, &*item.title)
                    .text(body, &*item.body)
                    .with(price, Value::Float(item.price))
                    .with(stock, Value::Unsigned(item.stock))
                    .with(date, Value::Date(item.date * SECOND));
                for number in &item.tags {
                    made = made.text(tag, format!("tag{number}"));
                }
                self.writer.update(&made)?;
            }
            Call::Delete(id) => drop(self.writer.delete(id.to_string())?),
            Call::Commit => {}
        }
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        self.writer.commit()?;
        Ok(())
    }

    fn close(self) -> Result<()> {
        drop(self.writer);
        Ok(())
    }
}

struct Opened {
    snapshot: Snapshot,
    fields: Fields,
}

/// A query, and its best hits where they are asked for.
struct Prepared {
    query: Query,
    hits: Vec<Hit>,
}

impl Opened {
    fn aggregate(&self, query: &Query, asked: Aggregation) -> Result<Aggregated> {
        let mut found = self.snapshot.searcher().aggregate(query, &[asked])?;
        found.pop().context("an aggregation has no answer")
    }

    fn buckets(&self, query: &Query, facet: Facet) -> Result<Vec<(BucketKey, u64)>> {
        match self.aggregate(query, Aggregation::Facet(facet, Vec::new()))? {
            Aggregated::Buckets(found) => {
                Ok(found.buckets.into_iter().map(|bucket| (bucket.key, bucket.count)).collect())
            }
            other => anyhow::bail!("a facet has the answer {other:?}"),
        }
    }

    /// The ten best hits by the score and the age.
    fn by_age(&self, query: &Query) -> Result<Vec<f64>> {
        let (origin, scale) = (Value::Date(NOW * SECOND), HALF * 1e9);
        let curve = ScoreCurve::Near { origin, scale, closeness: Closeness::Reciprocal };
        let by = ValueScore { field: self.fields.date, curve, missing: 0.0 };
        let (query, change) = (Box::new(query.clone()), ScoreChange::Multiply);
        let scored = Query::Scored(ScoredQuery { query, by, change });
        let hits = self.snapshot.searcher().top_k(&scored, MODEL, PAGE)?;
        Ok(hits.into_iter().map(|hit| f64::from(hit.score)).collect())
    }
}

impl Index for Opened {
    type Prepared = Prepared;

    fn size(&self) -> (u64, u64) {
        (self.snapshot.info().documents, self.snapshot.segments().len() as u64)
    }

    fn prepare(&self, question: &Question) -> Result<Option<Prepared>> {
        let mut query = question.form.to_scanns();
        if question.kind == Kind::Range {
            let [low, high] = PRICES.map(|price| Bound::Included(Value::Float(price)));
            let range = Query::Values(ValueRange { field: self.fields.price, low, high });
            query = Query::Bool(BoolQuery { must: vec![query], filter: vec![range], ..BoolQuery::default() });
        }
        let asks_for_hits = matches!(question.kind, Kind::Stored | Kind::Snippets | Kind::Keys);
        let hits =
            if asks_for_hits { self.snapshot.searcher().top_k(&query, MODEL, PAGE)? } else { Vec::new() };
        Ok(Some(Prepared { query, hits }))
    }

    fn answer(&self, kind: Kind, prepared: &Prepared) -> Result<Vec<f64>> {
        let Prepared { query, hits } = prepared;
        let (snapshot, searcher, fields) = (&self.snapshot, self.snapshot.searcher(), self.fields);
        let count = |count: usize| anyhow::Ok(f64::from(u32::try_from(count)?));
        let scores = |hits: Vec<Hit>| hits.iter().map(|hit| f64::from(hit.score)).collect();
        let sorted = |keys: &[SortKey]| -> Result<Vec<f64>> {
            let hits = searcher.top_k_sorted(query, MODEL, keys, PAGE, None)?;
            hits.iter().flat_map(|hit| &hit.keys).map(number).collect()
        };
        match kind {
            Kind::Stored => {
                let mut values = 0;
                for hit in hits {
                    values += snapshot.values(hit)?.context("a hit has no stored values")?.len();
                }
                Ok(vec![count(values)?])
            }
            Kind::Snippets => {
                let options = SnippetOptions { length: 80, fragments: 1, ..SnippetOptions::default() };
                let mut highlighter = snapshot.highlighter(fields.body, query, options)?;
                let mut marked = 0;
                for hit in hits {
                    let snippets = snapshot.snippets(hit, fields.body, &mut highlighter)?.unwrap_or_default();
                    marked += usize::from(snippets.iter().any(|snippet| !snippet.marks.is_empty()));
                }
                Ok(vec![count(marked)?])
            }
            Kind::Keys => {
                let mut keys = 0;
                for hit in hits {
                    keys += usize::from(!searcher.key(hit)?.is_empty());
                }
                Ok(vec![count(keys)?])
            }
            Kind::ByAge => self.by_age(query),
            Kind::Statistics => {
                let asked = Aggregation::Stats { field: fields.price, percentiles: Vec::new() };
                let Aggregated::Stats(found) = self.aggregate(query, asked)? else {
                    anyhow::bail!("no statistics")
                };
                let sum = found.sum.map_or(0.0, |sum| match sum {
                    Sum::Float(sum) => sum,
                    Sum::Whole(_) => f64::NAN,
                });
                let values = count(usize::try_from(found.values)?)?;
                Ok(vec![values, number(&found.min)?, number(&found.max)?, sum])
            }
            Kind::Histogram => {
                let interval = seconds_to_nanoseconds(INTERVAL);
                let facet = Facet::Histogram { field: fields.date, interval, offset: 0.0 };
                let found = self.buckets(query, facet)?;
                found.into_iter().map(|(_, of_bucket)| count(usize::try_from(of_bucket)?)).collect()
            }
            Kind::Facet => {
                let terms = FacetTerms { limit: PAGE, ..FacetTerms::new(fields.tag) };
                let found = self.buckets(query, Facet::Terms(terms))?;
                found.into_iter().map(|(_, of_bucket)| count(usize::try_from(of_bucket)?)).collect()
            }
            Kind::Range | Kind::Top => Ok(scores(searcher.top_k(query, MODEL, PAGE)?)),
            Kind::Sort => sorted(&[SortKey::descending(SortBy::Field(fields.stock))]),
            Kind::SortTwice => sorted(&[
                SortKey::descending(SortBy::Field(fields.stock)),
                SortKey::ascending(SortBy::Field(fields.price)),
            ]),
            Kind::Count => Ok(vec![count(usize::try_from(searcher.count(query)?)?)?]),
            Kind::Open => anyhow::bail!("the index is open"),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a round number of nanoseconds")]
fn seconds_to_nanoseconds(seconds: i64) -> f64 {
    (seconds * SECOND) as f64
}

/// A value as a number.
fn number(value: &Option<Value>) -> Result<f64> {
    match value {
        Some(Value::Float(number)) => Ok(*number),
        Some(Value::Unsigned(number)) => Ok(f64::from(u32::try_from(*number)?)),
        other => anyhow::bail!("{other:?} is not a number"),
    }
}

fn main() -> Result<()> {
    serve(&Scanns)
}
