//! Documents that match, a window of them at a time, as everything that reads columns takes them.
//!
//! Where a good part of a window matches, bits are the best that there is; where few do, whoever goes through the bits of a window
//! for each column spends most of the time on those that are not set. So the few are listed once, for all.

use std::ops::ControlFlow;

use crate::codec::{SLACK, count_ones, list};
use crate::error::Result;
use crate::search::sets::{Bits, WINDOW};
use crate::search::{Query, Searcher};

/// To look up the values of so many documents of a window takes as long as to unpack all and choose.
const FEW: u64 = WINDOW as u64 / 2;

/// The documents of a window that match.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window<'w> {
    pub(super) leaf: usize,
    /// The first document that the bits are about.
    pub(super) start: u32,
    pub(super) bits: &'w Bits,
    /// How many match.
    pub(super) count: u64,
    /// Which, ascending, if they are few.
    pub(super) docs: Option<&'w [u32]>,
}

/// Makes windows of bits.
#[derive(Debug)]
pub(super) struct Lister {
    docs: Vec<u32>,
}

impl Lister {
    pub(super) fn new() -> Self {
        Lister { docs: vec![0; WINDOW as usize + SLACK] }
    }

    /// The window that begins with `start`.
    #[inline]
    pub(super) fn window<'w>(&'w mut self, leaf: usize, start: u32, bits: &'w Bits) -> Window<'w> {
        let count = count_ones(bits);
        let mut window = Window { leaf, start, bits, count, docs: None };
        if count <= FEW {
            let listed = list(bits.iter().copied(), start, &mut self.docs);
            window.docs = listed.and_then(|listed| self.docs.get(..listed));
        }
        window
    }

    /// All documents of a window.
    pub(super) fn all(&mut self, window: &Window<'_>) -> &[u32] {
        let listed = list(window.bits.iter().copied(), window.start, &mut self.docs);
        listed.and_then(|listed| self.docs.get(..listed)).unwrap_or_default()
    }
}

/// Calls `visit` with the documents that match and are not deleted, a leaf and a window at a time, until it fails.
pub(super) fn each_match(
    searcher: &Searcher<'_>,
    query: &Query,
    mut visit: impl FnMut(&Window<'_>) -> Result<()>,
) -> Result<()> {
    let (mut outcome, mut lister) = (Ok(()), Lister::new());
    searcher.for_each_window(query, |leaf, start, bits| {
        let window = lister.window(leaf, start, bits);
        if window.count > 0 {
            outcome = visit(&window);
        }
        if outcome.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    outcome
}
