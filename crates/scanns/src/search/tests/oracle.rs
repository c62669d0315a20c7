//! Scores by the definitions, one document at a time.

use super::fixture::Document;
use crate::codec::{length_to_norm, norm_to_length};
use crate::search::{Hit, Model, Query};

/// Documents by leaf, in each field, and what the formulas need to know about all of them.
pub(super) struct Oracle<'d> {
    fields: Vec<InField<'d>>,
}

struct InField<'d> {
    leaves: &'d [Vec<Document>],
    documents: f64,
    average: f32,
}

/// A document, and the part of the query that it is asked for is sought in a field and boosted.
#[derive(Clone, Copy)]
struct Place {
    leaf: usize,
    doc: usize,
    field: usize,
    boost: f32,
}

impl<'d> Oracle<'d> {
    /// Over documents of one field.
    pub(super) fn new(leaves: &'d [Vec<Document>]) -> Self {
        Oracle::over(&[leaves])
    }

    /// Over documents of several fields, the first of which is searched where none is named.
    pub(super) fn over(fields: &[&'d [Vec<Document>]]) -> Self {
        let field = |leaves: &&'d [Vec<Document>]| {
            let all = || leaves.iter().flatten();
            let documents = all().filter(|document| document.length > 0).count() as f64;
            let total = all().map(|document| document.length).sum::<u64>() as f64;
            InField { leaves, documents, average: (total / documents.max(1.0)) as f32 }
        };
        Oracle { fields: fields.iter().map(field).collect() }
    }

    /// Every hit in document order.
    pub(super) fn all(&self, query: &Query, model: Model) -> Vec<Hit> {
        let mut hits = Vec::new();
        for (leaf, documents) in self.fields[0].leaves.iter().enumerate() {
            for (doc, _) in documents.iter().enumerate().filter(|(_, document)| !document.dead) {
                let place = Place { leaf, doc, field: 0, boost: 1.0 };
                let score = match model {
                    Model::PNorm { p } => self.soft_hit(query, place, p),
                    _ => self.hit(query, place, model),
                };
                hits.extend(score.map(|score| Hit { score, leaf, doc: doc as u32 }));
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

    fn document(&self, place: Place) -> &'d Document {
        &self.fields[place.field].leaves[place.leaf][place.doc]
    }

    fn doc_freq(&self, field: usize, term: &[u8]) -> f64 {
        let all = self.fields[field].leaves.iter().flatten();
        all.filter(|document| document.tfs.contains_key(term)).count() as f64
    }

    fn hit(&self, query: &Query, place: Place, model: Model) -> Option<f32> {
        let list = match query {
            Query::Term(term) => {
                let tf = *self.document(place).tfs.get(term)?;
                return Some(self.term(term, tf, place, model));
            }
            Query::In(field, query) => {
                return self.hit(query, Place { field: usize::from(field.number()), ..place }, model);
            }
            Query::Boost(query, boost) => {
                return self.hit(query, Place { boost: place.boost * boost, ..place }, model);
            }
            Query::Bool(list) => list,
        };
        if list.must_not.iter().any(|clause| self.hit(clause, place, model).is_some()) {
            return None;
        }
        let sum = |scores: &[f32]| scores.iter().map(|&score| f64::from(score)).sum::<f64>() as f32;
        let required: Option<Vec<f32>> =
            list.must.iter().map(|clause| self.hit(clause, place, model)).collect();
        let required = required?;
        let optional: Vec<f32> =
            list.should.iter().filter_map(|clause| self.hit(clause, place, model)).collect();
        match (required.is_empty(), optional.is_empty()) {
            (true, true) => (list.should.is_empty() && !list.must_not.is_empty()).then_some(0.0),
            (true, false) => Some(sum(&optional)),
            (false, true) => Some(sum(&required)),
            (false, false) => Some(sum(&required) + sum(&optional)),
        }
    }

    fn term(&self, term: &[u8], tf: u32, place: Place, model: Model) -> f32 {
        let InField { documents, average, .. } = self.fields[place.field];
        let doc_freq = self.doc_freq(place.field, term);
        let length = norm_to_length(length_to_norm(self.document(place).length)) as f32;
        match model {
            Model::Bm25 { k1, b } => {
                let idf = (1.0 + (documents - doc_freq + 0.5) / (doc_freq + 0.5)).ln() as f32;
                let factor = 1.0f32 / (k1 * ((1.0 - b) + b * length / average));
                let weight = idf * place.boost;
                weight - weight / (1.0 + tf as f32 * factor)
            }
            Model::Classic => {
                let idf = (((documents + 1.0) / (doc_freq + 1.0)).ln() + 1.0) as f32;
                f64::from(tf).sqrt() as f32 * (idf * place.boost) * (1.0 / f64::from(length).sqrt()) as f32
            }
            Model::PNorm { .. } => unreachable!("soft queries have no term scores"),
        }
    }

    fn soft_hit(&self, query: &Query, place: Place, p: f64) -> Option<f32> {
        let mut terms = Vec::new();
        collect(query, 0, false, &mut terms);
        let tf = |(field, term): (usize, &[u8])| {
            f64::from(self.document(Place { field, ..place }).tfs.get(term).copied().unwrap_or(0))
        };
        if !terms.iter().any(|(term, negated)| !negated && tf(*term) > 0.0) {
            return None;
        }
        let idf = |(field, term): (usize, &[u8])| {
            ((self.fields[field].documents + 1.0) / (self.doc_freq(field, term) + 1.0)).ln() + 1.0
        };
        let known = || terms.iter().map(|(term, _)| *term).filter(|term| self.doc_freq(term.0, term.1) > 0.0);
        let highest_tf = terms.iter().map(|(term, _)| tf(*term)).fold(0.0, f64::max);
        let highest_idf = known().map(idf).fold(0.0, f64::max);
        let degree = |term: FieldTerm| tf(term) / highest_tf * idf(term) / highest_idf;
        Some(soft(query, 0, p, &degree).1 as f32)
    }
}

type FieldTerm<'q> = (usize, &'q [u8]);

fn collect<'q>(query: &'q Query, field: usize, negated: bool, terms: &mut Vec<(FieldTerm<'q>, bool)>) {
    match query {
        Query::Term(term) => terms.push(((field, term), negated)),
        Query::In(field, query) => collect(query, usize::from(field.number()), negated, terms),
        Query::Boost(query, _) => collect(query, field, negated, terms),
        Query::Bool(list) => {
            list.must.iter().chain(&list.should).for_each(|part| collect(part, field, negated, terms));
            list.must_not.iter().for_each(|part| collect(part, field, !negated, terms));
        }
    }
}

/// Weight and degree.
fn soft(query: &Query, field: usize, p: f64, degree: &dyn Fn(FieldTerm) -> f64) -> (f64, f64) {
    let list = match query {
        Query::Term(term) => return (1.0, degree((field, term))),
        Query::In(field, query) => return soft(query, usize::from(field.number()), p, degree),
        Query::Boost(query, boost) => {
            let (weight, degree) = soft(query, field, p, degree);
            return (weight * f64::from(*boost), degree);
        }
        Query::Bool(list) => list,
    };
    let norm = |values: &[(f64, f64)]| {
        if p.is_infinite() {
            return values.iter().map(|value| value.1).fold(0.0, f64::max);
        }
        let total: f64 = values.iter().map(|(weight, _)| weight.powf(p)).sum();
        (values.iter().map(|(weight, value)| (weight * value).powf(p)).sum::<f64>() / total).powf(1.0 / p)
    };
    let all = |parts: &[Query]| parts.iter().map(|part| soft(part, field, p, degree)).collect::<Vec<_>>();
    let should = all(&list.should);
    if list.must.is_empty() && list.must_not.is_empty() {
        return (1.0, if should.is_empty() { 0.0 } else { norm(&should) });
    }
    let mut misses: Vec<(f64, f64)> =
        all(&list.must).iter().map(|(weight, degree)| (*weight, 1.0 - degree)).collect();
    misses.extend(all(&list.must_not));
    if !should.is_empty() {
        misses.push((1.0, 1.0 - norm(&should)));
    }
    (1.0, 1.0 - norm(&misses))
}
