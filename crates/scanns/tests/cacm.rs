//! A real collection, if it is available: CACM as lines of JSON, with topics, judgements and the results of
//! another engine.
//!
//! `SCANNS_TEST_DATA` names the directory that contains `cacm/docs.jsonl`; without it these tests print that
//! they were skipped.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test, outside of functions marked as one")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use scanns::analysis::Tokenizer;
use scanns::index::{IndexOptions, Progress};
use scanns::query::Operator;
use scanns::schema::{Analyzer, Document, FieldEntry, FieldKind, Postings, Records, Schema};
use scanns::search::{Model, Rm3};
use scanns::sources::{ReadOptions, SourceOptions};
use scanns::writer::{FlushBuffers, IndexWriter, SEGMENT_MEMORY, StoredOptions, WriterOptions};
use scanns::{Index, Query, Snapshot};
use unicode_segmentation::UnicodeSegmentation;

fn collection() -> Option<PathBuf> {
    let root = std::env::var_os("SCANNS_TEST_DATA").map(PathBuf::from);
    let root = root.unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"));
    let path = root.join("cacm/docs.jsonl");
    if path.exists() {
        return Some(path);
    }
    eprintln!("skipped: there is no {}; set SCANNS_TEST_DATA", path.display());
    None
}

#[test]
fn every_term_of_the_collection_is_found_in_its_documents_and_scored_by_the_formula() {
    let Some(path) = collection() else { return };
    let text = std::fs::read_to_string(&path).unwrap();
    let mut lengths = Vec::new();
    let mut expected = BTreeMap::<String, BTreeMap<usize, u32>>::new();
    for (doc, line) in text.lines().enumerate() {
        let words: Vec<String> = line.unicode_words().map(str::to_lowercase).collect();
        lengths.push(words.len());
        for word in words {
            *expected.entry(word).or_default().entry(doc).or_default() += 1;
        }
    }

    let place = tempfile::tempdir().unwrap();
    let index = place.path().join("cacm.scanns");
    let options = IndexOptions {
        source: SourceOptions { paths: vec![path.clone()], ..SourceOptions::default() },
        read: ReadOptions { lanes: 2, chunk_bytes: 300 << 10, ..ReadOptions::default() },
        records: Records::Lines,
        fields: scanns::sources::FieldOptions::default(),
        analyzer: Some(Analyzer::Standard),
        postings: None,
        stored: StoredOptions::default(),
        memory: 1 << 30,
        segment_memory: Some(SEGMENT_MEMORY),
        buffers: FlushBuffers::default(),
        merge: None,
        contents: None,
        extractors: None,
        again: false,
        dump: None,
        scan: Default::default(),
        changes: None,
        keep_removed: false,
        commit_every: None,
        commit_bytes: None,
        time_limit: None,
        snapshot: None,
    };
    let report =
        Index::at(&index).build(&options, &Progress::new(), &Arc::new(AtomicBool::new(false))).unwrap();
    assert_eq!(report.documents, lengths.len() as u64);
    assert_eq!(report.tokens, lengths.iter().sum::<usize>() as u64);

    let snapshot = Snapshot::open(&index).unwrap();
    assert_eq!(snapshot.unique_terms().unwrap(), expected.len() as u64);
    let searcher = snapshot.searcher();
    let documents = lengths.iter().filter(|&&len| len > 0).count() as f64;
    for (term, docs) in expected.iter().step_by(7) {
        let found = docs.len() as f64;
        let idf = ((documents + 1.0) / (found + 1.0)).ln() + 1.0;
        let query = snapshot.parse(term, Operator::Or).unwrap();
        let hits = searcher.top_k(&query, Model::Classic, lengths.len()).unwrap();
        assert_eq!(hits.len(), docs.len(), "{term}");
        for hit in hits {
            let key = String::from_utf8(searcher.key(&hit).unwrap()).unwrap();
            let line: usize = key.rsplit(':').next().unwrap().parse().unwrap();
            let freq = f64::from(docs[&(line - 1)]);
            // Lengths from 40 on are rounded down to four significant bits, so the score may be up to 7 %
            // higher.
            let exact = freq.sqrt() * idf / (lengths[line - 1] as f64).sqrt();
            let ratio = f64::from(hit.score) / exact;
            assert!((0.999..1.07).contains(&ratio), "{term} in {key}: {} for {exact}", hit.score);
        }
    }
}

/// The collection as documents with titles, authors and text, analyzed by the chain `english`.
fn index_documents(path: &Path, index: &Path) -> Snapshot {
    let mut schema = Schema::new();
    let kind = FieldKind::Text { analyzer: Analyzer::English, postings: Postings::Positions };
    let text = schema.add(FieldEntry::new("text", kind)).unwrap();
    let stored = StoredOptions { vectors: Some(true), ..StoredOptions::default() };
    let options = WriterOptions { stored, ..WriterOptions::default() };
    let writer = IndexWriter::open(index, Some(&schema), options).unwrap();
    for line in std::fs::read_to_string(path).unwrap().lines() {
        let document: serde_json::Value = serde_json::from_str(line).unwrap();
        let (id, contents) = (document["id"].as_str().unwrap(), document["contents"].as_str().unwrap());
        writer.add(&Document::new(id).text(text, contents)).unwrap();
    }
    writer.commit().unwrap();
    Snapshot::open(index).unwrap()
}

/// The best 1,000 documents of each topic, or of the topic expanded by feedback, with their scores. Documents
/// with equal scores are sorted by key.
fn rank(
    snapshot: &Snapshot,
    topics: &BTreeMap<u32, String>,
    model: Model,
    feedback: Option<Rm3>,
) -> BTreeMap<u32, Vec<(String, f32)>> {
    let searcher = snapshot.searcher();
    let mut tokenizer = Tokenizer::new(&Analyzer::English);
    let answer = |(&topic, text): (&u32, &String)| {
        let field = snapshot.schema().default_field().unwrap();
        let terms = tokenizer.terms(text).into_iter();
        let query = Query::any_of(terms.map(|term| Query::term(field, term)).collect());
        let expand = |rm3: Rm3| snapshot.expand(&query, field, model, &rm3).unwrap();
        let query = feedback.map_or(query.clone(), expand);
        let hits = searcher.top_k(&query, model, 5_000).unwrap();
        let mut ranked: Vec<(String, f32)> = hits
            .iter()
            .map(|hit| (String::from_utf8(searcher.key(hit).unwrap()).unwrap(), hit.score))
            .collect();
        ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        ranked.truncate(1_000);
        (topic, ranked)
    };
    topics.iter().map(answer).collect()
}

/// Mean average precision and mean precision after 30 documents.
fn measure(
    relevant: &BTreeMap<u32, BTreeSet<String>>,
    ranked: &BTreeMap<u32, Vec<(String, f32)>>,
) -> [String; 2] {
    let (mut precision, mut at_30) = (0.0, 0.0);
    for (topic, relevant) in relevant {
        let (mut found, mut sum) = (0.0, 0.0);
        for (rank, (key, _)) in (1..).zip(&ranked[topic]) {
            if relevant.contains(key) {
                found += 1.0;
                sum += found / f64::from(rank);
                at_30 += if rank <= 30 { 1.0 / 30.0 } else { 0.0 };
            }
        }
        precision += sum / relevant.len() as f64;
    }
    [precision, at_30].map(|sum| format!("{:.4}", sum / relevant.len() as f64))
}

#[test]
fn published_figures_of_the_collection_are_reached_to_four_decimals() {
    let Some(path) = collection() else { return };
    let place = tempfile::tempdir().unwrap();
    let snapshot = index_documents(&path, &place.path().join("cacm.scanns"));
    let info = snapshot.info();
    assert_eq!((info.documents, info.tokens, snapshot.unique_terms().unwrap()), (3204, 320_968, 14_363));
    let read = |name: &str| std::fs::read_to_string(path.with_file_name(name)).unwrap();
    let topics = read("queries.tsv");
    let topics = topics.lines().map(|line| line.split_once('\t').unwrap());
    let topics: BTreeMap<u32, String> =
        topics.map(|(topic, text)| (topic.parse().unwrap(), text.to_string())).collect();
    let mut relevant = BTreeMap::<u32, BTreeSet<String>>::new();
    for line in read("qrels.anserini-as-shipped.txt").lines() {
        let parts: Vec<&str> = line.split_whitespace().collect();
        relevant.entry(parts[0].parse().unwrap()).or_default().insert(parts[2].to_string());
    }
    assert_eq!(relevant.len(), 52);
    let bm25 = rank(&snapshot, &topics, Model::Bm25 { k1: 0.9, b: 0.4 }, None);
    let (bm25_model, likely) = (Model::Bm25 { k1: 0.9, b: 0.4 }, Model::LmDirichlet { mu: 1000.0 });
    for (model, feedback, expected) in [
        (bm25_model, None, ["0.3123", "0.1942"]),
        (Model::Bm25 { k1: 1.2, b: 0.75 }, None, ["0.3097", "0.1910"]),
        (likely, None, ["0.3265", "0.1942"]),
        (Model::Classic, None, ["0.2783", "0.1821"]),
        (bm25_model, Some(Rm3::default()), ["0.3648", "0.2224"]),
        (likely, Some(Rm3::default()), ["0.3629", "0.2250"]),
    ] {
        let ranked = rank(&snapshot, &topics, model, feedback);
        assert_eq!(measure(&relevant, &ranked), expected, "{model:?} {feedback:?}");
    }
    for line in read("expected-run-bm25.txt").lines() {
        let parts: Vec<&str> = line.split_whitespace().collect();
        let (topic, rank): (u32, usize) = (parts[0].parse().unwrap(), parts[3].parse().unwrap());
        let (key, score) = &bm25[&topic][rank - 1];
        // The scores there are rounded to four decimals, and equal scores are then made to differ by the
        // sixth.
        let off = (f64::from(*score) - parts[4].parse::<f64>().unwrap()).abs();
        assert!(key == parts[2] && off < 0.000_07, "{line}: {key} {score}");
    }
}
