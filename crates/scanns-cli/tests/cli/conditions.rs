//! Conditions on columns, compared with what `find` finds under the same conditions.

use std::fs::File;
use std::process::Command;
use std::time::{Duration, SystemTime};

use crate::Place;

/// The files below a place that satisfy expressions of `find`, sorted by name.
fn find(place: &Place, expression: &[&str]) -> Vec<String> {
    let mut command = Command::new("find");
    command.env("TZ", "UTC").current_dir(place.files()).args([".", "-type", "f"]);
    let found = command.args(expression).args(["-printf", "%f\n"]).output().unwrap();
    assert!(found.status.success(), "{}", String::from_utf8_lossy(&found.stderr));
    let mut names: Vec<String> =
        String::from_utf8(found.stdout).unwrap().lines().map(str::to_owned).collect();
    names.sort();
    names
}

/// 240 files of several sizes, ages and kinds; half of them contain a word.
fn place() -> Place {
    let place = Place::new();
    for number in 0..240u64 {
        let extension = ["gz", "txt", "log"][(number % 3) as usize];
        let mut text = if number % 2 == 0 { "mutex ".to_owned() } else { "lock ".to_owned() };
        text.push_str(&"x".repeat([10, 2_000, 70_000, 4_000][(number / 3 % 4) as usize]));
        let path = place.write(format!("{:02}/{number:03}.{extension}", number % 7), text.as_bytes());
        // 2023-11-14, and then every four days.
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000 + number * 4 * 86_400);
        File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
    }
    place.indexed(&[]);
    place
}

#[test]
fn conditions_beside_each_other_find_what_find_finds() {
    let place = place();
    for (query, expression) in [
        ("size:>1000", &["-size", "+1000c"][..]),
        ("size:>1000 mtime:<2024-06", &["-size", "+1000c", "!", "-newermt", "2024-05-31 23:59:59"]),
        ("ext:gz size:>=2000 size:<50000", &["-name", "*.gz", "-size", "+1999c", "-size", "-50000c"]),
        (
            "(ext:gz OR ext:log) size:>50000",
            &["(", "-name", "*.gz", "-o", "-name", "*.log", ")", "-size", "+50000c"],
        ),
        (
            "(ext:gz size:>50000) OR ext:log",
            &["(", "-name", "*.gz", "-size", "+50000c", "-o", "-name", "*.log", ")"],
        ),
        ("ext:txt -size:>1000", &["-name", "*.txt", "!", "-size", "+1000c"]),
        ("NOT ext:txt mtime:>2025", &["!", "-name", "*.txt", "-newermt", "2025-12-31 23:59:59"]),
    ] {
        let expected = find(&place, expression);
        assert!(!expected.is_empty(), "{query}");
        for more in [&[][..], &["--default-operator", "and"]] {
            let mut found = place.found(&[more, &[query]].concat());
            found.sort();
            assert_eq!(found, expected, "{query} {more:?}");
        }
        assert_eq!(place.count(query), expected.len() as u64, "{query}");
    }
}

#[test]
fn words_rank_within_conditions() {
    let place = place();
    let hits = |query: &str| place.search(&["--all", "--json", query]).lines();
    let scores = |query: &str| -> Vec<(String, String)> {
        let of = |hit: &serde_json::Value| (hit["key"].to_string(), hit["score"].to_string());
        let mut found: Vec<_> = hits(query).iter().map(of).collect();
        found.sort();
        found
    };
    let all = scores("mutex");
    let expected: Vec<_> = all.iter().filter(|(key, _)| key.contains(".gz")).cloned().collect();
    assert!(expected.len() == 40 && all.len() == 120, "{} of {}", expected.len(), all.len());
    for query in ["mutex ext:gz", "ext:gz mutex", "mutex AND ext:gz", "mutex (ext:gz)", "+mutex +ext:gz"] {
        assert_eq!(scores(query), expected, "{query}");
    }
    assert_eq!(scores("mutex lock ext:gz").len(), 80);
    assert_eq!(scores("mutex OR ext:gz").len(), 160);
}

#[test]
fn a_condition_is_explained_and_adds_nothing() {
    let place = place();
    let hits = place.search(&["--json", "-k", "1", "--explain", "mutex ext:gz"]).lines();
    let explanation = &hits[0]["explanation"];
    assert_eq!(explanation["value"], hits[0]["score"], "{explanation}");
    assert!(explanation.to_string().contains("does not change the score"), "{explanation}");
}

#[test]
fn a_delete_by_conditions_deletes_what_satisfies_all_of_them() {
    let place = place();
    let query = "size:>50000 ext:log";
    let expected = find(&place, &["-size", "+50000c", "-name", "*.log"]).len() as u64;
    let index = place.index();
    let ran = crate::run(crate::scanns(&["delete"]).arg(index).args(["--query", query]));
    assert_eq!(ran.text(), format!("{expected} documents deleted, {} left\n", 240 - expected));
}

#[test]
fn a_field_that_does_not_exist_is_an_error_with_the_nearest_name() {
    let place = Place::with(&[("a.txt", "word")]);
    place.indexed(&[]);
    for (query, hint) in [
        ("mtine:>now-1d", "there is no field 'mtine': did you mean mtime? there are text, path, name"),
        ("colour:red", "there is no field 'colour': there are text, path, name"),
    ] {
        let ran = place.search(&[query]);
        assert!(ran.code == Some(2) && ran.stderr.contains(hint), "{query}: {}", ran.stderr);
    }
    let ran = place.search(&["--query-json", r#"{"term": "5", "field": "size"}"#]);
    assert!(ran.code == Some(2) && ran.stderr.contains("column without terms"), "{}", ran.stderr);
    for query in ["size:<1M mtime:>now-1mo", "mtime:[yesterday TO tomorrow]", "size:>=4 size:<0.5k"] {
        assert_eq!(place.count(query), 1, "{query}");
    }
}

#[test]
fn patterns_of_names_and_paths_find_what_find_finds() {
    let place = Place::new();
    for number in 0..3_000u32 {
        let name = ["conf", "html", "c"][(number % 3) as usize];
        place.write(format!("{}/git{}/n{number}.{name}", number % 5, number % 7), b"x");
    }
    place.write("README.md", b"x");
    place.write("a*b", b"x");
    place.indexed(&[]);
    for (query, expression) in [
        ("name:*.conf", &["-name", "*.conf"][..]),
        ("name:*9?.html", &["-name", "*9?.html"]),
        ("name:README.*", &["-name", "README.*"]),
        ("name:n1*.c", &["-name", "n1*.c"]),
        (r"name:a\*b", &["-name", r"a\*b"]),
        ("path:*git3*", &["-path", "*git3*"]),
        ("path:*/git3/n1?0.*", &["-path", "*/git3/n1?0.*"]),
        (r#"name:re"n[0-9]{2}\.(c|conf)""#, &["-regextype", "egrep", "-regex", r".*/n[0-9]{2}\.(c|conf)"]),
        ("NOT name:*.c", &["!", "-name", "*.c"]),
        ("name:(*.c *.md)", &["(", "-name", "*.c", "-o", "-name", "*.md", ")"]),
        ("x name:*.conf size:1", &["-name", "*.conf"]),
    ] {
        let expected = find(&place, expression);
        assert!(!expected.is_empty(), "{query}");
        let mut found = place.found(&[query]);
        found.sort();
        assert_eq!(found, expected, "{query}");
        assert_eq!(place.count(query), expected.len() as u64, "{query}");
    }
}
