//! Computes scores by the definitions, one document at a time.

use std::f64::consts::{LOG2_E, PI};

use super::fixture::Document;
use crate::codec::{length_to_norm, norm_to_length};
use crate::query::{BoolQuery, Pattern, PhraseQuery, Query, Term, WildcardPart};
use crate::schema::Field;
use crate::search::{Hit, Model};
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::ops::RangeBounds;

/// Documents by leaf, in each field, with the frequencies that the formulas need.
pub(super) struct Oracle<'d> {
    fields: Vec<InField<'d>>,
    /// Cached frequencies, by field and term.
    known: RefCell<HashMap<(usize, Vec<u8>), Figures>>,
}

struct InField<'d> {
    leaves: &'d [Vec<Document>],
    documents: f64,
    average: f32,
    tokens: f64,
}

/// The number of documents with a term, and of its occurrences in them.
#[derive(Clone, Copy)]
struct Figures {
    documents: f64,
    total: f64,
}

/// A document, a field, and a boost, for a part of the query.
#[derive(Clone, Copy)]
struct Place {
    leaf: usize,
    doc: usize,
    field: usize,
    boost: f32,
}

impl Place {
    fn in_field(self, field: Field) -> Self {
        Place { field: usize::from(field.number()), ..self }
    }
}

impl<'d> Oracle<'d> {
    /// Over documents of one field.
    pub(super) fn new(leaves: &'d [Vec<Document>]) -> Self {
        Oracle::over(&[leaves])
    }

    /// Over documents of several fields; the first one is the default field.
    pub(super) fn over(fields: &[&'d [Vec<Document>]]) -> Self {
        let field = |leaves: &&'d [Vec<Document>]| {
            let all = || leaves.iter().flatten();
            let documents = all().filter(|document| document.length > 0).count() as f64;
            let total = all().map(|document| document.length).sum::<u64>() as f64;
            InField { leaves, documents, average: (total / documents.max(1.0)) as f32, tokens: total }
        };
        Oracle { fields: fields.iter().map(field).collect(), known: RefCell::default() }
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
        self.figures(field, term).documents
    }

    fn hit(&self, query: &Query, place: Place, model: Model) -> Option<f32> {
        let list = match query {
            Query::Term(term) => {
                let place = place.in_field(term.field);
                let tf = *self.document(place).tfs.get(&term.text)?;
                let figures = self.figures(place.field, &term.text);
                return Some(self.term(figures, tf as f32, place, model));
            }
            Query::Boost(query, boost) => {
                return self.hit(query, Place { boost: place.boost * boost, ..place }, model);
            }
            Query::Phrase(phrase) => return self.phrase(phrase, place.in_field(phrase.field), model),
            Query::Pattern { field, pattern: Pattern::Fuzzy { term, edits, prefix } } => {
                return self.fuzzy(term, usize::from(*edits), *prefix, place.in_field(*field), model);
            }
            Query::Pattern { field, pattern } => {
                let found =
                    self.document(place.in_field(*field)).tfs.keys().any(|term| matches(pattern, term));
                return found.then_some(place.boost);
            }
            Query::All => return Some(place.boost),
            Query::Values(_) | Query::ValuePattern { .. } | Query::Join(_) | Query::Scored(_) => {
                unreachable!("these documents have no columns")
            }
            Query::Exists(field) => {
                return (self.document(place.in_field(*field)).length > 0).then_some(place.boost);
            }
            Query::Best(best) => {
                let scores: Vec<f32> =
                    best.clauses.iter().filter_map(|clause| self.hit(clause, place, model)).collect();
                let first = scores.iter().copied().max_by(f32::total_cmp)?;
                let at = scores.iter().position(|score| *score == first).unwrap();
                let others = scores.iter().enumerate().filter(|(other, _)| *other != at);
                let others: f64 = others.map(|(_, score)| f64::from(*score)).sum();
                return Some((f64::from(first) + others * f64::from(best.tie)) as f32);
            }
            Query::Bool(list) => list,
        };
        if list.must_not.iter().any(|clause| self.hit(clause, place, model).is_some()) {
            return None;
        }
        let sum = |scores: &[f32]| scores.iter().map(|&score| f64::from(score)).sum::<f64>() as f32;
        let required: Option<Vec<f32>> =
            list.must.iter().map(|clause| self.hit(clause, place, model)).collect();
        let mut required = required?;
        for clause in &list.filter {
            self.hit(clause, place, model)?;
            required.push(0.0);
        }
        let optional: Vec<f32> =
            list.should.iter().filter_map(|clause| self.hit(clause, place, model)).collect();
        if optional.len() < list.at_least {
            return None;
        }
        match (required.is_empty(), optional.is_empty()) {
            (false, false) if list.at_least > 0 => Some(sum(&[sum(&required), sum(&optional)])),
            (true, true) => (list.should.is_empty() && !list.must_not.is_empty()).then_some(0.0),
            (true, false) => Some(sum(&optional)),
            (false, true) => Some(sum(&required)),
            (false, false) => Some(sum(&required) + sum(&optional)),
        }
    }

    /// The score of a phrase by the sum of the weights of its terms, counted by trying all places.
    fn phrase(&self, phrase: &PhraseQuery, place: Place, model: Model) -> Option<f32> {
        let positions: Vec<&Vec<u32>> = phrase
            .terms
            .iter()
            .map(|(_, term)| self.document(place).positions.get(term))
            .collect::<Option<_>>()?;
        if positions.is_empty() {
            return None;
        }
        assert_eq!(phrase.slop, 0, "sloppy phrases have tests of their own");
        let starts = |at: usize| {
            positions[at].iter().map(move |&position| i64::from(position) - i64::from(phrase.terms[at].0))
        };
        let freq = starts(0).filter(|start| (0..positions.len()).all(|at| starts(at).any(|s| s == *start)));
        let freq = freq.count();
        if freq == 0 {
            return None;
        }
        let figures = phrase.terms.iter().map(|(_, term)| self.figures(place.field, term));
        if matches!(model, Model::Bm25 { .. } | Model::Classic) {
            let weights = figures.map(|figures| f64::from(self.idf(figures, place.field, model)));
            let idf = weights.sum::<f64>() as f32;
            return Some(self.score(idf, freq as f32, place, model));
        }
        Some(figures.map(|figures| self.term(figures, freq as f32, place, model)).sum())
    }

    /// The sum over the nearest terms, which weigh as much as the most frequent of them.
    fn fuzzy(&self, term: &str, edits: usize, prefix: usize, place: Place, model: Model) -> Option<f32> {
        let all: BTreeSet<&Vec<u8>> = self.fields[place.field]
            .leaves
            .iter()
            .flatten()
            .flat_map(|document| document.tfs.keys())
            .collect();
        let prefix = prefix.min(term.chars().count());
        let front = |text: &str| text.chars().take(prefix).collect::<String>();
        let near: Vec<(&Vec<u8>, f32)> = all
            .into_iter()
            .filter_map(|other| {
                let text = std::str::from_utf8(other).unwrap();
                let distance = distance(term, text);
                let shorter = term.chars().count().min(text.chars().count());
                let boost = if distance == 0 { 1.0 } else { 1.0 - distance as f32 / shorter as f32 };
                let boost = boost.max(0.0);
                (distance <= edits && front(term) == front(text)).then_some((other, boost))
            })
            .collect();
        assert!(near.len() <= 50, "the nearest 50 have a test of their own");
        let all = || near.iter().map(|(term, _)| self.figures(place.field, term));
        let documents = all().map(|figures| figures.documents).fold(0.0, f64::max);
        let figures = Figures { documents, total: all().map(|figures| figures.total).sum() };
        let mut scores: Vec<(f32, f64)> = Vec::new();
        for &(term, boost) in &near {
            if let Some(&tf) = self.document(place).tfs.get(term) {
                let here = Place { boost: place.boost * boost, ..place };
                scores.push((boost, f64::from(self.term(figures, tf as f32, here, model))));
            }
        }
        // In the order of the clauses.
        scores.sort_by(|a, b| b.0.total_cmp(&a.0));
        (!scores.is_empty()).then(|| scores.iter().map(|(_, score)| score).sum::<f64>() as f32)
    }

    fn figures(&self, field: usize, term: &[u8]) -> Figures {
        let known = || self.known.borrow().get(&(field, term.to_vec())).copied();
        known().unwrap_or_else(|| {
            let figures = self.count(field, term);
            self.known.borrow_mut().insert((field, term.to_vec()), figures);
            figures
        })
    }

    fn count(&self, field: usize, term: &[u8]) -> Figures {
        let all = self.fields[field].leaves.iter().flatten();
        let total = all.filter_map(|document| document.tfs.get(term)).map(|&tf| f64::from(tf)).sum();
        let all = self.fields[field].leaves.iter().flatten();
        let documents = all.filter(|document| document.tfs.contains_key(term)).count() as f64;
        Figures { documents, total }
    }

    fn idf(&self, Figures { documents: doc_freq, .. }: Figures, field: usize, model: Model) -> f32 {
        let documents = self.fields[field].documents;
        match model {
            Model::Bm25 { .. } => (1.0 + (documents - doc_freq + 0.5) / (doc_freq + 0.5)).ln() as f32,
            _ => (((documents + 1.0) / (doc_freq + 1.0)).ln() + 1.0) as f32,
        }
    }

    /// The score of a term with this frequency.
    fn term(&self, figures: Figures, freq: f32, place: Place, model: Model) -> f32 {
        let InField { documents, tokens, .. } = self.fields[place.field];
        let (boost, freq64) = (f64::from(place.boost), f64::from(freq));
        let length = f64::from(norm_to_length(length_to_norm(self.document(place).length)));
        match model {
            Model::LmDirichlet { mu } => {
                let (mu, p) = (f64::from(mu), (figures.total + 1.0) / (tokens + 1.0));
                (boost * ((1.0 + freq64 / (mu * p)).ln() + (mu / (length + mu)).ln()).max(0.0)) as f32
            }
            Model::LmJelinekMercer { lambda } => {
                let p = (figures.total + 1.0) / (tokens + 1.0);
                let document = f64::from(1.0 - lambda) * freq64 / length;
                (boost * (1.0 + document / (f64::from(lambda) * p)).ln()) as f32
            }
            Model::Pl2 { c } => {
                let (rate, mean) = (figures.total / documents, tokens / documents);
                let t = freq64 * (1.0 + f64::from(c) * mean / length).log2();
                let stirling = 0.5 * (2.0 * PI * t).log2();
                let gain = t * (t / rate).log2() + (rate - t) * LOG2_E + stirling;
                (boost * (gain / (t + 1.0)).max(0.0)) as f32
            }
            Model::Dph => {
                let share = if freq64 < length { freq64 / length } else { 0.99999 };
                let (mean, rarity) = (tokens / documents, documents / figures.total);
                let gain = freq64 * (freq64 * mean / length * rarity).log2()
                    + 0.5 * (2.0 * PI * freq64 * (1.0 - share)).log2();
                (boost * ((1.0 - share).powi(2) / (freq64 + 1.0) * gain).max(0.0)) as f32
            }
            _ => self.score(self.idf(figures, place.field, model), freq, place, model),
        }
    }

    fn score(&self, idf: f32, freq: f32, place: Place, model: Model) -> f32 {
        let length = norm_to_length(length_to_norm(self.document(place).length)) as f32;
        let weight = idf * place.boost;
        match model {
            Model::Bm25 { k1, b } => {
                let factor = 1.0f32 / (k1 * ((1.0 - b) + b * length / self.fields[place.field].average));
                weight - weight / (1.0 + freq * factor)
            }
            Model::Classic => {
                f64::from(freq).sqrt() as f32 * weight * (1.0 / f64::from(length).sqrt()) as f32
            }
            _ => unreachable!("other models have no weights of terms"),
        }
    }

    fn soft_hit(&self, query: &Query, place: Place, p: f64) -> Option<f32> {
        let mut terms = Vec::new();
        collect(query, false, &mut terms);
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
        Some(soft(query, p, &degree).1 as f32)
    }
}

/// Returns true if a pattern matches a term, by the simplest method.
fn matches(pattern: &Pattern, term: &[u8]) -> bool {
    match pattern {
        Pattern::Prefix(prefix) => term.starts_with(prefix),
        Pattern::Set(terms) => terms.iter().any(|other| other == term),
        Pattern::Range(from, to) => RangeBounds::<[u8]>::contains(
            &(from.as_ref().map(Vec::as_slice), to.as_ref().map(Vec::as_slice)),
            term,
        ),
        Pattern::Wildcard(parts) => fits(parts, std::str::from_utf8(term).unwrap()),
        Pattern::Regex(_) | Pattern::Fuzzy { .. } => unreachable!("these have tests of their own"),
    }
}

/// Returns true if a text consists of the parts, by trying all possibilities.
pub(in crate::search) fn fits(parts: &[WildcardPart], text: &str) -> bool {
    let Some((first, rest)) = parts.split_first() else { return text.is_empty() };
    match first {
        WildcardPart::Text(front) => {
            text.strip_prefix(std::str::from_utf8(front).unwrap()).is_some_and(|left| fits(rest, left))
        }
        WildcardPart::AnyChar => {
            let mut chars = text.chars();
            chars.next().is_some() && fits(rest, chars.as_str())
        }
        WildcardPart::Anything => {
            text.char_indices().map(|(at, _)| at).chain([text.len()]).any(|at| fits(rest, &text[at..]))
        }
    }
}

/// The edit distance of two texts: swapping neighbours counts once, no character is edited twice.
pub(in crate::search) fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            table[i][j] = match (i, j) {
                (0, _) | (_, 0) => i + j,
                _ => {
                    let replaced = table[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                    let mut best = replaced.min(table[i - 1][j] + 1).min(table[i][j - 1] + 1);
                    if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                        best = best.min(table[i - 2][j - 2] + 1);
                    }
                    best
                }
            };
        }
    }
    table[a.len()][b.len()]
}

type FieldTerm<'q> = (usize, &'q [u8]);

fn place_of(term: &Term) -> FieldTerm<'_> {
    (usize::from(term.field.number()), &term.text)
}

fn collect<'q>(query: &'q Query, negated: bool, terms: &mut Vec<(FieldTerm<'q>, bool)>) {
    match query {
        Query::Term(term) => terms.push((place_of(term), negated)),
        Query::Boost(query, _) => collect(query, negated, terms),
        Query::Best(best) => best.clauses.iter().for_each(|part| collect(part, negated, terms)),
        Query::Bool(list) => {
            list.must.iter().chain(&list.should).for_each(|part| collect(part, negated, terms));
            list.must_not.iter().for_each(|part| collect(part, !negated, terms));
        }
        _ => unreachable!("refused"),
    }
}

/// Weight and degree.
fn soft(query: &Query, p: f64, degree: &dyn Fn(FieldTerm) -> f64) -> (f64, f64) {
    let list = match query {
        Query::Term(term) => return (1.0, degree(place_of(term))),
        Query::Boost(query, boost) => {
            let (weight, degree) = soft(query, p, degree);
            return (weight * f64::from(*boost), degree);
        }
        Query::Bool(list) => list,
        Query::Best(best) => {
            let list = BoolQuery { should: best.clauses.clone(), ..BoolQuery::default() };
            return soft(&Query::Bool(list), p, degree);
        }
        _ => unreachable!("refused"),
    };
    let norm = |values: &[(f64, f64)]| {
        if p.is_infinite() {
            let heaviest = values.iter().map(|value| value.0).fold(0.0, f64::max);
            return values.iter().map(|(weight, value)| weight / heaviest * value).fold(0.0, f64::max);
        }
        let total: f64 = values.iter().map(|(weight, _)| weight.powf(p)).sum();
        (values.iter().map(|(weight, value)| (weight * value).powf(p)).sum::<f64>() / total).powf(1.0 / p)
    };
    let all = |parts: &[Query]| parts.iter().map(|part| soft(part, p, degree)).collect::<Vec<_>>();
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
