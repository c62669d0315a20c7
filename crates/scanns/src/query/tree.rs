//! The query tree: terms, phrases, patterns, values and joins, combined by boolean lists.
//!
//! Every clause has its own field. To add a kind of clause, add a variant of [`Query`] here, give it a form
//! in `text/` and `json/`, and lower it in `search/plan/`.

use std::collections::BTreeSet;

use crate::query::join::{JoinOn, JoinScore};
use crate::query::pattern::Pattern;
use crate::query::value_range::ValueRange;
use crate::query::value_score::{ScoreChange, ValueScore};
use crate::schema::Field;

/// A query. Its terms are the terms of the index: the text has been analyzed already.
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
    /// Documents that match any of several clauses, scored by the best of them.
    Best(BestQuery),
    /// Documents that contain terms next to each other.
    Phrase(PhraseQuery),
    /// Documents that contain any of the terms that match a pattern.
    Pattern {
        /// The field of the terms.
        field: Field,
        /// The pattern.
        pattern: Pattern,
    },
    /// Every document, with a score of 1.
    All,
    /// Documents that have any term in a field, with a score of 1.
    Exists(Field),
    /// Documents with a value of a column in a range, with a score of 1.
    Values(ValueRange),
    /// Documents with a value of a column that matches a pattern, with a score of 1.
    ValuePattern {
        /// The field: a column of keywords, paths or texts.
        field: Field,
        /// The pattern, which must match a value as a whole.
        pattern: Pattern,
    },
    /// Documents with a value that documents which match another query have.
    Join(JoinQuery),
    /// A query whose score is multiplied by a positive factor. Nested factors multiply.
    Boost(Box<Query>, f32),
    /// A query whose score is changed by the value of a column.
    Scored(ScoredQuery),
}

/// A term of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// The field of the term.
    pub field: Field,
    /// The term as in the index: UTF-8 if it comes from text.
    pub text: Vec<u8>,
}

/// A list of clauses with their roles.
///
/// A document matches if it matches all of `must` and `filter`, none of `must_not`, and at least `at_least`
/// of `should`; if `must` and `filter` are empty, it must match at least one of `should`. A list that only
/// has `filter` or `must_not` gives a score of 0. An empty list matches nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BoolQuery {
    /// Clauses that are required; they add to the score.
    pub must: Vec<Query>,
    /// Clauses that are required, and do not change the score.
    pub filter: Vec<Query>,
    /// Clauses that are optional; they add to the score.
    pub should: Vec<Query>,
    /// Clauses that exclude documents.
    pub must_not: Vec<Query>,
    /// The number of `should` clauses that must match; 0 means none if there are `must` or `filter` clauses,
    /// and otherwise one.
    pub at_least: usize,
}

/// Clauses of which the best one decides the score: a disjunction maximum, as in Lucene.
///
/// A document matches if any clause matches it. Its score is the highest score of its clauses, plus `tie`
/// times the sum of the other scores.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BestQuery {
    /// The clauses. Without any, nothing matches.
    pub clauses: Vec<Query>,
    /// The factor of the scores that are not the highest: from 0, where they do not count, to 1, where the
    /// score is a sum.
    pub tie: f32,
}

/// A join: documents with a value in `to` that is a value in `from` of some document that matches `query`.
///
/// The query inside sees all documents that the searcher sees, in all segments. It is evaluated once for each
/// search, before any document is compared.
///
/// ```
/// use scanns::query::{JoinOn, JoinQuery, JoinScore};
/// use scanns::schema::{Document, FieldEntry, FieldKind, Schema};
/// use scanns::{Index, Query};
///
/// # fn main() -> scanns::Result<()> {
/// # let place = tempfile::tempdir().unwrap();
/// # let path = place.path().join("blog.scanns");
/// let mut schema = Schema::new();
/// let text = schema.add(FieldEntry::text("text"))?;
/// let parent = schema.add(FieldEntry::new("parent", FieldKind::Keyword).column())?;
/// let writer = Index::create(&path, &schema)?.writer()?;
/// writer.add_block(&[
///     Document::new("article-1").text(text, "Red apples are ripe."),
///     Document::new("comment-1").text(text, "Mine are green.").text(parent, "article-1"),
/// ])?;
///
/// let snapshot = writer.snapshot()?;
/// let commented = Query::Join(JoinQuery {
///     from: JoinOn::Column(parent),
///     to: JoinOn::Key,
///     query: Box::new(Query::term(text, "green")),
///     score: JoinScore::Max,
/// });
/// let hits = snapshot.searcher().top_k(&commented, scanns::search::Model::default(), 10)?;
/// assert_eq!(snapshot.key(&hits[0])?, b"article-1");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct JoinQuery {
    /// What is taken of the documents that match the query inside.
    pub from: JoinOn,
    /// What is compared with it, of the same kind: keywords and keys, unsigned numbers, or signed numbers.
    pub to: JoinOn,
    /// The query inside.
    pub query: Box<Query>,
    /// The score of the documents that the join matches.
    pub score: JoinScore,
}

/// A query whose scores are changed by a number that each document has in a column.
///
/// It matches what the query inside matches. Of several values of a document, the one that gives most counts.
///
/// ```
/// use scanns::query::{Closeness, ScoreChange, ScoreCurve, ScoredQuery, ValueScore};
/// use scanns::schema::{Document, FieldEntry, FieldKind, Schema, Value};
/// use scanns::{Index, Query};
///
/// # fn main() -> scanns::Result<()> {
/// # let place = tempfile::tempdir().unwrap();
/// # let path = place.path().join("papers.scanns");
/// let mut schema = Schema::new();
/// let text = schema.add(FieldEntry::text("text"))?;
/// let year = schema.add(FieldEntry::new("year", FieldKind::Unsigned).column())?;
/// let writer = Index::create(&path, &schema)?.writer()?;
/// writer.add(&Document::new("old").text(text, "cold fusion fusion").with(year, Value::Unsigned(1989)))?;
/// writer.add(&Document::new("new").text(text, "warm fusion energy").with(year, Value::Unsigned(2024)))?;
///
/// // Half the score for each ten years before 2025.
/// let curve = ScoreCurve::Near {
///     origin: Value::Unsigned(2025),
///     scale: 10.0,
///     closeness: Closeness::Exponential,
/// };
/// let recent = Query::Scored(ScoredQuery {
///     query: Box::new(Query::term(text, "fusion")),
///     by: ValueScore { field: year, curve, missing: 0.0 },
///     change: ScoreChange::Multiply,
/// });
/// let snapshot = writer.snapshot()?;
/// let hits = snapshot.searcher().top_k(&recent, scanns::search::Model::default(), 10)?;
/// assert_eq!(snapshot.key(&hits[0])?, b"new");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ScoredQuery {
    /// The query inside.
    pub query: Box<Query>,
    /// The number of each document.
    pub by: ValueScore,
    /// How the number changes the score.
    pub change: ScoreChange,
}

/// Terms of a field at given places relative to each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhraseQuery {
    /// The field of the terms.
    pub field: Field,
    /// The terms, each with its place. Places ascend, and may have gaps.
    pub terms: Vec<(u32, Vec<u8>)>,
    /// The total number of places by which the terms may be moved; 0 for an exact phrase.
    pub slop: u32,
}

impl Query {
    /// A term of a field.
    pub fn term(field: Field, text: impl Into<Vec<u8>>) -> Self {
        Query::Term(Term { field, text: text.into() })
    }

    /// Documents that contain any of the terms that match a pattern in a field.
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

    /// The query without the boosts and the columns around it, which change only scores.
    pub fn unboosted(&self) -> &Query {
        let mut query = self;
        while let Query::Boost(inner, _) | Query::Scored(ScoredQuery { query: inner, .. }) = query {
            query = inner;
        }
        query
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
                    open.extend(list.filter.iter().rev());
                    open.extend(list.must.iter().rev());
                }
                Query::Best(best) => open.extend(best.clauses.iter().rev()),
                Query::Boost(inner, _) | Query::Scored(ScoredQuery { query: inner, .. }) => open.push(inner),
                Query::Join(join) => open.push(&join.query),
                _ => {}
            }
            Some(next)
        })
    }

    /// The field in which this clause finds terms; `None` if the clause has no terms itself.
    pub fn field(&self) -> Option<Field> {
        match self {
            Query::Term(term) => Some(term.field),
            Query::Phrase(phrase) => Some(phrase.field),
            Query::Pattern { field, .. } | Query::Exists(field) => Some(*field),
            Query::Bool(_)
            | Query::Best(_)
            | Query::All
            | Query::Values(_)
            | Query::ValuePattern { .. }
            | Query::Join(_)
            | Query::Boost(..)
            | Query::Scored(_) => None,
        }
    }

    /// The fields in which the query finds terms.
    pub fn fields(&self) -> BTreeSet<Field> {
        self.clauses().filter_map(Query::field).collect()
    }

    /// Whether the matching documents depend on values of columns.
    pub(crate) fn reads_values(&self) -> bool {
        let reads =
            |clause: &Query| matches!(clause, Query::Values(_) | Query::ValuePattern { .. } | Query::Join(_));
        self.clauses().any(reads)
    }

    /// Whether the matching documents depend on other documents.
    pub(crate) fn has_join(&self) -> bool {
        self.clauses().any(|clause| matches!(clause, Query::Join(_)))
    }

    /// The fields whose positions the query needs.
    pub(crate) fn phrase_fields(&self) -> BTreeSet<Field> {
        let of_phrase = |clause: &Query| match clause {
            Query::Phrase(phrase) if phrase.terms.len() > 1 => Some(phrase.field),
            _ => None,
        };
        self.clauses().filter_map(of_phrase).collect()
    }

    /// The memory of the query, in bytes.
    pub fn memory_bytes(&self) -> usize {
        self.clauses().map(|clause| size_of::<Query>() + clause.own_heap_bytes()).sum()
    }

    /// Bytes on the heap, without the bytes of the clauses inside this one.
    fn own_heap_bytes(&self) -> usize {
        match self {
            Query::Term(term) => term.text.len(),
            Query::Phrase(phrase) => phrase.terms.iter().map(|(_, term)| term.len() + 32).sum(),
            Query::Pattern { pattern, .. } | Query::ValuePattern { pattern, .. } => pattern.heap_bytes(),
            Query::Values(range) => range.heap_bytes(),
            Query::Bool(_)
            | Query::Best(_)
            | Query::All
            | Query::Exists(_)
            | Query::Join(_)
            | Query::Boost(..)
            | Query::Scored(_) => 0,
        }
    }
}

impl BoolQuery {
    /// The clauses that add to the score.
    pub(crate) fn scored(&self) -> impl Iterator<Item = &Query> {
        self.must.iter().chain(&self.should)
    }
}
