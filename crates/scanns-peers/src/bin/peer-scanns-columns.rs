//! The adapter for the columns of scanns. It uses only the public library.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use scanns::aggregate::{Aggregated, Aggregation, BucketKey, Facet, FacetTerms, GroupBy, Groups};
use scanns::columns::{Column, DictionaryReader, Gather, Gathered};
use scanns::index::{MergeOptions, Progress};
use scanns::schema::{Document, Field, FieldEntry, FieldKind, Schema, Value};
use scanns::search::{Model, Searcher, SortBy, SortKey, SortedHit};
use scanns::writer::{IndexWriter, WriterOptions};
use scanns::{Query, Snapshot};
use scanns_peers::columns::answer::{Both, Digests};
use scanns_peers::columns::protocol::{Built, Operation};
use scanns_peers::columns::serve::{Engine, Index, peak_since, serve};
use scanns_peers::columns::{FACETS, FETCHED, FIRST, GROUPS, NUMBERS, STRINGS, fetches};

/// Required by the API; the operations use no scores.
const MODEL: Model = Model::Bm25 { k1: 1.2, b: 0.75 };

struct Scanns;

fn schema() -> Result<(Schema, Field, Vec<Field>)> {
    let mut schema = Schema::new();
    let tag = schema.add(FieldEntry::new("tag", FieldKind::Keyword))?;
    let kind = |name: &str| match name {
        "crawl_date" => FieldKind::Date,
        name if NUMBERS.contains(&name) => FieldKind::Unsigned,
        _ => FieldKind::Keyword,
    };
    let mut columns = Vec::new();
    for name in STRINGS.into_iter().chain(NUMBERS) {
        let entry = FieldEntry::new(name, kind(name)).column();
        columns.push(schema.add(FieldEntry { searched: false, ..entry })?);
    }
    Ok((schema, tag, columns))
}

impl Engine for Scanns {
    type Index = Opened;

    fn build(&self, path: &Path, out: &Path) -> Result<Built> {
        let (schema, tag, columns) = schema()?;
        let (strings, numbers) = columns.split_at(STRINGS.len());
        let begun = Instant::now();
        let options =
            WriterOptions { lanes: 1, segment_memory: 512 << 20, merge: None, ..WriterOptions::default() };
        let writer = IndexWriter::open(out, Some(&schema), options)?;
        let mut number = 0u64;
        let documents = fetches::each(path, |fetch| {
            let mut made = Document::new(number.to_string());
            number += 1;
            for (&field, text) in strings.iter().zip(fetch.strings) {
                made = made.text(field, text);
            }
            for ((&field, name), value) in numbers.iter().zip(NUMBERS).zip(fetch.numbers) {
                let value = match name {
                    "crawl_date" => Value::Date(i64::try_from(value)?),
                    _ => Value::Unsigned(value),
                };
                made = made.with(field, value);
            }
            for text in fetch.tags {
                made = made.text(tag, text);
            }
            writer.add(&made)?;
            Ok(())
        })?;
        writer.commit()?;
        drop(writer);
        let (seconds, peak_bytes) = (begun.elapsed().as_secs_f64(), peak_since());
        let report = scanns::Index::open(out)?.merge(
            &MergeOptions::default(),
            &Progress::new(),
            &AtomicBool::new(false),
        )?;
        let merge_peak_bytes = peak_since();
        let snapshot = Snapshot::open(out)?;
        let name = |field: Field| snapshot.schema().entry(field).map_or("", |entry| entry.name.as_str());
        let bytes = snapshot.columns()?;
        Ok(Built {
            documents,
            seconds,
            segments: report.before as u64,
            merge_seconds: report.seconds,
            peak_bytes,
            merge_peak_bytes,
            index_bytes: snapshot.info().index_bytes,
            columns: bytes.iter().map(|column| (name(column.field).to_owned(), column.bytes)).collect(),
        })
    }

    fn open(&self, path: &Path) -> Result<Opened> {
        let snapshot = Snapshot::open(path)?;
        let field = |name: &str| snapshot.schema().field(name).with_context(|| format!("no field {name}"));
        let facet = |name: &&str| {
            let terms = FacetTerms { limit: FIRST, ..FacetTerms::new(field(name)?) };
            Ok(Aggregation::Facet(Facet::Terms(terms), Vec::new()))
        };
        let keys = vec![SortKey::descending(SortBy::Field(field("content_length")?))];
        let by = GroupBy {
            field: field("url_norm")?,
            keys: keys.clone(),
            groups: GROUPS,
            hits: 1,
            missing: false,
        };
        Ok(Opened {
            facets: FACETS.iter().map(facet).collect::<Result<_>>()?,
            fetched: FETCHED.into_iter().map(field).collect::<Result<_>>()?,
            id: field("id")?,
            date: field("crawl_date")?,
            keys,
            by,
            snapshot,
        })
    }
}

/// An open index.
struct Opened {
    snapshot: Snapshot,
    facets: Vec<Aggregation>,
    keys: Vec<SortKey>,
    by: GroupBy,
    fetched: Vec<Field>,
    id: Field,
    date: Field,
}

/// The results of an operation. Parts that were not requested are empty.
#[derive(Default)]
struct Answer {
    facets: Vec<Aggregated>,
    groups: Option<Groups>,
    sorted: Option<Vec<SortedHit>>,
    rows: Vec<Vec<Value>>,
    exported: Option<Vec<u8>>,
}

/// The number of export rows whose terms are read together: their terms fit into the processor's cache.
const ROWS: usize = 4_096;

/// The terms of some rows, concatenated, with the start and end of the term of each row.
#[derive(Default)]
struct Texts {
    bytes: Vec<u8>,
    places: Vec<(usize, usize)>,
    /// For each row, the number of its term in the high 32 bits and the row in the low 32 bits.
    wanted: Vec<u64>,
    numbers: Vec<u32>,
}

impl Texts {
    /// Reads the terms with the numbers `orders`, one for each row. Each distinct term is read once.
    fn read(&mut self, terms: &DictionaryReader, orders: impl ExactSizeIterator<Item = u32>) -> Result<()> {
        let Texts { bytes, places, wanted, numbers } = self;
        bytes.clear();
        places.clear();
        places.resize(orders.len(), (0, 0));
        wanted.clear();
        wanted.extend(orders.zip(0u64..).map(|(order, row)| u64::from(order) << 32 | row));
        wanted.sort_unstable();
        numbers.clear();
        numbers.extend(wanted.iter().map(|&wanted| high(wanted)));
        numbers.dedup();
        let mut rows = wanted.iter().copied().peekable();
        terms.terms_of(numbers, |number, term| {
            let from = bytes.len();
            bytes.extend_from_slice(term);
            while let Some(wanted) = rows.next_if(|&wanted| high(wanted) == number) {
                places[low(wanted)] = (from, bytes.len());
            }
            Ok(())
        })?;
        Ok(())
    }

    fn row(&self, row: usize) -> &[u8] {
        let (from, to) = self.places[row];
        &self.bytes[from..to]
    }
}

fn high(wanted: u64) -> u32 {
    narrow(wanted >> 32)
}

fn narrow(order: u64) -> u32 {
    u32::try_from(order).unwrap_or(u32::MAX)
}

fn low(wanted: u64) -> usize {
    usize::try_from(wanted & u64::from(u32::MAX)).unwrap_or(usize::MAX)
}

/// The values of a column for `docs`, which must have one value each.
fn singles(column: &Column, docs: &[u32]) -> Result<Vec<u64>> {
    let mut found = Gathered::default();
    Gather::new(column).read(docs, &mut found)?;
    ensure!(found.ends().is_none(), "a document does not have exactly one value");
    Ok(found.values().to_vec())
}

fn put(out: &mut Vec<u8>, id: &[u8], url: &[u8], date: i64, length: u64) {
    out.extend_from_slice(id);
    out.push(b',');
    out.extend_from_slice(url);
    out.push(b',');
    out.extend_from_slice(itoa::Buffer::new().format(date).as_bytes());
    out.push(b',');
    out.extend_from_slice(itoa::Buffer::new().format(length).as_bytes());
    out.push(b'\n');
}

impl Opened {
    fn column<'s>(&'s self, searcher: &Searcher<'s>, field: Field) -> Result<&'s Column> {
        searcher.column(0, field)?.context("a field has no column")
    }

    fn rows(&self, searcher: &Searcher<'_>, hits: &[SortedHit]) -> Result<Vec<Vec<Value>>> {
        let columns = self.fetched.iter().map(|&field| self.column(searcher, field));
        let columns = columns.collect::<Result<Vec<_>>>()?;
        hits.iter()
            .map(|hit| {
                let mut row = Vec::with_capacity(columns.len());
                columns.iter().try_for_each(|column| column.values_of(hit.hit.doc, &mut row))?;
                Ok(row)
            })
            .collect()
    }

    /// Exports the rows of all hits by descending id. With `in_order`, values are read in the order of the
    /// output.
    fn export(&self, searcher: &Searcher<'_>, query: &Query, in_order: bool) -> Result<Vec<u8>> {
        let mut docs = Vec::new();
        searcher.for_each_window(query, |_, start, bits| {
            for (word, first) in bits.iter().zip((start..).step_by(64)) {
                let mut rest = *word;
                while rest != 0 {
                    docs.push(first + rest.trailing_zeros());
                    rest &= rest - 1;
                }
            }
            ControlFlow::Continue(())
        })?;
        let [ids, urls, dates, lengths] = [self.id, self.by.field, self.date, self.length()];
        let of = |field| self.column(searcher, field);
        let (ids, urls, dates, lengths) = (of(ids)?, of(urls)?, of(dates)?, of(lengths)?);
        let orders = singles(ids, &docs)?;
        let mut sorted: Vec<u64> = orders.iter().zip(0u64..).map(|(&order, row)| order << 32 | row).collect();
        sorted.sort_unstable_by(|a, b| b.cmp(a));
        let date = |order: u64| match dates.kind().value_of(order) {
            Value::Date(date) => date,
            _ => 0,
        };
        let mut out = Vec::new();
        let (id_terms, url_terms) =
            (ids.terms().context("ids have no terms")?, urls.terms().context("URLs have no terms")?);
        if in_order {
            let (mut id, mut url) = (Vec::new(), Vec::new());
            for next in sorted {
                let doc = docs[low(next)];
                id.clear();
                url.clear();
                id_terms.term(high(next), &mut id)?;
                url_terms.term(u32::try_from(urls.first(doc)?.unwrap_or(0))?, &mut url)?;
                let (when, length) = (dates.first(doc)?.unwrap_or(0), lengths.first(doc)?.unwrap_or(0));
                put(&mut out, &id, &url, date(when), length);
            }
            return Ok(out);
        }
        let (urls, when, length) = (singles(urls, &docs)?, singles(dates, &docs)?, singles(lengths, &docs)?);
        let (mut id_texts, mut url_texts) = (Texts::default(), Texts::default());
        for rows in sorted.chunks(ROWS) {
            id_texts.read(id_terms, rows.iter().map(|&next| high(next)))?;
            url_texts.read(url_terms, rows.iter().map(|&next| narrow(urls[low(next)])))?;
            for (at, row) in rows.iter().map(|&next| low(next)).enumerate() {
                put(&mut out, id_texts.row(at), url_texts.row(at), date(when[row]), length[row]);
            }
        }
        Ok(out)
    }

    fn length(&self) -> Field {
        match self.keys.first().map(|key| key.by) {
            Some(SortBy::Field(field)) => field,
            _ => self.id,
        }
    }
}

impl Index for Opened {
    type Query = (Query, Vec<SortedHit>);
    type Answer = Answer;

    fn size(&self) -> (u64, u64) {
        (self.snapshot.info().documents, self.snapshot.segments().len() as u64)
    }

    fn can(&self, operation: Operation) -> bool {
        operation != Operation::GroupsByHand
    }

    fn query(&self, term: &str) -> Result<Self::Query> {
        let text = self.snapshot.schema().default_field().unwrap_or_default();
        let query = Query::term(text, term);
        let hits = self.snapshot.searcher().top_k_sorted(&query, MODEL, &self.keys, FIRST, None)?;
        Ok((query, hits))
    }

    fn run(&self, operation: Operation, asked: &Self::Query) -> Result<Answer> {
        let (query, hits) = asked;
        let searcher = self.snapshot.searcher();
        let mut answer = Answer::default();
        let all = operation == Operation::All;
        if all || operation == Operation::Facets {
            answer.facets = searcher.aggregate(query, &self.facets)?;
        }
        if all || operation == Operation::Groups {
            answer.groups = Some(searcher.top_groups(query, MODEL, &self.by)?);
        }
        if all || operation == Operation::Sort {
            answer.sorted = Some(searcher.top_k_sorted(query, MODEL, &self.keys, FIRST, None)?);
        }
        if all || operation == Operation::Fetch {
            answer.rows = self.rows(&searcher, answer.sorted.as_ref().unwrap_or(hits))?;
        }
        if Operation::EXPORTS.contains(&operation) {
            let in_order = operation == Operation::ExportInOrder;
            answer.exported = Some(self.export(&searcher, query, in_order)?);
        }
        Ok(answer)
    }

    fn digests(&self, answer: &Answer) -> Result<Digests> {
        let searcher = self.snapshot.searcher();
        let ids = self.column(&searcher, self.id)?;
        let mut both = Both::default();
        for facet in &answer.facets {
            let Aggregated::Buckets(found) = facet else { continue };
            both.number(found.buckets.len() as u64);
            for bucket in &found.buckets {
                let BucketKey::Value(value) = &bucket.key else { continue };
                both.strict.string(&text(value));
                both.number(bucket.count);
            }
        }
        if let Some(groups) = &answer.groups {
            both.number(groups.total);
            for group in &groups.groups {
                let head = group.hits.first().context("a group has no head")?;
                both.strict.string(&text(group.value.as_ref().context("a group has no value")?));
                both.number(group.count);
                both.strict.string(&text(&one(ids, head.hit.doc)?));
            }
        }
        for hit in answer.sorted.iter().flatten() {
            let length = hit.keys.first().and_then(Option::as_ref).context("a hit has no length")?;
            ensure!(matches!(length, Value::Unsigned(_)), "a length is {length:?}, not an unsigned number");
            both.loose.string(&text(length));
            both.strict.string(&text(length));
            both.strict.string(&text(&one(ids, hit.hit.doc)?));
        }
        answer.rows.iter().flatten().for_each(|value| both.strict.string(&text(value)));
        if let Some(bytes) = &answer.exported {
            both.strict.string(bytes);
            both.number(bytes.len() as u64);
        }
        Ok(both.finish())
    }
}

fn one(column: &Column, doc: u32) -> Result<Value> {
    let mut values = Vec::new();
    column.values_of(doc, &mut values)?;
    values.pop().context("a document has no id")
}

/// A value as all adapters write it: numbers as decimal digits.
fn text(value: &Value) -> Vec<u8> {
    match value {
        Value::Text(text) => text.clone(),
        Value::Unsigned(number) => number.to_string().into_bytes(),
        Value::Date(number) => number.to_string().into_bytes(),
        other => format!("{other:?}").into_bytes(),
    }
}

fn main() -> Result<()> {
    serve(&Scanns)
}
