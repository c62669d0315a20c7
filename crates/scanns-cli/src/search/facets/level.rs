//! What a facet shows: its buckets, and the numbers of each bucket.

use scanns::aggregate::{Aggregated, Buckets, CalendarUnit, Sum};

/// A facet, and what is shown of each of its buckets.
pub(super) struct Level {
    pub(super) field: String,
    /// The unit of buckets of dates.
    pub(super) unit: Option<CalendarUnit>,
    /// The field whose sum orders the buckets, and the number of buckets to show. The first nested answer of
    /// each bucket then has the sum.
    pub(super) by_sum: Option<(String, usize)>,
    pub(super) nested: Nested,
}

/// What is shown of the documents of a bucket.
pub(super) enum Nested {
    Nothing,
    Facet(Box<Level>),
    /// The sum of a column.
    Sum(String),
    /// All statistics of a column, which may hold dates.
    Stats {
        field: String,
        dates: bool,
        percentiles: Vec<f64>,
    },
    Distinct(String),
}

impl Level {
    /// Puts the buckets that are ordered by a sum in order, and keeps those to show.
    pub(super) fn arrange(&self, found: &mut Buckets) {
        if let Some((_, most)) = &self.by_sum {
            let sum = |nested: &[Aggregated]| match nested.first() {
                Some(Aggregated::Stats(stats)) => stats.sum,
                _ => None,
            };
            found.buckets.sort_by(|a, b| compare_sums(sum(&b.nested), sum(&a.nested)));
            let hidden = found.buckets.split_off((*most).min(found.buckets.len()));
            found.others += hidden.iter().map(|bucket| bucket.count).sum::<u64>();
        }
        if let Nested::Facet(level) = &self.nested {
            for nested in found.buckets.iter_mut().flat_map(|bucket| &mut bucket.nested) {
                if let Aggregated::Buckets(buckets) = nested {
                    level.arrange(buckets);
                }
            }
        }
    }
}

/// Compares two sums of a column; a missing one is the least.
fn compare_sums(a: Option<Sum>, b: Option<Sum>) -> std::cmp::Ordering {
    match (a, b) {
        (Some(Sum::Whole(a)), Some(Sum::Whole(b))) => a.cmp(&b),
        (Some(Sum::Float(a)), Some(Sum::Float(b))) => a.total_cmp(&b),
        (a, b) => a.is_some().cmp(&b.is_some()),
    }
}
