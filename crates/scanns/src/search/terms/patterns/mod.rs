//! Finds the terms that a pattern matches, of a leaf or of a column.
//!
//! `automaton.rs` turns a pattern into a machine that reads terms byte by byte and fails as soon as no
//! continuation can match. `path.rs` keeps its states along a term. `walk.rs` moves through the sorted terms
//! with it and skips those that cannot match, in segments by blocks (`block_scan.rs`). Prefixes, ranges and
//! sets need no machine: `matcher.rs` has one cursor for all kinds of patterns. `literal.rs` finds the
//! literal of a pattern in many terms at once. `fuzzy.rs` finds the nearest terms of all leaves.

mod automaton;
mod block_scan;
mod fuzzy;
mod literal;
mod matcher;
mod path;
mod sorted;
#[cfg(test)]
mod tests;
mod timed;
mod walk;

pub(crate) use automaton::{MAX_FUZZY_CHARS, MachineState};
pub(crate) use fuzzy::{FuzzyWord, NearTerm, near_terms, nearest};
pub(crate) use literal::Literal;
pub(crate) use matcher::{MatchingTerms, PatternMatcher};
