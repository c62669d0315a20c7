//! Orders, counts and statistics by columns, and the values of documents.

use scanns::schema::{Analyzer, Document, FieldEntry, FieldKind, Postings, Schema, Value, parse_date};
use scanns::writer::{IndexWriter, WriterOptions};
use serde_json::json;

use crate::Place;

const FILES: [(&str, u64, &str, &str); 6] = [
    ("a.txt", 300, "ann", "2024-01-05T10:00:00Z"),
    ("b.txt", 2_000_000, "bob", "2024-01-20"),
    ("c.txt", 300, "bob", "2024-02-01"),
    ("d.txt", 5_000_000_000, "ann", "2025-07-01"),
    ("e.txt", 7, "root", "2023-12-31T23:59:59Z"),
    ("f.txt", 0, "", ""),
];

/// An index of files with columns; the last file has no owner and no time.
fn place() -> Place {
    let mut schema = Schema::new();
    let words = FieldKind::Text { analyzer: Analyzer::Standard, postings: Postings::Frequencies };
    let text = schema.add(FieldEntry::new("text", words)).unwrap();
    let mut column = |name: &str, kind| schema.add(FieldEntry::new(name, kind).column()).unwrap();
    let (size, owner) = (column("size", FieldKind::Unsigned), column("owner", FieldKind::Keyword));
    let (mtime, path) = (column("mtime", FieldKind::Date), column("path", FieldKind::Path));
    let note = schema.add(FieldEntry::new("note", FieldKind::Bytes).stored()).unwrap();
    let place = Place::new();
    let writer = IndexWriter::open(place.index(), Some(&schema), WriterOptions::default()).unwrap();
    for (number, (name, bytes, who, when)) in FILES.into_iter().enumerate() {
        let mut document = Document::new(name)
            .text(text, "file")
            .with(size, Value::Unsigned(bytes))
            .text(path, format!("/home/{}/{name}", if number < 3 { "x/y" } else { "z" }))
            .with(note, Value::Bytes(vec![0, 255]));
        if !who.is_empty() {
            document = document.text(owner, who);
            document = document.with(mtime, Value::Date(parse_date(when.as_bytes()).unwrap()));
        }
        writer.add(&document).unwrap();
        if number == 3 {
            writer.commit().unwrap();
        }
    }
    writer.commit().unwrap();
    place
}

fn keys(place: &Place, more: &[&str]) -> Vec<String> {
    let hits = place.search(&[&["--json", "*"], more].concat()).lines();
    hits.iter().map(|hit| hit["key"].as_str().unwrap()[..1].to_owned()).collect()
}

#[test]
fn documents_come_in_the_order_of_columns_page_by_page() {
    let place = place();
    for (order, expected) in [
        ("size", "feacbd"),
        ("size:desc,mtime:desc", "dbcaef"),
        ("owner,-size", "dabcef"),
        ("mtime:first", "feabcd"),
        ("-owner:first,size", "fecbad"),
        ("score,size", "feacbd"),
    ] {
        assert_eq!(keys(&place, &["--sort", order]).concat(), expected, "{order}");
        let (mut found, mut after) = (String::new(), "start".to_owned());
        loop {
            let page = place.search(&["--json", "-k", "2", "--sort", order, "--after", &after, "*"]).lines();
            page.iter().for_each(|hit| found.push_str(&hit["key"].as_str().unwrap()[..1]));
            match page.last().and_then(|hit| hit["after"].as_str()) {
                Some(token) => after = token.to_owned(),
                None => break,
            }
        }
        assert_eq!(found, expected, "{order} by pages");
    }
    let ran = place.search(&["--sort", "size:desc,mtime", "-k", "2", "--fields", "owner,note,path", "*"]);
    let expected = "1\t5000000000, 2025-07-01T00:00:00Z\td.txt\tann\t00ff\t/home/z/d.txt\n\
                    2\t2000000, 2024-01-20T00:00:00Z\tb.txt\tbob\t00ff\t/home/x/y/b.txt\n";
    assert_eq!(ran.text(), expected, "{}", ran.stderr);
    let hit =
        place.search(&["--json", "-k", "1", "--sort", "mtime:first", "--fields", "owner,size", "*"]).json();
    let fields = json!({"owner": [], "size": [0]});
    let expected =
        json!({"rank": 1, "sort": [null], "key": "f.txt", "fields": fields, "after": hit["after"]});
    assert_eq!(hit, expected);
}

#[test]
fn documents_are_counted_by_columns() {
    let place = place();
    let ask = |option: &str, of: &str| {
        let lines = place.search(&["--json", "--count", option, of, "*"]).lines();
        assert_eq!((lines.len(), &lines[0]), (2, &json!({"count": 6})), "{of}");
        lines[1].clone()
    };
    let counts = |of: &str| {
        let found = ask("--facet", of);
        let name = |bucket: &serde_json::Value| bucket.get("value").unwrap_or(&bucket["range"]).clone();
        let buckets = found["buckets"].as_array().unwrap().iter();
        buckets.map(|bucket| (name(bucket), bucket["count"].as_u64().unwrap())).collect::<Vec<_>>()
    };
    let buckets = json!([{"value": "ann", "count": 2}, {"value": "bob", "count": 2}]);
    let owners = json!({
        "facet": "owner:2", "documents": 6, "missing": 1, "total": 3, "others": 1, "buckets": buckets
    });
    assert_eq!(ask("--facet", "owner:2"), owners);
    assert_eq!(counts("owner:prefix:r"), [(json!("root"), 1)]);
    assert_eq!(counts("size:all:by=value")[1], (json!(7), 1));
    let ranges = [(json!("..1MiB"), 4), (json!("1MiB..1GiB"), 1), (json!("1GiB.."), 1)];
    assert_eq!(counts("size:ranges:..1MiB,1MiB..1GiB,1GiB.."), ranges);
    let months =
        ["2023-12", "2024-01", "2024-02", "2025-07"].map(|month| json!(format!("{month}-01T00:00:00Z")));
    assert_eq!(counts("mtime:month"), months.into_iter().zip([1, 2, 1, 1]).collect::<Vec<_>>());
    assert_eq!(counts("path:below:/home/"), [(json!("/home/x/"), 3), (json!("/home/z/"), 3)]);
    assert_eq!(counts("size:every:1000")[0], (json!(0), 4));
    let figures = ask("--stats", "size:50");
    assert_eq!((&figures["sum"], &figures["max"]), (&json!(5_002_000_607u64), &json!(5_000_000_000u64)));
    assert_eq!(figures["percentiles"], json!({"50": 300}));
    assert_eq!(
        ask("--distinct", "owner"),
        json!({"distinct": "owner", "values": 3, "exact": true, "missing": 1})
    );
    assert_eq!(ask("--distinct", "size:estimate")["values"], 5);
    let nested = ask("--facet", "owner > stats:size");
    assert_eq!(nested["buckets"][1]["nested"][0]["sum"], 2_000_300);
    let nested = ask("--facet", "owner > mtime:year > distinct:path");
    assert_eq!(nested["buckets"][0]["nested"][0]["buckets"][1]["nested"][0]["values"], 1);
    let ran = place.search(&["-k", "1", "--facet", "owner:1 > size", "--stats", "mtime", "file"]);
    let expected =
        "\ndocuments\towner\tsize\n2\tann\n1\tann\t300\n1\tann\t5000000000\n3\t(2 more)\n1\t(no value)\n";
    assert!(ran.text().contains(expected), "{}", ran.text());
    assert!(ran.text().contains("  least      2023-12-31T23:59:59Z\n"), "{}", ran.text());
}

#[test]
fn facets_are_tables_with_one_line_for_each_value_in_any_order() {
    let place = place();
    let table = |of: &str| {
        let ran = place.search(&["--count", "--facet", of, "*"]);
        ran.text().strip_prefix("6\n\n").unwrap_or_else(|| panic!("{}{}", ran.text(), ran.stderr)).to_owned()
    };
    assert_eq!(
        table("owner > sum:size"),
        "documents\tsum(size)\towner\n2\t5000000300\tann\n2\t2000300\tbob\n1\t7\troot\n1\t\t(no value)\n"
    );
    assert_eq!(
        table("owner:1:by=sum(size)"),
        "documents\tsum(size)\towner\n2\t5000000300\tann\n3\t\t(2 more)\n1\t\t(no value)\n"
    );
    let sums: Vec<String> = table("size:all:by=sum(size)").lines().skip(1).map(String::from).collect();
    assert_eq!(sums[0], "1\t5000000000\t5000000000");
    assert!(sums[1] == "1\t2000000\t2000000" && sums[2] == "2\t600\t300" && sums[4] == "1\t0\t0", "{sums:?}");
    let stats = table("owner:all:by=sum(size) > stats:size:50");
    let mut lines = stats.lines();
    let heads = ["sum", "sum", "mean", "deviation", "min", "max", "p50", "without"];
    let heads: String = heads.map(|head| format!("{head}(size)\t")).concat();
    assert_eq!(lines.next(), Some(&*format!("documents\t{heads}owner")));
    let ann = "2\t5000000300\t5000000300\t2500000150\t2499999850\t300\t5000000000\t300\t0\tann";
    assert_eq!(lines.next(), Some(ann));
    assert_eq!(lines.count(), 3, "two owners more, and documents without one: {stats}");
    let nested = table("owner:1:by=sum(size) > mtime:year > sum:size");
    let expected = "documents\tsum(size)\tsum(size)\towner\tmtime\n2\t5000000300\t\tann\n\
                    1\t\t300\tann\t2024-01-01T00:00:00Z\n1\t\t5000000000\tann\t2025-01-01T00:00:00Z\n\
                    3\t\t\t(2 more)\n1\t\t\t(no value)\n";
    assert_eq!(nested, expected);
    let json = place.search(&["--json", "--count", "--facet", "owner:1:by=sum(size)", "*"]).lines();
    assert_eq!(json[1]["buckets"][0]["nested"][0]["sum"], 5_000_000_300u64);
    assert_eq!((&json[1]["others"], &json[1]["total"]), (&json!(3), &json!(3)));
    for wrong in ["owner:by=sum(owner)", "owner:by=size", "owner:by=sum(colour)", "owner > sum:mtime"] {
        assert_eq!(place.search(&["--count", "--facet", wrong, "*"]).code, Some(2), "{wrong}");
    }
}

#[test]
fn the_best_hits_of_each_value_are_shown_together() {
    let place = place();
    let ran = place.search(&["--group", "owner:2", "--sort", "size:desc", "*"]);
    let expected = "ann: 2 documents\n1\t5000000000\td.txt\n2\t300\ta.txt\n\
                    bob: 2 documents\n3\t2000000\tb.txt\n4\t300\tc.txt\nroot: 1 document\n5\t7\te.txt\n";
    assert_eq!(ran.text(), expected, "{}", ran.stderr);
    let hits = place.search(&["--json", "--group", "owner", "--group-missing", "-k", "9", "file"]).lines();
    let groups: Vec<_> =
        hits.iter().map(|hit| (hit["group"].as_str(), hit["group_count"].as_u64())).collect();
    let expected = [(Some("ann"), Some(2)), (Some("bob"), Some(2)), (Some("root"), Some(1)), (None, Some(1))];
    assert_eq!(groups, expected);
    assert!(hits.iter().all(|hit| hit["score"].is_number()));
    assert_eq!(place.search(&["--group", "owner:0", "*"]).code, Some(2));
    assert_eq!(place.search(&["--group", "owner", "--sort", "key", "*"]).code, Some(2));
}

#[test]
fn what_columns_cannot_answer_is_refused_with_what_could() {
    let place = place();
    for (more, hint) in [
        (["--sort", "colour"], "it has text, size, owner, mtime, path, note"),
        (["--sort", "text"], "the columns are: size, owner, mtime, path"),
        (["--sort", "path"], "sort by a number"),
        (["--sort", "size:down"], "asc, desc"),
        (["--fields", "size,colour"], "no field 'colour'"),
        (["--facet", "size:often"], "by=value"),
        (["--facet", "size:ranges:1MiB"], "FROM..TO"),
        (["--facet", "size:ranges:big.."], "'big' is not a value of type unsigned"),
        (["--facet", "size:month"], "a column without dates"),
        (["--stats", "owner"], "without numbers or dates"),
        (["--stats", "size:101"], "percentile"),
        (["--distinct", "owner:some"], "estimate"),
    ] {
        let ran = place.search(&[&more[..], &["*"]].concat());
        assert_eq!(ran.code, Some(2), "{more:?} {}", ran.text());
        assert!(ran.stderr.contains(hint), "{more:?}: {}", ran.stderr);
    }
}
