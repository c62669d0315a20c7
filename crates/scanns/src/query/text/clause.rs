//! Clauses of a list, and their combination into one query.

use crate::query::operator::Operator;
use crate::query::tree::{BoolQuery, Query};

/// The sign of a clause in its list.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    None,
    Must,
    MustNot,
}

/// A clause of a list.
pub(super) struct SignedClause {
    pub(super) sign: Sign,
    /// `None` if the text of the clause has no terms.
    pub(super) query: Option<Query>,
    /// Whether the clause consists of the terms of one word, or of one term.
    pub(super) is_word: bool,
}

/// Combines the clauses of a list with `operator` between them. Returns `None` if no clause has a query.
///
/// The terms of a word join the list if the operator is the same, since the word could have been written as
/// several words. Other clauses in parentheses keep their own list, and therefore their own rounding of
/// scores.
pub(super) fn combine(clauses: Vec<SignedClause>, operator: Operator) -> Option<Query> {
    let mut list = BoolQuery::default();
    for SignedClause { sign, query, is_word } in clauses {
        let Some(query) = query else { continue };
        match (sign, operator) {
            (Sign::MustNot, _) => list.must_not.push(query),
            (Sign::Must, _) => list.must.push(query),
            (Sign::None, Operator::And) => match query {
                Query::Bool(inner) if is_word && inner.should.is_empty() => list.must.extend(inner.must),
                query => list.must.push(query),
            },
            (Sign::None, Operator::Or) => match query {
                Query::Bool(inner) if is_word && inner.must.is_empty() => list.should.extend(inner.should),
                query => list.should.push(query),
            },
        }
    }
    match (list.must.len(), list.should.len(), list.must_not.len()) {
        (0, 0, 0) => None,
        (1, 0, 0) => list.must.pop(),
        (0, 1, 0) => list.should.pop(),
        _ => Some(Query::Bool(list)),
    }
}
