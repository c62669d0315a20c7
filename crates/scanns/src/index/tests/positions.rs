use super::*;
use crate::index::{MergeOptions, MergePolicy, check_in, merge_in};
use crate::query::{PhraseQuery, Query};
use crate::schema::Field;
use crate::segment::CheckLevel;
use crate::store::RamDirectory;
use std::collections::BTreeSet;

/// Term → key → positions.
type Places = BTreeMap<Vec<u8>, BTreeMap<Vec<u8>, Vec<u32>>>;

/// True for the terms that are looked up one by one: all but most of those that only one large document has.
fn is_looked_up(term: &[u8]) -> bool {
    !term.starts_with(b"n") || term.ends_with(b"7")
}

fn places(files: &[(PathBuf, Vec<u8>)]) -> Places {
    let mut places = Places::new();
    for (path, text) in files {
        let words = text.split(|byte| b" \t\n".contains(byte)).filter(|word| !word.is_empty());
        for (position, word) in (0..).zip(words).filter(|(_, word)| is_looked_up(word)) {
            let key = path.as_os_str().as_encoded_bytes().to_vec();
            places.entry(word.to_vec()).or_default().entry(key).or_default().push(position);
        }
    }
    places
}

fn found(directory: &RamDirectory) -> Places {
    let snapshot = Snapshot::open_in(directory).unwrap().unwrap();
    let searcher = snapshot.searcher();
    let mut found = Places::new();
    let terms = snapshot.terms(b"", usize::MAX).unwrap();
    for (term, _) in terms.into_iter().filter(|(term, _)| is_looked_up(term)) {
        let mut by_key = BTreeMap::new();
        let visit = |hit| {
            by_key.insert(searcher.key(&hit).unwrap(), snapshot.positions(&hit, &term).unwrap());
            ControlFlow::Continue(())
        };
        let query = Query::term(Field::default(), term.clone());
        searcher.for_each(&query, Model::Bm25 { k1: 1.2, b: 0.75 }, visit).unwrap();
        if !by_key.is_empty() {
            found.insert(term, by_key);
        }
    }
    found
}

/// The keys of documents that contain two neighbours of some document next to each other, and the keys that a
/// search for the phrase finds, alone and combined with others.
fn phrases_must_be_found(directory: &RamDirectory, files: &[(PathBuf, Vec<u8>)], random: &mut Rng) {
    let snapshot = Snapshot::open_in(directory).unwrap().unwrap();
    let searcher = snapshot.searcher();
    let words = |text: &[u8]| -> Vec<Vec<u8>> {
        let words = text.split(|byte| b" \t\n".contains(byte)).filter(|word| !word.is_empty());
        words.map(<[u8]>::to_vec).collect()
    };
    let texts: Vec<(&PathBuf, Vec<Vec<u8>>)> = files.iter().map(|(path, text)| (path, words(text))).collect();
    for _ in 0..12 {
        let (_, text) = &texts[random.usize(..texts.len())];
        let len = random.usize(2..4);
        let Some(last) = text.len().checked_sub(len) else { continue };
        let start = random.usize(..=last);
        let wanted = &text[start..start + len];
        let expected: BTreeSet<Vec<u8>> = texts
            .iter()
            .filter(|(_, text)| text.windows(len).any(|words| words == wanted))
            .map(|(path, _)| path.as_os_str().as_encoded_bytes().to_vec())
            .collect();
        let terms = (0..).zip(wanted.iter().cloned()).collect();
        let phrase = Query::Phrase(PhraseQuery { field: Field::default(), terms, slop: 0 });
        let found: BTreeSet<Vec<u8>> = searcher
            .top_k(&phrase, Model::default(), 1000)
            .unwrap()
            .iter()
            .map(|hit| searcher.key(hit).unwrap())
            .collect();
        assert_eq!(found, expected, "{wanted:?}");
        assert_eq!(searcher.count(&phrase).unwrap(), expected.len() as u64);
    }
}

fn keeping(root: &Path, lanes: usize) -> IndexOptions {
    let mut options = options(root, Records::File, lanes);
    options.postings = Some(Postings::Positions);
    options.segment_memory = Some(16 << 20);
    options
}

fn add(directory: &RamDirectory, options: &IndexOptions) -> Result<IndexReport> {
    build_in(directory, options, &Progress::new(), &Arc::default())
}

#[test]
fn positions_survive_flushes_inside_documents_replacements_and_merges() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("in");
    let mut random = Rng::with_seed(21);
    let mut files = random_files(&mut random, &root);
    // Each takes a third of the memory of a segment and looks smaller, so that some are cut in the middle.
    for n in 0..6 {
        let words = (0..90_000).map(|i| format!("{} n{n}w{i}", ["a", "bb", "c"][i % 3]));
        let text = words.collect::<Vec<_>>().join("\n").into_bytes();
        fs::write(root.join(format!("large{n}")), &text).unwrap();
        files.push((root.join(format!("large{n}")), text));
    }
    let expected = places(&files);
    for lanes in [1, 2] {
        let directory = RamDirectory::new();
        let mut options = keeping(&root, lanes);
        let report = add(&directory, &options).unwrap();
        assert!(report.failed.is_empty() && report.segments > lanes, "{report:?}");
        assert!(found(&directory) == expected, "{lanes}");
        phrases_must_be_found(&directory, &files, &mut random);
        // New documents have positions without the option, and the documents that they replace are gone.
        (options.postings, options.again) = (None, true);
        options.merge = Some(MergePolicy::default());
        assert_eq!(add(&directory, &options).unwrap().replaced, files.len() as u64);
        assert!(found(&directory) == expected, "{lanes} replaced");
        merge_in(&directory, &MergeOptions::default(), &Progress::new(), &AtomicBool::new(false)).unwrap();
        assert!(found(&directory) == expected, "{lanes} merged");
        phrases_must_be_found(&directory, &files, &mut random);
        let info = Snapshot::open_in(&directory).unwrap().unwrap().info();
        assert!(info.postings == Postings::Positions && (1..info.index_bytes).contains(&info.position_bytes));
        let checked =
            check_in(&directory, CheckLevel::Cross, &Progress::new(), &AtomicBool::new(false)).unwrap();
        assert!(checked.is_whole(), "{checked:?}");
    }
}

#[test]
fn an_index_has_positions_from_its_first_build_on_or_never() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("in");
    fs::create_dir(&root).unwrap();
    fs::write(root.join("file"), "one two one").unwrap();
    for (first, then, expected) in [
        (None, Postings::Positions, "without positions"),
        (Some(Postings::Frequencies), Postings::Positions, "without positions"),
        (Some(Postings::Positions), Postings::Frequencies, "with positions"),
    ] {
        let directory = RamDirectory::new();
        let mut options = keeping(&root, 1);
        options.postings = first;
        add(&directory, &options).unwrap();
        options.postings = Some(then);
        let error = add(&directory, &options).unwrap_err();
        assert!(matches!(error, Error::Conflict { .. }) && error.to_string().contains(expected), "{error}");
        assert!(error.to_string().contains("build another index"), "{error}");
        (options.postings, options.again) = (None, true);
        add(&directory, &options).unwrap();
        let snapshot = Snapshot::open_in(&directory).unwrap().unwrap();
        assert_eq!(snapshot.info().postings, first.unwrap_or_default());
    }
}

#[test]
fn positions_that_words_were_left_out_of_survive_flushes_and_agree_with_vectors() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("in");
    fs::create_dir(&root).unwrap();
    let mut files = Vec::new();
    for n in 0..5 {
        let some = |i: usize| ["the", "of it", "dogs running", "is"][(i * i + n) % 4];
        // Files that need more memory than a segment are cut in the middle, others are not.
        let count = if n == 0 { 120_000 } else { n * 10 };
        let text: Vec<String> =
            (0..count).map(|i| format!("{} n{n}w{i} getUser_{}", some(i), i % 9)).collect();
        files.push((root.join(format!("{n}.txt")), text.join("\n").into_bytes()));
        fs::write(&files[n].0, &files[n].1).unwrap();
    }
    for (name, kept) in [
        ("english", Postings::Positions),
        ("code", Postings::Offsets),
        ("standard | stop:english | stop:n0w1,n0w2 | fold | porter", Postings::Offsets),
        ("code | stop:get,w | length:2-9 | edge-ngram:2-4", Postings::Offsets),
    ] {
        let directory = RamDirectory::new();
        let mut options = keeping(&root, 2);
        options.postings = Some(kept);
        let analyzer = Analyzer::parse(name).unwrap();
        options.analyzer = Some(analyzer.clone());
        options.stored.vectors = Some(true);
        let report = add(&directory, &options).unwrap();
        assert!(report.failed.is_empty(), "{:?}", report.failed);
        let mut expected = Places::new();
        for (path, text) in &files {
            let key = path.as_os_str().as_encoded_bytes().to_vec();
            for (position, term) in crate::tokenize::Tokenizer::new(&analyzer).placed_terms(&mut text.clone())
            {
                expected.entry(term).or_default().entry(key.clone()).or_default().push(position);
            }
        }
        expected.retain(|term, _| is_looked_up(term));
        assert!(found(&directory) == expected, "{name}");
        let checked = check_in(&directory, CheckLevel::Cross, &Progress::new(), &AtomicBool::new(false));
        assert!(checked.unwrap().is_whole(), "{name}");
    }
}
