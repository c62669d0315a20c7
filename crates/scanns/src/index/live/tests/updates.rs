//! Values that programs change, through lanes, commits, merges and other edits, against a list that is
//! changed the same way.

use super::*;
use crate::index::snapshot::batch::{BatchField, BatchOptions};
use crate::index::{Selection, update_in};
use crate::query::ValueRange;
use crate::schema::{FieldEntry, ValueRef};
use std::ops::Bound;

struct Columns {
    schema: Schema,
    tag: Field,
    size: Field,
    heat: Field,
}

fn columns() -> Columns {
    let mut schema = Schema::new();
    let tag = schema.add(FieldEntry::new("tag", FieldKind::Keyword)).unwrap();
    let size = schema.add(FieldEntry::new("size", FieldKind::Unsigned).column()).unwrap();
    let heat = schema.add(FieldEntry::new("heat", FieldKind::Float).column()).unwrap();
    schema.add(FieldEntry::new("kept", FieldKind::Unsigned).stored()).unwrap();
    Columns { schema, tag, size, heat }
}

/// A document: its key, its tag, its sizes and its heats.
#[derive(Clone, Debug, PartialEq)]
struct Row {
    key: String,
    tag: usize,
    size: Vec<u64>,
    heat: Vec<f64>,
}

fn open(directory: &Arc<RamDirectory>, columns: &Columns, lanes: usize) -> IndexWriter {
    let policy = MergePolicy { segments: 3, least_segments: 0, ..MergePolicy::default() };
    let options = WriterOptions { lanes, memory: 1 << 30, merge: Some(policy), ..WriterOptions::default() };
    IndexWriter::open_in(directory.clone(), Some(&columns.schema), options).unwrap()
}

fn document(columns: &Columns, row: &Row) -> Document {
    let mut document = Document::new(row.key.as_str()).text(columns.tag, format!("t{}", row.tag));
    for &size in &row.size {
        document = document.with(columns.size, Value::Unsigned(size));
    }
    for &heat in &row.heat {
        document = document.with(columns.heat, Value::Float(heat));
    }
    document
}

fn random_row(key: String, random: &mut Rng) -> Row {
    let size = (0..random.usize(..3)).map(|_| random.u64(..100)).collect();
    let heat = (0..random.usize(..2)).map(|_| f64::from(random.u8(..))).collect();
    Row { key, tag: random.usize(..5), size, heat }
}

fn must_hold(directory: &RamDirectory, columns: &Columns, held: &[Row], what: &str) {
    let snapshot = Snapshot::open_in(directory).unwrap().unwrap();
    let mut found = Vec::new();
    let fields = [BatchField::Key, BatchField::Values(columns.size), BatchField::Values(columns.heat)];
    snapshot
        .for_each_batch(&Query::All, &fields, &BatchOptions::default(), &mut |batch| {
            for row in 0..batch.docs.len() {
                let of = |column: usize| batch.columns[column].values(row).collect::<Vec<_>>();
                let ValueRef::Text(key) = of(0)[0] else { panic!("a key is a text") };
                found.push((String::from_utf8(key.to_vec()).unwrap(), format!("{:?}", [of(1), of(2)])));
            }
            Ok(ControlFlow::Continue(()))
        })
        .unwrap();
    found.sort();
    let row = |row: &Row| {
        let (mut size, mut heat) = (row.size.clone(), row.heat.clone());
        size.sort_unstable();
        heat.sort_by(f64::total_cmp);
        let size: Vec<ValueRef> = size.into_iter().map(ValueRef::Unsigned).collect();
        let heat: Vec<ValueRef> = heat.into_iter().map(ValueRef::Float).collect();
        (row.key.clone(), format!("{:?}", [size, heat]))
    };
    let mut expected: Vec<(String, String)> = held.iter().map(row).collect();
    expected.sort();
    assert_eq!(found, expected, "{what}");
    // The jump tables agree.
    let large = snapshot.parse("size:>50", crate::query::Operator::Or).unwrap();
    let wanted = held.iter().filter(|row| row.size.iter().any(|&size| size > 50)).count() as u64;
    assert_eq!(snapshot.searcher().count(&large).unwrap(), wanted, "{what}");
    let report = check_in(directory, CheckLevel::Cross, &Progress::new(), &AtomicBool::new(false)).unwrap();
    let left = report.leftovers.iter().any(|name| name.ends_with(".upd"));
    assert!(report.is_whole() && !left, "{what}: {report:?}");
}

/// Documents whose sizes are from there on.
fn sized(columns: &Columns, least: u64) -> Query {
    let low = Bound::Included(Value::Unsigned(least));
    Query::Values(ValueRange { field: columns.size, low, high: Bound::Unbounded })
}

/// Sizes, and the same as values.
fn random_sizes(random: &mut Rng) -> (Vec<u64>, Vec<Value>) {
    let sizes: Vec<u64> = (0..random.usize(..3)).map(|_| random.u64(..100)).collect();
    let values = sizes.iter().copied().map(Value::Unsigned).collect();
    (sizes, values)
}

/// One operation of a writer, and the same on the list.
fn change(writer: &IndexWriter, columns: &Columns, held: &mut Vec<Row>, random: &mut Rng) {
    let key = format!("k{}", random.usize(..40));
    let (sizes, values) = random_sizes(random);
    match random.usize(..27) {
        0..8 => {
            let row = random_row(key, random);
            writer.update(&document(columns, &row)).unwrap();
            held.retain(|other| other.key != row.key);
            held.push(row);
        }
        8..10 => {
            let row = random_row(key, random);
            writer.add(&document(columns, &row)).unwrap();
            held.push(row);
        }
        10..12 => {
            writer.delete(key.as_bytes()).unwrap();
            held.retain(|row| row.key != key);
        }
        12..20 => {
            writer.set(key.as_bytes(), columns.size, &values).unwrap();
            held.iter_mut().filter(|row| row.key == key).for_each(|row| row.size = sizes.clone());
        }
        20..22 => {
            writer.set(key.as_bytes(), columns.heat, &[Value::Float(0.5)]).unwrap();
            held.iter_mut().filter(|row| row.key == key).for_each(|row| row.heat = vec![0.5]);
        }
        22..25 => {
            let tag = random.usize(..5);
            let query = Query::term(columns.tag, format!("t{tag}"));
            writer.set_matching(&query, columns.size, &values).unwrap();
            held.iter_mut().filter(|row| row.tag == tag).for_each(|row| row.size = sizes.clone());
        }
        25 => {
            // Earlier settings apply, whether they are committed or not.
            let query = sized(columns, 80);
            writer.set_matching(&query, columns.heat, &[Value::Float(-1.0)]).unwrap();
            let large = |row: &&mut Row| row.size.iter().any(|&size| size >= 80);
            held.iter_mut().filter(large).for_each(|row| row.heat = vec![-1.0]);
        }
        _ => {
            writer.delete_matching(&sized(columns, 95)).unwrap();
            held.retain(|row| row.size.iter().all(|&size| size < 95));
        }
    }
}

#[test]
fn whatever_is_set_is_what_a_list_would_hold() {
    for lanes in [1, 3] {
        let seed = 0x5eed_0645 + lanes as u64;
        let mut random = Rng::with_seed(seed);
        let columns = columns();
        let directory = Arc::new(RamDirectory::new());
        let mut writer = open(&directory, &columns, lanes);
        let (mut held, mut committed) = (Vec::<Row>::new(), Vec::new());
        for round in 0..700 {
            let what = format!("seed {seed:x} round {round}");
            match random.usize(..40) {
                0..27 => change(&writer, &columns, &mut held, &mut random),
                27..30 => write_lane(&writer, random.usize(..lanes)),
                30 => {
                    let prepared = writer.prepare().unwrap();
                    let at_that_time = held.clone();
                    change(&writer, &columns, &mut held, &mut random);
                    if random.bool() {
                        prepared.commit().unwrap();
                        committed = at_that_time;
                        must_hold(&directory, &columns, &committed, &what);
                    }
                }
                31 => {
                    writer.roll_back();
                    writer = open(&directory, &columns, lanes);
                    held = committed.clone();
                }
                32 => writer.merge().unwrap(),
                33 if writer.commit().is_ok_and(|commit| commit.generation > 0) => {
                    // An explicit merge by another thread.
                    drop(writer);
                    let key = format!("k{}", random.usize(..40));
                    let (sizes, _) = random_sizes(&mut random);
                    let which = Selection::Keys(vec![key.clone().into_bytes()]);
                    let texts: Vec<String> = sizes.iter().map(u64::to_string).collect();
                    let report = update_in(&*directory, &which, &[("size".into(), texts)]).unwrap();
                    let chosen = held.iter_mut().filter(|row| row.key == key);
                    assert_eq!(report.documents, chosen.map(|row| row.size = sizes.clone()).count() as u64);
                    committed = held.clone();
                    must_hold(&directory, &columns, &held, &what);
                    writer = open(&directory, &columns, lanes);
                }
                _ => {
                    writer.commit().unwrap();
                    committed = held.clone();
                    must_hold(&directory, &columns, &held, &what);
                }
            }
        }
        assert_eq!(writer.merge_failure(), None);
    }
}

#[test]
fn what_cannot_be_set_is_refused_and_the_writer_goes_on() {
    let columns = columns();
    let directory = Arc::new(RamDirectory::new());
    let writer = open(&directory, &columns, 1);
    let kept = columns.schema.field("kept").unwrap();
    for (field, value) in [
        (columns.tag, Value::Text(b"t".to_vec())),
        (kept, Value::Unsigned(1)),
        (columns.size, Value::Signed(1)),
        (columns.size, Value::Float(1.0)),
        (Field::new(40).unwrap(), Value::Unsigned(1)),
    ] {
        let refused = writer.set(b"k", field, &[value]);
        let is_named = matches!(refused, Err(Error::InvalidField { .. } | Error::InvalidValue { .. }));
        assert!(is_named, "{field:?}");
    }
    writer.add(&Document::new("k").text(columns.tag, "t")).unwrap();
    writer.set(b"k", columns.size, &[Value::Unsigned(3)]).unwrap();
    writer.commit().unwrap();
    let row = Row { key: "k".into(), tag: 0, size: vec![3], heat: Vec::new() };
    must_hold(&directory, &columns, std::slice::from_ref(&row), "a column that no document had");
    drop(writer);
    let no_field = update_in(&*directory, &Selection::Keys(Vec::new()), &[("wrong".into(), Vec::new())]);
    assert!(no_field.is_err_and(|error| error.to_string().contains("heat")));
}
