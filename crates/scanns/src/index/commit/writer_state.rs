//! The state of a writer between two steps: the manifest of the next commit, and the segments in use.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Weak};

use super::manifest::{Manifest, SegmentEntry};
use crate::segment::Segment;
use crate::store::{Lease, Unsynced};

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
    /// Segments of the next commit that are not durable yet, the oldest first.
    pub(super) unsynced: Vec<UnsyncedSegment>,
    /// Segments that a merge replaced before any commit had them. Nothing needs their files.
    pub(super) displaced: Vec<u128>,
    /// The files of snapshots that this writer gave out, where readers need leases.
    pub(super) held: Vec<Weak<HeldFiles>>,
    /// Segments that are being merged.
    pub(super) merging: HashSet<u128>,
    /// Bytes that the writer has written to the directory.
    pub(super) bytes_written: u64,
    /// The segments of the newest commit, in order.
    pub(super) committed: Vec<u128>,
    /// Bytes of the newest manifest and of the files of deletes and updates that were written with it.
    pub(super) commit_bytes: u64,
}

/// A segment that is written, but may not be durable yet.
pub(super) struct UnsyncedSegment {
    pub(super) id: u128,
    pub(super) file: Unsynced,
}

/// The names of files that a snapshot reads.
#[derive(Debug)]
pub(super) struct HeldFiles(pub(super) Vec<String>);

impl WriterState {
    /// The state after `manifest` was committed as `generation`.
    pub(super) fn after_commit(generation: u64, manifest: Option<Manifest>) -> Self {
        let mut state = WriterState {
            generation,
            manifest,
            open: HashMap::new(),
            writing: HashSet::new(),
            unsynced: Vec::new(),
            displaced: Vec::new(),
            held: Vec::new(),
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
        let WriterState { open, merging, unsynced, .. } = self;
        open.retain(|id, _| listed.contains(id) || merging.contains(id));
        unsynced.retain(|segment| listed.contains(&segment.id));
    }

    /// Keeps the files of a manifest until the lease is dropped.
    pub(super) fn hold(&mut self, manifest: &Manifest) -> Lease {
        let held = Arc::new(HeldFiles(manifest.segments.iter().flat_map(SegmentEntry::files).collect()));
        self.held.push(Arc::downgrade(&held));
        Lease::new(held)
    }

    /// The files that snapshots of this writer read and must keep.
    pub(super) fn held_files(&mut self) -> Vec<String> {
        self.held.retain(|held| held.strong_count() > 0);
        let held = self.held.iter().filter_map(Weak::upgrade);
        held.flat_map(|held| held.0.clone()).collect()
    }

    /// Takes the unsynced files of the segments that the next commit has.
    pub(super) fn take_unsynced(&mut self) -> Vec<UnsyncedSegment> {
        let listed: HashSet<u128> = self.entries().iter().map(|entry| entry.id).collect();
        let all = std::mem::take(&mut self.unsynced).into_iter();
        all.filter(|segment| listed.contains(&segment.id)).collect()
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
