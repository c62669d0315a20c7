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
    pub(super) kind: ClauseKind,
}

/// What a clause consists of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ClauseKind {
    /// The terms of one word, or one term.
    Word,
    /// Conditions on columns, without words.
    Condition,
    Other,
}

impl SignedClause {
    /// A clause without a sign.
    pub(super) fn plain(query: Option<Query>, kind: ClauseKind) -> Self {
        SignedClause { sign: Sign::None, query, kind }
    }

    fn is_condition(&self) -> bool {
        self.kind == ClauseKind::Condition
    }
}

/// The kind of a list of clauses: a list of conditions is a condition.
pub(super) fn kind_of(clauses: &[SignedClause]) -> ClauseKind {
    if clauses.iter().all(SignedClause::is_condition) { ClauseKind::Condition } else { ClauseKind::Other }
}

/// Joins clauses between which `OR` is written. Conditions become one condition; in other lists they are
/// alternatives like the words around them.
pub(super) fn join(mut clauses: Vec<SignedClause>) -> Vec<SignedClause> {
    if clauses.len() < 2 {
        return clauses;
    }
    if kind_of(&clauses) == ClauseKind::Other {
        clauses
            .iter_mut()
            .filter(|clause| clause.is_condition())
            .for_each(|clause| clause.kind = ClauseKind::Other);
        return clauses;
    }
    let unsigned = |clause: SignedClause| match clause.sign {
        Sign::MustNot => combine(vec![clause], Operator::Or),
        Sign::Must | Sign::None => clause.query,
    };
    let should = clauses.into_iter().filter_map(unsigned).collect();
    vec![SignedClause::plain(Some(Query::any_of(should)), ClauseKind::Condition)]
}

/// Combines the clauses of a list with `operator` between them. Returns `None` if no clause has a query.
///
/// The terms of a word join the list if the operator is the same, since the word could have been written as
/// several words. Other clauses in parentheses keep their own list, and therefore their own rounding of
/// scores.
///
/// Conditions on columns must all hold, whatever the operator is, and do not score. At least one of the words
/// beside them must match, unless one of the clauses has a `+`.
pub(super) fn combine(clauses: Vec<SignedClause>, operator: Operator) -> Option<Query> {
    let mut list = BoolQuery::default();
    let has_plus = clauses.iter().any(|clause| clause.sign == Sign::Must);
    for SignedClause { sign, query, kind } in clauses {
        let Some(query) = query else { continue };
        let is_word = kind == ClauseKind::Word;
        match (sign, operator) {
            (Sign::MustNot, _) => list.must_not.push(query),
            _ if kind == ClauseKind::Condition => list.filter.push(query),
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
    if !list.filter.is_empty() && list.must.is_empty() {
        match list.should.len() {
            // One of the conditions scores 1, as a single condition does.
            0 => list.must.push(list.filter.remove(0)),
            _ if has_plus => {}
            1 => list.must.append(&mut list.should),
            _ => list.at_least = 1,
        }
    }
    match (list.must.len(), list.filter.len() + list.should.len() + list.must_not.len()) {
        (0, 0) => None,
        (1, 0) => list.must.pop(),
        (0, 1) if list.must_not.is_empty() => list.should.pop(),
        _ => Some(Query::Bool(list)),
    }
}
