//! Bytes to tokens, pushed into a sink a window at a time.
//!
//! Text comes in as a mutable slice (the standard analyzer lower-cases in place) and a range of it; tokens go
//! out as offsets into the slice, up to 4 KiB of text per call, so that both the text and the offsets are in the
//! first-level cache when the sink hashes them. Read `window.rs` first: bit masks of 64 bytes become a list of
//! alternating starts and ends. `arch/` makes the masks, one file per instruction set; `standard.rs` is the
//! Unicode analyzer with its fast path for ASCII. `ladder.rs` has two older ways to measure ours by.

mod arch;
mod byteset;
pub(crate) mod ladder;
mod standard;
mod window;

use std::ops::Range;

use crate::schema::{Analyzer, Delimiters};
use crate::sys::Simd;

use byteset::ByteSet;
use standard::Standard;
use window::Windows;

/// Longest token kept, in bytes; longer ones are cut to this length and counted.
pub const MAX_TOKEN: usize = 32 << 10;

/// Receives tokens in the order of the text.
pub trait TokenSink {
    /// Tokens of `text[base..]`: `bounds` alternates start and end, relative to `base`, each token non-empty.
    fn tokens(&mut self, text: &[u8], base: usize, bounds: &[u16]);

    /// One token on its own: longer than a window, or rewritten by the analyzer. `source` is where it stands in the text
    /// that [`Tokenizer::run`] was given, as `base` and the bounds of other tokens say of those; starts
    /// never fall.
    fn token(&mut self, token: &[u8], source: Range<usize>);
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
}

/// Finds the tokens of an analyzer with the fastest instructions of this machine.
pub struct Tokenizer {
    kind: Kind,
    cut: u64,
}

enum Kind {
    Bytes { set: ByteSet, delimiters: Delimiters, windows: Windows },
    Standard(Box<Standard>),
}

impl Tokenizer {
    /// A tokenizer for `analyzer` on the best instruction set found.
    pub fn new(analyzer: &Analyzer) -> Self {
        Self::with_simd(analyzer, Simd::detect())
    }

    /// A tokenizer that uses exactly `simd`.
    pub fn with_simd(analyzer: &Analyzer, simd: Simd) -> Self {
        let kind = match analyzer {
            Analyzer::Standard => Kind::Standard(Box::new(Standard::new(simd))),
            Analyzer::Bytes(delimiters) => Kind::Bytes {
                set: ByteSet::new(|byte| !delimiters.contains(byte)),
                delimiters: *delimiters,
                windows: Windows::new(simd),
            },
        };
        Tokenizer { kind, cut: 0 }
    }

    /// Pushes the tokens of `text[range]` into `sink`. Bytes outside `range` may be read, never taken as text;
    /// bytes inside may be lower-cased in place.
    pub fn run<S: TokenSink>(&mut self, text: &mut [u8], range: Range<usize>, sink: &mut S) {
        match &mut self.kind {
            Kind::Bytes { set, windows, .. } => self.cut += windows.run(set, text, range, sink),
            Kind::Standard(standard) => self.cut += standard.run(text, range, sink),
        }
    }

    /// Bytes at the front of `text` that belong to a token begun before it.
    pub fn rest_of_token(&self, text: &[u8]) -> usize {
        let found = match &self.kind {
            Kind::Bytes { delimiters, .. } => text.iter().position(|&byte| delimiters.contains(byte)),
            Kind::Standard(_) => {
                (1..text.len()).find(|&at| Analyzer::Standard.may_cut(text[at - 1], text[at]))
            }
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
        let mut sink = Collected::default();
        let all = 0..text.len();
        self.run(text, all, &mut sink);
        sink.0
    }
}

/// A sink that keeps every token.
#[derive(Default)]
struct Collected(Vec<Vec<u8>>);

impl TokenSink for Collected {
    fn tokens(&mut self, text: &[u8], base: usize, bounds: &[u16]) {
        for pair in bounds.chunks_exact(2) {
            self.0.push(text[base + usize::from(pair[0])..base + usize::from(pair[1])].to_vec());
        }
    }

    fn token(&mut self, token: &[u8], _: Range<usize>) {
        self.0.push(token.to_vec());
    }
}

#[cfg(test)]
mod tests;
