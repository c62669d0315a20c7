use super::*;
use crate::index::{
    CheckReport, Index, MergeOptions, MergePolicy, Selection, check_in, delete_in, merge_in, salvage_in,
};
use crate::query::Query;
use crate::schema::Field;
use crate::segment::CheckLevel;
use crate::store::{Directory, RamDirectory};

/// The expected content of an index: texts by key of document.
type Model = BTreeMap<Vec<u8>, Vec<u8>>;

/// Terms of the model in the form of `contents`.
fn expected(model: &Model) -> Oracle {
    let mut oracle = Oracle::new();
    model.iter().for_each(|(key, text)| add_words(&mut oracle, key, text));
    oracle
}

/// Adds the documents of a file to the model, and replaces its old documents.
fn put(model: &mut Model, path: &Path, text: &[u8], records: Records) {
    let name = path.as_os_str().as_encoded_bytes();
    forget(model, name);
    match records {
        Records::File => drop(model.insert(name.to_vec(), text.to_vec())),
        _ => {
            for (number, line) in text.split(|&byte| byte == b'\n').enumerate() {
                let key = format!("{}:{}", String::from_utf8_lossy(name), number + 1);
                model.insert(key.into_bytes(), line.to_vec());
            }
        }
    }
}

/// Removes a file, or all of its lines, from the model.
fn forget(model: &mut Model, name: &[u8]) {
    let lines = [name, b":"].concat();
    model.retain(|key, _| key != name && !key.starts_with(&lines));
}

fn random_text(random: &mut Rng) -> Vec<u8> {
    let len = [0, 1, 40, 2000][random.usize(..4)];
    let mut text = Vec::new();
    while text.len() < len {
        let bound = 1 + random.usize(..300);
        text.extend_from_slice(format!("w{}", random.usize(..bound)).as_bytes());
        text.push(b" \n"[random.usize(..2)]);
    }
    text
}

fn snapshot(directory: &RamDirectory) -> Snapshot {
    Snapshot::open_in(directory).unwrap().unwrap()
}

/// Checks that the index contains exactly the model, and passes verification.
fn must_hold(directory: &RamDirectory, model: &Model, what: &str) {
    let snapshot = snapshot(directory);
    let mut found = contents_of_living(&snapshot);
    found.retain(|_, keys| !keys.is_empty());
    assert!(found == expected(model), "{what}");
    let checked = checked(directory);
    assert!(checked.is_whole() && checked.leftovers.is_empty(), "{what}: {checked:?}");
}

fn checked(directory: &RamDirectory) -> CheckReport {
    check_in(directory, CheckLevel::Cross, &Progress::new(), &AtomicBool::new(false)).unwrap()
}

/// Like `contents`, but document frequencies include deleted documents.
pub(super) fn contents_of_living(snapshot: &Snapshot) -> Oracle {
    let mut found = Oracle::new();
    let searcher = snapshot.searcher();
    for (term, doc_freq) in snapshot.terms(b"", usize::MAX).unwrap() {
        let query = Query::term(Field::default(), term.clone());
        let stats = searcher.stats().unwrap();
        let (all, doc_freq) = (stats.documents_with_terms as f64, doc_freq as f64);
        let idf = (1.0 + (all - doc_freq + 0.5) / (doc_freq + 0.5)).ln();
        let mut keys = BTreeMap::new();
        let visit = |hit: crate::search::Hit| {
            let part = f64::from(hit.score) / idf;
            #[expect(clippy::cast_possible_truncation, reason = "small frequencies")]
            keys.insert(searcher.key(&hit).unwrap(), (part / (1.0 - part)).round() as u32);
            ControlFlow::Continue(())
        };
        searcher.for_each(&query, Model25, visit).unwrap();
        assert_eq!(searcher.count(&query).unwrap(), keys.len() as u64);
        found.insert(term, keys);
    }
    found
}

/// A BM25 whose scores reveal frequencies.
#[expect(non_upper_case_globals, reason = "it stands for a value of an enum")]
const Model25: crate::search::Model = crate::search::Model::Bm25 { k1: 1.0, b: 0.0 };

/// Merges after every few segments.
fn often() -> MergePolicy {
    MergePolicy { segments: 3, least_bytes: 1 << 20, least_segments: 0, ..MergePolicy::default() }
}

#[test]
fn whatever_is_added_replaced_deleted_and_merged_is_what_a_map_would_hold() {
    for (seed, records) in [(0x5eed_0410, Records::File), (0x5eed_0411, Records::Lines)] {
        let mut random = Rng::with_seed(seed);
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("in");
        fs::create_dir(&root).unwrap();
        let directory = RamDirectory::new();
        let mut model = Model::new();
        for round in 0..40 {
            let what = format!("seed {seed:x} round {round}");
            match random.usize(..if round == 0 { 1 } else { 6 }) {
                0..3 => {
                    fs::remove_dir_all(&root).unwrap();
                    fs::create_dir(&root).unwrap();
                    let keep_removed = random.bool();
                    if !keep_removed {
                        model.clear();
                    }
                    for _ in 0..1 + random.usize(..12) {
                        let path = root.join(format!("file{}", random.usize(..30)));
                        let text = random_text(&mut random);
                        fs::write(&path, &text).unwrap();
                        put(&mut model, &path, &text, records);
                    }
                    let mut options = options(&root, records, 1 + random.usize(..3));
                    options.merge = random.bool().then(often);
                    // Sizes and times may be the same by chance.
                    (options.again, options.keep_removed) = (true, keep_removed);
                    build_in(&directory, &options, &Progress::new(), &Arc::default()).unwrap();
                }
                3 => {
                    let path = root.join(format!("file{}", random.usize(..30)));
                    let name = path.as_os_str().as_encoded_bytes().to_vec();
                    let line = [name.as_slice(), b":2"].concat();
                    let before = model.len();
                    forget(&mut model, &name);
                    model.remove(&line);
                    let report = delete_in(&directory, &Selection::Keys(vec![name, line])).unwrap();
                    // The model also has a line after the last line feed.
                    if records == Records::File {
                        assert_eq!(report.deleted, (before - model.len()) as u64, "{what}");
                    }
                }
                4 => {
                    let word = format!("w{}", random.usize(..100));
                    let has = |text: &[u8]| text.split(u8::is_ascii_whitespace).any(|w| w == word.as_bytes());
                    let before = model.len();
                    model.retain(|_, text| !has(text));
                    let what = Selection::Query(word, Operator::Or);
                    let report = delete_in(&directory, &what).unwrap();
                    assert_eq!(report.deleted, (before - model.len()) as u64);
                }
                _ => {
                    let segments = 1 + random.usize(..3);
                    let reorder = random.bool();
                    let options = MergeOptions { segments, reorder, ..MergeOptions::default() };
                    let done = merge_in(&directory, &options, &Progress::new(), &AtomicBool::new(false));
                    let done = done.unwrap();
                    assert!(done.after <= segments, "{what}: {done:?}");
                    assert_eq!(snapshot(&directory).info().deleted, 0, "{what}");
                }
            }
            must_hold(&directory, &model, &what);
        }
    }
}

#[test]
fn files_and_lines_can_live_in_one_index_and_be_merged() {
    let place = tempfile::tempdir().unwrap();
    let directory = RamDirectory::new();
    let mut model = Model::new();
    for (name, records) in [("a", Records::File), ("b", Records::Lines), ("c", Records::File)] {
        let path = place.path().join(name);
        fs::write(&path, format!("{name} one\n{name} two")).unwrap();
        put(&mut model, &path, &fs::read(&path).unwrap(), records);
        build_in(&directory, &options(&path, records, 1), &Progress::new(), &Arc::default()).unwrap();
    }
    must_hold(&directory, &model, "before");
    merge_in(&directory, &MergeOptions::default(), &Progress::new(), &AtomicBool::new(false)).unwrap();
    must_hold(&directory, &model, "after");
    let line = format!("{}:2", place.path().join("b").display()).into_bytes();
    model.remove(&line).unwrap();
    assert_eq!(delete_in(&directory, &Selection::Keys(vec![line])).unwrap().deleted, 1);
    merge_in(&directory, &MergeOptions::default(), &Progress::new(), &AtomicBool::new(false)).unwrap();
    must_hold(&directory, &model, "without a line");
}

#[test]
fn a_snapshot_answers_as_before_through_deletes_and_merges() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("in");
    let files = random_files(&mut Rng::with_seed(5), &root);
    let index = place.path().join("x.scanns");
    run(&index, &options(&root, Records::File, 2)).unwrap();
    let before = Snapshot::open(&index).unwrap();
    let expected = contents(&before);
    let key = files[0].0.as_os_str().as_encoded_bytes().to_vec();
    Index::open(&index).unwrap().delete(&Selection::Keys(vec![key])).unwrap();
    Index::open(&index)
        .unwrap()
        .merge(&MergeOptions::default(), &Progress::new(), &AtomicBool::new(false))
        .unwrap();
    assert!(contents(&before) == expected);
    let after = Snapshot::open(&index).unwrap();
    assert_eq!(after.info().documents, files.len() as u64 - 1);
    // One segment, one manifest before it, the lock.
    assert_eq!(names(&index).len(), 4, "{:?}", names(&index));
}

#[test]
fn damage_is_found_and_what_is_whole_can_be_kept() {
    let place = tempfile::tempdir().unwrap();
    let directory = RamDirectory::new();
    let mut model = Model::new();
    for name in ["a", "b", "c"] {
        let path = place.path().join(name);
        fs::write(&path, format!("{name} word")).unwrap();
        build_in(&directory, &options(&path, Records::File, 1), &Progress::new(), &Arc::default()).unwrap();
        put(&mut model, &path, &fs::read(&path).unwrap(), Records::File);
    }
    let segments: Vec<String> =
        snapshot(&directory).segments().iter().map(|segment| format!("{}.seg", segment.id)).collect();
    let damage = |name: &str, at: usize| {
        let mut bytes = directory.open(name).unwrap().to_vec();
        bytes[at] ^= 1;
        let mut output = directory.create(name).unwrap();
        output.write_all(&bytes).unwrap();
        output.finish().unwrap();
    };
    damage(&segments[1], 4096);
    let found = checked(&directory);
    assert!(!found.is_whole() && found.lost() == 1 && found.segments[1].fault.is_some(), "{found:?}");
    let kept = salvage_in(&directory, CheckLevel::Cross, &Progress::new(), &AtomicBool::new(false)).unwrap();
    assert_eq!((kept.lost(), kept.salvaged), (1, Some(4)));
    forget(&mut model, place.path().join("b").as_os_str().as_encoded_bytes());
    must_hold(&directory, &model, "salvaged");

    // The newest manifest is damaged: readers refuse the index, and the previous commit is used only on
    // request.
    damage("manifest-0000000004", 4100);
    assert!(Snapshot::open_in(&directory).is_err());
    let found = checked(&directory);
    assert!(!found.is_whole() && found.manifests.len() == 1 && found.generation == 3, "{found:?}");
    let kept = salvage_in(&directory, CheckLevel::Cross, &Progress::new(), &AtomicBool::new(false)).unwrap();
    assert_eq!(kept.salvaged, Some(5));
    must_hold(&directory, &model, "salvaged again");
}

#[test]
fn a_merge_that_is_cancelled_or_fails_changes_nothing() {
    let place = tempfile::tempdir().unwrap();
    let directory = RamDirectory::new();
    for name in ["a", "b"] {
        let path = place.path().join(name);
        let words: Vec<String> = (0..20_000).map(|i| format!("{name}{i}")).collect();
        fs::write(&path, words.join(" ")).unwrap();
        build_in(&directory, &options(&path, Records::File, 1), &Progress::new(), &Arc::default()).unwrap();
    }
    let before = contents(&snapshot(&directory));
    let cancelled = merge_in(&directory, &MergeOptions::default(), &Progress::new(), &AtomicBool::new(true));
    assert!(matches!(cancelled, Err(Error::Cancelled)), "{cancelled:?}");
    assert!(contents(&snapshot(&directory)) == before);
    assert!(checked(&directory).leftovers.is_empty());
}

/// A directory with a file of lines in two segments, as a build that was stopped half way leaves it, and a
/// model.
fn two_segments_of_lines(root: &Path, directory: &RamDirectory) -> Model {
    let mut model = Model::new();
    fs::create_dir(root).unwrap();
    for name in ["a", "b"] {
        let path = root.join(name);
        fs::write(&path, format!("{name} one\n{name} two")).unwrap();
        put(&mut model, &path, &fs::read(&path).unwrap(), Records::Lines);
        build_in(directory, &options(&path, Records::Lines, 1), &Progress::new(), &Arc::default()).unwrap();
    }
    model
}

#[test]
fn lines_that_a_salvage_lost_come_back_with_the_next_build() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("in");
    let directory = RamDirectory::new();
    let model = two_segments_of_lines(&root, &directory);
    let name = format!("{}.seg", snapshot(&directory).segments()[0].id);
    directory.remove(&name).unwrap();
    let kept = salvage_in(&directory, CheckLevel::Cross, &Progress::new(), &AtomicBool::new(false)).unwrap();
    assert_eq!(kept.lost(), 2);
    build_in(&directory, &options(&root, Records::Lines, 1), &Progress::new(), &Arc::default()).unwrap();
    must_hold(&directory, &model, "built again");
}

#[test]
fn files_become_lines_where_that_is_asked_for_later() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("in");
    let directory = RamDirectory::new();
    let mut model = two_segments_of_lines(&root, &directory);
    for records in [Records::File, Records::Lines, Records::File] {
        let report =
            build_in(&directory, &options(&root, records, 1), &Progress::new(), &Arc::default()).unwrap();
        assert_eq!(report.unchanged, 0);
        for name in ["a", "b"] {
            let path = root.join(name);
            put(&mut model, &path, &fs::read(&path).unwrap(), records);
        }
        must_hold(&directory, &model, "after a change of records");
    }
}

#[test]
fn an_older_commit_is_not_taken_for_what_is_left_where_its_segments_were_merged() {
    let place = tempfile::tempdir().unwrap();
    let directory = RamDirectory::new();
    two_segments_of_lines(&place.path().join("in"), &directory);
    merge_in(&directory, &MergeOptions::default(), &Progress::new(), &AtomicBool::new(false)).unwrap();
    let before = directory.list().unwrap();
    directory.create("manifest-0000000003").unwrap().finish().unwrap();
    let refused = salvage_in(&directory, CheckLevel::Cross, &Progress::new(), &AtomicBool::new(false));
    assert!(refused.unwrap_err().to_string().contains("restore the manifest"));
    assert_eq!(directory.list().unwrap().len(), before.len(), "nothing was removed");
}
