use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::*;
use crate::content::ContentOptions;
use crate::index::{MergeOptions, MergePolicy, check_in, delete_in, merge_in};
use crate::query::Query;
use crate::schema::{Compression, Field, Store, Stored};
use crate::search::SnippetOptions;
use crate::segment::CheckLevel;
use crate::store::RamDirectory;

/// Key → text and terms with their places.
type Documents = BTreeMap<Vec<u8>, (Vec<u8>, BTreeMap<Vec<u8>, Vec<u32>>)>;

fn places(text: &[u8]) -> BTreeMap<Vec<u8>, Vec<u32>> {
    let mut places = BTreeMap::<_, Vec<u32>>::new();
    let words = text.split(|byte| b" \t\n\x0b\x0c\r".contains(byte)).filter(|word| !word.is_empty());
    for (position, word) in (0..).zip(words) {
        places.entry(word.to_vec()).or_default().push(position);
    }
    places
}

/// The expected stored data of `files`; documents without a term cannot be found.
fn expected(files: &[(PathBuf, Vec<u8>)], records: Records) -> Documents {
    let mut documents = Documents::new();
    for (path, text) in files {
        let path = path.as_os_str().as_encoded_bytes();
        match records {
            Records::File => drop(documents.insert(path.to_vec(), (text.clone(), places(text)))),
            _ => {
                for (number, line) in (1..).zip(text.split(|&byte| byte == b'\n')) {
                    let key = [path, format!(":{number}").as_bytes()].concat();
                    documents.insert(key, (line.to_vec(), places(line)));
                }
            }
        }
    }
    documents.retain(|_, (_, terms)| !terms.is_empty());
    documents
}

/// The number of documents that are all read; of larger indexes, this number of documents is read.
const READ: usize = 300;

/// The key of every document with a term, and the stored data of some of them.
fn found(snapshot: &Snapshot, stored: Stored) -> (BTreeSet<Vec<u8>>, Documents) {
    let searcher = snapshot.searcher();
    let mut hits = BTreeMap::new();
    let visit = |hit: crate::search::Hit| {
        hits.insert((hit.leaf, hit.doc), hit);
        ControlFlow::Continue(())
    };
    let query = Query::Exists(Field::default());
    searcher.for_each(&query, Model::Bm25 { k1: 1.2, b: 0.75 }, visit).unwrap();
    let keys = hits.values().map(|hit| snapshot.key(hit).unwrap()).collect();
    let mut found = Documents::new();
    for hit in hits.values().step_by(hits.len().div_ceil(READ).max(1)) {
        let text = snapshot.document(hit).unwrap();
        assert_eq!(text.is_some(), stored.store != Store::None);
        let vector = snapshot.vector(hit).unwrap();
        assert_eq!(vector.is_some(), stored.vectors);
        let vector = vector.unwrap_or_default().into_iter().map(|term| (term.term, term.positions)).collect();
        found.insert(snapshot.key(hit).unwrap(), (text.unwrap_or_default(), vector));
    }
    (keys, found)
}

fn must_be(directory: &RamDirectory, expected: &Documents, stored: Stored, what: &str) {
    let snapshot = Snapshot::open_in(directory).unwrap().unwrap();
    assert_eq!(snapshot.info().stored, stored, "{what}");
    let (keys, found) = found(&snapshot, stored);
    assert!(keys.iter().eq(expected.keys()), "{what}");
    for (key, (text, vector)) in found {
        let name = key.escape_ascii();
        assert!(stored.store == Store::None || expected[&key].0 == text, "{what} {name}");
        assert!(!stored.vectors || expected[&key].1 == vector, "{what} {name}");
    }
    let never = AtomicBool::new(false);
    let checked = check_in(directory, CheckLevel::Cross, &Progress::new(), &never).unwrap();
    assert!(checked.is_whole(), "{what}: {checked:?}");
}

fn keeping(root: &Path, records: Records, lanes: usize, stored: Stored) -> IndexOptions {
    let mut options = options(root, records, lanes);
    options.postings = Some(Postings::Positions);
    options.segment_memory = Some(16 << 20);
    options.contents = Some(ContentOptions::RAW);
    options.stored = StoredOptions {
        store: Some(stored.store),
        compression: Some(stored.compression),
        vectors: Some(stored.vectors),
    };
    options
}

fn add(directory: &RamDirectory, options: &IndexOptions) -> Result<IndexReport> {
    build_in(directory, options, &Progress::new(), &Arc::default())
}

const CONTENT: Stored = Stored { store: Store::Content, compression: Compression::Lz4, vectors: true };
const REFERENCE: Stored =
    Stored { store: Store::Reference, compression: Compression::Zstd(1), vectors: false };
const VECTORS: Stored = Stored { store: Store::None, compression: Compression::Zstd(1), vectors: true };

#[test]
fn what_is_stored_survives_flushes_inside_documents_replacements_deletes_and_merges() {
    for (records, stored) in [
        (Records::File, CONTENT),
        (Records::File, REFERENCE),
        (Records::Lines, CONTENT),
        (Records::Lines, REFERENCE),
        (Records::Lines, VECTORS),
    ] {
        let what = format!("{records:?} {stored:?}");
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("in");
        let mut files = random_files(&mut Rng::with_seed(31), &root);
        fs::write(root.join("windows"), b"one\r\n\r\ntwo \xff\r\n").unwrap();
        files.push((root.join("windows"), b"one\r\n\r\ntwo \xff\r\n".to_vec()));
        if records == Records::File {
            // Each takes a third of the memory of a segment and looks smaller, so that some are cut in the
            // middle.
            for n in 0..4 {
                let words = (0..90_000).map(|i| format!("{} n{n}w{i}", ["a", "bb", "c"][i % 3]));
                let text = words.collect::<Vec<_>>().join("\n").into_bytes();
                fs::write(root.join(format!("large{n}")), &text).unwrap();
                files.push((root.join(format!("large{n}")), text));
            }
        }
        let directory = RamDirectory::new();
        let mut options = keeping(&root, records, 2, stored);
        let report = add(&directory, &options).unwrap();
        assert!(report.failed.is_empty(), "{report:?}");
        let all = expected(&files, records);
        must_be(&directory, &all, stored, &what);
        // New documents are stored without the option.
        (options.stored, options.again) = (StoredOptions::default(), true);
        options.merge = Some(MergePolicy::default());
        add(&directory, &options).unwrap();
        must_be(&directory, &all, stored, &what);
        let mut left = all.clone();
        let mut random = Rng::with_seed(32);
        left.retain(|_, _| random.u8(..4) > 0);
        let gone = all.keys().filter(|key| !left.contains_key(*key)).cloned().collect();
        delete_in(&directory, &crate::index::Selection::Keys(gone)).unwrap();
        must_be(&directory, &left, stored, &what);
        merge_in(&directory, &MergeOptions::default(), &Progress::new(), &AtomicBool::new(false)).unwrap();
        must_be(&directory, &left, stored, &what);
        let options = MergeOptions { reorder: true, memory: 16 << 20, ..MergeOptions::default() };
        merge_in(&directory, &options, &Progress::new(), &AtomicBool::new(false)).unwrap();
        must_be(&directory, &left, stored, &what);
    }
}

#[test]
fn files_and_lines_of_one_index_are_referred_to_side_by_side() {
    let place = tempfile::tempdir().unwrap();
    let (first, second) = (place.path().join("first"), place.path().join("second"));
    let files = random_files(&mut Rng::with_seed(33), &first);
    let lines = random_files(&mut Rng::with_seed(34), &second);
    let mut all = expected(&files, Records::File);
    all.extend(expected(&lines, Records::Lines));
    for stored in [REFERENCE, CONTENT] {
        let directory = RamDirectory::new();
        add(&directory, &keeping(&first, Records::File, 2, stored)).unwrap();
        add(&directory, &keeping(&second, Records::Lines, 2, stored)).unwrap();
        must_be(&directory, &all, stored, "apart");
        merge_in(&directory, &MergeOptions::default(), &Progress::new(), &AtomicBool::new(false)).unwrap();
        must_be(&directory, &all, stored, "as one");
        let options = MergeOptions { reorder: true, memory: 16 << 20, ..MergeOptions::default() };
        merge_in(&directory, &options, &Progress::new(), &AtomicBool::new(false)).unwrap();
        must_be(&directory, &all, stored, "as one");
    }
}

#[test]
fn a_build_that_was_stopped_stores_what_it_would_have_stored() {
    for (records, stored) in
        [(Records::File, CONTENT), (Records::Lines, CONTENT), (Records::Lines, REFERENCE)]
    {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("in");
        fs::create_dir(&root).unwrap();
        let mut files = Vec::new();
        for n in 0..20 {
            let words = (0..20_000).map(|i| format!("t{n}x{} w{}", i * 7919 % 100_000, i % 11));
            let text = words.collect::<Vec<_>>().join("\n").into_bytes();
            fs::write(root.join(format!("file{n:02}")), &text).unwrap();
            files.push((root.join(format!("file{n:02}")), text));
        }
        let total: u64 = files.iter().map(|(_, text)| text.len() as u64).sum();
        let directory = RamDirectory::new();
        let mut options = keeping(&root, records, 2, stored);
        options.commit_every = Some(Duration::ZERO);
        for percent in [30, 60] {
            let (progress, cancel) = (Progress::new(), Arc::new(AtomicBool::new(false)));
            std::thread::scope(|scope| {
                let build = scope.spawn(|| build_in(&directory, &options, &progress, &cancel));
                while !build.is_finished() && progress.bytes() < total * percent / 100 {
                    std::thread::yield_now();
                }
                cancel.store(true, Ordering::Relaxed);
                assert!(build.join().unwrap().is_ok_and(|report| report.documents > 0) || percent > 30);
            });
        }
        options.stored = StoredOptions::default();
        let last = add(&directory, &options).unwrap();
        assert!(!last.cancelled && last.replaced == 0, "{last:?}");
        must_be(&directory, &expected(&files, records), stored, &format!("{records:?} {stored:?}"));
    }
}

#[test]
fn an_index_stores_from_its_first_build_on_or_never() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("in");
    fs::create_dir(&root).unwrap();
    fs::write(root.join("file"), "one two one").unwrap();
    let none = Stored::default();
    for (first, then, expected) in [
        (none, CONTENT, Some("with store none")),
        (CONTENT, REFERENCE, Some("with store content")),
        (CONTENT, Stored { vectors: false, ..CONTENT }, Some("with vectors")),
        (REFERENCE, Stored { vectors: true, ..REFERENCE }, Some("without vectors")),
        (CONTENT, Stored { compression: Compression::Zstd(3), ..CONTENT }, None),
    ] {
        let directory = RamDirectory::new();
        add(&directory, &keeping(&root, Records::File, 1, first)).unwrap();
        let mut options = keeping(&root, Records::File, 1, then);
        options.again = true;
        match (add(&directory, &options), expected) {
            (Err(error), Some(expected)) => {
                assert!(
                    matches!(error, Error::Conflict { .. }) && error.to_string().contains(expected),
                    "{error}"
                );
                assert!(error.to_string().contains("build another index"), "{error}");
            }
            (added, expected) => assert!(added.is_ok() && expected.is_none(), "{expected:?}"),
        }
        let now = if expected.is_none() { then } else { first };
        options.stored = StoredOptions::default();
        add(&directory, &options).unwrap();
        assert_eq!(Snapshot::open_in(&directory).unwrap().unwrap().info().stored, now);
    }
}

#[test]
fn a_file_that_changed_is_not_read_as_if_it_had_not() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("in");
    fs::create_dir(&root).unwrap();
    let path = root.join("file");
    for records in [Records::File, Records::Lines] {
        fs::write(&path, "one two\nthree").unwrap();
        let directory = RamDirectory::new();
        add(&directory, &keeping(&root, records, 1, REFERENCE)).unwrap();
        let snapshot = Snapshot::open_in(&directory).unwrap().unwrap();
        let query = snapshot.parse("three", Operator::Or).unwrap();
        let hits = snapshot.searcher().top_k(&query, Model::Bm25 { k1: 1.2, b: 0.75 }, 9).unwrap();
        let text: &[u8] = if records == Records::File { b"one two\nthree" } else { b"three" };
        assert_eq!(snapshot.document(&hits[0]).unwrap().as_deref(), Some(text));
        let modified = fs::metadata(&path).unwrap().modified().unwrap();
        let set_modified =
            |time| fs::File::options().append(true).open(&path).unwrap().set_modified(time).unwrap();
        let refused = |why: &str| {
            let error = snapshot.document(&hits[0]).unwrap_err();
            assert!(matches!(error, Error::SourceChanged { .. }), "{error}");
            assert!(
                error.to_string().contains(why) && error.to_string().contains("index it again"),
                "{error}"
            );
        };
        set_modified(modified + Duration::from_secs(1));
        refused("it has been modified");
        fs::write(&path, "one two\nthree four").unwrap();
        set_modified(modified);
        refused("18 bytes, but had 13");
        fs::remove_file(&path).unwrap();
        refused("it no longer exists");
        fs::write(&path, "one two\nthree").unwrap();
        set_modified(modified);
        assert_eq!(snapshot.document(&hits[0]).unwrap().as_deref(), Some(text));
    }
}

#[test]
fn what_is_stored_keeps_within_the_memory_and_a_document_that_does_not_fit_is_told() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("in");
    fs::create_dir(&root).unwrap();
    // Incompressible bytes with few terms.
    let mut random = Rng::with_seed(35);
    let mut noise = |len: usize| (0..len).map(|_| random.u8(b'a'..)).collect::<Vec<u8>>();
    let mut files = Vec::new();
    for n in 0..3 {
        let mut text = noise(3 << 20);
        text.extend_from_slice(format!(" marker{n}").as_bytes());
        files.push((root.join(format!("file{n}")), text));
    }
    files.push((root.join("huge"), [noise(90 << 20), b" hugemarker".to_vec()].concat()));
    files.iter().for_each(|(path, text)| fs::write(path, text).unwrap());
    let directory = RamDirectory::new();
    let mut options = keeping(&root, Records::File, 1, Stored { vectors: false, ..CONTENT });
    options.memory = 128 << 20;
    let report = add(&directory, &options).unwrap();
    assert_eq!((report.documents, report.failed.len()), (3, 1), "{report:?}");
    assert!(report.failed[0].path.ends_with("huge") && report.failed[0].reason.contains("more memory"));
    options.memory = 1 << 30;
    options.again = true;
    let report = add(&directory, &options).unwrap();
    assert_eq!((report.documents, report.failed.len()), (4, 0), "{report:?}");
    let snapshot = Snapshot::open_in(&directory).unwrap().unwrap();
    for (path, text) in &files {
        let word = text.rsplit(|&byte| byte == b' ').next().unwrap();
        let query = snapshot.parse(std::str::from_utf8(word).unwrap(), Operator::Or).unwrap();
        let hits = snapshot.searcher().top_k(&query, Model::Bm25 { k1: 1.2, b: 0.75 }, 9).unwrap();
        assert!(snapshot.document(&hits[0]).unwrap().as_deref() == Some(text), "{}", path.display());
    }
}

#[test]
fn snippets_read_the_front_of_a_file_and_say_the_same() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("in");
    fs::create_dir(&root).unwrap();
    let text = "word other filler ".repeat(40_000);
    fs::write(root.join("long"), &text).unwrap();
    let index = place.path().join("a.scanns");
    let stored = StoredOptions { store: Some(Store::Reference), ..StoredOptions::default() };
    run(&index, &IndexOptions { stored, ..options(&root, Records::File, 1) }).unwrap();
    let snapshot = Snapshot::open(&index).unwrap();
    let hit = snapshot.hit(root.join("long").as_os_str().as_encoded_bytes()).unwrap().unwrap();
    assert_eq!(snapshot.document_start(&hit, 1000).unwrap().unwrap(), &text.as_bytes()[..1000]);
    assert_eq!(snapshot.document(&hit).unwrap().unwrap(), text.as_bytes());
    let (query, field) = (Query::term(Field::default(), b"other"), Field::default());
    for scan in [100, 4_000, 1 << 20] {
        let options = SnippetOptions { scan, ..SnippetOptions::default() };
        let mut highlighter = snapshot.highlighter(field, &query, options).unwrap();
        let whole = highlighter.snippets(text.as_bytes());
        assert_eq!(snapshot.snippets(&hit, field, &mut highlighter).unwrap().unwrap(), whole, "{scan}");
    }
    fs::write(root.join("long"), "word").unwrap();
    let mut highlighter = snapshot.highlighter(field, &query, SnippetOptions::default()).unwrap();
    let error = snapshot.snippets(&hit, field, &mut highlighter).unwrap_err();
    assert!(matches!(error, Error::SourceChanged { .. }), "{error}");
    // Nobody waits for a program that writes into a pipe.
    fs::remove_file(root.join("long")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        root.join("long"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RWXU,
        0,
    )
    .unwrap();
    let error = snapshot.document(&hit).unwrap_err();
    assert!(error.to_string().contains("not a regular file"), "{error}");
}
