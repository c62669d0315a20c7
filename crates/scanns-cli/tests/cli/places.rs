//! Paths on the command line: relative ones, ones with slashes at their ends, and ones that an index lacks.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::{Place, Ran, run, scanns, skipped};

/// What a verb says in the directory of the files.
fn ask(place: &Place, verb: &str, words: &[&str]) -> Ran {
    run(scanns(&[verb]).current_dir(place.files()).arg(place.index()).args(words))
}

#[test]
fn paths_are_found_relative_to_the_current_directory_and_with_slashes_at_their_ends() {
    let place = Place::with(&[("a/x.txt", "one"), ("a/b/y.txt", "one"), ("c/z", "three")]);
    place.indexed(&["--content", "none"]);
    let root = place.files().canonicalize().unwrap();
    let absolute = |path: &str| format!("{}/{path}", root.display());
    for path in ["a", "a/", "./a", "./a//", "../files/a"] {
        let found = ask(&place, "find", &[path, "-name", "*.txt"]);
        let start = path;
        let joined = if start.ends_with('/') { start.to_owned() } else { format!("{start}/") };
        let expected = format!("{joined}b/y.txt\n{joined}x.txt\n");
        assert_eq!((found.code, found.text()), (Some(0), expected.as_str()), "{path}: {}", found.stderr);
        let du = ask(&place, "du", &["--inodes", "-s", path]);
        assert_eq!((du.code, du.text()), (Some(0), format!("4\t{path}\n").as_str()), "{}", du.stderr);
        let by = ask(&place, "du", &["--inodes", "--by", "type", path]);
        assert_eq!((by.code, by.text()), (Some(0), "2\tdirectory\n2\tfile\n"), "{}", by.stderr);
        let report = ask(&place, "report", &["--format", "json", path]);
        assert_eq!(
            (report.code, &report.json()["top"]),
            (Some(0), &absolute("a").into()),
            "{}",
            report.stderr
        );
        let equal = ask(&place, "duplicates", &["--format", "csv", path]);
        assert_eq!((equal.code, equal.text().lines().count()), (Some(0), 3), "{}", equal.stderr);
        let dump = ask(&place, "dump", &["--format", "paths", path]);
        assert_eq!((dump.code, dump.text().lines().count()), (Some(0), 4), "{}", dump.stderr);
        let (index, none) = (place.index(), place.dir.path().join("none.dump"));
        fs::write(&none, absolute("none\n")).unwrap();
        let words = ["--dump=paths", "--only", "removed", "--below", path];
        let diff = run(scanns(&["diff"]).current_dir(&root).args(words).arg(&index).arg(&none));
        assert_eq!((diff.code, diff.text().lines().count()), (Some(1), 4), "{}", diff.stderr);
    }
    assert!(ask(&place, "find", &[".", "-maxdepth", "1"]).text().starts_with(".\n./a\n"));
}

#[test]
fn relative_paths_of_a_dump_are_found_as_they_are() {
    let place = Place::new();
    for (dump, paths) in [("d a\nf a/x\n", ["a", "a/", "./a"]), ("d ./a\nf ./a/x\n", ["a", "./a", "./a/"])] {
        let file = place.write("fs.dump", dump.as_bytes());
        let _ = fs::remove_dir_all(place.index());
        let form = ["index", "-q", "--dump=find", "--dump-format", "%y %p\\n", "-o"];
        assert_eq!(run(scanns(&form).arg(place.index()).arg(file)).code, Some(0));
        for path in paths {
            let found = ask(&place, "find", &[path, "-type", "f", "-printf", "%P\\n"]);
            assert_eq!((found.code, found.text()), (Some(0), "x\n"), "{dump} {path}: {}", found.stderr);
        }
    }
}

#[test]
fn a_path_that_the_index_lacks_is_told_with_one_that_it_has() {
    let place = Place::with(&[("a/x", "one")]);
    place.indexed(&["--content", "none"]);
    let root = place.files().canonicalize().unwrap();
    for verb in ["find", "du", "ls", "stat", "report", "duplicates", "dump"] {
        let elsewhere = |path: &str| run(scanns(&[verb]).current_dir("/").arg(place.index()).arg(path));
        let ran = elsewhere("nowhere/at/all");
        let note = format!("not in the index, whose paths are absolute, such as {}", root.display());
        assert!(ran.stderr.contains(&note), "{verb}: {}", ran.stderr);
        assert_eq!(ran.code, Some(if verb == "ls" { 2 } else { 1 }), "{verb}");
        let ran = elsewhere("/nowhere");
        assert!(ran.stderr.contains("not in the index, which has paths such as /"), "{verb}: {}", ran.stderr);
        let near = elsewhere(&format!("{}/none", root.display()));
        assert!(near.stderr.contains("none: not in the index\n"), "{verb}: {}", near.stderr);
    }
}

#[test]
fn an_index_of_text_says_that_it_has_files_alone() {
    let place = Place::with(&[("a/x.txt", "one")]);
    place.indexed(&[]);
    let found = ask(&place, "find", &["-type", "d"]);
    let note = "the index has regular files alone: scanns index --content none";
    assert!(found.code == Some(0) && found.stderr.contains(note), "{}", found.stderr);
    for words in [&["-type", "f"][..], &["-name", "*.txt"], &["-type", "f,d"]] {
        assert_eq!(ask(&place, "find", words).stderr, "", "{words:?}");
    }
    assert!(ask(&place, "du", &["b"]).stderr.contains("b: not in the index, which has regular files alone"));
}

#[test]
fn a_directory_without_an_entry_stands_for_what_is_in_it() {
    let place = Place::with(&[("a/b/x.txt", "one"), ("a/c/y.txt", "three"), ("d/z.txt", "two")]);
    place.indexed(&[]);
    let note =
        |path: &str| format!("scanns: {path}: the index has regular files alone: scanns index --content");
    for path in ["a", "./a/"] {
        let found = ask(&place, "find", &[path, "-printf", "%P %d\\n"]);
        assert_eq!((found.code, found.text()), (Some(0), "b/x.txt 2\nc/y.txt 2\n"), "{}", found.stderr);
        assert!(found.stderr.starts_with(&note(path)), "{}", found.stderr);
        let found = ask(&place, "find", &[path, "-maxdepth", "1"]);
        assert_eq!((found.code, found.text()), (Some(0), ""), "{}", found.stderr);
    }
    let used = ask(&place, "du", &["-b", "a", "d"]);
    assert_eq!((used.code, used.text()), (Some(0), "3\ta/b\n5\ta/c\n8\ta\n3\td\n"), "{}", used.stderr);
    assert!(used.stderr.starts_with(&note("a")) && used.stderr.contains(&note("d")), "{}", used.stderr);
    let used = ask(&place, "du", &["-s", "--inodes", "."]);
    assert_eq!((used.code, used.text()), (Some(0), "3\t.\n"), "{}", used.stderr);
    let found = ask(&place, "find", &["a/none"]);
    assert!(found.code == Some(1) && found.stderr.contains("a/none: not in the index"), "{}", found.stderr);
}

#[test]
fn globs_with_slashes_exclude_and_one_that_matches_nothing_is_told() {
    for content in ["none", "text"] {
        let place = Place::with(&[("t/deep/x.c", "one"), ("t/y.c", "two"), ("deep", "three")]);
        for (glob, expected) in [
            ("t/deep", &["deep", "y.c"][..]),
            ("./t/deep", &["deep", "y.c"]),
            ("deep/", &["deep", "y.c"]),
            ("deep", &["y.c"]),
            ("t/*.c", &["deep"]),
        ] {
            let _ = fs::remove_dir_all(place.index());
            let ran = place.indexed(&["--content", content, "--exclude", glob]);
            assert!(!ran.stderr.contains("--exclude"), "{glob}: {}", ran.stderr);
            assert_eq!(place.found(&["type:file"]), expected, "{glob} {content}");
        }
        let _ = fs::remove_dir_all(place.index());
        let globs = ["--exclude", "*.o", "--exclude", "*.c", "--include", "none/"];
        let ran = place.indexed(&[&["--content", content][..], &globs].concat());
        for glob in ["--exclude *.o", "--include none/"] {
            let note = format!("{glob}: nothing that was looked at matches this");
            assert!(ran.stderr.contains(&note), "{note}: {}", ran.stderr);
        }
        assert!(!ran.stderr.contains("*.c"), "{}", ran.stderr);
    }
}

#[test]
fn columns_that_are_not_used_are_told_without_the_summary_too() {
    let place = Place::new();
    let table = place.write("files.csv", b"path,size,shoe\n/r/a,1,x\n/r/a,2,y\n");
    let ran = run(scanns(&["index", "-q", "--dump=csv", "-o"]).arg(place.index()).arg(table));
    assert!(ran.stderr.contains("columns are not used (--map changes it):\n"), "{}", ran.stderr);
    assert!(ran.stderr.contains("not used: shoe"), "{}", ran.stderr);
    let kept = "1 entry left out, with the path of another one: of equal paths the one indexed last is kept";
    assert!(ran.stderr.contains(kept), "{}", ran.stderr);
    assert_eq!(ask(&place, "find", &["-printf", "%s\\n"]).text(), "2\n");
}

#[test]
fn mistakes_in_formats_and_options_name_what_to_do() {
    let place = Place::with(&[("rows.txt", "a z x\n1 x\n"), ("a.txt", "one")]);
    let rows = place.files().join("rows.txt");
    let index = |words: &[&str]| run(scanns(&["index", "-o"]).arg(place.index()).args(words).arg(&rows));
    let ran = index(&["--dump"]);
    assert!(ran.code == Some(2) && ran.stderr.contains("--dump-preview 3 shows"), "{}", ran.stderr);
    let ran = index(&["--dump", "--dump-format", "%s %i %p\\n"]);
    assert!(ran.stderr.contains("the first row, at byte 0, is 'a z x'"), "{}", ran.stderr);
    let ran = index(&["--dump", "--dump-format", "%s %p\\n"]);
    assert!(ran.stderr.contains("read as find: --dump and --dump-format say"), "{}", ran.stderr);
    for (verb, option) in [("index", "-L"), ("ls", "-L"), ("du", "--follow"), ("search", "-L")] {
        let ran = run(&mut scanns(&[verb, option, "x"]));
        let is_plain = ran.stderr.contains("unexpected argument") && !ran.stderr.contains("'-- ");
        assert!(ran.code == Some(2) && is_plain, "{}", ran.stderr);
    }
    let ran = place.indexed(&["--content", "none"]);
    assert_eq!(ran.code, Some(0));
    let report = ask(&place, "report", &["-o", "r.xls"]);
    let known = "r.xls: the name does not say the format: let it end in .html, .csv, .json, .parquet or .txt";
    assert!(report.code == Some(2) && report.stderr.contains(known), "{}", report.stderr);
    let ran = place.index_with(&["--content", "text"]);
    assert!(ran.stderr.contains("was built with --content none: give that"), "{}", ran.stderr);
    let ran = ask(&place, "export", &["name:zebra"]);
    assert!(ran.code == Some(1) && ran.stderr.contains("nothing matches the query"), "{}", ran.stderr);
}

#[test]
fn devices_have_their_numbers_and_other_entries_have_zeros() {
    let test = "devices_have_their_numbers_and_other_entries_have_zeros";
    if !Path::new("/dev/null").exists() {
        return skipped(test, "there is no /dev/null");
    }
    let place = Place::with(&[("a", "one")]);
    let built = run(scanns(&["index", "-q", "--content", "none", "-o"])
        .arg(place.index())
        .arg("/dev/null")
        .arg(place.files()));
    assert_eq!(built.code, Some(0), "{}", built.stderr);
    let listed = ask(&place, "ls", &["-l", "/dev/null"]);
    let is_shown = listed.text().starts_with("crw") && listed.text().contains(" 1, 3 ");
    assert!(listed.code == Some(0) && is_shown, "{} {}", listed.text(), listed.stderr);
    let found = ask(&place, "find", &["/dev/null", "-ls"]);
    let is_shown = found.text().contains("   1,   3 ");
    assert!(found.code == Some(0) && is_shown, "{} {}", found.text(), found.stderr);
    let numbers = ask(&place, "stat", &["-c", "%t %T %r %Hr %Lr %R", "/dev/null"]);
    assert_eq!((numbers.code, numbers.text()), (Some(0), "1 3 259 1 3 103\n"), "{}", numbers.stderr);
    let zeros = ask(&place, "stat", &["-c", "%t %T %r", "a"]);
    assert_eq!((zeros.code, zeros.text()), (Some(0), "0 0 0\n"), "{}", zeros.stderr);
}

#[test]
fn devices_are_listed_as_ls_find_and_stat_list_them() {
    let test = "devices_are_listed_as_ls_find_and_stat_list_them";
    let place = Place::with(&[("file", "one")]);
    for words in [["c", "c", "1", "3"], ["b", "b", "259", "70000"], ["d", "c", "4000", "5"]] {
        let made = Command::new("mknod").current_dir(place.files()).args(words).output();
        if !made.is_ok_and(|made| made.status.success()) {
            return skipped(test, "mknod is not there, or may make no devices");
        }
    }
    place.indexed(&["--content", "none"]);
    let theirs = |program: &str, words: &[&str]| -> Vec<String> {
        let out =
            Command::new(program).current_dir(place.files()).env("TZ", "UTC").args(words).output().unwrap();
        String::from_utf8(out.stdout).unwrap().lines().map(str::to_owned).collect()
    };
    let ours = |verb: &str, words: &[&str]| -> Vec<String> {
        let ran =
            run(scanns(&[verb]).current_dir(place.files()).env("TZ", "UTC").arg(place.index()).args(words));
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        ran.text().lines().map(str::to_owned).collect()
    };
    let words = ["-l", "--time-style=+%F"];
    assert_eq!(ours("ls", &[&words[..], &["."]].concat()), theirs("ls", &words));
    let words = ["-c", "%t %T %r %R %Hr %Lr %n", "b", "c", "d", "file"];
    assert_eq!(ours("stat", &words), theirs("stat", &words));
    for name in ["b", "c", "d"] {
        assert_eq!(ours("find", &[name, "-ls"]), theirs("find", &[name, "-ls"]));
    }
}

#[test]
fn device_numbers_that_a_dump_does_not_tell_are_named() {
    let place = Place::with(&[("a", "one")]);
    place.write("devices.txt", b"b 0 0 6660 1 2 1 2 1.5 1.5 1.5 5 1 9 /dev/disk\n");
    let dump = place.files().join("devices.txt");
    let format = "%y %s %b %m %U %u %G %g %T@ %A@ %C@ %i %n %D %p\\n";
    let built = run(scanns(&["index", "-q", "--dump=find", "--dump-format", format, "-o"])
        .arg(place.index())
        .arg(dump));
    assert_eq!(built.code, Some(0), "{}", built.stderr);
    let found = ask(&place, "find", &["/dev/disk", "-ls"]);
    assert!(found.code == Some(1) && found.text().contains("  ?,   ? "), "{} {}", found.text(), found.stderr);
    assert!(found.stderr.contains("-ls: the index does not know this of 1 entry"), "{}", found.stderr);
    let unknown = ask(&place, "stat", &["-c", "%t", "/dev/disk"]);
    assert_eq!((unknown.code, unknown.text()), (Some(1), "?\n"));
    assert!(unknown.stderr.contains("device numbers: the index does not know"), "{}", unknown.stderr);
}

#[test]
fn sums_of_differences_count_levels_below_the_top_of_the_trees() {
    let place = Place::with(&[("a/b/c/x", "one"), ("d/y", "two")]);
    place.indexed(&["--content", "none"]);
    let old = place.dir.path().join("old.scanns");
    fs::rename(place.index(), &old).unwrap();
    for name in ["a/b/c/new", "a/new", "d/new"] {
        place.write(name, b"1");
    }
    place.indexed(&["--content", "none"]);
    let root = place.files().canonicalize().unwrap();
    let directories = |more: &[&str]| -> Vec<String> {
        let words = ["--summary", "--only", "added"];
        let ran =
            run(scanns(&["diff"]).current_dir(&root).args(words).args(more).arg(&old).arg(place.index()));
        let rows = ran.text().lines().filter_map(|line| line.strip_prefix("directory\t"));
        let path = |row: &str| row.split('\t').next().unwrap().replace(&format!("{}/", root.display()), "");
        rows.map(path).collect()
    };
    assert_eq!(directories(&["--depth", "1"]), ["a", "d"]);
    assert_eq!(directories(&[]), ["a", "a/b", "d"]);
    assert_eq!(directories(&["--depth", "1", "--below", "a"]), ["a/b"]);
}
