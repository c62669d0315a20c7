//! Threads that read files, in an order that suits disks.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use super::content::ContentReader;
use super::state::HashState;

/// The time between two calls of [`ReadWork::tick`].
const TICK: Duration = Duration::from_millis(100);

/// How far a search for duplicates has come.
#[derive(Debug, Default)]
pub struct DuplicateProgress {
    /// The bytes of all files whose size another file has.
    pub total: AtomicU64,
    /// The bytes of those of which is known what they are equal to.
    pub done: AtomicU64,
    /// The bytes that were read.
    pub read: AtomicU64,
}

/// Called now and then while files are read, with the hashes so far.
pub type DuplicateTick<'t> = dyn FnMut(&DuplicateProgress, &Mutex<HashState>) + 't;

/// What all files are read with.
pub(super) struct ReadWork<'w> {
    pub(super) threads: usize,
    pub(super) progress: &'w DuplicateProgress,
    pub(super) state: &'w Mutex<HashState>,
    pub(super) stop: &'w AtomicBool,
    pub(super) tick: &'w mut DuplicateTick<'w>,
}

impl ReadWork<'_> {
    /// Calls `each` with every item, on several threads that take the items in order; returns the results in
    /// the order of the items. Results are missing if no thread could take an item.
    pub(super) fn run<T: Sync, R: Send>(
        &mut self,
        items: &[T],
        each: impl Fn(&mut ContentReader<'_>, &T) -> R + Sync,
    ) -> Vec<Option<R>> {
        let next = AtomicUsize::new(0);
        let stop = self.stop;
        let take = || {
            let (mut reader, mut found) = (ContentReader::new(stop), Vec::new());
            while let Some((at, item)) = {
                let at = next.fetch_add(1, Ordering::Relaxed);
                items.get(at).map(|item| (at, item))
            } {
                found.push((at, each(&mut reader, item)));
            }
            found
        };
        let mut found: Vec<(usize, R)> = thread::scope(|scope| {
            let (finished, waiting) = mpsc::channel::<()>();
            let mut threads = Vec::new();
            for _ in 0..self.threads.clamp(1, items.len().max(1)) {
                let (finished, take) = (finished.clone(), &take);
                let work = move || {
                    let found = take();
                    drop(finished);
                    found
                };
                match thread::Builder::new().spawn_scoped(scope, work) {
                    Ok(thread) => threads.push(thread),
                    Err(_) => break,
                }
            }
            drop(finished);
            while !threads.is_empty() && waiting.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                (self.tick)(self.progress, self.state);
            }
            let joined = threads.into_iter().map(|thread| thread.join());
            // A panic goes on in this thread.
            joined.flat_map(|found| found.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
        });
        // What threads have left, for example because none could be started.
        let mut rest: Vec<(usize, R)> = take();
        found.append(&mut rest);
        let mut results: Vec<Option<R>> = items.iter().map(|_| None).collect();
        for (at, result) in found {
            if let Some(slot) = results.get_mut(at) {
                *slot = Some(result);
            }
        }
        results
    }

    /// Counts bytes of files of which is known what they are equal to.
    pub(super) fn done(&self, bytes: u64) {
        self.progress.done.fetch_add(bytes, Ordering::Relaxed);
    }
}
