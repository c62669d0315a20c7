//! Sorted exports have the order of a sorted search, with any amount of memory.

use std::fs::File;

use arrow_ipc::reader::FileReader;
use scanns::Snapshot;
use scanns::query::Operator;
use scanns::schema::Value;
use scanns::search::{Missing, Model, SortBy, SortKey};

use super::{Fields, Row, as_bytes, fields, hits, rows};

fn found(fields: &Fields, query: &str, order: &str, memory: &str) -> Vec<Row> {
    fields.exported("a.arrow", &[query, "--sort", order, "--sort-memory", memory]);
    let file = File::open(fields.out("a.arrow")).unwrap();
    rows(&FileReader::try_new(file, None).unwrap().map(Result::unwrap).collect::<Vec<_>>())
}

/// Texts as bytes in all columns, since another test is about invalid UTF-8.
fn plain(rows: &[Row]) -> Vec<Row> {
    as_bytes(rows, &(0..rows.first().map_or(0, Vec::len)).collect::<Vec<_>>())
}

#[test]
fn rows_come_in_the_order_of_a_search_whatever_the_memory() {
    let fields = fields(2_500, 0x5eed_0660);
    let snapshot = Snapshot::open(&fields.place.index()).unwrap();
    let searcher = snapshot.searcher();
    let key = |name: &str, descending, first| {
        let by = match name {
            "score" => SortBy::Score,
            name => SortBy::Field(snapshot.schema().field(name).unwrap()),
        };
        SortKey { by, descending, missing: if first { Missing::First } else { Missing::Last } }
    };
    for (query, order, keys) in [
        ("*", "unsigned", vec![key("unsigned", false, false)]),
        ("*", "-signeds:first,date", vec![key("signeds", true, true), key("date", false, false)]),
        ("a", "keyword:desc,floats", vec![key("keyword", true, false), key("floats", false, false)]),
        ("*", "keywords:first,truth:desc", vec![key("keywords", false, true), key("truth", true, false)]),
        ("a b", "score", vec![key("score", true, false)]),
        (
            "a b",
            "truths,score:asc,-unsigned",
            vec![key("truths", false, false), key("score", false, false), key("unsigned", true, false)],
        ),
        ("none", "float", vec![key("float", false, false)]),
    ] {
        let parsed = snapshot.parse(query, Operator::Or).unwrap();
        let sorted = searcher.top_k_sorted(&parsed, Model::default(), &keys, 10_000, None).unwrap();
        let expected: Vec<Row> = sorted.iter().map(|found| fields.row(&snapshot, &found.hit)).collect();
        for memory in ["1", "3KiB", "200KiB", "1GiB"] {
            if memory != "1" || query != "*" {
                assert!(
                    plain(&found(&fields, query, order, memory)) == plain(&expected),
                    "{query} {order} {memory}"
                );
            }
        }
    }
    let all = hits(&snapshot, &scanns::Query::All);
    let mut expected: Vec<Row> = all.iter().map(|hit| fields.row(&snapshot, hit)).collect();
    expected.sort_by_key(|row| match &row[0][0] {
        Value::Text(key) => key.clone(),
        _ => vec![],
    });
    assert!(plain(&found(&fields, "*", "key", "10KiB")) == plain(&expected));
    expected.reverse();
    assert!(plain(&found(&fields, "*", "-key", "1GiB")) == plain(&expected));
}

#[test]
fn what_is_sorted_by_need_not_be_written_and_nothing_is_left_behind() {
    let fields = fields(2_000, 0x5eed_0661);
    let one = fields.exported("a.csv", &["--fields", "_key,unsigned", "--sort", "unsigned,keyword"]);
    let other = ["--fields", "_key,unsigned", "--sort", "unsigned,keyword", "--sort-memory", "2KiB"];
    assert!(fields.exported("b.csv", &other) == one);
    let ran = fields.export(&other);
    assert!(ran.stdout == one, "{}", ran.stderr);
    let lines = String::from_utf8_lossy(&one).into_owned();
    let numbers = lines.lines().skip(1).map(|line| line.split(',').nth(1).unwrap());
    let numbers: Vec<Option<u64>> = numbers.map(|number| number.parse().ok()).collect();
    assert!(
        numbers.iter().flatten().is_sorted()
            && numbers.iter().rev().skip_while(|n| n.is_none()).all(Option::is_some)
    );
    let names = |entry: Result<std::fs::DirEntry, _>| entry.unwrap().file_name().into_string().unwrap();
    let mut there: Vec<String> = std::fs::read_dir(fields.place.dir.path()).unwrap().map(names).collect();
    there.sort();
    assert_eq!(there, ["a.csv", "a.scanns", "b.csv", "files"]);
    for (order, hint) in
        [("note", "sort by a number"), ("colour", "it has text, unsigned"), ("stored", "is not a column")]
    {
        let ran = fields.export(&["--sort", order]);
        assert!(ran.code == Some(2) && ran.stderr.contains(hint), "{order}: {}", ran.stderr);
    }
}
