//! Runs every reader with every tokenizer and every indexer on one thread or more: all must find what a few
//! obvious lines of code find.
//!
//! Files are distributed to threads, each thread has its own index, and the results are merged by path. Other
//! tests check each part of the ladder separately: the limits of its memory, and the errors that only it
//! could make.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test, outside of functions marked as one")]

#[path = "variants/matrix.rs"]
mod matrix;

use std::collections::BTreeMap;
use std::ops::Range;

use fastrand::Rng;
use scanns::analysis::TokenSink;
use scanns::index::InvertOptions;
use scanns::schema::{Delimiters, MAX_TOKEN, Postings};
use scanns::sources::PageSize;
use scanns_bench::variants::invert::LadderIndex;
use scanns_bench::variants::{IndexerVariant, TokenizerVariant};

/// Postings by term, each list by document.
type Lists = BTreeMap<Vec<u8>, BTreeMap<usize, u32>>;

const OPTIONS: InvertOptions = InvertOptions {
    budget: 256 << 20,
    expected_terms: 0,
    pages: PageSize::Base,
    postings: Postings::Frequencies,
};

/// Words from a skewed vocabulary, distinct numbers, and arbitrary bytes.
fn random_text(random: &mut Rng) -> Vec<u8> {
    let mut text = Vec::new();
    for _ in 0..random.usize(..600) {
        match random.usize(..8) {
            0..4 => {
                let bound = 1 + random.usize(..2000);
                text.extend(format!("word{}", random.usize(..bound)).into_bytes());
            }
            4..6 => text.extend(format!("{:x}", random.u64(..1 << 40)).into_bytes()),
            6 => text.extend((0..random.usize(..30)).map(|_| [0, 0xff, 0xc3, b'a'][random.usize(..4)])),
            _ => text.extend((0..random.usize(..30)).map(|_| random.u8(..))),
        }
        text.push(b" \t\n\x0b\x0c\r/"[random.usize(..7)]);
    }
    text
}

/// Random texts, some of them empty, and texts with tokens at and beyond the maximum length.
fn texts(random: &mut Rng) -> Vec<Vec<u8>> {
    let mut texts: Vec<Vec<u8>> = vec![vec![], b"/".to_vec(), b"x".to_vec(), vec![b' '; 70_000], vec![0; 9]];
    for len in [4095, 4096, MAX_TOKEN - 1, MAX_TOKEN, MAX_TOKEN + 1, 2 * MAX_TOKEN, 100_000] {
        // Tokens that are equal up to the cut, each once at the end of a text and once before other tokens.
        texts.push(vec![b'y'; len]);
        texts.push([b"a ".to_vec(), vec![b'y'; len], b" b y".to_vec()].concat());
    }
    for round in 0..300 {
        texts.push(if round % 10 == 0 { Vec::new() } else { random_text(random) });
    }
    texts
}

fn oracle(texts: &[Vec<u8>], delimiters: &Delimiters) -> Lists {
    let mut lists = Lists::new();
    for (doc, text) in texts.iter().enumerate() {
        for token in text.split(|&byte| delimiters.contains(byte)).filter(|token| !token.is_empty()) {
            let term = token[..token.len().min(MAX_TOKEN)].to_vec();
            *lists.entry(term).or_default().entry(doc).or_default() += 1;
        }
    }
    lists
}

/// Indexes all texts.
fn index(
    texts: &[Vec<u8>],
    tokenizer: TokenizerVariant,
    indexer: IndexerVariant,
    options: &InvertOptions,
) -> Lists {
    let mut tokenizer = tokenizer.build(&Delimiters::paths());
    let mut index = indexer.build(options).unwrap();
    for text in texts {
        // Bytes outside the range must be ignored.
        let mut padded = [b"out".as_slice(), text, b"side"].concat();
        tokenizer.run(&mut padded, 3..3 + text.len(), &mut &mut *index);
        index.end_document();
    }
    index.finish().unwrap();
    lists(&*index, |doc| doc)
}

/// The contents of an index. `number` maps a document to the number of its text.
fn lists(index: &dyn LadderIndex, number: impl Fn(usize) -> usize) -> Lists {
    let mut lists = Lists::new();
    index.visit(&mut |list| {
        assert_eq!(list.doc_freq as usize, list.postings.len());
        assert!(list.postings.is_sorted_by(|one, next| one.0 < next.0), "documents must ascend");
        let postings = list.postings.iter().map(|&(doc, freq)| (number(doc as usize), freq));
        let known = lists.insert(list.term.to_vec(), postings.collect());
        assert!(known.is_none(), "a term is visited once");
    });
    lists
}

fn merged(parts: impl IntoIterator<Item = Lists>) -> Lists {
    let mut all = Lists::new();
    for (term, postings) in parts.into_iter().flatten() {
        all.entry(term).or_default().extend(postings);
    }
    all
}

#[test]
fn a_term_that_one_variant_of_the_ladder_misses_does_not_go_unnoticed() {
    let texts = [b"a b a".to_vec(), b"b".to_vec()];
    let expected = oracle(&texts, &Delimiters::paths());
    let (table, swiss) = (TokenizerVariant::Table, IndexerVariant::SwissPa);
    assert!(index(&texts, table, swiss, &OPTIONS) == expected);
    for wrong in [[b"a b".to_vec(), b"b".to_vec()], [b"a b a".to_vec(), b"".to_vec()]] {
        assert!(index(&wrong, table, swiss, &OPTIONS) != expected);
    }
}

#[test]
fn room_made_beforehand_changes_nothing_in_the_ladder() {
    let seed = 0x1adde8;
    let texts = texts(&mut Rng::with_seed(seed));
    let expected = oracle(&texts, &Delimiters::paths());
    let options = InvertOptions { expected_terms: expected.len(), ..OPTIONS };
    for indexer in IndexerVariant::ALL {
        let found = index(&texts, TokenizerVariant::Table, indexer, &options);
        assert!(found == expected, "seed {seed:x}, {indexer:?}");
    }
}

#[test]
fn a_list_of_the_ladder_may_be_longer_than_a_stack_is_deep() {
    for indexer in IndexerVariant::ALL {
        let mut index = indexer.build(&OPTIONS).unwrap();
        for _ in 0..500_000 {
            index.token(b"the", 0..3);
            index.end_document();
        }
        index.finish().unwrap();
        let mut lists = Vec::new();
        index.visit(&mut |list| lists.push((list.term.to_vec(), list.doc_freq)));
        assert_eq!(lists, [(b"the".to_vec(), 500_000)], "{indexer:?}");
    }
}

#[test]
fn a_sub_allocator_of_the_ladder_that_is_full_says_so() {
    for indexer in [IndexerVariant::StdPa, IndexerVariant::SwissPa] {
        let mut index = indexer.build(&InvertOptions { budget: 64 << 10, ..OPTIONS }).unwrap();
        for number in 0..10_000 {
            index.token(format!("term{number}").as_bytes(), 0..0);
        }
        let error = index.finish().unwrap_err().to_string();
        assert!(error.contains("memory"), "{error}");
    }
}

/// Keeps the tokens that it gets.
#[derive(Default)]
struct Kept(Vec<Vec<u8>>);

impl TokenSink for Kept {
    fn tokens(&mut self, text: &[u8], base: usize, bounds: &[u16]) {
        for pair in bounds.chunks_exact(2) {
            let range = base + usize::from(pair[0])..base + usize::from(pair[1]);
            self.token(&text[range.clone()], range);
        }
    }

    fn token(&mut self, token: &[u8], _: Range<usize>) {
        assert!(!token.is_empty() && token.len() <= MAX_TOKEN);
        self.0.push(token.to_vec());
    }
}

#[test]
fn every_tokenizer_of_the_ladder_splits_at_any_delimiters_and_counts_what_it_cuts() {
    let seed = 0x1adde9;
    let mut random = Rng::with_seed(seed);
    let mut texts = texts(&mut random);
    texts.extend((0..50).map(|_| (0..random.usize(..200)).map(|_| random.u8(..)).collect::<Vec<u8>>()));
    for round in 0..4 {
        let members: Vec<u8> = (0..1 + random.usize(..40)).map(|_| random.u8(..)).collect();
        let delimiters = Delimiters::new(&members);
        for variant in TokenizerVariant::ALL {
            let mut tokenizer = variant.build(&delimiters);
            let (mut cut, mut kept) = (0, Kept::default());
            for (i, text) in texts.iter_mut().enumerate() {
                let all: Range<usize> = 0..text.len();
                kept.0.clear();
                tokenizer.run(text, all, &mut kept);
                let words = || text.split(|&byte| delimiters.contains(byte)).filter(|word| !word.is_empty());
                let expected: Vec<_> =
                    words().map(|word| word[..word.len().min(MAX_TOKEN)].to_vec()).collect();
                assert!(kept.0 == expected, "seed {seed:x}, round {round}, text {i}, {variant:?}");
                cut += words().filter(|word| word.len() > MAX_TOKEN).count() as u64;
            }
            assert_eq!(tokenizer.cut_tokens(), cut, "seed {seed:x}, round {round}, {variant:?}");
        }
    }
}
