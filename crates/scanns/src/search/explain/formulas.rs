//! The formula of each model, as text and with its parts.
//!
//! The score itself comes from the similarity. The parts are computed again in the form of the formula, so
//! that readers can check them by hand.

use super::explanation::Explanation;
use crate::search::leaf::LeafStats;
use crate::search::leaf::TermFigures;
use crate::search::similarity::{ALL, Model, narrow};

/// A term or a phrase in the document.
pub(super) struct Match {
    pub(super) model: Model,
    /// How often it occurs.
    pub(super) freq: Explanation,
    /// The product of all boosts around it.
    pub(super) boost: f32,
    /// The length of the document in the field.
    pub(super) length: u64,
    /// The sizes of the field.
    pub(super) stats: LeafStats,
}

impl Match {
    /// Explains the score of the term or phrase called `name`; `weight` explains its weight.
    pub(super) fn explain(self, name: &str, score: f32, weight: Explanation) -> Explanation {
        let boosted = self.boost != 1.0;
        let boost = boosted.then(|| Explanation::plain(self.boost, "boost"));
        let (formula, parts) = self.parts(weight);
        let times = if boosted { "boost · " } else { "" };
        let details = boost.into_iter().chain(parts).collect();
        Explanation::new(score, format!("{name}: {times}{formula}"), details)
    }

    /// The formula of the model and its parts.
    fn parts(self, weight: Explanation) -> (&'static str, Vec<Explanation>) {
        let length = |least: u64| {
            Explanation::count(
                self.length.max(least),
                "length, tokens of the document, as rounded in the index",
            )
        };
        let average = average(&self.stats);
        match self.model {
            Model::Bm25 { k1, b } => {
                let (freq, length) = (self.freq.value, length(0));
                let factor = 1.0 / (k1 * ((1.0 - b) + b * length.value / average.value));
                let tf = Explanation::new(
                    1.0 - 1.0 / (1.0 + freq * factor),
                    "tf, freq / (freq + k1 · (1 - b + b · length / average))",
                    vec![
                        self.freq,
                        Explanation::plain(k1, "k1, how quickly more occurrences stop mattering"),
                        Explanation::plain(b, "b, how much length matters"),
                        length,
                        average,
                    ],
                );
                ("idf · tf", vec![weight, tf])
            }
            Model::Classic => {
                let length = length(1);
                let tf = Explanation::new(self.freq.value.sqrt(), "tf, √freq", vec![self.freq]);
                let norm = narrow(1.0 / f64::from(length.value).sqrt());
                let norm = Explanation::new(norm, "norm, 1 / √length", vec![length]);
                ("tf · idf · norm", vec![tf, weight, norm])
            }
            Model::LmDirichlet { mu } => (
                "ln(1 + freq / (mu · p)) + ln(mu / (length + mu)), at least 0",
                vec![self.freq, weight, length(1), Explanation::plain(mu, "mu, tokens of the collection")],
            ),
            Model::LmJelinekMercer { lambda } => (
                "ln(1 + (1 - lambda) · freq / length / (lambda · p))",
                vec![self.freq, weight, length(1), Explanation::plain(lambda, "lambda, its share")],
            ),
            Model::Pl2 { c } => {
                let t = normalised(self.freq, c, length(1), average);
                (
                    "(t · log2(t / rate) + (rate - t) · log2(e) + log2(2 · pi · t) / 2) \
                     / (t + 1), at least 0",
                    vec![t, weight],
                )
            }
            Model::Dph => {
                let length = length(1);
                let (freq, tokens) = (f64::from(self.freq.value), f64::from(length.value));
                let share = if freq < tokens { freq / tokens } else { ALL };
                let r = Explanation::plain(narrow(share), "r, freq / length, below 1");
                (
                    "(1 - r)² / (freq + 1) · (freq · log2(freq · average / length · rarity) \
                     + log2(2 · pi · freq · (1 - r)) / 2), at least 0",
                    vec![self.freq, r, weight, average, length],
                )
            }
            // `soft.rs` explains this model.
            Model::PNorm { .. } => ("", vec![weight]),
        }
    }
}

/// The frequency that PL2 assumes for a document of mean length.
fn normalised(freq: Explanation, c: f32, length: Explanation, average: Explanation) -> Explanation {
    let scale = (1.0 + f64::from(c) * f64::from(average.value) / f64::from(length.value)).log2();
    let value = narrow(f64::from(freq.value) * scale);
    let c = Explanation::plain(c, "c, how little length matters");
    Explanation::new(value, "t, freq · log2(1 + c · average / length)", vec![freq, c, average, length])
}

/// The mean length of documents, as the models compute it.
fn average(stats: &LeafStats) -> Explanation {
    let documents = stats.documents_with_terms.max(1);
    Explanation::new(
        narrow(stats.total_length as f64 / documents as f64),
        "average, the mean length of documents",
        vec![
            Explanation::count(stats.total_length, "tokens of all documents"),
            Explanation::count(documents, "documents with terms"),
        ],
    )
}

/// Explains the weight of a term. For a term of a fuzzy word, `figures` cover all of its nearest terms.
pub(super) fn weight(
    model: Model,
    weight: f32,
    figures: TermFigures,
    blended: bool,
    stats: &LeafStats,
) -> Explanation {
    let documents = Explanation::count(stats.documents_with_terms, "N, documents with terms");
    let (with_term, total) = if blended {
        (
            "n, documents with the most frequent of the nearest terms",
            "F, how often the nearest terms occur in all documents",
        )
    } else {
        ("n, documents with the term", "F, how often the term occurs in all documents")
    };
    let with_term = Explanation::count(figures.doc_freq, with_term);
    let total = Explanation::count(figures.total_freq, total);
    let tokens = Explanation::count(stats.total_length, "T, tokens of all documents");
    let (what, details) = match model {
        Model::Bm25 { .. } => ("idf, ln(1 + (N - n + 0.5) / (n + 0.5))", vec![documents, with_term]),
        Model::Classic | Model::PNorm { .. } => {
            ("idf, ln((N + 1) / (n + 1)) + 1", vec![documents, with_term])
        }
        Model::LmDirichlet { .. } => ("mu · p, p = (F + 1) / (T + 1)", vec![total, tokens]),
        Model::LmJelinekMercer { .. } => ("lambda · p, p = (F + 1) / (T + 1)", vec![total, tokens]),
        Model::Pl2 { .. } => ("rate, F / N", vec![total, documents]),
        Model::Dph => ("rarity, N / F", vec![documents, total]),
    };
    Explanation::new(weight, what, details)
}
