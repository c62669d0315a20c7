use super::*;
use crate::error::Error;
use crate::schema::Postings;

/// Term → document → positions.
pub(super) type Places = BTreeMap<Vec<u8>, BTreeMap<u32, Vec<u32>>>;

/// Writes a segment of random documents with positions; returns them by number, void ones empty.
pub(super) fn write(directory: &RamDirectory, id: u128, random: &mut Rng, docs: u32) -> Vec<Vec<Vec<u8>>> {
    let pages = PageSize::Base;
    let options = InvertOptions { pages, postings: Postings::Positions, ..InvertOptions::default() };
    let mut inverter = Inverter::new(&options).unwrap();
    let mut all = Vec::new();
    for doc in 0..docs {
        let len = [0, 1, 30, 400][random.usize(..4)];
        let mut terms: Vec<_> = (0..len)
            .map(|_| {
                if random.u8(..3) > 0 {
                    format!("f{}", random.u8(..4)).into_bytes()
                } else {
                    random_term(random)
                }
            })
            .collect();
        if doc == 9 {
            terms = vec![b"again".to_vec(); 40_000];
        }
        terms.iter().for_each(|term| inverter.token(term, 0..1));
        if doc % 50 == 3 {
            inverter.void_document();
            terms.clear();
        } else {
            inverter.end_document();
        }
        all.push(terms);
    }
    let paths = (0..docs).map(|doc| format!("/{id}/file{doc}").into_bytes()).collect();
    // Small buffers, so that runs are written while they grow.
    let buffers = FlushBuffers { write: 4096, lists: 512 };
    let keys = Keys { paths, stamps: vec![Stamp::default(); docs as usize], ..Keys::default() };
    write_segment(directory, id, &mut inverter, &keys, &buffers);
    all
}

pub(super) fn places<'d>(docs: impl IntoIterator<Item = &'d Vec<Vec<u8>>>) -> Places {
    let mut places = Places::new();
    for (doc, terms) in (0..).zip(docs) {
        for (position, term) in (0..).zip(terms) {
            places.entry(term.clone()).or_default().entry(doc).or_default().push(position);
        }
    }
    places
}

/// The content of a segment, read document by document with a cursor.
fn read(segment: &Segment) -> crate::error::Result<Places> {
    use crate::codec::PositionCursor;
    let mut found = Places::new();
    let mut terms = segment.terms_from(b"")?;
    while terms.step()? {
        let term = terms.term().to_vec();
        let info = terms.info();
        let mut cursor = PositionCursor::new(segment.deltas(&term, info, terms.positions())?);
        let mut list = segment.cursor(&term, info)?;
        let mut by_document = BTreeMap::new();
        while list.doc() != NO_MORE {
            by_document.insert(list.doc(), cursor.positions_of_current(&mut list).to_vec());
            list.step();
        }
        assert!(!cursor.corrupt() && !list.corrupt());
        found.insert(term, by_document);
    }
    Ok(found)
}

fn must_hold(segment: &Segment, expected: &Places, random: &mut Rng, what: &str) {
    assert!(read(segment).unwrap() == *expected, "{what}");
    segment.check(CheckLevel::Cross, &mut |_| Ok(())).unwrap();
    for (term, by_document) in expected.iter().take(100) {
        let doc = random.u32(..segment.stats().max_doc);
        let found = segment.positions(term, doc).unwrap();
        assert_eq!(&found, by_document.get(&doc).unwrap_or(&Vec::new()), "{what} {term:?} {doc}");
        for (&doc, positions) in by_document.iter().take(3) {
            assert_eq!(&segment.positions(term, doc).unwrap(), positions, "{what} {term:?} {doc}");
        }
    }
    assert!(segment.positions(b"never there", 0).unwrap().is_empty());
}

#[test]
fn positions_read_back_from_a_segment_and_through_merges_with_deletes() {
    let seed = 0x5eed_0211;
    let mut random = Rng::with_seed(seed);
    for sizes in [[0, 1, 2, 0], [10, 700, 40, 300]] {
        let directory = RamDirectory::new();
        let (mut sources, mut left) = (Vec::new(), Vec::new());
        for (id, docs) in (1..).zip(sizes) {
            let docs = write(&directory, id, &mut random, docs);
            let mut segment = Segment::open(&directory, id, 0).unwrap();
            must_hold(&segment, &places(&docs), &mut random, &format!("seed {seed:x} segment {id}"));
            let share = random.u32(..3);
            for (number, terms) in (0..).zip(docs) {
                let deleted = random.u32(..4) < share && segment.delete(number);
                if !deleted && segment.is_live(number) {
                    left.push(terms);
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
            must_hold(&merged, &places(&left), &mut random, &format!("seed {seed:x} merged"));
        }
        let again = [merged];
        merge(&directory, 78, &again, None, &work, &mut |_| Ok(())).unwrap().1.sync().unwrap();
        let again = Segment::open(&directory, 78, 0).unwrap();
        assert_eq!(read(&again).unwrap(), places(&left));
        assert_eq!(again.field_stats(), Segment::open(&directory, 77, 0).unwrap().field_stats());
    }
}

#[test]
fn segments_with_and_without_positions_do_not_mix_and_reading_missing_positions_is_an_error() {
    let mut random = Rng::with_seed(5);
    let (directory, lists, _) = sample(&mut random, 50);
    write(&directory, 8, &mut random, 50);
    let segments = [7, 8].map(|id| Segment::open(&directory, id, 0).unwrap());
    assert_eq!(segments.each_ref().map(Segment::kept), [Postings::Frequencies, Postings::Positions]);
    let error = segments[0].positions(lists.keys().next().unwrap(), 0).unwrap_err();
    assert!(matches!(error, Error::NotIndexed { what: "positions" }), "{error}");
    let merged = merge(&directory, 9, &segments, None, &MergeWork::default(), &mut |_| Ok(()));
    assert!(matches!(merged, Err(Error::Corrupt { .. })));
    assert!(!directory.list().unwrap().contains(&file_name(9)));
}

#[test]
fn a_flipped_bit_in_a_segment_with_positions_is_an_error_or_harmless() {
    let seed = 0x5eed_0212;
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
