use crate::index::{Index, IndexWriter, WriterOptions};
use crate::query::{BoolQuery, Query};
use crate::schema::{Document, Field, FieldEntry, FieldKind, Postings, Schema, Store};
use crate::search::{MoreLikeThis, Rm3};
use crate::store::RamDirectory;

use super::*;

/// A schema of a text and optionally a stored title.
fn schema(titles: bool) -> (Schema, Field, Option<Field>) {
    let mut schema = Schema::new();
    let kind = || FieldKind::Text { analyzer: Analyzer::Standard, postings: Postings::Frequencies };
    let text = schema.add(FieldEntry::new("text", kind())).unwrap();
    let title = titles.then(|| schema.add(FieldEntry::new("title", kind()).stored()).unwrap());
    (schema, text, title)
}

/// An index of texts, named by their numbers, with a commit after every `each`.
fn indexed(texts: &[String], each: usize, stored: StoredOptions) -> Snapshot {
    Snapshot::open_in(&*written(texts, each, stored)).unwrap().unwrap()
}

/// The path of the index of [`indexed`].
fn written(texts: &[String], each: usize, stored: StoredOptions) -> Arc<RamDirectory> {
    let directory = Arc::new(RamDirectory::new());
    let (schema, text, _) = schema(false);
    let options = WriterOptions { stored, lanes: 1, merge: None, ..WriterOptions::default() };
    let writer = IndexWriter::open_in(directory.clone(), Some(&schema), options).unwrap();
    for (number, part) in texts.iter().enumerate() {
        writer.add(&Document::new(format!("{number:03}")).text(text, part.as_str())).unwrap();
        if number % each == each - 1 {
            writer.commit().unwrap();
        }
    }
    writer.commit().unwrap();
    drop(writer);
    directory
}

fn vectors() -> StoredOptions {
    StoredOptions { vectors: Some(true), ..StoredOptions::default() }
}

fn keys(snapshot: &Snapshot, hits: &[crate::search::Hit]) -> Vec<String> {
    hits.iter().map(|hit| String::from_utf8(snapshot.key(hit).unwrap()).unwrap()).collect()
}

fn word(term: &str) -> Query {
    Query::term(Field::default(), term)
}

#[test]
fn feedback_does_not_depend_on_how_documents_are_spread() {
    let seed = 0x5eed_0412;
    let mut random = Rng::with_seed(seed);
    let text = |random: &mut Rng| {
        let words =
            (0..random.usize(5..40)).map(|_| format!("w{}", random.usize(..1 + random.clone().usize(..60))));
        words.collect::<Vec<_>>().join(" ")
    };
    let texts: Vec<String> = (0..200).map(|_| text(&mut random)).collect();
    let (whole, parts) = (indexed(&texts, 200, vectors()), indexed(&texts, 7, vectors()));
    assert!(parts.segments().len() > 20);
    let mut changed = 0;
    for round in 0..40 {
        let words = (0..random.usize(1..4)).map(|_| word(&format!("w{}", random.usize(..60))));
        let query = Query::Bool(BoolQuery { should: words.collect(), ..BoolQuery::default() });
        let rm3 = Rm3 { documents: random.usize(1..12), common: 0.5, ..Rm3::default() };
        for model in [Model::default(), Model::LmDirichlet { mu: 100.0 }] {
            let expanded = whole.expand(&query, Field::default(), model, &rm3).unwrap();
            assert_eq!(
                parts.expand(&query, Field::default(), model, &rm3).unwrap(),
                expanded,
                "seed {seed:x} round {round}"
            );
            changed += usize::from(expanded != query);
        }
    }
    assert!(changed > 60, "words that no document has are few: {changed} of 80");
}

#[test]
fn feedback_finds_documents_that_the_query_does_not_and_says_what_it_needs() {
    let texts = ["sun moon", "sun moon star", "moon star", "sea", "land", "wind"].map(String::from);
    let snapshot = indexed(&texts, 2, vectors());
    let rm3 = Rm3 { documents: 2, terms: 3, common: 1.0, ..Rm3::default() };
    let model = Model::default();
    let expanded = snapshot.expand(&word("sun"), Field::default(), model, &rm3).unwrap();
    let hits = snapshot.searcher().top_k(&expanded, model, 10).unwrap();
    assert_eq!(keys(&snapshot, &hits).len(), 3, "{hits:?}");
    assert_eq!(snapshot.expand(&word("fire"), Field::default(), model, &rm3).unwrap(), word("fire"));
    assert!(snapshot.expand(&word("sun"), Field::default(), model, &Rm3 { documents: 0, ..rm3 }).is_err());
    let without = indexed(&texts, 2, StoredOptions::default());
    let error = without.expand(&word("sun"), Field::default(), model, &rm3).unwrap_err().to_string();
    assert!(error.contains("with vectors"), "{error}");
}

#[test]
fn feedback_is_of_a_field_with_vectors_or_stored_text() {
    let directory = Arc::new(RamDirectory::new());
    let (mut schema, text, _) = schema(false);
    let size = schema.add(FieldEntry::new("size", FieldKind::Unsigned).stored()).unwrap();
    let options = WriterOptions { stored: vectors(), ..WriterOptions::default() };
    let writer = IndexWriter::open_in(directory.clone(), Some(&schema), options).unwrap();
    for (key, of_text) in [("a", "sea land"), ("b", "sea sand"), ("c", "wind")] {
        writer.add(&Document::new(key).text(text, of_text)).unwrap();
    }
    writer.commit().unwrap();
    let snapshot = Snapshot::open_in(&*directory).unwrap().unwrap();
    let rm3 = Rm3 { common: 1.0, ..Rm3::default() };
    assert_ne!(snapshot.expand(&word("sea"), text, Model::Classic, &rm3).unwrap(), word("sea"));
    let error = snapshot.expand(&word("sea"), size, Model::Classic, &rm3).unwrap_err().to_string();
    assert!(error.contains("in field size without vectors or stored text"), "{error}");
}

#[test]
fn deleted_documents_count_as_long_as_their_terms_do() {
    let mut texts: Vec<String> = (0..20).map(|n| format!("tree tree apple filler{n}")).collect();
    texts.push("rare".into());
    texts.push("rare tree".into());
    let directory = written(&texts, 50, vectors());
    let keys = (0..18).map(|n| format!("{n:03}").into_bytes()).collect();
    crate::index::delete_in(&*directory, &crate::index::Selection::Keys(keys)).unwrap();
    let snapshot = Snapshot::open_in(&*directory).unwrap().unwrap();
    let info = snapshot.info();
    assert_eq!((info.documents, info.deleted), (4, 18));
    assert_eq!(snapshot.doc_freq(Field::default(), b"tree").unwrap(), 21);
    let options = MoreLikeThis { boosted: true, ..MoreLikeThis::default() };
    let Query::Bool(like) = snapshot.like_text(Field::default(), b"tree tree apple", &options).unwrap()
    else {
        panic!("a list");
    };
    let [Query::Boost(first, one), Query::Boost(second, less)] = &like.should[..] else { panic!("{like:?}") };
    assert_eq!((&**first, &**second, *one), (&word("tree"), &word("apple"), 1.0));
    assert!(0.0 < *less && *less < 1.0, "with an idf below 0 apple would come first: {like:?}");
    let rm3 = Rm3 { common: 1.0, ..Rm3::default() };
    let expanded = snapshot.expand(&word("rare"), Field::default(), Model::default(), &rm3).unwrap();
    assert!(
        format!("{expanded:?}").contains(&format!("{:?}", word("tree"))),
        "no share is above 1: {expanded:?}"
    );
}

#[test]
fn a_document_finds_others_like_it_by_its_vector_or_its_text_and_never_itself() {
    let texts = ["red apples on a tree", "apples on a tree", "red stones", "a tree", "nothing of that"];
    let texts = texts.map(String::from);
    let content = StoredOptions { store: Some(Store::Content), ..StoredOptions::default() };
    let model = Model::default();
    for stored in [vectors(), content] {
        let snapshot = indexed(&texts, 2, stored);
        let hit = snapshot.hit(b"000").unwrap().unwrap();
        let options = MoreLikeThis::default();
        let found = snapshot.more_like(&hit, model, 10, &options).unwrap();
        assert_eq!(keys(&snapshot, &found), ["001", "003", "002"], "{stored:?}");
        assert_eq!(keys(&snapshot, &snapshot.more_like(&hit, model, 1, &options).unwrap()), ["001"]);
        let same = snapshot.like_text(Field::default(), b"Red apples, on a tree!", &options).unwrap();
        assert_eq!(snapshot.like(&hit, Field::default(), &options).unwrap(), same, "{stored:?}");
        assert_eq!(snapshot.doc_freq(Field::default(), b"tree").unwrap(), 3);
        assert!(snapshot.hit(b"777").unwrap().is_none());
        let wrong = MoreLikeThis { max_terms: 0, ..options };
        assert!(snapshot.like(&hit, Field::default(), &wrong).is_err());
    }
    let without = indexed(&texts, 2, StoredOptions::default());
    let hit = without.hit(b"000").unwrap().unwrap();
    let error = without.more_like(&hit, model, 1, &MoreLikeThis::default()).unwrap_err().to_string();
    assert!(error.contains("vectors") && error.contains("store content"), "{error}");
}

#[test]
fn a_stored_field_finds_documents_with_others_like_it() {
    let directory = Arc::new(RamDirectory::new());
    let (schema, text, title) = schema(true);
    let title = title.unwrap();
    let writer = IndexWriter::open_in(directory.clone(), Some(&schema), WriterOptions::default()).unwrap();
    for (key, of_title, of_text) in
        [("a", "red sun", "blue"), ("b", "red moon", "green"), ("c", "moon", "red blue")]
    {
        writer.add(&Document::new(key).text(title, of_title).text(text, of_text)).unwrap();
    }
    writer.commit().unwrap();
    let snapshot = Snapshot::open_in(&*directory).unwrap().unwrap();
    let hit = snapshot.hit(b"a").unwrap().unwrap();
    let query = snapshot.like(&hit, title, &MoreLikeThis::default()).unwrap();
    let mut found = keys(&snapshot, &snapshot.searcher().top_k(&query, Model::Classic, 9).unwrap());
    found.sort();
    assert_eq!(found, ["a", "b"]);
    let error = snapshot.like(&hit, text, &MoreLikeThis::default()).unwrap_err().to_string();
    assert!(error.contains("or stored text"), "{error}");
}

#[test]
fn documents_are_found_by_their_keys_and_files_of_lines_are_not() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("in");
    fs::create_dir(&root).unwrap();
    fs::write(root.join("list"), "one two\ntwo three\nfour").unwrap();
    let index = place.path().join("a.scanns");
    run(&index, &options(&root, Records::Lines, 1)).unwrap();
    let snapshot = Snapshot::open(&index).unwrap();
    let name = |end: &str| format!("{}{end}", root.join("list").display()).into_bytes();
    let hit = snapshot.hit(name(":2")).unwrap().unwrap();
    assert_eq!(snapshot.key(&hit).unwrap(), name(":2"));
    assert!(snapshot.hit(name(":4")).unwrap().is_none());
    let error = snapshot.hit(name("")).unwrap_err().to_string();
    assert!(error.contains("list:1"), "{error}");
    Index::open(&index).unwrap().delete(&crate::index::Selection::Keys(vec![name(":2")])).unwrap();
    let snapshot = Snapshot::open(&index).unwrap();
    assert!(snapshot.hit(name(":2")).unwrap().is_none() && snapshot.hit(name(":3")).unwrap().is_some());
}

#[test]
fn a_line_is_found_beside_a_file_that_is_called_like_it() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("in");
    fs::create_dir(&root).unwrap();
    fs::write(root.join("a"), "one two\ntwo three").unwrap();
    fs::write(root.join("a:1"), "other\nlines").unwrap();
    let index = place.path().join("a.scanns");
    run(&index, &options(&root, Records::Lines, 1)).unwrap();
    let snapshot = Snapshot::open(&index).unwrap();
    let name = |end: &str| format!("{}{end}", root.join("a").display()).into_bytes();
    for key in [name(":1"), name(":2"), name(":1:2")] {
        let hit = snapshot.hit(&key).unwrap().unwrap();
        assert_eq!(snapshot.key(&hit).unwrap(), key);
    }
    assert!(snapshot.hit(name("")).is_err() && snapshot.hit(name(":3")).unwrap().is_none());
    Index::open(&index).unwrap().delete(&crate::index::Selection::Keys(vec![name("")])).unwrap();
    let error = Snapshot::open(&index).unwrap().hit(name(":1")).unwrap_err().to_string();
    assert!(error.contains("a:1:1"), "{error}");
}
