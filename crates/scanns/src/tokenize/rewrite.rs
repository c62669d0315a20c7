//! Applies rules to words, stemming for example, and remembers the results for frequent words.
//!
//! A stemmer takes 50 to 500 ns per word, and most words of a text are from the same few thousand. The result
//! for a word of up to 16 bytes is therefore stored in a table with one slot for each hash. A look-up takes
//! about 5 ns, regardless of the number of rules. A word that finds its slot taken by another word goes
//! through the rules and takes the slot.

use std::ops::Range;

use super::filter::TokenFilter;
use super::rules::WordRule;
use super::sink::{ShortToken, TokenSink};

/// The maximum length of a word that is remembered, in bytes.
const SHORT: usize = ShortToken::LONGEST;

/// The number of tokens that are kept back, so that the sink takes many at once.
const BATCH: usize = 128;

/// The number of slots of the table, as a power of two: 384 KiB, which fits a second-level cache together
/// with other data.
const PLACES: u32 = 13;

/// Masks of the first `n` bytes of a word.
static MASKS: [u128; SHORT + 1] = {
    let mut masks = [u128::MAX; SHORT + 1];
    let mut bytes = 0;
    while bytes < SHORT {
        masks[bytes] = (1 << (8 * bytes)) - 1;
        bytes += 1;
    }
    masks
};

/// A word and its result.
#[derive(Clone, Copy, Default)]
struct Known {
    /// The word, padded with zeros.
    word: u128,
    /// The result, of which the first `became_len` bytes are valid; empty if the word is removed.
    became: [u8; SHORT],
    len: u8,
    became_len: u8,
}

/// A filter that applies rules in order. A rule changes a word or removes it.
pub(super) struct Rewrite {
    rules: Vec<WordRule>,
    known: Box<[Known]>,
    /// The current word, then its result.
    word: Vec<u8>,
    spare: Vec<u8>,
    /// Tokens for the sink, and the gap after them.
    batch: Vec<ShortToken>,
    gap: u32,
}

impl Rewrite {
    pub(super) fn new(rules: Vec<WordRule>) -> Self {
        let known = vec![Known::default(); 1 << PLACES].into_boxed_slice();
        let batch = Vec::with_capacity(BATCH);
        Rewrite { rules, known, word: Vec::new(), spare: Vec::new(), batch, gap: 0 }
    }

    /// Applies the rules to a word; the result is in the buffer, empty if the word is removed.
    fn apply(&mut self, word: &[u8]) {
        self.word.clear();
        self.word.extend_from_slice(word);
        for rule in &mut self.rules {
            if self.word.is_empty() {
                break;
            }
            rule.apply(&mut self.word, &mut self.spare);
        }
    }

    /// Pushes the result of a word if one of both has more than [`SHORT`] bytes.
    #[cold]
    fn push_long<S: TokenSink + ?Sized>(&mut self, source: Range<usize>, sink: &mut S) {
        if self.word.is_empty() {
            self.gap += 1;
        } else {
            self.finish(sink);
            sink.token(&self.word, source);
        }
    }

    /// Computes the result for a word; `None` if it is too long to be remembered.
    #[inline(never)]
    fn learn(&mut self, word: &[u8], head: u128) -> Option<Known> {
        self.apply(word);
        let mut known = Known { word: head, ..Known::default() };
        known.became.get_mut(..self.word.len())?.copy_from_slice(&self.word);
        (known.len, known.became_len) = (u8::try_from(word.len()).ok()?, u8::try_from(self.word.len()).ok()?);
        Some(known)
    }
}

impl TokenFilter for Rewrite {
    #[inline]
    fn word<S: TokenSink + ?Sized>(
        &mut self,
        text: &[u8],
        range: Range<usize>,
        source: Range<usize>,
        sink: &mut S,
    ) {
        let word = &text[range.clone()];
        if word.len() > SHORT {
            self.apply(word);
            return self.push_long(source, sink);
        }
        let head = match text[range.start..].first_chunk() {
            Some(first) => u128::from_le_bytes(*first) & MASKS[word.len()],
            None => head(word),
        };
        let place = place_of(head);
        let mut known = self.known[place];
        if known.word != head || usize::from(known.len) != word.len() {
            match self.learn(word, head) {
                Some(learnt) => {
                    self.known[place] = learnt;
                    known = learnt;
                }
                // The result is too long to be remembered.
                None => return self.push_long(source, sink),
            }
        }
        if known.became_len == 0 {
            self.gap += 1;
            return;
        }
        if self.batch.len() == BATCH {
            self.finish(sink);
        }
        let gap = std::mem::take(&mut self.gap);
        let source_len = u32::try_from(source.len()).unwrap_or(u32::MAX);
        let Known { became: bytes, became_len: len, .. } = known;
        self.batch.push(ShortToken { bytes, len, gap, start: source.start, source_len });
    }

    fn finish<S: TokenSink + ?Sized>(&mut self, sink: &mut S) {
        if !self.batch.is_empty() {
            sink.short_tokens(&self.batch);
            self.batch.clear();
        }
        if self.gap > 0 {
            sink.shift(i32::try_from(self.gap).unwrap_or(i32::MAX));
            self.gap = 0;
        }
    }
}

/// The bytes of a word, padded with zeros.
fn head(word: &[u8]) -> u128 {
    let mut head = [0; SHORT];
    head[..word.len()].copy_from_slice(word);
    u128::from_le_bytes(head)
}

#[inline]
fn place_of(head: u128) -> usize {
    #[expect(clippy::cast_possible_truncation, reason = "the two halves")]
    let (low, high) = (head as u64, (head >> 64) as u64);
    let mixed = (low ^ high.rotate_left(29)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> (64 - PLACES)) as usize
}
