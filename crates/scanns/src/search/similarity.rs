//! How well a document matches a term, in Lucene's 32-bit arithmetic, step by step as it rounds there.
//!
//! Scores depend on the document only through its norm byte, so everything that does not depend on the
//! frequency is in a table of 256 factors, made once per query.

use super::leaf::LeafStats;
use crate::codec::{Impact, code_to_tf, norm_to_length};
use crate::error::{Error, Result};

/// A way to rank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Model {
    /// Okapi BM25, without the factor `k1 + 1`.
    Bm25 {
        /// How quickly more occurrences stop to matter; not negative.
        k1: f32,
        /// How much length matters, 0 to 1.
        b: f32,
    },
    /// Lucene's `ClassicSimilarity`: √tf · idf · 1/√length.
    Classic,
    /// The extended Boolean model, see `pnorm.rs`.
    PNorm {
        /// 1 ranks like a vector model, infinity like strict logic; at least 1.
        p: f64,
    },
}

impl Default for Model {
    fn default() -> Self {
        Model::Bm25 { k1: 1.2, b: 0.75 }
    }
}

impl Model {
    /// Parses `bm25`, `tf-idf` (or `classic`) or `p-norm` with the usual parameters.
    pub fn parse(name: &str) -> Result<Self> {
        match name {
            "bm25" => Ok(Model::default()),
            "tf-idf" | "classic" => Ok(Model::Classic),
            "p-norm" => Ok(Model::PNorm { p: 2.0 }),
            other => Err(Error::Options(format!(
                "model '{other}' is unknown: use bm25, tf-idf, classic or p-norm"
            ))),
        }
    }

    /// An error if a parameter is outside its range.
    pub fn check(&self) -> Result<()> {
        match *self {
            Model::Bm25 { k1, b } if !(k1.is_finite() && k1 >= 0.0 && (0.0..=1.0).contains(&b)) => {
                Err(Error::Options(format!("bm25 needs k1 of at least 0 and b of 0 to 1, not {k1} and {b}")))
            }
            Model::PNorm { p } if p.is_nan() || p < 1.0 => {
                Err(Error::Options(format!("p-norm needs p of at least 1, not {p}")))
            }
            _ => Ok(()),
        }
    }
}

/// A similarity whose score grows with the frequency and falls with the norm, so that impacts bound it.
pub(super) trait Similarity {
    /// False if every score is 0.
    const SCORED: bool = true;

    /// What the norm contributes.
    fn factors(&self) -> &[f32; 256];

    /// The weight of a term that `doc_freq` of all documents contain.
    fn weight(&self, doc_freq: u64) -> f32;

    /// The score of a frequency in a document with this factor; that of a phrase need not be whole.
    fn score(weight: f32, freq: f32, factor: f32) -> f32;

    /// The highest score that `impacts` allow.
    fn bound(&self, weight: f32, impacts: &[Impact]) -> f32;
}

/// Okapi BM25.
pub(super) struct Bm25 {
    factors: [f32; 256],
    documents: f64,
}

impl Bm25 {
    pub(super) fn new(k1: f32, b: f32, stats: &LeafStats) -> Self {
        let documents = stats.documents_with_terms.max(1) as f64;
        let average = narrow(stats.total_length as f64 / documents);
        let factor = |length: f32| 1.0 / (k1 * ((1.0 - b) + b * length / average));
        Bm25 { factors: LENGTHS.map(factor), documents }
    }
}

impl Similarity for Bm25 {
    #[inline]
    fn factors(&self) -> &[f32; 256] {
        &self.factors
    }

    fn weight(&self, doc_freq: u64) -> f32 {
        let doc_freq = doc_freq as f64;
        let documents = self.documents.max(doc_freq);
        narrow((1.0 + (documents - doc_freq + 0.5) / (doc_freq + 0.5)).ln())
    }

    #[inline]
    fn score(weight: f32, freq: f32, factor: f32) -> f32 {
        weight - weight / (1.0 + freq * factor)
    }

    #[inline]
    fn bound(&self, weight: f32, impacts: &[Impact]) -> f32 {
        // The score grows with the product, so one division does for all pairs.
        let product =
            |impact: &Impact| TFS[usize::from(impact.tf_code)] * self.factors[usize::from(impact.norm)];
        weight - weight / (1.0 + impacts.iter().map(product).fold(0.0, f32::max))
    }
}

/// Lucene's `ClassicSimilarity`.
pub(super) struct Classic {
    factors: [f32; 256],
    /// Roots of frequencies by their codes in impacts.
    roots: [f32; 256],
    documents: f64,
}

impl Classic {
    pub(super) fn new(stats: &LeafStats) -> Self {
        let mut factors = LENGTHS.map(|length| narrow(1.0 / f64::from(length.max(1.0)).sqrt()));
        factors[0] = 1.0 / factors[255];
        let roots = TFS.map(f32::sqrt);
        Classic { factors, roots, documents: stats.documents_with_terms as f64 }
    }
}

impl Similarity for Classic {
    #[inline]
    fn factors(&self) -> &[f32; 256] {
        &self.factors
    }

    fn weight(&self, doc_freq: u64) -> f32 {
        narrow(((self.documents + 1.0) / (doc_freq as f64 + 1.0)).ln() + 1.0)
    }

    #[inline]
    fn score(weight: f32, freq: f32, factor: f32) -> f32 {
        freq.sqrt() * weight * factor
    }

    #[inline]
    fn bound(&self, weight: f32, impacts: &[Impact]) -> f32 {
        let score = |impact: &Impact| {
            self.roots[usize::from(impact.tf_code)] * weight * self.factors[usize::from(impact.norm)]
        };
        impacts.iter().map(score).fold(0.0, f32::max)
    }
}

/// For queries that only count or exclude: every score is 0.
pub(super) struct Unscored;

impl Similarity for Unscored {
    const SCORED: bool = false;

    #[inline]
    fn factors(&self) -> &[f32; 256] {
        &[0.0; 256]
    }

    fn weight(&self, _doc_freq: u64) -> f32 {
        0.0
    }

    #[inline]
    fn score(_weight: f32, _freq: f32, _factor: f32) -> f32 {
        0.0
    }

    fn bound(&self, _weight: f32, _impacts: &[Impact]) -> f32 {
        0.0
    }
}

/// What scores the postings of a term in one leaf.
pub(super) struct Scorer<'s, S> {
    /// That of the similarity, times the boosts of the query.
    pub(super) weight: f32,
    /// The norm of every document in the field of the term.
    pub(super) norms: &'s [u8],
    /// That of the field.
    pub(super) similarity: &'s S,
}

impl<S: Similarity> Scorer<'_, S> {
    /// The highest score that `impacts` allow.
    #[inline]
    pub(super) fn bound(&self, impacts: &[Impact]) -> f32 {
        self.similarity.bound(self.weight, impacts)
    }

    #[inline]
    fn factor(&self, doc: u32) -> f32 {
        self.similarity.factors()[usize::from(self.norms.get(doc as usize).copied().unwrap_or(0))]
    }

    /// The score of one posting.
    #[inline]
    pub(super) fn score(&self, doc: u32, tf: u32) -> f32 {
        self.score_freq(doc, tf as f32)
    }

    /// The score of a frequency that need not be whole.
    #[inline]
    pub(super) fn score_freq(&self, doc: u32, freq: f32) -> f32 {
        S::score(self.weight, freq, self.factor(doc))
    }

    /// Scores postings; `scores` has as many places as there are documents.
    #[inline]
    pub(super) fn score_all(&self, (docs, tfs): (&[u32], &[u32]), scores: &mut [f32]) {
        if !S::SCORED {
            scores.fill(0.0);
            return;
        }
        // Two loops: gathering is scalar, the arithmetic after it becomes vector instructions.
        for (score, &doc) in scores.iter_mut().zip(docs) {
            *score = self.factor(doc);
        }
        for (score, &tf) in scores.iter_mut().zip(tfs) {
            *score = S::score(self.weight, tf as f32, *score);
        }
    }
}

/// Lengths by norm.
static LENGTHS: [f32; 256] = {
    let mut lengths = [0.0; 256];
    let mut norm = u8::MAX;
    while norm > 0 {
        lengths[norm as usize] = norm_to_length(norm) as f32;
        norm -= 1;
    }
    lengths
};

/// Frequencies by their codes in impacts.
static TFS: [f32; 256] = {
    let mut tfs = [0.0; 256];
    let mut code = u8::MAX;
    while code > 0 {
        tfs[code as usize] = code_to_tf(code) as f32;
        code -= 1;
    }
    tfs
};

/// The nearest 32-bit float, as a cast does it in Java.
#[inline]
pub(super) fn narrow(value: f64) -> f32 {
    #[expect(clippy::cast_possible_truncation, reason = "rounding to the nearest is what is wanted")]
    let nearest = value as f32;
    nearest
}

/// A score that no sum of up to 1,024 terms exceeds that is `sum` in some order.
#[inline]
pub(super) fn above(sum: f64) -> f32 {
    narrow(sum * (1.0 + 1e-12))
}

/// A sum that is below all that round to `threshold` or more, in whatever order they were added.
#[inline]
pub(super) fn below(threshold: f32) -> f64 {
    f64::from(threshold) - f64::from(threshold.abs()) * 1e-6
}
