use fastrand::Rng;
use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::*;
use crate::error::{Error, Result};
use crate::invert::InvertOptions;
use crate::query::{Operator, Query};
use crate::read::ReadOptions;
use crate::schema::{Analyzer, Field, Postings, Records};
use crate::search::{Leaf, Model, Searcher};
use crate::segment::FlushBuffers;
use crate::source::SourceOptions;
use crate::sys::PageSize;

mod access;
mod archives;
mod chains;
mod changes;
mod collection_files;
mod collections;
mod columns;
mod contents;
mod divided_csv;
mod dumps;
mod flush;
mod joined;
mod joins;
mod keyed;
mod living;
mod metadata;
mod mutations;
mod near;
mod offsets;
mod positions;
mod records;
mod reorder;
mod resume;
mod scans;
mod scored;
mod similar;
mod stored;
mod unforeseen;
mod untyped;

fn options(root: &Path, records: Records, lanes: usize) -> IndexOptions {
    let read = ReadOptions { lanes, block_bytes: 64 << 10, chunk_bytes: 200 << 10, ..ReadOptions::default() };
    IndexOptions {
        source: SourceOptions { paths: vec![root.to_path_buf()], threads: 2, ..SourceOptions::default() },
        dump: None,
        scan: Default::default(),
        changes: None,
        read: ReadOptions { pages: PageSize::Base, ..read },
        records,
        fields: FieldOptions { metadata: Some(false), ..FieldOptions::default() },
        analyzer: Some(Analyzer::parse("whitespace").unwrap()),
        postings: None,
        stored: StoredOptions::default(),
        memory: 512 << 20,
        segment_memory: Some(SEGMENT_MEMORY),
        buffers: FlushBuffers::default(),
        merge: None,
        contents: None,
        extractors: None,
        again: false,
        keep_removed: false,
        commit_every: None,
        commit_bytes: None,
        time_limit: None,
        snapshot: None,
    }
}

fn run(index: &Path, options: &IndexOptions) -> Result<IndexReport> {
    build(index, options, &Progress::new(), &Arc::new(AtomicBool::new(false)))
}

/// Term → key → frequency, by a simple implementation.
type Oracle = BTreeMap<Vec<u8>, BTreeMap<Vec<u8>, u32>>;

fn add_words(oracle: &mut Oracle, key: &[u8], text: &[u8]) {
    let words = text.split(|byte| b" \t\n\x0b\x0c\r".contains(byte)).filter(|word| !word.is_empty());
    for word in words {
        *oracle.entry(word.to_vec()).or_default().entry(key.to_vec()).or_default() += 1;
    }
}

fn oracle(files: &[(PathBuf, Vec<u8>)], records: Records) -> Oracle {
    let mut oracle = Oracle::new();
    for (path, text) in files {
        let path = path.as_os_str().as_encoded_bytes();
        match records {
            Records::File => add_words(&mut oracle, path, text),
            _ => {
                for (number, line) in text.split(|&byte| byte == b'\n').enumerate() {
                    add_words(
                        &mut oracle,
                        format!("{}:{}", String::from_utf8_lossy(path), number + 1).as_bytes(),
                        line,
                    );
                }
            }
        }
    }
    oracle
}

/// Every term of the snapshot with its keys and frequencies.
fn contents(snapshot: &Snapshot) -> Oracle {
    let mut found = Oracle::new();
    let searcher = snapshot.searcher();
    for (term, doc_freq) in snapshot.terms(b"", usize::MAX).unwrap() {
        let query = Query::term(Field::default(), term.clone());
        let mut keys = BTreeMap::new();
        let visit = |hit| {
            // BM25 with b = 0 and one term gives the frequency back: score = idf · f / (f + k1).
            keys.insert(searcher.key(&hit).unwrap(), hit.score);
            ControlFlow::Continue(())
        };
        searcher.for_each(&query, Model::Bm25 { k1: 1.0, b: 0.0 }, visit).unwrap();
        assert_eq!(keys.len() as u64, doc_freq);
        let documents = searcher.stats().unwrap().documents_with_terms as f64;
        let idf = (1.0 + (documents - doc_freq as f64 + 0.5) / (doc_freq as f64 + 0.5)).ln();
        #[expect(clippy::cast_possible_truncation, reason = "small frequencies")]
        let freq = |score: f32| {
            let part = f64::from(score) / idf;
            (part / (1.0 - part)).round() as u32
        };
        found.insert(term, keys.into_iter().map(|(key, score)| (key, freq(score))).collect());
    }
    found
}

fn random_files(random: &mut Rng, root: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    fs::create_dir_all(root.join("sub")).unwrap();
    (0..40)
        .map(|n| {
            let len = [0, 1, 100, 5_000, 300_000][random.usize(..5)];
            let mut text = Vec::new();
            while text.len() < len {
                let bound = 1 + random.usize(..3000);
                text.extend_from_slice(format!("w{}", random.usize(..bound)).as_bytes());
                text.push(b" \n\t "[random.usize(..4)]);
            }
            let path = root.join(format!("{}file{n}", if n % 3 == 0 { "sub/" } else { "" }));
            fs::write(&path, &text).unwrap();
            (path, text)
        })
        .collect()
}

#[test]
fn every_way_of_building_gives_the_postings_of_an_ordered_map() {
    let seed = 0x5eed_0301;
    let mut random = Rng::with_seed(seed);
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("in");
    let files = random_files(&mut random, &root);
    for records in [Records::File, Records::Lines] {
        let expected = oracle(&files, records);
        for lanes in [1, 2, 4] {
            for (uring, read_threads) in [(true, 1), (false, lanes)] {
                let index = place.path().join(format!("{records:?}{lanes}{uring}.scanns"));
                let mut options = options(&root, records, lanes);
                (options.read.uring, options.read.read_threads) = (uring, read_threads);
                let report = run(&index, &options).unwrap();
                assert!(report.failed.is_empty(), "{:?}", report.failed);
                let snapshot = Snapshot::open(&index).unwrap();
                assert!(
                    contents(&snapshot) == expected,
                    "seed {seed:x} {records:?} lanes {lanes} uring {uring}"
                );
                assert_eq!(snapshot.unique_terms().unwrap(), expected.len() as u64);
                let tokens =
                    expected.values().flat_map(BTreeMap::values).map(|&freq| u64::from(freq)).sum::<u64>();
                assert_eq!(
                    (report.tokens, report.bytes),
                    (tokens, files.iter().map(|f| f.1.len() as u64).sum())
                );
            }
        }
    }
}

#[test]
fn distinct_terms_are_counted_across_segments_even_where_their_first_bytes_are_alike() {
    let seed = 0x5eed_0305;
    let mut random = Rng::with_seed(seed);
    let place = tempfile::tempdir().unwrap();
    let index = place.path().join("x.scanns");
    let mut expected = std::collections::BTreeSet::new();
    for n in 0..6 {
        let terms: Vec<String> = (0..400)
            .map(|_| {
                let shared = ["", "p", "0123456789abcde", "0123456789abcdef", "0123456789abcdef0123"]
                    [random.usize(..5)];
                let own: String = (0..random.usize(..6)).map(|_| ["a", "b"][random.usize(..2)]).collect();
                format!("{shared}{own}")
            })
            .collect();
        let path = place.path().join(format!("file{n}"));
        fs::write(&path, terms.join(" ")).unwrap();
        expected.extend(terms.into_iter().filter(|term| !term.is_empty()));
        run(&index, &options(&path, Records::File, 1)).unwrap();
    }
    let snapshot = Snapshot::open(&index).unwrap();
    assert_eq!(snapshot.segments().len(), 6);
    assert_eq!(snapshot.unique_terms().unwrap(), expected.len() as u64, "seed {seed:x}");
}

#[test]
fn memory_and_disk_give_the_same_answers() {
    let seed = 0x5eed_0302;
    let mut random = Rng::with_seed(seed);
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("in");
    let files = random_files(&mut random, &root);
    let analyzer = Analyzer::parse("whitespace").unwrap();
    let invert = InvertOptions { budget: 256 << 20, pages: PageSize::Base, ..InvertOptions::default() };
    let mut parts =
        [MemoryIndex::new(&analyzer, &invert).unwrap(), MemoryIndex::new(&analyzer, &invert).unwrap()];
    for (n, (path, text)) in files.iter().enumerate() {
        assert!(parts[n % 2].add(path.as_os_str().as_encoded_bytes(), &mut text.clone()));
    }
    parts.iter_mut().for_each(MemoryIndex::settle);
    let index = place.path().join("x.scanns");
    run(&index, &options(&root, Records::File, 2)).unwrap();
    let snapshot = Snapshot::open(&index).unwrap();
    let (memory, disk) = (Searcher::new(parts.iter().map(|p| p as &dyn Leaf).collect()), snapshot.searcher());
    assert_eq!(memory.stats().unwrap(), disk.stats().unwrap());
    for text in ["w1", "w1 w2 w3", "+w5 w7", "w1 AND w9", "w3 -w4", "(w1 OR w2) AND (w3 OR w2999)", "w123456"]
    {
        let query = snapshot.parse(text, Operator::Or).unwrap();
        for model in [Model::Classic, Model::Bm25 { k1: 1.2, b: 0.75 }, Model::PNorm { p: 2.0 }] {
            let sorted = |searcher: &Searcher<'_>| {
                let mut hits = Vec::new();
                let visit = |hit| {
                    hits.push(hit);
                    ControlFlow::Continue(())
                };
                searcher.for_each(&query, model, visit).unwrap();
                let mut keyed: Vec<_> =
                    hits.iter().map(|hit| (searcher.key(hit).unwrap(), hit.score.to_bits())).collect();
                keyed.sort();
                keyed
            };
            assert_eq!(sorted(&memory), sorted(&disk), "seed {seed:x} {text} {model:?}");
            assert_eq!(memory.count(&query).unwrap(), disk.count(&query).unwrap());
        }
    }
}

#[test]
fn a_small_cap_makes_more_segments_and_no_other_answers() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("in");
    fs::create_dir(&root).unwrap();
    // Enough distinct terms to fill a thread's memory several times, in lines, in one large and several small
    // files.
    let mut files = Vec::new();
    for n in 0..4 {
        let lines: Vec<String> =
            (0..if n == 0 { 250_000 } else { 60_000 }).map(|i| format!("t{n}x{i} same\n")).collect();
        let path = root.join(format!("file{n}"));
        fs::write(&path, lines.concat()).unwrap();
        files.push(path);
    }
    for records in [Records::File, Records::Lines] {
        let index = place.path().join(format!("{records:?}.scanns"));
        let mut options = options(&root, records, 1);
        options.memory = 70 << 20;
        let report = run(&index, &options).unwrap();
        assert!(report.failed.is_empty(), "{:?}", report.failed);
        assert!(report.segments > 1, "{records:?}: {} segments", report.segments);
        let snapshot = Snapshot::open(&index).unwrap();
        assert_eq!(snapshot.unique_terms().unwrap(), 430_001);
        let searcher = snapshot.searcher();
        for (n, path) in files.iter().enumerate() {
            let query = snapshot.parse(&format!("t{n}x59999"), Operator::Or).unwrap();
            let hits = searcher.top_k(&query, Model::Classic, 10).unwrap();
            let key = searcher.key(&hits[0]).unwrap();
            let path = path.display();
            let expected = if records == Records::File { path.to_string() } else { format!("{path}:60000") };
            assert_eq!((hits.len(), String::from_utf8(key).unwrap()), (1, expected));
        }
        let query = snapshot.parse("same", Operator::Or).unwrap();
        assert_eq!(searcher.count(&query).unwrap(), if records == Records::File { 4 } else { 430_000 });
    }
}

#[test]
fn a_document_that_outgrows_the_memory_is_a_counted_failure_and_the_rest_is_indexed() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("in");
    fs::create_dir(&root).unwrap();
    let huge: String = (0..1_500_000).map(|i| format!("u{i} ")).collect();
    fs::write(root.join("huge"), huge).unwrap();
    fs::write(root.join("small"), "kept\n").unwrap();
    let mut options = options(&root, Records::File, 1);
    options.memory = 70 << 20;
    let index = place.path().join("x.scanns");
    let report = run(&index, &options).unwrap();
    assert_eq!((report.failed.len(), report.documents), (1, 1));
    assert!(report.failed[0].reason.contains("more memory"), "{}", report.failed[0].reason);
    let snapshot = Snapshot::open(&index).unwrap();
    assert_eq!(snapshot.terms(b"", 9).unwrap(), [(b"kept".to_vec(), 1)]);
}

#[test]
fn what_comes_before_a_document_that_outgrows_the_memory_is_kept_under_its_own_name() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("in");
    fs::create_dir(&root).unwrap();
    let huge: String = (0..1_500_000).map(|i| format!("u{i} ")).collect();
    // Larger files come first: a file with a single term precedes the file that does not fit.
    fs::write(root.join("before"), "early ".repeat(huge.len() / 6 + 1000)).unwrap();
    fs::write(root.join("huge"), &huge).unwrap();
    fs::write(root.join("after"), "late").unwrap();
    let lines = place.path().join("lines");
    fs::write(&lines, format!("early\n{huge}\nlate\n")).unwrap();
    for (input, records, keys) in
        [(&root, Records::File, ["before", "after"]), (&lines, Records::Lines, [":1", ":3"])]
    {
        let mut options = options(input, records, 1);
        // More than may be carried over into the next segment, less than the document needs.
        options.memory = 110 << 20;
        let index = place.path().join(format!("{records:?}.scanns"));
        let report = run(&index, &options).unwrap();
        assert_eq!((report.failed.len(), report.documents), (1, 2), "{records:?}");
        let snapshot = Snapshot::open(&index).unwrap();
        let searcher = snapshot.searcher();
        for (word, key) in ["early", "late"].into_iter().zip(keys) {
            let hits =
                searcher.top_k(&snapshot.parse(word, Operator::Or).unwrap(), Model::Classic, 9).unwrap();
            let found: Vec<_> =
                hits.iter().map(|hit| String::from_utf8(searcher.key(hit).unwrap()).unwrap()).collect();
            assert!(found.len() == 1 && found[0].ends_with(key), "{records:?} {word}: {found:?}");
        }
    }
}

#[test]
fn what_is_added_needs_the_analyzer_of_the_index() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("in");
    fs::create_dir(&root).unwrap();
    fs::write(root.join("a"), "A/b").unwrap();
    let index = place.path().join("x.scanns");
    let mut options = options(&root, Records::File, 1);
    run(&index, &options).unwrap();
    options.analyzer = Some(Analyzer::Standard);
    assert!(matches!(run(&index, &options), Err(Error::Conflict { .. })));
    options.analyzer = None;
    run(&index, &options).unwrap();
    let snapshot = Snapshot::open(&index).unwrap();
    assert_eq!((snapshot.info().generation, snapshot.info().documents), (1, 1), "nothing changed");
    assert_eq!(snapshot.terms(b"", 9).unwrap(), [(b"A/b".to_vec(), 1)]);
}

#[test]
fn a_cancelled_build_leaves_the_last_commit_and_nothing_else() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("in");
    fs::create_dir(&root).unwrap();
    fs::write(root.join("a"), "word").unwrap();
    let index = place.path().join("x.scanns");
    let options = options(&root, Records::File, 1);
    let cancelled = || build(&index, &options, &Progress::new(), &Arc::new(AtomicBool::new(true)));
    assert!(cancelled().is_ok_and(|report| report.cancelled) || !index.exists());
    assert!(!index.exists());
    run(&index, &options).unwrap();
    let before: Vec<_> = names(&index);
    let _ = cancelled();
    assert_eq!(names(&index), before);
    assert_eq!(Snapshot::open(&index).unwrap().info().documents, 1);
}

fn names(index: &Path) -> Vec<std::ffi::OsString> {
    let mut names: Vec<_> = fs::read_dir(index).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    names
}

#[test]
fn only_one_writer_at_a_time() {
    let place = tempfile::tempdir().unwrap();
    let index = place.path().join("x.scanns");
    fs::create_dir(&index).unwrap();
    let directory = crate::store::FsDirectory::new(&index);
    let lock = crate::store::Directory::lock(&directory).unwrap();
    let options = options(place.path(), Records::File, 1);
    assert!(matches!(run(&index, &options), Err(Error::Locked { .. })));
    drop(lock);
    assert!(run(&index, &options).is_ok());
}

#[test]
fn progress_ends_where_the_inputs_do() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("in");
    let files = random_files(&mut Rng::with_seed(7), &root);
    let progress = Progress::new();
    let stop = Arc::new(AtomicBool::new(false));
    let options = options(&root, Records::File, 2);
    let report = build(&place.path().join("x.scanns"), &options, &progress, &stop).unwrap();
    assert_eq!(progress.bytes(), files.iter().map(|file| file.1.len() as u64).sum::<u64>());
    assert_eq!((progress.total_bytes(), progress.documents()), (progress.bytes(), report.documents));
    assert_eq!(progress.total_files(), files.len() as u64);
}

#[test]
fn an_index_in_the_tree_that_it_indexes_is_no_input() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("a"), "word").unwrap();
    let index = place.path().join("x.scanns");
    for round in 0..2 {
        let report = run(&index, &options(place.path(), Records::File, 1)).unwrap();
        assert_eq!((report.documents, report.failed.len(), report.unchanged), (1 - round, 0, round));
        assert_eq!(Snapshot::open(&index).unwrap().info().documents, 1);
    }
}

#[test]
fn nothing_is_lost_of_text_without_white_space_and_around_tokens_larger_than_a_block() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("in");
    fs::create_dir(&root).unwrap();
    let json: Vec<String> = (0..40_000).map(|i| format!("{{\"k{i}\":\"value{i}\"}}")).collect();
    fs::write(root.join("a.json"), json.join(",")).unwrap();
    // One token over several blocks, as the last line of its file and without a line feed; others follow.
    fs::write(root.join("b"), [b"before it\n".as_slice(), &[b'x'; 400_000]].concat()).unwrap();
    fs::write(root.join("c"), [b"first line\n".as_slice(), &[b'y'; 300_000], b" same\nafter\n"].concat())
        .unwrap();
    fs::write(root.join("d"), "last file\n").unwrap();
    for analyzer in ["standard", "whitespace"] {
        let index = place.path().join(format!("{analyzer}.scanns"));
        let mut options = options(&root, Records::Lines, 1);
        options.analyzer = Some(Analyzer::parse(analyzer).unwrap());
        let report = run(&index, &options).unwrap();
        assert_eq!((report.documents, report.failed.len()), (1 + 2 + 3 + 1, 0), "{analyzer}");
        let snapshot = Snapshot::open(&index).unwrap();
        let searcher = snapshot.searcher();
        let mut expected =
            vec![("before", "b:1"), ("first", "c:1"), ("same", "c:2"), ("after", "c:3"), ("last", "d:1")];
        if analyzer == "standard" {
            expected.extend([("value0", "a.json:1"), ("value39999", "a.json:1")]);
            assert_eq!(snapshot.terms(b"value", usize::MAX).unwrap().len(), 40_000);
        }
        for (word, key) in expected {
            let query = snapshot.parse(word, Operator::Or).unwrap();
            let hits = searcher.top_k(&query, Model::Classic, 10).unwrap();
            let keys: Vec<_> = hits.iter().map(|hit| searcher.key(hit).unwrap()).collect();
            assert_eq!(keys, [root.join(key).as_os_str().as_encoded_bytes()], "{analyzer} {word}");
        }
    }
}

#[test]
fn line_feeds_and_carriage_returns_are_no_part_of_the_terms_of_lines() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("in");
    fs::create_dir(&root).unwrap();
    fs::write(root.join("table.csv"), "a,b\r\nc,d\ne,b").unwrap();
    let index = place.path().join("x.scanns");
    let mut options = options(&root, Records::Lines, 1);
    options.analyzer = Some(Analyzer::Bytes(crate::schema::Delimiters::new(b",")));
    run(&index, &options).unwrap();
    let terms = Snapshot::open(&index).unwrap().terms(b"", 99).unwrap();
    let expected: Vec<_> =
        [("a", 1), ("b", 2), ("c", 1), ("d", 1), ("e", 1)].map(|(t, n)| (t.as_bytes().to_vec(), n)).into();
    assert_eq!(terms, expected);
}

#[test]
fn files_of_others_are_neither_taken_for_an_index_nor_removed() {
    let place = tempfile::tempdir().unwrap();
    let index = place.path().join("x.scanns");
    fs::create_dir(&index).unwrap();
    fs::write(index.join("weather.seg"), "precious").unwrap();
    let options = options(place.path(), Records::File, 1);
    assert!(matches!(run(&index, &options), Err(Error::NotAnIndex { .. })));
    assert_eq!(fs::read(index.join("weather.seg")).unwrap(), b"precious");
}
