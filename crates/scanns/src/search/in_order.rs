//! All hits on several threads, for a visitor who gets them in the order of documents.
//!
//! The thread that asks visits. Where the part that comes next is nobody's yet it takes it and gives its hits to the visitor
//! as they are found. Helpers take the parts after it and keep their hits until it is their turn. They are only so many parts
//! ahead, so memory is bounded: by eight bytes, or twice that while it grows, for each document of [`AHEAD`] parts for each
//! thread. A leaf that is not cut is one part. A visitor who breaks waits until helpers look up from the part they are at.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::run::Sink;
use super::share::{Part, Parts};
use crate::error::{Error, Result};
use crate::sys::Helpers;

/// Parts for each thread that may be worked on or waiting at once.
const AHEAD: usize = 2;

/// Gives the hits of a part to a sink.
pub(super) type Run<'r> = dyn Fn(&Part, &mut Sink) -> Result<ControlFlow<()>> + Sync + 'r;

/// Takes hits of a leaf.
pub(super) type Visit<'v> = dyn FnMut(usize, &[u32], &[f32]) -> ControlFlow<()> + 'v;

/// Visits the hits of all parts until the visitor breaks, a part fails, or time is up.
pub(super) fn visit_in_order(
    parts: &Parts,
    is_up: &(dyn Fn() -> bool + Sync),
    run: &Run,
    visit: &mut Visit,
) -> Result<()> {
    let Some((helpers, wanted)) = parts.helpers else {
        for part in &parts.all {
            if is_up() || run(part, &mut |docs, scores| visit(part.leaf, docs, scores))?.is_break() {
                break;
            }
        }
        return Ok(());
    };
    share_out(&parts.all, (helpers, wanted), is_up, run, visit)
}

fn share_out(
    parts: &[Part],
    (helpers, wanted): (&Helpers, usize),
    is_up: &(dyn Fn() -> bool + Sync),
    run: &Run,
    visit: &mut Visit,
) -> Result<()> {
    let ahead = AHEAD * (wanted + 1);
    let order =
        Order { parts, run, ahead, turns: Mutex::default(), changed: Condvar::new(), ended: false.into() };
    helpers.share(
        wanted,
        &|| {
            while let Some(at) = order.claim() {
                order.gather(at);
            }
        },
        || {
            let _end = End(&order);
            for (at, part) in parts.iter().enumerate() {
                if is_up() || order.turn(at, part, visit)?.is_break() {
                    break;
                }
            }
            Ok(())
        },
    )
}

/// The hits of a part, and how it ended.
#[derive(Default)]
struct Gathered {
    docs: Vec<u32>,
    scores: Vec<f32>,
    failed: Option<Error>,
    /// Nobody will finish it.
    lost: bool,
}

#[derive(Default)]
struct Turns {
    /// The first part that nobody has taken.
    next: usize,
    /// Parts that have been visited.
    visited: usize,
    ready: BTreeMap<usize, Gathered>,
    /// Memory to be used again.
    spare: Vec<Gathered>,
}

struct Order<'o> {
    parts: &'o [Part],
    run: &'o Run<'o>,
    ahead: usize,
    turns: Mutex<Turns>,
    changed: Condvar,
    ended: AtomicBool,
}

impl Order<'_> {
    fn lock(&self) -> MutexGuard<'_, Turns> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'t>(&self, turns: MutexGuard<'t, Turns>) -> MutexGuard<'t, Turns> {
        self.changed.wait(turns).unwrap_or_else(PoisonError::into_inner)
    }

    fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }

    /// The next part for a helper, once it is near enough; none at the end.
    fn claim(&self) -> Option<usize> {
        let mut turns = self.lock();
        loop {
            if self.has_ended() || turns.next == self.parts.len() {
                return None;
            }
            if turns.next < turns.visited + self.ahead {
                turns.next += 1;
                return Some(turns.next - 1);
            }
            turns = self.wait(turns);
        }
    }

    /// Keeps the hits of a part that was claimed.
    fn gather(&self, at: usize) {
        let mut found = Finished { order: self, at, found: self.lock().spare.pop().unwrap_or_default() };
        found.found.lost = true;
        let Gathered { docs, scores, .. } = &mut found.found;
        let outcome = (self.run)(&self.parts[at], &mut |some, of_some| {
            docs.extend_from_slice(some);
            scores.extend_from_slice(of_some);
            if self.has_ended() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        (found.found.failed, found.found.lost) = (outcome.err(), false);
    }

    /// Visits the hits of part `at`, those of all before it having been visited.
    fn turn(&self, at: usize, part: &Part, visit: &mut Visit) -> Result<ControlFlow<()>> {
        let mut turns = self.lock();
        let flow = loop {
            if let Some(mut found) = turns.ready.remove(&at) {
                drop(turns);
                let flow = visit(part.leaf, &found.docs, &found.scores);
                if let (ControlFlow::Continue(()), Some(error)) = (flow, found.failed.take()) {
                    return Err(error);
                }
                let lost = found.lost;
                found.docs.clear();
                found.scores.clear();
                turns = self.lock();
                turns.spare.push(found);
                // The panic of the helper follows.
                break if lost { ControlFlow::Break(()) } else { flow };
            } else if turns.next == at {
                turns.next += 1;
                drop(turns);
                let flow = (self.run)(part, &mut |docs, scores| visit(part.leaf, docs, scores))?;
                turns = self.lock();
                break flow;
            } else if turns.next < self.parts.len() && turns.next < at + self.ahead {
                // Somebody is at it; meanwhile there is another.
                turns.next += 1;
                let other = turns.next - 1;
                drop(turns);
                self.gather(other);
                turns = self.lock();
            } else {
                turns = self.wait(turns);
            }
        };
        turns.visited = at + 1;
        drop(turns);
        self.changed.notify_all();
        Ok(flow)
    }
}

/// Hands over a part even if finding its hits panics, so that nobody waits for it.
struct Finished<'o, 'p> {
    order: &'o Order<'p>,
    at: usize,
    found: Gathered,
}

impl Drop for Finished<'_, '_> {
    fn drop(&mut self) {
        self.order.lock().ready.insert(self.at, std::mem::take(&mut self.found));
        self.order.changed.notify_all();
    }
}

/// Sends the helpers home, however visiting ends.
struct End<'o, 'p>(&'o Order<'p>);

impl Drop for End<'_, '_> {
    fn drop(&mut self) {
        // Under the lock, so that nobody is between looking and waiting.
        let _turns = self.0.lock();
        self.0.ended.store(true, Ordering::Relaxed);
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    #[test]
    fn helpers_are_never_further_ahead_than_memory_allows() {
        let all: Vec<Part> = (0..300).map(|leaf| Part { leaf, first: 0, end: 1 }).collect();
        let helpers = Helpers::new(3);
        let parts = Parts { all, helpers: Some((&helpers, 3)) };
        let visited = AtomicUsize::new(0);
        let run = |part: &Part, sink: &mut Sink| {
            assert!(part.leaf <= visited.load(Ordering::SeqCst) + 4 * AHEAD);
            Ok(sink(&[7, 8], &[0.5, part.leaf as f32]))
        };
        let mut leaves = Vec::new();
        visit_in_order(&parts, &|| false, &run, &mut |leaf, docs, scores| {
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
    fn what_a_part_fails_with_comes_after_the_hits_before_it() {
        let all: Vec<Part> = (0..50).map(|leaf| Part { leaf, first: 0, end: 1 }).collect();
        let helpers = Helpers::new(2);
        let parts = Parts { all, helpers: Some((&helpers, 2)) };
        for failing in [0, 1, 20, 49] {
            let run = |part: &Part, sink: &mut Sink| {
                let flow = sink(&[1], &[1.0]);
                match part.leaf >= failing {
                    true => Err(Error::Options(part.leaf.to_string())),
                    false => Ok(flow),
                }
            };
            let mut seen = 0;
            let outcome = visit_in_order(&parts, &|| false, &run, &mut |_, docs, _| {
                seen += docs.len();
                ControlFlow::Continue(())
            });
            let Err(Error::Options(text)) = outcome else { panic!("it must fail") };
            assert_eq!((text, seen), (failing.to_string(), failing + 1));
        }
    }
}
