//! Bytes to tokens, pushed into a sink a window at a time.
//!
//! Text comes in as a mutable slice (the standard analyzer lower-cases in place) and a range of it; tokens go
//! out as offsets into the slice, up to 4 KiB of text per call, so that both the text and the offsets are in the
//! first-level cache when the sink hashes them. Read `window.rs` first: bit masks of 64 bytes become a list of
//! alternating starts and ends. `arch/` makes the masks, one file per instruction set; `standard.rs` is the
//! Unicode analyzer with its fast path for ASCII.
//!
//! Longer chains put filters between these and the sink (`links.rs` says which): `rewrite.rs` has `rules.rs`, such as
//! stemmers, applied to words and remembers what came of them, and `parts.rs` is for all that makes several tokens of
//! one. `ladder.rs` has two older ways to measure ours by.

mod arch;
mod byteset;
mod filter;
mod fold;
pub(crate) mod ladder;
mod links;
mod parts;
mod porter;
mod rewrite;
mod rules;
mod standard;
mod stop;
mod window;

use std::ops::Range;

use crate::schema::{Analyzer, Base, CODE_BREAKS, Delimiters, LINE_ENDS};
use crate::sys::Simd;

use byteset::ByteSet;
use links::Links;
pub(crate) use rules::spelling;
use standard::Standard;
use window::{Windows, push_long};

/// Longest token kept, in bytes; longer ones are cut to this length and counted.
pub const MAX_TOKEN: usize = 32 << 10;

/// Receives tokens in the order of the text.
pub trait TokenSink {
    /// Tokens of `text[base..]`: `bounds` alternates start and end, relative to `base`, each token non-empty.
    fn tokens(&mut self, text: &[u8], base: usize, bounds: &[u16]);

    /// One token on its own: longer than a window, or rewritten by the analyzer. `source` is where it stands in the
    /// text that [`Tokenizer::run`] was given, as `base` and the bounds of other tokens say of those; starts never
    /// fall.
    fn token(&mut self, token: &[u8], source: Range<usize>);

    /// Moves the position of the next token: forward past words that were left out, or back by one, to where the token
    /// before stands. Matters to sinks that keep positions.
    fn shift(&mut self, _positions: i32) {}
}

/// Both receive all tokens.
impl<A: TokenSink, B: TokenSink> TokenSink for (&mut A, &mut B) {
    #[inline]
    fn tokens(&mut self, text: &[u8], base: usize, bounds: &[u16]) {
        self.0.tokens(text, base, bounds);
        self.1.tokens(text, base, bounds);
    }

    fn token(&mut self, token: &[u8], source: Range<usize>) {
        self.0.token(token, source.clone());
        self.1.token(token, source);
    }

    fn shift(&mut self, positions: i32) {
        self.0.shift(positions);
        self.1.shift(positions);
    }
}

/// Finds the tokens of an analyzer with the fastest instructions of this machine.
pub struct Tokenizer {
    finder: Finder,
    links: Links,
    cut: u64,
}

/// What finds words.
enum Finder {
    Bytes { set: ByteSet, delimiters: Delimiters, windows: Windows },
    Standard(Box<Standard>),
    Whole,
}

impl Finder {
    fn bytes(delimiters: Delimiters, simd: Simd) -> Self {
        let set = ByteSet::new(|byte| !delimiters.contains(byte));
        Finder::Bytes { set, delimiters, windows: Windows::new(simd) }
    }

    fn standard(simd: Simd) -> Self {
        Finder::Standard(Box::new(Standard::new(simd)))
    }

    /// Pushes the words of `text[range]`; returns how many had to be cut.
    #[inline]
    fn run<S: TokenSink + ?Sized>(&mut self, text: &mut [u8], range: Range<usize>, sink: &mut S) -> u64 {
        match self {
            Finder::Bytes { set, windows, .. } => windows.run(set, text, range, sink),
            Finder::Standard(standard) => standard.run(text, range, sink),
            Finder::Whole if range.is_empty() => 0,
            Finder::Whole => push_long(text, range, sink),
        }
    }
}

impl Tokenizer {
    /// A tokenizer for `analyzer` on the best instruction set found.
    pub fn new(analyzer: &Analyzer) -> Self {
        Self::with_simd(analyzer, Simd::detect())
    }

    /// A tokenizer that uses exactly `simd`.
    pub fn with_simd(analyzer: &Analyzer, simd: Simd) -> Self {
        let finder = match analyzer.base() {
            Base::Standard => Finder::standard(simd),
            Base::Bytes(delimiters) => Finder::bytes(delimiters, simd),
            Base::Code => Finder::bytes(CODE_BREAKS, simd),
            Base::Ancestors => Finder::bytes(LINE_ENDS, simd),
            Base::Keyword => Finder::Whole,
        };
        Tokenizer { finder, links: Links::new(analyzer), cut: 0 }
    }

    /// Pushes the tokens of `text[range]` into `sink`. Bytes outside `range` may be read, never taken as text;
    /// bytes inside may be lower-cased in place.
    pub fn run<S: TokenSink>(&mut self, text: &mut [u8], range: Range<usize>, sink: &mut S) {
        self.cut += self.links.run(&mut self.finder, text, range, sink);
    }

    /// Bytes at the front of `text` that belong to a token begun before it.
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

    /// Tokens that were cut to [`MAX_TOKEN`] bytes so far.
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
        let mut sink = Collected::default();
        let all = 0..text.len();
        self.run(text, all, &mut sink);
        sink.terms
    }
}

/// A sink that keeps every token and its position.
#[derive(Default)]
struct Collected {
    terms: Vec<(u32, Vec<u8>)>,
    next: u32,
}

impl TokenSink for Collected {
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

#[cfg(test)]
mod tests;
