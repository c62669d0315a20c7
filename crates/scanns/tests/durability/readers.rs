//! Readers keep what they opened while others write, and nothing of it stays when they are gone.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, mpsc};

use scanns::{FsDirectory, Snapshot};

use crate::model::{Contents, Script, contents, expected, no_file_is_left_over};
use crate::seeds;

const COMMITS: usize = 200;
const READERS: usize = 8;

#[test]
fn eight_readers_keep_their_snapshots_through_two_hundred_commits_and_merges() {
    let seed = seeds(1, 1).start;
    println!("seed {seed}");
    let mut script = Script::random(seed, COMMITS);
    // What a fresh reader sees is compared with the state after a whole change.
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
                        // A reader may come at any moment.
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
            // Some are read at once, most only after others have merged and removed their files.
            if step % 3 == 0 && step < COMMITS - 10 {
                readers[step / 3 % READERS].send((snapshot, state)).unwrap();
            }
        }
        done.store(true, Ordering::Relaxed);
    });
    let seen = seen.into_inner().unwrap();
    for (generation, found) in &seen {
        // A change may end with a second commit that only merges: those before the last of it hold the same.
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
