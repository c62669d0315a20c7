//! Visits all terms in byte order with their postings, for a flush.
//!
//! The order numbers are sorted in sequential memory, but terms, postings and the bytes that break ties are
//! scattered over the arenas. Terms are therefore visited in windows: during one window, the entries of the
//! window after the next are prefetched, and for the next window the bytes and chunks that its entries refer
//! to. Ties are resolved at the start of a window, when all its data is in the cache.

use super::inverter::Inverter;
use super::positions::Deltas;
use super::postings::PostingsIter;
use super::sort;
use super::store::TermStore;
use crate::codec::head;
use crate::error::Result;
use crate::sys::prefetch;

/// The number of terms in a window; larger if a run of ties is longer.
const WINDOW: usize = 48;

impl Inverter {
    /// Visits every term in byte order: with its [`head`], its postings, and its positions if they are
    /// stored. Then removes all terms, but keeps the memory.
    ///
    /// An open document is left out; see [`Inverter::copy_open_document`].
    pub fn drain_sorted(
        &mut self,
        visit: impl FnMut((&[u8], u128), PostingsIter<'_>, Option<Deltas<'_>>) -> Result<()>,
    ) -> Result<()> {
        self.settle();
        let order = &mut self.store.table.scratch()[..self.store.terms.len];
        sort::sort(&self.store.terms, order);
        let outcome = self.visit_sorted(visit);
        self.clear();
        outcome
    }

    /// Visits the terms whose order numbers are in the table's memory.
    fn visit_sorted(
        &mut self,
        mut visit: impl FnMut((&[u8], u128), PostingsIter<'_>, Option<Deltas<'_>>) -> Result<()>,
    ) -> Result<()> {
        let limit = self.max_doc();
        let TermStore { table, terms, places, chunks, .. } = &mut self.store;
        let order = &mut table.scratch()[..terms.len];
        let entry_at = |at: usize, order: &[u128]| order.get(at).map(|&order| sort::entry_of(order));
        let ask_entry = |at: usize, order: &[u128]| {
            if let Some(entry) = entry_at(at, order) {
                prefetch(terms.entries.as_ptr().wrapping_add(entry as usize));
                if places.are_kept() {
                    places.prefetch(entry);
                }
            }
        };
        let ask_rest = |at: usize, order: &[u128]| {
            if let Some(entry) = entry_at(at, order) {
                terms.prefetch_bytes(entry);
                chunks.prefetch_last(terms.entries[entry as usize].tail);
                places.tail(entry).into_iter().for_each(|tail| chunks.prefetch_last(tail));
            }
        };
        (0..2 * WINDOW).for_each(|at| ask_entry(at, order));
        (0..WINDOW).for_each(|at| ask_rest(at, order));
        let (mut parts, mut delta_parts) = (Vec::new(), Vec::new());
        let mut start = 0;
        while start < order.len() {
            let end = sort::end_of_run(order, (start + WINDOW).min(order.len()) - 1);
            sort::settle_ties(terms, &mut order[start..end], 0);
            for at in start..end {
                ask_entry(at + 2 * WINDOW, order);
                ask_rest(at + WINDOW, order);
                if let Some(entry) = entry_at(at + WINDOW / 2, order) {
                    chunks.prefetch_before(terms.entries[entry as usize].tail);
                    places.tail(entry).into_iter().for_each(|tail| chunks.prefetch_before(tail));
                }
                let number = sort::entry_of(order[at]);
                let entry = &terms.entries[number as usize];
                chunks.parts(entry.tail, &mut parts);
                let last = (entry.doc, entry.term_freq);
                let postings = PostingsIter::new(chunks, &parts, last, limit, &self.void);
                let deltas = places.deltas(number, chunks, &mut delta_parts);
                if entry.key.is_long() {
                    let term = terms.long(entry.key);
                    visit((term, head(term)), postings, deltas)?;
                } else {
                    let (bytes, len) = entry.key.bytes();
                    visit((&bytes[..len], entry.key.head()), postings, deltas)?;
                }
            }
            start = end;
        }
        Ok(())
    }
}
