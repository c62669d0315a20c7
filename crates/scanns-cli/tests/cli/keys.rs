//! Keys of records: `--key`, replacement, doubles, and the verbs that take keys.

use super::*;

/// The keys and the texts of all documents, sorted.
fn documents(place: &Place) -> Vec<(String, String)> {
    let ran =
        run(scanns(&["export"]).arg(place.index()).args(["--format", "jsonl", "--fields", "_key,word"]));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let text = |value: &Value| value.as_str().unwrap_or("").to_string();
    let mut all: Vec<_> = ran.lines().iter().map(|row| (text(&row["_key"]), text(&row["word"]))).collect();
    all.sort();
    all
}

/// JSON lines with an identifier and a word each.
fn words(rows: &[(&str, &str)]) -> String {
    rows.iter().map(|(id, word)| format!("{{\"id\": \"{id}\", \"word\": \"{word}\"}}\n")).collect()
}

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(key, word)| ((*key).into(), (*word).into())).collect()
}

#[test]
fn hits_are_named_by_the_key_and_the_last_of_several_records_with_a_key_is_kept() {
    let place = Place::with(&[("a.jsonl", &words(&[("x", "one"), ("y", "two"), ("x", "three")]))]);
    let ran = place.indexed(&["--records", "jsonl", "--key", "id"]);
    for part in [
        "double keys: 1 record left out",
        "a.jsonl:1, and ",
        "a.jsonl:3 has its key \"x\" too",
        "2 documents",
    ] {
        assert!(ran.text().contains(part), "{part} in {}", ran.text());
    }
    assert_eq!(documents(&place), pairs(&[("x", "three"), ("y", "two")]));
    assert_eq!(place.found(&["--field", "word", "two"]), ["y"]);
    assert!(place.info(&[]).text().contains("key        id"));
    assert_eq!(place.info(&["--json"]).json()["key"], "id");
    let report = place.index_with(&["--reindex", "--json"]).json();
    assert_eq!((&report["documents"], &report["records"]["doubles"]), (&2.into(), &1.into()), "{report}");
    assert_eq!(report["records"]["double"]["kept_line"], 3);
}

#[test]
fn a_record_replaces_an_earlier_one_of_any_file_and_files_without_records_left_are_not_read_again() {
    let place = Place::with(&[("b.jsonl", &words(&[("x", "old"), ("y", "old")]))]);
    place.indexed(&["--records", "jsonl", "--key", "id"]);
    place.write("a.jsonl", words(&[("x", "new"), ("z", "new")]).as_bytes());
    let ran = place.indexed(&[]);
    assert!(ran.text().contains("unchanged: 1 file"), "{}", ran.text());
    assert_eq!(documents(&place), pairs(&[("x", "new"), ("y", "old"), ("z", "new")]));
    // All records of both files are replaced; they have not changed and are not read again.
    place.write("c.jsonl", words(&[("x", "newest"), ("y", "newest"), ("z", "newest")]).as_bytes());
    place.indexed(&[]);
    let newest = pairs(&[("x", "newest"), ("y", "newest"), ("z", "newest")]);
    assert_eq!(documents(&place), newest);
    for _ in 0..2 {
        let ran = place.indexed(&[]);
        assert!(ran.text().contains("unchanged: 3 files"), "{}", ran.text());
        assert_eq!(documents(&place), newest);
    }
    assert_eq!(run(scanns(&["merge"]).arg(place.index())).code, Some(0));
    place.indexed(&[]);
    assert_eq!(documents(&place), newest);
    // A file that changes replaces again, also its own old records.
    place.write("a.jsonl", words(&[("x", "last")]).as_bytes());
    place.indexed(&[]);
    assert_eq!(documents(&place), pairs(&[("x", "last"), ("y", "newest"), ("z", "newest")]));
    std::fs::remove_file(place.files().join("c.jsonl")).unwrap();
    let ran = place.indexed(&[]);
    assert!(ran.text().contains("read again: 1 unchanged file"), "{}", ran.text());
    // What it replaced comes back, unless a later record has the key.
    assert_eq!(documents(&place), pairs(&[("x", "last"), ("y", "old")]));
    place.indexed(&["--reindex"]);
    assert_eq!(documents(&place), pairs(&[("x", "old"), ("y", "old")]));
    assert_eq!(run(scanns(&["check"]).arg(place.index())).code, Some(0));
}

#[test]
fn delete_update_and_like_go_by_the_key() {
    let names: Vec<String> = (0..9).map(|number| format!("/d/{number}")).chain(["z".into()]).collect();
    let records: String = names
        .iter()
        .map(|id| format!("{{\"id\": \"{id}\", \"text\": \"many green and sour apples\"}}\n"))
        .collect();
    let place = Place::with(&[("a.jsonl", &records)]);
    place.indexed(&["--records", "jsonl", "--key", "id", "--store", "content"]);
    let like = place.search(&["--like", "/d/3", "--field", "text", "--json"]);
    assert!(like.code != Some(2), "{}", like.stderr);
    let delete = |key: &str| run(scanns(&["delete"]).arg(place.index()).arg(key));
    assert_eq!(delete("nothing").code, Some(1));
    assert!(delete("z").text().contains("1 document deleted, 9 left"));
    assert!(delete("/d").text().contains("9 documents deleted, 0 left"));
}

#[test]
fn places_select_records_where_no_key_is_meant() {
    let place = Place::with(&[("a.jsonl", &words(&[("x", "one"), ("y", "two"), ("z", "three")]))]);
    place.indexed(&["--records", "jsonl", "--key", "id"]);
    let file = place.files().join("a.jsonl");
    let delete = |key: String| run(scanns(&["delete"]).arg(place.index()).arg(key));
    assert!(delete(format!("{}:2", file.display())).text().contains("1 document deleted, 2 left"));
    assert!(delete(file.display().to_string()).text().contains("2 documents deleted, 0 left"));
}

#[test]
fn records_without_a_key_are_counted_and_named_by_their_places() {
    let text = "{\"id\": \"x\"}\n{\"word\": \"lost\"}\n{\"id\": \"\", \"word\": \"empty\"}\n\
                {\"id\": [\"p\", \"q\"]}\n";
    let place = Place::with(&[("a.jsonl", text)]);
    let ran = place.index_with(&["--records", "jsonl", "--key", "id"]);
    assert!(
        ran.text().contains("without a key: 2 records") && ran.text().contains("a.jsonl:2"),
        "{}",
        ran.text()
    );
    assert_eq!(place.found(&["*"]), ["a.jsonl:2", "a.jsonl:3", "p", "x"]);
    // A record has one key.
    assert!(ran.stderr.contains("field id: 1 of 3 values"), "{}", ran.stderr);
}

#[test]
fn another_key_than_the_key_of_the_index_is_refused() {
    let place = Place::with(&[("a.jsonl", &words(&[("x", "one")]))]);
    for (key, hint) in [("nothing", "a field of the sample, which has id, word"), ("", "''")] {
        let ran = place.index_with(&["--records", "jsonl", "--key", key]);
        assert!(ran.code == Some(2) && ran.stderr.contains(hint), "{}", ran.stderr);
    }
    place.indexed(&["--records", "jsonl", "--key", "id"]);
    place.indexed(&["--records", "jsonl", "--key", "id"]);
    let ran = place.index_with(&["--records", "jsonl", "--key", "word"]);
    assert!(ran.code == Some(2) && ran.stderr.contains("the index, whose key is 'id'"), "{}", ran.stderr);
    let plain = Place::with(&[("a.txt", "one")]);
    let ran = plain.index_with(&["--key", "path"]);
    assert!(ran.code == Some(2) && ran.stderr.contains("--key is for records"), "{}", ran.stderr);
    // The schema file names the key too.
    let schema = place.dir.path().join("schema.toml");
    let ran = run(scanns(&["index", "--records", "jsonl", "--key", "word", "--infer-schema"])
        .arg(&schema)
        .arg(place.files()));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(std::fs::read_to_string(&schema).unwrap().contains("key = true"));
    let other = Place::with(&[("a.jsonl", &words(&[("x", "one")]))]);
    other.indexed(&["--records", "jsonl", "--schema", schema.to_str().unwrap()]);
    assert_eq!(other.found(&["*"]), ["one"]);
}

#[test]
fn a_dump_of_files_has_its_paths_as_keys() {
    let rows: String = (0..50).map(|row| format!("/data/{}/f{row}.txt\t{row}\n", row % 3)).collect();
    let place = Place::with(&[("dump.tsv", &format!("path\tsize\n{rows}"))]);
    let ran = place.indexed(&["--records", "csv"]);
    assert!(ran.text().contains("key, searched, column"), "{}", ran.text());
    let hits = place.search(&["--json", "size:7"]).lines();
    assert_eq!(hits[0]["key"], "/data/1/f7.txt");
    // A later dump replaces the earlier one.
    place.write("later.tsv", b"path\tsize\n/data/1/f7.txt\t700\n");
    place.indexed(&[]);
    assert_eq!((place.count("size:7"), place.count("size:700"), place.count("*")), (0, 1, 50));
    let deleted = run(scanns(&["delete"]).arg(place.index()).arg("/data/1"));
    assert!(deleted.text().contains("17 documents deleted, 33 left"), "{}", deleted.text());
}
