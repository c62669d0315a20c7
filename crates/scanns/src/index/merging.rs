//! Merges segments on a thread of its own while others index; nobody waits for it but the end.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::Duration;

use super::IndexOptions;
use super::budget::merging_room;
use super::merge_policy::MergePolicy;
use super::pace::Pace;
use super::writer::Writer;
use crate::error::{Error, Result};
use crate::segment::{FlushBuffers, MergeWork};

/// Time between two looks at the segments.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// What the thread needs to know.
pub(super) struct Merging<'w> {
    writer: &'w Writer<'w>,
    policy: Option<MergePolicy>,
    /// Segments that are left alone.
    spared: HashSet<u128>,
    buffers: FlushBuffers,
    /// Bytes that a merge may hold beside its buffers.
    room: u64,
    /// Give up what is under way.
    abort: AtomicBool,
    /// Begin nothing new.
    ended: Mutex<bool>,
    woken: Condvar,
}

impl<'w> Merging<'w> {
    /// Merges by the policy of `options`, but for the segments `spared`.
    pub(super) fn new(writer: &'w Writer<'w>, options: &IndexOptions, spared: &[u128]) -> Self {
        Merging {
            writer,
            policy: options.merge,
            spared: spared.iter().copied().collect(),
            buffers: options.flush.buffers,
            room: merging_room(options.memory),
            abort: AtomicBool::new(false),
            ended: Mutex::new(false),
            woken: Condvar::new(),
        }
    }

    /// Starts the thread, if there is a policy.
    pub(super) fn start<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>) -> Result<Merger<'scope>> {
        let spawn = |policy| {
            std::thread::Builder::new()
                .name("merge".into())
                .spawn_scoped(scope, move || self.run(&policy))
                .map_err(|source| Error::System {
                    action: "start a thread",
                    source,
                    remedy: "raise the limit of processes (ulimit -u)",
                })
        };
        Ok(Merger { merging: self, thread: self.policy.map(spawn).transpose()? })
    }

    fn run(&self, policy: &MergePolicy) -> Result<()> {
        loop {
            self.merge_what_is_due(policy)?;
            let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
            let wait = self.woken.wait_timeout_while(ended, LOOK_EVERY, |ended| !*ended);
            if *wait.unwrap_or_else(PoisonError::into_inner).0 {
                return Ok(());
            }
        }
    }

    fn merge_what_is_due(&self, policy: &MergePolicy) -> Result<()> {
        let ended = || *self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        self.merge_while(policy, || !ended(), &self.spared, &self.abort)
    }

    /// Merges what is due of all segments, the spared ones too, until `cancel` is set; what went wrong, if anything did.
    pub(super) fn merge_spared(&self, cancel: &AtomicBool) -> Option<Error> {
        let go_on = || !cancel.load(Ordering::Relaxed);
        self.policy.and_then(|policy| self.merge_while(&policy, go_on, &HashSet::new(), cancel).err())
    }

    fn merge_while(
        &self,
        policy: &MergePolicy,
        goes_on: impl Fn() -> bool,
        spared: &HashSet<u128>,
        abort: &AtomicBool,
    ) -> Result<()> {
        let mut pace = Pace::new(policy.rate);
        let work = MergeWork { buffers: self.buffers, ..MergeWork::default() };
        while goes_on() {
            let segments = self.writer.manifest().map(|manifest| manifest.segments).unwrap_or_default();
            let Some(chosen) = policy.choose(&segments, self.room, |id| spared.contains(&id)) else { break };
            pace.begin_file();
            let mut go_on = |written| pace.keep(written, abort);
            match self.writer.merge(&chosen, &work, &mut go_on) {
                Err(Error::Cancelled) => break,
                merged => merged.map(drop)?,
            }
        }
        Ok(())
    }
}

/// The thread, to be stopped before its scope ends.
pub(super) struct Merger<'scope> {
    merging: &'scope Merging<'scope>,
    thread: Option<ScopedJoinHandle<'scope, Result<()>>>,
}

impl Merger<'_> {
    /// Waits for the merge under way, or with `abort` gives it up; what was merged before is taken in. Returns what went
    /// wrong: a merge that fails changes nothing, so the build goes on without.
    pub(super) fn stop(self, abort: bool) -> Option<Error> {
        self.merging.abort.store(abort, Ordering::Relaxed);
        *self.merging.ended.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.merging.woken.notify_all();
        let outcome = self.thread?.join().unwrap_or_else(|_| {
            Err(Error::System {
                action: "merge on",
                source: std::io::Error::other("the merge thread ended unexpectedly"),
                remedy: "this is a fault in the program: please report it",
            })
        });
        outcome.err()
    }
}
