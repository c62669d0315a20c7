//! `scanns eval`: topics and judgements from files, measures as text and JSON, and run files.

use super::*;

const TOPICS: &str = "1\tgreen apples and green pears\n2\tstone\n3\tnothing of that\n";

const QRELS: &str = "1 0 a 1\n1 0 c 1\n2 0 d 2\n2 0 x 1\n3 0 a 0\n";

fn place() -> Place {
    let texts = [
        ("a.txt", "green apples"),
        ("b.txt", "red apples"),
        ("c.txt", "green pear trees"),
        ("d.txt", "a stone on a stone"),
    ];
    let place = Place::with(&texts);
    place.indexed(&["--analyzer", "english"]);
    place
}

fn eval(place: &Place, more: &[&str]) -> Ran {
    run(scanns(&["eval"]).args(more).current_dir(place.dir.path()))
}

#[test]
fn topics_are_answered_measured_and_written_as_a_run_that_measures_the_same() {
    let place = place();
    std::fs::write(place.dir.path().join("topics"), TOPICS).unwrap();
    std::fs::write(place.dir.path().join("qrels"), QRELS).unwrap();
    let more = [
        "a.scanns",
        "--topics",
        "topics",
        "--qrels",
        "qrels",
        "--docno",
        "stem",
        "--run-out",
        "run",
        "--json",
        "-q",
    ];
    let found = eval(&place, &[&more[..], &["--model", "bm25"]].concat()).json();
    // Topic 1: a and c contain green, which has double weight, and b comes last. Topic 2: d is one of two
    // relevant documents. Topic 3: no document is relevant.
    assert_eq!(
        (&found["num_q"], &found["num_ret"], &found["num_rel_ret"]),
        (&3.into(), &4.into(), &3.into()),
        "{found}"
    );
    assert_eq!(found["topics"]["1"]["map"], 1.0);
    assert_eq!(found["topics"]["2"]["map"], 0.5);
    assert_eq!(found["map"], 0.5);
    let again = eval(&place, &["--run", "run", "--qrels", "qrels", "--json", "-q"]).json();
    assert_eq!(again, found);
    let text = eval(&place, &["--run", "run", "--qrels", "qrels"]);
    assert!(text.text().contains("map                   \tall\t0.5000\n"), "{}", text.text());
    assert!(text.text().contains("num_rel_ret           \tall\t3\n"), "{}", text.text());
}

#[test]
fn what_is_missing_or_wrong_is_said() {
    let place = place();
    std::fs::write(place.dir.path().join("topics"), TOPICS).unwrap();
    std::fs::write(place.dir.path().join("bad"), "1 0 a").unwrap();
    for (args, hint) in [
        (&["--topics", "topics"][..], "NAME.scanns"),
        (&["a.scanns", "--topics", "topics"], "--qrels"),
        (&["a.scanns", "--qrels", "bad"], "--topics"),
        (&["a.scanns", "--topics", "topics", "--qrels", "bad"], "line 1 has 3 words"),
        (&["a.scanns", "--topics", "none", "--run-out", "run"], "cannot read none"),
        (&["a.scanns", "--topics", "topics", "--run-out", "run", "--mu", "5"], "lm-dirichlet"),
        (&["a.scanns", "--topics", "topics", "--run-out", "run", "--field", "x"], "no field 'x'"),
    ] {
        let ran = eval(&place, args);
        assert!(ran.code == Some(2) && ran.stderr.contains(hint), "{args:?}: {}", ran.stderr);
    }
}
