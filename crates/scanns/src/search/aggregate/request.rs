//! What can be asked about the matches of a query.

use crate::schema::{Field, Value};

/// A question about the matches of a query.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Aggregation {
    /// Counts by value, and aggregations over the documents of each bucket that is shown.
    Facet(Facet, Vec<Aggregation>),
    /// Figures of a column of numbers.
    Stats {
        /// The column.
        field: Field,
        /// Percentiles, from 0 to 100. They keep all values in memory, eight bytes each.
        percentiles: Vec<f64>,
    },
    /// The number of different values.
    Distinct {
        /// The column.
        field: Field,
        /// True to count them, which takes memory for each of them; false for an estimate.
        exact: bool,
    },
}

impl Aggregation {
    /// The column that is read.
    pub fn field(&self) -> Field {
        match self {
            Aggregation::Facet(facet, _) => facet.field(),
            Aggregation::Stats { field, .. } | Aggregation::Distinct { field, .. } => *field,
        }
    }
}

/// Counts documents by their values in a column. A document counts once for each bucket that it has values
/// in.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Facet {
    /// By value: of keywords, numbers, or the directories of paths.
    Terms(FacetTerms),
    /// By ranges of values, which may overlap.
    Ranges {
        /// The column.
        field: Field,
        /// The ranges. Each is a bucket, in this order.
        ranges: Vec<FacetRange>,
    },
    /// By intervals of numbers.
    Histogram {
        /// The column.
        field: Field,
        /// The length of each interval, greater than 0; nanoseconds for dates.
        interval: f64,
        /// Where one of the intervals begins.
        offset: f64,
    },
    /// By units of the calendar, in UTC.
    Calendar {
        /// The column, of dates.
        field: Field,
        /// The unit.
        unit: CalendarUnit,
    },
    /// By the directories directly below a directory. Each includes everything below it.
    Path {
        /// The column, of paths.
        field: Field,
        /// The directory, with its last slash; empty for the topmost directories.
        below: Vec<u8>,
        /// The most buckets to show.
        limit: usize,
    },
}

impl Facet {
    /// The column that is read.
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

/// Counts by value.
#[derive(Clone, Debug, PartialEq)]
pub struct FacetTerms {
    /// The column.
    pub field: Field,
    /// The most buckets to show.
    pub limit: usize,
    /// The least documents of a bucket; 0 means 1.
    pub min_count: u64,
    /// The order of buckets.
    pub order: TermsOrder,
    /// Only values with this prefix are counted; for keywords and directories.
    pub prefix: Vec<u8>,
}

impl FacetTerms {
    /// The ten most frequent values of a column.
    pub fn new(field: Field) -> Self {
        FacetTerms { field, limit: 10, min_count: 1, order: TermsOrder::Count, prefix: Vec::new() }
    }
}

/// Orders of buckets by value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TermsOrder {
    /// The most documents first; with equal counts, the least value first.
    #[default]
    Count,
    /// The least value first.
    Term,
}

/// A range of values.
#[derive(Clone, Debug, PartialEq)]
pub struct FacetRange {
    /// Its name.
    pub label: String,
    /// The least value; `None` if the range has no lower end.
    pub from: Option<Value>,
    /// The first value beyond the range; `None` if it has no upper end.
    pub to: Option<Value>,
}

/// Units of the calendar. Weeks begin on Monday, as in ISO 8601.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CalendarUnit {
    /// From January 1 on.
    Year,
    /// From the first day of a month on.
    Month,
    /// From Monday on.
    Week,
    /// From midnight on.
    Day,
    /// From the full hour on.
    Hour,
}
