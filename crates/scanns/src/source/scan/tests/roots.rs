//! Named paths, and links.

use std::fs;
use std::os::unix::fs::symlink;

use rustix::fs::{CWD, FileType, Mode};

use super::*;

#[test]
fn named_paths_may_be_anything_and_those_that_are_missing_are_reported() {
    let place = place();
    place.add(&["file", "full/a", "full/b/c"]);
    fs::create_dir(place.at("empty")).unwrap();
    rustix::fs::mknodat(CWD, place.at("fifo"), FileType::Fifo, Mode::RWXU, 0).unwrap();
    let paths = ["file", "full", "empty", "fifo", "gone", "full/../file"].map(|name| place.at(name));
    let paths: Vec<_> = paths.iter().map(|path| path.as_path()).collect();
    let (rows, report) = rows(&options(&paths, 2));
    assert_eq!(names(&rows, &place.path), ["empty", "fifo", "file", "full", "full/a", "full/b", "full/b/c"]);
    let roots: Vec<_> = report.roots.iter().map(|r| (r.entries, r.directories, r.is_empty)).collect();
    assert_eq!(roots, [(1, 1, true), (1, 0, false), (1, 0, false), (4, 2, false)]);
    assert!(report.roots.iter().all(|root| root.began > 1 << 60 && root.began <= root.ended));
    assert_eq!(report.unread.len(), 1);
    assert!(report.unread[0].path == place.at("gone") && report.unread[0].reason.contains("No such file"));
}

#[test]
fn named_paths_in_each_other_are_scanned_once() {
    let place = place();
    place.add(&["a/b/x", "a/b/c/y", "a/z"]);
    symlink(place.at("a/b"), place.at("link")).unwrap();
    symlink(place.at("a/z"), place.at("a/to-z")).unwrap();
    let scan = |paths: &[&str]| {
        let paths: Vec<_> = paths.iter().map(|name| place.at(name)).collect();
        let paths: Vec<_> = paths.iter().map(|path| path.as_path()).collect();
        names(&rows(&options(&paths, 2)).0, &place.path).join(" ")
    };
    let all = "a a/b a/b/c a/b/c/y a/b/x a/to-z a/z";
    assert_eq!(scan(&["a", "a/b", "a/b/c"]), all);
    assert_eq!(scan(&["a/b/c", "a/b/x", "a", "a/./b/.."]), all);
    assert_eq!(scan(&["a", "link"]), "a a/to-z a/z link link/c link/c/y link/x");
    assert_eq!(scan(&["link", "a/b"]), "a/b a/b/c a/b/c/y a/b/x");
    assert_eq!(scan(&["a", "a/to-z"]), "a a/b a/b/c a/b/c/y a/b/x a/to-z", "the file under its named path");
}

#[test]
fn links_in_trees_are_followed_on_request_and_every_directory_is_listed_once() {
    let place = place();
    place.add(&["real/a", "real/deep/b", "other/c", "outside/d/e"]);
    symlink(place.at("real"), place.at("other/up")).unwrap();
    symlink(place.at("other"), place.at("real/deep/back")).unwrap();
    symlink(place.at("real/a"), place.at("other/a-again")).unwrap();
    symlink(place.at("real/a"), place.at("other/a-third")).unwrap();
    symlink(place.at("gone"), place.at("other/dangling")).unwrap();
    symlink("loop", place.at("other/loop")).unwrap();
    for threads in [1, 2, 4] {
        let base = options(&[&place.at("other")], threads);
        let follow = ScanOptions { follow_symlinks: true, ..base };
        let (rows, report) = rows(&follow);
        let kinds: Vec<_> = rows.iter().map(|row| &row.kind.unwrap()[..1]).collect();
        assert_eq!(
            names(&rows, &place.path).join(" "),
            "other other/a-again other/a-third other/c other/dangling other/loop other/up other/up/a \
             other/up/deep other/up/deep/b other/up/deep/back"
        );
        assert_eq!(kinds.join(""), "dllflldfdfl", "what is listed elsewhere stays a link");
        assert!(report.unread.is_empty());
        assert!(rows.iter().all(|row| row.target.is_some() == (row.kind == Some("link"))));
    }
}

#[test]
fn an_unreadable_directory_is_listed_and_reported() {
    let place = place();
    place.add(&["open/a", "closed/b"]);
    let closed = place.at("closed");
    let set = |mode| rustix::fs::chmod(&closed, Mode::from_raw_mode(mode)).unwrap();
    set(0);
    let readable = fs::read_dir(&closed).is_ok();
    let (rows, report) = rows(&options(&[&place.path], 2));
    set(0o700);
    if readable {
        println!("SKIPPED since this user may read everything");
        return;
    }
    assert_eq!(names(&rows, &place.path), ["", "closed", "open", "open/a"]);
    assert_eq!(report.unread[0].path, closed);
    assert!(!report.roots[0].is_empty);
}
