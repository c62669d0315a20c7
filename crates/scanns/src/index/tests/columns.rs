//! Sorting and counting by columns, compared with simple implementations that read every document.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use fastrand::Rng;

use crate::index::{IndexWriter, Snapshot, WriterOptions};
use crate::query::{Operator, Query};
use crate::schema::{Analyzer, Document, Field, FieldEntry, FieldKind, Postings, Schema, Value};
use crate::search::{Hit, Model, Searcher};
use crate::store::RamDirectory;

mod counting;
mod grouping;
mod nesting;
mod sorting;

/// The expected content of a live document.
struct Known {
    leaf: usize,
    doc: u32,
    score: f32,
    /// By field, as columns give them.
    values: BTreeMap<Field, Vec<Value>>,
}

impl Known {
    fn of(&self, field: Field) -> &[Value] {
        self.values.get(&field).map_or(&[], Vec::as_slice)
    }
}

struct Fixture {
    snapshot: Snapshot,
    schema: Schema,
    given: Vec<BTreeMap<Field, Vec<Value>>>,
}

const NUMBERS: [&str; 5] = ["size", "delta", "price", "flag", "when"];

fn schema() -> Schema {
    let mut schema = Schema::new();
    let words =
        FieldKind::Text { analyzer: Analyzer::parse("whitespace").unwrap(), postings: Postings::Frequencies };
    schema.add(FieldEntry::new("text", words)).unwrap();
    for (name, kind) in [
        ("size", FieldKind::Unsigned),
        ("delta", FieldKind::Signed),
        ("price", FieldKind::Float),
        ("flag", FieldKind::Boolean),
        ("when", FieldKind::Date),
        ("owner", FieldKind::Keyword),
        ("path", FieldKind::Path),
        ("blob", FieldKind::Bytes),
    ] {
        schema.add(FieldEntry::new(name, kind).column()).unwrap();
    }
    schema
}

fn any_value(random: &mut Rng, kind: &FieldKind, of: u64) -> Value {
    let number = random.u64(..of);
    match kind {
        FieldKind::Unsigned if random.u32(..50) == 0 => Value::Unsigned(random.u64(..)),
        FieldKind::Unsigned => Value::Unsigned(number * 100),
        FieldKind::Signed if random.u32(..50) == 0 => Value::Signed(random.i64(..)),
        FieldKind::Signed => Value::Signed(number.cast_signed() - 3),
        FieldKind::Float => Value::Float(number as f64 / 4.0 - 2.0),
        FieldKind::Boolean => Value::Boolean(number.is_multiple_of(2)),
        FieldKind::Date => Value::Date(number.cast_signed() * 100_000_000_000_000 * random.i64(-9..9)),
        FieldKind::Path => Value::Text(
            format!("{}d{}/f{number}", ["", "/", "a/", "a/b/", "a/b-c/"][random.usize(..5)], number % 4)
                .into(),
        ),
        FieldKind::Bytes => Value::Bytes(vec![1, 2]),
        _ => Value::Text(format!("{}{number}", ["u", "v/", "w"][random.usize(..3)]).into_bytes()),
    }
}

fn add(
    writer: &IndexWriter,
    random: &mut Rng,
    key: usize,
    shares: &[(u32, u32, u64)],
) -> BTreeMap<Field, Vec<Value>> {
    let words: Vec<String> =
        (0..random.usize(1..9)).map(|_| format!("w{}", random.u32(..6) * random.u32(..3))).collect();
    let text = writer.schema().field("text").unwrap();
    let mut document = Document::new(format!("d{key}")).text(text, words.join(" "));
    let mut given = BTreeMap::new();
    for ((field, entry), &(share, several, of)) in writer.schema().columns().zip(shares) {
        let many = if random.u32(..100) < several { random.usize(2..5) } else { 1 };
        let many = if random.u32(..100) < share { many } else { 0 };
        let mut values: Vec<Value> = (0..many).map(|_| any_value(random, &entry.kind, of)).collect();
        for value in &values {
            document = document.with(field, value.clone());
        }
        if entry.kind != FieldKind::Path {
            values.sort_by(order);
        }
        if entry.kind == FieldKind::Keyword {
            values.dedup();
        }
        given.insert(field, values);
    }
    writer.add(&document).unwrap();
    given
}

impl Fixture {
    fn new(random: &mut Rng, most: usize) -> Self {
        let (directory, schema) = (Arc::new(RamDirectory::new()), schema());
        let options = WriterOptions { lanes: 1, merge: None, ..WriterOptions::default() };
        let writer = IndexWriter::open_in(directory.clone(), Some(&schema), options).unwrap();
        let mut given = Vec::new();
        for _ in 0..random.usize(1..5) {
            let shares: Vec<(u32, u32, u64)> = schema
                .columns()
                .map(|_| {
                    let share = [0, 3, 60, 100, 100][random.usize(..5)];
                    (share, [0, 0, 20][random.usize(..3)], [1, 4, 30, 9_000][random.usize(..4)])
                })
                .collect();
            for _ in 0..random.usize(1..most) {
                given.push(add(&writer, random, given.len(), &shares));
            }
            writer.commit().unwrap();
        }
        for _ in 0..[0, 0, 3, given.len() / 4][random.usize(..4)] {
            writer.delete(format!("d{}", random.usize(..given.len())).as_bytes()).unwrap();
        }
        writer.commit().unwrap();
        let snapshot = Snapshot::open_in(&*directory).unwrap().unwrap();
        Fixture { snapshot, schema, given }
    }

    fn field(&self, name: &str) -> Field {
        self.schema.field(name).unwrap()
    }

    /// The documents that a query finds, in index order.
    fn known(&self, searcher: &Searcher<'_>, query: &Query, model: Model) -> Vec<Known> {
        let mut known = Vec::new();
        searcher
            .for_each(query, model, |hit: Hit| {
                let key = String::from_utf8(searcher.key(&hit).unwrap()).unwrap();
                let given = &self.given[key[1..].parse::<usize>().unwrap()];
                known.push(Known { leaf: hit.leaf, doc: hit.doc, score: hit.score, values: given.clone() });
                ControlFlow::Continue(())
            })
            .unwrap();
        known
    }

    fn query(&self, random: &mut Rng) -> Query {
        let text = ["*", "*", "w1", "w0", "w8 w4", "w5 -w2", "nothing"][random.usize(..7)];
        self.snapshot.parse(text, Operator::Or).unwrap()
    }
}

/// The order of values of one kind.
fn order(left: &Value, right: &Value) -> Ordering {
    match (left, right) {
        (Value::Unsigned(a), Value::Unsigned(b)) => a.cmp(b),
        (Value::Signed(a), Value::Signed(b)) | (Value::Date(a), Value::Date(b)) => a.cmp(b),
        (Value::Float(a), Value::Float(b)) => a.total_cmp(b),
        (Value::Boolean(a), Value::Boolean(b)) => a.cmp(b),
        (Value::Text(a) | Value::Bytes(a), Value::Text(b) | Value::Bytes(b)) => a.cmp(b),
        _ => panic!("{left:?} and {right:?}"),
    }
}
