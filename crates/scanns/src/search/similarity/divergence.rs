//! Divergence from randomness: how far a frequency is from its expectation under chance.
//!
//! The formulas are from Amati and van Rijsbergen (2002) and Amati and others (TREC 2007), as Terrier
//! computes them; Lucene no longer has PL2 and never had DPH. N is the number of documents with terms, F the
//! number of occurrences of the term in all of them, l the mean length. A negative score, which very frequent
//! terms would get, becomes 0, as Lucene requires of every model. Neither model grows with the frequency
//! everywhere, so impacts do not bound them, and every posting is scored.

use std::f64::consts::{LOG2_E, PI};

use super::{Impact, LeafStats, Similarity, Weight, lengths, narrow};

/// The number of documents and their mean length.
fn collection(stats: &LeafStats) -> (f64, f64) {
    let documents = stats.documents_with_terms.max(1) as f64;
    (documents, stats.total_length as f64 / documents)
}

/// With t = f log₂(1 + c l / L) and λ = F / N: (t log₂(t / λ) + (λ - t) log₂ e + ½ log₂(2 π t)) / (t + 1).
pub(crate) struct Pl2 {
    documents: f64,
    /// log₂(1 + c l / L) by norm.
    scales: [f64; 256],
}

impl Pl2 {
    pub(crate) fn new(c: f32, stats: &LeafStats) -> Self {
        let (documents, mean) = collection(stats);
        let scales = lengths().map(|length| (1.0 + f64::from(c) * mean / length).log2());
        Pl2 { documents, scales }
    }
}

impl Similarity for Pl2 {
    fn is_bounded(&self) -> bool {
        false
    }

    fn weight(&self, _doc_freq: u64, total_freq: u64) -> f64 {
        total_freq.max(1) as f64 / self.documents
    }

    #[inline]
    fn score(&self, Weight { of_term: weight, boost }: Weight, freq: f32, norm: u8) -> f32 {
        let t = f64::from(freq) * self.scales[usize::from(norm)];
        let information = t * (1.0 / weight).log2()
            + weight * LOG2_E
            + 0.5 * (2.0 * PI * t).log2()
            + t * (t.log2() - LOG2_E);
        narrow(boost * (information / (t + 1.0)).max(0.0))
    }

    fn bound(&self, _weight: Weight, _impacts: &[Impact]) -> f32 {
        f32::INFINITY
    }
}

/// The relative frequency of a term that makes up its whole document.
pub(crate) const ALL: f64 = 0.99999;

/// With r = f / L: (1 - r)² / (f + 1) · (f log₂(f l / L · N / F) + ½ log₂(2 π f (1 - r))).
pub(crate) struct Dph {
    documents: f64,
    mean: f64,
    lengths: [f64; 256],
}

impl Dph {
    pub(crate) fn new(stats: &LeafStats) -> Self {
        let (documents, mean) = collection(stats);
        Dph { documents, mean, lengths: lengths() }
    }
}

impl Similarity for Dph {
    fn is_bounded(&self) -> bool {
        false
    }

    fn weight(&self, _doc_freq: u64, total_freq: u64) -> f64 {
        self.documents / total_freq.max(1) as f64
    }

    #[inline]
    fn score(&self, Weight { of_term: weight, boost }: Weight, freq: f32, norm: u8) -> f32 {
        let (tf, length) = (f64::from(freq), self.lengths[usize::from(norm)]);
        let rest = 1.0 - if tf < length { tf / length } else { ALL };
        let information =
            tf * ((tf * self.mean / length) * weight).log2() + 0.5 * (2.0 * PI * tf * rest).log2();
        narrow(boost * (rest * rest / (tf + 1.0) * information).max(0.0))
    }

    fn bound(&self, _weight: Weight, _impacts: &[Impact]) -> f32 {
        f32::INFINITY
    }
}
