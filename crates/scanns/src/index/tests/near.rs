//! Sketches of texts: the same however documents are read and written, and near-duplicates are found by them.

use super::contents::encoded_files;
use super::records::open;
use super::*;
use crate::content::ContentOptions;
use crate::schema::{FieldEntry, FieldKind, Schema, Store, Value};
use crate::search::{Collapsed, NEAR_DISTANCE, NearHits, SortBy, SortKey};
use crate::store::{Directory, RamDirectory};
use crate::tokenize::DocumentSketch;

/// Key → sketch.
type Sketches = BTreeMap<String, Option<u64>>;

fn sketch_of(texts: &[&[u8]]) -> Option<u64> {
    let mut sketch = DocumentSketch::default();
    for text in texts {
        sketch.add_text(text);
        sketch.end_word();
    }
    sketch.finish()
}

/// The options with sketches.
fn with_sketches(options: IndexOptions) -> IndexOptions {
    let contents = ContentOptions { near_duplicates: true, ..ContentOptions::default() };
    IndexOptions { contents: Some(contents), ..options }
}

fn build_all(directory: &RamDirectory, options: &IndexOptions) -> IndexReport {
    build_in(directory, options, &Progress::new(), &Arc::default()).unwrap()
}

fn sketch(snapshot: &Snapshot, hit: &crate::search::Hit) -> Option<u64> {
    let field = snapshot.sketch_field().unwrap();
    match snapshot.field_values(hit, &[field]).unwrap()[0][..] {
        [Value::Unsigned(sketch)] => Some(sketch),
        [] => None,
        ref other => panic!("{other:?}"),
    }
}

fn for_all(snapshot: &Snapshot, mut visit: impl FnMut(String, crate::search::Hit)) {
    let each = |hit| {
        visit(String::from_utf8(snapshot.key(&hit).unwrap()).unwrap(), hit);
        ControlFlow::Continue(())
    };
    snapshot.searcher().for_each(&Query::All, Model::Classic, each).unwrap();
}

fn sketches(snapshot: &Snapshot) -> Sketches {
    let mut sketches = Sketches::new();
    for_all(snapshot, |key, hit| {
        assert!(sketches.insert(key, sketch(snapshot, &hit)).is_none());
    });
    sketches
}

/// The titles of all documents.
fn titles(snapshot: &Snapshot) -> Vec<Value> {
    let title = snapshot.schema().field("title").unwrap();
    let mut titles = Vec::new();
    for_all(snapshot, |_, hit| titles.extend(snapshot.field_values(&hit, &[title]).unwrap().concat()));
    titles
}

/// Words of which few pairs occur twice.
fn some_words(random: &mut Rng, count: usize) -> Vec<String> {
    (0..count).map(|_| format!("w{}", random.u32(..3000))).collect()
}

#[test]
fn sketches_are_those_of_the_texts_with_any_threads_and_memory() {
    let seed = 0x5eed_2801;
    let mut random = Rng::with_seed(seed);
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("in");
    let mut files = encoded_files(&mut random, &root, 2_000_000);
    let page = some_words(&mut random, 400).join(" ");
    fs::write(root.join("page.html"), format!("<html><body><p>{page}</p></body></html>")).unwrap();
    // Tokens that are longer than a block.
    let long = format!("{} end {}", "x".repeat(300_000), some_words(&mut random, 50).join("-"));
    files.push((root.join("long"), long.into_bytes()));
    fs::write(root.join("long"), &files.last().unwrap().1).unwrap();
    // Terms that fill the memory of a thread several times, also inside of a document.
    for n in 0..16 {
        let text: String = (0..120_000).map(|i| format!("t{n}x{i} ")).collect();
        files.push((root.join(format!("many{n}")), text.into_bytes()));
        fs::write(&files.last().unwrap().0, &files.last().unwrap().1).unwrap();
    }
    let mut expected: Sketches =
        files.iter().map(|(path, text)| (path.to_str().unwrap().into(), sketch_of(&[text]))).collect();
    expected.insert(root.join("page.html").to_str().unwrap().into(), sketch_of(&[page.as_bytes()]));
    for (lanes, segment_memory, metadata) in
        [(1, SEGMENT_MEMORY, None), (3, 16 << 20, None), (2, 16 << 20, Some(false))]
    {
        let mut options = with_sketches(options(&root, Records::File, lanes));
        options.segment_memory = Some(segment_memory);
        options.fields.metadata = metadata;
        options.postings = Some(Postings::Positions);
        options.stored.store = Some(Store::Content);
        let directory = RamDirectory::new();
        let report = build_all(&directory, &options);
        assert!(report.failed.is_empty(), "{:?}", report.failed);
        assert!(report.segments > lanes || segment_memory == SEGMENT_MEMORY, "{}", report.segments);
        assert!(sketches(&open(&directory)) == expected, "seed {seed:x}, {lanes} threads");
        merge_in(&directory, &MergeOptions::default(), &Progress::new(), &AtomicBool::new(false)).unwrap();
        let merged = open(&directory);
        assert!(sketches(&merged) == expected, "seed {seed:x}, merged");
        for_all(&merged, |key, hit| {
            let text = merged.document(&hit).unwrap().unwrap();
            assert_eq!(sketch(&merged, &hit), sketch_of(&[&text]), "{key}");
        });
    }
}

/// Three texts, the first with three near-duplicates, and a text that is too short for a sketch, twice.
fn write_copies(random: &mut Rng, root: &Path) {
    fs::create_dir_all(root).unwrap();
    let write = |name: &str, words: &[String]| fs::write(root.join(name), words.join(" ")).unwrap();
    let mut text = some_words(random, 600);
    write("a1", &text);
    for name in ["a2", "a3", "a4"] {
        let at = random.usize(..text.len());
        text[at] = "changed".into();
        write(name, &text);
    }
    write("b", &some_words(random, 600));
    // Half of the text is the same.
    text.truncate(300);
    text.extend(some_words(random, 300));
    write("c", &text);
    write("d1", &["few".into(), "words".into()]);
    write("d2", &["few".into(), "words".into()]);
}

#[test]
fn near_duplicates_are_shown_once_and_different_documents_are_kept() {
    let seed = 0x5eed_2802;
    let mut random = Rng::with_seed(seed);
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("in");
    write_copies(&mut random, &root);
    let directory = RamDirectory::new();
    let options = IndexOptions {
        fields: FieldOptions::default(),
        segment_memory: Some(16 << 20),
        ..with_sketches(options(&root, Records::File, 2))
    };
    build_all(&directory, &options);
    let snapshot = open(&directory);
    let searcher = snapshot.searcher();
    let prepared = searcher.prepare(&Query::All).unwrap();
    let near = NearHits { field: snapshot.sketch_field().unwrap(), distance: NEAR_DISTANCE, without: None };
    let named = |found: &Collapsed| -> Vec<(String, u64)> {
        let name = |hit| Path::new(std::str::from_utf8(&snapshot.key(hit).unwrap()).unwrap()).to_owned();
        let name = |hit| name(hit).file_name().unwrap().to_str().unwrap().to_owned();
        found.hits.iter().map(|kept| (name(&kept.hit.hit), kept.near)).collect()
    };
    let keys = [SortKey::ascending(SortBy::Field(snapshot.schema().field("name").unwrap()))];
    let sorted = prepared.top_collapsed(Model::Classic, &keys, 10, near).unwrap();
    let expected =
        [("a1", 3), ("b", 0), ("c", 0), ("d1", 0), ("d2", 0)].map(|(name, near)| (name.into(), near));
    assert_eq!(named(&sorted), expected, "seed {seed:x}");
    assert!(sorted.is_all && sorted.seen == 8);
    let few = prepared.top_collapsed(Model::Classic, &keys, 1, near).unwrap();
    assert_eq!(named(&few), expected[..1], "later ones are counted");
    let scored = prepared.top_collapsed(Model::Classic, &[], 10, near).unwrap();
    assert_eq!(scored.hits.len(), 5);
    let without = NearHits { without: Some(sorted.hits[0].hit.hit), ..near };
    let rest = prepared.top_collapsed(Model::Classic, &keys, 10, without).unwrap();
    assert_eq!(named(&rest)[0], ("a2".into(), 2));
    assert_eq!(rest.seen, 7);
}

#[test]
fn files_of_a_directory_that_is_moved_keep_their_sketches() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("in");
    let page = "<!DOCTYPE html><html><head><title>Sea</title></head>\
                <body><p>one two three four five six seven eight</p></body></html>";
    let (old, new) = (root.join("old"), root.join("new"));
    write_copies(&mut Rng::with_seed(3), &old);
    fs::write(old.join("page.html"), page).unwrap();
    let options =
        with_sketches(IndexOptions { fields: FieldOptions::default(), ..options(&root, Records::File, 1) });
    let directory = RamDirectory::new();
    build_all(&directory, &options);
    let before = sketches(&open(&directory));
    let titled = titles(&open(&directory));
    assert_eq!(titled, [Value::from("Sea")]);
    fs::rename(&old, &new).unwrap();
    let report = build_all(&directory, &IndexOptions { contents: None, ..options });
    assert_eq!((report.moved, report.documents), (9, 0));
    let snapshot = open(&directory);
    let after = sketches(&snapshot);
    let moved = |(path, sketch): (String, Option<u64>)| {
        let name = Path::new(&path).strip_prefix(&old).unwrap();
        (new.join(name).to_str().unwrap().to_owned(), sketch)
    };
    assert_eq!(before.into_iter().map(moved).collect::<Sketches>(), after);
    assert_eq!(titles(&snapshot), titled);
}

#[test]
fn records_have_sketches_of_their_texts_and_not_those_that_they_bring() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("in");
    fs::create_dir_all(&root).unwrap();
    let body = "the body of this record has more than enough words to be compared, it seems";
    let record = |sketch: &str| format!("{{\"title\":\"A title\",\"body\":\"{body}\",\"n\":5{sketch}}}\n");
    fs::write(root.join("one"), record("").repeat(3)).unwrap();
    let mut schema = Schema::new();
    for name in ["title", "body"] {
        schema.add(FieldEntry::text(name).stored()).unwrap();
    }
    schema.add(FieldEntry::new("n", FieldKind::Unsigned).column()).unwrap();
    let given = super::records::with(&schema, &root, Records::Jsonl, 2);
    let inferred = IndexOptions { fields: FieldOptions::default(), ..given.clone() };
    for options in [given, inferred] {
        let directory = RamDirectory::new();
        build_all(&directory, &with_sketches(options.clone()));
        // An inferred field of few words is a keyword and has a twin that is a text.
        let expected = sketch_of(&[b"A title", body.as_bytes()]);
        let is_it = |directory: &RamDirectory, records| {
            let found = sketches(&open(directory));
            assert!(expected.is_some() && found.len() == records, "{found:?}");
            assert!(found.values().all(|found| *found == expected), "{found:?}");
        };
        is_it(&directory, 3);
        // A later build has sketches without being asked, also with the schema as it was given.
        fs::write(root.join("two"), record(",\"sketch\":12") + &record(",\"sketch\":\"none\"")).unwrap();
        let report = build_all(&directory, &options);
        assert!(report.records.conflicts.is_empty());
        is_it(&directory, 5);
        fs::remove_file(root.join("two")).unwrap();
    }
}

#[test]
fn sketches_are_refused_where_there_can_be_none() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("in");
    write_copies(&mut Rng::with_seed(5), &root);
    let try_in = |directory: &RamDirectory, options: &IndexOptions| {
        build_in(directory, options, &Progress::new(), &Arc::default())
    };
    let (plain, sketched) = (RamDirectory::new(), Arc::new(RamDirectory::new()));
    let (files, lines) = (options(&root, Records::File, 1), options(&root, Records::Lines, 1));
    let lined = try_in(&RamDirectory::new(), &with_sketches(lines.clone()));
    assert!(matches!(lined, Err(Error::Unsupported { .. })), "{lined:?}");
    let mut names = with_sketches(IndexOptions { fields: FieldOptions::default(), ..files.clone() });
    names.contents.as_mut().unwrap().names_only = true;
    assert!(matches!(try_in(&RamDirectory::new(), &names), Err(Error::Unsupported { .. })));
    try_in(&plain, &files).unwrap();
    assert!(matches!(try_in(&plain, &with_sketches(files.clone())), Err(Error::Conflict { .. })));
    assert_eq!(open(&plain).sketch_field(), None);
    try_in(&sketched, &with_sketches(files)).unwrap();
    assert!(matches!(try_in(&sketched, &lines), Err(Error::Unsupported { .. })));
    let writer = IndexWriter::open_in(sketched.clone() as Arc<dyn Directory>, None, WriterOptions::default());
    assert!(matches!(writer.map(drop), Err(Error::Unsupported { .. })));
    // A record with a field of this name is refused, too.
    let mut schema = Schema::new();
    schema.add(FieldEntry::text("text")).unwrap();
    schema.add(FieldEntry::new("sketch", FieldKind::Keyword)).unwrap();
    let records = with_sketches(super::records::with(&schema, &root, Records::Jsonl, 1));
    assert!(matches!(try_in(&RamDirectory::new(), &records), Err(Error::InvalidField { .. })));
}
