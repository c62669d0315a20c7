//! Queries made from documents, and explanations of scores.

use serde_json::Value;

use crate::{Place, base, run, scanns};

const TEXTS: [(&str, &str); 6] = [
    ("sun.txt", "sun moon moon"),
    ("both.txt", "sun moon star star"),
    ("star.txt", "moon star"),
    ("sea.txt", "sea sand"),
    ("land.txt", "land wind rain"),
    ("sand.txt", "sand wind"),
];

fn place(more: &[&str]) -> Place {
    let place = Place::with(&TEXTS);
    place.indexed(more);
    place
}

fn key(place: &Place, name: &str) -> String {
    place.files().join(name).to_str().unwrap().to_owned()
}

fn names(hits: &[Value]) -> Vec<String> {
    hits.iter().map(|hit| base(hit["key"].as_str().unwrap())).collect()
}

/// Checks that the value of every part described as a sum is the sum of its details.
fn check_sums(explanation: &Value) {
    let details = explanation["details"].as_array().cloned().unwrap_or_default();
    if explanation["description"].as_str().unwrap().ends_with("sum of") {
        let sum: f64 = details.iter().map(|part| part["value"].as_f64().unwrap()).sum();
        assert!((sum - explanation["value"].as_f64().unwrap()).abs() < 1e-5, "{explanation}");
    }
    details.iter().for_each(check_sums);
}

#[test]
fn feedback_finds_what_says_the_same_in_other_words() {
    let place = place(&["--vectors"]);
    assert_eq!(place.found(&["sun"]), ["both.txt", "sun.txt"]);
    // Half of the documents contain moon, which is too common for feedback.
    let hits = place.search(&["--json", "--rm3", "--model", "bm25", "sun"]).lines();
    assert_eq!(names(&hits).len(), 2, "{hits:?}");
    let many = Place::with(&TEXTS);
    (0..30).for_each(|n| drop(many.write(format!("other{n}"), format!("filler n{n}").as_bytes())));
    many.indexed(&["--vectors"]);
    let hits = many.search(&["--json", "--rm3", "--model", "bm25", "sun"]).lines();
    assert_eq!(names(&hits)[2], "star.txt", "{hits:?}");
    let own = many.search(&["--json", "--rm3", "--rm3-weight", "1", "--model", "bm25", "sun"]).lines();
    assert_eq!(names(&own), names(&many.search(&["--json", "--model", "bm25", "sun"]).lines()));
    let required =
        many.search(&["--json", "--rm3", "--rm3-documents", "2", "--rm3-terms", "3", "+sun sea"]).lines();
    assert_eq!(required.len(), 2, "required words stay required: {required:?}");
}

#[test]
fn topics_are_answered_with_feedback() {
    let place = Place::with(&TEXTS);
    (0..30).for_each(|n| drop(place.write(format!("other{n}"), format!("filler n{n}").as_bytes())));
    place.indexed(&["--vectors"]);
    std::fs::write(place.dir.path().join("topics"), "1\tsun\n").unwrap();
    std::fs::write(place.dir.path().join("qrels"), "1 0 sun 1\n1 0 star 1\n").unwrap();
    let measured = |more: &[&str]| {
        let args = ["a.scanns", "--topics", "topics", "--qrels", "qrels", "--docno", "stem", "--json"];
        run(scanns(&["eval"]).args(args).args(more).current_dir(place.dir.path())).json()
    };
    assert_eq!(measured(&["--model", "bm25"])["num_rel_ret"], 1);
    assert_eq!(measured(&["--model", "bm25", "--rm3"])["num_rel_ret"], 2);
}

#[test]
fn a_document_finds_others_like_it_but_not_itself() {
    for how in [&["--vectors"][..], &["--store", "content"], &["--store", "reference"]] {
        let place = place(how);
        let hits = place.search(&["--json", "--like", &key(&place, "both.txt")]).lines();
        assert_eq!(names(&hits), ["star.txt", "sun.txt"], "{how:?}");
        assert!(hits[0]["rank"] == 1 && hits[1]["rank"] == 2, "{hits:?}");
        let one = place.search(&["--json", "-k", "1", "--like", &key(&place, "both.txt")]).lines();
        assert_eq!(names(&one), ["star.txt"], "{how:?}");
        assert_eq!(one[0].get("after"), None, "there are no pages of similar documents");
        assert_eq!(place.found(&["--like", &key(&place, "sea.txt")]), ["sand.txt"]);
        let few = place.search(&["--json", "--like-terms", "1", "--like", &key(&place, "both.txt")]).lines();
        assert_eq!(names(&few), ["star.txt"], "star occurs twice: {how:?}");
    }
}

#[test]
fn a_text_finds_documents_like_it_in_any_index() {
    let place = place(&[]);
    let text = place.dir.path().join("text");
    std::fs::write(&text, "Wind and sand.").unwrap();
    let hits = place.search(&["--json", "--like-file", text.to_str().unwrap()]).lines();
    assert_eq!(names(&hits)[0], "sand.txt", "{hits:?}");
    let piped = run(scanns(&["search"])
        .arg(place.index())
        .args(["--json", "--like-file", "-"])
        .stdin(std::fs::File::open(&text).unwrap()));
    assert_eq!(names(&piped.lines()), names(&hits));
    let none = place.search(&["--like-min-freq", "5", "--like-file", text.to_str().unwrap()]);
    assert!(none.code == Some(1) && none.stderr.contains("--like-min-freq"), "{}", none.stderr);
}

#[test]
fn what_is_missing_for_feedback_and_likeness_is_said() {
    let place = place(&[]);
    let known = key(&place, "sun.txt");
    for (args, hint) in [
        (&["--rm3", "sun"][..], "with vectors"),
        (&["--rm3-terms", "5", "sun"], "--rm3"),
        (&["--rm3", "--rm3-weight", "2", "sun"], "between 0 and 1"),
        (&["--rm3", "--rm3-terms", "2000", "sun"], "1 to 1024"),
        (&["--like", "nowhere"], "no document 'nowhere'"),
        (&["--like", &known], "store content or reference"),
        (&["--like", &known, "sun"], "cannot be used with"),
        (&["--like-file", "/nonexistent"], "cannot read /nonexistent"),
        (&["--like", &known, "--count"], "cannot be used with"),
        (&["--explain", "--count", "sun"], "cannot be used with"),
        (&["--like-terms", "5", "sun"], "--like <KEY>"),
        (&["--like-min-freq", "5", "sun"], "--like <KEY>"),
        (&["--like-min-docs", "5", "sun"], "--like <KEY>"),
        (&["--like-max-docs", "5", "sun"], "--like <KEY>"),
        (&["--print-query", "--explain", "sun"], "cannot be used with"),
        (&["--print-query", "--snippets", "sun"], "cannot be used with"),
        (&["--print-query", "--sort", "key", "sun"], "cannot be used with"),
        (&["--print-query", "--after", "start", "sun"], "cannot be used with"),
        (&["--print-query", "--queries", "-"], "cannot be used with"),
        (&[], "QUERY"),
    ] {
        let ran = place.search(args);
        assert!(ran.code == Some(2) && ran.stderr.contains(hint), "{args:?}: {}", ran.stderr);
    }
}

#[test]
fn scores_are_explained_below_hits_and_in_json() {
    let place = place(&["--positions"]);
    for (query, model) in [
        ("sun moon^2", "bm25"),
        ("+moon star -rain", "tf-idf"),
        ("\"sun moon\" s* (star~ moon sea)@2", "lm-dirichlet"),
        ("sun* OR moon", "pl2"),
        ("moon star", "p-norm"),
    ] {
        let hits = place.search(&["--json", "--explain", "--model", model, query]).lines();
        assert!(hits.len() > 1, "{query}");
        for hit in hits {
            assert_eq!(hit["explanation"]["value"], hit["score"], "{query}: {hit}");
            check_sums(&hit["explanation"]);
        }
    }
    let ran = place.search(&["--explain", "--model", "bm25", "sun"]);
    let lines: Vec<&str> = ran.text().lines().collect();
    assert!(lines[1].starts_with("      0.") && lines[1].ends_with(" sun: idf · tf"), "{}", ran.text());
    assert!(lines[3] == "          6 N, documents with terms", "{}", ran.text());
    assert!(!place.search(&["sun"]).text().contains("idf"), "only on request");
}
