//! Custom analyzers.

use crate::{Place, run, scanns};

const CHAIN: &str = "standard | possessive | fold | stop:german | stop:the,of | snowball:german";

#[test]
fn text_and_queries_go_through_the_chain_that_an_index_was_made_with() {
    let place = Place::with(&[
        ("a.txt", "Die Größe der Häuser"),
        ("b.txt", "The grosse of the Hauses"),
        ("c.txt", "Größen und H\u{e4}user's"),
    ]);
    place.indexed(&["--positions", "--store", "content", "--analyzer", CHAIN]);
    assert_eq!(place.found(&["gr\u{f6}sse"]), ["a.txt", "b.txt", "c.txt"]);
    // Every removed word leaves a gap.
    assert_eq!(place.found(&["\"GROSSE der haus\""]), ["a.txt", "c.txt"]);
    assert_eq!(place.found(&["\"GROSSE haus\""]), [""; 0]);
    assert_eq!(place.found(&["\"GROSSE of the haus\""]), ["b.txt"]);
    assert_eq!(place.found(&["\"grosse haus\"~2"]), ["a.txt", "b.txt", "c.txt"]);
    assert_eq!(place.found(&["Gr\u{d6}S*"]), ["a.txt", "b.txt", "c.txt"]);
    assert_eq!(place.found(&["der"]), [""; 0]);
    let shown = place.search(&["--snippets", "--json", "HAUS -of -b"]).lines();
    assert!(shown.iter().any(|hit| hit["snippets"].to_string().contains("H\u{e4}user")), "{shown:?}");

    assert_eq!(place.info(&["--json"]).json()["analyzer"], CHAIN);
    assert!(place.info(&[]).text().contains(CHAIN));
    // Added documents go through the same chain.
    place.write("d.txt", "Grossen".as_bytes());
    place.indexed(&[]);
    assert_eq!(place.found(&["gr\u{f6}sse"]).len(), 4);
    let spaced = CHAIN.replace(" | ", "|");
    place.indexed(&["--analyzer", &spaced]);
    let other = place.index_with(&["--analyzer", "standard | fold"]);
    assert_eq!(other.code, Some(2));
    assert!(other.stderr.contains(CHAIN) && other.stderr.contains("standard | fold"), "{}", other.stderr);
}

#[test]
fn chains_that_make_no_sense_are_refused_with_what_could_be_meant() {
    let place = Place::with(&[("a.txt", "a")]);
    for (chain, hints) in [
        ("standard | klingon", ["step 1", "edge-ngram:MIN-MAX"]),
        ("fold | porter", ["which is a step", "whitespace"]),
        ("standard | ngram:2-3 | ngram:3-4", ["step 2", "the last"]),
        ("standard | stop:,", ["step 1", "is empty"]),
    ] {
        let ran = place.index_with(&["--analyzer", chain]);
        assert_eq!(ran.code, Some(2), "{chain}");
        assert!(hints.iter().all(|hint| ran.stderr.contains(hint)), "{chain}: {}", ran.stderr);
    }
    assert!(!place.index().exists());
    let help = run(&mut scanns(&["index", "--help"]));
    for step in [
        "lowercase",
        "fold",
        "possessive",
        "stop:",
        "porter",
        "snowball:",
        "length:",
        "ngram:",
        "delimiters:",
    ] {
        assert!(help.text().contains(step), "{step}");
    }
}

#[test]
fn a_list_of_bytes_may_be_an_analyzer_or_begin_a_chain() {
    let place = Place::with(&[("a.txt", "Ann B;C|D")]);
    place.indexed(&["--analyzer", "delimiters:;\\x7c | lowercase"]);
    let terms = run(scanns(&["terms"]).arg(place.index()).arg("--all"));
    for term in ["ann b", "c", "d"] {
        assert!(terms.text().contains(term), "{}", terms.text());
    }
    let other = Place::with(&[("a.txt", "a,b")]);
    other.indexed(&["--analyzer", "delimiters:,"]);
    assert_eq!(other.info(&["--json"]).json()["analyzer"], "delimiters:,");
    other.indexed(&["--delimiters", ","]);
}
