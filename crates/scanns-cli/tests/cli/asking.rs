//! Queries as JSON, pages, orders by key, many queries at once, and suggestions for words that no document
//! contains.

use std::io::Write;
use std::process::Stdio;

use crate::{Place, Ran, base, run, scanns};

const POEMS: [(&str, &str); 3] = [
    ("rose.txt", "Roses are red, violets are blue"),
    ("snow.txt", "Snow is white and so are some roses"),
    ("sky.txt", "The sky is blue"),
];

/// Searches with `input` on standard input.
fn search_with_input(place: &Place, more: &[&str], input: impl AsRef<[u8]>) -> Ran {
    let mut command = scanns(&["search"]);
    command.arg(place.index()).args(more);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_ref()).unwrap();
    child.wait_with_output().unwrap().into()
}

#[test]
fn queries_may_be_json_from_the_command_line_a_file_or_standard_input() {
    let place = Place::with(&POEMS);
    place.indexed(&[]);
    let json = r#"{"bool": {"must": [{"match": "Roses"}], "must_not": [{"term": "snow"}]}}"#;
    assert_eq!(place.found(&["--query-json", json]), ["rose.txt"]);
    assert_eq!(place.found(&["--query-json", r#"{"term": "Roses"}"#]), [""; 0], "a term is not analyzed");
    let file = place.dir.path().join("query.json");
    std::fs::write(&file, json).unwrap();
    assert_eq!(place.found(&["--query-json", &format!("@{}", file.display())]), ["rose.txt"]);
    let ran = search_with_input(&place, &["--count", "--query-json", "-"], r#"{"match_all": {}}"#);
    assert_eq!(ran.text(), "3\n", "{}", ran.stderr);
    let both = r#"{"match": "blue sky"}"#;
    assert_eq!(place.search(&["--count", "--query-json", both]).text(), "2\n");
    let and = ["--count", "--default-operator", "and", "--query-json", both];
    assert_eq!(place.search(&and).text(), "1\n");
}

#[test]
fn text_can_be_printed_as_json_that_finds_the_same() {
    let place = Place::with(&POEMS);
    place.indexed(&["--positions"]);
    for text in
        ["roses -snow", "\"are blue\"^2 sk* text:red", "[a TO c} OR rosse~1", "*", "the AND (a b c)@2", ""]
    {
        let ran = place.search(&["--print-query", text]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let json = ran.text().trim_end();
        let ids = |args: &[&str]| place.search(args).text().to_owned();
        assert_eq!(ids(&["-k", "9", "--query-json", json]), ids(&["-k", "9", text]), "{text}: {json}");
        let again = place.search(&["--print-query", "--query-json", json]);
        assert_eq!(again.text().trim_end(), json);
    }
}

#[test]
fn json_that_is_no_query_is_refused_with_its_place() {
    let place = Place::with(&POEMS);
    place.indexed(&[]);
    for (json, hint) in [
        (r#"{"bool": {"must": [{"fuzzy": {"term": "b", "edits": 3}}]}}"#, "bool.must[0].fuzzy.edits: write"),
        (r#"{"term": "a", "field": "nothing"}"#, "field: there is no field 'nothing': there are text"),
        ("roses", "invalid JSON"),
        ("@/nowhere/at/all", "cannot read /nowhere/at/all"),
    ] {
        let ran = place.search(&["--query-json", json]);
        assert_eq!(ran.code, Some(2), "{json}");
        assert!(ran.stderr.contains(hint) && ran.stdout.is_empty(), "{json}: {}", ran.stderr);
    }
    assert_eq!(place.search(&["--query-json", "{}", "roses"]).code, Some(2), "one query at a time");
    assert_eq!(place.search(&[]).code, Some(2), "a query is needed");
}

#[test]
fn pages_follow_each_other_by_score_and_by_key() {
    let place = Place::new();
    for n in 0..23usize {
        place.write(format!("{n:02}"), format!("word {}", "filler ".repeat(n * 7 % 5)).as_bytes());
    }
    place.indexed(&[]);
    for sort in ["score", "key", "-key"] {
        let whole = place.search(&["--json", "-k", "100", "--sort", sort, "word"]).lines();
        let (mut found, mut after) = (Vec::new(), "start".to_owned());
        loop {
            let page =
                place.search(&["--json", "-k", "5", "--sort", sort, "--after", &after, "word"]).lines();
            let next = page.last().and_then(|hit| hit["after"].as_str()).map(str::to_owned);
            assert!(
                page.iter().rev().skip(1).all(|hit| hit.get("after").is_none()),
                "only the last hit has it"
            );
            found.extend(page);
            match next {
                Some(next) => after = next,
                None => break,
            }
        }
        let plain = |hits: &[serde_json::Value]| -> Vec<_> {
            hits.iter().map(|hit| (hit["rank"].clone(), hit["score"].clone(), hit["key"].clone())).collect()
        };
        assert_eq!(plain(&found), plain(&whole), "{sort}");
        let keys: Vec<_> = found.iter().map(|hit| base(hit["key"].as_str().unwrap())).collect();
        match sort {
            "key" => assert!(keys.is_sorted()),
            "-key" => assert!(keys.is_sorted_by(|a, b| a >= b)),
            _ => assert!(found.is_sorted_by(|a, b| a["score"].as_f64() >= b["score"].as_f64())),
        }
    }
}

#[test]
fn a_token_of_another_query_or_commit_is_refused() {
    let place = Place::with(&POEMS);
    place.indexed(&[]);
    let ran = place.search(&["-k", "1", "--after", "start", "blue"]);
    let token = ran.stderr.split("--after ").nth(1).unwrap().trim().to_owned();
    let next = place.search(&["-k", "1", "--after", &token, "blue"]);
    assert!(next.text().starts_with("2\t"), "ranks continue: {}", next.text());
    assert!(place.search(&["-k", "1", "blue"]).stderr.is_empty(), "without --after no token is printed");
    let refused = |args: &[&str], hint: &str| {
        let ran = place.search(args);
        assert_eq!(ran.code, Some(2), "{args:?}");
        assert!(ran.stderr.contains(hint), "{args:?}: {}", ran.stderr);
    };
    refused(&["--after", &token, "red"], "another query");
    refused(&["--after", &token, "--model", "tf-idf", "blue"], "another query");
    refused(&["--after", &token, "--sort", "key", "blue"], "another query");
    refused(&["--after", "nonsense", "blue"], "not a page token");
    refused(&["--after", &token[..token.len() - 1], "blue"], "not a page token");
    let parts: Vec<&str> = token.split('-').collect();
    for at in 0..parts.len() {
        let mut changed = parts.clone();
        changed[at] = if parts[at] == "9" { "8" } else { "9" };
        for sort in ["score", "key"] {
            refused(&["--after", &changed.join("-"), "--sort", sort, "blue"], "not a page token");
        }
    }
    refused(&["--after", "start", "--all", "blue"], "cannot be used with");
    place.write("new.txt", b"blue");
    place.indexed(&[]);
    refused(&["--after", &token, "blue"], "--after start");
}

#[test]
fn words_that_are_nowhere_are_told_with_those_that_may_be_meant() {
    let place = Place::with(&POEMS);
    place.indexed(&[]);
    let ran = place.search(&["--default-operator", "and", "vilets blue"]);
    assert_eq!(ran.code, Some(1));
    assert_eq!(
        ran.stderr,
        "scanns: no document matches\nscanns: no document contains vilets: did you mean violets?\n"
    );
    assert!(!place.search(&["vilets", "blue"]).stderr.contains("mean"), "no suggestions if there are hits");
    assert_eq!(place.search(&["--json", "vilets"]).stderr, "");
    assert_eq!(place.search(&["snow NOT snow"]).stderr, "scanns: no document matches\n");
}

#[test]
fn terms_are_listed_by_frequency_or_in_order() {
    let place = Place::with(&POEMS);
    place.indexed(&[]);
    let terms = |args: &[&str]| run(scanns(&["terms"]).arg(place.index()).args(args));
    assert_eq!(terms(&["-n", "3"]).text(), "2\tare\n2\tblue\n2\tis\n");
    assert_eq!(terms(&["s"]).text(), "1\tsky\n1\tsnow\n1\tso\n1\tsome\n");
    assert_eq!(terms(&["s", "-n", "1", "--json"]).json()["documents"], 1);
    let all = terms(&["--all", "--json"]).lines();
    assert_eq!(all.len(), 13);
    assert_eq!((&all[1]["term"], &all[1]["occurrences"]), (&"are".into(), &3.into()), "{:?}", all[1]);
    let none = terms(&["zebra"]);
    let said = "scanns: no term has this prefix\n";
    assert_eq!((none.code, none.text(), none.stderr.as_str()), (Some(0), "", said));
    let unknown = terms(&["--field", "nothing"]);
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.stderr.contains("text"), "{}", unknown.stderr);
}

#[test]
fn many_queries_are_answered_in_the_order_of_their_file() {
    let place = Place::with(&POEMS);
    place.indexed(&[]);
    let words = ["roses", "sky", "blue", "snow", "red", "nothing"];
    let lines: String = (0..3_000).map(|at| format!("q{at}\t{}\n", words[at % words.len()])).collect();
    let file = place.dir.path().join("queries");
    std::fs::write(&file, &lines).unwrap();
    let file = file.to_str().unwrap();
    let one = place.search(&["--queries", file, "--threads", "1"]);
    assert_eq!(one.code, Some(0), "{}", one.stderr);
    assert!(one.stderr.contains("3,000 queries in") && one.stderr.contains("per second"), "{}", one.stderr);
    let many = place.search(&["--queries", file, "--threads", "5"]);
    assert_eq!(one.text(), many.text());
    let mut expected = String::new();
    for (at, word) in (0..12).map(|at| (at, words[at % words.len()])) {
        expected.extend(place.search(&[word]).text().lines().map(|line| format!("q{at}\t{line}\n")));
    }
    assert!(one.text().starts_with(&expected), "same answers as one query at a time");
    let json =
        search_with_input(&place, &["--queries", "-", "--json", "-k", "1"], "blue sky\n\nroses").lines();
    assert_eq!(json.len(), 3);
    assert_eq!((&json[0]["query"], json[0].get("id")), (&1.into(), None));
    assert!(
        base(json[0]["hits"][0]["key"].as_str().unwrap()) == "sky.txt"
            && json[1]["hits"] == serde_json::json!([])
    );
    let counts = search_with_input(&place, &["--queries", "-", "--count"], "blue\r\nx\tsnow\n\n");
    assert_eq!(counts.text(), "1\t2\nx\t1\n3\t0\n");
    let empty = search_with_input(&place, &["--queries", "-"], "");
    assert_eq!((empty.code, empty.text()), (Some(0), ""), "{}", empty.stderr);
}

#[test]
fn a_query_that_cannot_be_answered_does_not_stop_the_others() {
    let place = Place::with(&POEMS);
    place.indexed(&[]);
    let input = b"blue\n(red\n\xff\n\"red blue\"\nnothing:red\nsnow\n";
    let ran = search_with_input(&place, &["--queries", "-", "--json"], input);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let lines: Vec<serde_json::Value> =
        ran.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let refused: Vec<bool> = lines.iter().map(|line| line["error"].is_string()).collect();
    assert_eq!(refused, [false, true, true, true, true, false]);
    for hint in ["-:2: query: this parenthesis is not closed", "-:3: ", "-:4: ", "-:5: ", "4 of them"] {
        assert!(ran.stderr.contains(hint), "{hint} in {}", ran.stderr);
    }
    let input = ["x ".repeat(1 << 19), "y\nblue\n".into()].concat();
    let ran = search_with_input(&place, &["--queries", "-", "--count"], input);
    assert_eq!((ran.code, ran.text()), (Some(1), "2\t2\n"), "{}", ran.stderr);
    assert!(ran.stderr.contains("-:1: the line is longer than 1 MiB"), "{}", ran.stderr);
    let most = usize::MAX.to_string();
    let ran = search_with_input(&place, &["--queries", "-", "--threads", &most, "-k", &most], "sky\nred\n");
    assert_eq!((ran.code, ran.text().lines().count()), (Some(0), 2), "{}", ran.stderr);
    assert_eq!(place.search(&["--queries", "/nowhere"]).code, Some(2));
    assert_eq!(place.search(&["--queries", "-", "roses"]).code, Some(2), "either --queries or a query");
    for more in [&["roses"][..], &["--count", "roses"], &["--all", "roses"], &["--sort", "key", "roses"]] {
        let with = |threads: &'static str| place.search(&[&["--threads", threads], more].concat());
        let (one, two) = (with("1"), with("2"));
        assert_eq!((one.code, &one.stdout), (two.code, &two.stdout), "{more:?}");
    }
    assert_eq!(place.search(&["--threads", "0", "roses"]).code, Some(2));
}

#[test]
fn empty_queries_stop_words_and_unknown_fields_mean_the_same_everywhere() {
    let place = Place::with(&POEMS);
    place.indexed(&["--analyzer", "english", "--store", "content"]);
    for query in ["", "the", "the and", "\"the\"", ",;", "()"] {
        for more in
            [&[][..], &["--all"], &["--sort", "key"], &["--snippets"], &["--after", "start"], &["--content"]]
        {
            let ran = place.search(&[more, &["--", query]].concat());
            let what = format!("'{query}' {more:?}: {}", ran.stderr);
            assert_eq!((ran.code, ran.text()), (Some(1), ""), "{what}");
            assert_eq!(ran.stderr, "scanns: no document matches\n", "{what}");
        }
        assert_eq!(place.search(&["--count", "--", query]).text(), "0\n");
        let printed = place.search(&["--print-query", "--", query]);
        let again = place.search(&["--count", "--query-json", printed.text().trim_end()]);
        assert_eq!(again.text(), "0\n", "{query}");
    }
    assert_eq!(place.search(&["--count", "--query-json", r#"{"match": "the"}"#]).text(), "0\n");
    for more in [&[][..], &["--all"], &["--sort", "key"], &["--snippets"], &["--count"], &["--print-query"]] {
        let ran = place.search(&[more, &["nothing:blue"]].concat());
        assert_eq!(ran.code, Some(2), "{more:?}");
        assert!(ran.stderr.contains("no field 'nothing'"), "{more:?}: {}", ran.stderr);
        let ran = place.search(&[more, &["--field", "nothing", "blue"]].concat());
        assert_eq!(ran.code, Some(2), "{more:?}");
        assert!(ran.stderr.contains("it has text"), "{more:?}: {}", ran.stderr);
    }
}

#[test]
fn words_without_a_field_search_all_texts_and_the_best_field_counts() {
    let place = Place::new();
    let records = [
        r#"{"name": "a", "title": "the red rose grows here", "body": "a flower with thorns that many like"}"#,
        r#"{"name": "b", "title": "the blue sky above us", "body": "there is no rose in it, only clouds"}"#,
        r#"{"name": "c", "title": "a rose is a rose", "body": "and a rose is a rose, said the poet"}"#,
    ];
    let schema = "format = 1\n[[field]]\nname = 'title'\ntype = 'text'\n[[field]]\nname = 'body'\n\
                  type = 'text'\n[[field]]\nname = 'name'\ntype = 'keyword'\n";
    let (schema, records) = (place.write("s.toml", schema.as_bytes()), records.join("\n"));
    let records = place.write("r.jsonl", records.as_bytes());
    let mut build = scanns(&["index", "--records", "jsonl", "--schema"]);
    let ran = run(build.arg(schema).arg("-o").arg(place.index()).arg(records));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let lines = |more: &[&str]| -> Vec<(String, f64)> {
        let hits = place.search(&[&["--json"], more].concat()).lines();
        let line =
            |hit: &serde_json::Value| hit["key"].as_str().unwrap().rsplit(':').next().unwrap().to_owned();
        hits.iter().map(|hit| (line(hit), hit["score"].as_f64().unwrap())).collect()
    };
    let keys = |more: &[&str]| lines(more).into_iter().map(|(line, _)| line).collect::<Vec<_>>();
    assert_eq!(keys(&["rose", "--sort", "key"]), ["1", "2", "3"]);
    assert_eq!(keys(&["rose", "--field", "title", "--sort", "key"]), ["1", "3"]);
    assert_eq!(keys(&["rose", "--field", "body", "--sort", "key"]), ["2", "3"]);
    // Words may be in different fields.
    assert_eq!(keys(&["red thorns", "--default-operator", "and"]), ["1"]);
    assert_eq!(
        keys(&["rose -sky"]),
        keys(&[
            "--query-json",
            r#"{"bool": {"should": [{"match": "rose"}], "must_not": [{"term": "sky"}]}}"#
        ])
    );
    // The score is the best one, plus 0.3 of the other.
    let [title, body] = ["title", "body"].map(|field| lines(&["rose", "--field", field]));
    let of =
        |hits: &[(String, f64)], line: &str| hits.iter().find(|hit| hit.0 == line).map_or(0.0, |hit| hit.1);
    for (line, score) in lines(&["rose"]) {
        let (a, b) = (of(&title, &line), of(&body, &line));
        assert!((score - (a.max(b) + 0.3 * a.min(b))).abs() < 1e-5, "{line}");
    }
    for (line, score) in lines(&["rose", "--field", "title^3,body"]) {
        let (a, b) = (3.0 * of(&title, &line), of(&body, &line));
        assert!((score - (a.max(b) + 0.3 * a.min(b))).abs() < 1e-5, "{line}");
    }
    assert!(place.search(&["rose", "--explain"]).text().contains("the best of, plus 0.3 times the others"));
    for (given, said) in [("title^0", "title^3,body^0.5"), ("title,boddy", "boddy"), ("title^x", "title^3")] {
        let ran = place.search(&["rose", "--field", given]);
        assert!(ran.code == Some(2) && ran.stderr.contains(said), "{}", ran.stderr);
    }
    // No word is missing if another field has it.
    let ran = place.search(&["thorns grows zebra -rose"]);
    assert!(!ran.stderr.contains("thorns"), "{}", ran.stderr);
}
