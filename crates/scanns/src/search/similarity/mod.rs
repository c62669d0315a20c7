//! Scores of terms in documents, with the arithmetic and the rounding steps of Lucene.
//!
//! Scores depend on a document only through the frequency and its norm byte. The two models in this file
//! compute in 32 bits; everything that does not depend on the frequency is in a table of 256 factors, made
//! once per query. `language.rs` has language models, `divergence.rs` models of divergence from randomness;
//! both compute in 64 bits and round once.

mod divergence;
mod language;
mod rounding;

pub(crate) use divergence::{ALL, Dph, Pl2};
pub(crate) use language::{Dirichlet, JelinekMercer};
pub(crate) use rounding::{above, below, narrow, narrow_all};

use serde::{Deserialize, Serialize};

use super::leaf::LeafStats;
use crate::codec::{Impact, code_to_tf, norm_to_length};
use crate::error::{Error, Result};
use crate::sys::in_wide_vectors;

/// A ranking model.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Model {
    /// Okapi BM25, without the factor `k1 + 1`.
    Bm25 {
        /// How quickly additional occurrences stop mattering; not negative.
        k1: f32,
        /// How much the length matters, from 0 to 1.
        b: f32,
    },
    /// Lucene's `ClassicSimilarity`: √tf · idf · 1/√length.
    Classic,
    /// A language model with Dirichlet smoothing, Lucene's `LMDirichletSimilarity`. Scores below 0 are 0.
    LmDirichlet {
        /// The number of tokens of the whole collection that are mixed into a document; greater than 0.
        mu: f32,
    },
    /// A language model with Jelinek-Mercer smoothing, Lucene's `LMJelinekMercerSimilarity`.
    LmJelinekMercer {
        /// The share of the whole collection in the mixture; greater than 0, at most 1.
        lambda: f32,
    },
    /// Divergence from randomness: Poisson, Laplace, second normalisation (PL2). Scores below 0 are 0.
    Pl2 {
        /// How little the length matters; greater than 0.
        c: f32,
    },
    /// Divergence from randomness: hypergeometric, with Popper's normalisation (DPH), without parameters.
    /// Scores below 0 are 0.
    Dph,
    /// The extended Boolean model of Salton, Fox and Wu (1983).
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
    /// Returns the model of this name with its usual parameters: `bm25`, `tf-idf` (or `classic`),
    /// `lm-dirichlet`, `lm-jelinek-mercer`, `pl2`, `dph` or `p-norm`.
    ///
    /// # Errors
    /// [`Error::UnknownName`] for other names.
    pub fn parse(name: &str) -> Result<Self> {
        match name {
            "bm25" => Ok(Model::default()),
            "tf-idf" | "classic" => Ok(Model::Classic),
            "lm-dirichlet" => Ok(Model::LmDirichlet { mu: 2000.0 }),
            "lm-jelinek-mercer" => Ok(Model::LmJelinekMercer { lambda: 0.1 }),
            "pl2" => Ok(Model::Pl2 { c: 1.0 }),
            "dph" => Ok(Model::Dph),
            "p-norm" => Ok(Model::PNorm { p: 2.0 }),
            other => Err(Error::UnknownName {
                what: "model",
                name: other.to_owned(),
                known: "bm25, tf-idf, classic, lm-dirichlet, lm-jelinek-mercer, pl2, dph or p-norm"
                    .to_owned(),
            }),
        }
    }

    /// Returns true if impacts bound the scores of the model, so that a search can skip postings that cannot
    /// compete.
    pub(crate) fn is_bounded(&self) -> bool {
        !matches!(self, Model::Pl2 { .. } | Model::Dph | Model::PNorm { .. })
    }

    /// Checks the parameters.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] for a parameter outside its range.
    pub fn check(&self) -> Result<()> {
        let positive = |value: f32| value.is_finite() && value > 0.0;
        match *self {
            Model::Bm25 { k1, b } if !(k1.is_finite() && k1 >= 0.0 && (0.0..=1.0).contains(&b)) => {
                let found = format!("k1 {k1}, b {b}");
                Err(Error::invalid("parameters of bm25", found, "k1 of at least 0, b from 0 to 1"))
            }
            Model::LmDirichlet { mu } if !positive(mu) => {
                Err(Error::invalid("mu of lm-dirichlet", mu, "a number greater than 0"))
            }
            Model::LmJelinekMercer { lambda } if !(positive(lambda) && lambda <= 1.0) => Err(Error::invalid(
                "lambda of lm-jelinek-mercer",
                lambda,
                "a number greater than 0, at most 1",
            )),
            Model::Pl2 { c } if !positive(c) => Err(Error::invalid("c of pl2", c, "a number greater than 0")),
            Model::PNorm { p } if p.is_nan() || p < 1.0 => {
                Err(Error::invalid("p of p-norm", p, "a number of at least 1"))
            }
            _ => Ok(()),
        }
    }
}

/// Some postings of a term: documents and, in the same order, frequencies. There may be more frequencies.
#[derive(Clone, Copy)]
pub(crate) struct PostingsSlice<'p> {
    pub(crate) docs: &'p [u32],
    pub(crate) tfs: &'p [u32],
}

/// A formula for scores. No score is negative.
pub(crate) trait Similarity: Send + Sync {
    /// True if scores grow with the frequency and fall with the norm, so that impacts bound them. Otherwise
    /// every posting is scored.
    fn is_bounded(&self) -> bool {
        true
    }

    /// True if a phrase weighs the sum of the weights of its terms; otherwise each term scores the phrase on
    /// its own.
    fn weights_add(&self) -> bool {
        false
    }

    /// The weight of a term that `doc_freq` documents contain, `total_freq` times together.
    fn weight(&self, doc_freq: u64, total_freq: u64) -> f64;

    /// The weight if the query multiplies scores by `boost`.
    fn boosted(&self, weight: f64, boost: f32) -> Weight {
        Weight { of_term: weight, boost: f64::from(boost) }
    }

    /// The score of a frequency in a document with this norm. The frequency of a phrase need not be an
    /// integer.
    fn score(&self, weight: Weight, freq: f32, norm: u8) -> f32;

    /// Scores postings; all slices have the same length.
    #[inline]
    fn score_all(&self, weight: Weight, norms: &[u8], postings: PostingsSlice, scores: &mut [f32]) {
        let PostingsSlice { docs, tfs } = postings;
        for ((score, &doc), &tf) in scores.iter_mut().zip(docs).zip(tfs) {
            *score = self.score(weight, tf as f32, norm_of(norms, doc));
        }
    }

    /// Returns an upper bound of the scores of the postings that `impacts` represent.
    fn bound(&self, weight: Weight, impacts: &[Impact]) -> f32;

    /// A number that all scores and bounds are integer multiples of, if it is known.
    fn unit(&self, _weight: Weight) -> Option<f64> {
        None
    }
}

/// For models that take a logarithm for every posting, dynamic dispatch does not matter, and not
/// instantiating the loops for each of them saves half of the code.
impl Similarity for Box<dyn Similarity> {
    fn is_bounded(&self) -> bool {
        (**self).is_bounded()
    }

    fn weights_add(&self) -> bool {
        (**self).weights_add()
    }

    fn weight(&self, doc_freq: u64, total_freq: u64) -> f64 {
        (**self).weight(doc_freq, total_freq)
    }

    fn boosted(&self, weight: f64, boost: f32) -> Weight {
        (**self).boosted(weight, boost)
    }

    fn score(&self, weight: Weight, freq: f32, norm: u8) -> f32 {
        (**self).score(weight, freq, norm)
    }

    fn score_all(&self, weight: Weight, norms: &[u8], postings: PostingsSlice, scores: &mut [f32]) {
        (**self).score_all(weight, norms, postings, scores);
    }

    fn bound(&self, weight: Weight, impacts: &[Impact]) -> f32 {
        (**self).bound(weight, impacts)
    }

    fn unit(&self, weight: Weight) -> Option<f64> {
        (**self).unit(weight)
    }
}

/// The similarity for counting: every score is 0.
pub(crate) struct Unscored;

impl Similarity for Unscored {
    fn weight(&self, _doc_freq: u64, _total_freq: u64) -> f64 {
        0.0
    }

    fn score(&self, _weight: Weight, _freq: f32, _norm: u8) -> f32 {
        0.0
    }

    fn score_all(&self, _weight: Weight, _norms: &[u8], _postings: PostingsSlice, scores: &mut [f32]) {
        scores.fill(0.0);
    }

    fn bound(&self, _weight: Weight, _impacts: &[Impact]) -> f32 {
        0.0
    }
}

/// The weight of a clause.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Weight {
    /// The weight that the similarity computed from the frequencies of the term.
    of_term: f64,
    /// The factor of the query, unless it is included in `of_term`.
    boost: f64,
}

/// Scores the postings of a term in one leaf.
pub(crate) struct Scorer<'s, S> {
    pub(crate) weight: Weight,
    /// The norm of every document in the field of the term.
    pub(crate) norms: &'s [u8],
    /// The similarity of the field.
    pub(crate) similarity: &'s S,
}

impl<S: Similarity> Scorer<'_, S> {
    /// The highest score that `impacts` allow.
    #[inline]
    pub(crate) fn bound(&self, impacts: &[Impact]) -> f32 {
        self.similarity.bound(self.weight, impacts)
    }

    /// A number that all scores and bounds are integer multiples of, if it is known.
    pub(crate) fn unit(&self) -> Option<f64> {
        self.similarity.unit(self.weight)
    }

    /// The score of one posting.
    #[inline]
    pub(crate) fn score(&self, doc: u32, tf: u32) -> f32 {
        self.score_freq(doc, tf as f32)
    }

    /// The score of a frequency that need not be an integer.
    #[inline]
    pub(crate) fn score_freq(&self, doc: u32, freq: f32) -> f32 {
        self.similarity.score(self.weight, freq, norm_of(self.norms, doc))
    }

    /// Scores postings; `scores` has the same length.
    #[inline]
    pub(crate) fn score_all(&self, postings: PostingsSlice, scores: &mut [f32]) {
        self.similarity.score_all(self.weight, self.norms, postings, scores);
    }
}

#[inline]
fn norm_of(norms: &[u8], doc: u32) -> u8 {
    norms.get(doc as usize).copied().unwrap_or(0)
}

/// Scores postings by factors of norms. The factors are looked up one by one: where vectors can gather, it
/// takes twice as long. The rest is done in the widest vectors of the machine; `score` must own what it
/// captures, because a reference that might point at `scores` would prevent vectors.
#[inline]
fn score_by_factors(
    factors: &[f32; 256],
    norms: &[u8],
    postings: PostingsSlice,
    scores: &mut [f32],
    score: impl Fn(f32, f32) -> f32,
) {
    let PostingsSlice { docs, tfs } = postings;
    for (factor, &doc) in scores.iter_mut().zip(docs) {
        *factor = factors[usize::from(norm_of(norms, doc))];
    }
    in_wide_vectors(
        #[inline(always)]
        move || {
            for (value, &tf) in scores.iter_mut().zip(tfs) {
                *value = score(tf as f32, *value);
            }
        },
    );
}

/// Okapi BM25.
pub(crate) struct Bm25 {
    factors: [f32; 256],
    documents: f64,
}

impl Bm25 {
    pub(crate) fn new(k1: f32, b: f32, stats: &LeafStats) -> Self {
        let documents = stats.documents_with_terms.max(1) as f64;
        let average = narrow(stats.total_length as f64 / documents);
        let factor = |length: f32| 1.0 / (k1 * ((1.0 - b) + b * length / average));
        Bm25 { factors: LENGTHS.map(factor), documents }
    }

    #[inline(always)]
    fn of(weight: f32, freq: f32, factor: f32) -> f32 {
        weight - weight / (1.0 + freq * factor)
    }
}

impl Similarity for Bm25 {
    fn weights_add(&self) -> bool {
        true
    }

    fn boosted(&self, weight: f64, boost: f32) -> Weight {
        folded(weight, boost)
    }

    fn weight(&self, doc_freq: u64, _total_freq: u64) -> f64 {
        let doc_freq = doc_freq as f64;
        let documents = self.documents.max(doc_freq);
        f64::from(narrow((1.0 + (documents - doc_freq + 0.5) / (doc_freq + 0.5)).ln()))
    }

    #[inline]
    fn score(&self, weight: Weight, freq: f32, norm: u8) -> f32 {
        Bm25::of(narrow(weight.of_term), freq, self.factors[usize::from(norm)])
    }

    #[inline]
    fn score_all(&self, weight: Weight, norms: &[u8], postings: PostingsSlice, scores: &mut [f32]) {
        let weight = narrow(weight.of_term);
        score_by_factors(&self.factors, norms, postings, scores, move |tf, factor| {
            Bm25::of(weight, tf, factor)
        });
    }

    #[inline]
    fn bound(&self, weight: Weight, impacts: &[Impact]) -> f32 {
        let weight = narrow(weight.of_term);
        // The score grows with the product, so one division serves all pairs.
        let product =
            |impact: &Impact| TFS[usize::from(impact.tf_code)] * self.factors[usize::from(impact.norm)];
        weight - weight / (1.0 + impacts.iter().map(product).fold(0.0, f32::max))
    }

    /// Either the number that is subtracted or the difference is at least half of the weight, and so a
    /// multiple of the last place of this half. Then the other one is too.
    fn unit(&self, weight: Weight) -> Option<f64> {
        highest_bit(narrow(weight.of_term)).map(|bit| bit * LAST_PLACE / 2.0)
    }
}

/// Lucene's `ClassicSimilarity`.
pub(crate) struct Classic {
    factors: [f32; 256],
    /// Square roots of frequencies by their codes in impacts.
    roots: [f32; 256],
    documents: f64,
}

impl Classic {
    pub(crate) fn new(stats: &LeafStats) -> Self {
        let mut factors = LENGTHS.map(|length| narrow(1.0 / f64::from(length.max(1.0)).sqrt()));
        factors[0] = 1.0 / factors[255];
        let roots = TFS.map(f32::sqrt);
        Classic { factors, roots, documents: stats.documents_with_terms as f64 }
    }

    #[inline(always)]
    fn of(weight: f32, freq: f32, factor: f32) -> f32 {
        freq.sqrt() * weight * factor
    }
}

impl Similarity for Classic {
    fn weights_add(&self) -> bool {
        true
    }

    fn boosted(&self, weight: f64, boost: f32) -> Weight {
        folded(weight, boost)
    }

    fn weight(&self, doc_freq: u64, _total_freq: u64) -> f64 {
        f64::from(narrow(((self.documents + 1.0) / (doc_freq as f64 + 1.0)).ln() + 1.0))
    }

    #[inline]
    fn score(&self, weight: Weight, freq: f32, norm: u8) -> f32 {
        Classic::of(narrow(weight.of_term), freq, self.factors[usize::from(norm)])
    }

    #[inline]
    fn score_all(&self, weight: Weight, norms: &[u8], postings: PostingsSlice, scores: &mut [f32]) {
        let weight = narrow(weight.of_term);
        score_by_factors(&self.factors, norms, postings, scores, move |tf, factor| {
            Classic::of(weight, tf, factor)
        });
    }

    #[inline]
    fn bound(&self, weight: Weight, impacts: &[Impact]) -> f32 {
        let weight = narrow(weight.of_term);
        let score = |impact: &Impact| {
            self.roots[usize::from(impact.tf_code)] * weight * self.factors[usize::from(impact.norm)]
        };
        impacts.iter().map(score).fold(0.0, f32::max)
    }

    /// No root of a frequency is below 1, and no length has more than 32 bits, so no score is below 1/2¹⁶ of
    /// the weight.
    fn unit(&self, weight: Weight) -> Option<f64> {
        highest_bit(narrow(weight.of_term)).map(|bit| bit * LAST_PLACE / 65_536.0)
    }
}

/// The last of the 24 binary places of a number whose first is 1.
const LAST_PLACE: f64 = 1.0 / 8_388_608.0;

/// The largest power of two not above a positive number; `None` if the number is subnormal.
fn highest_bit(number: f32) -> Option<f64> {
    let bit = f32::from_bits(number.to_bits() & 0x7f80_0000);
    number.is_normal().then(|| f64::from(bit))
}

/// A weight in 32 bits that includes the boost.
fn folded(weight: f64, boost: f32) -> Weight {
    Weight { of_term: f64::from(narrow(weight) * boost), boost: 1.0 }
}

/// A bound for scores computed with logarithms, which need not be monotonic to the last bit.
fn loosened(bound: f64) -> f32 {
    narrow(bound * (1.0 + 1e-6))
}

/// Lengths by norm, in 64 bits. A document with terms has at least one token, whatever its norm.
fn lengths() -> [f64; 256] {
    LENGTHS.map(|length| f64::from(length.max(1.0)))
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
