//! The one writer of an index: what the next commit will say, and how it comes to be.
//!
//! Index threads, a merge and whoever deletes share a [`Writer`]; each change is a short step under one lock, and no
//! lock is held while a file is written. A commit takes what is there when it begins, so nobody waits for it.
//!
//! A deleted document is marked in the writer's copy of its segment and written down by the next commit. A merge works
//! on the deletes at its start; what was deleted since is carried over to the new numbers when the merge is taken in. Changed
//! values of columns go the same way.

mod merge;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::manifest::{Manifest, Partial, SegmentEntry};
use crate::error::{Error, Result};
use crate::segment::{Flushed, Segment, file_name, is_of_segment};
use crate::store::{
    Directory, WriterLock, leased, prepare, publish_prepared, read_generation, read_newest, sweep,
};

pub(super) use merge::Plan;

/// See the module.
pub(super) struct Writer<'d> {
    directory: Held<'d>,
    _lock: WriterLock,
    state: Mutex<State>,
    /// Held by whoever commits.
    committing: Mutex<()>,
    random: RandomState,
}

/// A directory that somebody else holds, or everybody.
enum Held<'d> {
    Borrowed(&'d dyn Directory),
    Shared(Arc<dyn Directory>),
}

struct State {
    /// The newest commit; 0 before the first.
    generation: u64,
    /// What the next commit will say, but for deletes.
    manifest: Option<Manifest>,
    /// Segments that were opened, with all deletes and changed values so far.
    open: HashMap<u128, Segment>,
    /// Segments whose files are being written.
    writing: HashSet<u128>,
    /// Segments that are being merged.
    merging: HashSet<u128>,
    bytes_written: u64,
    /// The segments of the newest commit, in order.
    committed: Vec<u128>,
    /// Bytes of the newest manifest and of files of deletes in it.
    commit_bytes: u64,
}

/// A commit that is on the medium, and not yet the state of the index.
pub(super) struct Prepared {
    generation: u64,
    manifest: Manifest,
    /// Segments of which every document is deleted or void.
    gone: HashSet<u128>,
    /// Segments with changed values that were in memory, and with the same from the medium.
    set: Vec<(Segment, Segment)>,
    bytes: u64,
}

impl<'d> Writer<'d> {
    /// Takes the writer's lock and the newest commit, and removes what a writer that was killed left behind.
    pub(super) fn open(directory: &'d dyn Directory) -> Result<Self> {
        Self::open_held(Held::Borrowed(directory))
    }

    /// The same of a directory that is shared.
    pub(super) fn open_shared(directory: Arc<dyn Directory>) -> Result<Writer<'static>> {
        Writer::open_held(Held::Shared(directory))
    }

    fn open_held(held: Held<'d>) -> Result<Self> {
        let directory = held.get();
        let lock = directory.lock()?;
        let committed = read_newest(directory)?;
        if committed.is_some() {
            // A writer that was killed, or failed, may have left a commit that has its name and is not durable yet.
            directory.sync()?;
        }
        let generation = committed.as_ref().map_or(0, |committed| committed.generation);
        let manifest = committed.map(|committed| Manifest::decode(&committed.content)).transpose()?;
        let committed =
            manifest.iter().flat_map(|manifest| &manifest.segments).map(|entry| entry.id).collect();
        let state = State {
            generation,
            manifest,
            committed,
            open: HashMap::new(),
            writing: HashSet::new(),
            merging: HashSet::new(),
            bytes_written: 0,
            commit_bytes: 0,
        };
        let writer = Writer {
            directory: held,
            _lock: lock,
            state: Mutex::new(state),
            committing: Mutex::new(()),
            random: RandomState::new(),
        };
        writer.sweep();
        Ok(writer)
    }

    /// Where the index is.
    pub(super) fn directory(&self) -> &dyn Directory {
        self.directory.get()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the next commit will say; nothing in an index without a first commit.
    pub(super) fn manifest(&self) -> Option<Manifest> {
        self.state().manifest.clone()
    }

    /// The newest commit; 0 before the first.
    pub(super) fn generation(&self) -> u64 {
        self.state().generation
    }

    /// Bytes that this writer has put into the directory.
    pub(super) fn bytes_written(&self) -> u64 {
        self.state().bytes_written
    }

    /// Bytes of all files of the newest commit.
    pub(super) fn index_bytes(&self) -> u64 {
        let state = self.state();
        let segments = state.manifest.iter().flat_map(|manifest| &manifest.segments);
        segments.map(|segment| segment.bytes).sum::<u64>() + state.commit_bytes
    }

    /// Changes what the next commit will say.
    pub(super) fn describe(&self, change: impl FnOnce(Option<Manifest>) -> Option<Manifest>) {
        let mut state = self.state();
        state.manifest = change(state.manifest.take());
    }

    /// An identity for a segment that will be written; its file is safe from [`Writer::sweep`] until
    /// [`Writer::add`] or [`Writer::give_up`].
    pub(super) fn new_id(&self) -> u128 {
        let part = || {
            let fresh = RandomState::new().hash_one(0);
            u128::from(self.random.hash_one(Instant::now()) ^ fresh)
        };
        let id = part() << 64 | part();
        self.state().writing.insert(id);
        id
    }

    /// Nothing will come of the segment `id`.
    pub(super) fn give_up(&self, id: u128) {
        self.state().give_up(id);
    }

    /// Takes in a segment that is on the medium, together with the deletes and the state of files that go with it;
    /// returns how many documents were deleted. The segments of the deletes have been opened.
    pub(super) fn take_in(
        &self,
        segment: Option<&Flushed>,
        deletions: Vec<(u128, Vec<Range<u32>>)>,
        partial: Vec<(Vec<u8>, Option<Partial>)>,
    ) -> u64 {
        let mut guard = self.state();
        let state = &mut *guard;
        if let Some(segment) = segment {
            state.writing.remove(&segment.id);
            state.bytes_written += segment.bytes;
        }
        if let Some(manifest) = &mut state.manifest {
            manifest.segments.extend(segment.map(SegmentEntry::from));
            for (path, begun) in partial {
                match begun {
                    Some(begun) => manifest.partial.insert(path, begun),
                    None => manifest.partial.remove(&path),
                };
            }
        }
        let mut deleted = 0;
        for (id, documents) in deletions {
            if let Some(segment) = state.open.get_mut(&id) {
                let gone = documents.into_iter().flatten().filter(|&document| segment.delete(document));
                deleted += gone.count() as u64;
            }
        }
        deleted
    }

    /// True if something was taken in or deleted since the newest commit.
    pub(super) fn has_changed(&self) -> bool {
        let state = self.state();
        let Some(manifest) = &state.manifest else { return false };
        let changed = |entry: &SegmentEntry| {
            state.open.get(&entry.id).is_some_and(|segment| has_deletes(segment, entry) || is_set(segment))
        };
        state.generation == 0
            || state.committed != manifest.segments.iter().map(|entry| entry.id).collect::<Vec<_>>()
            || manifest.segments.iter().any(changed)
    }

    /// A segment with all deletes and changed values so far.
    pub(super) fn segment(&self, id: u128) -> Result<Segment> {
        loop {
            if let Some(open) = self.state().open.get(&id) {
                return Ok(open.clone());
            }
            let entry = self.entry(id);
            let opened = match &entry {
                Some(entry) => entry.open(self.directory()),
                None => Segment::open(self.directory(), id, 0),
            };
            match opened {
                Ok(opened) => return Ok(self.state().open.entry(id).or_insert(opened).clone()),
                // A commit may have written what was changed anew meanwhile, and removed the file that was to be read.
                Err(_) if self.entry(id).is_some_and(|now| Some(now) != entry) => {}
                Err(error) => return Err(error),
            }
        }
    }

    pub(super) fn entry(&self, id: u128) -> Option<SegmentEntry> {
        let state = self.state();
        let mut segments = state.manifest.iter().flat_map(|manifest| &manifest.segments);
        segments.find(|segment| segment.id == id).cloned()
    }

    /// Deletes documents of a segment; returns how many were there and not deleted before.
    pub(super) fn delete(&self, id: u128, documents: impl IntoIterator<Item = Range<u32>>) -> Result<u64> {
        self.segment(id)?;
        let mut state = self.state();
        let Some(segment) = state.open.get_mut(&id) else { return Ok(0) };
        Ok(documents.into_iter().flatten().filter(|&document| segment.delete(document)).count() as u64)
    }

    /// Changes a segment.
    pub(super) fn change(&self, id: u128, change: impl FnOnce(&mut Segment) -> Result<()>) -> Result<()> {
        self.segment(id)?;
        self.state().open.get_mut(&id).map_or(Ok(()), change)
    }

    /// Finds something in every segment but those of `except`, and changes the segment by it, whatever is merged meanwhile.
    pub(super) fn change_everywhere<T>(
        &self,
        except: &HashSet<u128>,
        find: &dyn Fn(&Segment) -> Result<T>,
        change: &dyn Fn(&mut Segment, T) -> Result<()>,
    ) -> Result<()> {
        let mut seen = except.clone();
        let next = |seen: &HashSet<u128>| {
            let state = self.state();
            let listed = state.manifest.iter().flat_map(|manifest| &manifest.segments);
            listed.map(|entry| entry.id).find(|id| !seen.contains(id))
        };
        while let Some(id) = next(&seen) {
            let found = self.segment(id).and_then(|segment| find(&segment));
            let mut state = self.state();
            let mut listed = state.manifest.iter().flat_map(|manifest| &manifest.segments);
            if listed.any(|entry| entry.id == id) {
                let found = found?;
                if let Some(segment) = state.open.get_mut(&id) {
                    change(segment, found)?;
                }
            } else {
                // It was merged away; the segment that it became is looked at in its turn.
                state.open.remove(&id);
            }
            seen.insert(id);
        }
        Ok(())
    }

    /// Puts everything that the next commit needs on the medium.
    pub(super) fn prepare(&self) -> Result<Prepared> {
        let (generation, mut manifest, marked) = {
            let state = self.state();
            let manifest = state.manifest.clone().ok_or_else(nothing_to_commit)?;
            let marked: BTreeMap<u128, Segment> =
                state.open.iter().map(|(&id, segment)| (id, segment.clone())).collect();
            (state.generation + 1, manifest, marked)
        };
        let (mut bytes, mut set) = (0, Vec::new());
        for entry in &mut manifest.segments {
            let Some(segment) = marked.get(&entry.id) else { continue };
            if has_deletes(segment, entry) {
                entry.deleted = segment.deletes().count();
                entry.deletes = generation;
                if entry.live() > 0 {
                    bytes += segment.deletes().write(self.directory(), entry.id, generation)?;
                }
            }
            if is_set(segment) && entry.live() > 0 {
                entry.updates = generation;
                bytes += segment.write_updates(self.directory(), generation)?;
                set.push((segment.clone(), segment.clone().with_updates(self.directory(), generation)?));
            }
        }
        let gone = |entry: &&SegmentEntry| entry.live() == 0;
        let gone: HashSet<u128> = manifest.segments.iter().filter(gone).map(|entry| entry.id).collect();
        manifest.segments.retain(|entry| !gone.contains(&entry.id));
        bytes += prepare(self.directory(), generation, &manifest.encode())?;
        Ok(Prepared { generation, manifest, gone, set, bytes })
    }

    /// Makes what was prepared the state of the index, and removes what it does not need.
    pub(super) fn publish(&self, prepared: Prepared) -> Result<()> {
        let Prepared { generation, manifest, gone, set, bytes } = prepared;
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
                        (entry.deleted, entry.deletes) = (written.deleted, written.deletes);
                        entry.updates = written.updates;
                    }
                }
                now.segments.retain(|entry| !gone.contains(&entry.id));
            }
            for (in_memory, written) in set {
                if let Some(open) = state.open.get_mut(&in_memory.id())
                    && open.has_updates_of(&in_memory)
                {
                    open.take_updates_of(&written);
                }
            }
            state.close_unlisted();
        }
        // The commit stands; what cannot be removed now is removed by the next one.
        self.sweep();
        Ok(())
    }

    /// Waits for another commit to end; held during [`Writer::prepare`] and [`Writer::publish`].
    pub(super) fn begin_commit(&self) -> MutexGuard<'_, ()> {
        self.committing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Both steps of a commit.
    pub(super) fn commit(&self) -> Result<()> {
        let _one_at_a_time = self.begin_commit();
        let prepared = self.prepare()?;
        self.publish(prepared)
    }

    /// Removes files that neither the newest commit nor the next one needs nor a reader elsewhere, as far as that works.
    pub(super) fn sweep(&self) {
        let _ = self.try_sweep();
    }

    fn try_sweep(&self) -> Result<()> {
        let state = self.state();
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
        let is_garbage = |name: &str| is_of_segment(name) && !needed.contains(name);
        sweep(self.directory(), state.generation, &leased, is_garbage)
    }

    /// Forgets all that was not committed, and removes it as far as that works.
    pub(super) fn roll_back(&self) {
        let unchanged = read_newest(self.directory())
            .is_ok_and(|now| now.map_or(0, |now| now.generation) == self.generation());
        // A commit may fail after its manifest got its name: then its segments are in use.
        if unchanged {
            let mut state = self.state();
            (state.manifest, state.open) = (None, HashMap::new());
            state.writing.clear();
            drop(state);
            self.sweep();
        }
    }
}

impl State {
    /// Nothing will come of the segment `id`.
    fn give_up(&mut self, id: u128) {
        self.writing.remove(&id);
    }

    /// Closes segments that are in no commit to come, so that their space is free.
    fn close_unlisted(&mut self) {
        let listed = self.manifest.iter().flat_map(|manifest| &manifest.segments).map(|entry| entry.id);
        let listed: HashSet<u128> = listed.collect();
        let State { open, merging, .. } = self;
        open.retain(|id, _| listed.contains(id) || merging.contains(id));
    }
}

impl Held<'_> {
    fn get(&self) -> &dyn Directory {
        match self {
            Held::Borrowed(directory) => *directory,
            Held::Shared(directory) => &**directory,
        }
    }
}

fn nothing_to_commit() -> Error {
    Error::Options("there is no index to commit: nothing was ever added".into())
}

/// True if documents were deleted that the commit of `entry` has.
fn has_deletes(segment: &Segment, entry: &SegmentEntry) -> bool {
    segment.deletes().count() > entry.deleted
}

/// True if values were changed that are in no commit.
fn is_set(segment: &Segment) -> bool {
    segment.updates().is_some_and(|updates| updates.generation() == 0)
}
