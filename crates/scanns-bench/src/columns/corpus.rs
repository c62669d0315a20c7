//! Fetches of a web archive, the same for the same seed, written straight into an index of one segment.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use anyhow::Result;
use scanns::{
    Document, Field, FieldEntry, FieldKind, IndexWriter, MergeOptions, Progress, Schema, Value,
    WriterOptions, merge,
};

/// Hosts that there are, for so many documents; few have many pages.
const PAGES_OF_HOST: u32 = 40;

const SUFFIXES: [&str; 8] = ["dk", "com", "org", "net", "eu", "co.uk", "info", "se"];
const TYPES: [&str; 6] =
    ["text/html", "image/jpeg", "text/css", "application/pdf", "image/png", "text/plain"];
const STATUS: [u64; 5] = [200, 301, 302, 404, 500];
const LANGUAGES: [&str; 7] = ["da", "en", "de", "sv", "no", "fr", "es"];

/// A second in the unit of dates.
const SECOND: i64 = 1_000_000_000;

struct Fields {
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
    // An index needs a field that is searched; it is empty.
    schema.add("tag", FieldKind::Keyword, false)?;
    let mut add = |name: &str, kind: FieldKind| {
        let entry = FieldEntry::new(name, kind).in_column();
        schema.add_entry(FieldEntry { searched: false, ..entry })
    };
    let fields = Fields {
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

/// A number below `most`, small ones far more often.
fn skewed(random: &mut fastrand::Rng, most: u32) -> u32 {
    let product = u64::from(random.u32(..most)) * u64::from(random.u32(..most));
    u32::try_from(product / u64::from(most)).unwrap_or(0)
}

/// One of a list, the first ones far more often.
fn one_of<T: Copy>(random: &mut fastrand::Rng, of: &[T]) -> T {
    of[skewed(random, u32::try_from(of.len()).unwrap_or(1)) as usize]
}

fn document(number: u32, count: u32, fields: &Fields, random: &mut fastrand::Rng) -> Document {
    let hosts = (count / PAGES_OF_HOST).max(1);
    let host_number = skewed(random, hosts);
    let suffix = SUFFIXES[(host_number % 97 % 8) as usize];
    let domain = format!("site{:x}.{suffix}", host_number.wrapping_mul(0x9e37_79b1) >> 4);
    let host = if host_number.is_multiple_of(3) { domain.clone() } else { format!("www.{domain}") };
    // Every twentieth address has been fetched before.
    let page = if random.u32(..20) == 0 { random.u32(..1 + number / 20) } else { number };
    let address =
        format!("http://{host}/{}/{:06x}/page{}.html", page % 31, page.wrapping_mul(0x85eb_ca6b) >> 8, page);
    let second = 1_104_537_600 + i64::from(number) * 20 + random.i64(0..86_400);
    let year = 2005 + u64::from(number / (count / 15 + 1));
    let text = |document: Document, field: Field, text: &str| document.text(field, text);
    let mut made = Document::new(number.to_string());
    made = text(made, fields.id, &format!("{:016x}", u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15)));
    made = text(made, fields.url_norm, &address);
    made = text(made, fields.host, &host);
    made = text(made, fields.domain, &domain);
    made = text(made, fields.public_suffix, suffix);
    made = text(made, fields.content_type_norm, one_of(random, &TYPES));
    made = text(made, fields.language, one_of(random, &LANGUAGES));
    let status = one_of(random, &STATUS);
    let length = 2_000_000_000 / (1 + random.u64(..1_000_000));
    made.with(fields.crawl_year, Value::Unsigned(year))
        .with(fields.crawl_date, Value::Date(second * SECOND))
        .with(fields.status_code, Value::Unsigned(status))
        .with(fields.content_length, Value::Unsigned(length))
}

/// Writes the index.
pub fn build(path: &Path, count: u32, seed: u64) -> Result<()> {
    let (schema, fields) = schema()?;
    let mut random = fastrand::Rng::with_seed(seed);
    let begun = Instant::now();
    let options =
        WriterOptions { lanes: 1, segment_memory: 512 << 20, merge: None, ..WriterOptions::default() };
    let writer = IndexWriter::open(path, Some(&schema), options)?;
    for number in 0..count {
        writer.add(&document(number, count, &fields, &mut random))?;
    }
    writer.commit()?;
    drop(writer);
    let seconds = begun.elapsed().as_secs_f64();
    println!(
        "columns: {count} documents added in {seconds:.1} s, {:.0} a second",
        f64::from(count) / seconds
    );
    let begun = Instant::now();
    let cancel = Arc::new(AtomicBool::new(false));
    merge(path, &MergeOptions::default(), &Progress::default(), &cancel)?;
    println!("columns: merged in {:.1} s", begun.elapsed().as_secs_f64());
    Ok(())
}
