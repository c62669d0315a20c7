//! Why a document is found by a query, or not: `why`.

use std::fs;

use serde_json::json;

use crate::{Place, Ran, run, scanns};

fn place(options: &[&str]) -> Place {
    let place = Place::with(&[
        ("licenses.md", "Free software needs good licenses.\n"),
        ("terms.md", "The software is provided without warranty of any kind.\n"),
        ("long.md", "The licenses of long texts: warranty, warranty, warranty.\n"),
    ]);
    place.indexed(options);
    place
}

fn why(place: &Place, path: &str, words: &[&str]) -> Ran {
    run(scanns(&["why"]).arg(place.index()).arg(place.files().join(path)).args(words))
}

#[test]
fn what_a_document_lacks_is_named_and_what_would_find_it() {
    let place = place(&["--positions"]);
    for (path, query, expected) in [
        ("terms.md", "licenses", "no  text:licenses: the document does not have it; 2 other documents do"),
        ("terms.md", "zebra", "no  text:zebra: no document has it"),
        ("licenses.md", "license", "no  text:license: the document has longer words: license* finds it"),
        ("terms.md", "sofware", "a word that differs a little: sofware~1 finds it"),
        ("terms.md", "software size:>1MiB", "no  size:>1048576 (must match): size is 55 B"),
        ("terms.md", "software -warranty", "yes text:warranty (must not match)"),
        ("terms.md", "\"warranty software\"", "has its words near each other: the phrase with ~10 finds it"),
        ("terms.md", "\"software zebra\"", "does not have all of its words"),
        ("terms.md", "software AND title:*", "no  title:* (must match): the document has no value of title"),
    ] {
        let ran = why(&place, path, &[query]);
        assert!(ran.code == Some(1) && ran.text().contains(expected), "{query}: {}", ran.text());
        assert!(ran.text().contains(": not found\n"), "{}", ran.text());
        let found = run(scanns(&["search"]).arg(place.index()).args(["-0", query]));
        assert!(!found.text().contains(path), "{query}: {}", found.text());
    }
}

#[test]
fn the_place_of_a_found_document_is_that_of_a_search() {
    let place = place(&[]);
    let query = "licenses warranty software";
    let hits = run(scanns(&["search", "--json"]).arg(place.index()).arg(query));
    let mut places = Vec::new();
    for hit in hits.text().lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()) {
        let path = hit["key"].as_str().unwrap().to_owned();
        let ran = run(scanns(&["why", "--json"]).arg(place.index()).arg(&path).arg(query));
        let found = ran.json();
        assert_eq!((&found["place"]["rank"], &found["matches"]), (&hit["rank"], &json!(true)), "{path}");
        assert_eq!((&found["place"]["score"], &found["place"]["count"]), (&hit["score"], &json!(3)));
        places.push(path);
    }
    assert_eq!(places.len(), 3);
    let text = why(&place, "long.md", &["warranty"]);
    assert!(text.text().contains(": found, at place 1 of 2, with a score of 0."), "{}", text.text());
}

#[test]
fn the_step_that_changed_a_word_is_named() {
    let english = place(&["--analyzer", "english"]);
    let text = why(&english, "licenses.md", &["The Licenses"]).text().to_owned();
    assert!(text.contains("  the word The: standard makes the, then english leaves it out\n"), "{text}");
    assert!(
        text.contains("  the word Licenses: standard makes licenses, then english makes licens\n"),
        "{text}"
    );
    let chain = place(&["--analyzer", "whitespace | lowercase | stop:good,"]);
    let text = why(&chain, "licenses.md", &["Good"]).text().to_owned();
    assert!(text.contains("the word Good: lowercase makes good, then stop:good, leaves it out"), "{text}");
    assert!(text.contains("no words are left"), "{text}");
}

#[test]
fn a_path_that_the_index_lacks_has_a_reason() {
    let place = place(&["--exclude", "*.log"]);
    let said = |path: &str| {
        let ran = why(&place, path, &["licenses"]);
        assert_eq!(ran.code, Some(2), "{}", ran.stderr);
        ran.stderr.clone()
    };
    assert!(said("gone.md").contains("nor is it in the file system now"), "{}", said("gone.md"));
    assert!(said("/etc/passwd").contains("it was made of "), "{}", said("/etc/passwd"));
    fs::write(place.files().join("new.md"), "new").unwrap();
    assert!(said("new.md").contains("it changed after the build of "), "{}", said("new.md"));
    let logs = Place::with(&[("a.md", "one"), ("b.log", "two")]);
    std::thread::sleep(std::time::Duration::from_millis(50));
    logs.indexed(&["--exclude", "*.log"]);
    let ran = why(&logs, "b.log", &["two"]);
    assert!(ran.stderr.contains("the options of the build left it out"), "{}", ran.stderr);
    let neither = run(scanns(&["why"]).arg(place.index()).arg(place.files().join("terms.md")));
    assert!(neither.code == Some(2) && neither.stderr.contains("<QUERY>"), "{}", neither.stderr);
}
