//! The first stage of an analyzer: finds words in text.

use std::ops::Range;

use super::byteset::ByteSet;
use super::sink::TokenSink;
use super::standard::Standard;
use super::window::{TextWindows, push_long};
use crate::schema::Delimiters;
use crate::sys::Simd;

/// Finds the words that the filters of a chain take.
pub(super) enum Finder {
    Bytes { set: ByteSet, delimiters: Delimiters, windows: TextWindows },
    Standard(Box<Standard>),
    Whole,
}

impl Finder {
    pub(super) fn bytes(delimiters: Delimiters, simd: Simd) -> Self {
        let set = ByteSet::new(|byte| !delimiters.contains(byte));
        Finder::Bytes { set, delimiters, windows: TextWindows::new(simd) }
    }

    pub(super) fn standard(simd: Simd) -> Self {
        Finder::Standard(Box::new(Standard::new(simd)))
    }

    /// Pushes the words of `text[range]`; returns the number of words that were cut.
    #[inline]
    pub(super) fn run<S: TokenSink + ?Sized>(
        &mut self,
        text: &mut [u8],
        range: Range<usize>,
        sink: &mut S,
    ) -> u64 {
        match self {
            Finder::Bytes { set, windows, .. } => windows.run(set, text, range, sink),
            Finder::Standard(standard) => standard.run(text, range, sink),
            Finder::Whole if range.is_empty() => 0,
            Finder::Whole => push_long(text, range, sink),
        }
    }
}
