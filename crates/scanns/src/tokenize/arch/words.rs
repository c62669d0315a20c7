//! The words of ASCII text from bit masks of 64 bytes; each instruction set classifies the bytes.

use super::bits::{LANE, fetch_ahead};

/// What 64 bytes are to the rules of words, a bit for each byte; see `standard.rs` for the rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::tokenize) struct WordMasks {
    pub(in crate::tokenize) letters: u64,
    pub(in crate::tokenize) digits: u64,
    /// `_`
    pub(in crate::tokenize) connectors: u64,
    /// `:`, which joins letters.
    pub(in crate::tokenize) colons: u64,
    /// `,` and `;`, which join digits.
    pub(in crate::tokenize) commas: u64,
    /// `.` and `'`, which join either.
    pub(in crate::tokenize) points: u64,
    /// Bytes that are not ASCII.
    pub(in crate::tokenize) foreign: u64,
}

/// The vector operations of an instruction set.
pub(super) trait WordLanes {
    /// Classifies 64 bytes, and lower-cases them.
    ///
    /// # Safety
    /// The machine has the instructions of the set.
    unsafe fn classify(lane: &mut [u8; LANE]) -> WordMasks;

    /// Does what [`spread`](super::bits::spread) does; `out` has room for [`LANE`] offsets behind `count`.
    ///
    /// # Safety
    /// The machine has the instructions of the set.
    unsafe fn spread(edges: u64, base: u16, out: &mut [u16], count: usize) -> usize;
}

/// A part of a text in which words are found.
#[derive(Clone, Copy, Debug)]
pub(in crate::tokenize) struct WordSpan {
    /// Offsets count from this place.
    pub(in crate::tokenize) base: usize,
    /// The first byte, at which a word may begin but none goes on.
    pub(in crate::tokenize) from: usize,
    pub(in crate::tokenize) stop: usize,
    /// The end of the text, of which bytes behind `stop` may be lower-cased.
    pub(in crate::tokenize) end: usize,
}

/// Where [`ascii_words`] stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tokenize) struct WordsFound {
    /// The number of offsets; if it is odd, the last word goes on.
    pub(in crate::tokenize) count: usize,
    /// The first byte that is not ASCII, or the end of the span.
    pub(in crate::tokenize) at: usize,
    /// True if a word begins with `_`: it may have neither letters nor digits.
    pub(in crate::tokenize) connectors: bool,
}

/// The last byte of the lane before.
#[derive(Default)]
struct Carry {
    word: u64,
    letter: u64,
    digit: u64,
}

/// Appends the starts and ends of words to `out[count..]`, up to the first byte that is not ASCII.
///
/// # Safety
/// The machine has the instructions of `L`.
#[inline(always)]
pub(super) unsafe fn ascii_words<L: WordLanes>(
    text: &mut [u8],
    span: WordSpan,
    out: &mut [u16],
    mut count: usize,
) -> WordsFound {
    let WordSpan { base, from, stop, end } = span;
    let (mut carry, mut connectors) = (Carry::default(), false);
    let mut at = from;
    while at < stop {
        let whole = text.get_mut(at..end).and_then(|rest| rest.first_chunk_mut::<LANE>());
        // SAFETY: passed on.
        let masks = unsafe {
            match whole {
                Some(lane) => {
                    fetch_ahead(lane);
                    L::classify(lane)
                }
                None => classify_part::<L>(&mut text[at..end]),
            }
        };
        let after = if at + LANE < end { text[at + LANE] } else { 0 };
        let words = joined(&masks, after, &mut carry);
        let edges = words ^ (words << 1 | carry.word);
        carry.word = words >> 63;
        let mut valid = if stop - at >= LANE { u64::MAX } else { (1 << (stop - at)) - 1 };
        let foreign = masks.foreign & valid;
        if foreign != 0 {
            // The bits up to the lowest one, where a word may end.
            valid = foreign ^ (foreign - 1);
        }
        connectors |= edges & words & masks.connectors & valid != 0;
        #[expect(clippy::cast_possible_truncation, reason = "a span has less than 2^16 bytes")]
        let offset = (at - base) as u16;
        // SAFETY: passed on.
        count = unsafe { L::spread(edges & valid, offset, out, count) };
        if foreign != 0 {
            return WordsFound { count, at: at + foreign.trailing_zeros() as usize, connectors };
        }
        at += LANE;
    }
    WordsFound { count, at: stop, connectors }
}

/// The bytes of words, joiners included, which need the byte after the lane.
#[inline(always)]
fn joined(masks: &WordMasks, after: u8, carry: &mut Carry) -> u64 {
    let WordMasks { letters, digits, .. } = *masks;
    let letter_before = letters << 1 | carry.letter;
    let digit_before = digits << 1 | carry.digit;
    let letter_after = letters >> 1 | u64::from(after.is_ascii_alphabetic()) << 63;
    let digit_after = digits >> 1 | u64::from(after.is_ascii_digit()) << 63;
    (carry.letter, carry.digit) = (letters >> 63, digits >> 63);
    letters
        | digits
        | masks.connectors
        | (masks.colons | masks.points) & letter_before & letter_after
        | (masks.commas | masks.points) & digit_before & digit_after
}

/// Classifies less than 64 bytes; there is nothing in the places of the others.
#[cold]
unsafe fn classify_part<L: WordLanes>(part: &mut [u8]) -> WordMasks {
    let mut lane = [0; LANE];
    lane[..part.len()].copy_from_slice(part);
    // SAFETY: passed on.
    let masks = unsafe { L::classify(&mut lane) };
    part.copy_from_slice(&lane[..part.len()]);
    masks
}
