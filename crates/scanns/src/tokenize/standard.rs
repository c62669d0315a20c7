//! The standard analyzer: the words of UAX #29, lower-cased, as Lucene's StandardAnalyzer finds them.
//!
//! Text that is not ASCII is taken from white space to white space: `class.rs` classifies its characters, and
//! `grammar.rs` has the rules. ASCII, which is nearly all of most collections, takes a fast path with the
//! same result. In ASCII the rules of UAX #29 come down to this: letters, digits and `_` stick together (WB5,
//! WB8 to WB10, WB13a, WB13b); one of `:` `.` `'` between two letters (WB6, WB7) and one of `.` `,` `'` `;`
//! between two digits (WB11, WB12) joins them; everything else ends a word. So the word bytes are a mask, the
//! few joiners are added to it one at a time, and words of only `_` are dropped. The tests compare both paths
//! on all short strings of an alphabet that has every class, and with Lucene on every character.

use std::ops::Range;
use std::str::Utf8Chunks;

use super::arch::{LANE, WINDOW, mask, spread};
use super::byteset::ByteSet;
use super::class::WordClass;
use super::grammar::{WordOrGap, WordSplit};
use super::sink::TokenSink;
use super::window::{push_long, push_rewritten, settle_last};
use crate::schema::Analyzer;
use crate::sys::Simd;

/// The approximate size of the pieces of non-ASCII text that are classified at once, in bytes.
const STRETCH: usize = 4 << 10;

pub(super) struct Standard {
    simd: Simd,
    words: ByteSet,
    joiners: ByteSet,
    bounds: Box<[u16; WINDOW + LANE + 1]>,
    classes: Vec<WordClass>,
    lower: String,
}

impl Standard {
    pub(super) fn new(simd: Simd) -> Self {
        Standard {
            simd,
            words: ByteSet::new(|byte| byte.is_ascii_alphanumeric() || byte == b'_'),
            joiners: ByteSet::new(|byte| b":.',;".contains(&byte)),
            bounds: Box::new([0; WINDOW + LANE + 1]),
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
            let foreign = start + first_non_ascii(&text[start..end]);
            let stop = if foreign == end { end } else { last_cut(text, start, foreign) };
            text[start..stop].make_ascii_lowercase();
            cut += self.ascii(text, start..stop, sink);
            start = stop;
            if foreign < end {
                let stop = next_cut(text, foreign, end);
                cut += self.unicode(text, start..stop, sink);
                start = stop;
            }
        }
        cut
    }

    /// Pushes the words of lower-cased ASCII text.
    fn ascii<S: TokenSink + ?Sized>(&mut self, text: &[u8], range: Range<usize>, sink: &mut S) -> u64 {
        let Range { mut start, end } = range;
        let mut cut = 0;
        while start < end {
            let stop = end.min(start + WINDOW);
            let count = self.window_bounds(text, start, stop, end);
            let (count, mut next) = settle_last(&mut self.bounds[..], count, start..stop, end);
            let count = drop_underscores(text, start, &mut self.bounds[..count]);
            if count > 0 {
                sink.tokens(text, start, &self.bounds[..count]);
            }
            if next == start {
                next = end_of_word(text, start, end);
                if text[start..next].iter().any(u8::is_ascii_alphanumeric) {
                    cut += push_long(text, start..next, sink);
                }
            }
            start = next;
        }
        cut
    }

    /// Fills `bounds` with the starts and ends of words in `text[start..stop]`; the text ends at `end`.
    fn window_bounds(&mut self, text: &[u8], start: usize, stop: usize, end: usize) -> usize {
        let (mut count, mut before) = (0, 0);
        let mut at = start;
        while at < stop {
            let lane = &text[at..stop.min(at + LANE)];
            let valid = if lane.len() == LANE { u64::MAX } else { (1 << lane.len()) - 1 };
            let mut words = mask(self.simd, &self.words, lane);
            // A joiner needs a word byte before it, in this lane or the one before.
            let mut candidates = mask(self.simd, &self.joiners, lane) & (words << 1 | before);
            while candidates != 0 {
                let bit = candidates.trailing_zeros() as usize;
                words |= u64::from(joins(text, start, at + bit, end)) << bit;
                candidates &= candidates - 1;
            }
            let edges = words ^ (words << 1 | before);
            before = words >> 63;
            #[expect(clippy::cast_possible_truncation, reason = "a window is 4096 bytes")]
            let base = (at - start) as u16;
            count = spread(edges & valid, base, &mut self.bounds[..], count);
            at += LANE;
        }
        count
    }

    /// Pushes the words of any text.
    #[cold]
    fn unicode<S: TokenSink + ?Sized>(&mut self, text: &[u8], range: Range<usize>, sink: &mut S) -> u64 {
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

/// True if the byte at `at` joins the word bytes around it; `start` and `end` bound the text.
#[inline]
fn joins(text: &[u8], start: usize, at: usize, end: usize) -> bool {
    if at <= start || at + 1 >= end {
        return false;
    }
    let (before, joiner, after) = (text[at - 1], text[at], text[at + 1]);
    let letters = before.is_ascii_alphabetic() && after.is_ascii_alphabetic();
    let digits = before.is_ascii_digit() && after.is_ascii_digit();
    match joiner {
        b'.' | b'\'' => letters || digits,
        b':' => letters,
        b',' | b';' => digits,
        _ => false,
    }
}

/// The end of the word that starts at `start`.
fn end_of_word(text: &[u8], start: usize, end: usize) -> usize {
    let inside = |at: &usize| {
        let byte = text[*at];
        byte.is_ascii_alphanumeric() || byte == b'_' || joins(text, start, *at, end)
    };
    (start..end).find(|at| !inside(at)).unwrap_or(end)
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

/// Position of the first byte that is not ASCII, or the length.
fn first_non_ascii(text: &[u8]) -> usize {
    let clean: usize = text.chunks(256).take_while(|chunk| chunk.is_ascii()).map(<[u8]>::len).sum();
    text[clean..].iter().position(|byte| !byte.is_ascii()).map_or(text.len(), |at| clean + at)
}

/// The last place in `start..foreign` that no word spans, or `start`.
fn last_cut(text: &[u8], start: usize, foreign: usize) -> usize {
    (start + 1..foreign).rev().find(|&at| Analyzer::Standard.may_cut(text[at - 1], text[at])).unwrap_or(start)
}

/// The first place after `foreign` that no word spans and where ASCII follows, or `end`.
///
/// Non-ASCII text is taken as a whole up to the white space before ASCII, or up to any such place after
/// [`STRETCH`] bytes.
fn next_cut(text: &[u8], foreign: usize, end: usize) -> usize {
    let cut = |&at: &usize| {
        Analyzer::Standard.may_cut(text[at - 1], text[at]) && (text[at].is_ascii() || at - foreign > STRETCH)
    };
    (foreign + 1..end).find(cut).unwrap_or(end)
}
