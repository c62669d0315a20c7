//! An index follows its sources: what a second build does with files that are gone, renamed, excluded, or out
//! of reach, and with other names for the same files.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use super::{Place, run, scanns};

/// The files below a directory as `find` lists them, and the keys of the index, both sorted.
fn compared(place: &Place) -> (Vec<String>, Vec<String>) {
    let found = run(Command::new("find").arg(place.files()).args(["-type", "f"]));
    let mut files: Vec<_> = found.text().lines().map(str::to_owned).collect();
    files.sort();
    let hits = place.search(&["--all", "--json", "path:*"]).lines();
    let mut keys: Vec<_> = hits.iter().map(|hit| hit["key"].as_str().unwrap().to_owned()).collect();
    keys.sort();
    (files, keys)
}

fn must_agree(place: &Place) {
    let (files, keys) = compared(place);
    assert_eq!(files, keys);
}

#[test]
fn the_same_command_forgets_files_that_are_gone_or_renamed() {
    let place = Place::with(&[("a.txt", "one"), ("b/c.txt", "two"), ("b/d.txt", "three"), ("e.txt", "four")]);
    place.indexed(&[]);
    must_agree(&place);
    fs::remove_file(place.files().join("a.txt")).unwrap();
    fs::rename(place.files().join("b"), place.files().join("moved")).unwrap();
    let ran = place.indexed(&[]);
    let told = ["removed: 1 document of 1 file", "moved: 2 files"];
    assert!(told.iter().all(|told| ran.text().contains(told)), "{}", ran.text());
    must_agree(&place);
    assert_eq!((place.count("one"), place.count("two"), place.count("four")), (0, 1, 1));
}

#[test]
fn removed_files_are_kept_on_request_and_counted() {
    let place = Place::with(&[("a.txt", "one"), ("b.txt", "two")]);
    place.indexed(&[]);
    fs::remove_file(place.files().join("a.txt")).unwrap();
    let ran = place.indexed(&["--keep-removed"]);
    assert!(ran.text().contains("kept: the documents of 1 file"), "{}", ran.text());
    assert_eq!(place.count("one"), 1);
    let report = place.indexed(&["--json"]).json();
    assert_eq!((&report["removed"], &report["removed_files"]), (&1.into(), &1.into()));
    must_agree(&place);
}

#[test]
fn files_that_the_options_exclude_now_are_removed_and_other_trees_are_left_alone() {
    let place = Place::with(&[("a/x.c", "one"), ("a/x.o", "two"), ("b/y.c", "three")]);
    place.indexed(&[]);
    let index = |more: &[&str], path: &Path| {
        let ran = run(scanns(&["index", "-o"]).arg(place.index()).args(more).arg(path));
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    };
    index(&["--exclude", "*.o"], &place.files().join("a"));
    assert_eq!((place.count("one"), place.count("two"), place.count("three")), (1, 0, 1));
    index(&[], &place.files().join("a/x.o"));
    assert_eq!(place.count("two"), 1);
    index(&[], &place.files().join("b"));
    assert_eq!((place.count("one"), place.count("two"), place.count("three")), (1, 1, 1));
}

#[test]
fn files_that_git_ignores_are_removed_on_request_and_come_back_without_it() {
    for content in ["text", "none"] {
        let place = Place::with(&[("a.c", "one"), ("b.o", "two"), ("sub/c.o", "three"), ("sub/d.o", "four")]);
        let files = || {
            let mut names = place.found(&["type:file"]);
            names.retain(|name| name != ".gitignore");
            names
        };
        place.indexed(&["--content", content]);
        assert_eq!(files().len(), 4);
        fs::write(place.files().join(".gitignore"), "*.o\n[\n").unwrap();
        fs::write(place.files().join("sub/.gitignore"), "!d.o\n").unwrap();
        let ran = place.indexed(&["--content", content, "--gitignore"]);
        assert!(ran.stderr.contains("damaged patterns match nothing: 1 line"), "{}", ran.stderr);
        assert_eq!(files(), ["a.c", "d.o"], "{content}");
        place.indexed(&["--content", content]);
        assert_eq!(files().len(), 4, "{content}");
    }
}

#[test]
fn a_directory_that_is_empty_or_unreadable_removes_nothing() {
    let place = Place::with(&[("mount/a.txt", "one"), ("mount/b.txt", "two"), ("rest/c.txt", "three")]);
    place.indexed(&[]);
    let mount = place.files().join("mount");
    let away = place.dir.path().join("away");
    let index_mount = || run(scanns(&["index", "-o"]).arg(place.index()).arg(&mount));

    fs::rename(&mount, &away).unwrap();
    let ran = index_mount();
    assert!(ran.code == Some(2) && ran.stderr.contains("No such file"), "{:?} {}", ran.code, ran.stderr);
    assert_eq!(place.count("one two"), 2);

    fs::create_dir(&mount).unwrap();
    let ran = index_mount();
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(ran.stderr.contains("the directory is empty, but 2 files of it"), "{}", ran.stderr);
    assert_eq!(place.count("one two"), 2);

    fs::remove_dir(&mount).unwrap();
    fs::rename(&away, &mount).unwrap();
    assert_eq!(index_mount().code, Some(0));
    must_agree(&place);

    // Without permission to read it; root may read everything.
    fs::set_permissions(&mount, fs::Permissions::from_mode(0o0)).unwrap();
    if fs::read_dir(&mount).is_err() {
        let ran = place.index_with(&[]);
        assert_eq!(ran.code, Some(1), "{}", ran.stderr);
        assert_eq!(place.count("one two three"), 3);
    }
    fs::set_permissions(&mount, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn the_only_file_of_a_directory_that_is_empty_now_is_kept() {
    let place = Place::with(&[("mount/a.txt", "one"), ("rest/c.txt", "three")]);
    place.indexed(&[]);
    let mount = place.files().join("mount");
    fs::remove_file(mount.join("a.txt")).unwrap();
    let ran = run(scanns(&["index", "-o"]).arg(place.index()).arg(&mount));
    assert_eq!((ran.code, place.count("one")), (Some(1), 1), "{}", ran.stderr);
    let told = "but a file of it is in the index and was kept: if its file system is not mounted, mount it \
                and try again, otherwise delete it with scanns delete";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
}

#[test]
fn every_spelling_of_a_path_is_the_same_document() {
    let place = Place::with(&[("docs/a.txt", "one"), ("docs/b.txt", "two")]);
    symlink("docs", place.files().join("link")).unwrap();
    let index = |path: &str| {
        let mut command = scanns(&["index", "--json", "-o"]);
        let ran = run(command.arg(place.index()).arg(path).current_dir(place.files()));
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        ran.json()
    };
    assert_eq!(index("docs")["documents"], 2);
    let absolute = place.files().join("docs").display().to_string();
    for spelling in ["./docs", "docs/", ".//docs/.", "docs/../docs", &absolute, "docs/a.txt"] {
        let report = index(spelling);
        assert_eq!((&report["documents"], &report["removed"]), (&0.into(), &0.into()), "{spelling}");
    }
    must_agree(&place);
}

#[test]
fn a_path_that_does_not_exist_makes_no_index() {
    let place = Place::new();
    let ran = run(scanns(&["index", "-o"]).arg(place.index()).arg("/nonexistent/data"));
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("nothing to index: /nonexistent/data: No such file"), "{}", ran.stderr);
    assert!(!place.index().exists());
}

#[test]
fn another_kind_of_documents_is_refused() {
    let place = Place::with(&[("a.txt", "one\ntwo"), ("b.jsonl", "{\"a\": 1}")]);
    place.indexed(&[]);
    for records in ["lines", "jsonl", "csv"] {
        let ran = place.index_with(&["--records", records]);
        assert_eq!(ran.code, Some(2), "{records}");
        assert!(ran.stderr.contains("are files, not"), "{}", ran.stderr);
        assert_eq!(place.found(&["path:*"]), ["a.txt", "b.jsonl"]);
    }
    place.indexed(&["--records", "file"]);
}
