//! The leaves of a searcher, seen through each of its fields.

use super::budget::{Budget, Clock};
use super::filter_cache::FilterCache;
use super::leaf::{Leaf, LeafStats};
use super::statistics::TermStatistics;
use crate::error::Result;
use crate::schema::{Field, Schema};

/// The maximum memory for the values of a join, in bytes, unless a caller sets another one.
const JOIN_MEMORY: usize = 256 << 20;

/// Leaves by field. All fields have the same leaves, with the same documents.
pub(crate) struct Fields<'a> {
    fields: Vec<FieldLeaves<'a>>,
    /// The default field, which need not be among the fields.
    default_field: Field,
    /// The index of the default field or, if it is not among the fields, of the field that replaces it.
    default: usize,
    exhaustive: bool,
    clock: Clock<'a>,
    /// The statistics of all documents, if these leaves have only some of them.
    statistics: Option<&'a TermStatistics>,
    /// The fields of documents, if they are known.
    schema: Option<&'a Schema>,
    /// The maximum memory for the values of a join, in bytes.
    join_memory: usize,
    /// The documents of filters that repeat.
    filters: Option<&'a FilterCache>,
}

struct FieldLeaves<'a> {
    field: Field,
    leaves: Vec<&'a dyn Leaf>,
    stats: LeafStats,
    /// Its name in explanations.
    name: String,
}

impl<'a> Fields<'a> {
    /// At least one field. If `default` is not among them, the first field replaces it.
    pub(crate) fn new(fields: Vec<(Field, Vec<&'a dyn Leaf>)>, default: Field) -> Self {
        let with_stats = |(field, leaves): (Field, Vec<&'a dyn Leaf>)| {
            let stats = leaves.iter().fold(LeafStats::default(), |sum, leaf| sum.plus(leaf.stats()));
            FieldLeaves { field, leaves, stats, name: format!("field {}", field.number()) }
        };
        let fields: Vec<_> = fields.into_iter().map(with_stats).collect();
        let place = fields.iter().position(|known| known.field == default).unwrap_or(0);
        Fields {
            fields,
            default_field: default,
            default: place,
            exhaustive: false,
            clock: Clock::default(),
            statistics: None,
            schema: None,
            join_memory: JOIN_MEMORY,
            filters: None,
        }
    }

    /// Keeps the documents of filters that repeat. The leaves must be those that the cache belongs to.
    pub(crate) fn keep_filters(&mut self, filters: &'a FilterCache) {
        self.filters = Some(filters);
    }

    /// The documents of filters that repeat, if they are kept.
    pub(crate) fn filters(&self) -> Option<&'a FilterCache> {
        self.filters
    }

    /// Ends queries when the budget has run out.
    pub(crate) fn limit(&mut self, budget: &'a Budget) {
        self.clock = Clock(Some(budget));
    }

    /// The clock that queries check.
    pub(crate) fn clock(&self) -> Clock<'a> {
        self.clock
    }

    /// Lets patterns and fuzzy words match all terms that they can.
    pub(crate) fn exhaust(&mut self) {
        self.exhaustive = true;
    }

    /// True if patterns match all terms that they can.
    pub(crate) fn is_exhaustive(&self) -> bool {
        self.exhaustive
    }

    /// Lets joins know the fields of documents.
    pub(crate) fn know(&mut self, schema: &'a Schema) {
        self.schema = Some(schema);
    }

    /// The fields of documents, if they are known.
    pub(crate) fn schema(&self) -> Option<&'a Schema> {
        self.schema
    }

    /// Limits the memory for the values of a join, in bytes.
    pub(crate) fn limit_joins(&mut self, bytes: usize) {
        self.join_memory = bytes;
    }

    /// The maximum memory for the values of a join, in bytes.
    pub(crate) fn join_memory(&self) -> usize {
        self.join_memory
    }

    /// Names the fields.
    pub(crate) fn call(&mut self, name: impl Fn(Field) -> String) {
        self.fields.iter_mut().for_each(|field| field.name = name(field.field));
    }

    /// The name of the field at index `place`.
    pub(crate) fn name(&self, place: usize) -> &str {
        self.fields.get(place).map_or("", |field| &field.name)
    }

    /// The index of the default field.
    pub(crate) fn default_place(&self) -> usize {
        self.default
    }

    /// The index of a field, if it can be searched. The default field always can.
    pub(crate) fn place_of(&self, field: Field) -> Option<usize> {
        let place = self.fields.iter().position(|known| known.field == field);
        place.or((field == self.default_field).then_some(self.default))
    }

    /// The leaves, through any field.
    pub(crate) fn all_leaves(&self) -> &[&'a dyn Leaf] {
        self.fields.first().map_or(&[], |first| &first.leaves)
    }

    /// The number of leaves.
    pub(crate) fn leaves(&self) -> usize {
        self.fields.first().map_or(0, |first| first.leaves.len())
    }

    /// A leaf through the field at index `place`.
    pub(crate) fn leaf(&self, place: usize, leaf: usize) -> &'a dyn Leaf {
        self.fields[place].leaves[leaf]
    }

    /// Scores with the statistics of all documents.
    pub(crate) fn score_with(&mut self, statistics: &'a TermStatistics) {
        self.statistics = Some(statistics);
    }

    /// The statistics of all documents, if these leaves have only some of them.
    pub(crate) fn statistics(&self) -> Option<&'a TermStatistics> {
        self.statistics
    }

    /// The field at index `place`.
    pub(crate) fn field_at(&self, place: usize) -> Field {
        self.fields.get(place).map_or(self.default_field, |field| field.field)
    }

    /// The sizes of the field at index `place` over all documents.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt) if postings cannot be read, as a view does.
    pub(crate) fn stats(&self, place: usize) -> Result<LeafStats> {
        match self.statistics.and_then(|all| all.field(self.field_at(place))) {
            Some(of_all) => Ok(of_all),
            None => self.own_stats(place),
        }
    }

    /// The sizes of the field at index `place` over these leaves.
    ///
    /// # Errors
    /// The errors of [`Fields::stats`].
    pub(crate) fn own_stats(&self, place: usize) -> Result<LeafStats> {
        let Some(field) = self.fields.get(place) else { return Ok(LeafStats::default()) };
        if !self.is_view() {
            return Ok(field.stats);
        }
        field.leaves.iter().try_fold(LeafStats::default(), |sum, leaf| Ok(sum.plus(leaf.sizes()?)))
    }

    /// The number of documents in these leaves.
    pub(crate) fn documents(&self) -> u64 {
        self.fields.first().map_or(0, |field| field.stats.documents)
    }

    /// True if a view hides the field at index `place` of some documents.
    pub(crate) fn hides_some(&self, place: usize) -> bool {
        let field = self.fields.get(place);
        field.is_some_and(|field| field.leaves.iter().any(|leaf| leaf.field_bits().is_some()))
    }

    /// True if the leaves are seen by a view.
    pub(crate) fn is_view(&self) -> bool {
        self.all_leaves().iter().any(|leaf| leaf.is_of_view())
    }
}
