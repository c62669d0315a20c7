//! Steers through sorted terms with a machine: what it cannot accept is passed without being read.

use std::collections::HashMap;

use super::automaton::{Machine, State};
use crate::error::Result;
use crate::search::leaf::TermStream;

/// Which bytes a machine can read in a state, a bit for each.
type Readable = [u64; 4];

/// Calls `visit` at every term that the machine accepts, in order, with the machine's last state.
pub(super) fn walk(
    terms: &mut dyn TermStream,
    machine: &Machine,
    visit: &mut dyn FnMut(&mut dyn TermStream, State) -> Result<()>,
) -> Result<()> {
    let mut way = Way { machine, term: Vec::new(), states: vec![machine.start()], readable: HashMap::new() };
    let mut there = terms.seek(&[])?;
    while there {
        if way.read(terms.term()) {
            if let Some(&state) = way.states.last()
                && machine.accepts(state)
            {
                visit(terms, state)?;
            }
            there = terms.step()?;
        } else {
            if !way.turn() {
                return Ok(());
            }
            there = terms.seek(&way.term)?;
        }
    }
    Ok(())
}

/// How far a machine has come.
struct Way<'m> {
    machine: &'m Machine,
    /// The term that was read last, or the least string that may come after it.
    term: Vec<u8>,
    /// The states before each byte of it, as far as they are alive, and after the last.
    states: Vec<State>,
    /// By state, as far as they have been asked for.
    readable: HashMap<State, Readable>,
}

impl Way<'_> {
    /// Reads a term from where it parts from the one before; false if the machine accepts nothing that begins so.
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

    /// Makes of the term, which could not be read, the least string after it that may be; false if there is none.
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

    fn readable(&mut self, state: State) -> &Readable {
        self.readable.entry(state).or_insert_with(|| {
            let mut readable = Readable::default();
            for byte in (0..=u8::MAX).filter(|&byte| self.machine.step(state, byte).is_some()) {
                readable[usize::from(byte / 64)] |= 1 << (byte % 64);
            }
            readable
        })
    }
}

/// The least byte above `byte` that is readable.
fn next_above(readable: &Readable, byte: u8) -> Option<u8> {
    let first = byte.checked_add(1)?;
    (first / 64..4).find_map(|word| {
        let above = if word == first / 64 { u64::MAX << (first % 64) } else { u64::MAX };
        let left = readable[usize::from(word)] & above;
        (left != 0).then(|| word * 64 + u8::try_from(left.trailing_zeros()).unwrap_or(0))
    })
}
