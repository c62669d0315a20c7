//! `scanns stat`, compared with GNU stat at the same moment.

use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::ls::{answer, is_gnu, make_tree, seeded};
use crate::{Place, scanns, skipped};

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn indexed_tree() -> (Place, PathBuf, Vec<PathBuf>) {
    let place = Place::new();
    let root = place.files().canonicalize().unwrap();
    make_tree(&mut seeded(), &root, 80);
    // A walk changes the dates of access of directories and links, once.
    let out =
        Command::new("find").arg(&root).args(["-fprintf", "/dev/null", "%l", "-print0"]).output().unwrap();
    let paths = out.stdout.split(|byte| *byte == 0).filter(|path| !path.is_empty());
    let paths = paths.map(|path| std::ffi::OsString::from_vec(path.to_vec()).into()).collect();
    place.indexed(&["--content", "none"]);
    (place, root, paths)
}

#[test]
fn the_layout_is_that_of_gnu_stat_and_tells_how_old_the_answer_is() {
    if !is_gnu("stat") {
        return skipped("the_layout_is_that_of_gnu_stat", "there is no stat of GNU coreutils 9");
    }
    let (place, root, paths) = indexed_tree();
    for path in &paths {
        let theirs = text(&answer(Command::new("stat").arg(path), &root).stdout);
        let ours = answer(scanns(&["stat"]).arg(place.index()).arg(path), &root);
        let source = format!("\nSource: {}\n  Seen: 20", root.display());
        let (same, own) = text(&ours.stdout)
            .split_once(&source[1..])
            .map(|(same, own)| (same.to_owned(), own.to_owned()))
            .unwrap();
        // No index has the size of blocks.
        assert_eq!(same.replace("IO Block: ?     ", "IO Block: 4096  "), theirs);
        assert!(own.ends_with(" +0530\n"), "{own}");
        assert_eq!((ours.status.code(), text(&ours.stderr)), (Some(0), String::new()));
    }
}

const FORMATS: [&str; 11] = [
    "%n|%s|%b|%B|%f|%F|%a|%A|%u|%U|%g|%G|%i|%h|%d|%x|%X|%y|%Y|%z|%Z|%w|%W",
    "%D|%Hd|%Ld|%%|%?|%j|100%",
    "%10s|%-10s|%010s|%+s|% s|%.5s|%10.5s",
    "%#a|%04a|%8a|%-8a|%.6a",
    "%.3Y|%.Y|%15.3Y|%-15.0X|%015Z|%+Y|%.12X",
    "%20n|%-20n|%.3n|%20.3n",
    "%10A|%.4A|%-12A|%5u|%8U|%-8G",
    "%#f|%8f|%08f|%#D",
    "%20F|%.4F",
    "%.10x|%40y",
    "%",
];

#[test]
fn formats_are_those_of_gnu_stat() {
    if !is_gnu("stat") {
        return skipped("formats_are_those_of_gnu_stat", "there is no stat of GNU coreutils 9");
    }
    let (place, root, paths) = indexed_tree();
    for option in ["-c", "--printf"] {
        for format in FORMATS.iter().chain(&["\\a\\x41\\101\\\\\\n\\q%n\\t"]) {
            let theirs = answer(Command::new("stat").args([option, format]).args(&paths), &root);
            let ours = answer(scanns(&["stat", option, format]).arg(place.index()).args(&paths), &root);
            assert_eq!(text(&ours.stdout), text(&theirs.stdout), "{option} {format}");
        }
    }
}

#[test]
fn names_are_quoted_as_gnu_stat_quotes_them() {
    if !is_gnu("stat") {
        return skipped("names_are_quoted_as_gnu_stat_quotes_them", "there is no stat of GNU coreutils 9");
    }
    let place = Place::new();
    let root = place.files().canonicalize().unwrap();
    for name in ["a b", "it's", "dq\"", "both'\"", "n\nl", "tab\t", "$x", "#a", "~", "=", "back\\", "*?"] {
        fs::write(root.join(name), "").unwrap();
        std::os::unix::fs::symlink(name, root.join(format!("to {name}"))).unwrap();
    }
    place.indexed(&["--content", "none"]);
    let names: Vec<_> = fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    let theirs = answer(Command::new("stat").args(["-c", "%N"]).args(&names), &root);
    let ours = answer(scanns(&["stat", "-c", "%N"]).arg(place.index()).args(&names), &root);
    assert_eq!(text(&ours.stdout), text(&theirs.stdout));
}

#[test]
fn json_has_the_values_and_a_missing_path_is_named() {
    let place = Place::with(&[("a", "four")]);
    place.indexed(&["--content", "none"]);
    let root = place.files().canonicalize().unwrap();
    let out = answer(scanns(&["stat", "--format", "json"]).arg(place.index()).args(["a", "none"]), &root);
    assert_eq!(out.status.code(), Some(1));
    assert!(text(&out.stderr).contains("none: not in the index"), "{}", text(&out.stderr));
    let entry: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!((&entry["size"], &entry["type"]), (&4.into(), &"file".into()));
    assert_eq!(entry["path"].as_str().map(Path::new), Some(root.join("a").as_path()));
    assert_eq!(entry["source"].as_str().map(Path::new), Some(root.as_path()));
    assert!(entry["scanned"].as_str().unwrap().starts_with("20"), "{entry}");
}

#[test]
fn unknown_values_are_question_marks_and_counted() {
    let place = Place::new();
    let dump = place.write("fs.dump", b"f /r/a\n");
    let mut index = scanns(&["index", "-q", "--dump=find", "--dump-format", "%y %p\\n", "-o"]);
    assert!(index.arg(place.index()).arg(dump).status().unwrap().success());
    let ask =
        |format: &str| answer(scanns(&["stat", "-c", format]).arg(place.index()).arg("/r/a"), Path::new("/"));
    let out = ask("%s %a %U %y %w %W %F");
    assert_eq!((text(&out.stdout).as_str(), out.status.code()), ("? ? ? ? - 0 regular file\n", Some(1)));
    assert!(
        text(&out.stderr).contains("size: the index does not know this of 1 entry"),
        "{}",
        text(&out.stderr)
    );
}
