//! What to look for in text: the terms, phrases and patterns of a query that it can match by, in one field.

use std::collections::{HashMap, HashSet};

use crate::error::Result;
use crate::search::fields::Fields;
use crate::search::patterns::Matcher;
use crate::search::plan::{Kind, Node, Plan};
use crate::search::query::Query;

/// Patterns that count for one word.
const PATTERNS_OF_A_WORD: usize = 4;

/// Terms of the query that count for one word: it may be a nearest term of many fuzzy ones.
const TERMS_OF_A_WORD: usize = 4;

/// What may count for one word.
pub(super) const MOST_OF_A_WORD: usize = TERMS_OF_A_WORD + PATTERNS_OF_A_WORD;

/// Different words that are remembered with the patterns that match them, and bytes of them; then all are forgotten.
const MOST_WORDS: usize = 1 << 16;
const MOST_BYTES: usize = 16 << 20;

/// A phrase of terms, each a number of [`Wanted::weights`] with its place.
pub(super) struct WantedPhrase {
    pub(super) terms: Vec<(u32, usize)>,
    pub(super) slop: u32,
}

/// See the module. Whatever is looked for has a number: terms, then patterns.
pub(super) struct Wanted<'q> {
    /// Of each the one that is no fuzzy word's first, since phrases consist of those.
    terms: HashMap<Vec<u8>, Vec<usize>>,
    patterns: Vec<(usize, Matcher<'q>)>,
    pub(super) phrases: Vec<WantedPhrase>,
    /// By number: whether it counts wherever it stands.
    alone: Vec<bool>,
    /// By number: how much it is worth to show.
    weights: Vec<u64>,
    /// Which patterns match a word.
    known: HashMap<Vec<u8>, Vec<usize>>,
    known_bytes: usize,
}

impl<'q> Wanted<'q> {
    /// That of a query in the field that is searched where none is named.
    pub(super) fn new(query: &'q Query, fields: &Fields) -> Result<Self> {
        let plan = Plan::new(query, fields)?;
        let found = plan.find(fields)?;
        let place = fields.default_place();
        let documents = fields.stats(place).documents_with_terms as f64;
        // Rarity as BM25 has it, in whole steps, so that sums do not depend on their order.
        let weight = |frequency: u64| {
            let frequency = frequency as f64;
            let rarity = (1.0 + (documents - frequency + 0.5).max(0.0) / (frequency + 0.5)).ln();
            #[expect(clippy::cast_possible_truncation, reason = "a logarithm is small")]
            let steps = (rarity * 1024.0) as u64;
            steps.max(1)
        };
        let mut weights: Vec<u64> = found.figures.iter().map(|figures| weight(figures.doc_freq)).collect();
        // As documents score by them.
        weights.resize(weights.len() + plan.patterns.len(), 1024);
        let mut wanted = Wanted {
            terms: HashMap::new(),
            patterns: Vec::new(),
            phrases: Vec::new(),
            alone: vec![false; weights.len()],
            weights,
            known: HashMap::new(),
            known_bytes: 0,
        };
        let is_here = |field: usize| plan.fields.get(field) == Some(&place);
        wanted.take(&plan.root, &plan, &is_here);
        let in_phrases: HashSet<usize> =
            wanted.phrases.iter().flat_map(|phrase| &phrase.terms).map(|&(_, term)| term).collect();
        let mut numbers: Vec<usize> = (0..plan.terms.len())
            .filter(|at| is_here(plan.terms[*at].field) && (wanted.alone[*at] || in_phrases.contains(at)))
            .collect();
        numbers.sort_by_key(|&at| plan.is_blended(at));
        for at in numbers {
            let same = wanted.terms.entry(plan.terms[at].bytes.to_vec()).or_default();
            if same.len() < TERMS_OF_A_WORD {
                same.push(at);
            }
        }
        let (alone, first) = (&wanted.alone, plan.terms.len());
        let patterns = (first..).zip(plan.patterns).filter(|(number, _)| alone.get(*number) == Some(&true));
        wanted.patterns = patterns.map(|(number, (_, matcher))| (number, matcher)).collect();
        Ok(wanted)
    }

    /// Takes what a part of a query can match by.
    fn take(&mut self, node: &Node, plan: &Plan, is_here: &dyn Fn(usize) -> bool) {
        match &node.kind {
            Kind::Term(term) => self.alone[*term] |= is_here(plan.field_of(*term)),
            Kind::Bool { must, should, .. } => {
                must.iter().chain(should).for_each(|node| self.take(node, plan, is_here));
            }
            Kind::Phrase { terms, slop } => {
                if terms.iter().all(|(_, term)| is_here(plan.field_of(*term))) {
                    self.phrases.push(WantedPhrase { terms: terms.clone(), slop: *slop });
                }
            }
            Kind::Pattern(pattern) => {
                let here = plan.patterns.get(*pattern).is_some_and(|(field, _)| is_here(*field));
                self.alone[plan.terms.len() + pattern] |= here;
            }
            Kind::All | Kind::Exists(_) | Kind::Values(_) => {}
        }
    }

    /// Bytes of the words that are remembered.
    #[cfg(test)]
    pub(super) fn remembered(&self) -> usize {
        self.known.keys().map(Vec::len).sum()
    }

    /// By number: how much it is worth to show.
    pub(super) fn weights(&self) -> &[u64] {
        &self.weights
    }

    /// True for what counts wherever it stands, not only in a phrase.
    pub(super) fn is_alone(&self, number: usize) -> bool {
        self.alone.get(number) == Some(&true)
    }

    /// Calls `found` with the numbers of what a word is.
    #[inline]
    pub(super) fn of(&mut self, word: &[u8], mut found: impl FnMut(usize)) {
        self.terms.get(word).into_iter().flatten().for_each(|&number| found(number));
        if self.patterns.is_empty() {
            return;
        }
        if !self.known.contains_key(word) {
            let matching = self.patterns.iter().filter(|(_, matcher)| matcher.matches(word));
            let numbers = matching.map(|(number, _)| *number).take(PATTERNS_OF_A_WORD).collect();
            self.known_bytes += word.len();
            if self.known.len() >= MOST_WORDS || self.known_bytes > MOST_BYTES {
                self.known.clear();
                self.known_bytes = word.len();
            }
            self.known.insert(word.to_vec(), numbers);
        }
        self.known.get(word).into_iter().flatten().for_each(|&number| found(number));
    }
}
