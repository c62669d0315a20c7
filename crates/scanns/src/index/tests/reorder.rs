use std::ops::Range;

use super::*;
use crate::index::{IndexWriter, MergeOptions, Selection, WriterOptions, check_in, delete_in, merge_in};
use crate::schema::{Document, Field, FieldEntry, FieldKind, Schema, Value};
use crate::search::Hit;
use crate::segment::CheckLevel;
use crate::store::RamDirectory;

/// Terms of documents of a few topics.
fn text(random: &mut Rng) -> String {
    let topic = random.u8(..6);
    let word = |random: &mut Rng| match random.u8(..4) {
        0 => format!("common{}", random.u8(..9)),
        _ => format!("t{topic}word{}", random.u8(..40)),
    };
    (0..random.usize(..60)).map(|_| word(random)).collect::<Vec<_>>().join(" ")
}

/// Keys that share no prefix with their neighbours, and so need no more space in any other order.
fn name(number: u64) -> String {
    format!("{number:03}").chars().rev().collect()
}

/// Several segments with fields of all kinds, stored values, and some deleted documents.
fn written(random: &mut Rng) -> Arc<RamDirectory> {
    let mut schema = Schema::new();
    let words = |postings| FieldKind::Text { analyzer: Analyzer::Standard, postings };
    let body = schema.add(FieldEntry::new("body", words(Postings::Offsets)).stored()).unwrap();
    let title = schema.add(FieldEntry::new("title", words(Postings::Positions)).stored()).unwrap();
    let tag = schema.add(FieldEntry::new("tag", FieldKind::Keyword)).unwrap();
    let size = schema.add(FieldEntry::new("size", FieldKind::Unsigned).stored()).unwrap();
    let directory = Arc::new(RamDirectory::new());
    let options = WriterOptions { lanes: 2, merge: None, ..WriterOptions::default() };
    let writer = IndexWriter::open_in(directory.clone(), Some(&schema), options).unwrap();
    for number in 0..700u64 {
        let mut document = Document::new(name(number)).with(size, Value::Unsigned(number));
        document = document.text(body, text(random)).text(tag, format!("tag{}", random.u8(..5)));
        if random.bool() {
            document = document.text(title, text(random));
        }
        writer.add(&document).unwrap();
        if number % 250 == 249 {
            writer.commit().unwrap();
        }
        if random.u8(..9) == 0 {
            writer.delete(name(random.u64(..number + 1)).as_bytes()).unwrap();
        }
    }
    writer.commit().unwrap();
    directory
}

const QUERIES: [&str; 12] = [
    "common1",
    "common1 t3word7",
    "t1word3 AND common2",
    "common3 NOT t2word5",
    "\"common1 common2\"",
    "\"t4word1 t4word2\"~9",
    "t3word*",
    "t5word1~1",
    "title:common4",
    "title:t2word9 tag:tag3",
    "tag:tag1 AND common5",
    "+common0 t0word1^3 t0word2",
];

/// The result of one query: scores as bits, with the keys.
fn answers(snapshot: &Snapshot, query: &str, k: usize) -> Vec<(u32, Vec<u8>)> {
    let query = snapshot.parse(query, Operator::Or).unwrap();
    let mut all = Vec::new();
    for model in [Model::Classic, Model::Bm25 { k1: 1.2, b: 0.75 }] {
        let hits = snapshot.searcher().top_k(&query, model, k).unwrap();
        let mut found: Vec<_> =
            hits.iter().map(|hit| (hit.score.to_bits(), snapshot.key(hit).unwrap())).collect();
        found.sort();
        all.extend(found);
    }
    all
}

/// Values, and the positions of one term in the body.
type Kept = (Vec<(Field, Value)>, Vec<u32>, Vec<Range<u32>>);

/// The data of every document, by its key.
fn kept(snapshot: &Snapshot) -> BTreeMap<Vec<u8>, Kept> {
    let mut found = BTreeMap::new();
    let query = snapshot.parse("tag:tag*", Operator::Or).unwrap();
    let visit = |hit: Hit| {
        let values = snapshot.values(&hit).unwrap().unwrap();
        let positions = snapshot.positions(&hit, b"common1").unwrap();
        let offsets = snapshot.offsets(&hit, b"common1").unwrap();
        assert_eq!(positions.len(), offsets.len());
        found.insert(snapshot.key(&hit).unwrap(), (values, positions, offsets));
        ControlFlow::Continue(())
    };
    snapshot.searcher().for_each(&query, Model::Classic, visit).unwrap();
    found
}

fn merged(directory: &RamDirectory, options: &MergeOptions) -> Snapshot {
    let never = AtomicBool::new(false);
    let report = merge_in(directory, options, &Progress::new(), &never).unwrap();
    assert_eq!(report.after, 1);
    let checked = check_in(directory, CheckLevel::Cross, &Progress::new(), &never).unwrap();
    assert!(checked.is_whole() && checked.leftovers.is_empty(), "{checked:?}");
    Snapshot::open_in(directory).unwrap().unwrap()
}

#[test]
fn an_index_that_is_reordered_gives_the_same_answers_with_the_same_scores() {
    let seed = 0x5eed_2220;
    let mut random = Rng::with_seed(seed);
    // With the minimum memory, a few stretches of documents are ordered separately.
    for memory in [64 << 20, 700 * 72] {
        let directory = written(&mut random);
        let options = MergeOptions { reorder: true, threads: 2, memory, ..MergeOptions::default() };
        let plain = merged(&directory, &MergeOptions::default());
        let reordered = merged(&directory, &options);
        assert!(
            kept_in_order(&plain) != kept_in_order(&reordered),
            "seed {seed:x}: an order of chance is none of topics"
        );
        for query in QUERIES {
            let what = format!("seed {seed:x} memory {memory} {query}");
            let expected = answers(&plain, query, 1000);
            assert!(!expected.is_empty(), "{what}");
            assert_eq!(answers(&reordered, query, 1000), expected, "{what}");
            // With fewer hits, the hits with the lowest score may be others.
            let best =
                |found: Vec<(u32, Vec<u8>)>| found.into_iter().map(|(score, _)| score).collect::<Vec<_>>();
            assert_eq!(best(answers(&reordered, query, 7)), best(answers(&plain, query, 7)), "{what}");
        }
        assert!(kept(&plain) == kept(&reordered), "seed {seed:x} memory {memory}");
        assert!(contents(&plain) == contents(&reordered), "seed {seed:x} memory {memory}");

        // The index can be changed like any other: deleted documents disappear in every kind of merge.
        delete_in(&*directory, &Selection::Query("common7".into(), Operator::Or)).unwrap();
        let expected = kept(&Snapshot::open_in(&*directory).unwrap().unwrap());
        assert!(expected.len() < kept(&plain).len());
        assert!(kept(&merged(&directory, &MergeOptions::default())) == expected, "seed {seed:x}");
        assert!(kept(&merged(&directory, &options)) == expected, "seed {seed:x}");
    }
}

/// Keys in document order.
fn kept_in_order(snapshot: &Snapshot) -> Vec<Vec<u8>> {
    let mut keys = Vec::new();
    let query = snapshot.parse("tag:tag*", Operator::Or).unwrap();
    let visit = |hit: Hit| {
        keys.push(snapshot.key(&hit).unwrap());
        ControlFlow::Continue(())
    };
    snapshot.searcher().for_each(&query, Model::Classic, visit).unwrap();
    keys
}

#[test]
fn too_little_memory_to_reorder_is_told_and_nothing_changes() {
    let directory = written(&mut Rng::with_seed(3));
    let before = kept_in_order(&Snapshot::open_in(&*directory).unwrap().unwrap());
    let options = MergeOptions { reorder: true, memory: 1 << 10, ..MergeOptions::default() };
    let never = AtomicBool::new(false);
    let error = merge_in(&*directory, &options, &Progress::new(), &never).unwrap_err();
    assert!(
        matches!(&error, Error::InvalidValue { expected, .. } if expected.contains("at least 1 MiB")),
        "{error}"
    );
    let options = MergeOptions { memory: 1 << 30, ..options };
    let cancelled = merge_in(&*directory, &options, &Progress::new(), &AtomicBool::new(true));
    assert!(matches!(cancelled, Err(Error::Cancelled)));
    assert_eq!(kept_in_order(&Snapshot::open_in(&*directory).unwrap().unwrap()), before);
    let checked = check_in(&*directory, CheckLevel::Cross, &Progress::new(), &never).unwrap();
    assert!(checked.is_whole() && checked.leftovers.is_empty(), "{checked:?}");
}

#[test]
fn one_segment_for_which_no_order_is_better_is_left_as_it_is() {
    let mut schema = Schema::new();
    let tag = schema.add(FieldEntry::new("tag", FieldKind::Keyword)).unwrap();
    let directory = Arc::new(RamDirectory::new());
    let options = WriterOptions { lanes: 1, merge: None, ..WriterOptions::default() };
    let writer = IndexWriter::open_in(directory.clone(), Some(&schema), options).unwrap();
    for number in 0..400 {
        writer.add(&Document::new(format!("k{number:03}")).text(tag, "same")).unwrap();
    }
    writer.commit().unwrap();
    drop(writer);
    let options = MergeOptions { reorder: true, memory: 16 << 20, ..MergeOptions::default() };
    let (never, progress) = (AtomicBool::new(false), Progress::new());
    merge_in(&*directory, &MergeOptions::default(), &progress, &never).unwrap();
    let generation = || crate::store::read_newest(&*directory).unwrap().unwrap().generation;
    let before = generation();
    let report = merge_in(&*directory, &options, &progress, &never).unwrap();
    assert_eq!((report.reordered, report.bytes_written, report.before, report.after), (false, 0, 1, 1));
    assert_eq!(generation(), before);
    // A deleted document is a reason to rewrite the segment.
    delete_in(&*directory, &Selection::Keys(vec![b"k007".to_vec()])).unwrap();
    let report = merge_in(&*directory, &options, &progress, &never).unwrap();
    assert!(!report.reordered && report.bytes_written > 0 && report.reclaimed == 1, "{report:?}");
}
