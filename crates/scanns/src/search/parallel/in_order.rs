//! Visits all hits in document order while several threads find them.
//!
//! The calling thread visits the hits. If no thread has taken the next range, it takes the range and passes
//! the hits to the visitor as they are found. Helpers take the ranges after it and hold their hits until it
//! is their turn. They may be only a few ranges ahead, which bounds memory: eight bytes, or twice that while
//! a buffer grows, for each document of [`AHEAD`] ranges per thread. A leaf that is not cut is one range. A
//! visitor that breaks waits until the helpers have noticed.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex};

use crate::error::{Error, Result};
use crate::search::exec::goal::Sink;
use crate::search::parallel::{Help, LeafRange, SearchRanges};
use crate::sys::{lock, wait};

/// Number of ranges per thread that may be in progress or waiting at the same time.
const AHEAD: usize = 2;

/// Sends the hits of a range to a sink.
pub(crate) type RunRange<'r> = dyn Fn(&LeafRange, &mut Sink) -> Result<ControlFlow<()>> + Sync + 'r;

/// Takes hits of a leaf.
pub(crate) type VisitHits<'v> = dyn FnMut(usize, &[u32], &[f32]) -> ControlFlow<()> + 'v;

/// Visits the hits of all ranges until the visitor breaks, a range fails, or time is up.
pub(crate) fn visit_in_order(
    ranges: &SearchRanges,
    is_up: &(dyn Fn() -> bool + Sync),
    run: &RunRange,
    visit: &mut VisitHits,
) -> Result<()> {
    let Some(help) = ranges.help else {
        for range in &ranges.all {
            if is_up() || run(range, &mut |docs, scores| visit(range.leaf, docs, scores))?.is_break() {
                break;
            }
        }
        return Ok(());
    };
    share_out(&ranges.all, help, is_up, run, visit)
}

fn share_out(
    ranges: &[LeafRange],
    help: Help<'_>,
    is_up: &(dyn Fn() -> bool + Sync),
    run: &RunRange,
    visit: &mut VisitHits,
) -> Result<()> {
    let ahead = AHEAD * (help.wanted + 1);
    let (turns, changed) = (Mutex::default(), Condvar::new());
    let order = InOrder { ranges, run, ahead, turns, changed, ended: false.into() };
    help.helpers.share(
        help.wanted,
        &|| {
            while let Some(at) = order.claim() {
                order.gather(at);
            }
        },
        || {
            let _end = End(&order);
            for (at, range) in ranges.iter().enumerate() {
                if is_up() || order.turn(at, range, visit)?.is_break() {
                    break;
                }
            }
            Ok(())
        },
    )
}

/// The hits of a range, and how it ended.
#[derive(Default)]
struct HeldHits {
    docs: Vec<u32>,
    scores: Vec<f32>,
    failed: Option<Error>,
    /// True if the thread that worked on the range panicked.
    lost: bool,
}

#[derive(Default)]
struct Turns {
    /// The first range that no thread has taken.
    next: usize,
    /// Ranges that have been visited.
    visited: usize,
    ready: BTreeMap<usize, HeldHits>,
    /// Buffers for reuse.
    spare: Vec<HeldHits>,
}

struct InOrder<'o> {
    ranges: &'o [LeafRange],
    run: &'o RunRange<'o>,
    ahead: usize,
    turns: Mutex<Turns>,
    changed: Condvar,
    ended: AtomicBool,
}

impl InOrder<'_> {
    fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }

    /// Waits until the next range is near enough and takes it for a helper; `None` at the end.
    fn claim(&self) -> Option<usize> {
        let mut turns = lock(&self.turns);
        loop {
            if self.has_ended() || turns.next == self.ranges.len() {
                return None;
            }
            if turns.next < turns.visited + self.ahead {
                turns.next += 1;
                return Some(turns.next - 1);
            }
            turns = wait(&self.changed, turns);
        }
    }

    /// Finds and holds the hits of a claimed range.
    fn gather(&self, at: usize) {
        let spare = lock(&self.turns).spare.pop().unwrap_or_default();
        let mut finished = Finished { order: self, at, held: spare };
        finished.held.lost = true;
        let HeldHits { docs, scores, .. } = &mut finished.held;
        let outcome = (self.run)(&self.ranges[at], &mut |some, of_some| {
            docs.extend_from_slice(some);
            scores.extend_from_slice(of_some);
            if self.has_ended() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        (finished.held.failed, finished.held.lost) = (outcome.err(), false);
    }

    /// Visits the hits of range `at`; all ranges before it have been visited.
    fn turn(&self, at: usize, range: &LeafRange, visit: &mut VisitHits) -> Result<ControlFlow<()>> {
        let mut turns = lock(&self.turns);
        let flow = loop {
            if let Some(mut held) = turns.ready.remove(&at) {
                drop(turns);
                let flow = visit(range.leaf, &held.docs, &held.scores);
                if let (ControlFlow::Continue(()), Some(error)) = (flow, held.failed.take()) {
                    return Err(error);
                }
                let lost = held.lost;
                held.docs.clear();
                held.scores.clear();
                turns = lock(&self.turns);
                turns.spare.push(held);
                // The panic of the helper is raised when it is joined.
                break if lost { ControlFlow::Break(()) } else { flow };
            } else if turns.next == at {
                turns.next += 1;
                drop(turns);
                let flow = (self.run)(range, &mut |docs, scores| visit(range.leaf, docs, scores))?;
                turns = lock(&self.turns);
                break flow;
            } else if turns.next < self.ranges.len() && turns.next < at + self.ahead {
                // A helper works on this range: work on another one meanwhile.
                turns.next += 1;
                let other = turns.next - 1;
                drop(turns);
                self.gather(other);
                turns = lock(&self.turns);
            } else {
                turns = wait(&self.changed, turns);
            }
        };
        turns.visited = at + 1;
        drop(turns);
        self.changed.notify_all();
        Ok(flow)
    }
}

/// Marks a range as finished even if finding its hits panics, so that no thread waits for it forever.
struct Finished<'o, 'p> {
    order: &'o InOrder<'p>,
    at: usize,
    held: HeldHits,
}

impl Drop for Finished<'_, '_> {
    fn drop(&mut self) {
        lock(&self.order.turns).ready.insert(self.at, std::mem::take(&mut self.held));
        self.order.changed.notify_all();
    }
}

/// Tells the helpers to stop, however visiting ends.
struct End<'o, 'p>(&'o InOrder<'p>);

impl Drop for End<'_, '_> {
    fn drop(&mut self) {
        // Under the lock, so that no helper is between checking and waiting.
        let _turns = lock(&self.0.turns);
        self.0.ended.store(true, Ordering::Relaxed);
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;
    use crate::sys::Helpers;

    fn ranges(count: usize) -> Vec<LeafRange> {
        (0..count).map(|leaf| LeafRange { leaf, first: 0, end: 1 }).collect()
    }

    #[test]
    fn helpers_are_never_further_ahead_than_memory_allows() {
        let helpers = Helpers::new(3);
        let ranges = SearchRanges { all: ranges(300), help: Some(Help { helpers: &helpers, wanted: 3 }) };
        let visited = AtomicUsize::new(0);
        let run = |range: &LeafRange, sink: &mut Sink| {
            assert!(range.leaf <= visited.load(Ordering::SeqCst) + 4 * AHEAD);
            Ok(sink(&[7, 8], &[0.5, range.leaf as f32]))
        };
        let mut leaves = Vec::new();
        visit_in_order(&ranges, &|| false, &run, &mut |leaf, docs, scores| {
            assert!(docs == [7, 8] && scores == [0.5, leaf as f32]);
            leaves.push(leaf);
            if leaf % 7 == 0 {
                std::thread::yield_now();
            }
            visited.store(leaf, Ordering::SeqCst);
            ControlFlow::Continue(())
        })
        .unwrap();
        assert!(leaves.into_iter().eq(0..300));
    }

    #[test]
    fn the_error_of_a_range_comes_after_the_hits_before_it() {
        let helpers = Helpers::new(2);
        let ranges = SearchRanges { all: ranges(50), help: Some(Help { helpers: &helpers, wanted: 2 }) };
        for failing in [0, 1, 20, 49] {
            let run = |range: &LeafRange, sink: &mut Sink| {
                let flow = sink(&[1], &[1.0]);
                if range.leaf >= failing {
                    Err(Error::corrupt("a leaf", range.leaf.to_string()))
                } else {
                    Ok(flow)
                }
            };
            let mut seen = 0;
            let outcome = visit_in_order(&ranges, &|| false, &run, &mut |_, docs, _| {
                seen += docs.len();
                ControlFlow::Continue(())
            });
            let Err(Error::Corrupt { what, .. }) = outcome else { panic!("it must fail") };
            assert_eq!((what, seen), (failing.to_string(), failing + 1));
        }
    }
}
