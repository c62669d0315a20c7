//! Batches contain the values of the hits, from columns or from stored values.

use super::*;
use crate::index::snapshot::batch::{BatchColumn, BatchField, BatchOptions};
use crate::schema::{FieldEntry, ValueRef};
use crate::search::Hit;

/// A value of a kind, sometimes an extreme one.
fn value(kind: &FieldKind, random: &mut Rng, long: bool) -> Value {
    let mut word: Vec<u8> = (0..random.usize(..9)).map(|_| random.u8(97..)).collect();
    if long {
        word = vec![b'x'; 100_000];
    }
    let any = match random.u32(..9) {
        0 => u64::MAX,
        1 => 0,
        _ => random.u64(..) >> random.u32(..64),
    };
    match kind {
        FieldKind::Unsigned => Value::Unsigned(any),
        FieldKind::Signed => Value::Signed(any.cast_signed()),
        FieldKind::Float => Value::Float(random.f64() - 0.5),
        FieldKind::Boolean => Value::Boolean(any % 2 == 0),
        FieldKind::Date => Value::Date(any.cast_signed()),
        FieldKind::Path => Value::Text([b"/d/", &any.to_string().into_bytes()[..1], b"/", &word].concat()),
        FieldKind::Bytes => Value::Bytes(word),
        _ => Value::Text(word),
    }
}

/// An index with a field of every kind, and one that is only stored.
fn index(random: &mut Rng, seed: u64) -> (Arc<RamDirectory>, Vec<Field>) {
    let mut schema = Schema::new();
    let kind = || FieldKind::Text {
        analyzer: Analyzer::parse("whitespace").unwrap(),
        postings: Postings::Frequencies,
    };
    let text = schema.add(FieldEntry::new("text", kind())).unwrap();
    let kinds = [
        FieldKind::Unsigned,
        FieldKind::Signed,
        FieldKind::Float,
        FieldKind::Boolean,
        FieldKind::Date,
        FieldKind::Keyword,
        FieldKind::Path,
        kind(),
        FieldKind::Bytes,
    ];
    let mut fields = Vec::new();
    // Three fields of each kind: with one value in every document, with one value or none, and with any
    // number of values.
    for (number, kind) in kinds.iter().cycle().take(27).enumerate() {
        let entry = FieldEntry::new(&format!("f{number}"), kind.clone()).column();
        fields.push(schema.add(entry).unwrap());
    }
    fields.push(schema.add(FieldEntry::new("note", FieldKind::Keyword).stored()).unwrap());
    let directory = Arc::new(RamDirectory::new());
    let writer = IndexWriter::open_in(directory.clone(), Some(&schema), WriterOptions::default()).unwrap();
    for number in 0..9_000u32 {
        let key = format!("k{number:04}");
        let mut document = Document::new(key.as_str()).text(text, if number % 3 == 0 { "a b" } else { "b" });
        for (place, &field) in fields.iter().enumerate() {
            let some = match place / 9 {
                0 => 1,
                1 => random.usize(..2),
                _ => random.usize(..4),
            };
            for _ in 0..some {
                let long = place == 7 && number % 1_000 == 7;
                let kind = &schema.entry(field).unwrap().kind;
                document = document.with(field, value(kind, random, long));
            }
        }
        writer.add(&document).unwrap();
        if number % 5_000 == 4_500 {
            writer.commit().unwrap();
        }
    }
    writer.delete(b"k0003").unwrap();
    writer.commit().unwrap();
    println!("seed {seed:x}");
    (directory, fields)
}

fn owned(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Text(text) => Value::Text(text.to_vec()),
        ValueRef::Bytes(bytes) => Value::Bytes(bytes.to_vec()),
        ValueRef::Unsigned(number) => Value::Unsigned(number),
        ValueRef::Signed(number) => Value::Signed(number),
        ValueRef::Float(number) => Value::Float(number),
        ValueRef::Boolean(truth) => Value::Boolean(truth),
        ValueRef::Date(moment) => Value::Date(moment),
    }
}

/// Rows that are written as bytes can be read back; damaged rows are refused or read within bounds.
fn carried_over(columns: &[BatchColumn], random: &mut Rng) {
    let mut copies: Vec<BatchColumn> = columns.iter().map(|column| BatchColumn::new(column.kind())).collect();
    let mut bytes = Vec::new();
    for row in 0..columns[0].rows() {
        bytes.clear();
        columns.iter().for_each(|column| column.put_row(row, &mut bytes));
        let mut rest = &bytes[..];
        copies.iter_mut().for_each(|copy| copy.take_row(&mut rest).unwrap());
        assert!(rest.is_empty());
        for (copy, column) in copies.iter().zip(columns) {
            assert!(copy.values(row).eq(column.values(row)));
        }
    }
    let mut damaged = bytes;
    let at = random.usize(..damaged.len());
    damaged[at] ^= 1 << random.u32(..8);
    damaged.truncate(random.usize(..=damaged.len()));
    let mut rest = &damaged[..];
    for copy in &mut copies {
        if copy.take_row(&mut rest).is_none() {
            break;
        }
    }
}

#[test]
fn batches_have_the_values_of_columns_and_of_stored_fields_whatever_their_size() {
    let seed = 0x5eed_0640;
    let mut random = Rng::with_seed(seed);
    let (directory, fields) = index(&mut random, seed);
    let snapshot = Snapshot::open_in(&*directory).unwrap().unwrap();
    let asked: Vec<BatchField> = std::iter::once(BatchField::Key)
        .chain(fields.iter().map(|&field| BatchField::Values(field)))
        .collect();
    for (text, rows, bytes) in
        [("*", 16 << 10, 16 << 20), ("a", 1_000, 64 << 10), ("*", 7, 1), ("none", 9, 9)]
    {
        let query = snapshot.parse(text, Operator::Or).unwrap();
        let mut hits = Vec::new();
        let visit = |hit: Hit| {
            hits.push((hit.leaf, hit.doc));
            ControlFlow::Continue(())
        };
        snapshot.searcher().for_each(&query, Model::Classic, visit).unwrap();
        let from =
            hits.get(random.usize(..hits.len().max(1))).copied().filter(|_| rows < 1_001).unwrap_or((0, 0));
        for model in [None, Some(Model::Classic)] {
            let options = BatchOptions { rows, bytes, model, from };
            let mut found = Vec::new();
            snapshot
                .for_each_batch(&query, &asked, &options, &mut |batch| {
                    let size: usize = batch.columns.iter().map(BatchColumn::bytes).sum();
                    assert!(batch.docs.len() <= rows && (size <= bytes || batch.docs.len() == 1), "{size}");
                    assert_eq!(batch.scores.len(), if model.is_some() { batch.docs.len() } else { 0 });
                    carried_over(batch.columns, &mut random);
                    for (row, &doc) in batch.docs.iter().enumerate() {
                        let hit = Hit { leaf: batch.leaf, doc, score: 0.0 };
                        found.push((hit.leaf, doc));
                        // Reading documents one by one is slow.
                        if random.u8(..3) > 0 {
                            continue;
                        }
                        let mut columns = batch.columns.iter();
                        let mut values =
                            || columns.next().unwrap().values(row).map(owned).collect::<Vec<_>>();
                        let what = format!("seed {seed:x} {text} {hit:?}");
                        assert_eq!(values(), [Value::Text(snapshot.key(&hit).unwrap())], "{what}");
                        for expected in snapshot.field_values(&hit, &fields).unwrap() {
                            assert_eq!(values(), expected, "{what}");
                        }
                    }
                    Ok(ControlFlow::Continue(()))
                })
                .unwrap();
            hits.retain(|&hit| hit >= from);
            assert_eq!(found, hits, "seed {seed:x} {text}");
        }
    }
    let several: Vec<bool> = fields.iter().map(|&field| snapshot.may_have_several(field)).collect();
    assert_eq!(several, (0..28).map(|place| place >= 18).collect::<Vec<_>>());
}

#[test]
fn a_visit_ends_when_it_is_told_to_and_fields_that_are_not_kept_are_refused() {
    let seed = 0x5eed_0641;
    let (directory, _) = index(&mut Rng::with_seed(seed), seed);
    let snapshot = Snapshot::open_in(&*directory).unwrap().unwrap();
    let mut seen = 0;
    let options = BatchOptions { rows: 300, ..BatchOptions::default() };
    snapshot
        .for_each_batch(&Query::All, &[], &options, &mut |batch| {
            seen += batch.docs.len();
            Ok(if seen >= 600 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })
        .unwrap();
    assert_eq!(seen, 600);
    let text = snapshot.schema().field("text").unwrap();
    let refused = snapshot.for_each_batch(&Query::All, &[BatchField::Values(text)], &options, &mut |_| {
        Ok(ControlFlow::Continue(()))
    });
    assert!(refused.unwrap_err().to_string().contains("has no values to read"));
    // A row of any kind is read as it was pushed.
    let mut column = BatchColumn::new(crate::column::ColumnKind::Text);
    column.push_row([ValueRef::Text(b"x")]);
    assert!(column.ends().is_none());
    column.push_row([]);
    column.push_row([ValueRef::Text(b"y"), ValueRef::Unsigned(7), ValueRef::Text(b"")]);
    assert_eq!((column.rows(), column.len(), column.ends()), (3, 3, Some(&[1, 1, 3][..])));
    assert_eq!(
        column.values(2).map(owned).collect::<Vec<_>>(),
        [Value::Text(b"y".into()), Value::Text(vec![])]
    );
}
