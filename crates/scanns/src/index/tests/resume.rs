use std::sync::atomic::Ordering;
use std::time::Duration;

use super::*;
use crate::index::check_in;
use crate::segment::CheckLevel;
use crate::store::RamDirectory;

/// One document per line or file, small blocks and chunks, little memory: many segments and units.
fn small(root: &Path, records: Records, lanes: usize) -> IndexOptions {
    let mut options = options(root, records, lanes);
    options.segment_memory = Some(16 << 20);
    options.memory = 512 << 20;
    options.commit_every = Some(Duration::ZERO);
    options
}

/// Files that take several segments, with what an uninterrupted build makes of them.
fn corpus(root: &Path, records: Records) -> Oracle {
    fs::create_dir(root).unwrap();
    let mut files = Vec::new();
    for n in 0..if records == Records::Lines { 3 } else { 40 } {
        let mut text = String::new();
        for i in 0..if records == Records::Lines { 60_000 } else { 12_000 } {
            text.push_str(&format!("t{n}x{} w{}", i * 7919 % 100_000, i % 11));
            text.push(if i % 3 == 0 { '\n' } else { ' ' });
        }
        let path = root.join(format!("file{n:02}"));
        fs::write(&path, &text).unwrap();
        files.push((path, text.into_bytes()));
    }
    oracle(&files, records)
}

/// Builds until progress says that this many bytes are done, then stops.
pub(super) fn build_until(directory: &RamDirectory, options: &IndexOptions, bytes: u64) -> IndexReport {
    let (progress, cancel) = (Progress::new(), Arc::new(AtomicBool::new(false)));
    std::thread::scope(|scope| {
        let build = scope.spawn(|| build_in(directory, options, &progress, &cancel));
        while !build.is_finished() && progress.bytes() < bytes {
            std::thread::yield_now();
        }
        cancel.store(true, Ordering::Relaxed);
        match build.join().unwrap() {
            Err(Error::Cancelled) => IndexReport { cancelled: true, ..IndexReport::default() },
            report => report.unwrap(),
        }
    })
}

fn must_be_whole(directory: &RamDirectory, what: &str) {
    let checked = check_in(directory, CheckLevel::Cross, &Progress::new(), &AtomicBool::new(false)).unwrap();
    assert!(checked.is_whole() && checked.leftovers.is_empty(), "{what}: {checked:?}");
}

#[test]
fn a_build_that_was_stopped_goes_on_where_it_was_and_ends_as_if_it_had_not_been() {
    for records in [Records::File, Records::Lines] {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("in");
        let expected = corpus(&root, records);
        let total: u64 = fs::read_dir(&root).unwrap().map(|e| e.unwrap().metadata().unwrap().len()).sum();
        for stops in [&[50][..], &[10, 30, 60], &[1, 2, 3, 99]] {
            let what = format!("{records:?} {stops:?}");
            let directory = RamDirectory::new();
            let mut done = 0;
            for &percent in stops {
                let report = build_until(&directory, &small(&root, records, 2), total * percent / 100 - done);
                done += report.bytes.min(total * percent / 100 - done);
                if crate::store::read_newest(&directory).unwrap().is_some() {
                    must_be_whole(&directory, &what);
                }
            }
            let last =
                build_in(&directory, &small(&root, records, 2), &Progress::new(), &Arc::default()).unwrap();
            assert!(!last.cancelled && last.replaced == 0, "{what}: {last:?}");
            must_be_whole(&directory, &what);
            let snapshot = Snapshot::open_in(&directory).unwrap().unwrap();
            let found = contents(&snapshot);
            assert!(found == expected, "{what}");
            // Nothing is left to do.
            let idle =
                build_in(&directory, &small(&root, records, 2), &Progress::new(), &Arc::default()).unwrap();
            assert_eq!((idle.documents, idle.bytes, idle.bytes_written), (0, 0, 0), "{what}: {idle:?}");
            assert_eq!(
                Snapshot::open_in(&directory).unwrap().unwrap().info().generation,
                snapshot.info().generation
            );
        }
    }
}

#[test]
fn files_that_change_grow_shrink_or_vanish_between_builds_are_as_they_are_now() {
    for records in [Records::File, Records::Lines] {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("in");
        fs::create_dir(&root).unwrap();
        let directory = RamDirectory::new();
        let mut expected = Vec::new();
        for (round, texts) in [
            ["one two\nthree", "same", "shrinks\nsoon", "goes away"],
            ["one two\nthree\nfour", "same", "shrinks", "goes away"],
            ["five", "same", "", "goes away"],
        ]
        .into_iter()
        .enumerate()
        {
            expected.clear();
            for (name, text) in ["a", "b", "c", "d"].into_iter().zip(texts) {
                let path = root.join(name);
                if fs::read(&path).ok().as_deref() != Some(text.as_bytes()) && (round == 0 || name != "d") {
                    fs::write(&path, text).unwrap();
                }
                expected.push((path, text.as_bytes().to_vec()));
            }
            if round > 0 {
                let _ = fs::remove_file(root.join("d"));
            }
            let mut options = small(&root, records, 2);
            // The second build keeps the documents of the removed file, and the third deletes them.
            options.keep_removed = round == 1;
            if round == 2 {
                expected.pop();
            }
            let report = build_in(&directory, &options, &Progress::new(), &Arc::default()).unwrap();
            assert_eq!(report.unchanged, u64::from(round > 0), "round {round}");
            assert_eq!(report.removed_files, u64::from(round > 0), "round {round}");
            assert_eq!(report.removed, u64::from(round == 2), "round {round}");
            let snapshot = Snapshot::open_in(&directory).unwrap().unwrap();
            let mut found = living::contents_of_living(&snapshot);
            found.retain(|_, keys| !keys.is_empty());
            assert!(found == oracle(&expected, records), "{records:?} round {round}");
            must_be_whole(&directory, "after a change");
        }
    }
}

#[test]
fn a_build_with_a_time_limit_stops_by_itself_and_can_go_on() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("in");
    let expected = corpus(&root, Records::File);
    let directory = RamDirectory::new();
    let mut options = small(&root, Records::File, 1);
    options.time_limit = Some(Duration::from_millis(1));
    let report = build_in(&directory, &options, &Progress::new(), &Arc::default()).unwrap();
    assert!(report.cancelled && report.documents < 40, "{report:?}");
    options.time_limit = Some(Duration::from_secs(600));
    let report = build_in(&directory, &options, &Progress::new(), &Arc::default()).unwrap();
    assert!(!report.cancelled, "{report:?}");
    assert!(contents(&Snapshot::open_in(&directory).unwrap().unwrap()) == expected);
}
