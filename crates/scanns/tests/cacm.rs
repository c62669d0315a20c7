//! Real text of others, if it is there: the CACM collection, as lines of JSON.
//!
//! `SCANNS_TEST_DATA` names the directory that holds `cacm/docs.jsonl`; without it these tests say that they
//! were skipped.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use scanns::{
    Analyzer, FlushOptions, IndexOptions, Model, Operator, Progress, ReadOptions, Records, SEGMENT_MEMORY,
    Snapshot, SourceOptions,
};
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
        analyzer: Some(Analyzer::Standard),
        postings: None,
        stored: scanns::StoredOptions::default(),
        memory: 1 << 30,
        segment_memory: SEGMENT_MEMORY,
        flush: FlushOptions::default(),
        merge: None,
        again: false,
        commit_every: None,
        commit_bytes: None,
        time_limit: None,
    };
    let report =
        scanns::build(&index, &options, &Progress::new(), &Arc::new(AtomicBool::new(false))).unwrap();
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
            // Lengths from 40 on are rounded down to four significant bits, so the score may be up to 7 % higher.
            let exact = freq.sqrt() * idf / (lengths[line - 1] as f64).sqrt();
            let ratio = f64::from(hit.score) / exact;
            assert!((0.999..1.07).contains(&ratio), "{term} in {key}: {} for {exact}", hit.score);
        }
    }
}
