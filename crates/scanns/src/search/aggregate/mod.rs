//! Sorts, counts, sums and groups the matches of a query by the values of their columns.
//!
//! Matches come in batches (`matches.rs`); `match_reader.rs` reads the values of a batch. A consumer of
//! matches is a [`Collector`], and collectors can be combined, so that one pass feeds all of them.
//!
//! `request.rs` defines the requests, `words.rs` parses them, and `answer.rs` defines the answers.
//! `aggregation.rs` computes the answers: `bucketing.rs` maps values to buckets, with `intervals.rs` for
//! histograms and calendars; `number_counts.rs` counts, `facet_count.rs` counts a facet over all leaves,
//! `bucket_chooser.rs` chooses the buckets to show; `stats.rs` computes sums and percentiles, by the exact
//! sums of `moments.rs` and `exact_sum.rs`, `distinct.rs` numbers of distinct values. `sort.rs` finds a
//! page in the order of `sort_key.rs`, `group.rs` the best hits of each value, `with_hits.rs` hits and
//! aggregations together.

mod aggregation;
mod answer;
mod bucket_chooser;
mod bucketing;
mod collector;
mod distinct;
mod exact_sum;
mod facet_count;
mod group;
mod intervals;
pub(crate) mod joined;
mod match_reader;
mod matches;
mod moments;
mod number_counts;
pub(crate) mod partial;
mod request;
mod sort;
mod sort_key;
mod stats;
mod with_hits;
mod words;

pub use aggregation::Aggregations;
pub(crate) use aggregation::NodeParts;
pub use answer::{Aggregated, Bucket, BucketKey, Buckets, Distinct, Stats, Sum};
pub use collector::{Collector, TopHits};
pub(crate) use group::GroupHead;
pub use group::{Group, GroupBy, Groups};
pub use matches::Matches;
pub use request::{Aggregation, CalendarUnit, Facet, FacetRange, FacetTerms, TermsOrder};
pub(crate) use sort::compare;
pub use sort::{SortedHit, SortedHits};
pub use sort_key::{Missing, SortBy, SortKey};
pub use with_hits::Answered;
pub use words::{FacetLevel, NestedLevel, ParsedFacet, SumOrder};
