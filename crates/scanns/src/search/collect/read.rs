//! The values of the documents of a window: what everything that counts by columns is fed with.
//!
//! A block of a complete column with one value a document is exactly a window. Where all documents of the window match its
//! values are handed on as they were unpacked, and a block of one value is not even unpacked; that makes counting as fast as
//! unpacking. Blocks of sparse columns reach over several windows: the last one stays unpacked. Where few documents match
//! their values are picked out of the packed ones.

use super::window::Window;
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
    values: Vec<u64>,
}

impl<'c> Reader<'c> {
    pub(super) fn new(column: &'c Column) -> Self {
        Reader { column, scan: Scan::new(), held: None, picked: Vec::new(), values: Vec::new() }
    }

    pub(super) fn column(&self) -> &'c Column {
        self.column
    }

    /// Calls `visit` with the values of the documents of a window that match and have a value; gives back how many those
    /// documents are.
    #[inline]
    pub(super) fn runs(&mut self, window: &Window<'_>, mut visit: impl FnMut(Run<'_>)) -> Result<u64> {
        let mut documents = 0;
        let mut picked = std::mem::take(&mut self.picked);
        let mut parts = Parts::of(self.column, window)?;
        while let Some(part) = parts.next(self.column)? {
            let Part { number, entry, .. } = part;
            picked.clear();
            if entry.is_plain() {
                documents += part.count();
                match &part.which {
                    _ if entry.least == entry.most => visit(Run::Same(entry.least, part.count())),
                    Which::Docs(docs) => {
                        self.column.pick(number, &entry, docs, &mut picked)?;
                        visit(Run::Singles(&picked));
                    }
                    Which::Bits(_, count) if *count == u64::from(entry.documents) => {
                        visit(Run::Singles(self.unpacked(number)?.values));
                    }
                    Which::Bits(bits, _) => {
                        let values = self.unpacked(number)?.values;
                        let places = docs_of(window.start, bits).map(|doc| doc.wrapping_sub(entry.first));
                        picked.extend(places.filter_map(|place| values.get(place as usize)));
                        visit(Run::Singles(&picked));
                    }
                }
                continue;
            }
            self.each_in(&part, window, |_, values| {
                documents += 1;
                match values {
                    [value] => picked.push(*value),
                    values => visit(Run::Document(values)),
                }
            })?;
            visit(Run::Singles(&picked));
        }
        self.picked = picked;
        Ok(documents)
    }

    /// Calls `visit` with each document of a window that matches and has a value, in order.
    #[inline]
    pub(super) fn each(&mut self, window: &Window<'_>, mut visit: impl FnMut(u32, &[u64])) -> Result<()> {
        let mut parts = Parts::of(self.column, window)?;
        while let Some(part) = parts.next(self.column)? {
            match part.which {
                Which::Docs(docs) if part.entry.is_plain() => {
                    let mut picked = std::mem::take(&mut self.picked);
                    picked.clear();
                    self.column.pick(part.number, &part.entry, docs, &mut picked)?;
                    docs.iter()
                        .zip(&picked)
                        .for_each(|(&doc, value)| visit(doc, std::slice::from_ref(value)));
                    self.picked = picked;
                }
                _ => self.each_in(&part, window, &mut visit)?,
            }
        }
        Ok(())
    }

    /// The same of a block, whatever it looks like.
    fn each_in(
        &mut self,
        part: &Part<'_>,
        window: &Window<'_>,
        mut visit: impl FnMut(u32, &[u64]),
    ) -> Result<()> {
        let Part { number, entry, .. } = part;
        let few = self.held != Some(*number) && part.count() * LOOK_UP < u64::from(entry.values);
        if let (true, Which::Docs(docs)) = (few, &part.which) {
            let (block, mut values) = (self.column.block(*number)?, std::mem::take(&mut self.values));
            for &doc in *docs {
                values.clear();
                block.get(doc, &mut values).map_err(|_| self.column.damaged(*number))?;
                if !values.is_empty() {
                    visit(doc, &values);
                }
            }
            self.values = values;
            return Ok(());
        }
        let unpacked = self.unpacked(*number)?;
        match &part.which {
            Which::Bits(bits, _) => visit_values(&unpacked, window.start, bits, visit),
            Which::Docs(_) => {
                visit_values(&unpacked, window.start, &bits_in(window.bits, window.start, entry), visit);
            }
        }
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

/// Documents of a window that match and are in one block.
struct Part<'w> {
    number: u32,
    entry: Entry,
    which: Which<'w>,
}

/// Which they are.
enum Which<'w> {
    Docs(&'w [u32]),
    /// With how many bits are set.
    Bits(Bits, u64),
}

impl Part<'_> {
    fn count(&self) -> u64 {
        match &self.which {
            Which::Docs(docs) => docs.len() as u64,
            Which::Bits(_, count) => *count,
        }
    }
}

/// The parts of a window by block, but for blocks without values.
enum Parts<'w> {
    Docs(&'w [u32]),
    Bits(Blocks, &'w Window<'w>),
}

impl<'w> Parts<'w> {
    fn of(column: &Column, window: &'w Window<'w>) -> Result<Self> {
        match window.docs {
            Some(docs) => Ok(Parts::Docs(docs)),
            None => Ok(Parts::Bits(Blocks::of(column, window.start)?, window)),
        }
    }

    #[inline]
    fn next(&mut self, column: &Column) -> Result<Option<Part<'w>>> {
        match self {
            Parts::Docs(rest) => {
                while let Some((&first, &last)) = rest.first().zip(rest.last()) {
                    let number = column.block_of(first)?;
                    let entry = column.entry(number)?;
                    let end = entry.first.saturating_add(entry.documents);
                    let here = if last < end { rest.len() } else { rest.partition_point(|&doc| doc < end) };
                    // A block that does not have its document would be asked for again.
                    let (docs, others) = rest.split_at(here.max(1));
                    *rest = others;
                    if entry.present > 0 {
                        return Ok(Some(Part { number, entry, which: Which::Docs(docs) }));
                    }
                }
                Ok(None)
            }
            Parts::Bits(blocks, window) => {
                while let Some((number, entry)) = blocks.next(column)? {
                    let bits = bits_in(window.bits, window.start, &entry);
                    let count = count_ones(&bits);
                    if count > 0 {
                        return Ok(Some(Part { number, entry, which: Which::Bits(bits, count) }));
                    }
                }
                Ok(None)
            }
        }
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
