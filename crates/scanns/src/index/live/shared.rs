//! What all threads that use a writer share: lanes, what left them, and the way into a commit.

use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::WriterOptions;
use super::part::{Part, Target};
use super::pending::{Deletes, Landed, Pending};
use super::room::Room;
use crate::error::{Error, Result};
use crate::index::manifest::Manifest;
use crate::index::merge_policy::MergePolicy;
use crate::index::stored::choose_stored;
use crate::index::writer::Writer;
use crate::schema::{Document, Records, Schema, Store, Stored};
use crate::segment::{Collector, FLUSH_BYTES, flush};
use crate::store::Directory;

/// The program itself, and a merge in the background.
const FIXED: usize = 56 << 20;

/// The least that a lane can work with.
const LEAST: usize = 4 << 20;

/// Segments whose files are open while the medium works on them.
const UNSYNCED: usize = 16;

/// Time between two looks at what could be merged.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// See the module.
pub(super) struct Shared {
    pub(super) writer: Writer<'static>,
    pub(super) schema: Schema,
    stored: Stored,
    options: WriterOptions,
    /// Bytes that a lane may take.
    limit: usize,
    /// Bytes that one inverter may take.
    budget: usize,
    pub(super) lanes: Vec<Mutex<Part>>,
    /// The number of the next operation.
    next: AtomicU64,
    /// Counts the moments at which parts were taken out of all lanes.
    epoch: AtomicU64,
    /// A lane to try first.
    turn: AtomicUsize,
    room: Room,
    /// By epoch.
    pending: Mutex<BTreeMap<u64, Pending>>,
    spares: Mutex<Vec<Part>>,
    /// New segments whose deletes have not been applied; they are not merged.
    unresolved: Mutex<HashSet<u128>>,
    /// Notes for the next commit, if they were changed.
    pub(super) noted: AtomicBool,
    failed: AtomicBool,
    pub(super) merge_failure: Mutex<Option<String>>,
    pub(super) ended: Mutex<bool>,
    pub(super) woken: Condvar,
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
        let (lanes, most) = (options.lanes.max(1), room_for_lanes(&options, &stored)?);
        writer.describe(|manifest| {
            let new = || Manifest::new(schema.clone(), Records::File, stored);
            Some(Manifest { stored, ..manifest.unwrap_or_else(new) })
        });
        let budget = most / 2;
        let segment = usize::try_from(options.segment_memory).unwrap_or(usize::MAX);
        let parts = (0..lanes).map(|_| Ok(Mutex::new(Part::new(&schema, &stored, budget)?)));
        Ok(Shared {
            limit: segment.clamp(LEAST, budget / lanes),
            budget,
            lanes: parts.collect::<Result<_>>()?,
            next: AtomicU64::new(1),
            epoch: AtomicU64::new(1),
            turn: AtomicUsize::new(0),
            room: Room::new(lanes, most),
            pending: Mutex::default(),
            spares: Mutex::default(),
            unresolved: Mutex::default(),
            noted: AtomicBool::new(false),
            failed: AtomicBool::new(false),
            merge_failure: Mutex::default(),
            ended: Mutex::new(false),
            woken: Condvar::new(),
            writer,
            schema,
            stored,
            options,
        })
    }

    pub(super) fn check_alive(&self) -> Result<()> {
        if self.failed.load(Ordering::Relaxed) {
            return Err(Error::Options(
                "the writer failed before, and what was not committed is lost: open the index again".into(),
            ));
        }
        Ok(())
    }

    pub(super) fn fail(&self) {
        self.failed.store(true, Ordering::Relaxed);
    }

    /// A lane that nobody uses, or else one to wait for.
    fn lane(&self) -> (usize, MutexGuard<'_, Part>) {
        let first = self.turn.fetch_add(1, Ordering::Relaxed) % self.lanes.len();
        let in_turn = (first..self.lanes.len()).chain(0..first);
        let free = in_turn.filter_map(|lane| Some((lane, self.lanes[lane].try_lock().ok()?))).next();
        free.unwrap_or_else(|| (first, lock(&self.lanes[first])))
    }

    /// One operation: its document and its delete take effect together.
    pub(super) fn change(&self, document: Option<&Document>, target: Option<Target>) -> Result<u64> {
        self.check_alive()?;
        self.room.wait_for_room();
        let (number, mut lane) = self.lane();
        // Within the lane, so that no part is taken out between a number and its operation.
        let sequence = self.next.fetch_add(1, Ordering::Relaxed);
        let added = document.map_or(Ok(()), |document| lane.add(&self.schema, document, sequence));
        if let Some(target) = target.filter(|_| added.is_ok()) {
            lane.delete(target, sequence);
        }
        let full = lane.is_full(self.limit);
        self.room.lane_takes(number, lane.resident());
        let full = if full { Some(self.take(number, &mut lane)?) } else { None };
        drop(lane);
        if let Some(full) = full {
            self.write(full)?;
        } else if let Some(largest) = self.room.lane_to_write() {
            let taken = self.take(largest, &mut lock(&self.lanes[largest]))?;
            self.write(taken)?;
        }
        // While a commit is prepared, what is kept has to wait for its end.
        if self.room.keeps_too_much()
            && let Some(_one_at_a_time) = self.writer.try_begin_commit()
        {
            self.resolve().inspect_err(|_| self.fail())?;
        }
        added.map(|()| sequence)
    }

    /// True if the next commit says something else than the newest.
    pub(super) fn has_changed(&self) -> bool {
        self.writer.has_changed() || self.noted.load(Ordering::Relaxed)
    }

    /// Exchanges the part of a lane for an empty one. It must be written.
    pub(super) fn take(&self, lane: usize, part: &mut Part) -> Result<Taken> {
        let spare = lock(&self.spares).pop();
        let empty = match spare {
            Some(spare) => {
                self.room.keep(0, spare.resident());
                spare
            }
            None => Part::new(&self.schema, &self.stored, self.budget).inspect_err(|_| self.fail())?,
        };
        let (epoch, bytes) = (self.epoch.load(Ordering::Relaxed), part.resident());
        self.room.lane_takes(lane, empty.resident());
        self.room.begin_writing(epoch, bytes);
        Ok(Taken { part: std::mem::replace(part, empty), epoch, bytes })
    }

    /// Writes a part that was taken out of its lane, and keeps its memory for another.
    pub(super) fn write(&self, taken: Taken) -> Result<()> {
        let Taken { mut part, epoch, bytes } = taken;
        let outcome = self.write_segment(&mut part, epoch);
        if outcome.is_err() {
            self.fail();
        } else {
            part.clear();
            let mut spares = lock(&self.spares);
            if spares.len() < self.lanes.len() && self.room.has_room_for(part.resident()) {
                self.room.keep(part.resident(), 0);
                spares.push(part);
            }
        }
        self.room.end_writing(epoch, bytes);
        outcome
    }

    fn write_segment(&self, part: &mut Part, epoch: u64) -> Result<()> {
        let mut landed = None;
        if part.has_documents() {
            let id = self.writer.new_id();
            let (mut fields, keys, stored) = part.for_flush();
            let flushed =
                flush(self.writer.directory(), id, &mut fields, keys, stored, &self.options.buffers);
            landed = Some(flushed.inspect_err(|_| self.writer.give_up(id))?);
        }
        let (sequences, deletes) = part.take_rest();
        let landed =
            landed.map(|(segment, unsynced)| Landed { segment, unsynced: Some(unsynced), sequences });
        let mut new = Pending { segments: landed.into_iter().collect(), deletes };
        self.room.keep(new.bytes(), 0);
        let mut pending = lock(&self.pending);
        let of_epoch = pending.entry(epoch).or_default();
        of_epoch.segments.append(&mut new.segments);
        of_epoch.deletes.append(&mut new.deletes);
        let mut open = pending.values_mut().flat_map(|pending| &mut pending.segments);
        let oldest = if open.by_ref().filter(|landed| landed.unsynced.is_some()).count() > UNSYNCED {
            let mut all = pending.values_mut().flat_map(|pending| &mut pending.segments);
            all.find_map(|landed| landed.unsynced.take())
        } else {
            None
        };
        drop(pending);
        // Should this fail, the writer has failed, and nothing relies on the file.
        oldest.map_or(Ok(()), |unsynced| unsynced.sync().map(drop))
    }

    /// Takes everything out of the lanes at one moment, writes it, and applies all deletes. One thread at a time.
    pub(super) fn resolve(&self) -> Result<()> {
        let (taken, now) = {
            let mut lanes: Vec<MutexGuard<'_, Part>> = self.lanes.iter().map(lock).collect();
            let mut taken = Vec::with_capacity(lanes.len());
            for (number, lane) in lanes.iter_mut().enumerate().filter(|(_, lane)| !lane.is_empty()) {
                taken.push(self.take(number, lane)?);
            }
            (taken, self.epoch.fetch_add(1, Ordering::Relaxed) + 1)
        };
        std::thread::scope(|scope| {
            let write = |taken| scope.spawn(move || self.write(taken));
            let threads: Vec<_> = taken.into_iter().map(write).collect();
            threads.into_iter().try_for_each(|thread| thread.join().unwrap_or_else(|_| Err(ended_badly())))
        })?;
        self.room.wait_for_older(now);
        self.check_alive()?;
        let mut ready = Pending::default();
        {
            let mut pending = lock(&self.pending);
            let later = pending.split_off(&now);
            for (_, mut older) in std::mem::replace(&mut *pending, later) {
                ready.segments.append(&mut older.segments);
                ready.deletes.append(&mut older.deletes);
            }
        }
        let bytes = ready.bytes();
        self.land(ready)?;
        self.room.keep(0, bytes);
        Ok(())
    }

    /// Makes what is ready part of the next commit.
    fn land(&self, ready: Pending) -> Result<()> {
        let Pending { mut segments, deletes } = ready;
        for landed in &mut segments {
            landed.unsynced.take().map_or(Ok(0), |unsynced| unsynced.sync())?;
        }
        let new: HashSet<u128> = segments.iter().map(|landed| landed.segment.id).collect();
        *lock(&self.unresolved) = new.clone();
        let deletes = Deletes::new(deletes);
        for Landed { segment, sequences, .. } in &segments {
            self.writer.take_in(Some(segment), Vec::new(), Vec::new());
            if !deletes.is_empty() {
                let gone = deletes.in_new(&self.writer.segment(segment.id)?, sequences)?;
                self.writer.delete(segment.id, gone)?;
            }
        }
        if !deletes.is_empty() {
            self.writer.delete_everywhere(&new, &|segment| deletes.in_old(segment))?;
        }
        lock(&self.unresolved).clear();
        Ok(())
    }

    /// Merges what the policy asks for until the writer is closed.
    pub(super) fn merge_in_background(&self, policy: &MergePolicy) {
        let is_over = || *lock(&self.ended) || self.failed.load(Ordering::Relaxed);
        loop {
            while !is_over() {
                let segments = self.writer.manifest().map(|manifest| manifest.segments).unwrap_or_default();
                let unresolved = lock(&self.unresolved).clone();
                let Some(chosen) = policy.choose(&segments, |id| unresolved.contains(&id)) else { break };
                let mut go_on = |_| if is_over() { Err(Error::Cancelled) } else { Ok(()) };
                match self.writer.merge(&chosen, &self.options.buffers, &mut go_on) {
                    Ok(_) => {}
                    Err(Error::Cancelled) => return,
                    Err(error) => {
                        *lock(&self.merge_failure) = Some(error.to_string());
                        return;
                    }
                }
            }
            let wait = self.woken.wait_timeout_while(lock(&self.ended), LOOK_EVERY, |ended| !*ended);
            if *wait.unwrap_or_else(PoisonError::into_inner).0 {
                return;
            }
        }
    }
}

/// A part that left its lane.
pub(super) struct Taken {
    part: Part,
    epoch: u64,
    bytes: usize,
}

fn ended_badly() -> Error {
    Error::System {
        action: "write a segment",
        source: std::io::Error::other("its thread ended unexpectedly"),
        remedy: "this is a fault in the program: please report it",
    }
}

/// Bytes that lanes, and what left them and is not written yet, may take.
fn room_for_lanes(options: &WriterOptions, stored: &Stored) -> Result<usize> {
    let lanes = options.lanes.max(1);
    // Beside the part that a lane fills there may be one that is being written.
    let each = FLUSH_BYTES + options.buffers.extra_bytes() + 2 * Collector::fixed_bytes(stored);
    let memory = usize::try_from(options.memory).unwrap_or(usize::MAX);
    let most = memory.saturating_sub(FIXED + lanes * each);
    if most < lanes * LEAST * 4 {
        let needed = FIXED + lanes * (each + LEAST * 4);
        return Err(Error::Options(format!(
            "{} MiB of memory are too little for {lanes} lanes: give at least {} MiB, or fewer lanes",
            memory >> 20,
            (needed >> 20) + 1
        )));
    }
    Ok(most)
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
    if schema.stores() && stored.store != Store::Content {
        return refuse(
            "the schema stores fields, and the options say otherwise: leave the store to the schema",
        );
    }
    let one_text = schema.searched().count() == 1
        && schema.default_field().and_then(|field| schema.analyzer(field)).is_some();
    if stored.vectors && !one_text {
        return refuse(
            "vectors need a schema with one searched field, a text: leave the vectors out, or the other fields",
        );
    }
    Ok(stored)
}
