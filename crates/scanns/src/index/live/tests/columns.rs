//! Queries by column values, alone and with text, return the same documents as a scan of all documents.

use super::*;
use crate::schema::FieldEntry;

/// The values of a document.
#[derive(Clone, Default)]
struct Row {
    text: String,
    size: Vec<u64>,
    temp: Vec<f64>,
    when: Vec<i64>,
    open: Vec<bool>,
    host: Vec<String>,
    path: Vec<String>,
}

const DAY: i64 = 86_400_000_000_000;

fn schema() -> Schema {
    let mut schema = Schema::new();
    let words =
        FieldKind::Text { analyzer: Analyzer::parse("whitespace").unwrap(), postings: Postings::Frequencies };
    schema.add(FieldEntry::new("text", words)).unwrap();
    for (name, kind) in [
        ("size", FieldKind::Unsigned),
        ("temp", FieldKind::Float),
        ("when", FieldKind::Date),
        ("open", FieldKind::Boolean),
        ("path", FieldKind::Path),
    ] {
        schema.add(FieldEntry::new(name, kind).column()).unwrap();
    }
    schema.add(FieldEntry::new("host", FieldKind::Keyword).column().not_searched()).unwrap();
    schema.add(FieldEntry::new("tag", FieldKind::Keyword).column()).unwrap();
    schema
}

fn random_row(random: &mut Rng) -> Row {
    let times = |random: &mut Rng| [0, 1, 1, 1, 1, 3][random.usize(..6)];
    Row {
        text: (0..random.usize(1..6))
            .map(|_| if random.u32(..2_000) == 0 { "rare".into() } else { format!("w{}", random.usize(..6)) })
            .collect::<Vec<_>>()
            .join(" "),
        size: (0..times(random)).map(|_| random.u64(..5000)).collect(),
        temp: (0..times(random))
            .map(|_| f64::from(random.i32(-9..9)) / 2.0 * f64::from(random.i32(-1..9)))
            .collect(),
        // The year 2024, which has 366 days.
        when: (0..times(random)).map(|_| 19_723 * DAY + random.i64(..366 * DAY)).collect(),
        open: (0..times(random).min(1)).map(|_| random.bool()).collect(),
        host: (0..times(random)).map(|_| format!("h{}.org", random.u32(..20))).collect(),
        path: (0..times(random).min(1))
            .map(|_| format!("/d{}/e{}/f", random.u32(..3), random.u32(..12)))
            .collect(),
    }
}

fn document_of(schema: &Schema, key: usize, row: &Row) -> Document {
    let field = |name| schema.field(name).unwrap();
    let mut document = Document::new(key.to_string()).text(field("text"), row.text.as_str());
    for &size in &row.size {
        document = document.with(field("size"), Value::Unsigned(size));
    }
    for &temp in &row.temp {
        document = document.with(field("temp"), Value::Float(temp));
    }
    for &when in &row.when {
        document = document.with(field("when"), Value::Date(when));
    }
    for &open in &row.open {
        document = document.with(field("open"), Value::Boolean(open));
    }
    for host in &row.host {
        document = document.text(field("host"), host.as_str()).text(field("tag"), host.as_str());
    }
    for path in &row.path {
        document = document.text(field("path"), path.as_str());
    }
    document
}

type Matches = Box<dyn Fn(&Row) -> bool>;

/// Queries, and their meaning.
fn queries() -> Vec<(&'static str, Matches)> {
    let word = |row: &Row, word: &str| row.text.split(' ').any(|one| one == word);
    let month = |when: i64, first: i64, days: i64| (first..first + days * DAY).contains(&when);
    vec![
        ("size:>2000", Box::new(|row| row.size.iter().any(|&size| size > 2000))),
        ("size:>=2kB", Box::new(|row| row.size.iter().any(|&size| size >= 2000))),
        ("size:<1KiB", Box::new(|row| row.size.iter().any(|&size| size < 1024))),
        ("size:<=1.5kB", Box::new(|row| row.size.iter().any(|&size| size <= 1500))),
        ("size:[100 TO 200}", Box::new(|row| row.size.iter().any(|size| (100..200).contains(size)))),
        ("size:(>4000 OR <1000)", Box::new(|row| row.size.iter().any(|size| *size > 4000 || *size < 1000))),
        ("size:*", Box::new(|row| !row.size.is_empty())),
        ("-size:*", Box::new(|row| row.size.is_empty())),
        ("size:>5000", Box::new(|_| false)),
        ("size:0", Box::new(|row| row.size.contains(&0))),
        ("temp:<-10.5", Box::new(|row| row.temp.iter().any(|&temp| temp < -10.5))),
        (r#"temp:"-1""#, Box::new(|row| row.temp.contains(&-1.0))),
        ("when:2024-02", Box::new(move |row| row.when.iter().any(|&at| month(at, 19_754 * DAY, 29)))),
        ("when:>2024-02", Box::new(|row| row.when.iter().any(|&at| at >= 19_783 * DAY))),
        ("when:<=2024-02", Box::new(|row| row.when.iter().any(|&at| at < 19_783 * DAY))),
        ("when:<2024-02-01T00:00:00Z", Box::new(|row| row.when.iter().any(|&at| at < 19_754 * DAY))),
        (
            "when:{2024-01 TO 2024-03}",
            Box::new(move |row| row.when.iter().any(|&at| month(at, 19_754 * DAY, 29))),
        ),
        ("open:true", Box::new(|row| row.open.contains(&true))),
        ("NOT open:true", Box::new(|row| !row.open.contains(&true))),
        ("host:h1.org", Box::new(|row| row.host.iter().any(|host| host == "h1.org"))),
        ("host:h1*", Box::new(|row| row.host.iter().any(|host| host.starts_with("h1")))),
        (
            "host:in(h1.org h3.org nowhere)",
            Box::new(|row| row.host.iter().any(|host| host == "h1.org" || host == "h3.org")),
        ),
        ("host:>h5", Box::new(|row| row.host.iter().any(|host| host.as_str() > "h5"))),
        ("host:=h1*", Box::new(|_| false)),
        (r"host:h1\*", Box::new(|_| false)),
        (r#"host:"h1.org""#, Box::new(|row| row.host.iter().any(|host| host == "h1.org"))),
        (r#"host:"h1*""#, Box::new(|_| false)),
        ("temp:0", Box::new(|row| row.temp.contains(&0.0))),
        ("temp:<0", Box::new(|row| row.temp.iter().any(|&temp| temp < 0.0))),
        ("tag:h1.org", Box::new(|row| row.host.iter().any(|host| host == "h1.org"))),
        ("tag:<h12.org", Box::new(|row| row.host.iter().any(|host| host.as_str() < "h12.org"))),
        ("path:/d1", Box::new(|row| row.path.iter().any(|path| path.starts_with("/d1/")))),
        ("path:/d1/e1/f", Box::new(|row| row.path.iter().any(|path| path == "/d1/e1/f"))),
        ("path:/d1/e1*", Box::new(|row| row.path.iter().any(|path| path.starts_with("/d1/e1")))),
        ("path:/nowhere", Box::new(|_| false)),
        (
            "w1 AND size:<2000",
            Box::new(move |row| word(row, "w1") && row.size.iter().any(|&size| size < 2000)),
        ),
        (
            "w1 AND NOT size:<2000",
            Box::new(move |row| word(row, "w1") && !row.size.iter().any(|&size| size < 2000)),
        ),
        ("w2 OR open:false", Box::new(move |row| word(row, "w2") || row.open.contains(&false))),
        (
            "(w2 OR w3) AND (when:2024-05 OR size:[0 TO 99])",
            Box::new(move |row| {
                let may = row.when.iter().any(|&at| month(at, 19_844 * DAY, 31));
                (word(row, "w2") || word(row, "w3")) && (may || row.size.iter().any(|&size| size < 100))
            }),
        ),
    ]
}

pub(super) fn keys(
    snapshot: &Snapshot,
    query: &Query,
    threads: &crate::search::SearchThreads,
) -> BTreeSet<usize> {
    let searcher = snapshot.searcher().with_threads(threads);
    let key = |hit: &crate::search::Hit| {
        String::from_utf8(searcher.key(hit).unwrap()).unwrap().parse::<usize>().unwrap()
    };
    let mut found = BTreeSet::new();
    searcher
        .for_each(query, Model::default(), |hit| {
            assert!(found.insert(key(&hit)));
            ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!(searcher.count(query).unwrap(), found.len() as u64);
    let best = searcher.top_k(query, Model::default(), found.len() + 1).unwrap();
    assert_eq!(best.iter().map(key).collect::<BTreeSet<_>>(), found);
    let mut seen = BTreeSet::new();
    searcher
        .for_each_window(query, |leaf, start, bits| {
            for doc in 0..crate::search::MATCH_WINDOW {
                if bits[doc as usize / 64] >> (doc % 64) & 1 == 1 {
                    seen.insert(key(&crate::search::Hit { leaf, doc: start + doc, score: 0.0 }));
                }
            }
            ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!(seen, found);
    // The same query in JSON.
    let json = snapshot.query_json_in(&[], query).unwrap();
    let again = snapshot.parse_json_in(&[], &json, Operator::Or).unwrap();
    assert_eq!(&again, query, "{json}");
    found
}

#[test]
fn documents_are_found_by_their_values_in_any_state_of_the_index() {
    let seed = 0x5eed_0630;
    let mut random = Rng::with_seed(seed);
    let schema = schema();
    let threads = crate::search::SearchThreads::new(2);
    for round in 0..3 {
        let directory = Arc::new(RamDirectory::new());
        let mut writer = Some(
            IndexWriter::open_in(
                directory.clone(),
                Some(&schema),
                WriterOptions { lanes: 1, merge: None, ..WriterOptions::default() },
            )
            .unwrap(),
        );
        let mut held: BTreeMap<usize, Row> = BTreeMap::new();
        for step in 0..4 {
            let Some(open) = &writer else { break };
            for _ in 0..[10, 500, 6_000][random.usize(..3)] {
                let (key, row) = (random.usize(..9_000), random_row(&mut random));
                open.update(&document_of(&schema, key, &row)).unwrap();
                held.insert(key, row);
            }
            open.commit().unwrap();
            if step == 3 {
                writer = None;
                let (progress, cancel) = (Progress::default(), AtomicBool::new(false));
                merge_in(&*directory, &MergeOptions::default(), &progress, &cancel).unwrap();
                let report = check_in(&*directory, CheckLevel::Cross, &progress, &cancel).unwrap();
                assert!(report.is_whole(), "{report:?}");
            }
            let snapshot = Snapshot::open_in(&*directory).unwrap().unwrap();
            for (text, matches) in queries() {
                let query = snapshot.parse(text, Operator::Or).unwrap();
                let expected: BTreeSet<usize> =
                    held.iter().filter(|(_, row)| matches(row)).map(|(key, _)| *key).collect();
                let found = keys(&snapshot, &query, &threads);
                assert_eq!(found, expected, "seed {seed:x} round {round} step {step}: {text}");
                // Beside a rare word, values of its documents alone are looked at.
                let is_rare = |key: &usize| held[key].text.split(' ').any(|word| word == "rare");
                for not in [false, true] {
                    let text = format!("rare AND {}({text})", if not { "NOT " } else { "" });
                    let query = snapshot.parse(&text, Operator::Or).unwrap();
                    let rare = held.keys().copied().filter(is_rare);
                    let expected: BTreeSet<usize> =
                        rare.filter(|key| expected.contains(key) != not).collect();
                    let found = keys(&snapshot, &query, &threads);
                    assert_eq!(found, expected, "seed {seed:x} round {round} step {step}: {text}");
                }
            }
        }
    }
}

#[test]
fn what_is_no_value_is_refused_with_what_could_stand_there() {
    let directory = Arc::new(RamDirectory::new());
    let writer = IndexWriter::open_in(directory.clone(), Some(&schema()), WriterOptions::default()).unwrap();
    let (text, path) = (schema().field("text").unwrap(), schema().field("path").unwrap());
    writer.add(&Document::new("1").text(text, "a").text(path, "/a/b")).unwrap();
    writer.commit().unwrap();
    let snapshot = Snapshot::open_in(&*directory).unwrap().unwrap();
    for (text, expected) in [
        ("size:many", "whole number"),
        ("size:>-1", "not negative"),
        ("when:someday", "2024-03"),
        ("open:perhaps", "true or false"),
        ("size:(1 OR (2", "not closed"),
        ("size:in(1 OR 2)", "in( ) contains values"),
        (r#"size:">5""#, "whole number"),
    ] {
        let message = snapshot.parse(text, Operator::Or).unwrap_err().to_string();
        assert!(message.contains(expected), "{text}: {message}");
    }
    for text in ["path:>=/a", "path:</a", "path:[/a TO /b]", "path:[* TO /b]"] {
        let query = snapshot.parse(text, Operator::Or).unwrap();
        let message = snapshot.searcher().count(&query).unwrap_err().to_string();
        assert!(message.contains("a prefix of paths"), "{text}: {message}");
    }
}
