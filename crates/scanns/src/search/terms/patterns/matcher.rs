//! Compiled patterns, and the cursor over the terms that they match.

use std::fmt;
use std::ops::Bound;
use std::slice;

use super::automaton::Machine;
use super::literal::Literal;
use super::sorted::SortedTerms;
use super::timed::TimedTerms;
use super::walk::MachineWalk;
use crate::error::Result;
use crate::query::Pattern;
use crate::search::budget::Clock;
use crate::search::leaf::TermRef;

/// A pattern that is ready to be matched.
pub(crate) enum PatternMatcher<'q> {
    Prefix(&'q [u8]),
    Range(&'q Bound<Vec<u8>>, &'q Bound<Vec<u8>>),
    Set(&'q [Vec<u8>]),
    /// A machine, and what it looks for, if that is known, made of this pattern.
    Machine(Box<Machine>, Option<Box<Literal>>, &'q Pattern),
}

/// Shows the pattern.
impl fmt::Debug for PatternMatcher<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PatternMatcher::Prefix(prefix) => write!(out, "prefix {prefix:?}"),
            PatternMatcher::Range(from, to) => write!(out, "range {from:?} {to:?}"),
            PatternMatcher::Set(terms) => write!(out, "set {terms:?}"),
            PatternMatcher::Machine(.., pattern) => write!(out, "{pattern:?}"),
        }
    }
}

impl<'q> PatternMatcher<'q> {
    /// Prepares a pattern.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] for a regular expression that does not parse or takes too much memory, and for
    /// a fuzzy word that is too long or has too many edits.
    pub(crate) fn new(pattern: &'q Pattern) -> Result<Self> {
        Ok(match pattern {
            Pattern::Prefix(prefix) => PatternMatcher::Prefix(prefix),
            Pattern::Range(from, to) => PatternMatcher::Range(from, to),
            Pattern::Set(terms) => PatternMatcher::Set(terms),
            Pattern::Wildcard(parts) => {
                let literal = Literal::of_wildcard(parts).map(Box::new);
                PatternMatcher::Machine(Box::new(Machine::of_wildcard(parts)?), literal, pattern)
            }
            Pattern::Regex(text) => {
                let literal = Literal::of_regex(text).map(Box::new);
                PatternMatcher::Machine(Box::new(Machine::of_regex(text)?), literal, pattern)
            }
            Pattern::Fuzzy { term, edits, prefix } => {
                PatternMatcher::Machine(Box::new(Machine::of_edits(term, *edits, *prefix)?), None, pattern)
            }
        })
    }

    /// A cursor over the terms that match, in order, before the first one. A set keeps its own order.
    pub(crate) fn matching<'a>(
        &'a self,
        all: SortedTerms<'a>,
        clock: Clock<'a>,
    ) -> Result<MatchingTerms<'a>> {
        let interval = |terms, is_at_first: bool| MatchingTerms::Interval {
            matcher: self,
            terms,
            next: is_at_first.then_some(IntervalMove::Current),
        };
        Ok(match self {
            PatternMatcher::Set(terms) => MatchingTerms::Set { terms: terms.iter(), all, current: None },
            PatternMatcher::Prefix(prefix) => {
                let mut terms = TimedTerms::new(all, clock)?;
                let is_at_first = terms.seek(prefix)?;
                interval(terms, is_at_first)
            }
            PatternMatcher::Range(from, _) => {
                let mut terms = TimedTerms::new(all, clock)?;
                let is_at_first = seek_bound(&mut terms, from)?;
                interval(terms, is_at_first)
            }
            PatternMatcher::Machine(machine, ..) => {
                MatchingTerms::Machine(MachineWalk::new(all, clock, machine)?)
            }
        })
    }

    /// Whether the pattern matches this term.
    pub(crate) fn matches(&self, term: &[u8]) -> bool {
        match self {
            PatternMatcher::Set(terms) => terms.iter().any(|one| one == term),
            PatternMatcher::Prefix(_) => self.is_before_end(term),
            PatternMatcher::Range(from, _) => {
                let has_begun = match from {
                    Bound::Unbounded => true,
                    Bound::Included(from) => term >= from.as_slice(),
                    Bound::Excluded(from) => term > from.as_slice(),
                };
                has_begun && self.is_before_end(term)
            }
            PatternMatcher::Machine(machine, ..) => {
                let end = machine.run(machine.start(), term);
                end.is_some_and(|state| machine.accepts(state))
            }
        }
    }

    /// The bytes that every string contains that matches, if they are known.
    pub(crate) fn literal(&self) -> Option<&Literal> {
        match self {
            PatternMatcher::Machine(_, literal, _) => literal.as_deref(),
            _ => None,
        }
    }

    /// Whether almost any beginning can be continued to a match, so that few terms can be skipped.
    pub(crate) fn reads_all_terms(&self) -> bool {
        matches!(self, PatternMatcher::Machine(machine, ..) if machine.begins_with_anything())
    }

    /// Whether a term that is not before a prefix or range lies in it.
    fn is_before_end(&self, term: &[u8]) -> bool {
        match self {
            PatternMatcher::Prefix(prefix) => term.starts_with(prefix),
            PatternMatcher::Range(_, Bound::Included(to)) => term <= to.as_slice(),
            PatternMatcher::Range(_, Bound::Excluded(to)) => term < to.as_slice(),
            _ => true,
        }
    }
}

/// Moves to the first term of a range; false if there is none.
fn seek_bound(terms: &mut TimedTerms, from: &Bound<Vec<u8>>) -> Result<bool> {
    match from {
        Bound::Unbounded => terms.seek(&[]),
        Bound::Included(from) => terms.seek(from),
        Bound::Excluded(from) => {
            let is_there = terms.seek(from)?;
            if is_there && terms.term() == from.as_slice() { terms.step() } else { Ok(is_there) }
        }
    }
}

/// A cursor over the terms that a pattern matches.
pub(crate) enum MatchingTerms<'a> {
    Set {
        terms: slice::Iter<'a, Vec<u8>>,
        all: SortedTerms<'a>,
        current: Option<(&'a [u8], TermRef)>,
    },
    /// A prefix or range: neighbouring terms. Without `next` there are no more of them.
    Interval {
        matcher: &'a PatternMatcher<'a>,
        terms: TimedTerms<'a>,
        next: Option<IntervalMove>,
    },
    Machine(MachineWalk<'a>),
}

/// Where the next term of an interval is.
#[derive(Clone, Copy)]
pub(crate) enum IntervalMove {
    /// The stream is at it.
    Current,
    /// The stream is at the term before it.
    Step,
}

impl MatchingTerms<'_> {
    /// Moves to the next term; false at the end.
    pub(crate) fn next(&mut self) -> Result<bool> {
        match self {
            MatchingTerms::Set { terms, all, current } => {
                *current = None;
                for term in terms {
                    if let Some(found) = all.find(term)? {
                        *current = Some((term, found));
                        break;
                    }
                }
                Ok(current.is_some())
            }
            MatchingTerms::Interval { matcher, terms, next } => {
                let is_there = match next {
                    None => false,
                    Some(IntervalMove::Current) => true,
                    Some(IntervalMove::Step) => terms.step()?,
                };
                *next = (is_there && matcher.is_before_end(terms.term())).then_some(IntervalMove::Step);
                Ok(next.is_some())
            }
            MatchingTerms::Machine(walk) => Ok(walk.next()?.is_some()),
        }
    }

    /// The current term.
    pub(crate) fn term(&self) -> &[u8] {
        match self {
            MatchingTerms::Set { current, .. } => current.map_or(&[], |(term, _)| term),
            MatchingTerms::Interval { terms, .. } => terms.term(),
            MatchingTerms::Machine(walk) => walk.term(),
        }
    }

    /// The frequencies of the current term, and where its postings are.
    pub(crate) fn found(&mut self) -> Result<TermRef> {
        match self {
            MatchingTerms::Set { current, .. } => Ok(current.map_or(TermRef::default(), |(_, found)| found)),
            MatchingTerms::Interval { terms, .. } => terms.found(),
            MatchingTerms::Machine(walk) => walk.found(),
        }
    }
}
