//! The states of a machine along the terms that it reads in order.

use std::collections::HashMap;

use super::automaton::{Machine, MachineState};

/// The maximum number of bytes that are guessed at once: a machine that repeats its states has no least
/// string.
const MOST_AHEAD: usize = 16;

/// The bytes that a machine can read in a state, one bit for each.
type Readable = [u64; 4];

/// The states of a machine along a term.
pub(super) struct Path<'m> {
    machine: &'m Machine,
    /// The term that was read last, up to the byte that could not be read, or the least string that may be
    /// accepted after it.
    pub(super) term: Vec<u8>,
    /// The states before each byte of the term, as far as the machine could read it, and the state after the
    /// last.
    states: Vec<MachineState>,
    /// Cached readable bytes of states; those of states of an edit distance by their number.
    readable: HashMap<MachineState, Readable>,
    of_edits: Vec<Option<Readable>>,
}

impl<'m> Path<'m> {
    pub(super) fn new(machine: &'m Machine) -> Self {
        Path {
            machine,
            term: Vec::new(),
            states: vec![machine.start()],
            readable: HashMap::new(),
            of_edits: Vec::new(),
        }
    }

    /// Reads a term from where it differs from the one before; false if the machine accepts nothing that
    /// begins like it.
    pub(super) fn read(&mut self, term: &[u8]) -> bool {
        let shared = self.term.iter().zip(term).take_while(|(a, b)| a == b).count().min(self.read_bytes());
        self.read_after(shared, term.get(shared..).unwrap_or_default().iter().copied())
    }

    /// The number of bytes of the term that the machine could read.
    #[inline]
    pub(super) fn read_bytes(&self) -> usize {
        self.states.len().saturating_sub(1)
    }

    /// Reads a term that shares `shared` bytes with the one before, all of which were read, and goes on with
    /// `own`; false if the machine accepts nothing that begins like it.
    #[inline]
    pub(super) fn read_after(&mut self, shared: usize, own: impl Iterator<Item = u8>) -> bool {
        self.states.truncate(shared + 1);
        self.term.truncate(shared);
        let Some(&last) = self.states.last() else { return false };
        let mut state = last;
        for byte in own {
            self.term.push(byte);
            match self.machine.step(state, byte) {
                Some(next) => {
                    self.states.push(next);
                    state = next;
                }
                None => return false,
            }
        }
        true
    }

    /// The last state, if the machine accepts the term.
    #[inline]
    pub(super) fn accepted(&self) -> Option<MachineState> {
        self.states.last().copied().filter(|&state| self.machine.accepts(state))
    }

    /// Replaces the term, which could not be read, by the least greater string that may be accepted, or by a
    /// long beginning of it; false if there is none.
    pub(super) fn turn(&mut self) -> bool {
        while let Some(&state) = self.states.last() {
            let at = self.states.len() - 1;
            let Some(&byte) = self.term.get(at) else { return false };
            let next = byte.checked_add(1).and_then(|first| least_from(self.readable(state), first));
            if let Some(next) = next {
                self.term.truncate(at);
                self.go_on(state, next);
                return true;
            }
            self.states.pop();
        }
        false
    }

    /// Reads a byte, and goes on with the least bytes until a term may end there.
    fn go_on(&mut self, mut state: MachineState, mut byte: u8) {
        let most = self.term.len() + MOST_AHEAD;
        while let Some(next) = self.machine.step(state, byte) {
            self.term.push(byte);
            self.states.push(next);
            if self.machine.accepts(next) || self.term.len() >= most {
                return;
            }
            let Some(least) = least_from(self.readable(next), 0) else { return };
            (state, byte) = (next, least);
        }
    }

    /// True if the machine could not read all of the term.
    pub(super) fn is_stuck(&self) -> bool {
        self.states.len() <= self.term.len()
    }

    fn readable(&mut self, state: MachineState) -> &Readable {
        let machine = self.machine;
        let find = || {
            let mut readable = Readable::default();
            for byte in (0..=u8::MAX).filter(|&byte| machine.step(state, byte).is_some()) {
                readable[usize::from(byte / 64)] |= 1 << (byte % 64);
            }
            readable
        };
        let MachineState::Edits(number) = state else {
            return self.readable.entry(state).or_insert_with(find);
        };
        let number = number as usize;
        if self.of_edits.len() <= number {
            self.of_edits.resize(number + 1, None);
        }
        self.of_edits[number].get_or_insert_with(find)
    }
}

/// The least readable byte from `first` on.
fn least_from(readable: &Readable, first: u8) -> Option<u8> {
    (first / 64..4).find_map(|word| {
        let above = if word == first / 64 { u64::MAX << (first % 64) } else { u64::MAX };
        let left = readable[usize::from(word)] & above;
        (left != 0).then(|| word * 64 + u8::try_from(left.trailing_zeros()).unwrap_or(0))
    })
}
