use super::*;
use crate::schema::Postings;

/// Term → document → positions.
type Places = BTreeMap<Vec<u8>, BTreeMap<u32, Vec<u32>>>;

fn keeping(simd: Simd) -> Inverter {
    let pages = PageSize::Base;
    let options = InvertOptions { pages, postings: Postings::Positions, ..InvertOptions::default() };
    Inverter::with_simd(&options, simd).unwrap()
}

/// The positions in all documents except those that `void` names.
fn places(docs: &[Vec<Vec<u8>>], void: impl Fn(usize) -> bool) -> Places {
    let mut places = Places::new();
    for (doc, terms) in docs.iter().enumerate().filter(|(doc, _)| !void(*doc)) {
        for (position, term) in (0..).zip(terms) {
            let doc = u32::try_from(doc).unwrap();
            places.entry(term.clone()).or_default().entry(doc).or_default().push(position);
        }
    }
    places
}

/// The positions that a flush visits.
fn drained_places(inverter: &mut Inverter) -> Places {
    let mut found = Places::new();
    inverter
        .drain_sorted(|(term, _), mut postings, deltas| {
            let mut deltas = deltas.unwrap();
            while let Some(((doc, freq), live)) = postings.next_of_all() {
                if !live {
                    deltas.skip(freq);
                    continue;
                }
                let mut position = 0;
                let positions = (0..freq).map(|_| {
                    position += deltas.next_delta();
                    position
                });
                found.entry(term.to_vec()).or_default().insert(doc, positions.collect());
            }
            Ok(())
        })
        .unwrap();
    found
}

#[test]
fn positions_equal_an_ordered_map_on_every_instruction_set_and_after_reuse() {
    let seed = 0x5eed_0111;
    for simd in Simd::available() {
        let mut random = Rng::with_seed(seed);
        let mut index = keeping(simd);
        for round in 0..40 {
            let docs = random_docs(&mut random);
            let expected = places(&docs, |_| false);
            feed(&mut index, &docs);
            index.settle();
            for (term, by_document) in expected.iter().take(100) {
                let entry = index.find(term).unwrap();
                assert!(index.postings(entry).0.iter().eq(by_document.keys()));
                assert!(index.positions(entry).iter().eq(by_document.values()), "{seed:x} {round} {simd:?}");
            }
            assert!(drained_places(&mut index) == expected, "seed {seed:x} round {round} {simd:?}");
        }
    }
}

#[test]
fn positions_are_right_while_frequent_terms_come_and_go_and_in_long_documents() {
    let seed = 0x5eed_0112;
    let mut random = Rng::with_seed(seed);
    let mut docs = Vec::new();
    for (phase, documents, tokens) in [(9, 200, 600), (0, 100, 600), (9, 2, 200_000), (1, 4000, 3)] {
        for _ in 0..documents {
            let mut pick = || {
                if random.usize(..10) < phase {
                    format!("f{}", random.usize(..12))
                } else {
                    format!("r{}", random.usize(..3000))
                }
            };
            docs.push((0..tokens).map(|_| pick().into_bytes()).collect::<Vec<_>>());
        }
    }
    let expected = places(&docs, |_| false);
    for simd in Simd::available() {
        let mut index = keeping(simd);
        for terms in &docs {
            for terms in terms.chunks(500) {
                let (text, mut bounds) = (terms.concat(), vec![0u16]);
                for term in terms {
                    let end = bounds[bounds.len() - 1] + u16::try_from(term.len()).unwrap();
                    bounds.extend([end, end]);
                }
                TokenSink::tokens(&mut index, &text, 0, &bounds[..bounds.len() - 1]);
            }
            index.end_document();
        }
        assert!(drained_places(&mut index) == expected, "seed {seed:x} {simd:?}");
    }
}

#[test]
fn tokens_are_counted_as_the_analyzers_find_them_including_cut_and_rewritten_ones() {
    let seed = 0x5eed_0113;
    let mut random = Rng::with_seed(seed);
    let pieces: [&[u8]; 9] = [
        b"word ",
        b"Upper ",
        "stra\u{df}e ".as_bytes(),
        b"\xff\xfe ",
        b"don't ",
        b"\n\n",
        b"a/b ",
        b"\0 ",
        b"   ",
    ];
    for analyzer in ["standard", "paths", "whitespace"].map(|name| Analyzer::parse(name).unwrap()) {
        for _ in 0..30 {
            let mut index = keeping(Simd::detect());
            let mut tokenizer = Tokenizer::new(&analyzer);
            let docs: Vec<Vec<Vec<u8>>> = (0..1 + random.usize(..6))
                .map(|_| {
                    let mut text: Vec<u8> =
                        (0..random.usize(..3000)).flat_map(|_| pieces[random.usize(..9)]).copied().collect();
                    if random.u8(..3) == 0 {
                        text.extend([b'x'; 40_000]);
                    }
                    let terms = Tokenizer::new(&analyzer).terms_of(&mut text.clone());
                    let all = 0..text.len();
                    tokenizer.run(&mut text, all, &mut index);
                    index.end_document();
                    terms
                })
                .collect();
            assert!(drained_places(&mut index) == places(&docs, |_| false), "seed {seed:x} {analyzer:?}");
        }
    }
}

#[test]
fn void_documents_take_their_positions_with_them() {
    let seed = 0x5eed_0114;
    let mut random = Rng::with_seed(seed);
    for round in 0..30 {
        let docs = random_docs(&mut random);
        let mut index = keeping(Simd::detect());
        for (doc, terms) in docs.iter().enumerate() {
            terms.iter().for_each(|term| index.token(term, 0..1));
            if doc % 3 == 1 { index.void_document() } else { index.end_document() }
        }
        let expected = places(&docs, |doc| doc % 3 == 1);
        index.settle();
        for (term, by_document) in expected.iter().take(50) {
            assert!(index.positions(index.find(term).unwrap()).iter().eq(by_document.values()));
        }
        assert!(drained_places(&mut index) == expected, "seed {seed:x} round {round}");
    }
}

#[test]
fn a_document_carried_over_a_flush_keeps_its_positions() {
    let seed = 0x5eed_0115;
    let mut random = Rng::with_seed(seed);
    for round in 0..30 {
        let docs = random_docs(&mut random);
        let large: Vec<Vec<u8>> = [docs.concat(), docs.concat()].concat();
        let mut index = keeping(Simd::detect());
        feed(&mut index, &docs);
        // Carried over twice.
        for (part, before) in [(0, &docs), (1, &Vec::new())] {
            large[large.len() * part / 3..large.len() * (part + 1) / 3]
                .iter()
                .for_each(|term| index.token(term, 0..1));
            assert!(index.copy_open_document(0).is_none() || large.len() < 3);
            let open = index.copy_open_document(1 << 30).unwrap();
            assert!(drained_places(&mut index) == places(before, |_| false), "seed {seed:x} round {round}");
            index.resume_document(&open);
        }
        large[large.len() * 2 / 3..].iter().for_each(|term| index.token(term, 0..1));
        index.end_document();
        assert_eq!(index.tokens(), large.len() as u64);
        assert!(drained_places(&mut index) == places(&[large], |_| false), "seed {seed:x} round {round}");
    }
}

#[test]
fn memory_of_positions_is_counted_and_returned() {
    let options = InvertOptions {
        budget: 12 << 20,
        pages: PageSize::Base,
        postings: Postings::Positions,
        ..InvertOptions::default()
    };
    let mut index = Inverter::new(&options).unwrap();
    let mut number = 0u32;
    for kind in 0..6 {
        let mut tokens = 0;
        while !index.is_full(usize::MAX) {
            for _ in 0..1000 {
                number += 1;
                index.token(&(if kind % 2 == 0 { number } else { number % 100 }).to_be_bytes(), 0..1);
            }
            tokens += 1000;
            assert!(index.store.resident() < 16 << 20, "kind {kind}: {}", index.store.resident());
        }
        // New terms take at least their entry and place, others a byte per occurrence and at most five.
        let per_token = index.bytes() / tokens;
        assert!(
            if kind % 2 == 0 { per_token >= 48 } else { (1..5).contains(&per_token) },
            "{kind} {per_token}"
        );
        index.clear();
    }
}
