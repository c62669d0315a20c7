//! Filters between a tokenizer and a sink, which turn each word into any number of tokens.

use std::ops::Range;

use super::sink::TokenSink;

/// Turns words into tokens.
pub(super) trait TokenFilter {
    /// Pushes the tokens of the word `text[range]`, whose place in the text of the tokenizer is `source`.
    fn word<S: TokenSink + ?Sized>(
        &mut self,
        text: &[u8],
        range: Range<usize>,
        source: Range<usize>,
        sink: &mut S,
    );

    /// Pushes tokens that were kept back, before the sink gets anything but by this filter.
    #[inline]
    fn finish<S: TokenSink + ?Sized>(&mut self, _sink: &mut S) {}
}

/// A sink for words that passes the tokens of a filter to another sink.
pub(super) struct Filtered<'f, F, S: ?Sized>(pub(super) &'f mut F, pub(super) &'f mut S);

impl<F: TokenFilter, S: TokenSink + ?Sized> TokenSink for Filtered<'_, F, S> {
    fn tokens(&mut self, text: &[u8], base: usize, bounds: &[u16]) {
        for pair in bounds.as_chunks::<2>().0 {
            let range = base + usize::from(pair[0])..base + usize::from(pair[1]);
            self.0.word(text, range.clone(), range, self.1);
        }
        self.0.finish(self.1);
    }

    fn token(&mut self, token: &[u8], source: Range<usize>) {
        self.0.word(token, 0..token.len(), source, self.1);
        self.0.finish(self.1);
    }

    fn shift(&mut self, positions: i32) {
        self.1.shift(positions);
    }
}
