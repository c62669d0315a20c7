//! Receivers of tokens.

use std::ops::Range;

/// A token of up to 16 bytes that the analyzer has rewritten.
#[derive(Clone, Copy, Debug, Default)]
pub struct ShortToken {
    /// The bytes, padded with zeros.
    pub bytes: [u8; ShortToken::LONGEST],
    /// The number of bytes.
    pub len: u8,
    /// The number of positions of removed words before it.
    pub gap: u32,
    /// Where it starts in the text that was passed to [`Tokenizer::run`](super::Tokenizer::run).
    pub start: usize,
    /// Its length there.
    pub source_len: u32,
}

impl ShortToken {
    /// The maximum length in bytes.
    pub const LONGEST: usize = 16;

    /// The token.
    #[inline]
    pub fn token(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len).min(ShortToken::LONGEST)]
    }

    /// Its range in the text.
    #[inline]
    pub fn source(&self) -> Range<usize> {
        self.start..self.start + self.source_len as usize
    }
}

/// Receives tokens in the order of the text.
pub trait TokenSink {
    /// Tokens of `text[base..]`: `bounds` alternates start and end, relative to `base`, each token non-empty.
    fn tokens(&mut self, text: &[u8], base: usize, bounds: &[u16]);

    /// A single token: longer than a window, or rewritten by the analyzer. `source` is its range in the text
    /// that was passed to [`Tokenizer::run`](super::Tokenizer::run); starts never decrease.
    fn token(&mut self, token: &[u8], source: Range<usize>);

    /// Several rewritten tokens, each after its gap.
    fn short_tokens(&mut self, tokens: &[ShortToken]) {
        for token in tokens {
            if token.gap > 0 {
                self.shift(i32::try_from(token.gap).unwrap_or(i32::MAX));
            }
            self.token(token.token(), token.source());
        }
    }

    /// Moves the position of the next token: forward over removed words, or back by one, to the position of
    /// the previous token. Only matters to sinks that store positions.
    fn shift(&mut self, _positions: i32) {}
}

/// Both sinks receive all tokens.
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

    #[inline]
    fn short_tokens(&mut self, tokens: &[ShortToken]) {
        self.0.short_tokens(tokens);
        self.1.short_tokens(tokens);
    }

    fn shift(&mut self, positions: i32) {
        self.0.shift(positions);
        self.1.shift(positions);
    }
}
