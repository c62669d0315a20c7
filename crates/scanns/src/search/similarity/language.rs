//! Language models: how likely a document is to produce a term, compared with the whole collection.
//!
//! They are computed as in Lucene's `LMDirichletSimilarity` and `LMJelinekMercerSimilarity`, in 64 bits. The
//! probability of a term in the collection is (its occurrences + 1) / (all tokens + 1). Both scores grow with
//! the frequency and fall with the length, so impacts bound them.

use super::{Impact, LeafStats, Similarity, TFS, Weight, lengths, loosened, narrow};

/// The probability of a term with `total_freq` occurrences among `tokens`.
fn probability(total_freq: u64, tokens: f64) -> f64 {
    (total_freq as f64 + 1.0) / (tokens + 1.0)
}

/// The highest score of several impacts, slightly raised.
fn highest(impacts: &[Impact], score: impl Fn(f64, u8) -> f64) -> f32 {
    let scores = impacts.iter().map(|impact| score(f64::from(TFS[usize::from(impact.tf_code)]), impact.norm));
    loosened(scores.fold(0.0, f64::max))
}

/// max(0, ln(1 + f / (μ p)) + ln(μ / (L + μ))): smoothing with μ tokens of the collection (Zhai and Lafferty
/// 2001).
pub(crate) struct Dirichlet {
    mu: f64,
    tokens: f64,
    /// ln(μ / (L + μ)) by norm.
    penalties: [f64; 256],
}

impl Dirichlet {
    pub(crate) fn new(mu: f32, stats: &LeafStats) -> Self {
        let mu = f64::from(mu);
        let penalties = lengths().map(|length| (mu / (length + mu)).ln());
        Dirichlet { mu, tokens: stats.total_length as f64, penalties }
    }

    #[inline]
    fn of(&self, weight: f64, tf: f64, norm: u8) -> f64 {
        ((1.0 + tf / weight).ln() + self.penalties[usize::from(norm)]).max(0.0)
    }
}

impl Similarity for Dirichlet {
    fn weight(&self, _doc_freq: u64, total_freq: u64) -> f64 {
        self.mu * probability(total_freq, self.tokens)
    }

    #[inline]
    fn score(&self, weight: Weight, freq: f32, norm: u8) -> f32 {
        narrow(weight.boost * self.of(weight.of_term, f64::from(freq), norm))
    }

    fn bound(&self, weight: Weight, impacts: &[Impact]) -> f32 {
        highest(impacts, |tf, norm| weight.boost * self.of(weight.of_term, tf, norm))
    }
}

/// ln(1 + (1 - λ) f / L / (λ p)): a mixture of document and collection (Zhai and Lafferty 2001).
pub(crate) struct JelinekMercer {
    /// λ and 1 - λ, both rounded to 32 bits.
    shares: (f64, f64),
    tokens: f64,
    lengths: [f64; 256],
}

impl JelinekMercer {
    pub(crate) fn new(lambda: f32, stats: &LeafStats) -> Self {
        let shares = (f64::from(lambda), f64::from(1.0 - lambda));
        JelinekMercer { shares, tokens: stats.total_length as f64, lengths: lengths() }
    }

    #[inline]
    fn of(&self, weight: f64, tf: f64, norm: u8) -> f64 {
        (1.0 + (self.shares.1 * tf / self.lengths[usize::from(norm)]) / weight).ln()
    }
}

impl Similarity for JelinekMercer {
    fn weight(&self, _doc_freq: u64, total_freq: u64) -> f64 {
        self.shares.0 * probability(total_freq, self.tokens)
    }

    #[inline]
    fn score(&self, weight: Weight, freq: f32, norm: u8) -> f32 {
        narrow(weight.boost * self.of(weight.of_term, f64::from(freq), norm))
    }

    fn bound(&self, weight: Weight, impacts: &[Impact]) -> f32 {
        highest(impacts, |tf, norm| weight.boost * self.of(weight.of_term, tf, norm))
    }
}
