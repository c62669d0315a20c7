use std::ops::Range;

use super::*;
use crate::codec::Occurrence;
use crate::schema::Postings;

/// A token, and its range in its document.
type Token = (Vec<u8>, Range<u64>);

/// Term → document → occurrences.
type Places = BTreeMap<Vec<u8>, BTreeMap<u32, Vec<Occurrence>>>;

fn keeping(simd: Simd) -> Inverter {
    let options =
        InvertOptions { pages: PageSize::Base, postings: Postings::Offsets, ..InvertOptions::default() };
    Inverter::with_simd(&options, simd).unwrap()
}

/// Gives each token a range; its length differs from the term's never, seldom or often.
fn placed(random: &mut Rng, docs: Vec<Vec<Vec<u8>>>) -> Vec<Vec<Token>> {
    let (differs, most) = (random.u8(..3), [2, 2, 300, 1 << 26][random.usize(..4)]);
    let mut place = |terms: Vec<Vec<u8>>| {
        let mut end = 0;
        let tokens = terms.into_iter().map(|term| {
            let start = end + random.u64(..most);
            let len = match random.u8(..=20) {
                number if number < 10 * differs => random.usize(..100),
                _ => term.len(),
            };
            end = start + len as u64;
            (term, start..end)
        });
        tokens.collect()
    };
    docs.into_iter().map(&mut place).collect()
}

fn occurrence(position: u32, token: &Token) -> Occurrence {
    let (term, source) = token;
    let start = u32::try_from(source.start).unwrap_or(u32::MAX);
    let extra = Occurrence::extra_of(usize::try_from(source.end - source.start).unwrap(), term.len());
    Occurrence { position, start, extra }
}

/// The occurrences in all documents except those that `void` names.
fn places(docs: &[Vec<Token>], void: impl Fn(usize) -> bool) -> Places {
    let mut places = Places::new();
    for (doc, tokens) in docs.iter().enumerate().filter(|(doc, _)| !void(*doc)) {
        for (position, token) in (0..).zip(tokens) {
            let by_document = places.entry(token.0.clone()).or_default();
            let doc = u32::try_from(doc).unwrap();
            by_document.entry(doc).or_default().push(occurrence(position, token));
        }
    }
    places
}

/// The occurrences that a flush visits.
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
                let mut before = Occurrence::default();
                let occurrences = (0..freq).map(|_| {
                    before = deltas.next_occurrence().after(before);
                    before
                });
                found.entry(term.to_vec()).or_default().insert(doc, occurrences.collect());
            }
            Ok(())
        })
        .unwrap();
    found
}

/// Pushes tokens like an analyzer: in a text that starts at any place, or individually.
fn feed(inverter: &mut Inverter, tokens: &[Token], random: &mut Rng) {
    for (term, source) in tokens {
        let before = random.usize(..5);
        inverter.text_begins(source.start.wrapping_sub(before as u64));
        let len = usize::try_from(source.end - source.start).unwrap();
        if len == term.len() && random.bool() {
            let (start, base) = (before.min(2), before - before.min(2));
            let bounds = [start, start + len].map(|bound| u16::try_from(bound).unwrap());
            inverter.tokens(&[&b"....."[..before], term].concat(), base, &bounds);
        } else {
            inverter.token(term, before..before + len);
        }
    }
}

#[test]
fn offsets_equal_an_ordered_map_on_every_instruction_set_and_after_reuse() {
    let seed = 0x5eed_0121;
    for simd in Simd::available() {
        let mut random = Rng::with_seed(seed);
        let mut index = keeping(simd);
        for round in 0..40 {
            let docs = random_docs(&mut random);
            let docs = placed(&mut random, docs);
            let void = |doc: usize| doc % 4 == 1 && round % 2 == 0;
            let expected = places(&docs, void);
            for (doc, tokens) in docs.iter().enumerate() {
                feed(&mut index, tokens, &mut random);
                if void(doc) { index.void_document() } else { index.end_document() }
            }
            index.settle();
            for (term, by_document) in expected.iter().take(100) {
                let entry = index.find(term).unwrap();
                assert!(index.postings(entry).0.iter().eq(by_document.keys()));
                assert!(
                    index.occurrences(entry).iter().eq(by_document.values()),
                    "{seed:x} {round} {simd:?}"
                );
            }
            assert!(drained_places(&mut index) == expected, "seed {seed:x} round {round} {simd:?}");
        }
    }
}

#[test]
fn offsets_are_right_while_frequent_terms_come_and_go() {
    let seed = 0x5eed_0122;
    let mut random = Rng::with_seed(seed);
    for simd in Simd::available() {
        let (mut index, mut docs) = (keeping(simd), Vec::new());
        for (phase, documents, tokens) in [(9, 20, 600), (0, 10, 600), (9, 2, 60_000), (1, 400, 3)] {
            for _ in 0..documents {
                let terms = (0..tokens).map(|_| {
                    if random.usize(..10) < phase {
                        format!("f{}", random.usize(..12)).into_bytes()
                    } else {
                        format!("r{}", random.usize(..3000)).into_bytes()
                    }
                });
                let terms = vec![terms.collect()];
                let tokens = placed(&mut random, terms).remove(0);
                feed(&mut index, &tokens, &mut random);
                index.end_document();
                docs.push(tokens);
            }
        }
        assert!(drained_places(&mut index) == places(&docs, |_| false), "seed {seed:x} {simd:?}");
    }
}

#[test]
fn windows_of_tokens_are_placed_where_their_text_is() {
    let (mut index, mut random) = (keeping(Simd::detect()), Rng::with_seed(3));
    let mut tokenizer = Tokenizer::new(&Analyzer::parse("whitespace").unwrap());
    let text: Vec<u8> = (0..60_000).map(|_| b"ab   \n"[random.usize(..6)]).collect();
    let mut at = 0;
    while at < text.len() {
        // Cut after a delimiter, in a block that starts at any place.
        let most = text.len().min(at + random.usize(1..20_000));
        let end = (most..text.len()).find(|&at| text[at - 1] < b'a').unwrap_or(text.len());
        let before = random.usize(..at + 1);
        let mut block = text[before..].to_vec();
        index.text_begins(before as u64);
        tokenizer.run(&mut block, at - before..end - before, &mut index);
        at = end;
    }
    index.end_document();
    let found = drained_places(&mut index);
    let mut count = 0;
    for (term, by_document) in &found {
        for occurrence in &by_document[&0] {
            let start = occurrence.start as usize;
            let end = Occurrence::end_of(occurrence.start, occurrence.extra, term.len()).unwrap();
            assert_eq!(&text[start..end as usize], term);
            assert!(start == 0 || text[start - 1] < b'a');
            count += 1;
        }
    }
    assert_eq!(count, text.split(|&byte| byte < b'a').filter(|word| !word.is_empty()).count());
}

#[test]
fn a_document_carried_over_a_flush_keeps_its_offsets() {
    let seed = 0x5eed_0123;
    let mut random = Rng::with_seed(seed);
    for round in 0..30 {
        let docs = random_docs(&mut random);
        let large = vec![[docs.concat(), docs.concat()].concat()];
        let (docs, large) = (placed(&mut random, docs), placed(&mut random, large).remove(0));
        let mut index = keeping(Simd::detect());
        for tokens in &docs {
            feed(&mut index, tokens, &mut random);
            index.end_document();
        }
        // Carried over twice.
        for (part, before) in [(0, &docs), (1, &Vec::new())] {
            let tokens = &large[large.len() * part / 3..large.len() * (part + 1) / 3];
            feed(&mut index, tokens, &mut random);
            let open = index.copy_open_document(1 << 30).unwrap();
            assert!(drained_places(&mut index) == places(before, |_| false), "seed {seed:x} round {round}");
            index.resume_document(&open);
        }
        feed(&mut index, &large[large.len() * 2 / 3..], &mut random);
        index.end_document();
        assert_eq!(index.tokens(), large.len() as u64);
        assert!(drained_places(&mut index) == places(&[large], |_| false), "seed {seed:x} round {round}");
    }
}

#[test]
fn offsets_that_do_not_fit_are_clamped_to_the_last() {
    let mut index = keeping(Simd::detect());
    for (term, origin) in
        [(b"a", 0), (b"a", (1 << 32) - 2), (b"a", 1 << 32), (b"b", 1 << 40), (b"a", 1 << 41)]
    {
        index.text_begins(origin);
        index.token(term, 0..1);
    }
    index.end_document();
    let found = drained_places(&mut index);
    let starts = |term: &[u8]| found[term][&0].iter().map(|at| at.start).collect::<Vec<_>>();
    assert_eq!(starts(b"a"), [0, u32::MAX - 1, u32::MAX, u32::MAX]);
    assert_eq!(starts(b"b"), [u32::MAX]);
}

#[test]
fn memory_of_offsets_is_counted_and_returned() {
    let options = InvertOptions {
        budget: 12 << 20,
        pages: PageSize::Base,
        postings: Postings::Offsets,
        ..InvertOptions::default()
    };
    let mut index = Inverter::new(&options).unwrap();
    let mut number = 0u32;
    for kind in 0..6 {
        let mut tokens = 0;
        while !index.is_full(usize::MAX) {
            for _ in 0..1000 {
                number += 1;
                let term = if kind % 2 == 0 { number } else { number % 100 };
                index.text_begins(5 * u64::from(number));
                index.token(&term.to_be_bytes(), 0..4);
            }
            tokens += 1000;
            assert!(index.store.resident() < 16 << 20, "kind {kind}: {}", index.store.resident());
        }
        // New terms take their entry and place, others a few bytes per occurrence.
        let per_token = index.bytes() / tokens;
        assert!(
            if kind % 2 == 0 { (48..80).contains(&per_token) } else { (2..7).contains(&per_token) },
            "{kind} {per_token}"
        );
        index.end_document();
        index.clear();
    }
}
