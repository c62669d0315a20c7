//! Reads a column block by block, which costs a fraction of a nanosecond for a value.

use std::ops::ControlFlow;

use super::entry::Entry;
use super::read::{Block, Column};
use crate::codec::{MOST_DOCUMENTS, StringBlock};
use crate::error::Result;

/// Whole blocks of a column, unpacked; keeps its memory from block to block.
#[derive(Debug, Default)]
pub struct Scan {
    values: Vec<u64>,
    present: Vec<u16>,
    ends: Vec<u32>,
    text: Vec<u8>,
    last: Last,
}

/// What is known of the block that was unpacked last.
#[derive(Debug, Default)]
struct Last {
    first: u32,
    documents: u32,
    every: bool,
    several: bool,
}

/// The values of a block.
#[derive(Clone, Copy, Debug)]
pub struct Values<'s> {
    /// The first document of the block.
    pub first: u32,
    /// Documents that it is about.
    pub documents: u32,
    /// By how many documents after the first those come that have values; `None` if all have.
    pub present: Option<&'s [u16]>,
    /// Up to which value those of each of them go; `None` if each has one.
    pub ends: Option<&'s [u32]>,
    /// The values.
    pub values: &'s [u64],
}

impl Scan {
    /// Without values.
    pub fn new() -> Self {
        Self::default()
    }

    /// Unpacks a block; of strings, only which documents have how many.
    pub fn read<'s>(&'s mut self, column: &Column, number: u32) -> Result<Values<'s>> {
        let block = column.block(number)?;
        self.unpack(&block).ok_or_else(|| column.damaged(number))
    }

    /// The block that was read last, if that went well: for whoever comes back to it.
    pub fn last(&self) -> Values<'_> {
        let Last { first, documents, every, several } = self.last;
        Values {
            first,
            documents,
            present: (!every).then_some(&self.present),
            ends: several.then_some(&self.ends),
            values: &self.values,
        }
    }

    /// Calls `visit` with each string of a block and its document, in order.
    pub fn strings(
        &mut self,
        column: &Column,
        number: u32,
        visit: impl FnMut(u32, &[u8]) -> Result<()>,
    ) -> Result<()> {
        let block = column.block(number)?;
        if block.entry.values == 0 {
            return Ok(());
        }
        let mut outcome = Ok(());
        let read = self.visit_strings(&block, visit, &mut outcome);
        outcome?;
        read.ok_or_else(|| column.damaged(number))
    }

    fn visit_strings(
        &mut self,
        block: &Block<'_>,
        mut visit: impl FnMut(u32, &[u8]) -> Result<()>,
        outcome: &mut Result<()>,
    ) -> Option<()> {
        let strings = StringBlock::open(block.text()).filter(|all| all.len() == block.entry.values)?;
        let mut text = std::mem::take(&mut self.text);
        let documents = self.unpack(block)?;
        let (mut place, mut rank) = (0u32, 0usize);
        let read = strings.each(0..strings.len() as usize, &mut text, |string| {
            while documents.ends.is_some_and(|ends| ends.get(rank).is_some_and(|&end| end <= place)) {
                rank += 1;
            }
            let rank = if documents.ends.is_some() { rank } else { place as usize };
            place += 1;
            let offset = match documents.present {
                Some(present) => present.get(rank).copied().map_or(0, u32::from),
                None => u32::try_from(rank).unwrap_or(0),
            };
            *outcome = visit(documents.first + offset, string);
            if outcome.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        self.text = text;
        read
    }

    fn unpack(&mut self, block: &Block<'_>) -> Option<Values<'_>> {
        let Scan { values, present, ends, last, .. } = self;
        // What is not written below is left from another block, and cut off.
        values.resize(block.numbers.count(), 0);
        block.numbers.unpack(0, values)?;
        let every = block.presence.is_every();
        if !every {
            debug_assert!(block.presence.count() <= MOST_DOCUMENTS);
            block.presence.list(present)?;
        }
        ends.clear();
        if block.has_several() {
            for rank in 0..block.presence.count() {
                ends.push(u32::try_from(block.values_of(rank).ok()?.end).ok()?);
            }
            if ends.last().is_some_and(|&end| end != block.entry.values) {
                return None;
            }
        }
        let Entry { first, documents, .. } = block.entry;
        *last = Last { first, documents, every, several: block.has_several() };
        Some(self.last())
    }
}

impl<'s> Values<'s> {
    /// Calls `visit` with each document that has values, and those.
    #[inline]
    pub fn each(&self, mut visit: impl FnMut(u32, &'s [u64])) {
        let values = |rank: usize| match self.ends {
            None => self.values.get(rank..rank + 1),
            Some(ends) => {
                let start = rank.checked_sub(1).and_then(|before| ends.get(before)).copied().unwrap_or(0);
                self.values.get(start as usize..ends.get(rank).copied().unwrap_or(0) as usize)
            }
        };
        match self.present {
            None => {
                for (doc, rank) in (self.first..self.first + self.documents).zip(0..) {
                    visit(doc, values(rank).unwrap_or_default());
                }
            }
            Some(present) => {
                for (&doc, rank) in present.iter().zip(0..) {
                    visit(self.first + u32::from(doc), values(rank).unwrap_or_default());
                }
            }
        }
    }
}
