use std::collections::BTreeMap;

use super::{InvertOptions, Inverter};
use crate::codec::head;
use crate::schema::{Analyzer, Delimiters};
use crate::sys::{PageSize, Simd};
use crate::tokenize::{TokenSink, Tokenizer};
use fastrand::Rng;

mod offsets;
mod positions;

type Lists = BTreeMap<Vec<u8>, Vec<(u32, u32)>>;

fn inverter(simd: Simd) -> Inverter {
    let options = InvertOptions { budget: 1 << 30, pages: PageSize::Base, ..InvertOptions::default() };
    Inverter::with_simd(&options, simd).unwrap()
}

/// A term and its postings.
type List = (Vec<u8>, Vec<(u32, u32)>);

fn drained(inverter: &mut Inverter) -> Vec<List> {
    let mut lists = Vec::new();
    inverter
        .drain_sorted(|(term, first), postings, deltas| {
            assert!(deltas.is_none());
            assert_eq!(first, head(term));
            lists.push((term.to_vec(), postings.collect()));
            Ok(())
        })
        .unwrap();
    lists
}

fn oracle(docs: &[Vec<Vec<u8>>]) -> Lists {
    let mut lists = Lists::new();
    for (doc, terms) in docs.iter().enumerate() {
        for term in terms {
            let list = lists.entry(term.clone()).or_default();
            match list.last_mut() {
                Some((last, freq)) if *last as usize == doc => *freq += 1,
                _ => list.push((u32::try_from(doc).unwrap(), 1)),
            }
        }
    }
    lists
}

/// Terms of every length around the inline limit, with shared prefixes, zero bytes and many repetitions.
fn random_docs(random: &mut Rng) -> Vec<Vec<Vec<u8>>> {
    let letters = [b'a', b'b', 0, 0xff, b'0'];
    let vocabulary: Vec<Vec<u8>> = (0..1 + random.usize(..3000))
        .map(|_| {
            let shared = [0, 0, 5, 11, 12, 15, 22, 40][random.usize(..8)];
            let len = 1 + random.usize(..20);
            let mut term = vec![b'p'; shared];
            term.extend((0..len).map(|_| letters[random.usize(..letters.len())]));
            term
        })
        .collect();
    (0..1 + random.usize(..60))
        .map(|_| {
            let len = random.usize(..400);
            let mut pick = || 1 + random.usize(..vocabulary.len());
            let bounds: Vec<usize> = (0..len).map(|_| pick()).collect();
            bounds.into_iter().map(|bound| vocabulary[random.usize(..bound)].clone()).collect()
        })
        .collect()
}

fn feed(inverter: &mut Inverter, docs: &[Vec<Vec<u8>>]) {
    for terms in docs {
        for (i, term) in terms.iter().enumerate() {
            if i % 3 == 0 {
                inverter.token(term, 0..1);
            } else {
                let end = u16::try_from(2 + term.len()).unwrap();
                inverter.tokens(&[b"..".as_slice(), term].concat(), 0, &[2, end]);
            }
        }
        inverter.end_document();
    }
}

#[test]
fn postings_equal_an_ordered_map_on_every_instruction_set_and_after_reuse() {
    let seed = 0x5eed_0101;
    for simd in Simd::available() {
        let mut random = Rng::with_seed(seed);
        let mut index = inverter(simd);
        for round in 0..40 {
            let docs = random_docs(&mut random);
            let expected = oracle(&docs);
            feed(&mut index, &docs);
            index.settle();
            for (term, list) in expected.iter().take(200) {
                let (found, freqs) = index.postings(index.find(term).unwrap());
                assert_eq!(index.doc_freq(index.find(term).unwrap()) as usize, list.len());
                let got: Vec<_> = found.into_iter().zip(freqs).collect();
                assert_eq!(&got, list, "seed {seed:x} round {round} {simd:?} term {term:?}");
            }
            assert_eq!(index.find(b"never"), None);
            assert_eq!(index.terms(), expected.len());
            let got = drained(&mut index);
            assert!(got.into_iter().eq(expected), "seed {seed:x} round {round} {simd:?}");
        }
    }
}

#[test]
fn frequent_terms_keep_their_order_while_their_share_of_the_text_changes() {
    let seed = 0x5eed_0104;
    let mut random = Rng::with_seed(seed);
    for simd in Simd::available() {
        let mut index = inverter(simd);
        let mut docs = Vec::new();
        // Shares of nine tenths, none, and nine tenths again: the hot cache is on, off, and on again.
        for phase in [9, 0, 9, 1, 9] {
            for _ in 0..400 {
                let mut pick = || {
                    if random.usize(..10) < phase {
                        format!("f{}", random.usize(..12))
                    } else {
                        format!("r{}", random.usize(..3000))
                    }
                };
                docs.push((0..600).map(|_| pick().into_bytes()).collect::<Vec<_>>());
            }
        }
        for terms in &docs {
            let (text, mut bounds) = (terms.concat(), vec![0u16]);
            for term in terms {
                let end = bounds[bounds.len() - 1] + u16::try_from(term.len()).unwrap();
                bounds.extend([end, end]);
            }
            TokenSink::tokens(&mut index, &text, 0, &bounds[..bounds.len() - 1]);
            index.end_document();
        }
        assert!(drained(&mut index).into_iter().eq(oracle(&docs)), "seed {seed:x} {simd:?}");
    }
}

#[test]
fn a_void_document_leaves_nothing_but_its_number() {
    let seed = 0x5eed_0102;
    let mut random = Rng::with_seed(seed);
    for round in 0..40 {
        let mut docs = random_docs(&mut random);
        let mut index = inverter(Simd::detect());
        for (doc, terms) in docs.iter_mut().enumerate() {
            terms.iter().for_each(|term| index.token(term, 0..1));
            if doc % 3 == 1 {
                index.void_document();
                terms.clear();
            } else {
                index.end_document();
            }
        }
        let lengths: usize = docs.iter().map(Vec::len).sum();
        assert_eq!(index.tokens(), lengths as u64);
        assert_eq!(index.documents_with_terms(), docs.iter().filter(|d| !d.is_empty()).count() as u64);
        let got: Vec<_> = drained(&mut index).into_iter().filter(|(_, list)| !list.is_empty()).collect();
        assert!(got.into_iter().eq(oracle(&docs)), "seed {seed:x} round {round}");
    }
}

#[test]
fn a_document_carried_over_a_flush_is_whole_in_the_next_segment() {
    let seed = 0x5eed_0103;
    let mut random = Rng::with_seed(seed);
    for round in 0..40 {
        let docs = random_docs(&mut random);
        let large: Vec<Vec<u8>> = docs.concat();
        let mut index = inverter(Simd::detect());
        feed(&mut index, &docs);
        large[..large.len() / 2].iter().for_each(|term| index.token(term, 0..1));
        assert!(index.copy_open_document(0).is_none() || large.len() < 2);
        let open = index.copy_open_document(1 << 30).unwrap();
        let first: Vec<_> = drained(&mut index).into_iter().filter(|(_, list)| !list.is_empty()).collect();
        assert!(first.into_iter().eq(oracle(&docs)), "seed {seed:x} round {round}");
        index.resume_document(&open);
        large[large.len() / 2..].iter().for_each(|term| index.token(term, 0..1));
        index.end_document();
        assert_eq!(index.tokens(), large.len() as u64);
        let second: Vec<_> = drained(&mut index);
        assert!(second.into_iter().eq(oracle(&[large])), "seed {seed:x} round {round}");
    }
}

#[test]
fn a_full_budget_is_noticed_before_the_reserve_is_used_up() {
    let options = InvertOptions { budget: 4 << 20, pages: PageSize::Base, ..InvertOptions::default() };
    let mut index = Inverter::new(&options).unwrap();
    let mut tokenizer = Tokenizer::new(&Analyzer::Bytes(Delimiters::whitespace()));
    let mut pushed = 0u32;
    while !index.is_full(usize::MAX) {
        let mut text: Vec<u8> = (0..1000).flat_map(|i| format!("{} ", pushed + i).into_bytes()).collect();
        let all = 0..text.len();
        tokenizer.run(&mut text, all, &mut index);
        index.end_document();
        pushed += 1000;
    }
    assert!(index.bytes() < 6 << 20, "{}", index.bytes());
    assert_eq!(drained(&mut index).len(), pushed as usize);
    assert_eq!(index.max_doc(), 0);
}

#[test]
fn terms_that_differ_only_at_their_end_are_in_order() {
    let mut index = inverter(Simd::detect());
    let mut terms: Vec<Vec<u8>> = (0..300u32)
        .map(|i| {
            [vec![b'a'; 900 + (i as usize % 7) * 900], i.wrapping_mul(2_654_435_761).to_be_bytes().to_vec()]
                .concat()
        })
        .collect();
    terms.iter().for_each(|term| index.token(term, 0..1));
    index.end_document();
    terms.sort();
    assert!(drained(&mut index).into_iter().map(|(term, _)| term).eq(terms));
}

#[test]
fn memory_kept_from_one_kind_of_text_is_returned_for_another() {
    let options = InvertOptions { budget: 24 << 20, pages: PageSize::Base, ..InvertOptions::default() };
    let mut index = Inverter::new(&options).unwrap();
    let mut number = 0u32;
    for kind in 0..6 {
        while !index.is_full(usize::MAX) {
            for _ in 0..1000 {
                number += 1;
                match kind % 3 {
                    0 => index.token(&number.to_be_bytes(), 0..1),
                    1 => index.token(&[number.to_be_bytes().as_slice(), &[b'k'; 200]].concat(), 0..1),
                    _ => index.token(&(number % 1000).to_be_bytes(), 0..1),
                }
                index.end_document();
            }
            assert!(index.store.resident() < 28 << 20, "kind {kind}: {}", index.store.resident());
        }
        index.clear();
    }
}
