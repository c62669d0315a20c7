use std::fmt::Write as _;
use std::sync::atomic::Ordering;

use super::*;
use crate::index::{FieldOptions, check_in};
use crate::query::Query;
use crate::record::{CsvDelimiter, CsvNames, Sources};
use crate::schema::{Field, FieldEntry, FieldKind, Postings, Schema, Store, Value, parse_date};
use crate::segment::CheckLevel;
use crate::store::RamDirectory;

/// Key → field → its values, keywords and numbers ascending.
pub(super) type Documents = BTreeMap<String, BTreeMap<String, Vec<String>>>;

fn schema() -> Schema {
    let mut schema = Schema::new();
    let note = FieldKind::Text { analyzer: Analyzer::Standard, postings: Postings::Positions };
    for entry in [
        FieldEntry::new("id", FieldKind::Unsigned),
        FieldEntry::new("name", FieldKind::Keyword),
        FieldEntry::new("note", note),
        FieldEntry::new("ratio", FieldKind::Float),
        FieldEntry::new("delta", FieldKind::Signed),
        FieldEntry::new("at", FieldKind::Date),
        FieldEntry::new("ok", FieldKind::Boolean),
        FieldEntry::new("home", FieldKind::Path),
    ] {
        schema.add(entry.column()).unwrap();
    }
    schema
}

/// Options for records with a schema; small blocks and stretches, so that records lie across their borders.
pub(super) fn with(schema: &Schema, root: &Path, records: Records, lanes: usize) -> IndexOptions {
    let fields =
        FieldOptions { schema: Some((schema.clone(), Sources::of(schema))), ..FieldOptions::default() };
    let mut options = IndexOptions { fields, analyzer: None, ..options(root, records, lanes) };
    options.read.block_bytes = 4 << 10;
    options.read.chunk_bytes = 10 << 10;
    options.segment_memory = Some(16 << 20);
    options
}

pub(super) fn build_all(directory: &RamDirectory, options: &IndexOptions) -> IndexReport {
    let report = build_in(directory, options, &Progress::new(), &Arc::default()).unwrap();
    let never = AtomicBool::new(false);
    let checked = check_in(directory, CheckLevel::Cross, &Progress::new(), &never).unwrap();
    assert!(checked.is_whole(), "{checked:?}");
    report
}

/// All columns of all documents.
pub(super) fn columns(snapshot: &Snapshot) -> Documents {
    let mut documents = Documents::new();
    let visit = |hit: crate::search::Hit| {
        let key = String::from_utf8(snapshot.key(&hit).unwrap()).unwrap();
        let mut fields = BTreeMap::new();
        for (field, entry) in snapshot.schema().columns() {
            let mut values = Vec::new();
            let column = snapshot.leaves()[hit.leaf].column(field).unwrap();
            column.values_of(hit.doc, &mut values).unwrap();
            if !values.is_empty() {
                fields.insert(entry.name.clone(), values.iter().map(|value| format!("{value:?}")).collect());
            }
        }
        assert!(documents.insert(key.clone(), fields).is_none(), "{key} twice");
        ControlFlow::Continue(())
    };
    snapshot.searcher().for_each(&Query::All, Model::Bm25 { k1: 1.0, b: 0.0 }, visit).unwrap();
    documents
}

pub(super) fn open(directory: &RamDirectory) -> Snapshot {
    Snapshot::open_in(directory).unwrap().unwrap()
}

/// Keys of documents that have a term in a field.
fn having(snapshot: &Snapshot, field: Field, term: &str) -> Vec<String> {
    let mut keys = Vec::new();
    let visit = |hit| {
        keys.push(String::from_utf8(snapshot.key(&hit).unwrap()).unwrap());
        ControlFlow::Continue(())
    };
    let searcher = snapshot.searcher_in(field);
    searcher.for_each(&Query::term(field, term), Model::Bm25 { k1: 1.0, b: 0.0 }, visit).unwrap();
    keys.sort();
    keys
}

/// A file of random records in either format, of which some are blank and some malformed, and the expected
/// documents.
fn random_file(random: &mut Rng, path: &Path, records: Records, count: usize) -> (Documents, u64) {
    let csv = records == Records::Csv;
    let mut text = if csv { "id,name,note,ratio,delta,at,ok,home\n".to_string() } else { String::new() };
    let (mut documents, mut malformed) = (Documents::new(), 0);
    for number in 1..=count {
        match random.usize(..20) {
            0 => text.push('\n'),
            1 => {
                text.push_str(if csv { "1,2,3,4,5,6,7,8,9,10\n" } else { "{\"id\": 7, \"note\"\n" });
                malformed += 1;
            }
            _ => {
                let id = random.u64(..) >> random.u32(..64);
                let name = format!("n{}", random.u32(..50));
                let feed = if csv && random.bool() { "\n" } else { " " };
                let most = [3, 30, 3000][random.usize(..3)];
                let many = random.usize(..most);
                let note: String = (0..many).map(|_| format!("w{}{feed}", random.u32(..99))).collect();
                let (ratio, delta) = (f64::from(random.u32(..1000)) / 8.0, random.i64(-500..500));
                let (at, ok) = (format!("2024-01-{:02}", random.u32(1..29)), random.bool());
                let home = format!("/home/u{}/f{}", random.u32(..9), random.u32(..999));
                if csv {
                    writeln!(text, "{id},{name},\"{note}\",{ratio},{delta},{at},{ok},{home}").unwrap();
                } else {
                    let home = format!("\"home\":\"{home}\"");
                    let rest = format!("\"delta\":{delta},\"at\":\"{at}\",\"ok\":{ok},{home}");
                    writeln!(text, r#"{{"id":{id},"name":"{name}","note":"{note}","ratio":{ratio},{rest}}}"#)
                        .unwrap();
                }
                let values = [
                    ("id", Value::Unsigned(id)),
                    ("name", Value::Text(name.into())),
                    ("note", Value::Text(note.into())),
                    ("ratio", Value::Float(ratio)),
                    ("delta", Value::Signed(delta)),
                    ("at", Value::Date(parse_date(at.as_bytes()).unwrap())),
                    ("ok", Value::Boolean(ok)),
                    ("home", Value::Text(home.into())),
                ];
                let fields = values.map(|(name, value)| (name.into(), vec![format!("{value:?}")]));
                documents.insert(format!("{}:{number}", path.display()), fields.into());
            }
        }
    }
    if random.bool() {
        // The last line end may be missing.
        text.truncate(text.trim_end().len());
    }
    fs::write(path, text).unwrap();
    (documents, malformed)
}

#[test]
fn values_come_back_by_document_whatever_the_format_and_the_number_of_threads() {
    let seed = 0x5eed_0720;
    let mut random = Rng::with_seed(seed);
    let schema = schema();
    for records in [Records::Jsonl, Records::Csv] {
        let place = tempfile::tempdir().unwrap();
        let (mut expected, mut malformed) = (Documents::new(), 0);
        for n in 0..6 {
            let count = [0, 1, 40, 400][random.usize(..4)].max(usize::from(n == 0) * 600);
            let (documents, bad) =
                random_file(&mut random, &place.path().join(format!("{n}")), records, count);
            expected.extend(documents);
            malformed += bad;
        }
        for lanes in [1, 2, 4] {
            let what = format!("seed {seed:x} {records:?} lanes {lanes}");
            let directory = RamDirectory::new();
            let options = with(&schema, place.path(), records, lanes);
            let report = build_all(&directory, &options);
            assert_eq!((report.documents, report.failed.len()), (expected.len() as u64, 0), "{what}");
            assert_eq!(report.records.malformed, malformed, "{what}");
            assert!(report.records.conflicts.is_empty() && report.records.unknown.is_empty(), "{what}");
            assert_eq!(report.records.examples.len() as u64, malformed.min(10), "{what}");
            let snapshot = open(&directory);
            assert!(columns(&snapshot) == expected, "{what}");
            let name = schema.field("name").unwrap();
            for term in ["n7", "n33"] {
                let value = format!("{:?}", Value::Text(term.into()));
                let keys = expected.iter().filter(|(_, fields)| fields["name"].contains(&value));
                let keys: Vec<_> = keys.map(|(key, _)| key.clone()).collect();
                assert_eq!(having(&snapshot, name, term), keys, "{what}");
            }
            // Nothing is left to do.
            let idle = build_all(&directory, &options);
            assert_eq!((idle.documents, idle.replaced), (0, 0), "{what}");
            assert!(columns(&open(&directory)) == expected, "{what}");
        }
    }
}

#[test]
fn malformed_records_are_told_with_their_place_and_do_not_touch_their_neighbours() {
    let place = tempfile::tempdir().unwrap();
    let mut text = String::new();
    for line in 1..=2000 {
        match line {
            700 | 1500 => text.push_str("{\"id\": oops}\n"),
            900 => text.push_str("{\"id\": \"many\", \"colour\": \"red\"}\n"),
            _ => writeln!(text, "{{\"id\": {line}, \"name\": \"n{line}\"}}").unwrap(),
        }
    }
    let path = place.path().join("a.jsonl");
    fs::write(&path, text).unwrap();
    let schema = schema();
    let directory = RamDirectory::new();
    let report = build_all(&directory, &with(&schema, &path, Records::Jsonl, 3));
    assert_eq!((report.documents, report.records.malformed), (1998, 2));
    let lines: Vec<_> = report.records.examples.iter().map(|example| example.line).collect();
    assert_eq!(lines, [700, 1500]);
    assert!(report.records.examples[0].text.contains("oops") && report.records.examples[0].path == path);
    assert_eq!(report.records.conflicts.len(), 1);
    let conflict = &report.records.conflicts[0];
    assert_eq!((conflict.field.as_str(), conflict.count, conflict.example.as_str()), ("id", 1, "many"));
    assert_eq!(report.records.unknown, [("colour".into(), 1)]);
    let snapshot = open(&directory);
    for line in [699, 701, 1499, 1501, 2000] {
        let key = format!("{}:{line}", path.display());
        assert_eq!(having(&snapshot, schema.field("name").unwrap(), &format!("n{line}")), [key]);
    }
}

#[test]
fn files_that_change_are_replaced_and_others_left_alone() {
    let seed = 0x5eed_0721;
    let mut random = Rng::with_seed(seed);
    let schema = schema();
    for records in [Records::Jsonl, Records::Csv] {
        let place = tempfile::tempdir().unwrap();
        let directory = RamDirectory::new();
        let mut expected = BTreeMap::new();
        for round in 0..4 {
            let mut changed = 0;
            for n in 0..4 {
                if round == 0 || random.bool() {
                    changed += 1;
                    let path = place.path().join(format!("{n}"));
                    // So that the length always differs.
                    let count = 100 * (round + 1) + random.usize(..50);
                    expected.insert(n, random_file(&mut random, &path, records, count).0);
                }
            }
            let report = build_all(&directory, &with(&schema, place.path(), records, 2));
            let what = format!("seed {seed:x} {records:?} round {round}");
            assert_eq!(report.unchanged, 4 - changed, "{what}");
            let all: Documents = expected.values().flatten().map(|(k, v)| (k.clone(), v.clone())).collect();
            assert!(columns(&open(&directory)) == all, "{what}");
        }
    }
}

#[test]
fn a_build_of_records_that_was_stopped_goes_on_and_has_every_record_once() {
    let seed = 0x5eed_0722;
    let mut random = Rng::with_seed(seed);
    let schema = schema();
    for records in [Records::Jsonl, Records::Csv] {
        let place = tempfile::tempdir().unwrap();
        let mut expected = Documents::new();
        for n in 0..3 {
            expected.extend(random_file(&mut random, &place.path().join(format!("{n}")), records, 12_000).0);
        }
        let directory = RamDirectory::new();
        let mut options = with(&schema, place.path(), records, 2);
        options.commit_every = Some(std::time::Duration::ZERO);
        for bytes in [1 << 20, 3 << 20, 9 << 20] {
            let (progress, cancel) = (Progress::new(), Arc::new(AtomicBool::new(false)));
            std::thread::scope(|scope| {
                let build = scope.spawn(|| build_in(&directory, &options, &progress, &cancel));
                while !build.is_finished() && progress.bytes() < bytes {
                    std::thread::yield_now();
                }
                cancel.store(true, Ordering::Relaxed);
                let _ = build.join().unwrap();
            });
        }
        build_all(&directory, &options);
        assert!(columns(&open(&directory)) == expected, "seed {seed:x} {records:?}");
    }
}

#[test]
fn a_new_index_without_a_schema_gets_one_from_a_sample_and_keeps_it() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("a");
    fs::write(&path, "{\"user name\": \"ada\", \"n\": 1}\n{\"user name\": \"bob\", \"n\": -2}\n").unwrap();
    let directory = RamDirectory::new();
    let mut options = with(&schema(), &path, Records::Jsonl, 1);
    options.fields.schema = None;
    let report = build_all(&directory, &options);
    let inferred = report.records.inferred.unwrap();
    let names: Vec<_> = inferred.schema.fields().map(|(_, e)| (e.name.as_str(), e.kind.name())).collect();
    assert_eq!(names, [("user_name", "keyword"), ("n", "signed"), ("user_name.words", "text")]);
    fs::write(place.path().join("b"), "{\"user name\": \"eve\", \"n\": 1.5, \"user_name\": 3}").unwrap();
    options.source.paths = vec![place.path().to_path_buf()];
    let report = build_all(&directory, &options);
    assert!(report.records.inferred.is_none() && report.unchanged == 1);
    let snapshot = open(&directory);
    assert_eq!(snapshot.schema(), &inferred.schema);
    let eve = &columns(&snapshot)[&format!("{}:1", place.path().join("b").display())];
    assert_eq!(eve["user_name"], [format!("{:?}", Value::Text(b"eve".to_vec()))]);
    assert!(!eve.contains_key("n"));
    // Another schema, and files, are refused.
    options.fields.schema = Some((schema(), Sources::of(&schema())));
    for records in [Records::Jsonl, Records::File] {
        options.records = records;
        let error = build_in(&directory, &options, &Progress::new(), &Arc::default()).unwrap_err();
        assert!(matches!(error, Error::Conflict { .. }), "{error}");
    }
}

#[test]
fn stored_values_and_stored_records_are_read_back() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("a");
    fs::write(&path, "{\"id\": 5, \"name\": \"x\"}\r\n\n{\"id\": -1, \"name\": \"y\"}").unwrap();
    let mut storing = Schema::new();
    storing.add(FieldEntry::new("name", FieldKind::Keyword)).unwrap();
    let id = storing.add(FieldEntry::new("id", FieldKind::Unsigned).stored()).unwrap();
    let plain = schema();
    let hit = |snapshot: &Snapshot, name: &str| {
        let name_field = snapshot.schema().field("name").unwrap();
        let mut found = None;
        let visit = |hit| {
            found = Some(hit);
            ControlFlow::Continue(())
        };
        let query = Query::term(name_field, name);
        snapshot.searcher_in(name_field).for_each(&query, Model::Bm25 { k1: 1.0, b: 0.0 }, visit).unwrap();
        found.unwrap()
    };
    let directory = RamDirectory::new();
    build_all(&directory, &with(&storing, &path, Records::Jsonl, 1));
    let snapshot = open(&directory);
    assert_eq!(snapshot.values(&hit(&snapshot, "x")).unwrap(), Some(vec![(id, Value::Unsigned(5))]));
    assert_eq!(snapshot.values(&hit(&snapshot, "y")).unwrap(), Some(vec![]));
    for store in [Store::Content, Store::Reference] {
        let directory = RamDirectory::new();
        let mut options = with(&plain, &path, Records::Jsonl, 1);
        options.stored.store = Some(store);
        build_all(&directory, &options);
        let snapshot = open(&directory);
        for (name, text) in [("x", r#"{"id": 5, "name": "x"}"#), ("y", r#"{"id": -1, "name": "y"}"#)] {
            let document = snapshot.document(&hit(&snapshot, name)).unwrap().unwrap();
            assert_eq!(String::from_utf8(document).unwrap(), text, "{store:?}");
        }
    }
}

#[test]
fn hostile_records_are_left_out_and_the_rest_is_indexed() {
    let place = tempfile::tempdir().unwrap();
    let schema = schema();
    let good = "{\"id\": 1, \"name\": \"good\"}\n";
    let long = format!("{{\"name\": \"{}\"}}\n", "x".repeat(40 << 20));
    let deep = format!("{}{}\n", "{\"a\":".repeat(100_000), "1".to_string() + &"}".repeat(100_000));
    let wide: String = (0..100_000).map(|n| format!("\"f{n}\": {n},")).collect();
    let wide = format!("{{{wide} \"name\": \"wide\"}}\n");
    let numbers = format!("{{\"id\": [{}1], \"name\": \"many\"}}\n", "1,".repeat(300_000));
    let path = place.path().join("a");
    fs::write(&path, [good, &long, &deep, &wide, &numbers, "\"[\n", good].concat()).unwrap();
    for lanes in [1, 3] {
        let directory = RamDirectory::new();
        let mut options = with(&schema, &path, Records::Jsonl, lanes);
        // Which makes 32 MiB for a record.
        options.memory = 1 << 30;
        let report = build_all(&directory, &options);
        let lines: Vec<_> = report.records.examples.iter().map(|example| example.line).collect();
        assert_eq!((report.documents, lines), (4, vec![2, 3, 6]), "{:?}", report.records.examples);
        assert!(report.records.examples[0].reason.contains("memory"), "{:?}", report.records.examples);
        assert!(report.records.unknown.len() == 1000 && report.records.unknown_rest == 99_000);
        let snapshot = open(&directory);
        let name = schema.field("name").unwrap();
        let keys = [1, 7].map(|line| format!("{}:{line}", path.display()));
        assert_eq!(having(&snapshot, name, "good"), keys);
        assert_eq!(having(&snapshot, name, "wide"), [format!("{}:4", path.display())]);
        let many = &columns(&snapshot)[&format!("{}:5", path.display())];
        assert_eq!(many["id"].len(), 300_001);
    }
}

#[test]
fn a_file_of_csv_without_a_header_fails_and_one_that_ends_in_quotes_loses_nothing() {
    let place = tempfile::tempdir().unwrap();
    let schema = schema();
    fs::write(place.path().join("bad"), "\nid,name\n1,x\n").unwrap();
    fs::write(place.path().join("empty"), "").unwrap();
    fs::write(place.path().join("open"), "name;id\na;1\n\"b;2\nc;3\n").unwrap();
    fs::write(place.path().join("other"), "id\tcolour\tname\r\n9\tred\tz\r\n").unwrap();
    let directory = RamDirectory::new();
    let report = build_all(&directory, &with(&schema, place.path(), Records::Csv, 2));
    assert_eq!((report.documents, report.records.malformed, report.records.repaired.count), (4, 0, 1));
    let stray = &report.records.repaired.examples[0];
    assert_eq!((stray.line, stray.record, stray.text.as_str()), (3, 2, "\"b;2\n"));
    let failed: Vec<_> = report.failed.iter().map(|failure| failure.path.file_name().unwrap()).collect();
    assert_eq!(failed, ["bad"], "{:?}", report.failed);
    assert_eq!(report.records.unknown, [("colour".into(), 1)]);
    let found = columns(&open(&directory));
    let names: Vec<_> = found.values().map(|fields| fields["name"][0].clone()).collect();
    assert_eq!(names, ["a", "\"b", "c", "z"].map(|name| format!("{:?}", Value::Text(name.into()))));
}

/// Rows of the columns `id`, `name` and `note`, some of several lines.
fn rows(count: u64) -> Vec<String> {
    let note = |id: u64| match id % 10 {
        0 => format!("\"one, two\nthree {id}\n\"\"four\"\"\""),
        1 => "\"\"".into(),
        _ => format!("note {id}"),
    };
    (0..count).map(|id| format!("{id},n{id},{}\n", note(id))).collect()
}

#[test]
fn stray_quotes_cost_nothing_whatever_the_threads_and_blocks() {
    let place = tempfile::tempdir().unwrap();
    let schema = schema();
    let mut lines = rows(6000);
    for (row, stray) in [(17, "17,\"n17,x\n"), (2500, "2500,n2500,\"x\n"), (2600, "\"2600\"x,\"n,o,p\n")] {
        lines[row] = stray.into();
    }
    let path = place.path().join("a.csv");
    fs::write(&path, format!("id,name,note\n{}", lines.concat())).unwrap();
    let mut first = None;
    for (lanes, block, chunk) in [(1, 4, 10), (1, 256, 1 << 10), (3, 8, 1 << 10), (2, 1024, 100)] {
        let directory = RamDirectory::new();
        let mut options = with(&schema, &path, Records::Csv, lanes);
        (options.read.block_bytes, options.read.chunk_bytes) = (block << 10, chunk << 10);
        options.stored.store = Some(Store::Reference);
        let report = build_all(&directory, &options);
        let records = &report.records;
        assert_eq!(
            (report.documents, records.malformed, records.repaired.count),
            (5999, 1, 2),
            "{records:?}"
        );
        let lost = &records.examples[0];
        // Of the rows before this one, 260 have two lines more, except for number 2500.
        assert_eq!((lost.record, lost.line), (2601, 2601 + 1 + 2 * 259));
        assert_eq!((records.malformed_lines, records.malformed_bytes), (1, 15));
        assert_eq!(records.bytes, lines.concat().len() as u64);
        assert!(!records.is_lossy(report.documents));
        let snapshot = open(&directory);
        let found = columns(&snapshot);
        assert_eq!(*first.get_or_insert_with(|| found.clone()), found, "{lanes} {block} {chunk}");
        let hit = |name: &str| {
            let field = schema.field("name").unwrap();
            let mut found = None;
            let visit = |hit| {
                found = Some(hit);
                ControlFlow::Continue(())
            };
            let query = Query::term(field, name);
            snapshot.searcher_in(field).for_each(&query, Model::Bm25 { k1: 1.0, b: 0.0 }, visit).unwrap();
            found.unwrap()
        };
        // The text of a row is found in the file, also of the first one.
        for (name, row) in [("n0", 0), ("\"n17", 17), ("n2499", 2499), ("n5999", 5999)] {
            let text = snapshot.document(&hit(name)).unwrap().unwrap();
            assert_eq!(String::from_utf8(text).unwrap() + "\n", lines[row]);
        }
    }
}

#[test]
fn an_index_remembers_how_its_rows_are_written() {
    let place = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(place.path().join(name), text).unwrap();
    write("a", "\u{feff}/srv/one\t12\t2024-01-02\n/srv/\"two\t3\t2023-01-02\n");
    let directory = RamDirectory::new();
    let mut options = with(&schema(), place.path(), Records::Csv, 2);
    options.fields.schema = None;
    options.stored.store = Some(Store::Reference);
    let report = build_all(&directory, &options);
    let dialect = report.records.csv.unwrap();
    assert_eq!((dialect.names, dialect.likely), (CsvNames::Numbered, Some(CsvDelimiter::TAB)));
    // Taken alone, these rows would be a header and a row with a quoted value.
    write("b", "name\tsize\tdate\n\"c\t4\t2024-01-01\n");
    let report = build_all(&directory, &options);
    assert!(report.records.csv.is_none() && report.documents == 2, "{report:?}");
    let snapshot = open(&directory);
    let found = columns(&snapshot);
    let names: Vec<_> = found.values().map(|fields| fields["column1"][0].clone()).collect();
    let text = |text: &str| format!("{:?}", Value::Text(text.into()));
    assert_eq!(names, ["/srv/one", "/srv/\"two", "name", "\"c"].map(text));
    assert_eq!(report.records.conflicts.len(), 2, "{:?}", report.records.conflicts);
    options.fields.csv.names = Some(CsvNames::FirstRow);
    let error = build_in(&directory, &options, &Progress::new(), &Arc::default()).unwrap_err();
    assert!(matches!(error, Error::Conflict { .. }), "{error}");
    options.fields.csv.names = Some(CsvNames::Numbered);
    assert_eq!(build_all(&directory, &options).documents, 0);
    // Given names.
    let directory = RamDirectory::new();
    options.fields.csv.names = Some(CsvNames::Given(["path", "size", "size"].map(String::from).into()));
    let report = build_all(&directory, &options);
    let renamed: Vec<_> = report.records.renamed.iter().map(|column| column.to.as_str()).collect();
    assert_eq!((report.documents, renamed), (4, vec!["size_2"]));
    assert_eq!(columns(&open(&directory)).values().filter(|fields| fields.contains_key("path")).count(), 4);
}
