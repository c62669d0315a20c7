//! The two tokenizers of Orhean et al., "SCANNS: Towards Scalable and Concurrent Data Indexing and
//! Searching".
//!
//! [`Strtok`] finds one token after another with the two searches of C's `strtok`. [`FlagTable`] reads each
//! byte once, and stores the bounds of all tokens of a window without a branch. Both find the same tokens as
//! [`Tokenizer`](scanns::analysis::Tokenizer) for the same delimiters; tests compare them.

use std::ops::Range;

use scanns::analysis::TokenSink;
use scanns::schema::{Delimiters, MAX_TOKEN};

/// Finds tokens as C's `strtok` does: skips delimiters, then searches for the next one, each with a fresh
/// table.
///
/// Unlike in C, a zero byte is an ordinary byte, and the text is not changed.
pub struct Strtok {
    delimiters: Vec<u8>,
    cut: u64,
}

impl Strtok {
    /// A tokenizer that splits at `delimiters`.
    pub fn new(delimiters: &Delimiters) -> Self {
        Strtok { delimiters: (0..=255).filter(|&byte| delimiters.contains(byte)).collect(), cut: 0 }
    }

    /// Pushes the tokens of `text[range]` into `sink`.
    pub fn run<S: TokenSink>(&mut self, text: &[u8], range: Range<usize>, sink: &mut S) {
        let Range { mut start, end } = range;
        while start < end {
            start += span::<true>(&text[start..end], &self.delimiters);
            if start == end {
                return;
            }
            let len = span::<false>(&text[start..end], &self.delimiters);
            self.cut += push_long(text, start..start + len, sink);
            // The delimiter that ended the token need not be read again.
            start += len + 1;
        }
    }

    /// The number of tokens that were cut to [`MAX_TOKEN`] bytes so far.
    pub fn cut_tokens(&self) -> u64 {
        self.cut
    }
}

/// The number of bytes at the front of `text` that are in `set` (`strspn`), or that are not (`strcspn`,
/// without `MEMBERS`).
///
/// As in the GNU C library, a table of 256 flags is built first, then four bytes are looked up between two
/// branches.
#[inline(never)]
fn span<const MEMBERS: bool>(text: &[u8], set: &[u8]) -> usize {
    let mut stops = [u8::from(MEMBERS); 256];
    for &byte in set {
        stops[usize::from(byte)] = u8::from(!MEMBERS);
    }
    let stop = |byte: u8| stops[usize::from(byte)];
    let (fours, _) = text.as_chunks::<4>();
    let clear = |four: &[u8; 4]| stop(four[0]) | stop(four[1]) | stop(four[2]) | stop(four[3]) == 0;
    let skipped = fours.iter().take_while(|four| clear(four)).count() * 4;
    let rest = &text[skipped..];
    skipped + rest.iter().position(|&byte| stop(byte) != 0).unwrap_or(rest.len())
}

/// Pushes the token `text[range]`, which may be longer than [`MAX_TOKEN`]; returns 1 if it had to be cut.
fn push_long<S: TokenSink>(text: &[u8], range: Range<usize>, sink: &mut S) -> u64 {
    let kept = range.start..range.end.min(range.start + MAX_TOKEN);
    sink.token(&text[kept.clone()], kept);
    u64::from(range.len() > MAX_TOKEN)
}

/// Bytes of text per window: no token within one is longer than [`MAX_TOKEN`].
const WINDOW: usize = MAX_TOKEN;

/// Finds tokens with a table of delimiter flags, in one pass and without a branch that depends on a byte.
pub struct FlagTable {
    /// 1 for a delimiter.
    flags: [u8; 256],
    /// Alternating starts and ends. A `u16` is always a valid index, so no bound is checked.
    bounds: Box<[u16; 1 << 16]>,
    cut: u64,
}

impl FlagTable {
    /// A tokenizer that splits at `delimiters`.
    pub fn new(delimiters: &Delimiters) -> Self {
        let mut flags = [0; 256];
        for byte in 0..=255u8 {
            flags[usize::from(byte)] = u8::from(delimiters.contains(byte));
        }
        FlagTable { flags, bounds: Box::new([0; 1 << 16]), cut: 0 }
    }

    /// Pushes the tokens of `text[range]` into `sink`.
    pub fn run<S: TokenSink>(&mut self, text: &[u8], range: Range<usize>, sink: &mut S) {
        let Range { mut start, end } = range;
        while start < end {
            let stop = end.min(start + WINDOW);
            let mut count = self.changes(&text[start..stop]);
            let mut next = stop;
            if !count.is_multiple_of(2) && stop < end {
                // The last token may continue, and begins the next window.
                count -= 1;
                next = start + usize::from(self.bounds[count]);
            } else if !count.is_multiple_of(2) {
                #[expect(clippy::cast_possible_truncation, reason = "a window is 32 KiB")]
                let last = (stop - start) as u16;
                self.bounds[count] = last;
                count += 1;
            }
            if count > 0 {
                sink.tokens(text, start, &self.bounds[..count]);
            }
            if next == start {
                let rest = &text[start..end];
                let len = rest.iter().position(|&byte| self.flags[usize::from(byte)] != 0);
                next = len.map_or(end, |len| start + len);
                self.cut += push_long(text, start..next, sink);
            }
            start = next;
        }
    }

    /// Stores the offsets at which tokens begin or end. Returns their number. A token at the end of `bytes`
    /// is left open.
    fn changes(&mut self, bytes: &[u8]) -> usize {
        let FlagTable { flags, bounds, .. } = self;
        let (mut count, mut before) = (0u16, 1u8);
        for (at, &byte) in (0u16..).zip(bytes) {
            let flag = flags[usize::from(byte)];
            // Always written, but kept only where the flag changes.
            bounds[usize::from(count)] = at;
            count += u16::from(flag ^ before);
            before = flag;
        }
        usize::from(count)
    }

    /// The number of tokens that were cut to [`MAX_TOKEN`] bytes so far.
    pub fn cut_tokens(&self) -> u64 {
        self.cut
    }
}
