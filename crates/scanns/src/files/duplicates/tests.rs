//! Random trees against groups by the bytes of files, and files that change.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use super::candidates::{by_size, put_candidate};
use super::find::{DuplicateOptions, DuplicateReport, DuplicateSearch};
use super::groups::DuplicateGroup;
use super::state::HashState;
use super::workers::{DuplicateProgress, ReadWork};
use crate::source::{Entry, nanoseconds};
use crate::store::{RecordSorter, SortedRecords};

fn options(memory: usize) -> DuplicateOptions {
    DuplicateOptions {
        min_size: 1,
        verify: false,
        threads: 3,
        memory,
        temporary: std::env::temp_dir(),
        keep_hashes: true,
    }
}

fn scan(paths: &[PathBuf], options: &DuplicateOptions) -> SortedRecords {
    let mut sorter = RecordSorter::new(by_size, options.memory / 3, &options.temporary);
    for path in paths {
        let meta = fs::symlink_metadata(path).unwrap();
        let entry = Entry {
            path: path.as_os_str().as_bytes(),
            size: Some(meta.size()),
            mtime: Some(nanoseconds(meta.mtime(), meta.mtime_nsec())),
            ctime: Some(nanoseconds(meta.ctime(), meta.ctime_nsec())),
            inode: Some(meta.ino()),
            device: Some(meta.dev()),
            ..Entry::default()
        };
        let mut record = Vec::new();
        put_candidate(&mut record, &entry);
        sorter.push(&record).unwrap();
    }
    sorter.finish().unwrap()
}

/// The groups, the report, and the bytes that were read.
fn search(
    sorted: &SortedRecords,
    options: &DuplicateOptions,
    state: &Mutex<HashState>,
) -> (Vec<DuplicateGroup>, DuplicateReport, u64) {
    let (progress, stop) = (DuplicateProgress::default(), AtomicBool::new(false));
    let mut tick = |_: &DuplicateProgress, _: &Mutex<HashState>| {};
    let work =
        ReadWork { threads: options.threads, progress: &progress, state, stop: &stop, tick: &mut tick };
    let mut search = DuplicateSearch { options, work, report: DuplicateReport::default() };
    let found = search.run(sorted).unwrap();
    let report = search.report.clone();
    let (mut groups, mut cursor) = (Vec::new(), found.read().unwrap());
    while let Some(record) = cursor.record() {
        groups.push(DuplicateGroup::read(record).unwrap());
        cursor.advance().unwrap();
    }
    assert_eq!(progress.done.load(Ordering::Relaxed), progress.total.load(Ordering::Relaxed));
    (groups, report, progress.read.load(Ordering::Relaxed))
}

/// Files of few contents, some of which differ in one byte, with hard links.
fn make_tree(root: &Path, random: &mut fastrand::Rng) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = Vec::new();
    for at in 0..random.usize(2..60) {
        let path = root.join(format!("{}{at}", random.choice(["a", "b\n", "c-"]).unwrap()));
        if at > 0 && random.u8(..6) == 0 {
            fs::hard_link(random.choice(&paths).unwrap(), &path).unwrap();
        } else {
            let size = *random.choice(&[0, 1, 100, 4096, 8192, 8193, 20_000, 2_200_000]).unwrap();
            let mut bytes = vec![random.u8(..2); size];
            if size > 0 && random.bool() {
                bytes[random.choice([0, size / 2, size - 1]).unwrap()] = 7;
            }
            fs::write(&path, bytes).unwrap();
        }
        paths.push(path);
    }
    paths
}

/// The groups by the bytes of files: by content, the names of each inode.
fn by_content(paths: &[PathBuf]) -> BTreeSet<BTreeSet<BTreeSet<Vec<u8>>>> {
    let mut contents: BTreeMap<Vec<u8>, BTreeMap<u64, BTreeSet<Vec<u8>>>> = BTreeMap::new();
    for path in paths {
        let (bytes, inode) = (fs::read(path).unwrap(), fs::metadata(path).unwrap().ino());
        let files = contents.entry(bytes).or_default();
        files.entry(inode).or_default().insert(path.as_os_str().as_bytes().to_vec());
    }
    let groups = contents.into_values().filter(|files| files.len() > 1);
    groups.map(|files| files.into_values().collect()).collect()
}

fn as_sets(groups: &[DuplicateGroup]) -> BTreeSet<BTreeSet<BTreeSet<Vec<u8>>>> {
    let files = |group: &DuplicateGroup| {
        group.files.iter().map(|file| file.paths.iter().cloned().collect()).collect()
    };
    groups.iter().map(files).collect()
}

#[test]
fn groups_are_those_of_equal_bytes_with_any_memory_and_threads() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let mut found_groups = 0;
    for round in 0..20 {
        let place = tempfile::tempdir().unwrap();
        let mut paths = make_tree(place.path(), &mut random);
        paths.retain(|path| fs::metadata(path).unwrap().len() > 0);
        let expected = by_content(&paths);
        for (memory, threads, verify) in [(2000, 1, false), (1 << 20, 4, true), (64 << 20, 2, false)] {
            let options = DuplicateOptions { threads, verify, ..options(memory) };
            let state = Mutex::new(HashState::default());
            let (groups, report, _) = search(&scan(&paths, &options), &options, &state);
            assert_eq!(as_sets(&groups), expected, "round {round}, memory {memory}, seed {seed}");
            assert!(groups.is_sorted_by_key(|group| std::cmp::Reverse(group.wasted())));
            let wasted: u64 = groups.iter().map(DuplicateGroup::wasted).sum();
            assert_eq!((report.groups, report.wasted), (groups.len() as u64, wasted));
            assert_eq!((report.changed.count, report.failed.count, report.collisions), (0, 0, 0));
            found_groups += groups.len();
        }
    }
    assert!(found_groups > 100, "{found_groups}");
}

#[test]
fn a_second_run_reads_only_what_is_new() {
    let place = tempfile::tempdir().unwrap();
    let paths: Vec<PathBuf> = (0..4).map(|at| place.path().join(format!("f{at}"))).collect();
    paths.iter().for_each(|path| fs::write(path, vec![b'x'; 50_000]).unwrap());
    let options = options(1 << 20);
    let state = Mutex::new(HashState::default());
    let (first, _, read) = search(&scan(&paths, &options), &options, &state);
    assert_eq!(read, 4 * (50_000 + 8192));
    let bytes = state.lock().unwrap().to_bytes();
    let state = Mutex::new(HashState::from_bytes(&bytes).unwrap());
    let (second, report, read) = search(&scan(&paths, &options), &options, &state);
    assert_eq!((second, read, report.known), (first, 0, 8));
    fs::write(&paths[1], vec![b'y'; 50_000]).unwrap();
    let (third, report, read) = search(&scan(&paths, &options), &options, &state);
    assert_eq!((third[0].files.len(), read, report.known), (3, 8192, 6));
}

#[test]
fn files_that_changed_since_the_scan_are_left_out_and_counted() {
    let place = tempfile::tempdir().unwrap();
    let paths: Vec<PathBuf> = (0..6).map(|at| place.path().join(format!("f{at}"))).collect();
    paths.iter().for_each(|path| fs::write(path, "the same").unwrap());
    let options = options(1 << 20);
    let sorted = scan(&paths, &options);
    fs::write(&paths[0], "the same").unwrap();
    fs::remove_file(&paths[1]).unwrap();
    fs::remove_file(&paths[2]).unwrap();
    std::os::unix::fs::symlink(&paths[3], &paths[2]).unwrap();
    let state = Mutex::new(HashState::default());
    let (groups, report, _) = search(&sorted, &options, &state);
    assert_eq!((groups.len(), report.files, report.changed.count, report.failed.count), (1, 3, 3, 0));
    assert!(report.changed.first.starts_with(place.path().as_os_str().as_bytes()));
}

#[test]
fn a_search_that_is_stopped_has_no_groups() {
    let place = tempfile::tempdir().unwrap();
    let paths = [place.path().join("a"), place.path().join("b")];
    paths.iter().for_each(|path| fs::write(path, "the same").unwrap());
    let options = options(1 << 20);
    let (progress, stop) = (DuplicateProgress::default(), AtomicBool::new(true));
    let state = Mutex::new(HashState::default());
    let mut tick = |_: &DuplicateProgress, _: &Mutex<HashState>| {};
    let work = ReadWork { threads: 1, progress: &progress, state: &state, stop: &stop, tick: &mut tick };
    let mut search = DuplicateSearch { options: &options, work, report: DuplicateReport::default() };
    let found = search.run(&scan(&paths, &options)).unwrap();
    assert!(search.report.stopped && found.read().unwrap().record().is_none());
}
