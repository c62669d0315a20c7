//! Text and vectors of documents: stored by a build, shown by a search, described by info.

use crate::{Place, base};

const LETTERS: [(&str, &str); 2] =
    [("ann.txt", "Dear Ann,\nthe Roses are in bloom.\n"), ("bob.txt", "Dear Bob,\nno roses here.\n")];

fn contents(place: &Place, query: &str) -> Vec<(String, String)> {
    let hits = place.search(&["--json", "--content", query]).lines();
    let field = |hit: &serde_json::Value, name: &str| hit[name].as_str().unwrap_or("nothing").to_owned();
    let mut found: Vec<_> =
        hits.iter().map(|hit| (base(&field(hit, "key")), field(hit, "content"))).collect();
    found.sort();
    found
}

#[test]
fn stored_text_is_shown_as_it_was_read() {
    for how in [
        &["--store", "content"][..],
        &["--store", "content", "--compression", "zstd:9"],
        &["--store", "reference"],
    ] {
        let place = Place::with(&LETTERS);
        place.indexed(how);
        let expected = LETTERS.map(|(name, text)| (name.to_owned(), text.to_owned()));
        assert_eq!(contents(&place, "roses"), expected, "{how:?}");
        let text = place.search(&["--content", "bloom"]).text().to_owned();
        assert!(text.contains("ann.txt\n      Dear Ann,\n      the Roses are in bloom.\n"), "{text}");
        assert!(!place.search(&["bloom"]).text().contains("Dear"), "only on request");
    }
}

#[test]
fn lines_are_stored_each_by_itself() {
    for store in ["content", "reference"] {
        let place = Place::with(&LETTERS);
        place.indexed(&["--store", store, "--records", "lines"]);
        let expected = [("ann.txt:2", "the Roses are in bloom."), ("bob.txt:2", "no roses here.")];
        let expected = expected.map(|(key, text)| (key.to_owned(), text.to_owned()));
        assert_eq!(contents(&place, "roses"), expected, "{store}");
    }
}

#[test]
fn long_documents_are_cut_for_people_and_whole_for_programs() {
    let place = Place::new();
    let long = format!("{}\n", "wide ".repeat(100)) + &"line\n".repeat(30) + "last\x1b[31m\n";
    place.write("long.txt", long.as_bytes());
    place.indexed(&["--store", "content"]);
    let shown = place.search(&["--content", "wide"]).text().to_owned();
    assert_eq!(shown.lines().count(), 12, "{shown}");
    assert!(shown.contains("wide …\n") || shown.contains(" …\n"), "{shown}");
    assert!(shown.contains("more: --json shows all") && !shown.contains("last"), "{shown}");
    assert_eq!(contents(&place, "wide"), [("long.txt".to_owned(), long)]);
}

#[test]
fn a_file_that_has_changed_is_told_and_the_others_are_shown() {
    let place = Place::with(&LETTERS);
    place.indexed(&["--store", "reference"]);
    place.write("bob.txt", b"Dear Bob, I changed my mind.");
    let ran = place.search(&["--json", "--content", "roses"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("bob.txt has changed since it was indexed")
            && ran.stderr.contains("scanns index"),
        "{}",
        ran.stderr
    );
    assert!(
        ran.text().contains("the Roses are in bloom") && ran.text().contains("bob.txt"),
        "{}",
        ran.text()
    );
    place.indexed(&[]);
    let expected = [("ann.txt".to_owned(), LETTERS[0].1.to_owned())];
    assert_eq!(contents(&place, "roses"), expected, "documents added later are stored in the same way");
}

#[test]
fn info_says_what_is_stored_and_what_that_takes() {
    let place = Place::with(&LETTERS);
    place.indexed(&["--store", "content", "--vectors"]);
    let info = place.info(&["--json"]).json();
    let bytes: u64 = LETTERS.iter().map(|(_, text)| text.len() as u64).sum();
    assert_eq!(
        (&info["store"], &info["vectors"], &info["compression"]),
        (&"content".into(), &true.into(), &"lz4".into())
    );
    assert_eq!(info["stored_text_bytes"], bytes);
    assert!(info["stored_bytes"].as_u64().unwrap() > 0 && info["vector_bytes"].as_u64().unwrap() > 0);
    let text = place.info(&[]).text().to_owned();
    assert!(
        text.contains("\nstored     ") && text.contains("\nvectors    ") && text.contains("to 1 (lz4)"),
        "{text}"
    );
    let none = Place::with(&LETTERS);
    none.indexed(&[]);
    let info = none.info(&["--json"]).json();
    assert!(info["store"] == "none" && info["vectors"] == false && info["compression"].is_null(), "{info}");
    let refused = none.search(&["--content", "roses"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("--store content"), "{}", refused.stderr);
    let refused = none.index_with(&["--store", "content"]);
    assert!(refused.code == Some(2) && refused.stderr.contains("with store none"), "{}", refused.stderr);
}

#[test]
fn a_codec_that_does_not_exist_is_refused_with_those_that_do() {
    let place = Place::with(&LETTERS);
    let refused = place.index_with(&["--store", "content", "--compression", "gzip"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("use lz4, zstd"), "{}", refused.stderr);
}
