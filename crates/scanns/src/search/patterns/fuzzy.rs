//! The terms that are nearest to one that may be misspelt.

use std::collections::BTreeMap;

use super::automaton::Machine;
use super::walk::walk;
use crate::error::Result;
use crate::search::leaf::Leaf;

/// Terms that a fuzzy clause becomes, as in Lucene.
const MOST_TERMS: usize = 50;

/// A term and how near it is.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::search) struct Near {
    pub(in crate::search) term: Vec<u8>,
    /// 1 for the term itself, less for each edit, by how short the term is.
    pub(in crate::search) boost: f32,
}

/// The nearest terms of all leaves, nearest first. As Lucene does, a term of as many characters as edits is no match.
pub(in crate::search) fn nearest(
    leaves: &[&dyn Leaf],
    (term, edits, prefix): (&str, u8, usize),
) -> Result<Vec<Near>> {
    let machine = Machine::of_edits(term, edits, prefix)?;
    let mut found = BTreeMap::new();
    for leaf in leaves {
        walk(&mut *leaf.terms()?, &machine, &mut |terms, state| {
            if let Some(edits) = machine.edits(state)
                && !found.contains_key(terms.term())
            {
                found.insert(terms.term().to_vec(), edits);
            }
            Ok(())
        })?;
    }
    let own = term.chars().count();
    let near = |(term, edits): (Vec<u8>, u8)| {
        let chars = String::from_utf8_lossy(&term).chars().count();
        let shorter = own.min(chars);
        let boost = if edits == 0 { 1.0 } else { 1.0 - f32::from(edits) / shorter as f32 };
        (edits == 0 || usize::from(edits) < shorter).then_some(Near { term, boost })
    };
    let mut near: Vec<Near> = found.into_iter().filter_map(near).collect();
    // Equal ones stay in the order of their bytes.
    near.sort_by(|a, b| b.boost.total_cmp(&a.boost));
    near.truncate(MOST_TERMS);
    Ok(near)
}
