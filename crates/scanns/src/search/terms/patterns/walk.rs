//! Moves through sorted terms with a machine, and skips terms that it cannot accept without reading them.

use std::collections::HashMap;

use super::automaton::{Machine, MachineState};
use super::timed::TimedTerms;
use crate::error::Result;

/// The bytes that a machine can read in a state, one bit for each.
type Readable = [u64; 4];

/// A cursor over the terms that a machine accepts, in order.
pub(crate) struct MachineWalk<'a> {
    pub(super) terms: TimedTerms<'a>,
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

impl<'a> MachineWalk<'a> {
    pub(super) fn new(terms: TimedTerms<'a>, machine: &'a Machine) -> Self {
        let path =
            Path { machine, term: Vec::new(), states: vec![machine.start()], readable: HashMap::new() };
        MachineWalk { terms, path, next: Move::Seek }
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

/// The states of a machine along a term.
struct Path<'m> {
    machine: &'m Machine,
    /// The term that was read last, or the least string that may be accepted after it.
    term: Vec<u8>,
    /// The states before each byte of the term, as far as the machine could read it, and the state after the
    /// last.
    states: Vec<MachineState>,
    /// Cached readable bytes of states.
    readable: HashMap<MachineState, Readable>,
}

impl Path<'_> {
    /// Reads a term from where it differs from the one before; false if the machine accepts nothing that
    /// begins like it.
    fn read(&mut self, term: &[u8]) -> bool {
        let shared =
            self.term.iter().zip(term).take_while(|(a, b)| a == b).count().min(self.states.len() - 1);
        self.states.truncate(shared + 1);
        self.term.clear();
        self.term.extend_from_slice(term);
        for &byte in term.get(shared..).unwrap_or_default() {
            match self.states.last().and_then(|&state| self.machine.step(state, byte)) {
                Some(next) => self.states.push(next),
                None => return false,
            }
        }
        true
    }

    /// The last state, if the machine accepts the term.
    fn accepted(&self) -> Option<MachineState> {
        self.states.last().copied().filter(|&state| self.machine.accepts(state))
    }

    /// Replaces the term, which could not be read, by the least greater string that may be accepted; false if
    /// there is none.
    fn turn(&mut self) -> bool {
        while let Some(&state) = self.states.last() {
            let at = self.states.len() - 1;
            let Some(&byte) = self.term.get(at) else { return false };
            if let Some(next) = next_above(self.readable(state), byte) {
                self.term.truncate(at);
                self.term.push(next);
                return true;
            }
            self.states.pop();
        }
        false
    }

    fn readable(&mut self, state: MachineState) -> &Readable {
        self.readable.entry(state).or_insert_with(|| {
            let mut readable = Readable::default();
            for byte in (0..=u8::MAX).filter(|&byte| self.machine.step(state, byte).is_some()) {
                readable[usize::from(byte / 64)] |= 1 << (byte % 64);
            }
            readable
        })
    }
}

/// The least readable byte above `byte`.
fn next_above(readable: &Readable, byte: u8) -> Option<u8> {
    let first = byte.checked_add(1)?;
    (first / 64..4).find_map(|word| {
        let above = if word == first / 64 { u64::MAX << (first % 64) } else { u64::MAX };
        let left = readable[usize::from(word)] & above;
        (left != 0).then(|| word * 64 + u8::try_from(left.trailing_zeros()).unwrap_or(0))
    })
}
