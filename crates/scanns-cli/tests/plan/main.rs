//! Builds that many processes share: killed at random moments, run twice at the same time, on a full disk. In
//! the end, the documents are those of one index, and nothing is left over.
//!
//! There are 2 rounds, or 40 with `SCANNS_LONG=1`, and more until some processes were killed: on a fast
//! machine they may end before. `SCANNS_SEED` is the seed.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test, outside of functions marked as one")]

use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use fastrand::Rng;
use scanns::index::shards_of;
use scanns::search::Model;
use scanns::{Query, Snapshot};

fn scanns(place: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_scanns"));
    command.args(args).current_dir(place).stdin(Stdio::null());
    command
}

/// Runs a command that must end with this code.
fn run(place: &Path, args: &[&str], code: i32) -> Output {
    let out = scanns(place, args).output().unwrap();
    assert_eq!(out.status.code(), Some(code), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
    out
}

/// Key, stored text and values of all documents.
fn documents(paths: &[PathBuf]) -> BTreeMap<Vec<u8>, (Option<Vec<u8>>, String)> {
    let mut found = BTreeMap::new();
    for path in paths {
        let snapshot = Snapshot::open(path).unwrap();
        let visit = |hit: scanns::Hit| {
            let values = format!("{:?}", snapshot.values(&hit).unwrap());
            let document = (snapshot.document(&hit).unwrap(), values);
            assert!(found.insert(snapshot.key(&hit).unwrap(), document).is_none(), "a key occurs twice");
            ControlFlow::Continue(())
        };
        snapshot.searcher().for_each(&Query::All, Model::Classic, visit).unwrap();
    }
    found
}

/// Files of JSON Lines, one of them large.
fn write_files(place: &Path, random: &mut Rng) {
    for file in 0..12 {
        let directory = place.join(format!("data/{}", file % 3));
        fs::create_dir_all(&directory).unwrap();
        let lines = if file == 0 { 6_000 } else { random.usize(..300) };
        let line =
            |number| format!("{{\"text\": \"word{} of {file}\", \"number\": {number}}}\n", number % 97);
        fs::write(directory.join(format!("{file}.jsonl")), (0..lines).map(line).collect::<String>()).unwrap();
    }
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).map(|entries| entries.collect::<Vec<_>>()).unwrap_or_default();
    let mut names: Vec<_> =
        entries.into_iter().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

const SHARDS: u32 = 6;

fn plan(place: &Path) {
    run(place, &["index", "-o", "one.scanns", "--records", "jsonl", "--quiet", "data"], 0);
    let shards = SHARDS.to_string();
    let args = ["plan", "-o", "p.json", "--index", "many.scanns", "--shards", &shards, "--chunk-size", "10k"];
    run(place, &[&args[..], &["--records", "jsonl", "--quiet", "data"]].concat(), 0);
}

/// Assembles the shards, and compares their documents with those of one index.
fn compare(place: &Path, what: &str) {
    run(place, &["assemble", "p.json", "--level", "all", "--quiet"], 0);
    let many = place.join("many.scanns");
    let mut expected: Vec<String> = (0..SHARDS).map(|number| format!("shard-{number:05}")).collect();
    expected.push("shards.json".into());
    assert_eq!(names(&many), expected, "{what}");
    let shards = shards_of(&many).unwrap().unwrap();
    let (many, one) = (documents(&shards), documents(&[place.join("one.scanns")]));
    assert!(many == one && !one.is_empty(), "{what}: {} and {} documents", many.len(), one.len());
    run(place, &["plan", "--status", "p.json"], 0);
}

fn seed() -> u64 {
    let given = std::env::var("SCANNS_SEED").ok().map(|seed| seed.parse().unwrap());
    let seed = given.unwrap_or_else(|| fastrand::u64(..1 << 40));
    println!("seed {seed}");
    seed
}

/// Starts two builds of shards, of which one is left, sometimes of the same one.
fn start_two(place: &Path, left: &[u32], random: &mut Rng) -> Vec<Child> {
    let first = left[random.usize(..left.len())];
    let second = if random.bool() { first } else { random.u32(..SHARDS) };
    let start = |number: u32| {
        let number = number.to_string();
        let mut command = scanns(place, &["build-shard", "p.json", &number, "--threads", "1"]);
        if random.bool() {
            command.args(["--scratch", "scratch"]);
        }
        command.arg("--quiet").stderr(Stdio::piped()).spawn().unwrap()
    };
    [first, second].map(start).into()
}

#[test]
fn shards_that_are_killed_and_built_twice_make_the_same_index() {
    let seed = seed();
    let mut random = Rng::with_seed(seed);
    let is_long = std::env::var_os("SCANNS_LONG").is_some_and(|value| value != "0");
    let rounds = if is_long { 40 } else { 2 };
    let mut killed = 0;
    let mut usual = Duration::from_millis(100);
    for round in 0..10 * rounds {
        if round >= rounds && killed > 3 {
            break;
        }
        let what = format!("seed {seed} round {round}");
        let place = tempfile::tempdir().unwrap();
        let place = place.path();
        write_files(place, &mut random);
        plan(place);
        let mut left: Vec<u32> = (0..SHARDS).collect();
        while !left.is_empty() {
            let begun = Instant::now();
            let mut children = start_two(place, &left, &mut random);
            let end = usual.mul_f64(0.1 + 1.5 * random.f64());
            while begun.elapsed() < end {
                if children.iter_mut().all(|child| child.try_wait().unwrap().is_some()) {
                    usual = (usual + begun.elapsed()) / 2;
                    break;
                }
                std::thread::sleep(Duration::from_micros(200));
            }
            for mut child in children {
                // This has no effect on a process that has ended.
                child.kill().unwrap();
                let out = child.wait_with_output().unwrap();
                killed += u32::from(out.status.code().is_none());
                let ended = out.status.code().is_none_or(|code| code == 0);
                assert!(ended, "{what}: {}", String::from_utf8_lossy(&out.stderr));
            }
            let is_there = |number: &u32| place.join(format!("many.scanns/shard-{number:05}")).exists();
            let before = left.len();
            left.retain(|number| !is_there(number));
            if left.len() == before {
                // The usual time is longer on a machine with other work.
                usual = usual.mul_f64(1.2);
            }
            let code = if left.is_empty() { 0 } else { 1 };
            run(place, &["plan", "--status", "p.json", "--json"], code);
            if !left.is_empty() {
                let out = run(place, &["assemble", "p.json"], 2);
                assert!(String::from_utf8_lossy(&out.stderr).contains("missing"), "{what}");
            }
        }
        compare(place, &what);
        // Whatever was killed left something in the other directory, until the shard is asked for again.
        for number in 0..SHARDS {
            run(place, &["build-shard", "p.json", &number.to_string(), "--scratch", "scratch"], 0);
        }
        assert_eq!(names(&place.join("scratch")), Vec::<String>::new(), "{what}");
    }
    assert!(killed > 3, "seed {seed}: only {killed} processes were killed");
}

#[test]
fn a_full_disk_leaves_nothing_and_a_second_attempt_succeeds() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    write_files(place, &mut Rng::with_seed(seed()));
    plan(place);
    let command = "ulimit -f 20; exec \"$0\" build-shard p.json 1 --quiet";
    let out = Command::new("bash")
        .args(["-c", command, env!("CARGO_BIN_EXE_scanns")])
        .current_dir(place)
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&out.stderr).into_owned();
    assert_eq!(out.status.code(), Some(2), "{error}");
    assert!(error.contains("ulimit -f"), "{error}");
    assert_eq!(names(&place.join("many.scanns")), Vec::<String>::new());
    for number in 0..SHARDS {
        run(place, &["build-shard", "p.json", &number.to_string(), "--quiet"], 0);
    }
    compare(place, "after a full disk");
}

#[test]
fn shards_on_another_file_system_are_copied() {
    let other = tempfile::tempdir_in("/dev/shm");
    let Ok(other) = other else {
        println!("SKIPPED: there is no other file system at /dev/shm");
        return;
    };
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    write_files(place, &mut Rng::with_seed(seed()));
    plan(place);
    let scratch = other.path().to_str().unwrap();
    for number in 0..SHARDS {
        run(place, &["build-shard", "p.json", &number.to_string(), "--quiet", "--scratch", scratch], 0);
    }
    assert_eq!(names(other.path()), Vec::<String>::new());
    compare(place, "from another file system");
}

#[test]
fn a_damaged_shard_is_not_assembled() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    write_files(place, &mut Rng::with_seed(seed()));
    plan(place);
    for number in 0..SHARDS {
        run(place, &["build-shard", "p.json", &number.to_string(), "--quiet"], 0);
    }
    let shard = place.join("many.scanns/shard-00002");
    let segment = names(&shard).into_iter().find(|name| name.ends_with(".seg")).unwrap();
    fs::remove_file(shard.join(segment)).unwrap();
    let out = run(place, &["assemble", "p.json"], 2);
    let error = String::from_utf8_lossy(&out.stderr);
    assert!(error.contains("shard 2: ") && error.contains("build it again"), "{error}");
    assert!(shards_of(place.join("many.scanns")).unwrap().is_none());
    fs::remove_dir_all(&shard).unwrap();
    run(place, &["build-shard", "p.json", "2", "--quiet"], 0);
    compare(place, "after the damaged shard was built again");
}
