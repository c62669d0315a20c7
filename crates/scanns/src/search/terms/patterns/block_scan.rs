//! Moves through the blocks of a segment's terms with a machine.
//!
//! A machine that allows two edits can read the first letters of nearly all terms, so that there is little to
//! skip, and what a step costs decides. In a block, each term is therefore read from the first byte that it
//! does not share with the term before; a term that shares the byte that could not be read is passed by. A
//! machine that allows one edit accepts few strings, which are far from each other. So between blocks, the
//! least string that may be accepted is looked up: the blocks before it are skipped, and so are the terms
//! before it in its block.

use super::automaton::{Machine, MachineState};
use super::path::Path;
use crate::error::Result;
use crate::search::budget::Clock;
use crate::search::leaf::TermRef;
use crate::search::segment_leaf::term_ref;
use crate::segment::TermBlocks;

/// A cursor over the terms of a segment that a machine accepts, in order.
pub(crate) struct BlockScan<'a> {
    blocks: TermBlocks<'a>,
    clock: Clock<'a>,
    path: Path<'a>,
    /// The index of the next term in the block.
    at: usize,
    found: Option<TermRef>,
}

impl<'a> BlockScan<'a> {
    pub(super) fn new(blocks: TermBlocks<'a>, clock: Clock<'a>, machine: &'a Machine) -> Self {
        BlockScan { blocks, clock, path: Path::new(machine), at: 0, found: None }
    }

    /// Moves to the next term that the machine accepts; returns its last state, or `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<MachineState>> {
        self.found = None;
        loop {
            // A term that shares more has the byte that could not be read, too.
            while let Some(at) = self.blocks.sharing_at_most(self.path.read_bytes(), self.at)
                && let Some((shared, own)) = self.blocks.term(at)
            {
                self.at = at + 1;
                if self.path.read_after(shared, own)
                    && let Some(state) = self.path.accepted()
                {
                    return Ok(Some(state));
                }
            }
            if !self.next_block()? {
                return Ok(None);
            }
        }
    }

    /// Moves to the next term in another block that the machine may accept; false if there is none.
    fn next_block(&mut self) -> Result<bool> {
        while !self.clock.is_up()
            && let Some((bytes, len)) = self.blocks.next_bound()?
        {
            // All terms that are left are at least this.
            let bound = bytes.get(..len).unwrap_or_default();
            let is_read =
                if *self.path.term < *bound { self.path.read(bound) } else { !self.path.is_stuck() };
            if !is_read && !self.path.turn() || !self.blocks.next(&self.path.term)? {
                break;
            }
            if let Some(at) = self.blocks.seek(&self.path.term) {
                self.at = at;
                return Ok(true);
            }
        }
        self.at = usize::MAX;
        Ok(false)
    }

    /// The current term.
    pub(super) fn term(&self) -> &[u8] {
        &self.path.term
    }

    /// The reference of the current term.
    pub(super) fn found(&mut self) -> Result<TermRef> {
        if let Some(found) = self.found {
            return Ok(found);
        }
        let (info, positions) = self.blocks.info(self.at.saturating_sub(1))?;
        let found = term_ref(info, positions);
        self.found = Some(found);
        Ok(found)
    }
}
