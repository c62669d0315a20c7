//! Which documents may be hits, for ways of search that do not look at exclusions themselves.

use std::ops::ControlFlow;

use super::run::{Sink, View};
use super::sets::{Bits, LOOK_UP, NONE, WINDOW, fill_from_list, has};
use super::topk::TopK;
use crate::codec::{BLOCK, ListCursor};

/// Those that are not deleted, and that no excluded list has.
pub(super) struct Keep<'v, 'a> {
    pub(super) view: &'v View<'a>,
    excluded: Vec<ListCursor<'v>>,
}

impl<'v, 'a> Keep<'v, 'a> {
    pub(super) fn new(view: &'v View<'a>, excluded: Vec<ListCursor<'v>>) -> Self {
        Keep { view, excluded }
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
        self.excluded.iter_mut().any(|list| list.seek(doc) == doc)
    }

    /// True if a list turned out damaged.
    pub(super) fn corrupt(&self) -> bool {
        self.excluded.iter().any(ListCursor::corrupt)
    }
}

/// Takes what is excluded out of hits that come in order.
pub(super) struct Without<'k, 'v, 'a> {
    keep: &'k mut Keep<'v, 'a>,
    /// True if so many documents are asked for that the excluded lists are read instead of searched.
    read: bool,
    /// The window of documents that `excluded` is of.
    window: Option<u32>,
    excluded: Box<Bits>,
}

impl<'k, 'v, 'a> Without<'k, 'v, 'a> {
    /// For about so many hits.
    pub(super) fn new(keep: &'k mut Keep<'v, 'a>, hits: u64) -> Self {
        let excluded: u64 = keep.excluded.iter().map(|list| u64::from(list.doc_freq())).sum();
        Without { keep, read: hits * LOOK_UP > excluded, window: None, excluded: Box::new(NONE) }
    }

    #[inline]
    fn excludes(&mut self, doc: u32) -> bool {
        if !self.read {
            return self.keep.excludes(doc);
        }
        if self.window != Some(doc / WINDOW) {
            self.enter(doc / WINDOW);
        }
        has(&self.excluded, doc)
    }

    #[inline(never)]
    fn enter(&mut self, window: u32) {
        self.window = Some(window);
        *self.excluded = NONE;
        for list in &mut self.keep.excluded {
            fill_from_list(list, window * WINDOW, &mut self.excluded);
        }
    }

    /// Sends on what is not excluded.
    pub(super) fn filter(&mut self, docs: &[u32], scores: &[f32], sink: &mut Sink) -> ControlFlow<()> {
        for (docs, scores) in docs.chunks(BLOCK).zip(scores.chunks(BLOCK)) {
            let (mut kept, mut kept_scores, mut len) = ([0; BLOCK], [0.0; BLOCK], 0);
            for (&doc, &score) in docs.iter().zip(scores) {
                (kept[len % BLOCK], kept_scores[len % BLOCK]) = (doc, score);
                len += usize::from(!self.excludes(doc));
            }
            sink(&kept[..len], &kept_scores[..len])?;
        }
        ControlFlow::Continue(())
    }
}

/// Gives a batch of hits to `top`, those left out that are not to be hits.
#[inline]
pub(super) fn offer(top: &mut TopK, keep: &mut Keep, docs: &[u32], scores: &[f32]) -> ControlFlow<()> {
    for (&doc, &score) in docs.iter().zip(scores) {
        if score >= top.threshold() && keep.keeps(doc) {
            top.push(doc, score);
        }
    }
    ControlFlow::Continue(())
}
