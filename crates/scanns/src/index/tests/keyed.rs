//! Records whose keys are values of a field, in builds that are stopped and continued.

use super::resume::build_until;
use super::*;
use crate::index::commit::merge_policy::MergePolicy;
use crate::index::{FieldOptions, check_in};
use crate::query::Query;
use crate::record::Sources;
use crate::schema::{FieldEntry, FieldKind, Schema, Value};
use crate::segment::CheckLevel;
use crate::store::RamDirectory;
use std::fmt::Write as _;

/// By key, the value of the field `n`.
type Numbers = BTreeMap<String, Value>;

/// Options for records with the key `id` and a number `n`; small blocks, stretches and segments.
fn options_with_key(root: &Path, records: Records) -> IndexOptions {
    let mut schema = Schema::new();
    let id = schema.add(FieldEntry::new("id", FieldKind::Keyword).column()).unwrap();
    schema.add(FieldEntry::new("n", FieldKind::Unsigned).column()).unwrap();
    let mut sources = Sources::of(&schema);
    sources.set_key(id);
    let fields = FieldOptions { schema: Some((schema, sources)), ..FieldOptions::default() };
    let mut options = IndexOptions { fields, analyzer: None, ..options(root, records, 2) };
    options.read.block_bytes = 4 << 10;
    options.read.chunk_bytes = 10 << 10;
    options.segment_memory = Some(256 << 10);
    options.commit_every = Some(std::time::Duration::ZERO);
    options.merge = Some(MergePolicy::default());
    options
}

/// A file of records with random keys; the numbers continue those in `expected`, which gets the last of each
/// key.
fn write_file(random: &mut Rng, path: &Path, records: Records, expected: &mut Numbers) {
    let first = expected.values().count() as u64 * 1_000_000;
    let mut text = if records == Records::Csv { "id,n\n".to_string() } else { String::new() };
    for n in first..first + 20_000 {
        let id = format!("k{}", random.u32(..9000));
        match records {
            Records::Csv => writeln!(text, "{id},{n}").unwrap(),
            _ => writeln!(text, "{{\"id\":\"{id}\",\"n\":{n}}}").unwrap(),
        }
        expected.insert(id, Value::Unsigned(n));
    }
    fs::write(path, text).unwrap();
}

/// The number of each key in the newest commit, in which no key may occur twice.
fn numbers(directory: &RamDirectory, what: &str) -> Numbers {
    let mut numbers = Numbers::new();
    let Some(snapshot) = Snapshot::open_in(directory).unwrap() else { return numbers };
    let field = snapshot.schema().field("n").unwrap();
    let visit = |hit: crate::search::Hit| {
        let key = String::from_utf8(snapshot.key(&hit).unwrap()).unwrap();
        let value = snapshot.field_values(&hit, &[field]).unwrap().concat().remove(0);
        assert!(numbers.insert(key.clone(), value).is_none(), "{what}: {key} twice");
        ControlFlow::Continue(())
    };
    snapshot.searcher().for_each(&Query::All, Model::default(), visit).unwrap();
    numbers
}

#[test]
fn records_come_back_when_files_with_the_same_keys_are_gone() {
    let seed = fastrand::u64(..);
    let mut random = Rng::with_seed(seed);
    for round in 0..12 {
        let what = format!("seed {seed:x} round {round}");
        let place = tempfile::tempdir().unwrap();
        let path = |file: u32| place.path().join(format!("{file}.jsonl"));
        let options = options_with_key(place.path(), Records::Jsonl);
        let mut left: Vec<u32> = (0..6).collect();
        for &file in &left {
            let keys = if random.bool() { 3 } else { 30 };
            let line = |n| format!("{{\"id\": \"k{}\", \"n\": {n}}}\n", random.u32(..keys));
            fs::write(path(file), (0..20).map(line).collect::<String>()).unwrap();
        }
        let directory = RamDirectory::new();
        let build = |directory: &RamDirectory| {
            let report = build_in(directory, &options, &Progress::new(), &Arc::default()).unwrap();
            assert!(report.failed.is_empty(), "{what}: {report:?}");
            report
        };
        build(&directory);
        while left.len() > 1 {
            fs::remove_file(path(left.swap_remove(random.usize(..left.len())))).unwrap();
            build(&directory);
            let fresh = RamDirectory::new();
            build(&fresh);
            assert!(numbers(&directory, &what) == numbers(&fresh, &what), "{what}: {left:?} are left");
            let again = build(&directory);
            assert_eq!((again.documents, again.records.restored), (0, 0), "{what}");
        }
    }
}

#[test]
fn a_record_comes_back_when_a_file_loses_the_one_with_its_key() {
    let place = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(place.path().join(name), text).unwrap();
    let line = |id: &str, n: u32| format!("{{\"id\": \"{id}\", \"n\": {n}}}\n");
    write("a.jsonl", &(line("k1", 1) + &line("k2", 2)));
    write("b.jsonl", &(line("k1", 3) + &line("k3", 4)));
    write("c.jsonl", &line("k2", 5));
    let options = options_with_key(place.path(), Records::Jsonl);
    let directory = RamDirectory::new();
    let build = || build_in(&directory, &options, &Progress::new(), &Arc::default()).unwrap();
    build();
    write("b.jsonl", &line("k3", 44));
    assert_eq!(build().records.restored, 1);
    let expected = [("k1", 1), ("k2", 5), ("k3", 44)].map(|(key, n)| (key.into(), Value::Unsigned(n)));
    assert_eq!(numbers(&directory, "k1 comes back, and k2 stays that of c"), Numbers::from(expected));
}

#[test]
fn every_commit_has_each_key_once_and_the_last_one_has_the_last_record_of_each() {
    let seed = fastrand::u64(..);
    let mut random = Rng::with_seed(seed);
    for records in [Records::Jsonl, Records::Csv] {
        let place = tempfile::tempdir().unwrap();
        let directory = RamDirectory::new();
        let options = options_with_key(place.path(), records);
        let mut expected = Numbers::new();
        for round in 0..4 {
            let what = format!("seed {seed:x} {records:?} round {round}");
            // Later files have smaller paths.
            let path = place.path().join(format!("{}", 9 - round));
            write_file(&mut random, &path, records, &mut expected);
            for part in 1..3 {
                build_until(&directory, &options, fs::metadata(&path).unwrap().len() * part / 3);
                numbers(&directory, &what);
            }
            let report = build_in(&directory, &options, &Progress::new(), &Arc::default()).unwrap();
            assert!(!report.cancelled && report.failed.is_empty(), "{what}: {report:?}");
            assert!(numbers(&directory, &what) == expected, "{what}");
            let again = build_in(&directory, &options, &Progress::new(), &Arc::default()).unwrap();
            assert_eq!((again.unchanged, again.documents), (round + 1, 0), "{what}");
        }
        let never = AtomicBool::new(false);
        let checked = check_in(&directory, CheckLevel::Cross, &Progress::new(), &never).unwrap();
        assert!(checked.is_whole(), "seed {seed:x}: {checked:?}");
    }
}
