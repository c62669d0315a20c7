//! Finds the terms that are nearest to a possibly misspelt word.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::automaton::Machine;
use super::walk::MachineWalk;
use crate::error::Result;
use crate::search::budget::Clock;
use crate::search::leaf::Leaf;
use crate::search::statistics::{MAX_TERMS, WeightedTerm};
use crate::search::terms::term_count::TermCount;

/// A word that may be misspelt.
pub(crate) struct FuzzyWord<'q> {
    pub(crate) term: &'q str,
    /// The maximum number of edits, 1 or 2.
    pub(crate) edits: u8,
    /// The number of characters at the front that must be the same.
    pub(crate) prefix: usize,
}

/// The nearest terms of all leaves, nearest first; equally near ones in the order of their bytes.
///
/// A term that has no more characters than edits matches with a weight of 0, and its frequencies count like
/// the frequencies of other terms. Lucene does the same, although its documentation says that such a term
/// does not match.
pub(crate) fn nearest(leaves: &[&dyn Leaf], clock: Clock, word: &FuzzyWord) -> Result<Vec<WeightedTerm>> {
    let machine = Machine::of_edits(word.term, word.edits, word.prefix)?;
    let own_length = word.term.chars().count();
    let mut found: BTreeMap<Vec<u8>, f32> = BTreeMap::new();
    for leaf in leaves {
        let is_view = leaf.is_of_view();
        let mut walk = MachineWalk::new((*leaf).into(), clock, &machine)?;
        while let Some(state) = walk.next()? {
            let (term, Some(edits)) = (walk.term(), machine.edits(state)) else { continue };
            if found.contains_key(term) {
                continue;
            }
            let term = term.to_vec();
            if is_view && !leaf.is_shown(&walk.found()?)? {
                continue;
            }
            let shorter = own_length.min(String::from_utf8_lossy(&term).chars().count());
            // This may be negative, and infinite for an empty term; the order of nearness depends on it.
            let boost = if edits == 0 { 1.0 } else { 1.0 - f32::from(edits) / shorter as f32 };
            found.insert(term, boost);
        }
    }
    let mut near: Vec<WeightedTerm> =
        found.into_iter().map(|(term, boost)| WeightedTerm { term, boost }).collect();
    // The sort is stable.
    near.sort_by(|a, b| b.boost.total_cmp(&a.boost));
    near.truncate(MAX_TERMS);
    Ok(near)
}

/// A term with its frequencies and its edit distance to a word.
pub(crate) struct NearTerm {
    pub(crate) edits: u8,
    pub(crate) count: TermCount,
}

/// All terms of all leaves within `edits` of `term`, in the order of their bytes.
pub(crate) fn near_terms(leaves: &[&dyn Leaf], term: &str, edits: u8) -> Result<Vec<NearTerm>> {
    let machine = Machine::of_edits(term, edits, 0)?;
    let mut near: BTreeMap<Vec<u8>, NearTerm> = BTreeMap::new();
    for leaf in leaves {
        let mut walk = MachineWalk::new((*leaf).into(), Clock::default(), &machine)?;
        while let Some(state) = walk.next()? {
            let Some(edits) = machine.edits(state) else { continue };
            let found = leaf.figures(&walk.found()?)?;
            if found.doc_freq == 0 {
                continue;
            }
            let sum = match near.entry(walk.term().to_vec()) {
                Entry::Occupied(known) => &mut known.into_mut().count,
                Entry::Vacant(new) => {
                    let term = new.key().clone();
                    let count = TermCount { term, ..TermCount::default() };
                    &mut new.insert(NearTerm { edits, count }).count
                }
            };
            sum.doc_freq += found.doc_freq;
            sum.total_freq += found.total_freq;
        }
    }
    Ok(near.into_values().collect())
}
