//! How many distinct terms several segments have together: their sorted terms are merged, in parallel slices.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::codec::head;
use crate::error::{Error, Result};
use crate::segment::{Segment, TermsIter};

/// Distinct terms over all segments.
pub(super) fn count_distinct(segments: &[Segment]) -> Result<u64> {
    match segments {
        [] => return Ok(0),
        [only] => return Ok(only.field_stats().terms),
        _ => {}
    }
    let cuts = cuts(segments, std::thread::available_parallelism().map_or(1, usize::from))?;
    let failed = || Error::System {
        action: "count terms",
        source: std::io::Error::other("a thread ended unexpectedly"),
        remedy: "this is a fault in the program: please report it",
    };
    std::thread::scope(|scope| {
        let slices = cuts.windows(2).map(|pair| (pair[0].clone(), pair[1].clone()));
        let threads: Vec<_> =
            slices.map(|(from, to)| scope.spawn(move || count_slice(segments, from, to))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| Err(failed()))).sum()
    })
}

/// Bounds of about equal slices of the terms; `None` is an end.
fn cuts(segments: &[Segment], slices: usize) -> Result<Vec<Option<Vec<u8>>>> {
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

/// Distinct terms in `from..to`.
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

/// Where a step led.
#[derive(PartialEq, Eq)]
enum Next {
    /// To a term of the same head.
    Alike,
    /// To a term of a later head.
    Later,
    /// Out of the slice.
    End,
}

/// Distinct terms of `open`, each at its first, up to the first that is not `inside`.
///
/// What comes next is decided by the heads of terms, numbers in a heap; only terms of the same head are compared.
fn count_merged<'a>(mut open: Vec<TermsIter<'a>>, inside: impl Fn(&TermsIter<'a>) -> bool) -> Result<u64> {
    let mut heap: BinaryHeap<_> =
        open.iter().enumerate().map(|(at, iter)| Reverse((head(iter.term()), at))).collect();
    let (mut count, mut alike, mut least) = (0, Vec::new(), Vec::new());
    while let Some(Reverse((first, at))) = heap.pop() {
        let step = |iter: &mut TermsIter<'a>| {
            Ok(match iter.step()? && inside(iter) {
                false => Next::End,
                true if head(iter.term()) == first => Next::Alike,
                true => Next::Later,
            })
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
                let next = match several && open[at].term() != least {
                    true => Next::Alike,
                    false => step(&mut open[at])?,
                };
                if next == Next::Alike {
                    i += 1;
                    continue;
                }
                alike.swap_remove(i);
                if next == Next::Later {
                    heap.push(Reverse((head(open[at].term()), at)));
                }
            }
        }
    }
    Ok(count)
}
