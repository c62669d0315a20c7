//! What all threads that use a writer share: lanes, what left them, and the way into a commit.

use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::Duration;

use super::WriterOptions;
use super::part::{Action, Edit, Part, Target};
use super::pending::{Edits, Landed, Pending};
use super::pool::{Pool, Taken};
use crate::error::{Error, Result};
use crate::index::budget::{LEAST_PER_FIELD, merging_bytes, merging_room};
use crate::index::manifest::{Manifest, Partial};
use crate::index::merge_policy::MergePolicy;
use crate::index::pace::Pace;
use crate::index::stored::{check_stored, choose_stored};
use crate::index::writer::Writer;
use crate::schema::{Document, Records, Schema, Store, Stored};
use crate::segment::{Collector, FLUSH_BYTES, MergeWork, Segment, flush};
use crate::store::Directory;

/// The program itself.
const FIXED: usize = 32 << 20;

/// The least that a part can work with.
const LEAST: usize = 8 << 20;

/// The most for a part: chains of postings reach 32 GiB.
const MOST: usize = 30 << 30;

/// Parts that there are for each lane: see `pool.rs`.
const PARTS: usize = 3;

/// Segments of a commit whose files are open while the medium works on them.
const UNSYNCED: usize = 16;

/// Time after which it is looked for what could be merged, if nothing happens before.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// See the module.
pub(super) struct Shared {
    pub(super) writer: Writer<'static>,
    pub(super) schema: Schema,
    stored: Stored,
    options: WriterOptions,
    sizes: Sizes,
    pub(super) lanes: Vec<Mutex<Part>>,
    /// The number of the next operation.
    next: AtomicU64,
    /// Counts the moments at which parts were taken out of all lanes.
    epoch: AtomicU64,
    pub(super) pool: Pool,
    /// By epoch.
    pending: Mutex<BTreeMap<u64, Pending>>,
    /// New segments whose edits have not been applied; they are not merged.
    unresolved: Mutex<HashSet<u128>>,
    /// A prepared commit has not come to its end.
    pub(super) prepared: AtomicBool,
    /// Notes for the next commit were changed.
    pub(super) noted: AtomicBool,
    /// Held by whoever merges.
    merging: Mutex<()>,
    pub(super) merge_failure: Mutex<Option<String>>,
    /// The writer is being closed; changed under `ending`.
    closing: AtomicBool,
    ending: Mutex<()>,
    woken: Condvar,
}

/// How memory is shared out, in bytes.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    lanes: usize,
    /// At which a lane is written.
    limit: usize,
    /// That a part may take at most.
    share: usize,
    /// Of what waits for a commit.
    pending: usize,
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    pub(super) fn open(
        directory: Arc<dyn Directory>,
        schema: Option<&Schema>,
        options: WriterOptions,
    ) -> Result<Self> {
        options.buffers.check()?;
        let writer = Writer::open_shared(directory)?;
        let current = writer.manifest();
        let schema = choose_schema(current.as_ref().map(|manifest| &manifest.schema), schema)?;
        let stored = what_to_store(current.as_ref(), &schema, &options)?;
        let sizes = Sizes::new(&options, &schema, &stored)?;
        writer.describe(|manifest| {
            let new = || Manifest::new(schema.clone(), Records::File, stored);
            Some(Manifest { stored, ..manifest.unwrap_or_else(new) })
        });
        let parts = (0..sizes.lanes).map(|_| Ok(Mutex::new(Part::new(&schema, &stored, sizes.share)?)));
        Ok(Shared {
            lanes: parts.collect::<Result<_>>()?,
            next: AtomicU64::new(1),
            epoch: AtomicU64::new(1),
            pool: Pool::new(sizes.lanes),
            pending: Mutex::default(),
            unresolved: Mutex::default(),
            prepared: AtomicBool::new(false),
            noted: AtomicBool::new(false),
            merging: Mutex::default(),
            merge_failure: Mutex::default(),
            closing: AtomicBool::new(false),
            ending: Mutex::default(),
            woken: Condvar::new(),
            writer,
            schema,
            stored,
            options,
            sizes,
        })
    }

    /// The first lane that nobody uses, so that few threads fill few lanes, or else one to wait for.
    fn lane(&self) -> MutexGuard<'_, Part> {
        let free = self.lanes.iter().find_map(|lane| lane.try_lock().ok());
        free.unwrap_or_else(|| {
            let turn = usize::try_from(self.next.load(Ordering::Relaxed)).unwrap_or(0);
            lock(&self.lanes[turn % self.lanes.len()])
        })
    }

    fn new_part(&self) -> Result<Part> {
        Part::new(&self.schema, &self.stored, self.sizes.share)
    }

    /// One operation: its document and what it does to others take effect together.
    pub(super) fn change(&self, document: Option<&Document>, edit: Option<(Target, Action)>) -> Result<u64> {
        self.pool.check()?;
        let mut lane = self.lane();
        let mut full = None;
        // Within the lane, so that no part is taken out between a number and its operation.
        let mut sequence = self.next.fetch_add(1, Ordering::Relaxed);
        let mut added = Ok(());
        if let Some(document) = document {
            added = lane.add(document, sequence);
            if added.is_err() && lane.documents() > 1 {
                // It may fit once nothing else is there.
                full = Some(self.exchange(&mut lane)?);
                sequence = self.next.fetch_add(1, Ordering::Relaxed);
                added = lane.add(document, sequence);
            }
        }
        if let Some((target, action)) = edit.filter(|_| added.is_ok()) {
            lane.edit(Edit { target, action, sequence });
        }
        if full.is_none() && lane.is_full(self.sizes.limit) {
            full = Some(self.exchange(&mut lane)?);
        }
        drop(lane);
        if let Some(full) = full {
            self.write(full)?;
            let waiting = lock(&self.pending).values().map(Pending::bytes).sum::<usize>();
            if waiting > self.sizes.pending {
                let _one_at_a_time = self.writer.begin_commit();
                self.resolve()?;
            }
        }
        added.map(|()| sequence)
    }

    /// True if the next commit says something else than the newest.
    pub(super) fn has_changed(&self) -> bool {
        self.writer.has_changed() || self.noted.load(Ordering::Relaxed)
    }

    /// Exchanges the part of a lane for an empty one. It must be written.
    pub(super) fn exchange(&self, lane: &mut Part) -> Result<Taken<'_>> {
        let empty = self.pool.empty(&|| self.new_part())?;
        let full = std::mem::replace(lane, empty);
        Ok(self.pool.begin_writing(full, self.epoch.load(Ordering::Relaxed), false))
    }

    /// Writes a part that was taken out of its lane, and keeps its memory for another.
    pub(super) fn write(&self, mut taken: Taken<'_>) -> Result<()> {
        let epoch = taken.epoch;
        let Some(part) = taken.part() else { return Ok(()) };
        self.write_segment(part, epoch).inspect_err(|error| self.pool.fail(error))?;
        part.clear();
        let most = self.sizes.limit / 4 * 5;
        self.pool.end_writing(taken, |part| part.resident() <= most);
        Ok(())
    }

    fn write_segment(&self, part: &mut Part, epoch: u64) -> Result<()> {
        let mut landed = None;
        if part.documents() > 0 {
            let id = self.writer.new_id();
            let (mut fields, keys, stored, columns) = part.for_flush();
            let (directory, buffers) = (self.writer.directory(), &self.options.buffers);
            let flushed = flush(directory, id, &mut fields, keys, stored, columns, buffers);
            landed = Some(flushed.inspect_err(|_| self.writer.give_up(id))?);
        }
        let (sequences, mut edits) = part.take_rest();
        let mut pending = lock(&self.pending);
        let of_epoch = pending.entry(epoch).or_default();
        of_epoch.edits.append(&mut edits);
        if let Some((segment, unsynced)) = landed {
            of_epoch.segments.push(Landed { segment, unsynced: Some(unsynced), sequences });
        }
        // Of its own epoch: a commit waits for this thread, and so for what it syncs.
        let open = of_epoch.segments.iter().filter(|landed| landed.unsynced.is_some()).count();
        let oldest = match open > UNSYNCED {
            true => of_epoch.segments.iter_mut().find_map(|landed| landed.unsynced.take()),
            false => None,
        };
        drop(pending);
        oldest.map_or(Ok(()), |unsynced| unsynced.sync().map(drop))
    }

    /// Takes everything out of the lanes at one moment, writes it, and applies all edits. Who calls it holds the right
    /// to commit. Returns the number of the last operation.
    pub(super) fn resolve(&self) -> Result<u64> {
        self.resolve_all().inspect_err(|error| self.pool.fail(error))
    }

    fn resolve_all(&self) -> Result<u64> {
        let mut empty = self.pool.empty_for_all(&|| self.new_part())?;
        let (taken, now, last) = {
            let mut lanes: Vec<MutexGuard<'_, Part>> = self.lanes.iter().map(lock).collect();
            let epoch = self.epoch.fetch_add(1, Ordering::Relaxed);
            let mut taken = Vec::with_capacity(lanes.len());
            for lane in lanes.iter_mut().filter(|lane| !lane.is_empty()) {
                if let Some(empty) = empty.pop() {
                    let full = std::mem::replace(&mut **lane, empty);
                    taken.push(self.pool.begin_writing(full, epoch, true));
                }
            }
            (taken, epoch + 1, self.next.load(Ordering::Relaxed) - 1)
        };
        self.pool.give_back(empty);
        self.write_all(taken)?;
        self.pool.wait_for_older(now)?;
        let mut ready = Pending::default();
        {
            let mut pending = lock(&self.pending);
            let later = pending.split_off(&now);
            for (_, mut older) in std::mem::replace(&mut *pending, later) {
                ready.segments.append(&mut older.segments);
                ready.edits.append(&mut older.edits);
            }
        }
        self.land(ready)?;
        self.woken.notify_all();
        Ok(last)
    }

    /// Writes parts side by side, as far as there are threads to be had.
    fn write_all(&self, taken: Vec<Taken<'_>>) -> Result<()> {
        let helpers = taken.len().saturating_sub(1);
        let queue = Mutex::new(taken);
        let next = || lock(&queue).pop();
        let write = || std::iter::from_fn(next).try_for_each(|taken| self.write(taken));
        std::thread::scope(|scope| {
            let spawn = |_| Builder::new().name("commit".into()).spawn_scoped(scope, write).ok();
            let threads: Vec<_> = (0..helpers).filter_map(spawn).collect();
            write()?;
            threads.into_iter().try_for_each(|thread| thread.join().unwrap_or_else(|_| Err(ended_badly())))
        })
    }

    /// Makes what is ready part of the next commit.
    fn land(&self, ready: Pending) -> Result<()> {
        let Pending { mut segments, edits } = ready;
        for landed in &mut segments {
            landed.unsynced.take().map_or(Ok(0), |unsynced| unsynced.sync())?;
        }
        let new: HashSet<u128> = segments.iter().map(|landed| landed.segment.id).collect();
        *lock(&self.unresolved) = new.clone();
        for Landed { segment, .. } in &segments {
            self.writer.take_in(Some(segment), Vec::new(), Vec::new());
        }
        for edits in Edits::in_turns(edits) {
            for Landed { segment, sequences, .. } in &segments {
                let found = edits.in_new(&self.writer.segment(segment.id)?, sequences)?;
                self.writer.change(segment.id, |segment| found.apply(segment))?;
            }
            let find = |segment: &Segment| edits.in_old(segment);
            self.writer.change_everywhere(&new, &find, &|segment, found| found.apply(segment))?;
            self.writer.describe(|manifest| {
                let mut manifest = manifest?;
                // What is left of a file that was indexed in part would not be found by a later build otherwise.
                for (path, begun) in &mut manifest.partial {
                    if edits.delete(path) {
                        *begun = Partial::default();
                    }
                }
                Some(manifest)
            });
        }
        lock(&self.unresolved).clear();
        Ok(())
    }

    /// Merges what the policy asks for until the writer is closed. What goes wrong is noted and tried again later.
    pub(super) fn merge_in_background(&self, policy: &MergePolicy) {
        while !self.is_over() {
            let outcome = self.merge_what_is_due(policy);
            if !matches!(outcome, Err(Error::Cancelled)) {
                *lock(&self.merge_failure) = outcome.err().map(|error| error.to_string());
            }
            let ending = lock(&self.ending);
            if !self.is_over() {
                drop(self.woken.wait_timeout(ending, LOOK_EVERY));
            }
        }
    }

    /// Which segments are to be merged.
    pub(super) fn policy(&self) -> Option<MergePolicy> {
        self.options.merge
    }

    fn is_over(&self) -> bool {
        self.closing.load(Ordering::Relaxed) || self.pool.check().is_err()
    }

    /// Has merges end, also the one under way.
    pub(super) fn close(&self) {
        let _changed = lock(&self.ending);
        self.closing.store(true, Ordering::Relaxed);
        self.woken.notify_all();
    }

    /// Merges until the policy asks for nothing.
    pub(super) fn merge_what_is_due(&self, policy: &MergePolicy) -> Result<()> {
        let _one_at_a_time = lock(&self.merging);
        let mut pace = Pace::new(policy.rate);
        let work = MergeWork { buffers: self.options.buffers, ..MergeWork::default() };
        while !self.is_over() {
            let segments = self.writer.manifest().map(|manifest| manifest.segments).unwrap_or_default();
            let unresolved = lock(&self.unresolved).clone();
            let room = merging_room(self.options.memory);
            let Some(chosen) = policy.choose(&segments, room, |id| unresolved.contains(&id)) else { break };
            pace.begin_file();
            let mut go_on = |written| {
                self.pool.check()?;
                pace.keep(written, &self.closing)
            };
            self.writer.merge(&chosen, &work, &mut go_on)?;
        }
        Ok(())
    }
}

impl Sizes {
    fn new(options: &WriterOptions, schema: &Schema, stored: &Stored) -> Result<Self> {
        let least = LEAST.max(LEAST_PER_FIELD * schema.searched().count());
        // Parts that are being written, each with the buffers of a flush, are in lanes no more.
        let each = (PARTS - 1) * (FLUSH_BYTES + options.buffers.extra_bytes())
            + PARTS * Collector::fixed_bytes(stored);
        let memory = usize::try_from(options.memory).unwrap_or(usize::MAX);
        let merging = options.merge.map_or(0, |_| merging_bytes(options.memory));
        let merging = usize::try_from(merging).unwrap_or(usize::MAX);
        let fixed = FIXED.saturating_add(merging);
        let sizes = |lanes: usize| {
            let most = memory.checked_sub(fixed.checked_add(lanes.checked_mul(each)?)?)?;
            // A quarter of a share more is kept of earlier segments; a quarter of all is for what waits for a commit.
            let share = (most / 4 * 3 / PARTS / lanes / 5 * 4).min(MOST);
            let segment = usize::try_from(options.segment_memory).unwrap_or(usize::MAX);
            let limit = segment.clamp(least, share.max(least));
            (share >= least).then_some(Sizes { lanes, limit, share, pending: most / 4 })
        };
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let found = match options.lanes {
            0 => (1..=cores).rev().find_map(sizes),
            lanes => sizes(lanes),
        };
        found.ok_or_else(|| {
            let lanes = options.lanes.max(1);
            let needed = (least / 4 * 5 * PARTS / 3 * 4 + each).saturating_mul(lanes).saturating_add(fixed);
            Error::Options(format!(
                "{} MiB of memory are too little for {lanes} lanes and {} fields: give at least {} MiB, or fewer lanes",
                memory >> 20,
                schema.searched().count(),
                (needed >> 20) + 1
            ))
        })
    }
}

fn ended_badly() -> Error {
    Error::System {
        action: "write a segment",
        source: std::io::Error::other("its thread ended unexpectedly"),
        remedy: "this is a fault in the program: please report it",
    }
}

/// The schema of the index, which one that is given must be.
fn choose_schema(current: Option<&Schema>, wanted: Option<&Schema>) -> Result<Schema> {
    let refuse = |why: &str| Err(Error::Options(why.into()));
    match (current, wanted) {
        (Some(current), Some(wanted)) if current != wanted => {
            refuse("the index has another schema: open it without one, or make another index")
        }
        (Some(current), _) => Ok(current.clone()),
        (None, Some(wanted)) if wanted.default_field().is_none() => {
            refuse("a schema needs a field that is searched: add a text or a keyword")
        }
        (None, Some(wanted)) => Ok(wanted.clone()),
        (None, None) => refuse("there is no index yet: give the schema of a new one"),
    }
}

/// What is kept of documents: by an index that is there what it has, by a new one what its schema and the options say.
fn what_to_store(current: Option<&Manifest>, schema: &Schema, options: &WriterOptions) -> Result<Stored> {
    let refuse = |why: &str| Err(Error::Options(why.into()));
    let mut wanted = options.stored;
    if schema.stores() && current.is_none() {
        wanted.store = Some(wanted.store.unwrap_or(Store::Content));
    }
    let stored = choose_stored(current, &wanted)?;
    if stored.store == Store::Reference {
        return refuse(
            "an index that stores references has files only: build another for documents from a program",
        );
    }
    check_stored(schema, &stored)?;
    Ok(stored)
}
