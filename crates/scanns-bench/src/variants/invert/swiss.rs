//! The Swiss table: groups of slots that are searched by one vector comparison of control bytes.
//!
//! The table does not keep hashes: when it doubles, every key is read and hashed again.

use std::hash::BuildHasher;

use hashbrown::hash_table::Entry;
use hashbrown::{DefaultHashBuilder, HashTable};

use super::terms::{Storage, TermTable, Visit};
use anyhow::Result;

/// A table of terms in a Swiss table, with keys and lists in `M`.
pub(super) struct Swiss<M: Storage> {
    table: HashTable<(M::Key, M::List)>,
    memory: M,
    hasher: DefaultHashBuilder,
}

impl<M: Storage> Swiss<M> {
    /// An empty table with room for `terms`.
    pub(super) fn new(memory: M, terms: usize) -> Self {
        Swiss { table: HashTable::with_capacity(terms), memory, hasher: DefaultHashBuilder::default() }
    }
}

impl<M: Storage> TermTable for Swiss<M> {
    #[inline]
    fn count(&mut self, token: &[u8], doc: u32) {
        let Swiss { table, memory, hasher } = self;
        let hash = hasher.hash_one(token);
        let same = |(key, _): &(M::Key, M::List)| memory.bytes(key) == token;
        match table.entry(hash, same, |(key, _)| hasher.hash_one(memory.bytes(key))) {
            Entry::Occupied(mut entry) => memory.count(&mut entry.get_mut().1, doc),
            Entry::Vacant(slot) => {
                if let Some(key) = memory.keep(token) {
                    let mut list = M::List::default();
                    memory.count(&mut list, doc);
                    slot.insert((key, list));
                }
            }
        }
    }

    fn check(&self) -> Result<()> {
        self.memory.check()
    }

    fn visit(&self, visit: Visit<'_>) {
        let mut postings = Vec::new();
        for (key, list) in &self.table {
            self.memory.show(key, list, &mut postings, visit);
        }
    }
}
