//! Kills the command at random moments; acknowledged changes survive, and others are complete or absent.
//!
//! The changes and the map that predicts their result are those of the library's durability tests. Each round
//! makes one change with the real command on a real file system, kills the command after a random part of the
//! usual time, and checks the index; a round ends when the change is acknowledged. There are 60 rounds, or
//! 1,000 with `SCANNS_LONG=1`; `SCANNS_SEED` is the seed.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test, outside of functions marked as one")]

#[expect(dead_code, reason = "the steps are run by the command here")]
#[path = "../../../scanns/tests/durability/model.rs"]
mod model;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use fastrand::Rng;
use model::{Script, Step, no_file_is_left_over};
use scanns::schema::Records;
use scanns::store::FsDirectory;
use scanns::writer::StoredOptions;

/// The command for a step, and the name of its kind.
fn command(script: &Script, step: usize, index: &Path) -> (&'static str, Command) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_scanns"));
    let job = match &script.steps[step] {
        Step::Live(changes) => Some(Some(changes)),
        Step::Make => Some(None),
        _ => None,
    };
    if let Some(changes) = job {
        // This program itself runs the step: see `a_program_that_writes`.
        command = Command::new(std::env::current_exe().unwrap());
        command.args(["a_program_that_writes", "--exact"]);
        command.env(JOB, serde_json::to_string(&(index, script.lanes, changes)).unwrap());
    }
    let kind = match &script.steps[step] {
        Step::Index(files) => {
            script.write_files(step);
            let records = match script.records {
                Records::File => "file",
                _ => "lines",
            };
            command.args(["index", "--quiet", "--analyzer", "whitespace", "--records", records]);
            command.arg("--threads").arg(script.lanes.to_string()).arg("-o").arg(index).args(files.keys());
            "index"
        }
        Step::DeleteKeys(keys) => {
            command.arg("delete").arg(index).args(keys);
            "delete"
        }
        Step::DeleteWord(word) => {
            command.arg("delete").arg(index).args(["--query", word]);
            "delete by query"
        }
        Step::Merge(segments) => {
            command.arg("merge").arg(index).arg("--quiet");
            match segments {
                0 => command.arg("--reorder"),
                _ => command.args(["--segments", &segments.to_string()]),
            };
            "merge"
        }
        Step::Set(keys, value) => {
            let set = format!("{}={value}", model::COLUMN);
            command.arg("update").arg(index).args(["--set", &set]).args(keys);
            "update"
        }
        Step::Live(_) => "live",
        Step::Make => "make",
    };
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    (kind, command)
}

/// The environment variable with the job of a program that writes.
const JOB: &str = "SCANNS_WRITES";

/// The process with a writer that is killed; without a job, this test does nothing.
#[test]
fn a_program_that_writes() {
    let Ok(job) = std::env::var(JOB) else { return };
    let (index, lanes, changes): (PathBuf, usize, Option<Vec<_>>) = serde_json::from_str(&job).unwrap();
    std::fs::create_dir_all(&index).unwrap();
    let directory = Arc::new(FsDirectory::new(&index));
    match changes {
        Some(changes) => model::write_live(directory, lanes, None, &changes).unwrap(),
        None => model::make(directory, StoredOptions::default(), None).unwrap(),
    }
}

/// The outcomes of runs.
#[derive(Debug, Default)]
struct Counts {
    killed_before_commit: u32,
    killed_after_commit: u32,
    acknowledged: u32,
}

#[test]
fn what_the_command_acknowledged_survives_being_killed() {
    let long = std::env::var_os("SCANNS_LONG").is_some_and(|value| value != "0");
    let rounds = if long { 1000 } else { 60 };
    let seed = std::env::var("SCANNS_SEED")
        .ok()
        .map_or_else(|| fastrand::u64(..1 << 40), |seed| seed.parse().unwrap());
    println!("seed {seed}");
    let mut random = Rng::with_seed(seed);
    let place = tempfile::tempdir().unwrap();
    let index = place.path().join("a.scanns");
    let script = Script::random(seed, rounds);
    let mut took = BTreeMap::<&str, Duration>::new();
    let mut counts = Counts::default();
    for step in 0..rounds {
        let what = format!("seed {seed} round {step} {:?}", script.steps[step]);
        loop {
            let (kind, mut command) = command(&script, step, &index);
            let usual = took.get(kind).copied().unwrap_or(Duration::from_millis(200));
            let begun = Instant::now();
            let mut child = command.spawn().unwrap();
            let end = usual.mul_f64(0.2 + random.f64());
            while begun.elapsed() < end && child.try_wait().unwrap().is_none() {
                std::thread::sleep(Duration::from_micros(200));
            }
            let elapsed = begun.elapsed();
            // This has no effect on a process that has ended.
            child.kill().unwrap();
            let out = child.wait_with_output().unwrap();
            let directory = FsDirectory::new(&index);
            match out.status.code() {
                Some(code) => {
                    let stderr = String::from_utf8_lossy(&out.stderr);
                    // A deletion may find nothing, for example because it was done before the kill.
                    let is_done = code == 0 || code == 1 && stderr.contains("no document was selected");
                    assert!(is_done && !stderr.contains("panicked"), "{what}: exit {code}: {stderr}");
                    counts.acknowledged += 1;
                    script.check(&directory, &[step + 1], &what);
                    no_file_is_left_over(&directory, &what);
                    took.insert(kind, elapsed);
                    break;
                }
                None if !index.exists() => counts.killed_before_commit += 1,
                None => match script.check(&directory, &[step, step + 1], &what) == step {
                    true => counts.killed_before_commit += 1,
                    false => counts.killed_after_commit += 1,
                },
            }
            // It was killed early, so its usual time is unknown and may be longer.
            took.insert(kind, usual.mul_f64(1.1));
        }
    }
    println!("{counts:?} in {rounds} rounds, 0 lost, 0 wrong");
    assert!(counts.killed_before_commit as usize > rounds / 20, "nothing was killed: {counts:?}");
}
