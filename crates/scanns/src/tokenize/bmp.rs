//! The words of text in most scripts, found in one pass and lower-cased in place.
//!
//! It is faster than the exact rules of `grammar.rs` and knows more than ASCII: the characters of the
//! Basic Multilingual Plane that follow the plain rules of words (letters, digits, joiners, Chinese,
//! Japanese, marks), and whose lower case has as many bytes. At any other character it gives up, and the
//! exact rules are applied to the text from the last place that no word spans. Its transitions are computed
//! from those of `grammar.rs`.

use std::sync::LazyLock;

use super::arch::{WINDOW, WordSpan};
use super::class::{ALL, WordClass};
use super::grammar::WordState;
use crate::schema::Analyzer;

/// Where the pass ended, and the number of offsets then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BmpEnd {
    /// No word spans this place, which is the end of the span or has ASCII behind it.
    Cut { at: usize, count: usize },
    /// The exact rules must be applied to the text from here on; no word spans this place.
    Unknown { from: usize, count: usize },
}

/// The entry of a character that the pass does not know.
const UNKNOWN: u32 = u32::MAX;

/// The states behind those of [`WordState`]: a character that is a word by itself was seen, and none.
#[expect(clippy::cast_possible_truncation, reason = "there are eleven")]
const SINGLE: u8 = WordState::ALL.len() as u8;
const NONE: u8 = SINGLE + 1;
/// No state: the word has ended.
const ENDED: u8 = u8::MAX;

/// Marks a transition into a state that is a word.
const IS_WORD: u8 = 0x40;

/// The transitions and the characters.
pub(super) struct BmpWords {
    /// By state and class: the next state, with [`IS_WORD`].
    steps: [[u8; 32]; NONE as usize + 1],
    /// For each character its lower case, and its class from bit 16 on.
    characters: Box<[u32]>,
}

impl BmpWords {
    /// The only one, which is made at the first call.
    pub(super) fn get() -> &'static BmpWords {
        static WORDS: LazyLock<BmpWords> = LazyLock::new(BmpWords::new);
        &WORDS
    }

    fn new() -> Self {
        let mut steps = [[ENDED; 32]; NONE as usize + 1];
        for (number, row) in (0u8..).zip(&mut steps) {
            for class in ALL {
                row[class as usize] = step(number, class);
            }
        }
        BmpWords { steps, characters: (0..0x1_0000).map(character).collect() }
    }

    /// Appends the starts and ends of the words of `text[span.from..]` to `out[count..]`, and lower-cases the
    /// text that it passes. It ends at or behind `span.stop`, or where some ASCII follows.
    ///
    /// `out` has room for two windows of offsets.
    pub(super) fn run(&self, text: &mut [u8], span: WordSpan, out: &mut [u16], mut count: usize) -> BmpEnd {
        let WordSpan { base, from, stop, end } = span;
        let text = &mut text[..end];
        let (mut at, mut state) = (from, NONE);
        let mut word = from..from;
        let mut last_cut = (from, count);
        while at < end {
            if state == NONE && at > from && Analyzer::Standard.may_cut(text[at - 1], text[at]) {
                last_cut = (at, count);
                if at >= stop || text[at..].first_chunk::<8>().is_none_or(|next| next.is_ascii()) {
                    return BmpEnd::Cut { at, count };
                }
            }
            let unknown = BmpEnd::Unknown { from: last_cut.0, count: last_cut.1 };
            if at - base >= 2 * WINDOW {
                return unknown;
            }
            let Some((entry, len)) = self.lowered(&mut text[at..]) else { return unknown };
            let class = (entry >> 16) as usize & 31;
            let mut next = self.steps[usize::from(state)][class];
            if next == ENDED {
                count = push(&word, base, out, count);
                word = at..at;
                if state != NONE && matches!(text[at], 0xe4..=0xe9) {
                    last_cut = (at, count);
                }
                next = self.steps[usize::from(NONE)][class];
            }
            state = next & !IS_WORD;
            at += len;
            if next & IS_WORD != 0 {
                word.end = at;
            } else if state == NONE {
                word = at..at;
            }
        }
        let count = push(&word, base, out, count);
        BmpEnd::Cut { at: end, count }
    }

    /// Lower-cases the first character of `text`; returns its entry and length, or `None` if it is not known.
    #[inline(always)]
    fn lowered(&self, text: &mut [u8]) -> Option<(u32, usize)> {
        let tail = |byte: u8| (byte & 0xc0 == 0x80).then_some(u32::from(byte & 0x3f));
        let (code, len) = match *text {
            [ref mut byte @ 0..0x80, ..] => {
                byte.make_ascii_lowercase();
                return Some((self.characters[usize::from(*byte)], 1));
            }
            [first @ 0xc2..=0xdf, second, ..] => (u32::from(first & 0x1f) << 6 | tail(second)?, 2),
            [first @ 0xe0..=0xef, second, third, ..] => {
                (u32::from(first & 0xf) << 12 | tail(second)? << 6 | tail(third)?, 3)
            }
            _ => return None,
        };
        let entry = self.characters[code as usize];
        // Three bytes may not stand for what fits into two.
        if entry == UNKNOWN || len == 3 && code < 0x800 {
            return None;
        }
        let lower = entry & 0xffff;
        if lower != code
            && let Some(lower) = char::from_u32(lower)
        {
            // It has as many bytes.
            lower.encode_utf8(&mut text[..len]);
        }
        Some((entry, len))
    }
}

/// Appends a word that is not empty.
#[inline(always)]
fn push(word: &std::ops::Range<usize>, base: usize, out: &mut [u16], count: usize) -> usize {
    if word.is_empty() {
        return count;
    }
    #[expect(clippy::cast_possible_truncation, reason = "the pass ends two windows behind the base")]
    let (start, end) = ((word.start - base) as u16, (word.end - base) as u16);
    (out[count], out[count + 1]) = (start, end);
    count + 2
}

/// The transition from the state with this number.
fn step(number: u8, class: WordClass) -> u8 {
    let numbered = |state: WordState| state as u8 | if state.is_word() { IS_WORD } else { 0 };
    match WordState::ALL.get(usize::from(number)) {
        // A mark belongs to what is before it.
        Some(&state) if class.is_mark() => numbered(state),
        Some(&state) => state.step(class).map_or(ENDED, numbered),
        None if number == SINGLE && class.is_mark() => SINGLE | IS_WORD,
        None if number == SINGLE => ENDED,
        None => match class {
            WordClass::Single => SINGLE | IS_WORD,
            _ if class.is_mark() => NONE,
            _ => WordState::Start.step(class).map_or(NONE, numbered),
        },
    }
}

/// The entry of the character with this code.
fn character(code: u32) -> u32 {
    use WordClass::{Connector, DoubleQuote, Katakana, KeycapBase, Letter, Mark, MidBoth, MidLetter};
    use WordClass::{MidNumber, Number, Other, Quote, Single};
    let Some(c) = char::from_u32(code) else { return UNKNOWN };
    let class = WordClass::of(c);
    let plain = matches!(
        class,
        Connector
            | DoubleQuote
            | Katakana
            | KeycapBase
            | Letter
            | Mark
            | MidBoth
            | MidLetter
            | MidNumber
            | Number
            | Other
            | Quote
            | Single
    );
    let lower = c.to_lowercase().next().unwrap_or(c);
    // A word that is lower-cased in place must be found again if the exact rules are applied to it.
    if !plain || lower.len_utf8() != c.len_utf8() || WordClass::of(lower) != class {
        return UNKNOWN;
    }
    u32::from(lower) | u32::from(class as u8) << 16
}
