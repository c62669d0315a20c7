//! A merge that numbers documents anew, so that similar ones stand near each other.
//!
//! Then the gaps between the documents of a term are shorter, and what scores well for a query stands together, so that
//! more blocks can be passed. `forward.rs` finds out which terms each document has, `bisect.rs` an order, and `terms.rs` writes
//! postings in it. Keys and what is stored are put in order by `keys/reorder.rs` and `stored/reorder.rs`.
//!
//! In memory are, beside what any merge holds, two numbers of 4 bytes for each document; while the order is found
//! as much as [`Reordering::memory`] says: about 12 bytes for each posting of the terms that count and 72 for each document.
//! Where that is more than allowed, consecutive stretches of documents are put in order, each by itself; where it
//! is less than is allowed, threads have halves of the documents to themselves. What is to be
//! written is gathered and sorted within the same bound, by several passes if it must be.

mod bisect;
mod forward;
mod terms;

pub(super) use terms::TermsInOrder;

use super::{Renumbering, renumber};
use crate::error::Result;
use crate::segment::reader::Segment;
use crate::segment::{keys, stored};

/// Called with steps done since the last call; its error ends the work.
type LookIn<'a> = &'a (dyn Fn(u64) -> Result<()> + Sync);

/// Called now and then with the steps done and the steps of all, which are 0 as long as they are not known; its error
/// ends the work.
pub type Telling<'a> = &'a (dyn Fn(u64, u64) -> Result<()> + Sync);

/// How an order is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reordering {
    /// Bytes of memory to use at most.
    pub memory: u64,
    /// Threads to use, at least 1.
    pub threads: usize,
}

/// An order for the survivors of a merge.
#[derive(Clone, Debug)]
pub struct Order {
    /// By number in the order of the sources: the new one.
    to: Vec<u32>,
    /// By new number: the one in the order of the sources.
    from: Vec<u32>,
    /// Bytes that may be gathered to write in this order.
    memory: u64,
}

impl Order {
    /// Finds an order for the live documents of `sources` in which similar ones stand near each other; `None` if lists
    /// would save less than names of documents and references to them would take more. It depends on the sources and on
    /// the memory, not on the threads.
    ///
    /// # Errors
    /// Whatever `tell` says, damage in a source, and memory that is too little for so many documents.
    pub fn of_similar(sources: &[Segment], how: &Reordering, tell: Telling<'_>) -> Result<Option<Self>> {
        let documents = renumber(sources)?;
        let (from, saved) = forward::similar_together(sources, &documents, how, tell)?;
        let order = Self::new(from, how.memory);
        let mut look = || tell(0, 0);
        let mut others = |order: Option<&Order>| -> Result<u64> {
            let keys = keys::bytes_in_order(sources, &documents, order, &mut look)?;
            Ok(keys + stored::bytes_in_order(sources, &documents, order, &mut look)?)
        };
        let (before, after) = (others(None)?, others(Some(&order))?);
        Ok((before.saturating_add(saved) > after).then_some(order))
    }

    /// The order `from`, by new number, a permutation.
    fn new(from: Vec<u32>, memory: u64) -> Self {
        let mut to = vec![0; from.len()];
        for (new, &kept) in (0..).zip(&from) {
            if let Some(slot) = to.get_mut(kept as usize) {
                *slot = new;
            }
        }
        Order { to, from, memory }
    }

    /// The new number of a document.
    #[inline]
    pub fn number(&self, kept: u32) -> Option<u32> {
        self.to.get(kept as usize).copied()
    }

    /// Where the document with a new number comes from: its source, and its number there.
    pub fn origin(&self, documents: &[Renumbering], number: usize) -> Option<(usize, u32)> {
        let kept = *self.from.get(number)?;
        let source = documents.partition_point(|numbers| numbers.end() <= kept);
        Some((source, documents.get(source)?.old(kept)?))
    }

    /// Calls `visit` with each document in the new order: its source, and its number there.
    pub fn each(
        &self,
        documents: &[Renumbering],
        mut visit: impl FnMut(usize, u32) -> Result<()>,
    ) -> Result<()> {
        let mut all = (0..self.from.len()).filter_map(|number| self.origin(documents, number));
        all.try_for_each(|(source, doc)| visit(source, doc))
    }

    /// Bytes that may be gathered at once.
    pub fn memory(&self) -> usize {
        usize::try_from(self.memory).unwrap_or(usize::MAX)
    }

    /// What is by number in the order of the sources, by new number.
    pub(super) fn apply(&self, norms: &[u8]) -> Vec<u8> {
        self.from.iter().map(|&kept| norms.get(kept as usize).copied().unwrap_or(0)).collect()
    }
}

#[cfg(test)]
impl Order {
    /// Any permutation, for tests.
    pub fn of_any(from: Vec<u32>, memory: u64) -> Self {
        Self::new(from, memory)
    }

    /// The documents in this order, by their numbers in that of the sources.
    pub fn each_number(&self) -> impl Iterator<Item = u32> {
        self.from.iter().copied()
    }
}
