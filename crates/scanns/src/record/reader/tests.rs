use super::*;
use crate::record::format::MOST_WAITING;
use crate::record::{Conflict, CsvDialect, CsvHeader, RecordError};
use crate::schema::{Analyzer, FieldEntry, FieldKind, Postings};

fn schema(fields: &[(&str, FieldKind)]) -> Schema {
    let mut schema = Schema::new();
    for (name, kind) in fields {
        schema.add(FieldEntry::new(name, kind.clone()).column()).unwrap();
    }
    schema
}

fn text() -> FieldKind {
    FieldKind::Text { analyzer: Analyzer::Standard, postings: Postings::Frequencies }
}

fn values(reader: &mut RecordReader, record: &[u8]) -> Result<Vec<String>, RecordError> {
    let mut values = Vec::new();
    let show = |value: ValueRef<'_>| match value {
        ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
        other => format!("{other:?}"),
    };
    reader
        .record(7, record, &mut |field, value| values.push(format!("{}={}", field.number(), show(value))))?;
    Ok(values)
}

fn csv(header: &str) -> RecordFormat {
    RecordFormat::Csv(CsvHeader::parse(header.as_bytes(), &CsvDialect::default()).unwrap())
}

#[test]
fn values_go_to_their_fields_and_all_others_are_counted() {
    let fields = [("a.b", FieldKind::Unsigned), ("user_name", FieldKind::Keyword), ("when", FieldKind::Date)];
    let schema = schema(&fields);
    let mut reader = RecordReader::new(&schema, &Sources::of(&schema), RecordFormat::Json);
    let record =
        br#"{"a":[{"b":1},{"b":"x"},{"b":2.0}],"user name":"\u00e4","when":"1970-01-01","z":[1,null,2]}"#;
    assert_eq!(values(&mut reader, record).unwrap(), ["0=Unsigned(1)", "0=Unsigned(2)", "1=ä", "2=Date(0)"]);
    assert_eq!(values(&mut reader, b"{\"when\":5,\"when\":true}").unwrap(), [""; 0]);
    assert_eq!(reader.record(8, b" \r\n", &mut |_, _| {}), Ok(Recorded::Blank));
    assert!(
        reader
            .record(9, b"{\"user_name\":\"x\",\"y\":1,}", &mut |_, _| panic!("a value was passed on"))
            .is_err()
    );
    let counts = reader.take_counts();
    assert_eq!((counts.documents(), counts.blank(), counts.malformed()), (2, 1, 1));
    let conflicts: Vec<_> =
        counts.conflicts().map(|(field, conflict)| (field.number(), conflict.clone())).collect();
    let conflict = |count, example: &str, values| Conflict { count, example: example.into(), values };
    assert_eq!(conflicts, [(0, conflict(1, "x", 3)), (2, conflict(2, "5", 3))]);
    assert_eq!(counts.unknown(), [("z", 2)]);
    let [malformed] = counts.malformed_examples() else { panic!("one is malformed") };
    assert_eq!((malformed.line, malformed.error.at()), (9, 23));
    assert_eq!(malformed.text, "{\"user_name\":\"x\",\"y\":1,}");
    assert_eq!(reader.take_counts(), RecordCounts::default());
}

#[test]
fn a_source_may_have_another_name_and_several_fields() {
    let schema = schema(&[("title", text()), ("title_key", FieldKind::Keyword), ("x", FieldKind::Signed)]);
    let mut sources = Sources::of(&schema);
    let field = |name| schema.field(name).unwrap();
    sources.set(field("title_key"), "title");
    sources.set(field("x"), "deep er.y");
    assert_eq!(sources.source(field("x")), Some("deep er.y"));
    let mut reader = RecordReader::new(&schema, &sources, RecordFormat::Json);
    let record = br#"{"title":"T t","x":1,"deep er":{"y":-2},"title_key":"no"}"#;
    assert_eq!(values(&mut reader, record).unwrap(), ["0=T t", "1=T t", "2=Signed(-2)"]);
    assert_eq!(reader.counts().unknown(), [("title_key", 1), ("x", 1)]);
    reader.set_format(csv("deep er.y,title\n"));
    assert_eq!(values(&mut reader, b"3,u\n").unwrap(), ["2=Signed(3)", "0=u", "1=u"]);
}

#[test]
fn rows_of_csv_are_typed_and_may_lack_values() {
    let schema = schema(&[("n", FieldKind::Float), ("t", text()), ("b", FieldKind::Boolean)]);
    let mut reader = RecordReader::new(&schema, &Sources::of(&schema), csv("\u{feff}n;t;?;b\r\n"));
    assert_eq!(
        values(&mut reader, b"1.5;\"a;\"\"b\"\"\n\";9;true\r\n").unwrap(),
        ["0=Float(1.5)", "1=a;\"b\"\n", "2=Boolean(true)"]
    );
    assert_eq!(values(&mut reader, b";\"\"").unwrap(), ["1="]);
    assert_eq!(values(&mut reader, b" 2 ;\xff").unwrap(), ["0=Float(2.0)", "1=\u{fffd}"]);
    assert_eq!(values(&mut reader, b"x;;;no\n").unwrap(), [""; 0]);
    assert_eq!(values(&mut reader, b"1;2;3;;5\n"), Err(RecordError::TooMany { at: 7, names: 4 }));
    assert!(values(&mut reader, b"1;\"2\n").is_err() && values(&mut reader, b"1;\"2\"3\n").is_err());
    assert_eq!(values(&mut reader, b"1;\"2;;true\n").unwrap(), ["0=Float(1.0)", "1=\"2", "2=Boolean(true)"]);
    let counts = reader.counts();
    assert_eq!((counts.documents(), counts.malformed(), counts.conflicts().count()), (5, 3, 2));
    assert_eq!((counts.repaired().count, counts.short().count, counts.several().count), (1, 2, 1));
    assert_eq!((counts.lost().lines, counts.lost().bytes), (3, 9 + 5 + 7));
    assert_eq!(counts.unknown(), [("?", 1)]);
}

#[test]
fn more_values_than_may_wait_are_passed_on_in_order() {
    let schema = schema(&[("n", FieldKind::Unsigned)]);
    let mut reader = RecordReader::new(&schema, &Sources::of(&schema), RecordFormat::Json);
    let numbers: Vec<_> = (0..MOST_WAITING * 2).map(|number| number.to_string()).collect();
    let record = format!("{{\"x\":[{0}],\"n\":[{0}]}}", numbers.join(","));
    let mut next = 0;
    let mut tell = |_: Field, value: ValueRef<'_>| {
        assert_eq!(value, ValueRef::Unsigned(next));
        next += 1;
    };
    reader.record(1, record.as_bytes(), &mut tell).unwrap();
    assert_eq!(next, numbers.len() as u64);
    assert_eq!(reader.counts().unknown(), [("x", numbers.len() as u64)]);
    let cut = &record[..record.len() - 1];
    assert!(reader.record(2, cut.as_bytes(), &mut |_, _| panic!("a value was passed on")).is_err());
    assert_eq!(reader.counts().unknown(), [("x", numbers.len() as u64)]);
}

#[test]
fn counts_take_bounded_memory() {
    let schema = schema(&[("n", FieldKind::Unsigned)]);
    let mut all = RecordCounts::default();
    for part in 0..2 {
        let mut reader = RecordReader::new(&schema, &Sources::of(&schema), RecordFormat::Json);
        for number in 0..30_000 {
            let record = format!("{{\"{part} {number} {}\":1,\"n\":1,\"common\":0}}", "x".repeat(300));
            assert_eq!(values(&mut reader, record.as_bytes()).unwrap(), ["0=Unsigned(1)"]);
            assert!(
                values(&mut reader, format!("{{\"n\":\"{}\"}}", "ä".repeat(100)).as_bytes())
                    .unwrap()
                    .is_empty()
            );
            if number < 20 {
                assert!(values(&mut reader, format!("{{\"n\":\"{}\n", "ä".repeat(100)).as_bytes()).is_err());
            }
        }
        let known = reader.known.len();
        assert!(known < 20_000, "{known}");
        all.merge(reader.take_counts());
    }
    assert_eq!((all.documents(), all.malformed(), all.malformed_examples().len()), (120_000, 40, 10));
    let unknown = all.unknown();
    assert_eq!((unknown.len(), unknown[0]), (1000, ("common", 60_000)));
    assert_eq!(all.unknown_rest(), 60_000 - 999);
    assert!(unknown.iter().all(|(name, _)| name.len() <= 255));
    let (_, conflict) = all.conflicts().next().unwrap();
    assert_eq!((conflict.count, conflict.example.as_str()), (60_000, "ä".repeat(40).as_str()));
    assert!(all.malformed_examples().iter().all(|example| example.text.len() <= 80));
}

#[test]
fn random_bytes_do_no_harm_and_malformed_records_have_no_values() {
    let seed = 0x5eed_0f0f;
    let mut random = fastrand::Rng::with_seed(seed);
    let schema = schema(&[("a", FieldKind::Signed), ("b", text()), ("c", FieldKind::Date)]);
    let formats = [RecordFormat::Json, csv("a,b,c\n")];
    let records = [
        r#"{"a":1,"b":["x\n\u00e4",{"z":1e5}],"c":"1970-01-01T00:00:00Z"}"#,
        "1,\"x\"\"y\n\",1970-01-01\r\n",
    ];
    for (format, record) in formats.into_iter().zip(records) {
        let mut reader = RecordReader::new(&schema, &Sources::of(&schema), format);
        for round in 0..50_000 {
            let mut bytes = record.as_bytes().to_vec();
            for _ in 0..random.usize(1..5) {
                let at = random.usize(..bytes.len());
                bytes[at] = random.u8(..);
            }
            bytes.truncate(random.usize(..=bytes.len() * 4));
            let mut count = 0;
            let result = reader.record(round, &bytes, &mut |_, _| count += 1);
            assert!(result == Ok(Recorded::Document) || count == 0, "seed {seed:x} round {round}");
        }
    }
}

/// `cargo test --release -p scanns --lib -- --ignored json_speed --nocapture`
#[test]
#[ignore = "a measurement: it takes seconds, and needs a release build"]
fn json_speed() {
    let mut random = fastrand::Rng::with_seed(1);
    let mut lines = Vec::new();
    let (mut json, mut rows) = (Vec::new(), Vec::new());
    for number in 0..100_000u64 {
        let (size, ratio, second) = (random.u64(..1 << 30), random.f64() * 100.0, random.u32(..60));
        let path = format!("/home/user{}/projects/data/file-{number}.parquet", random.u8(..50));
        let (owner, mode) = (["ada", "grace", "edsger"][random.usize(..3)], random.bool());
        json.push(format!(
            "{{\"path\":\"{path}\",\"size\":{size},\"owner\":\"{owner}\",\"group\":\"staff\",\
             \"mode\":{mode},\"mtime\":\"2024-05-06T07:08:{second:02}Z\",\"ratio\":{ratio:.3},\"links\":1,\
             \"host\":\"node{}\",\"comment\":\"nothing of note was found here\"}}",
            random.u8(..)
        ));
        rows.push(format!(
            "{path},{size},{owner},staff,{mode},2024-05-06T07:08:{second:02}Z,{ratio:.3},1,n,nothing of note"
        ));
        lines.push(number);
    }
    let fields = [
        ("path", FieldKind::Keyword),
        ("size", FieldKind::Unsigned),
        ("owner", FieldKind::Keyword),
        ("group", FieldKind::Keyword),
        ("mode", FieldKind::Boolean),
        ("mtime", FieldKind::Date),
        ("ratio", FieldKind::Float),
        ("links", FieldKind::Unsigned),
        ("host", FieldKind::Keyword),
        ("comment", text()),
    ];
    let schema = schema(&fields);
    let header = csv("path,size,owner,group,mode,mtime,ratio,links,host,comment");
    for (name, format, records) in [("json", RecordFormat::Json, json), ("csv", header, rows)] {
        let bytes: usize = records.iter().map(String::len).sum();
        for _ in 0..3 {
            let mut parser = RecordParser::new(format.clone());
            let mut reader = RecordReader::new(&schema, &Sources::of(&schema), format.clone());
            let start = std::time::Instant::now();
            let mut sum = 0;
            for record in &records {
                parser.parse(record.as_bytes(), &mut |raw| sum += u64::from(raw.end)).unwrap();
            }
            let parsed = start.elapsed();
            let start = std::time::Instant::now();
            let mut values = 0;
            for (line, record) in lines.iter().zip(&records) {
                let count = &mut |_: Field, value: ValueRef<'_>| {
                    values += usize::from(std::hint::black_box(value) != ValueRef::Unsigned(u64::MAX));
                };
                reader.record(*line, record.as_bytes(), count).unwrap();
            }
            let read = start.elapsed();
            assert!(sum > 0 && values == 10 * records.len());
            let rate = |time: std::time::Duration| bytes as f64 / 1e6 / time.as_secs_f64();
            println!("{name}: {:.0} MB/s parsed, {:.0} MB/s to values", rate(parsed), rate(read));
        }
    }
}
