//! Records of JSON and CSV: indexed with inferred or given fields; malformed records are reported.

use super::*;

const PEOPLE: &str = r#"{"name": "ada", "born": 1815, "wrote": "On the engine", "home": {"city": "London"}}
{"name": "grace", "born": 1906, "wrote": "A compiler and a manual", "home": {"city": "New York"}}

{"name": "alan", "born": "1912", "wrote": "On computable numbers and a problem", "home": {"city": "London"}}
"#;

#[test]
fn json_lines_are_indexed_with_fields_that_a_sample_suggests() {
    let place = Place::with(&[("people.jsonl", PEOPLE)]);
    let ran = place.indexed(&["--records", "jsonl"]);
    let text = ran.text();
    assert!(text.contains("fields inferred from a sample of 3 records"), "{text}");
    assert!(text.contains("home.city") && text.contains("blank: 1 record skipped"), "{text}");
    assert_eq!(place.found(&["compiler"]), ["people.jsonl:2"]);
    assert_eq!(place.found(&["--field", "home.city", "London"]), ["people.jsonl:1", "people.jsonl:4"]);
    let fields = place.info(&["--fields", "--json"]).json();
    let city =
        fields["fields"].as_array().unwrap().iter().find(|f| f["name"] == "home.city").unwrap().clone();
    assert_eq!(city["values"]["distinct"], 2);
    assert_eq!(city["values"]["least"], "London");
    assert_eq!(city["values"]["greatest"], "New York");
    let table = place.info(&["--fields"]);
    assert!(table.text().contains("different") && table.text().contains("New York"), "{}", table.text());
    // The second run takes the record type and the fields from the index.
    let again = place.indexed(&[]);
    assert!(again.text().contains("unchanged: 1 file"), "{}", again.text());
}

#[test]
fn records_are_stored_unless_the_store_is_none() {
    for (more, is_stored) in [(&[][..], true), (&["--store", "none"], false)] {
        let place = Place::with(&[("people.jsonl", PEOPLE)]);
        place.indexed(&[&["--records", "jsonl"], more].concat());
        let ran = place.search(&["--content", "compiler"]);
        assert_eq!(ran.text().contains("A compiler and a manual"), is_stored, "{}{}", ran.text(), ran.stderr);
    }
}

#[test]
fn a_schema_is_written_edited_and_given_back() {
    let place =
        Place::with(&[("a.csv", "name;size;note\nx;1;\"two\nlines\"\ny;many;none\nz;3;\"more; of it\"\n")]);
    let schema = place.dir.path().join("schema.toml");
    let path = schema.to_str().unwrap();
    let ran = run(scanns(&["index", "--records", "csv", "--infer-schema", path]).arg(place.files()));
    assert_eq!((ran.code, ran.text()), (Some(0), ""), "{}", ran.stderr);
    let text = std::fs::read_to_string(&schema).unwrap();
    let edited = text.replacen(
        "type = \"keyword\"\nsearched = true\ncolumn = true",
        "type = \"unsigned\"\ncolumn = true",
        2,
    );
    let edited =
        edited.replacen("type = \"unsigned\"\ncolumn = true", "type = \"keyword\"\nstored = true", 1);
    std::fs::write(&schema, &edited).unwrap();
    let ran = place.index_with(&["--records", "csv", "--schema", path]);
    assert_eq!(ran.code, Some(1), "{}\n{edited}", ran.stderr);
    let expected =
        "field size: 1 of 3 values (33 %) does not fit its type and was left out; the first is \"many\" at ";
    assert!(ran.stderr.contains(expected) && ran.stderr.contains("a.csv:4; write type = "), "{}", ran.stderr);
    assert_eq!(place.found(&["--field", "name", "z"]), ["a.csv:3"]);
    // A different schema is refused, with the conflict.
    std::fs::write(&schema, text).unwrap();
    let ran = place.index_with(&["--records", "csv", "--schema", path]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("field 'name' of the given schema conflicts with"), "{}", ran.stderr);
    let ran = run(scanns(&["index", "--records", "csv", "--infer-schema", "-"]).arg(place.files()));
    assert!(ran.text().contains("[[field]]"), "{}", ran.text());
}

#[test]
fn malformed_records_are_listed_with_their_lines_and_the_exit_code_says_so() {
    let place = Place::with(&[("a.jsonl", "{\"a\": \"x\"}\n{\"a\": \u{1b}\n{\"a\": \"y\", \"b\": 1}\n")]);
    let ran = place.index_with(&["--records", "jsonl", "--json"]);
    assert_eq!(ran.code, Some(1));
    let report = ran.json();
    assert_eq!((&report["documents"], &report["records"]["malformed"]), (&Value::from(2), &Value::from(1)));
    assert_eq!(report["records"]["examples"][0]["line"], 2);
    let place = Place::with(&[("a.jsonl", "{\"a\": \"x\"}\n{\"a\": \u{1b}\n")]);
    let ran = place.index_with(&["--records", "jsonl", "--quiet"]);
    assert!(
        ran.stderr.contains("a.jsonl:2: ")
            && ran.stderr.contains("1 record is malformed, 1 line or 8 B lost; the rest"),
        "{}",
        ran.stderr
    );
    assert!(!ran.stderr.contains('\u{1b}') && ran.code == Some(1), "{}", ran.stderr);
}

/// Makes a file with a record of 1 GiB between two small ones; the file is sparse.
fn with_a_large_record(path: &std::path::Path, before: &[u8], after: &[u8]) {
    use std::io::{Seek, SeekFrom, Write};
    let mut file = std::fs::File::create(path).unwrap();
    file.write_all(before).unwrap();
    file.seek(SeekFrom::Start(1 << 30)).unwrap();
    file.write_all(after).unwrap();
}

#[test]
fn a_record_of_a_gibibyte_is_counted_as_malformed_and_those_around_it_are_indexed() {
    for (name, format, before, after) in [
        ("a.jsonl", "jsonl", &b"{\"a\": \"first\"}\n{\"a\": \""[..], &b"\"}\n{\"a\": \"last\"}\n"[..]),
        ("a.csv", "csv", b"a,b\nfirst,1\n\"", b"\",2\nlast,3\n"),
    ] {
        let place = Place::with(&[]);
        with_a_large_record(&place.files().join(name), before, after);
        let ran = place.index_with(&["--records", format, "--memory", "300MiB", "--json"]);
        assert_eq!(ran.code, Some(1), "{}", ran.stderr);
        let report = ran.json();
        assert_eq!(
            (&report["documents"], &report["records"]["malformed"]),
            (&Value::from(2), &Value::from(1)),
            "{report}"
        );
        assert!(report["peak_rss"].as_u64().unwrap() < 400 << 20, "{report}");
        assert_eq!(place.found(&["--field", "a", "last"]).len(), 1);
    }
}

#[test]
fn options_of_records_are_refused_where_they_mean_nothing() {
    let place = Place::with(&[("a", "x")]);
    for more in [
        &["--schema", "x.toml"][..],
        &["--csv-delimiter", ";", "--records", "jsonl"],
        &["--csv-quote", "none"],
        &["--csv-header", "no", "--records", "lines"],
        &["--infer-schema", "-"],
    ] {
        let ran = place.index_with(more);
        assert_eq!(ran.code, Some(2), "{more:?}");
        assert!(ran.stderr.contains("give --records"), "{}", ran.stderr);
    }
    let ran = place.index_with(&["--records", "jsonl"]);
    assert!(ran.code == Some(2) && ran.stderr.contains("no record can be read"), "{}", ran.stderr);
    let ran = run(scanns(&["index"]).arg(place.files()));
    assert!(ran.code == Some(2) && ran.stderr.contains("--output"), "{}", ran.stderr);
}

#[test]
fn files_have_columns_of_what_the_file_system_says_unless_told_otherwise() {
    let place = Place::with(&[("a.txt", "one"), ("b/c.rs", "two words")]);
    place.indexed(&[]);
    let fields = place.info(&["--fields", "--json"]).json();
    let field = |name: &str| {
        fields["fields"].as_array().unwrap().iter().find(|field| field["name"] == name).unwrap().clone()
    };
    assert_eq!(
        (&field("size")["values"]["least"], &field("size")["values"]["greatest"]),
        (&3.into(), &9.into())
    );
    assert_eq!(field("ext")["values"]["distinct"], 2);
    assert_eq!(field("mtime")["values"]["documents"], 2);
    // The text can still be found.
    assert_eq!(place.found(&["words"]), ["c.rs"]);
    place.indexed(&[]);
    let plain = Place::with(&[("a.txt", "one")]);
    plain.indexed(&["--no-metadata"]);
    assert!(!plain.info(&["--fields"]).text().contains("mtime"));
    plain.indexed(&[]);
    let ran = place.index_with(&["--no-metadata"]);
    assert!(ran.code == Some(2) && ran.stderr.contains("built with file metadata"), "{}", ran.stderr);
}
