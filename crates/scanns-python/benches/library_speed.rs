//! The speed of the library without Python, for `benches/speed.py`: searches of an index, an export of its
//! columns, and documents that are added. Prints JSON.
//!
//! Usage: library_speed search INDEX QUERIES, export INDEX FIELDS, or add INDEX DOCUMENTS, a file of JSON
//! lines with `key` and `text`.

#![expect(clippy::unwrap_used, reason = "a benchmark may fail")]

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use scanns::columns::{BatchField, BatchOptions};
use scanns::query::Operator;
use scanns::schema::{Document, FieldEntry, FieldKind, Schema};
use scanns::search::{Model, SearchThreads};
use scanns::{Index, Query, Snapshot};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["search", index, queries] => search(index, queries),
        ["export", index, fields] => export(index, fields),
        ["add", index, documents] => add(index, documents),
        _ => eprintln!("usage: library_speed search|export|add INDEX WHAT"),
    }
}

/// The median time of each query in microseconds: parsed, searched, and its keys read.
fn search(index: &str, queries: &str) {
    let snapshot = Snapshot::open(Path::new(index)).unwrap();
    let threads = SearchThreads::new(1);
    let searcher = snapshot.searcher().with_threads(&threads);
    let model = Model::Bm25 { k1: 1.2, b: 0.75 };
    let mut medians = BTreeMap::new();
    for text in std::fs::read_to_string(queries).unwrap().lines() {
        let mut times: Vec<f64> = (0..201)
            .map(|_| {
                let began = Instant::now();
                let query = snapshot.parse(text, Operator::Or).unwrap();
                let hits = searcher.top_k(&query, model, 10).unwrap();
                let keys: Vec<_> = hits.iter().map(|hit| snapshot.key(hit).unwrap()).collect();
                assert!(keys.len() <= 10);
                began.elapsed().as_secs_f64() * 1e6
            })
            .collect();
        times.sort_by(f64::total_cmp);
        medians.insert(text.to_owned(), times[times.len() / 2]);
    }
    println!("{}", serde_json::to_string(&medians).unwrap());
}

/// The seconds to read the values of all documents in batches.
fn export(index: &str, fields: &str) {
    let snapshot = Snapshot::open(Path::new(index)).unwrap();
    let fields: Vec<_> =
        fields.split(',').map(|name| BatchField::Values(snapshot.schema().field(name).unwrap())).collect();
    let options = BatchOptions { rows: 65_536, bytes: 32 << 20, ..BatchOptions::default() };
    let seconds: Vec<f64> = (0..5)
        .map(|_| {
            let (began, mut rows) = (Instant::now(), 0);
            snapshot
                .for_each_batch(&Query::All, &fields, &options, &mut |batch| {
                    rows += batch.docs.len();
                    Ok(ControlFlow::Continue(()))
                })
                .unwrap();
            assert!(rows > 0);
            began.elapsed().as_secs_f64()
        })
        .collect();
    println!("{}", serde_json::to_string(&seconds).unwrap());
}

/// The seconds to add documents and to commit them, with one thread.
fn add(index: &str, documents: &str) {
    let records: Vec<BTreeMap<String, String>> = std::fs::read_to_string(documents)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let mut schema = Schema::new();
    let text = schema.add(FieldEntry::text("text")).unwrap();
    let author = schema.add(FieldEntry::new("author", FieldKind::Keyword).column()).unwrap();
    let writer = Index::create(index, &schema).unwrap().writer().unwrap();
    let began = Instant::now();
    for record in &records {
        let document = Document::new(record["key"].as_str());
        writer
            .add(&document.text(text, record["text"].as_str()).text(author, record["author"].as_str()))
            .unwrap();
    }
    let added = began.elapsed().as_secs_f64();
    writer.commit().unwrap();
    println!("[{added}, {}]", began.elapsed().as_secs_f64());
}
