//! The scalar version, which every instruction set must equal.

use super::bits::{LANE, edges, spread};
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
