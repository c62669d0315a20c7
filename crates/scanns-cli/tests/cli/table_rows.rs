//! Rows of Parquet and Arrow as records: the same as the JSON Lines of the same rows.

use crate::{Place, Ran, base, run, scanns};

/// Records in which some values are missing.
fn people() -> String {
    let line = |number: usize| {
        let (born, home) = (1800 + number % 200, ["London", "Paris", "New York"][number % 3]);
        let more = format!(", \"home\": \"{home}\", \"size\": {number}.5");
        let more = if number.is_multiple_of(4) { "" } else { &more };
        format!("{{\"id\": \"p{number}\", \"born\": {born}{more}}}\n")
    };
    (0..5000).map(line).collect()
}

/// A place with an index of the people, and their export in each format in directories of their own.
fn exported() -> Place {
    let place = Place::with(&[("people.jsonl", &people())]);
    place.indexed(&["--records", "jsonl"]);
    for format in ["jsonl", "parquet", "arrow"] {
        let path = place.dir.path().join(format).join(format!("p.{format}"));
        std::fs::create_dir(path.parent().unwrap()).unwrap();
        let fields = ["--fields", "id,born,home,size"];
        let ran = run(scanns(&["export"]).arg(place.index()).args(fields).arg("-o").arg(&path));
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    }
    place
}

fn index(place: &Place, to: &str, more: &[&str]) -> Ran {
    run(scanns(&["index", "-o", to]).args(more).current_dir(place.dir.path()))
}

/// The hits of a query, with the number of the record in place of its file and number.
fn hits(place: &Place, index: &str, query: &[&str]) -> Vec<String> {
    let search = ["search", index, "--fields", "id,born,size"];
    let ran = run(scanns(&search).args(query).current_dir(place.dir.path()));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let row = |line: &str| {
        let cells = line.split('\t').map(|cell| cell.rsplit_once(':').map_or(cell, |(_, number)| number));
        cells.collect::<Vec<_>>().join("\t")
    };
    ran.text().lines().map(row).collect()
}

#[test]
fn rows_of_tables_are_found_as_the_same_rows_of_json_lines_are() {
    let place = exported();
    let lines = index(&place, "j", &["--records", "jsonl", "jsonl/p.jsonl"]);
    assert_eq!(lines.code, Some(0), "{}", lines.stderr);
    for (format, name) in [("parquet", "Parquet"), ("arrow", "Arrow")] {
        let (file, to) = (format!("{format}/p.{format}"), &*format!("of-{format}"));
        let ran = index(&place, to, &["--records", "jsonl", "--json", &file]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let report = ran.json();
        assert_eq!(report["documents"], 5000);
        assert_eq!(report["decoded"][0]["kind"], name);
        assert_eq!(report["remarks"], serde_json::json!([]));
        for query in [
            &["--all", "york"][..],
            &["--all", "home:Paris born:>1900"],
            &["-k", "300", "--sort", "size:desc", "*"],
        ] {
            let (found, expected) = (hits(&place, to, query), hits(&place, "j", query));
            assert!(expected.len() > 100 && found == expected, "{query:?}: {found:?}");
        }
        let shown = run(scanns(&["search", to, "--content", "id:p77"]).current_dir(place.dir.path()));
        assert!(shown.text().contains("\"born\":1877,\"home\":\"New York\""), "{}", shown.text());
        let again = index(&place, to, &[&*file]);
        assert!(again.text().contains("unchanged: 1 file"), "{}{}", again.text(), again.stderr);
    }
}

#[test]
fn files_and_directories_of_tables_are_detected_and_mixed_ones_are_not() {
    let place = exported();
    let ran = index(&place, "one", &["arrow/p.arrow"]);
    assert!(
        ran.stderr.contains("this is a table of Parquet or Arrow: every row is a document"),
        "{}",
        ran.stderr
    );
    assert!(ran.text().starts_with("5,000 documents"), "{}", ran.text());
    std::fs::copy(place.dir.path().join("arrow/p.arrow"), place.dir.path().join("parquet/q.arrow")).unwrap();
    let ran = index(&place, "directory", &["parquet"]);
    assert!(ran.stderr.contains("these are 2 tables of Parquet or Arrow"), "{}", ran.stderr);
    assert!(ran.text().starts_with("10,000 documents"), "{}", ran.text());
    std::fs::write(place.dir.path().join("parquet/readme.txt"), "about the tables\n").unwrap();
    let ran = index(&place, "mixed", &["parquet"]);
    assert!(ran.stderr.contains("--records jsonl makes every row one"), "{}", ran.stderr);
    let found =
        run(scanns(&["search", "mixed", "--all", "--json", "var:born"]).current_dir(place.dir.path()));
    let mut keys: Vec<_> = found.lines().iter().map(|hit| base(hit["key"].as_str().unwrap())).collect();
    keys.sort();
    assert_eq!(keys, ["p.parquet", "q.arrow"], "the schema of both is found: {}", found.text());
}

#[test]
fn rows_before_damage_are_documents_and_the_file_is_listed() {
    let place = exported();
    let path = place.dir.path().join("arrow/p.arrow");
    let bytes = std::fs::read(&path).unwrap();
    // Without its footer, the messages of an Arrow file are read in order.
    std::fs::write(&path, &bytes[..bytes.len() - 10]).unwrap();
    let parquet = place.dir.path().join("parquet/p.parquet");
    let bytes = std::fs::read(&parquet).unwrap();
    std::fs::write(&parquet, &bytes[..bytes.len() / 2]).unwrap();
    let ran = index(&place, "damaged", &["--records", "jsonl", "jsonl", "arrow", "parquet"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(ran.stderr.contains("p.arrow: damaged Arrow after 5000 rows: "), "{}", ran.stderr);
    assert!(ran.stderr.contains("p.parquet: damaged Parquet after 0 rows: "), "{}", ran.stderr);
    assert!(ran.text().starts_with("10,000 documents"), "the rows before the damage: {}", ran.text());
}

#[test]
fn tables_that_cannot_be_read_from_their_end_are_refused_with_a_remedy() {
    let place = exported();
    let dir = place.dir.path();
    let packed = run(std::process::Command::new("gzip").arg("-k").arg(dir.join("parquet/p.parquet")));
    assert_eq!(packed.code, Some(0), "{}", packed.stderr);
    let ran = index(&place, "packed", &["--records", "jsonl", "jsonl/p.jsonl", "parquet/p.parquet.gz"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(
        ran.stderr
            .contains("p.parquet.gz: a table of Parquet is read from its end, so it cannot be compressed"),
        "{}",
        ran.stderr
    );
    let input = std::fs::File::open(dir.join("arrow/p.arrow")).unwrap();
    let ran = run(scanns(&["index", "-o", "stdin", "--records", "jsonl", "-"]).current_dir(dir).stdin(input));
    assert!(
        ran.code != Some(0) && ran.stderr.contains("it cannot be standard input: save it as a file"),
        "{}",
        ran.stderr
    );
    let ran = index(&place, "r", &["--records", "jsonl", "--store", "reference", "arrow/p.arrow"]);
    assert!(ran.code != Some(0) && ran.stderr.contains("instead of --store reference"), "{}", ran.stderr);
}

#[test]
fn values_that_json_does_not_have_are_counted_file_by_file() {
    let place = Place::new();
    let values = arrow_array::Float64Array::from(vec![1.5, f64::NAN, f64::INFINITY]);
    let batch = arrow_array::RecordBatch::try_from_iter([
        ("size", std::sync::Arc::new(values) as arrow_array::ArrayRef),
        ("name", std::sync::Arc::new(arrow_array::StringArray::from(vec!["a", "b", "c"]))),
    ])
    .unwrap();
    let file = std::fs::File::create(place.files().join("x.arrow")).unwrap();
    let mut writer = arrow_ipc::writer::FileWriter::try_new(file, &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    let ran = place.indexed(&["--records", "jsonl"]);
    let remark = "x.arrow: left out: 2 numbers that are infinite or not a number\n";
    assert!(ran.stderr.contains(remark), "{}", ran.stderr);
    assert_eq!(place.count("*"), 3);
}
