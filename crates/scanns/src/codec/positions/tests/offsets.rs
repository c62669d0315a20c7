//! The tests of positions, with offsets.

use super::*;

/// Documents, and the occurrences of the term in each.
type Found = Vec<(u32, Vec<Occurrence>)>;

/// Length of the term in bytes.
const LEN: usize = 6;

/// Postings whose lengths in the text never, seldom or often differ from the length of the term.
fn random_found(random: &mut Rng, count: usize) -> Found {
    let differs = random.u8(..3);
    let most = [1, 40, 1 << 20][random.usize(..3)];
    let found = random_postings(random, count).into_iter().map(|(doc, positions)| {
        let mut start = 0u32;
        let occurrences = positions.into_iter().map(|position| {
            start = start.saturating_add(random.u32(..most));
            let len = match random.u8(..=20) {
                number if number < 10 * differs => random.usize(..40),
                _ => LEN,
            };
            Occurrence { position, start, extra: Occurrence::extra_of(len, LEN) }
        });
        (doc, occurrences.collect())
    });
    found.collect()
}

fn deltas_of(occurrences: &[Occurrence]) -> Vec<Occurrence> {
    let mut before = Occurrence::default();
    let deltas = occurrences.iter().map(|&at| {
        let (position, start) = (at.position - before.position, at.start - before.start);
        before = at;
        Occurrence { position, start, extra: at.extra }
    });
    deltas.collect()
}

fn ranges(occurrences: &[Occurrence]) -> Vec<std::ops::Range<u32>> {
    occurrences.iter().map(|at| at.start..Occurrence::end_of(at.start, at.extra, LEN).unwrap()).collect()
}

struct Encoded {
    found: Found,
    list: Vec<u8>,
    run: Vec<u8>,
    max_doc: u32,
    total: u64,
}

impl Encoded {
    fn reader<C: Columns>(&self) -> DeltaReader<'_, C> {
        DeltaReader::new(&self.run, self.found.len() as u32, self.total, true).unwrap()
    }

    fn cursor(&self) -> ListCursor<'_> {
        ListCursor::new(&self.list, self.found.len() as u32, self.max_doc).unwrap()
    }
}

fn push(parts: &[&Found], random: &mut Rng, mut carry: impl FnMut(usize) -> Option<Encoded>) -> Encoded {
    let (mut lists, mut runs) = (ListEncoder::new(), PositionEncoder::new(true));
    let (mut list, mut run, mut sent) = (Vec::new(), Vec::new(), Vec::new());
    let (mut all, mut base) = (Found::new(), 0);
    let norms = norms(parts.iter().map(|part| part.last().unwrap().0 + 1).sum());
    for (number, part) in parts.iter().enumerate() {
        let max_doc = part.last().unwrap().0 + 1;
        let carried = carry(number).filter(|encoded| {
            let (doc_freq, total_tf) = (part.len() as u32, encoded.total);
            let bytes = ListBytes { bytes: &encoded.list, doc_freq, total_tf, max_doc };
            let worth_it = lists.would_carry(&bytes);
            if worth_it {
                let waiting = lists.carry(&bytes, base, &norms, &mut list).unwrap();
                let mut reader = encoded.reader::<WithOffsets>();
                let blocks = runs.carry(&mut reader, waiting, &mut run).unwrap();
                run.extend_from_slice(blocks);
            }
            worth_it
        });
        for (doc, occurrences) in part.iter().filter(|_| carried.is_none()) {
            lists.push(doc + base, occurrences.len() as u32, &norms, &mut list);
            runs.begin_posting();
            deltas_of(occurrences).into_iter().for_each(|delta| runs.push_all(delta, &mut run));
            if random.u8(..4) == 0 {
                sent.append(&mut run);
            }
        }
        all.extend(part.iter().map(|(doc, occurrences)| (doc + base, occurrences.clone())));
        base += max_doc;
    }
    let total = lists.finish(&norms, &mut list).total_tf;
    runs.finish(&mut run);
    sent.append(&mut run);
    Encoded { found: all, list, run: sent, max_doc: base, total }
}

fn encode(found: &Found, random: &mut Rng) -> Encoded {
    push(&[found], random, |_| None)
}

/// Reads everything from front to back and wherever a cursor jumps, with offsets and without.
fn must_hold(encoded: &Encoded, random: &mut Rng) {
    let (mut reader, mut of_positions) = (encoded.reader::<WithOffsets>(), encoded.reader::<OnlyPositions>());
    let (mut list, mut block) = (encoded.cursor(), None);
    for (_, occurrences) in &encoded.found {
        if block.replace(list.block()) != Some(list.block()) {
            assert!(reader.is_at(list.block()) && of_positions.is_at(list.block()));
        }
        list.step();
        let (mut all, mut positions, count) = (Vec::new(), Vec::new(), occurrences.len() as u32);
        if random.u8(..4) == 0 {
            reader.skip(count.into()).unwrap();
        } else {
            reader.take(count, |deltas| all.extend(deltas.occurrences())).unwrap();
            assert_eq!(all, deltas_of(occurrences));
        }
        of_positions.take(count, |deltas| positions.extend_from_slice(deltas.positions)).unwrap();
        assert!(positions.into_iter().eq(deltas_of(occurrences).iter().map(|at| at.position)));
    }
    assert!(reader.is_at_end() && of_positions.is_at_end());
    let (mut list, mut cursor) =
        (encoded.cursor(), PositionCursor::with_offsets(encoded.reader::<WithOffsets>(), LEN));
    let mut of_positions = PositionCursor::new(encoded.reader::<OnlyPositions>());
    for _ in 0..200 {
        let (doc, occurrences) = &encoded.found[random.usize(..encoded.found.len())];
        list.jump(0, *doc);
        assert_eq!(cursor.offsets_of_current(&mut list), ranges(occurrences));
        let positions: Vec<u32> = occurrences.iter().map(|at| at.position).collect();
        assert_eq!(cursor.positions_of_current(&mut list), positions);
        assert_eq!(of_positions.positions_of_current(&mut list), positions);
    }
}

#[test]
fn offsets_read_back_wherever_a_cursor_goes_and_positions_without_them() {
    let seed = 0x5eed_0511;
    let mut random = Rng::with_seed(seed);
    for round in 0..6 {
        for count in COUNTS {
            println!("seed {seed} round {round} count {count}");
            let found = random_found(&mut random, count);
            let encoded = encode(&found, &mut random);
            must_hold(&encoded, &mut random);
        }
    }
}

#[test]
fn lengths_that_never_differ_take_a_byte_a_block() {
    let plain = |at| Occurrence { position: 2 * at, start: 9 * at, extra: 0 };
    let found = vec![(0, (0..20 * BLOCK as u32).map(plain).collect())];
    let bytes = encode(&found, &mut Rng::with_seed(1)).run.len();
    // 128 positions of two bits, 128 starts of four bits, and a width for each of the three columns.
    assert!(bytes < 20 * (32 + 64 + 3) + 16 + 128, "{bytes}");
}

#[test]
fn a_single_occurrence_and_the_highest_offsets_read_back() {
    let mut list = ListCursor::single(9, 1);
    let at = Occurrence { position: 7, start: 77, extra: Occurrence::extra_of(9, LEN) };
    let mut cursor = PositionCursor::with_offsets(DeltaReader::only(at), LEN);
    assert_eq!(cursor.offsets_of_current(&mut list).first(), Some(&(77..86)));
    list.step();
    assert!(cursor.offsets_of_current(&mut list).is_empty() && !cursor.corrupt());
    let extra = Occurrence::extra_of(1 << 30, LEN);
    let last = |position| Occurrence { position, start: u32::MAX, extra };
    let found = vec![(0, vec![last(u32::MAX)]), (1, vec![last(0), last(u32::MAX)])];
    must_hold(&encode(&found, &mut Rng::with_seed(1)), &mut Rng::with_seed(2));
}

#[test]
fn runs_that_are_carried_are_those_of_pushing_everything() {
    let seed = 0x5eed_0512;
    let mut random = Rng::with_seed(seed);
    for round in 0..40 {
        println!("seed {seed} round {round}");
        let parts: Vec<Found> = (0..1 + random.usize(..4))
            .map(|_| {
                let count = random.choice(COUNTS).unwrap() + random.usize(..40);
                random_found(&mut random, count)
            })
            .collect();
        let parts: Vec<&Found> = parts.iter().collect();
        let mut other = random.fork();
        // A list with deleted documents is never carried.
        let merged = push(&parts, &mut random, |number| {
            (other.u8(..8) > 0).then(|| encode(parts[number], &mut other))
        });
        must_hold(&merged, &mut random);
    }
}

/// Reads everything. No end may be before its start, and starts may not descend.
fn exhaust(list: &[u8], run: &[u8], doc_freq: u32, total: u64, random: &mut Rng) {
    let Some(reader) = DeltaReader::<WithOffsets>::new(run, doc_freq, total, true) else { return };
    let Some(mut list) = ListCursor::new(list, doc_freq, 1 << 31) else { return };
    let mut cursor = PositionCursor::with_offsets(reader, LEN);
    while list.doc() != NO_MORE {
        let ranges = cursor.offsets_of_current(&mut list).to_vec();
        assert!(cursor.corrupt() && ranges.is_empty() || ranges.len() == list.tf() as usize);
        assert!(ranges.is_sorted_by_key(|range| range.start));
        assert!(ranges.iter().all(|range| range.start <= range.end));
        list.advance(list.doc() + 1 + if random.u8(..3) == 0 { random.u32(..500) } else { 0 });
    }
    let Some(mut reader) = DeltaReader::<OnlyPositions>::new(run, doc_freq, total, true) else { return };
    while reader.take(1 + random.u32(..300), |_| ()).is_some() {}
    reader.is_at_end();
}

#[test]
fn damaged_runs_with_offsets_end_with_a_note_and_never_panic() {
    let seed = 0x5eed_0513;
    println!("seed {seed}");
    let mut random = Rng::with_seed(seed);
    for count in [3, BLOCK, 2 * BLOCK + 40] {
        let found = random_found(&mut random, count);
        let Encoded { list, run, total, .. } = encode(&found, &mut random);
        let doc_freq = count as u32;
        for bit in (0..8 * run.len()).step_by(1 + run.len() / 2000) {
            let mut damaged = run.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            exhaust(&list, &damaged, doc_freq, total, &mut random);
        }
        for cut in (0..run.len()).step_by(1 + run.len() / 1000) {
            exhaust(&list, &run[..cut], doc_freq, total, &mut random);
            exhaust(&list, &run[cut..], doc_freq, total, &mut random);
        }
        for _ in 0..2_000 {
            let noise: Vec<u8> = (0..random.usize(..900)).map(|_| random.u8(..)).collect();
            exhaust(&list, &noise, doc_freq, total + random.u64(..200), &mut random);
        }
    }
}
