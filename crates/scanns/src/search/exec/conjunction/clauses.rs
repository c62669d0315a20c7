//! The lists of a query that requires terms or phrases.
//!
//! Terms and phrases may be required, terms may be optional or excluded. The list of each of their terms is a
//! clause. A [`Conjunct`] groups the clauses that belong together; it bounds and scores their matches.

use super::candidates::Candidates;
use crate::codec::{BLOCK, Impact, PAIRS};
use crate::error::Result;
use crate::search::exec::bound_terms::{BoundTerms, Clause};
use crate::search::exec::conjunction::phrase_batch::{PhraseBatch, PhraseCounting};
use crate::search::exec::phrase::{PhraseMatcher, PhraseScorers};
use crate::search::exec::view::View;
use crate::search::leaf::ListSource;
use crate::search::plan::shape::{Atom, Boosted, Required};
use crate::search::similarity::{PostingsSlice, Similarity};

/// The lists of a query in a leaf, and their roles.
pub(crate) struct Conjunction<'s, S> {
    pub(crate) clauses: Vec<Clause<'s, S>>,
    pub(crate) required: Vec<Conjunct<'s, S>>,
    /// Clauses that add to the score of a match.
    pub(crate) optional: Vec<usize>,
    /// Clauses that no match may contain.
    pub(crate) excluded: Vec<usize>,
}

/// A required term or phrase.
pub(crate) enum Conjunct<'s, S> {
    /// The index of its clause.
    Term(usize),
    Phrase(Box<PhraseConjunct<'s, S>>),
}

/// A phrase. The lists of its terms are clauses.
pub(crate) struct PhraseConjunct<'s, S> {
    clauses: Vec<usize>,
    matcher: PhraseMatcher<'s>,
    scorers: PhraseScorers<'s, S>,
}

/// The postings of all clauses in a leaf.
pub(crate) struct ConjunctionLists<'s> {
    /// By clause.
    lists: Vec<(Boosted, ListSource<'s>)>,
    required: Vec<(&'s Atom<'s>, Vec<usize>)>,
    optional: Vec<usize>,
    excluded: Vec<usize>,
}

impl<'s> ConjunctionLists<'s> {
    /// `None` if the leaf lacks a required term.
    pub(crate) fn find<S: Similarity>(
        shape: &'s Required<'s>,
        view: &View<'s>,
        terms: BoundTerms<S>,
    ) -> Result<Option<Self>> {
        let mut lists = Vec::with_capacity(shape.required.len() + shape.optional.len());
        let mut add = |wanted: Boosted| -> Result<Option<usize>> {
            let Some(source) = terms.source(view, wanted.term)? else { return Ok(None) };
            lists.push((wanted, source));
            Ok(Some(lists.len() - 1))
        };
        let mut required = Vec::with_capacity(shape.required.len());
        for atom in &shape.required {
            let mut clauses = Vec::new();
            for wanted in atom.terms() {
                let Some(clause) = add(wanted)? else { return Ok(None) };
                clauses.push(clause);
            }
            required.push((atom, clauses));
        }
        let (mut optional, mut excluded) = (Vec::new(), Vec::new());
        for &wanted in &shape.optional {
            optional.extend(add(wanted)?);
        }
        for &term in &shape.excluded {
            excluded.extend(add(Boosted { term, boost: 1.0 })?);
        }
        Ok(Some(ConjunctionLists { lists, required, optional, excluded }))
    }

    /// All clauses at their first postings.
    pub(crate) fn open<S: Similarity>(
        &'s self,
        view: &View<'s>,
        terms: BoundTerms<'s, S>,
    ) -> Result<Conjunction<'s, S>> {
        let mut clauses = Vec::with_capacity(self.lists.len());
        for (wanted, source) in &self.lists {
            clauses.push(terms.clause(view, *wanted, source)?);
        }
        let part = |(atom, clauses): &(&'s Atom<'s>, Vec<usize>)| {
            let Atom::Phrase { terms: of_phrase, slop, boost } = atom else {
                return Ok(Conjunct::Term(clauses.first().copied().unwrap_or_default()));
            };
            let lists: Vec<_> = clauses.iter().map(|&clause| &self.lists[clause].1).collect();
            Ok(Conjunct::Phrase(Box::new(PhraseConjunct {
                clauses: clauses.clone(),
                matcher: terms.phrase_matcher(view, of_phrase, *slop, &lists)?,
                scorers: terms.phrase_scorers(view, of_phrase, *boost),
            })))
        };
        let required = self.required.iter().map(part).collect::<Result<Vec<_>>>()?;
        Ok(Conjunction {
            clauses,
            required,
            optional: self.optional.clone(),
            excluded: self.excluded.clone(),
        })
    }
}

impl<S: Similarity> Conjunction<'_, S> {
    /// By clause: whether a phrase needs the places of its postings.
    pub(crate) fn in_phrases(&self) -> Vec<bool> {
        let mut wanted = vec![false; self.clauses.len()];
        for part in &self.required {
            if let Conjunct::Phrase(phrase) = part {
                phrase.clauses.iter().for_each(|&clause| wanted[clause] = true);
            }
        }
        wanted
    }

    /// The indexes of the required clauses, rarest first.
    pub(crate) fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = self.required.iter().flat_map(Conjunct::clauses).copied().collect();
        order.sort_by_key(|&number| self.clauses[number].cursor.doc_freq());
        order
    }

    /// True if the query is nothing but required terms.
    pub(crate) fn is_plain(&self) -> bool {
        let only_terms = self.required.iter().all(|part| matches!(part, Conjunct::Term(_)));
        only_terms && self.optional.is_empty() && self.excluded.is_empty()
    }

    /// Returns true if a list is damaged.
    pub(crate) fn corrupt(&self) -> bool {
        let damaged =
            |part: &Conjunct<S>| matches!(part, Conjunct::Phrase(phrase) if phrase.matcher.corrupt());
        self.clauses.iter().any(|clause| clause.cursor.corrupt()) || self.required.iter().any(damaged)
    }
}

impl<S: Similarity> Conjunct<'_, S> {
    pub(crate) fn clauses(&self) -> &[usize] {
        match self {
            Conjunct::Term(clause) => std::slice::from_ref(clause),
            Conjunct::Phrase(phrase) => &phrase.clauses,
        }
    }

    /// The highest score that the `impacts` of one of its lists allow.
    pub(crate) fn bound(&self, clauses: &[Clause<S>], impacts: &[Impact; PAIRS]) -> f64 {
        match self {
            Conjunct::Term(clause) => f64::from(clauses[*clause].scorer.bound(impacts)),
            Conjunct::Phrase(phrase) if phrase.matcher.is_sloppy() => {
                phrase.scorers.bound(&impacts.map(|impact| Impact { norm: impact.norm, ..Impact::UNBOUNDED }))
            }
            Conjunct::Phrase(phrase) => phrase.scorers.bound(impacts),
        }
    }

    /// Adds to `sums` the highest scores that the frequencies of the clauses `known` allow. `found` is at
    /// most a block.
    pub(crate) fn add_bounds(
        &self,
        clauses: &[Clause<S>],
        known: &[usize],
        found: &Candidates,
        sums: &mut [f64],
    ) {
        let (docs, tfs) = (&found.docs[..], &found.tfs[..]);
        match self {
            Conjunct::Term(clause) => {
                let mut scores = [0.0; BLOCK];
                let scores = &mut scores[..docs.len()];
                clauses[*clause].scorer.score_all(PostingsSlice { docs, tfs: &tfs[*clause] }, scores);
                sums.iter_mut().zip(&*scores).for_each(|(sum, &score)| *sum += f64::from(score));
            }
            Conjunct::Phrase(phrase) => {
                let mut freqs = [0; BLOCK];
                let freqs = &mut freqs[..docs.len()];
                phrase.most(known, tfs, freqs);
                phrase.scorers.add_all(docs, freqs, sums);
            }
        }
    }
}

impl<S: Similarity> PhraseConjunct<'_, S> {
    /// Computes the maximum number of occurrences of the phrase that the known frequencies of its terms
    /// allow.
    fn most(&self, known: &[usize], tfs: &[Vec<u32>], freqs: &mut [u32]) {
        let all_known = self.clauses.iter().all(|clause| known.contains(clause));
        let sloppy = self.matcher.is_sloppy();
        if sloppy {
            // Each occurrence of a term is at the head of at most one match.
            freqs.fill(if all_known { 0 } else { u32::MAX });
        } else {
            freqs.fill(u32::MAX);
        }
        for &clause in self.clauses.iter().filter(|clause| known.contains(clause)) {
            for (freq, &tf) in freqs.iter_mut().zip(&tfs[clause]) {
                *freq = if sloppy { freq.saturating_add(tf) } else { tf.min(*freq) };
            }
        }
    }

    /// Sets `freqs` to the frequency of the phrase in each of the candidates, which contain all of its terms;
    /// to 0 once time is up.
    pub(crate) fn count(
        &mut self,
        found: &Candidates,
        batch: &mut PhraseBatch,
        counting: PhraseCounting,
        freqs: &mut Vec<f32>,
    ) {
        freqs.clear();
        let clock = counting.clock;
        if clock.is_up() {
            freqs.resize(found.docs.len(), 0.0);
            return;
        }
        let (matcher, clauses) = (&mut self.matcher, &self.clauses);
        if batch.count(matcher, clauses, found, counting, freqs) {
            return;
        }
        freqs.extend(found.docs.iter().enumerate().map(|(at, &doc)| {
            if clock.is_up() {
                return 0.0;
            }
            matcher.freq_at(doc, |term| {
                let clause = clauses[term];
                (found.places[clause][at], found.tfs[clause][at])
            })
        }));
    }

    /// Scores documents in which the phrase has the frequencies `freqs`.
    pub(crate) fn score_all(&self, docs: &[u32], freqs: &[f32], scores: &mut [f32]) {
        for ((score, &doc), &freq) in scores.iter_mut().zip(docs).zip(freqs) {
            *score = self.scorers.score(doc, freq);
        }
    }
}
