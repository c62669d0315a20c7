//! Words to stems, with a memory for the stems of frequent words.
//!
//! A stemmer takes 50 to 500 ns a word, and the words of a text are mostly the same few thousand. So what became of a
//! word of up to 16 bytes is kept in a table with one place for each hash: a look-up takes about 5 ns, and a word that
//! finds its place taken by another is stemmed and takes it over.

use std::ops::Range;

use rust_stemmers::{Algorithm, Stemmer};

use super::filter::Filter;
use super::porter::Porter;
use super::{MAX_TOKEN, TokenSink};
use crate::schema::Language;

/// Longest word that is kept, in bytes.
const SHORT: usize = 16;

/// Places of the table, as a power of two: 384 KiB, which a second-level cache holds beside other things.
const PLACES: u32 = 13;

/// The bits of the first so many bytes.
static MASKS: [u128; SHORT + 1] = {
    let mut masks = [u128::MAX; SHORT + 1];
    let mut bytes = 0;
    while bytes < SHORT {
        masks[bytes] = (1 << (8 * bytes)) - 1;
        bytes += 1;
    }
    masks
};

/// The words that Lucene's `EnglishAnalyzer` leaves out.
const STOP_WORDS: [&str; 33] = [
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it", "no",
    "not", "of", "on", "or", "such", "that", "the", "their", "then", "there", "these", "they", "this", "to",
    "was", "will", "with",
];

/// The stemmers of [`LANGUAGES`](crate::schema::LANGUAGES), in their order. That of Greek is left out: on some words, such as
/// ισαισα, it cuts beyond the end of the word and panics.
const ALGORITHMS: [Algorithm; 17] = [
    Algorithm::Arabic,
    Algorithm::Danish,
    Algorithm::Dutch,
    Algorithm::English,
    Algorithm::Finnish,
    Algorithm::French,
    Algorithm::German,
    Algorithm::Hungarian,
    Algorithm::Italian,
    Algorithm::Norwegian,
    Algorithm::Portuguese,
    Algorithm::Romanian,
    Algorithm::Russian,
    Algorithm::Spanish,
    Algorithm::Swedish,
    Algorithm::Tamil,
    Algorithm::Turkish,
];

/// What is done with a word that is not known.
enum Rules {
    English(Porter),
    Snowball(Stemmer),
}

/// What became of a word.
#[derive(Clone, Copy, Default)]
struct Known {
    /// The word, filled up with zeros.
    word: u128,
    /// Its stem, of which the first `stem_len` bytes count; none if the word is left out.
    stem: [u8; SHORT],
    len: u8,
    stem_len: u8,
}

/// A filter that stems words and leaves some out.
pub(super) struct Stems {
    rules: Rules,
    known: Box<[Known]>,
    /// The word at hand, then its stem.
    word: Vec<u8>,
}

impl Stems {
    /// Those of Lucene's `EnglishAnalyzer`.
    pub(super) fn english() -> Self {
        Self::new(Rules::English(Porter::default()))
    }

    /// Those of the Snowball stemmer of a language.
    pub(super) fn snowball(language: Language) -> Self {
        let algorithm = ALGORITHMS.get(language.number()).copied().unwrap_or(Algorithm::English);
        Self::new(Rules::Snowball(Stemmer::create(algorithm)))
    }

    fn new(rules: Rules) -> Self {
        Stems { rules, known: vec![Known::default(); 1 << PLACES].into_boxed_slice(), word: Vec::new() }
    }

    /// Makes the stem of the word in the buffer; without a byte if it is left out.
    fn stem(&mut self) {
        match &mut self.rules {
            Rules::English(porter) => {
                let possessive = ["'s", "\u{2019}s", "\u{ff07}s"];
                if let Some(ending) = possessive.iter().find(|ending| self.word.ends_with(ending.as_bytes()))
                {
                    self.word.truncate(self.word.len() - ending.len());
                }
                if STOP_WORDS.iter().any(|stop| stop.as_bytes() == self.word) {
                    self.word.clear();
                }
                porter.apply(&mut self.word);
            }
            Rules::Snowball(stemmer) => {
                // A word that was cut off may end within a character.
                if let Ok(word) = std::str::from_utf8(&self.word) {
                    let stem = stemmer.stem(word);
                    if stem != word && !stem.is_empty() {
                        let stem = stem.into_owned();
                        self.word.clear();
                        self.word.extend_from_slice(stem.as_bytes());
                        self.word.truncate(MAX_TOKEN);
                    }
                }
            }
        }
    }

    /// A word of more than [`SHORT`] bytes.
    fn long_word<S: TokenSink>(&mut self, word: &[u8], source: Range<usize>, sink: &mut S) {
        self.word.clear();
        self.word.extend_from_slice(word);
        self.stem();
        push(&self.word, source, sink);
    }

    /// Learns a word.
    #[inline(never)]
    fn learn(&mut self, word: &[u8], head: u128) -> Option<Known> {
        self.word.clear();
        self.word.extend_from_slice(word);
        self.stem();
        let mut known = Known { word: head, ..Known::default() };
        known.stem.get_mut(..self.word.len())?.copy_from_slice(&self.word);
        (known.len, known.stem_len) = (u8::try_from(word.len()).ok()?, u8::try_from(self.word.len()).ok()?);
        Some(known)
    }
}

impl Filter for Stems {
    #[inline]
    fn word<S: TokenSink>(&mut self, text: &[u8], range: Range<usize>, source: Range<usize>, sink: &mut S) {
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
                // Its stem is too long to be kept.
                None => return push(&self.word, source, sink),
            }
        }
        push(&known.stem[..usize::from(known.stem_len)], source, sink);
    }
}

/// A stem goes on to the sink; a word that was left out leaves a gap.
#[inline]
fn push<S: TokenSink>(stem: &[u8], source: Range<usize>, sink: &mut S) {
    if stem.is_empty() { sink.shift(1) } else { sink.token(stem, source) }
}

/// The bytes of a word, filled up with zeros.
fn head(word: &[u8]) -> u128 {
    let mut head = [0; SHORT];
    head[..word.len()].copy_from_slice(word);
    u128::from_le_bytes(head)
}

#[inline]
fn place_of(head: u128) -> usize {
    #[expect(clippy::cast_possible_truncation, reason = "both halves, one by one")]
    let (low, high) = (head as u64, (head >> 64) as u64);
    let mixed = (low ^ high.rotate_left(29)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> (64 - PLACES)) as usize
}
