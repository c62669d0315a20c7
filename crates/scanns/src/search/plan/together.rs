//! Work that all threads that need its result do together, part by part.

use std::sync::{Arc, Condvar, Mutex};

use crate::error::Result;
use crate::sys::{lock, wait};

/// A value of type `T` that is joined from parts of type `P`. It is found on first use, by all threads that
/// need it at that time.
pub(crate) struct FindTogether<P, T> {
    state: Mutex<PartsFound<P, T>>,
    /// Notified when the last part was found, or finding a part has failed.
    changed: Condvar,
}

/// How much was found.
struct PartsFound<P, T> {
    joined: Option<Arc<T>>,
    /// By part; `None` for parts that were not found yet.
    found: Vec<Option<P>>,
    /// The first part that nobody has taken.
    next: usize,
    /// Parts that were taken but not found.
    again: Vec<usize>,
    /// The number of parts that were not found yet.
    missing: usize,
    has_begun: bool,
}

impl<P, T> Default for FindTogether<P, T> {
    fn default() -> Self {
        let nothing = PartsFound {
            joined: None,
            found: Vec::new(),
            next: 0,
            again: Vec::new(),
            missing: 0,
            has_begun: false,
        };
        FindTogether { state: Mutex::new(nothing), changed: Condvar::new() }
    }
}

impl<P, T> FindTogether<P, T> {
    /// The value. If it is not known, this thread finds parts until no more are left, waits for the others,
    /// and joins all parts in order. All callers must pass equal arguments.
    ///
    /// # Errors
    /// An error from `find`. The next caller tries the part again.
    pub(crate) fn get_or_find(
        &self,
        parts: usize,
        find: impl Fn(usize) -> Result<P>,
        join: impl Fn(Vec<P>) -> T,
    ) -> Result<Arc<T>> {
        let mut state = lock(&self.state);
        loop {
            if let Some(joined) = &state.joined {
                return Ok(Arc::clone(joined));
            }
            // Another thread may have forgotten the value while this one waited.
            if !state.has_begun {
                state.found.resize_with(parts, || None);
                (state.missing, state.has_begun) = (parts, true);
            }
            if state.missing == 0 {
                let found = std::mem::take(&mut state.found);
                state.joined = Some(Arc::new(join(found.into_iter().flatten().collect())));
                self.changed.notify_all();
                continue;
            }
            let Some(part) = state.take() else {
                state = wait(&self.changed, state);
                continue;
            };
            drop(state);
            let taken = TakenPart { of: self, part };
            let found = find(part)?;
            std::mem::forget(taken);
            state = lock(&self.state);
            if let Some(place) = state.found.get_mut(part) {
                *place = Some(found);
            }
            state.missing -= 1;
        }
    }

    /// Forgets the value if it is known.
    pub(crate) fn forget(&self) {
        let mut state = lock(&self.state);
        if state.joined.take().is_some() {
            (state.next, state.has_begun) = (0, false);
        }
    }
}

impl<P, T> PartsFound<P, T> {
    /// A part that nobody works on.
    fn take(&mut self) -> Option<usize> {
        let again = self.again.pop();
        again.or_else(|| {
            let next = self.next;
            self.next += usize::from(next < self.found.len());
            (next < self.found.len()).then_some(next)
        })
    }
}

/// A part that this thread works on. If it ends without a result, another thread may take it.
struct TakenPart<'f, P, T> {
    of: &'f FindTogether<P, T>,
    part: usize,
}

impl<P, T> Drop for TakenPart<'_, P, T> {
    fn drop(&mut self) {
        lock(&self.of.state).again.push(self.part);
        self.of.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::error::Error;

    #[test]
    fn threads_find_each_part_once_and_share_the_result() {
        for parts in [0, 1, 2, 50] {
            let (together, found) = (FindTogether::default(), AtomicUsize::new(0));
            let get = || {
                let find = |part| {
                    found.fetch_add(1, Ordering::Relaxed);
                    std::thread::yield_now();
                    Ok(part)
                };
                assert_eq!(
                    *together.get_or_find(parts, find, |all| all).unwrap(),
                    (0..parts).collect::<Vec<_>>()
                );
            };
            std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(get))));
            assert_eq!(found.load(Ordering::Relaxed), parts);
            together.forget();
            get();
            assert_eq!(found.load(Ordering::Relaxed), 2 * parts);
        }
    }

    #[test]
    fn a_value_that_is_forgotten_at_any_time_is_found_again() {
        let together = FindTogether::default();
        let get = || {
            for _ in 0..2_000 {
                let found = together.get_or_find(3, Ok, |all: Vec<usize>| all.len()).unwrap();
                assert_eq!(*found, 3);
                together.forget();
            }
        };
        std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(get))));
    }

    #[test]
    fn parts_that_failed_are_tried_again_by_threads_that_wait() {
        for panics in [false, true] {
            let (together, calls) = (FindTogether::default(), AtomicUsize::new(0));
            let find = |part: usize| {
                let call = calls.fetch_add(1, Ordering::Relaxed);
                std::thread::yield_now();
                match call % 3 {
                    1 if panics => panic!("expected by this test"),
                    1 => Err(Error::corrupt("part", part.to_string())),
                    _ => Ok(part),
                }
            };
            let get = || together.get_or_find(20, find, |all: Vec<usize>| all.len());
            let results: Vec<_> = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..15).map(|_| scope.spawn(get)).collect();
                threads.into_iter().map(|thread| thread.join()).collect()
            });
            assert!(results.iter().flatten().flatten().all(|found| **found == 20));
            assert!(results.iter().any(|result| !matches!(result, Ok(Ok(_)))));
            // Each part needs a call that succeeds, and fewer than 15 threads have failed.
            assert!(results.iter().any(|result| matches!(result, Ok(Ok(_)))));
        }
    }
}
