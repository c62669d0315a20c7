//! Merges segments on a separate thread during a build. Only the end of the build waits for it.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::Duration;

use super::policy_merge::PolicyMerge;
use crate::error::{Error, Result};
use crate::sys::{lock, unpoisoned};

/// Time between two searches for segments to merge.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The state that the build and the merge thread share.
pub(crate) struct BackgroundMerge<'w> {
    /// `None` if nothing is to be merged.
    merge: Option<PolicyMerge<'w>>,
    /// Segments that are left alone during the build.
    excluded: HashSet<u128>,
    /// True once the merge in progress is to be given up.
    aborted: AtomicBool,
    /// True once no more merges may begin.
    ended: Mutex<bool>,
    woken: Condvar,
}

impl<'w> BackgroundMerge<'w> {
    /// Merges with `merge`, if there is one, but leaves the segments `excluded` alone until
    /// [`BackgroundMerge::merge_all`].
    pub(crate) fn new(merge: Option<PolicyMerge<'w>>, excluded: &[u128]) -> Self {
        BackgroundMerge {
            merge,
            excluded: excluded.iter().copied().collect(),
            aborted: AtomicBool::new(false),
            ended: Mutex::new(false),
            woken: Condvar::new(),
        }
    }

    /// Starts the thread, if anything is to be merged.
    pub(crate) fn start<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
    ) -> Result<MergeThread<'scope>> {
        let spawn = |merge| {
            std::thread::Builder::new()
                .name("merge".into())
                .spawn_scoped(scope, move || self.run(merge))
                .map_err(|source| Error::System {
                    action: "start a thread",
                    source,
                    remedy: "raise the limits on processes and address space (ulimit -u, ulimit -v)",
                })
        };
        Ok(MergeThread { shared: self, thread: self.merge.map(spawn).transpose()? })
    }

    fn run(&self, merge: PolicyMerge<'_>) -> Result<()> {
        let may_begin = || !*lock(&self.ended);
        loop {
            let merged = merge.run(may_begin, |id| self.excluded.contains(&id), || go_on(&self.aborted));
            not_cancelled(merged)?;
            let ended = lock(&self.ended);
            let wait = self.woken.wait_timeout_while(ended, LOOK_EVERY, |ended| !*ended);
            if *unpoisoned(wait).0 {
                return Ok(());
            }
        }
    }

    /// Merges the segments that the policy chooses among all segments, including the excluded ones, until
    /// `cancel` is set. Returns the error of a failed merge; the index is complete without it.
    pub(crate) fn merge_all(&self, cancel: &AtomicBool) -> Option<Error> {
        let may_begin = || !cancel.load(Ordering::Relaxed);
        let merged = self.merge?.run(may_begin, |_| false, || go_on(cancel));
        not_cancelled(merged).err()
    }
}

/// An error once `cancel` is set.
fn go_on(cancel: &AtomicBool) -> Result<()> {
    if cancel.load(Ordering::Relaxed) { Err(Error::Cancelled) } else { Ok(()) }
}

/// A merge that was given up on request is not a failure.
fn not_cancelled(merged: Result<()>) -> Result<()> {
    if matches!(merged, Err(Error::Cancelled)) { Ok(()) } else { merged }
}

/// The merge thread; stop it before its scope ends.
pub(crate) struct MergeThread<'scope> {
    shared: &'scope BackgroundMerge<'scope>,
    thread: Option<ScopedJoinHandle<'scope, Result<()>>>,
}

impl MergeThread<'_> {
    /// Waits for the merge in progress, or gives it up if `abort` is true. Completed merges are kept. Returns
    /// the error of a failed merge: it changed nothing, so the build continues without it.
    pub(crate) fn stop(self, abort: bool) -> Option<Error> {
        self.shared.aborted.store(abort, Ordering::Relaxed);
        *lock(&self.shared.ended) = true;
        self.shared.woken.notify_all();
        let joined = self.thread?.join();
        joined.unwrap_or_else(|panic| Err(Error::panicked("the merge thread", &*panic))).err()
    }
}
