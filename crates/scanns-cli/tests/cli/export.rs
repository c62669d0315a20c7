//! Exports in every format have the same values as the hits of the library.

mod formats;
mod resumed;
mod served;
mod sorted;

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, TimestampNanosecondType, UInt64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::DataType;
use fastrand::Rng;
use scanns::query::Operator;
use scanns::schema::{Analyzer, Document, Field, FieldEntry, FieldKind, Postings, Schema, Value};
use scanns::search::Model;
use scanns::writer::{IndexWriter, WriterOptions};
use scanns::{Hit, Query, Snapshot};

use crate::{Place, Ran, run, scanns};

/// An index with two fields of every kind, one with at most one value per document and one with any number,
/// and with one stored field.
pub struct Fields {
    pub place: Place,
    pub fields: Vec<Field>,
    pub names: Vec<String>,
}

fn text_kind() -> FieldKind {
    FieldKind::Text { analyzer: Analyzer::parse("whitespace").unwrap(), postings: Postings::Frequencies }
}

fn value(kind: &FieldKind, random: &mut Rng, unicode: bool) -> Value {
    let any = match random.u32(..9) {
        0 => u64::MAX,
        1 => 0,
        2 => 1 << 63,
        _ => random.u64(..) >> random.u32(..64),
    };
    let mut word: Vec<u8> =
        (0..random.usize(..6)).map(|_| random.u8(if unicode { 97..=99 } else { 97..=255 })).collect();
    if random.u32(..20) == 0 {
        word.extend("\",;\\\n ä".bytes());
    }
    match kind {
        FieldKind::Unsigned => Value::Unsigned(any),
        FieldKind::Signed => Value::Signed(any.cast_signed()),
        FieldKind::Float => Value::Float([random.f64() - 0.5, f64::INFINITY, 1e300, 0.0][random.usize(..4)]),
        FieldKind::Boolean => Value::Boolean(any % 2 == 0),
        FieldKind::Date => Value::Date(any.cast_signed()),
        FieldKind::Path => Value::Text([b"/d/", &any.to_string().into_bytes()[..1], b"/", &word].concat()),
        FieldKind::Bytes => Value::Bytes(word),
        _ => Value::Text(word),
    }
}

/// An index of several segments; some texts in the second half of the fields are not valid UTF-8.
pub fn fields(documents: u32, seed: u64) -> Fields {
    println!("seed {seed:x}");
    let mut random = Rng::with_seed(seed);
    let mut schema = Schema::new();
    let text = schema.add(FieldEntry::new("text", text_kind())).unwrap();
    let kinds = [
        FieldKind::Unsigned,
        FieldKind::Signed,
        FieldKind::Float,
        FieldKind::Boolean,
        FieldKind::Date,
        FieldKind::Keyword,
        FieldKind::Path,
        text_kind(),
        FieldKind::Bytes,
    ];
    let names = ["unsigned", "signed", "float", "truth", "date", "keyword", "path", "note", "bytes"];
    let mut names: Vec<String> = names.map(String::from).to_vec();
    names.extend(names.clone().iter().map(|name| format!("{name}s")));
    let entry = |(name, kind): (&String, &FieldKind)| FieldEntry::new(name, kind.clone()).column();
    let entries: Vec<_> = names.iter().zip(kinds.iter().cycle()).map(entry).collect();
    let mut fields: Vec<Field> = entries.into_iter().map(|entry| schema.add(entry).unwrap()).collect();
    fields.push(schema.add(FieldEntry::new("stored", FieldKind::Keyword).stored()).unwrap());
    names.push("stored".into());
    let place = Place::new();
    let writer = IndexWriter::open(place.index(), Some(&schema), WriterOptions::default()).unwrap();
    for number in 0..documents {
        let key =
            [format!("k{number:06}").into_bytes(), if number == 1_234 { vec![255] } else { vec![] }].concat();
        let mut document = Document::new(key).text(text, if number % 3 == 0 { "a b" } else { "b" });
        for (at, &field) in fields.iter().enumerate() {
            let some = if at < 9 { random.usize(..2) } else { random.usize(..4) };
            for _ in 0..some {
                let kind = &schema.entry(field).unwrap().kind;
                document = document.with(field, value(kind, &mut random, at < 9 || number < 1_000));
            }
        }
        writer.add(&document).unwrap();
        if number % 1_500 == 1_400 {
            writer.commit().unwrap();
        }
    }
    writer.delete(b"k000003").unwrap();
    writer.commit().unwrap();
    Fields { place, fields, names }
}

/// The values of a row, by column.
pub type Row = Vec<Vec<Value>>;

impl Fields {
    /// Key and values of all hits, in index order.
    pub fn expected(&self, text: &str) -> Vec<Row> {
        let snapshot = Snapshot::open(&self.place.index()).unwrap();
        let query = snapshot.parse(text, Operator::Or).unwrap();
        hits(&snapshot, &query).iter().map(|hit| self.row(&snapshot, hit)).collect()
    }

    pub fn row(&self, snapshot: &Snapshot, hit: &Hit) -> Row {
        let key = vec![Value::Text(snapshot.key(hit).unwrap())];
        std::iter::once(key).chain(snapshot.field_values(hit, &self.fields).unwrap()).collect()
    }

    pub fn export(&self, more: &[&str]) -> Ran {
        run(scanns(&["export"]).arg(self.place.index()).args(more))
    }

    pub fn out(&self, name: &str) -> PathBuf {
        self.place.dir.path().join(name)
    }

    /// Exports to a file with this name, which must succeed.
    pub fn exported(&self, name: &str, more: &[&str]) -> Vec<u8> {
        let out = self.out(name);
        let ran = self.export(&[&["-o", out.to_str().unwrap()], more].concat());
        let has_rows = !ran.stderr.contains("nothing matches the query");
        assert_eq!(ran.code, Some(i32::from(!has_rows)), "{}", ran.stderr);
        std::fs::read(out).unwrap()
    }
}

pub fn hits(snapshot: &Snapshot, query: &Query) -> Vec<Hit> {
    let mut hits = Vec::new();
    let visit = |hit| {
        hits.push(hit);
        ControlFlow::Continue(())
    };
    snapshot.searcher().for_each(query, Model::default(), visit).unwrap();
    hits
}

/// The rows of batches.
pub fn rows(batches: &[RecordBatch]) -> Vec<Row> {
    let row = |(batch, row)| {
        let batch: &RecordBatch = batch;
        batch.columns().iter().map(|column| values(column, row)).collect()
    };
    batches.iter().flat_map(|batch| (0..batch.num_rows()).map(move |at| (batch, at))).map(row).collect()
}

fn values(array: &ArrayRef, row: usize) -> Vec<Value> {
    if array.is_null(row) {
        return Vec::new();
    }
    vec![match array.data_type() {
        DataType::List(_) => {
            let list = array.as_list::<i32>().value(row);
            let list: ArrayRef = Arc::clone(&list);
            assert!(!list.is_empty(), "no value is a null");
            return (0..list.len()).flat_map(|at| values(&list, at)).collect();
        }
        DataType::UInt64 => Value::Unsigned(array.as_primitive::<UInt64Type>().value(row)),
        DataType::Int64 => Value::Signed(array.as_primitive::<Int64Type>().value(row)),
        DataType::Float64 => Value::Float(array.as_primitive::<Float64Type>().value(row)),
        DataType::Boolean => Value::Boolean(array.as_boolean().value(row)),
        DataType::Timestamp(_, Some(zone)) if &**zone == "UTC" => {
            Value::Date(array.as_primitive::<TimestampNanosecondType>().value(row))
        }
        DataType::Utf8 => Value::Text(array.as_string::<i32>().value(row).into()),
        DataType::Binary => Value::Bytes(array.as_binary::<i32>().value(row).into()),
        other => panic!("{other:?}"),
    }]
}

/// Converts the texts of these columns to bytes.
pub fn as_bytes(rows: &[Row], columns: &[usize]) -> Vec<Row> {
    let mut rows = rows.to_vec();
    for row in &mut rows {
        for &column in columns {
            for value in &mut row[column] {
                if let Value::Text(text) = value {
                    *value = Value::Bytes(std::mem::take(text));
                }
            }
        }
    }
    rows
}
