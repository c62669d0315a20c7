//! What a writer shows before it is committed, and what a commit begins with.
//!
//! A snapshot does the first half of a commit: it takes the content of all lanes out of them, writes it as
//! segments, and applies all edits. It then opens the new segments instead of syncing them, and shares all
//! others with the writer, so it costs as much as writing the documents that are new since the one before. A
//! commit that is being written to the medium does not keep it waiting.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::Ordering;

use super::writer_core::WriterCore;
use crate::error::Result;
use crate::index::commit::writer::CommitStart;
use crate::index::snapshot::Snapshot;
use crate::sys::lock;

/// The maximum number of segments that are left for the next commit to sync, if there are background merges.
const KEPT_UNSYNCED: usize = 64;

/// What a commit begins with.
pub(super) struct CommitBegun {
    /// The number of the last operation in the commit.
    pub(super) sequence: u64,
    /// `None` if nothing has changed since the newest commit.
    pub(super) start: Option<CommitStart>,
    /// True if notes were changed.
    pub(super) noted: bool,
}

impl WriterCore {
    /// Opens the state of the writer for reading.
    pub(super) fn snapshot(&self) -> Result<Snapshot> {
        self.pool.check()?;
        let mut latest = lock(&self.taking_out);
        if !self.is_resolved() {
            self.resolve()?;
        }
        let mut view = self.writer.view()?;
        // A commit that is prepared may change notes alone.
        view.is_committed &= !self.noted.load(Ordering::Relaxed) && !self.prepared.load(Ordering::Acquire);
        if let Some(same) = latest.as_ref().filter(|latest| latest.shows(&view)) {
            return Ok(same.clone());
        }
        let revision = RandomState::new().hash_one(self.writer.generation());
        let snapshot = Snapshot::of_writer(self.writer.directory().describe(), view, revision);
        *latest = Some(snapshot.clone());
        Ok(snapshot)
    }

    /// Makes all operations part of the next commit, and takes the state that it will have. Call it under
    /// [`Writer::begin_commit`](crate::index::commit::writer::Writer::begin_commit). Without changes there is
    /// nothing to commit unless `always` is true.
    pub(super) fn begin_staging(&self, always: bool) -> Result<CommitBegun> {
        // No later operation becomes part of the commit in between.
        let _one_at_a_time = lock(&self.taking_out);
        let sequence = self.resolve()?;
        if !always && !self.has_changed() {
            return Ok(CommitBegun { sequence, start: None, noted: false });
        }
        let noted = self.noted.swap(false, Ordering::Relaxed);
        let start = self.writer.begin_staging().inspect_err(|error| self.pool.fail(error))?;
        self.prepared.store(true, Ordering::Release);
        Ok(CommitBegun { sequence, start: Some(start), noted })
    }

    /// Makes segments durable if there are many that are not, and lets go of files that only an outdated
    /// snapshot needs.
    pub(super) fn tidy_up(&self) -> Result<()> {
        self.forget_outdated();
        let _one_at_a_time = self.writer.begin_commit();
        self.writer.sync_oldest(KEPT_UNSYNCED).inspect_err(|error| self.pool.fail(error))?;
        if !self.prepared.load(Ordering::Acquire) {
            self.writer.remove_displaced();
        }
        Ok(())
    }

    /// Closes the latest snapshot, unless a caller has it, if it has segments that the next commit does not.
    pub(super) fn forget_outdated(&self) {
        let mut latest = lock(&self.taking_out);
        let in_use = self.writer.segment_ids();
        if latest.as_ref().is_some_and(|latest| !latest.reads_only(|id| in_use.contains(&id))) {
            *latest = None;
        }
    }
}
