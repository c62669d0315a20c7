//! Short strings in fewer bytes, each readable alone: a byte of code stands for a symbol of up to eight
//! bytes.
//!
//! ```text
//! table = count u8 (8 times) | symbol …   how many symbols have 1, 2, … 8 bytes; their bytes in that order
//! text  = code …
//! code  = number of a symbol u8 | 255 byte   255: the byte as it is
//! ```
//!
//! There are at most 255 symbols, numbered in the order in which they stand: by length, then by bytes, none
//! twice. The text of a string does not say how long it is. The idea is that of Boncz, Neumann and Leis,
//! "FSST: Fast Random Access String Compression", VLDB 2020. `train.rs` chooses the symbols, `matcher.rs`
//! compresses, this file decompresses: 1 to 2 ns a code, since each symbol is one store of eight bytes, of
//! which only its length counts.

mod matcher;
mod symbol;
#[cfg(test)]
mod tests;
mod train;

pub use matcher::Matcher;
pub use train::{SAMPLE, sample};

use super::ByteReader;
use symbol::{LITERAL, LONGEST, MOST, Symbol};

/// Codes that are decompressed between two looks at how long the text became.
const STRETCH: usize = 64;

/// The symbols that codes stand for.
#[derive(Clone, Debug)]
pub struct SymbolTable {
    bits: [u64; 256],
    /// Lengths, zero where there is no symbol.
    lens: [u8; 256],
    count: usize,
}

impl SymbolTable {
    /// The table of these symbols, the first 255 of them.
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

    /// The table that shortens texts like those of `sample`; [`sample`] makes one of suitable size of more
    /// text.
    pub fn train(sample: &[&[u8]]) -> Self {
        Self::of(train::train(sample))
    }

    /// What compresses with this table.
    pub fn matcher(&self) -> Matcher {
        Matcher::new(&self.symbols())
    }

    fn symbols(&self) -> Vec<Symbol> {
        let all = self.bits.iter().zip(&self.lens).take(self.count);
        all.map(|(&bits, &len)| Symbol { bits, len }).collect()
    }

    /// Appends the table.
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

    /// Reads a table; `None` if there is none, or one that [`encode`](Self::encode) does not write.
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

    /// Appends the text that `code` stands for; `None`, and nothing appended, if it stands for none or for
    /// one of more than `most` bytes. No text has more than eight times the bytes of its code.
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

    /// Decompresses the first codes into `target`, which has room for a symbol for each; returns the others,
    /// and how many bytes were written.
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
