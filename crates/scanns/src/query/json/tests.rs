use std::ops::Bound;

use fastrand::Rng;

use super::parse_json;
use crate::error::{Error, Result};
use crate::query::{
    BoolQuery, Closeness, JoinOn, JoinQuery, JoinScore, Operator, Pattern, PhraseQuery, Query, QueryText,
    ScoreChange, ScoreCurve, ScoredQuery, ValueRange, ValueScore, WeightedField, WildcardPart,
};
use crate::schema::{Field, FieldKind, Value};

/// Splits words at spaces, lower-cases them, and leaves `the` out. The fields are `title`, 0, and `body`, 1,
/// whose words are doubled.
struct Words;

const NAMES: [&str; 2] = ["title", "body"];

impl QueryText for Words {
    fn default_fields(&self) -> &[WeightedField] {
        const { &[WeightedField::FIRST] }
    }

    fn field(&self, name: &str) -> std::result::Result<Field, Vec<String>> {
        let known = NAMES.iter().position(|known| *known == name);
        known
            .and_then(|at| Field::new(u16::try_from(at).unwrap()))
            .ok_or_else(|| NAMES.map(str::to_owned).to_vec())
    }

    fn column(&self, name: &str) -> Option<(Field, FieldKind)> {
        match name {
            "size" => Some((Field::new(SIZE).unwrap(), FieldKind::Unsigned)),
            "name" | "parent" => Some((Field::new(NAME).unwrap(), FieldKind::Keyword)),
            _ => None,
        }
    }

    fn terms(&mut self, field: Field, text: &str) -> Vec<(u32, Vec<u8>)> {
        let times = if field.number() == 1 { 2 } else { 1 };
        let words = (0..).zip(text.split_whitespace()).filter(|(_, word)| *word != "the");
        words.map(|(at, word)| (at, word.to_lowercase().repeat(times).into_bytes())).collect()
    }

    fn spelling(&self, _field: Field, text: &str) -> String {
        text.to_lowercase()
    }
}

/// The numbers of fields that are columns.
const SIZE: u16 = 9;
const NAME: u16 = 8;

fn read(text: &str) -> Result<Query> {
    parse_json(text, Operator::Or, &mut Words)
}

fn write(query: &Query) -> String {
    query
        .to_json(Some(Field::default()), &|field| {
            let name = NAMES.get(usize::from(field.number())).copied();
            let column = match field.number() {
                NAME => Some("name"),
                SIZE => Some("size"),
                _ => None,
            };
            name.or(column).map(str::to_owned)
        })
        .unwrap()
}

fn term(text: &str) -> Query {
    Query::term(Field::default(), text)
}

fn any(should: Vec<Query>) -> Query {
    Query::any_of(should)
}

/// Text, or bytes that are not UTF-8, sometimes with characters that have a special meaning.
fn random_term(random: &mut Rng) -> Vec<u8> {
    let parts: [&[u8]; 10] = [b"a", b"b", b"*", b"?", b"\\", b"\"", b"\xff", "ä".as_bytes(), b"\n", b"{"];
    let count = random.usize(..4);
    let most = if random.bool() { 5 } else { 10 };
    (0..count).flat_map(|_| parts[random.usize(..most)].to_vec()).collect()
}

fn random_text(random: &mut Rng) -> String {
    String::from_utf8_lossy(&random_term(random)).into_owned()
}

fn random_pattern(random: &mut Rng) -> Pattern {
    let bound = |random: &mut Rng| match random.u8(..3) {
        0 => Bound::Unbounded,
        1 => Bound::Included(random_term(random)),
        _ => Bound::Excluded(random_term(random)),
    };
    match random.u8(..6) {
        0 => Pattern::Prefix(random_term(random)),
        1 => Pattern::Regex(regex_syntax::escape(&random_text(random))),
        2 => Pattern::Fuzzy { term: random_text(random), edits: random.u8(1..3), prefix: random.usize(..3) },
        3 => Pattern::Range(bound(random), bound(random)),
        4 => Pattern::Set((0..random.usize(..3)).map(|_| random_term(random)).collect()),
        _ => Pattern::Wildcard(
            (0..random.usize(..5))
                .map(|_| match random.u8(..4) {
                    0 => WildcardPart::AnyChar,
                    1 => WildcardPart::Anything,
                    _ => WildcardPart::Text(random_term(random)),
                })
                .collect(),
        ),
    }
}

fn random_field(random: &mut Rng) -> Field {
    Field::new(random.u16(..2)).unwrap()
}

fn random_query(random: &mut Rng, depth: usize) -> Query {
    let inner = |random: &mut Rng| Box::new(random_query(random, depth.saturating_sub(1)));
    match random.u8(..if depth > 0 { 10 } else { 5 }) {
        0 => Query::term(random_field(random), random_term(random)),
        1 => Query::pattern(random_field(random), random_pattern(random)),
        2 => Query::ValuePattern { field: Field::new(NAME).unwrap(), pattern: random_pattern(random) },
        3 if random.bool() => Query::All,
        3 => Query::Exists(random_field(random)),
        4 => {
            let (in_a_row, mut place) = (random.bool(), random.u32(..2));
            let terms = (0..random.u32(..4)).map(|row| {
                place += random.u32(..3);
                (if in_a_row { row } else { place }, random_term(random))
            });
            let terms = terms.collect();
            Query::Phrase(PhraseQuery { field: random_field(random), terms, slop: random.u32(..3) })
        }
        5 => Query::Boost(inner(random), f32::from_bits(random.u32(0x0080_0000..0x7f80_0000))),
        6 => {
            let on = [JoinOn::Key, JoinOn::Column(Field::new(NAME).unwrap())];
            let score = ["none", "max", "sum", "mean", "min"][random.usize(..5)];
            Query::Join(JoinQuery {
                from: on[random.usize(..2)],
                to: on[random.usize(..2)],
                query: inner(random),
                score: JoinScore::parse(score).unwrap(),
            })
        }
        7 => {
            let number = |random: &mut Rng| f64::from_bits(random.u64(1..0x7ff0 << 48));
            let curve = match random.u8(..5) {
                0 => ScoreCurve::Value,
                1 => ScoreCurve::Log,
                2 => ScoreCurve::Root,
                3 => ScoreCurve::Saturation { half: random.u32(1..).into() },
                _ => ScoreCurve::Near {
                    origin: Value::Unsigned(random.u64(..)),
                    scale: number(random),
                    closeness: Closeness::ALL[random.usize(..4)].0,
                },
            };
            let missing = if random.bool() { 0.0 } else { number(random) };
            let by = ValueScore { field: Field::new(SIZE).unwrap(), curve, missing };
            Query::Scored(ScoredQuery {
                query: inner(random),
                by,
                change: ScoreChange::ALL[random.usize(..3)].0,
            })
        }
        _ => {
            let mut lists = [const { Vec::new() }; 4];
            for list in &mut lists {
                list.extend((0..random.usize(..3)).map(|_| *inner(random)));
            }
            let [must, filter, should, must_not] = lists;
            let at_least = random.usize(..=should.len());
            Query::Bool(BoolQuery { must, filter, should, must_not, at_least })
        }
    }
}

#[test]
fn what_is_written_reads_back_as_the_same_query() {
    let seed = 0x5eed_0a01;
    let mut random = Rng::with_seed(seed);
    for round in 0..20_000 {
        let query = random_query(&mut random, round % 5);
        let text = write(&query);
        let back =
            read(&text).unwrap_or_else(|error| panic!("seed {seed:x} round {round}: {error} in {text}"));
        assert_eq!(back, query, "seed {seed:x} round {round}: {text}");
    }
}

#[test]
fn damaged_json_is_refused_or_means_something_and_never_panics() {
    let seed = 0x5eed_0a02;
    let mut random = Rng::with_seed(seed);
    let pieces = [
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "\\",
        "0",
        "-1",
        "1e999",
        "null",
        "true",
        "\"term\"",
        "\"bool\"",
        "\"must\"",
        "\"boost\"",
        "{\"bytes\": \"f\"}",
        "18446744073709551616",
        "\u{0}",
    ];
    let mut accepted = 0;
    for round in 0..30_000 {
        let mut text: Vec<char> = write(&random_query(&mut random, 3)).chars().collect();
        for _ in 0..random.usize(1..4) {
            let (from, to) = (random.usize(..=text.len()), random.usize(..=text.len()));
            let (from, to) = (from.min(to), from.max(to).min(from.min(to) + 3));
            let piece = if random.bool() { pieces[random.usize(..pieces.len())] } else { "" };
            text.splice(from..to, piece.chars());
        }
        let text: String = text.into_iter().collect();
        match read(&text) {
            Ok(query) => {
                accepted += 1;
                assert_eq!(read(&write(&query)).unwrap(), query, "seed {seed:x} round {round}: {text}");
            }
            Err(Error::QueryJson { message, .. }) => assert!(!message.is_empty()),
            Err(other) => panic!("seed {seed:x} round {round}: {other} in {text}"),
        }
    }
    assert!(accepted > 100, "some are still queries: {accepted}");
}

#[test]
fn short_ways_to_write_mean_what_the_long_ones_do() {
    for (short, long) in [
        (r#"{"fuzzy": "ab"}"#, r#"{"fuzzy": {"term": "ab", "edits": 2, "prefix": 0}}"#),
        (r#"{"fuzzy": {"term": "ab", "edits": 0}}"#, r#"{"term": "ab"}"#),
        (r#"{"phrase": "A b"}"#, r#"{"phrase": ["a", "b"]}"#),
        (r#"{"phrase": "the A the B"}"#, r#"{"phrase": {"terms": ["a", "b"], "places": [1, 3]}}"#),
        (r#"{"phrase": {"text": "A b", "slop": 2}}"#, r#"{"phrase": {"terms": ["a", "b"], "slop": 2}}"#),
        (r#"{"phrase": "A"}"#, r#"{"term": "a"}"#),
        (r#"{"match": "A b"}"#, r#"{"bool": {"should": [{"term": "a"}, {"term": "b"}]}}"#),
        (
            r#"{"match": {"text": "A b", "operator": "and"}}"#,
            r#"{"bool": {"must": [{"term": "a"}, {"term": "b"}]}}"#,
        ),
        (r#"{"match": "A", "field": "body"}"#, r#"{"field": "body", "term": "aa"}"#),
        (
            r#"{"field": "body", "query": {"match": "A", "boost": 2}}"#,
            r#"{"field": "body", "query": {"term": "aa", "boost": 2}}"#,
        ),
        (r#"{"wildcard": "a*\\*?"}"#, r#"{"wildcard": {"parts": [{"text": "a"}, "*", {"text": "*"}, "?"]}}"#),
        (r#"{"term": {"bytes": "4Aff"}}"#, r#"{"term": {"bytes": "4aFF"}}"#),
        (r#"{"range": {}}"#, r#" {"range" : {}} "#),
    ] {
        assert_eq!(read(short).unwrap(), read(long).unwrap(), "{short} and {long}");
    }
    assert_eq!(
        parse_json(r#"{"match": "a b"}"#, Operator::And, &mut Words).unwrap(),
        Query::Bool(BoolQuery { must: vec![term("a"), term("b")], ..BoolQuery::default() })
    );
}

#[test]
fn text_without_terms_disappears_with_its_clause() {
    assert_eq!(read(r#"{"match": "the"}"#).unwrap(), Query::nothing());
    assert_eq!(read(r#"{"phrase": "", "boost": 2, "field": "title"}"#).unwrap(), Query::nothing());
    let list =
        |clause: &str| format!(r#"{{"bool": {{"should": [{clause}, {{"term": "a"}}], "at_least": 2}}}}"#);
    let one = BoolQuery { should: vec![term("a")], at_least: 1, ..BoolQuery::default() };
    assert_eq!(read(&list(r#"{"match": "the"}"#)).unwrap(), Query::Bool(one));
    assert_eq!(
        read(r#"{"bool": {"must": [{"bool": {"must": [{"match": "the"}]}}], "should": [{"term": "a"}]}}"#)
            .unwrap(),
        any(vec![term("a")])
    );
    assert_eq!(
        read(r#"{"bool": {}}"#).unwrap(),
        Query::Bool(BoolQuery::default()),
        "an empty list finds nothing"
    );
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    for (text, path, hint) in [
        (
            r#"{"bool": {"must": [{"term": "a"}, {"fuzzy": {"term": "b", "edits": 3}}]}}"#,
            "bool.must[1].fuzzy.edits",
            "0 to 2",
        ),
        (r#"{"bool": {"should": [{"term": 5}]}}"#, "bool.should[0].term", r#"{"bytes": "ff61"}"#),
        (r#"{"bool": {"should": [], "at_least": 1}}"#, "bool.at_least", "0 clauses"),
        (r#"{"bool": {"most": []}}"#, "bool.most", "must_not"),
        (r#"{"bool": []}"#, "bool", "should"),
        (r#"{"bool": {"must": {"term": "a"}}}"#, "bool.must", "array"),
        (r#"{"terms": ["a"]}"#, "terms", "match_all"),
        (r#"{"term": "a", "prefix": "b"}"#, "prefix", "one kind"),
        (r#"{"boost": 2}"#, "", "term"),
        (r#"{"term": "a", "boost": 0}"#, "boost", "greater than 0"),
        (r#"{"term": "a", "boost": 1e39}"#, "boost", "greater than 0"),
        (r#"{"query": {"term": "a", "field": "nothing"}}"#, "query.field", "title, body"),
        (r#"{"term": {"bytes": "fff"}}"#, "term.bytes", "two hexadecimal"),
        (r#"{"term": {"bytes": "fg"}}"#, "term.bytes", "two hexadecimal"),
        (r#"{"phrase": {"terms": ["a", "b"], "places": [1, 0]}}"#, "phrase.places", "ascending"),
        (r#"{"phrase": {"terms": ["a", "b"], "places": [1]}}"#, "phrase.places", "one place for each term"),
        (r#"{"phrase": {"terms": ["a"], "text": "a"}}"#, "phrase", "remove one"),
        (r#"{"phrase": {"terms": ["a"], "slop": 4294967296}}"#, "phrase.slop", "4294967295"),
        (r#"{"phrase": {"slop": 1}}"#, "phrase", "terms is missing"),
        (r#"{"match": {"text": "a", "operator": "xor"}}"#, "match.operator", "\"or\""),
        (r#"{"wildcard": "a\\"}"#, "wildcard", "write two"),
        (r#"{"wildcard": {"parts": ["a"]}}"#, "wildcard.parts[0]", r#"{"text": "li"}"#),
        (r#"{"range": {"gt": "a", "gte": "b"}}"#, "range", "leave one out"),
        (r#"{"match_all": 1}"#, "match_all", "{}"),
        (r#""license""#, "", r#"{"term": "word"}"#),
        ("license", "", "invalid JSON"),
        ("", "", "empty"),
        (r#"{"term": "a"} {"term": "b"}"#, "", "bool"),
        (r#"{"term": "a"} x"#, "", "invalid JSON"),
    ] {
        match read(text) {
            Err(Error::QueryJson { path: found, message }) => {
                assert!(found == path && message.contains(hint), "{text}: '{found}': {message}");
            }
            other => panic!("{text}: {other:?}"),
        }
    }
    let error =
        read(r#"{"bool": {"must": [{"fuzzy": {"term": "b", "edits": 3}}]}}"#).unwrap_err().to_string();
    assert_eq!(error, "query: bool.must[0].fuzzy.edits: write a number from 0 to 2");
    assert!(read("x").unwrap_err().to_string().starts_with("query: invalid JSON"));
}

#[test]
fn the_limits_are_those_of_text() {
    let nested =
        |depth: usize| r#"{"bool": {"must": ["#.repeat(depth) + r#"{"term": "a"}"# + &"]}}".repeat(depth);
    assert!(read(&nested(64)).is_ok());
    let too_deep = |text: &str| read(text).unwrap_err().to_string().contains("64 deep");
    assert!(too_deep(&nested(65)) && too_deep(&nested(100_000)) && too_deep(&"[".repeat(1_000_000)));
    assert!(too_deep(&(r#"{"query":"#.repeat(65) + r#"{"term": "a"}"# + &"}".repeat(65))));
    assert!(
        read(&format!(r#"{{"term": "{}"}}"#, r#"{[\""#.repeat(1_000))).is_ok(),
        "brackets in a term are none"
    );
    let terms = |count: usize| format!(r#"{{"set": [{}]}}"#, vec![r#""a""#; count].join(","));
    assert!(read(&terms(1_024)).is_ok());
    assert!(read(&terms(1_025)).unwrap_err().to_string().contains("1,024"));
    let words = format!(r#"{{"match": "{}"}}"#, "a ".repeat(1_025));
    assert!(read(&words).unwrap_err().to_string().contains("1,024"));
    assert!(
        read(&format!(r#"{{"term": "{}"}}"#, "a".repeat(70_000))).unwrap_err().to_string().contains("longer")
    );
}

#[test]
fn text_that_is_typed_has_the_same_limit_wherever_it_stands() {
    let words = |count: usize| vec![format!("{:x<200}", "y"); count].join(" ");
    let (most, more) = (words(1024), words(1025));
    for (short, long) in [
        (r#"{"match": "TEXT"}"#, r#"{"match": {"text": "TEXT"}}"#),
        (r#"{"phrase": "TEXT"}"#, r#"{"phrase": {"text": "TEXT"}}"#),
    ] {
        let of = |json: &str, text: &str| read(&json.replace("TEXT", text));
        assert!(most.len() > 200_000);
        assert_eq!(of(long, &most).unwrap(), of(short, &most).unwrap(), "{long}");
        for json in [short, long] {
            assert!(of(json, &more).unwrap_err().to_string().contains("1,024 terms"), "{json}");
        }
    }
    assert!(read(&r#"{"term": "TEXT"}"#.replace("TEXT", &most)).is_err(), "a term has its own");
}

#[test]
fn of_a_key_that_comes_twice_the_last_one_counts() {
    assert_eq!(read(r#"{"term": "a", "term": "b"}"#).unwrap(), term("b"));
}

#[test]
fn values_of_columns_have_one_bound_an_end() {
    use Bound::{Excluded, Included, Unbounded};
    let number = Value::Unsigned;
    for (bounds, low, high) in [
        (r#""gte": 5"#, Included(number(5)), Unbounded),
        (r#""gt": "1KiB", "lte": 4000"#, Excluded(number(1024)), Included(number(4000))),
        (r#""equals": 7"#, Included(number(7)), Included(number(7))),
        (r#""lt": "2kB""#, Unbounded, Excluded(number(2000))),
    ] {
        let query = read(&format!(r#"{{"values": {{"column": "size", {bounds}}}}}"#)).unwrap();
        assert_eq!(
            query,
            Query::Values(ValueRange { field: Field::new(SIZE).unwrap(), low, high }),
            "{bounds}"
        );
        let name = |field: Field| (field.number() == SIZE).then(|| "size".to_owned());
        assert_eq!(read(&query.to_json(Some(Field::default()), &name).unwrap()).unwrap(), query);
    }
    for bad in [
        r#"{"values": {"column": "size", "gte": 5, "gt": 5}}"#,
        r#"{"values": {"column": "size", "gte": 5, "equals": 5}}"#,
        r#"{"values": {"column": "size", "gte": -5}}"#,
        r#"{"values": {"column": "size", "gte": [5]}}"#,
        r#"{"values": {"column": "body", "gte": 5}}"#,
        r#"{"values": {"gte": 5}}"#,
    ] {
        assert!(read(bad).is_err(), "{bad}");
    }
}

#[test]
fn scores_by_columns_have_the_arguments_of_their_curve() {
    let scored = |rest: &str| read(&format!(r#"{{"scored": {{"query": {{"term": "a"}}, {rest}}}}}"#));
    let by = |curve, missing| ValueScore { field: Field::new(SIZE).unwrap(), curve, missing };
    let near = |scale, closeness| ScoreCurve::Near { origin: Value::Unsigned(2048), scale, closeness };
    for (rest, by, change) in [
        (r#""column": "size", "curve": "log""#, by(ScoreCurve::Log, 0.0), ScoreChange::Multiply),
        (
            r#""column": "size", "curve": "saturate", "half": "1KiB", "change": "add", "missing": 0.5"#,
            by(ScoreCurve::Saturation { half: 1024.0 }, 0.5),
            ScoreChange::Add,
        ),
        (
            r#""column": "size", "curve": "near", "origin": "2KiB", "scale": 0.5, "change": "replace""#,
            by(near(0.5, Closeness::Reciprocal), 0.0),
            ScoreChange::Replace,
        ),
        (
            r#""column": "size", "curve": "near", "origin": 2048, "scale": "5", "closeness": "gauss""#,
            by(near(5.0, Closeness::Gauss), 0.0),
            ScoreChange::Multiply,
        ),
    ] {
        let query = Box::new(term("a"));
        assert_eq!(scored(rest).unwrap(), Query::Scored(ScoredQuery { query, by, change }), "{rest}");
    }
    for (rest, part) in [
        (r#""column": "size""#, "curve is missing"),
        (r#""column": "size", "curve": "cube""#, "value, log, root, saturate, near"),
        (r#""column": "name", "curve": "log""#, "numbers or dates"),
        (r#""column": "none", "curve": "log""#, "no column"),
        (r#""column": "size", "curve": "log", "half": 3"#, "log has no half"),
        (r#""column": "size", "curve": "saturate", "half": 0"#, "greater than 0"),
        (r#""column": "size", "curve": "near", "origin": 5"#, "scale is missing"),
        (r#""column": "size", "curve": "near", "origin": "now", "scale": 5"#, "number"),
        (r#""column": "size", "curve": "near", "origin": 5, "scale": -5"#, "greater than 0"),
        (r#""column": "size", "curve": "near", "origin": 5, "scale": 5, "closeness": "far""#, "gauss"),
        (r#""column": "size", "curve": "log", "change": "divide""#, "multiply, add or replace"),
        (r#""column": "size", "curve": "log", "missing": -1"#, "from 0 on"),
        (r#""column": "size", "curve": "log", "other": 1"#, "unknown key"),
    ] {
        let error = scored(rest).unwrap_err().to_string();
        assert!(error.contains(part), "{rest}: {error}");
    }
}

#[test]
fn a_field_without_a_name_cannot_be_written() {
    let query = Query::term(Field::new(7).unwrap(), "a");
    assert!(query.to_json(Some(Field::default()), &|_| None).unwrap_err().to_string().contains("field"));
}

#[test]
fn the_examples_of_the_documentation_are_queries() {
    let text = include_str!("../../../../../docs/QUERIES.md");
    let examples: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("| `{")?.split_once("}` |"))
        .map(|(json, _)| json)
        .collect();
    assert!(examples.len() >= 13, "{}", examples.len());
    for json in examples {
        let json = format!("{{{json}}}").replace("owner", "body");
        if let Err(error) = read(&json) {
            panic!("{json}: {error}");
        }
    }
}
