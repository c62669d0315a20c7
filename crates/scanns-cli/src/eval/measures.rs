//! The measures of trec_eval, by its names.

use anyhow::{Result, bail};

use super::trec::Relevance;

/// The ranks at which trec_eval cuts rankings.
const CUTS: [usize; 9] = [5, 10, 15, 20, 30, 100, 200, 500, 1000];

/// The ranks at which trec_eval looks for a relevant document.
const SUCCESS_CUTS: [usize; 3] = [1, 5, 10];

/// What is computed without a request.
const DEFAULT: [&str; 10] = [
    "num_q",
    "num_ret",
    "num_rel",
    "num_rel_ret",
    "map",
    "Rprec",
    "recip_rank",
    "P.5,10,30",
    "recall.1000",
    "ndcg_cut.10",
];

/// A measure of a ranking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// The number of topics.
    Topics,
    /// The number of documents found.
    Found,
    /// The number of relevant documents.
    Relevant,
    /// The number of relevant documents that were found.
    RelevantFound,
    /// The mean, over all relevant documents, of the precision at their ranks; perhaps cut at a rank.
    AveragePrecision(Option<usize>),
    /// The precision at the rank that is the number of relevant documents.
    RPrecision,
    /// One divided by the rank of the first relevant document.
    ReciprocalRank,
    /// The share of relevant documents among the first ones.
    Precision(usize),
    /// The share of the relevant documents that are among the first ones.
    Recall(usize),
    /// 1 if a relevant document is among the first ones.
    Success(usize),
    /// The discounted cumulative gain as a share of the best one; perhaps cut at a rank. The gain of a
    /// document is its relevance, and the discount is log₂(rank + 1).
    Ndcg(Option<usize>),
}

impl Measure {
    /// The measures that are computed without a request.
    pub fn default_list() -> Vec<Measure> {
        // All of these names are known.
        DEFAULT.iter().flat_map(|name| Measure::parse(name).unwrap_or_default()).collect()
    }

    /// Parses a name of trec_eval: a measure such as `map`, one with ranks such as `P.5,10`, one with its
    /// usual ranks such as `P`, or a name as it is printed, such as `P_5`.
    pub fn parse(text: &str) -> Result<Vec<Measure>> {
        let single = |measure| Ok(vec![measure]);
        match text {
            "num_q" => return single(Measure::Topics),
            "num_ret" => return single(Measure::Found),
            "num_rel" => return single(Measure::Relevant),
            "num_rel_ret" => return single(Measure::RelevantFound),
            "map" => return single(Measure::AveragePrecision(None)),
            "Rprec" => return single(Measure::RPrecision),
            "recip_rank" => return single(Measure::ReciprocalRank),
            "ndcg" => return single(Measure::Ndcg(None)),
            _ => {}
        }
        let printed =
            text.rsplit_once('_').filter(|(_, rank)| rank.bytes().all(|byte| byte.is_ascii_digit()));
        let (name, ranks) = match text.split_once('.').or(printed) {
            Some((name, ranks)) => (name, Some(ranks)),
            None => (text, None),
        };
        let (of, usual): (fn(usize) -> Measure, &[usize]) = match name {
            "P" => (Measure::Precision, &CUTS),
            "recall" => (Measure::Recall, &CUTS),
            "success" => (Measure::Success, &SUCCESS_CUTS),
            "map_cut" => (|rank| Measure::AveragePrecision(Some(rank)), &CUTS),
            "ndcg_cut" => (|rank| Measure::Ndcg(Some(rank)), &CUTS),
            _ => bail!(
                "the measure '{text}' is unknown: use map, Rprec, recip_rank, ndcg, num_q, num_ret, num_rel, \
                 num_rel_ret, or with ranks P, recall, success, map_cut or ndcg_cut, as in P.5,10"
            ),
        };
        let Some(ranks) = ranks else { return Ok(usual.iter().map(|&rank| of(rank)).collect()) };
        let mut measures = Vec::new();
        for rank in ranks.split(',') {
            match rank.parse() {
                Ok(rank @ 1..) => measures.push(of(rank)),
                _ => bail!(
                    "'{rank}' in the measure '{text}' is not a rank: use a number from 1, as in {name}.10"
                ),
            }
        }
        Ok(measures)
    }

    /// The name under which trec_eval prints it.
    pub fn name(self) -> String {
        match self {
            Measure::Topics => "num_q".into(),
            Measure::Found => "num_ret".into(),
            Measure::Relevant => "num_rel".into(),
            Measure::RelevantFound => "num_rel_ret".into(),
            Measure::AveragePrecision(None) => "map".into(),
            Measure::AveragePrecision(Some(rank)) => format!("map_cut_{rank}"),
            Measure::RPrecision => "Rprec".into(),
            Measure::ReciprocalRank => "recip_rank".into(),
            Measure::Precision(rank) => format!("P_{rank}"),
            Measure::Recall(rank) => format!("recall_{rank}"),
            Measure::Success(rank) => format!("success_{rank}"),
            Measure::Ndcg(None) => "ndcg".into(),
            Measure::Ndcg(Some(rank)) => format!("ndcg_cut_{rank}"),
        }
    }

    /// True for numbers of things, which are summed over topics; the others are averaged.
    pub fn is_count(self) -> bool {
        matches!(self, Measure::Topics | Measure::Found | Measure::Relevant | Measure::RelevantFound)
    }
}

/// A ranking with the judgements of its topic.
pub struct JudgedRanking {
    /// The relevance of each document found, by rank; 0 if it is not relevant or not judged.
    gains: Vec<i64>,
    /// The relevance of the relevant documents, descending.
    ideal: Vec<i64>,
}

impl JudgedRanking {
    /// Looks up the judgements of the documents of a ranking, which must all differ.
    pub fn new(ranking: &[&str], judged: &Relevance) -> Self {
        let gain = |document: &&str| judged.get(*document).copied().unwrap_or(0).max(0);
        let mut ideal: Vec<i64> = judged.values().copied().filter(|&relevance| relevance > 0).collect();
        ideal.sort_unstable_by(|a, b| b.cmp(a));
        JudgedRanking { gains: ranking.iter().map(gain).collect(), ideal }
    }

    /// The value of a measure.
    pub fn measure(&self, measure: Measure) -> f64 {
        let relevant = self.ideal.len();
        let share = |part: f64, of: f64| if of > 0.0 { part / of } else { 0.0 };
        match measure {
            Measure::Topics => 1.0,
            Measure::Found => self.gains.len() as f64,
            Measure::Relevant => relevant as f64,
            Measure::RelevantFound => self.found_by(self.gains.len()),
            Measure::AveragePrecision(cut) => share(self.precisions(cut), relevant as f64),
            Measure::RPrecision => share(self.found_by(relevant), relevant as f64),
            Measure::ReciprocalRank => {
                let first = self.gains.iter().position(|&gain| gain > 0);
                first.map_or(0.0, |at| 1.0 / (at + 1) as f64)
            }
            Measure::Precision(rank) => self.found_by(rank) / rank as f64,
            Measure::Recall(rank) => share(self.found_by(rank), relevant as f64),
            Measure::Success(rank) => self.found_by(rank).min(1.0),
            Measure::Ndcg(cut) => share(discounted(&self.gains, cut), discounted(&self.ideal, cut)),
        }
    }

    /// The number of relevant documents up to a rank.
    fn found_by(&self, rank: usize) -> f64 {
        self.gains.iter().take(rank).filter(|&&gain| gain > 0).count() as f64
    }

    /// The sum of the precisions at the ranks of relevant documents.
    fn precisions(&self, cut: Option<usize>) -> f64 {
        let (mut found, mut sum) = (0.0, 0.0);
        for (at, _) in
            self.gains.iter().take(cut.unwrap_or(usize::MAX)).enumerate().filter(|(_, gain)| **gain > 0)
        {
            found += 1.0;
            sum += found / (at + 1) as f64;
        }
        sum
    }
}

/// The discounted cumulative gain.
fn discounted(gains: &[i64], cut: Option<usize>) -> f64 {
    let gains = gains.iter().take(cut.unwrap_or(usize::MAX)).enumerate();
    gains.map(|(at, gain)| *gain as f64 / ((at + 2) as f64).log2()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_agree_with_a_computation_by_hand() {
        let judged = [("a", 2), ("b", 0), ("c", 1), ("d", 1), ("e", -1)];
        let judged: Relevance =
            judged.into_iter().map(|(document, relevance)| (document.into(), relevance)).collect();
        // Ranks 2 and 4 are relevant; d is not found, and x is not judged.
        let ranking = JudgedRanking::new(&["x", "c", "e", "a", "b"], &judged);
        let log = |rank: f64| (rank + 1.0).log2();
        let best = 2.0 + 1.0 / log(2.0) + 1.0 / log(3.0);
        for (name, expected) in [
            ("num_q", 1.0),
            ("num_ret", 5.0),
            ("num_rel", 3.0),
            ("num_rel_ret", 2.0),
            ("map", (1.0 / 2.0 + 2.0 / 4.0) / 3.0),
            ("map_cut.3", 1.0 / 2.0 / 3.0),
            ("Rprec", 1.0 / 3.0),
            ("recip_rank", 0.5),
            ("P.1", 0.0),
            ("P_5", 0.4),
            ("P.30", 2.0 / 30.0),
            ("recall.2", 1.0 / 3.0),
            ("success.1", 0.0),
            ("success.4", 1.0),
            ("ndcg", (1.0 / log(2.0) + 2.0 / log(4.0)) / best),
            ("ndcg_cut.2", 1.0 / log(2.0) / (2.0 + 1.0 / log(2.0))),
        ] {
            let [measure] = Measure::parse(name).unwrap()[..] else { panic!("{name}") };
            let found = ranking.measure(measure);
            assert!((found - expected).abs() < 1e-12, "{name}: {found}, expected {expected}");
            let nothing_found = JudgedRanking::new(&[], &judged).measure(measure);
            assert_eq!(nothing_found > 0.0, ["num_q", "num_rel"].contains(&name), "{name}");
            let nothing_judged = JudgedRanking::new(&["a"], &Relevance::new()).measure(measure);
            assert_eq!(nothing_judged > 0.0, ["num_q", "num_ret"].contains(&name), "{name}");
        }
    }

    #[test]
    fn names_are_those_of_trec_eval_and_others_are_refused() {
        let names = |text: &str| {
            let measures = Measure::parse(text).unwrap();
            measures.into_iter().map(Measure::name).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(names("P.5,10"), "P_5 P_10");
        assert_eq!(names("recall_100"), "recall_100");
        assert_eq!(names("success"), "success_1 success_5 success_10");
        assert_eq!(names("ndcg_cut").split(' ').count(), CUTS.len());
        let default: Vec<String> = Measure::default_list().into_iter().map(Measure::name).collect();
        assert_eq!(default.len(), DEFAULT.len() + 2);
        for name in default {
            assert_eq!(names(&name), name);
        }
        for (text, hint) in [
            ("", "unknown"),
            ("bpref", "use map"),
            ("map.5", "unknown"),
            ("P.", "not a rank"),
            ("P.0", "not a rank"),
            ("P.5,x", "'x'"),
            ("P_", "not a rank"),
            ("num_rel_5", "unknown"),
        ] {
            let error = Measure::parse(text).unwrap_err().to_string();
            assert!(error.contains(hint), "{text:?}: {error}");
        }
    }
}
