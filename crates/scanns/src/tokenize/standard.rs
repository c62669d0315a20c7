//! The standard analyzer: the words of UAX #29, lower-cased, as Lucene's StandardAnalyzer finds them.
//!
//! Text takes the fastest of three paths that knows all its characters, with the same result. The vector
//! code of `arch/words.rs` knows ASCII, which is nearly all of most collections. There the rules of UAX #29
//! come down to this: letters, digits and `_` stick together (WB5, WB8 to WB10, WB13a, WB13b); one of `:`
//! `.` `'` between two letters (WB6, WB7) and one of `.` `,` `'` `;` between two digits (WB11, WB12) joins
//! them; everything else ends a word; and words of only `_` are dropped. `bmp.rs` knows the characters of
//! most other scripts. The rest is classified (`class.rs`) before the exact rules (`grammar.rs`) are
//! applied. Paths change only at places that no word spans. The tests compare them on all short strings of
//! an alphabet that has every class, and with Lucene on every character.

use std::ops::Range;
use std::str::Utf8Chunks;

use super::arch::{LANE, WINDOW, WordSpan, ascii_words};
use super::bmp::{BmpEnd, BmpWords};
use super::class::WordClass;
use super::grammar::{WordOrGap, WordSplit};
use super::sink::TokenSink;
use super::window::{push_rewritten, settle_last};
use crate::schema::Analyzer;
use crate::sys::Simd;

/// The approximate size of the pieces of text that are classified at once, in bytes.
const STRETCH: usize = 4 << 10;

pub(super) struct Standard {
    simd: Simd,
    bmp: &'static BmpWords,
    /// The pass over other scripts may end a window behind the stop.
    bounds: Box<[u16; 2 * WINDOW + LANE + 2]>,
    classes: Vec<WordClass>,
    lower: String,
}

/// What was found of a window.
struct WordWindow {
    /// The number of offsets.
    count: usize,
    /// The end of the text that they are of.
    end: usize,
    /// True if the exact rules must be applied to the text behind it.
    is_unknown: bool,
}

impl Standard {
    pub(super) fn new(simd: Simd) -> Self {
        Standard {
            simd,
            bmp: BmpWords::get(),
            bounds: Box::new([0; 2 * WINDOW + LANE + 2]),
            classes: Vec::new(),
            lower: String::new(),
        }
    }

    /// Pushes the words of `text[range]`, which is lower-cased in place; returns the number of words that
    /// were cut.
    pub(super) fn run<S: TokenSink + ?Sized>(
        &mut self,
        text: &mut [u8],
        range: Range<usize>,
        sink: &mut S,
    ) -> u64 {
        let Range { mut start, end } = range;
        let mut cut = 0;
        while start < end {
            let window = self.window(text, start, end);
            if window.count > 0 {
                sink.tokens(text, start, &self.bounds[..window.count]);
            }
            start = window.end;
            if window.is_unknown {
                let stop = next_cut(text, start, end);
                cut += self.unicode(text, start..stop, sink);
                start = stop;
            }
        }
        cut
    }

    /// Finds the words of `text[start..]` until the window is full, or until a fast path gives up.
    fn window(&mut self, text: &mut [u8], start: usize, end: usize) -> WordWindow {
        let span = WordSpan { base: start, from: start, stop: end.min(start + WINDOW), end };
        let (mut at, mut count, mut connectors, mut is_unknown) = (start, 0, false, false);
        while at < span.stop && !is_unknown {
            let from = WordSpan { from: at, ..span };
            let found = ascii_words(self.simd, text, from, &mut self.bounds[..], count);
            (at, count) = (found.at, found.count);
            connectors |= found.connectors;
            if at < span.stop {
                let cut = last_cut(text, from.from, at);
                count = words_before(&self.bounds[..count], cut - start);
                let from = WordSpan { from: cut, ..span };
                (at, count) = match self.bmp.run(text, from, &mut self.bounds[..], count) {
                    BmpEnd::Cut { at, count } => (at, count),
                    BmpEnd::Unknown { from, count } => {
                        is_unknown = true;
                        (from, count)
                    }
                };
            }
        }
        let (mut count, at) = settle_last(&mut self.bounds[..], count, start..at, end);
        if connectors {
            count = drop_underscores(text, start, &mut self.bounds[..count]);
        }
        // A word that fills the window is left to the exact rules.
        WordWindow { count, end: at, is_unknown: is_unknown || at == start }
    }

    /// Pushes the words of any text.
    #[cold]
    pub(super) fn unicode<S: TokenSink + ?Sized>(
        &mut self,
        text: &[u8],
        range: Range<usize>,
        sink: &mut S,
    ) -> u64 {
        let source = &text[range.clone()];
        let repaired = String::from_utf8_lossy(source);
        let mut places = SourcePlaces::new(source, range.start);
        self.classes.clear();
        self.classes.extend(repaired.chars().map(WordClass::of));
        let mut rest = repaired.chars();
        let mut cut = 0;
        for piece in WordSplit::new(&self.classes) {
            let at = repaired.len() - rest.as_str().len();
            match piece {
                WordOrGap::Gap(count) => rest.by_ref().take(count).for_each(drop),
                WordOrGap::Word(count) => {
                    self.lower.clear();
                    // One code point for one, as in the search engines whose scores are compared with ours.
                    let lower = rest.by_ref().take(count).filter_map(|c| c.to_lowercase().next());
                    self.lower.extend(lower);
                    let end = repaired.len() - rest.as_str().len();
                    let stands = places.of(at)..places.of(end);
                    cut += push_rewritten(self.lower.as_bytes(), stands, sink);
                }
            }
        }
        cut
    }
}

/// Maps places in a repaired text to places in the original bytes: each invalid byte sequence became one
/// replacement character.
struct SourcePlaces<'a> {
    chunks: Utf8Chunks<'a>,
    /// Where the current chunk starts in the text, and in the bytes.
    starts: (usize, usize),
    /// Number of its valid bytes, and of the invalid bytes after them.
    lens: (usize, usize),
}

impl<'a> SourcePlaces<'a> {
    /// Creates the mapping for the text of `source`, whose first byte is at `base`.
    fn new(source: &'a [u8], base: usize) -> Self {
        SourcePlaces { chunks: source.utf8_chunks(), starts: (0, base), lens: (0, 0) }
    }

    /// The place in the bytes of the character at `at`, which must not be before the place of the last call.
    fn of(&mut self, at: usize) -> usize {
        loop {
            let ((start, source), (valid, invalid)) = (self.starts, self.lens);
            if at <= start + valid {
                return source + at - start;
            }
            let replaced = if invalid > 0 { char::REPLACEMENT_CHARACTER.len_utf8() } else { 0 };
            self.starts = (start + valid + replaced, source + valid + invalid);
            self.lens = match self.chunks.next() {
                Some(chunk) => (chunk.valid().len(), chunk.invalid().len()),
                // The end of the text is in the last chunk.
                None => return self.starts.1,
            };
        }
    }
}

/// The number of offsets of the words before `cut`, which no word spans.
fn words_before(bounds: &[u16], cut: usize) -> usize {
    let behind = bounds.iter().rev().take_while(|&&bound| usize::from(bound) > cut).count();
    // A word may start at the cut.
    (bounds.len() - behind) & !1
}

/// Removes words without a letter or digit, which in ASCII start with `_`; returns the number of offsets
/// left.
fn drop_underscores(text: &[u8], base: usize, bounds: &mut [u16]) -> usize {
    let mut kept = 0;
    for i in (0..bounds.len()).step_by(2) {
        let (from, to) = (bounds[i], bounds[i + 1]);
        let start = base + usize::from(from);
        if text[start] == b'_' && text[start..base + usize::from(to)].iter().all(|&byte| byte == b'_') {
            continue;
        }
        (bounds[kept], bounds[kept + 1]) = (from, to);
        kept += 2;
    }
    kept
}

/// The last place up to `foreign` that no word spans, or `start`.
fn last_cut(text: &[u8], start: usize, foreign: usize) -> usize {
    (start + 1..=foreign)
        .rev()
        .find(|&at| Analyzer::Standard.may_cut(text[at - 1], text[at]))
        .unwrap_or(start)
}

/// The first place after `start` that no word spans and where ASCII follows, or any such place after
/// [`STRETCH`] bytes, or `end`.
fn next_cut(text: &[u8], start: usize, end: usize) -> usize {
    let cut = |&at: &usize| {
        Analyzer::Standard.may_cut(text[at - 1], text[at]) && (text[at].is_ascii() || at - start > STRETCH)
    };
    (start + 1..end).find(cut).unwrap_or(end)
}
