//! Steers through sorted terms with a machine: what it cannot accept is passed without being read.

use super::automaton::{Machine, State};
use crate::error::Result;
use crate::search::leaf::TermStream;

/// Calls `visit` at every term that the machine accepts, in order, with the machine's last state.
pub(super) fn walk(
    terms: &mut dyn TermStream,
    machine: &Machine,
    visit: &mut dyn FnMut(&dyn TermStream, State) -> Result<()>,
) -> Result<()> {
    // The term before, and the states before each byte of it, as far as they are alive.
    let (mut before, mut states) = (Vec::new(), vec![machine.start()]);
    let mut there = terms.seek(&[])?;
    while there {
        let term = terms.term();
        let shared = before.iter().zip(term).take_while(|(a, b)| a == b).count().min(states.len() - 1);
        states.truncate(shared + 1);
        let mut alive = true;
        for &byte in term.get(shared..).unwrap_or_default() {
            match states.last().and_then(|&state| machine.step(state, byte)) {
                Some(next) => states.push(next),
                None => {
                    alive = false;
                    break;
                }
            }
        }
        before.clear();
        before.extend_from_slice(term);
        if !alive {
            let Some(target) = next_alive(machine, &mut states, &before) else { return Ok(()) };
            there = terms.seek(&target)?;
            continue;
        }
        if let Some(&state) = states.last()
            && machine.accepts(state)
        {
            visit(terms, state)?;
        }
        there = terms.step()?;
    }
    Ok(())
}

/// The least string after `term` that the machine may still accept something of. `states` has those before the byte that
/// was the end of it, and gives up those beyond the string.
fn next_alive(machine: &Machine, states: &mut Vec<State>, term: &[u8]) -> Option<Vec<u8>> {
    while let Some(&state) = states.last() {
        let at = states.len() - 1;
        let byte = term.get(at).copied()?;
        let mut greater = (byte..=u8::MAX).skip(1);
        if let Some(next) = greater.find(|&next| machine.step(state, next).is_some()) {
            let mut target = term.get(..at)?.to_vec();
            target.push(next);
            return Some(target);
        }
        states.pop();
    }
    None
}
