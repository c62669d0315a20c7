//! Threads that help with work that borrows from the stack of another thread.
//!
//! A thread with parallel work starts on it itself, and free helpers join in. When the owner has finished,
//! helpers that have not begun are no longer admitted, so that nobody waits for busy helpers. The owner waits
//! for the helpers that have begun, which is why the work may borrow from its stack.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;

use super::lock::{lock, unpoisoned, wait};

/// Threads that are started when they are first needed, and end when this value is dropped.
#[derive(Debug)]
pub struct Helpers {
    shared: Arc<Shared>,
    most: usize,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    /// Notified when there is work, or when the helpers must end.
    wanted: Condvar,
    /// Notified when a helper has finished.
    done: Condvar,
}

#[derive(Debug, Default)]
struct State {
    jobs: Vec<Job>,
    /// The number of jobs so far.
    number: u64,
    closing: bool,
}

/// Work that its owner waits for.
#[derive(Debug)]
struct Job {
    number: u64,
    work: Work,
    /// The number of helpers that may still begin.
    open: usize,
    /// The number of helpers that have begun and not finished.
    busy: usize,
    panic: Option<Panic>,
}

struct Panic(Box<dyn Any + Send>);

impl std::fmt::Debug for Panic {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Panic")
    }
}

/// Work without its lifetime.
#[derive(Clone, Copy)]
struct Work(*const (dyn Fn() + Sync));

/// The stack size of a helper in bytes: the usual size of a main thread's stack, since work may nest equally
/// deep.
const STACK: usize = 8 << 20;

impl std::fmt::Debug for Work {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Work")
    }
}

// SAFETY: what it points to is `Sync`, and nothing but shared references is made of it.
unsafe impl Send for Work {}

impl Shared {
    /// Nothing panics under the lock; if it did, the state would still be consistent.
    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// The loop of a helper thread.
    fn help(&self) {
        let mut state = self.lock();
        loop {
            if let Some(job) = state.jobs.iter_mut().find(|job| job.open > 0) {
                (job.open, job.busy) = (job.open - 1, job.busy + 1);
                let (number, work) = (job.number, job.work);
                drop(state);
                // SAFETY: the owner of the work waits until no helper is busy with it, and this one was noted
                // as busy under the lock while the job was there.
                let work = unsafe { &*work.0 };
                let outcome = catch_unwind(AssertUnwindSafe(work));
                state = self.lock();
                let mut second = outcome.err();
                if let Some(job) = state.jobs.iter_mut().find(|job| job.number == number) {
                    job.busy -= 1;
                    if job.panic.is_none() {
                        job.panic = second.take().map(Panic);
                    }
                }
                self.done.notify_all();
                if second.is_some() {
                    // Dropping this value may panic, too, and must not do so under the lock.
                    drop(state);
                    drop(second);
                    state = self.lock();
                }
            } else if state.closing {
                return;
            } else {
                state = wait(&self.wanted, state);
            }
        }
    }
}

/// A job in the list, until it is removed.
struct Posted<'h> {
    shared: &'h Shared,
    number: u64,
}

impl Posted<'_> {
    /// Waits for the helpers that have begun; returns the panic of one of them, if there was one.
    fn take_back(&self) -> Option<Panic> {
        let mut state = self.shared.lock();
        loop {
            let at = state.jobs.iter().position(|job| job.number == self.number)?;
            let job = state.jobs.get_mut(at)?;
            job.open = 0;
            if job.busy == 0 {
                return state.jobs.swap_remove(at).panic;
            }
            state = wait(&self.shared.done, state);
        }
    }
}

impl Drop for Posted<'_> {
    fn drop(&mut self) {
        self.take_back();
    }
}

impl Helpers {
    /// Creates helpers; at most `most` threads are started.
    pub fn new(most: usize) -> Self {
        Helpers { shared: Arc::default(), most, threads: Mutex::default() }
    }

    /// The maximum number of threads.
    pub fn most(&self) -> usize {
        self.most
    }

    /// Runs `own` on this thread, and meanwhile `work` once on each of up to `helpers` other threads, if they
    /// are free. Returns when all have finished. Work must not wait for other work to begin.
    pub fn share<T>(&self, helpers: usize, work: &(dyn Fn() + Sync), own: impl FnOnce() -> T) -> T {
        let helpers = helpers.min(self.most);
        if helpers == 0 {
            return own();
        }
        self.start(helpers);
        // SAFETY: the lifetime is all that changes. The pointer is used only while the job is in the list, or
        // by a helper that is busy with it; `Posted` takes it back, however this function ends,
        // before it returns.
        let work = Work(unsafe {
            std::mem::transmute::<*const (dyn Fn() + Sync + '_), *const (dyn Fn() + Sync + 'static)>(work)
        });
        let mut state = self.shared.lock();
        let number = state.number;
        state.number += 1;
        state.jobs.push(Job { number, work, open: helpers, busy: 0, panic: None });
        drop(state);
        let posted = Posted { shared: &self.shared, number };
        (0..helpers).for_each(|_| self.shared.wanted.notify_one());
        let result = own();
        if let Some(Panic(panic)) = posted.take_back() {
            resume_unwind(panic);
        }
        result
    }

    /// Starts helpers until there are `count`. It is harmless if one cannot be started.
    fn start(&self, helpers: usize) {
        let mut threads = lock(&self.threads);
        while threads.len() < helpers {
            let shared = Arc::clone(&self.shared);
            let name = format!("helper-{}", threads.len());
            let started =
                std::thread::Builder::new().name(name).stack_size(STACK).spawn(move || shared.help());
            let Ok(thread) = started else { return };
            threads.push(thread);
        }
    }
}

impl Drop for Helpers {
    fn drop(&mut self) {
        self.shared.lock().closing = true;
        self.shared.wanted.notify_all();
        let threads = unpoisoned(self.threads.get_mut());
        for thread in threads.drain(..) {
            // The owner of the work has received the panic.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// Counts to `to` with any helpers that are free.
    fn count(helpers: &Helpers, to: usize) -> usize {
        let (next, counted) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let work = || {
            while next.fetch_add(1, Ordering::Relaxed) < to {
                counted.fetch_add(1, Ordering::Relaxed);
            }
        };
        helpers.share(3, &work, work);
        counted.into_inner()
    }

    #[test]
    fn all_work_is_done_when_the_call_returns() {
        // Miri, which looks for races at each switch of threads, takes seconds for a round.
        let rounds = if cfg!(miri) { 20 } else { 2_000 };
        for most in 0..4 {
            let helpers = Helpers::new(most);
            for round in 0..rounds {
                assert_eq!(count(&helpers, round % 50), round % 50);
            }
        }
    }

    #[test]
    fn several_owners_and_owners_within_work_do_not_wait_for_each_other() {
        let helpers = Helpers::new(2);
        let inner = || assert_eq!(count(&helpers, 20), 20);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| (0..200).for_each(|_| helpers.share(2, &inner, inner)));
            }
        });
    }

    #[test]
    fn a_panic_of_a_helper_reaches_the_owner_and_others_go_on() {
        let helpers = Helpers::new(1);
        let began = AtomicUsize::new(0);
        let fail = || {
            began.store(1, Ordering::Relaxed);
            panic!("as it should");
        };
        let wait = || {
            while began.load(Ordering::Relaxed) == 0 {
                std::thread::yield_now();
            }
        };
        let outcome = catch_unwind(AssertUnwindSafe(|| helpers.share(1, &fail, wait)));
        assert_eq!(outcome.unwrap_err().downcast_ref(), Some(&"as it should"));
        assert_eq!(count(&helpers, 9), 9);
        let outcome = catch_unwind(AssertUnwindSafe(|| helpers.share(1, &|| (), || panic!("own"))));
        assert!(outcome.is_err());
        assert_eq!(count(&helpers, 9), 9);
    }
}
