use std::ops::Range;

use super::*;
use crate::codec::PositionCursor;
use crate::column::ColumnSet;
use crate::error::Error;
use crate::schema::{Compression, Postings, Records, Store, Stored};

/// A token, and its range in the document.
type Token = (Vec<u8>, Range<u32>);

/// Term → document → positions and offsets.
type Places = BTreeMap<Vec<u8>, BTreeMap<u32, Vec<Range<u32>>>>;

/// Tokens of a document; some are longer or shorter than their text.
fn random_tokens(random: &mut Rng, doc: u32) -> Vec<Token> {
    let count = if doc == 9 { 20_000 } else { [0, 1, 30, 400][random.usize(..4)] };
    let mut end = 0;
    let tokens = (0..count).map(|_| {
        let term = match random.u8(..3) {
            _ if doc == 9 => b"again".to_vec(),
            0 => random_term(random),
            _ => format!("f{}", random.u8(..4)).into_bytes(),
        };
        let start = end + random.u32(..3);
        let differs = term.first().is_some_and(|&byte| byte == b'f') && random.u8(..4) == 0;
        let len = if differs { random.u32(..9) } else { u32::try_from(term.len()).unwrap() };
        end = start + len;
        (term, start..end)
    });
    tokens.collect()
}

/// Writes a segment of random documents with offsets and vectors; returns them by number, void ones empty.
fn write(directory: &RamDirectory, id: u128, random: &mut Rng, docs: u32) -> Vec<Vec<Token>> {
    let options =
        InvertOptions { pages: PageSize::Base, postings: Postings::Offsets, ..InvertOptions::default() };
    let mut inverter = Inverter::new(&options).unwrap();
    let stored = Stored { store: Store::None, compression: Compression::Lz4, vectors: true };
    let mut collector = StoredCollector::new(&stored, Records::File).unwrap().keep_offsets(true);
    let mut all = Vec::new();
    for doc in 0..docs {
        let mut tokens = random_tokens(random, doc);
        for (term, source) in &tokens {
            let before = random.usize(..5);
            let origin = u64::from(source.start).wrapping_sub(before as u64);
            inverter.text_begins(origin);
            collector.text_begins(origin);
            let mut sink = (&mut inverter, collector.vectors().unwrap());
            if source.len() == term.len() && random.bool() {
                let end = u16::try_from(before + term.len()).unwrap();
                sink.tokens(&[&b"....."[..before], term].concat(), 0, &[u16::try_from(before).unwrap(), end]);
            } else {
                sink.token(term, before..before + source.len());
            }
        }
        if doc % 50 == 3 {
            inverter.void_document();
            collector.void_document().unwrap();
            tokens.clear();
        } else {
            inverter.end_document();
            collector.end_document((0, 0)).unwrap();
        }
        all.push(tokens);
    }
    let paths = (0..docs).map(|doc| format!("/{id}/file{doc}").into_bytes()).collect();
    // Small buffers, so that runs are written while they grow.
    let buffers = FlushBuffers { write: 4096, lists: 512 };
    let keys = Keys { paths, stamps: vec![Stamp::default(); docs as usize], ..Keys::default() };
    let (fields, mut columns) = (vec![(Field::default(), &mut inverter)], ColumnSet::default());
    let contents = SegmentContents { fields, keys: &keys, stored: &mut collector, columns: &mut columns };
    write_contents(directory, id, contents, &buffers);
    all
}

fn places<'d>(docs: impl IntoIterator<Item = &'d Vec<Token>>) -> Places {
    let mut places = Places::new();
    for (doc, tokens) in (0..).zip(docs) {
        for (term, source) in tokens {
            places.entry(term.clone()).or_default().entry(doc).or_default().push(source.clone());
        }
    }
    places
}

/// The content of a segment, read document by document with a cursor.
fn read(segment: &Segment) -> crate::error::Result<Places> {
    let mut found = Places::new();
    let mut terms = segment.terms_from(b"")?;
    while terms.step()? {
        let term = terms.term().to_vec();
        let info = terms.info();
        let deltas = segment.deltas(&term, info, terms.positions())?;
        let mut cursor = PositionCursor::with_offsets(deltas, term.len());
        let mut list = segment.cursor(&term, info)?;
        let mut by_document = BTreeMap::new();
        while list.doc() != NO_MORE {
            by_document.insert(list.doc(), cursor.offsets_of_current(&mut list).to_vec());
            list.step();
        }
        if cursor.corrupt() || list.corrupt() {
            return Err(segment.damaged_positions(&term));
        }
        found.insert(term, by_document);
    }
    Ok(found)
}

fn must_hold(segment: &Segment, docs: &[Vec<Token>], random: &mut Rng, what: &str) {
    let expected = places(docs);
    assert!(read(segment).unwrap() == expected, "{what}");
    segment.check(CheckLevel::Cross, &mut |_| Ok(())).unwrap();
    for (term, by_document) in expected.iter().take(100) {
        let doc = random.u32(..segment.stats().max_doc);
        let found = segment.offsets(term, doc).unwrap();
        assert_eq!(&found, by_document.get(&doc).unwrap_or(&Vec::new()), "{what} {term:?} {doc}");
        for (&doc, ranges) in by_document.iter().take(3) {
            assert_eq!(&segment.offsets(term, doc).unwrap(), ranges, "{what} {term:?} {doc}");
            assert_eq!(segment.positions(term, doc).unwrap().len(), ranges.len());
        }
    }
    for (doc, tokens) in (0..).zip(docs).take(60) {
        let vector = segment.vector(doc).unwrap().unwrap();
        let found: Vec<(&[u8], &Vec<Range<u32>>)> =
            vector.iter().map(|term| (&*term.term, &term.offsets)).collect();
        let expected = places([tokens]);
        assert!(found.into_iter().eq(expected.iter().map(|(term, all)| (&**term, &all[&0]))), "{what} {doc}");
    }
    assert!(segment.offsets(b"never there", 0).unwrap().is_empty());
}

#[test]
fn offsets_read_back_from_a_segment_and_through_merges_with_deletes() {
    let seed = 0x5eed_0221;
    let mut random = Rng::with_seed(seed);
    for sizes in [[0, 1, 2, 0], [10, 700, 40, 300]] {
        let directory = RamDirectory::new();
        let (mut sources, mut left) = (Vec::new(), Vec::new());
        for (id, docs) in (1..).zip(sizes) {
            let docs = write(&directory, id, &mut random, docs);
            let mut segment = Segment::open(&directory, id, 0).unwrap();
            must_hold(&segment, &docs, &mut random, &format!("seed {seed:x} segment {id}"));
            let share = random.u32(..3);
            for (number, tokens) in (0..).zip(docs) {
                let deleted = random.u32(..4) < share && segment.delete(number);
                if !deleted && segment.is_live(number) {
                    left.push(tokens);
                }
            }
            sources.push(segment);
        }
        let work = MergeWork {
            buffers: FlushBuffers { write: 4096, lists: 700 },
            threads: random.usize(1..5),
            piece: random.u64(1..4000),
        };
        merge(&directory, 77, &sources, None, &work, &mut |_| Ok(())).unwrap().1.sync().unwrap();
        let merged = Segment::open(&directory, 77, 0).unwrap();
        if !left.is_empty() {
            must_hold(&merged, &left, &mut random, &format!("seed {seed:x} merged"));
        }
        let again = [merged];
        merge(&directory, 78, &again, None, &work, &mut |_| Ok(())).unwrap().1.sync().unwrap();
        let again = Segment::open(&directory, 78, 0).unwrap();
        assert_eq!(read(&again).unwrap(), places(&left));
        assert_eq!(again.field_stats(), Segment::open(&directory, 77, 0).unwrap().field_stats());
    }
}

#[test]
fn reading_offsets_that_are_not_kept_is_an_error() {
    let mut random = Rng::with_seed(5);
    let (directory, lists, _) = sample(&mut random, 50);
    write(&directory, 8, &mut random, 50);
    let segments = [7, 8].map(|id| Segment::open(&directory, id, 0).unwrap());
    assert_eq!(segments.each_ref().map(Segment::kept), [Postings::Frequencies, Postings::Offsets]);
    let error = segments[0].offsets(lists.keys().next().unwrap(), 0).unwrap_err();
    assert!(matches!(error, Error::NotIndexed { what: "offsets" }), "{error}");
    let merged = merge(&directory, 9, &segments, None, &MergeWork::default(), &mut |_| Ok(()));
    assert!(matches!(merged, Err(Error::Corrupt { .. })));
}

#[test]
fn a_flipped_bit_in_a_segment_with_offsets_is_an_error_or_harmless() {
    let seed = 0x5eed_0222;
    let mut random = Rng::with_seed(seed);
    let directory = RamDirectory::new();
    let expected = places(&write(&directory, 7, &mut random, 40));
    let bytes = directory.open(&file_name(7)).unwrap().to_vec();
    for round in 0..600 {
        let at = flip_a_bit(&directory, &bytes, &mut random);
        let Ok(segment) = Segment::open(&directory, 7, 0) else { continue };
        if let Ok(found) = read(&segment) {
            assert!(found == expected, "seed {seed:x} round {round} byte {at}");
        }
    }
}

#[test]
fn a_vector_whose_offsets_differ_from_the_postings_is_found() {
    let of = |source| [(b"one".to_vec(), source), (b"two".to_vec(), 10..13)];
    for (kept, with_offsets, source, found) in [
        (Postings::Offsets, true, 4..7, None),
        (Postings::Offsets, true, 4..6, Some(CheckLevel::Cross)),
        (Postings::Offsets, true, 3..6, Some(CheckLevel::Cross)),
        (Postings::Offsets, false, 4..7, Some(CheckLevel::Structure)),
        (Postings::Positions, true, 4..7, Some(CheckLevel::Structure)),
    ] {
        let options = InvertOptions { pages: PageSize::Base, postings: kept, ..InvertOptions::default() };
        let mut inverter = Inverter::new(&options).unwrap();
        let stored = Stored { vectors: true, ..Stored::default() };
        let mut collector = StoredCollector::new(&stored, Records::File).unwrap().keep_offsets(with_offsets);
        of(4..7).into_iter().for_each(|(term, source)| inverter.token(&term, source));
        of(source).into_iter().for_each(|(term, source)| collector.vectors().unwrap().token(&term, source));
        inverter.end_document();
        collector.end_document((0, 0)).unwrap();
        let directory = RamDirectory::new();
        let keys = Keys { paths: vec![b"/a".to_vec()], stamps: vec![Stamp::default()], ..Keys::default() };
        let (fields, mut columns) = (vec![(Field::default(), &mut inverter)], ColumnSet::default());
        let contents = SegmentContents { fields, keys: &keys, stored: &mut collector, columns: &mut columns };
        write_contents(&directory, 1, contents, &FlushBuffers::default());
        let segment = Segment::open(&directory, 1, 0).unwrap();
        for level in [CheckLevel::Structure, CheckLevel::Cross] {
            let checked = segment.check(level, &mut |_| Ok(()));
            assert_eq!(checked.is_err(), found.is_some_and(|found| level >= found), "{checked:?}");
        }
    }
}
