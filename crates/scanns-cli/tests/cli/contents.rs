//! Compressed and binary files, other encodings, and standard input, compared with `zgrep` and with the same
//! input as a file.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::json;

use super::{Place, Ran, run, scanns};

/// Compresses a file with `gzip`, which every system has.
fn gzip(path: &std::path::Path) {
    assert!(Command::new("gzip").arg(path).status().unwrap().success());
}

/// Runs the command with `input` on standard input.
fn piped(command: &mut Command, input: &[u8]) -> Ran {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || drop(stdin.write_all(input)));
        child.wait_with_output().unwrap().into()
    })
}

#[test]
fn words_of_compressed_files_are_found_as_zgrep_finds_them() {
    let place = Place::new();
    for n in 0..40 {
        let text = format!("file {n} has word{} and word{}\n", n % 3, n % 7).repeat(n * n);
        let path = place.write(format!("f{n}"), text.as_bytes());
        if n % 2 == 0 {
            gzip(&path);
        }
    }
    let report = place.indexed(&["--json"]).json();
    let decoded = &report["decoded"][0];
    assert_eq!((&decoded["kind"], &decoded["files"]), (&json!("gzip"), &json!(20)));
    for word in ["word0", "word2", "word6", "file", "absent"] {
        let files = fs::read_dir(place.files()).unwrap().map(|entry| entry.unwrap().path());
        let found = run(Command::new("zgrep").args(["-l", "-w", word]).args(files));
        assert_eq!(place.count(word), found.text().lines().count() as u64, "{word}");
    }
}

#[test]
fn binary_files_are_counted_by_kind_and_keep_their_metadata() {
    let place = Place::with(&[("a.txt", "word"), ("b.png", "\u{1}PNG"), ("c.bin", "word \0 word")]);
    place.write("b.png", b"GIF89a\x01\0word");
    let ran = place.indexed(&[]);
    assert!(
        ran.text().contains("binary, only metadata indexed: 2 files (1 GIF, 1 other, with NUL bytes)"),
        "{}",
        ran.text()
    );
    assert_eq!(place.found(&["word"]), ["a.txt"]);
    assert_eq!(place.found(&["ext:png"]), ["b.png"]);
    let other = Place::with(&[("c.bin", "word \0 word")]);
    other.indexed(&["--binary", "text"]);
    assert_eq!(other.count("word"), 1);
    let ran = other.index_with(&["--binary", "skip"]);
    assert!(ran.code == Some(2) && ran.stderr.contains("conflicts with the index"), "{}", ran.stderr);
}

#[test]
fn compressed_records_are_the_records() {
    let place = Place::new();
    let rows: String =
        (0..5_000).map(|n| format!("{{\"id\": {n}, \"name\": \"name {}\"}}\n", n % 10)).collect();
    gzip(&place.write("rows.jsonl", rows.as_bytes()));
    let report = place.indexed(&["--records", "jsonl", "--json"]).json();
    assert_eq!((&report["documents"], &report["records"]["malformed"]), (&json!(5_000), &json!(0)));
    assert_eq!(place.count("id:>=4990"), 10);
    assert_eq!(place.indexed(&["--json"]).json()["unchanged"], 1);
}

#[test]
fn standard_input_gives_the_documents_of_a_file() {
    let lines: String = (0..20_000).map(|n| format!("line {n} word{}\n", n % 9)).collect();
    let rows: String = (0..3_000).map(|n| format!("{{\"id\": {n}, \"name\": \"n {}\"}}\n", n % 10)).collect();
    let csv =
        format!("id,name\n{}", (0..3_000).map(|n| format!("{n},name {}\n", n % 10)).collect::<String>());
    for (records, text, query, count) in
        [("lines", &lines, "word3", 2_222), ("jsonl", &rows, "id:<100", 100), ("csv", &csv, "id:<100", 100)]
    {
        let place = Place::new();
        let index = || {
            let mut command = scanns(&["index", "--records", records, "--json", "-o"]);
            command.arg(place.index()).arg("-");
            command
        };
        let report = piped(&mut index(), text.as_bytes()).json();
        assert_eq!(report["bytes"], text.len(), "{records}");
        assert_eq!(place.count(query), count, "{records}");
        // Another stream adds to it.
        let report = piped(&mut index(), text.as_bytes()).json();
        assert_eq!(report["replaced"], 0, "{records}");
        assert_eq!(place.count(query), 2 * count, "{records}");
        // An empty one adds nothing.
        assert_eq!(piped(&mut index(), if records == "csv" { b"id,name\n" } else { b"" }).code, Some(0));
        assert_eq!(place.count(query), 2 * count, "{records}");
    }
    let place = Place::new();
    let ran = piped(scanns(&["index", "-o"]).arg(place.index()).arg("-"), b"text");
    assert!(
        ran.code == Some(2) && ran.stderr.contains("standard input as a single document"),
        "{}",
        ran.stderr
    );
    assert!(!place.index().exists());
}
