//! Stops all threads that add documents while one of them writes a segment, through the public interfaces of
//! the library.
//!
//! Segments are independent, so scanns does not need this gate. It exists to measure the benefit of not
//! stopping. A thread adds its documents in [`Gate::working`]. The library writes a segment on the thread
//! that filled it, to a file in the [`GatedDirectory`]. Creating that file waits until no other thread is
//! working, and keeps all of them from continuing until the file is complete.

use std::cell::Cell;
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use scanns::Result;
use scanns::store::{Bytes, Directory, FsDirectory, Output, WriterLock};

/// What other threads do while one writes a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlushPolicy {
    /// They continue.
    Concurrent,
    /// They wait until it is written, as in engines in which all threads fill one buffer.
    StopTheWorld,
}

thread_local! {
    /// True while this thread is counted in [`World::working`].
    static WORKING: Cell<bool> = const { Cell::new(false) };
}

/// Threads pass it to work, and close it to write.
#[derive(Debug)]
pub struct Gate {
    policy: FlushPolicy,
    world: Mutex<World>,
    changed: Condvar,
    /// Segments written so far.
    segments: AtomicU64,
    /// The time spent writing segments, summed over all threads.
    nanoseconds: AtomicU64,
}

#[derive(Debug, Default)]
struct World {
    /// Threads that are adding a document.
    working: usize,
    /// True while a thread writes a segment.
    writing: bool,
}

impl Gate {
    pub fn new(policy: FlushPolicy) -> Arc<Self> {
        Arc::new(Gate {
            policy,
            world: Mutex::default(),
            changed: Condvar::new(),
            segments: AtomicU64::new(0),
            nanoseconds: AtomicU64::new(0),
        })
    }

    /// The number of segments written so far.
    pub fn segments(&self) -> u64 {
        self.segments.load(Ordering::Relaxed)
    }

    /// The time spent writing segments, summed over all threads, without the time that a thread waited for
    /// others.
    pub fn seconds(&self) -> f64 {
        Duration::from_nanos(self.nanoseconds.load(Ordering::Relaxed)).as_secs_f64()
    }

    /// Runs `work`. Meanwhile, no other thread begins to write a segment.
    pub fn working<R>(&self, work: impl FnOnce() -> R) -> R {
        if self.policy == FlushPolicy::Concurrent {
            return work();
        }
        self.enter();
        let done = work();
        self.leave();
        done
    }

    fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enter(&self) {
        let writing = |world: &mut World| world.writing;
        let mut world =
            self.changed.wait_while(self.world(), writing).unwrap_or_else(PoisonError::into_inner);
        world.working += 1;
        WORKING.set(true);
    }

    fn leave(&self) {
        self.world().working -= 1;
        WORKING.set(false);
        self.changed.notify_all();
    }

    /// Waits until no other thread works or writes. Returns true if this thread was working.
    fn begin_writing(&self) -> bool {
        let was_working = WORKING.get();
        if self.policy == FlushPolicy::StopTheWorld {
            if was_working {
                self.leave();
            }
            let busy = |world: &mut World| world.writing || world.working > 0;
            let mut world =
                self.changed.wait_while(self.world(), busy).unwrap_or_else(PoisonError::into_inner);
            world.writing = true;
        }
        was_working
    }

    fn end_writing(&self, was_working: bool, took: Duration) {
        self.segments.fetch_add(1, Ordering::Relaxed);
        let nanoseconds = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.nanoseconds.fetch_add(nanoseconds, Ordering::Relaxed);
        if self.policy == FlushPolicy::StopTheWorld {
            self.world().writing = false;
            self.changed.notify_all();
            if was_working {
                self.enter();
            }
        }
    }
}

/// A directory on a file system whose segments are written behind a gate.
#[derive(Debug)]
pub struct GatedDirectory {
    inner: FsDirectory,
    gate: Arc<Gate>,
}

impl GatedDirectory {
    pub fn new(inner: FsDirectory, gate: Arc<Gate>) -> Self {
        GatedDirectory { inner, gate }
    }
}

impl Directory for GatedDirectory {
    fn create(&self, name: &str) -> Result<Box<dyn Output>> {
        if !name.ends_with(".seg") {
            return self.inner.create(name);
        }
        let was_working = self.gate.begin_writing();
        let writing = Writing { gate: Arc::clone(&self.gate), was_working, begun: Instant::now() };
        Ok(Box::new(GatedOutput { inner: self.inner.create(name)?, writing: Some(writing) }))
    }

    fn open(&self, name: &str) -> Result<Bytes> {
        self.inner.open(name)
    }

    fn rename(&self, from: &str, to: &str) -> Result<()> {
        self.inner.rename(from, to)
    }

    fn remove(&self, name: &str) -> Result<()> {
        self.inner.remove(name)
    }

    fn list(&self) -> Result<Vec<String>> {
        self.inner.list()
    }

    fn sync(&self) -> Result<()> {
        self.inner.sync()
    }

    fn lock(&self) -> Result<WriterLock> {
        self.inner.lock()
    }

    fn describe(&self) -> String {
        self.inner.describe()
    }
}

/// A segment that is being written; dropping it opens the gate.
struct Writing {
    gate: Arc<Gate>,
    was_working: bool,
    begun: Instant,
}

impl Drop for Writing {
    fn drop(&mut self) {
        self.gate.end_writing(self.was_working, self.begun.elapsed());
    }
}

struct GatedOutput {
    inner: Box<dyn Output>,
    /// `None` once all of the file has been written; making it durable does not stop other threads.
    writing: Option<Writing>,
}

impl Write for GatedOutput {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.inner.write(bytes)
    }

    /// Ends the writing: the library flushes a file once, when it is complete.
    fn flush(&mut self) -> std::io::Result<()> {
        let flushed = self.inner.flush();
        self.writing = None;
        flushed
    }
}

impl Output for GatedOutput {
    fn finish(self: Box<Self>) -> Result<()> {
        let GatedOutput { inner, writing } = *self;
        drop(writing);
        inner.finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    #[test]
    fn no_thread_works_while_another_writes() {
        let gate = Gate::new(FlushPolicy::StopTheWorld);
        let (working, writing, overlaps) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
        let write = || {
            let was_working = gate.begin_writing();
            let others = working.load(Ordering::SeqCst) + writing.fetch_add(1, Ordering::SeqCst);
            overlaps.fetch_add(others, Ordering::SeqCst);
            writing.fetch_sub(1, Ordering::SeqCst);
            gate.end_writing(was_working, Duration::ZERO);
        };
        let step = |writes: bool| {
            gate.working(|| {
                if writes {
                    write();
                }
                working.fetch_add(1, Ordering::SeqCst);
                overlaps.fetch_add(writing.load(Ordering::SeqCst), Ordering::SeqCst);
                working.fetch_sub(1, Ordering::SeqCst);
            });
        };
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let step = &step;
                scope.spawn(move || (0..2000).for_each(|round| step(round % 10 == thread)));
            }
        });
        write();
        assert_eq!((overlaps.load(Ordering::SeqCst), gate.segments()), (0, 801));
    }

    #[test]
    fn nothing_waits_when_flushes_are_concurrent() {
        let gate = Gate::new(FlushPolicy::Concurrent);
        let first = gate.begin_writing();
        let second = gate.begin_writing();
        gate.working(|| assert_eq!(gate.segments(), 0));
        gate.end_writing(first, Duration::ZERO);
        gate.end_writing(second, Duration::ZERO);
    }
}
