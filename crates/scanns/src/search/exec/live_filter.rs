//! Filters hits for algorithms that do not check deletions and exclusions themselves.

use std::ops::ControlFlow;

use crate::codec::{BLOCK, ListCursor, WindowedList};
use crate::search::exec::bits::{MatchBits, NONE, WINDOW, has};
use crate::search::exec::goal::Sink;
use crate::search::exec::view::View;
use crate::search::top_k::TopK;

/// Look-ups in one window after which the excluded lists are read there instead of searched.
const READ_AFTER: u32 = 128;

/// Accepts documents that are not deleted and that no excluded list contains.
pub(crate) struct LiveFilter<'v, 'a> {
    pub(crate) view: &'v View<'a>,
    excluded: Vec<WindowedList<'v>>,
    /// The last requested window, the number of requests for it, and the documents excluded in it once they
    /// have been read.
    window: u32,
    asked: u32,
    bits: Option<Box<MatchBits>>,
}

impl<'v, 'a> LiveFilter<'v, 'a> {
    pub(crate) fn new(view: &'v View<'a>, excluded: Vec<ListCursor<'v>>) -> Self {
        let excluded = excluded.into_iter().map(WindowedList::new).collect();
        LiveFilter { view, excluded, window: 0, asked: 0, bits: None }
    }

    /// True if no list is excluded.
    pub(crate) fn keeps_all(&self) -> bool {
        self.excluded.is_empty()
    }

    /// Returns true for documents that are accepted. They may be requested in any order.
    #[inline]
    pub(crate) fn keeps(&mut self, doc: u32) -> bool {
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
            let bits = self.bits.get_or_insert_with(|| Box::new(NONE));
            **bits = NONE;
            for list in &mut self.excluded {
                list.fill(self.window * WINDOW, &mut bits[..]);
            }
        }
        match &self.bits {
            Some(bits) if self.asked >= READ_AFTER => has(bits, doc),
            _ => self.excluded.iter_mut().any(|list| list.contains(doc)),
        }
    }

    /// Passes the accepted hits on.
    pub(crate) fn filter(&mut self, docs: &[u32], scores: &[f32], sink: &mut Sink) -> ControlFlow<()> {
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

    /// Returns true if a list is damaged.
    pub(crate) fn corrupt(&self) -> bool {
        self.excluded.iter().any(WindowedList::corrupt)
    }
}

/// Offers the accepted hits of a batch to `top`.
#[inline]
pub(crate) fn offer(top: &mut TopK, keep: &mut LiveFilter, docs: &[u32], scores: &[f32]) -> ControlFlow<()> {
    for (&doc, &score) in docs.iter().zip(scores) {
        // Many hits equal the worst score and come too late, so the filter is checked last.
        if score >= top.threshold() && top.admits(score, doc) && keep.keeps(doc) {
            top.push(doc, score);
        }
    }
    ControlFlow::Continue(())
}
