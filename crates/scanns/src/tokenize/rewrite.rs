//! Applies rules to words, stemming for example, and remembers the results for frequent words.
//!
//! A stemmer takes 50 to 500 ns per word, and most words of a text are from the same few thousand. The result
//! for a word of up to 16 bytes is therefore stored in a table with one slot for each hash. A look-up takes
//! about 5 ns, regardless of the number of rules. A word that finds its slot taken by another word goes
//! through the rules and takes the slot.

use std::ops::Range;

use super::filter::TokenFilter;
use super::rules::WordRule;
use super::sink::TokenSink;

/// The maximum length of a word that is remembered, in bytes.
const SHORT: usize = 16;

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
}

impl Rewrite {
    pub(super) fn new(rules: Vec<WordRule>) -> Self {
        let known = vec![Known::default(); 1 << PLACES].into_boxed_slice();
        Rewrite { rules, known, word: Vec::new(), spare: Vec::new() }
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

    /// Pushes the result for a word of more than [`SHORT`] bytes.
    fn long_word<S: TokenSink + ?Sized>(&mut self, word: &[u8], source: Range<usize>, sink: &mut S) {
        self.apply(word);
        push(&self.word, source, sink);
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
            return self.long_word(word, source, sink);
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
                None => return push(&self.word, source, sink),
            }
        }
        push(&known.became[..usize::from(known.became_len)], source, sink);
    }
}

/// Passes a word on to the sink; a removed word leaves a gap.
#[inline]
fn push<S: TokenSink + ?Sized>(word: &[u8], source: Range<usize>, sink: &mut S) {
    if word.is_empty() { sink.shift(1) } else { sink.token(word, source) }
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
