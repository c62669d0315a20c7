use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::codec::{ListCursor, NO_MORE};
use crate::column::ColumnSet;
use crate::invert::{InvertOptions, Inverter};
use crate::schema::Field;
use crate::source::Stamp;
use crate::store::{Directory, RamDirectory};
use crate::sys::PageSize;
use crate::tokenize::TokenSink;
use fastrand::Rng;

mod columns;
mod dictionary;
mod offsets;
mod path_keys;
mod pieces;
mod positions;
mod reorder;
mod updates;
mod walk;

/// Numbers, words, long terms with shared prefixes, arbitrary bytes.
fn random_term(random: &mut Rng) -> Vec<u8> {
    match random.u8(..5) {
        0 => (1_400_000_000 + random.u32(..100_000)).to_string().into_bytes(),
        1 => format!("word{}", random.u8(..50)).into_bytes(),
        2 => format!("{}/{:x}", "directory".repeat(random.usize(1..4)), random.u16(..5000)).into_bytes(),
        3 => (0..random.usize(1..7)).map(|_| random.u8(..)).collect(),
        _ => vec![b'x'; random.usize(1..301)],
    }
}

/// Writes a segment of one field, without stored documents and columns.
fn write_segment(
    directory: &RamDirectory,
    id: u128,
    inverter: &mut Inverter,
    keys: &Keys,
    buffers: &FlushBuffers,
) -> Flushed {
    let fields = vec![(Field::default(), inverter)];
    let (mut stored, mut columns) = (StoredCollector::none(), ColumnSet::default());
    let contents = SegmentContents { fields, keys, stored: &mut stored, columns: &mut columns };
    write_contents(directory, id, contents, buffers)
}

/// Writes a segment and syncs it.
pub(in crate::segment) fn write_contents(
    directory: &RamDirectory,
    id: u128,
    contents: SegmentContents<'_>,
    buffers: &FlushBuffers,
) -> Flushed {
    let (flushed, unsynced) = flush(directory, id, contents, buffers).unwrap();
    unsynced.sync().unwrap();
    flushed
}

type Lists = BTreeMap<Vec<u8>, BTreeMap<u32, u32>>;

/// A segment of random documents, with the expected content. Document 3 is void.
fn sample(random: &mut Rng, docs: u32) -> (RamDirectory, Lists, Vec<u64>) {
    let options = InvertOptions { budget: 1 << 28, pages: PageSize::Base, ..InvertOptions::default() };
    let mut inverter = Inverter::new(&options).unwrap();
    let mut lists = Lists::new();
    let mut lengths = Vec::new();
    for doc in 0..docs {
        let len = random.usize(..60);
        lengths.push(if doc == 3 { 0 } else { len as u64 });
        for _ in 0..len {
            let term = random_term(random);
            inverter.token(&term, 0..1);
            if doc != 3 {
                *lists.entry(term).or_default().entry(doc).or_default() += 1;
            }
        }
        if doc == 3 { inverter.void_document() } else { inverter.end_document() }
    }
    let paths = (0..docs).map(|doc| format!("/some/where/{}/file{doc}", doc / 10).into_bytes()).collect();
    let directory = RamDirectory::new();
    let keys = Keys { paths, stamps: vec![Stamp::default(); docs as usize], ..Keys::default() };
    let flushed = write_segment(&directory, 7, &mut inverter, &keys, &FlushBuffers::default());
    assert_eq!(flushed.stats.terms(), lists.len() as u64);
    assert_eq!(flushed.bytes, directory.open(&file_name(7)).unwrap().len() as u64);
    (directory, lists, lengths)
}

fn postings(segment: &Segment, info: TermInfo) -> Vec<(u32, u32)> {
    match info {
        TermInfo::Single { doc, term_freq } => vec![(doc, term_freq)],
        TermInfo::List { doc_freq, offset, len, total_freq } => {
            let bytes = segment.list(offset, len).unwrap();
            let mut cursor = ListCursor::new(bytes, doc_freq, segment.stats().max_doc).unwrap();
            let mut postings = Vec::new();
            while cursor.doc() != NO_MORE {
                postings.push((cursor.doc(), cursor.tf()));
                cursor.step();
            }
            assert_eq!(postings.iter().map(|posting| u64::from(posting.1)).sum::<u64>(), total_freq);
            postings
        }
    }
}

#[test]
fn flushed_terms_are_read_back_by_look_up_and_in_order() {
    let seed = 0x5eed_0201;
    let mut random = Rng::with_seed(seed);
    for docs in [0, 1, 5, 200, 1500] {
        let (directory, lists, lengths) = sample(&mut random, docs);
        let segment = Segment::open(&directory, 7, 0).unwrap();
        let mut all = segment.terms_from(b"").unwrap();
        for (term, list) in &lists {
            let info = segment.find_all(term).unwrap().unwrap().0;
            let expected: Vec<_> = list.iter().map(|(&doc, &freq)| (doc, freq)).collect();
            assert_eq!(postings(&segment, info), expected, "seed {seed:x} docs {docs} term {term:?}");
            assert!(all.step().unwrap());
            assert_eq!(all.term(), term);
            assert_eq!(all.info(), info);
        }
        assert!(!all.step().unwrap());
        for _ in 0..500 {
            let term = random_term(&mut random);
            assert_eq!(segment.find_all(&term).unwrap().is_some(), lists.contains_key(&term));
            let mut from = segment.terms_from(&term).unwrap();
            let next = lists.range(term.clone()..).next().map(|(next, _)| next.as_slice());
            assert_eq!(from.step().unwrap().then(|| from.term()), next, "seed {seed:x} from {term:?}");
        }
        let norms: Vec<u8> = lengths.iter().map(|&len| crate::codec::length_to_norm(len)).collect();
        assert_eq!(segment.norms().unwrap(), norms);
        assert_eq!(segment.stats().tokens(), lengths.iter().sum::<u64>());
        for doc in 0..docs {
            assert_eq!(segment.key(doc).unwrap(), format!("/some/where/{}/file{doc}", doc / 10).into_bytes());
            assert_eq!(segment.is_live(doc), doc != 3);
        }
        assert!(segment.key(docs).is_err());
    }
}

#[test]
fn keys_of_lines_are_a_path_and_a_line_number() {
    let options = InvertOptions { budget: 1 << 28, pages: PageSize::Base, ..InvertOptions::default() };
    let mut inverter = Inverter::new(&options).unwrap();
    (0..10).for_each(|_| inverter.end_document());
    let run = |first_doc, path, first_line| KeyRun { first_doc, path, first_line };
    let keys = Keys {
        paths: vec![b"/a\nb".to_vec(), vec![0xff, b'/']],
        stamps: vec![Stamp::default(); 2],
        runs: Some(vec![run(0, 0, 1), run(4, 1, 100), run(6, 0, 5)]),
        ..Keys::default()
    };
    let directory = RamDirectory::new();
    write_segment(&directory, 9, &mut inverter, &keys, &FlushBuffers::default());
    let segment = Segment::open(&directory, 9, 0).unwrap();
    let got: Vec<Vec<u8>> = (0..10).map(|doc| segment.key(doc).unwrap()).collect();
    assert_eq!(got[3], b"/a\nb:4");
    assert_eq!(got[5], b"\xff/:101");
    assert_eq!(got[9], b"/a\nb:8");
    let named =
        |key: &[u8]| segment.documents_named([key]).unwrap().into_iter().flatten().collect::<Vec<_>>();
    assert_eq!(named(b"/a\nb"), [0, 1, 2, 3, 6, 7, 8, 9]);
    assert_eq!(named(b"\xff/:101"), [5]);
    assert_eq!(named(b"/a\nb:5"), [6]);
    for absent in [&b"/a\nb:9"[..], b"/a\nb:0", b"/a", b"", b"\xff/:102", b"\xff/:18446744073709551616"] {
        assert!(named(absent).is_empty(), "{}", absent.escape_ascii());
    }
}

/// Writes `bytes` as segment 7 with one bit flipped; returns the byte with that bit.
fn flip_a_bit(directory: &RamDirectory, bytes: &[u8], random: &mut Rng) -> usize {
    let at = random.usize(..bytes.len());
    let mut damaged = bytes.to_vec();
    damaged[at] ^= 1 << random.usize(..8);
    let mut output = directory.create(&file_name(7)).unwrap();
    std::io::Write::write_all(&mut output, &damaged).unwrap();
    output.finish().unwrap();
    at
}

#[test]
fn a_flipped_bit_is_an_error_or_harmless() {
    let seed = 0x5eed_0202;
    let mut random = Rng::with_seed(seed);
    let (directory, lists, _) = sample(&mut random, 120);
    let bytes = directory.open(&file_name(7)).unwrap().to_vec();
    for round in 0..1500 {
        let at = flip_a_bit(&directory, &bytes, &mut random);
        let Ok(segment) = Segment::open(&directory, 7, 0) else { continue };
        for (term, list) in lists.iter().take(40) {
            if let Ok(info) = segment.find_all(term).map(|found| found.map(|(info, _)| info)) {
                let info = info.unwrap_or_else(|| panic!("seed {seed:x} round {round}: a term is lost"));
                assert_eq!(info.doc_freq() as usize, list.len(), "seed {seed:x} round {round} byte {at}");
            }
        }
    }
}

#[test]
fn blocks_of_random_bytes_never_panic() {
    let seed = 0x5eed_0203;
    let mut random = Rng::with_seed(seed);
    for _ in 0..20_000 {
        let mut bytes: Vec<u8> =
            (0..random.usize(..200)).map(|_| u8::try_from(random.usize(..256)).unwrap()).collect();
        // With small numbers at the front, the bytes pass the first checks more often.
        for byte in bytes.iter_mut().take(5) {
            *byte %= 24;
        }
        terms::read_any(&bytes);
    }
}

#[test]
fn the_bits_of_live_documents_follow_deletions_in_each_copy() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = Rng::with_seed(seed);
    for docs in [1, 3, 64, 200] {
        let (directory, ..) = sample(&mut random, docs);
        let opened = Segment::open(&directory, 7, 0).unwrap();
        assert_eq!(opened.live_bits().is_some(), docs > 3, "only document 3 is void");
        let mut copies = vec![(opened, (0..docs).filter(|&doc| doc != 3).collect::<BTreeSet<u32>>())];
        for _ in 0..100 {
            let at = random.usize(..copies.len());
            if copies.len() < 5 && random.u8(..10) == 0 {
                copies.push(copies[at].clone());
            }
            let (segment, live) = &mut copies[at];
            let doc = random.u32(..docs + 2);
            assert_eq!(segment.delete(doc), live.remove(&doc), "seed {seed}: document {doc} of {docs}");
            for (segment, live) in &copies {
                if random.bool() {
                    let all = || live.len() == docs as usize;
                    let same =
                        segment.live_bits().map_or_else(all, |bits| bits.iter().eq(live.iter().copied()));
                    assert!(same, "seed {seed}: {docs} documents");
                }
                let shown = (0..docs + 2).filter(|&doc| segment.is_live(doc));
                assert!(shown.eq(live.iter().copied()), "seed {seed}: {docs} documents");
                assert_eq!(segment.live_documents(), live.len() as u64);
            }
        }
    }
}
