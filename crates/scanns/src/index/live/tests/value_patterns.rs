//! Patterns of values find the same documents as a slow match of every value of every document.

use super::columns::keys;
use super::*;
use crate::search::SearchThreads;

/// A pattern with an obvious meaning.
#[derive(Clone, Debug)]
enum Slow {
    Char(char),
    /// Any character.
    Any,
    /// One after the other.
    All(Vec<Slow>),
    /// One of them.
    Either(Vec<Slow>),
    /// Any number of times.
    Repeat(Box<Slow>),
}

impl Slow {
    fn random(random: &mut Rng, depth: usize) -> Self {
        let some = |random: &mut Rng| -> Vec<Slow> {
            (0..random.usize(1..4)).map(|_| Slow::random(random, depth - 1)).collect()
        };
        match random.usize(..if depth == 0 { 4 } else { 8 }) {
            0 => Slow::Any,
            1..4 => Slow::Char(letter(random)),
            4 | 5 => Slow::All(some(random)),
            6 => Slow::Either(some(random)),
            _ => Slow::Repeat(Box::new(Slow::random(random, depth - 1))),
        }
    }

    /// A pattern that a wildcard can express, with at least one `?` or `*`.
    fn random_wildcard(random: &mut Rng) -> Self {
        let mut parts: Vec<Slow> = (0..random.usize(..5))
            .map(|_| match random.usize(..5) {
                0 => Slow::Any,
                1 | 2 => Slow::Repeat(Box::new(Slow::Any)),
                _ => Slow::Char(letter(random)),
            })
            .collect();
        let place = random.usize(..=parts.len());
        parts.insert(place, if random.bool() { Slow::Any } else { Slow::Repeat(Box::new(Slow::Any)) });
        Slow::All(parts)
    }

    fn regex(&self) -> String {
        let join = |parts: &[Slow], between| parts.iter().map(Slow::regex).collect::<Vec<_>>().join(between);
        match self {
            Slow::Char('.') => r"\.".into(),
            Slow::Char(char) => char.to_string(),
            Slow::Any => ".".into(),
            Slow::All(parts) => format!("(?:{})", join(parts, "")),
            Slow::Either(parts) => format!("({})", join(parts, "|")),
            Slow::Repeat(inner) => format!("(?:{})*", inner.regex()),
        }
    }

    fn wildcard(&self) -> String {
        match self {
            Slow::Char(char) => format!("\\{char}"),
            Slow::Any => "?".into(),
            Slow::All(parts) => parts.iter().map(Slow::wildcard).collect(),
            Slow::Repeat(_) => "*".into(),
            Slow::Either(_) => panic!("not a wildcard"),
        }
    }

    /// Whether it matches a text as a whole.
    fn matches(&self, text: &str) -> bool {
        let text: Vec<char> = text.chars().collect();
        self.ends(&text, &BTreeSet::from([0])).contains(&text.len())
    }

    /// The places where matches end that begin at these places.
    fn ends(&self, text: &[char], starts: &BTreeSet<usize>) -> BTreeSet<usize> {
        let one = |wanted: Option<char>| {
            let is_it =
                |start: &&usize| text.get(**start).is_some_and(|char| wanted.is_none_or(|c| c == *char));
            starts.iter().filter(is_it).map(|start| start + 1).collect()
        };
        match self {
            Slow::Char(char) => one(Some(*char)),
            Slow::Any => one(None),
            Slow::All(parts) => parts.iter().fold(starts.clone(), |starts, part| part.ends(text, &starts)),
            Slow::Either(parts) => parts.iter().flat_map(|part| part.ends(text, starts)).collect(),
            Slow::Repeat(inner) => {
                let (mut all, mut last) = (starts.clone(), starts.clone());
                while !last.is_empty() {
                    last = inner.ends(text, &last).difference(&all).copied().collect();
                    all.extend(&last);
                }
                all
            }
        }
    }
}

fn letter(random: &mut Rng) -> char {
    ['a', 'b', 'c', 'ä', '.', '/'][random.usize(..6)]
}

fn word(random: &mut Rng) -> String {
    (0..random.usize(1..7)).map(|_| letter(random)).collect()
}

/// The values of a document.
#[derive(Clone, Debug)]
struct Named {
    names: Vec<String>,
    paths: Vec<String>,
}

fn schema() -> Schema {
    let mut schema = Schema::new();
    let kind = FieldKind::Text { analyzer: Analyzer::Standard, postings: Postings::Frequencies };
    schema.add(FieldEntry::new("text", kind.clone())).unwrap();
    schema.add(FieldEntry::new("name", FieldKind::Keyword).column().not_searched()).unwrap();
    schema.add(FieldEntry::new("tag", FieldKind::Keyword).column()).unwrap();
    schema.add(FieldEntry::new("path", FieldKind::Path).column()).unwrap();
    schema.add(FieldEntry::new("note", kind).column().not_searched()).unwrap();
    schema.add(FieldEntry::new("size", FieldKind::Unsigned).column()).unwrap();
    schema
}

fn random_named(random: &mut Rng) -> Named {
    let times = |random: &mut Rng| [0, 1, 1, 1, 3][random.usize(..5)];
    Named {
        names: (0..times(random)).map(|_| word(random)).collect(),
        paths: (0..times(random)).map(|_| word(random)).collect(),
    }
}

fn document_of(schema: &Schema, key: usize, row: &Named) -> Document {
    let field = |name| schema.field(name).unwrap();
    let mut document = Document::new(key.to_string()).text(field("text"), "x");
    for name in &row.names {
        for field in ["name", "tag", "note"].map(field) {
            document = document.text(field, name.as_str());
        }
    }
    for path in &row.paths {
        document = document.text(field("path"), path.as_str());
    }
    document
}

#[test]
fn patterns_of_values_agree_with_a_slow_match_and_have_no_limit() {
    let seed = fastrand::u64(..);
    let mut random = Rng::with_seed(seed);
    let schema = schema();
    let directory = Arc::new(RamDirectory::new());
    let options = WriterOptions { lanes: 1, merge: None, ..WriterOptions::default() };
    let writer = IndexWriter::open_in(directory.clone(), Some(&schema), options).unwrap();
    let mut held: BTreeMap<usize, Named> = BTreeMap::new();
    for count in [6_000, 100, 2_000] {
        for _ in 0..count {
            let (key, row) = (random.usize(..9_000), random_named(&mut random));
            writer.update(&document_of(&schema, key, &row)).unwrap();
            held.insert(key, row);
        }
        writer.commit().unwrap();
    }
    let snapshot = Snapshot::open_in(&*directory).unwrap().unwrap();
    let threads = [SearchThreads::new(1), SearchThreads::always(3, 1)];
    let mut most = 0;
    for round in 0..150 {
        let (pattern, text) = if round % 2 == 0 {
            let pattern = Slow::random_wildcard(&mut random);
            (pattern.clone(), pattern.wildcard())
        } else {
            let pattern = Slow::random(&mut random, 3);
            (pattern.clone(), format!("re\"{}\"", pattern.regex()))
        };
        let field = ["name", "tag", "path", "note"][random.usize(..4)];
        let query = snapshot.parse(&format!("{field}:{text}"), Operator::Or).unwrap();
        let values = |row: &Named| if field == "path" { row.paths.clone() } else { row.names.clone() };
        let mut terms = BTreeSet::new();
        let mut is_found = |row: &Named| {
            let found: Vec<String> = values(row).into_iter().filter(|value| pattern.matches(value)).collect();
            terms.extend(found.iter().cloned());
            !found.is_empty()
        };
        let expected: BTreeSet<usize> =
            held.iter().filter(|(_, row)| is_found(row)).map(|(key, _)| *key).collect();
        most = most.max(terms.len());
        let found = keys(&snapshot, &query, &threads[random.usize(..2)]);
        let wrong = found.symmetric_difference(&expected).next().map(|key| &held[key]);
        assert!(wrong.is_none(), "seed {seed}: {field}:{text} {query:?}: {wrong:?}");
    }
    assert!(most > 1_024, "no pattern matched many terms: {most}");
}

#[test]
fn threads_share_a_dictionary_of_several_chapters_and_many_blocks() {
    let (schema, directory) = (schema(), Arc::new(RamDirectory::new()));
    let options = WriterOptions { lanes: 1, merge: None, ..WriterOptions::default() };
    let writer = IndexWriter::open_in(directory.clone(), Some(&schema), options).unwrap();
    let name = |key: usize| format!("{}.{}", key * 7_919 % 40_009, ["conf", "c"][key % 2]);
    for key in 0..40_000 {
        let row = Named { names: vec![name(key)], paths: vec![format!("/{}/{}", key / 100, name(key))] };
        writer.add(&document_of(&schema, key, &row)).unwrap();
    }
    writer.commit().unwrap();
    let snapshot = Snapshot::open_in(&*directory).unwrap().unwrap();
    let threads = SearchThreads::always(3, 1);
    for (text, is_match) in [
        ("name:*39*", (|name, _| name.contains("39")) as fn(&str, usize) -> bool),
        ("tag:re\".*9[0-9]\\.c\"", |name, _| name.ends_with(".c") && name.chars().rev().nth(3) == Some('9')),
        ("path:*/1?/*.c", |name, key| (1_000..2_000).contains(&key) && name.ends_with(".c")),
        ("note:*5.conf", |name, _| name.ends_with("5.conf")),
    ] {
        let query = snapshot.parse(text, Operator::Or).unwrap();
        let found = keys(&snapshot, &query, &threads);
        let expected: BTreeSet<usize> = (0..40_000).filter(|&key| is_match(&name(key), key)).collect();
        assert!(expected.len() > 100 && found == expected, "{text}: {} of {}", found.len(), expected.len());
    }
}

#[test]
fn fuzzy_words_sets_and_ranges_of_values_are_patterns_too() {
    let schema = schema();
    let directory = Arc::new(RamDirectory::new());
    let writer = IndexWriter::open_in(directory.clone(), Some(&schema), WriterOptions::default()).unwrap();
    for (key, name) in ["license", "lisence", "licences", "readme.md", "README.md", "a b"].iter().enumerate()
    {
        let row = Named { names: vec![(*name).to_owned()], paths: vec![format!("/data/{name}")] };
        writer.add(&document_of(&schema, key, &row)).unwrap();
    }
    writer.commit().unwrap();
    let snapshot = Snapshot::open_in(&*directory).unwrap().unwrap();
    let found = |query: &Query| -> Vec<usize> {
        keys(&snapshot, query, &SearchThreads::new(1)).into_iter().collect()
    };
    let asked = |text: &str| found(&snapshot.parse(text, Operator::Or).unwrap());
    assert_eq!(asked("name:license~1"), [0]);
    assert_eq!(asked("name:lisense~1"), [0, 1]);
    assert_eq!(asked("name:license~"), [0, 1, 2]);
    assert_eq!(asked("name:license~0"), [0]);
    assert_eq!(asked("path:/data/lisense~"), [0, 1]);
    assert_eq!(asked("note:read* OR note:READ*"), [3, 4]);
    assert_eq!(asked("name:in(*.md license re\"a.b\")"), [0, 3, 4, 5]);
    assert_eq!(asked("name:(*.md l*) -name:re\"(?i)read.*\""), [0, 1, 2]);
    assert_eq!(asked("name:\"*.md\""), [] as [usize; 0]);
    let query = snapshot.parse("name:*.md^2", Operator::Or).unwrap();
    let searcher = snapshot.searcher();
    let hits = searcher.top_k(&query, Model::default(), 10).unwrap();
    assert_eq!(hits.len(), 2);
    for hit in &hits {
        let explained = searcher.explain(&query, Model::default(), hit).unwrap().unwrap();
        assert_eq!(explained.value, hit.score);
        assert!(
            explained.description.starts_with("*.md: documents with a value that matches"),
            "{explained:?}"
        );
    }
    let other = crate::search::Hit { doc: 0, ..hits[0] };
    assert!(searcher.explain(&query, Model::default(), &other).unwrap().is_none());
    let json = |text: &str| found(&snapshot.parse_json_in(&[], text, Operator::Or).unwrap());
    assert_eq!(json(r#"{"values": {"column": "path", "set": ["/data/license", "x"]}}"#), [0]);
    assert_eq!(json(r#"{"values": {"column": "name", "set": ["license", "lisence", "x"]}}"#), [0, 1]);
    assert_eq!(json(r#"{"values": {"column": "name", "range": {"gt": "a b", "lt": "lid"}}}"#), [0, 2]);
    assert_eq!(json(r#"{"values": {"column": "note", "fuzzy": {"term": "license", "edits": 0}}}"#), [0]);
    assert_eq!(json(r#"{"values": {"column": "name", "prefix": "READ"}}"#), [4]);
    for (text, expected) in [
        ("size:5*", "match no pattern"),
        ("size:re\"5\"", "match no pattern"),
        ("size:5~1", "match no pattern"),
        ("name:a~3", "up to 2 edits"),
    ] {
        let error = snapshot.parse(text, Operator::Or).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
    for text in [
        r#"{"values": {"column": "size", "prefix": "5"}}"#,
        r#"{"values": {"column": "name", "prefix": "5", "gte": "a"}}"#,
        r#"{"values": {"column": "name", "regexp": 5}}"#,
    ] {
        assert!(snapshot.parse_json_in(&[], text, Operator::Or).is_err(), "{text}");
    }
}
