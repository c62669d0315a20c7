//! How many distinct terms several segments have together: their sorted terms are merged, in parallel slices.

use crate::error::{Error, Result};
use crate::segment::{Segment, TermsIter};

/// Distinct terms over all segments.
pub(super) fn count_distinct(segments: &[Segment]) -> Result<u64> {
    match segments {
        [] => return Ok(0),
        [only] => return Ok(only.stats().terms),
        _ => {}
    }
    let cuts = cuts(segments, std::thread::available_parallelism().map_or(1, usize::from));
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
fn cuts(segments: &[Segment], slices: usize) -> Vec<Option<Vec<u8>>> {
    let largest = segments.iter().map(Segment::sparse).max_by_key(|terms| terms.blocks());
    let inner = (1..slices).filter_map(|i| {
        let terms = largest?;
        terms.block_prefix(terms.blocks() * i / slices).map(|prefix| Some(prefix.to_be_bytes().to_vec()))
    });
    let mut cuts: Vec<_> = std::iter::once(None).chain(inner).collect();
    cuts.dedup();
    cuts.push(None);
    cuts
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
    let mut count = 0;
    let mut least = Vec::new();
    while let Some(first) = open.iter().map(|iter| iter.term()).min() {
        least.clear();
        least.extend_from_slice(first);
        count += 1;
        let mut at = 0;
        while at < open.len() {
            let goes_on = open[at].term() != least.as_slice() || (open[at].step()? && inside(&open[at]));
            if goes_on {
                at += 1;
            } else {
                open.swap_remove(at);
            }
        }
    }
    Ok(count)
}
