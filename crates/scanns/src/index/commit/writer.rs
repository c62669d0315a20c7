//! The only writer of an index: it holds the description of the next commit, and makes the commit.
//!
//! Index threads, merges and deletions share a [`Writer`]. Each change is a short step under one lock, and no
//! lock is held while a file is written. A commit uses the state at its start, so no thread waits for it.
//!
//! A deleted document is marked in the writer's open copy of its segment; the next commit writes the marks.
//! Changed column values are treated in the same way. A merge reads the deletes and values as of its start.
//! Later ones are converted to the new document numbers when the merge is taken in (see `merge.rs`).
//!
//! Other threads add and drop segments at any time, so a decision about segments is valid only under the lock
//! under which it was made. [`Writer::manifest`] returns a copy: use it for data that no other thread
//! changes, such as the schema, or while no other thread has the writer. For a segment that was dropped in
//! the meantime, [`Writer::segment`] returns `None`, and changes have no effect.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

#[cfg(loom)]
use loom::sync::{Mutex, MutexGuard};
#[cfg(not(loom))]
use std::sync::{Mutex, MutexGuard};

use super::manifest::{Manifest, Partial, SegmentEntry};
use super::writer_state::{UnsyncedSegment, WriterState, has_new_deletes, has_new_values};
use crate::error::{Error, Result};
use crate::segment::{Flushed, Segment, file_name, is_of_segment};
use crate::store::{
    Directory, WriterLock, leased, prepare, publish_prepared, read_generation, read_newest, sweep,
};
use crate::sys::unpoisoned;

/// The writer of an index. See the module documentation.
pub(crate) struct Writer<'d> {
    directory: DirectoryHandle<'d>,
    _lock: WriterLock,
    state: Mutex<WriterState>,
    /// Held during a commit.
    committing: Mutex<()>,
    /// Held while edits are applied to all segments, and while a merge is taken in.
    taking_in: Mutex<()>,
    random: RandomState,
}

/// A directory that the caller of the writer owns, or that the writer shares.
enum DirectoryHandle<'d> {
    Borrowed(&'d dyn Directory),
    Shared(Arc<dyn Directory>),
}

/// The state of the index that a commit will make durable.
pub(crate) struct CommitStart {
    generation: u64,
    manifest: Manifest,
    open: BTreeMap<u128, Segment>,
    unsynced: Vec<UnsyncedSegment>,
}

/// A commit that is on the medium but not yet the state of the index.
pub(crate) struct StagedCommit {
    generation: u64,
    manifest: Manifest,
    /// Segments without a live document, which the commit leaves out.
    dropped: HashSet<u128>,
    /// Segments with changed values.
    updated: Vec<UpdatedSegment>,
    bytes: u64,
}

/// A segment whose changed values were written by a commit.
struct UpdatedSegment {
    /// With the values in memory.
    in_memory: Segment,
    /// With the same values, read from the medium.
    on_medium: Segment,
}

/// Documents of a segment, by its identity.
pub(crate) struct SegmentDocuments {
    pub(crate) id: u128,
    pub(crate) documents: Vec<Range<u32>>,
}

/// The state of a partially indexed file in the next commit; `None` if nothing needs to be stored.
pub(crate) struct PartialChange {
    pub(crate) path: Vec<u8>,
    pub(crate) partial: Option<Partial>,
}

impl<'d> Writer<'d> {
    /// Takes the writer's lock, reads the newest commit, and removes the files that a killed writer left.
    pub(crate) fn open(directory: &'d dyn Directory) -> Result<Self> {
        Self::open_handle(DirectoryHandle::Borrowed(directory))
    }

    /// Like [`Writer::open`], for a directory that the writer keeps.
    pub(crate) fn open_shared(directory: Arc<dyn Directory>) -> Result<Writer<'static>> {
        Writer::open_handle(DirectoryHandle::Shared(directory))
    }

    fn open_handle(handle: DirectoryHandle<'d>) -> Result<Self> {
        let directory = handle.get();
        let lock = directory.lock()?;
        let committed = read_newest(directory)?;
        if committed.is_some() {
            // A writer that was killed or failed may have left a manifest that has its name but is not
            // durable yet.
            directory.sync()?;
        }
        let generation = committed.as_ref().map_or(0, |committed| committed.generation);
        let manifest = committed.map(|committed| Manifest::decode(&committed.content)).transpose()?;
        let writer = Writer {
            directory: handle,
            _lock: lock,
            state: Mutex::new(WriterState::after_commit(generation, manifest)),
            committing: Mutex::new(()),
            taking_in: Mutex::new(()),
            random: RandomState::new(),
        };
        writer.sweep();
        Ok(writer)
    }

    /// The directory of the index.
    pub(crate) fn directory(&self) -> &dyn Directory {
        self.directory.get()
    }

    pub(super) fn state(&self) -> MutexGuard<'_, WriterState> {
        unpoisoned(self.state.lock())
    }

    /// A copy of the description of the next commit; `None` before the first commit. See the module
    /// documentation.
    pub(crate) fn manifest(&self) -> Option<Manifest> {
        self.state().manifest.clone()
    }

    /// The generation of the newest commit; 0 before the first.
    pub(crate) fn generation(&self) -> u64 {
        self.state().generation
    }

    /// Bytes that this writer has written to the directory.
    pub(crate) fn bytes_written(&self) -> u64 {
        self.state().bytes_written
    }

    /// Bytes of all files of the newest commit.
    pub(crate) fn index_bytes(&self) -> u64 {
        let state = self.state();
        state.entries().iter().map(|entry| entry.bytes).sum::<u64>() + state.commit_bytes
    }

    /// Changes the description of the next commit.
    pub(crate) fn describe(&self, change: impl FnOnce(Option<Manifest>) -> Option<Manifest>) {
        let mut state = self.state();
        state.manifest = change(state.manifest.take());
    }

    /// Returns an identity for a new segment. [`Writer::sweep`] keeps its file until [`Writer::take_in`] or
    /// [`Writer::give_up`].
    pub(crate) fn new_id(&self) -> u128 {
        let half = || {
            let fresh = RandomState::new().hash_one(0);
            u128::from(self.random.hash_one(Instant::now()) ^ fresh)
        };
        let id = half() << 64 | half();
        self.state().writing.insert(id);
        id
    }

    /// Gives up the new segment `id`: its file may be removed.
    pub(crate) fn give_up(&self, id: u128) {
        self.state().give_up(id);
    }

    /// Adds a segment that is on the medium to the next commit, together with its deletes and changed states
    /// of files. Returns the number of deleted documents. The segments of the deletes must be open.
    pub(crate) fn take_in(
        &self,
        segment: Option<&Flushed>,
        deletions: Vec<SegmentDocuments>,
        partial: Vec<PartialChange>,
    ) -> u64 {
        let mut guard = self.state();
        let state = &mut *guard;
        if let Some(segment) = segment {
            state.writing.remove(&segment.id);
            state.bytes_written += segment.bytes;
        }
        if let Some(manifest) = &mut state.manifest {
            manifest.segments.extend(segment.map(SegmentEntry::from));
            for PartialChange { path, partial } in partial {
                match partial {
                    Some(partial) => manifest.partial.insert(path, partial),
                    None => manifest.partial.remove(&path),
                };
            }
        }
        let mut deleted = 0;
        for SegmentDocuments { id, documents } in deletions {
            if let Some(segment) = state.open.get_mut(&id) {
                deleted += delete_all(segment, documents);
            }
        }
        deleted
    }

    /// True if the next commit would differ from the newest one.
    pub(crate) fn has_changed(&self) -> bool {
        self.state().has_changed()
    }

    /// Returns a segment with all deletes and changed values so far, or `None` if neither the next commit nor
    /// a merge needs it. A dropped segment is never opened again, even if its file still exists for a reader:
    /// its deletes would be lost.
    pub(crate) fn segment(&self, id: u128) -> Result<Option<Segment>> {
        loop {
            let (entry, key) = {
                let state = self.state();
                if let Some(open) = state.open.get(&id) {
                    return Ok(Some(open.clone()));
                }
                let Some(entry) = state.entry(id) else { return Ok(None) };
                (entry.clone(), state.manifest.as_ref().and_then(|manifest| manifest.sources.key()))
            };
            let opened = entry.open(self.directory()).map(|opened| opened.with_key_field(key));
            let mut state = self.state();
            // Another thread may have opened and changed it, or a commit may have rewritten or dropped it and
            // removed the file that was being read.
            if !state.open.contains_key(&id) && state.entry(id) == Some(&entry) {
                let opened = opened?;
                state.open.insert(id, opened.clone());
                return Ok(Some(opened));
            }
        }
    }

    /// Deletes documents of a segment; returns how many of them were live, 0 if the segment was dropped. The
    /// caller makes sure that no merge replaces the segment after the documents were found: see
    /// [`Writer::hold_merges`].
    pub(crate) fn delete(&self, id: u128, documents: impl IntoIterator<Item = Range<u32>>) -> Result<u64> {
        self.segment(id)?;
        Ok(self.state().open.get_mut(&id).map_or(0, |segment| delete_all(segment, documents)))
    }

    /// Changes a segment, unless it was dropped. The same holds as for [`Writer::delete`].
    pub(crate) fn change(&self, id: u128, change: impl FnOnce(&mut Segment) -> Result<()>) -> Result<()> {
        self.segment(id)?;
        self.state().open.get_mut(&id).map_or(Ok(()), change)
    }

    /// Keeps merges from being taken in until the guard is dropped, so that edits see each document exactly
    /// once: as a document of a source or of the merged segment, never as both.
    pub(crate) fn hold_merges(&self) -> MutexGuard<'_, ()> {
        unpoisoned(self.taking_in.lock())
    }

    /// The segments of the next commit, in order. The list stays valid as long as commits
    /// ([`Writer::begin_commit`]) and merges ([`Writer::hold_merges`]) are held off.
    pub(crate) fn segment_ids(&self) -> Vec<u128> {
        self.state().entries().iter().map(|entry| entry.id).collect()
    }

    /// Takes the state that a commit will have; later changes are in the next one. Pass it to
    /// [`Writer::stage`], which syncs the segments that this takes.
    pub(crate) fn begin_staging(&self) -> Result<CommitStart> {
        let mut state = self.state();
        let manifest = state.manifest.clone().ok_or_else(|| self.nothing_to_commit())?;
        let open = state.open.iter().map(|(&id, segment)| (id, segment.clone())).collect();
        Ok(CommitStart { generation: state.generation + 1, manifest, open, unsynced: state.take_unsynced() })
    }

    /// Writes everything that a commit needs to the medium.
    pub(crate) fn stage(&self, start: CommitStart) -> Result<StagedCommit> {
        let CommitStart { generation, mut manifest, open, unsynced } = start;
        for UnsyncedSegment { file, .. } in unsynced {
            file.sync()?;
        }
        let (mut bytes, mut updated) = (0, Vec::new());
        for entry in &mut manifest.segments {
            let Some(segment) = open.get(&entry.id) else { continue };
            if has_new_deletes(segment, entry) {
                entry.deleted = segment.deletes().count();
                entry.deletes = generation;
                if entry.live() > 0 {
                    bytes += segment.deletes().write(self.directory(), entry.id, generation)?;
                }
            }
            if has_new_values(segment) && entry.live() > 0 {
                entry.updates = generation;
                bytes += segment.write_updates(self.directory(), generation)?;
                let on_medium = segment.clone().with_updates(self.directory(), generation)?;
                updated.push(UpdatedSegment { in_memory: segment.clone(), on_medium });
            }
        }
        let is_dropped = |entry: &&SegmentEntry| entry.live() == 0;
        let dropped: HashSet<u128> =
            manifest.segments.iter().filter(is_dropped).map(|entry| entry.id).collect();
        manifest.segments.retain(|entry| !dropped.contains(&entry.id));
        bytes += prepare(self.directory(), generation, &manifest.encode())?;
        Ok(StagedCommit { generation, manifest, dropped, updated, bytes })
    }

    pub(crate) fn nothing_to_commit(&self) -> Error {
        Error::NotAnIndex {
            path: self.directory().describe().into(),
            why: "there is nothing to commit: add documents first",
        }
    }

    /// Writes everything that the next commit needs to the medium.
    pub(crate) fn prepare(&self) -> Result<StagedCommit> {
        self.stage(self.begin_staging()?)
    }

    /// Makes a staged commit the state of the index, and removes the files that the commit does not need.
    pub(crate) fn publish(&self, staged: StagedCommit) -> Result<()> {
        let StagedCommit { generation, manifest, dropped, updated, bytes } = staged;
        publish_prepared(self.directory(), generation)?;
        {
            let mut state = self.state();
            state.generation = generation;
            state.bytes_written += bytes;
            state.commit_bytes = bytes;
            state.committed = manifest.segments.iter().map(|entry| entry.id).collect();
            let written: HashMap<u128, &SegmentEntry> =
                manifest.segments.iter().map(|entry| (entry.id, entry)).collect();
            if let Some(now) = &mut state.manifest {
                for entry in &mut now.segments {
                    if let Some(written) = written.get(&entry.id) {
                        entry.deleted = written.deleted;
                        entry.deletes = written.deletes;
                        entry.updates = written.updates;
                    }
                }
                now.segments.retain(|entry| !dropped.contains(&entry.id));
            }
            for UpdatedSegment { in_memory, on_medium } in updated {
                if let Some(open) = state.open.get_mut(&in_memory.id())
                    && open.has_updates_of(&in_memory)
                {
                    open.take_updates_of(&on_medium);
                }
            }
            // What is needed of them is part of the commit, and the rest is swept.
            state.displaced.clear();
            state.close_unused();
        }
        // The commit stands; files that cannot be removed now are removed by the next commit.
        self.sweep();
        Ok(())
    }

    /// Waits for another commit to end; hold the guard during [`Writer::prepare`] and [`Writer::publish`].
    pub(crate) fn begin_commit(&self) -> MutexGuard<'_, ()> {
        unpoisoned(self.committing.lock())
    }

    /// Prepares and publishes a commit.
    pub(crate) fn commit(&self) -> Result<()> {
        let _one_at_a_time = self.begin_commit();
        let staged = self.prepare()?;
        self.publish(staged)
    }

    /// Removes the files that neither the newest commit, nor the next one, nor a reader needs. Ignores
    /// failures.
    pub(crate) fn sweep(&self) {
        let _ = self.try_sweep();
    }

    fn try_sweep(&self) -> Result<()> {
        let mut state = self.state();
        let committed = read_newest(self.directory())?;
        let committed = committed.map(|committed| Manifest::decode(&committed.content)).transpose()?;
        let leased = leased(self.directory(), state.generation)?;
        let mut in_use = Vec::new();
        for &generation in &leased.generations {
            in_use.push(Manifest::decode(&read_generation(self.directory(), generation)?)?);
        }
        let manifests = committed.iter().chain(&state.manifest).chain(&in_use);
        let mut needed: HashSet<String> = state.writing.iter().map(|&id| file_name(id)).collect();
        for entry in manifests.flat_map(|manifest| &manifest.segments) {
            needed.extend(entry.files());
        }
        needed.extend(state.held_files());
        let is_garbage = |name: &str| is_of_segment(name) && !needed.contains(name);
        sweep(self.directory(), state.generation, &leased, is_garbage)
    }

    /// Discards everything that was not committed, and removes its files if possible.
    pub(crate) fn roll_back(&self) {
        let unchanged = read_newest(self.directory())
            .is_ok_and(|now| now.map_or(0, |now| now.generation) == self.generation());
        // A commit may fail after its manifest got its name: then its segments are in use.
        if unchanged {
            let mut state = self.state();
            (state.manifest, state.open) = (None, HashMap::new());
            state.writing.clear();
            state.unsynced.clear();
            state.displaced.clear();
            drop(state);
            self.sweep();
        }
    }
}

impl DirectoryHandle<'_> {
    fn get(&self) -> &dyn Directory {
        match self {
            DirectoryHandle::Borrowed(directory) => *directory,
            DirectoryHandle::Shared(directory) => &**directory,
        }
    }
}

/// Deletes documents; returns how many of them were live.
fn delete_all(segment: &mut Segment, documents: impl IntoIterator<Item = Range<u32>>) -> u64 {
    documents.into_iter().flatten().filter(|&document| segment.delete(document)).count() as u64
}
