use std::ops::Range;

use super::*;
use crate::index::{IndexWriter, MergeOptions, MergePolicy, WriterOptions, check_in, delete_in, merge_in};
use crate::query::Query;
use crate::schema::{Document, Field, FieldEntry, FieldKind, Schema, Store};
use crate::search::Hit;
use crate::segment::CheckLevel;
use crate::store::RamDirectory;
use crate::tokenize::Tokenizer;

const LETTERS: [&str; 12] = ["a", "B", "7", "é", "Ⱥ", "İ", "日", " ", " ", "\n", ", ", "\u{345}"];

/// Files of words of one to many bytes, some of them not UTF-8.
fn strange_files(random: &mut Rng, root: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = random_files(random, root);
    for n in 0..12 {
        let mut text = Vec::new();
        for _ in 0..[3, 500, 70_000][n % 3] {
            match random.u16(..200) {
                0 => text.extend(b"\xf0\x9f"),
                1 => text.extend(b"\xff"),
                _ => text.extend(LETTERS[random.usize(..LETTERS.len())].bytes()),
            }
        }
        // A term that is cut.
        text.extend(vec![b'x'; if n == 5 { 150_000 } else { 0 }]);
        text.extend(b" end");
        let path = root.join(format!("strange{n}"));
        fs::write(&path, &text).unwrap();
        files.push((path, text));
    }
    files
}

/// The text form of a term.
fn analyzed(analyzer: &Analyzer, text: &[u8]) -> Vec<u8> {
    match analyzer {
        Analyzer::Standard => {
            let text = String::from_utf8_lossy(text);
            text.chars().filter_map(|c| c.to_lowercase().next()).collect::<String>().into_bytes()
        }
        _ => text.to_vec(),
    }
}

/// The occurrences of a term in a document: positions and offsets.
type Standing = (Vec<u32>, Vec<Range<u32>>);

/// The terms of a document from its vector, checked against the text for each of its tokens.
fn document(snapshot: &Snapshot, hit: &Hit, what: &str) -> BTreeMap<Vec<u8>, Standing> {
    let analyzer = snapshot.info().analyzer;
    let text = snapshot.document(hit).unwrap().unwrap();
    let tokens = Tokenizer::new(&analyzer).terms_of(&mut text.clone());
    let (mut terms, mut starts) = (BTreeMap::new(), BTreeMap::new());
    for found in snapshot.vector(hit).unwrap().unwrap() {
        assert_eq!(found.positions.len(), found.offsets.len(), "{what}");
        for (&position, range) in found.positions.iter().zip(&found.offsets) {
            let stands = analyzed(&analyzer, &text[range.start as usize..range.end as usize]);
            assert!(stands == found.term && tokens[position as usize] == stands, "{what} {range:?}");
            starts.insert(position, range.start);
        }
        terms.insert(found.term, (found.positions, found.offsets));
    }
    assert!(starts.len() == tokens.len() && starts.values().is_sorted(), "{what}");
    terms
}

/// Checks all offsets of an index that stores the text and the vectors of documents; returns their number.
fn must_hold(directory: &RamDirectory, what: &str) -> u64 {
    let snapshot = Snapshot::open_in(directory).unwrap().unwrap();
    // Only some of many lines are checked, because each unpacks a block.
    let step = if snapshot.info().documents > 1000 { 32 } else { 1 };
    let searcher = snapshot.searcher();
    let mut documents = BTreeMap::new();
    for (number, (term, _)) in snapshot.terms(b"", usize::MAX).unwrap().into_iter().enumerate() {
        // Only some of the many offsets are checked, fewest in one large document.
        if number % if term.starts_with(b"n") { 64 } else { 5 } > 0 {
            continue;
        }
        let visit = |hit: Hit| {
            if !hit.doc.is_multiple_of(step) {
                return ControlFlow::Continue(());
            }
            let terms =
                documents.entry((hit.leaf, hit.doc)).or_insert_with(|| document(&snapshot, &hit, what));
            let found = (snapshot.positions(&hit, &term).unwrap(), snapshot.offsets(&hit, &term).unwrap());
            assert_eq!(terms[&term], found, "{what}");
            ControlFlow::Continue(())
        };
        let query = Query::term(Field::default(), term.clone());
        searcher.for_each(&query, Model::Bm25 { k1: 1.2, b: 0.75 }, visit).unwrap();
    }
    // All others are compared with the vectors here.
    let checked = check_in(directory, CheckLevel::Cross, &Progress::new(), &AtomicBool::new(false)).unwrap();
    assert!(checked.is_whole(), "{what}: {checked:?}");
    snapshot.info().tokens
}

#[test]
fn every_token_stands_where_its_offsets_say_through_flushes_replacements_deletes_and_merges() {
    for (records, analyzer) in [
        (Records::File, "standard"),
        (Records::Lines, "standard"),
        (Records::File, "whitespace"),
        (Records::Lines, "whitespace"),
    ] {
        let what = format!("{records:?} {analyzer}");
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("in");
        strange_files(&mut Rng::with_seed(41), &root);
        let large = records == Records::File && analyzer == "standard";
        if large {
            // Each takes a third of the memory of a segment and looks smaller, so that some are cut in the
            // middle.
            for n in 0..4 {
                let words = (0..90_000).map(|i| format!("{} n{n}w{i}", ["A", "bb", "ĉ"][i % 3]));
                fs::write(root.join(format!("large{n}")), words.collect::<Vec<_>>().join("\n")).unwrap();
            }
        }
        let directory = RamDirectory::new();
        let mut options = options(&root, records, if large { 1 } else { 2 });
        options.analyzer = Some(Analyzer::parse(analyzer).unwrap());
        options.postings = Some(Postings::Offsets);
        options.segment_memory = Some(16 << 20);
        options.stored =
            StoredOptions { store: Some(Store::Content), compression: None, vectors: Some(true) };
        let add = |options: &IndexOptions| {
            build_in(&directory, options, &Progress::new(), &Arc::default()).unwrap()
        };
        let report = add(&options);
        assert!(report.failed.is_empty(), "{what} {report:?}");
        assert!(report.segments > 1 || !large, "{what} {report:?}");
        let count = must_hold(&directory, &what);
        // New documents have offsets without the option, and the documents that they replace are gone.
        (options.postings, options.again) = (None, true);
        options.merge = Some(MergePolicy::default());
        add(&options);
        assert_eq!(must_hold(&directory, &format!("{what} replaced")), count);
        delete_in(&directory, &Selection::Query("end".into(), Operator::Or)).unwrap();
        merge_in(&directory, &MergeOptions::default(), &Progress::new(), &AtomicBool::new(false)).unwrap();
        assert!(must_hold(&directory, &format!("{what} merged")) < count);
        let info = Snapshot::open_in(&directory).unwrap().unwrap().info();
        assert!(info.postings == Postings::Offsets && (1..info.index_bytes).contains(&info.position_bytes));
    }
}

#[test]
fn an_index_has_offsets_from_its_first_build_on_or_never() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("in");
    fs::create_dir(&root).unwrap();
    fs::write(root.join("file"), "one two one").unwrap();
    for (first, then, expected) in [
        (None, Postings::Offsets, "without positions"),
        (Some(Postings::Positions), Postings::Offsets, "without offsets"),
        (Some(Postings::Offsets), Postings::Positions, "with offsets"),
    ] {
        let directory = RamDirectory::new();
        let mut options = options(&root, Records::File, 1);
        options.postings = first;
        let add = |options: &IndexOptions| build_in(&directory, options, &Progress::new(), &Arc::default());
        add(&options).unwrap();
        options.postings = Some(then);
        let error = add(&options).unwrap_err();
        assert!(matches!(error, Error::Conflict { .. }) && error.to_string().contains(expected), "{error}");
        let snapshot = Snapshot::open_in(&directory).unwrap().unwrap();
        let query = Query::term(Field::default(), b"one");
        let hit = snapshot.searcher().top_k(&query, Model::Classic, 1).unwrap().remove(0);
        match (first, snapshot.offsets(&hit, b"one")) {
            (Some(Postings::Offsets), offsets) => assert_eq!(offsets.unwrap(), [0..3, 8..11]),
            (_, refused) => assert!(refused.unwrap_err().to_string().contains("an index with offsets")),
        }
    }
}

#[test]
fn values_of_a_field_go_on_one_byte_after_each_other() {
    let mut schema = Schema::new();
    let kind = |postings| FieldKind::Text { analyzer: Analyzer::parse("standard").unwrap(), postings };
    let text = schema.add(FieldEntry::new("text", kind(Postings::Offsets))).unwrap();
    let directory = Arc::new(RamDirectory::new());
    let options = WriterOptions {
        stored: StoredOptions { vectors: Some(true), ..StoredOptions::default() },
        ..WriterOptions::default()
    };
    let writer = IndexWriter::open_in(directory.clone(), Some(&schema), options).unwrap();
    // The last document is longer than the amount that is processed in one step.
    let values = ["One two", "", "two \u{c9}t\u{e9}", &"more ".repeat(60_000), "two"];
    for key in ["a", "b"] {
        let document = values.iter().fold(Document::new(key), |document, &value| document.text(text, value));
        writer.add(&document).unwrap();
    }
    writer.commit().unwrap();
    let snapshot = Snapshot::open_in(&*directory).unwrap().unwrap();
    let joined = values.join("\n");
    for hit in snapshot.searcher().top_k(&Query::term(Field::default(), b"two"), Model::Classic, 9).unwrap() {
        let mut count = 0;
        for term in snapshot.vector(&hit).unwrap().unwrap() {
            assert_eq!(snapshot.offsets(&hit, &term.term).unwrap(), term.offsets);
            for range in &term.offsets {
                let found = &joined[range.start as usize..range.end as usize];
                assert_eq!(found.to_lowercase().as_bytes(), term.term);
                count += 1;
            }
        }
        assert_eq!(count, 60_005);
    }
    let checked =
        check_in(&*directory, CheckLevel::Cross, &Progress::new(), &AtomicBool::new(false)).unwrap();
    assert!(checked.is_whole(), "{checked:?}");
}
