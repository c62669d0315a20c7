//! The next commit as readers may see it before it is durable, and the segments that are not durable yet.
//!
//! A snapshot of a writer writes new segments without syncing them, and opens them. The next commit syncs
//! those that it has; most were merged by then, and only the merged segment is synced. Segments in memory
//! would save a call to create each file, but their memory would need a limit of its own, and a way to write
//! them when it is reached: the page cache has both.

use super::manifest::{Manifest, SegmentEntry};
use super::writer::Writer;
use super::writer_state::{UnsyncedSegment, has_new_deletes, has_new_values};
use crate::error::Result;
use crate::segment::{Flushed, Segment, file_name};
use crate::store::{Lease, Unsynced};

/// The generation of deletes and changed values that no commit has.
const IN_MEMORY: u64 = u64::MAX;

/// The next commit, as its writer has it at one moment.
pub(crate) struct WriterView {
    /// The generation of the newest commit; 0 before the first.
    pub(crate) generation: u64,
    /// Without segments whose documents are all deleted.
    pub(crate) manifest: Manifest,
    /// The segments of the manifest, with all deletes and changed values.
    pub(crate) segments: Vec<Segment>,
    /// True if the newest commit has the same documents.
    pub(crate) is_committed: bool,
    /// Keeps the files until it is dropped or the writer ends, where readers need leases.
    pub(crate) lease: Lease,
}

impl Writer<'_> {
    /// The next commit as it is now. The caller makes sure that edits are applied to all segments or to none.
    pub(crate) fn view(&self) -> Result<WriterView> {
        let _no_merge_between = self.hold_merges();
        for id in self.segment_ids() {
            self.segment(id)?;
        }
        let needs_lease = self.directory().needs_leases();
        let mut guard = self.state();
        let state = &mut *guard;
        let mut manifest = state.manifest.clone().ok_or_else(|| self.nothing_to_commit())?;
        let mut segments = Vec::with_capacity(manifest.segments.len());
        manifest.segments.retain_mut(|entry| {
            let Some(segment) = state.open.get(&entry.id) else { return false };
            add_changes(entry, segment);
            let has_documents = entry.live() > 0;
            segments.extend(has_documents.then(|| segment.clone()));
            has_documents
        });
        let lease = if needs_lease { state.hold(&manifest) } else { Lease::unneeded() };
        let is_committed = !state.has_changed();
        Ok(WriterView { generation: state.generation, manifest, segments, is_committed, lease })
    }

    /// Adds a segment to the next commit that is written, but need not be durable before the commit.
    pub(crate) fn take_in_unsynced(&self, segment: &Flushed, file: Unsynced) -> Result<()> {
        if self.directory().reads_unfinished() {
            self.state().unsynced.push(UnsyncedSegment { id: segment.id, file });
        } else {
            file.sync()?;
        }
        self.take_in(Some(segment), Vec::new(), Vec::new());
        Ok(())
    }

    /// Makes the oldest segments durable until at most `most` are not. The caller keeps commits from
    /// beginning in the meantime.
    pub(crate) fn sync_oldest(&self, most: usize) -> Result<()> {
        loop {
            let oldest = {
                let mut state = self.state();
                if state.unsynced.len() <= most {
                    return Ok(());
                }
                state.unsynced.remove(0)
            };
            oldest.file.sync()?;
        }
    }

    /// Removes the files of segments that merges replaced before any commit had them. Failures are ignored:
    /// the next commit removes what is left. Call it while no commit is prepared.
    pub(crate) fn remove_displaced(&self) {
        let (displaced, held) = {
            let mut state = self.state();
            (std::mem::take(&mut state.displaced), state.held_files())
        };
        for name in displaced.into_iter().map(file_name).filter(|name| !held.contains(name)) {
            let _ = self.directory().remove(&name);
        }
    }
}

/// Counts the deletes and changed values that are only in memory.
fn add_changes(entry: &mut SegmentEntry, segment: &Segment) {
    if has_new_deletes(segment, entry) {
        entry.deleted = segment.deletes().count();
        entry.deletes = IN_MEMORY;
    }
    if has_new_values(segment) {
        entry.updates = IN_MEMORY;
    }
}
