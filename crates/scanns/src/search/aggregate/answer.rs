//! The answers to aggregations.

use super::request::FacetRange;
use crate::schema::Value;

/// The answer to an [`Aggregation`](super::Aggregation).
#[derive(Clone, Debug, PartialEq)]
pub enum Aggregated {
    /// The buckets of a facet.
    Buckets(Buckets),
    /// Figures of a column.
    Stats(Stats),
    /// The number of different values.
    Distinct(Distinct),
}

/// The counts of a facet.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Buckets {
    /// The buckets that are shown, in order. Empty intervals and calendar units are left out, empty ranges
    /// are not.
    pub buckets: Vec<Bucket>,
    /// The number of buckets with enough documents, shown or not.
    pub total: u64,
    /// The sum of the counts of all buckets that are not shown.
    pub others: u64,
    /// Documents that match.
    pub documents: u64,
    /// Documents that match and have no value.
    pub missing: u64,
}

/// Documents that share a value, an interval, a range or a directory.
#[derive(Clone, Debug, PartialEq)]
pub struct Bucket {
    /// What they share.
    pub key: BucketKey,
    /// The number of documents.
    pub count: u64,
    /// The answers to the nested aggregations, in the order in which they were asked.
    pub nested: Vec<Aggregated>,
}

/// What the documents of a bucket share.
#[derive(Clone, Debug, PartialEq)]
pub enum BucketKey {
    /// A value, a directory, or the least value of an interval; for dates its first moment.
    Value(Value),
    /// A range.
    Range(FacetRange),
}

/// Figures of all values of the documents that match.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stats {
    /// Documents with a value.
    pub documents: u64,
    /// Documents without a value.
    pub missing: u64,
    /// Values of all documents.
    pub values: u64,
    /// The least value. This and the following fields are `None` if there are no values.
    pub min: Option<Value>,
    /// The greatest value.
    pub max: Option<Value>,
    /// The sum.
    pub sum: Option<Sum>,
    /// The mean; for dates in nanoseconds since 1970.
    pub mean: Option<f64>,
    /// The standard deviation of all values, not an estimate from a sample.
    pub deviation: Option<f64>,
    /// The requested percentiles, in the order of the request: each with the least value that at least that
    /// percentage of values does not exceed.
    pub percentiles: Vec<(f64, Value)>,
}

/// A sum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sum {
    /// Of integers, booleans (true counts 1), or dates (in nanoseconds).
    Whole(i128),
    /// Of floating-point numbers.
    Float(f64),
}

/// The number of different values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Distinct {
    /// The number.
    pub values: u64,
    /// False for an estimate.
    pub exact: bool,
    /// Documents without a value.
    pub missing: u64,
}
