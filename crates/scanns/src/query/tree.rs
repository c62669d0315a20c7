//! The query tree: terms, phrases, patterns and values, combined by boolean lists.
//!
//! Every clause knows its field. To add a kind of clause, add a variant of [`Query`] here, give it a form in
//! `text/` and `json/`, and lower it in `search/plan/`.

use std::collections::BTreeSet;

use crate::query::pattern::Pattern;
use crate::query::value_range::ValueRange;
use crate::schema::Field;

/// What documents are asked for. Terms are as the index has them: text has been analyzed before.
///
/// ```
/// use scanns::Query;
/// use scanns::query::BoolQuery;
/// use scanns::schema::{FieldEntry, Schema};
///
/// # fn main() -> scanns::Result<()> {
/// let mut schema = Schema::new();
/// let text = schema.add(FieldEntry::text("text"))?;
/// let query = Query::Bool(BoolQuery {
///     must: vec![Query::term(text, "index")],
///     should: vec![Query::term(text, "ready").boosted(2.0)],
///     must_not: vec![Query::term(text, "draft")],
///     ..BoolQuery::default()
/// });
/// assert_eq!(query.fields().into_iter().collect::<Vec<_>>(), [text]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Query {
    /// Documents that contain a term.
    Term(Term),
    /// Documents that satisfy a list of clauses.
    Bool(BoolQuery),
    /// Documents that contain terms beside each other.
    Phrase(PhraseQuery),
    /// Documents that contain any of the terms that a pattern matches.
    Pattern {
        /// The field of the terms.
        field: Field,
        /// Which terms.
        pattern: Pattern,
    },
    /// Every document, with a score of 1.
    All,
    /// Documents that have any term in a field, with a score of 1.
    Exists(Field),
    /// Documents that have a value of a column in a range, with a score of 1.
    Values(ValueRange),
    /// The query with its score multiplied by a factor, which is positive. Nested factors multiply.
    Boost(Box<Query>, f32),
}

/// A term of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// The field.
    pub field: Field,
    /// The term, as the index has it: UTF-8 where it comes from text.
    pub text: Vec<u8>,
}

/// Clauses, by the effect of a match.
///
/// A document matches if all of `must` match, none of `must_not`, and at least `at_least` of `should`; if
/// `must` is empty, at least one of `should`. A list that only has `must_not` matches all other documents
/// with a score of 0. An empty list matches nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BoolQuery {
    /// Clauses that are required; they add to the score.
    pub must: Vec<Query>,
    /// Clauses that are optional; they add to the score.
    pub should: Vec<Query>,
    /// Clauses that exclude documents.
    pub must_not: Vec<Query>,
    /// How many of `should` must match; 0 for none beside `must`, and for one without `must`.
    pub at_least: usize,
}

/// Terms of a field at certain places relative to each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhraseQuery {
    /// The field of the terms.
    pub field: Field,
    /// The terms, each with its place. Places ascend; they may have gaps.
    pub terms: Vec<(u32, Vec<u8>)>,
    /// The number of places by which the terms may be moved, all together, to fit; 0 for an exact phrase.
    pub slop: u32,
}

impl Query {
    /// A term of a field.
    pub fn term(field: Field, text: impl Into<Vec<u8>>) -> Self {
        Query::Term(Term { field, text: text.into() })
    }

    /// Documents that contain any of the terms that a pattern matches in a field.
    pub fn pattern(field: Field, pattern: Pattern) -> Self {
        Query::Pattern { field, pattern }
    }

    /// Documents that match any of these clauses.
    pub fn any_of(should: Vec<Query>) -> Self {
        Query::Bool(BoolQuery { should, ..BoolQuery::default() })
    }

    /// Documents that match all of these clauses.
    pub fn all_of(must: Vec<Query>) -> Self {
        Query::Bool(BoolQuery { must, ..BoolQuery::default() })
    }

    /// A query that matches nothing.
    pub fn nothing() -> Self {
        Query::Bool(BoolQuery::default())
    }

    /// The query with its score multiplied by `factor`.
    #[must_use]
    pub fn boosted(self, factor: f32) -> Self {
        Query::Boost(Box::new(self), factor)
    }

    /// This query and all clauses inside it, each before the clauses that it contains.
    pub fn clauses(&self) -> impl Iterator<Item = &Query> {
        let mut open = vec![self];
        std::iter::from_fn(move || {
            let next = open.pop()?;
            match next {
                Query::Bool(list) => {
                    open.extend(list.must_not.iter().rev());
                    open.extend(list.should.iter().rev());
                    open.extend(list.must.iter().rev());
                }
                Query::Boost(inner, _) => open.push(inner),
                _ => {}
            }
            Some(next)
        })
    }

    /// The field in which this clause finds terms; `None` if it finds none itself.
    pub fn field(&self) -> Option<Field> {
        match self {
            Query::Term(term) => Some(term.field),
            Query::Phrase(phrase) => Some(phrase.field),
            Query::Pattern { field, .. } | Query::Exists(field) => Some(*field),
            Query::Bool(_) | Query::All | Query::Values(_) | Query::Boost(..) => None,
        }
    }

    /// The fields in which the query finds terms.
    pub fn fields(&self) -> BTreeSet<Field> {
        self.clauses().filter_map(Query::field).collect()
    }

    /// Whether the documents that match depend on values of columns.
    pub(crate) fn reads_values(&self) -> bool {
        self.clauses().any(|clause| matches!(clause, Query::Values(_)))
    }

    /// The fields whose positions the query needs.
    pub(crate) fn phrase_fields(&self) -> BTreeSet<Field> {
        let of_phrase = |clause: &Query| match clause {
            Query::Phrase(phrase) if phrase.terms.len() > 1 => Some(phrase.field),
            _ => None,
        };
        self.clauses().filter_map(of_phrase).collect()
    }

    /// The memory that the query takes, in bytes.
    pub fn memory_bytes(&self) -> usize {
        self.clauses().map(|clause| size_of::<Query>() + clause.own_heap_bytes()).sum()
    }

    /// Bytes on the heap, without those of clauses inside this one.
    fn own_heap_bytes(&self) -> usize {
        match self {
            Query::Term(term) => term.text.len(),
            Query::Phrase(phrase) => phrase.terms.iter().map(|(_, term)| term.len() + 32).sum(),
            Query::Pattern { pattern, .. } => pattern.heap_bytes(),
            Query::Values(range) => range.heap_bytes(),
            Query::Bool(_) | Query::All | Query::Exists(_) | Query::Boost(..) => 0,
        }
    }
}

impl BoolQuery {
    /// The clauses that add to the score.
    pub(crate) fn scored(&self) -> impl Iterator<Item = &Query> {
        self.must.iter().chain(&self.should)
    }
}
