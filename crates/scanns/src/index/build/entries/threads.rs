//! The threads of an import or a scan: some find entries, and the others index them.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::{Builder, ScopedJoinHandle};
use std::time::Duration;

use super::block::{EntryBlock, SendBlock};
use super::lane::{EntryContext, EntryIndexer, EntryReport};
use crate::error::{Error, Result};
use crate::index::build::watch::Watch;
use crate::index::progress::Phase;
use crate::sys::lock;

/// Time between two looks at the threads.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// What the threads of an import did.
pub(super) struct ImportThreads<F> {
    pub(super) found: F,
    pub(super) lanes: Vec<EntryReport>,
    /// True if the import was stopped before its end.
    pub(super) cancelled: bool,
}

/// The blocks on their way to the index threads; `None` after a failure.
type Blocks = Mutex<Option<Receiver<EntryBlock>>>;

/// The threads, while they work.
struct Working<'scope, F> {
    finder: ScopedJoinHandle<'scope, Result<F>>,
    lanes: Vec<ScopedJoinHandle<'scope, Result<EntryReport>>>,
}

/// Runs `find`, and indexes all entries that it sends with `lanes` index threads. All segments are durable
/// afterwards.
pub(super) fn run<F: Send>(
    find: impl FnOnce(&SendBlock<'_>) -> Result<F> + Send,
    context: EntryContext<'_>,
    lanes: usize,
    watch: &mut Watch<'_>,
) -> Result<ImportThreads<F>> {
    let (sender, receiver) = sync_channel(2 * lanes);
    let blocks = Mutex::new(Some(receiver));
    let failed = AtomicBool::new(false);
    let stop = watch.stop_flag();
    let fail = || {
        failed.store(true, Ordering::Relaxed);
        stop.store(true, Ordering::Relaxed);
        // Nobody waits for a place in the queue any more.
        drop(lock(&blocks).take());
    };
    let index = || index(context, &blocks, &failed).inspect_err(|_| fail());
    std::thread::scope(|scope| {
        let find = move || find(&|block| sender.send(block).is_ok());
        let finder = Builder::new().name("scanns-find".into()).spawn_scoped(scope, find);
        let finder = finder.map_err(refused)?;
        let start =
            |_| Builder::new().name("scanns-index".into()).spawn_scoped(scope, index).map_err(refused);
        let started: Result<Vec<_>> = (0..lanes).map(start).collect();
        let working = match started {
            Ok(lanes) => Working { finder, lanes },
            Err(error) => {
                fail();
                return Err(error);
            }
        };
        let cancelled = working.watch(context, watch).inspect_err(|_| fail());
        let joined = working.join();
        let cancelled = cancelled?;
        let (found, lanes) = joined?;
        Ok(ImportThreads { found, lanes, cancelled })
    })
}

fn refused(source: std::io::Error) -> Error {
    Error::System {
        action: "start a thread",
        source,
        remedy: "raise the limits (ulimit -u, ulimit -v) or use fewer threads",
    }
}

/// The work of an index thread.
fn index(context: EntryContext<'_>, blocks: &Blocks, failed: &AtomicBool) -> Result<EntryReport> {
    let progress = context.segments.progress;
    let mut indexer = EntryIndexer::new(context)?;
    loop {
        // The lock is held while the thread waits for a block: the others would wait, too.
        let next = lock(blocks).as_ref().and_then(|blocks| blocks.recv().ok());
        let Some(block) = next else { break };
        let before = indexer.documents();
        indexer.block(&block)?;
        progress.documents.fetch_add(indexer.documents() - before, Ordering::Relaxed);
    }
    if failed.load(Ordering::Relaxed) {
        return Ok(EntryReport::default());
    }
    progress.enter(Phase::Flushing);
    indexer.finish()
}

impl<F> Working<'_, F> {
    /// Watches the clock until all threads have ended. Returns true if the import was stopped.
    fn watch(&self, context: EntryContext<'_>, watch: &mut Watch<'_>) -> Result<bool> {
        let progress = context.segments.progress;
        let mut stopped = watch.is_stopped();
        while self.lanes.iter().any(|lane| !lane.is_finished()) {
            if !stopped && watch.is_over(progress) {
                stopped = true;
                watch.stop();
            }
            let writer = context.segments.writer;
            if watch.commit_is_due(progress) {
                if writer.has_changed() {
                    writer.commit()?;
                }
                watch.committed(progress);
            }
            std::thread::park_timeout(LOOK_EVERY);
        }
        Ok(stopped)
    }

    fn join(self) -> Result<(F, Vec<EntryReport>)> {
        let found = self.finder.join().unwrap_or_else(|panic| Err(Error::panicked("the reader", &*panic)));
        let lane = |lane: ScopedJoinHandle<'_, Result<EntryReport>>| {
            lane.join().unwrap_or_else(|panic| Err(Error::panicked("an index thread", &*panic)))
        };
        let lanes: Result<Vec<_>> = self.lanes.into_iter().map(lane).collect();
        Ok((found?, lanes?))
    }
}
