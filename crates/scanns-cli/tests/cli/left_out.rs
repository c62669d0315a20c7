//! Places that scans left out on purpose: answers about them are not those about empty places.

use std::fs;
use std::path::PathBuf;

use crate::{Place, Ran, run, scanns, skipped};

/// A tree with directories that some scans leave out.
fn tree() -> Place {
    Place::with(&[
        ("a/f.txt", "one"),
        ("a/g.o", "two"),
        ("tmp/x/deep", "three"),
        ("tmp/y", "four"),
        ("objects/only.o", "five"),
        (".hidden/h", "six"),
    ])
}

/// An index of a directory of the tree.
fn index(place: &Place, name: &str, directories: &[&str], options: &[&str]) -> PathBuf {
    let path = place.dir.path().join(name);
    let directories = directories.iter().map(|directory| place.files().join(directory));
    let ran =
        run(scanns(&["index", "-q", "--content", "none", "-o"]).arg(&path).args(options).args(directories));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    path
}

/// The lines of a difference, with paths below the files.
fn lines(place: &Place, ran: &Ran) -> Vec<String> {
    let root = format!("{}/", place.files().canonicalize().unwrap().display());
    ran.text().lines().map(|line| line.replace(&root, "")).collect()
}

/// `PATH` as a line for an entry that one of the trees did not look at.
fn unseen(paths: &[&str], tree: &str) -> Vec<String> {
    paths.iter().map(|path| format!("? {path}  not seen in {tree}")).collect()
}

#[test]
fn what_is_in_a_directory_that_one_scan_left_out_is_neither_removed_nor_added() {
    let place = tree();
    let whole = index(&place, "whole", &[""], &[]);
    let tmp = ["tmp", "tmp/x", "tmp/x/deep", "tmp/y"];
    for (options, expected) in [
        (&["--exclude", "tmp/"][..], &tmp[..]),
        (&["--exclude", "tmp"], &tmp),
        (&["--skip-hidden"], &[".hidden", ".hidden/h"]),
        (&["--exclude", "*.o"], &["objects/only.o"]),
    ] {
        let part = index(&place, "part", &[""], options);
        let ran = run(scanns(&["diff", "--ignore", "links"]).arg(&whole).arg(&part));
        assert_eq!(ran.code, Some(1), "{}", ran.stderr);
        let mut expected_lines = unseen(expected, "NEW");
        if options == ["--exclude", "*.o"] {
            expected_lines.insert(0, "- a/g.o".into());
            let note = "NEW left out 2 entries by patterns: some of what is removed may be still there";
            assert!(ran.stderr.contains(note), "{}", ran.stderr);
        }
        assert_eq!(lines(&place, &ran), expected_lines, "{options:?} {}", ran.stderr);
        assert!(ran.stderr.contains("may be in "), "{}", ran.stderr);
        let back = run(scanns(&["diff"]).arg(&part).arg(&whole));
        let back_lines: Vec<String> = expected_lines
            .iter()
            .map(|line| line.replace("- a/g.o", "+ a/g.o").replace("in NEW", "in OLD"))
            .collect();
        assert_eq!(lines(&place, &back), back_lines, "{options:?} {}", back.stderr);
        let sums = run(scanns(&["diff", "--summary", "--format", "csv"]).arg(&whole).arg(&part));
        let removed = usize::from(expected_lines.len() > expected.len());
        let total = format!("total,,0,{removed},-{removed},").replace("-0", "0");
        assert!(sums.text().lines().nth(1).unwrap().starts_with(&total), "{}", sums.text());
        fs::remove_dir_all(part).unwrap();
    }
}

#[test]
fn entries_below_none_of_the_roots_of_the_other_index_are_not_removed_and_have_not_moved() {
    let place = tree();
    let whole = index(&place, "whole", &["a", "tmp", "objects"], &[]);
    fs::rename(place.files().join("tmp/y"), place.files().join("a/y")).unwrap();
    let part = index(&place, "part", &["a", "tmp/x"], &[]);
    let ran = run(scanns(&["diff", "--ignore", "mtime,ctime"]).arg(&whole).arg(&part));
    let mut expected = vec!["+ a/y".to_owned()];
    expected.extend(unseen(&["objects", "objects/only.o", "tmp", "tmp/y"], "NEW"));
    assert_eq!((ran.code, lines(&place, &ran)), (Some(1), expected), "{}", ran.stderr);
    let root = place.files().canonicalize().unwrap();
    let note = format!("NEW does not cover {0}/objects, {0}/tmp/y: 4 entries of OLD\n", root.display());
    assert!(ran.stderr.contains(&note), "{}", ran.stderr);
    assert!(ran.stderr.contains("1 added, 0 removed, 0 moved, 0 changed, 4 not seen"), "{}", ran.stderr);
    let back = run(scanns(&["diff", "--ignore", "mtime,ctime"]).arg(&part).arg(&whole));
    let mut expected = vec!["- a/y".to_owned()];
    expected.extend(unseen(&["objects", "objects/only.o", "tmp", "tmp/y"], "OLD"));
    assert_eq!(lines(&place, &back), expected, "{}", back.stderr);
    let below = root.join("a");
    let ran = run(scanns(&["diff", "--below"]).arg(&below).arg(&whole).arg(&part));
    assert!(!ran.stderr.contains("does not cover"), "{}", ran.stderr);
}

#[test]
fn an_index_of_a_dump_covers_its_uppermost_directory() {
    let place = Place::new();
    let indexes =
        [("old", "d /r\nd /r/a\nf /r/a/x\nf /r/b\n"), ("new", "d /r/a\nf /r/a/y\n")].map(|(name, text)| {
            let (dump, index) = (place.write(name, text.as_bytes()), place.dir.path().join(name));
            let words = ["index", "-q", "--dump=find", "--dump-format", "%y %p\\n", "-o"];
            let ran = run(scanns(&words).arg(&index).arg(&dump));
            assert_eq!(ran.code, Some(0), "{}", ran.stderr);
            index
        });
    let ran = run(scanns(&["diff"]).args(&indexes));
    let expected = "? /r  not seen in NEW\n- /r/a/x\n+ /r/a/y\n? /r/b  not seen in NEW\n";
    assert_eq!(ran.text(), expected, "{}", ran.stderr);
    assert!(ran.stderr.contains("NEW does not cover /r/b: 2 entries of OLD"), "{}", ran.stderr);
}

#[test]
fn questions_about_a_place_that_was_left_out_say_so_and_those_about_places_above_it_do_not() {
    let place = tree();
    let part = index(&place, "part", &[""], &["--exclude", "tmp/", "--exclude", "*.o"]);
    let root = place.files().canonicalize().unwrap();
    let ask = |verb: &str, words: &[&str], path: &str| {
        run(scanns(&[verb]).arg(&part).args(words).arg(root.join(path)))
    };
    for (verb, words, path, code, left_out) in [
        ("find", &[][..], "tmp", 1, "tmp"),
        ("find", &[], "tmp/x/deep", 1, "tmp"),
        ("find", &[], "objects", 1, "objects"),
        ("find", &[], "objects/only.o", 1, "objects"),
        ("find", &[], "", 0, ""),
        ("find", &[], "a", 0, ""),
        ("du", &[], "tmp/x", 1, "tmp"),
        ("du", &[], "objects", 1, "objects"),
        ("du", &[], "", 0, ""),
        ("ls", &[], "tmp", 2, "tmp"),
        ("ls", &[], "objects", 1, "objects"),
        ("ls", &["-d"], "objects", 0, ""),
        ("ls", &["-R"], "", 0, ""),
        ("stat", &[], "tmp/y", 1, "tmp"),
        ("report", &[], "objects", 1, "objects"),
    ] {
        let ran = ask(verb, words, path);
        let context = format!("{verb} {words:?} {path}: {:?} {}", ran.code, ran.stderr);
        assert_eq!(ran.code, Some(code), "{context}");
        if left_out.is_empty() {
            assert!(!ran.stderr.contains("left out"), "{context}");
            continue;
        }
        let told = format!("{} was left out of the scan", root.join(left_out).display());
        assert!(ran.stderr.contains(&told), "{context}");
        if path.starts_with("tmp") {
            let missing = format!("{}: not in the index, since {told}\n", root.join(path).display());
            assert!(ran.stderr.contains(&missing), "{context}");
        }
        if verb != "stat" {
            let missing = format!("entries may be missing: {told}; scanns info ");
            assert!(ran.stderr.contains(&missing), "{context}");
        }
    }
    // A later scan of the place finds what it has.
    run(scanns(&["index", "-q", "--content", "none", "-o"]).arg(&part).arg(root.join("objects")));
    let ran = ask("ls", &[], "objects");
    assert_eq!((ran.code, ran.text()), (Some(0), "only.o\n"), "{}", ran.stderr);
}

#[test]
fn a_file_system_that_was_not_entered_does_not_look_like_an_empty_directory() {
    let place = Place::new();
    let device =
        |path: &str| fs::metadata(path).map(|found| std::os::unix::fs::MetadataExt::dev(&found)).ok();
    if device("/dev").is_none() || device("/dev/pts").is_none_or(|pts| Some(pts) == device("/dev")) {
        return skipped("a_file_system_that_was_not_entered", "/dev/pts is no file system of its own");
    }
    let index = place.dir.path().join("dev");
    let ran = run(scanns(&["index", "-q", "--content", "none", "-o"]).arg(&index).arg("/dev"));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    for (verb, words, code) in
        [("ls", &["/dev/pts"][..], 1), ("ls", &["/dev"], 0), ("find", &["/dev/pts"], 1)]
    {
        let ran = run(scanns(&[verb]).arg(&index).args(words));
        assert_eq!(ran.code, Some(code), "{}", ran.stderr);
        assert_eq!(ran.stderr.contains("/dev/pts was left out of the scan"), code == 1, "{}", ran.stderr);
    }
    for (words, code) in [(&["/dev/pts"][..], 0), (&["/dev/pts/0"], 1)] {
        let ran = run(scanns(&["stat"]).arg(&index).args(words));
        assert_eq!(ran.code, Some(code), "{}", ran.stderr);
        assert_eq!(ran.stderr.contains("left out"), code == 1, "{}", ran.stderr);
    }
}
