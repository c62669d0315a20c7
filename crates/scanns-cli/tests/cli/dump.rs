//! `scanns dump`: what it writes is read by scanns and by other tools.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::ls::{answer, make_tree, seeded};
use crate::{Place, run, scanns, skipped};

fn indexed_tree(count: usize) -> (Place, PathBuf) {
    let place = Place::new();
    let root = place.files().canonicalize().unwrap();
    make_tree(&mut seeded(), &root, count);
    place.indexed(&["--content", "none"]);
    (place, root)
}

/// Writes a dump of an index.
fn dumped(place: &Place, index: &Path, words: &[&str]) -> Vec<u8> {
    let path = place.dir.path().join("out.dump");
    let ran = run(scanns(&["dump"]).arg(index).args(words).arg("-o").arg(&path));
    assert_eq!(ran.code, Some(0), "{words:?} {}", ran.stderr);
    fs::read(&path).unwrap()
}

/// The index of a dump.
fn indexed(place: &Place, dump: &[u8], format: &str) -> PathBuf {
    let (path, index) = (place.dir.path().join("in.dump"), place.dir.path().join(format!("{format}.scanns")));
    fs::write(&path, dump).unwrap();
    let ran = run(scanns(&["index", "-q", "-o"]).arg(&index).arg(format!("--dump={format}")).arg(&path));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    index
}

#[test]
fn a_dump_of_the_index_of_a_dump_is_the_same_dump() {
    let (place, _) = indexed_tree(300);
    for format in ["find", "gufi", "ncdu", "paths0"] {
        let words = ["--format", format];
        let first = dumped(&place, &place.index(), &words);
        let index = indexed(&place, &first, format);
        // The time of the export of ncdu differs.
        let rest = |dump: &[u8]| dump[dump.iter().position(|byte| *byte == b'\n').unwrap_or(0)..].to_vec();
        let second = dumped(&place, &index, &words);
        assert!(rest(&first) == rest(&second), "{format}");
        let small = dumped(&place, &place.index(), &["--format", format, "--memory", "1KiB"]);
        assert!(rest(&first) == rest(&small), "{format} in little memory");
    }
    assert_eq!(
        fs::read_dir(place.dir.path())
            .unwrap()
            .filter(|entry| { entry.as_ref().unwrap().file_name().to_string_lossy().contains("sort") })
            .count(),
        0
    );
}

#[test]
fn values_that_are_not_known_stay_unknown() {
    let (place, _) = indexed_tree(60);
    let index = indexed(&place, &dumped(&place, &place.index(), &["--format", "paths0"]), "paths0");
    let dump = |index: &Path| run(scanns(&["dump"]).arg(index));
    let first = dump(&index);
    assert_eq!(first.code, Some(1));
    assert!(first.stderr.contains("-printf: the index does not know this of"), "{}", first.stderr);
    // The paths alone tell what is a directory.
    assert!(first.stdout.starts_with(b"d\t?\t?\t?\t?\t?\t"));
    let mut lines = first.stdout.split(|&byte| byte == b'\n');
    assert!(lines.any(|line| line.starts_with(b"?\t?\t?\t?\t?\t?\t")));
    let second = dump(&indexed(&place, &first.stdout, "find"));
    assert!(first.stdout == second.stdout);
}

#[test]
fn the_entries_are_those_that_find_prints() {
    let (place, root) = indexed_tree(200);
    let format = "%y\\t%s\\t%b\\t%m\\t%U\\t%u\\t%G\\t%g\\t%T@\\t%C@\\t%i\\t%n\\t%D\\t%l\\0%p\\0\\n";
    let rows = |bytes: &[u8]| {
        let mut rows: Vec<Vec<u8>> = bytes.split_inclusive(|byte| *byte == 0).map(<[u8]>::to_vec).collect();
        rows.sort();
        rows
    };
    let theirs = Command::new("find").arg(&root).args(["-printf", format]).output().unwrap().stdout;
    let ours = dumped(&place, &place.index(), &["--dump-format", format]);
    assert_eq!(rows(&ours), rows(&theirs));
    let theirs = Command::new("find").arg(&root).arg("-print0").output().unwrap().stdout;
    assert_eq!(rows(&dumped(&place, &place.index(), &["--format", "paths0"])), rows(&theirs));
}

#[test]
fn paths_are_relative_and_match_a_query() {
    let place = Place::with(&[("a/x.h5", "one"), ("a/b/y.h5", "two"), ("c/z.txt", "three")]);
    place.indexed(&["--content", "none"]);
    let root = place.files().canonicalize().unwrap();
    let list = |words: &[&str]| {
        let out = answer(scanns(&["dump"]).arg(place.index()).args(words), &root);
        (String::from_utf8(out.stdout).unwrap(), out.status.code(), String::from_utf8(out.stderr).unwrap())
    };
    let (text, code, _) = list(&["a", "--format", "paths", "--relative-to", "a", "--where", "ext:h5"]);
    assert_eq!((text.as_str(), code), ("b/y.h5\nx.h5\n", Some(0)));
    let (text, code, error) = list(&["--format", "paths", "--relative-to", "c"]);
    assert_eq!((text.as_str(), code), (".\nz.txt\n", Some(1)));
    assert!(error.contains("5 entries left out"), "{error}");
    let (text, code, error) = list(&["none", "--format", "paths"]);
    assert_eq!((text.as_str(), code), ("", Some(1)));
    assert!(error.contains("none: not in the index"), "{error}");
    let (text, code, _) = list(&["--format", "ncdu", "--where", "ext:txt"]);
    assert_eq!(code, Some(0));
    assert!(
        text.contains("/files/c\",\"asize\":") && text.contains("{\"name\":\"z.txt\",\"asize\":5"),
        "{text}"
    );
    for (words, expected) in [
        (&["--format", "ncdu", "--relative-to", "a"][..], "--relative-to is for paths"),
        (&["--format", "gufi", "--dump-format", "ab"], "one byte"),
        (&["--format", "paths", "--dump-format", "%p"], "leave it out"),
        (&["--dump-format", "%Z"], "security context"),
        (&["--where", "size:>"], "query"),
    ] {
        let (text, code, error) = list(words);
        assert_eq!((text.as_str(), code), ("", Some(2)), "{words:?} {error}");
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn names_with_line_feeds_are_counted_in_lists_of_lines() {
    let place = Place::with(&[("a\nb", "one")]);
    place.indexed(&["--content", "none"]);
    let ran = run(scanns(&["dump", "--format", "paths"]).arg(place.index()));
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("1 entry with a line feed in its path"), "{}", ran.stderr);
}

#[test]
fn missing_directories_are_made_up_and_told() {
    let place = Place::new();
    let index = indexed(&place, b"/r/a/b/c\0/r/d\0", "paths0");
    let path = place.dir.path().join("x.ncdu");
    let ran = run(scanns(&["dump", "--format", "ncdu", "-o"]).arg(&path).arg(&index));
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("3 directories of which the index has no entry"), "{}", ran.stderr);
    let text = fs::read_to_string(&path).unwrap();
    let rows = [r#",[{"name":"/r"},"#, r#"[{"name":"a"},"#, r#"[{"name":"b"},"#, r#"{"name":"c"}]],"#];
    let expected = rows.concat() + r#"{"name":"d"}]]"#;
    assert!(text.replace('\n', "").ends_with(&expected), "{text}");
}

#[test]
fn ncdu_and_gdu_load_an_export() {
    let (place, root) = indexed_tree(200);
    let path = place.dir.path().join("x.ncdu");
    let ran = run(scanns(&["dump", "--format", "ncdu", "-o"]).arg(&path).arg(place.index()));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    match Command::new("ncdu").args(["-0", "-e", "-f"]).arg(&path).args(["-o", "-"]).output() {
        Err(_) => skipped("ncdu_and_gdu_load_an_export", "there is no ncdu"),
        Ok(out) => {
            assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
            let names = |bytes: &[u8]| memchr_count(bytes, b"{\"name\":");
            assert_eq!(names(&out.stdout), names(&fs::read(&path).unwrap()));
        }
    }
    match Command::new("gdu").args(["-n", "-p", "-c", "-f"]).arg(&path).output() {
        Err(_) => skipped("ncdu_and_gdu_load_an_export", "there is no gdu"),
        Ok(out) => {
            assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
            let top = fs::read_dir(&root).unwrap().count();
            assert!(out.stdout.iter().filter(|byte| **byte == b'\n').count() >= top);
        }
    }
}

fn memchr_count(bytes: &[u8], part: &[u8]) -> usize {
    bytes.windows(part.len()).filter(|window| *window == part).count()
}
