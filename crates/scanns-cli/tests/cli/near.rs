//! Near-duplicates: `index --near-duplicates` and `search --collapse`.

use serde_json::json;

use crate::{Place, base, run, scanns};

/// A licence, twice with small changes, and another text.
fn place() -> Place {
    let words = |start: usize| (start..start + 300).map(|word| format!("word{word} ")).collect::<String>();
    let licence = words(0) + "licence";
    let place = Place::new();
    place.write("first.txt", licence.as_bytes());
    place.write("second.txt", licence.replace("word77 ", "changed ").as_bytes());
    place.write("third.txt", format!("Copyright 2026\n\n{}", licence.to_uppercase()).as_bytes());
    place.write("other.txt", (words(1000) + "licence").as_bytes());
    place.write("short.txt", b"a licence");
    place
}

#[test]
fn near_duplicates_are_shown_once_with_their_number() {
    let place = place();
    place.indexed(&["--near-duplicates"]);
    let hits = place.search(&["--collapse", "--json", "--sort", "name", "licence"]).lines();
    let shown: Vec<_> =
        hits.iter().map(|hit| (base(hit["key"].as_str().unwrap()), &hit["near_duplicates"])).collect();
    let expected = [("first.txt", json!(2)), ("other.txt", json!(0)), ("short.txt", json!(0))];
    assert_eq!(shown, expected.each_ref().map(|(name, near)| ((*name).to_owned(), near)));
    let ran = place.search(&["--collapse", "--sort", "name", "licence"]);
    let lines: Vec<Vec<&str>> = ran.text().lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(lines.iter().map(|cells| *cells.last().unwrap()).collect::<Vec<_>>(), ["2", "0", "0"]);
    assert_eq!(place.search(&["--json", "licence"]).lines().len(), 5);
    // The document that others are to be like is left out before its copies are collapsed.
    let (first, index) = (place.files().join("first.txt"), place.dir.path().join("b.scanns"));
    let first = first.to_str().unwrap();
    let ran = run(scanns(&["index", "--near-duplicates", "--vectors", "-o"]).arg(&index).arg(place.files()));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let like = ["--collapse", "--json", "--sort", "name", "--like", first];
    let hits = run(scanns(&["search"]).arg(&index).args(like)).lines();
    assert_eq!(
        (base(hits[0]["key"].as_str().unwrap()), &hits[0]["near_duplicates"]),
        ("second.txt".into(), &json!(1))
    );
}

#[test]
fn sketches_are_hidden_unless_they_are_asked_for() {
    let place = place();
    place.indexed(&["--near-duplicates", "--store", "content"]);
    let info = place.info(&[]);
    assert!(info.text().contains("\nsketches   ") && !info.text().contains("sketch ("), "{}", info.text());
    assert!(place.info(&["--fields"]).text().contains("\nsketch "));
    assert_eq!(place.info(&["--json"]).json()["near_duplicates"], true);
    let export =
        |more: &[&str]| run(scanns(&["export"]).arg(place.index()).args(["*", "--format", "csv"]).args(more));
    assert!(!export(&[]).text().contains("sketch"));
    let named = export(&["--fields", "name,sketch"]);
    assert!(
        named.text().contains("name,sketch") && named.text().contains("short.txt,\n"),
        "{}",
        named.text()
    );
}

#[test]
fn what_is_missing_for_near_duplicates_is_said() {
    let place = place();
    place.indexed(&[]);
    let refused = |ran: crate::Ran, expected: &str| {
        assert!(ran.code == Some(2) && ran.stderr.contains(expected), "{:?}: {}", ran.code, ran.stderr);
    };
    refused(
        place.search(&["--collapse", "licence"]),
        "no sketches of texts: build one with --near-duplicates",
    );
    refused(place.index_with(&["--near-duplicates"]), "build another index");
    assert_eq!(place.info(&["--json"]).json()["near_duplicates"], false);
    let other = Place::with(&[("a", "one\ntwo\n")]);
    refused(other.index_with(&["--near-duplicates", "--records", "lines"]), "near-duplicates among lines");
    refused(other.index_with(&["--near-duplicates", "--content", "none"]), "--near-duplicates out");
    other.indexed(&["--near-duplicates"]);
    refused(other.search(&["--collapse=16", "one"]), "must be between 0 and 15");
    refused(other.search(&["--collapse", "--sort", "key", "one"]), "sorted by score or columns");
    refused(other.search(&["--collapse", "--count", "one"]), "cannot be used with");
}
