//! What is asked: a tree of terms and Boolean lists.

/// A query whose terms are those of the index: text has been analyzed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Query {
    /// Documents that contain the term.
    Term(Vec<u8>),
    /// Documents that satisfy a list of clauses.
    Bool(BoolQuery),
}

/// Clauses by what a match of them means.
///
/// A document matches if all of `must` match, none of `must_not`, and, where `must` is empty, at least one of
/// `should`. With `must_not` alone, everything else matches with a score of 0. Without any clause nothing does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
