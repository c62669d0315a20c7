//! Batches of matches, for everything that reads columns.
//!
//! If many documents of a window match, bits are best: whole blocks are unpacked. If few match, iterating
//! over the bits of a window for each column would spend most of the time on unset bits. So the documents are
//! listed once for all columns, together with the documents of the following windows: a pass over one column
//! for many documents lets the processor fetch all of their cache lines in parallel.

use std::ops::ControlFlow;

use crate::codec::{SLACK, count_ones, list};
use crate::error::Result;
use crate::search::exec::bits::{MatchBits, WINDOW, docs_of};
use crate::search::exec::match_bits::MatchedDocs;
use crate::search::prepared::PreparedQuery;

/// Looking up the values of this number of documents of a window takes as long as unpacking all values and
/// selecting.
const FEW: u64 = WINDOW as u64 / 2;

/// With at most this many documents in a window, its words are skipped eight at a time.
const SPARSE: u64 = 16;

/// Documents are listed up to this number before they are passed on.
pub(super) const ENOUGH: usize = 2_048;

/// Some matches of one leaf, ascending. All other matches of the leaf are before or after all of them.
#[derive(Clone, Copy, Debug)]
pub struct Matches<'m> {
    pub(crate) leaf: usize,
    /// At least one.
    pub(crate) count: u64,
    pub(crate) which: Which<'m>,
    /// The scores of the documents, if they were requested; then `which` is a list.
    pub(crate) scores: Option<&'m [f32]>,
}

/// The documents of a batch.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Which<'m> {
    /// Ascending numbers.
    Few(&'m [u32]),
    /// A bit for each document of the window that begins with this one.
    Many(u32, &'m MatchBits),
}

impl<'m> Matches<'m> {
    /// A list of documents without scores.
    pub(crate) fn of(leaf: usize, docs: &'m [u32]) -> Self {
        Matches { leaf, count: docs.len() as u64, which: Which::Few(docs), scores: None }
    }

    /// A list of documents with their scores.
    pub(crate) fn scored(leaf: usize, docs: &'m [u32], scores: &'m [f32]) -> Self {
        Matches { scores: Some(scores), ..Matches::of(leaf, docs) }
    }

    /// Returns the number of the leaf in its searcher.
    pub fn leaf(&self) -> usize {
        self.leaf
    }

    /// Returns the number of documents; at least 1.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the numbers of the documents in the leaf, ascending.
    pub fn docs(&self) -> impl Iterator<Item = u32> {
        let (few, start, bits): (&[u32], u32, &[u64]) = match self.which {
            Which::Few(docs) => (docs, 0, &[]),
            Which::Many(start, bits) => (&[], start, bits),
        };
        few.iter().copied().chain(docs_of(start, bits))
    }

    /// Returns the scores of the documents, in the same order; `None` unless the collector needs them.
    pub fn scores(&self) -> Option<&'m [f32]> {
        self.scores
    }
}

/// Lists documents.
#[derive(Debug)]
pub(crate) struct Lister {
    docs: Vec<u32>,
    len: usize,
}

impl Lister {
    /// An empty list.
    pub(crate) fn new() -> Self {
        Lister { docs: vec![0; ENOUGH + WINDOW as usize + SLACK], len: 0 }
    }

    /// The listed documents.
    fn docs(&self) -> &[u32] {
        self.docs.get(..self.len).unwrap_or_default()
    }

    /// Adds the `count` documents of a window.
    fn add(&mut self, start: u32, bits: &MatchBits, count: u64) {
        let room = self.docs.get_mut(self.len..).unwrap_or_default();
        if count > SPARSE {
            self.len += list(bits.iter().copied(), start, room).unwrap_or(0);
            return;
        }
        let mut room = room.iter_mut();
        for (words, first) in bits.chunks(8).zip((start..).step_by(512)) {
            if words.iter().fold(0, |all, word| all | word) == 0 {
                continue;
            }
            for (slot, doc) in docs_of(first, words).map_while(|doc| Some((room.next()?, doc))) {
                *slot = doc;
                self.len += 1;
            }
        }
    }

    /// All documents of a batch.
    pub(crate) fn all<'l>(&'l mut self, matches: &Matches<'l>) -> &'l [u32] {
        match matches.which {
            Which::Few(docs) => docs,
            Which::Many(start, bits) => {
                self.len = 0;
                self.add(start, bits, matches.count);
                self.docs()
            }
        }
    }
}

/// Calls `visit` with the matches that are not deleted, leaf after leaf and in order, until it fails.
pub(crate) fn each_match(
    query: &PreparedQuery<'_, '_, '_>,
    visit: impl FnMut(&Matches<'_>) -> Result<()>,
) -> Result<()> {
    let (mut outcome, mut batches) = (Ok(()), MatchBatches { visit, leaf: 0, few: Lister::new() });
    query.for_each_matched(|leaf, matched| {
        outcome = batches.take(leaf, matched);
        if outcome.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    outcome?;
    batches.send()
}

/// Puts the few documents of several windows together.
struct MatchBatches<V> {
    visit: V,
    /// The leaf of the listed documents.
    leaf: usize,
    few: Lister,
}

impl<V: FnMut(&Matches<'_>) -> Result<()>> MatchBatches<V> {
    fn take(&mut self, leaf: usize, matched: MatchedDocs<'_>) -> Result<()> {
        if leaf != self.leaf {
            self.send()?;
            self.leaf = leaf;
        }
        let (start, bits) = match matched {
            MatchedDocs::Docs([]) => return Ok(()),
            MatchedDocs::Docs(docs) => return (self.visit)(&Matches::of(leaf, docs)),
            MatchedDocs::Window(start, bits) => (start, bits),
        };
        let count = count_ones(bits);
        if count <= FEW {
            self.few.add(start, bits, count);
            return if self.few.len >= ENOUGH { self.send() } else { Ok(()) };
        }
        self.send()?;
        (self.visit)(&Matches { leaf, count, which: Which::Many(start, bits), scores: None })
    }

    /// Passes the listed documents on.
    fn send(&mut self) -> Result<()> {
        if self.few.len == 0 {
            return Ok(());
        }
        let sent = (self.visit)(&Matches::of(self.leaf, self.few.docs()));
        self.few.len = 0;
        sent
    }
}
