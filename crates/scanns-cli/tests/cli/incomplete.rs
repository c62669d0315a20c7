//! Indexes and dumps that lack entries: the answers say so, and exit with 1 where it matters to the question.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::{Place, Ran, humble, run, scanns, skipped};

/// A tree of which two directories could not be read.
const GAPS: &str = r#"[1,2,{"progname":"ncdu"},[{"name":"/r"},
[{"name":"a"},{"name":"f","asize":10}],
[{"name":"locked","read_error":true}],
[{"name":"b"},[{"name":"deep","read_error":true}],{"name":"other","excluded":"othfs"}]]]"#;

/// What the directories have, and one more.
const WHOLE: &[u8] =
    b"d /r\nd /r/a\nf /r/a/f\nf /r/a/gone\nd /r/locked\nf /r/locked/x\nd /r/b\nd /r/b/deep\n\
                       f /r/b/deep/y\n";

/// The place, the dump and its index, and those of the tree without gaps.
fn trees() -> (Place, [PathBuf; 2], [PathBuf; 2]) {
    let place = Place::new();
    let dumps = [place.write("gaps.ncdu", GAPS.as_bytes()), place.write("whole.dump", WHOLE)];
    let indexes = ["gaps.scanns", "whole.scanns"].map(|name| place.dir.path().join(name));
    let built = run(scanns(&["index", "-q", "--dump=ncdu", "-o"]).arg(&indexes[0]).arg(&dumps[0]));
    let told = "the dump says that 2 paths could not be read; the first is /r/locked: ";
    assert!(built.code == Some(1) && built.stderr.contains(told), "{:?} {}", built.code, built.stderr);
    assert!(built.stderr.contains("leaves out 1 path on purpose; the first is /r/b/other: "));
    let form = ["--dump=find", "--dump-format", "%y %p\\n", "-o"];
    let built = run(scanns(&["index", "-q"]).args(form).arg(&indexes[1]).arg(&dumps[1]));
    assert_eq!(built.code, Some(0), "{}", built.stderr);
    (place, dumps, indexes)
}

fn ask(verb: &str, index: &Path, more: &[&str]) -> Ran {
    run(scanns(&[verb]).arg(index).args(more))
}

#[test]
fn the_exit_code_is_1_where_something_that_was_asked_for_could_not_be_read() {
    let (place, _, [gaps, whole]) = trees();
    let page = place.dir.path().join("page.html");
    let page = page.to_str().unwrap();
    for (verb, more, first) in [
        ("find", &["/r"][..], Some("2 paths could not be read; the first is /r/locked")),
        ("find", &[], Some("2 paths could not be read; the first is /r/locked")),
        ("find", &["/r/b"], Some("missing: /r/b/deep could not be read")),
        ("find", &["/r/b", "-maxdepth", "1"], None),
        ("find", &["/r/a"], None),
        ("du", &["/r/b"], Some("missing: /r/b/deep could not be read")),
        ("du", &["/r/a"], None),
        ("ls", &["/r"], None),
        ("ls", &["-R", "/r"], Some("2 paths could not be read")),
        ("ls", &["/r/locked"], Some("missing: /r/locked could not be read")),
        ("ls", &["-d", "/r/locked"], None),
        ("report", &["/r/a"], None),
        ("report", &[], Some("2 paths could not be read; the first is /r/locked")),
        ("report", &["-o", page], Some("2 paths could not be read; the first is /r/locked")),
        ("dump", &["/r/a", "--format", "paths"], None),
        ("dump", &["/r/b", "--format", "paths"], Some("missing: /r/b/deep could not be read")),
        ("duplicates", &["/r/b"], Some("missing: /r/b/deep could not be read")),
        ("duplicates", &["/r/a"], None),
        ("export", &[], Some("2 paths could not be read; the first is /r/locked")),
        ("stat", &["--format", "%n", "/r/locked"], None),
        ("stat", &["/r/locked/x"], Some("missing: /r/locked could not be read")),
    ] {
        let ran = ask(verb, &gaps, more);
        let context = format!("{verb} {more:?}: {:?} {}", ran.code, ran.stderr);
        assert_eq!(ran.code, Some(i32::from(first.is_some())), "{context}");
        match first {
            Some(first) => assert!(ran.stderr.contains(first) && ran.stderr.contains("--completeness")),
            None => assert!(!ran.stderr.contains("could not be read"), "{context}"),
        }
    }
    let text = fs::read_to_string(page).unwrap();
    assert!(
        text.contains("role=\"note\">entries may be missing: 2 paths could not be read; the first is /r/lo")
    );
    let ran = ask("report", &whole, &["--format", "html"]);
    assert!(ran.code == Some(0) && !ran.text().contains("role=\"note\""), "{}", ran.stderr);
}

#[test]
fn a_search_tells_what_the_index_lacks_and_ends_as_ever() {
    let (place, _, [gaps, whole]) = trees();
    let queries = place.write("queries", b"name:f\n");
    for (words, code) in [
        (&["name:f"][..], 0),
        (&["name:f", "--count"], 0),
        (&["name:none"], 1),
        (&["--queries", queries.to_str().unwrap()], 0),
    ] {
        let told = "missing: 2 paths could not be read; the first is /r/locked: ";
        let ran = ask("search", &gaps, words);
        assert_eq!(ran.code, Some(code), "{words:?} {}", ran.stderr);
        assert!(ran.stderr.matches(told).count() == 1, "{words:?} {}", ran.stderr);
        let ran = ask("search", &whole, words);
        assert!(ran.code == Some(code) && !ran.stderr.contains("missing"), "{words:?} {}", ran.stderr);
    }
}

#[test]
fn entries_where_a_tree_could_not_be_read_are_neither_removed_nor_added() {
    let (_place, dumps, indexes) = trees();
    let details = ["--dump-format", "%y %p\\n", "--ignore", "size"];
    for (gaps, whole, more) in [(&indexes[0], &indexes[1], &details[2..]), (&dumps[0], &indexes[1], &[])] {
        let diff = |one: &Path, other: &Path, other_options: &[&str]| {
            run(scanns(&["diff"]).arg(one).arg(other).args(more).args(other_options))
        };
        let ran = diff(whole, gaps, &[]);
        let lines = "- /r/a/gone\n? /r/b/deep/y  not seen in NEW\n? /r/locked/x  not seen in NEW\n";
        assert_eq!((ran.code, ran.text()), (Some(1), lines), "{}", ran.stderr);
        assert!(ran.stderr.contains("1 removed, 0 moved, 0 changed, 2 not seen, "), "{}", ran.stderr);
        let note = "2 entries of OLD may be in ";
        assert!(
            ran.stderr.contains(note) && ran.stderr.contains("such place is /r/b/deep"),
            "{}",
            ran.stderr
        );
        let back = diff(gaps, whole, &[]);
        let lines = "+ /r/a/gone\n? /r/b/deep/y  not seen in OLD\n? /r/locked/x  not seen in OLD\n";
        assert_eq!(back.text(), lines, "{}", back.stderr);
        let only = diff(whole, gaps, &["--only", "removed"]);
        assert_eq!(only.text(), "- /r/a/gone\n");
        let nul = diff(whole, gaps, &["-0", "--only", "unseen"]);
        assert_eq!(nul.text(), "? /r/b/deep/y\0? /r/locked/x\0");
        let csv = diff(whole, gaps, &["--format", "csv", "--only", "unseen"]);
        assert_eq!(csv.text().lines().nth(1), Some("unseen,/r/b/deep/y,,file,,,,,"));
        let json = diff(whole, gaps, &["--format", "json", "--only", "unseen"]);
        let first: Value = serde_json::from_str(json.text().lines().next().unwrap()).unwrap();
        assert_eq!((&first["kind"], &first["path"]), (&"unseen".into(), &"/r/b/deep/y".into()));
        let sums = diff(whole, gaps, &["--summary"]);
        assert_eq!(sums.text().lines().nth(1), Some("total\t\t0\t1\t-1\t0\t0\t0\t2\t0"));
        let below = diff(whole, gaps, &["--below", "/r/a", "--only", "added"]);
        assert!(below.text().is_empty(), "{}", below.text());
    }
}

#[test]
fn a_comparison_without_differences_exits_with_1_if_something_could_not_be_read() {
    let (_place, _, [gaps, whole]) = trees();
    let same = run(scanns(&["diff"]).arg(&gaps).arg(&gaps));
    assert!(same.code == Some(1) && same.text().is_empty(), "{:?} {}", same.code, same.stderr);
    assert!(same.stderr.contains("2 paths could not be read"), "{}", same.stderr);
    let below = run(scanns(&["diff", "--below", "/r/a"]).arg(&gaps).arg(&gaps));
    assert_eq!((below.code, below.stderr.as_str()), (Some(0), ""));
    let nothing = run(scanns(&["diff", "--below", "/r/none"]).arg(&whole).arg(&whole));
    assert_eq!(nothing.code, Some(1));
    assert_eq!(nothing.stderr, "scanns: /r/none: neither OLD nor NEW has anything at or below this path\n");
}

#[test]
fn a_dump_for_ncdu_says_what_could_not_be_read() {
    let (place, _, [gaps, _]) = trees();
    let ran = ask("dump", &gaps, &["--format", "ncdu"]);
    assert_eq!(ran.code, Some(1));
    assert_eq!(ran.text().matches("\"read_error\":true").count(), 2, "{}", ran.text());
    assert!(ran.text().contains("[{\"name\":\"locked\",\"read_error\":true}]"), "{}", ran.text());
    let again = place.write("again.ncdu", &ran.stdout);
    let index = place.dir.path().join("again.scanns");
    let built = run(scanns(&["index", "-q", "--dump=ncdu", "-o"]).arg(&index).arg(&again));
    assert!(built.stderr.contains("2 paths could not be read"), "{}", built.stderr);
}

#[test]
fn a_scan_that_was_stopped_counts_everywhere_below_it() {
    let place = Place::with(&[("a/f.txt", "one"), ("b/g.txt", "two")]);
    let ran = place.index_with(&["--content", "none", "--time-limit", "1s", "--max-ops", "1"]);
    assert_eq!(ran.code, Some(130), "{}", ran.stderr);
    let root = place.files().canonicalize().unwrap();
    let found = ask("find", &place.index(), &[]);
    let note = format!("entries may be missing: the scan of {} was stopped; scanns info ", root.display());
    assert!(found.code == Some(1) && found.stderr.contains(&note), "{:?} {}", found.code, found.stderr);
}

/// The names of directories that find and the report take for empty, and for unknown.
fn empty_and_unknown(index: &Path) -> (Vec<String>, u64) {
    let found = ask("find", index, &["-empty", "-type", "d", "-printf", "%f\\n"]);
    let mut names: Vec<String> = found.text().lines().map(str::to_owned).collect();
    names.sort();
    let report = ask("report", index, &["--format", "json"]).json();
    let unknown = report["unread_directories"]["count"].as_u64().unwrap();
    assert_eq!(report["empty_directories"]["count"], names.len(), "{report}");
    assert_eq!(found.code, Some(i32::from(unknown > 0)), "{}", found.stderr);
    assert_eq!(
        found.stderr.contains("-empty: the index does not know this of"),
        unknown > 0,
        "{}",
        found.stderr
    );
    (names, unknown)
}

#[test]
fn a_directory_of_which_everything_was_left_out_is_not_called_empty() {
    let place = Place::with(&[
        ("some/a.txt", "x"),
        ("some/b.o", "x"),
        ("objects/c.o", "x"),
        ("deep/tmp/d", "x"),
        ("hidden/.e", "x"),
    ]);
    fs::create_dir(place.files().join("empty")).unwrap();
    let scan = |words: &[&str]| {
        let ran = place.index_with(&[&["-q", "--content", "none"], words].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        empty_and_unknown(&place.index())
    };
    let empty = vec!["empty".to_owned()];
    assert_eq!(scan(&[]), (empty.clone(), 0));
    assert_eq!(scan(&["--exclude", "*.o"]), (empty.clone(), 1));
    assert_eq!(scan(&["--exclude", "*.o", "--exclude", "tmp/", "--skip-hidden"]), (empty.clone(), 3));
    // A file goes that was the only one in the index.
    fs::remove_file(place.files().join("some/a.txt")).unwrap();
    let list = place.dir.path().join("list");
    fs::write(&list, format!("{}\n", place.files().join("some/a.txt").display())).unwrap();
    let words = ["index", "-q", "--exclude", "*.o", "--changes=paths", "-o"];
    let changed = run(scanns(&words).arg(place.index()).arg(&list).arg(place.files()));
    assert_eq!(changed.code, Some(0), "{}", changed.stderr);
    assert_eq!(empty_and_unknown(&place.index()), (empty.clone(), 4));
    assert_eq!(scan(&[]), (empty, 0));
}

#[test]
fn a_directory_that_was_not_entered_is_not_called_empty() {
    let test = "a_directory_that_was_not_entered_is_not_called_empty";
    let device = |path: &str| std::os::unix::fs::MetadataExt::dev(&fs::metadata(path).ok()?).into();
    let [above, below]: [Option<u64>; 2] = ["/dev", "/dev/pts"].map(device);
    if above.is_none() || below.is_none() || above == below {
        return skipped(test, "/dev/pts is no file system of its own");
    }
    let place = Place::new();
    for words in [&[][..], &["-x"]] {
        let index = place.dir.path().join(format!("{}.scanns", words.len()));
        let built =
            run(scanns(&["index", "-q", "--content", "none", "-o"]).arg(&index).args(words).arg("/dev"));
        assert_eq!(built.code, Some(0), "{}", built.stderr);
        let found = ask("find", &index, &["/dev/pts", "-empty"]);
        assert!(found.code == Some(1) && found.text().is_empty(), "{} {}", found.text(), found.stderr);
        assert!(found.stderr.contains("the first is /dev/pts"), "{}", found.stderr);
    }
    let index = place.dir.path().join("0.scanns");
    // What was named is entered.
    run(scanns(&["index", "-q", "--content", "none", "-o"]).arg(&index).arg("/dev/pts"));
    let found = ask("find", &index, &["/dev/pts", "-empty", "-type", "d"]);
    assert_eq!((found.code, found.text()), (Some(0), ""), "{}", found.stderr);
}

#[test]
fn places_that_a_dump_excludes_and_the_directories_around_them_are_not_called_empty() {
    let place = Place::new();
    let text = r#"[1,2,{"progname":"ncdu"},[{"name":"/r"},
        [{"name":"mnt"},{"name":"other","excluded":"othfs"}],
        [{"name":"empty"}],[{"name":"a"},{"name":"f","asize":10},{"name":"g","excluded":"pattern"}]]]"#;
    let dump = place.write("d.ncdu", text.as_bytes());
    let built = run(scanns(&["index", "-q", "--dump=ncdu", "-o"]).arg(place.index()).arg(&dump));
    assert_eq!(built.code, Some(0), "{}", built.stderr);
    assert_eq!(empty_and_unknown(&place.index()).0, ["empty"]);
}

#[test]
fn an_index_of_text_knows_what_could_not_be_read_until_it_is_read() {
    let place = Place::with(&[("good", "word"), ("d/secret", "word"), ("d/open", "word")]);
    let secret = place.files().join("d/secret");
    fs::set_permissions(&secret, PermissionsExt::from_mode(0o000)).unwrap();
    let Some(mut humble) = humble() else {
        return skipped(
            "an_index_of_text_knows_what_could_not_be_read_until_it_is_read",
            "this user may read everything",
        );
    };
    let ran = run(humble.args(["index", "-q", "-o"]).arg(place.index()).arg(place.files()));
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let told = format!("entries may be missing: {} could not be read: ", secret.display());
    let (index, files) = (place.index(), place.files());
    let good = files.join("good");
    for (verb, more, code) in [
        ("search", &["word"][..], 0),
        ("find", &[], 1),
        ("find", &[files.join("d").to_str().unwrap()], 1),
        ("report", &[], 1),
        ("export", &[], 1),
    ] {
        let ran = ask(verb, &index, more);
        assert!(ran.code == Some(code) && ran.stderr.contains(&told), "{verb} {:?} {}", ran.code, ran.stderr);
    }
    let ran = ask("find", &index, &[good.to_str().unwrap()]);
    assert!(ran.code == Some(0) && ran.stderr.is_empty(), "{}", ran.stderr);
    let info = place.info(&["--completeness"]);
    assert_eq!(info.code, Some(1), "{}", info.stderr);
    assert!(info.text().contains("  3 files in ") && info.text().contains("d/secret: "), "{}", info.text());
    fs::set_permissions(&secret, PermissionsExt::from_mode(0o600)).unwrap();
    place.indexed(&[]);
    let ran = place.search(&["word"]);
    assert!(place.count("word") == 3 && ran.stderr.is_empty(), "{}", ran.stderr);
    assert_eq!(place.info(&["--completeness"]).code, Some(0));
}

#[test]
fn a_tree_that_is_gone_is_forgotten_when_it_is_deleted() {
    for options in [&["--content", "text"][..], &["--content", "none"]] {
        let place = Place::with(&[("a/one", "word"), ("b/two", "word")]);
        let roots = ["a", "b"].map(|name| place.files().join(name));
        let index = |roots: &[PathBuf]| {
            run(scanns(&["index", "-q", "-o"]).arg(place.index()).args(options).args(roots))
        };
        assert_eq!(index(&roots).code, Some(0));
        fs::remove_dir_all(&roots[0]).unwrap();
        let told = format!(
            "{}: No such file or directory (os error 2); what the index has of it was kept: scanns delete \
             removes it",
            roots[0].display()
        );
        let ran = index(&roots);
        assert!(ran.code == Some(1) && ran.stderr.contains(&told), "{:?} {}", ran.code, ran.stderr);
        let ran = index(&roots[..1]);
        assert!(ran.code == Some(2) && ran.stderr.contains(&told), "{:?} {}", ran.code, ran.stderr);
        let covered = || {
            let all = place.info(&["--completeness", "--json"]).json();
            let all: Vec<String> =
                all["covered"].as_array().unwrap().iter().map(|one| one["path"].to_string()).collect();
            all
        };
        assert_eq!(covered().len(), 2);
        assert_eq!(run(scanns(&["delete"]).arg(place.index()).arg(&roots[0])).code, Some(0));
        assert_eq!(covered(), [format!("{:?}", roots[1])]);
        assert_eq!(index(&roots[1..]).code, Some(0));
    }
}
