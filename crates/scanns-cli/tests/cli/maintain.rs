//! Changes of an existing index: documents are replaced, deleted and merged, and the index is verified.

use std::fs;
use std::io::Write;
use std::path::Path;

use crate::{Place, Ran, run, scanns};

impl Place {
    /// Runs a verb on the index.
    fn verb(&self, verb: &str, more: &[&str]) -> Ran {
        run(scanns(&[verb]).arg(self.index()).args(more))
    }

    /// A file of the index whose name has this ending.
    fn file_of_index(&self, ending: &str) -> std::path::PathBuf {
        let names = fs::read_dir(self.index()).unwrap().map(|entry| entry.unwrap().path());
        names.filter(|path| path.to_string_lossy().ends_with(ending)).min().unwrap()
    }
}

fn damage(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    bytes[4096] ^= 1;
    fs::write(path, bytes).unwrap();
}

#[test]
fn a_file_that_is_indexed_again_takes_the_place_of_the_old_one() {
    let place = Place::with(&[("a", "old words"), ("b", "other words")]);
    place.indexed(&[]);
    place.write("a", b"new words");
    let report = place.indexed(&["--json"]).json();
    assert!(report["replaced"].as_u64().unwrap() >= 1, "{report}");
    assert_eq!((place.count("old"), place.count("new"), place.count("words")), (0, 1, 2));
    assert_eq!(place.info(&["--json"]).json()["documents"], 2);
}

#[test]
fn documents_are_deleted_by_key_by_list_and_by_query() {
    let place = Place::with(&[("a", "red"), ("b", "red blue"), ("c", "green"), ("d", "red")]);
    place.indexed(&[]);
    let [a, b] = ["a", "b"].map(|name| place.files().join(name));
    let deleted = place.verb("delete", &[a.to_str().unwrap()]);
    assert_eq!(
        (deleted.code, deleted.text()),
        (Some(0), "1 document deleted, 3 left\n"),
        "{}",
        deleted.stderr
    );
    assert_eq!(place.found(&["red"]), ["b", "d"]);
    let list = place.dir.path().join("list");
    fs::write(&list, [b.to_str().unwrap(), "\0nothing\0"].concat()).unwrap();
    let report = place.verb("delete", &["--json", "-0", "--keys-from", list.to_str().unwrap()]).json();
    assert_eq!((report["deleted"].as_u64(), report["documents"].as_u64()), (Some(1), Some(2)));
    assert_eq!(place.verb("delete", &["--query", "red green"]).text(), "2 documents deleted, 0 left\n");
    assert_eq!(place.count("red"), 0);
    for (args, hint) in [(&[][..], "KEY"), (&["--query", "("][..], "query"), (&["-0"], "--keys-from")] {
        let ran = place.verb("delete", args);
        assert!(ran.code == Some(2) && ran.stderr.contains(hint), "{args:?}: {}", ran.stderr);
    }
}

#[test]
fn keys_may_be_relative_and_directories_select_what_is_below_them() {
    let place = Place::with(&[("d/a", "red"), ("d/e/b", "red"), ("d2", "red"), ("f", "red\nred\n")]);
    place.indexed(&[]);
    let delete = |key: &str| run(scanns(&["delete"]).arg(place.index()).arg(key).current_dir(place.files()));
    for nothing in ["nothing", "D", "d/e/b/c", "d/aa", "/nowhere"] {
        let ran = delete(nothing);
        assert_eq!((ran.code, ran.text()), (Some(1), "0 documents deleted, 4 left\n"), "{nothing}");
        assert!(ran.stderr.contains("no document was selected"), "{}", ran.stderr);
    }
    let ran = delete("./d/../f");
    assert_eq!((ran.code, ran.text()), (Some(0), "1 document deleted, 3 left\n"), "{}", ran.stderr);
    let ran = delete("d/");
    assert_eq!((ran.code, ran.text()), (Some(0), "2 documents deleted, 1 left\n"), "{}", ran.stderr);
    assert_eq!(place.found(&["red"]), ["d2"]);
    // What was deleted and still exists is indexed again.
    place.indexed(&[]);
    assert_eq!(place.count("red"), 4);
    // A file of lines that was deleted in part of a build is read again from its start.
    let lines = Place::with(&[("d/a", "red\nred\n"), ("b", "red\n")]);
    lines.indexed(&["--records", "lines"]);
    let ran = run(scanns(&["delete"]).arg(lines.index()).arg("files").current_dir(lines.dir.path()));
    assert_eq!(ran.text(), "3 documents deleted, 0 left\n", "{}", ran.stderr);
}

#[test]
fn a_dry_run_says_what_would_be_changed_and_changes_nothing() {
    let place = Place::with(&[("d/a", "red"), ("d/b\n", "red"), ("c", "green")]);
    place.indexed(&[]);
    let directory = place.files().join("d");
    let directory = directory.to_str().unwrap();
    for (verb, done) in [("delete", "deleted"), ("update", "updated")] {
        let set: &[&str] = if verb == "update" { &["--set", "size=1"] } else { &[] };
        for which in [&[directory][..], &["--query", "red"]] {
            let ran = place.verb(verb, &[set, &["--dry-run"], which].concat());
            let head = format!("2 of 3 documents would be {done}\n  ");
            assert!(ran.code == Some(0) && ran.text().starts_with(&head), "{}{}", ran.text(), ran.stderr);
            assert!(ran.text().lines().count() == 3 && ran.text().contains("/d/b'$'\\n'"), "{}", ran.text());
            let report = place.verb(verb, &[set, &["-n", "--json"], which].concat()).json();
            assert_eq!((report["selected"].as_u64(), report["dry_run"].as_bool()), (Some(2), Some(true)));
        }
        let ran = place.verb(verb, &[set, &["--dry-run", "--query", "blue"]].concat());
        assert_eq!((ran.code, ran.text()), (Some(1), &*format!("0 of 3 documents would be {done}\n")));
    }
    assert_eq!(place.verb("update", &["-n", "--set", "colour=1", directory]).code, Some(2));
    assert_eq!((place.count("red"), place.count("size:1")), (2, 0));
}

#[test]
fn many_documents_are_deleted_after_a_question_on_a_terminal() {
    let place = Place::with(&[("a", "red"), ("b", "red"), ("c", "green")]);
    place.indexed(&[]);
    let index = place.index();
    let on_a_terminal = |more: &str, answer: &str| {
        let line = format!("{} delete {} {more}", env!("CARGO_BIN_EXE_scanns"), index.display());
        let mut script = std::process::Command::new("script");
        let mut child = script
            .args(["-qec", &line, "/dev/null"])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .ok()?;
        child.stdin.take().unwrap().write_all(answer.as_bytes()).unwrap();
        let out = child.wait_with_output().unwrap();
        Some((out.status.code(), String::from_utf8_lossy(&out.stdout).into_owned()))
    };
    let Some((code, text)) = on_a_terminal("--query red", "n\n") else {
        let skipped = b"SKIPPED many_documents_are_deleted_after_a_question: there is no script(1)\n";
        std::io::stderr().write_all(skipped).unwrap();
        return;
    };
    assert!(text.contains("delete 2 of 3 documents, such as ") && text.contains("[y/N]"), "{text}");
    assert!(code == Some(130) && text.contains("nothing was changed"), "{code:?} {text}");
    assert_eq!(place.count("red"), 2);
    let (code, text) = on_a_terminal("--query red", "y\n").unwrap();
    assert!(code == Some(0) && text.contains("2 documents deleted"), "{text}");
    let (code, text) = on_a_terminal("--yes --query green", "").unwrap();
    assert!(code == Some(0) && text.contains("1 document deleted") && !text.contains("[y/N]"), "{text}");
}

#[test]
fn values_are_changed_in_place_by_key_and_by_query() {
    let place = Place::with(&[("a", "red"), ("b", "red blue"), ("c", "green")]);
    place.indexed(&[]);
    let a = place.files().join("a");
    let updated = place.verb("update", &["--set", "size=5KiB", a.to_str().unwrap()]);
    assert_eq!(updated.code, Some(0), "{}", updated.stderr);
    assert!(updated.text().starts_with("1 document updated, "), "{}", updated.text());
    assert_eq!(place.found(&["size:5120"]), ["a"]);
    let report = place.verb("update", &["--json", "--set", "size=", "--query", "red"]).json();
    assert_eq!(report["updated"], 2, "{report}");
    assert_eq!((place.count("size:*"), place.count("size:5120"), place.count("red")), (1, 0, 2));
    assert_eq!(place.verb("check", &[]).code, Some(0));
    for (args, hint) in [
        (&["--query", "red"][..], "--set"),
        (&["--set", "size", "--query", "red"][..], "stars=5"),
        (&["--set", "size=many", "--query", "red"][..], "whole number"),
        (&["--set", "name=b", "--query", "red"][..], "in place"),
        (&["--set", "wrong=1", "--query", "red"][..], "size"),
        (&["--set", "size=1"][..], "KEY"),
    ] {
        let ran = place.verb("update", args);
        assert!(ran.code == Some(2) && ran.stderr.contains(hint), "{args:?}: {}", ran.stderr);
    }
}

#[test]
fn segments_are_merged_and_what_was_deleted_is_freed() {
    // A quarter of the first segment is deleted, which is too little for an automatic merge.
    let place = Place::with(&[("z", "z word"), ("y", "y"), ("x", "x")]);
    for name in ["a", "b", "c"] {
        place.write(name, format!("{name} word").as_bytes());
        place.indexed(&[]);
    }
    place.write("a", b"another word");
    place.indexed(&[]);
    let before = place.info(&["--json"]).json();
    assert!(before["segments"].as_array().unwrap().len() > 1, "{before}");
    assert!(place.info(&[]).text().contains("deleted"), "{}", place.info(&[]).text());
    let merged = place.verb("merge", &["--json"]);
    assert_eq!(merged.json()["segments"], 1, "{}", merged.stderr);
    let after = place.info(&["--json"]).json();
    assert_eq!((after["deleted"].as_u64(), after["documents"].as_u64()), (Some(0), Some(6)));
    assert_eq!(place.found(&["word"]), ["a", "b", "c", "z"]);
    assert!(place.verb("merge", &[]).text().starts_with("1 segment became 1"), "nothing is left to do");
    assert_eq!(place.verb("merge", &["--segments", "0"]).code, Some(2));
}

#[test]
fn an_index_is_reordered_on_request_and_says_what_it_needs() {
    let place = Place::new();
    // Many documents of three kinds, in no order.
    for name in ["a", "b", "c"] {
        let kind = |n: usize| ((n * 1_103_515_245 + 12_345) >> 16) % 3;
        let line = |n| (0..30).map(|word| format!("k{}w{word}", kind(n))).collect::<Vec<_>>().join(" ");
        let lines: Vec<String> = (0..2000).map(line).collect();
        place.write(name, format!("{}\n{name}", lines.join("\n")).as_bytes());
        place.indexed(&["--records", "lines"]);
    }
    let held = place.count("k1w7");
    let before = place.verb("merge", &["--json"]).json();
    assert_eq!((&before["segments"], &before["reordered"]), (&1.into(), &false.into()));
    let merged = place.verb("merge", &["--reorder", "--json"]);
    assert_eq!(merged.json()["reordered"], true, "{}", merged.stderr);
    assert!(
        merged.json()["index_bytes"].as_u64() < before["index_bytes"].as_u64(),
        "{before} {}",
        merged.text()
    );
    assert_eq!(place.found(&["b"]), ["b:2001"]);
    assert_eq!(place.count("k1w7"), held);
    assert_eq!(place.verb("check", &[]).text().lines().count(), 1);
    let refused = place.verb("merge", &["--reorder", "--memory", "100"]);
    assert!(
        refused.code == Some(2)
            && refused.stderr.contains("at least 1 MiB")
            && refused.stderr.contains("--memory"),
        "{}",
        refused.stderr
    );
    let again = place.verb("merge", &["--reorder", "--memory", "1MiB"]);
    let texts = ["1 segment became 1, reordered", "Nothing was done"];
    assert!(texts.iter().any(|text| again.text().starts_with(text)), "{}{}", again.text(), again.stderr);
    for (args, hint) in
        [(&["--memory", "1GiB"][..], "--reorder"), (&["--reorder", "--segments", "2"], "--segments")]
    {
        let ran = place.verb("merge", args);
        assert!(ran.code == Some(2) && ran.stderr.contains(hint), "{args:?}: {}", ran.stderr);
    }
    let help = place.verb("merge", &["--help"]);
    assert!(help.text().contains("bisection"), "{}", help.text());
}

#[test]
fn damage_is_told_and_the_rest_is_kept_on_request() {
    let place = Place::new();
    for name in ["a", "b"] {
        fs::remove_dir_all(place.files()).unwrap();
        place.write(name, format!("{name} word").as_bytes());
        place.indexed(&["--keep-removed"]);
    }
    let whole = place.verb("check", &[]);
    assert_eq!((whole.code, whole.text()), (Some(0), "commit 2 is intact: 2 segments, 2 documents\n"));
    damage(&place.file_of_index(".seg"));
    for level in ["checksums", "structure", "all"] {
        let found = place.verb("check", &["--level", level, "--json"]);
        assert_eq!((found.code, found.json()["lost"].as_u64()), (Some(1), Some(1)), "{level}");
    }
    let told = place.verb("check", &[]);
    assert!(told.text().contains("damaged: segment") && told.text().contains("--salvage"), "{}", told.text());
    let kept = place.verb("check", &["--salvage"]);
    assert!(kept.code == Some(1) && kept.text().contains("commit 3 has the rest"), "{}", kept.text());
    assert_eq!(place.verb("check", &[]).text(), "commit 3 is intact: 1 segment, 1 document\n");
    assert_eq!(place.count("word"), 1);

    damage(&place.file_of_index("manifest-0000000003"));
    assert!(place.search(&["word"]).stderr.contains("--salvage"), "{}", place.search(&["word"]).stderr);
    let kept = place.verb("check", &["--salvage"]);
    assert_eq!(kept.code, Some(1), "{}", kept.stderr);
    assert_eq!(place.count("word"), 1);
}

#[test]
fn verbs_on_what_is_no_index_say_so_and_make_nothing() {
    let place = Place::new();
    for verb in ["merge", "check", "delete"] {
        let more: &[&str] = if verb == "delete" { &["key"] } else { &[] };
        let ran = place.verb(verb, more);
        assert!(ran.code == Some(2) && ran.stderr.contains("scanns index"), "{verb}: {}", ran.stderr);
        assert!(!place.index().exists());
        fs::create_dir(place.index()).unwrap();
        let ran = place.verb(verb, more);
        assert!(ran.code == Some(2) && ran.stderr.contains("nothing was ever committed"), "{}", ran.stderr);
        fs::remove_dir_all(place.index()).unwrap();
    }
}
