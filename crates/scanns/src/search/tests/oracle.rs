//! Scores by the definitions, one document at a time.

use std::f64::consts::{LOG2_E, PI};

use super::fixture::Document;
use crate::codec::{length_to_norm, norm_to_length};
use crate::search::{Hit, Model, Query};

/// Documents by leaf, and what the formulas need to know about all of them.
pub(super) struct Oracle<'d> {
    leaves: &'d [Vec<Document>],
    documents: f64,
    average: f32,
    tokens: f64,
}

impl<'d> Oracle<'d> {
    pub(super) fn new(leaves: &'d [Vec<Document>]) -> Self {
        let all = || leaves.iter().flatten();
        let documents = all().filter(|document| document.length > 0).count() as f64;
        let total = all().map(|document| document.length).sum::<u64>() as f64;
        Oracle { leaves, documents, average: (total / documents.max(1.0)) as f32, tokens: total }
    }

    /// Every hit in document order.
    pub(super) fn all(&self, query: &Query, model: Model) -> Vec<Hit> {
        let mut hits = Vec::new();
        for (leaf, documents) in self.leaves.iter().enumerate() {
            for (doc, document) in (0u32..).zip(documents).filter(|(_, document)| !document.dead) {
                let score = match model {
                    Model::PNorm { p } => self.soft_hit(query, document, p),
                    _ => self.hit(query, document, model),
                };
                hits.extend(score.map(|score| Hit { score, leaf, doc }));
            }
        }
        hits
    }

    /// The best hits.
    pub(super) fn top(&self, query: &Query, model: Model, k: usize) -> Vec<Hit> {
        let mut hits = self.all(query, model);
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then((a.leaf, a.doc).cmp(&(b.leaf, b.doc))));
        hits.truncate(k);
        hits
    }

    fn doc_freq(&self, term: &[u8]) -> f64 {
        self.leaves.iter().flatten().filter(|document| document.tfs.contains_key(term)).count() as f64
    }

    fn total_freq(&self, term: &[u8]) -> f64 {
        let freqs = self.leaves.iter().flatten().filter_map(|document| document.tfs.get(term));
        freqs.map(|&tf| f64::from(tf)).sum()
    }

    fn hit(&self, query: &Query, document: &Document, model: Model) -> Option<f32> {
        let list = match query {
            Query::Term(term) => return Some(self.term(term, *document.tfs.get(term)?, document, model)),
            Query::Bool(list) => list,
        };
        if list.must_not.iter().any(|clause| self.hit(clause, document, model).is_some()) {
            return None;
        }
        let sum = |scores: &[f32]| scores.iter().map(|&score| f64::from(score)).sum::<f64>() as f32;
        let required: Option<Vec<f32>> =
            list.must.iter().map(|clause| self.hit(clause, document, model)).collect();
        let required = required?;
        let optional: Vec<f32> =
            list.should.iter().filter_map(|clause| self.hit(clause, document, model)).collect();
        match (required.is_empty(), optional.is_empty()) {
            (true, true) => (list.should.is_empty() && !list.must_not.is_empty()).then_some(0.0),
            (true, false) => Some(sum(&optional)),
            (false, true) => Some(sum(&required)),
            (false, false) => Some(sum(&required) + sum(&optional)),
        }
    }

    fn term(&self, term: &[u8], tf: u32, document: &Document, model: Model) -> f32 {
        let doc_freq = self.doc_freq(term);
        let length = norm_to_length(length_to_norm(document.length)) as f32;
        match model {
            Model::Bm25 { k1, b } => {
                let idf = (1.0 + (self.documents - doc_freq + 0.5) / (doc_freq + 0.5)).ln() as f32;
                let factor = 1.0f32 / (k1 * ((1.0 - b) + b * length / self.average));
                idf - idf / (1.0 + tf as f32 * factor)
            }
            Model::Classic => {
                let idf = (((self.documents + 1.0) / (doc_freq + 1.0)).ln() + 1.0) as f32;
                f64::from(tf).sqrt() as f32 * idf * (1.0 / f64::from(length).sqrt()) as f32
            }
            Model::LmDirichlet { mu } => {
                let (mu, p) = (f64::from(mu), (self.total_freq(term) + 1.0) / (self.tokens + 1.0));
                let (tf, length) = (f64::from(tf), f64::from(length));
                ((1.0 + tf / (mu * p)).ln() + (mu / (length + mu)).ln()).max(0.0) as f32
            }
            Model::LmJelinekMercer { lambda } => {
                let p = (self.total_freq(term) + 1.0) / (self.tokens + 1.0);
                let document = f64::from(1.0 - lambda) * f64::from(tf) / f64::from(length);
                (1.0 + document / (f64::from(lambda) * p)).ln() as f32
            }
            Model::Pl2 { c } => {
                let rate = self.total_freq(term) / self.documents;
                let mean = self.tokens / self.documents;
                let t = f64::from(tf) * (1.0 + f64::from(c) * mean / f64::from(length)).log2();
                let stirling = 0.5 * (2.0 * PI * t).log2();
                let gain = t * (t / rate).log2() + (rate - t) * LOG2_E + stirling;
                (gain / (t + 1.0)).max(0.0) as f32
            }
            Model::Dph => {
                let (tf, length) = (f64::from(tf), f64::from(length));
                let share = if tf < length { tf / length } else { 0.99999 };
                let (mean, rarity) = (self.tokens / self.documents, self.documents / self.total_freq(term));
                let gain =
                    tf * (tf * mean / length * rarity).log2() + 0.5 * (2.0 * PI * tf * (1.0 - share)).log2();
                ((1.0 - share).powi(2) / (tf + 1.0) * gain).max(0.0) as f32
            }
            Model::PNorm { .. } => unreachable!("soft queries have no term scores"),
        }
    }

    fn soft_hit(&self, query: &Query, document: &Document, p: f64) -> Option<f32> {
        let mut terms = Vec::new();
        collect(query, false, &mut terms);
        let tf = |term: &[u8]| f64::from(document.tfs.get(term).copied().unwrap_or(0));
        if !terms.iter().any(|(term, negated)| !negated && tf(term) > 0.0) {
            return None;
        }
        let idf = |term: &[u8]| ((self.documents + 1.0) / (self.doc_freq(term) + 1.0)).ln() + 1.0;
        let known = || terms.iter().map(|(term, _)| *term).filter(|term| self.doc_freq(term) > 0.0);
        let highest_tf = terms.iter().map(|(term, _)| tf(term)).fold(0.0, f64::max);
        let highest_idf = known().map(idf).fold(0.0, f64::max);
        Some(soft(query, p, &|term| tf(term) / highest_tf * idf(term) / highest_idf) as f32)
    }
}

fn collect<'q>(query: &'q Query, negated: bool, terms: &mut Vec<(&'q [u8], bool)>) {
    match query {
        Query::Term(term) => terms.push((term, negated)),
        Query::Bool(list) => {
            list.must.iter().chain(&list.should).for_each(|part| collect(part, negated, terms));
            list.must_not.iter().for_each(|part| collect(part, !negated, terms));
        }
    }
}

fn soft(query: &Query, p: f64, degree: &dyn Fn(&[u8]) -> f64) -> f64 {
    let list = match query {
        Query::Term(term) => return degree(term),
        Query::Bool(list) => list,
    };
    let norm = |values: &[f64]| {
        if p.is_infinite() {
            values.iter().copied().fold(0.0, f64::max)
        } else {
            (values.iter().map(|value| value.powf(p)).sum::<f64>() / values.len() as f64).powf(1.0 / p)
        }
    };
    let should: Vec<f64> = list.should.iter().map(|part| soft(part, p, degree)).collect();
    if list.must.is_empty() && list.must_not.is_empty() {
        return if should.is_empty() { 0.0 } else { norm(&should) };
    }
    let mut operands: Vec<f64> = list.must.iter().map(|part| soft(part, p, degree)).collect();
    operands.extend(list.must_not.iter().map(|part| 1.0 - soft(part, p, degree)));
    if !should.is_empty() {
        operands.push(norm(&should));
    }
    1.0 - norm(&operands.iter().map(|operand| 1.0 - operand).collect::<Vec<_>>())
}
