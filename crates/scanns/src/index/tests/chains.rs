use super::*;
use crate::index::{IndexWriter, MergeOptions, WriterOptions, check_in, merge_in};
use crate::schema::{Document, Field, FieldEntry, FieldKind, Schema};
use crate::segment::CheckLevel;
use crate::store::RamDirectory;

const WORDS: &str = "standard | possessive | fold | stop:english | stop:und,der,die | porter";
const NAMES: &str = "delimiters:;\\x7c | lowercase | fold";

/// Keys of the documents that a query over a field finds, sorted.
fn found(directory: &RamDirectory, field: Field, query: &str) -> Vec<String> {
    let snapshot = Snapshot::open_in(directory).unwrap().unwrap();
    let query = snapshot.parse_in(&[field.into()], query, Operator::And).unwrap();
    let searcher = snapshot.searcher_in(field);
    let hits = searcher.top_k(&query, Model::Classic, 99).unwrap();
    let mut keys: Vec<String> =
        hits.iter().map(|hit| String::from_utf8(snapshot.key(hit).unwrap()).unwrap()).collect();
    keys.sort();
    keys
}

/// The answers that every state of the index must give.
fn must_answer(directory: &RamDirectory, text: Field, name: Field, when: &str) {
    for (field, query, expected) in [
        (text, "running", vec!["a", "c"]),
        (text, "RUNS", vec!["a", "c"]),
        (text, "resume", vec!["b"]),
        (text, "R\u{e9}sum\u{e9}s", vec!["b"]),
        (text, "dog's", vec!["a", "b"]),
        // Both words of the gap count, whichever they are.
        (text, "\"dogs of the running\"", vec!["a"]),
        (text, "\"dogs und der running\"", vec!["a"]),
        (text, "\"dogs running\"", vec![]),
        (text, "\"dogs running\"~2", vec!["a"]),
        // Parts of terms are folded, not stemmed.
        (text, "R\u{c9}S*", vec!["b"]),
        (text, "r\u{e9}sums~1", vec!["b"]),
        (text, "name:\"Zoe Muller\"", vec!["a"]),
        (name, "\"Zo\u{eb} M\u{fc}ller\"", vec!["a"]),
        (name, "zo\u{cb}*", vec!["a"]),
        (name, "running", vec![]),
        (name, "text:running \"the zoe\"", vec!["c"]),
    ] {
        assert_eq!(found(directory, field, query), expected, "{when}: {query}");
    }
    let checked = check_in(directory, CheckLevel::Cross, &Progress::new(), &AtomicBool::new(false)).unwrap();
    assert!(checked.is_whole(), "{when}: {checked:?}");
}

#[test]
fn fields_with_chains_of_their_own_are_searched_as_they_were_indexed() {
    let kind =
        |chain| FieldKind::Text { analyzer: Analyzer::parse(chain).unwrap(), postings: Postings::Offsets };
    let mut schema = Schema::new();
    let text = schema.add(FieldEntry::new("text", kind(WORDS))).unwrap();
    let name = schema.add(FieldEntry::new("name", kind(NAMES)).stored()).unwrap();
    let directory = Arc::new(RamDirectory::new());
    // A segment for each of the first; the last comes after the index was opened again.
    for (key, said, named) in [
        ("a", "Dogs of the running Man", "Zo\u{eb} M\u{fc}ller;Ann"),
        ("b", "Die R\u{e9}sum\u{e9}s und the dog's", "Bob|Ann"),
        ("c", "They run", "the ZOE"),
    ] {
        let options = WriterOptions { merge: None, ..WriterOptions::default() };
        let given = (key == "a").then_some(&schema);
        let writer = IndexWriter::open_in(directory.clone(), given, options).unwrap();
        assert_eq!(writer.schema(), &schema);
        writer.add(&Document::new(key).text(text, said).text(name, named)).unwrap();
        writer.commit().unwrap();
    }
    must_answer(&directory, text, name, "in three segments");
    let snapshot = Snapshot::open_in(&*directory).unwrap().unwrap();
    assert_eq!((snapshot.segments().len(), snapshot.info().analyzer.name()), (3, WORDS.to_owned()));
    drop(snapshot);
    merge_in(&*directory, &MergeOptions::default(), &Progress::new(), &AtomicBool::new(false)).unwrap();
    must_answer(&directory, text, name, "merged");
}
