//! Tokenizes text in windows of 4 KiB, so that the offsets of a window stay in the first-level cache until
//! the sink reads them.

use std::ops::Range;

use super::arch::{LANE, WINDOW, changes, mask};
use super::byteset::ByteSet;
use super::sink::TokenSink;
use crate::schema::MAX_TOKEN;
use crate::sys::Simd;

/// Cuts text into windows at token boundaries and finds the tokens in each.
pub(super) struct TextWindows {
    simd: Simd,
    bounds: Box<[u16; WINDOW + LANE + 1]>,
}

impl TextWindows {
    pub(super) fn new(simd: Simd) -> Self {
        TextWindows { simd, bounds: Box::new([0; WINDOW + LANE + 1]) }
    }

    /// Pushes the runs of `set` in `text[range]` into `sink`; returns the number of runs that were cut to
    /// [`MAX_TOKEN`].
    pub(super) fn run<S: TokenSink + ?Sized>(
        &mut self,
        set: &ByteSet,
        text: &[u8],
        range: Range<usize>,
        sink: &mut S,
    ) -> u64 {
        let Range { mut start, end } = range;
        let mut cut = 0;
        while start < end {
            let stop = end.min(start + WINDOW);
            let count = changes(self.simd, set, &text[start..stop], &mut self.bounds[..]);
            let (count, mut next) = settle_last(&mut self.bounds[..], count, start..stop, end);
            if count > 0 {
                sink.tokens(text, start, &self.bounds[..count]);
            }
            if next == start {
                next = self.end_of_run(set, text, start, end);
                cut += push_long(text, start..next, sink);
            }
            start = next;
        }
        cut
    }

    /// The end of the run of `set` that starts at `start`.
    fn end_of_run(&self, set: &ByteSet, text: &[u8], start: usize, end: usize) -> usize {
        let mut at = start;
        while at < end {
            let lane = &text[at..end.min(at + LANE)];
            let inside = mask(self.simd, set, lane).trailing_ones() as usize;
            at += inside.min(lane.len());
            if inside < lane.len() {
                break;
            }
        }
        at
    }
}

/// Handles a last token that reaches the end of the window: closes it if the text ends there (at `end`), or
/// else leaves it to the next window, which starts with it. Returns the number of bounds and where the next
/// window starts.
pub(super) fn settle_last(
    bounds: &mut [u16],
    count: usize,
    window: Range<usize>,
    end: usize,
) -> (usize, usize) {
    if count.is_multiple_of(2) {
        return (count, window.end);
    }
    if window.end < end {
        return (count - 1, window.start + usize::from(bounds[count - 1]));
    }
    #[expect(clippy::cast_possible_truncation, reason = "a window is 4096 bytes")]
    let last = window.len() as u16;
    bounds[count] = last;
    (count + 1, window.end)
}

/// Pushes the token `text[range]`, which may exceed [`MAX_TOKEN`]; returns 1 if it was cut.
pub(super) fn push_long<S: TokenSink + ?Sized>(text: &[u8], range: Range<usize>, sink: &mut S) -> u64 {
    push_rewritten(&text[range.clone()], range, sink)
}

/// Pushes a token that the analyzer has rewritten. Its place is `source`, which is shortened if the token is
/// cut.
pub(super) fn push_rewritten<S: TokenSink + ?Sized>(token: &[u8], source: Range<usize>, sink: &mut S) -> u64 {
    let source = source.start..source.end.min(source.start + MAX_TOKEN);
    sink.token(&token[..token.len().min(MAX_TOKEN)], source);
    u64::from(token.len() > MAX_TOKEN)
}
