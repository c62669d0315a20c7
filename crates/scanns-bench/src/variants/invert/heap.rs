//! The general allocator: one allocation for each key, each node of a chain and each TF node.

use super::chained::Chains;
use super::terms::{Storage, Visit};
use anyhow::Result;

/// Storage in boxes.
pub(super) struct Heap;

/// Document frequency and TF nodes of a term.
#[derive(Default)]
pub(super) struct TfList {
    doc_freq: u32,
    newest: Option<Box<Tf>>,
}

/// The frequency of a term in a document.
struct Tf {
    doc: u32,
    freq: u32,
    older: Option<Box<Tf>>,
}

impl Drop for TfList {
    /// Drops one node after another, because a list may be too long for recursion.
    fn drop(&mut self) {
        let mut next = self.newest.take();
        while let Some(mut tf) = next {
            next = tf.older.take();
        }
    }
}

impl Storage for Heap {
    type Key = Box<[u8]>;
    type List = TfList;

    fn keep(&mut self, key: &[u8]) -> Option<Box<[u8]>> {
        Some(key.into())
    }

    #[inline(always)]
    fn bytes<'a>(&'a self, key: &'a Self::Key) -> &'a [u8] {
        key
    }

    #[inline(always)]
    fn count(&mut self, list: &mut TfList, doc: u32) {
        match &mut list.newest {
            Some(tf) if tf.doc == doc => tf.freq = tf.freq.saturating_add(1),
            newest => {
                let older = newest.take();
                *newest = Some(Box::new(Tf { doc, freq: 1, older }));
                list.doc_freq += 1;
            }
        }
    }

    fn read(&self, list: &TfList, postings: &mut Vec<(u32, u32)>) -> u32 {
        let mut next = &list.newest;
        while let Some(tf) = next {
            postings.push((tf.doc, tf.freq));
            next = &tf.older;
        }
        list.doc_freq
    }

    fn check(&self) -> Result<()> {
        Ok(())
    }
}

/// A term in a chain.
pub(super) struct Node {
    hash: u64,
    next: Option<Box<Node>>,
    key: Box<[u8]>,
    list: TfList,
}

impl Chains for Heap {
    type Link = Option<Box<Node>>;

    #[inline(always)]
    fn count_in(&mut self, chain: &mut Self::Link, hash: u64, token: &[u8], doc: u32) -> bool {
        let mut next = chain.as_deref_mut();
        while let Some(node) = next {
            if node.hash == hash && *node.key == *token {
                self.count(&mut node.list, doc);
                return true;
            }
            next = node.next.as_deref_mut();
        }
        false
    }

    fn node(&mut self, hash: u64, token: &[u8], doc: u32) -> Option<Self::Link> {
        let mut node = Box::new(Node { hash, next: None, key: token.into(), list: TfList::default() });
        self.count(&mut node.list, doc);
        Some(Some(node))
    }

    #[inline(always)]
    fn link(&mut self, chain: &mut Self::Link, node: Self::Link) {
        *chain = node.map(|mut node| {
            node.next = chain.take();
            node
        });
    }

    #[inline(always)]
    fn unlink(&mut self, chain: &mut Self::Link) -> Option<(u64, Self::Link)> {
        let mut node = chain.take()?;
        *chain = node.next.take();
        Some((node.hash, Some(node)))
    }

    fn show_all(&self, chain: &Self::Link, postings: &mut Vec<(u32, u32)>, visit: Visit<'_>) {
        let mut next = chain;
        while let Some(node) = next {
            self.show(&node.key, &node.list, postings, visit);
            next = &node.next;
        }
    }
}
