use super::*;
use crate::codec::norm::length_to_norm;
use fastrand::Rng;

type Postings = Vec<(u32, u32)>;

fn random_postings(random: &mut Rng, count: usize) -> Postings {
    let gap_bound = [1, 2, 3, 5, 9, 30, 5_000][random.usize(..7)];
    let tf_bound = [1, 2, 40, 3_000_000_000][random.u64(..4) as usize];
    let mut next = 0;
    (0..count)
        .map(|_| {
            let doc = next + random.u64(..gap_bound) as u32;
            next = doc + 1;
            let tf = if random.u64(..4) == 0 { 1 + random.u64(..tf_bound) as u32 } else { 1 };
            (doc, tf)
        })
        .collect()
}

fn random_norms(random: &mut Rng, postings: &Postings) -> Vec<u8> {
    let len = postings.last().map_or(0, |&(doc, _)| doc as usize + 1);
    (0..len).map(|_| length_to_norm(1 + random.u64(..3_000))).collect()
}

fn encode(postings: &Postings, norms: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut encoder = ListEncoder::new();
    for &(doc, tf) in postings {
        encoder.push(doc, tf, norms, &mut out);
    }
    let summary = encoder.finish(norms, &mut out);
    assert_eq!(summary.doc_freq as usize, postings.len());
    assert_eq!(summary.total_tf, postings.iter().map(|&(_, tf)| u64::from(tf)).sum::<u64>());
    out
}

fn read_all(cursor: &mut ListCursor) -> Postings {
    let mut found = Vec::new();
    while cursor.doc() != NO_MORE {
        found.push((cursor.doc(), cursor.tf()));
        cursor.step();
    }
    found
}

const COUNTS: [usize; 10] =
    [1, 2, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK - 1, 2 * BLOCK, 2 * BLOCK + 77, 9 * BLOCK, 20 * BLOCK + 5];

/// Runs `check` over random lists of every interesting length, with cursors over bytes and over memory.
fn over_lists(
    seed: u64,
    mut check: impl FnMut(&mut Rng, &Postings, &[u8], &mut dyn FnMut() -> ListCursor<'static>),
) {
    let mut random = Rng::with_seed(seed);
    for round in 0..20 {
        for count in COUNTS {
            println!("seed {seed} round {round} count {count}");
            let postings = random_postings(&mut random, count);
            let norms = random_norms(&mut random, &postings);
            let bytes: &'static [u8] = encode(&postings, &norms).leak();
            let (docs, tfs): (Vec<u32>, Vec<u32>) = postings.iter().copied().unzip();
            let (docs, tfs): (&'static [u32], &'static [u32]) = (docs.leak(), tfs.leak());
            let max_doc = norms.len() as u32;
            check(&mut random, &postings, &norms, &mut || {
                ListCursor::new(bytes, postings.len() as u32, max_doc).unwrap()
            });
            check(&mut random, &postings, &norms, &mut || ListCursor::from_decoded(docs, tfs));
        }
    }
}

#[test]
fn lists_read_back_posting_by_posting() {
    over_lists(1, |_, postings, _, open| {
        let mut cursor = open();
        assert_eq!(cursor.doc_freq() as usize, postings.len());
        assert_eq!(&read_all(&mut cursor), postings);
        assert!(!cursor.corrupt());
        assert_eq!(cursor.step(), NO_MORE);
        assert_eq!(cursor.advance(5), NO_MORE);
        assert!(cursor.rest_of_docs().is_empty());
    });
}

#[test]
fn short_lists_read_back_without_a_cursor_or_say_that_they_are_damaged() {
    let mut random = Rng::with_seed(9);
    for round in 0..50 {
        let count = 2 + random.usize(..BLOCK - 2);
        println!("round {round} count {count}");
        let postings = random_postings(&mut random, count);
        let norms = random_norms(&mut random, &postings);
        let bytes = encode(&postings, &norms);
        let (doc_freq, max_doc) = (count as u32, norms.len() as u32);
        let mut list = ShortList::new(&bytes, doc_freq, max_doc);
        assert_eq!(list.by_ref().collect::<Postings>(), postings);
        assert!(list.is_whole());
        for wrong in [
            ShortList::new(&bytes[..bytes.len() - 1], doc_freq, max_doc),
            ShortList::new(&bytes, doc_freq + 1, max_doc),
            ShortList::new(&bytes, doc_freq, max_doc - 1),
        ] {
            let mut wrong = wrong;
            assert!(wrong.by_ref().count() <= count && !wrong.is_whole());
        }
    }
}

#[test]
fn lists_read_back_block_by_block() {
    over_lists(2, |_, postings, _, open| {
        let mut cursor = open();
        let mut found = Vec::new();
        while cursor.doc() != NO_MORE {
            let count = cursor.rest_of_docs().len();
            let (docs, tfs) = cursor.rest_of_block();
            found.extend(docs.iter().copied().zip(tfs.iter().copied()));
            cursor.consume(count);
        }
        assert_eq!(&found, postings);
    });
}

#[test]
fn advancing_finds_the_first_document_not_below_the_target() {
    over_lists(3, |random, postings, norms, open| {
        let mut cursor = open();
        let mut target = 0;
        while cursor.doc() != NO_MORE {
            target +=
                random.u64(..norms.len() as u64 / 3 + 2) as u32 / [1, 10, 100][random.u64(..3) as usize];
            let before = cursor.doc();
            let expected = postings.iter().find(|&&(doc, _)| doc >= target.max(before)).copied();
            assert_eq!(cursor.advance(target), expected.map_or(NO_MORE, |(doc, _)| doc), "to {target}");
            if let Some((_, tf)) = expected {
                assert_eq!(cursor.tf(), tf);
            }
            if random.u64(..2) == 0 {
                let next = postings.iter().find(|&&(doc, _)| doc > cursor.doc());
                assert_eq!(cursor.step(), next.map_or(NO_MORE, |&(doc, _)| doc));
            }
        }
    });
}

#[test]
fn seeking_goes_forwards_and_backwards() {
    over_lists(3, |random, postings, norms, open| {
        let mut cursor = open();
        for _ in 0..postings.len().min(200) {
            let near = cursor.doc().saturating_sub(20).min(norms.len() as u32) + random.u32(..40);
            let target = if random.bool() { near } else { random.u32(..norms.len() as u32 + 1) };
            let expected = postings.iter().find(|&&(doc, _)| doc >= target).copied();
            assert_eq!(cursor.seek(target), expected.map_or(NO_MORE, |(doc, _)| doc), "to {target}");
            if let Some((_, tf)) = expected {
                assert_eq!(cursor.tf(), tf);
            }
        }
    });
}

#[test]
fn blocks_are_found_and_loaded_from_the_table() {
    over_lists(4, |random, postings, _, open| {
        let mut cursor = open();
        assert_eq!(cursor.blocks(), postings.len().div_ceil(BLOCK));
        for (block, part) in postings.chunks(BLOCK).enumerate() {
            let last = part.last().unwrap().0;
            assert_eq!(cursor.block_last(block), last);
            let from = random.u64(..block as u64 + 1) as usize;
            assert_eq!(cursor.find_block(from, last), block);
            assert_eq!(cursor.find_block(block, part[0].0), block);
            assert_eq!(cursor.find_block(from, last + 1), (block + 1).max(from));
            if random.u64(..2) == 0 {
                cursor.load_block(block);
                let (docs, tfs) = cursor.rest_of_block();
                assert_eq!(docs.iter().copied().zip(tfs.iter().copied()).collect::<Vec<_>>(), part);
            }
        }
        assert_eq!(cursor.block_last(cursor.blocks()), NO_MORE);
        assert_eq!(cursor.find_block(0, NO_MORE), cursor.blocks());
        cursor.load_block(0);
        assert_eq!(&read_all(&mut cursor), postings);
    });
}

#[test]
fn impacts_dominate_every_posting_and_are_tight_where_three_pairs_suffice() {
    over_lists(5, |_, postings, norms, open| {
        let cursor = open();
        for (block, part) in postings.chunks(BLOCK).enumerate() {
            for &(doc, tf) in part {
                for impacts in [cursor.block_impacts(block), cursor.list_impacts()] {
                    let norm = norms[doc as usize];
                    assert!(
                        impacts.iter().any(|impact| code_to_tf(impact.tf_code) >= tf && impact.norm <= norm)
                    );
                }
            }
        }
    });
    let postings: Postings = (0..200).map(|doc| (doc, 1 + doc % 3)).collect();
    let norms: Vec<u8> = (0..200).map(|doc| 10 * (1 + doc % 3) as u8 + (doc / 128) as u8).collect();
    let bytes = encode(&postings, &norms);
    let cursor = ListCursor::new(&bytes, 200, 200).unwrap();
    let pairs = |extra: u8| {
        [(3, 30 + extra), (2, 20 + extra), (1, 10 + extra)].map(|(tf_code, norm)| Impact { tf_code, norm })
    };
    assert_eq!(cursor.block_impacts(0), pairs(0));
    assert_eq!(cursor.block_impacts(1), pairs(1));
    assert_eq!(cursor.list_impacts(), pairs(0));
}

#[test]
fn a_single_posting_needs_no_bytes() {
    let mut cursor = ListCursor::single(7, 3);
    assert_eq!((cursor.doc(), cursor.tf(), cursor.doc_freq()), (7, 3, 1));
    assert_eq!((cursor.block_last(0), cursor.find_block(0, 8)), (7, 1));
    assert_eq!(cursor.advance(8), NO_MORE);
}

#[test]
fn postings_at_the_highest_documents_and_frequencies_read_back() {
    let top = (1 << 31) - 1;
    let mut encoder = ListEncoder::new();
    let mut bytes = Vec::new();
    let postings: Postings =
        (0..BLOCK as u32 - 1).map(|i| (i * 3, u32::MAX - i)).chain([(top - 1, 1), (top, u32::MAX)]).collect();
    for &(doc, tf) in &postings {
        encoder.push(doc, tf, &[], &mut bytes);
    }
    encoder.finish(&[], &mut bytes);
    let mut cursor = ListCursor::new(&bytes, postings.len() as u32, 1 << 31).unwrap();
    assert_eq!(read_all(&mut cursor), postings);
}

/// Reads everything in three ways; documents must ascend and stay in bounds.
fn exhaust(bytes: &[u8], doc_freq: u32, max_doc: u32, random: &mut Rng) {
    let Some(mut cursor) = ListCursor::new(bytes, doc_freq, max_doc) else { return };
    let mut before = None;
    while cursor.doc() != NO_MORE {
        assert!(cursor.doc() < max_doc && before < Some(cursor.doc()));
        before = Some(cursor.doc());
        cursor.tf();
        if random.u64(..9) == 0 {
            let mut other = ListCursor::new(bytes, doc_freq, max_doc).unwrap();
            (0..9).for_each(|_| {
                other.seek(random.u32(..max_doc));
            });
        }
        if random.u64(..3) == 0 {
            cursor.advance(cursor.doc() + 1 + random.u64(..u64::from(max_doc)) as u32 / 8);
        } else {
            cursor.step();
        }
    }
}

#[test]
fn damaged_bytes_end_the_list_but_never_panic_or_go_back() {
    let mut random = Rng::with_seed(77);
    for count in [5, BLOCK - 1, BLOCK, 3 * BLOCK + 40] {
        let postings = random_postings(&mut random, count);
        let norms = random_norms(&mut random, &postings);
        let bytes = encode(&postings, &norms);
        let (doc_freq, max_doc) = (count as u32, norms.len() as u32);
        for bit in 0..8 * bytes.len() {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            exhaust(&damaged, doc_freq, max_doc, &mut random);
        }
        for cut in 0..bytes.len() {
            exhaust(&bytes[..cut], doc_freq, max_doc, &mut random);
            exhaust(&bytes[cut..], doc_freq, max_doc, &mut random);
        }
        for wrong in [0, 1, doc_freq + 1, doc_freq + BLOCK as u32, u32::MAX] {
            exhaust(&bytes, wrong, max_doc, &mut random);
        }
        for _ in 0..2_000 {
            let noise: Vec<u8> = (0..random.u64(..600)).map(|_| random.u64(..256) as u8).collect();
            exhaust(&noise, 1 + random.u64(..300) as u32, 1 << 31, &mut random);
        }
    }
}

#[test]
fn windows_have_the_bits_of_all_documents_in_whatever_order_they_are_asked_for() {
    over_lists(11, |random, postings, norms, open| {
        let mut list = WindowedList::new(open());
        assert_eq!(list.doc_freq() as usize, postings.len());
        let (end, rises) = (norms.len() as u32, random.bool());
        let mut start = 0;
        for _ in 0..40 {
            start = if rises { start + random.u32(..end / 16 + 2) } else { random.u32(..end + 100) };
            if random.u32(..3) == 0 {
                let doc = postings[random.usize(..postings.len())].0;
                start = if rises { start.max(doc) } else { doc };
            }
            let from = postings.partition_point(|&(doc, _)| doc < start);
            match random.u32(..3) {
                0 => {
                    assert_eq!(list.contains(start), postings.get(from).is_some_and(|&(doc, _)| doc == start))
                }
                1 => {
                    let next = list.next(start);
                    assert!(next >= start && next <= postings.get(from).map_or(NO_MORE, |&(doc, _)| doc));
                }
                _ => {
                    start -= start % 64;
                    let from = postings.partition_point(|&(doc, _)| doc < start);
                    let mut window = vec![0; 1 + random.usize(..70)];
                    let mut expected = window.clone();
                    for &(doc, _) in &postings[from..] {
                        let Some(word) = expected.get_mut(((doc - start) / 64) as usize) else { break };
                        *word |= 1 << (doc % 64);
                    }
                    list.fill(start, &mut window);
                    assert_eq!(window, expected, "from {start}");
                }
            }
        }
        assert!(!list.corrupt());
    });
}

#[test]
fn frequencies_are_found_by_the_ranks_of_documents_in_a_window() {
    over_lists(fastrand::u64(..), |random, postings, norms, open| {
        check_tfs(random, postings, norms.len() as u32, open());
    });
    let mut random = Rng::with_seed(13);
    for round in 0..60 {
        println!("round {round}");
        let parts: Vec<_> = (0..1 + random.usize(..4))
            .map(|_| {
                let count = 1 + random.usize(..3 * BLOCK);
                let postings = random_postings(&mut random, count);
                let bytes = encode(&postings, &random_norms(&mut random, &postings));
                (postings, bytes)
            })
            .collect();
        let (postings, bytes) = carried(&parts);
        let end = postings.last().unwrap().0 + 1;
        check_tfs(&mut random, &postings, end, ListCursor::new(&bytes, postings.len() as u32, end).unwrap());
    }
}

fn check_tfs(random: &mut Rng, postings: &Postings, end: u32, cursor: ListCursor) {
    let mut list = WindowedList::new(cursor);
    for _ in 0..20 {
        let start = random.u32(..end + 100) / 64 * 64;
        let mut bits = [0; 64];
        list.fill(start, &mut bits);
        let of_window = postings.iter().copied().filter(|(doc, _)| (start..start + 4_096).contains(doc));
        let rare = random.u32(..20);
        let (docs, expected): (Vec<u32>, Vec<u32>) = of_window.filter(|_| random.u32(..20) >= rare).unzip();
        let mut tfs = vec![0; docs.len()];
        list.tfs(start, &bits, &docs, &mut tfs);
        assert_eq!(tfs, expected, "from {start}");
        if random.bool() {
            list.contains(random.u32(..end + 100));
        }
    }
    assert!(!list.corrupt());
}

#[test]
fn damaged_lists_give_windows_that_end_early_or_say_that_they_are_damaged() {
    let mut random = Rng::with_seed(12);
    for round in 0..300 {
        println!("round {round}");
        let count = BLOCK * (1 + random.usize(..6)) + random.usize(..BLOCK);
        let postings = random_postings(&mut random, count);
        let norms = random_norms(&mut random, &postings);
        let mut bytes = encode(&postings, &norms);
        for _ in 0..1 + random.usize(..4) {
            let at = random.usize(..bytes.len());
            bytes[at] ^= 1 << random.u32(..8);
        }
        let end = norms.len() as u32;
        let Some(cursor) = ListCursor::new(&bytes, count as u32, end) else { continue };
        let mut list = WindowedList::new(cursor);
        let (mut next, mut steps) = (0, 0);
        while next != NO_MORE {
            let start = next - next % 4096;
            let mut window = [0; 64];
            list.fill(start, &mut window);
            let docs: Vec<u32> = (start..)
                .take(4096)
                .filter(|doc| window[(doc % 4096 / 64) as usize] >> (doc % 64) & 1 == 1)
                .collect();
            list.tfs(start, &window, &docs, &mut vec![0; docs.len()]);
            list.contains(next);
            next = list.next(start.saturating_add(4096));
            steps += 1;
            assert!(steps <= end / 4096 + 1, "windows do not end");
        }
    }
}

/// Appends all parts to one list, carried if that pays, and returns the list with its postings.
fn carried(parts: &[(Postings, Vec<u8>)]) -> (Postings, Vec<u8>) {
    let (mut encoder, mut out, mut all) = (ListEncoder::new(), Vec::new(), Postings::new());
    let end: u32 = parts.iter().map(|(postings, _)| postings.last().unwrap().0 + 1).sum();
    let (norms, mut shift) = (vec![9; end as usize], 0);
    for (postings, bytes) in parts {
        let list = ListBytes {
            bytes,
            doc_freq: postings.len() as u32,
            total_tf: postings.iter().map(|&(_, tf)| u64::from(tf)).sum(),
            max_doc: postings.last().unwrap().0 + 1,
        };
        if encoder.would_carry(&list) {
            encoder.carry(&list, shift, &norms, &mut out).expect("the list is whole");
        } else {
            postings.iter().for_each(|&(doc, tf)| encoder.push(doc + shift, tf, &norms, &mut out));
        }
        all.extend(postings.iter().map(|&(doc, tf)| (doc + shift, tf)));
        shift += list.max_doc;
    }
    encoder.finish(&norms, &mut out);
    (all, out)
}

#[test]
fn lists_that_begin_with_several_loose_blocks_are_carried_too() {
    let mut random = Rng::with_seed(13);
    for round in 0..200 {
        println!("round {round}");
        let gap_bound = 1 + random.u32(..6);
        let mut part = |count: usize| {
            let mut next = 0;
            let postings: Postings = (0..count)
                .map(|_| {
                    let doc = next + random.u32(..gap_bound);
                    next = doc + 1;
                    (doc, 1 + random.u32(..3))
                })
                .collect();
            let norms = vec![9; next as usize];
            (postings.clone(), encode(&postings, &norms))
        };
        let mut whole = part(8 * BLOCK + round % BLOCK);
        for generation in 0..4 {
            let small = part(1 + (round * 37 + generation * 50) % (BLOCK - 1));
            whole = carried(&[small, whole]);
            let end = whole.0.last().unwrap().0 + 1;
            let open = || ListCursor::new(&whole.1, whole.0.len() as u32, end).unwrap();
            assert_eq!(read_all(&mut open()), whole.0);
            let mut list = WindowedList::new(open());
            let mut window = vec![0; end.div_ceil(64) as usize];
            list.fill(0, &mut window);
            let found = (0..end).filter(|doc| window[(doc / 64) as usize] >> (doc % 64) & 1 == 1);
            assert!(found.eq(whole.0.iter().map(|&(doc, _)| doc)) && !list.corrupt());
        }
    }
}
