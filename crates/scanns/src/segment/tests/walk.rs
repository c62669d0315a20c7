use super::*;
use crate::schema::Postings;

/// A segment of many blocks whose terms have equal prefixes in the sparse index; and all terms with their
/// postings from another reader.
type Known = Vec<(Vec<u8>, (TermInfo, TermPositions))>;

fn segment(random: &mut Rng, docs: u32) -> (Segment, Known) {
    let directory = RamDirectory::new();
    let options =
        InvertOptions { pages: PageSize::Base, postings: Postings::Positions, ..InvertOptions::default() };
    let mut inverter = Inverter::new(&options).unwrap();
    for _ in 0..docs {
        for _ in 0..random.usize(..60) {
            let front = ["", "/usr/share/", "/usr/share/doc/", "aa", "\u{ff}"][random.usize(..5)];
            let most = [30, 3_000, 400_000][random.usize(..3)];
            let number = random.u32(..most);
            let tail = if random.u8(..4) == 0 { "x".repeat(random.usize(..40)) } else { String::new() };
            inverter.token(format!("{front}{number}{tail}").as_bytes(), 0..1);
        }
        inverter.end_document();
    }
    let paths = (0..docs).map(|doc| format!("{doc}").into_bytes()).collect();
    let keys = Keys { paths, stamps: vec![Stamp::default(); docs as usize], ..Keys::default() };
    let buffers = FlushBuffers { write: 4096, lists: 512 };
    write_segment(&directory, 7, &mut inverter, &keys, &buffers);
    let segment = Segment::open(&directory, 7, 0).unwrap();
    let mut known = Known::new();
    let mut terms = segment.terms_from(b"").unwrap();
    while terms.step().unwrap() {
        known.push((terms.term().to_vec(), (terms.info(), terms.positions())));
    }
    (segment, known)
}

#[test]
fn walking_finds_the_same_terms_as_reading_all() {
    for seed in 1..=4 {
        println!("seed {seed}");
        let mut random = Rng::with_seed(seed);
        let (segment, known) = segment(&mut random, 400);
        assert!(known.len() > 5_000, "{} terms", known.len());
        for _ in 0..60 {
            let mut walk = segment.walk_terms();
            // The place of the next term, and whether the walk is at it.
            let mut at: Option<usize> = None;
            loop {
                let there = if random.u8(..3) == 0 {
                    at = Some(at.map_or(0, |at| at + 1));
                    walk.step().unwrap()
                } else {
                    let ahead = [3, 80, 3_000][random.usize(..3)];
                    let near = (at.unwrap_or(0) + random.usize(..ahead)).saturating_sub(2);
                    let mut target = known.get(near).map_or(b"\xff\xff".to_vec(), |(term, _)| term.clone());
                    match random.u8(..4) {
                        0 => target.push(random.u8(..)),
                        1 => target.truncate(random.usize(..=target.len())),
                        2 => drop(target.pop().map(|last| target.push(last.wrapping_add(1)))),
                        _ => {}
                    }
                    let found = known.partition_point(|(term, _)| *term < target);
                    at = Some(found.max(at.unwrap_or(0)));
                    walk.seek(&target).unwrap()
                };
                let expected = at.and_then(|at| known.get(at));
                assert_eq!(there, expected.is_some(), "at {at:?} of {}", known.len());
                let Some((term, info)) = expected else { break };
                assert_eq!(walk.term(), term.as_slice(), "at {at:?}");
                if random.bool() {
                    assert_eq!(walk.info().unwrap(), *info, "of {term:?}");
                    assert_eq!(walk.info().unwrap(), *info, "of {term:?} again");
                }
            }
        }
    }
}

#[test]
fn blocks_have_the_same_terms_as_reading_all_and_none_is_skipped_from_a_target_on() {
    for seed in 1..=4 {
        println!("seed {seed}");
        let mut random = Rng::with_seed(seed);
        let (segment, known) = segment(&mut random, 400);
        for _ in 0..40 {
            let mut blocks = segment.term_blocks();
            let (mut target, mut at, mut term) = (Vec::new(), 0, Vec::new());
            while blocks.next(&target).unwrap() {
                let (shared, begins) = blocks.term(0).unwrap();
                assert_eq!(shared, 0);
                let begins: Vec<u8> = begins.collect();
                let found = known.partition_point(|(term, _)| *term < begins);
                assert!(known[at..found].iter().all(|(term, _)| *term < target), "{target:?}");
                at = found;
                let count = (0..).find(|&index| blocks.term(index).is_none()).unwrap();
                for index in 0..count {
                    let (shared, own) = blocks.term(index).unwrap();
                    term.truncate(shared);
                    term.extend(own);
                    assert_eq!(term, known[at].0);
                    if random.u8(..9) == 0 {
                        assert_eq!(blocks.info(index).unwrap(), known[at].1, "of {term:?}");
                    }
                    let mut wanted = known[(at + random.usize(..3)).min(known.len() - 1)].0.clone();
                    wanted.truncate(random.usize(..=wanted.len() + 2));
                    wanted.extend((0..random.usize(..2)).map(|_| random.u8(..)));
                    let of_block = &known[found..(found + count).min(known.len())];
                    let expected = of_block.iter().position(|(term, _)| *term >= wanted);
                    assert_eq!(blocks.seek(&wanted), expected, "{wanted:?}");
                    if let Some(index) = expected {
                        let (shared, _) = blocks.term(index).unwrap();
                        assert_eq!(wanted.get(..shared), of_block[index].0.get(..shared), "{wanted:?}");
                    }
                    let (from, most) = (random.usize(..=count), [0, 3, 20, 200][random.usize(..4)]);
                    let expected = (from..count).find(|&index| blocks.term(index).unwrap().0 <= most);
                    assert_eq!(blocks.sharing_at_most(most, from), expected, "{most} from {from}");
                    at += 1;
                }
                let (bound, len) = blocks.next_bound().unwrap().unwrap_or(([0xff; 8], 8));
                assert!(known.get(at).is_none_or(|(term, _)| bound[..len] <= **term), "{bound:?}");
                let most = [1, 100, 3_000][random.usize(..3)];
                target = known.get(at + random.usize(..most)).map_or(vec![0xff; 2], |(term, _)| term.clone());
                target.truncate(random.usize(..=target.len()));
            }
            assert!(known[at..].iter().all(|(term, _)| *term < target), "{target:?}");
        }
    }
}
