//! What is done with the columns of documents that match: they are sorted, counted, summed up and grouped by their values.
//!
//! In comes a [`Query`](super::Query); matches come a window of documents at a time (`window.rs`), and `read.rs` gives the values
//! of a window. `values.rs` says how they compare, `sort.rs` finds a page of an order,
//! `group.rs` the best hits of each value.
//!
//! `aggregate.rs` answers everything that is no list of hits: `facet.rs` is what may be counted, `cut.rs` which bucket a value
//! is in, with `intervals.rs` for histograms and calendars, `counts.rs` counts, `count.rs` brings that together, and
//! `choose.rs` the counts of several leaves; `stats.rs` is sums and percentiles, `distinct.rs` an estimate.

mod aggregate;
mod choose;
mod count;
mod counts;
mod cut;
mod distinct;
mod facet;
mod group;
mod intervals;
mod read;
mod sort;
mod stats;
mod values;
mod window;

pub use aggregate::{Aggregated, Aggregation};
pub use distinct::Distinct;
pub use facet::{Bucket, BucketKey, Buckets, CalendarUnit, Facet, FacetRange, Terms, TermsOrder};
pub use group::{Group, GroupBy, Groups};
pub use sort::SortedHit;
pub use stats::{Stats, Sum};
pub use values::{Missing, SortBy, SortKey};
