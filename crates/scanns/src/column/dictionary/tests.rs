use std::sync::Arc;

use super::limits::{CHAPTER, MAX_TERM};
use super::*;
use crate::error::Result;
use crate::store::{Directory, Envelope, EnvelopeWriter, FileKind, RamDirectory, Section};

mod sizes;

const KIND: FileKind = FileKind { magic: *b"SCANTEST", format: 1, oldest: 1 };

/// The two sections of a dictionary of `terms`.
fn write(terms: &[impl AsRef<[u8]>]) -> Vec<Vec<u8>> {
    let directory = RamDirectory::new();
    let mut sink = EnvelopeWriter::create(&directory, "file", KIND, 1).unwrap();
    let mut writer = DictionaryWriter::new();
    sink.begin(1).unwrap();
    for (i, term) in terms.iter().enumerate() {
        assert_eq!(writer.len(), i);
        writer.push(term.as_ref(), &mut sink).unwrap();
    }
    assert_eq!(writer.finish(2, &mut sink).unwrap() as usize, terms.len());
    sink.finish().unwrap().sync().unwrap();
    let file = Envelope::open(&directory, "file", KIND).unwrap();
    [1, 2].map(|kind| file.section(kind).unwrap().all().unwrap().to_vec()).to_vec()
}

/// Sections of these bytes, with correct checksums.
fn sections(bytes: &[Vec<u8>]) -> [Arc<Section>; 2] {
    let directory = RamDirectory::new();
    let mut sink = EnvelopeWriter::create(&directory, "file", KIND, 1).unwrap();
    for (kind, bytes) in (1..).zip(bytes) {
        sink.begin(kind).unwrap();
        sink.write(bytes).unwrap();
    }
    sink.finish().unwrap().sync().unwrap();
    assert!(directory.open("file").is_ok());
    let file = Envelope::open(&directory, "file", KIND).unwrap();
    [1, 2].map(|kind| file.shared_section(kind).unwrap().clone())
}

fn open(bytes: &[Vec<u8>]) -> Result<DictionaryReader> {
    let [terms, index] = sections(bytes);
    DictionaryReader::open(terms, index)
}

/// Distinct strings of one of many kinds, in order.
fn terms(random: &mut fastrand::Rng) -> Vec<Vec<u8>> {
    let count = [0, 1, 2, 31, 32, 33, 64, 65, 500, 3000][random.usize(..10)];
    let kind = random.u32(..8);
    let long: Vec<u8> = (0..MAX_TERM).map(|_| random.u8(b'a'..=b'c')).collect();
    let mut terms: Vec<Vec<u8>> = (0..count)
        .map(|_| {
            let len = random.usize(..30);
            match kind {
                0 => (0..len).map(|_| random.u8(..)).collect(),
                1 => (0..len).map(|_| random.u8(..2) * 255).collect(),
                2 => format!("https://host{}.example/{}/{:x}", random.u8(..9), random.u8(..), random.u32(..))
                    .into(),
                3 => [&long[..random.usize(..200)], &[random.u8(..)]].concat(),
                4 if random.u32(..40) == 0 => long[..random.usize(..=MAX_TERM)].to_vec(),
                5 => vec![0; len],
                6 => vec![255; len],
                _ => format!("{}", random.u32(..100_000)).into(),
            }
        })
        .collect();
    if kind == 4 && count > 2 {
        terms.push(long.clone());
        terms.push(Vec::new());
    }
    terms.sort_unstable();
    terms.dedup();
    terms
}

/// Terms, and other strings near them.
fn near(terms: &[Vec<u8>], random: &mut fastrand::Rng) -> Vec<Vec<u8>> {
    let mut all = vec![Vec::new(), vec![0], vec![255; 40], b"https://host".to_vec()];
    for _ in 0..200.min(3 * terms.len()) {
        let mut term = terms[random.usize(..terms.len())].clone();
        match random.u32(..5) {
            0 => {}
            1 => term.push(random.u8(..)),
            2 => term.truncate(random.usize(..=term.len())),
            _ => {
                let at = random.usize(..=term.len());
                term.get_mut(at).into_iter().for_each(|byte| *byte = byte.wrapping_add(random.u8(..3)));
            }
        }
        all.push(term);
    }
    all
}

#[test]
fn terms_and_numbers_equal_a_sorted_list() {
    let seed = 0x5eed_d1c7;
    println!("seed {seed:x}");
    let mut random = fastrand::Rng::with_seed(seed);
    for round in 0..150 {
        let terms = terms(&mut random);
        let reader = open(&write(&terms)).unwrap();
        assert_eq!((reader.len() as usize, reader.is_empty()), (terms.len(), terms.is_empty()));
        reader.check(&mut || Ok(())).unwrap();
        let mut found = b"x".to_vec();
        for (ord, term) in (0..).zip(&terms) {
            found.truncate(1);
            reader.term(ord, &mut found).unwrap();
            assert_eq!(&found[1..], term, "seed {seed:x} round {round} term {ord}");
            assert_eq!(reader.find(term).unwrap(), Ok(ord), "seed {seed:x} round {round}");
        }
        assert!(reader.term(reader.len(), &mut found).is_err());
        assert_eq!(batched(&reader).unwrap(), terms, "seed {seed:x} round {round}");
        for term in near(&terms, &mut random) {
            let expected = terms.binary_search(&term).map(|at| at as u64).map_err(|at| at as u64);
            let found = reader.find(&term).unwrap().map(u64::from).map_err(u64::from);
            assert_eq!(found, expected, "seed {seed:x} round {round} {term:?}");
            let range = reader.prefix_range(&term).unwrap();
            let start = terms.partition_point(|found| found < &term);
            let count = terms[start..].iter().take_while(|found| found.starts_with(&term)).count();
            assert_eq!(
                range.start as usize..range.end as usize,
                start..start + count,
                "seed {seed:x} {term:?}"
            );
        }
    }
}

/// All terms, read in batches.
fn batched(reader: &DictionaryReader) -> Result<Vec<Vec<u8>>> {
    let mut all = Vec::new();
    for chapter in 0..reader.chapters() {
        assert_eq!(reader.numbers_of(chapter).start as usize, all.len());
        let mut batches = reader.batches(chapter);
        while let Some((first, batch)) = batches.next()? {
            assert_eq!(first as usize, all.len());
            all.extend((0..batch.len()).map(|i| batch.get(i).to_vec()));
        }
        assert_eq!(reader.numbers_of(chapter).end as usize, all.len());
    }
    assert!(reader.batches(reader.chapters()).next()?.is_none());
    Ok(all)
}

#[test]
fn every_level_of_the_guide_leads_to_the_block_of_a_term() {
    let seed = 0x5eed_d1ca;
    println!("seed {seed:x}");
    let mut random = fastrand::Rng::with_seed(seed);
    for kind in 0..4 {
        // A node has 15 blocks of 32 terms, and a node of the level above 225 blocks.
        let count = [7_200, 7_201, 30_000, 120_000][random.usize(..4)];
        let mut terms: Vec<Vec<u8>> = (0..count)
            .map(|i: u32| match kind {
                0 => [&[0; 20][..i as usize % 20], &i.to_be_bytes()].concat(),
                1 => format!("/common/to/all/{}/long enough a name/{:x}", i % 7, random.u32(..)).into(),
                2 => vec![0; i as usize % 9_000],
                _ => (0..random.usize(..24)).map(|_| random.u8(..2)).collect(),
            })
            .collect();
        terms.sort_unstable();
        terms.dedup();
        let reader = open(&write(&terms)).unwrap();
        reader.check(&mut || Ok(())).unwrap();
        let some = terms.iter().step_by(terms.len() / 3000 + 1).cloned();
        for term in some.chain((0..20).flat_map(|_| near(&terms, &mut random))) {
            let expected = terms.binary_search(&term).map(|at| at as u64).map_err(|at| at as u64);
            let found = reader.find(&term).unwrap().map(u64::from).map_err(u64::from);
            assert_eq!(found, expected, "seed {seed:x} kind {kind} {term:?}");
        }
    }
}

#[test]
fn reading_many_terms_equals_reading_each() {
    let seed = 0x5eed_d1c8;
    println!("seed {seed:x}");
    let mut random = fastrand::Rng::with_seed(seed);
    for round in 0..100 {
        let terms = terms(&mut random);
        let reader = open(&write(&terms)).unwrap();
        let from = random.u32(..=reader.len());
        let (mut cursor, mut next) = (reader.cursor_from(from), from);
        while let Some((ord, term)) = cursor.next().unwrap() {
            assert_eq!((ord, term), (next, &terms[ord as usize][..]), "seed {seed:x} round {round}");
            next += 1;
        }
        assert_eq!(next, reader.len());
        let every = [1, 2, 20, 100][random.usize(..4)];
        let ords: Vec<u32> = (0..reader.len()).filter(|_| random.u32(..every) == 0).collect();
        let mut found = Vec::new();
        let each = |ord, term: &[u8]| {
            assert_eq!(term, terms[ord as usize], "seed {seed:x} round {round}");
            found.push(ord);
            Ok(())
        };
        reader.terms_of(&ords, each).unwrap();
        assert_eq!(found, ords);
        for &ord in ords.iter().rev().take(50) {
            assert_eq!(cursor.seek(ord).unwrap(), terms[ord as usize]);
        }
        assert!(cursor.seek(reader.len()).is_err());
        assert!(reader.terms_of(&[reader.len()], |_, _| Ok(())).is_err());
    }
}

#[test]
fn chapters_have_tables_of_their_own() {
    let many: Vec<Vec<u8>> = (0..100_000u32)
        .map(|i| match i / 32_768 {
            0 => format!("{i:06}").into_bytes(),
            1 => format!("http://www.example.com/{i:06}").into_bytes(),
            _ => [
                &[0xe0 + u8::try_from(i / 32_768).unwrap()][..],
                &(i.wrapping_mul(0x9e37_79b9)).to_be_bytes(),
            ]
            .concat(),
        })
        .collect();
    let mut many = many;
    many.sort_unstable();
    let reader = open(&write(&many)).unwrap();
    reader.check(&mut || Ok(())).unwrap();
    assert_eq!(reader.blocks.div_ceil(CHAPTER), 7);
    for ord in (0..many.len()).step_by(97).chain(32_700..32_800).chain(65_500..65_560) {
        let mut found = Vec::new();
        reader.term(u32::try_from(ord).unwrap(), &mut found).unwrap();
        assert_eq!(found, many[ord]);
        assert_eq!(reader.find(&found).unwrap().map(|found| found as usize), Ok(ord));
    }
}

#[test]
fn terms_of_32_kib_are_gathered_within_bounds_and_longer_ones_refused() {
    let directory = RamDirectory::new();
    let mut sink = EnvelopeWriter::create(&directory, "file", KIND, 1).unwrap();
    sink.begin(1).unwrap();
    let mut writer = DictionaryWriter::new();
    let term = |i: u16| [&i.to_be_bytes()[..], &vec![b'x'; MAX_TERM - 2]].concat();
    for i in 0..400 {
        writer.push(&term(i), &mut sink).unwrap();
    }
    assert!(writer.push(&[b'y'; MAX_TERM + 1], &mut sink).is_err());
    writer.finish(2, &mut sink).unwrap();
    sink.finish().unwrap().sync().unwrap();
    let file = Envelope::open(&directory, "file", KIND).unwrap();
    let [terms, index] = [1, 2].map(|kind| file.shared_section(kind).unwrap().clone());
    let reader = DictionaryReader::open(terms, index).unwrap();
    reader.check(&mut || Ok(())).unwrap();
    for i in (0..400).step_by(37) {
        assert_eq!(reader.find(&term(i)).unwrap(), Ok(u32::from(i)));
    }
}

#[test]
fn flipped_and_missing_bytes_are_errors_or_read_within_bounds() {
    let seed = 0x5eed_d1c9;
    println!("seed {seed:x}");
    let mut random = fastrand::Rng::with_seed(seed);
    let mut opened = 0;
    for _ in 0..40 {
        let terms = terms(&mut random);
        let bytes = write(&terms);
        for _ in 0..25 {
            let mut damaged = bytes.clone();
            for section in &mut damaged {
                if random.u32(..4) == 0 {
                    section.truncate(random.usize(..=section.len()));
                }
                for _ in 0..random.usize(..4).min(section.len()) {
                    let at = random.usize(..section.len());
                    section[at] ^= 1 << random.u32(..8);
                }
            }
            let Ok(reader) = open(&damaged) else { continue };
            opened += 1;
            let mut term = Vec::new();
            for _ in 0..30 {
                term.clear();
                let found = reader.term(random.u32(..=reader.len()), &mut term);
                assert!(term.len() <= MAX_TERM && (found.is_ok() || term.is_empty()));
            }
            for term in near(&terms, &mut random).iter().take(20) {
                if let Ok(found) = reader.find(term) {
                    assert!(found.unwrap_or_else(|at| at) <= reader.len());
                }
                let _ = reader.prefix_range(term);
            }
            let mut cursor = reader.cursor_from(random.u32(..=reader.len()));
            for _ in 0..5000 {
                let Ok(Some((_, term))) = cursor.next() else { break };
                assert!(term.len() <= MAX_TERM);
            }
            let _ = reader.check(&mut || Ok(()));
        }
    }
    assert!(opened > 100, "almost no damage passed the checks of sizes: {opened}");
}

#[test]
fn a_check_finds_terms_that_do_not_fit_the_index() {
    let terms: Vec<String> = (0..1000).map(|i| format!("term number {i:04}")).collect();
    let mut bytes = write(&terms);
    assert!(open(&bytes).unwrap().check(&mut || Ok(())).is_ok());
    bytes[1][20] ^= 1;
    assert!(open(&bytes).unwrap().check(&mut || Ok(())).is_err());
    let stop = || Err(crate::error::Error::Cancelled);
    assert!(open(&write(&terms)).unwrap().check(&mut { stop }).is_err());
}
