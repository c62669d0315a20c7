//! The documents of the fixtures: all kinds of fields, three commits, deletes and changed values. They never
//! change, because the indexes of different versions of the program are compared.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use scanns::index::{CheckLevel, Progress};
use scanns::query::Operator;
use scanns::schema::{Analyzer, Document, FieldEntry, FieldKind, Postings, Schema, Store, Value};
use scanns::search::Model;
use scanns::writer::{IndexWriter, StoredOptions, WriterOptions};
use scanns::{Index, Snapshot};

pub const FIELDS: [&str; 9] = ["body", "title", "tag", "size", "delta", "ratio", "seen", "fresh", "path"];

/// The number of documents that the commits have written, and the number that were deleted or replaced later.
pub const WRITTEN: usize = 360;
pub const DELETED: usize = 15;

const WORDS: [&str; 24] = [
    "archive", "block", "cluster", "dataset", "electron", "field", "genome", "harbour", "index", "journal",
    "kernel", "lattice", "matrix", "neutron", "orbit", "plasma", "quartz", "réseau", "sample", "tensor",
    "uranium", "vector", "wave", "zenith",
];

/// A linear congruential generator, which gives the same numbers regardless of versions of crates.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    fn text(&mut self, words: u64) -> String {
        let mut text = String::new();
        for _ in 0..words {
            // Low numbers are more frequent, as the ranks of words in real text.
            let bound = 1 + self.below(24);
            let word = WORDS[usize::try_from(self.below(bound)).unwrap()];
            text.push_str(word);
            text.push_str(if self.below(9) == 0 { ". " } else { " " });
        }
        text
    }
}

fn schema() -> Schema {
    let mut schema = Schema::new();
    let text =
        |analyzer: &str, postings| FieldKind::Text { analyzer: Analyzer::parse(analyzer).unwrap(), postings };
    let mut add = |name: &str, kind, stored, column| {
        let entry = FieldEntry { stored, column, ..FieldEntry::new(name, kind) };
        schema.add(entry).unwrap();
    };
    add("body", text("english", Postings::Offsets), true, false);
    add("title", text("standard | fold | stop:english | ngram:2-3", Postings::Frequencies), false, false);
    add("tag", FieldKind::Keyword, true, true);
    add("size", FieldKind::Unsigned, false, true);
    add("delta", FieldKind::Signed, false, true);
    add("ratio", FieldKind::Float, false, true);
    add("seen", FieldKind::Date, false, true);
    add("fresh", FieldKind::Boolean, false, true);
    add("path", FieldKind::Path, false, true);
    schema
}

fn document(schema: &Schema, number: u64, round: u64) -> Document {
    let mut numbers = Numbers(number * 31 + round);
    let field = |name| schema.field(name).unwrap();
    let words = 3 + numbers.below(60);
    let body = numbers.text(words);
    let mut document = Document::new(format!("doc-{number:04}")).text(field("body"), body);
    document = document.text(field("title"), numbers.text(3));
    for _ in 0..numbers.below(3) {
        let tag = WORDS[usize::try_from(numbers.below(7)).unwrap()];
        document = document.with(field("tag"), Value::Text(tag.as_bytes().to_vec()));
    }
    if number % 7 != 3 {
        document = document.with(field("size"), Value::Unsigned(numbers.below(1 << 20) * 512));
    }
    let delta = i64::try_from(numbers.below(2_000)).unwrap() - 1_000;
    let seen = 1_700_000_000_000_000_000 + i64::try_from(numbers.below(400)).unwrap() * 86_400_000_000_000;
    let directory = WORDS[usize::try_from(numbers.below(5)).unwrap()];
    document
        .with(field("delta"), Value::Signed(delta))
        .with(field("ratio"), Value::Float(numbers.below(1_000) as f64 / 8.0))
        .with(field("seen"), Value::Date(seen))
        .with(field("fresh"), Value::Boolean(numbers.below(3) == 0))
        .with(field("path"), Value::Text(format!("/data/{directory}/{number}.txt").into_bytes()))
}

/// Writes the index: 300 documents, then 50 new ones, 10 replaced and 5 deleted, then a value changed in
/// three.
pub fn write(path: &Path) {
    let schema = schema();
    let stored = StoredOptions { store: Some(Store::Content), ..StoredOptions::default() };
    let options = WriterOptions { lanes: 1, merge: None, stored, ..WriterOptions::default() };
    let writer = IndexWriter::open(path, Some(&schema), options).unwrap();
    for number in 0..300 {
        writer.add(&document(&schema, number, 0)).unwrap();
    }
    writer.note(b"source", Some(b"tests/format"));
    writer.commit().unwrap();
    for number in 300..350 {
        writer.add(&document(&schema, number, 0)).unwrap();
    }
    for number in (0..290).step_by(29) {
        writer.update(&document(&schema, number, 1)).unwrap();
    }
    for number in (1..146).step_by(29) {
        writer.delete(format!("doc-{number:04}").as_bytes()).unwrap();
    }
    writer.commit().unwrap();
    let size = schema.field("size").unwrap();
    for number in [7, 70, 170] {
        writer.set(format!("doc-{number:04}").as_bytes(), size, &[Value::Unsigned(number)]).unwrap();
    }
    writer.commit().unwrap();
}

/// Checks the index against its checksums and itself, and compares the answers to queries with its documents.
pub fn verify(path: &Path) {
    let report = Index::open(path)
        .unwrap()
        .check(CheckLevel::Cross, &Progress::default(), &AtomicBool::new(false))
        .unwrap();
    assert!(report.is_whole(), "{report:?}");
    let snapshot = Snapshot::open(path).unwrap();
    let live = (WRITTEN - DELETED) as u64;
    assert_eq!(snapshot.info().documents, live);
    let numbers = (0..350_u64).filter(|number| !(number % 29 == 1 && *number < 29 * 5));
    let schema = schema();
    let body = schema.field("body").unwrap();
    let count = |query: &str| {
        let query = snapshot.parse_in(&[body.into()], query, Operator::And).unwrap();
        snapshot.searcher().count(&query).unwrap()
    };
    let size = schema.field("size").unwrap();
    let documents: Vec<_> = numbers
        .map(|number| document(&schema, number, u64::from(number % 29 == 0 && number < 290)))
        .collect();
    assert_eq!(documents.len() as u64, live);
    let text = |document: &Document| {
        let value = document.values().iter().find(|(field, _)| *field == body).unwrap();
        let Value::Text(text) = &value.1 else { panic!("the body is a text") };
        String::from_utf8(text.clone()).unwrap()
    };
    for word in ["lattice", "zenith", "archive"] {
        let expected = documents.iter().filter(|document| text(document).contains(word)).count() as u64;
        assert!(expected > 0);
        assert_eq!(count(word), expected, "{word}");
    }
    let phrase = "archive archive";
    let spaced = |document: &Document| text(document).replace('.', "").contains(phrase);
    assert_eq!(count(&format!("\"{phrase}\"")), documents.iter().filter(|one| spaced(one)).count() as u64);
    let large = |document: &&Document| {
        let key = document.key();
        let changed = [7, 70, 170].iter().any(|number| format!("doc-{number:04}").as_bytes() == key);
        let sizes = document.values().iter().filter(|(field, _)| *field == size);
        sizes.clone().any(|(_, value)| matches!(value, Value::Unsigned(size) if *size > 1 << 20)) && !changed
    };
    assert_eq!(count("size:>1MiB"), documents.iter().filter(large).count() as u64);
    let query = snapshot.parse("body:lattice", Operator::And).unwrap();
    let hits = snapshot.searcher().top_k(&query, Model::Classic, 3).unwrap();
    assert_eq!(hits.len(), 3);
    for hit in hits {
        let key = snapshot.key(&hit).unwrap();
        let document = documents.iter().find(|document| document.key() == key).unwrap();
        assert!(text(document).contains("lattice"));
    }
}
