//! Columns of every kind after flushes, deletes, merges and reordering, compared with the values that were
//! added.

use super::*;
use crate::column::ColumnSet;
use crate::error::Error;
use crate::schema::{Analyzer, FieldEntry, FieldKind, Postings, Schema, Value, ValueRef};

pub(super) fn schema() -> Schema {
    let mut schema = Schema::new();
    let words = FieldKind::Text { analyzer: Analyzer::Standard, postings: Postings::Frequencies };
    let kinds = [
        ("unsigned", FieldKind::Unsigned),
        ("signed", FieldKind::Signed),
        ("float", FieldKind::Float),
        ("boolean", FieldKind::Boolean),
        ("date", FieldKind::Date),
        ("keyword", FieldKind::Keyword),
        ("path", FieldKind::Path),
        ("text", words),
        ("bytes", FieldKind::Bytes),
    ];
    for (name, kind) in kinds {
        schema.add(FieldEntry::new(name, kind).column()).unwrap();
    }
    schema
}

pub(super) fn any_value(random: &mut Rng, kind: &FieldKind) -> Value {
    let text = |random: &mut Rng| {
        let (word, count) = (random.u32(..50), random.usize(..4));
        format!("w{word}").repeat(count).into_bytes()
    };
    match kind {
        FieldKind::Unsigned => Value::Unsigned(random.u64(..) >> random.u32(..64)),
        FieldKind::Signed => Value::Signed(random.i64(..) >> random.u32(..64)),
        FieldKind::Float => Value::Float(f64::from(random.i32(-9999..9999)) / 100.0),
        FieldKind::Boolean => Value::Boolean(random.bool()),
        FieldKind::Date => Value::Date(1_700_000_000_000_000_000 + i64::from(random.u32(..)) * 1_000_000_000),
        FieldKind::Keyword | FieldKind::Text { .. } => Value::Text(text(random)),
        FieldKind::Path => {
            let slashes = ["", "/", "/a/", "a/b/", "//"][random.usize(..5)];
            Value::Text(format!("{slashes}d{}/f{}", random.u32(..9), random.u32(..999)).into_bytes())
        }
        FieldKind::Bytes => Value::Bytes((0..random.usize(..40)).map(|_| random.u8(..)).collect()),
    }
}

/// The values of a document by field, as they were added.
pub(super) type Given = Vec<Vec<Value>>;

/// The values as a column returns them: numbers in order, distinct keywords in order.
pub(super) fn as_kept(schema: &Schema, given: &Given) -> Given {
    let order = |value: &Value| match value.as_ref() {
        ValueRef::Signed(number) | ValueRef::Date(number) => (number as i128, 0.0, vec![]),
        ValueRef::Unsigned(number) => (number.into(), 0.0, vec![]),
        ValueRef::Float(number) => (0, number, vec![]),
        ValueRef::Boolean(truth) => (truth.into(), 0.0, vec![]),
        ValueRef::Text(text) | ValueRef::Bytes(text) => (0, 0.0, text.to_vec()),
    };
    let kept = schema.fields().zip(given).map(|((_, entry), values)| {
        let mut values = values.clone();
        match entry.kind {
            FieldKind::Text { .. } | FieldKind::Bytes | FieldKind::Path => {}
            _ => values.sort_by(|a, b| order(a).partial_cmp(&order(b)).unwrap()),
        }
        if entry.kind == FieldKind::Keyword {
            values.dedup();
        }
        values
    });
    kept.collect()
}

/// A segment of `count` documents, and their values.
pub(super) fn segment(
    directory: &RamDirectory,
    id: u128,
    count: u32,
    random: &mut Rng,
) -> (Segment, Vec<Given>) {
    let schema = schema();
    let mut inverter = Inverter::new(&InvertOptions::default()).unwrap();
    let mut columns = ColumnSet::new(&schema);
    let shares = [0, 3, 50, 97, 100];
    let shares: Vec<u32> = schema.fields().map(|_| shares[random.usize(..5)]).collect();
    let several = random.u32(..30);
    let mut documents = Vec::new();
    for _ in 0..count {
        let mut given: Given = Vec::new();
        for ((field, entry), &share) in schema.fields().zip(&shares) {
            let many = if random.u32(..100) < several { random.usize(2..6) } else { 1 };
            let many = if random.u32(..100) < share { many } else { 0 };
            let values: Vec<Value> = (0..many).map(|_| any_value(random, &entry.kind)).collect();
            values.iter().for_each(|value| columns.push(field, value.as_ref()));
            given.push(values);
        }
        inverter.token(b"t", 0..1);
        if random.u32(..200) == 0 {
            inverter.void_document();
            columns.void_document().unwrap();
            given = vec![vec![]; given.len()];
        } else {
            inverter.end_document();
            columns.end_document().unwrap();
        }
        documents.push(as_kept(&schema, &given));
    }
    let paths = (0..count).map(|doc| format!("{id}/{doc}").into_bytes()).collect();
    let keys = Keys { paths, stamps: vec![Stamp::default(); count as usize], ..Keys::default() };
    let (fields, mut stored) = (vec![(Field::default(), &mut inverter)], StoredCollector::none());
    let contents = SegmentContents { fields, keys: &keys, stored: &mut stored, columns: &mut columns };
    write_contents(directory, id, contents, &FlushBuffers::default());
    (Segment::open(directory, id, 0).unwrap(), documents)
}

pub(super) fn check(segment: &Segment, documents: &[&Given], label: &str) {
    segment.check(CheckLevel::Cross, &mut |_| Ok(())).unwrap();
    for (field, _) in schema().fields() {
        let column = segment.column(field).unwrap();
        let number = usize::from(field.number());
        assert_eq!(
            usize::try_from(column.values()).unwrap(),
            documents.iter().map(|given| given[number].len()).sum::<usize>()
        );
        let docs: Vec<u32> = (0..).take(documents.len()).step_by(3).collect();
        let mut rows = vec![Vec::new(); docs.len()];
        column.values_of_each(&docs, &mut rows).unwrap();
        for (doc, row) in docs.iter().zip(&rows) {
            assert_eq!(row, &documents[*doc as usize][number], "{label} field {number} document {doc}");
        }
        for (doc, given) in (0..).zip(documents) {
            let mut values = Vec::new();
            column.values_of(doc, &mut values).unwrap();
            assert_eq!(values, given[number], "{label} field {number} document {doc}");
        }
    }
}

#[test]
fn values_survive_flushes_and_merges_in_any_order() {
    let seed = 0x5eed_0620;
    let mut random = Rng::with_seed(seed);
    for round in 0..12 {
        let label = format!("seed {seed:x} round {round}");
        let directory = RamDirectory::new();
        let (mut sources, mut all) = (Vec::new(), Vec::new());
        for id in 1..=random.u128(1..4) {
            let count = [1, 300, 3_000, 9_000][random.usize(..4)];
            let (mut segment, documents) = segment(&directory, id, count, &mut random);
            check(&segment, &documents.iter().collect::<Vec<_>>(), &label);
            for _ in 0..[0, 0, 5, count][random.usize(..4)] {
                segment.delete(random.u32(..count));
            }
            sources.push(segment);
            all.push(documents);
        }
        let live: Vec<&Given> = sources
            .iter()
            .zip(&all)
            .flat_map(|(source, documents)| {
                (0..).zip(documents).filter(|(doc, _)| source.is_live(*doc)).map(|(_, given)| given)
            })
            .collect();
        let mut order: Vec<u32> = (0..u32::try_from(live.len()).unwrap()).collect();
        random.shuffle(&mut order);
        for (id, order) in [(100, None), (101, Some(order))] {
            let work = MergeWork::default();
            let by = order.clone().map(|order| DocumentOrder::new(order, 1 << 20));
            merge(&directory, id, &sources, by, &work, &mut |_| Ok(())).unwrap().1.sync().unwrap();
            let merged = Segment::open(&directory, id, 0).unwrap();
            let expected = match order {
                None => live.clone(),
                Some(order) => order.iter().map(|&number| live[number as usize]).collect(),
            };
            check(&merged, &expected, &label);
        }
    }
}

#[test]
fn damaged_columns_are_found() {
    let seed = 0x5eed_0621;
    let mut random = Rng::with_seed(seed);
    let directory = RamDirectory::new();
    segment(&directory, 1, 2_000, &mut random);
    let whole = directory.open(&file_name(1)).unwrap().to_vec();
    for _ in 0..300 {
        let mut bytes = whole.clone();
        let at = random.usize(..bytes.len());
        bytes[at] ^= 1 << random.u32(..8);
        let mut out = directory.create(&file_name(1)).unwrap();
        out.write_all(&bytes).unwrap();
        out.finish().unwrap();
        let checked = Segment::open(&directory, 1, 0)
            .and_then(|segment| segment.check(CheckLevel::Cross, &mut |_| Ok(())));
        // Only the zeros between sections have no checksum, and they are compared as well.
        assert!(
            matches!(checked, Err(Error::Corrupt { .. } | Error::NewerFormat { .. })),
            "seed {seed:x} at {at}"
        );
    }
}
