//! Writes the fetches of a web archive directly into an index of one segment.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use anyhow::Result;
use scanns::Index;
use scanns::index::{MergeOptions, Progress};
use scanns::schema::{Document, Field, FieldEntry, FieldKind, Schema, Value};
use scanns::writer::{IndexWriter, WriterOptions};
use scanns_bench::archive::{Archive, Fetch};

struct Fields {
    tag: Field,
    id: Field,
    url_norm: Field,
    host: Field,
    domain: Field,
    public_suffix: Field,
    crawl_year: Field,
    crawl_date: Field,
    content_type_norm: Field,
    status_code: Field,
    content_length: Field,
    language: Field,
}

fn schema() -> Result<(Schema, Fields)> {
    let mut schema = Schema::new();
    let tag = schema.add(FieldEntry::new("tag", FieldKind::Keyword))?;
    let mut add = |name: &str, kind: FieldKind| {
        let entry = FieldEntry::new(name, kind).column();
        schema.add(FieldEntry { searched: false, ..entry })
    };
    let fields = Fields {
        tag,
        id: add("id", FieldKind::Keyword)?,
        url_norm: add("url_norm", FieldKind::Keyword)?,
        host: add("host", FieldKind::Keyword)?,
        domain: add("domain", FieldKind::Keyword)?,
        public_suffix: add("public_suffix", FieldKind::Keyword)?,
        crawl_year: add("crawl_year", FieldKind::Unsigned)?,
        crawl_date: add("crawl_date", FieldKind::Date)?,
        content_type_norm: add("content_type_norm", FieldKind::Keyword)?,
        status_code: add("status_code", FieldKind::Unsigned)?,
        content_length: add("content_length", FieldKind::Unsigned)?,
        language: add("language", FieldKind::Keyword)?,
    };
    Ok((schema, fields))
}

fn document(fetch: &Fetch, fields: &Fields) -> Document {
    let mut made = Document::new(fetch.number.to_string());
    for tag in &fetch.tags {
        made = made.text(fields.tag, tag.as_str());
    }
    made.text(fields.id, fetch.id.as_str())
        .text(fields.url_norm, fetch.url_norm.as_str())
        .text(fields.host, fetch.host.as_str())
        .text(fields.domain, fetch.domain.as_str())
        .text(fields.public_suffix, fetch.public_suffix)
        .text(fields.content_type_norm, fetch.content_type_norm)
        .text(fields.language, fetch.language)
        .with(fields.crawl_year, Value::Unsigned(fetch.crawl_year))
        .with(fields.crawl_date, Value::Date(fetch.crawl_date))
        .with(fields.status_code, Value::Unsigned(fetch.status_code))
        .with(fields.content_length, Value::Unsigned(fetch.content_length))
}

/// Writes the index.
pub fn build(path: &Path, count: u32, seed: u64) -> Result<()> {
    let (schema, fields) = schema()?;
    let begun = Instant::now();
    let options =
        WriterOptions { lanes: 1, segment_memory: 512 << 20, merge: None, ..WriterOptions::default() };
    let writer = IndexWriter::open(path, Some(&schema), options)?;
    for fetch in Archive::new(count, seed) {
        writer.add(&document(&fetch, &fields))?;
    }
    writer.commit()?;
    drop(writer);
    let seconds = begun.elapsed().as_secs_f64();
    println!(
        "columns: {count} documents added in {seconds:.1} s, {:.0} per second",
        f64::from(count) / seconds
    );
    let begun = Instant::now();
    let cancel = Arc::new(AtomicBool::new(false));
    Index::open(path)?.merge(&MergeOptions::default(), &Progress::default(), &cancel)?;
    println!("columns: merged in {:.1} s", begun.elapsed().as_secs_f64());
    Ok(())
}
