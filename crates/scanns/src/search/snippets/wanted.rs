//! The terms, phrases and patterns of one field that a query can match by, to look for in a text.

use std::collections::{HashMap, HashSet};

use crate::error::Result;
use crate::query::Query;
use crate::search::fields::Fields;
use crate::search::plan::QueryPlan;
use crate::search::plan::node::{DocSource, NodeKind, PlanNode};
use crate::search::terms::patterns::PatternMatcher;

/// Maximum number of patterns that count for one word.
const PATTERNS_OF_A_WORD: usize = 4;

/// Maximum number of terms of the query that count for one word, which may be a nearest term of many fuzzy
/// words.
const TERMS_OF_A_WORD: usize = 4;

/// Maximum number of terms and patterns that count for one word.
pub(super) const MAX_OF_A_WORD: usize = TERMS_OF_A_WORD + PATTERNS_OF_A_WORD;

/// Maximum number of distinct words that are cached with the patterns that match them, and maximum size of
/// these words in bytes. Beyond this, the cache is cleared.
const MAX_WORDS: usize = 1 << 16;
const MAX_BYTES: usize = 16 << 20;

/// A phrase: places, each with the number of a term.
pub(super) struct WantedPhrase {
    pub(super) terms: Vec<(u32, usize)>,
    pub(super) slop: u32,
}

/// The first bytes and the lengths of the terms: most words of a text are known by these not to be wanted.
struct TermShapes {
    first: [bool; 256],
    /// A bit for each length, the last one for all longer terms too.
    lengths: u64,
}

impl TermShapes {
    fn length_bit(term: &[u8]) -> u64 {
        1 << term.len().min(63)
    }

    fn add(&mut self, term: &[u8]) {
        self.lengths |= Self::length_bit(term);
        self.first[usize::from(term.first().copied().unwrap_or(0))] = true;
    }

    /// Returns false if `word` is none of the terms.
    #[inline]
    fn may_be(&self, word: &[u8]) -> bool {
        self.lengths & Self::length_bit(word) != 0
            && self.first[usize::from(word.first().copied().unwrap_or(0))]
    }
}

/// The terms, patterns and phrases of a query in one field. Terms have the first numbers, then patterns.
pub(super) struct WantedTerms<'q> {
    /// The numbers of each term. A term that does not come from a fuzzy word has its first number first,
    /// because phrases consist of such terms.
    terms: HashMap<Vec<u8>, Vec<usize>>,
    shapes: TermShapes,
    patterns: Vec<(usize, PatternMatcher<'q>)>,
    pub(super) phrases: Vec<WantedPhrase>,
    /// By number: whether it counts outside of phrases.
    alone: Vec<bool>,
    /// By number: the worth of showing it.
    weights: Vec<u64>,
    /// The patterns that match a word.
    known: HashMap<Vec<u8>, Vec<usize>>,
    known_bytes: usize,
}

impl<'q> WantedTerms<'q> {
    /// Takes them from a query, for the default field.
    pub(super) fn new(query: &'q Query, fields: &Fields) -> Result<Self> {
        let plan = QueryPlan::new(query, fields)?;
        let found = plan.find(fields)?;
        let place = fields.default_place();
        let documents = fields.stats(place)?.documents_with_terms as f64;
        // The rarity of BM25 in whole steps, so that sums do not depend on their order.
        let weight = |frequency: u64| {
            let frequency = frequency as f64;
            let rarity = (1.0 + (documents - frequency + 0.5).max(0.0) / (frequency + 0.5)).ln();
            #[expect(clippy::cast_possible_truncation, reason = "a logarithm is small")]
            let steps = (rarity * 1024.0) as u64;
            steps.max(1)
        };
        let figures = plan.figures(fields, &found)?;
        let mut weights: Vec<u64> = figures.iter().map(|figures| weight(figures.doc_freq)).collect();
        // Patterns score 1.
        weights.resize(weights.len() + plan.patterns.len(), 1024);
        let mut wanted = WantedTerms {
            terms: HashMap::new(),
            shapes: TermShapes { first: [false; 256], lengths: 0 },
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
            wanted.shapes.add(&plan.terms[at].bytes);
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

    /// Adds the terms, patterns and phrases that a node can match by.
    fn take(&mut self, node: &PlanNode, plan: &QueryPlan, is_here: &dyn Fn(usize) -> bool) {
        match &node.kind {
            NodeKind::Term(term) => self.alone[*term] |= is_here(plan.field_of(*term)),
            NodeKind::Bool { must, should, .. } => {
                must.iter().chain(should).for_each(|node| self.take(node, plan, is_here));
            }
            NodeKind::Best { any, .. } => any.iter().for_each(|node| self.take(node, plan, is_here)),
            NodeKind::Phrase { terms, slop } => {
                if terms.iter().all(|(_, term)| is_here(plan.field_of(*term))) {
                    self.phrases.push(WantedPhrase { terms: terms.clone(), slop: *slop });
                }
            }
            NodeKind::Docs(DocSource::Pattern(pattern)) => {
                let here = plan.patterns.get(*pattern).is_some_and(|(field, _)| is_here(*field));
                self.alone[plan.terms.len() + pattern] |= here;
            }
            NodeKind::Scored(node, _) => self.take(node, plan, is_here),
            NodeKind::Docs(_) | NodeKind::Joined(_) | NodeKind::Filter(_) => {}
        }
    }

    /// The bytes of the cached words.
    #[cfg(test)]
    pub(super) fn remembered(&self) -> usize {
        self.known.keys().map(Vec::len).sum()
    }

    /// By number: the worth of showing it.
    pub(super) fn weights(&self) -> &[u64] {
        &self.weights
    }

    /// Whether it counts outside of phrases.
    pub(super) fn is_alone(&self, number: usize) -> bool {
        self.alone.get(number) == Some(&true)
    }

    /// Calls `found` with the numbers of the terms and patterns that match a word.
    #[inline]
    pub(super) fn of(&mut self, word: &[u8], mut found: impl FnMut(usize)) {
        if self.shapes.may_be(word) {
            self.terms.get(word).into_iter().flatten().for_each(|&number| found(number));
        }
        if self.patterns.is_empty() {
            return;
        }
        if !self.known.contains_key(word) {
            let matching = self.patterns.iter().filter(|(_, matcher)| matcher.matches(word));
            let numbers = matching.map(|(number, _)| *number).take(PATTERNS_OF_A_WORD).collect();
            self.known_bytes += word.len();
            if self.known.len() >= MAX_WORDS || self.known_bytes > MAX_BYTES {
                self.known.clear();
                self.known_bytes = word.len();
            }
            self.known.insert(word.to_vec(), numbers);
        }
        self.known.get(word).into_iter().flatten().for_each(|&number| found(number));
    }
}
