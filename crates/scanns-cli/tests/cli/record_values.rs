//! Values of records: dates in the forms of other programs, values that do not fit, and kinds by majority.

use super::*;

/// The kind of each field of the index, by name.
fn kinds(place: &Place) -> std::collections::BTreeMap<String, String> {
    let fields = place.info(&["--fields", "--json"]).json();
    let fields = fields["fields"].as_array().unwrap().iter();
    let text = |field: &Value, name: &str| field[name].as_str().unwrap().to_string();
    fields.map(|field| (text(field, "name"), text(field, "kind"))).collect()
}

/// The schema that is inferred, and the exit code.
fn inferred(place: &Place, records: &str) -> String {
    let ran = run(scanns(&["index", "--records", records, "--infer-schema", "-"]).arg(place.files()));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    ran.text().into()
}

/// A dump of files as `find -printf '%p\t%s\t%T@\n'` writes it, with a header in front.
fn dump(header: &str, rows: usize) -> String {
    let row =
        |row: usize| format!("/data/{row}/a.txt\t{}\t{}.1234567890\n", row * 100, 1_600_000_000 + row * 1000);
    format!("{header}\n") + &(0..rows).map(row).collect::<String>()
}

#[test]
fn the_times_of_a_dump_of_find_are_dates_whatever_their_column_is_called() {
    for header in ["path\tsize\tmtime", "a\tb\tc"] {
        let place = Place::with(&[("dump.tsv", &dump(header, 200))]);
        let ran = place.indexed(&["--records", "csv"]);
        assert!(ran.text().contains("epoch-s"), "{}", ran.text());
        let time = header.split('\t').nth(2).unwrap();
        assert_eq!(kinds(&place)[time], "date");
        // 2020-09-13T12:26:40Z is 1,600,000,000.
        assert_eq!(place.count(&format!("{time}:>=2020-09-13T12:26:40Z {time}:<2020-09-13T13:00")), 2);
        assert_eq!(place.count(&format!("{time}:2020-09-13T12:26:40.123456789Z")), 1);
    }
}

#[test]
fn a_field_whose_values_do_not_fit_is_named_with_its_remedy_and_fails_the_build() {
    let place = Place::with(&[("dump.tsv", &dump("path\tsize\tmtime", 1000))]);
    let schema = place.dir.path().join("schema.toml");
    let text = inferred(&place, "csv");
    assert!(text.contains("format = \"epoch-s\""), "{text}");
    std::fs::write(&schema, text.replace("format = \"epoch-s\"\n", "")).unwrap();
    let path = schema.to_str().unwrap();
    let ran = place.index_with(&["--records", "csv", "--schema", path]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    for part in [
        "field mtime: 1,000 of 1,000 values (100 %) do not fit its type and were left out",
        "the first is \"1600000000.1234567890\" at ",
        "dump.tsv:2; write format = \"epoch-s\" for this field into a schema file",
    ] {
        assert!(ran.stderr.contains(part), "{part} in {}", ran.stderr);
    }
    let place = Place::with(&[("dump.tsv", &dump("path\tsize\tmtime", 1000))]);
    let report = place.index_with(&["--records", "csv", "--schema", path, "--json"]).json();
    let conflict = &report["records"]["conflicts"][0];
    assert_eq!((&conflict["left_out"], &conflict["values"]), (&Value::from(1000), &Value::from(1000)));
    assert_eq!(
        (&conflict["line"], &conflict["hint"]),
        (&Value::from(2), &Value::from("format = \"epoch-s\""))
    );
    // With the advice, all values fit.
    std::fs::write(&schema, text).unwrap();
    let place = Place::with(&[("dump.tsv", &dump("path\tsize\tmtime", 1000))]);
    let ran = place.indexed(&["--records", "csv", "--schema", path]);
    assert!(!ran.stderr.contains("do not fit"), "{}", ran.stderr);
    assert_eq!(place.count("mtime:*"), 1000);
}

#[test]
fn one_text_among_many_prices_is_counted_and_the_prices_are_numbers() {
    let rows = |odd: usize| {
        let price = move |row: usize| if row < odd { "unknown".into() } else { format!("{row}.5") };
        "name,price\n".to_string()
            + &(0..1000).map(|row| format!("n{row},{}\n", price(row))).collect::<String>()
    };
    let place = Place::with(&[("a.csv", &rows(1))]);
    let ran = place.indexed(&["--records", "csv"]);
    assert_eq!(kinds(&place)["price"], "float");
    let expected =
        "field price: 1 of 1,000 values does not fit its type and was left out; the first is \"unknown\" at ";
    assert!(ran.stderr.contains(expected) && ran.stderr.contains("a.csv:2;"), "{}", ran.stderr);
    assert_eq!(place.count("price:>=998"), 2);
    assert!(inferred(&place, "csv").contains("# 1 of them do not fit the type, such as \"unknown\""));
    let place = Place::with(&[("a.csv", &rows(20))]);
    place.indexed(&["--records", "csv"]);
    assert_eq!(kinds(&place)["price"], "keyword");
}

#[test]
fn numbers_with_decimal_commas_are_offered_and_read_with_their_format() {
    let rows = (0..200).map(|row| format!("x{row};{}.{row:03},50\n", row + 1)).collect::<String>();
    let place = Place::with(&[("a.csv", &format!("name;price\n{rows}"))]);
    let text = inferred(&place, "csv");
    assert!(text.contains("# numbers with type = \"float\" and format = \"1.234,56\""), "{text}");
    let schema = place.dir.path().join("schema.toml");
    let fields = "format = 1\n[[field]]\nname = \"name\"\ntype = \"keyword\"\n\
                  [[field]]\nname = \"price\"\ntype = \"float\"\nformat = \"1.234,56\"\n";
    std::fs::write(&schema, fields).unwrap();
    place.indexed(&["--records", "csv", "--schema", schema.to_str().unwrap()]);
    assert_eq!(place.count("price:2001.5"), 1);
    assert_eq!(place.count("price:>=199000"), 2);
    std::fs::write(&schema, fields.replace("1.234,56", "1_234")).unwrap();
    let ran = place.index_with(&["--records", "csv", "--schema", schema.to_str().unwrap()]);
    assert!(ran.code == Some(2) && ran.stderr.contains("epoch-ms"), "{}", ran.stderr);
    std::fs::write(&schema, fields.replace("1.234,56", "rfc2822")).unwrap();
    let ran = place.index_with(&["--records", "csv", "--schema", schema.to_str().unwrap()]);
    assert!(
        ran.stderr.contains("line 5, field \"price\"") && ran.stderr.contains("does not go with"),
        "{}",
        ran.stderr
    );
}

#[test]
fn the_format_of_an_index_is_kept_and_another_one_is_refused() {
    let place = Place::with(&[("a.jsonl", "{\"id\": \"a\", \"n\": 1}\n")]);
    let schema = place.dir.path().join("schema.toml");
    let path = schema.to_str().unwrap();
    let fields = "format = 1\n[[field]]\nname = \"id\"\ntype = \"keyword\"\n\
                  [[field]]\nname = \"n\"\ntype = \"date\"\nformat = \"epoch-ms\"\n";
    std::fs::write(&schema, fields).unwrap();
    place.indexed(&["--records", "jsonl", "--schema", path]);
    place.write("b.jsonl", b"{\"id\": \"b\", \"n\": 1000}\n");
    place.indexed(&[]);
    assert_eq!(place.count("n:1970-01-01T00:00:01"), 1);
    std::fs::write(&schema, fields.replace("epoch-ms", "epoch-s")).unwrap();
    let ran = place.index_with(&["--schema", path, "--records", "jsonl"]);
    assert!(
        ran.code == Some(2) && ran.stderr.contains("field 'n' of the given schema conflicts"),
        "{}",
        ran.stderr
    );
}

#[test]
fn bare_words_find_short_texts_of_small_samples_and_facets_count_them() {
    let place = Place::with(&[(
        "a.jsonl",
        "{\"city\": \"New York\"}\n{\"city\": \"New York\"}\n{\"city\": \"Oslo\"}\n",
    )]);
    place.indexed(&["--records", "jsonl"]);
    assert_eq!(place.count("york"), 2);
    assert_eq!(place.count("oslo"), 1);
    let facets = place.search(&["--facet", "city", "*"]);
    assert!(facets.text().contains("New York"), "{} {}", facets.text(), facets.stderr);
}

#[test]
fn a_path_of_records_stands_for_everything_below_it() {
    let rows: String =
        (0..40).map(|n| format!("/data/{}/file {n}.txt\t{n}\n", ["anna", "anna2", "ben"][n % 3])).collect();
    let place = Place::with(&[("dump.tsv", &format!("{rows}/data/anna\t4096\n"))]);
    place.indexed(&["--records", "tsv", "--csv-header", "path,size"]);
    for (query, expected) in [
        ("path:/data/anna", 15),
        ("path:/data/anna/", 15),
        ("path:/data", 41),
        ("path:/", 41),
        ("path:\"/data/anna/file 3.txt\"", 1),
        ("path:/data/an", 0),
        ("path:(/data/anna OR /data/ben) size:<10", 7),
        ("NOT path:/data/anna", 26),
    ] {
        assert_eq!(place.count(query), expected, "{query}");
    }
}

#[test]
fn a_keyword_is_found_by_its_words_where_these_are_indexed() {
    let titles = ["graph theory", "a graph of graphs", "theory of sets", "graph"];
    let text = "a longer text of the record that nobody reads, with many words in it and in all others";
    let record =
        |(title, n): (&&str, i32)| serde_json::json!({"title": title, "n": n, "text": text}).to_string();
    let records: Vec<String> = titles.iter().zip(1..).map(record).collect();
    let place = Place::with(&[("a.jsonl", &records.join("\n"))]);
    place.indexed(&["--records", "jsonl"]);
    assert_eq!(kinds(&place)["title.words"], "text");
    for (query, expected) in [
        ("title:graph", 3),
        ("title:Graph", 3),
        ("title:\"graph theory\"", 1),
        ("title:graph n:>1", 2),
        ("title:(theory sets)", 2),
        ("NOT title:theory", 2),
    ] {
        assert_eq!(place.count(query), expected, "{query}");
    }
}
