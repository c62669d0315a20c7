use super::positions::{places, write};
use super::*;
use crate::error::Error;

/// Documents and frequencies.
type Postings = Vec<(u32, u32)>;

/// Terms with their postings, and figures.
fn contents(segment: &Segment) -> (Vec<(Vec<u8>, Postings)>, SegmentStats) {
    let mut all = Vec::new();
    let mut terms = segment.terms_from(b"").unwrap();
    while terms.step().unwrap() {
        let mut list = segment.cursor(terms.term(), terms.info()).unwrap();
        let mut postings = Vec::new();
        while list.doc() != NO_MORE {
            postings.push((list.doc(), list.tf()));
            list.step();
        }
        all.push((terms.term().to_vec(), postings));
    }
    (all, segment.stats().clone())
}

/// Segments with deleted documents.
fn sources(random: &mut Rng, directory: &RamDirectory) -> Vec<Segment> {
    let mut all = Vec::new();
    for (id, docs) in (1..).zip([300, 0, 80, 700, 1]) {
        write(directory, id, random, docs);
        let mut segment = Segment::open(directory, id, 0).unwrap();
        let share = random.u32(..3);
        (0..docs).filter(|_| random.u32(..4) < share).collect::<Vec<_>>().into_iter().for_each(|doc| {
            segment.delete(doc);
        });
        all.push(segment);
    }
    all
}

#[test]
fn a_merge_in_pieces_gives_the_same_result_as_a_merge_in_one_piece() {
    let seed = 0x5eed_0911;
    let mut random = Rng::with_seed(seed);
    let directory = RamDirectory::new();
    let sources = sources(&mut random, &directory);
    let merged = |id, threads, piece| {
        let work = MergeWork { threads, piece, ..MergeWork::default() };
        let (merged, unsynced) = merge(&directory, id, &sources, None, &work, &mut |_| Ok(())).unwrap();
        unsynced.sync().unwrap();
        let segment = Segment::open(&directory, id, 0).unwrap();
        segment.check(CheckLevel::Cross, &mut |_| Ok(())).unwrap();
        assert_eq!(&merged.segment.stats, segment.stats());
        segment
    };
    let whole = merged(100, 1, 1 << 20);
    let blocks = whole.dictionary().blocks();
    let expected = contents(&whole);
    for (id, (threads, piece)) in (101..).zip([(2, 1), (3, 200), (5, 3000), (4, 40_000), (2, 1 << 30)]) {
        let segment = merged(id, threads, piece);
        assert!(contents(&segment) == expected, "seed {seed:x} threads {threads} piece {piece}");
        // Each piece may end with a group that is not full.
        assert_eq!(segment.dictionary().blocks() > blocks + 10, piece <= 3000, "{threads} {piece}");
        for (term, postings) in expected.0.iter().step_by(97) {
            let found = segment.find_all(term).unwrap().map(|(info, _)| info.doc_freq() as usize);
            assert_eq!(found, Some(postings.len()), "seed {seed:x} {term:?}");
        }
    }
}

#[test]
fn a_merge_in_pieces_that_fails_or_panics_ends_and_leaves_no_file() {
    let mut random = Rng::with_seed(0x5eed_0912);
    let directory = RamDirectory::new();
    let sources = sources(&mut random, &directory);
    let work = MergeWork { threads: 4, piece: 500, ..MergeWork::default() };
    let mut calls = 0;
    merge(&directory, 100, &sources, None, &work, &mut |_| {
        calls += 1;
        Ok(())
    })
    .unwrap()
    .1
    .sync()
    .unwrap();
    assert!(calls > 20, "{calls}");
    for last in [1, 2, calls / 2, calls] {
        let mut left = last;
        let mut fails = |_| {
            left -= 1;
            if left == 0 { Err(Error::Cancelled) } else { Ok(()) }
        };
        let merged = merge(&directory, 101, &sources, None, &work, &mut fails);
        assert!(matches!(merged, Err(Error::Cancelled)));
        assert!(!directory.list().unwrap().contains(&file_name(101)));
        left = last;
        let mut panics = |_| {
            left -= 1;
            if left == 0 { panic!("as asked for") } else { Ok(()) }
        };
        let merged = std::panic::AssertUnwindSafe(|| {
            merge(&directory, 102, &sources, None, &work, &mut panics).map(|_| ())
        });
        assert!(std::panic::catch_unwind(merged).is_err());
    }
}

#[test]
fn a_merge_in_pieces_reports_damage_in_a_source() {
    let seed = 0x5eed_0913;
    let mut random = Rng::with_seed(seed);
    let directory = RamDirectory::new();
    let all = places(&write(&directory, 7, &mut random, 60));
    let bytes = directory.open(&file_name(7)).unwrap().to_vec();
    let work = MergeWork { threads: 3, piece: 300, ..MergeWork::default() };
    for round in 0..200 {
        let at = flip_a_bit(&directory, &bytes, &mut random);
        let Ok(segment) = Segment::open(&directory, 7, 0) else { continue };
        let Ok((_, unsynced)) = merge(&directory, 8, &[segment], None, &work, &mut |_| Ok(())) else {
            continue;
        };
        unsynced.sync().unwrap();
        let merged = Segment::open(&directory, 8, 0).unwrap();
        assert_eq!(contents(&merged).0.len(), all.len(), "seed {seed:x} round {round} byte {at}");
        directory.remove(&file_name(8)).unwrap();
    }
}
