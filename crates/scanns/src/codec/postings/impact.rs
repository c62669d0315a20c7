//! Chooses the pairs of frequency and norm that bound the postings of a block.

#![expect(clippy::indexing_slicing, reason = "there are 64 classes, and a pair has two bytes")]

use super::IMPACTS;
use crate::codec::norm::{length_to_norm, norm_to_length};

/// Number of pairs per block. A single pair would have to combine the highest frequency with the shortest
/// document, which are rarely in the same posting; three pairs make the bound nearly exact.
pub const PAIRS: usize = 3;

/// A bound for some postings: none has a higher frequency or a smaller norm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Impact {
    /// The code of the highest term frequency, see [`code_to_tf`].
    pub tf_code: u8,
    /// The norm of the shortest document.
    pub norm: u8,
}

impl Impact {
    /// The impact that bounds every posting.
    pub const UNBOUNDED: Impact = Impact { tf_code: u8::MAX, norm: 0 };
}

/// Returns the code of the smallest coded frequency that is not below `tf`.
#[inline]
fn tf_to_code(tf: u32) -> u8 {
    let code = length_to_norm(u64::from(tf));
    if norm_to_length(code) < tf { code.saturating_add(1) } else { code }
}

/// Returns the frequency that a code in an [`Impact`] stands for. The last code stands for all higher
/// frequencies too.
#[inline]
pub const fn code_to_tf(code: u8) -> u32 {
    if code == u8::MAX { u32::MAX } else { norm_to_length(code) }
}

/// Reads impacts that [`ImpactSet::pairs`] wrote.
#[inline]
pub(super) fn read_impacts(bytes: &[u8; IMPACTS]) -> [Impact; PAIRS] {
    std::array::from_fn(|i| Impact { tf_code: bytes[2 * i], norm: bytes[2 * i + 1] })
}

/// Frequencies up to this one have separate classes.
const EXACT_CLASSES: u8 = 24;

/// The highest code of each class that has only one code.
const EXACT_CODES: [u8; 64] = {
    let mut codes = [0; 64];
    let mut code = 0;
    while code < EXACT_CLASSES {
        codes[code as usize] = code;
        code += 1;
    }
    codes
};

/// Postings by class of frequency: for each class the highest frequency and the norm of the shortest
/// document.
pub(super) struct ImpactSet {
    used: u64,
    tf_codes: [u8; 64],
    norms: [u8; 64],
}

impl ImpactSet {
    pub(super) fn new() -> Self {
        ImpactSet { used: 0, tf_codes: EXACT_CODES, norms: [u8::MAX; 64] }
    }

    /// Returns the impacts of postings with frequency 1, where `norm` is the norm of the shortest document.
    pub(super) fn of_ones(norm: u8) -> [u8; IMPACTS] {
        std::array::from_fn(|i| if i % 2 == 0 { 1 } else { norm })
    }

    #[inline]
    pub(super) fn add(&mut self, tf: u32, norm: u8) {
        if tf < u32::from(EXACT_CLASSES) {
            self.lower(tf as usize, norm);
        } else {
            self.add_code(tf_to_code(tf), norm);
        }
    }

    fn add_code(&mut self, code: u8, norm: u8) {
        let class = if code < EXACT_CLASSES { code } else { EXACT_CLASSES + (code - EXACT_CLASSES) / 8 };
        let class = usize::from(class) % 64;
        self.tf_codes[class] = self.tf_codes[class].max(code);
        self.lower(class, norm);
    }

    #[inline]
    fn lower(&mut self, class: usize, norm: u8) {
        self.used |= 1 << class;
        self.norms[class] = self.norms[class].min(norm);
    }

    /// Adds the postings that `impacts` bound.
    pub(super) fn add_impacts(&mut self, impacts: &[u8; IMPACTS]) {
        for pair in impacts.as_chunks::<2>().0 {
            self.add_code(pair[0], pair[1]);
        }
    }

    /// Returns pairs that dominate all added postings, by descending frequency.
    pub(super) fn pairs(&self) -> [u8; IMPACTS] {
        let (mut steps, mut count) = self.steps();
        while count > PAIRS {
            let at = cheapest_merge(&steps[..count]);
            steps[at].1 = steps[at + 1].1;
            steps.copy_within(at + 2..count, at + 1);
            count -= 1;
        }
        std::array::from_fn(|i| {
            let (tf_code, norm) = steps[(i / 2).min(count.saturating_sub(1))];
            if i % 2 == 0 { tf_code } else { norm }
        })
    }

    /// Returns the classes that no other class dominates, by descending frequency and thus descending norm,
    /// and their number.
    fn steps(&self) -> ([(u8, u8); 64], usize) {
        let mut steps = [(0, 0); 64];
        let (mut count, mut left) = (0, self.used);
        while left != 0 {
            let class = 63 - left.leading_zeros() as usize;
            left &= !(1 << class);
            if count == 0 || self.norms[class] < steps[count - 1].1 {
                steps[count] = (self.tf_codes[class], self.norms[class]);
                count += 1;
            }
        }
        (steps, count)
    }
}

/// Returns the step to merge with the next one so that the ratio of frequency to length increases the least.
fn cheapest_merge(steps: &[(u8, u8)]) -> usize {
    let ratio =
        |tf_code: u8, norm: u8| f64::from(code_to_tf(tf_code)) / f64::from(norm_to_length(norm).max(1));
    let cost = |pair: &[(u8, u8)]| {
        let (high, low) = (pair[0], pair[1]);
        ratio(high.0, low.1) / ratio(high.0, high.1).max(ratio(low.0, low.1))
    };
    let mut best = (f64::INFINITY, 0);
    for (at, pair) in steps.windows(2).enumerate() {
        if cost(pair) < best.0 {
            best = (cost(pair), at);
        }
    }
    best.1
}
