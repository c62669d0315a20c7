//! The chained table, as `std::unordered_map` is one: an array of heads, and a linked list of nodes behind
//! each.
//!
//! A node keeps its hash, so that most others are told apart without their keys, and the array can double,
//! whenever there are more terms than heads, without reading any key.

use std::hash::BuildHasher;

use hashbrown::DefaultHashBuilder;

use super::terms::{Storage, TermTable, Visit};
use anyhow::Result;

/// Heads at first.
const LEAST: usize = 16;

/// Nodes in linked lists.
pub(super) trait Chains: Storage {
    /// A node and those that follow it, or none.
    type Link: Default;

    /// Counts an occurrence if the chain has a node for `token`; false if it has not.
    fn count_in(&mut self, chain: &mut Self::Link, hash: u64, token: &[u8], doc: u32) -> bool;

    /// Makes a node for `token`, seen once in `doc`. `None` where there is no room.
    fn node(&mut self, hash: u64, token: &[u8], doc: u32) -> Option<Self::Link>;

    /// Puts a single node in front of a chain.
    fn link(&mut self, chain: &mut Self::Link, node: Self::Link);

    /// Takes the first node, if there is one, off a chain; returns its hash and the node.
    fn unlink(&mut self, chain: &mut Self::Link) -> Option<(u64, Self::Link)>;

    /// Visits every term of a chain; `postings` is room to be used again.
    fn show_all(&self, chain: &Self::Link, postings: &mut Vec<(u32, u32)>, visit: Visit<'_>);
}

/// TermTable in chains, nodes, keys and lists in `M`.
pub(super) struct Chained<M: Chains> {
    /// A power of two of them.
    heads: Vec<M::Link>,
    len: usize,
    memory: M,
    hasher: DefaultHashBuilder,
}

/// The head of a hash; the highest bits are left out.
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

    /// Doubles the heads and deals every node out again.
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
