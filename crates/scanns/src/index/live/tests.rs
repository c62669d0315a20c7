use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use fastrand::Rng;

use super::*;
use crate::error::Error;
use crate::index::commit::merge_policy::MergePolicy;
use crate::index::stored_options::StoredOptions;
use crate::index::{IndexOptions, MergeOptions, Progress, Snapshot, check_in, merge_in};
use crate::query::{Operator, Pattern, PhraseQuery, Query};
use crate::schema::{Analyzer, Document, Field, FieldEntry, FieldKind, Postings, Schema, Store, Value};
use crate::search::Model;
use crate::segment::CheckLevel;
use crate::source::SourceOptions;
use crate::store::RamDirectory;
use crate::sys::lock;

mod blocks;
mod columns;
mod memory;
mod near;
mod rows;
mod updates;
mod value_patterns;

struct Fields {
    schema: Schema,
    text: Field,
    title: Field,
    owner: Field,
}

fn fields() -> Fields {
    let mut schema = Schema::new();
    let kind = |postings| FieldKind::Text { analyzer: Analyzer::parse("whitespace").unwrap(), postings };
    let title = schema.add(FieldEntry::new("title", kind(Postings::Documents))).unwrap();
    let owner = schema.add(FieldEntry::new("owner", FieldKind::Keyword)).unwrap();
    let text = schema.add(FieldEntry::new("text", kind(Postings::Positions))).unwrap();
    Fields { schema, text, title, owner }
}

fn open(directory: &Arc<RamDirectory>, fields: &Fields, lanes: usize) -> IndexWriter {
    let policy =
        MergePolicy { segments: 3, least_bytes: 1 << 20, least_segments: 0, ..MergePolicy::default() };
    let options = WriterOptions { lanes, merge: Some(policy), ..WriterOptions::default() };
    IndexWriter::open_in(directory.clone(), Some(&fields.schema), options).unwrap()
}

/// Makes a lane be written as if it were full.
fn write_lane(writer: &IndexWriter, lane: usize) {
    let taken = writer.core.exchange(&mut lock(&writer.core.lanes[lane])).unwrap();
    writer.core.write(taken).unwrap();
}

/// The content of a document: title, owner and text.
type Said = (String, String, String);

/// Documents in the order in which they were added.
type Held = Vec<(String, Said)>;

fn random_said(random: &mut Rng) -> Said {
    let mut words = |most: usize, of: usize| {
        let count = random.usize(..most);
        (0..count).map(|_| format!("w{}", random.usize(..of))).collect::<Vec<_>>().join(" ")
    };
    (words(4, 9), ["ann", "bob smith", ""][words(3, 2).len() % 3].into(), words(40, 50))
}

fn document(fields: &Fields, key: &str, said: &Said) -> Document {
    let (title, owner, text) = said;
    Document::new(key)
        .text(fields.title, title.as_str())
        .text(fields.owner, owner.as_str())
        .text(fields.text, text.as_str())
}

/// Term → the keys of its documents, with frequencies, by a simple implementation.
fn expected(
    held: &Held,
    of: impl Fn(&Said) -> Vec<&str>,
    once: bool,
) -> BTreeMap<String, Vec<(String, u32)>> {
    let mut found: BTreeMap<String, BTreeMap<usize, u32>> = BTreeMap::new();
    for (place, (_, said)) in held.iter().enumerate() {
        for word in of(said) {
            *found.entry(word.into()).or_default().entry(place).or_default() += 1;
        }
    }
    let named = |(place, freq): (usize, u32)| (held[place].0.clone(), if once { 1 } else { freq });
    let sorted = |places: BTreeMap<usize, u32>| {
        let mut keys: Vec<_> = places.into_iter().map(named).collect();
        keys.sort();
        keys
    };
    found.into_iter().map(|(word, places)| (word, sorted(places))).collect()
}

fn found(
    snapshot: &Snapshot,
    field: Field,
    terms: impl Iterator<Item = String>,
) -> BTreeMap<String, Vec<(String, u32)>> {
    let searcher = snapshot.searcher_in(field);
    let lookup = |term: String| {
        let query = Query::term(field, term.as_str());
        let mut keys = Vec::new();
        // Without norms, and with a rising function of the frequency: its inverse is the frequency.
        let model = Model::Bm25 { k1: 1.0, b: 0.0 };
        let mut scores = Vec::new();
        searcher
            .for_each(&query, model, |hit| {
                scores.push((String::from_utf8(searcher.key(&hit).unwrap()).unwrap(), hit.score));
                ControlFlow::Continue(())
            })
            .unwrap();
        let stats = searcher.stats().unwrap();
        let all = stats.documents_with_terms as f64;
        let doc_freq = snapshot
            .segments_in(field)
            .iter()
            .filter_map(|segment| segment.find_all(term.as_bytes()).unwrap())
            .map(|(info, _)| f64::from(info.doc_freq()))
            .sum::<f64>();
        let idf = (1.0 + (all - doc_freq + 0.5) / (doc_freq + 0.5)).ln();
        for (key, score) in scores {
            let part = f64::from(score) / idf;
            #[expect(clippy::cast_possible_truncation, reason = "small frequencies")]
            keys.push((key, (part / (1.0 - part)).round() as u32));
        }
        keys.sort();
        (term, keys)
    };
    terms.map(lookup).filter(|(_, keys)| !keys.is_empty()).collect()
}

fn must_hold(directory: &RamDirectory, fields: &Fields, held: &Held, what: &str) {
    let snapshot = Snapshot::open_in(directory).unwrap().unwrap();
    assert_eq!(snapshot.info().documents, held.len() as u64, "{what}");
    let all_words =
        |said: &Said| [&*said.0, &*said.2].join(" ").split(' ').map(String::from).collect::<Vec<_>>();
    let words = || {
        let said = held.iter().flat_map(|(_, said)| all_words(said)).filter(|word| !word.is_empty());
        (0..60).map(|word| format!("w{word}")).chain(said).collect::<BTreeSet<_>>().into_iter()
    };
    let title = expected(held, |said| said.0.split(' ').filter(|word| !word.is_empty()).collect(), true);
    assert_eq!(found(&snapshot, fields.title, words()), title, "{what}: titles");
    let text = expected(held, |said| said.2.split(' ').filter(|word| !word.is_empty()).collect(), false);
    assert_eq!(found(&snapshot, fields.text, words()), text, "{what}: texts");
    let owners = ["ann", "bob smith", "bob", "smith"].map(String::from).into_iter();
    let owner = expected(
        held,
        |said| Some(said.1.as_str()).filter(|name| !name.is_empty()).into_iter().collect(),
        true,
    );
    assert_eq!(found(&snapshot, fields.owner, owners), owner, "{what}: owners");
    let report = check_in(directory, CheckLevel::Cross, &Progress::new(), &AtomicBool::new(false)).unwrap();
    assert!(report.is_whole(), "{what}: {report:?}");
}

#[test]
fn whatever_is_added_updated_and_deleted_is_what_a_list_would_hold() {
    for lanes in [1, 3] {
        let seed = 0x5eed_0501 + lanes as u64;
        let mut random = Rng::with_seed(seed);
        let fields = fields();
        let directory = Arc::new(RamDirectory::new());
        let mut writer = open(&directory, &fields, lanes);
        let (mut held, mut committed) = (Held::new(), None);
        for round in 0..600 {
            let what = format!("seed {seed:x} round {round}");
            let key = format!("k{}", random.usize(..40));
            match random.usize(..40) {
                0..10 => {
                    let said = random_said(&mut random);
                    writer.add(&document(&fields, &key, &said)).unwrap();
                    held.push((key, said));
                }
                10..24 => {
                    let said = random_said(&mut random);
                    writer.update(&document(&fields, &key, &said)).unwrap();
                    held.retain(|(other, _)| *other != key);
                    held.push((key, said));
                }
                24..29 => {
                    writer.delete(key.as_bytes()).unwrap();
                    held.retain(|(other, _)| *other != key);
                }
                29 => {
                    let word = format!("w{}", random.usize(..50));
                    writer.delete_matching(&Query::term(fields.text, word.as_str())).unwrap();
                    held.retain(|(_, said)| !said.2.split(' ').any(|other| other == word));
                }
                30..34 => {
                    let lane = random.usize(..lanes);
                    write_lane(&writer, lane);
                }
                34 => {
                    // Operations after a prepared commit are not in it.
                    let prepared = writer.prepare().unwrap();
                    let at_that_time = held.clone();
                    let said = random_said(&mut random);
                    writer.update(&document(&fields, &key, &said)).unwrap();
                    held.retain(|(other, _)| *other != key);
                    held.push((key, said));
                    if random.bool() {
                        prepared.commit().unwrap();
                        committed = Some(at_that_time);
                    }
                    if let Some(committed) = &committed {
                        must_hold(&directory, &fields, committed, &what);
                    }
                }
                35 => {
                    // Uncommitted documents are gone.
                    writer.roll_back();
                    writer = open(&directory, &fields, lanes);
                    held = committed.clone().unwrap_or_default();
                }
                _ => {
                    writer.commit().unwrap();
                    committed = Some(held.clone());
                    must_hold(&directory, &fields, &held, &what);
                }
            }
        }
        assert_eq!(writer.merge_failure(), None);
    }
}

/// No reader ever sees a key without its document, or with two.
fn each_key_is_there_once(directory: &RamDirectory, fields: &Fields, count: usize) {
    let snapshot = Snapshot::open_in(directory).unwrap().unwrap();
    let mut keys = Vec::new();
    let searcher = snapshot.searcher_in(fields.owner);
    let visit = |hit: crate::search::Hit| {
        keys.push(searcher.key(&hit).unwrap());
        ControlFlow::Continue(())
    };
    searcher.for_each(&Query::term(fields.owner, b"ann"), Model::Classic, visit).unwrap();
    keys.sort();
    let mut all: Vec<_> = (0..count).map(|key| format!("k{key}").into_bytes()).collect();
    all.sort();
    assert_eq!(keys, all);
}

#[test]
fn the_latest_update_of_a_key_wins_whatever_thread_made_it() {
    const KEYS: usize = 20;
    let fields = fields();
    let directory = Arc::new(RamDirectory::new());
    let writer = open(&directory, &fields, 2);
    let said = |number: u64| ("t".into(), "ann".into(), format!("n{number}"));
    for key in 0..KEYS {
        writer.add(&document(&fields, &format!("k{key}"), &said(0))).unwrap();
    }
    writer.commit().unwrap();
    let over = AtomicBool::new(false);
    let latest = std::thread::scope(|scope| {
        let update = |thread: u64| {
            let (writer, fields) = (&writer, &fields);
            scope.spawn(move || {
                let mut random = Rng::with_seed(0x5eed_0510 + thread);
                let mut made = Vec::new();
                for turn in 0..2000 {
                    let (key, number) = (random.usize(..KEYS), thread * 10_000 + turn);
                    let document = document(fields, &format!("k{key}"), &said(number));
                    made.push((writer.update(&document).unwrap(), key, number));
                    if random.usize(..200) == 0 {
                        write_lane(writer, random.usize(..2));
                    }
                }
                made
            })
        };
        let threads: Vec<_> = (1..5).map(update).collect();
        let committer = scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                writer.commit().unwrap();
                each_key_is_there_once(&directory, &fields, KEYS);
            }
        });
        let mut latest = BTreeMap::new();
        for (sequence, key, number) in threads.into_iter().flat_map(|thread| thread.join().unwrap()) {
            let now = latest.entry(key).or_insert((sequence, number));
            *now = (sequence, number).max(*now);
        }
        over.store(true, Ordering::Relaxed);
        committer.join().unwrap();
        latest
    });
    writer.commit().unwrap();
    let held = latest.iter().map(|(key, (_, number))| (format!("k{key}"), said(*number))).collect();
    must_hold(&directory, &fields, &held, "at the end");
    assert_eq!(writer.merge_failure(), None);
    let snapshot = Snapshot::open_in(&*directory).unwrap().unwrap();
    for (key, (_, number)) in latest {
        let query = Query::term(fields.text, format!("n{number}"));
        let hits = snapshot.searcher().top_k(&query, Model::Classic, 9).unwrap();
        assert_eq!(hits.len(), 1);
        assert_eq!(snapshot.key(&hits[0]).unwrap(), format!("k{key}").into_bytes());
    }
}

#[test]
fn notes_travel_with_the_commit_that_they_were_made_for() {
    let fields = fields();
    let directory = Arc::new(RamDirectory::new());
    let writer = open(&directory, &fields, 1);
    let noted = || Snapshot::open_in(&*directory).unwrap().unwrap().notes().get(b"at".as_slice()).cloned();
    assert_eq!(writer.commit().unwrap(), Commit { generation: 1, sequence: 0 });
    assert_eq!(writer.commit().unwrap().generation, 1, "nothing has changed");
    writer.note(b"at", Some(b"5"));
    drop(writer.prepare().unwrap());
    assert_eq!(noted(), None);
    assert_eq!(writer.commit().unwrap().generation, 2);
    assert_eq!(noted(), Some(b"5".to_vec()));
    writer.note(b"at", None);
    writer.prepare().unwrap().commit().unwrap();
    assert_eq!(noted(), None);
}

#[test]
fn what_cannot_be_is_refused_and_the_writer_goes_on() {
    let fields = fields();
    let directory = Arc::new(RamDirectory::new());
    let options = WriterOptions { memory: 260 << 20, lanes: 2, ..WriterOptions::default() };
    let refused = |schema: Option<&Schema>, options| {
        IndexWriter::open_in(directory.clone(), schema, options).err().map(|error| error.to_string())
    };
    assert!(refused(None, options).unwrap().contains("give the schema"));
    assert!(refused(Some(&Schema::new()), options).unwrap().contains("searched"));
    let tight = WriterOptions { memory: 90 << 20, ..options };
    assert!(refused(Some(&fields.schema), tight).unwrap().contains("at least"));
    let writer = IndexWriter::open_in(directory.clone(), Some(&fields.schema), options).unwrap();
    assert!(matches!(writer.add(&Document::new("")), Err(Error::InvalidValue { .. })));
    assert!(writer.add(&Document::new("k").with(fields.owner, Value::Unsigned(1))).is_err());
    assert!(writer.delete_matching(&Query::term(Field::new(9).unwrap(), b"x")).is_err());
    let terms = vec![(0, b"a".to_vec()), (1, b"b".to_vec())];
    let phrase = |field| Query::Phrase(PhraseQuery { field, terms: terms.clone(), slop: 0 });
    let error = writer.delete_matching(&phrase(fields.title)).unwrap_err();
    assert!(error.to_string().contains("positions"), "{error}");
    writer.delete_matching(&phrase(fields.text)).unwrap();
    // More terms than a search would read.
    let many: String = (0..3000).map(|word| format!("p{word} ")).collect();
    writer.add(&Document::new("m").text(fields.text, many)).unwrap();
    writer.delete_matching(&Query::pattern(fields.text, Pattern::Prefix(b"p".to_vec()))).unwrap();
    writer.add(&Document::new("k").text(fields.text, "first")).unwrap();
    // Four million words do not fit, and the documents that they would replace stay.
    let huge: String = (0..6_000_000).map(|word| format!("{word:x} ")).collect();
    let error =
        writer.update(&Document::new("k").text(fields.title, "t").text(fields.text, huge)).unwrap_err();
    assert!(error.to_string().contains("size of a document"), "{error}");
    writer.add(&Document::new("l").text(fields.text, "second")).unwrap();
    writer.commit().unwrap();
    let snapshot = Snapshot::open_in(&*directory).unwrap().unwrap();
    let hits = |field: Field, text| {
        let query = snapshot.parse_in(&[field.into()], text, Operator::Or).unwrap();
        snapshot.searcher_in(field).count(&query).unwrap()
    };
    assert_eq!(["first", "second", "ffff"].map(|word| hits(fields.text, word)), [1, 1, 0]);
    assert_eq!((hits(fields.title, "t"), snapshot.info().documents), (0, 2));
    let other = Schema::of_files(Analyzer::Standard, Postings::Frequencies);
    drop(writer);
    assert!(refused(Some(&other), options).unwrap().contains("conflicts with the schema of the index"));
    assert_eq!(refused(None, options), None);
}

#[test]
fn stored_values_come_back_through_commits_and_merges() {
    let seed = 0x5eed_0530;
    let mut random = Rng::with_seed(seed);
    let mut schema = Schema::new();
    let words = FieldKind::Text { analyzer: Analyzer::Standard, postings: Postings::Frequencies };
    let text = schema.add(FieldEntry::new("text", words).stored()).unwrap();
    let size = schema.add(FieldEntry::new("size", FieldKind::Unsigned).stored()).unwrap();
    let owner = schema.add(FieldEntry::new("owner", FieldKind::Keyword)).unwrap();
    let directory = Arc::new(RamDirectory::new());
    let options = WriterOptions { lanes: 2, merge: None, ..WriterOptions::default() };
    let writer = IndexWriter::open_in(directory.clone(), Some(&schema), options).unwrap();
    let mut model = BTreeMap::new();
    for _ in 0..20 {
        for _ in 0..random.usize(1..60) {
            let key = format!("k{}", random.usize(..200));
            let said = format!("Word{} Everywhere", random.usize(..1000)).repeat(random.usize(1..200));
            let document = Document::new(key.as_str()).text(text, said.as_str()).text(owner, "ann");
            let document = document.with(size, Value::Unsigned(said.len() as u64));
            writer.update(&document).unwrap();
            model.insert(key.into_bytes(), said.into_bytes());
        }
        writer.commit().unwrap();
    }
    drop(writer);
    for merged in [false, true] {
        if merged {
            merge_in(&*directory, &MergeOptions::default(), &Progress::new(), &AtomicBool::new(false))
                .unwrap();
        }
        let snapshot = Snapshot::open_in(&*directory).unwrap().unwrap();
        let mut found = BTreeMap::new();
        let query = snapshot.parse("everywhere", Operator::Or).unwrap();
        for hit in snapshot.searcher().top_k(&query, Model::Classic, 1000).unwrap() {
            let said = snapshot.document(&hit).unwrap().unwrap();
            let values = vec![(text, Value::Text(said.clone())), (size, Value::Unsigned(said.len() as u64))];
            assert_eq!(snapshot.values(&hit).unwrap(), Some(values));
            found.insert(snapshot.key(&hit).unwrap(), said);
        }
        assert_eq!(found, model, "seed {seed:x} merged {merged}");
        let report = check_in(&*directory, CheckLevel::Cross, &Progress::new(), &AtomicBool::new(false));
        assert!(report.unwrap().is_whole());
    }
    let files = IndexOptions::default();
    let error = crate::index::build_in(&*directory, &files, &Progress::new(), &Arc::default()).unwrap_err();
    assert!(error.to_string().contains("stores fields"), "{error}");
}

#[test]
fn documents_join_files_whose_text_and_vectors_are_stored() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("file");
    std::fs::write(&path, "One Two one").unwrap();
    let directory = Arc::new(RamDirectory::new());
    let stored = StoredOptions { store: Some(Store::Content), vectors: Some(true), compression: None };
    let source = SourceOptions { paths: vec![path], ..SourceOptions::default() };
    let files = IndexOptions { source, stored, memory: 1 << 30, ..IndexOptions::default() };
    crate::index::build_in(&*directory, &files, &Progress::new(), &Arc::default()).unwrap();
    let writer = IndexWriter::open_in(directory.clone(), None, WriterOptions::default()).unwrap();
    let text = writer.schema().default_field().unwrap();
    writer.add(&Document::new("k").text(text, "Two Three").text(text, " two")).unwrap();
    writer.commit().unwrap();
    drop(writer);
    merge_in(&*directory, &MergeOptions::default(), &Progress::new(), &AtomicBool::new(false)).unwrap();
    let snapshot = Snapshot::open_in(&*directory).unwrap().unwrap();
    let hits = snapshot.searcher().top_k(&Query::term(text, b"three"), Model::Classic, 9).unwrap();
    assert_eq!(snapshot.document(&hits[0]).unwrap().unwrap(), b"Two Three two");
    let vector = snapshot.vector(&hits[0]).unwrap().unwrap();
    let terms: Vec<_> = vector.iter().map(|term| (&*term.term, term.positions.clone())).collect();
    assert_eq!(terms, [(b"three".as_slice(), vec![1]), (b"two", vec![0, 2])]);
    let report = check_in(&*directory, CheckLevel::Cross, &Progress::new(), &AtomicBool::new(false)).unwrap();
    assert!(report.is_whole(), "{report:?}");
    // References are to files, and a document from a program has none.
    let other = Arc::new(RamDirectory::new());
    let stored = StoredOptions { store: Some(Store::Reference), ..StoredOptions::default() };
    let files = IndexOptions { stored, ..files };
    crate::index::build_in(&*other, &files, &Progress::new(), &Arc::default()).unwrap();
    let error = IndexWriter::open_in(other, None, WriterOptions::default()).err().unwrap();
    assert!(error.to_string().contains("references"), "{error}");
}
