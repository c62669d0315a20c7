//! The scalar version, which every instruction set must equal.

use super::bits::{LANE, edges, spread};
use super::words::{WordLanes, WordMasks, WordSpan, WordsFound, ascii_words};
use crate::tokenize::byteset::ByteSet;

/// Implements [`super::choose::mask`].
pub(super) fn mask(set: &ByteSet, bytes: &[u8]) -> u64 {
    bytes.iter().enumerate().fold(0, |mask, (i, &byte)| mask | u64::from(set.contains(byte)) << i)
}

/// Implements [`super::choose::changes`].
pub(super) fn changes(set: &ByteSet, bytes: &[u8], out: &mut [u16]) -> usize {
    let (mut count, mut before, mut base) = (0, 0, 0u16);
    for lane in bytes.chunks(LANE) {
        let valid = if lane.len() == LANE { u64::MAX } else { (1 << lane.len()) - 1 };
        count = spread(edges(mask(set, lane), &mut before) & valid, base, out, count);
        base = base.wrapping_add(64);
    }
    count
}

/// Implements [`super::choose::ascii_words`].
pub(super) fn words(text: &mut [u8], span: WordSpan, out: &mut [u16], count: usize) -> WordsFound {
    // SAFETY: no instructions are needed beyond the base.
    unsafe { ascii_words::<ScalarLanes>(text, span, out, count) }
}

struct ScalarLanes;

impl WordLanes for ScalarLanes {
    #[inline]
    unsafe fn classify(lane: &mut [u8; LANE]) -> WordMasks {
        let mut masks = WordMasks::default();
        for (i, byte) in lane.iter_mut().enumerate() {
            let bit = 1 << i;
            match *byte {
                b'a'..=b'z' | b'A'..=b'Z' => masks.letters |= bit,
                b'0'..=b'9' => masks.digits |= bit,
                b'_' => masks.connectors |= bit,
                b':' => masks.colons |= bit,
                b',' | b';' => masks.commas |= bit,
                b'.' | b'\'' => masks.points |= bit,
                0x80.. => masks.foreign |= bit,
                _ => {}
            }
            byte.make_ascii_lowercase();
        }
        masks
    }

    #[inline]
    unsafe fn spread(edges: u64, base: u16, out: &mut [u16], count: usize) -> usize {
        spread(edges, base, out, count)
    }
}
