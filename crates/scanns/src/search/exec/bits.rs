//! A window of documents as bits.

/// Number of documents in a window.
pub const WINDOW: u32 = 4_096;

/// A bit for each document of a window, lowest first.
pub type MatchBits = [u64; (WINDOW / 64) as usize];

/// No document.
pub(crate) const NONE: MatchBits = [0; (WINDOW / 64) as usize];

/// The documents whose bits are set; `start` is the document of the first bit.
pub(crate) fn docs_of(start: u32, bits: &[u64]) -> impl Iterator<Item = u32> {
    (start..).step_by(64).zip(bits).flat_map(|(first, &word)| {
        let mut left = word;
        std::iter::from_fn(move || {
            let bit = (left != 0).then(|| left.trailing_zeros())?;
            left &= left - 1;
            Some(first + bit)
        })
    })
}

/// True if the bit of a document of the window is set.
#[inline]
pub(crate) fn has(bits: &MatchBits, doc: u32) -> bool {
    bits[(doc % WINDOW / 64) as usize] >> (doc % 64) & 1 == 1
}

/// Sets the bit of a document if it is `wanted`.
#[inline]
pub(crate) fn set_if(bits: &mut MatchBits, doc: u32, wanted: bool) {
    bits[(doc % WINDOW / 64) as usize] |= u64::from(wanted) << (doc % 64);
}

/// Clears the bit of a document.
#[inline]
pub(crate) fn clear(bits: &mut MatchBits, doc: u32) {
    bits[(doc % WINDOW / 64) as usize] &= !(1 << (doc % 64));
}

/// Sets the bits that are set in `found`.
pub(crate) fn merge(bits: &mut MatchBits, found: &MatchBits) {
    bits.iter_mut().zip(found).for_each(|(word, found)| *word |= found);
}
