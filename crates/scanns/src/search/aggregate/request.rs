//! Requests for aggregations over the matches of a query.

use serde::{Deserialize, Serialize};

use crate::schema::{Field, Value};

/// An aggregation over the matches of a query.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Aggregation {
    /// Counts by value, and nested aggregations over the documents of each shown bucket.
    Facet(Facet, Vec<Aggregation>),
    /// Statistics of a column of numbers.
    Stats {
        /// The column.
        field: Field,
        /// The requested percentiles, from 0 to 100. They keep all values in memory, eight bytes each.
        percentiles: Vec<f64>,
    },
    /// The number of distinct values.
    Distinct {
        /// The column.
        field: Field,
        /// True for an exact count, which takes memory for each value; false for an estimate.
        exact: bool,
    },
}

impl Aggregation {
    /// Returns the column that the aggregation reads.
    pub fn field(&self) -> Field {
        match self {
            Aggregation::Facet(facet, _) => facet.field(),
            Aggregation::Stats { field, .. } | Aggregation::Distinct { field, .. } => *field,
        }
    }
}

/// Counts documents by their values in a column. A document counts once for each bucket that contains one of
/// its values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Facet {
    /// Counts by value: of keywords, numbers, or the directories of paths.
    Terms(FacetTerms),
    /// Counts by ranges of values, which may overlap.
    Ranges {
        /// The column.
        field: Field,
        /// The ranges. Each is a bucket, in this order.
        ranges: Vec<FacetRange>,
    },
    /// Counts by intervals of numbers.
    Histogram {
        /// The column.
        field: Field,
        /// The length of each interval, greater than 0; nanoseconds for dates.
        interval: f64,
        /// The start of one of the intervals.
        offset: f64,
    },
    /// Counts by units of the calendar, in UTC.
    Calendar {
        /// The column, which must contain dates.
        field: Field,
        /// The unit of the calendar.
        unit: CalendarUnit,
    },
    /// Counts by the directories directly below a directory. Each includes everything below it.
    Path {
        /// The column, which must contain paths.
        field: Field,
        /// The directory, including its last slash; empty for the topmost directories.
        #[serde(with = "serde_bytes")]
        below: Vec<u8>,
        /// The maximum number of buckets to show.
        limit: usize,
    },
}

impl Facet {
    /// Returns the column that the facet reads.
    pub fn field(&self) -> Field {
        match self {
            Facet::Terms(FacetTerms { field, .. })
            | Facet::Ranges { field, .. }
            | Facet::Histogram { field, .. }
            | Facet::Calendar { field, .. }
            | Facet::Path { field, .. } => *field,
        }
    }
}

impl Facet {
    /// How many buckets are shown, from which count on, and in which order.
    pub(crate) fn limits(&self) -> (usize, u64, TermsOrder) {
        match self {
            Facet::Terms(FacetTerms { limit, min_count, order, .. }) => (*limit, *min_count, *order),
            Facet::Path { limit, .. } => (*limit, 1, TermsOrder::Count),
            _ => (usize::MAX, 1, TermsOrder::Term),
        }
    }
}

/// Counts by value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FacetTerms {
    /// The column.
    pub field: Field,
    /// The maximum number of buckets to show.
    pub limit: usize,
    /// The minimum number of documents of a bucket; 0 means 1.
    pub min_count: u64,
    /// The order of buckets.
    pub order: TermsOrder,
    /// The prefix of the values to count; for keywords and directories.
    #[serde(with = "serde_bytes")]
    pub prefix: Vec<u8>,
}

impl FacetTerms {
    /// Counts the ten most frequent values of a column.
    pub fn new(field: Field) -> Self {
        FacetTerms { field, limit: 10, min_count: 1, order: TermsOrder::Count, prefix: Vec::new() }
    }
}

/// The order of buckets by value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum TermsOrder {
    /// Descending by the number of documents; with equal counts, the least value first.
    #[default]
    Count,
    /// Ascending by value.
    Term,
}

/// A range of values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FacetRange {
    /// The name of the range.
    pub label: String,
    /// The least value; `None` if the range has no lower end.
    pub from: Option<Value>,
    /// The first value beyond the range; `None` if it has no upper end.
    pub to: Option<Value>,
}

/// Units of the calendar. Weeks begin on Monday, as in ISO 8601.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CalendarUnit {
    /// A year, from January 1 on.
    Year,
    /// A month, from its first day on.
    Month,
    /// A week, from Monday on.
    Week,
    /// A day, from midnight on.
    Day,
    /// An hour, from the full hour on.
    Hour,
}
