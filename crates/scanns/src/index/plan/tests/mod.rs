//! Plans of random files: the documents of the shards are those of one index.

mod corpus;
mod dumps;

use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use fastrand::Rng;

use super::*;
use crate::content::ExtractLimits;
use crate::error::{Error, Result};
use crate::index::build::options::{FieldOptions, IndexOptions};
use crate::index::build::run::build;
use crate::index::progress::Progress;
use crate::index::shards_of;
use crate::index::snapshot::Snapshot;
use crate::index::stored_options::StoredOptions;
use crate::query::Query;
use crate::read::ReadOptions;
use crate::schema::{Records, Store};
use crate::search::{Model, TermCount};
use crate::segment::CheckLevel;
use crate::source::SourceOptions;
use crate::store::SortSpace;
use crate::sys::PageSize;
use corpus::write_corpus;

/// What is known of a document, besides its key.
#[derive(Clone, Debug, PartialEq, Eq)]
struct KnownDocument {
    text: Option<Vec<u8>>,
    values: String,
    terms: String,
}

fn options(root: &Path, records: Records, lanes: usize) -> IndexOptions {
    let read = ReadOptions {
        lanes,
        read_threads: 1,
        block_bytes: 64 << 10,
        chunk_bytes: 2_000,
        pages: PageSize::Base,
        ..ReadOptions::default()
    };
    IndexOptions {
        source: SourceOptions { paths: vec![root.to_path_buf()], threads: 2, ..SourceOptions::default() },
        read,
        records,
        fields: FieldOptions::default(),
        stored: StoredOptions {
            store: Some(Store::Content),
            vectors: (!records.have_fields()).then_some(true),
            ..StoredOptions::default()
        },
        memory: 256 << 20,
        merge: None,
        ..IndexOptions::default()
    }
}

/// The documents of an index, in their order.
fn documents(path: &Path) -> Vec<(Vec<u8>, KnownDocument)> {
    let snapshot = Snapshot::open(path).unwrap();
    let is_kept = |field: &crate::schema::Field| {
        // Reading a file changes the time of its last access.
        snapshot.schema().entry(*field).is_some_and(|entry| entry.name != "atime")
    };
    let columns = snapshot.columns().unwrap();
    let fields: Vec<_> = columns.iter().map(|column| column.field).filter(is_kept).collect();
    let mut found = Vec::new();
    let visit = |hit: crate::search::Hit| {
        let document = KnownDocument {
            text: snapshot.document(&hit).unwrap(),
            values: format!(
                "{:?} {:?}",
                snapshot.values(&hit).unwrap(),
                snapshot.field_values(&hit, &fields).unwrap()
            ),
            terms: format!("{:?}", snapshot.vector(&hit).unwrap()),
        };
        found.push((snapshot.key(&hit).unwrap(), document));
        ControlFlow::Continue(())
    };
    snapshot.searcher().for_each(&Query::All, Model::Bm25 { k1: 1.0, b: 0.0 }, visit).unwrap();
    found
}

fn go_on() -> Arc<AtomicBool> {
    Arc::new(AtomicBool::new(false))
}

fn plan(build: &IndexOptions, place: &Path, shards: u32) -> Result<PlanReport> {
    plan_in(build, place, shards, 64 << 20)
}

/// A plan whose listing is sorted in this memory.
fn plan_in(build: &IndexOptions, place: &Path, shards: u32, memory: usize) -> Result<PlanReport> {
    let (path, index) = (place.join("plan.json"), place.join("many.scanns"));
    let limits = ExtractLimits::default();
    let space = SortSpace { memory, directory: place.to_path_buf() };
    let planned = make_plan(
        PlanRequest { build, limits, path: &path, index: &index, shards, space: &space },
        &go_on(),
    )?;
    let names = fs::read_dir(place).unwrap().map(|entry| entry.unwrap().file_name());
    let left: Vec<_> = names.filter(|name| name.as_encoded_bytes().starts_with(b".scanns-")).collect();
    assert!(left.is_empty(), "temporary files are left: {left:?}");
    Ok(planned)
}

#[test]
fn a_shard_that_is_built_again_or_gone_is_noticed_until_it_is_assembled() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("data");
    fs::create_dir(&root).unwrap();
    for name in ["a", "b", "c"] {
        let line = |number| format!("{{\"id\": \"k{number}\", \"text\": \"of {name}\"}}\n");
        fs::write(root.join(format!("{name}.jsonl")), (0..50).map(line).collect::<String>()).unwrap();
    }
    let mut wanted = options(&root, Records::Jsonl, 1);
    wanted.fields.key = Some("id".into());
    plan(&wanted, place.path(), 3).unwrap();
    let plan = ShardPlan::open(place.path().join("plan.json")).unwrap();
    let build = ShardOptions { build: wanted, ..ShardOptions::default() };
    for number in 0..3 {
        build_shard(&plan, number, &build).unwrap();
    }
    let assemble = || plan.assemble(None, CheckLevel::Structure, &go_on()).unwrap();
    assert_eq!((assemble().documents, Snapshot::open(plan.index()).unwrap().info().documents), (50, 50));
    let shard = plan.index().join("shard-00001");
    fs::remove_dir_all(&shard).unwrap();
    let gone = Snapshot::open(plan.index()).unwrap_err().to_string();
    assert!(gone.contains("shard-00001: ") && gone.contains("scanns build-shard PLAN 1"), "{gone}");
    assert_eq!(shards_of(plan.index()).unwrap().unwrap().len(), 3, "whoever may miss a shard decides that");
    build_shard(&plan, 1, &build).unwrap();
    for again in [Snapshot::open(plan.index()).unwrap_err(), shards_of(plan.index()).unwrap_err()] {
        assert!(again.to_string().contains("scanns assemble with its plan"), "{again}");
    }
    assert_eq!((assemble().doubles, Snapshot::open(plan.index()).unwrap().info().documents), (50, 50));
}

fn build_shard(plan: &ShardPlan, number: u32, options: &ShardOptions) -> Result<ShardOutcome> {
    plan.build(number, options, &Progress::new(), &go_on())
}

/// Builds all shards in a random order, and assembles them. Returns their paths.
fn build_all(place: &Path, random: &mut Rng, lanes: usize) -> Vec<PathBuf> {
    let plan = ShardPlan::open(place.join("plan.json")).unwrap();
    let mut numbers: Vec<u32> = plan.shards().iter().map(|shard| shard.number).collect();
    random.shuffle(&mut numbers);
    for &number in &numbers {
        let scratch = random.bool().then(|| place.join("scratch"));
        let build = options(place, Records::File, 1 + random.usize(..lanes));
        let outcome = build_shard(&plan, number, &ShardOptions { build, scratch, output: None }).unwrap();
        assert!(matches!(outcome, ShardOutcome::Built(_)), "{outcome:?}");
    }
    let found = plan.assemble(None, CheckLevel::Structure, &go_on()).unwrap();
    assert!(found.is_complete() && found.leftovers == 0, "{found:?}");
    let shards = shards_of(plan.index()).unwrap().unwrap();
    assert_eq!(shards.len(), numbers.len());
    assert_eq!(fs::read_dir(plan.index()).unwrap().count(), numbers.len() + 1);
    shards
}

const KINDS: [Records; 9] = [
    Records::File,
    Records::Lines,
    Records::Jsonl,
    Records::Csv,
    Records::Warc,
    Records::Mbox,
    Records::Trec,
    Records::Access,
    Records::Syslog,
];

/// The hits of a few frequent words, with their scores, in the order of scores and keys.
fn ranked(snapshot: &Snapshot) -> Vec<Vec<(u32, Vec<u8>)>> {
    let searcher = snapshot.searcher();
    // Equally frequent words are in the order of their bytes.
    let words = searcher.frequent_terms(b"", 5, |_| ()).unwrap();
    let hits = |word: TermCount| {
        let query = Query::term(snapshot.default_field(), word.term);
        let found = searcher.top_k(&query, Model::default(), 100_000).unwrap();
        let mut hits: Vec<(u32, Vec<u8>)> =
            found.iter().map(|hit| (hit.score.to_bits(), snapshot.key(hit).unwrap())).collect();
        hits.sort();
        hits
    };
    words.into_iter().map(hits).collect()
}

#[test]
fn the_documents_of_shards_are_those_of_one_index() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = Rng::with_seed(seed);
    let is_long = std::env::var_os("SCANNS_LONG").is_some_and(|value| value != "0");
    let mut cut_files = 0;
    for round in 0..if is_long { 90 } else { 9 } {
        let records = KINDS[round % KINDS.len()];
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("data");
        write_corpus(&root, records, &mut random);
        let shards = if random.u32(..4) == 0 { random.u32(1..=20) } else { random.u32(1..=5) };
        let lanes = if random.bool() { 1 } else { 3 };
        let what = format!("seed {seed} round {round} {records:?}, {shards} shards, {lanes} lanes");
        let one = place.path().join("one.scanns");
        let options = options(&root, records, 1);
        let whole = build(&one, &options, &Progress::new(), &go_on()).unwrap();
        let planned = plan(&options, place.path(), shards).unwrap();
        cut_files += planned.cut_files;
        let files = planned.shards.iter().map(|shard| shard.files).sum::<u64>();
        assert_eq!(planned.shards.len(), shards as usize, "{what}");
        let paths = build_all(place.path(), &mut random, lanes);
        let many: Vec<_> = paths.iter().flat_map(|path| documents(path)).collect();
        let one = documents(&one);
        assert_eq!((many.len(), one.len() as u64), (one.len(), whole.documents), "{what}");
        let keys = |all: &[(Vec<u8>, KnownDocument)]| -> Vec<String> {
            all.iter().map(|(key, _)| String::from_utf8_lossy(key).into_owned()).collect()
        };
        if lanes == 1 {
            assert_eq!(keys(&many), keys(&one), "{what}");
        }
        let (many, one): (BTreeMap<_, _>, BTreeMap<_, _>) =
            (many.into_iter().collect(), one.into_iter().collect());
        for (key, document) in &one {
            let key_text = String::from_utf8_lossy(key);
            assert_eq!(many.get(key), Some(document), "{what}, {key_text}");
        }
        assert!(files > 0 || whole.documents == 0, "{what}");
        // Documents with the key of a later one are deleted, and deleted ones count until a merge.
        if !matches!(records, Records::Warc | Records::Trec) {
            let paths = ["one.scanns", "many.scanns"].map(|name| place.path().join(name));
            let [one, many] = paths.map(|path| ranked(&Snapshot::open(&path).unwrap()));
            assert_eq!(many, one, "{what}");
        }
    }
    assert!(cut_files > 2, "seed {seed}: only {cut_files} files were cut");
}

#[test]
fn a_plan_is_the_same_for_the_same_listing_and_another_is_refused() {
    let mut random = Rng::with_seed(5);
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("data");
    write_corpus(&root, Records::Lines, &mut random);
    let options = options(&root, Records::Lines, 1);
    let first = plan(&options, place.path(), 3).unwrap();
    assert!(!first.is_known);
    let again = plan(&options, place.path(), 3).unwrap();
    assert!(again.is_known && again.id == first.id);
    assert!(matches!(plan(&options, place.path(), 4), Err(Error::Conflict { .. })));
    fs::write(root.join("more.txt"), "more").unwrap();
    assert!(matches!(plan(&options, place.path(), 3), Err(Error::Conflict { .. })));
}

#[test]
fn a_plan_does_not_depend_on_the_memory_for_its_listing() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = Rng::with_seed(seed);
    for round in 0..6 {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("data");
        let records = KINDS[random.usize(..KINDS.len())];
        write_corpus(&root, records, &mut random);
        for directory in 0..random.usize(1..40) {
            let directory = root.join(format!("e{}/{directory}", directory % 3));
            fs::create_dir_all(&directory).unwrap();
            for file in 0..random.usize(..30) {
                fs::write(directory.join(format!("{file}-{}.txt", random.u32(..99))), "a word\n").unwrap();
            }
        }
        let mut wanted = options(&root, records, 1);
        if random.bool() {
            // Files that are reached by two paths.
            wanted.source.paths.extend([root.join("e0"), root.join("d0/large.txt")]);
        }
        let shards = random.u32(1..9);
        let first = plan(&wanted, place.path(), shards).unwrap();
        for memory in [0, 1_000, 20_000] {
            let again = plan_in(&wanted, place.path(), shards, memory).unwrap();
            let what = format!("seed {seed} round {round} memory {memory}");
            assert!(again.is_known && again.id == first.id && again.shards == first.shards, "{what}");
        }
    }
}

#[test]
fn a_shard_is_built_once_and_one_of_another_plan_is_refused() {
    let mut random = Rng::with_seed(6);
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("data");
    write_corpus(&root, Records::File, &mut random);
    let wanted = options(&root, Records::File, 1);
    plan(&wanted, place.path(), 2).unwrap();
    let first = ShardPlan::open(place.path().join("plan.json")).unwrap();
    let build = ShardOptions { build: wanted.clone(), ..ShardOptions::default() };
    assert!(matches!(build_shard(&first, 2, &build), Err(Error::InvalidValue { .. })));
    assert!(matches!(build_shard(&first, 0, &build).unwrap(), ShardOutcome::Built(_)));
    assert!(matches!(build_shard(&first, 0, &build).unwrap(), ShardOutcome::WasThere));
    let found = first.assemble(None, CheckLevel::Manifest, &go_on()).unwrap();
    assert_eq!((found.missing.as_slice(), found.damaged.len()), (&[1][..], 0));
    assert!(shards_of(first.index()).unwrap().is_none(), "the manifest is written last");
    let stopped = Arc::new(AtomicBool::new(true));
    let outcome = first.build(1, &build, &Progress::new(), &stopped).unwrap();
    assert!(matches!(outcome, ShardOutcome::Stopped));
    fs::remove_file(place.path().join("plan.json")).unwrap();
    fs::write(root.join("more.txt"), "more").unwrap();
    plan(&wanted, place.path(), 2).unwrap();
    let second = ShardPlan::open(place.path().join("plan.json")).unwrap();
    let refused = build_shard(&second, 0, &build).unwrap_err();
    assert!(refused.to_string().contains("another plan"), "{refused}");
    let found = second.assemble(None, CheckLevel::Manifest, &go_on()).unwrap();
    assert_eq!((found.missing.as_slice(), found.damaged.len()), (&[1][..], 1));
    assert_eq!(fs::read_dir(second.index()).unwrap().count(), 1, "nothing is left but shard 0");
}

#[test]
fn inputs_that_change_or_vanish_after_the_plan_fail_and_are_listed() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("data");
    fs::create_dir(&root).unwrap();
    let line = "{\"a\": \"word\"}\n";
    for name in ["big.jsonl", "gone.jsonl", "small.jsonl"] {
        let lines = if name == "big.jsonl" { 9_000 } else { 10 };
        fs::write(root.join(name), line.repeat(lines)).unwrap();
    }
    let wanted = options(&root, Records::Jsonl, 1);
    let planned = plan(&wanted, place.path(), 4).unwrap();
    assert_eq!(planned.cut_files, 1);
    fs::write(root.join("big.jsonl"), line.repeat(9_001)).unwrap();
    fs::remove_file(root.join("gone.jsonl")).unwrap();
    let plan = ShardPlan::open(place.path().join("plan.json")).unwrap();
    for number in 0..4 {
        let build = ShardOptions { build: wanted.clone(), ..ShardOptions::default() };
        build_shard(&plan, number, &build).unwrap();
    }
    let found = plan.assemble(None, CheckLevel::Manifest, &go_on()).unwrap();
    assert!(found.is_complete());
    let failed: Vec<_> = found.failures.iter().map(|failure| failure.path.file_name().unwrap()).collect();
    assert_eq!(failed.len(), 2, "{failed:?}");
    assert!(found.failures[0].reason.contains("changed since the plan"), "{:?}", found.failures);
    assert_eq!(found.documents, 10, "those of small.jsonl");
}

#[test]
fn damage_to_a_plan_is_noticed() {
    let mut random = Rng::with_seed(8);
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("data");
    write_corpus(&root, Records::Jsonl, &mut random);
    plan(&options(&root, Records::Jsonl, 1), place.path(), 3).unwrap();
    let read_all = || -> Result<()> {
        let plan = ShardPlan::open(place.path().join("plan.json"))?;
        plan.manifest()?;
        plan.shards().iter().try_for_each(|shard| plan.slice(shard).map(drop))
    };
    read_all().unwrap();
    for (name, every) in [("plan.json", 7), ("plan.inputs", 501)] {
        let path = place.path().join(name);
        let bytes = fs::read(&path).unwrap();
        for at in (0..bytes.len() - 3).step_by(every) {
            let mut changed = bytes.clone();
            changed[at] ^= 0x10;
            fs::write(&path, &changed).unwrap();
            // Zeros between sections are not read.
            assert!(read_all().is_err() || bytes[at] == 0, "{name}, byte {at}");
        }
        fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
        assert!(read_all().is_err());
        fs::write(&path, &bytes).unwrap();
    }
    read_all().unwrap();
}
