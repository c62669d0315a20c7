//! The order in which a merge writes the surviving documents, if it is not the order of the sources.

use super::renumbering::Renumbering;

/// A permutation of the survivors of a merge.
#[derive(Clone, Debug)]
pub struct DocumentOrder {
    /// New number by number in the order of the sources.
    to: Vec<u32>,
    /// Number in the order of the sources by new number.
    from: Vec<u32>,
    /// Bytes that may be held in memory to write in this order.
    memory: u64,
}

/// The source of a document, and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    pub source: usize,
    pub doc: u32,
}

impl DocumentOrder {
    /// Creates the order in which document `from[n]` of the sources' order gets number `n`; `from` must be a
    /// permutation.
    pub(super) fn new(from: Vec<u32>, memory: u64) -> Self {
        let mut to = vec![0; from.len()];
        for (new, &kept) in (0..).zip(&from) {
            if let Some(slot) = to.get_mut(kept as usize) {
                *slot = new;
            }
        }
        DocumentOrder { to, from, memory }
    }

    /// Number of documents.
    pub fn len(&self) -> usize {
        self.from.len()
    }

    /// Returns the new number of a document, given its number in the order of the sources.
    #[inline]
    pub fn number(&self, kept: u32) -> Option<u32> {
        self.to.get(kept as usize).copied()
    }

    /// Returns the origin of the document with the new number `number`.
    pub fn origin(&self, documents: &[Renumbering], number: usize) -> Option<Origin> {
        let kept = *self.from.get(number)?;
        let source = documents.partition_point(|numbers| numbers.end() <= kept);
        Some(Origin { source, doc: documents.get(source)?.old(kept)? })
    }

    /// The origins of all documents in the new order.
    pub fn origins(&self, documents: &[Renumbering]) -> impl Iterator<Item = Origin> {
        (0..self.from.len()).filter_map(|number| self.origin(documents, number))
    }

    /// The documents in the new order, by their numbers in the order of the sources.
    pub fn kept_numbers(&self) -> impl Iterator<Item = u32> {
        self.from.iter().copied()
    }

    /// Returns the number of bytes that may be held in memory.
    pub fn memory(&self) -> usize {
        usize::try_from(self.memory).unwrap_or(usize::MAX)
    }

    /// Reorders `norms`, which are in the order of the sources.
    pub(super) fn apply(&self, norms: &[u8]) -> Vec<u8> {
        self.kept_numbers().map(|kept| norms.get(kept as usize).copied().unwrap_or(0)).collect()
    }
}
