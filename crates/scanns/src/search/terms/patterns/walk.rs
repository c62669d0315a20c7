//! Moves through sorted terms with a machine, and skips terms that it cannot accept without reading them.

use super::automaton::{Machine, MachineState};
use super::block_scan::BlockScan;
use super::path::Path;
use super::sorted::SortedTerms;
use super::timed::TimedTerms;
use crate::error::Result;
use crate::search::budget::Clock;
use crate::search::leaf::TermRef;

/// A cursor over the terms that a machine accepts, in order.
pub(crate) enum MachineWalk<'a> {
    /// The terms of a segment.
    Blocks(Box<BlockScan<'a>>),
    /// Any terms.
    Terms(TermsMachineWalk<'a>),
}

impl<'a> MachineWalk<'a> {
    pub(super) fn new(all: SortedTerms<'a>, clock: Clock<'a>, machine: &'a Machine) -> Result<Self> {
        Ok(match all.blocks() {
            Some(blocks) => MachineWalk::Blocks(Box::new(BlockScan::new(blocks, clock, machine))),
            None => MachineWalk::Terms(TermsMachineWalk::new(TimedTerms::new(all, clock)?, machine)),
        })
    }

    /// Moves to the next term that the machine accepts; returns its last state, or `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<MachineState>> {
        match self {
            MachineWalk::Blocks(scan) => scan.next(),
            MachineWalk::Terms(walk) => walk.next(),
        }
    }

    /// The current term.
    pub(super) fn term(&self) -> &[u8] {
        match self {
            MachineWalk::Blocks(scan) => scan.term(),
            MachineWalk::Terms(walk) => walk.terms.term(),
        }
    }

    /// The reference of the current term.
    pub(super) fn found(&mut self) -> Result<TermRef> {
        match self {
            MachineWalk::Blocks(scan) => scan.found(),
            MachineWalk::Terms(walk) => walk.terms.found(),
        }
    }
}

/// Steps and jumps through terms, one at a time.
pub(crate) struct TermsMachineWalk<'a> {
    terms: TimedTerms<'a>,
    path: Path<'a>,
    next: Move,
}

/// The next step of a walk.
#[derive(Clone, Copy)]
enum Move {
    /// To the next term.
    Step,
    /// To the first term that is not less than the path.
    Seek,
    /// The end: the machine accepts none of the remaining terms.
    End,
}

impl<'a> TermsMachineWalk<'a> {
    fn new(terms: TimedTerms<'a>, machine: &'a Machine) -> Self {
        TermsMachineWalk { terms, path: Path::new(machine), next: Move::Seek }
    }

    /// Moves to the next term that the machine accepts; returns its last state, or `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<MachineState>> {
        loop {
            let is_there = match self.next {
                Move::Step => self.terms.step()?,
                Move::Seek => self.terms.seek(&self.path.term)?,
                Move::End => false,
            };
            if !is_there {
                self.next = Move::End;
                return Ok(None);
            }
            if self.path.read(self.terms.term()) {
                self.next = Move::Step;
                if let Some(state) = self.path.accepted() {
                    return Ok(Some(state));
                }
            } else {
                self.next = if self.path.turn() { Move::Seek } else { Move::End };
            }
        }
    }
}
