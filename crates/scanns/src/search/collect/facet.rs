//! What may be counted, and what is found.

use crate::schema::{Field, Value};

/// Counts documents by their values of a column. A document counts once for each bucket that it has values in.
#[derive(Clone, Debug, PartialEq)]
pub enum Facet {
    /// By value: of keywords, of directories of paths, of numbers.
    Terms(Terms),
    /// By ranges of values, which may overlap.
    Ranges {
        /// The column.
        field: Field,
        /// The ranges; each is a bucket, in this order.
        ranges: Vec<FacetRange>,
    },
    /// By intervals of numbers.
    Histogram {
        /// The column.
        field: Field,
        /// How long each interval is: more than 0. Of dates it is nanoseconds.
        interval: f64,
        /// Where one of them begins.
        offset: f64,
    },
    /// By parts of the calendar, in UTC.
    Calendar {
        /// The column, of dates.
        field: Field,
        /// Which parts.
        unit: CalendarUnit,
    },
    /// By the directories right below one, each with all that is below it.
    Path {
        /// The column, of paths.
        field: Field,
        /// The directory, with its last slash; empty for the topmost ones.
        below: Vec<u8>,
        /// Buckets that are shown at most.
        limit: usize,
    },
}

/// Counts by value.
#[derive(Clone, Debug, PartialEq)]
pub struct Terms {
    /// The column.
    pub field: Field,
    /// Buckets that are shown at most.
    pub limit: usize,
    /// Documents of a bucket at least; one at least.
    pub min_count: u64,
    /// Which come first.
    pub order: TermsOrder,
    /// What terms begin with; for keywords and directories.
    pub prefix: Vec<u8>,
}

impl Terms {
    /// The ten most frequent values of a column.
    pub fn new(field: Field) -> Self {
        Terms { field, limit: 10, min_count: 1, order: TermsOrder::Count, prefix: Vec::new() }
    }
}

/// Orders of buckets by value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TermsOrder {
    /// The most documents first, of equal ones the least value.
    #[default]
    Count,
    /// The least value first.
    Term,
}

/// A range of values.
#[derive(Clone, Debug, PartialEq)]
pub struct FacetRange {
    /// What to call it.
    pub label: String,
    /// The least value; `None` for all up to the end.
    pub from: Option<Value>,
    /// The first value beyond; `None` for all from the beginning.
    pub to: Option<Value>,
}

/// Parts of the calendar. Weeks begin with Monday, as in ISO 8601.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CalendarUnit {
    /// From the first of January on.
    Year,
    /// From the first of a month on.
    Month,
    /// From Monday on.
    Week,
    /// From midnight on.
    Day,
    /// From the full hour on.
    Hour,
}

/// What was counted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Buckets {
    /// Those that are shown, in their order. Intervals and parts of the calendar without documents are left out, ranges not.
    pub buckets: Vec<Bucket>,
    /// How many there are, shown or not, with at least as many documents as were asked for.
    pub total: u64,
    /// The counts of all that are not shown together.
    pub others: u64,
    /// Documents that match.
    pub documents: u64,
    /// Those of them that have no value.
    pub missing: u64,
}

/// Documents that have something in common.
#[derive(Clone, Debug, PartialEq)]
pub struct Bucket {
    /// What it is.
    pub key: BucketKey,
    /// How many documents are in it.
    pub count: u64,
    /// What was found about them, in the order in which it was asked for.
    pub nested: Vec<super::Aggregated>,
}

/// What the documents of a bucket have in common.
#[derive(Clone, Debug, PartialEq)]
pub enum BucketKey {
    /// A value, a directory, or the least value of an interval: of dates its first moment.
    Value(Value),
    /// A value in a range.
    Range(FacetRange),
}

impl Facet {
    /// The column that it is about.
    pub fn field(&self) -> Field {
        match self {
            Facet::Terms(Terms { field, .. })
            | Facet::Ranges { field, .. }
            | Facet::Histogram { field, .. }
            | Facet::Calendar { field, .. }
            | Facet::Path { field, .. } => *field,
        }
    }
}
