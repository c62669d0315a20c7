//! The operator between clauses that are written without one.

use crate::error::{Error, Result};

/// How clauses without an operator between them are combined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Operator {
    /// All clauses must match.
    And,
    /// At least one clause must match, as in Lucene.
    #[default]
    Or,
}

impl Operator {
    /// Parses `and` or `or`.
    ///
    /// # Errors
    /// [`Error::UnknownName`] for any other name.
    pub fn parse(name: &str) -> Result<Self> {
        match name {
            "and" => Ok(Operator::And),
            "or" => Ok(Operator::Or),
            _ => Err(Error::UnknownName {
                what: "operator",
                name: name.to_owned(),
                known: "and or or".to_owned(),
            }),
        }
    }
}
