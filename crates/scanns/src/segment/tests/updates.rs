//! Values that are changed after their segment was written, compared with the same changes in a list.

use super::columns::{Given, any_value, as_kept, check, schema, segment};
use super::*;
use crate::column::{ColumnKind, NewValues};
use crate::error::Error;
use crate::schema::{Field, Value};
use crate::segment::{Changes, updates_file_name};

/// Changes of at most `most` documents in some of the columns of numbers, which are also made in `documents`.
fn random_changes(documents: &mut [Given], most: usize, random: &mut Rng) -> Changes {
    let schema = schema();
    let mut changes = Changes::new();
    let count = u32::try_from(documents.len()).unwrap();
    for (field, entry) in schema.fields() {
        let kind = ColumnKind::of(&entry.kind);
        if !kind.is_number() || random.u32(..3) == 0 {
            continue;
        }
        let mut values = NewValues::new();
        // In the whole segment, or in one place.
        let (first, width) = if random.bool() { (0, count) } else { (random.u32(..count), 100) };
        let many = random.u32(..4);
        for _ in 0..random.usize(1..=most) {
            let doc = (first + random.u32(..width)).min(count - 1);
            let given: Vec<Value> =
                (0..random.u32(..=many)).map(|_| any_value(random, &entry.kind)).collect();
            let orders = given.iter().map(|value| kind.order_of(value.as_ref()).unwrap()).collect();
            values.insert(doc, orders);
            let document = &mut documents[doc as usize];
            document[usize::from(field.number())] = given;
            *document = as_kept(&schema, document);
        }
        changes.insert(field, (kind, values));
    }
    changes
}

fn all(documents: &[Given]) -> Vec<&Given> {
    documents.iter().collect()
}

#[test]
fn changed_values_survive_writing_opening_and_merging() {
    let seed = 0x5eed_0640;
    let mut random = Rng::with_seed(seed);
    for round in 0..10 {
        let label = format!("seed {seed:x} round {round}");
        let directory = RamDirectory::new();
        let count = [1, 300, 5_000, 20_000][random.usize(..4)];
        let (mut segment, mut documents) = segment(&directory, 7, count, &mut random);
        let mut written = 0;
        for generation in 1..=5 {
            let before = (segment.clone(), documents.clone());
            for _ in 0..random.usize(1..3) {
                let most = [1, 20, 3_000][random.usize(..3)];
                segment.set(&random_changes(&mut documents, most, &mut random)).unwrap();
            }
            check(&segment, &all(&documents), &label);
            check(&before.0, &all(&before.1), &label);
            check_changes(&before.0, &segment, [&before.1, &documents], &label);
            if random.bool() {
                segment.write_updates(&directory, generation).unwrap();
                written = generation;
            } else if written > 0 && random.bool() {
                // Changes that were not written are lost, and made again.
                let again = Segment::open(&directory, 7, 0).unwrap();
                let mut again = again.with_updates(&directory, written).unwrap();
                again.set(&segment.changes_since(&again).unwrap()).unwrap();
                segment = again;
            }
        }
        segment.write_updates(&directory, 9).unwrap();
        let opened = Segment::open(&directory, 7, 0).unwrap().with_updates(&directory, 9).unwrap();
        if segment.updates().is_some() {
            check(&opened, &all(&documents), &label);
        }
        merge(&directory, 8, &[opened], None, &MergeWork::default(), &mut |_| Ok(()))
            .unwrap()
            .1
            .sync()
            .unwrap();
        let live: Vec<&Given> =
            (0..).zip(&documents).filter(|(doc, _)| segment.is_live(*doc)).map(|(_, given)| given).collect();
        check(&Segment::open(&directory, 8, 0).unwrap(), &live, &label);
    }
}

/// Checks that [`Segment::changes_since`] finds exactly the values that differ between the documents `before`
/// and `after`.
fn check_changes(then: &Segment, now: &Segment, [before, after]: [&[Given]; 2], label: &str) {
    let changes = now.changes_since(then).unwrap();
    let changed =
        |field: Field, doc: u32| changes.get(&field).is_some_and(|(_, docs)| docs.contains_key(&doc));
    for (field, _) in schema().fields() {
        let place = usize::from(field.number());
        for (doc, (before, after)) in (0..).zip(before.iter().zip(after)) {
            let differs = before[place] != after[place];
            assert_eq!(differs, changed(field, doc), "{label} field {place} document {doc}");
        }
    }
}

#[test]
fn changing_a_few_values_writes_a_few_blocks() {
    let directory = RamDirectory::new();
    let mut random = Rng::with_seed(0x5eed_0641);
    let (mut segment, mut documents) = segment(&directory, 7, 20_000, &mut random);
    let place = documents.iter().position(|given| !given[0].is_empty()).unwrap_or(0);
    let values = NewValues::from([(u32::try_from(place).unwrap(), vec![5])]);
    documents[place][0] = vec![Value::Unsigned(5)];
    segment.set(&Changes::from([(Field::default(), (ColumnKind::Unsigned, values))])).unwrap();
    check(&segment, &all(&documents), "one value");
    // A block of 64-bit numbers takes 32 KiB, and the column has several blocks.
    assert!(segment.write_updates(&directory, 1).unwrap() < 80 << 10);
}

#[test]
fn damaged_updates_and_updates_of_other_segments_are_refused() {
    let seed = 0x5eed_0642;
    let mut random = Rng::with_seed(seed);
    let directory = RamDirectory::new();
    let (mut segment, mut documents) = segment(&directory, 7, 6_000, &mut random);
    while segment.updates().is_none() {
        segment.set(&random_changes(&mut documents, 50, &mut random)).unwrap();
    }
    segment.write_updates(&directory, 3).unwrap();
    let name = updates_file_name(7, 3);
    let whole = directory.open(&name).unwrap().to_vec();
    let put = |name: &str, bytes: &[u8]| {
        let mut out = directory.create(name).unwrap();
        out.write_all(bytes).unwrap();
        out.finish().unwrap();
    };
    for _ in 0..300 {
        let mut bytes = whole.clone();
        let at = random.usize(..bytes.len());
        if random.u32(..4) == 0 {
            bytes.truncate(at);
        } else {
            bytes[at] ^= 1 << random.u32(..8);
        }
        put(&name, &bytes);
        let checked = Segment::open(&directory, 7, 0)
            .and_then(|segment| segment.with_updates(&directory, 3))
            .and_then(|segment| segment.check(CheckLevel::Cross, &mut |_| Ok(())));
        assert!(
            matches!(checked, Err(Error::Corrupt { .. } | Error::NewerFormat { .. })),
            "seed {seed:x} at {at}"
        );
    }
    put(&updates_file_name(8, 3), &whole);
    super::columns::segment(&directory, 8, 6_000, &mut random);
    let other = Segment::open(&directory, 8, 0).unwrap().with_updates(&directory, 3);
    assert!(matches!(other, Err(Error::Corrupt { .. })));
}
