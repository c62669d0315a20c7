//! The chained table, which resembles `std::unordered_map`: an array of heads, and a linked list of nodes
//! behind each head.
//!
//! A node keeps its hash. Most other nodes are therefore told apart without their keys, and the array doubles
//! without reading any key. It doubles whenever there are more terms than heads.

use std::hash::BuildHasher;

use hashbrown::DefaultHashBuilder;

use super::terms::{Storage, TermTable, Visit};
use anyhow::Result;

/// The number of heads at first.
const LEAST: usize = 16;

/// Nodes in linked lists.
pub(super) trait Chains: Storage {
    /// A node and those that follow it, or none.
    type Link: Default;

    /// Counts an occurrence if the chain has a node for `token`. Returns false if it does not.
    fn count_in(&mut self, chain: &mut Self::Link, hash: u64, token: &[u8], doc: u32) -> bool;

    /// Creates a node for `token`, seen once in `doc`. Returns `None` if there is no room.
    fn node(&mut self, hash: u64, token: &[u8], doc: u32) -> Option<Self::Link>;

    /// Puts a single node in front of a chain.
    fn link(&mut self, chain: &mut Self::Link, node: Self::Link);

    /// Removes the first node from a chain, if there is one. Returns its hash and the node.
    fn unlink(&mut self, chain: &mut Self::Link) -> Option<(u64, Self::Link)>;

    /// Visits every term of a chain. `postings` is memory to reuse.
    fn show_all(&self, chain: &Self::Link, postings: &mut Vec<(u32, u32)>, visit: Visit<'_>);
}

/// A table of terms in chains, with nodes, keys and lists in `M`.
pub(super) struct Chained<M: Chains> {
    /// Their number is a power of two.
    heads: Vec<M::Link>,
    len: usize,
    memory: M,
    hasher: DefaultHashBuilder,
}

/// The head of a hash, chosen by its low bits.
#[inline(always)]
fn head_of<L>(heads: &mut [L], hash: u64) -> &mut L {
    #[expect(clippy::cast_possible_truncation, reason = "only the low bits count")]
    let at = hash as usize & (heads.len() - 1);
    &mut heads[at]
}

impl<M: Chains> Chained<M> {
    /// An empty table with room for `terms`.
    pub(super) fn new(memory: M, terms: usize) -> Self {
        Chained {
            heads: empty(terms.next_power_of_two().max(LEAST)),
            len: 0,
            memory,
            hasher: DefaultHashBuilder::default(),
        }
    }

    /// Doubles the heads, and distributes all nodes again.
    #[cold]
    fn grow(&mut self) {
        let heads = empty(self.heads.len() * 2);
        for mut chain in std::mem::replace(&mut self.heads, heads) {
            while let Some((hash, node)) = self.memory.unlink(&mut chain) {
                self.memory.link(head_of(&mut self.heads, hash), node);
            }
        }
    }
}

fn empty<L: Default>(count: usize) -> Vec<L> {
    std::iter::repeat_with(L::default).take(count).collect()
}

impl<M: Chains> TermTable for Chained<M> {
    #[inline]
    fn count(&mut self, token: &[u8], doc: u32) {
        let hash = self.hasher.hash_one(token);
        if self.memory.count_in(head_of(&mut self.heads, hash), hash, token, doc) {
            return;
        }
        if self.len == self.heads.len() {
            self.grow();
        }
        if let Some(node) = self.memory.node(hash, token, doc) {
            self.memory.link(head_of(&mut self.heads, hash), node);
            self.len += 1;
        }
    }

    fn check(&self) -> Result<()> {
        self.memory.check()
    }

    fn visit(&self, visit: Visit<'_>) {
        let mut postings = Vec::new();
        for chain in &self.heads {
            self.memory.show_all(chain, &mut postings, visit);
        }
    }
}
