//! Computes the measures of trec_eval for one topic.

use super::trec::Relevance;

/// The measures, by their names in trec_eval.
pub const NAMES: [&str; 10] = [
    "num_ret",
    "num_rel",
    "num_rel_ret",
    "map",
    "recip_rank",
    "P_5",
    "P_10",
    "P_30",
    "recall_1000",
    "ndcg_cut_10",
];

/// The number of measures that are counts, which are summed over topics; the others are averaged.
pub const COUNTS: usize = 3;

/// The measures of a ranking without duplicates.
///
/// `map` is the mean, over all relevant documents, of the precision at the rank of the document, or 0 if it
/// is not found. `recip_rank` is one divided by the rank of the first relevant document. `ndcg_cut_10` has
/// the relevance as gain and log₂(rank + 1) as discount.
pub fn measure(ranking: &[&str], judged: &Relevance) -> [f64; NAMES.len()] {
    let gain = |document: &&str| judged.get(*document).copied().unwrap_or(0).max(0);
    let relevant = judged.values().filter(|&&relevance| relevance > 0).count();
    let share = |part: f64, of: f64| if of > 0.0 { part / of } else { 0.0 };
    let found_by =
        |rank: usize| ranking.iter().take(rank).filter(|&document| gain(document) > 0).count() as f64;
    let (mut found, mut precisions, mut first) = (0.0, 0.0, 0.0);
    for (rank, document) in (1..).zip(ranking) {
        if gain(document) > 0 {
            found += 1.0;
            precisions += found / f64::from(rank);
            if first == 0.0 {
                first = 1.0 / f64::from(rank);
            }
        }
    }
    let mut ideal: Vec<i64> = judged.values().copied().filter(|&relevance| relevance > 0).collect();
    ideal.sort_unstable_by(|a, b| b.cmp(a));
    let relevant = relevant as f64;
    [
        ranking.len() as f64,
        relevant,
        found,
        share(precisions, relevant),
        first,
        found_by(5) / 5.0,
        found_by(10) / 10.0,
        found_by(30) / 30.0,
        share(found_by(1000), relevant),
        share(discounted(ranking.iter().map(gain)), discounted(ideal.into_iter())),
    ]
}

/// The discounted cumulated gain after ten documents.
fn discounted(gains: impl Iterator<Item = i64>) -> f64 {
    (1u32..).zip(gains.take(10)).map(|(rank, gain)| gain as f64 / f64::from(rank + 1).log2()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(measures: [f64; 10], expected: [f64; 10]) {
        let near = measures.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-12);
        assert!(near, "{measures:?} {expected:?}");
    }

    #[test]
    fn measures_agree_with_a_computation_by_hand() {
        let judged = [("a", 2), ("b", 0), ("c", 1), ("d", 1), ("e", -1)];
        let judged: Relevance =
            judged.into_iter().map(|(document, relevance)| (document.into(), relevance)).collect();
        // Ranks 2 and 4 are relevant; d is not found, and x is not judged.
        let log = |rank: f64| (rank + 1.0).log2();
        let ndcg = (1.0 / log(2.0) + 2.0 / log(4.0)) / (2.0 + 1.0 / log(2.0) + 1.0 / log(3.0));
        let map = (1.0 / 2.0 + 2.0 / 4.0) / 3.0;
        close(
            measure(&["x", "c", "e", "a", "b"], &judged),
            [5.0, 3.0, 2.0, map, 0.5, 0.4, 0.2, 2.0 / 30.0, 2.0 / 3.0, ndcg],
        );
        close(measure(&[], &judged), [0.0, 3.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        close(measure(&["a"], &Relevance::new()), [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    }
}
