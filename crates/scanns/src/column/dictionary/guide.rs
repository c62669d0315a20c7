//! The guide, which leads from a term to its block: a tree whose nodes compare the bytes in which their terms
//! differ.
//!
//! ```text
//! guide = level …                                                  from the top one, which is one node, down
//! level = node …
//! node  = skip u64 | prefix u64 … | zeros                          128 bytes
//! ```
//!
//! A node of the lowest level has 15 blocks as children, a node of any other level 15 nodes of the level
//! below; the last node of a level may have fewer. All terms from the first term of a node to the first term
//! of the next node, or to the last term of the dictionary, begin with the same `skip` bytes. A prefix is the
//! next eight bytes of the first term of a child, as a big-endian number, padded with zeros. So terms that
//! begin with the same eight bytes, such as addresses, are distinguished as well as other terms. A search
//! reads two cache lines per level, and decompresses terms only if eight bytes do not decide.

use std::ops::Range;

use crate::codec::{common_prefix, head};

/// Children of a node.
const FAN: usize = 15;
/// Bytes of a node.
const NODE: usize = 8 * (FAN + 1);

/// The eight bytes after the first `skip` bytes, as a big-endian number, padded with zeros.
#[inline]
fn prefix_of(term: &[u8], skip: usize) -> u64 {
    u64::try_from(head(term.get(skip..).unwrap_or_default()) >> 64).unwrap_or(0)
}

/// Builds a guide from the first terms of blocks.
#[derive(Debug, Default)]
pub(super) struct GuideWriter {
    /// The levels from the lowest one up.
    levels: Vec<GuideLevel>,
}

#[derive(Debug, Default)]
struct GuideLevel {
    nodes: Vec<u8>,
    /// The first terms of the children of the current node.
    children: Vec<Vec<u8>>,
}

impl GuideLevel {
    /// Ends the current node, which is followed by the term `next`; returns its first term.
    fn end_node(&mut self, next: &[u8]) -> Vec<u8> {
        let first = self.children.first().map_or(&[][..], Vec::as_slice);
        let skip = common_prefix(first, next);
        let end = self.nodes.len() + NODE;
        self.nodes.extend_from_slice(&(skip as u64).to_le_bytes());
        for child in &self.children {
            self.nodes.extend_from_slice(&prefix_of(child, skip).to_le_bytes());
        }
        self.nodes.resize(end, 0);
        self.children.drain(..).next().unwrap_or_default()
    }
}

impl GuideWriter {
    /// Adds the first term of the next block.
    pub(super) fn push(&mut self, term: &[u8]) {
        self.push_at(0, term.to_vec());
    }

    fn push_at(&mut self, mut level: usize, mut term: Vec<u8>) {
        loop {
            if self.levels.len() <= level {
                self.levels.resize_with(level + 1, GuideLevel::default);
            }
            let Some(own) = self.levels.get_mut(level) else { return };
            if own.children.len() < FAN {
                own.children.push(term);
                return;
            }
            let ended = own.end_node(&term);
            own.children.push(term);
            (term, level) = (ended, level + 1);
        }
    }

    /// The levels from the top one down, given the last term; empty if no block was added.
    pub(super) fn finish(mut self, last: &[u8]) -> Vec<Vec<u8>> {
        for level in 0.. {
            let Some(own) = self.levels.get_mut(level) else { break };
            let first = own.end_node(last);
            if own.nodes.len() == NODE {
                break;
            }
            self.push_at(level + 1, first);
        }
        self.levels.into_iter().rev().map(|level| level.nodes).collect()
    }
}

/// The places of the levels of a guide.
#[derive(Debug)]
pub(super) struct Guide {
    /// From the top level down: the offset of each level, and the number of children of all its nodes.
    levels: Vec<(usize, usize)>,
    len: usize,
}

/// The answer of a node for a term. The term is below `child`, unless it is not less than the first term of
/// one of the children `tied`; then it is below the last such child.
#[derive(Debug)]
pub(super) struct Turn {
    pub(super) child: usize,
    pub(super) tied: Range<usize>,
}

impl Guide {
    /// The guide to `blocks` blocks.
    pub(super) fn of(blocks: usize) -> Self {
        let above = |&children: &usize| (children > FAN).then(|| children.div_ceil(FAN));
        let mut children: Vec<usize> =
            std::iter::successors(Some(blocks).filter(|&blocks| blocks > 0), above).collect();
        children.reverse();
        let mut len = 0;
        let place = |children: usize| {
            let start = len;
            len += children.div_ceil(FAN) * NODE;
            (start, children)
        };
        let levels = children.into_iter().map(place).collect();
        Guide { levels, len }
    }

    /// Size in bytes.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Number of levels.
    pub(super) fn levels(&self) -> usize {
        self.levels.len()
    }

    /// The first block below child `child` of level `level`.
    pub(super) fn block(&self, level: usize, child: usize) -> usize {
        self.levels.iter().skip(level + 1).fold(child, |child, _| child.saturating_mul(FAN))
    }

    /// The range of node `node` of level `level`.
    #[inline]
    pub(super) fn place(&self, level: usize, node: usize) -> Range<usize> {
        let start = self.levels.get(level).map_or(0, |&(start, _)| start) + node * NODE;
        start..start + NODE
    }

    /// Searches node `node` of level `level`, which is `bytes`, for `term`.
    #[inline]
    pub(super) fn turn(&self, level: usize, node: usize, bytes: &[u8], term: &[u8]) -> Turn {
        let first = node * FAN;
        let children =
            self.levels.get(level).map_or(0, |&(_, children)| children).saturating_sub(first).min(FAN);
        let (skip, prefixes) = bytes.as_chunks::<8>().0.split_first().unwrap_or((&[0; 8], &[]));
        let skip = usize::try_from(u64::from_le_bytes(*skip)).unwrap_or(usize::MAX);
        let prefix = prefix_of(term, skip);
        let (mut less, mut most) = (0, 0);
        for found in prefixes.iter().take(children) {
            let found = u64::from_le_bytes(*found);
            less += usize::from(found < prefix);
            most += usize::from(found <= prefix);
        }
        Turn { child: first + less.saturating_sub(1), tied: first + less..first + most.max(less) }
    }
}
