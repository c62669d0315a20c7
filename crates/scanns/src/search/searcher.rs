//! The searcher: the leaves of an index by field, and the options for queries over them.

use super::budget::Budget;
use super::fields::Fields;
use super::filter_cache::FilterCache;
use super::leaf::{Leaf, LeafStats};
use super::statistics::TermStatistics;
use super::threads::SearchThreads;
use super::top_k::Hit;
use crate::column::Column;
use crate::error::{Error, Result};
use crate::schema::{Field, Schema};

/// Answers queries over a fixed set of leaves.
///
/// [`Searcher::prepare`] plans a query once for any number of requests; methods that take a query, such as
/// [`Searcher::top_k`], prepare it themselves.
///
/// ```
/// use scanns::schema::{Document, FieldEntry, Schema};
/// use scanns::search::Model;
/// use scanns::{Index, Query};
///
/// # fn main() -> scanns::Result<()> {
/// # let place = tempfile::tempdir().unwrap();
/// # let path = place.path().join("mail.scanns");
/// let mut schema = Schema::new();
/// let text = schema.add(FieldEntry::text("text"))?;
/// let index = Index::create(&path, &schema)?;
/// let writer = index.writer()?;
/// for (key, words) in [("a", "red apple"), ("b", "red cherry"), ("c", "green lime")] {
///     writer.add(&Document::new(key).with(text, words))?;
/// }
/// writer.commit()?;
///
/// let snapshot = index.snapshot()?;
/// let searcher = snapshot.searcher();
/// let red = Query::term(text, "red");
/// assert_eq!(searcher.count(&red)?, 2);
/// let best = searcher.top_k(&Query::any_of(vec![red, Query::term(text, "cherry")]), Model::Classic, 1)?;
/// assert_eq!(searcher.key(&best[0])?, b"b");
/// # Ok(())
/// # }
/// ```
pub struct Searcher<'a> {
    pub(crate) fields: Fields<'a>,
    pub(crate) threads: Option<&'a SearchThreads>,
}

impl<'a> Searcher<'a> {
    /// Creates a searcher of one field. Hits refer to leaves by their index in `leaves`.
    pub fn new(leaves: Vec<&'a dyn Leaf>) -> Self {
        Searcher::over(vec![(Field::default(), leaves)], Field::default())
    }

    /// Creates a searcher of several fields. If a query names no field, the field `default` is searched.
    ///
    /// All fields must have the same leaves in the same order, each seen through its field.
    pub fn over(fields: Vec<(Field, Vec<&'a dyn Leaf>)>, default: Field) -> Self {
        Searcher { fields: Fields::new(fields, default), threads: None }
    }

    /// Lets patterns and fuzzy words match any number of terms. Then the matching documents do not depend on
    /// other documents in the index.
    #[must_use]
    pub fn exhaustive(mut self) -> Self {
        self.fields.exhaust();
        self
    }

    /// Limits the time of one query. When the time is up, the query returns what it has found so far, and
    /// [`Budget::ran_out`] is true. Explanations and snippets are not limited.
    #[must_use]
    pub fn within(mut self, budget: &'a Budget) -> Self {
        self.fields.limit(budget);
        self
    }

    /// Shares queries between several threads if they take long enough: whole leaves, and ranges of documents
    /// of large leaves.
    ///
    /// The results are exactly the same as with one thread. Several threads find the hits, but the calling
    /// thread visits them, in document order. The terms of patterns and fuzzy words are looked up by one
    /// thread; explanations, suggestions and query expansion use one thread.
    #[must_use]
    pub fn with_threads(mut self, threads: &'a SearchThreads) -> Self {
        self.threads = Some(threads);
        self
    }

    /// Limits the memory for the distinct values of each join of a query, in bytes; 256 MiB if it is not set.
    /// A query with more values ends with [`Error::TooMany`].
    #[must_use]
    pub fn with_join_memory(mut self, bytes: usize) -> Self {
        self.fields.limit_joins(bytes);
        self
    }

    /// Sets the fields of documents, so that joins by other fields are refused.
    #[must_use]
    pub(crate) fn knowing(mut self, schema: &'a Schema) -> Self {
        self.fields.know(schema);
        self
    }

    /// Keeps the documents of filters that repeat, for other searchers over the same leaves.
    #[must_use]
    pub(crate) fn keeping_filters(mut self, filters: &'a FilterCache) -> Self {
        self.fields.keep_filters(filters);
        self
    }

    /// Scores with the statistics of all documents, of which this searcher has a part. Queries must be among
    /// those that the statistics were collected for.
    #[must_use]
    pub(crate) fn with_statistics(mut self, statistics: &'a TermStatistics) -> Self {
        self.fields.score_with(statistics);
        self
    }

    /// Sets the names of the fields for explanations.
    #[must_use]
    pub fn naming(mut self, name: impl Fn(Field) -> String) -> Self {
        self.fields.call(name);
        self
    }

    /// Returns the sizes of all leaves together, in the default field. Those of a view are found on first
    /// use, which may read all postings of the field.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if the lengths of documents cannot be read.
    pub fn stats(&self) -> Result<LeafStats> {
        self.fields.stats(self.fields.default_place())
    }

    /// Returns the number of documents in all leaves.
    pub fn documents(&self) -> u64 {
        self.fields.documents()
    }

    /// Returns the key of the document of a hit.
    ///
    /// # Errors
    /// [`Error::UnknownHit`] for a hit of another searcher, [`Error::Corrupt`] if the key cannot be read.
    pub fn key(&self, hit: &Hit) -> Result<Vec<u8>> {
        self.leaf_with(hit)?.key(hit.doc)
    }

    /// Returns the number of leaves.
    pub fn leaves(&self) -> usize {
        self.fields.leaves()
    }

    /// Returns the column of a field in a leaf; `None` if no document of the leaf has a value.
    ///
    /// # Errors
    /// [`Error::NotInView`] if the leaves are seen by a view, since the column has the values of all
    /// documents.
    pub fn column(&self, leaf: usize, field: Field) -> Result<Option<&'a Column>> {
        if self.fields.is_view() {
            return Err(Error::NotInView { what: "a whole column" });
        }
        Ok(self.column_in(leaf, field))
    }

    /// The column of a field in a leaf, which has the values of documents that are not live, too.
    pub(crate) fn column_in(&self, leaf: usize, field: Field) -> Option<&'a Column> {
        self.fields.all_leaves().get(leaf)?.column(field)
    }

    /// Returns the leaf of a hit, which has its document.
    ///
    /// # Errors
    /// [`Error::UnknownHit`] if the searcher has no such leaf, or the leaf no such document.
    pub(crate) fn leaf_with(&self, hit: &Hit) -> Result<&'a dyn Leaf> {
        let leaf = self.leaf_of(hit)?;
        let is_hidden = leaf.is_of_view() && !leaf.is_live(hit.doc);
        if hit.doc >= leaf.max_doc() || is_hidden {
            return Err(unknown(hit));
        }
        Ok(leaf)
    }

    /// Returns the leaf of a hit.
    ///
    /// # Errors
    /// [`Error::UnknownHit`] if the searcher has no such leaf.
    pub(crate) fn leaf_of(&self, hit: &Hit) -> Result<&'a dyn Leaf> {
        if hit.leaf >= self.fields.leaves() {
            return Err(unknown(hit));
        }
        Ok(self.fields.leaf(self.fields.default_place(), hit.leaf))
    }
}

/// Returns the error for a hit that does not belong to a searcher.
fn unknown(hit: &Hit) -> Error {
    Error::UnknownHit { segment: hit.leaf, doc: hit.doc }
}
