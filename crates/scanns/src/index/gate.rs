//! Stops all index threads while one of them writes a segment, where that is asked for.
//!
//! Segments are independent, so nothing of this is needed; it is there to measure what going on is worth. A thread is at
//! work from the time it has a block until it is done with it, and holds nothing while it waits for the next one: so
//! whoever wants to write gets to it as soon as the others are done with their blocks, and a thread that ends, fails or
//! is cancelled lets go of the gate however it ends.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::FlushPolicy;

/// What index threads pass to work, and close to write.
#[derive(Debug)]
pub(super) struct Gate {
    policy: FlushPolicy,
    world: RwLock<()>,
}

/// Held by a thread while it works; nothing under [`FlushPolicy::Concurrent`].
pub(super) type Working<'a> = Option<RwLockReadGuard<'a, ()>>;

impl Gate {
    pub(super) fn new(policy: FlushPolicy) -> Self {
        Gate { policy, world: RwLock::new(()) }
    }

    /// Waits until no other thread writes; none begins to while the result is held.
    pub(super) fn work(&self) -> Working<'_> {
        let stops = self.policy == FlushPolicy::StopTheWorld;
        stops.then(|| self.world.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits until no other thread works or writes; none does while the result is held. Whoever calls this must have
    /// let go of what [`Gate::work`] gave.
    pub(super) fn write(&self) -> Option<RwLockWriteGuard<'_, ()>> {
        let stops = self.policy == FlushPolicy::StopTheWorld;
        stops.then(|| self.world.write().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn nobody_works_while_somebody_writes() {
        let gate = Gate::new(FlushPolicy::StopTheWorld);
        let (working, writing, overlaps) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let (gate, working, writing, overlaps) = (&gate, &working, &writing, &overlaps);
                scope.spawn(move || {
                    for step in 0..2000 {
                        if step % 10 == thread {
                            let _all = gate.write();
                            let others =
                                working.load(Ordering::SeqCst) + writing.fetch_add(1, Ordering::SeqCst);
                            overlaps.fetch_add(others, Ordering::SeqCst);
                            writing.fetch_sub(1, Ordering::SeqCst);
                        } else {
                            let _one = gate.work();
                            working.fetch_add(1, Ordering::SeqCst);
                            overlaps.fetch_add(writing.load(Ordering::SeqCst), Ordering::SeqCst);
                            working.fetch_sub(1, Ordering::SeqCst);
                        }
                    }
                });
            }
        });
        assert_eq!(overlaps.into_inner(), 0);
    }

    #[test]
    fn a_thread_that_dies_leaves_the_gate_open() {
        let gate = Gate::new(FlushPolicy::StopTheWorld);
        for writes in [true, false] {
            let died = std::thread::scope(|scope| {
                scope
                    .spawn(|| {
                        let _held = (writes.then(|| gate.write()), (!writes).then(|| gate.work()));
                        std::panic::resume_unwind(Box::new("died"));
                    })
                    .join()
            });
            assert!(died.is_err());
            drop(gate.write());
            drop(gate.work());
        }
    }

    #[test]
    fn without_stopping_nobody_waits() {
        let gate = Gate::new(FlushPolicy::Concurrent);
        assert!(gate.work().is_none() && gate.write().is_none());
    }
}
