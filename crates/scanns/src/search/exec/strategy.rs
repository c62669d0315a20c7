//! Chooses the algorithm that answers a query in one leaf.
//!
//! All choices between algorithms are made here, from the shape of the plan and the document frequencies of
//! its terms in the leaf. `dispatch.rs` carries them out.

use super::windows::too_large;
use crate::codec::BLOCK;
use crate::search::exec::view::View;
use crate::search::plan::found::LeafTerms;
use crate::search::plan::node::PlanNode;
use crate::search::plan::shape::{BestGroup, Boosted, Required, Shape};

/// If the lists have fewer postings in total, all are scored for the ten best hits, because looking for
/// postings to skip would take longer.
const WORTH_PRUNING: u64 = 2_048;

/// The same limit for a single list, which needs less preparation.
const WORTH_PRUNING_ONE: u64 = 4 * BLOCK as u64;

/// A list with fewer postings for each of this many documents is not read as bits.
const SPARSE: u64 = 32;

/// A list this many times as long as the rarest one is not read as a whole.
const MUCH_LONGER: u64 = 16;

/// The kind of answer that a query asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Want {
    /// The best hits.
    Best,
    /// All hits.
    All,
    /// The number of hits.
    Count,
    /// All hits, with the key of each.
    Keys,
}

/// The facts besides the plan that the choice of an algorithm depends on.
pub(crate) struct LeafFacts<'f> {
    found: LeafTerms<'f>,
    max_doc: u32,
    all_live: bool,
    /// True if the documents are those of a view, which knows the counts of its terms.
    is_of_view: bool,
    /// True if documents lack fields although lists have them.
    hides_fields: bool,
    /// True if impacts bound scores.
    bounded: bool,
    /// How many hits are wanted, if only the best are.
    best: u64,
}

/// What may be skipped while searching for the best hits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pruning {
    /// Every posting is scored.
    Nothing,
    /// Blocks of one list that cannot compete are skipped.
    Blocks,
    /// Windows of documents that cannot compete are skipped: MaxScore.
    Windows,
}

/// An algorithm and its input.
pub(crate) enum Strategy<'p> {
    /// Nothing can match.
    Empty,
    /// The count is the length of one list.
    ListLength(u32),
    /// The count is the number of documents of a view with this term.
    ShownFreq(usize),
    /// Term at a time over the lists of any of several terms.
    AnyOf { terms: &'p [Boosted], excluded: &'p [usize], groups: &'p [BestGroup], pruning: Pruning },
    /// The lists of required terms are laid over each other as bits, window by window.
    InWindows(&'p Required<'p>),
    /// The rarest list leads; the others are intersected with it.
    AllOf { required: &'p Required<'p>, pruning: Pruning },
    /// All hits score the same, so the first documents are the best.
    SameScore { root: &'p PlanNode, score: f32 },
    /// Document at a time.
    Tree(&'p PlanNode),
    /// A bit for each document, without scores.
    Bits(&'p PlanNode),
}

/// Some lists of a leaf.
#[derive(Default)]
struct Lists {
    count: usize,
    /// Postings in all of them.
    postings: u64,
}

impl<'f> LeafFacts<'f> {
    /// The facts of a leaf. `bounded` is true if impacts bound scores.
    pub(crate) fn new(view: &View, found: LeafTerms<'f>, bounded: bool) -> Self {
        LeafFacts {
            found,
            max_doc: view.max_doc,
            all_live: view.all_live(),
            is_of_view: view.is_of_view(),
            hides_fields: view.hides_fields(),
            bounded,
            best: 10,
        }
    }

    /// The facts for a search for this number of hits.
    pub(crate) fn for_best(self, hits: usize) -> Self {
        LeafFacts { best: hits as u64, ..self }
    }

    /// True if lists with this number of postings are long enough to look for postings to skip; `least` is
    /// the limit for ten hits. The more hits are wanted, the fewer postings can be skipped. Where other terms
    /// are excluded or optional (`others`), postings that are not skipped are looked up in their lists, too.
    fn worth_pruning(&self, postings: u64, least: u64, others: bool) -> bool {
        let best = if others { 10 } else { self.best.max(10) };
        postings >= least.saturating_mul(best) / 10
    }

    fn doc_freq(&self, term: usize) -> u64 {
        self.found.doc_freq(term).into()
    }

    /// True if lists of terms are not much longer than the rarest one, and not empty in most windows.
    fn are_similar(&self, required: &Required) -> bool {
        let of_term = |boosted: Boosted| self.doc_freq(boosted.term);
        let rarest = required.terms().map(of_term).min().unwrap_or(0);
        let others = required.terms().chain(required.optional.iter().copied());
        let longest = others.map(of_term).max().unwrap_or(0);
        !required.has_phrase()
            && rarest * SPARSE >= u64::from(self.max_doc)
            && longest <= rarest * MUCH_LONGER
    }

    /// The lists of these terms that the leaf contains.
    fn present(&self, terms: impl Iterator<Item = usize>) -> Lists {
        let found = terms.map(|term| self.doc_freq(term)).filter(|&doc_freq| doc_freq > 0);
        found.fold(Lists::default(), |all, doc_freq| Lists {
            count: all.count + 1,
            postings: all.postings + doc_freq,
        })
    }
}

impl<'p> Strategy<'p> {
    /// The algorithm for a plan with this root and shape.
    pub(crate) fn choose(root: &'p PlanNode, shape: &'p Shape<'p>, want: Want, facts: &LeafFacts) -> Self {
        if want == Want::Count {
            return Strategy::for_count(root, shape, facts);
        }
        match shape {
            // Only these look at the fields that documents have.
            _ if facts.hides_fields => match root.same_score().filter(|_| want == Want::Best) {
                Some(score) => Strategy::SameScore { root, score },
                None => Strategy::Tree(root),
            },
            Shape::Tree(root) => match root.same_score().filter(|_| want == Want::Best) {
                Some(score) => Strategy::SameScore { root, score },
                None => Strategy::Tree(root),
            },
            Shape::Required(required) => match pruning_of_all(required, want, facts) {
                Some(Pruning::Nothing) if facts.are_similar(required) => Strategy::InWindows(required),
                Some(pruning) => Strategy::AllOf { required, pruning },
                None => Strategy::Empty,
            },
            Shape::Any { terms, excluded, groups } => match pruning_of_any(terms, excluded, want, facts) {
                // Sums over all postings know no groups.
                Pruning::Nothing if !groups.is_empty() => Strategy::Tree(root),
                pruning => Strategy::AnyOf { terms, excluded, groups, pruning },
            },
        }
    }

    /// True if the best hits may be found without scoring every match.
    pub(crate) fn prunes(&self) -> bool {
        match self {
            Strategy::AnyOf { pruning, .. } | Strategy::AllOf { pruning, .. } => *pruning != Pruning::Nothing,
            Strategy::SameScore { .. } => true,
            _ => false,
        }
    }

    fn for_count(root: &'p PlanNode, shape: &'p Shape<'p>, facts: &LeafFacts) -> Self {
        match (shape.only_term(), shape) {
            (Some(term), _) if facts.is_of_view => Strategy::ShownFreq(term),
            (Some(term), _) if facts.all_live => Strategy::ListLength(facts.found.doc_freq(term)),
            _ if facts.hides_fields => Strategy::Bits(root),
            (_, Shape::Required(required)) if required.has_phrase() => {
                Strategy::AllOf { required, pruning: Pruning::Nothing }
            }
            _ => Strategy::Bits(root),
        }
    }
}

/// The pruning for any of several terms.
fn pruning_of_any(terms: &[Boosted], excluded: &[usize], want: Want, facts: &LeafFacts) -> Pruning {
    let lists = facts.present(terms.iter().map(|boosted| boosted.term));
    let worth = if lists.count == 1 { WORTH_PRUNING_ONE } else { WORTH_PRUNING };
    let worth = facts.worth_pruning(lists.postings, worth, !excluded.is_empty());
    let pays = worth && !too_large(lists.count, facts.max_doc);
    match lists.count {
        _ if want != Want::Best || !facts.bounded || !pays => Pruning::Nothing,
        1 => Pruning::Blocks,
        _ => Pruning::Windows,
    }
}

/// The pruning for required terms and phrases; `None` if the leaf lacks one of them.
fn pruning_of_all(required: &Required, want: Want, facts: &LeafFacts) -> Option<Pruning> {
    let of_term = |boosted: Boosted| facts.doc_freq(boosted.term);
    let rarest = required.terms().map(of_term).min().filter(|&rarest| rarest > 0)?;
    let wanted = facts.present(required.terms().map(|boosted| boosted.term));
    let optional = facts.present(required.optional.iter().map(|boosted| boosted.term));
    let excluded = facts.present(required.excluded.iter().copied());
    let postings = wanted.postings + optional.postings + excluded.postings;
    let others = optional.count + excluded.count > 0;
    if want != Want::Best || !facts.bounded || !facts.worth_pruning(postings, WORTH_PRUNING, others) {
        return Some(Pruning::Nothing);
    }
    // If nearly all documents match the required terms, the optional terms decide which documents are the
    // best.
    let decide = optional.count > 0 && rarest >= optional.postings / 2;
    let lists = wanted.count + optional.count + excluded.count;
    let windows = decide && !required.has_phrase() && !too_large(lists, facts.max_doc);
    Some(if windows { Pruning::Windows } else { Pruning::Blocks })
}
