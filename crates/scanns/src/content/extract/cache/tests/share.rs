//! Several threads and processes on one directory, and processes that are killed.

use std::process::{Child, Command, Stdio};
use std::time::Instant;

use super::*;

const NAME: &str = "content::extract::cache::tests::share::a_process_that_shares_the_cache";
const DIRECTORY: &str = "SCANNS_TEST_CACHE";
const SEED: &str = "SCANNS_TEST_SEED";
const SIZE: u64 = 2 << 20;

/// The only answer to a document, so that every process knows it.
fn answer_to(number: u64) -> ExtractAnswer {
    let mut random = fastrand::Rng::with_seed(number);
    some_answer(&mut random, 60_000)
}

/// Puts and gets random documents until `end`, and returns the number of hits.
fn use_cache(cache: &ExtractCache, seed: u64, end: impl Fn() -> bool) -> u64 {
    let mut random = fastrand::Rng::with_seed(seed);
    while !end() {
        let number = random.u64(..100);
        let key = key(cache, number);
        match get(cache, &key) {
            Some(found) => assert!(is_same(&found, &answer_to(number)), "document {number}"),
            None => cache.put(&key, &answer_to(number)),
        }
    }
    assert_eq!((cache.notes().errors, cache.notes().damaged), (0, 0), "{:?}", cache.notes());
    cache.notes().hits
}

fn start(directory: &Path, seed: u64) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--ignored", NAME])
        .env(DIRECTORY, directory)
        .env(SEED, seed.to_string())
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
#[ignore = "other tests start it as a process"]
fn a_process_that_shares_the_cache() {
    let Some(directory) = std::env::var_os(DIRECTORY) else { return };
    let seed = std::env::var(SEED).unwrap().parse().unwrap();
    let start = Instant::now();
    let hits =
        use_cache(&cache(Path::new(&directory), SIZE), seed, || start.elapsed() > Duration::from_secs(1));
    assert!(hits > 0);
}

#[test]
fn threads_and_processes_share_a_directory_and_find_only_right_answers() {
    let directory = tempfile::tempdir().unwrap();
    let mut processes = [start(directory.path(), 1), start(directory.path(), 2)];
    let cache = cache(directory.path(), SIZE);
    std::thread::scope(|scope| {
        for seed in 3..5 {
            let cache = &cache;
            scope.spawn(move || {
                let start = Instant::now();
                use_cache(cache, seed, || start.elapsed() > Duration::from_secs(1));
            });
        }
    });
    for process in &mut processes {
        assert!(process.wait().unwrap().success());
    }
    // Each process may write a 64th part more than fits before it notices the others.
    let left = taken(directory.path());
    assert!(left <= SIZE + SIZE / 4, "{left}");
}

#[test]
fn new_caches_of_several_threads_have_one_secret() {
    for _ in 0..50 {
        let parent = tempfile::tempdir().unwrap();
        let directory = parent.path().join("cache");
        let secrets: Vec<[u8; 16]> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| cache(&directory, LARGE).secret)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(secrets.iter().all(|secret| *secret == secrets[0]));
        assert_eq!(files(&directory).len(), 0);
    }
}

#[test]
fn a_process_that_is_killed_leaves_no_wrong_answer() {
    let mut random = random();
    let directory = tempfile::tempdir().unwrap();
    for seed in 0..8 {
        let mut process = start(directory.path(), seed);
        let started = Instant::now();
        while !directory.path().join(names::MARKER).exists() && started.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_micros(random.u64(..40_000)));
        process.kill().unwrap();
        process.wait().unwrap();
        let cache = cache(directory.path(), SIZE);
        for number in 0..100 {
            if let Some(found) = get(&cache, &key(&cache, number)) {
                assert!(is_same(&found, &answer_to(number)));
            }
        }
        assert_eq!((cache.notes().damaged, cache.notes().errors), (0, 0), "a rename shows all or nothing");
    }
}

#[test]
fn every_beginning_of_an_entry_under_its_name_is_a_miss() {
    // What a loss of power may leave: the name, and less than all bytes, or zeros.
    let directory = tempfile::tempdir().unwrap();
    let cache = cache(directory.path(), LARGE);
    let key = key(&cache, 1);
    cache.put(&key, &extracted("text of a document"));
    let path = place(directory.path(), &key);
    let whole = fs::read(&path).unwrap();
    for end in 0..whole.len() {
        fs::write(&path, &whole[..end]).unwrap();
        assert!(get(&cache, &key).is_none());
        let mut zeros = whole.clone();
        zeros[end..].fill(0);
        fs::write(&path, &zeros).unwrap();
        assert!(zeros == whole || get(&cache, &key).is_none());
    }
}
