//! Patterns, each of which matches any number of terms of a field.

use std::ops::Bound;

/// A set of terms of a field.
///
/// A document that contains any of the terms has the score 1, whatever the frequencies of the terms. The
/// exception is [`Pattern::Fuzzy`], which scores by its nearest terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Terms that begin with these bytes.
    Prefix(Vec<u8>),
    /// Terms that consist of these parts, in this order.
    Wildcard(Vec<WildcardPart>),
    /// Terms that match a regular expression as a whole, in the syntax of the `regex` crate.
    Regex(String),
    /// Terms within an edit distance of a term. An edit inserts, deletes or replaces a character, or swaps
    /// two adjacent characters.
    Fuzzy {
        /// The term.
        term: String,
        /// The maximum number of edits, 1 or 2.
        edits: u8,
        /// The number of leading characters that must be equal.
        prefix: usize,
    },
    /// Terms in a range, in the order of their bytes.
    Range(Bound<Vec<u8>>, Bound<Vec<u8>>),
    /// Any of these terms.
    Set(Vec<Vec<u8>>),
}

/// A part of a [`Pattern::Wildcard`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WildcardPart {
    /// These bytes.
    Text(Vec<u8>),
    /// One character.
    AnyChar,
    /// Any number of characters.
    Anything,
}

impl Pattern {
    /// Bytes on the heap.
    pub(super) fn heap_bytes(&self) -> usize {
        let bound = |bound: &Bound<Vec<u8>>| match bound {
            Bound::Included(term) | Bound::Excluded(term) => term.len(),
            Bound::Unbounded => 0,
        };
        match self {
            Pattern::Prefix(term) => term.len(),
            Pattern::Wildcard(parts) => parts.iter().map(|part| part.len() + 32).sum(),
            Pattern::Regex(term) | Pattern::Fuzzy { term, .. } => term.len(),
            Pattern::Range(from, to) => bound(from) + bound(to),
            Pattern::Set(terms) => terms.iter().map(|term| term.len() + 24).sum(),
        }
    }
}

impl WildcardPart {
    fn len(&self) -> usize {
        if let WildcardPart::Text(text) = self { text.len() } else { 0 }
    }
}
