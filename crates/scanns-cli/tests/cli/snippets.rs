//! Snippets of hits: the shown parts of the text, and the marks.

use serde_json::{Value, json};

use crate::Place;

const LETTERS: [(&str, &str); 2] = [
    ("ann.txt", "Dear Ann,\nthe Roses are in bloom, and more roses are to come.\n"),
    ("bob.txt", "Dear Bob,\nno roses here, but snow.\n"),
];

/// The marked parts of the snippets of a hit.
fn marked(hit: &Value) -> Vec<String> {
    let parts = |snippet: &Value| {
        let text = snippet["text"].as_str().unwrap().to_owned();
        let mark = |mark: &Value| {
            let at = |place: usize| usize::try_from(mark[place].as_u64().unwrap()).unwrap();
            text[at(0)..at(1)].to_owned()
        };
        snippet["marks"].as_array().unwrap().iter().map(mark).collect::<Vec<_>>()
    };
    hit["snippets"].as_array().unwrap().iter().flat_map(parts).collect()
}

#[test]
fn snippets_say_what_was_found_where() {
    for store in ["content", "reference"] {
        let place = Place::with(&LETTERS);
        place.indexed(&["--store", store, "--positions", "--analyzer", "english"]);
        let hits = place.search(&["--snippets", "--json", "rose bloom"]).lines();
        assert_eq!(hits.len(), 2);
        let ann = hits.iter().find(|hit| hit["key"].as_str().unwrap().ends_with("ann.txt")).unwrap();
        assert_eq!(marked(ann), ["Roses", "bloom", "roses"], "by their stems");
        assert_eq!(ann["snippets"][0]["start"], 0);
        let phrase = place.search(&["--snippets", "--json", "\"more roses\" -snow"]).lines();
        assert_eq!(marked(&phrase[0]), ["more", "roses"], "only where the phrase is");
        let text = place.search(&["--snippets", "--snippet-length", "20", "--snippet-count", "1", "snow"]);
        assert!(text.text().contains("bob.txt\n      … here, but snow.\n"), "{}", text.text());
        assert!(text.stderr.is_empty(), "{}", text.stderr);
    }
}

#[test]
fn snippets_of_lines_of_any_bytes_are_whole_in_json() {
    let place = Place::new();
    place.write("log", b"one two\nthree \xff\x1b[31m two\n");
    place.indexed(&["--records", "lines", "--store", "content", "--encoding", "utf-8"]);
    let hits = place.search(&["--snippets", "--json", "three two"]).lines();
    let snippet = &hits[0]["snippets"][0];
    assert_eq!(snippet["text_bytes"], "746872656520ff1b5b33316d2074776f");
    assert_eq!(snippet["marks"], json!([[0, 5], [13, 16]]), "in bytes of the original text");
    let shown = place.search(&["--snippets", "-k", "1", "three"]).text().to_owned();
    assert!(shown.ends_with("      'three '$'\\377\\033''[31m two'\n"), "{shown}");
}

#[test]
fn snippets_need_text_and_a_changed_file_is_told() {
    let place = Place::with(&LETTERS);
    place.indexed(&[]);
    let ran = place.search(&["--snippets", "roses"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("--store"), "{}", ran.stderr);
    let place = Place::with(&LETTERS);
    place.indexed(&["--store", "reference"]);
    std::fs::remove_file(place.files().join("ann.txt")).unwrap();
    let ran = place.search(&["--snippets", "roses"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("ann.txt") && ran.text().contains("no roses here"), "{}", ran.stderr);
    let both = place.search(&["--content", "--snippets", "roses"]);
    assert_eq!(
        (both.code, both.stderr.matches("ann.txt").count()),
        (Some(1), 1),
        "reported once: {}",
        both.stderr
    );
    assert_eq!(place.search(&["--snippet-length", "99", "roses"]).code, Some(2), "belongs to --snippets");
    assert_eq!(place.search(&["--snippets", "--snippet-length", "9", "roses"]).code, Some(2));
}
