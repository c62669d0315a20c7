//! Imported dumps: directories of lists without types, what a dump does not tell, directories that were not
//! read, and relative paths.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use serde_json::json;

use crate::{Place, Ran, humble, run, scanns, skipped};

const PATHS: &str = "t\nt/a\nt/a/b\nt/a/b/c.txt\nt/a-b\nt/e\n";

/// Imports the text as a dump, with these words.
fn import(place: &Place, index: &str, text: &str, words: &[&str]) -> Ran {
    let dump = place.dir.path().join("in.dump");
    fs::write(&dump, text).unwrap();
    run(scanns(&["index", "-o"]).arg(place.dir.path().join(index)).args(words).arg(&dump))
}

/// Runs a verb on an index.
fn ask(place: &Place, verb: &str, index: &str, words: &[&str]) -> Ran {
    run(scanns(&[verb]).arg(place.dir.path().join(index)).args(words).current_dir(place.dir.path()))
}

#[test]
fn a_list_of_paths_tells_its_directories_and_all_answers_agree() {
    let place = Place::new();
    // The second index gets the parents after their entries, and in another commit.
    let (below, above): (Vec<&str>, Vec<&str>) =
        PATHS.split_inclusive('\n').rev().partition(|path| path.contains("b/c"));
    for (index, parts) in
        [("one.scanns", vec![PATHS.to_owned()]), ("two.scanns", vec![below.concat(), above.concat()])]
    {
        for part in &parts {
            let ran = import(&place, index, part, &["--dump=paths"]);
            let note = "in.dump: no row has type, size, mtime or owner: -type, du, duplicates, -mtime and \
                        -user cannot be answered from it";
            assert!(ran.code == Some(0) && ran.stderr.contains(note), "{}", ran.stderr);
        }
        let found = ask(&place, "find", index, &["t", "-type", "d"]);
        assert_eq!(found.text(), "t\nt/a\nt/a/b\n", "{index}");
        assert!(
            found.stderr.contains("-type: the index does not know this of 3 entries"),
            "{}",
            found.stderr
        );
        let found = ask(&place, "search", index, &["type:directory", "--count"]);
        assert_eq!(found.text().trim(), "3", "{index}");
        let report = ask(&place, "report", index, &["--format", "json"]).json();
        assert_eq!(report["totals"]["directories"]["entries"], 3, "{index}");
        assert_eq!(report["empty_directories"]["count"], 0, "{index}");
        assert_eq!(
            ask(&place, "du", index, &["--inodes", "t"]).text(),
            "2\tt/a/b\n3\tt/a\n6\tt\n",
            "{index}"
        );
        let all = "1\tt/a-b\n1\tt/a/b/c.txt\n2\tt/a/b\n3\tt/a\n1\tt/e\n6\tt\n";
        let mut lines: Vec<String> =
            ask(&place, "du", index, &["--inodes", "-a", "t"]).text().lines().map(str::to_owned).collect();
        let mut expected: Vec<&str> = all.lines().collect();
        lines.sort();
        expected.sort_unstable();
        assert_eq!(lines, expected, "{index}");
        assert_eq!(ask(&place, "ls", index, &["-p", "t"]).text(), "a/\na-b\ne\n", "{index}");
        assert!(ask(&place, "stat", index, &["-c", "%F", "t/a/b"]).text().contains("directory"), "{index}");
    }
}

#[test]
fn what_needs_sizes_says_so_if_there_are_none() {
    let place = Place::new();
    import(&place, "a.scanns", PATHS, &["--dump=paths"]);
    for words in [&["t"][..], &["-s", "t"], &["-b", "t"], &["-c", "t"], &["--by", "ext", "t"]] {
        let ran = ask(&place, "du", "a.scanns", words);
        assert_eq!((ran.code, ran.text()), (Some(1), ""), "{words:?}");
        assert!(ran.stderr.contains("the index has no sizes"), "{words:?} {}", ran.stderr);
    }
    let ran = ask(&place, "duplicates", "a.scanns", &[]);
    assert_eq!((ran.code, ran.text()), (Some(1), ""));
    assert!(ran.stderr.contains("the index has no sizes"), "{}", ran.stderr);
    // Some sizes are known.
    let words = ["--dump=find", "--dump-format", r"%p\t%s\n"];
    import(&place, "a.scanns", "t/a/b/c.txt\t5000\nt/a/d\t3\n", &words);
    let ran = ask(&place, "du", "a.scanns", &["-b", "t"]);
    assert_eq!((ran.code, ran.text()), (Some(1), "5000\tt/a/b\n5003\tt/a\n5003\tt\n"));
    assert_eq!(ask(&place, "du", "a.scanns", &["-bs", "t"]).text(), "5003\tt\n");
    let note = "the index does not know the size of 2 files, which count nothing; the first is t/a-b";
    assert!(ran.stderr.contains(note), "{}", ran.stderr);
    let ran = ask(&place, "duplicates", "a.scanns", &[]);
    assert_eq!(ran.code, Some(1));
    let note = "2 files were not compared, because the index does not know their sizes; the first is t/a-b";
    assert!(ran.stderr.contains(note), "{}", ran.stderr);
}

#[test]
fn files_of_a_dump_without_types_are_compared() {
    let place = Place::with(&[("a", "same words"), ("b", "same words"), ("c", "other word")]);
    assert!(Command::new("mkfifo").arg(place.files().join("pipe")).status().unwrap().success());
    let found = Command::new("find").arg(place.files()).args(["-printf", r"%p\t%s\n"]).output().unwrap();
    let text = String::from_utf8(found.stdout).unwrap();
    import(&place, "a.scanns", &text, &["--dump=find", "--dump-format", r"%p\t%s\n"]);
    let ran = ask(&place, "duplicates", "a.scanns", &["-0"]);
    let root = place.files();
    let expected = format!("{0}/a\0{0}/b\0\0", root.display());
    assert_eq!((ran.code, ran.text()), (Some(0), expected.as_str()), "{}", ran.stderr);
}

/// An export of ncdu with a directory that could not be read and an empty one.
const UNREAD: &str = concat!(
    r#"[1,2,{"progname":"ncdu","progver":"1.19","timestamp":1},"#,
    r#"[{"name":"/r","asize":1,"dsize":4096},[{"name":"empty","asize":1,"dsize":4096}],"#,
    r#"[{"name":"secret","asize":1,"dsize":4096,"read_error":true}],{"name":"f","asize":1,"dsize":512}]]"#
);

/// What all verbs say about a directory `secret` that could not be read and an empty one below `root`.
fn check_unread(place: &Place, root: &str) {
    let secret = format!("{root}/secret");
    let ran = ask(place, "find", "a.scanns", &[root, "-empty"]);
    assert_eq!((ran.code, ran.text()), (Some(1), format!("{root}/empty\n").as_str()), "{}", ran.stderr);
    let note = format!("-empty: the index does not know this of 1 entry; the first is {secret}");
    assert!(ran.stderr.contains(&note), "{}", ran.stderr);
    let report = ask(place, "report", "a.scanns", &["--format", "json"]).json();
    assert_eq!(
        report["empty_directories"],
        json!({ "count": 1, "first": [{ "path": format!("{root}/empty") }] })
    );
    assert_eq!(report["unread_directories"], json!({ "count": 1, "first": [{ "path": secret }] }));
    let ran = ask(place, "ls", "a.scanns", &[&secret]);
    assert_eq!((ran.code, ran.text()), (Some(1), ""));
    assert!(
        ran.stderr.contains(&format!("{secret}: could not be read when it was indexed: ")),
        "{}",
        ran.stderr
    );
    let ran = ask(place, "ls", "a.scanns", &[&format!("{root}/empty")]);
    assert!(!ran.stderr.contains("when it was indexed"), "{}", ran.stderr);
}

#[test]
fn a_directory_that_a_dump_could_not_read_is_not_empty() {
    let place = Place::new();
    import(&place, "a.scanns", UNREAD, &["--dump"]);
    check_unread(&place, "/r");
}

#[test]
fn a_directory_that_a_scan_could_not_read_is_not_empty_until_it_is_read() {
    let place = Place::with(&[("f", "x"), ("secret/deep", "y")]);
    let root = place.files().canonicalize().unwrap();
    fs::create_dir(root.join("empty")).unwrap();
    fs::set_permissions(root.join("secret"), PermissionsExt::from_mode(0o000)).unwrap();
    let scan = ["index", "-q", "--content", "none", "-o"];
    let Some(mut humble) = humble() else {
        return skipped("a_directory_that_a_scan_could_not_read_is_not_empty_until_it_is_read", "no setpriv");
    };
    let ran = run(humble.args(scan).arg(place.index()).arg(&root));
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    check_unread(&place, root.to_str().unwrap());
    fs::set_permissions(root.join("secret"), PermissionsExt::from_mode(0o700)).unwrap();
    run(scanns(&scan).arg(place.index()).arg(root.join("secret")));
    let ran = ask(&place, "find", "a.scanns", &[root.to_str().unwrap(), "-empty"]);
    assert_eq!(ran.text(), format!("{}/empty\n", root.display()));
    assert!(!ran.stderr.contains("-empty"), "{}", ran.stderr);
}

#[test]
fn absolute_and_relative_paths_in_one_index_are_told() {
    let place = Place::with(&[("a", "x"), ("d/b", "y")]);
    let root = place.files().canonicalize().unwrap();
    place.indexed(&["--content", "none"]);
    let found =
        Command::new("find").arg(".").args(["-printf", r"%y %s %p\n"]).current_dir(&root).output().unwrap();
    let text = String::from_utf8(found.stdout).unwrap();
    let words = ["--dump=find", "--dump-format", r"%y %s %p\n"];
    let ran = import(&place, "a.scanns", &text, &words);
    let note = format!("the index has absolute paths such as {} and relative ones such as .", root.display());
    assert!(ran.code == Some(0) && ran.stderr.contains(&note), "{}", ran.stderr);
    assert!(ran.stderr.contains("--dump-root DIR"), "{}", ran.stderr);
    let ran = place.indexed(&["--content", "none"]);
    assert!(ran.stderr.contains("absolute paths such as"), "{}", ran.stderr);
    // With the directory of the dump, its entries are those of the scan.
    let again = place.dir.path().join("b.scanns");
    run(scanns(&["index", "-q", "--content", "none", "-o"]).arg(&again).arg(&root));
    let words = [&words[..], &["--dump-root", root.to_str().unwrap()]].concat();
    let ran = import(&place, "b.scanns", &text, &words);
    assert!(ran.code == Some(0) && !ran.stderr.contains("relative"), "{}", ran.stderr);
    let mut paths: Vec<String> = ask(&place, "find", "b.scanns", &[root.to_str().unwrap()])
        .text()
        .lines()
        .map(str::to_owned)
        .collect();
    paths.sort();
    let expected = ["", "/a", "/d", "/d/b"].map(|path| format!("{}{path}", root.display()));
    assert_eq!(paths, expected);
    // Addresses are not relative.
    let ran = import(&place, "b.scanns", "s3://bucket/a\ns3://bucket/b/c\n", &["--dump=paths"]);
    assert!(!ran.stderr.contains("relative"), "{}", ran.stderr);
}

#[test]
fn the_root_of_a_dump_is_put_before_the_paths_of_every_format() {
    let place = Place::new();
    let ncdu = UNREAD.replace(r#""/r""#, r#"".""#);
    let dumps: [(&str, &str, &str); 6] = [
        ("paths", "", ".\n./a\n./d\n./d/b\n"),
        ("paths0", "", ".\0a\0d\0d/b\0"),
        ("find", r"%y %p\n", "d .\nf ./a\nd ./d\nf ./d/b\n"),
        ("csv", "", "path,type\n.,directory\n./a,file\nd,directory\nd/b,file\n"),
        ("jsonl", "", "{\"path\":\".\"}\n{\"path\":\"./a\"}\n{\"path\":\"d\"}\n{\"path\":\"d/b\"}\n"),
        (
            "mtree",
            "",
            "#mtree\n. type=dir\n    a type=file\n    d type=dir\n        b type=file\n    ..\n..\n",
        ),
    ];
    for (format, details, text) in dumps {
        let (index, name) = (format!("{format}.scanns"), format!("--dump={format}"));
        let mut words = vec!["-q", "--dump-root", "/data/x", &name];
        words.extend(["--dump-format", details].iter().filter(|_| !details.is_empty()));
        let ran = import(&place, &index, text, &words);
        assert_eq!(ran.code, Some(0), "{format} {}", ran.stderr);
        let found = ask(&place, "find", &index, &["/data/x"]);
        assert_eq!(found.text(), "/data/x\n/data/x/a\n/data/x/d\n/data/x/d/b\n", "{format}");
        let found = ask(&place, "find", &index, &["/data/x", "-type", "d"]);
        assert_eq!(found.text(), "/data/x\n/data/x/d\n", "{format}");
    }
    // What was not read is below the root, too: it stays in the index.
    let dump = |text: &str| import(&place, "n.scanns", text, &["--dump=ncdu", "--dump-root", "/data"]);
    dump(&ncdu.replace(r#","read_error":true}"#, r#"},{"name":"old","asize":1}"#));
    let ran = dump(&ncdu);
    assert!(ran.stderr.contains("the first is /data/secret: "), "{}", ran.stderr);
    let found = ask(&place, "find", "n.scanns", &["/data", "-name", "old"]);
    assert_eq!(found.text(), "/data/secret/old\n");
}
