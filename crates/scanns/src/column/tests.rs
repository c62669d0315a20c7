//! Columns, compared with a list of lists.

use std::sync::Arc;

use super::sums::RangeFigures;
use super::*;
use crate::codec::Head;
use crate::error::{Error, Result};
use crate::store::{Envelope, EnvelopeWriter, FileKind, RamDirectory};

const KIND: FileKind = FileKind { magic: *b"TESTTEST", format: 1, oldest: 1 };

fn put(directory: &RamDirectory, blocks: &[u8], index: &[u8]) {
    let mut out = EnvelopeWriter::create(directory, "c", KIND, 1).unwrap();
    for (kind, bytes) in [(BLOCKS, blocks), (INDEX, index)] {
        out.begin(kind).unwrap();
        out.write(bytes).unwrap();
    }
    out.finish().unwrap().sync().unwrap();
}

fn open(directory: &RamDirectory, documents: u32) -> Result<Column> {
    let file = Envelope::open(directory, "c", KIND)?;
    Column::open(|kind| file.shared_section(kind).map(Arc::clone), documents)
}

fn written(documents: &[Vec<u64>], kind: ColumnKind) -> (Vec<u8>, Vec<u8>) {
    let (mut writer, mut blocks) = (ColumnWriter::new(kind), Vec::new());
    for values in documents {
        values.iter().for_each(|&value| writer.push(value));
        writer.end_document(&mut blocks).unwrap();
    }
    let index = writer.finish(&mut blocks).unwrap();
    (blocks, index)
}

fn sorted(documents: &[Vec<u64>]) -> Vec<Vec<u64>> {
    let mut sorted = documents.to_vec();
    sorted.iter_mut().for_each(|values| values.sort_unstable());
    sorted
}

fn check(column: &Column, documents: &[Vec<u64>], random: &mut fastrand::Rng, label: &str) {
    let expected = sorted(documents);
    let mut seen = 0;
    let mut scan = Scan::new();
    let mut scanned = vec![Vec::new(); documents.len()];
    for block in 0..column.blocks() {
        let entry = column.entry(block).unwrap();
        assert_eq!(entry.first, seen, "{label}");
        seen += entry.documents;
        let all: Vec<u64> = expected[entry.first as usize..seen as usize].iter().flatten().copied().collect();
        let bounds = (all.iter().min().copied().unwrap_or(0), all.iter().max().copied().unwrap_or(0));
        assert_eq!(
            (entry.least, entry.most, entry.values as usize),
            (bounds.0, bounds.1, all.len()),
            "{label}"
        );
        let values = scan.read(column, block).unwrap();
        values.documents().for_each(|(doc, values)| scanned[doc as usize] = values.to_vec());
    }
    assert_eq!(seen as usize, documents.len(), "{label}");
    assert_eq!(scanned, expected, "{label}");
    let all = || expected.iter().flatten().copied();
    assert_eq!(column.bounds(), all().min().zip(all().max()), "{label}");
    assert_eq!(column.values(), all().count() as u64, "{label}");
    assert_eq!(column.present(), expected.iter().filter(|values| !values.is_empty()).count() as u64);
    let mut of_ranges = (0, 0);
    for number in 0..column.ranges() {
        let (range, blocks) = column.range(number).unwrap();
        of_ranges = (of_ranges.0 + range.values, of_ranges.1 + range.documents);
        for block in blocks.map(|block| column.entry(block).unwrap()) {
            assert!(block.values == 0 || range.least <= block.least && block.most <= range.most, "{label}");
        }
    }
    assert_eq!(of_ranges, (column.values(), column.documents()), "{label}");
    let mut cursor = ColumnCursor::new(column);
    for _ in 0..3_000.min(4 * documents.len()) {
        let doc = random.u32(..column.documents());
        let mut values = Vec::new();
        column.get(doc, &mut values).unwrap();
        assert_eq!(values, expected[doc as usize], "{label} {doc}");
        assert_eq!(column.first(doc).unwrap(), values.first().copied(), "{label} {doc}");
        assert_eq!(cursor.first(doc).unwrap(), values.first().copied(), "{label} {doc}");
    }
    gathered(column, &expected, random, label);
    ranged(column, &expected, random, label);
}

/// Compares figures and ranges of documents with those of the listed values.
fn ranged(column: &Column, expected: &[Vec<u64>], random: &mut fastrand::Rng, label: &str) {
    let mut reader = RangeReader::new(column);
    let documents = column.documents();
    for round in 0..40 {
        let (one, other) = (random.u32(..=documents), random.u32(..=documents));
        let docs = match round {
            0 => 0..documents,
            1 => 0..u32::MAX,
            _ if random.bool() => one..(one + random.u32(..20)).min(documents),
            _ => one.min(other)..one.max(other),
        };
        let own = &expected[docs.start as usize..docs.end.min(documents) as usize];
        let values: Vec<u64> = own.iter().flatten().copied().collect();
        let sum = values.iter().copied().map(u128::from).sum();
        let figures = RangeFigures {
            values: values.len() as u64,
            sum: if column.kind() == ColumnKind::Unsigned { sum } else { 0 },
            least: values.iter().copied().min().unwrap_or(u64::MAX),
            most: values.iter().copied().max().unwrap_or(0),
        };
        assert_eq!(reader.figures(docs.clone()).unwrap(), figures, "{label} {docs:?}");
        let mut found = Vec::new();
        let mut take = |doc: u32, value| {
            found.push((doc, value));
            Ok(())
        };
        column.each_value_in(docs.clone(), &mut take).unwrap();
        let listed =
            (docs.start..).zip(own).flat_map(|(doc, own)| own.iter().map(move |&value| (doc, value)));
        assert_eq!(found, listed.collect::<Vec<_>>(), "{label} {docs:?}");
    }
    for _ in 0..20 {
        let some = |random: &mut fastrand::Rng| match random.u8(..8) {
            0 => 0,
            1 => u64::MAX,
            _ => expected[random.usize(..expected.len())].first().copied().unwrap_or(7),
        };
        let (one, other) = (some(random), some(random));
        let (low, high) = (one.min(other), one.max(other));
        let ranges = column.ranges_within(low, high, usize::MAX).unwrap().unwrap();
        assert!(ranges.windows(2).all(|two| two[0].end < two[1].start), "{label}");
        let found: Vec<u32> = ranges.iter().cloned().flatten().collect();
        let is_in = |doc: &u32| expected[*doc as usize].iter().any(|value| (low..=high).contains(value));
        assert_eq!(found, (0..documents).filter(is_in).collect::<Vec<_>>(), "{label} {low} {high}");
        let few = column.ranges_within(low, high, ranges.len().saturating_sub(1)).unwrap();
        assert_eq!(few.is_none(), !ranges.is_empty(), "{label}");
    }
}

/// Compares batches of all, most and few documents with single reads.
fn gathered(column: &Column, expected: &[Vec<u64>], random: &mut fastrand::Rng, label: &str) {
    for share in [1, 2, 40, 3_000] {
        let docs: Vec<u32> = (0..column.documents()).filter(|_| random.u32(..share) == 0).collect();
        let (mut gather, mut out, rows) = (Gather::new(column), Gathered::default(), random.usize(1..20_000));
        for docs in docs.chunks(rows) {
            out.clear();
            gather.read(docs, &mut out).unwrap();
            let own = |&doc: &u32| &expected[doc as usize];
            assert_eq!(out.rows(), docs.len(), "{label}");
            assert_eq!(out.ends().is_none(), docs.iter().map(own).all(|own| own.len() == 1), "{label}");
            for (row, own) in docs.iter().map(own).enumerate() {
                assert_eq!(&out.values()[out.of_row(row)], own, "{label} {}", docs[row]);
            }
        }
    }
}

fn some_documents(random: &mut fastrand::Rng, count: usize) -> Vec<Vec<u64>> {
    let (share, several) =
        ([0, 1, 30, 500, 995, 1_000][random.usize(..6)], [0, 0, 1, 300][random.usize(..4)]);
    let bits = random.u32(1..=64);
    let run = [1, 1, 7, 900][random.usize(..4)];
    let mut value = 0;
    (0..count)
        .map(|i| {
            if i % run == 0 {
                value = random.u64(..) >> (64 - bits);
            }
            let count = if random.u32(..1_000) < several { random.usize(2..9) } else { 1 };
            let count = if random.u32(..1_000) < share { count } else { 0 };
            (0..count).map(|i| if i == 0 { value } else { random.u64(..) >> (64 - bits) }).collect()
        })
        .collect()
}

#[test]
fn every_document_is_found() {
    let seed = 0x5eed_0610;
    let mut random = fastrand::Rng::with_seed(seed);
    for round in 0..60 {
        let count =
            [0, 1, 4_095, 4_096, 4_097, 70_000, 300_000][random.usize(..if round < 40 { 5 } else { 7 })];
        let documents = some_documents(&mut random, count);
        let kind = if round % 5 == 0 { ColumnKind::Float } else { ColumnKind::Unsigned };
        let (blocks, index) = written(&documents, kind);
        let directory = RamDirectory::default();
        put(&directory, &blocks, &index);
        let column = open(&directory, u32::try_from(count).unwrap()).unwrap();
        if count > 0 {
            check(&column, &documents, &mut random, &format!("seed {seed:x} round {round}"));
        }
        assert!(open(&directory, u32::try_from(count).unwrap() + 1).is_err());
    }
}

#[test]
fn a_document_with_very_many_values_gets_a_block_of_its_own() {
    let documents = vec![vec![1], (0..200_000).rev().collect(), vec![], vec![3, 2]];
    let (blocks, index) = written(&documents, ColumnKind::Unsigned);
    let directory = RamDirectory::default();
    put(&directory, &blocks, &index);
    let column = open(&directory, 4).unwrap();
    check(&column, &documents, &mut fastrand::Rng::with_seed(1), "many values");
}

#[test]
fn copied_blocks_are_found_after_other_blocks() {
    let seed = 0x5eed_0611;
    let mut random = fastrand::Rng::with_seed(seed);
    for round in 0..20 {
        let mut all = Vec::new();
        let (mut writer, mut out) = (ColumnWriter::new(ColumnKind::Unsigned), Vec::new());
        let mut carried = 0;
        for _ in 0..random.usize(1..6) {
            let count = random.usize(1..30_000);
            let documents = some_documents(&mut random, count);
            let (blocks, index) = written(&documents, ColumnKind::Unsigned);
            let directory = RamDirectory::default();
            put(&directory, &blocks, &index);
            let column = open(&directory, u32::try_from(documents.len()).unwrap()).unwrap();
            let mut scan = Scan::new();
            for number in 0..column.blocks() {
                let entry = column.entry(number).unwrap();
                if writer.carry(&column, number, &mut out).unwrap() {
                    carried += 1;
                    continue;
                }
                let values = scan.read(&column, number).unwrap();
                let mut next = values.first;
                for (doc, values) in values.documents() {
                    writer.skip(doc - next, &mut out).unwrap();
                    values.iter().for_each(|&value| writer.push(value));
                    writer.end_document(&mut out).unwrap();
                    next = doc + 1;
                }
                writer.skip(entry.first + entry.documents - next, &mut out).unwrap();
            }
            all.extend(documents);
        }
        let index = writer.finish(&mut out).unwrap();
        let directory = RamDirectory::default();
        put(&directory, &out, &index);
        let column = open(&directory, u32::try_from(all.len()).unwrap()).unwrap();
        check(&column, &all, &mut random, &format!("seed {seed:x} round {round}, {carried} carried"));
    }
}

#[test]
fn damage_is_an_error_or_harmless() {
    let seed = 0x5eed_0612;
    let mut random = fastrand::Rng::with_seed(seed);
    for _ in 0..300 {
        let documents = some_documents(&mut random, 9_000);
        let kind = if random.bool() { ColumnKind::Float } else { ColumnKind::Unsigned };
        let (mut blocks, mut index) = written(&documents, kind);
        for _ in 0..random.usize(1..5) {
            let bytes = if random.bool() { &mut blocks } else { &mut index };
            if let Some(place) = (!bytes.is_empty()).then(|| random.usize(..bytes.len())) {
                bytes[place] = random.u8(..);
            }
        }
        if random.u32(..4) == 0 {
            blocks.truncate(random.usize(..=blocks.len()));
        }
        let directory = RamDirectory::default();
        put(&directory, &blocks, &index);
        let Ok(column) = open(&directory, 9_000) else { continue };
        let mut scan = Scan::new();
        for block in 0..column.blocks() {
            match scan.read(&column, block) {
                Ok(values) => values.documents().for_each(drop),
                Err(error) => assert!(matches!(error, Error::Corrupt { .. }), "seed {seed:x}"),
            }
        }
        for share in [1, 700] {
            let docs: Vec<u32> = (0..9_000).filter(|_| random.u32(..share) == 0).collect();
            let _ = Gather::new(&column).read(&docs, &mut Gathered::default());
        }
        for doc in (0..9_000).step_by(100) {
            let _ = column.first(doc);
            let _ = column.get(doc, &mut Vec::new());
        }
        for _ in 0..20 {
            let docs = random.u32(..9_000)..random.u32(..10_000);
            let _ = RangeReader::new(&column).figures(docs.clone());
            let _ = column.each_value_in(docs, |_, _| Ok(()));
            let _ = column.ranges_within(random.u64(..), u64::MAX, random.usize(..10_000));
        }
    }
}

#[test]
fn an_entry_takes_one_cache_line() {
    let entry = JumpEntry {
        offset: 1,
        length: 99,
        least: 2,
        most: 3,
        first: 4,
        documents: 5,
        present: 3,
        values: 7,
        presence: 1,
        several: true,
        strings: false,
        head: Head { width: 9, extra: 10, ..Head::constant(8) },
    };
    let mut bytes = Vec::new();
    entry.put(&mut bytes);
    assert_eq!(bytes.len(), 64);
    assert_eq!(JumpEntry::read(&bytes), Some(entry));
}
