//! Locks that ignore poisoning.
//!
//! A lock is poisoned when a thread panics while it holds the guard. This crate joins its threads and reports
//! a panic there, and its critical sections leave the data consistent at every point where they can panic.
//! Other threads can therefore continue to use the data, and a second panic about the poison would hide the
//! first one.

use std::sync::{Condvar, LockResult, Mutex, MutexGuard, PoisonError};

/// Locks `mutex`, even if it is poisoned.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    unpoisoned(mutex.lock())
}

/// Waits for a notification of `condition`, even if the mutex is poisoned.
pub fn wait<'g, T>(condition: &Condvar, guard: MutexGuard<'g, T>) -> MutexGuard<'g, T> {
    unpoisoned(condition.wait(guard))
}

/// Unwraps the result of any other operation on a lock, even if the lock is poisoned. Works with loom's types
/// as well.
pub fn unpoisoned<T>(result: LockResult<T>) -> T {
    result.unwrap_or_else(PoisonError::into_inner)
}
