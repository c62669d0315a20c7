//! Compares queries with conditions on columns with what they mean, over every document of a small world.

use std::ops::Bound;

use crate::error::Error;
use crate::query::{Operator, Query, QueryText, WeightedField, parse};
use crate::schema::{Field, FieldKind, Value};

/// Fields: `text`, 0, a text; `ext`, 1, a keyword that is only a column; `size`, 2, a number; `tag`, 3, a
/// keyword that is searched and a column; `mode`, 4, the mode of a file or directory.
struct World;

impl QueryText for World {
    fn default_fields(&self) -> &[WeightedField] {
        const { &[WeightedField::FIRST] }
    }

    fn field(&self, name: &str) -> Result<Field, Vec<String>> {
        match name {
            "text" => Ok(Field::default()),
            "tag" => Ok(Field::new(3).unwrap()),
            _ => Err(vec!["text".to_owned(), "tag".to_owned()]),
        }
    }

    fn column(&self, name: &str) -> Option<(Field, FieldKind)> {
        let (number, kind) = match name {
            "ext" => (1, FieldKind::Keyword),
            "size" => (2, FieldKind::Unsigned),
            "tag" => (3, FieldKind::Keyword),
            "mode" => (4, FieldKind::Unsigned),
            _ => return None,
        };
        Some((Field::new(number).unwrap(), kind))
    }

    fn terms(&mut self, _field: Field, text: &str) -> Vec<(u32, Vec<u8>)> {
        (0..).zip(text.split(' ').map(|word| word.as_bytes().to_vec())).collect()
    }

    fn spelling(&self, _field: Field, text: &str) -> String {
        text.to_owned()
    }
}

/// A document: whether it contains the words `a` and `b`, and its values.
#[derive(Clone, Copy, Debug)]
struct Doc {
    a: bool,
    b: bool,
    gz: bool,
    size: u64,
    hot: bool,
}

fn documents() -> Vec<Doc> {
    let bit = |number: usize, bit: usize| number >> bit & 1 == 1;
    (0..48)
        .map(|n| Doc { a: bit(n, 0), b: bit(n, 1), gz: bit(n, 2), hot: bit(n, 3), size: [1, 5, 10][n / 16] })
        .collect()
}

/// The score of a document, where each word scores 1; `None` if it does not match.
fn score(query: &Query, doc: Doc) -> Option<f32> {
    let found = |found: bool| found.then_some(1.0);
    match query {
        Query::All => Some(1.0),
        Query::Term(term) => found(match &term.text[..] {
            b"a" => doc.a,
            b"b" => doc.b,
            b"hot" => doc.hot,
            _ => false,
        }),
        Query::Values(range) => {
            let value = match range.field.number() {
                1 => Value::Text(if doc.gz { b"gz".to_vec() } else { b"txt".to_vec() }),
                2 => Value::Unsigned(doc.size),
                4 => Value::Unsigned(if doc.gz { 0o100_644 } else { 0o40_755 }),
                _ => Value::Text(if doc.hot { b"hot".to_vec() } else { b"cold".to_vec() }),
            };
            let order = |other: &Value| match (&value, other) {
                (Value::Text(a), Value::Text(b)) => a.cmp(b),
                (Value::Unsigned(a), Value::Unsigned(b)) => a.cmp(b),
                other => panic!("{other:?}"),
            };
            let above = match &range.low {
                Bound::Included(low) => order(low).is_ge(),
                Bound::Excluded(low) => order(low).is_gt(),
                Bound::Unbounded => true,
            };
            let below = match &range.high {
                Bound::Included(high) => order(high).is_le(),
                Bound::Excluded(high) => order(high).is_lt(),
                Bound::Unbounded => true,
            };
            found(above && below)
        }
        Query::Boost(query, boost) => score(query, doc).map(|score| score * boost),
        Query::Bool(list) => {
            let of = |query: &Query| score(query, doc);
            if list.must_not.iter().any(|query| of(query).is_some()) {
                return None;
            }
            let must = list.must.iter().map(of).sum::<Option<f32>>()?;
            list.filter.iter().map(of).sum::<Option<f32>>()?;
            let should: Vec<f32> = list.should.iter().filter_map(of).collect();
            let free = !list.must.is_empty() || !list.filter.is_empty();
            let least = if free || list.should.is_empty() { list.at_least } else { list.at_least.max(1) };
            let is_empty = !free && list.should.is_empty() && list.must_not.is_empty();
            (should.len() >= least && !is_empty).then(|| must + should.iter().sum::<f32>())
        }
        other => panic!("{other:?}"),
    }
}

fn words(doc: Doc) -> f32 {
    f32::from(u8::from(doc.a) + u8::from(doc.b))
}

/// What a query means: the score of a document that matches.
type Meaning = fn(Doc) -> Option<f32>;

/// Queries whose meaning is the same with both operators.
const SAME: &[(&str, Meaning)] = &[
    ("size:>1", |doc| (doc.size > 1).then_some(1.0)),
    ("size:>1 ext:gz", |doc| (doc.size > 1 && doc.gz).then_some(1.0)),
    ("size:>1 size:<10 ext:gz", |doc| (doc.size == 5 && doc.gz).then_some(1.0)),
    ("size:>1 AND size:<10", |doc| (doc.size == 5).then_some(1.0)),
    ("size:(>1 <10)", |doc| (doc.size == 5).then_some(1.0)),
    ("size:(<5 OR >5)", |doc| (doc.size != 5).then_some(1.0)),
    ("size:in(1 10) ext:gz", |doc| (doc.size != 5 && doc.gz).then_some(1.0)),
    ("size:[5 TO 10] -ext:gz", |doc| (doc.size != 1 && !doc.gz).then_some(1.0)),
    ("(size:1 OR size:10) ext:gz", |doc| (doc.size != 5 && doc.gz).then_some(1.0)),
    ("size:1 OR ext:gz", |doc| {
        (doc.size == 1 || doc.gz).then_some(f32::from(u8::from(doc.size == 1) + u8::from(doc.gz)))
    }),
    ("a ext:gz", |doc| (doc.a && doc.gz).then_some(1.0)),
    ("ext:gz a", |doc| (doc.a && doc.gz).then_some(1.0)),
    ("a AND ext:gz", |doc| (doc.a && doc.gz).then_some(1.0)),
    ("size=5", |doc| (doc.size == 5).then_some(1.0)),
    ("size:=5 ext=gz", |doc| (doc.size == 5 && doc.gz).then_some(1.0)),
    ("size > 1 ext = gz", |doc| (doc.size > 1 && doc.gz).then_some(1.0)),
    ("size: >1 ext: gz", |doc| (doc.size > 1 && doc.gz).then_some(1.0)),
    ("size:> 1 size < 10", |doc| (doc.size == 5).then_some(1.0)),
    ("size>1 size<=5", |doc| (doc.size == 5).then_some(1.0)),
    ("size:>\"1 B\" -size>=10", |doc| (doc.size == 5).then_some(1.0)),
    ("size: in(1 10)", |doc| (doc.size != 5).then_some(1.0)),
    ("tag=hot", |doc| doc.hot.then_some(1.0)),
    ("*:* size:5", |doc| (doc.size == 5).then_some(1.0)),
    ("mode:0644", |doc| doc.gz.then_some(1.0)),
    ("mode=644 size:>1", |doc| (doc.gz && doc.size > 1).then_some(1.0)),
    ("mode:rw-r--r--", |doc| doc.gz.then_some(1.0)),
    ("mode:drwxr-xr-x", |doc| (!doc.gz).then_some(1.0)),
    ("mode:in(0755 0600)", |doc| (!doc.gz).then_some(1.0)),
    ("mode:33188", |doc| doc.gz.then_some(1.0)),
    ("a tag:hot", |doc| (doc.a && doc.hot).then_some(1.0)),
    ("a (size:1 OR size:10)", |doc| (doc.a && doc.size != 5).then_some(1.0)),
    ("a (ext:gz size:>1)", |doc| (doc.a && doc.gz && doc.size > 1).then_some(1.0)),
    ("a (-ext:gz)", |doc| (doc.a && !doc.gz).then_some(1.0)),
    ("a NOT ext:gz", |doc| (doc.a && !doc.gz).then_some(1.0)),
    ("a -(ext:gz size:>1)", |doc| (doc.a && !(doc.gz && doc.size > 1)).then_some(1.0)),
    ("a (ext:gz OR NOT size:>1)", |doc| (doc.a && (doc.gz || doc.size == 1)).then_some(1.0)),
    ("(a OR b) ext:gz", |doc| (words(doc) > 0.0 && doc.gz).then_some(words(doc))),
    ("(a ext:gz) OR (b size:1)", |doc| {
        let (first, second) = (doc.a && doc.gz, doc.b && doc.size == 1);
        (first || second).then_some(f32::from(u8::from(first) + u8::from(second)))
    }),
    ("a OR ext:gz", |doc| (doc.a || doc.gz).then_some(f32::from(u8::from(doc.a) + u8::from(doc.gz)))),
    ("* ext:gz", |doc| doc.gz.then_some(1.0)),
    ("(a ext:gz size:>1)@2", |doc| {
        let found = u8::from(doc.a) + u8::from(doc.gz) + u8::from(doc.size > 1);
        (found >= 2).then_some(f32::from(found))
    }),
    ("+ext:gz +a", |doc| (doc.a && doc.gz).then_some(1.0)),
];

/// Queries with words that are alternatives unless the operator is AND.
const WITH_OR: &[(&str, Meaning)] = &[
    ("a b ext:gz", |doc| (words(doc) > 0.0 && doc.gz).then_some(words(doc))),
    ("ext:gz a b size:>1", |doc| (words(doc) > 0.0 && doc.gz && doc.size > 1).then_some(words(doc))),
    ("size:1 OR size:10 ext:gz", |doc| (doc.size != 5 && doc.gz).then_some(1.0)),
    ("a OR b ext:gz", |doc| (words(doc) > 0.0 && doc.gz).then_some(words(doc))),
    ("a ext:gz^3", |doc| {
        (doc.a || doc.gz).then_some(words(Doc { b: false, ..doc }) + if doc.gz { 3.0 } else { 0.0 })
    }),
    ("+a b ext:gz", |doc| (doc.a && doc.gz).then_some(words(doc))),
    ("+ext:gz a", |doc| doc.gz.then_some(if doc.a { 1.0 } else { 0.0 })),
    ("tag:(hot cold)", |doc| doc.hot.then_some(1.0)),
];

/// The same with AND.
const WITH_AND: &[(&str, Meaning)] = &[
    ("a b ext:gz", |doc| (doc.a && doc.b && doc.gz).then_some(2.0)),
    ("ext:gz a b size:>1", |doc| (doc.a && doc.b && doc.gz && doc.size > 1).then_some(2.0)),
    ("a ext:gz^3", |doc| (doc.a && doc.gz).then_some(4.0)),
];

#[test]
fn conditions_filter_and_words_rank() {
    let lists =
        [(Operator::Or, SAME), (Operator::And, SAME), (Operator::Or, WITH_OR), (Operator::And, WITH_AND)];
    for (operator, queries) in lists {
        for (text, meaning) in queries {
            let query = parse(text, operator, &mut World).unwrap();
            for doc in documents() {
                assert_eq!(score(&query, doc), meaning(doc), "{text} {operator:?} {doc:?} {query:?}");
            }
        }
    }
}

#[test]
fn words_that_are_no_conditions_stay_words() {
    for text in
        ["a=b", "a>5", "a < 5", "text=5", "ext>gz", "text: a", r"size\=5", r"size\>5", "size", "std::size"]
    {
        let query = parse(text, Operator::Or, &mut World).unwrap();
        assert!(!query.reads_values(), "{text}: {query:?}");
    }
}

#[test]
fn conditions_that_cannot_be_say_what_the_field_holds() {
    for (text, at, expected) in [
        (
            "size:abc",
            6,
            "size holds whole numbers that are not negative: write a condition such as size:5 or",
        ),
        ("a size>b", 7, "size holds whole numbers"),
        ("size:", 0, ""),
        ("size=", 5, "size holds"),
        ("size:5*", 6, "which match no pattern: compare them, as in size:5"),
        ("size!=5", 5, "write -size:value or NOT size:value"),
        ("text:>5", 6, "text has words, which are not compared"),
        ("text: >5", 0, ""),
        ("a text:<b", 8, "text:[a TO b]"),
    ] {
        match (parse(text, Operator::Or, &mut World), at) {
            (Ok(_), 0) => {}
            (Err(Error::Query { at: found, message, .. }), _) => {
                assert_eq!(found, at, "{text}: {message}");
                assert!(message.contains(expected), "{text}: {message}");
            }
            other => panic!("{text}: {other:?}"),
        }
    }
}

/// The fields of the examples in the documentation.
struct Documented;

impl QueryText for Documented {
    fn default_fields(&self) -> &[WeightedField] {
        const { &[WeightedField::FIRST] }
    }

    fn field(&self, name: &str) -> Result<Field, Vec<String>> {
        match name {
            "title" => Ok(Field::default()),
            _ => Err(vec!["title".to_owned()]),
        }
    }

    fn column(&self, name: &str) -> Option<(Field, FieldKind)> {
        let kind = match name {
            "size" | "mode" | "cites" => FieldKind::Unsigned,
            "temp" => FieldKind::Signed,
            "mtime" => FieldKind::Date,
            "open" => FieldKind::Boolean,
            "owner" | "host" | "state" | "ext" | "name" | "parent" => FieldKind::Keyword,
            "path" => FieldKind::Path,
            _ => return None,
        };
        Some((Field::new(1).unwrap(), kind))
    }

    fn terms(&mut self, field: Field, text: &str) -> Vec<(u32, Vec<u8>)> {
        World.terms(field, text)
    }

    fn spelling(&self, _field: Field, text: &str) -> String {
        text.to_owned()
    }
}

#[test]
fn the_examples_of_the_documentation_are_queries() {
    let text = include_str!("../../../../../docs/QUERIES.md");
    let tables = text.split("## As JSON").next().unwrap().lines().filter(|line| line.starts_with("| `"));
    // Spans of code in the first column.
    let first = tables.filter_map(|line| line.split(" | ").next());
    let examples: Vec<&str> = first.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect();
    assert!(examples.len() > 40, "{}", examples.len());
    for example in examples {
        for operator in [Operator::Or, Operator::And] {
            if let Err(error) = parse(example, operator, &mut Documented) {
                panic!("{example}: {error}");
            }
        }
    }
}
