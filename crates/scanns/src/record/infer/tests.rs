use super::*;
use crate::record::seen_field::KEYS;
use crate::record::{CsvDialect, CsvHeader, RecordReader};
use crate::schema::MAX_KEY;

fn json(lines: &[&str]) -> Inferred {
    let mut inference = Inference::new(RecordFormat::Json);
    for line in lines {
        inference.record(1, line.as_bytes()).unwrap();
    }
    inference.finish().unwrap()
}

fn kinds(inferred: &Inferred) -> Vec<(String, &'static str)> {
    inferred.schema.fields().map(|(_, entry)| (entry.name.clone(), entry.kind.name())).collect()
}

/// The kind of a field with these values.
fn kind_of(values: &[&str]) -> &'static str {
    let lines: Vec<_> = values.iter().map(|value| format!("{{\"a\":{value}}}")).collect();
    kinds(&json(&lines.iter().map(String::as_str).collect::<Vec<_>>()))[0].1
}

#[test]
fn the_values_determine_the_kind_of_a_field() {
    let long = format!("\"{}\"", "x".repeat(65));
    let huge = format!("\"{}\"", "x".repeat(MAX_KEY + 1));
    for (values, kind) in [
        (vec!["true", "false", "null"], "boolean"),
        (vec!["0", "18446744073709551615"], "unsigned"),
        (vec!["0", "-1"], "signed"),
        (vec!["-9223372036854775808", "9223372036854775807"], "signed"),
        (vec!["-1", "18446744073709551615"], "float"),
        (vec!["18446744073709551616"], "float"),
        (vec!["1", "1.0"], "float"),
        (vec!["1e3"], "float"),
        (vec!["\"2024-01-02\"", "\"2024-01-02T03:04:05.6+01:00\""], "date"),
        (vec!["\"2024-01-02\"", "\"soon\""], "keyword"),
        (vec!["\"one two three\""], "keyword"),
        (vec!["\"one two three four\""], "text"),
        (vec!["\"one two three four\"", "\"one\""], "keyword"),
        (vec![&long], "text"),
        (vec![&long, "\"x\""], "keyword"),
        (vec!["true", "1"], "keyword"),
        (vec!["1", "\"1\""], "keyword"),
        (vec!["\"1\""], "keyword"),
        (vec!["\"true\""], "keyword"),
        (vec!["[1,2]", "{\"b\":\"x\"}"], "unsigned"),
        (vec!["\"\""], "keyword"),
    ] {
        assert_eq!(kind_of(&values), kind, "{values:?}");
    }
    let mut values = vec!["\"x\""; 1000];
    values.push(&huge);
    assert_eq!(kind_of(&values), "text");
}

#[test]
fn names_are_mapped_and_distinguished() {
    let inferred = json(&[
        r#"{"user name":"a","z":null,"o":{"p q":1},"both":1}"#,
        r#"{"one/two":1,"one two":2,"empty":{}}"#,
    ]);
    let expected = [
        ("user_name", "keyword"),
        ("o.p_q", "unsigned"),
        ("both", "unsigned"),
        ("one_two", "unsigned"),
        ("user_name.words", "text"),
    ];
    assert_eq!(kinds(&inferred), expected.map(|(name, kind)| (name.to_string(), kind)));
    let source = |name| inferred.sources.source(inferred.schema.field(name).unwrap()).unwrap();
    assert_eq!(
        ["user_name", "o.p_q", "both", "one_two"].map(source),
        ["user name", "o.p q", "both", "one_two"]
    );
    assert_eq!(inferred.left_out, [("z".to_string(), 0)]);
    let mut reader = RecordReader::new(&inferred.schema, &inferred.sources, RecordFormat::Json);
    let mut count = 0;
    reader.record(1, br#"{"one/two":1,"one two":2,"user name":"x"}"#, &mut |_, _| count += 1).unwrap();
    assert_eq!((count, reader.counts().unknown().len()), (4, 0));
}

#[test]
fn rows_of_csv_are_read_as_the_types_they_look_like() {
    let header = CsvHeader::parse(b"id;zip;ok;day;price;note;none\n", &CsvDialect::default()).unwrap();
    let mut inference = Inference::new(RecordFormat::Csv(header));
    for row in [
        "1;01234;true;2024-01-02;1.5;some words that are many;\n",
        "-2;12345; false;2024-01-03;2;\"\";\n",
        "\n",
    ] {
        inference.record(1, row.as_bytes()).unwrap();
    }
    assert!(inference.record(1, b"1;2;3;4;5;6;7;8").is_err());
    let inferred = inference.finish().unwrap();
    let kinds: Vec<_> = kinds(&inferred).into_iter().map(|(_, kind)| kind).collect();
    assert_eq!(kinds, ["signed", "keyword", "boolean", "date", "float", "keyword", "text", "text"]);
    assert_eq!((inferred.counts.documents(), inferred.left_out), (2, vec![("none".to_string(), 0)]));
}

#[test]
fn uses_follow_from_kinds_and_something_is_always_searched() {
    let inferred = json(&[r#"{"n":1,"k":"x","t":"many words of a text","b":true}"#]);
    let uses: Vec<_> = inferred.schema.fields().map(|(_, entry)| (entry.column, entry.searched)).collect();
    assert_eq!(uses, [(true, false), (true, true), (false, true), (true, false), (false, true)]);
    let inferred = json(&[r#"{"n":1,"m":2}"#]);
    let expected = [("n", "unsigned"), ("m", "unsigned"), ("n.keyword", "keyword")];
    assert_eq!(kinds(&inferred), expected.map(|(name, kind)| (name.to_string(), kind)));
    let added = inferred.schema.field("n.keyword").unwrap();
    assert_eq!(inferred.sources.source(added), Some("n"));
    assert_eq!(inferred.figures.len(), 3);
    let error = Inference::new(RecordFormat::Json).finish().unwrap_err().to_string();
    assert!(error.contains("at least one record with a value"), "{error}");
}

/// The field `name` of a CSV file with this column and another one, and its format.
fn column_of(name: &str, values: &[String]) -> (Inferred, String) {
    let header = CsvHeader::parse(format!("{name}\tother\n").as_bytes(), &CsvDialect::default()).unwrap();
    let mut inference = Inference::new(RecordFormat::Csv(header));
    for value in values {
        inference.record(1, format!("{value}\tx\n").as_bytes()).unwrap();
    }
    let inferred = inference.finish().unwrap();
    let (field, entry) = inferred.schema.fields().next().unwrap();
    let told = format!("{} {}", entry.kind.name(), inferred.sources.format(field));
    (inferred, told)
}

#[test]
fn the_majority_of_values_determines_the_kind_and_the_others_are_counted() {
    let prices =
        |odd: usize| (0..1000).map(move |row| if row < odd { "unknown".into() } else { format!("{row}.5") });
    let (inferred, told) = column_of("price", &prices(10).collect::<Vec<_>>());
    assert_eq!(told, "float auto");
    assert_eq!((inferred.figures[0].misfits, inferred.figures[0].misfit.as_deref()), (10, Some("unknown")));
    let (inferred, told) = column_of("price", &prices(11).collect::<Vec<_>>());
    assert_eq!((told.as_str(), inferred.figures[0].misfits), ("keyword auto", 0));
    let few = ["1".into(), "unknown".into()];
    assert_eq!(column_of("price", &few).1, "keyword auto");
    let dates = (0..200).map(|row| if row == 7 { "soon".into() } else { "2024-03-01 10:20".into() });
    assert_eq!(column_of("when", &dates.collect::<Vec<_>>()).1, "date auto");
    // A large number is better a float than left out.
    let sizes = (0..200).map(|row| if row == 7 { "99999999999999999999".into() } else { row.to_string() });
    assert_eq!(column_of("size", &sizes.collect::<Vec<_>>()).1, "float auto");
}

#[test]
fn numbers_are_moments_if_their_name_and_their_size_say_so() {
    let seconds = |row: i64| 1_700_000_000 + row * 1000;
    type Write = fn(i64) -> String;
    let forms: [(&str, Write, &str); 8] = [
        ("mtime", |at| at.to_string(), "date epoch-s"),
        ("created_at", |at| format!("{at}.25"), "date epoch-s"),
        ("startTime", |at| format!("{at}123"), "date epoch-ms"),
        ("ts", |at| format!("{at}123456"), "date epoch-us"),
        ("event.timestamp", |at| format!("{at}123456789"), "date epoch-ns"),
        ("c3", |at| format!("{at}.1234567890"), "date epoch-s"),
        ("size", |at| at.to_string(), "unsigned auto"),
        ("response_time", |at| at.to_string(), "unsigned auto"),
    ];
    for (name, write, expected) in forms {
        let mut values: Vec<String> = (0..50).map(|row| write(seconds(row))).collect();
        assert_eq!(column_of(name, &values).1, expected, "{name}");
        if name == "mtime" {
            // Unknown times are often 0, and there are times before 1970.
            values.extend(["0".into(), "-5".into(), "1".into()]);
            assert_eq!(column_of(name, &values).1, expected, "{name}");
        }
    }
    assert_eq!(column_of("time", &["5".into(), "7".into()]).1, "unsigned auto");
}

#[test]
fn different_paths_are_keywords_with_their_parts_and_the_key() {
    let long = "directory/".repeat(9);
    let paths: Vec<String> = (0..KEYS).map(|row| format!("/{long}{row} of.txt")).collect();
    let (inferred, told) = column_of("path", &paths);
    assert_eq!(told, "keyword auto");
    let key = inferred.schema.field("path").unwrap();
    assert_eq!(inferred.sources.key(), Some(key));
    let parts = inferred.schema.field("path.parts").unwrap();
    assert_eq!(inferred.schema.analyzer(parts).unwrap().name(), "paths");
    assert_eq!(inferred.sources.source(parts), Some("path"));
    // Paths that occur twice, and too few of them, are no keys.
    let twice: Vec<String> = paths.iter().chain(&paths[..1]).cloned().collect();
    assert_eq!(column_of("path", &twice).0.sources.key(), None);
    assert_eq!(column_of("path", &paths[1..]).0.sources.key(), None);
    let urls: Vec<String> = (0..KEYS).map(|row| format!("http://example.org/{row}")).collect();
    assert_eq!(column_of("url", &urls).0.sources.key(), None);
}

#[test]
fn a_field_is_the_key_if_it_is_asked_for_whatever_its_values_are() {
    let mut inference = Inference::new(RecordFormat::Json);
    inference.set_key("the id");
    inference.record(1, br#"{"the id":17,"text":"some words of a text"}"#).unwrap();
    let inferred = inference.finish().unwrap();
    let (field, entry) = inferred.schema.fields().next().unwrap();
    assert_eq!(
        (entry.name.as_str(), entry.kind.name(), inferred.sources.key()),
        ("the_id", "keyword", Some(field))
    );
    let mut inference = Inference::new(RecordFormat::Json);
    inference.set_key("nothing");
    inference.record(1, br#"{"id":17}"#).unwrap();
    let error = inference.finish().unwrap_err().to_string();
    assert!(
        error.contains("key") && error.contains("'nothing'") && error.contains("which has id"),
        "{error}"
    );
}

#[test]
fn texts_that_are_numbers_in_another_format_offer_it() {
    let prices: Vec<String> = (0..200).map(|row| format!("1.{row:03},50")).collect();
    let (inferred, told) = column_of("price", &prices);
    assert_eq!(told, "keyword auto");
    let formats: Vec<_> = inferred.figures[0].number_formats.iter().map(|format| format.name()).collect();
    assert_eq!(formats, ["1.234,56"]);
    assert!(column_of("name", &["a".into()]).0.figures[0].number_formats.is_empty());
}

#[test]
fn short_texts_are_searched_by_their_words_too() {
    let has_words = |values: &[String]| column_of("a", values).0.schema.field("a.words").is_some();
    let many: Vec<String> = (0..200).map(|row| format!("word{row}")).collect();
    assert!(!has_words(&many) && has_words(&many[..50]));
    let several: Vec<String> = many.iter().map(|word| format!("new {word}")).collect();
    assert!(has_words(&several));
}

#[test]
fn the_most_frequent_names_win() {
    for value in ["1", "\"x\""] {
        let mut inference = Inference::new(RecordFormat::Json);
        for record in 0..200 {
            let members: Vec<_> = (0..=record / 2).map(|name| format!("\"n{name}\":{value}")).collect();
            inference.record(1, format!("{{{}}}", members.join(",")).as_bytes()).unwrap();
        }
        let inferred = inference.finish().unwrap();
        let names: Vec<_> = kinds(&inferred).into_iter().map(|(name, _)| name).collect();
        let numbers = if value == "1" { 63 } else { 64 };
        let mut expected: Vec<_> = (0..numbers).map(|name| format!("n{name}")).collect();
        expected.extend((value == "1").then(|| "n0.keyword".to_string()));
        assert_eq!(names, expected);
        assert_eq!(inferred.left_out.len(), 100 - numbers);
        assert_eq!(inferred.left_out[0], (format!("n{numbers}"), 200 - 2 * numbers as u64));
    }
}

#[test]
fn hostile_samples_take_bounded_memory() {
    let mut inference = Inference::new(RecordFormat::Json);
    for record in 0..30_000 {
        inference
            .record(1, format!("{{\"name {record}\":{record},\"all\":\"{record}\"}}").as_bytes())
            .unwrap();
    }
    assert_eq!(inference.fields.len(), MOST_NAMES);
    let inferred = inference.finish().unwrap();
    assert_eq!(kinds(&inferred)[1], ("all".to_string(), "keyword"));
    let all = &inferred.figures[1];
    assert_eq!((all.values, all.nulls, all.longest), (30_000, 0, 5));
    assert!((27_000..=30_000).contains(&all.distinct), "{}", all.distinct);
    assert_eq!(inferred.left_out.last().unwrap().1, 30_000 - MOST_NAMES as u64 + 1);
}

#[test]
fn samples_are_the_beginnings_of_files() {
    let csv = b"a;b\n1;\"x\ny\"\n2;z;3\n\n4";
    for (is_whole, values) in [(false, 1), (true, 2)] {
        let mut inference = Inference::new(RecordFormat::Json);
        inference.sample(&FileFormat::Csv(CsvDialect::default()), csv, is_whole).unwrap();
        let inferred = inference.finish().unwrap();
        let counts = &inferred.counts;
        assert_eq!((counts.documents(), counts.malformed(), counts.blank()), (values, 1, 1));
        assert_eq!(counts.malformed_examples()[0].line, 2);
        assert_eq!(inferred.figures[0].values, values);
    }
    for empty in ["", "\n", "a;b"] {
        let mut inference = Inference::new(RecordFormat::Json);
        assert!(
            inference.sample(&FileFormat::Csv(CsvDialect::default()), empty.as_bytes(), false).is_err(),
            "{empty:?}"
        );
    }
    let mut inference = Inference::new(RecordFormat::Json);
    for file in ["{\"a\":1}\n{\"a\":2", "{\"a\":3}", "\r\n{\"a\":4}\r\n"] {
        inference.sample(&FileFormat::Json, file.as_bytes(), true).unwrap();
    }
    let inferred = inference.finish().unwrap();
    let counts = (inferred.counts.documents(), inferred.counts.malformed(), inferred.counts.blank());
    assert_eq!((inferred.figures[0].values, counts), (3, (3, 1, 1)));
    let mut empty = Inference::new(RecordFormat::Json);
    empty.sample(&FileFormat::Json, b"", true).unwrap();
}
