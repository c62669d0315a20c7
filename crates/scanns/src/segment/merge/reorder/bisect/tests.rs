use super::*;
use crate::error::Error;
use fastrand::Rng;

/// Rows of these documents.
fn rows(documents: &[Vec<u32>]) -> Rows {
    let mut rows = Rows { starts: vec![0], ..Rows::default() };
    for terms in documents {
        rows.terms.extend_from_slice(terms);
        rows.starts.push(rows.terms.len());
    }
    let distinct = rows.terms.iter().max().map_or(0, |&term| term + 1);
    let degree = |term: u32| rows.terms.iter().filter(|&&other| other == term).count();
    rows.packed = (0..distinct).map(|term| degree(term) >= BLOCK).collect();
    rows
}

fn with(threads: usize) -> Reordering {
    Reordering { memory: u64::MAX, threads }
}

fn ordered(documents: &[Vec<u32>], threads: usize) -> Vec<u32> {
    order(&rows(documents), &with(threads), &|_| Ok(())).unwrap().0
}

/// Bits of the gaps between the documents of each term.
fn gap_bits(documents: &[Vec<u32>], order: &[u32]) -> f64 {
    let mut last = std::collections::HashMap::new();
    let mut bits = 0.0;
    for (number, &doc) in (1i64..).zip(order) {
        for &term in &documents[doc as usize] {
            let before = last.insert(term, number).unwrap_or(0);
            bits += f64::from(u32::try_from(number - before).unwrap()).log2();
        }
    }
    bits
}

/// Bytes of all lists, encoded as they are in a segment.
fn list_bytes(documents: &[Vec<u32>], order: impl IntoIterator<Item = u32>) -> usize {
    let mut lists = std::collections::BTreeMap::<u32, Vec<u32>>::new();
    for (number, doc) in (0..).zip(order) {
        documents[doc as usize].iter().for_each(|&term| lists.entry(term).or_default().push(number));
    }
    let (norms, mut encoder, mut out) =
        (vec![9; documents.len()], crate::codec::ListEncoder::new(), Vec::new());
    for list in lists.values() {
        list.iter().for_each(|&doc| encoder.push(doc, 1, &norms, &mut out));
        encoder.finish(&norms, &mut out);
    }
    out.len()
}

#[test]
fn an_order_by_topic_gets_no_worse_and_a_random_order_gets_much_better() {
    let documents: Vec<Vec<u32>> = (0..8000).map(|doc| vec![doc / 100, 500 + doc / 1000]).collect();
    let (before, after) = (list_bytes(&documents, 0..8000), list_bytes(&documents, ordered(&documents, 2)));
    assert!(after <= before, "{before} bytes became {after}");
    let mut mixed: Vec<u32> = (0..8000).collect();
    Rng::with_seed(7).shuffle(&mut mixed);
    let documents: Vec<Vec<u32>> = mixed.iter().map(|&doc| documents[doc as usize].clone()).collect();
    let (before, after) = (list_bytes(&documents, 0..8000), list_bytes(&documents, ordered(&documents, 2)));
    assert!(after < before * 5 / 6, "{before} bytes became {after}");
}

/// Documents with terms of their topic and terms of all topics.
fn clustered(random: &mut Rng, count: usize, topics: u32) -> Vec<Vec<u32>> {
    (0..count)
        .map(|_| {
            let topic = random.u32(..topics);
            let mut terms: Vec<u32> = (0..random.usize(3..30))
                .map(|_| {
                    if random.u8(..4) > 0 { 1000 + topic * 40 + random.u32(..40) } else { random.u32(..300) }
                })
                .collect();
            terms.sort_unstable();
            terms.dedup();
            terms
        })
        .collect()
}

fn must_be_permutation(order: &[u32], count: usize) {
    let mut sorted = order.to_vec();
    sorted.sort_unstable();
    assert!(sorted.into_iter().eq(0..u32::try_from(count).unwrap()));
}

#[test]
fn every_document_comes_out_once_and_the_order_does_not_depend_on_threads() {
    let seed = 0x5eed_2201;
    let mut random = Rng::with_seed(seed);
    for count in [0, 1, 2, 15, 16, 17, 33, 100, 1000, 20_000] {
        let topics = random.u32(1..60);
        let documents = clustered(&mut random, count, topics);
        let expected = ordered(&documents, 1);
        must_be_permutation(&expected, count);
        for threads in [2, 3, 4] {
            assert!(ordered(&documents, threads) == expected, "seed {seed:x} {count} threads {threads}");
            let little = Reordering { memory: 0, threads };
            let found = order(&rows(&documents), &little, &|_| Ok(())).unwrap().0;
            assert!(found == expected, "seed {seed:x} {count} threads {threads} with little memory");
        }
    }
    let same = vec![vec![1, 2, 3]; 100];
    assert!(ordered(&same, 2).into_iter().eq(0..100), "documents that are the same keep their order");
    let empty = vec![Vec::new(); 100];
    assert!(ordered(&empty, 2).into_iter().eq(0..100));
}

#[test]
fn gaps_get_much_shorter_with_topics_and_no_longer_without() {
    let seed = 0x5eed_2202;
    let mut random = Rng::with_seed(seed);
    for _ in 0..5 {
        let documents = clustered(&mut random, 5000, 50);
        let identity: Vec<u32> = (0..5000).collect();
        let (before, after) =
            (gap_bits(&documents, &identity), gap_bits(&documents, &ordered(&documents, 2)));
        assert!(after < 0.65 * before, "seed {seed:x}: {before} bits became {after}");

        let chance: Vec<Vec<u32>> = (0..2000)
            .map(|_| {
                let mut terms: Vec<u32> = (0..random.usize(..20)).map(|_| random.u32(..500)).collect();
                terms.sort_unstable();
                terms.dedup();
                terms
            })
            .collect();
        let (before, after) = (list_bytes(&chance, 0..2000), list_bytes(&chance, ordered(&chance, 2)));
        assert!(after <= before, "seed {seed:x}: {before} bytes became {after}");
    }
}

/// The estimate for two halves, by a simple implementation.
fn estimate(documents: &[Vec<u32>], right: &[bool]) -> f64 {
    let sizes = [false, true].map(|side| right.iter().filter(|&&other| other == side).count());
    let distinct = documents.iter().flatten().max().map_or(0, |&term| term + 1);
    let mut bits = 0.0;
    for term in 0..distinct {
        for (side, size) in [false, true].into_iter().zip(sizes) {
            let has = |(doc, &other): (usize, &bool)| other == side && documents[doc].contains(&term);
            let degree = right.iter().enumerate().filter(|&pair| has(pair)).count() as f64;
            bits += degree * (size as f64 / (degree + 1.0)).log2();
        }
    }
    bits
}

#[test]
fn settling_halves_lowers_the_estimate_by_the_gains() {
    let seed = 0x5eed_2203;
    let mut random = Rng::with_seed(seed);
    let costs = Costs::new();
    for _ in 0..30 {
        let (count, topics) = (random.usize(2..120), random.u32(1..6));
        let documents = clustered(&mut random, count, topics);
        let rows = rows(&documents);
        let half = documents.len() / 2;
        let mut halves = Halves::new(&rows, half);
        let mut gains = vec![[0.0; 2]; rows.distinct()];
        let sizes = [half, documents.len() - half];
        let before = costs.all(&halves.degrees, sizes, &mut gains);
        assert!((before - estimate(&documents, &halves.right)).abs() < 1e-3 * before.abs().max(1.0));

        let doc = random.usize(..documents.len());
        let gain: f32 =
            documents[doc].iter().map(|&term| gains[term as usize][usize::from(doc >= half)]).sum();
        halves.change(&[doc]);
        // In the estimate, the sizes of the halves stay, because documents are exchanged.
        let after = costs.all(&halves.degrees, sizes, &mut gains);
        assert!((before - after - f64::from(gain)).abs() < 1e-2, "seed {seed:x}: {before} {after} {gain}");
        halves.change(&[doc]);

        halves.settle(&costs, 2, &|_| Ok(())).unwrap();
        let settled = costs.all(&halves.degrees, sizes, &mut gains);
        assert!(settled <= before, "seed {seed:x}: {before} became {settled}");
        assert!((settled - estimate(&documents, &halves.right)).abs() < 1e-3 * before.abs().max(1.0));
        assert_eq!(halves.right.iter().filter(|&&right| !right).count(), half, "seed {seed:x}");
    }
}

#[test]
fn an_error_from_progress_ends_the_work() {
    let documents = clustered(&mut Rng::with_seed(1), 20_000, 10);
    for threads in [1, 4] {
        let ended = order(&rows(&documents), &with(threads), &|_| Err(Error::Cancelled));
        assert!(matches!(ended, Err(Error::Cancelled)));
    }
    let done = std::sync::atomic::AtomicU64::new(0);
    order(&rows(&documents), &with(3), &|steps| {
        done.fetch_add(steps, std::sync::atomic::Ordering::Relaxed);
        Ok(())
    })
    .unwrap();
    let (done, all) = (done.into_inner(), steps(documents.len()));
    assert!(done > all / 2 && done <= all, "{done} of {all}");
}

#[test]
fn threads_share_halves_only_as_often_as_the_memory_allows() {
    let (documents, postings) = (1000, 1_000_000);
    let least = memory(documents, postings);
    let level = 16 * documents + 4 * postings;
    for (spare, expected) in [(0, 0), (level - 1, 0), (level, 1), (3 * level, 3)] {
        assert_eq!(levels(documents, postings, least + spare), expected);
    }
    assert_eq!(levels(documents, postings, 0), 0);
}

#[test]
fn a_panic_in_the_other_half_is_propagated() {
    let panicked = std::panic::catch_unwind(|| both(|| Ok(()), || panic!("the other half")));
    assert_eq!(panicked.unwrap_err().downcast_ref(), Some(&"the other half"));
    let cancelled = both(|| Ok(()), || Err(Error::Cancelled));
    assert!(matches!(cancelled, Err(Error::Cancelled)));
}
