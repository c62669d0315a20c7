//! Successful runs: documents are indexed and found, and reports have all figures.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Stdio;

use serde_json::json;

use crate::{Place, Ran, base, run, scanns};

const POEMS: [(&str, &str); 4] = [
    ("rose.txt", "Roses are red, violets are blue"),
    ("snow.txt", "Snow is white and so are some roses"),
    ("sky.txt", "The sky is blue"),
    ("deep/sea.txt", "Blue, blue is the sea"),
];

#[test]
fn files_are_indexed_and_found() {
    let place = Place::with(&POEMS);
    let ran = place.indexed(&[]);
    assert!(ran.text().contains("4 documents") && ran.text().contains("MiB/s"), "{}", ran.text());
    assert_eq!(ran.stderr, "");
    assert_eq!(place.found(&["roses"]), ["rose.txt", "snow.txt"]);
    assert_eq!(place.found(&["ROSES"]), ["rose.txt", "snow.txt"], "standard analysis lower-cases");
    assert_eq!(place.found(&["blue"]), ["sea.txt", "rose.txt", "sky.txt"], "in the order of their paths");
    assert_eq!(place.found(&["violets", "sky"]), ["rose.txt", "sky.txt"], "arguments are one query");
    assert_eq!(place.found(&["--default-operator", "and", "blue is"]), ["sea.txt", "sky.txt"]);
    assert_eq!(place.found(&["yellow"]), [""; 0]);
}

#[test]
fn the_best_document_comes_first_in_every_model() {
    let place = Place::with(&POEMS);
    place.indexed(&[]);
    for model in [
        &["--model", "tf-idf"][..],
        &["--model", "bm25", "--k1", "0.9", "--b", "0.4"],
        &["--model", "p-norm", "--p", "3"],
    ] {
        let hits = place.search(&[model, &["--json", "blue sea"]].concat()).lines();
        assert_eq!(hits.len(), 3, "{model:?}");
        assert_eq!(base(hits[0]["key"].as_str().unwrap()), "sea.txt", "{model:?} prefers both words");
        let scores: Vec<f64> = hits.iter().map(|hit| hit["score"].as_f64().unwrap()).collect();
        assert!(scores.is_sorted_by(|a, b| a >= b) && scores[2] > 0.0, "{model:?} {scores:?}");
        let ranks: Vec<_> = hits.iter().map(|hit| hit["rank"].as_u64().unwrap()).collect();
        assert_eq!(ranks, [1, 2, 3]);
    }
}

#[test]
fn lines_are_documents_of_their_own() {
    let place =
        Place::with(&[("list", "/usr/lib 12\n/usr/bin 7\n\n/home/ann 12"), ("more", "/usr/share 3\n")]);
    let report = place.indexed(&["--records", "lines", "--analyzer", "paths", "--json"]).json();
    assert_eq!(report["documents"], 5, "an empty line is a document, a last line needs no line feed");
    assert_eq!(place.count("usr"), 3);
    assert_eq!(place.count("12"), 2);
    assert_eq!(place.count("Usr"), 0, "paths keep their case");
    let hits = place.search(&["--json", "ann"]).lines();
    let key = hits[0]["key"].as_str().unwrap();
    assert!(key.contains("list") && key.contains('4'), "the key has file and line: {key}");
    let info = place.info(&["--json"]).json();
    assert_eq!((&info["records"], &info["analyzer"]), (&json!("lines"), &json!("paths")));
}

#[test]
fn delimiters_can_be_given() {
    let place = Place::with(&[("a", "red;green blue;"), ("b", "green blue")]);
    place.indexed(&["--delimiters", ";"]);
    assert_eq!(place.count("red"), 1);
    let terms = place.info(&["--json", "--terms", ""]).json();
    assert_eq!(
        terms["terms"],
        json!([{"term": "green blue", "documents": 2}, {"term": "red", "documents": 1}])
    );
}

#[test]
fn a_search_without_matches_exits_with_1_as_grep_does() {
    let place = Place::with(&POEMS);
    place.indexed(&[]);
    let queries = place.dir.path().join("queries");
    std::fs::write(&queries, "absent\nmissing\n").unwrap();
    let queries = queries.to_str().unwrap();
    for args in [&["absent"][..], &["--count", "absent"], &["--all", "absent"], &["--json", "absent"]] {
        assert_eq!(place.search(args).code, Some(1), "{args:?}");
        let found = [&args[..args.len() - 1], &["*"]].concat();
        assert_eq!(place.search(&found).code, Some(0), "{found:?}");
    }
    assert_eq!(place.search(&["--queries", queries]).code, Some(1));
    std::fs::write(queries, "absent\n*\n").unwrap();
    assert_eq!(place.search(&["--queries", queries]).code, Some(0));
    assert_eq!(place.search(&["(("]).code, Some(2));
}

#[test]
fn an_index_after_the_query_is_not_a_word() {
    let place = Place::with(&POEMS);
    place.indexed(&[]);
    let index = place.index();
    let ran = place.search(&["word", index.to_str().unwrap()]);
    assert!(ran.code == Some(2) && ran.stderr.contains("write indexes before the query"), "{}", ran.stderr);
    let ran = place.search(&["--count", "--", "absent.scanns"]);
    assert!(ran.code == Some(2) && ran.stderr.contains("there is no index absent.scanns"), "{}", ran.stderr);
    assert_eq!(place.search(&["--count", "--", "\"absent.scanns\""]).text(), "0\n");
}

#[test]
fn the_report_has_every_figure() {
    let place = Place::with(&POEMS);
    let report = place.indexed(&["--json", "--threads", "2", "--memory", "256MiB"]).json();
    let bytes: usize = POEMS.iter().map(|(_, text)| text.len()).sum();
    for (name, value) in [
        ("documents", json!(4)),
        ("bytes", json!(bytes)),
        ("tokens", json!(23)),
        ("failed", json!(0)),
        ("failures", json!([])),
        ("cut_terms", json!(0)),
        ("cancelled", json!(false)),
    ] {
        assert_eq!(report[name], value, "{name} in {report}");
    }
    for name in ["seconds", "mib_per_s", "bytes_written", "index_bytes", "peak_rss", "segments"] {
        assert!(report[name].as_f64().unwrap() > 0.0, "{name} in {report}");
    }
    assert!(report["skipped"].is_u64());
}

#[test]
fn all_streams_the_hits_that_count_counts_and_top_k_is_the_best_of_them() {
    let place = Place::new();
    for n in 0..50usize {
        place.write(format!("{n:02}"), format!("word {}", "filler ".repeat(n * 7 % 50)).as_bytes());
    }
    place.indexed(&[]);
    let hits = |args: &[&str]| {
        let text = place.search(args).text().to_string();
        let hit = |line: &str| line.split('\t').skip(1).map(str::to_string).collect::<Vec<_>>();
        text.lines().map(hit).collect::<Vec<_>>()
    };
    let mut all = hits(&["--all", "word"]);
    assert_eq!(all.len(), 50);
    assert_eq!(place.search(&["--count", "word"]).text(), "50\n");
    let best = hits(&["-k", "1000", "word"]);
    assert!(best.is_sorted_by(|a, b| a[0].parse::<f64>().unwrap() >= b[0].parse::<f64>().unwrap()));
    assert_eq!(hits(&["word"]), best[..10]);
    assert_eq!(hits(&["-k", "37", "word"]), best[..37]);
    let mut sorted = best;
    all.sort();
    sorted.sort();
    assert_eq!(all, sorted);
    let text = place.search(&["word"]).text().to_string();
    let lines: Vec<_> = text.lines().collect();
    let first: Vec<_> = lines[0].split('\t').collect();
    assert_eq!((first.len(), first[0], base(first[2])), (3, "1", "00".into()), "the shortest text is first");
    assert_eq!(first[1].split_once('.').unwrap().1.len(), 4, "scores have four decimals");
}

#[test]
fn no_match_is_an_answer() {
    let place = Place::with(&POEMS);
    place.indexed(&[]);
    let ran = place.search(&["nowhere"]);
    assert_eq!((ran.code, ran.text()), (Some(1), ""));
    assert!(ran.stderr.contains("no document matches"));
    let ran = place.search(&["--json", "nowhere"]);
    assert_eq!((ran.code, ran.text(), ran.stderr.as_str()), (Some(1), "", ""));
    assert_eq!(place.count("nowhere"), 0);
}

#[test]
fn an_index_keeps_positions_if_its_first_build_was_told_to() {
    let place = Place::with(&[("a", "one two one")]);
    place.indexed(&["--positions"]);
    place.write("b", b"two two");
    place.indexed(&[]);
    let info = place.info(&["--json"]).json();
    assert!(info["positions"] == true && info["position_bytes"].as_u64().unwrap() > 0, "{info}");
    assert!(place.info(&[]).text().contains("\npositions "));
    assert_eq!(place.count("two"), 2);

    let without = Place::with(&[("a", "one two one")]);
    without.indexed(&[]);
    assert_eq!(without.info(&["--json"]).json()["positions"], false);
    let refused = without.index_with(&["--positions"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("without positions"), "{}", refused.stderr);
}

#[test]
fn an_index_keeps_offsets_if_its_first_build_was_told_to() {
    let place = Place::with(&[("a", "one two one")]);
    place.indexed(&["--offsets"]);
    place.write("b", b"two two");
    place.indexed(&[]);
    let info = place.info(&["--json"]).json();
    assert!(info["offsets"] == true && info["positions"] == true, "{info}");
    assert!(info["position_bytes"].as_u64().unwrap() > 0, "{info}");
    assert!(place.info(&[]).text().contains(", offsets included\n"));
    assert_eq!(place.count("two"), 2);

    let without = Place::with(&[("a", "one two one")]);
    without.indexed(&["--positions"]);
    assert_eq!(without.info(&["--json"]).json()["offsets"], false);
    let refused = without.index_with(&["--offsets"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("without offsets"), "{}", refused.stderr);
}

#[test]
fn a_second_run_adds_and_keeps_the_analyzer() {
    let place = Place::with(&[("a", "Apple/Pear")]);
    place.indexed(&["--analyzer", "paths"]);
    place.write("b", b"Pear/Plum");
    let report = place.indexed(&["--json"]).json();
    assert_eq!(report["documents"], 1);
    assert_eq!(place.found(&["Pear"]), ["a", "b"]);
    assert_eq!(place.count("pear"), 0, "the second run splits text as the first did");
    let info = place.info(&["--json", "--unique"]).json();
    assert_eq!((&info["documents"], &info["unique_terms"]), (&json!(2), &json!(3)));
    assert_eq!(info["analyzer"], "paths");
    let other = place.index_with(&["--analyzer", "standard"]);
    assert_eq!((other.code, other.text()), (Some(2), ""));
    assert!(other.stderr.contains("analyzer") && other.stderr.contains("paths"), "{}", other.stderr);
}

#[test]
fn info_tells_segments_and_terms() {
    let place = Place::with(&POEMS);
    place.indexed(&[]);
    let info = place.info(&["--json", "--terms", "s", "--limit", "3"]).json();
    assert_eq!(
        info["terms"],
        json!([
            {"term": "sea", "documents": 1}, {"term": "sky", "documents": 1}, {"term": "snow", "documents": 1}
        ])
    );
    let segments = info["segments"].as_array().unwrap();
    let documents: u64 = segments.iter().map(|segment| segment["documents"].as_u64().unwrap()).sum();
    assert_eq!(documents, 4);
    let ran = place.info(&["--unique", "--terms", "blue"]);
    let text = ran.text();
    assert!(text.contains("documents  4 (one per file)") && text.contains("terms      14"), "{text}");
    assert!(text.ends_with("        3  blue\n"), "{text}");
}

#[test]
fn include_and_exclude_choose_files() {
    let place = Place::with(&[("a.c", "word"), ("a.h", "word"), ("a.o", "word"), ("sub/b.c", "word")]);
    place.indexed(&["--include", "*.c", "--include", "*.h", "--exclude", "b.*"]);
    assert_eq!(place.found(&["word"]), ["a.c", "a.h"]);
}

#[test]
fn empty_files_and_files_of_delimiters_are_documents_without_terms() {
    let place = Place::with(&[("empty", ""), ("blank", "  \n\t/ /"), ("full", "word")]);
    let report = place.indexed(&["--analyzer", "paths", "--json"]).json();
    assert_eq!((&report["documents"], &report["tokens"]), (&json!(3), &json!(1)));
    assert_eq!(place.found(&["word"]), ["full"]);
    let nothing = Place::with(&[("empty", "")]);
    let report = nothing.indexed(&["--json"]).json();
    assert_eq!((&report["documents"], &report["tokens"]), (&json!(1), &json!(0)));
    assert_eq!(nothing.count("word"), 0);
}

#[test]
fn names_may_be_any_bytes() {
    let place = Place::new();
    let odd = place.write(OsStr::from_bytes(b"caf\xe9"), b"coffee");
    place.indexed(&[]);
    let key = odd.as_os_str().as_bytes();
    let quoted = format!("\t'{}/caf'$'\\351'\n", place.files().display());
    assert!(place.search(&["coffee"]).text().ends_with(&quoted), "{}", place.search(&["coffee"]).text());
    assert_eq!(place.search(&["-0", "coffee"]).stdout, [key, b"\0"].concat());
    let hit = place.search(&["--json", "coffee"]).json();
    assert!(hit["key"].as_str().unwrap().ends_with("caf\u{fffd}"));
    let hex: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hit["key_bytes"], hex);
}

/// Indexes the paths in `list`, which is passed on standard input.
fn from_list(place: &Place, list: &[u8], more: &[&str]) -> Ran {
    let mut command = scanns(&["index", "--files-from", "-", "--json"]);
    let mut child = command
        .args(more)
        .arg("-o")
        .arg(place.index())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(list).unwrap();
    child.wait_with_output().unwrap().into()
}

#[test]
fn paths_come_from_a_list_whatever_they_hold() {
    let place = Place::new();
    let odd = place.write("line\nfeed", b"word one");
    let plain = place.write("plain", b"word two");
    let joined = |end: &[u8], paths: &[&Path]| -> Vec<u8> {
        paths.iter().flat_map(|path| [path.as_os_str().as_bytes(), end].concat()).collect()
    };
    let ran = from_list(&place, &joined(b"\0", &[&odd, &plain]), &["-0"]);
    assert_eq!((ran.code, &ran.json()["documents"]), (Some(0), &json!(2)), "{}", ran.stderr);
    assert_eq!(place.found(&["word"]), ["line\nfeed", "plain"]);

    let lines = Place::new();
    let ran = from_list(&lines, &joined(b"\n", &[&plain]), &[]);
    assert_eq!((ran.code, &ran.json()["documents"]), (Some(0), &json!(1)), "{}", ran.stderr);

    let listed = Place::new();
    let list = listed.write("list", &joined(b"\0", &[&odd]));
    let ran = run(scanns(&["index", "--json", "-0", "--files-from"])
        .arg(list)
        .arg("-o")
        .arg(listed.index())
        .arg(plain));
    assert_eq!((ran.code, &ran.json()["documents"]), (Some(0), &json!(2)), "{}", ran.stderr);
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let place = Place::new();
    for n in 0..3000 {
        place.write(format!("{n}-{}", "x".repeat(200)), b"word");
    }
    place.indexed(&["--quiet"]);
    let mut child = scanns(&["search", "--all"])
        .arg(place.index())
        .arg("word")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 10];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let mut errors = String::new();
    child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
    assert_eq!((child.wait().unwrap().code(), errors.as_str()), (Some(0), ""));
}

#[test]
fn quiet_builds_print_nothing() {
    let place = Place::with(&POEMS);
    let ran = place.indexed(&["--quiet"]);
    assert_eq!((ran.text(), ran.stderr.as_str()), ("", ""));
}

#[test]
fn every_reading_option_gives_the_same_index() {
    let place = Place::with(&POEMS);
    place.indexed(&[]);
    let expected = place.search(&["--all", "blue roses is"]).stdout;
    for more in [
        &["--threads", "1"][..],
        &["--read-threads", "2", "--index-threads", "4"],
        &["--no-uring", "--direct", "never"],
        &["--direct", "always", "--block-size", "256KiB", "--blocks", "4", "--queue-depth", "2"],
        &["--no-pin", "--drop-cache", "--arena-page", "4KiB"],
        &["--arena-page", "2MiB", "--chunk-size", "1MiB"],
    ] {
        std::fs::remove_dir_all(place.index()).unwrap();
        place.indexed(more);
        let found = keys(&place.search(&["--all", "blue roses is"]).stdout);
        assert_eq!(found, keys(&expected), "{more:?}");
    }
}

/// Scores and keys of a result, without ranks, which can differ for equal scores.
fn keys(result: &[u8]) -> BTreeSet<Vec<u8>> {
    result
        .split(|&byte| byte == b'\n')
        .filter_map(|line| line.iter().position(|&byte| byte == b'\t').map(|tab| line[tab..].to_vec()))
        .collect()
}

#[test]
fn queries_have_phrases_patterns_and_marks_at_their_faults() {
    let place = Place::with(&[
        ("a", "free software is free as in freedom"),
        ("b", "software that is free"),
        ("c", "soft wares, lisenced"),
    ]);
    place.indexed(&["--positions"]);
    for (query, expected) in [
        ("\"free software\"", "a"),
        ("\"software free\"~1", "a"),
        ("\"software is\"", "a"),
        ("\"software is\"~1", "a b"),
        ("soft*", "a b c"),
        ("fr?e -software", ""),
        ("re\"free(dom)?\"", "a b"),
        ("licensed~2", "c"),
        ("[freedom TO is]", "a b"),
        ("in(wares freedom)", "a c"),
        ("(free software wares)@2", "a b"),
        ("* -free", "c"),
        ("text:soft*^2 AND wares", "c"),
    ] {
        assert_eq!(place.found(&[query]).join(" "), expected, "{query}");
    }
    let refused = place.search(&["free AND (software OR"]);
    assert_eq!((refused.code, refused.text()), (Some(2), ""));
    assert!(
        refused.stderr.ends_with("\n  free AND (software OR\n                     ^\n"),
        "{}",
        refused.stderr
    );
    let without = Place::with(&[("a", "free software")]);
    without.indexed(&[]);
    let refused = without.search(&["\"free software\""]);
    assert!(refused.code == Some(2) && refused.stderr.contains("--positions"), "{}", refused.stderr);
}
