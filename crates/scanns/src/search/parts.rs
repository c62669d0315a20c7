//! A query that requires something: which lists it is made of, and what they add to a score.
//!
//! Terms and phrases may be required, terms may add to the score or be excluded. All of them are lists, the clauses; a
//! part says which of these belong together, and bounds and scores what they match.

use super::budget::Clock;
use super::candidates::Candidates;
use super::leaf::ListSource;
use super::phrase::{PhraseMatcher, PhraseScorers};
use super::plan::{Atom, Boosted, Required};
use super::run::{Clause, Terms, View};
use super::similarity::Similarity;
use super::together::Together;
use crate::codec::{BLOCK, Impact, PAIRS};
use crate::error::Result;

/// The lists of a query in a leaf, and what they are for.
pub(super) struct Parts<'s, S> {
    pub(super) clauses: Vec<Clause<'s, S>>,
    pub(super) required: Vec<Part<'s, S>>,
    /// Clauses that add to the score of what matches.
    pub(super) optional: Vec<usize>,
    /// Clauses that nothing may match.
    pub(super) excluded: Vec<usize>,
}

/// What must match.
pub(super) enum Part<'s, S> {
    /// The number of a clause.
    Term(usize),
    Phrase(Box<PhrasePart<'s, S>>),
}

/// A phrase, the lists of whose terms are clauses.
pub(super) struct PhrasePart<'s, S> {
    clauses: Vec<usize>,
    matcher: PhraseMatcher<'s>,
    scorers: PhraseScorers<'s, S>,
}

/// The lists of everything in a leaf.
pub(super) struct Sources<'s> {
    /// By clause.
    lists: Vec<(Boosted, ListSource<'s>)>,
    required: Vec<(&'s Atom<'s>, Vec<usize>)>,
    optional: Vec<usize>,
    excluded: Vec<usize>,
}

impl<'s> Sources<'s> {
    /// `None` if something that is required is not in the leaf.
    pub(super) fn find<S: Similarity>(
        shape: &'s Required<'s>,
        view: &View<'s>,
        terms: Terms<S>,
    ) -> Result<Option<Self>> {
        let mut lists = Vec::new();
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
        Ok(Some(Sources { lists, required, optional, excluded }))
    }

    /// Everything at its first posting.
    pub(super) fn open<S: Similarity>(
        &'s self,
        view: &View<'s>,
        terms: Terms<'s, S>,
    ) -> Result<Parts<'s, S>> {
        let clause = |(wanted, source): &'s (Boosted, ListSource<'s>)| terms.clause(view, *wanted, source);
        let clauses = self.lists.iter().map(clause).collect::<Result<Vec<_>>>()?;
        let part = |(atom, clauses): &(&'s Atom<'s>, Vec<usize>)| {
            let Atom::Phrase { terms: of_phrase, slop, boost } = atom else {
                return Ok(Part::Term(clauses.first().copied().unwrap_or_default()));
            };
            let lists: Vec<_> = clauses.iter().map(|&clause| &self.lists[clause].1).collect();
            Ok(Part::Phrase(Box::new(PhrasePart {
                clauses: clauses.clone(),
                matcher: terms.phrase_matcher(view, of_phrase, *slop, &lists)?,
                scorers: terms.phrase_scorers(view, of_phrase, *boost),
            })))
        };
        let required = self.required.iter().map(part).collect::<Result<Vec<_>>>()?;
        Ok(Parts { clauses, required, optional: self.optional.clone(), excluded: self.excluded.clone() })
    }
}

impl<S: Similarity> Parts<'_, S> {
    /// By clause: whether a phrase needs to know where its postings are.
    pub(super) fn in_phrases(&self) -> Vec<bool> {
        let mut wanted = vec![false; self.clauses.len()];
        for part in &self.required {
            if let Part::Phrase(phrase) = part {
                phrase.clauses.iter().for_each(|&clause| wanted[clause] = true);
            }
        }
        wanted
    }

    /// The numbers of the clauses that must match, rarest first.
    pub(super) fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = self.required.iter().flat_map(Part::clauses).copied().collect();
        order.sort_by_key(|&number| self.clauses[number].cursor.doc_freq());
        order
    }

    /// True if nothing but terms is required, and all that counts.
    pub(super) fn is_plain(&self) -> bool {
        let only_terms = self.required.iter().all(|part| matches!(part, Part::Term(_)));
        only_terms && self.optional.is_empty() && self.excluded.is_empty()
    }

    /// True if terms are required that more documents have than all that only add to scores.
    pub(super) fn is_mostly_required(&self) -> bool {
        let only_terms = self.required.iter().all(|part| matches!(part, Part::Term(_)));
        let doc_freq = |clause: &usize| u64::from(self.clauses[*clause].cursor.doc_freq());
        let rarest = self.required.iter().flat_map(Part::clauses).map(doc_freq).min();
        let optional: u64 = self.optional.iter().map(doc_freq).sum();
        only_terms && !self.optional.is_empty() && rarest.is_some_and(|rarest| rarest >= optional / 2)
    }

    /// True if a list turned out damaged.
    pub(super) fn corrupt(&self) -> bool {
        let damaged = |part: &Part<S>| matches!(part, Part::Phrase(phrase) if phrase.matcher.corrupt());
        self.clauses.iter().any(|clause| clause.cursor.corrupt()) || self.required.iter().any(damaged)
    }
}

impl<S: Similarity> Part<'_, S> {
    pub(super) fn clauses(&self) -> &[usize] {
        match self {
            Part::Term(clause) => std::slice::from_ref(clause),
            Part::Phrase(phrase) => &phrase.clauses,
        }
    }

    /// The highest score that one of its lists allows where its postings are as `impacts` say.
    pub(super) fn bound(&self, clauses: &[Clause<S>], impacts: &[Impact; PAIRS]) -> f64 {
        match self {
            Part::Term(clause) => f64::from(clauses[*clause].scorer.bound(impacts)),
            Part::Phrase(phrase) if phrase.matcher.is_sloppy() => {
                phrase.scorers.bound(&impacts.map(|impact| Impact { norm: impact.norm, ..Impact::UNBOUNDED }))
            }
            Part::Phrase(phrase) => phrase.scorers.bound(impacts),
        }
    }

    /// Adds to `sums`, of not more than a block of `docs`, the highest scores that the frequencies of the clauses
    /// `known` allow; `tfs` has them by clause.
    pub(super) fn add_bounds(
        &self,
        clauses: &[Clause<S>],
        known: &[usize],
        (docs, tfs): (&[u32], &[Vec<u32>]),
        sums: &mut [f64],
    ) {
        match self {
            Part::Term(clause) => {
                let mut scores = [0.0; BLOCK];
                let scores = &mut scores[..docs.len()];
                clauses[*clause].scorer.score_all((docs, &tfs[*clause]), scores);
                sums.iter_mut().zip(&*scores).for_each(|(sum, &score)| *sum += f64::from(score));
            }
            Part::Phrase(phrase) => {
                let mut freqs = [0; BLOCK];
                let freqs = &mut freqs[..docs.len()];
                phrase.most(known, tfs, freqs);
                phrase.scorers.add_all((docs, freqs), sums);
            }
        }
    }
}

impl<S: Similarity> PhrasePart<'_, S> {
    /// How often the phrase can occur at most, from how often its terms do, as far as that is known.
    fn most(&self, known: &[usize], tfs: &[Vec<u32>], freqs: &mut [u32]) {
        let all_known = self.clauses.iter().all(|clause| known.contains(clause));
        let sloppy = self.matcher.is_sloppy();
        if sloppy {
            // Each occurrence of a term is at the head of one match at most.
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

    /// Sets `freqs` to what the phrase counts in each of the candidates, which have all of its terms; to 0 once time is up.
    pub(super) fn count(
        &mut self,
        found: &Candidates,
        together: &mut Together,
        clock: Clock,
        freqs: &mut Vec<f32>,
    ) {
        freqs.clear();
        if clock.is_up() {
            freqs.resize(found.docs.len(), 0.0);
            return;
        }
        let (matcher, clauses) = (&mut self.matcher, &self.clauses);
        if together.count(matcher, clauses, found, (clock, freqs)) {
            return;
        }
        freqs.extend(found.docs.iter().enumerate().map(|(at, &doc)| match clock.is_up() {
            true => 0.0,
            false => matcher.freq_at(doc, |term| {
                let clause = clauses[term];
                (found.places[clause][at], found.tfs[clause][at])
            }),
        }));
    }

    /// Scores documents in which the phrase counts so much.
    pub(super) fn score_all(&self, docs: &[u32], freqs: &[f32], scores: &mut [f32]) {
        for ((score, &doc), &freq) in scores.iter_mut().zip(docs).zip(freqs) {
            *score = self.scorers.score(doc, freq);
        }
    }
}
