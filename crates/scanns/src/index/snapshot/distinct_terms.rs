//! Counts the distinct terms of several segments by merging their sorted terms, in parallel slices.

use std::any::Any;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::codec::head;
use crate::error::{Error, Result};
use crate::segment::{Segment, TermsIter};

/// The number of distinct terms over all segments.
pub(crate) fn count_distinct(segments: &[Segment]) -> Result<u64> {
    match segments {
        [] => return Ok(0),
        [only] => return Ok(only.field_stats().terms),
        _ => {}
    }
    let cuts = slice_bounds(segments, std::thread::available_parallelism().map_or(1, usize::from))?;
    std::thread::scope(|scope| {
        let (mut threads, mut own) = (Vec::new(), 0);
        for pair in cuts.windows(2) {
            let count = || count_slice(segments, pair[0].clone(), pair[1].clone());
            match std::thread::Builder::new().spawn_scoped(scope, count) {
                Ok(thread) => threads.push(thread),
                // Without another thread, this one counts.
                Err(_) => own += count_slice(segments, pair[0].clone(), pair[1].clone())?,
            }
        }
        let join =
            |payload: Box<dyn Any + Send>| Err(Error::panicked("a thread that counts terms", &*payload));
        let others: Result<u64> = threads.into_iter().map(|thread| thread.join().unwrap_or_else(join)).sum();
        Ok(own + others?)
    })
}

/// Bounds of slices of the terms of about equal size; `None` at both ends.
fn slice_bounds(segments: &[Segment], slices: usize) -> Result<Vec<Option<Vec<u8>>>> {
    let largest = segments.iter().map(Segment::dictionary).max_by_key(|terms| terms.blocks());
    let mut cuts = vec![None];
    for i in 1..slices {
        let Some(terms) = largest else { break };
        let prefix = terms.block_prefix(terms.blocks() * i / slices)?;
        cuts.extend(prefix.map(|prefix| Some(prefix.to_be_bytes().to_vec())));
    }
    cuts.dedup();
    cuts.push(None);
    Ok(cuts)
}

/// The number of distinct terms in `from..to`.
fn count_slice(segments: &[Segment], from: Option<Vec<u8>>, to: Option<Vec<u8>>) -> Result<u64> {
    let from = from.unwrap_or_default();
    let inside = |iter: &TermsIter<'_>| to.as_ref().is_none_or(|to| iter.term() < to.as_slice());
    let mut open = Vec::new();
    for segment in segments {
        let mut terms = segment.terms_from(&from)?;
        if terms.step()? && inside(&terms) {
            open.push(terms);
        }
    }
    count_merged(open, inside)
}

/// What a cursor found at its next term.
#[derive(PartialEq, Eq)]
enum CursorStep {
    /// A term with the same head.
    SameHead,
    /// A term with a later head.
    LaterHead,
    /// The end of the slice.
    End,
}

/// The number of distinct terms of the cursors `open`, up to the first term of each that is not `inside`.
///
/// A heap orders the cursors by the heads of their terms, which are numbers. Only terms with the same head
/// are compared.
fn count_merged<'a>(mut open: Vec<TermsIter<'a>>, inside: impl Fn(&TermsIter<'a>) -> bool) -> Result<u64> {
    let mut heap: BinaryHeap<_> =
        open.iter().enumerate().map(|(at, iter)| Reverse((head(iter.term()), at))).collect();
    let (mut count, mut alike, mut least) = (0, Vec::new(), Vec::new());
    while let Some(Reverse((first, at))) = heap.pop() {
        let step = |iter: &mut TermsIter<'a>| {
            if !(iter.step()? && inside(iter)) {
                return Ok(CursorStep::End);
            }
            Ok(if head(iter.term()) == first { CursorStep::SameHead } else { CursorStep::LaterHead })
        };
        alike.push(at);
        while heap.peek().is_some_and(|Reverse((other, _))| *other == first) {
            alike.extend(heap.pop().map(|Reverse((_, at))| at));
        }
        while !alike.is_empty() {
            count += 1;
            let several = alike.len() > 1;
            if several && let Some(term) = alike.iter().map(|&at| open[at].term()).min() {
                term.clone_into(&mut least);
            }
            let mut i = 0;
            while let Some(&at) = alike.get(i) {
                let is_later = several && open[at].term() != least;
                let next = if is_later { CursorStep::SameHead } else { step(&mut open[at])? };
                if next == CursorStep::SameHead {
                    i += 1;
                    continue;
                }
                alike.swap_remove(i);
                if next == CursorStep::LaterHead {
                    heap.push(Reverse((head(open[at].term()), at)));
                }
            }
        }
    }
    Ok(count)
}
