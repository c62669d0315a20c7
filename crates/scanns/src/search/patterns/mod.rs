//! Which terms of a leaf a pattern matches.
//!
//! `automaton.rs` turns a pattern into a machine that reads terms byte after byte and says as soon as nothing that follows
//! can match; `walk.rs` steers through the sorted terms with it, past all that cannot. Prefixes, ranges and sets need no
//! machine. `fuzzy.rs` chooses the nearest terms of all leaves.

mod automaton;
mod fuzzy;
#[cfg(test)]
mod tests;
mod walk;

use std::ops::Bound;

use super::budget::Clock;
use super::leaf::{Leaf, TermRef, TermStream};
use super::query::Pattern;
use crate::error::{Error, Result};
pub(super) use automaton::MOST_CHARS;
use automaton::Machine;
pub(super) use fuzzy::{Near, near_terms, nearest};
use walk::walk;

/// Terms of a leaf that a pattern may match.
pub const MAX_EXPANSIONS: usize = 1024;

/// A pattern that is ready to look at terms.
pub(super) enum Matcher<'q> {
    Prefix(&'q [u8]),
    Range(&'q Bound<Vec<u8>>, &'q Bound<Vec<u8>>),
    Set(&'q [Vec<u8>]),
    Machine(Box<Machine>),
}

impl<'q> Matcher<'q> {
    /// Prepares a pattern.
    ///
    /// # Errors
    /// [`Error::Options`] for an expression that is none, or takes too much memory.
    pub(super) fn new(pattern: &'q Pattern) -> Result<Self> {
        Ok(match pattern {
            Pattern::Prefix(prefix) => Matcher::Prefix(prefix),
            Pattern::Range(from, to) => Matcher::Range(from, to),
            Pattern::Set(terms) => Matcher::Set(terms),
            Pattern::Wildcard(pieces) => Matcher::Machine(Box::new(Machine::of_wildcard(pieces)?)),
            Pattern::Regex(text) => Matcher::Machine(Box::new(Machine::of_regex(text)?)),
            Pattern::Fuzzy { term, edits, prefix } => {
                Matcher::Machine(Box::new(Machine::of_edits(term, *edits, *prefix)?))
            }
        })
    }

    /// The terms of a leaf that match, in order.
    ///
    /// # Errors
    /// [`Error::Options`] if there are more than `most`.
    pub(super) fn terms(&self, leaf: &dyn Leaf, most: usize, clock: Clock) -> Result<Vec<TermRef>> {
        let mut found = Vec::new();
        self.each((leaf, clock), most, &mut |_, term| {
            found.push(term);
            Ok(())
        })?;
        Ok(found)
    }

    /// Calls `visit` with the terms of a leaf that match, in order.
    ///
    /// # Errors
    /// [`Error::Options`] if there are more than `most`.
    pub(super) fn each(
        &self,
        (leaf, clock): (&dyn Leaf, Clock),
        most: usize,
        visit: &mut dyn FnMut(&[u8], TermRef) -> Result<()>,
    ) -> Result<()> {
        let mut count = 0;
        let mut add = |term: &[u8], found: TermRef| {
            count += 1;
            if count > most { Err(too_many(most)) } else { visit(term, found) }
        };
        match self {
            Matcher::Set(terms) => {
                for term in *terms {
                    leaf.find(term)?.map_or(Ok(()), |found| add(term, found))?;
                }
            }
            Matcher::Prefix(prefix) => {
                let mut terms = terms_of(leaf, clock)?;
                let mut there = terms.seek(prefix)?;
                while there && terms.term().starts_with(prefix) {
                    let found = terms.found()?;
                    add(terms.term(), found)?;
                    there = terms.step()?;
                }
            }
            Matcher::Range(from, to) => {
                let mut terms = terms_of(leaf, clock)?;
                let mut there = enter(&mut terms, from)?;
                while there && is_before_end(terms.term(), to) {
                    let found = terms.found()?;
                    add(terms.term(), found)?;
                    there = terms.step()?;
                }
            }
            Matcher::Machine(machine) => walk(&mut terms_of(leaf, clock)?, machine, &mut |terms, _| {
                let found = terms.found()?;
                add(terms.term(), found)
            })?,
        }
        Ok(())
    }
}

impl Matcher<'_> {
    /// True if it matches this term.
    pub(super) fn matches(&self, term: &[u8]) -> bool {
        match self {
            Matcher::Prefix(prefix) => term.starts_with(prefix),
            Matcher::Set(terms) => terms.iter().any(|one| one == term),
            Matcher::Range(from, to) => {
                let begun = match from {
                    Bound::Unbounded => true,
                    Bound::Included(from) => term >= from.as_slice(),
                    Bound::Excluded(from) => term > from.as_slice(),
                };
                begun && is_before_end(term, to)
            }
            Matcher::Machine(machine) => {
                let end = term.iter().try_fold(machine.start(), |state, &byte| machine.step(state, byte));
                end.is_some_and(|state| machine.accepts(state))
            }
        }
    }
}

/// The terms of a leaf until time is up.
fn terms_of<'l>(leaf: &'l dyn Leaf, clock: Clock<'l>) -> Result<Timed<'l>> {
    Ok(Timed { terms: leaf.terms()?, clock, moves: 0 })
}

/// Terms that end when time is up.
struct Timed<'l> {
    terms: Box<dyn TermStream + 'l>,
    clock: Clock<'l>,
    moves: u32,
}

impl Timed<'_> {
    /// A move is short, so time is not asked for at each.
    fn goes_on(&mut self) -> bool {
        self.moves = self.moves.wrapping_add(1);
        !self.moves.is_multiple_of(64) || !self.clock.is_up()
    }
}

impl TermStream for Timed<'_> {
    fn step(&mut self) -> Result<bool> {
        Ok(self.goes_on() && self.terms.step()?)
    }

    fn seek(&mut self, target: &[u8]) -> Result<bool> {
        Ok(self.goes_on() && self.terms.seek(target)?)
    }

    fn term(&self) -> &[u8] {
        self.terms.term()
    }

    fn found(&mut self) -> Result<TermRef> {
        self.terms.found()
    }
}

/// Goes to the first term of a range; false if there is none.
fn enter(terms: &mut dyn TermStream, from: &Bound<Vec<u8>>) -> Result<bool> {
    match from {
        Bound::Unbounded => terms.seek(&[]),
        Bound::Included(from) => terms.seek(from),
        Bound::Excluded(from) => {
            let there = terms.seek(from)?;
            if there && terms.term() == from.as_slice() { terms.step() } else { Ok(there) }
        }
    }
}

fn is_before_end(term: &[u8], to: &Bound<Vec<u8>>) -> bool {
    match to {
        Bound::Unbounded => true,
        Bound::Included(to) => term <= to.as_slice(),
        Bound::Excluded(to) => term < to.as_slice(),
    }
}

fn too_many(most: usize) -> Error {
    Error::Options(format!(
        "a pattern matches more than {most} terms: make it longer, or say more of what it must match"
    ))
}
