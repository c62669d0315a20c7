//! Line numbers in files that several lanes read at once.
//!
//! A large file is divided into units, and the number of lines before a unit is known once all earlier units
//! have been read. Each unit publishes its number of line feeds when it ends, also if it fails; a
//! [`LineNumber`] waits for the units before its own. Units are taken in order, so the lowest unfinished one
//! never waits for a line number, and no thread waits forever as long as each lane is emptied by its own
//! thread.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex};

use crate::sys::{lock, wait};

/// The line feed counts of all units of one file.
#[derive(Debug, Default)]
pub(super) struct LineChain {
    /// Number of units of the file.
    units: usize,
    state: Mutex<ChainState>,
    grown: Condvar,
}

#[derive(Debug, Default)]
struct ChainState {
    /// Line feeds before the end of each unit, from the first unit on, without gaps.
    until: Vec<u64>,
    /// Units that ended before an earlier one did.
    early: BTreeMap<usize, u64>,
}

impl LineChain {
    /// The chain of a file that has `units` units.
    pub(super) fn of(units: usize) -> Self {
        LineChain { units, ..LineChain::default() }
    }
}

impl LineChain {
    /// Records that `unit` contained `lines` line feeds; true if all units of the file have ended now.
    fn publish(&self, unit: usize, lines: u64) -> bool {
        let mut guard = lock(&self.state);
        let state = &mut *guard;
        state.early.insert(unit, lines);
        while let Some(lines) = state.early.remove(&state.until.len()) {
            let before = state.until.last().copied().unwrap_or(0);
            state.until.push(before + lines);
        }
        self.grown.notify_all();
        state.until.len() == self.units
    }

    fn lines_before(&self, unit: usize) -> u64 {
        let Some(previous) = unit.checked_sub(1) else { return 0 };
        let mut state = lock(&self.state);
        loop {
            if let Some(&lines) = state.until.get(previous) {
                return lines;
            }
            state = wait(&self.grown, state);
        }
    }
}

/// A unit's place in its file's chain; publishes its count when it is dropped.
#[derive(Debug)]
pub(super) struct ChainLink {
    chain: Arc<LineChain>,
    unit: usize,
    /// Line feeds that the unit contained so far.
    pub(super) lines: u64,
    published: bool,
}

impl ChainLink {
    pub(super) fn new(chain: Arc<LineChain>, unit: usize) -> Self {
        ChainLink { chain, unit, lines: 0, published: false }
    }

    /// The number of the line that comes next in this unit.
    pub(super) fn next_line(&self) -> LineNumber {
        LineNumber { chain: Some((Arc::clone(&self.chain), self.unit)), lines_before: self.lines }
    }

    /// The number of the first line of this unit.
    #[cfg(test)]
    pub(super) fn first_line(&self) -> LineNumber {
        LineNumber { chain: Some((Arc::clone(&self.chain), self.unit)), lines_before: 0 }
    }

    /// Ends the unit; true if all units of the file have ended now.
    pub(super) fn publish(&mut self) -> bool {
        self.published = true;
        self.chain.publish(self.unit, self.lines)
    }
}

impl Drop for ChainLink {
    fn drop(&mut self) {
        if !self.published {
            self.publish();
        }
    }
}

/// The number of a line, which may not be known yet.
#[derive(Clone, Debug)]
pub struct LineNumber {
    chain: Option<(Arc<LineChain>, usize)>,
    lines_before: u64,
}

impl LineNumber {
    /// The line after the first `lines_before` lines of its file.
    pub(crate) fn after(lines_before: u64) -> Self {
        LineNumber { chain: None, lines_before }
    }

    /// The number, from 1. Waits until everything before it in the file has been read; after a failed read or
    /// a cancelled build the number is too small.
    pub fn resolve(&self) -> u64 {
        let units_before = self.chain.as_ref().map_or(0, |(chain, unit)| chain.lines_before(*unit));
        units_before + self.lines_before + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_number_waits_for_earlier_units_in_any_order() {
        let chain = Arc::new(LineChain::of(3));
        let mut links: Vec<_> = (0..3).map(|unit| ChainLink::new(Arc::clone(&chain), unit)).collect();
        links[2].lines = 4;
        let number = links[2].next_line();
        let waiting = std::thread::spawn(move || number.resolve());
        assert!(!links[2].publish());
        links[0].lines = 10;
        assert!(!links[0].publish());
        assert_eq!(links[1].next_line().resolve(), 11);
        links[1].lines = 100;
        drop(links);
        assert_eq!(waiting.join().unwrap(), 10 + 100 + 4 + 1);
        assert_eq!(LineNumber::after(2).resolve(), 3);
    }
}
