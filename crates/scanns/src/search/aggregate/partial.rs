//! Aggregations over some of the documents: everything that is counted, so that it can be added to what is
//! counted in the others before the buckets to show are chosen.

use serde::{Deserialize, Serialize};

use super::aggregation::{AggregationNode, NodeParts};
use super::answer::BucketKey;
use super::request::{Aggregation, Facet, FacetTerms, TermsOrder};
use crate::error::{Error, Result};
use crate::search::prepared::PreparedQuery;

/// What is asked of an aggregation in one pass.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum PartialAggregation {
    /// Everything, except what is nested.
    Count(Aggregation),
    /// What is nested in the buckets of a facet, which were chosen from the counts of all documents.
    Nested {
        facet: Facet,
        buckets: Vec<BucketKey>,
        /// The number of each bucket, if numbers are the same in all leaves.
        numbers: Vec<u64>,
        /// By bucket.
        nested: Vec<Vec<PartialAggregation>>,
    },
    /// Nothing: the answer is known.
    Nothing,
}

impl PreparedQuery<'_, '_, '_> {
    /// Counts what is asked in these documents, in one pass.
    ///
    /// # Errors
    /// The errors of [`PreparedQuery::aggregate`].
    pub(crate) fn aggregate_parts(&self, asked: &[PartialAggregation]) -> Result<Vec<NodeParts>> {
        if asked.iter().all(|asked| *asked == PartialAggregation::Nothing) {
            return Ok(vec![NodeParts::Nothing; asked.len()]);
        }
        let all: Vec<Wanted> = asked.iter().map(Wanted::new).collect::<Result<_>>()?;
        let mut nodes: Vec<AggregationNode> = all.iter().map(node).collect::<Result<_>>()?;
        self.pass(&mut nodes)?;
        nodes.into_iter().map(AggregationNode::into_parts).collect()
    }
}

/// An aggregation that counts everything, and what is nested in it.
struct Wanted<'p> {
    asked: Aggregation,
    buckets: Option<KnownBuckets<'p>>,
    is_nothing: bool,
}

struct KnownBuckets<'p> {
    facet: &'p Facet,
    keys: &'p [BucketKey],
    numbers: &'p [u64],
    nested: Vec<Vec<Wanted<'p>>>,
}

impl<'p> Wanted<'p> {
    fn new(asked: &'p PartialAggregation) -> Result<Self> {
        Ok(match asked {
            PartialAggregation::Count(asked) => {
                Wanted { asked: unlimited(asked), buckets: None, is_nothing: false }
            }
            PartialAggregation::Nested { facet, buckets, numbers, nested } => {
                let fits = numbers.is_empty() || numbers.len() == buckets.len();
                if nested.len() != buckets.len() || !fits {
                    let found = format!("{} buckets, {} with nested ones", buckets.len(), nested.len());
                    return Err(Error::invalid("buckets of a facet", found, "as many of each"));
                }
                let of_bucket = |nested: &'p Vec<_>| nested.iter().map(Wanted::new).collect::<Result<_>>();
                let nested = nested.iter().map(of_bucket).collect::<Result<_>>()?;
                let asked = Aggregation::Facet(facet.clone(), Vec::new());
                let known = KnownBuckets { facet, keys: buckets, numbers, nested };
                Wanted { asked, buckets: Some(known), is_nothing: false }
            }
            PartialAggregation::Nothing => {
                let asked = Aggregation::Distinct { field: Default::default(), exact: false };
                Wanted { asked, buckets: None, is_nothing: true }
            }
        })
    }
}

fn node<'w, 'a>(wanted: &'w Wanted<'_>) -> Result<AggregationNode<'w, 'a>> {
    let Wanted { asked, buckets, is_nothing } = wanted;
    let Some(KnownBuckets { facet, keys, numbers, nested }) = buckets else {
        return if *is_nothing { Ok(AggregationNode::nothing(asked)) } else { AggregationNode::new(asked) };
    };
    let of_bucket = |nested: &'w Vec<Wanted<'_>>| nested.iter().map(node).collect::<Result<_>>();
    let nested = nested.iter().map(of_bucket).collect::<Result<_>>()?;
    Ok(AggregationNode::of_buckets(asked, facet, keys.to_vec(), numbers.to_vec(), nested))
}

/// The aggregation without what limits the buckets that it shows, and without what is nested in it.
fn unlimited(asked: &Aggregation) -> Aggregation {
    let (limit, min_count, order) = (usize::MAX, 1, TermsOrder::Term);
    match asked {
        Aggregation::Facet(Facet::Terms(terms), _) => {
            let all = FacetTerms { limit, min_count, order, ..terms.clone() };
            Aggregation::Facet(Facet::Terms(all), Vec::new())
        }
        Aggregation::Facet(Facet::Path { field, below, .. }, _) => {
            let all = Facet::Path { field: *field, below: below.clone(), limit };
            Aggregation::Facet(all, Vec::new())
        }
        Aggregation::Facet(facet, _) => Aggregation::Facet(facet.clone(), Vec::new()),
        Aggregation::Distinct { field, exact: true } => {
            let all = FacetTerms { limit, min_count, order, ..FacetTerms::new(*field) };
            Aggregation::Facet(Facet::Terms(all), Vec::new())
        }
        other => other.clone(),
    }
}
