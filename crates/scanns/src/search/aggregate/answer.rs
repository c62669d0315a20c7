//! The answers to aggregations.

use serde::{Deserialize, Serialize};

use super::request::FacetRange;
use crate::schema::Value;

/// The answer to an [`Aggregation`](super::Aggregation).
#[derive(Clone, Debug, PartialEq)]
pub enum Aggregated {
    /// The buckets of a facet.
    Buckets(Buckets),
    /// Statistics of a column.
    Stats(Stats),
    /// The number of distinct values.
    Distinct(Distinct),
}

/// The counts of a facet.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Buckets {
    /// The buckets to show, in order. Empty intervals and calendar units are omitted, empty ranges are not.
    pub buckets: Vec<Bucket>,
    /// The number of buckets with enough documents, shown or not.
    pub total: u64,
    /// The sum of the counts of all buckets that are not shown.
    pub others: u64,
    /// The number of matching documents.
    pub documents: u64,
    /// The number of matching documents without a value.
    pub missing: u64,
}

/// The documents that share a value, an interval, a range or a directory.
#[derive(Clone, Debug, PartialEq)]
pub struct Bucket {
    /// The value, range or directory that they share.
    pub key: BucketKey,
    /// The number of documents.
    pub count: u64,
    /// The answers to the nested aggregations, in the order of the request.
    pub nested: Vec<Aggregated>,
}

/// The value, interval, range or directory of a bucket.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum BucketKey {
    /// A value, a directory, or the least value of an interval; for dates its first moment.
    Value(Value),
    /// A range.
    Range(FacetRange),
}

/// Statistics of all values of the matching documents.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stats {
    /// The number of documents with a value.
    pub documents: u64,
    /// The number of documents without a value.
    pub missing: u64,
    /// The number of values of all documents.
    pub values: u64,
    /// The least value. This and the following fields are `None` if there are no values.
    pub min: Option<Value>,
    /// The greatest value.
    pub max: Option<Value>,
    /// The sum of all values.
    pub sum: Option<Sum>,
    /// The mean of all values; for dates in nanoseconds since 1970.
    pub mean: Option<f64>,
    /// The standard deviation of all values, not an estimate from a sample.
    pub deviation: Option<f64>,
    /// The requested percentiles, in the order of the request: each with the least value that is not exceeded
    /// by at least this percentage of the values.
    pub percentiles: Vec<(f64, Value)>,
}

/// The sum of the values of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sum {
    /// The sum of integers, booleans (true counts as 1), or dates (in nanoseconds).
    Whole(i128),
    /// The sum of floating-point numbers.
    Float(f64),
}

/// A number, or the digits as a text if they are more than a reader of JSON keeps.
impl From<Sum> for serde_json::Value {
    fn from(sum: Sum) -> Self {
        match sum {
            Sum::Float(number) => number.into(),
            Sum::Whole(number) => match (i64::try_from(number), u64::try_from(number)) {
                (Ok(number), _) => number.into(),
                (_, Ok(number)) => number.into(),
                _ => number.to_string().into(),
            },
        }
    }
}

/// The number of distinct values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Distinct {
    /// The number of distinct values.
    pub values: u64,
    /// True for an exact number, false for an estimate.
    pub exact: bool,
    /// The number of documents without a value.
    pub missing: u64,
}
