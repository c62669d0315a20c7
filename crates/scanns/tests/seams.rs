//! Implementations that programs can provide: a directory that stores an index, and a leaf that is searched.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test, outside of functions marked as one")]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use fastrand::Rng;
use scanns::index::{MergeOptions, Progress};
use scanns::query::Operator;
use scanns::schema::{Document, FieldEntry, Schema};
use scanns::search::{
    Leaf, LeafStats, ListSource, Model, PositionSource, Searcher, TermRef, TermStream, length_to_norm,
};
use scanns::store::{Directory, RamDirectory};
use scanns::writer::WriterOptions;
use scanns::{Error, Index, Result, Snapshot};

#[path = "../examples/directory.rs"]
#[expect(dead_code, reason = "the example's own session is not run here")]
mod directory;

const WORDS: [&str; 12] =
    ["ant", "bee", "cat", "dog", "eel", "fox", "gnu", "hen", "ibis", "jay", "kite", "antler"];

/// A few words; the first words are frequent.
fn random_text(random: &mut Rng) -> String {
    let word = |random: &mut Rng| {
        let known = random.usize(1..=WORDS.len());
        WORDS[random.usize(..known)]
    };
    (0..random.usize(..30)).map(|_| word(random)).collect::<Vec<_>>().join(" ")
}

fn schema() -> Schema {
    let mut schema = Schema::new();
    schema.add(FieldEntry::text("text").positions()).unwrap();
    schema
}

const QUERIES: [&str; 9] = [
    "ant",
    "kite jay",
    "+ant +gnu",
    "\"ant bee\"",
    "\"bee ant cat\"~4",
    "an*",
    "antlre~2",
    "*",
    "ant -bee fox",
];

/// The keys and scores of the best hits of all queries.
fn answers(snapshot: &Snapshot) -> Vec<Vec<(Vec<u8>, f32)>> {
    let searcher = snapshot.searcher();
    let hits = |text: &&str| {
        let query = snapshot.parse(text, Operator::Or).unwrap();
        let hits = searcher.top_k(&query, Model::Classic, 1000).unwrap();
        hits.iter().map(|hit| (snapshot.key(hit).unwrap(), hit.score)).collect()
    };
    QUERIES.iter().map(hits).collect()
}

#[test]
fn an_index_in_a_directory_from_outside_answers_as_one_in_memory() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = Rng::with_seed(seed);
    let objects = directory::ObjectDirectory::default();
    let places: [Arc<dyn Directory>; 2] = [Arc::new(objects.clone()), Arc::new(RamDirectory::new())];
    let indexes = places.map(Index::in_directory);
    let mut keys = 0;
    for round in 0..4 {
        let texts: Vec<String> = (0..100).map(|_| random_text(&mut random)).collect();
        let deleted: Vec<usize> = (0..20).map(|_| random.usize(..keys + texts.len())).collect();
        for index in &indexes {
            // Scores count deleted documents until a merge drops them, so merges must not depend on time.
            let options = WriterOptions { merge: None, ..WriterOptions::default() };
            let writer = index.writer_with(Some(&schema()), options).unwrap();
            assert!(matches!(index.writer(), Err(Error::Locked { .. })), "the lock is held");
            let field = writer.schema().field("text").unwrap();
            for (number, text) in (keys..).zip(&texts) {
                writer.add(&Document::new(number.to_string()).text(field, text.as_str())).unwrap();
            }
            for number in &deleted {
                writer.delete(number.to_string().as_bytes()).unwrap();
            }
            writer.commit().unwrap();
        }
        keys += texts.len();
        let [ours, other] = indexes.each_ref().map(|index| answers(&index.snapshot().unwrap()));
        assert_eq!(ours, other, "seed {seed}, round {round}");
        assert!(ours.iter().any(|hits| !hits.is_empty()));
    }
    for index in &indexes {
        index.merge(&MergeOptions::default(), &Progress::new(), &AtomicBool::new(false)).unwrap();
    }
    let [ours, other] = indexes.each_ref().map(|index| answers(&index.snapshot().unwrap()));
    assert_eq!(ours, other, "seed {seed}, merged");
    let (puts, gets) = objects.requests();
    assert!(puts > 0 && gets > 0);
}

/// The documents of a word, with its positions in each.
type Found = BTreeMap<u32, Vec<u32>>;

/// Texts in memory.
struct Texts {
    norms: Vec<u8>,
    terms: BTreeMap<Vec<u8>, Found>,
    stats: LeafStats,
}

impl Texts {
    fn new(texts: &[String]) -> Self {
        let (mut terms, mut norms) = (BTreeMap::<Vec<u8>, Found>::new(), Vec::new());
        let mut stats = LeafStats { documents: texts.len() as u64, ..LeafStats::default() };
        for (doc, text) in (0..).zip(texts) {
            let mut length = 0;
            for (position, word) in (0..).zip(text.split(' ').filter(|word| !word.is_empty())) {
                terms.entry(word.into()).or_default().entry(doc).or_default().push(position);
                length += 1;
            }
            norms.push(length_to_norm(length));
            stats.total_length += length;
            stats.documents_with_terms += u64::from(length > 0);
        }
        Texts { norms, terms, stats }
    }

    /// The reference of the term with this number.
    fn reference(&self, number: usize) -> TermRef {
        let found = self.found(&TermRef { handle: [number as u64, 0], ..TermRef::default() });
        TermRef {
            doc_freq: u32::try_from(found.len()).unwrap(),
            total_freq: found.values().map(|positions| positions.len() as u64).sum(),
            handle: [number as u64, 0],
            ..TermRef::default()
        }
    }

    fn found(&self, term: &TermRef) -> &Found {
        self.terms.values().nth(usize::try_from(term.handle[0]).unwrap()).unwrap()
    }
}

impl Leaf for Texts {
    fn max_doc(&self) -> u32 {
        u32::try_from(self.norms.len()).unwrap()
    }

    fn norms(&self) -> Result<&[u8]> {
        Ok(&self.norms)
    }

    fn stats(&self) -> LeafStats {
        self.stats
    }

    fn find(&self, term: &[u8]) -> Result<Option<TermRef>> {
        Ok(self.terms.keys().position(|other| other == term).map(|number| self.reference(number)))
    }

    fn postings<'a>(&'a self, term: &TermRef) -> Result<ListSource<'a>> {
        let frequency = |positions: &Vec<u32>| u32::try_from(positions.len()).unwrap();
        let (docs, tfs) =
            self.found(term).iter().map(|(&doc, positions)| (doc, frequency(positions))).unzip();
        Ok(ListSource::Decoded { docs, tfs })
    }

    fn terms<'a>(&'a self) -> Result<Box<dyn TermStream + 'a>> {
        Ok(Box::new(Terms { texts: self, words: self.terms.keys().collect(), at: None }))
    }

    fn positions<'a>(&'a self, term: &TermRef) -> Result<PositionSource<'a>> {
        let (docs, positions) = self.found(term).iter().map(|(&doc, found)| (doc, found.clone())).unzip();
        Ok(PositionSource::Decoded(docs, positions))
    }

    fn is_live(&self, _doc: u32) -> bool {
        true
    }

    fn key(&self, doc: u32) -> Result<Vec<u8>> {
        Ok(doc.to_string().into_bytes())
    }
}

struct Terms<'a> {
    texts: &'a Texts,
    words: Vec<&'a Vec<u8>>,
    at: Option<usize>,
}

impl TermStream for Terms<'_> {
    fn step(&mut self) -> Result<bool> {
        let at = self.at.map_or(0, |at| at + 1);
        self.at = Some(at);
        Ok(at < self.words.len())
    }

    fn seek(&mut self, target: &[u8]) -> Result<bool> {
        let at = self.words.partition_point(|word| word.as_slice() < target).max(self.at.unwrap_or(0));
        self.at = Some(at);
        Ok(at < self.words.len())
    }

    fn term(&self) -> &[u8] {
        self.words[self.at.unwrap()]
    }

    fn found(&mut self) -> Result<TermRef> {
        Ok(self.texts.reference(self.at.unwrap()))
    }
}

#[test]
fn leaves_from_outside_are_searched_as_the_segments_of_an_index() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = Rng::with_seed(seed);
    for round in 0..20 {
        let texts: Vec<String> = (0..random.usize(1..600)).map(|_| random_text(&mut random)).collect();
        let index = Index::in_directory(Arc::new(RamDirectory::new()));
        let writer = index.writer_with(Some(&schema()), WriterOptions::default()).unwrap();
        let field = writer.schema().field("text").unwrap();
        for (number, text) in texts.iter().enumerate() {
            writer.add(&Document::new(number.to_string()).text(field, text.as_str())).unwrap();
        }
        writer.commit().unwrap();
        let snapshot = index.snapshot().unwrap();

        let (first, second) = texts.split_at(random.usize(..=texts.len()));
        let leaves = [Texts::new(first), Texts::new(second)];
        let searcher =
            Searcher::over(vec![(field, leaves.iter().map(|leaf| leaf as &dyn Leaf).collect())], field);
        for (text, expected) in QUERIES.iter().zip(answers(&snapshot)) {
            let query = snapshot.parse(text, Operator::Or).unwrap();
            let hits = searcher.top_k(&query, Model::Classic, 1000).unwrap();
            let number = |leaf: usize, doc: u32| doc as usize + if leaf == 0 { 0 } else { first.len() };
            let ours: Vec<(Vec<u8>, f32)> = hits
                .iter()
                .map(|hit| (number(hit.leaf, hit.doc).to_string().into_bytes(), hit.score))
                .collect();
            assert_eq!(ours, expected, "seed {seed}, round {round}, {text}");
        }
    }
}
