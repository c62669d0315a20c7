//! Chooses symbols. Each round compresses a sample with the symbols of the round before and keeps the symbols
//! that save the most.
//!
//! Each round counts the occurrences of every symbol, of every byte, and of every pair of neighbours.
//! Symbols, bytes and joined pairs are the candidates of the next round. The worth of a candidate is the
//! number of bytes that it would cover. So symbols grow from one byte to eight bytes in a few rounds. The
//! first byte of each symbol is counted as well, so pairs that only join where a symbol was cut short are
//! found too.

use hashbrown::HashMap;

use super::matcher::Matcher;
use super::symbol::{LITERAL, LONGEST, MOST, Symbol};

/// Sufficient size of a sample in bytes; more bytes hardly improve the symbols.
pub const SAMPLE: usize = 32 << 10;

/// The step between the pieces of the sample that each round takes: every eighth piece, and so on.
const STEPS: [usize; 5] = [8, 4, 2, 1, 1];
/// A sample with fewer pieces than this is taken as a whole.
const FEW: usize = 64;
/// Number of bytes and symbols to count; bytes come first.
const KINDS: usize = 512;
/// Maximum number of consecutive bytes that a sample takes of a string.
const PIECE: usize = 256;
/// The factor by which the worth of a byte exceeds the bytes that it covers: a byte without a symbol takes
/// two bytes of code.
const BYTE_WORTH: u64 = 8;

/// Takes pieces of `strings`, which have `total` bytes: about `most` bytes in all, spread evenly.
pub fn sample<'a>(strings: impl Iterator<Item = &'a [u8]>, total: usize, most: usize) -> Vec<&'a [u8]> {
    let (mut sample, mut seen, mut taken) = (Vec::new(), 0u128, 0u128);
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for piece in strings.flat_map(|string| string.chunks(PIECE)) {
        // Pieces are taken at random, because texts often have a period. Pieces are more likely to be taken
        // while fewer than due were taken.
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        seen += piece.len() as u128;
        let due = seen * most as u128 / total.max(1) as u128;
        let jitter = u128::from(state >> 53);
        if total <= most || taken + jitter <= due + 1024 {
            sample.push(piece);
            taken += piece.len() as u128;
        }
    }
    sample
}

/// Counts of bytes and symbols, and of pairs of them.
struct Counts {
    single: [u32; KINDS],
    pairs: Vec<u32>,
    /// The pairs that occurred.
    seen: Vec<u32>,
    /// Size of the sample in bytes.
    total: usize,
}

impl Counts {
    fn new() -> Self {
        Counts { single: [0; KINDS], pairs: vec![0; KINDS * KINDS], seen: Vec::new(), total: 0 }
    }

    fn clear(&mut self) {
        self.total = 0;
        self.single.fill(0);
        for pair in self.seen.drain(..) {
            if let Some(count) = self.pairs.get_mut(pair as usize) {
                *count = 0;
            }
        }
    }

    fn add(&mut self, before: Option<u16>, kind: u16) {
        if let Some(count) = self.single.get_mut(usize::from(kind)) {
            *count += 1;
        }
        let Some(before) = before else { return };
        let pair = u32::from(before) << 9 | u32::from(kind);
        if let Some(count) = self.pairs.get_mut(pair as usize) {
            if *count == 0 {
                self.seen.push(pair);
            }
            *count += 1;
        }
    }

    /// Compresses `sample` and counts the bytes, symbols and pairs.
    fn take<'a>(&mut self, matcher: &Matcher, sample: impl Iterator<Item = &'a &'a [u8]>) {
        self.clear();
        for &string in sample {
            self.total += string.len();
            let (mut text, mut before) = (string, None);
            while let Some(&first) = text.first() {
                let (code, len) = matcher.longest(text);
                let kind = if code == LITERAL { u16::from(first) } else { 256 + u16::from(code) };
                self.add(before, kind);
                if len > 1 {
                    self.add(before, u16::from(first));
                }
                before = Some(kind);
                text = text.get(len..).unwrap_or_default();
            }
        }
    }
}

/// Chooses symbols that compress texts like those of `sample`; see [`super::SymbolTable::train`].
pub(super) fn train(sample: &[&[u8]]) -> Vec<Symbol> {
    let mut counts = Counts::new();
    let mut symbols: Vec<Symbol> = Vec::new();
    for step in STEPS {
        // The first rounds only need symbols that are good enough to grow, so less of the sample suffices.
        let some = sample.iter().step_by(if sample.len() < FEW { 1 } else { step });
        counts.take(&Matcher::new(&symbols), some);
        symbols = grow(&symbols, &counts);
    }
    symbols
}

/// Returns the symbols of the next round: the candidates that cover the most bytes of the counted sample.
fn grow(symbols: &[Symbol], counts: &Counts) -> Vec<Symbol> {
    let kind = |kind: usize| match kind.checked_sub(256) {
        Some(code) => symbols.get(code).copied(),
        None => u8::try_from(kind).ok().map(Symbol::byte),
    };
    let mut worth: HashMap<Symbol, u64> = HashMap::with_capacity(4 * KINDS);
    // Rarer candidates are not among the best, and there are many of them.
    let least = 2 + u32::try_from(counts.total / 8192).unwrap_or(u32::MAX - 2);
    for (symbol, &count) in
        counts.single.iter().enumerate().filter_map(|(at, count)| Some((kind(at)?, count)))
    {
        if count > 0 {
            let factor = if symbol.len == 1 { BYTE_WORTH } else { u64::from(symbol.len) };
            let own = worth.entry(symbol).or_default();
            *own = (*own).max(factor * u64::from(count));
        }
    }
    for &pair in &counts.seen {
        let count = counts.pairs.get(pair as usize).copied().unwrap_or(0);
        let (first, second) = (kind(pair as usize >> 9), kind(pair as usize & (KINDS - 1)));
        let (Some(first), Some(second)) = (first, second) else { continue };
        if usize::from(first.len) == LONGEST || count < least {
            continue;
        }
        let joined = join(first, second);
        *worth.entry(joined).or_default() += u64::from(joined.len) * u64::from(count);
    }
    let mut all: Vec<(u64, Symbol)> = worth.into_iter().map(|(symbol, worth)| (worth, symbol)).collect();
    // Symbols that cover fewer bytes than they take in the table are dropped.
    all.retain(|(worth, symbol)| *worth > 2 * u64::from(symbol.len));
    let rank = |(worth, symbol): &(u64, Symbol)| (u64::MAX - worth, symbol.order());
    if all.len() > MOST {
        all.select_nth_unstable_by_key(MOST, rank);
    }
    all.truncate(MOST);
    all.into_iter().map(|(_, symbol)| symbol).collect()
}

/// Joins two symbols, cut off at the maximum length.
fn join(first: Symbol, second: Symbol) -> Symbol {
    let len = (first.len + second.len).min(8);
    let joined = Symbol { bits: first.bits | second.bits << (8 * u32::from(first.len)), len };
    Symbol { bits: joined.bits & joined.mask(), len }
}
