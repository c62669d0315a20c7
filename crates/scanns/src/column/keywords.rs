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

const NONE: u32 = u32::MAX;
const SEVERAL: u32 = u32::MAX - 1;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Keywords {
    hasher: DefaultHashBuilder,
    table: HashTable<u32>,
    /// All terms, one after the other, and where each ends.
    text: Vec<u8>,
    ends: Vec<usize>,
    stream: Vec<u32>,
    /// The document before had no term, so the last number of the stream counts such.
    counting: bool,
    /// Terms of the document at hand.
    open: Vec<u32>,
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
        let hash = hasher.hash_one(wanted);
        let next = u32::try_from(ends.len()).unwrap_or(SEVERAL);
        let is_it = |&number: &u32| term(text, ends, number) == wanted;
        let entry = table.entry(hash, is_it, |&number| hasher.hash_one(term(text, ends, number)));
        let number = *entry.or_insert(next).get();
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
            + self.table.capacity() * 5
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
        let prefix = |number: u32| {
            let term = term(text, ends, number);
            term.iter()
                .take(8)
                .fold((0u64, 64), |(prefix, shift), &byte| {
                    (prefix | u64::from(byte) << (shift - 8), shift - 8)
                })
                .0
        };
        let count = u32::try_from(ends.len()).unwrap_or(u32::MAX);
        let mut order: Vec<(u64, u32)> = (0..count).map(|number| (prefix(number), number)).collect();
        let key = |number: u32| term(text, ends, number);
        order.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| key(a.1).cmp(key(b.1))));
        let mut numbers = vec![0; ends.len()];
        let mut dictionary = DictionaryWriter::new();
        for (&(_, number), sorted) in order.iter().zip(0..) {
            dictionary.push(key(number), out)?;
            if let Some(slot) = numbers.get_mut(number as usize) {
                *slot = sorted;
            }
        }
        dictionary.finish(index, out)?;
        Ok(numbers)
    }
}
