//! Receivers of tokens.

use std::ops::Range;

/// Receives tokens in the order of the text.
pub trait TokenSink {
    /// Tokens of `text[base..]`: `bounds` alternates start and end, relative to `base`, each token non-empty.
    fn tokens(&mut self, text: &[u8], base: usize, bounds: &[u16]);

    /// A single token: longer than a window, or rewritten by the analyzer. `source` is its range in the text
    /// that was passed to [`Tokenizer::run`](super::Tokenizer::run); starts never decrease.
    fn token(&mut self, token: &[u8], source: Range<usize>);

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

    fn shift(&mut self, positions: i32) {
        self.0.shift(positions);
        self.1.shift(positions);
    }
}
