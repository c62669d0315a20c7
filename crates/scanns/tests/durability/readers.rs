//! Readers keep their snapshot while others write, and its files are removed when they are gone.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, mpsc};

use scanns::Snapshot;
use scanns::store::FsDirectory;

use crate::model::{Contents, Script, contents, expected, no_file_is_left_over};
use crate::seeds;

const COMMITS: usize = 200;
const READERS: usize = 8;

#[test]
fn eight_readers_keep_their_snapshots_through_two_hundred_commits_and_merges() {
    let seed = seeds(1, 1).start;
    println!("seed {seed}");
    let mut script = Script::random(seed, COMMITS);
    // The content that a new reader sees is compared with the state after a whole change.
    script.commits_often = false;
    let place = tempfile::tempdir().unwrap();
    let directory = FsDirectory::new(place.path());
    let (looks, done) = (AtomicU64::new(0), AtomicBool::new(false));
    let seen = Mutex::new(Vec::new());
    let mut generations = BTreeMap::new();
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..READERS)
            .map(|_| {
                let (send, receive) = mpsc::channel::<(Snapshot, Contents)>();
                let (directory, looks, done, seen) = (&directory, &looks, &done, &seen);
                scope.spawn(move || {
                    let mut held = Vec::new();
                    loop {
                        let last = done.load(Ordering::Relaxed);
                        held.extend(receive.try_iter());
                        for (snapshot, expected) in &held {
                            assert!(contents(snapshot).unwrap() == *expected, "another answer");
                            looks.fetch_add(1, Ordering::Relaxed);
                        }
                        // A reader may open the index at any moment.
                        if let Some(fresh) = Snapshot::open_in(directory).unwrap() {
                            seen.lock().unwrap().push((fresh.info().generation, contents(&fresh).unwrap()));
                        }
                        if last {
                            return;
                        }
                        std::thread::sleep(std::time::Duration::from_millis(20));
                    }
                });
                send
            })
            .collect();
        for step in 0..COMMITS {
            script.run(&directory, step).unwrap();
            let snapshot = Snapshot::open_in(&directory).unwrap().unwrap();
            let state = expected(&script.states[step + 1]);
            generations.insert(snapshot.info().generation, state.clone());
            // Some snapshots are read immediately, but most only after others have merged and removed their
            // files.
            if step % 3 == 0 && step < COMMITS - 10 {
                readers[step / 3 % READERS].send((snapshot, state)).unwrap();
            }
        }
        done.store(true, Ordering::Relaxed);
    });
    let seen = seen.into_inner().unwrap();
    for (generation, found) in &seen {
        // A change may end with a second commit that only merges: all its commits except the last have the
        // same content.
        let change = generations.range(generation..).next().map(|(_, state)| state);
        assert!(change == Some(found), "generation {generation} had other answers");
    }
    println!("{} looks at held snapshots, {} fresh ones, 0 wrong", looks.into_inner(), seen.len());
    no_file_is_left_over(&directory, "at the end");
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let place = place.path().to_str().unwrap();
    let leaked: Vec<_> = maps.lines().filter(|line| line.contains(place)).collect();
    assert!(leaked.is_empty(), "{leaked:#?}");
}

/// The files that a snapshot uses, except the files of deletes.
fn files_of(snapshot: &Snapshot) -> Vec<String> {
    let segments = snapshot.segments().iter().map(|segment| format!("{}.seg", segment.id));
    segments.chain([format!("manifest-{:010}", snapshot.info().generation)]).collect()
}

#[test]
fn what_readers_have_leased_keeps_its_name_until_they_are_gone() {
    let seed = seeds(2, 1).start;
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let script = Script::random(seed, 62);
    let place = tempfile::tempdir().unwrap();
    let directory = FsDirectory::new(place.path()).with_leases(true);
    let mut held: Vec<(Snapshot, Contents)> = Vec::new();
    let mut kept = 0;
    for step in 0..60 {
        script.run(&directory, step).unwrap();
        let reader = FsDirectory::new(place.path()).with_leases(true);
        let snapshot = Snapshot::open_in(&reader).unwrap().unwrap();
        held.push((snapshot, expected(&script.states[step + 1])));
        if held.len() > READERS {
            held.swap_remove(random.usize(..held.len()));
        }
        let newest = files_of(&Snapshot::open_in(&directory).unwrap().unwrap());
        for (snapshot, expected) in &held {
            for file in files_of(snapshot) {
                assert!(place.path().join(&file).exists(), "step {step}: {file} is gone");
                kept += u32::from(!newest.contains(&file));
            }
            assert!(contents(snapshot).unwrap() == *expected, "step {step}: another answer");
        }
    }
    assert!(kept > 0, "nothing was kept for a reader");
    held.clear();
    (60..62).for_each(|step| script.run(&directory, step).unwrap());
    no_file_is_left_over(&directory, "after the last reader");
}

/// The variable with the path of the index for the process of a reader.
const PLACE: &str = "SCANNS_TEST_LEASE";

#[test]
fn the_process_of_a_reader_that_another_test_starts() {
    let Some(place) = std::env::var_os(PLACE) else { return };
    let directory = FsDirectory::new(Path::new(&place)).with_leases(true);
    let snapshot = Snapshot::open_in(&directory).unwrap().unwrap();
    println!("\nholds {}", snapshot.info().generation);
    // Wait until the other end is closed, or this process is killed.
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
}

#[test]
fn a_lease_ends_with_the_process_of_its_reader() {
    let seed = seeds(3, 1).start;
    println!("seed {seed}");
    let script = Script::random(seed, 12);
    let place = tempfile::tempdir().unwrap();
    let directory = FsDirectory::new(place.path()).with_leases(true);
    (0..4).for_each(|step| script.run(&directory, step).unwrap());
    let mut reader = Command::new(std::env::current_exe().unwrap())
        .args(["the_process_of_a_reader_that_another_test_starts", "--nocapture"])
        .env(PLACE, place.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(reader.stdout.take().unwrap()).lines();
    let generation = lines.find_map(|line| line.unwrap().strip_prefix("holds ").map(str::to_owned));
    let generation: u64 = generation.unwrap().parse().unwrap();
    let manifest = place.path().join(format!("manifest-{generation:010}"));
    (4..8).for_each(|step| script.run(&directory, step).unwrap());
    let newest = Snapshot::open_in(&directory).unwrap().unwrap().info().generation;
    assert!(newest > generation + 1 && manifest.exists(), "commit {generation} is gone at {newest}");
    reader.kill().unwrap();
    reader.wait().unwrap();
    (8..12).for_each(|step| script.run(&directory, step).unwrap());
    assert!(!manifest.exists());
    no_file_is_left_over(&directory, "after the reader was killed");
}
