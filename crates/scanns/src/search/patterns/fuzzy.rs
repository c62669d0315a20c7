//! The terms that are nearest to one that may be misspelt.

use std::collections::BTreeMap;

use super::automaton::Machine;
use super::terms_of;
use super::walk::walk;
use crate::error::Result;
use crate::search::budget::Clock;
use crate::search::frequent::TermCount;
use crate::search::leaf::Leaf;

/// Terms that a fuzzy clause becomes, as in Lucene.
const MOST_TERMS: usize = 50;

/// A term and how near it is.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::search) struct Near {
    pub(in crate::search) term: Vec<u8>,
    /// 1 for the term itself, less for each edit, by how short the term is; 0 for one of no more characters than edits.
    pub(in crate::search) boost: f32,
}

/// The nearest terms of all leaves, nearest first.
///
/// That of which edits leave nothing matches and weighs nothing, and its figures count as those of the others. So it does
/// in Lucene, where the documentation says that it does not match.
pub(in crate::search) fn nearest(
    (leaves, clock): (&[&dyn Leaf], Clock),
    (term, edits, prefix): (&str, u8, usize),
) -> Result<Vec<Near>> {
    let machine = Machine::of_edits(term, edits, prefix)?;
    let own = term.chars().count();
    let mut found: BTreeMap<Vec<u8>, f32> = BTreeMap::new();
    for leaf in leaves {
        walk(&mut terms_of(*leaf, clock)?, &machine, &mut |terms, state| {
            if let Some(edits) = machine.edits(state) {
                let shorter = own.min(String::from_utf8_lossy(terms.term()).chars().count());
                // May be below 0, or without a bound where a term is empty: which are nearer is decided by that, too.
                let boost = if edits == 0 { 1.0 } else { 1.0 - f32::from(edits) / shorter as f32 };
                if !found.contains_key(terms.term()) {
                    found.insert(terms.term().to_vec(), boost);
                }
            }
            Ok(())
        })?;
    }
    let mut near: Vec<Near> = found.into_iter().map(|(term, boost)| Near { term, boost }).collect();
    // Equal ones stay in the order of their bytes.
    near.sort_by(|a, b| b.boost.total_cmp(&a.boost));
    near.truncate(MOST_TERMS);
    near.iter_mut().for_each(|near| near.boost = near.boost.max(0.0));
    Ok(near)
}

/// All terms of all leaves within so many edits, in the order of their bytes, with how many edits that is.
pub(in crate::search) fn near_terms(
    leaves: &[&dyn Leaf],
    term: &str,
    edits: u8,
) -> Result<Vec<(u8, TermCount)>> {
    let machine = Machine::of_edits(term, edits, 0)?;
    let mut found: BTreeMap<Vec<u8>, (u8, u64, u64)> = BTreeMap::new();
    for leaf in leaves {
        walk(&mut *leaf.terms()?, &machine, &mut |terms, state| {
            if let Some(edits) = machine.edits(state) {
                let of_leaf = terms.found()?;
                let sum = found.entry(terms.term().to_vec()).or_insert((edits, 0, 0));
                sum.1 += u64::from(of_leaf.doc_freq);
                sum.2 += of_leaf.total_freq;
            }
            Ok(())
        })?;
    }
    let count = |(term, (edits, doc_freq, total_freq))| (edits, TermCount { term, doc_freq, total_freq });
    Ok(found.into_iter().map(count).collect())
}
