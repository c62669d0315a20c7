//! The values of the documents that match: what everything that counts by columns is fed with.
//!
//! A block of a complete column with one value a document is exactly a window. Where all documents of the window match its
//! values are handed on as they were unpacked, and a block of one value is not even unpacked; that makes counting as fast as
//! unpacking. Blocks of sparse columns reach over several windows: the last one stays unpacked. Where few documents match
//! their values are picked out of the packed ones.

use super::window::{Matches, Which};
use crate::codec::count_ones;
use crate::column::{Column, Entry, FoundBlock, Scan, Values, find_blocks, prefetch_entries};
use crate::error::Result;
use crate::search::sets::{Bits, WINDOW, docs_of};

/// Unpacking a block takes as long as looking up one of so many of its values.
const LOOK_UP: u64 = 16;

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
    parts: Vec<FoundBlock>,
}

impl<'c> Reader<'c> {
    pub(super) fn new(column: &'c Column) -> Self {
        Reader {
            column,
            scan: Scan::new(),
            held: None,
            picked: Vec::new(),
            values: Vec::new(),
            parts: Vec::new(),
        }
    }

    pub(super) fn column(&self) -> &'c Column {
        self.column
    }

    /// Calls `visit` with the values of the documents that match and have a value; gives back how many those are.
    #[inline]
    pub(super) fn runs(&mut self, matches: &Matches<'_>, mut visit: impl FnMut(Run<'_>)) -> Result<u64> {
        let mut documents = 0;
        let mut picked = std::mem::take(&mut self.picked);
        let mut parts = Parts::of(self.column, matches, std::mem::take(&mut self.parts))?;
        while let Some(Part { number, entry, which, count }) = parts.next(self.column)? {
            picked.clear();
            if !entry.is_plain() {
                self.each_in((number, entry), &which, count, |_, values| {
                    documents += 1;
                    match values {
                        [value] => picked.push(*value),
                        values => visit(Run::Document(values)),
                    }
                })?;
                visit(Run::Singles(&picked));
                continue;
            }
            documents += count;
            if entry.least == entry.most {
                visit(Run::Same(entry.least, count));
            } else if count == u64::from(entry.documents) {
                visit(Run::Singles(self.unpacked(number)?.values));
            } else {
                match &which {
                    Inside::Docs(docs) => self.column.pick(number, entry, docs, &mut picked)?,
                    Inside::Bits(start, bits) => {
                        let values = self.unpacked(number)?.values;
                        let places = docs_of(*start, &bits[..]).map(|doc| doc.wrapping_sub(entry.first));
                        picked.extend(places.filter_map(|place| values.get(place as usize)));
                    }
                }
                visit(Run::Singles(&picked));
            }
        }
        self.parts = parts.memory();
        self.picked = picked;
        Ok(documents)
    }

    /// Calls `visit` with each document that matches and has a value, in order.
    #[inline]
    pub(super) fn each(&mut self, matches: &Matches<'_>, visit: impl FnMut(u32, &[u64])) -> Result<()> {
        self.each_if(matches, |_| true, visit)
    }

    /// The same of the blocks that `admits` lets pass.
    #[inline]
    pub(super) fn each_if(
        &mut self,
        matches: &Matches<'_>,
        admits: impl Fn(&Entry) -> bool,
        mut visit: impl FnMut(u32, &[u64]),
    ) -> Result<()> {
        let mut parts = Parts::of(self.column, matches, std::mem::take(&mut self.parts))?;
        while let Some(Part { number, entry, which, count }) = parts.next(self.column)? {
            match &which {
                _ if !admits(entry) => {}
                Inside::Docs(docs) if entry.is_plain() => {
                    let mut picked = std::mem::take(&mut self.picked);
                    picked.clear();
                    self.column.pick(number, entry, docs, &mut picked)?;
                    docs.iter()
                        .zip(&picked)
                        .for_each(|(&doc, value)| visit(doc, std::slice::from_ref(value)));
                    self.picked = picked;
                }
                _ => self.each_in((number, entry), &which, count, &mut visit)?,
            }
        }
        self.parts = parts.memory();
        Ok(())
    }

    /// The same of a block, whatever it looks like.
    fn each_in(
        &mut self,
        (number, entry): (u32, &Entry),
        which: &Inside<'_>,
        count: u64,
        mut visit: impl FnMut(u32, &[u64]),
    ) -> Result<()> {
        let docs = match which {
            Inside::Bits(start, bits) => {
                visit_bits(&self.unpacked(number)?, *start, bits, visit);
                return Ok(());
            }
            Inside::Docs(docs) => *docs,
        };
        if self.held == Some(number) || count * LOOK_UP >= u64::from(entry.values) {
            visit_docs(&self.unpacked(number)?, docs, visit);
            return Ok(());
        }
        let (block, mut values) = (self.column.block(number)?, std::mem::take(&mut self.values));
        for &doc in docs {
            values.clear();
            block.get(doc, &mut values).map_err(|_| self.column.damaged(number))?;
            if !values.is_empty() {
                visit(doc, &values);
            }
        }
        self.values = values;
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
struct Blocks {
    next: u32,
    end: u32,
}

impl Blocks {
    /// Those of the window that begins with `start`.
    fn of(column: &Column, start: u32) -> Result<Self> {
        let end = start.saturating_add(WINDOW).min(column.documents());
        let next = if start < end { column.block_of(start)? } else { column.blocks() };
        Ok(Blocks { next, end })
    }

    /// The next one.
    fn next(&mut self, column: &Column) -> Result<Option<(u32, Entry)>> {
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

/// Documents that match and are in one block.
struct Part<'p, 'm> {
    number: u32,
    entry: &'p Entry,
    which: Inside<'m>,
    /// How many they are.
    count: u64,
}

/// Which they are.
enum Inside<'m> {
    Docs(&'m [u32]),
    /// A bit for each document from this one on.
    Bits(u32, Box<Bits>),
}

/// What matches, by block, but for blocks without values.
struct Parts<'m> {
    rest: Rest<'m>,
    /// Blocks that were found, and how many of them were handed out.
    found: Vec<FoundBlock>,
    handed: usize,
}

/// What was not handed out.
enum Rest<'m> {
    Docs {
        docs: &'m [u32],
        /// How many of them are in blocks that were handed out, and in blocks that were found.
        handed: usize,
        found: usize,
    },
    Bits(Blocks, u32, &'m Bits),
}

impl<'m> Parts<'m> {
    fn of(column: &Column, matches: &Matches<'m>, mut memory: Vec<FoundBlock>) -> Result<Self> {
        memory.clear();
        let rest = match matches.which {
            Which::Few(docs) => {
                prefetch_entries(column, docs);
                Rest::Docs { docs, handed: 0, found: 0 }
            }
            Which::Many(start, bits) => Rest::Bits(Blocks::of(column, start)?, start, bits),
        };
        Ok(Parts { rest, found: memory, handed: 0 })
    }

    /// Memory for other parts.
    fn memory(self) -> Vec<FoundBlock> {
        self.found
    }

    #[inline]
    fn next(&mut self, column: &Column) -> Result<Option<Part<'_, 'm>>> {
        loop {
            if self.handed == self.found.len() {
                self.handed = 0;
                self.found.clear();
                match &mut self.rest {
                    Rest::Docs { docs, found, .. } => find_blocks(column, docs, found, &mut self.found)?,
                    Rest::Bits(blocks, ..) => {
                        let next = blocks.next(column)?;
                        self.found.extend(next.map(|(number, entry)| (number, entry, 0)));
                    }
                }
            }
            let at = self.handed;
            let Some((number, entry, end)) = self.found.get(at) else { return Ok(None) };
            self.handed += 1;
            let (which, count) = match &mut self.rest {
                Rest::Docs { docs, handed, .. } => {
                    let inside = docs.get(std::mem::replace(handed, *end)..*end).unwrap_or_default();
                    (Inside::Docs(inside), inside.len() as u64)
                }
                Rest::Bits(_, start, bits) => {
                    let inside = bits_in(bits, *start, entry);
                    let count = count_ones(&inside);
                    (Inside::Bits(*start, Box::new(inside)), count)
                }
            };
            if entry.present > 0 && count > 0 {
                // Looked up again, since what is handed out is borrowed for as long as this.
                let Some((_, entry, _)) = self.found.get(at) else { return Ok(None) };
                return Ok(Some(Part { number: *number, entry, which, count }));
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

/// The values of the document that is `rank`-th of those of a block that have some.
#[inline]
fn of_rank<'v>(block: &Values<'v>, rank: usize) -> Option<&'v [u64]> {
    let Some(ends) = block.ends else { return block.values.get(rank..rank + 1) };
    let before = rank.checked_sub(1).and_then(|before| ends.get(before)).copied().unwrap_or(0);
    block.values.get(before as usize..ends.get(rank).copied().unwrap_or(0) as usize)
}

/// Calls `visit` with the documents that have a bit and their values.
#[inline]
fn visit_bits(block: &Values<'_>, start: u32, bits: &Bits, mut visit: impl FnMut(u32, &[u64])) {
    let first = block.first;
    let Some(present) = block.present else {
        for doc in docs_of(start, bits) {
            if let Some(values) = doc.checked_sub(first).and_then(|rank| of_rank(block, rank as usize)) {
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
            && let Some(values) = of_rank(block, rank)
        {
            visit(doc, values);
        }
    }
}

/// Calls `visit` with those of `docs` that have values, and these.
fn visit_docs(block: &Values<'_>, docs: &[u32], mut visit: impl FnMut(u32, &[u64])) {
    let mut rank = 0;
    for &doc in docs {
        let Some(place) = doc.checked_sub(block.first) else { continue };
        if let Some(present) = block.present {
            let rest = present.get(rank..).unwrap_or_default();
            rank += rest.partition_point(|&offset| u32::from(offset) < place);
            if present.get(rank).is_none_or(|&offset| u32::from(offset) != place) {
                continue;
            }
        } else {
            rank = place as usize;
        }
        if let Some(values) = of_rank(block, rank) {
            visit(doc, values);
        }
    }
}
