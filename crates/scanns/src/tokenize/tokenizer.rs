//! The tokenizer of an analyzer: a finder of words and a chain of filters.

use std::ops::Range;

use super::filter_chain::FilterChain;
use super::finder::Finder;
use super::sink::TokenSink;
use crate::schema::{Analyzer, Base, CODE_BREAKS, LINE_ENDS};
use crate::sys::Simd;

/// Finds the tokens of an analyzer with the fastest instruction set of this machine.
pub struct Tokenizer {
    finder: Finder,
    filters: FilterChain,
    cut: u64,
}

impl Tokenizer {
    /// Creates a tokenizer for `analyzer` that uses the best instruction set of this machine.
    pub fn new(analyzer: &Analyzer) -> Self {
        Self::with_simd(analyzer, Simd::detect())
    }

    /// Creates a tokenizer that uses exactly `simd`.
    pub fn with_simd(analyzer: &Analyzer, simd: Simd) -> Self {
        let finder = match analyzer.base() {
            Base::Standard => Finder::standard(simd),
            Base::Bytes(delimiters) => Finder::bytes(delimiters, simd),
            Base::Code => Finder::bytes(CODE_BREAKS, simd),
            Base::Ancestors => Finder::bytes(LINE_ENDS, simd),
            Base::Keyword => Finder::Whole,
        };
        Tokenizer { finder, filters: FilterChain::new(analyzer), cut: 0 }
    }

    /// Pushes the tokens of `text[range]` into `sink`. Bytes outside `range` may be read, but are not part of
    /// the text; bytes inside may be lower-cased in place.
    pub fn run<S: TokenSink>(&mut self, text: &mut [u8], range: Range<usize>, sink: &mut S) {
        self.cut += self.filters.run(&mut self.finder, text, range, sink);
    }

    /// Number of bytes at the start of `text` that belong to a token that started before it.
    pub fn rest_of_token(&self, text: &[u8]) -> usize {
        let found = match &self.finder {
            Finder::Bytes { delimiters, .. } => text.iter().position(|&byte| delimiters.contains(byte)),
            Finder::Standard(_) => {
                (1..text.len()).find(|&at| Analyzer::Standard.may_cut(text[at - 1], text[at]))
            }
            Finder::Whole => None,
        };
        found.unwrap_or(text.len())
    }

    /// The number of tokens so far that were cut to [`MAX_TOKEN`](crate::schema::MAX_TOKEN) bytes.
    pub fn cut_tokens(&self) -> u64 {
        self.cut
    }

    /// The tokens of a word of a query, in order.
    pub fn terms(&mut self, word: &str) -> Vec<Vec<u8>> {
        self.terms_of(&mut word.as_bytes().to_vec())
    }

    /// The tokens of a text, in order.
    pub fn terms_of(&mut self, text: &mut [u8]) -> Vec<Vec<u8>> {
        self.placed_terms(text).into_iter().map(|(_, term)| term).collect()
    }

    /// The tokens of a text, in order, with their positions from 0.
    pub fn placed_terms(&mut self, text: &mut [u8]) -> Vec<(u32, Vec<u8>)> {
        let mut sink = CollectedTokens::default();
        let all = 0..text.len();
        self.run(text, all, &mut sink);
        sink.terms
    }
}

/// A sink that stores every token and its position.
#[derive(Default)]
pub(super) struct CollectedTokens {
    pub(super) terms: Vec<(u32, Vec<u8>)>,
    next: u32,
}

impl TokenSink for CollectedTokens {
    fn tokens(&mut self, text: &[u8], base: usize, bounds: &[u16]) {
        for pair in bounds.chunks_exact(2) {
            let range = base + usize::from(pair[0])..base + usize::from(pair[1]);
            self.token(&text[range.clone()], range);
        }
    }

    fn token(&mut self, token: &[u8], _: Range<usize>) {
        self.terms.push((self.next, token.to_vec()));
        self.next = self.next.saturating_add(1);
    }

    fn shift(&mut self, positions: i32) {
        self.next = self.next.saturating_add_signed(positions);
    }
}
