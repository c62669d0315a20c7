//! The state of a writer between two steps: the manifest of the next commit, and the segments in use.

use std::collections::{HashMap, HashSet};

use super::manifest::{Manifest, SegmentEntry};
use crate::segment::Segment;

/// The state of a [`Writer`](super::writer::Writer), kept under its lock.
pub(super) struct WriterState {
    /// The generation of the newest commit; 0 before the first.
    pub(super) generation: u64,
    /// The next commit, without the deletes and changed values that are in memory only.
    pub(super) manifest: Option<Manifest>,
    /// Open segments, with all deletes and changed values so far.
    pub(super) open: HashMap<u128, Segment>,
    /// Segments whose files are being written.
    pub(super) writing: HashSet<u128>,
    /// Segments that are being merged.
    pub(super) merging: HashSet<u128>,
    /// Bytes that the writer has written to the directory.
    pub(super) bytes_written: u64,
    /// The segments of the newest commit, in order.
    pub(super) committed: Vec<u128>,
    /// Bytes of the newest manifest and of the files of deletes and updates that were written with it.
    pub(super) commit_bytes: u64,
}

impl WriterState {
    /// The state after `manifest` was committed as `generation`.
    pub(super) fn after_commit(generation: u64, manifest: Option<Manifest>) -> Self {
        let mut state = WriterState {
            generation,
            manifest,
            open: HashMap::new(),
            writing: HashSet::new(),
            merging: HashSet::new(),
            bytes_written: 0,
            committed: Vec::new(),
            commit_bytes: 0,
        };
        state.committed = state.entries().iter().map(|entry| entry.id).collect();
        state
    }

    /// The segments of the next commit, in order.
    pub(super) fn entries(&self) -> &[SegmentEntry] {
        self.manifest.as_ref().map_or(&[], |manifest| &manifest.segments)
    }

    /// The segment `id`, if the next commit has it.
    pub(super) fn entry(&self, id: u128) -> Option<&SegmentEntry> {
        self.entries().iter().find(|entry| entry.id == id)
    }

    /// True if a document was deleted or a segment added, dropped or changed since the newest commit.
    pub(super) fn has_changed(&self) -> bool {
        let Some(manifest) = &self.manifest else { return false };
        let is_changed = |entry: &SegmentEntry| {
            let open = self.open.get(&entry.id);
            open.is_some_and(|segment| has_new_deletes(segment, entry) || has_new_values(segment))
        };
        self.generation == 0
            || !self.committed.iter().eq(manifest.segments.iter().map(|entry| &entry.id))
            || manifest.segments.iter().any(is_changed)
    }

    /// Gives up the segment `id`, whose file may then be removed.
    pub(super) fn give_up(&mut self, id: u128) {
        self.writing.remove(&id);
    }

    /// Closes the segments that neither the next commit nor a merge needs, so that their space is free.
    pub(super) fn close_unused(&mut self) {
        let listed: HashSet<u128> = self.entries().iter().map(|entry| entry.id).collect();
        let WriterState { open, merging, .. } = self;
        open.retain(|id, _| listed.contains(id) || merging.contains(id));
    }
}

/// True if documents were deleted that are not yet counted in `entry`.
pub(super) fn has_new_deletes(segment: &Segment, entry: &SegmentEntry) -> bool {
    segment.deletes().count() > entry.deleted
}

/// True if column values were changed that no commit has.
pub(super) fn has_new_values(segment: &Segment) -> bool {
    segment.updates().is_some_and(|updates| updates.generation() == 0)
}
