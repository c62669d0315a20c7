//! Damaged, truncated and exchanged files: a typed error or the same answers, never wrong answers, a panic or
//! a hang.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use fastrand::Rng;
use scanns::index::{CheckLevel, Progress};
use scanns::schema::{Postings, Store};
use scanns::store::{Directory, FaultDirectory, RamDirectory};
use scanns::{Index, Snapshot};

use crate::model::{Contents, Script, contents};
use crate::{long, seeds};

/// The outcomes of reading damaged indexes.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    errors: u64,
    same: u64,
    wrong: u64,
    panics: u64,
    /// Damage without any effect that a check of the whole index does not find either.
    unseen: u64,
}

type Files = BTreeMap<String, Vec<u8>>;

/// The first script, from this seed on, whose index has two segments, deletes, changed values, and all
/// optional data of terms and documents.
fn small_index(mut seed: u64) -> (Files, u64) {
    loop {
        let script = Script::random(seed, 7);
        let all = (Some(Store::Content), Some(true), Some(Postings::Offsets));
        if (script.stored.store, script.stored.vectors, script.postings) != all {
            seed += 1;
            continue;
        }
        let directory = FaultDirectory::new();
        (0..script.steps.len()).for_each(|step| script.run(&directory, step).unwrap());
        let snapshot = Snapshot::open_in(&directory).unwrap().unwrap();
        let deleted = snapshot.segments().iter().filter(|segment| segment.deleted > 0).count();
        let names = directory.list().unwrap();
        if snapshot.segments().len() == 2 && deleted >= 1 && names.iter().any(|name| name.ends_with(".upd")) {
            let read = |name: String| (name.clone(), directory.open(&name).unwrap().to_vec());
            return (names.into_iter().map(read).collect(), seed);
        }
        seed += 1;
    }
}

fn directory(files: &Files) -> RamDirectory {
    let directory = RamDirectory::new();
    files.iter().for_each(|(name, bytes)| put(&directory, name, bytes));
    directory
}

fn put(directory: &RamDirectory, name: &str, bytes: &[u8]) {
    let mut output = directory.create(name).unwrap();
    output.write_all(bytes).unwrap();
    output.finish().unwrap();
}

/// Everything that a reader can read.
fn read(directory: &RamDirectory) -> scanns::Result<Option<(u64, Contents)>> {
    let Some(snapshot) = Snapshot::open_in(directory)? else { return Ok(None) };
    Ok(Some((snapshot.info().documents, contents(&snapshot)?)))
}

impl Counts {
    fn add(&mut self, directory: &RamDirectory, expected: &Option<(u64, Contents)>, what: &str) {
        match catch_unwind(AssertUnwindSafe(|| read(directory))) {
            Ok(Err(_)) => self.errors += 1,
            Ok(Ok(found)) if found == *expected => self.same += 1,
            Ok(Ok(_)) => {
                println!("WRONG: {what}");
                self.wrong += 1;
            }
            Err(_) => {
                println!("PANIC: {what}");
                self.panics += 1;
            }
        }
    }

    /// Like [`Counts::add`], for a damaged byte: every byte of a commit is under a checksum.
    fn add_damaged(&mut self, directory: &RamDirectory, expected: &Option<(u64, Contents)>, what: &str) {
        let same = self.same;
        self.add(directory, expected, what);
        if self.same > same && !is_damaged(directory) {
            self.unseen += 1;
        }
    }

    fn check(&self, what: &str) {
        println!("{what}: {self:?}");
        assert_eq!((self.wrong, self.panics), (0, 0), "{what}");
        assert!(self.errors > 0, "{what}: nothing was damaged");
    }
}

fn is_damaged(directory: &RamDirectory) -> bool {
    Index::in_directory(Arc::new(directory.clone()))
        .check(CheckLevel::Cross, &Progress::new(), &AtomicBool::new(false))
        .is_ok_and(|report| !report.is_whole())
}

/// Ends the process if one read of an index takes minutes, because a test that hangs reports nothing.
fn watch() -> Arc<AtomicU64> {
    let beat = Arc::new(AtomicU64::new(0));
    let watched = Arc::downgrade(&beat);
    std::thread::spawn(move || {
        let mut before = u64::MAX;
        while let Some(beat) = watched.upgrade() {
            let now = beat.load(Ordering::Relaxed);
            if now == before {
                eprintln!("a damaged index hangs its reader, at {now}");
                std::process::abort();
            }
            before = now;
            drop(beat);
            std::thread::sleep(Duration::from_secs(120));
        }
    });
    beat
}

#[test]
fn a_bit_flipped_in_any_byte_is_an_error_or_makes_no_difference() {
    let beat = watch();
    let mut all = BTreeMap::new();
    let range = seeds(1, 10);
    println!("seeds {range:?}");
    for seed in range {
        flip_each_byte(seed, &mut all, &beat);
    }
    let before: Counts = all.remove(BEFORE).unwrap();
    assert!(before.same > 0 && before.errors + before.wrong + before.panics == 0, "{before:?}");
    assert_eq!(all.len(), 4, "manifest, seg, del and upd: {all:?}");
    all.iter().for_each(|(kind, counts)| {
        counts.check(kind);
        assert_eq!(counts.unseen, 0, "{kind}: scanns check does not find what is damaged");
    });
}

const BEFORE: &str = "manifest of the commit before";

fn flip_each_byte(seed: u64, all: &mut BTreeMap<String, Counts>, beat: &AtomicU64) {
    let (files, seed) = small_index(seed);
    let whole = directory(&files);
    let expected = read(&whole).unwrap();
    let mut random = Rng::with_seed(seed);
    let newest = files.keys().filter(|name| name.starts_with("manifest")).max().unwrap();
    for (name, bytes) in &files {
        let kind = match name {
            _ if name == newest => "manifest",
            _ if name.starts_with("manifest") => BEFORE,
            _ => name.rsplit('.').next().unwrap(),
        };
        let counts = all.entry(kind.into()).or_default();
        // No reader uses the file of the previous commit; a few bytes suffice to show that its damage has no
        // effect.
        for at in (0..bytes.len()).step_by(if kind == BEFORE { 64 } else { 1 }) {
            let bits = if long() { (0..8).collect() } else { vec![random.u8(..8)] };
            for bit in bits {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << bit;
                put(&whole, name, &damaged);
                let what = format!("seed {seed} {name} bit {bit} of byte {at} of {}", bytes.len());
                counts.add_damaged(&whole, &expected, &what);
                beat.fetch_add(1, Ordering::Relaxed);
            }
        }
        put(&whole, name, bytes);
    }
}

#[test]
fn a_file_of_any_shorter_length_is_an_error_or_makes_no_difference() {
    let beat = watch();
    let (files, seed) = small_index(seeds(1, 1).start);
    let whole = directory(&files);
    let expected = read(&whole).unwrap();
    let mut counts = Counts::default();
    for (name, bytes) in &files {
        for len in 0..bytes.len() {
            put(&whole, name, &bytes[..len]);
            counts.add(&whole, &expected, &format!("seed {seed} {name} cut to {len} of {}", bytes.len()));
            beat.fetch_add(1, Ordering::Relaxed);
        }
        whole.remove(name).unwrap();
        if !name.starts_with("manifest") {
            counts.add(&whole, &expected, &format!("seed {seed} {name} is missing"));
        }
        put(&whole, name, bytes);
    }
    counts.check("cut");
}

#[test]
fn files_that_change_places_are_an_error_or_make_no_difference() {
    let mut counts = Counts::default();
    for seed in seeds(3, 100) {
        let (ours, _) = small_index(seed);
        let (theirs, _) = small_index(seed + 10_000);
        let whole = directory(&ours);
        let expected = read(&whole).unwrap();
        for (name, bytes) in &ours {
            for (other, others) in ours.iter().chain(&theirs) {
                put(&whole, name, others);
                counts.add(&whole, &expected, &format!("seed {seed} {name} has the content of {other}"));
            }
            put(&whole, name, bytes);
        }
    }
    counts.check("changed places");
}

#[test]
fn what_is_salvaged_is_what_was_not_damaged() {
    let mut salvaged = 0;
    for seed in seeds(5, 300) {
        let (files, seed) = small_index(seed);
        let mut random = Rng::with_seed(seed);
        let (documents, expected) = read(&directory(&files)).unwrap().unwrap();
        for (name, bytes) in files.iter().filter(|(name, _)| !name.starts_with("manifest")) {
            let what = format!("seed {seed} {name}");
            let mut damaged = bytes.clone();
            damaged[random.usize(..bytes.len())] ^= 1 << random.u8(..8);
            let whole = directory(&files);
            put(&whole, name, &damaged);
            let never = AtomicBool::new(false);
            let report = Index::in_directory(Arc::new(whole.clone()))
                .salvage(CheckLevel::Cross, &Progress::new(), &never)
                .unwrap();
            assert!(!report.is_whole() && report.salvaged.is_some(), "{what}: {report:?}");
            let (left, contents) = read(&whole).unwrap().unwrap();
            assert_eq!(left + report.lost(), documents, "{what}: {report:?}");
            for (term, keys) in contents {
                let same = keys
                    .iter()
                    .all(|(key, freq)| expected.get(&term).and_then(|all| all.get(key)) == Some(freq));
                assert!(same, "{what}: {term} {keys:?}");
            }
            assert!(!is_damaged(&whole), "{what}");
            salvaged += 1;
        }
    }
    println!("{salvaged} damaged indexes salvaged");
}

/// A canary: a different answer must be detected.
#[test]
fn another_index_is_seen_as_wrong() {
    let (ours, seed) = small_index(seeds(1, 1).start);
    let (theirs, _) = small_index(seed + 10_000);
    let mut counts = Counts::default();
    counts.add(&directory(&theirs), &read(&directory(&ours)).unwrap(), "this is how it should be");
    assert_eq!(counts, Counts { wrong: 1, ..Counts::default() });
}
