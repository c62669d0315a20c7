//! Trees of all shapes.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags};

use super::plain::walk;
use super::*;

fn random_name(random: &mut fastrand::Rng) -> OsString {
    let len = match random.u8(..10) {
        0 => 255,
        1 => random.usize(1..=255),
        _ => random.usize(1..12),
    };
    let byte = |random: &mut fastrand::Rng| match random.u8(..8) {
        0 => b'\n',
        1 => random.u8(128..),
        _ => random.u8(1..),
    };
    let mut name: Vec<u8> = (0..len).map(|_| byte(random)).filter(|&byte| byte != b'/').collect();
    if matches!(&name[..], b"" | b"." | b"..") {
        name.push(b'x');
    }
    OsString::from_vec(name)
}

/// Fills a directory with entries of every kind.
fn grow(directory: &Path, random: &mut fastrand::Rng, left: &mut usize, files: &mut Vec<PathBuf>) {
    for _ in 0..random.usize(..30) {
        let path = directory.join(random_name(random));
        if *left == 0 || path.as_os_str().len() > 4000 || fs::symlink_metadata(&path).is_ok() {
            continue;
        }
        *left -= 1;
        match random.u8(..12) {
            0..4 => {
                fs::create_dir(&path).unwrap();
                grow(&path, random, left, files);
            }
            4 => rustix::fs::mknodat(CWD, &path, FileType::Fifo, Mode::RUSR, 0).unwrap(),
            5 => rustix::fs::mknodat(CWD, &path, FileType::Socket, Mode::RWXU, 0).unwrap(),
            6 => symlink(random_name(random), &path).unwrap(),
            7 if !files.is_empty() => {
                let file = random.usize(..files.len());
                fs::hard_link(&files[file], &path).unwrap();
            }
            8 if !files.is_empty() => symlink(&files[random.usize(..files.len())], &path).unwrap(),
            _ => {
                fs::write(&path, vec![7; random.usize(..9000)]).unwrap();
                let time = fs::FileTimes::new();
                let back = Duration::from_nanos(random.u64(..1 << 60));
                let file = fs::File::open(&path).unwrap();
                file.set_times(time.set_modified(std::time::UNIX_EPOCH + back)).unwrap();
                files.push(path);
            }
        }
    }
}

#[test]
fn random_trees_are_listed_as_a_plain_recursion_lists_them() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    for _ in 0..30 {
        let place = place();
        let mut left = [3, 50, 600][random.usize(..3)];
        grow(&place.path, &mut random, &mut left, &mut Vec::new());
        let options = options(&[&place.path], random.usize(1..7));
        let expected = walk(&place.path, &|_| true);
        let (found, report) = rows_with(&options, random.usize(..20));
        assert_eq!(found, expected);
        assert!(report.unread.is_empty() && report.vanished.count == 0);
        let directories = expected.iter().filter(|row| row.kind == Some("directory")).count();
        assert_eq!(report.roots[0].directories, directories as u64);
        assert_eq!(report.roots[0].is_empty, expected.len() == 1);
        assert!(report.operations >= (found.len() + 3 * directories) as u64);
    }
}

/// Makes directories in each other, and files beside the last of them; returns the depth.
fn deep(root: &Path, depth: usize, name: &str) {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    let mut directory = rustix::fs::open(root, flags, Mode::empty()).unwrap();
    for _ in 0..depth {
        rustix::fs::mkdirat(&directory, name, Mode::RWXU).unwrap();
        rustix::fs::mkdirat(&directory, "side", Mode::RWXU).unwrap();
        rustix::fs::symlinkat("target", &directory, "link").unwrap();
        directory = rustix::fs::openat(&directory, name, flags, Mode::empty()).unwrap();
    }
}

/// Removes what [`deep`] made; longer paths than the system takes are beyond `remove_dir_all`.
fn remove_deep(root: &Path, depth: usize, name: &str) {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    let mut open = vec![rustix::fs::open(root, flags, Mode::empty()).unwrap()];
    for _ in 0..depth {
        open.push(rustix::fs::openat(open.last().unwrap(), name, flags, Mode::empty()).unwrap());
    }
    open.pop();
    while let Some(directory) = open.pop() {
        for below in [name, "side"] {
            rustix::fs::unlinkat(&directory, below, AtFlags::REMOVEDIR).unwrap();
        }
        rustix::fs::unlinkat(&directory, "link", AtFlags::empty()).unwrap();
    }
}

#[test]
fn paths_may_be_longer_than_the_system_takes_also_with_few_descriptors() {
    let place = place();
    let name = "n".repeat(99);
    let depth = 300;
    deep(&place.path, depth, &name);
    for (threads, descriptors) in [(1, 1000), (3, 1000), (1, 0), (2, 1), (4, 7)] {
        let (rows, report) = rows_with(&options(&[&place.path], threads), descriptors);
        assert_eq!(rows.len(), 3 * depth + 1);
        assert!(report.unread.is_empty());
        let longest = rows.iter().map(|row| row.path.len()).max().unwrap();
        assert_eq!(longest, place.path.as_os_str().len() + depth * 100);
        assert!(rows.iter().filter(|row| row.kind == Some("link")).all(|row| row.target.is_some()));
    }
    let below = (0..60).fold(place.path.clone(), |path, _| path.join(&name));
    let (rows, report) = rows(&options(&[&below, &place.path], 2));
    assert_eq!(rows.len(), 3 * depth + 1);
    assert_eq!(report.roots[1].entries, 3 * (depth as u64 - 60) + 1);
    remove_deep(&place.path, depth, &name);
}

#[test]
fn very_deep_trees_do_not_exhaust_the_stack() {
    let place = place();
    deep(&place.path, 4000, "d");
    let (rows, _) = rows_with(&options(&[&place.path], 2), 10);
    assert_eq!(rows.len(), 3 * 4000 + 1);
    remove_deep(&place.path, 4000, "d");
}

#[test]
fn a_directory_of_many_entries_is_shared_among_threads() {
    let place = place();
    fs::create_dir(place.at("large")).unwrap();
    for i in 0..50_000 {
        match i % 50 {
            0 => fs::create_dir(place.at(&format!("large/entry{i}"))).unwrap(),
            1 => symlink("x", place.at(&format!("large/entry{i}"))).unwrap(),
            _ => drop(fs::File::create(place.at(&format!("large/entry{i}"))).unwrap()),
        }
    }
    place.add(&["large/entry50/file", "large/entry49950/file"]);
    let expected = walk(&place.path, &|_| true);
    for threads in [1, 2, 5] {
        let senders = Mutex::new(HashSet::new());
        let found = Mutex::new(0);
        let send = |batch: EntryBatch| {
            senders.lock().unwrap().insert(std::thread::current().id());
            *found.lock().unwrap() += batch.len();
            std::thread::sleep(Duration::from_millis(1)); // so that one thread cannot do everything
            true
        };
        scan(&options(&[&place.path], threads), &AtomicBool::new(false), &send).unwrap();
        assert_eq!(*found.lock().unwrap(), expected.len());
        assert_eq!(senders.lock().unwrap().len() > 1, threads > 1);
        assert_eq!(rows(&options(&[&place.path], threads)).0, expected);
    }
}

#[test]
fn entries_that_come_and_go_are_counted_and_what_stays_is_listed() {
    let place = place();
    for i in 0..300 {
        place.add(&[&format!("stays/{i}/file"), &format!("goes/{i}/file")]);
    }
    let expected = walk(&place.at("stays"), &|_| true);
    let done = AtomicBool::new(false);
    let began = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut random = fastrand::Rng::new();
            while !done.load(Ordering::Relaxed) && began.elapsed() < Duration::from_secs(60) {
                let at = place.at(&format!("goes/{}", random.u32(..300)));
                match random.u8(..4) {
                    0 => drop(fs::remove_dir_all(&at)),
                    1 => drop(fs::rename(&at, place.at(&format!("goes/{}", random.u32(..300))))),
                    2 => drop(symlink(place.at("stays"), &at)),
                    _ => drop(fs::create_dir(&at).and_then(|()| fs::write(at.join("file"), ""))),
                }
            }
        });
        let mut vanished = 0;
        for i in 0..200 {
            let descriptors = if i % 2 == 0 { 0 } else { 1000 };
            let (found, report) = rows_with(&options(&[&place.path], 1 + i % 3), descriptors);
            assert!(report.unread.is_empty(), "{:?}", report.unread);
            vanished += report.vanished.count;
            let stays = place.at("stays");
            let below = |row: &Row| Path::new(OsStr::from_bytes(&row.path)).starts_with(&stays);
            assert_eq!(found.into_iter().filter(below).collect::<Vec<_>>(), expected);
        }
        done.store(true, Ordering::Relaxed);
        println!("{vanished} entries vanished");
        assert!(vanished > 0);
    });
}

#[test]
fn globs_and_hidden_names_leave_entries_out_and_are_counted() {
    let place = place();
    place.add(&["a.c", "a.h", "build/x.c", ".git/y.c", "sub/.hidden.c", "sub/b.c"]);
    let take = |include: &[&str], exclude: &[&str], skip_hidden| {
        let own = |globs: &[&str]| globs.iter().map(|glob| glob.to_string()).collect();
        let base = options(&[&place.path], 2);
        let options = ScanOptions { include: own(include), exclude: own(exclude), skip_hidden, ..base };
        let (rows, report) = rows(&options);
        (names(&rows, &place.path).join(" "), report.filtered.count, report.hidden.count)
    };
    assert_eq!(take(&["*.h"], &[], false), (" .git a.h build sub".into(), 5, 0));
    assert_eq!(take(&["*.c"], &["build"], true), (" a.c sub sub/b.c".into(), 2, 2));
    assert_eq!(take(&[], &["**/sub/*", "*/.git"], false).0, " a.c a.h build build/x.c sub");
    let file = place.at("a.c");
    let named = ScanOptions { exclude: vec!["*.c".into()], ..options(&[&file], 1) };
    assert_eq!(rows(&named).0.len(), 1);
    let bad = ScanOptions { include: vec!["a[".into()], ..named };
    assert!(scan(&bad, &AtomicBool::new(false), &|_| true).unwrap_err().to_string().contains("a["));
}

#[test]
fn a_stop_ends_the_scan_soon_and_what_was_found_is_sent() {
    let place = place();
    for i in 0..200 {
        place.add(&[&format!("{i}/a"), &format!("{i}/b"), &format!("{i}/c")]);
    }
    for (threads, limit) in [(1, 2000), (3, 2000), (2, 1)] {
        let base = options(&[&place.path], threads);
        let options = ScanOptions { max_operations: std::num::NonZeroU32::new(limit), ..base };
        let (stop, sent) = (AtomicBool::new(false), AtomicUsize::new(0));
        let stopped = Mutex::new(Instant::now());
        let report = std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(100));
                *stopped.lock().unwrap() = Instant::now();
                stop.store(true, Ordering::Relaxed);
            });
            let send = |batch: EntryBatch| sent.fetch_add(batch.len(), Ordering::Relaxed) < usize::MAX;
            scan(&options, &stop, &send).unwrap()
        });
        let after = stopped.lock().unwrap().elapsed();
        assert!(!report.complete && after < Duration::from_millis(100), "{after:?}");
        assert_eq!(report.roots[0].entries, sent.load(Ordering::Relaxed) as u64);
        assert!(sent.load(Ordering::Relaxed) < 800);
    }
    let report = scan(&options(&[&place.path], 2), &AtomicBool::new(false), &|_| false).unwrap();
    assert!(!report.complete);
}

#[test]
fn a_limit_of_operations_is_kept() {
    let place = place();
    (0..50).for_each(|i| place.add(&[&format!("{i}/a")]));
    let base = options(&[&place.path], 3);
    let limited = ScanOptions { max_operations: std::num::NonZeroU32::new(1000), ..base };
    let began = Instant::now();
    let (found, report) = rows(&limited);
    assert_eq!(found.len(), 101);
    let least = Duration::from_millis(report.operations - 25);
    assert!(began.elapsed() >= least && report.operations > 250, "{:?} {least:?}", began.elapsed());
}

#[test]
fn what_gitignore_files_leave_out_is_left_out_by_scans_and_by_walks_of_texts() {
    let place = place();
    let files = [
        ".git/HEAD",
        "a.o",
        "keep.o",
        "src/a.c",
        "src/a.o",
        "target/x/y",
        "src/target",
        "own/.git/HEAD",
        "own/a.o",
    ];
    place.add(&files);
    let many: Vec<String> =
        (0..5000).map(|number| format!("many/f{number}.{}", ["c", "tmp"][number % 2])).collect();
    place.add(&many.iter().map(String::as_str).collect::<Vec<_>>());
    std::fs::write(place.at(".gitignore"), "*.o\n!keep.o\ntarget/\na[\n").unwrap();
    std::fs::write(place.at("many/.gitignore"), "*.tmp\nf2.c\n").unwrap();
    std::os::unix::fs::symlink("src", place.at("link")).unwrap();
    let is_taken = |name: &String| name.ends_with(".c") && name != "many/f2.c";
    let mut expected: Vec<String> = many.iter().filter(|name| is_taken(name)).cloned().collect();
    let others =
        ["", ".gitignore", "keep.o", "link", "many", "many/.gitignore", "own", "own/a.o", "src", "src/a.c"];
    expected.extend(others.iter().map(|&name| name.to_owned()));
    expected.push("src/target".into());
    expected.sort();
    for threads in [1, 4] {
        let (found, report) = rows(&ScanOptions { gitignore: true, ..options(&[&place.path], threads) });
        let mut found = names(&found, &place.path);
        found.sort();
        assert_eq!(found, expected);
        // Two of .git, two names with .o, a directory, and half of the files of the large directory.
        assert_eq!((report.filtered.count, report.rule_faults.damaged), (5 + 2501, 1));
        assert!(report.unlisted.places.contains(&place.at("target")) && report.unlisted.paths.is_empty());

        let paths = vec![place.path.clone()];
        let walk =
            SourceOptions { paths, gitignore: true, entries: true, threads, ..SourceOptions::default() };
        let found = crate::source::collect(&walk, &AtomicBool::new(false)).unwrap();
        assert_eq!((found.skipped, found.rule_faults.damaged), (5 + 2501, 1));
        let relative = |path: &Path| path.strip_prefix(&place.path).unwrap().to_string_lossy().into_owned();
        let mut found: Vec<String> = found.inputs.iter().map(|input| relative(&input.path)).collect();
        found.sort();
        assert_eq!(found, expected);

        let (sub, _) = rows(&ScanOptions { gitignore: true, ..options(&[&place.at("src")], threads) });
        assert_eq!(names(&sub, &place.path), ["src", "src/a.c", "src/target"], "rules above apply");
        let linked =
            ScanOptions { gitignore: true, follow_symlinks: true, ..options(&[&place.path], threads) };
        let (linked, _) = rows(&linked);
        assert!(!names(&linked, &place.path).iter().any(|name| name.ends_with("src/a.o")));
    }
}
