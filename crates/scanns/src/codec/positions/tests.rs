use super::*;
use crate::codec::postings::{Impact, ListBytes, ListCursor, ListEncoder, NO_MORE, code_to_tf};
use fastrand::Rng;

mod offsets;

/// A document and the positions in it.
type Postings = Vec<(u32, Vec<u32>)>;

const COUNTS: [usize; 8] = [1, 2, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, 2 * BLOCK + 77, 9 * BLOCK + 5];

fn random_postings(random: &mut Rng, count: usize) -> Postings {
    let (gaps, steps) = ([1, 3, 900][random.usize(..3)], [1, 9, 70_000][random.usize(..3)]);
    let most = [1, 2, 5, 400][random.usize(..4)];
    let mut next = 0;
    (0..count)
        .map(|_| {
            let doc = next + random.u32(..gaps);
            next = doc + 1;
            let mut position = random.u32(..steps);
            let frequency = 1 + if random.u8(..3) == 0 { random.u32(..most) } else { 0 };
            let positions = (0..frequency).map(|_| {
                position += 1 + random.u32(..steps);
                position
            });
            (doc, positions.collect())
        })
        .collect()
}

fn deltas_of(positions: &[u32]) -> Vec<u32> {
    let before = std::iter::once(0).chain(positions.iter().copied());
    positions.iter().zip(before).map(|(position, before)| position - before).collect()
}

/// Encodes a list and its run. The output is emptied now and then while the run grows.
fn encode(postings: &Postings, random: &mut Rng) -> (Vec<u8>, Vec<u8>, u64) {
    let (mut list, mut run, mut sent) = (Vec::new(), Vec::new(), Vec::new());
    let (mut lists, mut runs) = (ListEncoder::new(), PositionEncoder::new(false));
    let norms = vec![1; postings.last().map_or(0, |posting| posting.0 as usize + 1)];
    for (doc, positions) in postings {
        lists.push(*doc, positions.len() as u32, &norms, &mut list);
        runs.begin_posting();
        deltas_of(positions).into_iter().for_each(|delta| runs.push(delta, &mut run));
        if random.u8(..4) == 0 {
            sent.append(&mut run);
        }
    }
    lists.finish(&norms, &mut list);
    runs.finish(&mut run);
    sent.append(&mut run);
    (list, sent, postings.iter().map(|posting| posting.1.len() as u64).sum())
}

fn over_lists(seed: u64, mut check: impl FnMut(&mut Rng, &Postings, &[u8], &[u8], u64)) {
    let mut random = Rng::with_seed(seed);
    for round in 0..20 {
        for count in COUNTS {
            println!("seed {seed} round {round} count {count}");
            let postings = random_postings(&mut random, count);
            let (list, run, total) = encode(&postings, &mut random);
            check(&mut random, &postings, &list, &run, total);
        }
    }
}

fn open<'a>(
    postings: &Postings,
    list: &'a [u8],
    run: &'a [u8],
    total: u64,
) -> (ListCursor<'a>, PositionCursor<'a>) {
    let max_doc = postings.last().unwrap().0 + 1;
    let list = ListCursor::new(list, postings.len() as u32, max_doc).unwrap();
    (
        list,
        PositionCursor::new(
            DeltaReader::<OnlyPositions>::new(run, postings.len() as u32, total, false).unwrap(),
        ),
    )
}

#[test]
fn positions_read_back_document_by_document_wherever_the_cursor_goes() {
    over_lists(0x5eed_0501, |random, postings, list, run, total| {
        let (mut list, mut cursor) = open(postings, list, run, total);
        for _ in 0..3 * postings.len().min(300) {
            let wanted = random.usize(..postings.len());
            match random.u8(..4) {
                // Moves back or forward, to the next posting, or to the current one.
                0 => drop(list.jump(0, postings[wanted].0)),
                1 if list.doc() != NO_MORE => drop(list.advance(list.doc() + random.u32(..40))),
                2 => drop(list.step()),
                _ => {}
            }
            let expected = postings.iter().find(|posting| posting.0 == list.doc());
            let expected = expected.map_or(&[][..], |posting| &posting.1);
            assert_eq!(cursor.positions_of_current(&mut list), expected, "document {}", list.doc());
        }
        assert!(!cursor.corrupt());
    });
}

#[test]
fn deltas_read_back_from_front_to_back_and_entries_say_where_they_begin() {
    over_lists(0x5eed_0502, |random, postings, _, run, total| {
        let mut reader = DeltaReader::<OnlyPositions>::new(run, postings.len() as u32, total, false).unwrap();
        for (number, (_, positions)) in postings.iter().enumerate() {
            assert!(number % BLOCK > 0 || reader.is_at(number / BLOCK));
            assert!(!reader.is_at_end());
            if random.u8(..3) == 0 {
                reader.skip(positions.len() as u64).unwrap();
            } else {
                let mut found = Vec::new();
                reader
                    .take(positions.len() as u32, |deltas| found.extend_from_slice(deltas.positions))
                    .unwrap();
                assert_eq!(found, deltas_of(positions));
            }
        }
        assert!(reader.is_at_end());
        assert!(reader.skip(1).is_none() && reader.take(1, |_| ()).is_none());
    });
}

fn only(position: u32) -> Occurrence {
    Occurrence { position, start: 0, extra: 0 }
}

#[test]
fn a_single_occurrence_needs_no_run() {
    let mut list = ListCursor::single(9, 1);
    let mut cursor = PositionCursor::new(DeltaReader::only(only(77)));
    assert_eq!(cursor.positions_of_current(&mut list), [77]);
    assert_eq!(cursor.positions_of_current(&mut list), [77]);
    list.step();
    assert!(cursor.positions_of_current(&mut list).is_empty() && !cursor.corrupt());
    assert!(DeltaReader::<OnlyPositions>::only(only(1)).take(2, |_| ()).is_none());
}

#[test]
fn the_highest_positions_read_back() {
    let postings = vec![(0, vec![u32::MAX]), (1, vec![0, u32::MAX - 1, u32::MAX, u32::MAX])];
    let (list, run, total) = encode(&postings, &mut Rng::with_seed(1));
    let (mut list, mut cursor) = open(&postings, &list, &run, total);
    assert_eq!(cursor.positions_of_current(&mut list), postings[0].1);
    list.step();
    assert_eq!(cursor.positions_of_current(&mut list), postings[1].1);
}

/// Reads everything in two ways. Positions must ascend, and their number must be the frequency.
fn exhaust(list: &[u8], run: &[u8], doc_freq: u32, total: u64, random: &mut Rng) {
    let Some(reader) = DeltaReader::<OnlyPositions>::new(run, doc_freq, total, false) else { return };
    let Some(mut list) = ListCursor::new(list, doc_freq, 1 << 31) else { return };
    let mut cursor = PositionCursor::new(reader);
    while list.doc() != NO_MORE {
        let count = cursor.positions_of_current(&mut list).len();
        assert!(cursor.corrupt() && count == 0 || count == list.tf() as usize);
        assert!(cursor.positions_of_current(&mut list).is_sorted());
        if random.u8(..3) == 0 {
            list.advance(list.doc() + 1 + random.u32(..500))
        } else {
            list.step()
        };
    }
    let Some(mut reader) = DeltaReader::<OnlyPositions>::new(run, doc_freq, total, false) else { return };
    while reader.take(1 + random.u32(..300), |_| ()).is_some() {}
    reader.is_at_end();
}

#[test]
fn damaged_runs_end_with_a_note_and_never_panic() {
    let seed = 0x5eed_0503;
    println!("seed {seed}");
    let mut random = Rng::with_seed(seed);
    for count in [3, BLOCK, 2 * BLOCK + 40] {
        let postings = random_postings(&mut random, count);
        let (list, run, total) = encode(&postings, &mut random);
        let doc_freq = count as u32;
        for bit in 0..8 * run.len() {
            let mut damaged = run.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            exhaust(&list, &damaged, doc_freq, total, &mut random);
        }
        for cut in 0..run.len() {
            exhaust(&list, &run[..cut], doc_freq, total, &mut random);
            exhaust(&list, &run[cut..], doc_freq, total, &mut random);
        }
        for wrong in [0, 1, total - 1, total + 1, total + BLOCK as u64, u64::MAX] {
            exhaust(&list, &run, doc_freq, wrong, &mut random);
            exhaust(&list, &run, doc_freq.wrapping_mul(wrong as u32), total, &mut random);
        }
        for _ in 0..2_000 {
            let noise: Vec<u8> = (0..random.usize(..900)).map(|_| random.u8(..)).collect();
            exhaust(&list, &noise, doc_freq, total + random.u64(..200), &mut random);
        }
    }
}

/// A list with its run, and the postings that they contain.
struct Part {
    postings: Postings,
    list: Vec<u8>,
    run: Vec<u8>,
    total: u64,
    max_doc: u32,
}

/// Appends parts one after the other, as a merge does: carries them if that pays, otherwise posting by
/// posting.
fn append(parts: &[Part], random: &mut Rng) -> Part {
    let (mut lists, mut runs) = (ListEncoder::new(), PositionEncoder::new(false));
    let (mut list, mut run, mut postings, mut base) = (Vec::new(), Vec::new(), Postings::new(), 0);
    let norms = norms(parts.iter().map(|part| part.max_doc).sum());
    for part in parts {
        let doc_freq = part.postings.len() as u32;
        let bytes = ListBytes { bytes: &part.list, doc_freq, total_tf: part.total, max_doc: part.max_doc };
        // A list with deleted documents is never carried.
        if lists.would_carry(&bytes) && random.u8(..8) > 0 {
            let waiting = lists.carry(&bytes, base, &norms, &mut list).unwrap();
            let mut reader =
                DeltaReader::<OnlyPositions>::new(&part.run, doc_freq, part.total, false).unwrap();
            let blocks = runs.carry(&mut reader, waiting, &mut run).unwrap();
            run.extend_from_slice(blocks);
        } else {
            for (doc, positions) in &part.postings {
                lists.push(doc + base, positions.len() as u32, &norms, &mut list);
                runs.begin_posting();
                deltas_of(positions).into_iter().for_each(|delta| runs.push(delta, &mut run));
            }
        }
        postings.extend(part.postings.iter().map(|(doc, positions)| (doc + base, positions.clone())));
        base += part.max_doc;
    }
    let summary = lists.finish(&norms, &mut list);
    runs.finish(&mut run);
    assert_eq!(summary.doc_freq as usize, postings.len());
    assert_eq!(summary.total_tf, postings.iter().map(|posting| posting.1.len() as u64).sum::<u64>());
    Part { postings, list, run, total: summary.total_tf, max_doc: base }
}

/// Norms that depend on the document, the same in all parts.
fn norms(max_doc: u32) -> Vec<u8> {
    (0..max_doc).map(|_| 7).collect()
}

fn bounds(impacts: &[Impact], tf: u32) -> bool {
    impacts.iter().any(|impact| code_to_tf(impact.tf_code) >= tf && impact.norm <= 7)
}

#[test]
fn lists_that_are_carried_again_and_again_are_those_of_pushing_everything() {
    let seed = 0x5eed_0504;
    let mut random = Rng::with_seed(seed);
    for round in 0..60 {
        println!("seed {seed} round {round}");
        let mut whole: Vec<Part> = Vec::new();
        for generation in 0..4 {
            let mut parts: Vec<Part> = (0..1 + random.usize(..4))
                .map(|_| {
                    let near =
                        random.choice([1, 126, 127, 128, 129, 8 * BLOCK - 1, 8 * BLOCK, 8 * BLOCK + 1]);
                    let count = if random.bool() { near.unwrap() } else { 1 + random.usize(..3000) };
                    let postings = random_postings(&mut random, count);
                    let max_doc = postings.last().unwrap().0 + 1 + random.u32(..3) * 50_000;
                    let plain = Part { postings, list: Vec::new(), run: Vec::new(), total: 0, max_doc };
                    append_plain(plain)
                })
                .collect();
            let place = random.usize(..=parts.len());
            if let Some(before) = whole.pop() {
                parts.insert(place, before);
            }
            let merged = append(&parts, &mut random);
            assert_same(&merged, &mut random);
            let plain = append_plain(Part {
                postings: merged.postings.clone(),
                list: Vec::new(),
                run: Vec::new(),
                total: 0,
                max_doc: merged.max_doc,
            });
            let (carried, pushed) = (merged.list.len(), plain.list.len());
            assert!(carried <= pushed + pushed / 5 + 300 * (generation + 1), "{carried} bytes, not {pushed}");
            whole.push(merged);
        }
    }
}

/// Encodes the postings of a part.
fn append_plain(part: Part) -> Part {
    let (mut lists, mut runs) = (ListEncoder::new(), PositionEncoder::new(false));
    let (mut list, mut run) = (Vec::new(), Vec::new());
    let norms = norms(part.max_doc);
    for (doc, positions) in &part.postings {
        lists.push(*doc, positions.len() as u32, &norms, &mut list);
        runs.begin_posting();
        deltas_of(positions).into_iter().for_each(|delta| runs.push(delta, &mut run));
    }
    let total = lists.finish(&norms, &mut list).total_tf;
    runs.finish(&mut run);
    Part { list, run, total, ..part }
}

/// Reads everything from front to back and wherever a cursor jumps.
fn assert_same(part: &Part, random: &mut Rng) {
    let doc_freq = part.postings.len() as u32;
    let mut list = ListCursor::new(&part.list, doc_freq, part.max_doc).unwrap();
    let mut reader = DeltaReader::<OnlyPositions>::new(&part.run, doc_freq, part.total, false).unwrap();
    let mut at = 0;
    while list.doc() != NO_MORE {
        assert!(reader.is_at(list.block()), "block {}", list.block());
        let (impacts, all) = (list.block_impacts(list.block()), list.list_impacts());
        let (docs, tfs) = list.rest_of_block();
        let count = docs.len();
        for (&doc, &tf) in docs.iter().zip(tfs) {
            let (expected, positions) = &part.postings[at];
            assert_eq!((doc, tf as usize), (*expected, positions.len()));
            assert!(bounds(&impacts, tf) && bounds(&all, tf));
            let mut found = Vec::new();
            reader.take(tf, |deltas| found.extend_from_slice(deltas.positions)).unwrap();
            assert_eq!(found, deltas_of(positions));
            at += 1;
        }
        list.consume(count);
    }
    assert!(at == part.postings.len() && !list.corrupt() && reader.is_at_end());
    let (mut list, mut cursor) = open(&part.postings, &part.list, &part.run, part.total);
    for _ in 0..100 {
        let wanted = &part.postings[random.usize(..part.postings.len())];
        list.jump(0, wanted.0);
        assert_eq!((list.doc(), list.tf() as usize), (wanted.0, wanted.1.len()));
        assert_eq!(cursor.positions_of_current(&mut list), wanted.1);
    }
}
