//! Stored documents of all kinds, compared with a list of the same documents.

use std::collections::BTreeMap;

use fastrand::Rng;

use super::block::{ENTRY, FULL, FULL_LZ4, StoredBlockWriter};
use super::cache::StoredCache;
use super::collect::StoredCollector;
use super::read::BlockReader;
use super::spans::{SpanReader, SpanWriter};
use super::vector::{VectorBuilder, decode_vector};
use crate::column::ColumnSet;
use crate::error::Result;
use crate::invert::{InvertOptions, Inverter};
use crate::schema::{Compression, Field, Postings, Records, Store, Stored};
use crate::segment::layout::{BlockSections, SPANS, TEXT};
use crate::segment::tests::write_contents;
use crate::segment::{CheckLevel, FlushBuffers, Keys, MergeWork, Segment, SegmentContents, merge};
use crate::source::Stamp;
use crate::store::{Directory, Envelope, EnvelopeWriter, FileKind, RamDirectory};
use crate::sys::PageSize;
use crate::tokenize::TokenSink;

/// The maximum number of bytes of text in the largest blocks.
const MOST: usize = 2 * FULL;
const KIND: FileKind = FileKind { magic: *b"SCANTEST", format: 1, oldest: 1 };
const PLACE: BlockSections = BlockSections { blocks: 1, index: 2, what: "documents" };
const ALL: [Compression; 4] =
    [Compression::None, Compression::Lz4, Compression::Zstd(1), Compression::Zstd(7)];

/// A document that is empty, small, exactly as long as a block, or many blocks long; of compressible text or
/// of random bytes.
fn random_document(random: &mut Rng) -> Vec<u8> {
    let len = match random.u8(..12) {
        0 => 0,
        1 => {
            let most = [FULL_LZ4, 2 * FULL_LZ4, FULL, MOST, 2 * MOST][random.usize(..5)];
            most - 1 + random.usize(..3)
        }
        2 => random.usize(..5 * MOST),
        3..5 => random.usize(..FULL),
        _ => random.usize(..300),
    };
    if random.bool() {
        return (0..len).map(|_| random.u8(..)).collect();
    }
    let words: &[u8] = b"some words of a text that comes again and again \n";
    words.iter().cycle().skip(random.usize(..50)).take(len).copied().collect()
}

fn push_in_pieces(random: &mut Rng, mut text: &[u8], mut push: impl FnMut(&[u8])) {
    while !text.is_empty() {
        let at = if random.bool() { text.len() } else { random.usize(..=text.len().min(2 * FULL)) };
        let (now, rest) = text.split_at(at);
        push(now);
        text = rest;
    }
}

fn write_all(random: &mut Rng, directory: &RamDirectory, compression: Compression, documents: &[Vec<u8>]) {
    let mut out = EnvelopeWriter::create(directory, "file", KIND, 1).unwrap();
    out.begin(PLACE.blocks).unwrap();
    let mut writer = StoredBlockWriter::new(compression).unwrap();
    for document in documents {
        push_in_pieces(random, document, |text| writer.push(text, &mut out).unwrap());
        writer.end_document(&mut out).unwrap();
    }
    let (index, _) = writer.cut(&mut out).unwrap();
    out.begin(PLACE.index).unwrap();
    index.write(&mut out).unwrap();
    out.finish().unwrap().sync().unwrap();
}

#[test]
fn documents_of_any_size_are_read_back_singly_and_in_order() {
    let seed = 0x5eed_0702;
    let mut random = Rng::with_seed(seed);
    for round in 0..24 {
        let compression = ALL[round % ALL.len()];
        let documents: Vec<Vec<u8>> =
            (0..random.usize(..120)).map(|_| random_document(&mut random)).collect();
        let directory = RamDirectory::new();
        write_all(&mut random, &directory, compression, &documents);
        let what = format!("seed {seed:x} round {round} {compression:?}");
        let file = Envelope::open(&directory, "file", KIND).unwrap();
        let count = u32::try_from(documents.len()).unwrap();
        let reader = BlockReader::open(&file, PLACE, count).unwrap().unwrap();
        let cache = StoredCache::new([0, 100 << 10, 8 << 20][random.usize(..3)]);
        for (number, document) in (0..).zip(&documents) {
            assert!(reader.get(number).unwrap() == *document, "{what} document {number}");
        }
        for _ in 0..2 * documents.len() {
            let number = random.u32(..count);
            let found = reader.get_cached(number, &cache, 7, <[u8]>::to_vec).unwrap();
            assert!(found == documents[number as usize], "{what} document {number} with a cache");
        }
        assert!(reader.get_cached(count, &cache, 7, <[u8]>::len).is_err(), "{what}");
        assert!(reader.get(count).is_err() && BlockReader::open(&file, PLACE, count + 1).is_err(), "{what}");
        let mut found = Vec::new();
        reader
            .each(|number, text| {
                assert_eq!(number as usize, found.len(), "{what}");
                found.push(text.to_vec());
                Ok(())
            })
            .unwrap();
        assert!(found == documents, "{what}");
        assert_eq!(reader.text_bytes(), documents.iter().map(|text| text.len() as u64).sum::<u64>());
    }
}

#[test]
fn millions_of_empty_documents_take_little_space() {
    let documents = vec![Vec::new(); 200_000];
    let directory = RamDirectory::new();
    write_all(&mut Rng::with_seed(1), &directory, Compression::Lz4, &documents);
    let file = Envelope::open(&directory, "file", KIND).unwrap();
    let reader = BlockReader::open(&file, PLACE, 200_000).unwrap().unwrap();
    assert!(reader.packed_bytes() < 3000, "{}", reader.packed_bytes());
    assert_eq!(reader.get(199_999).unwrap(), b"");
}

/// Reads everything and compares the documents that can be read.
fn read_all(directory: &RamDirectory, documents: &[Vec<u8>]) -> Result<()> {
    let file = Envelope::open(directory, "file", KIND)?;
    let Some(reader) = BlockReader::open(&file, PLACE, u32::try_from(documents.len()).unwrap())? else {
        return Ok(());
    };
    let cache = StoredCache::default();
    for (number, _) in (0..).zip(documents) {
        let once = reader.get(number).ok();
        let again = [0, 1].map(|_| reader.get_cached(number, &cache, 1, <[u8]>::to_vec).ok());
        assert!(again.iter().all(|again| again.is_none() || *again == once), "document {number}");
    }
    reader.each(|_, _| Ok(()))
}

#[test]
fn a_wrong_index_is_an_error_and_not_a_panic() {
    let seed = 0x5eed_0703;
    let mut random = Rng::with_seed(seed);
    for compression in ALL {
        let documents: Vec<Vec<u8>> = (0..12).map(|_| random_document(&mut random)).collect();
        let directory = RamDirectory::new();
        write_all(&mut random, &directory, compression, &documents);
        let sections = {
            let file = Envelope::open(&directory, "file", KIND).unwrap();
            [1, 2].map(|kind| file.section(kind).unwrap().all().unwrap().to_vec())
        };
        for _ in 0..120 {
            // The checksums are correct, as in a file that another program wrote.
            let mut changed = sections.clone();
            let part = if random.u8(..4) == 0 { 0 } else { 1 };
            let len = changed[part].len();
            match random.u8(..8) {
                0 => changed[part].truncate(len - len.min(random.usize(..=2 * ENTRY))),
                _ => changed[part][random.usize(..len)] ^= 1 << random.u8(..8),
            }
            let mut out = EnvelopeWriter::create(&directory, "file", KIND, 1).unwrap();
            for (kind, bytes) in (1..).zip(&changed) {
                out.begin(kind).unwrap();
                out.write(bytes).unwrap();
            }
            out.finish().unwrap().sync().unwrap();
            let _ = read_all(&directory, &documents);
        }
    }
}

#[test]
fn spans_of_lines_and_files_are_read_back() {
    let seed = 0x5eed_0704;
    let mut random = Rng::with_seed(seed);
    for round in 0..30 {
        let mut at = 0u64;
        let spans: Vec<(u64, u64)> = (0..[0, 1, 127, 128, 129, 1000][random.usize(..6)])
            .map(|_| {
                if random.u8(..20) == 0 {
                    at = [0, random.u64(..1 << 20), 1 << 50][random.usize(..3)];
                }
                let span = (at, [0, random.u64(..300), random.u64(..1 << 33)][random.usize(..3)]);
                at = span.0 + span.1 + 1;
                span
            })
            .collect();
        let directory = RamDirectory::new();
        let mut out = EnvelopeWriter::create(&directory, "file", KIND, 1).unwrap();
        let mut writer = SpanWriter::new(true);
        writer.begin(&mut out).unwrap();
        spans.iter().for_each(|&span| writer.push(span, &mut out).unwrap());
        writer.finish(&mut out).unwrap();
        out.finish().unwrap().sync().unwrap();
        let file = Envelope::open(&directory, "file", KIND).unwrap();
        assert!(file.section(SPANS).is_ok());
        let count = u32::try_from(spans.len()).unwrap();
        let reader = SpanReader::open(&file, count).unwrap().unwrap();
        let mut found = Vec::new();
        for span in reader.spans() {
            found.push(span.unwrap());
        }
        assert_eq!(found, spans, "seed {seed:x} round {round}");
        for (number, &span) in (0..).zip(&spans) {
            assert_eq!(reader.get(number).unwrap(), Some(span), "seed {seed:x} round {round}");
        }
        assert!(SpanReader::open(&file, count + 1).is_err());
    }
}

fn random_tokens(random: &mut Rng) -> Vec<Vec<u8>> {
    let (count, bound) = ([0, 1, 20, 3000][random.usize(..4)], 1 + random.usize(..2000));
    (0..count)
        .map(|_| match random.u8(..30) {
            0 => format!("a long term whose end tells {}", random.usize(..bound)).into_bytes(),
            1 => vec![random.u8(..); 1 + random.usize(..40)],
            _ => random.usize(..bound).to_string().into_bytes(),
        })
        .collect()
}

/// Term → positions, by a simple implementation.
fn by_term(tokens: &[Vec<u8>]) -> BTreeMap<Vec<u8>, Vec<u32>> {
    let mut terms = BTreeMap::<_, Vec<u32>>::new();
    for (position, token) in (0..).zip(tokens) {
        terms.entry(token.clone()).or_default().push(position);
    }
    terms
}

#[test]
fn vectors_have_every_term_with_its_positions() {
    let seed = 0x5eed_0705;
    let mut random = Rng::with_seed(seed);
    let mut builder = VectorBuilder::new();
    for round in 0..100 {
        let tokens = random_tokens(&mut random);
        let (mut text, mut bounds) = (Vec::new(), Vec::new());
        for token in &tokens {
            if random.u8(..10) == 0 || text.len() + token.len() > 4000 {
                builder.tokens(&text, 0, &bounds);
                text.clear();
                bounds.clear();
                builder.token(token, 0..1);
                continue;
            }
            bounds.push(u16::try_from(text.len()).unwrap());
            text.extend_from_slice(token);
            bounds.push(u16::try_from(text.len()).unwrap());
        }
        builder.tokens(&text, 0, &bounds);
        // Single tokens are pushed before the gathered tokens around them only if a window is empty.
        let bytes = builder.parts().concat();
        builder.clear();
        let found = decode_vector(&bytes).unwrap();
        let mut count = 0;
        let expected = by_term(&tokens);
        assert_eq!(found.len(), expected.len(), "seed {seed:x} round {round}");
        for (term, (name, places)) in found.iter().zip(&expected) {
            assert_eq!((&term.term, term.frequency()), (name, places.len()), "seed {seed:x} round {round}");
            count += term.frequency();
        }
        assert_eq!(count, tokens.len());
        // Damage gives an error or another vector, but never a panic.
        for _ in 0..20 {
            let mut damaged = bytes.clone();
            damaged.truncate(random.usize(..=bytes.len()));
            if let Some(byte) = damaged.get_mut(random.usize(..bytes.len().max(1))) {
                *byte ^= 1 << random.u8(..8);
            }
            let _ = decode_vector(&damaged);
        }
    }
}

/// An expected document.
#[derive(Clone)]
struct Document {
    text: Vec<u8>,
    tokens: Vec<Vec<u8>>,
    void: bool,
}

fn random_segment(random: &mut Rng, directory: &RamDirectory, id: u128, stored: Stored) -> Vec<Document> {
    let options = InvertOptions {
        budget: 1 << 26,
        pages: PageSize::Base,
        postings: Postings::Positions,
        ..InvertOptions::default()
    };
    let mut inverter = Inverter::new(&options).unwrap();
    let mut collector = StoredCollector::new(&stored, Records::File).unwrap();
    let (mut documents, mut keys) = (Vec::new(), Keys::default());
    for number in 0..random.usize(1..60) {
        let (text, tokens, void) = (random_document(random), random_tokens(random), random.u8(..15) == 0);
        push_in_pieces(random, &text, |text| collector.text(text).unwrap());
        for token in &tokens {
            match collector.vectors() {
                Some(vectors) => (&mut inverter, vectors).token(token, 0..1),
                None => inverter.token(token, 0..1),
            }
        }
        if void {
            inverter.void_document();
            collector.void_document().unwrap();
        } else {
            inverter.end_document();
            collector.end_document((0, 0)).unwrap();
        }
        keys.paths.push(format!("/{id}/{number}").into_bytes());
        keys.stamps.push(Stamp::default());
        documents.push(Document { text, tokens, void });
    }
    // A document that has not ended is not written.
    collector.text(b"some more").unwrap();
    let (fields, mut columns) = (vec![(Field::default(), &mut inverter)], ColumnSet::default());
    let contents = SegmentContents { fields, keys: &keys, stored: &mut collector, columns: &mut columns };
    write_contents(directory, id, contents, &FlushBuffers::default());
    documents
}

fn compare(segment: &Segment, documents: &[Document], stored: Stored, what: &str) {
    for (number, document) in (0..).zip(documents).filter(|(_, document)| !document.void) {
        let (text, vector) = (segment.content(number).unwrap(), segment.vector(number).unwrap());
        assert!(text == (stored.store == Store::Content).then(|| document.text.clone()), "{what} {number}");
        let vector = vector.map(|terms| terms.into_iter().map(|term| (term.term, term.positions)).collect());
        assert!(vector == stored.vectors.then(|| by_term(&document.tokens)), "{what} {number}");
    }
    segment.check(CheckLevel::Cross, &mut |_| Ok(())).unwrap();
}

#[test]
fn documents_and_vectors_survive_deletes_and_merges() {
    let seed = 0x5eed_0706;
    let mut random = Rng::with_seed(seed);
    for round in 0..40 {
        let stored = Stored {
            store: [Store::Content, Store::Content, Store::None][round % 3],
            compression: ALL[random.usize(..ALL.len())],
            vectors: round % 3 == 2 || random.bool(),
        };
        let what = format!("seed {seed:x} round {round} {stored:?}");
        let directory = RamDirectory::new();
        let (mut segments, mut expected) = (Vec::new(), Vec::new());
        for id in 1..=random.u32(1..5) {
            // Segments of one index may be compressed differently.
            let compression = ALL[random.usize(..ALL.len())];
            let documents =
                random_segment(&mut random, &directory, id.into(), Stored { compression, ..stored });
            let mut segment = Segment::open(&directory, id.into(), 0).unwrap();
            compare(&segment, &documents, stored, &what);
            let share = [0, 0, 5, 90][random.usize(..4)];
            for (number, document) in (0..).zip(documents) {
                let deleted = random.u8(..100) < share && segment.delete(number);
                if !deleted && !document.void {
                    expected.push(document);
                }
            }
            segments.push(segment);
        }
        // Twice, so that copied blocks are copied again.
        for id in [10, 11] {
            let merged = merge(&directory, id, &segments, None, &MergeWork::default(), &mut |_| Ok(()));
            merged.unwrap().1.sync().unwrap();
            let segment = Segment::open(&directory, id, 0).unwrap();
            compare(&segment, &expected, stored, &what);
            segments = vec![segment];
        }
    }
}

#[test]
fn blocks_without_deletes_are_copied() {
    let mut random = Rng::with_seed(0x5eed_0707);
    let stored = Stored { store: Store::Content, compression: Compression::Zstd(9), vectors: false };
    let directory = RamDirectory::new();
    let blocks = |segment: &Segment| segment.envelope().section(TEXT.blocks).unwrap().all().unwrap().to_vec();
    let mut sum = Vec::new();
    let mut segments = Vec::new();
    for id in 1..4 {
        let documents = random_segment(&mut random, &directory, id, stored);
        let segment = Segment::open(&directory, id, 0).unwrap();
        if documents.iter().all(|document| !document.void) {
            sum.extend(blocks(&segment));
            segments.push(segment);
        }
    }
    merge(&directory, 9, &segments, None, &MergeWork::default(), &mut |_| Ok(())).unwrap().1.sync().unwrap();
    let merged = blocks(&Segment::open(&directory, 9, 0).unwrap());
    let common = sum.iter().zip(&merged).take_while(|(a, b)| a == b).count();
    assert!(common > sum.len() / 4, "{common} of {}", sum.len());
}

#[test]
fn segments_that_store_different_data_are_not_merged() {
    let mut random = Rng::with_seed(0x5eed_0708);
    let directory = RamDirectory::new();
    let kinds =
        [(Store::None, false), (Store::Content, false), (Store::Reference, false), (Store::None, true)];
    let mut segments = Vec::new();
    for (id, (store, vectors)) in (1..).zip(kinds) {
        let stored = Stored { store, vectors, ..Stored::default() };
        random_segment(&mut random, &directory, id, stored);
        let segment = Segment::open(&directory, id, 0).unwrap();
        assert_eq!((segment.store(), segment.has_vectors()), (store, vectors));
        segments.push(segment);
    }
    for pair in segments.windows(2) {
        let error = merge(&directory, 9, pair, None, &MergeWork::default(), &mut |_| Ok(())).err().unwrap();
        assert!(error.to_string().contains("stores documents or vectors differently"), "{error}");
        assert!(!directory.list().unwrap().contains(&crate::segment::file_name(9)));
    }
}

#[test]
fn a_vector_that_differs_from_the_postings_is_found() {
    let options = InvertOptions {
        budget: 1 << 26,
        pages: PageSize::Base,
        postings: Postings::Positions,
        ..InvertOptions::default()
    };
    let stored = Stored { vectors: true, ..Stored::default() };
    let tokens = |text: &str| text.split(' ').map(|word| word.as_bytes().to_vec()).collect::<Vec<_>>();
    for (posted, kept, whole) in [
        ("one two one", "one two one", true),
        ("one two one", "one one two", false),
        ("one two one", "one two", false),
        ("one two one", "one two one three", false),
        ("one two one", "two one two", false),
    ] {
        let directory = RamDirectory::new();
        let mut inverter = Inverter::new(&options).unwrap();
        let mut collector = StoredCollector::new(&stored, Records::File).unwrap();
        tokens(posted).iter().for_each(|token| inverter.token(token, 0..1));
        tokens(kept).iter().for_each(|token| collector.vectors().unwrap().token(token, 0..1));
        inverter.end_document();
        collector.end_document((0, 0)).unwrap();
        let keys = Keys { paths: vec![b"/a".to_vec()], stamps: vec![Stamp::default()], ..Keys::default() };
        let (fields, mut columns) = (vec![(Field::default(), &mut inverter)], ColumnSet::default());
        let contents = SegmentContents { fields, keys: &keys, stored: &mut collector, columns: &mut columns };
        write_contents(&directory, 1, contents, &FlushBuffers::default());
        let segment = Segment::open(&directory, 1, 0).unwrap();
        segment.check(CheckLevel::Structure, &mut |_| Ok(())).unwrap();
        let checked = segment.check(CheckLevel::Cross, &mut |_| Ok(()));
        assert_eq!(checked.is_ok(), whole, "{kept}: {checked:?}");
        assert!(whole || checked.unwrap_err().to_string().contains("vector of document 0"));
    }
}

#[test]
fn the_memory_of_spans_is_counted() {
    let mut writer = SpanWriter::new(true);
    let mut out = Vec::new();
    assert_eq!(writer.bytes(), 0);
    for line in 0..128 * 1_000u64 {
        writer.push((line * 10, 9), &mut out).unwrap();
    }
    // An offset of 8 bytes for each block of 128 documents.
    assert!((8_000..=32_000).contains(&writer.bytes()), "{}", writer.bytes());
}

#[test]
fn the_memory_of_vectors_is_counted() {
    let stored = Stored { vectors: true, ..Stored::default() };
    let mut collector = StoredCollector::new(&stored, Records::File).unwrap();
    for document in 0..200 {
        for word in 0..300 {
            let token = format!("{document} {word}").into_bytes();
            collector.vectors().unwrap().token(&token, 0..1);
        }
        collector.end_document((0, 0)).unwrap();
    }
    // The words of one document, and the compressed vectors of all of them.
    assert!((10_000..64 << 20).contains(&collector.bytes()), "{}", collector.bytes());
}
