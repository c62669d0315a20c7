//! The terms of a column while its documents are collected, and the numbers of those that each document has.
//!
//! Numbers are given in the order in which terms come; what they are in the order of the terms is known when all have come.
//! Documents are a stream of numbers, four bytes for one with one term:
//!
//! ```text
//! stream   = document …
//! document = number                                 one term
//!          | 2^32 - 2 | count | number …            several
//!          | 2^32 - 1 | count                       as many documents without a term
//! ```

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::{ColumnWriter, DictionaryWriter};
use crate::error::Result;
use crate::store::EnvelopeWriter;

/// A term that is being sorted: eight of its bytes, as the number that has their order, and how many they are.
#[derive(Clone, Copy, Debug, Default)]
struct Placed {
    bytes: u64,
    len: u32,
    number: u32,
}

/// Bytes of terms that are compared at once.
const CACHED: usize = 8;

/// Sorts different terms by eight of their bytes at a time: terms that are equal so far are sorted by the next eight.
///
/// Addresses and paths begin alike, so a comparison that goes to the terms waits for memory twice, and every term is compared
/// some twenty times; this fetches each as often as eight bytes are part of what is common.
fn sort<'t>(order: &mut [Placed], term: &impl Fn(u32) -> &'t [u8]) {
    let mut equal = vec![(0..order.len(), 0usize)];
    while let Some((range, depth)) = equal.pop() {
        let Some(part) = order.get_mut(range.clone()) else { continue };
        for placed in &mut *part {
            let rest = term(placed.number).get(depth..).unwrap_or_default();
            let rest = rest.get(..CACHED).unwrap_or(rest);
            let mut bytes = [0; CACHED];
            bytes.iter_mut().zip(rest).for_each(|(byte, &of)| *byte = of);
            (placed.bytes, placed.len) = (u64::from_be_bytes(bytes), u32::try_from(rest.len()).unwrap_or(0));
        }
        part.sort_unstable_by_key(|placed| (placed.bytes, placed.len));
        let mut start = range.start;
        for same in part.chunk_by(|a, b| (a.bytes, a.len) == (b.bytes, b.len)) {
            // Terms that end here are different.
            if same.len() > 1 && same.first().is_some_and(|first| first.len as usize == CACHED) {
                equal.push((start..start + same.len(), depth + CACHED));
            }
            start += same.len();
        }
    }
}

const NONE: u32 = u32::MAX;
const SEVERAL: u32 = u32::MAX - 1;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Keywords {
    hasher: DefaultHashBuilder,
    /// Numbers of terms, with half of their hashes.
    table: HashTable<(u32, u32)>,
    /// All terms, one after the other, and where each ends.
    text: Vec<u8>,
    ends: Vec<usize>,
    stream: Vec<u32>,
    /// The document before had no term, so the last number of the stream counts such.
    counting: bool,
    /// Terms of the document at hand.
    open: Vec<u32>,
}

fn half_of(hash: u64) -> u32 {
    u32::try_from(hash >> 32).unwrap_or(0)
}

/// What a table takes for a hash of all 64 bits.
fn spread(half: u32) -> u64 {
    u64::from(half).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

fn term<'t>(text: &'t [u8], ends: &[usize], number: u32) -> &'t [u8] {
    let number = number as usize;
    let start = number.checked_sub(1).and_then(|before| ends.get(before)).copied().unwrap_or(0);
    ends.get(number).and_then(|&end| text.get(start..end)).unwrap_or_default()
}

impl Keywords {
    /// Adds a term of the document at hand.
    #[inline]
    pub(super) fn push(&mut self, wanted: &[u8]) {
        let Keywords { hasher, table, text, ends, open, .. } = self;
        let half = half_of(hasher.hash_one(wanted));
        let next = u32::try_from(ends.len()).unwrap_or(SEVERAL);
        // Growing does not look at terms, and other terms are seldom looked at.
        let is_it = |&(number, of): &(u32, u32)| of == half && term(text, ends, number) == wanted;
        let entry = table.entry(spread(half), is_it, |&(_, half)| spread(half));
        let number = entry.or_insert((next, half)).get().0;
        if number == next {
            text.extend_from_slice(wanted);
            ends.push(text.len());
        }
        open.push(number);
    }

    /// Ends the document at hand.
    pub(super) fn end_document(&mut self) {
        let counting = std::mem::take(&mut self.counting);
        match (self.open.as_slice(), self.stream.last_mut()) {
            ([], Some(count)) if counting => {
                *count += 1;
                self.counting = true;
            }
            ([], _) => {
                self.stream.extend([NONE, 1]);
                self.counting = true;
            }
            ([only], _) => self.stream.push(*only),
            (several, _) => {
                self.stream.extend([SEVERAL, u32::try_from(several.len()).unwrap_or(u32::MAX)]);
                self.stream.extend(several);
            }
        }
        self.open.clear();
    }

    /// Forgets the terms of a document that has not ended.
    pub(super) fn drop_open(&mut self) {
        self.open.clear();
    }

    /// Memory in use, and what sorting the terms will take.
    pub(super) fn bytes(&self) -> usize {
        self.text.capacity()
            + self.ends.capacity() * 8
            + self.ends.len() * 24
            + self.stream.capacity() * 4
            + self.table.capacity() * 9
            + self.open.capacity() * 4
    }

    /// Writes the dictionary to the section that was begun and to the one of its index, and gives the numbers of each
    /// document to `column`, whose blocks go to `blocks`. What remains is empty.
    pub(super) fn write(
        &mut self,
        index: u32,
        out: &mut EnvelopeWriter,
        column: &mut ColumnWriter,
        distinct: bool,
        blocks: &mut Vec<u8>,
    ) -> Result<()> {
        let numbers = self.put_terms(index, out)?;
        let number = |unsorted: &u32| u64::from(numbers.get(*unsorted as usize).copied().unwrap_or(0));
        let (mut stream, mut several) = (self.stream.as_slice(), Vec::new());
        while let Some((&first, rest)) = stream.split_first() {
            stream = rest;
            if first < SEVERAL {
                column.push(number(&first));
                column.end_document(blocks)?;
                continue;
            }
            let Some((&count, rest)) = stream.split_first() else { break };
            stream = rest;
            if first == NONE {
                column.skip(count, blocks)?;
                continue;
            }
            let (these, rest) = stream.split_at_checked(count as usize).unwrap_or((stream, &[]));
            stream = rest;
            several.clear();
            several.extend(these.iter().map(number));
            if distinct {
                several.sort_unstable();
                several.dedup();
            }
            several.iter().for_each(|&number| column.push(number));
            column.end_document(blocks)?;
        }
        *self = Keywords::default();
        Ok(())
    }

    /// Writes the terms in order; by number before, the number after.
    fn put_terms(&self, index: u32, out: &mut EnvelopeWriter) -> Result<Vec<u32>> {
        let Keywords { text, ends, .. } = self;
        let count = u32::try_from(ends.len()).unwrap_or(u32::MAX);
        let mut order: Vec<Placed> =
            (0..count).map(|number| Placed { number, ..Placed::default() }).collect();
        let key = |number: u32| term(text, ends, number);
        sort(&mut order, &key);
        let mut numbers = vec![0; ends.len()];
        let mut dictionary = DictionaryWriter::new();
        for (&Placed { number, .. }, sorted) in order.iter().zip(0..) {
            dictionary.push(key(number), out)?;
            if let Some(slot) = numbers.get_mut(number as usize) {
                *slot = sorted;
            }
        }
        dictionary.finish(index, out)?;
        Ok(numbers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_sorted_as_bytes_are() {
        let seed = 0x5eed_0650;
        let mut random = fastrand::Rng::with_seed(seed);
        for round in 0..200 {
            let alphabet: &[u8] = [&b"\0a"[..], b"\0\xff", b"abc/"][round % 3];
            let mut terms: Vec<Vec<u8>> = (0..random.usize(..300))
                .map(|_| {
                    let mut term = b"http://www.".repeat(random.usize(..3));
                    term.extend((0..random.usize(..20)).map(|_| alphabet[random.usize(..alphabet.len())]));
                    term
                })
                .collect();
            terms.sort();
            terms.dedup();
            random.shuffle(&mut terms);
            let mut order: Vec<Placed> =
                (0u32..).zip(&terms).map(|(number, _)| Placed { number, ..Placed::default() }).collect();
            sort(&mut order, &|number| terms[number as usize].as_slice());
            let sorted: Vec<&Vec<u8>> = order.iter().map(|placed| &terms[placed.number as usize]).collect();
            assert!(sorted.is_sorted() && sorted.len() == terms.len(), "seed {seed:x} round {round}");
        }
    }
}
