//! What is asked: a tree of terms, phrases and patterns in Boolean lists.

use std::collections::BTreeSet;
use std::ops::Bound;

use crate::schema::{Field, Value};

/// A query whose terms are those of the index: text has been analyzed.
#[derive(Clone, Debug, PartialEq)]
pub enum Query {
    /// Documents that contain the term.
    Term(Vec<u8>),
    /// Documents that satisfy a list of clauses.
    Bool(BoolQuery),
    /// Documents in which terms stand beside each other.
    Phrase(PhraseQuery),
    /// Documents that contain any of the terms that a pattern matches.
    Pattern(Pattern),
    /// Every document; the score is 1.
    All,
    /// Documents that have any term in the field; the score is 1.
    Exists,
    /// Documents that have a value of a column in a range; the score is 1.
    Values(ValueRange),
    /// The query, with its terms sought in a field instead of the one that is searched where none is named.
    In(Field, Box<Query>),
    /// The query, its score times a factor, which is positive; factors of factors multiply.
    Boost(Box<Query>, f32),
}

/// Values of a column.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueRange {
    /// The field; it is a column.
    pub field: Field,
    /// Where it begins; of the kind of the field.
    pub low: Bound<Value>,
    /// Where it ends.
    pub high: Bound<Value>,
}

/// Clauses by what a match of them means.
///
/// A document matches if all of `must` match, none of `must_not`, and at least as many of `should` as asked for; where
/// `must` is empty, at least one of `should`. With `must_not` alone, everything else matches with a score of 0. Without
/// any clause nothing does.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BoolQuery {
    /// Clauses that are required; they add to the score.
    pub must: Vec<Query>,
    /// Clauses that add to the score.
    pub should: Vec<Query>,
    /// Clauses that exclude.
    pub must_not: Vec<Query>,
    /// How many of `should` must match; 0 for as many as it takes without `must`.
    pub at_least: usize,
}

/// Terms in certain places beside each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhraseQuery {
    /// The terms, each with its place; places rise and need not follow each other.
    pub terms: Vec<(u32, Vec<u8>)>,
    /// By how many places all terms together may be moved to fit; 0 for the phrase as it is.
    pub slop: u32,
}

/// What a term may look like. What matches is not ranked by frequencies: the score of all documents is 1, but that of
/// [`Pattern::Fuzzy`], which is ranked by its nearest terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Terms that begin so.
    Prefix(Vec<u8>),
    /// Terms of these pieces, in order.
    Wildcard(Vec<WildcardPart>),
    /// Terms that all of a regular expression matches, in the syntax of the `regex` crate.
    Regex(String),
    /// Terms that so many edits make of this one: to insert, delete or replace a character, or to swap two neighbours.
    Fuzzy {
        /// The term.
        term: String,
        /// The most edits, 1 or 2.
        edits: u8,
        /// So many characters at the front must be the same.
        prefix: usize,
    },
    /// Terms between two others, in the order of their bytes.
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

impl Query {
    /// A query that matches nothing.
    pub fn nothing() -> Self {
        Query::Bool(BoolQuery::default())
    }

    /// The fields that it names.
    pub fn fields(&self) -> BTreeSet<Field> {
        match self {
            Query::Term(_) | Query::Phrase(_) | Query::Pattern(_) | Query::All | Query::Exists => {
                BTreeSet::new()
            }
            Query::Values(_) => BTreeSet::new(),
            Query::Bool(list) => list.clauses().flat_map(Query::fields).collect(),
            Query::In(field, query) => query.fields().into_iter().chain([*field]).collect(),
            Query::Boost(query, _) => query.fields(),
        }
    }

    /// True if what it matches depends on values of columns.
    pub(crate) fn reads_values(&self) -> bool {
        match self {
            Query::Term(_) | Query::Phrase(_) | Query::Pattern(_) | Query::All | Query::Exists => false,
            Query::Values(_) => true,
            Query::Bool(list) => list.clauses().any(Query::reads_values),
            Query::In(_, query) | Query::Boost(query, _) => query.reads_values(),
        }
    }

    /// The fields in which it seeks phrases, `field` being the one that is searched where none is named.
    pub(crate) fn phrases_in(&self, field: Field) -> BTreeSet<Field> {
        match self {
            Query::Phrase(phrase) if phrase.terms.len() > 1 => BTreeSet::from([field]),
            Query::Phrase(_) | Query::Term(_) | Query::Pattern(_) | Query::All | Query::Exists => {
                BTreeSet::new()
            }
            Query::Values(_) => BTreeSet::new(),
            Query::Bool(list) => list.clauses().flat_map(|query| query.phrases_in(field)).collect(),
            Query::In(named, query) => query.phrases_in(*named),
            Query::Boost(query, _) => query.phrases_in(field),
        }
    }

    /// Memory that it takes, in bytes.
    pub fn memory_bytes(&self) -> usize {
        let inner = match self {
            Query::Term(term) => term.len(),
            Query::Phrase(phrase) => phrase.terms.iter().map(|(_, term)| term.len() + 32).sum(),
            Query::Pattern(pattern) => pattern.memory_bytes(),
            Query::All | Query::Exists => 0,
            Query::Values(range) => range.memory_bytes(),
            Query::Bool(list) => list.clauses().map(Query::memory_bytes).sum(),
            Query::In(_, query) | Query::Boost(query, _) => query.memory_bytes(),
        };
        inner + size_of::<Query>()
    }
}

impl ValueRange {
    fn memory_bytes(&self) -> usize {
        let bound = |bound: &Bound<Value>| match bound {
            Bound::Included(Value::Text(text)) | Bound::Excluded(Value::Text(text)) => text.len(),
            _ => 0,
        };
        bound(&self.low) + bound(&self.high)
    }
}

impl Pattern {
    fn memory_bytes(&self) -> usize {
        let bound = |bound: &Bound<Vec<u8>>| match bound {
            Bound::Included(term) | Bound::Excluded(term) => term.len(),
            Bound::Unbounded => 0,
        };
        match self {
            Pattern::Prefix(term) => term.len(),
            Pattern::Wildcard(pieces) => {
                let piece =
                    |piece: &WildcardPart| if let WildcardPart::Text(text) = piece { text.len() } else { 0 };
                pieces.iter().map(|one| piece(one) + 32).sum()
            }
            Pattern::Regex(term) | Pattern::Fuzzy { term, .. } => term.len(),
            Pattern::Range(from, to) => bound(from) + bound(to),
            Pattern::Set(terms) => terms.iter().map(|term| term.len() + 24).sum(),
        }
    }
}

impl BoolQuery {
    /// All clauses.
    fn clauses(&self) -> impl Iterator<Item = &Query> {
        self.must.iter().chain(&self.should).chain(&self.must_not)
    }
}

/// How clauses without an operator between them are combined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Operator {
    /// All of them must match.
    And,
    /// One of them must match, as in Lucene.
    #[default]
    Or,
}

impl Operator {
    /// Parses `and` or `or`.
    pub fn parse(name: &str) -> crate::error::Result<Self> {
        match name {
            "and" => Ok(Operator::And),
            "or" => Ok(Operator::Or),
            other => {
                Err(crate::error::Error::Options(format!("operator '{other}' is unknown: use and or or")))
            }
        }
    }
}
