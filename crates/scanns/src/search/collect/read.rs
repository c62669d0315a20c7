//! The values of the documents of a window: what everything that counts by columns is fed with.
//!
//! A block of a complete column with one value a document is exactly a window. Where all documents of the window match its
//! values are handed on as they were unpacked, and a block of one value is not even unpacked; that makes counting as fast as
//! unpacking. Blocks of sparse columns reach over several windows: the last one stays unpacked. Where few documents match
//! they are looked up one by one.

use crate::codec::count_ones;
use crate::column::{Column, Entry, Scan, Values};
use crate::error::Result;
use crate::search::sets::{Bits, WINDOW, docs_of};

/// Unpacking a block takes as long as looking up one of so many of its values.
const LOOK_UP: u64 = 16;

/// The same where every document has exactly one, so that they are looked up together.
const LOOK_UP_PLAIN: u64 = 8;

/// Values of documents that match.
#[derive(Clone, Copy, Debug)]
pub(super) enum Run<'v> {
    /// So many documents that have this one each.
    Same(u64, u64),
    /// Of as many documents, one of each.
    Singles(&'v [u64]),
    /// Those of one document, ascending unless they are of paths.
    Document(&'v [u64]),
}

/// Reads a column window by window.
#[derive(Debug)]
pub(super) struct Reader<'c> {
    column: &'c Column,
    scan: Scan,
    /// The block that is unpacked.
    held: Option<u32>,
    picked: Vec<u64>,
}

impl<'c> Reader<'c> {
    pub(super) fn new(column: &'c Column) -> Self {
        Reader { column, scan: Scan::new(), held: None, picked: Vec::new() }
    }

    pub(super) fn column(&self) -> &'c Column {
        self.column
    }

    /// Calls `visit` with the values of the documents of a window that have a bit and a value; gives back how many those
    /// documents are.
    #[inline]
    pub(super) fn runs(&mut self, start: u32, bits: &Bits, mut visit: impl FnMut(Run<'_>)) -> Result<u64> {
        let mut documents = 0;
        let mut blocks = Blocks::of(self.column, start)?;
        while let Some((number, entry)) = blocks.next(self.column)? {
            let inside = bits_in(bits, start, &entry);
            let wanted = count_ones(&inside);
            if wanted == 0 {
                continue;
            }
            let is_plain = entry.is_plain();
            if is_plain && entry.least == entry.most {
                visit(Run::Same(entry.least, wanted));
                documents += wanted;
            } else if is_plain && wanted == u64::from(entry.documents) {
                visit(Run::Singles(self.unpacked(number)?.values));
                documents += wanted;
            } else {
                let mut picked = std::mem::take(&mut self.picked);
                picked.clear();
                if is_plain {
                    self.pick((number, &entry), docs_of(start, &inside), wanted, &mut picked)?;
                    documents += wanted;
                } else {
                    self.each_in(number, &entry, start, (&inside, wanted), |_, values| {
                        documents += 1;
                        match values {
                            [value] => picked.push(*value),
                            values => visit(Run::Document(values)),
                        }
                    })?;
                }
                visit(Run::Singles(&picked));
                self.picked = picked;
            }
        }
        Ok(documents)
    }

    /// Calls `visit` with each document of a window that has a bit and a value, in order.
    #[inline]
    pub(super) fn each(&mut self, start: u32, bits: &Bits, mut visit: impl FnMut(u32, &[u64])) -> Result<()> {
        let mut blocks = Blocks::of(self.column, start)?;
        while let Some((number, entry)) = blocks.next(self.column)? {
            let inside = bits_in(bits, start, &entry);
            let wanted = count_ones(&inside);
            if wanted > 0 {
                self.each_in(number, &entry, start, (&inside, wanted), &mut visit)?;
            }
        }
        Ok(())
    }

    #[inline]
    fn each_in(
        &mut self,
        number: u32,
        entry: &Entry,
        start: u32,
        (bits, wanted): (&Bits, u64),
        mut visit: impl FnMut(u32, &[u64]),
    ) -> Result<()> {
        if self.held != Some(number) && wanted * LOOK_UP < u64::from(entry.values) {
            let block = self.column.block(number)?;
            let mut values = Vec::new();
            if !entry.several {
                for doc in docs_of(start, bits) {
                    if let Some(value) = block.first(doc).map_err(|_| self.column.damaged(number))? {
                        visit(doc, &[value]);
                    }
                }
                return Ok(());
            }
            for doc in docs_of(start, bits) {
                values.clear();
                block.get(doc, &mut values).map_err(|_| self.column.damaged(number))?;
                if !values.is_empty() {
                    visit(doc, &values);
                }
            }
            return Ok(());
        }
        visit_values(&self.unpacked(number)?, start, bits, visit);
        Ok(())
    }

    /// Appends the values of documents of a block where every one has exactly one.
    #[inline]
    fn pick(
        &mut self,
        (number, entry): (u32, &Entry),
        docs: impl Iterator<Item = u32>,
        wanted: u64,
        out: &mut Vec<u64>,
    ) -> Result<()> {
        if self.held != Some(number) && wanted * LOOK_UP_PLAIN < u64::from(entry.values) {
            let found = self.column.block(number)?.plain_of_each(docs, out);
            return found.map_err(|_| self.column.damaged(number));
        }
        let values = self.unpacked(number)?.values;
        out.extend(docs.filter_map(|doc| values.get(doc.wrapping_sub(entry.first) as usize).copied()));
        Ok(())
    }

    fn unpacked(&mut self, number: u32) -> Result<Values<'_>> {
        if self.held != Some(number) {
            self.held = None;
            self.scan.read(self.column, number)?;
            self.held = Some(number);
        }
        Ok(self.scan.last())
    }
}

/// The blocks of a window that have values.
pub(super) struct Blocks {
    next: u32,
    end: u32,
}

impl Blocks {
    /// Those of the window that begins with `start`.
    pub(super) fn of(column: &Column, start: u32) -> Result<Self> {
        let end = start.saturating_add(WINDOW).min(column.documents());
        let next = if start < end { column.block_of(start)? } else { column.blocks() };
        Ok(Blocks { next, end })
    }

    /// The next one.
    pub(super) fn next(&mut self, column: &Column) -> Result<Option<(u32, Entry)>> {
        while self.next < column.blocks() {
            let number = self.next;
            let entry = column.entry(number)?;
            if entry.first >= self.end {
                break;
            }
            self.next += 1;
            if entry.present > 0 {
                return Ok(Some((number, entry)));
            }
        }
        Ok(None)
    }
}

/// The bits of the documents of a block.
///
/// Most blocks are exactly a window; to make masks for its words would take longer than to look up some documents of it.
#[inline]
fn bits_in(bits: &Bits, start: u32, entry: &Entry) -> Bits {
    let mut inside = *bits;
    let (first, end) = (entry.first, entry.first.saturating_add(entry.documents));
    if first <= start && end >= start.saturating_add(WINDOW) {
        return inside;
    }
    for (word, from) in inside.iter_mut().zip((u64::from(start)..).step_by(64)) {
        let low = u64::from(first).saturating_sub(from).min(64);
        let high = u64::from(end).saturating_sub(from).min(64);
        let below = |bit: u64| if bit == 64 { u64::MAX } else { (1 << bit) - 1 };
        *word &= below(high) & !below(low);
    }
    inside
}

/// Calls `visit` with the documents that have a bit and their values.
#[inline]
fn visit_values(block: &Values<'_>, start: u32, bits: &Bits, mut visit: impl FnMut(u32, &[u64])) {
    let Values { first, values, .. } = *block;
    let of = |rank: usize| match block.ends {
        None => values.get(rank..rank + 1),
        Some(ends) => {
            let before = rank.checked_sub(1).and_then(|before| ends.get(before)).copied().unwrap_or(0);
            values.get(before as usize..ends.get(rank).copied().unwrap_or(0) as usize)
        }
    };
    let Some(present) = block.present else {
        for doc in docs_of(start, bits) {
            if let Some(values) = doc.checked_sub(first).and_then(|rank| of(rank as usize)) {
                visit(doc, values);
            }
        }
        return;
    };
    let rank = present.partition_point(|&offset| first + u32::from(offset) < start);
    let docs = present.get(rank..).unwrap_or_default().iter().map(|&offset| first + u32::from(offset));
    for (rank, doc) in (rank..).zip(docs) {
        let Some(word) = bits.get(((doc - start) / 64) as usize) else { break };
        if word >> (doc % 64) & 1 == 1
            && let Some(values) = of(rank)
        {
            visit(doc, values);
        }
    }
}
