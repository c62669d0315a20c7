//! Which documents may be hits, for ways of search that do not look at exclusions themselves.

use std::ops::ControlFlow;

use super::run::{Sink, View};
use super::sets::{Bits, NONE, WINDOW, has};
use super::topk::TopK;
use crate::codec::{BLOCK, ListCursor, WindowedList};

/// Documents of one window that are asked for before the excluded lists are read there instead of searched.
const READ_AFTER: u32 = 128;

/// Those that are not deleted, and that no excluded list has.
pub(super) struct Keep<'v, 'a> {
    pub(super) view: &'v View<'a>,
    excluded: Vec<WindowedList<'v>>,
    /// The window that was asked for last, how often, and what is excluded in it, once it has been read.
    window: u32,
    asked: u32,
    bits: Box<Bits>,
}

impl<'v, 'a> Keep<'v, 'a> {
    pub(super) fn new(view: &'v View<'a>, excluded: Vec<ListCursor<'v>>) -> Self {
        let excluded = excluded.into_iter().map(WindowedList::new).collect();
        Keep { view, excluded, window: 0, asked: 0, bits: Box::new(NONE) }
    }

    /// True if no list is excluded.
    pub(super) fn keeps_all(&self) -> bool {
        self.excluded.is_empty()
    }

    /// May be asked in any order.
    #[inline]
    pub(super) fn keeps(&mut self, doc: u32) -> bool {
        self.view.keeps(doc) && !self.excludes(doc)
    }

    #[inline]
    fn excludes(&mut self, doc: u32) -> bool {
        !self.keeps_all() && self.is_listed(doc)
    }

    fn is_listed(&mut self, doc: u32) -> bool {
        if self.window != doc / WINDOW {
            (self.window, self.asked) = (doc / WINDOW, 0);
        }
        self.asked += 1;
        if self.asked == READ_AFTER {
            *self.bits = NONE;
            for list in &mut self.excluded {
                list.fill(self.window * WINDOW, &mut self.bits[..]);
            }
        }
        match self.asked >= READ_AFTER {
            true => has(&self.bits, doc),
            false => self.excluded.iter_mut().any(|list| list.contains(doc)),
        }
    }

    /// Sends on what is kept.
    pub(super) fn filter(&mut self, docs: &[u32], scores: &[f32], sink: &mut Sink) -> ControlFlow<()> {
        for (docs, scores) in docs.chunks(BLOCK).zip(scores.chunks(BLOCK)) {
            let (mut kept, mut kept_scores, mut len) = ([0; BLOCK], [0.0; BLOCK], 0);
            for (&doc, &score) in docs.iter().zip(scores) {
                (kept[len % BLOCK], kept_scores[len % BLOCK]) = (doc, score);
                len += usize::from(self.keeps(doc));
            }
            sink(&kept[..len], &kept_scores[..len])?;
        }
        ControlFlow::Continue(())
    }

    /// True if a list turned out damaged.
    pub(super) fn corrupt(&self) -> bool {
        self.excluded.iter().any(WindowedList::corrupt)
    }
}

/// Gives a batch of hits to `top`, those left out that are not to be hits.
#[inline]
pub(super) fn offer(top: &mut TopK, keep: &mut Keep, docs: &[u32], scores: &[f32]) -> ControlFlow<()> {
    for (&doc, &score) in docs.iter().zip(scores) {
        // Many have the score of the worst hit and come too late: who is kept is asked last.
        if score >= top.threshold() && top.admits(score, doc) && keep.keeps(doc) {
            top.push(doc, score);
        }
    }
    ControlFlow::Continue(())
}
