//! Documents that match, as everything that reads columns takes them.
//!
//! Where a good part of a window matches, bits are the best that there is, and its blocks are unpacked. Where few do, who goes
//! through the bits of a window for each column spends most of the time on those that are not set; so few are listed once for
//! all, together with those of the windows that follow: to go through one column for many documents lets the processor wait
//! for all of their lines at once.

use std::ops::ControlFlow;

use crate::codec::{SLACK, count_ones, list};
use crate::error::Result;
use crate::search::sets::{Bits, MatchedDocs, WINDOW, docs_of};
use crate::search::{Query, Searcher};

/// To look up the values of so many documents of a window takes as long as to unpack all and choose.
const FEW: u64 = WINDOW as u64 / 2;

/// Of so few, most words of a window are passed eight at a time.
const SPARSE: u64 = 16;

/// As many are listed before they are looked at.
const ENOUGH: usize = 2_048;

/// Documents of a leaf that match; others that do are before or behind all of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Matches<'m> {
    pub(super) leaf: usize,
    /// How many they are: at least one.
    pub(super) count: u64,
    pub(super) which: Which<'m>,
}

/// Which they are.
#[derive(Clone, Copy, Debug)]
pub(super) enum Which<'m> {
    /// Their numbers, ascending.
    Few(&'m [u32]),
    /// A bit for each document of the window that begins with this one.
    Many(u32, &'m Bits),
}

impl<'m> Matches<'m> {
    /// Those documents.
    pub(super) fn of(leaf: usize, docs: &'m [u32]) -> Self {
        Matches { leaf, count: docs.len() as u64, which: Which::Few(docs) }
    }

    /// Calls `visit` with each of them, in order.
    pub(super) fn each(&self, mut visit: impl FnMut(u32) -> Result<()>) -> Result<()> {
        match self.which {
            Which::Few(docs) => docs.iter().try_for_each(|&doc| visit(doc)),
            Which::Many(start, bits) => docs_of(start, bits).try_for_each(visit),
        }
    }
}

/// Lists documents.
#[derive(Debug)]
pub(super) struct Lister {
    docs: Vec<u32>,
    len: usize,
}

impl Lister {
    /// Without documents.
    pub(super) fn new() -> Self {
        Lister { docs: vec![0; ENOUGH + WINDOW as usize + SLACK], len: 0 }
    }

    /// Those that were listed.
    fn docs(&self) -> &[u32] {
        self.docs.get(..self.len).unwrap_or_default()
    }

    /// Adds the documents of a window, which are so many.
    fn add(&mut self, start: u32, bits: &Bits, count: u64) {
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

    /// All documents of `matches`.
    pub(super) fn all<'l>(&'l mut self, matches: &Matches<'l>) -> &'l [u32] {
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

/// Calls `visit` with the documents that match and are not deleted, leaf after leaf and in order, until it fails.
pub(super) fn each_match(
    searcher: &Searcher<'_>,
    query: &Query,
    visit: impl FnMut(&Matches<'_>) -> Result<()>,
) -> Result<()> {
    let (mut outcome, mut batches) = (Ok(()), Batches { visit, leaf: 0, few: Lister::new() });
    searcher.for_each_matched(query, |leaf, matched| {
        outcome = batches.take(leaf, matched);
        if outcome.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    outcome?;
    batches.send()
}

/// Puts few documents of several windows together.
struct Batches<V> {
    visit: V,
    /// The leaf that those are of which wait.
    leaf: usize,
    few: Lister,
}

impl<V: FnMut(&Matches<'_>) -> Result<()>> Batches<V> {
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
        (self.visit)(&Matches { leaf, count, which: Which::Many(start, bits) })
    }

    /// Sends those that wait.
    fn send(&mut self) -> Result<()> {
        if self.few.len == 0 {
            return Ok(());
        }
        let sent = (self.visit)(&Matches::of(self.leaf, self.few.docs()));
        self.few.len = 0;
        sent
    }
}
