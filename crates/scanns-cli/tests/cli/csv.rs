//! Rows of CSV as files have them: stray quotes, no header, tabs, and other surprises. Nothing is lost in
//! silence.

use super::*;

/// Rows of a table of files; `stray` is a name for one of them.
fn table(count: usize, stray: &str) -> String {
    let name = |row: usize| if row == count / 3 { stray.into() } else { format!("file {row}") };
    let rows: String = (0..count).map(|row| format!("{},{row},2024-01-02\n", name(row))).collect();
    format!("name,size,day\n{rows}")
}

#[test]
fn one_stray_quote_in_many_rows_costs_nothing() {
    for stray in ["\"quoted", "\"quoted\" name", "12\" disk"] {
        let place = Place::with(&[("a.csv", &table(200_000, stray))]);
        let ran = place.indexed(&["--records", "csv", "--threads", "2"]);
        assert!(
            ran.text().starts_with("200000 documents") || ran.text().starts_with("200,000"),
            "{}",
            ran.text()
        );
        assert!(!ran.stderr.contains("malformed"), "{}", ran.stderr);
        if stray.starts_with('"') {
            let what = "repaired: 1 row with a stray quote, read as an ordinary character, the first is ";
            assert!(ran.text().contains(what) && ran.text().contains("a.csv:66668: "), "{}", ran.text());
        }
        assert_eq!(place.count("size:>=0"), 200_000);
        assert_eq!(place.found(&["size:66666"]), ["a.csv:66667"]);
    }
}

#[test]
fn more_than_one_percent_lost_is_an_exit_code_with_the_first_places() {
    let bad = "x,1,2,3,4,5\n";
    for (count, bad_rows, code) in [(1000, 5, 0), (1000, 30, 1), (20, 1, 1)] {
        let text = table(count, "plain") + &bad.repeat(bad_rows);
        let place = Place::with(&[("a.csv", &text)]);
        let ran = place.index_with(&["--records", "csv"]);
        assert_eq!(ran.code, Some(code), "{}", ran.stderr);
        let places = ran.stderr.matches("a.csv:").count();
        assert_eq!(places, bad_rows.min(3), "{}", ran.stderr);
        let first = format!("a.csv:{}: the row has more values", count + 2);
        assert!(ran.stderr.contains(&first), "{}", ran.stderr);
        let lines = if bad_rows == 1 { "1 line".into() } else { format!("{bad_rows} lines") };
        assert!(ran.stderr.contains(&format!("malformed, {lines} or ")), "{}", ran.stderr);
    }
    // One long line of JSON among many short ones.
    let lines = "{\"a\": \"x\"}\n".repeat(1000) + &format!("{{\"a\": \"{}\n", "x".repeat(1000));
    let place = Place::with(&[("a.jsonl", &lines)]);
    let ran = place.index_with(&["--records", "jsonl", "--json"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let report = ran.json();
    assert_eq!(report["records"]["malformed_lines"], 1);
    assert_eq!(report["records"]["malformed_bytes"], 1008);
    assert_eq!(report["records"]["bytes"], 12_008);
}

#[test]
fn tabs_without_quotes_and_without_a_header_are_read_as_programs_write_them() {
    let rows = "/srv/a,b\t12\t2024-01-02\n/srv/\"b\t3\t2024-01-03\n\"c\t4\t2024-01-04\n";
    let place = Place::with(&[("find.tsv", rows)]);
    let ran = place.indexed(&["--records", "tsv"]);
    assert!(ran.text().contains("the first row is data, columns are column1"), "{}", ran.text());
    assert!(ran.text().contains("quotes are ordinary characters beside tabs"), "{}", ran.text());
    assert_eq!(place.found(&["column2:>=4"]), ["find.tsv:1", "find.tsv:3"]);
    // A later build reads its rows in the same way.
    place.write("more.tsv", b"\"d\t5\t2024-01-05\nname\t6\t2024-01-06\n");
    place.indexed(&[]);
    assert_eq!(place.count("column2:>=5"), 3);
    let ran = place.index_with(&["--csv-header", "yes"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("another delimiter, quotes or names of columns"), "{}", ran.stderr);
    let named = Place::with(&[("find.tsv", rows)]);
    named.indexed(&["--records", "csv", "--csv-delimiter", "tab", "--csv-header", "path, size,day"]);
    assert_eq!(named.found(&["size:12"]), ["find.tsv:1"]);
    assert_eq!(named.found(&["day:2024-01-03"]), ["find.tsv:2"]);
    let header = Place::with(&[("a.csv", "1,2\n3,4\n")]);
    header.indexed(&["--records", "csv", "--csv-header", "yes"]);
    assert_eq!(header.count("2:4"), 1);
}

#[test]
fn quotes_may_be_ordinary_characters_everywhere() {
    let rows = "name,size\n\"a,1\nb\",2\n\"c\",3\n";
    let place = Place::with(&[("a.csv", rows)]);
    place.indexed(&["--records", "csv"]);
    assert_eq!(place.count("size:>=1"), 2);
    let plain = Place::with(&[("a.csv", rows)]);
    plain.indexed(&["--records", "csv", "--csv-quote", "none"]);
    assert_eq!(plain.count("size:>=1"), 3);
}

#[test]
fn two_columns_of_one_name_stay_two_columns() {
    let place = Place::with(&[("a.csv", "name,size,name,\na,1,b,c\nd,2,e,f\n")]);
    let ran = place.indexed(&["--records", "csv"]);
    assert!(
        ran.text().contains("column 3 is called name_2: its name \"name\" is empty or taken"),
        "{}",
        ran.text()
    );
    assert!(ran.text().contains("column 4 is called column4"), "{}", ran.text());
    assert_eq!(place.found(&["--field", "name_2", "e"]), ["a.csv:2"]);
    assert_eq!(place.found(&["--field", "name", "e"]), [""; 0]);
    assert_eq!(place.found(&["--field", "column4", "f"]), ["a.csv:2"]);
}

#[test]
fn files_without_records_say_what_they_have_instead() {
    for (name, text, format, message) in [
        ("a.csv", "", "csv", "it is empty"),
        ("a.csv", "name,size\n", "csv", "there are no rows below the header"),
        ("a.csv", "name,size\ra,1\rb,2\r", "csv", "carriage returns alone"),
        ("a.csv", "name,size\n,\n,\n", "csv", "no record has a value"),
        ("a.jsonl", "\n\n", "jsonl", "all lines are blank"),
        ("a.jsonl", "x\n", "jsonl", "the first one is malformed: expected"),
    ] {
        let place = Place::with(&[(name, text)]);
        let ran = place.index_with(&["--records", format]);
        assert_eq!(ran.code, Some(2), "{text:?}");
        assert!(ran.stderr.contains(message) && ran.stderr.contains(name), "{text:?}: {}", ran.stderr);
        let ran = run(scanns(&["index", "--infer-schema", "-", "--records", format]).arg(place.files()));
        assert!(ran.code == Some(2) && ran.stderr.contains(message), "{text:?}: {}", ran.stderr);
    }
    let place = Place::new();
    place.write("a.csv.gz", b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03nothing that was compressed");
    let ran = place.index_with(&["--records", "csv"]);
    assert!(ran.code == Some(2) && ran.stderr.contains("it cannot be read: "), "{}", ran.stderr);
    let ran = run(&mut scanns(&["index", "--infer-schema", "-", "--records", "csv", "/no/such/file.csv"]));
    assert!(ran.code == Some(2) && ran.stderr.contains("/no/such/file.csv: "), "{}", ran.stderr);
}
