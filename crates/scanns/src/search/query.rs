//! What is asked: a tree of terms and Boolean lists.

use std::collections::BTreeSet;

use crate::schema::Field;

/// A query whose terms are those of the index: text has been analyzed.
#[derive(Clone, Debug, PartialEq)]
pub enum Query {
    /// Documents that contain the term.
    Term(Vec<u8>),
    /// Documents that satisfy a list of clauses.
    Bool(BoolQuery),
    /// The query, with its terms sought in a field instead of the one that is searched where none is named.
    In(Field, Box<Query>),
    /// The query, its score times a factor, which is positive; factors of factors multiply.
    Boost(Box<Query>, f32),
}

/// Clauses by what a match of them means.
///
/// A document matches if all of `must` match, none of `must_not`, and, where `must` is empty, at least one of
/// `should`. With `must_not` alone, everything else matches with a score of 0. Without any clause nothing does.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BoolQuery {
    /// Clauses that are required; they add to the score.
    pub must: Vec<Query>,
    /// Clauses that add to the score.
    pub should: Vec<Query>,
    /// Clauses that exclude.
    pub must_not: Vec<Query>,
}

impl Query {
    /// A query that matches nothing.
    pub fn nothing() -> Self {
        Query::Bool(BoolQuery::default())
    }

    /// The fields that it names.
    pub fn fields(&self) -> BTreeSet<Field> {
        match self {
            Query::Term(_) => BTreeSet::new(),
            Query::Bool(list) => list.clauses().flat_map(Query::fields).collect(),
            Query::In(field, query) => query.fields().into_iter().chain([*field]).collect(),
            Query::Boost(query, _) => query.fields(),
        }
    }

    /// Memory that it takes, in bytes.
    pub fn memory_bytes(&self) -> usize {
        let inner = match self {
            Query::Term(term) => term.len(),
            Query::Bool(list) => list.clauses().map(Query::memory_bytes).sum(),
            Query::In(_, query) | Query::Boost(query, _) => query.memory_bytes(),
        };
        inner + size_of::<Query>()
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
