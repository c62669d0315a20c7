//! Compresses short strings so that each can be read alone. A byte of code stands for a symbol of up to eight
//! bytes.
//!
//! ```text
//! table = count u8 (8 times) | symbol …   how many symbols have 1, 2, … 8 bytes; their bytes in that order
//! text  = code …
//! code  = number of a symbol u8 | 255 byte   255: the byte as it is
//! ```
//!
//! There are at most 255 distinct symbols, numbered in the order in which they are stored: by length, then by
//! bytes. The code of a string does not contain its length. The method is from Boncz, Neumann and Leis,
//! "FSST: Fast Random Access String Compression", VLDB 2020. `train.rs` chooses the symbols, `matcher.rs`
//! compresses, this file decompresses. That takes 1 to 2 ns per code, because each symbol is one store of
//! eight bytes, of which only the first ones count.

mod matcher;
mod symbol;
#[cfg(test)]
mod tests;
mod train;

pub use matcher::Matcher;
pub use train::{SAMPLE, sample};

use super::ByteReader;
pub use symbol::LONGEST;
use symbol::{LITERAL, MOST, Symbol};

/// Number of codes to decompress between two checks of the length of the text.
const STRETCH: usize = 64;

/// A table of symbols, which maps each code to its symbol.
#[derive(Clone, Debug)]
pub struct SymbolTable {
    bits: [u64; 256],
    /// The length of each symbol; zero for codes without a symbol.
    lens: [u8; 256],
    count: usize,
}

impl SymbolTable {
    /// Creates a table of the first 255 of these symbols.
    fn of(mut symbols: Vec<Symbol>) -> Self {
        symbols.truncate(MOST);
        symbols.sort_unstable_by_key(Symbol::order);
        symbols.dedup();
        let mut table = SymbolTable { bits: [0; 256], lens: [0; 256], count: symbols.len() };
        for ((bits, len), symbol) in table.bits.iter_mut().zip(&mut table.lens).zip(&symbols) {
            (*bits, *len) = (symbol.bits, symbol.len);
        }
        table
    }

    /// Trains a table that compresses texts like those of `sample`. [`sample`] takes a sample of suitable
    /// size from more text.
    pub fn train(sample: &[&[u8]]) -> Self {
        Self::of(train::train(sample))
    }

    /// Returns a matcher, which compresses with this table.
    pub fn matcher(&self) -> Matcher {
        Matcher::new(&self.symbols())
    }

    fn symbols(&self) -> Vec<Symbol> {
        let all = self.bits.iter().zip(&self.lens).take(self.count);
        all.map(|(&bits, &len)| Symbol { bits, len }).collect()
    }

    /// Appends the encoded table.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let symbols = self.symbols();
        for len in 1..=8 {
            let count = symbols.iter().filter(|symbol| symbol.len == len).count();
            out.push(u8::try_from(count).unwrap_or(u8::MAX));
        }
        for symbol in &symbols {
            out.extend_from_slice(symbol.bytes().get(..usize::from(symbol.len)).unwrap_or_default());
        }
    }

    /// Reads a table. Returns `None` if the bytes are not a table that [`encode`](Self::encode) writes.
    pub fn decode(reader: &mut ByteReader) -> Option<Self> {
        let counts: [u8; 8] = *reader.take(8)?.first_chunk()?;
        if counts.iter().map(|&count| usize::from(count)).sum::<usize>() > MOST {
            return None;
        }
        let mut table = SymbolTable { bits: [0; 256], lens: [0; 256], count: 0 };
        let mut before = (0, 0);
        for (len, count) in (1..).zip(counts) {
            for _ in 0..count {
                let mut bytes = [0; LONGEST];
                bytes.get_mut(..usize::from(len))?.copy_from_slice(reader.take(usize::from(len))?);
                let symbol = Symbol { bits: u64::from_le_bytes(bytes), len };
                if table.count > 0 && symbol.order() <= before {
                    return None;
                }
                before = symbol.order();
                *table.bits.get_mut(table.count)? = symbol.bits;
                *table.lens.get_mut(table.count)? = len;
                table.count += 1;
            }
        }
        Some(table)
    }

    /// Appends the text of `code`. Returns `None` and appends nothing if `code` is invalid or its text has
    /// more than `most` bytes. A text has at most eight times as many bytes as its code.
    #[inline]
    pub fn decompress(&self, mut code: &[u8], most: usize, out: &mut Vec<u8>) -> Option<()> {
        let start = out.len();
        while !code.is_empty() {
            let at = out.len();
            out.resize(at + LONGEST * code.len().min(STRETCH), 0);
            let target = out.get_mut(at..).unwrap_or_default();
            let Some((rest, len)) = self.stretch(code, target).filter(|(_, len)| at - start + len <= most)
            else {
                out.truncate(start);
                return None;
            };
            out.truncate(at + len);
            code = rest;
        }
        Some(())
    }

    /// Writes the text of `code` to the front of `target` and returns its length. Returns `None` if `code`
    /// is invalid, or if `target` has fewer than eight bytes for each code. Bytes of `target` behind the text
    /// are overwritten.
    #[inline]
    pub fn decompress_to(&self, mut code: &[u8], target: &mut [u8]) -> Option<usize> {
        let mut at = 0;
        while !code.is_empty() {
            let (rest, len) = self.stretch(code, target.get_mut(at..)?)?;
            (code, at) = (rest, at + len);
        }
        Some(at)
    }

    /// Decompresses the first codes into `target`, which has room for one symbol per code. Returns the
    /// remaining codes and the number of bytes written.
    #[inline]
    #[expect(clippy::indexing_slicing, reason = "tables of 256 entries, indexed by a byte")]
    fn stretch<'a>(&self, mut code: &'a [u8], target: &mut [u8]) -> Option<(&'a [u8], usize)> {
        let (mut at, mut unknown) = (0, false);
        for _ in 0..STRETCH {
            let Some((&first, rest)) = code.split_first() else { break };
            code = rest;
            if first == LITERAL {
                let (&byte, rest) = code.split_first()?;
                code = rest;
                *target.get_mut(at)? = byte;
                at += 1;
                continue;
            }
            let (bits, len) = (self.bits[usize::from(first)], self.lens[usize::from(first)]);
            *target.get_mut(at..)?.first_chunk_mut()? = bits.to_le_bytes();
            unknown |= len == 0;
            at += usize::from(len);
        }
        (!unknown).then_some((code, at))
    }
}
