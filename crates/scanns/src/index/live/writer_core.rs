//! The state that all threads of a writer share: the lanes, the buffers that left them, and the steps of a
//! commit.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::Builder;
use std::time::Duration;

use super::buffer_pool::{BufferPool, DetachedBuffer};
use super::edits::{EditBatch, EpochOutput, NewSegment};
use super::lane_buffer::{Edit, EditAction, EditTarget, LaneBuffer};
use super::options::{LaneSizes, WriterOptions, choose_schema, what_to_store};
use crate::error::{Error, Result};
use crate::index::commit::manifest::{Manifest, Partial};
use crate::index::commit::merge_budget::merging_room;
use crate::index::commit::merge_policy::MergePolicy;
use crate::index::commit::policy_merge::PolicyMerge;
use crate::index::commit::writer::Writer;
use crate::index::snapshot::Snapshot;
use crate::schema::{Document, Records, Schema, Stored};
use crate::segment::flush;
use crate::store::Directory;
use crate::sys::lock;

/// The maximum number of segments of one epoch whose files stay open while the medium writes them.
const MAX_UNSYNCED: usize = 16;

/// The maximum number of segments of the next commit whose files stay open until it syncs them.
const MOST_UNSYNCED: usize = 256;

/// Time between two searches for segments to merge, unless a commit comes before.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// The right to take the content of all lanes out of them, with the snapshot that was made last.
type TakingOut = Mutex<Option<Snapshot>>;

/// The shared state of an [`IndexWriter`](super::IndexWriter). See the module documentation.
pub(super) struct WriterCore {
    pub(super) writer: Writer<'static>,
    pub(super) schema: Schema,
    stored: Stored,
    options: WriterOptions,
    sizes: LaneSizes,
    pub(super) lanes: Vec<Mutex<LaneBuffer>>,
    /// The number of the next operation.
    next: AtomicU64,
    /// The number of times that buffers were taken out of all lanes.
    epoch: AtomicU64,
    pub(super) pool: BufferPool,
    /// By epoch.
    pending: Mutex<BTreeMap<u64, EpochOutput>>,
    /// True from the moment at which the state of a commit is taken until it is published or dropped.
    pub(super) prepared: AtomicBool,
    /// True once notes for the next commit were changed.
    pub(super) noted: AtomicBool,
    /// Held while the content of all lanes is taken out of them and becomes part of the next commit.
    pub(super) taking_out: TakingOut,
    /// Held during a merge.
    merging: Mutex<()>,
    pub(super) merge_failure: Mutex<Option<String>>,
    /// True once the writer is being closed; changed under `ending`.
    closing: AtomicBool,
    ending: Mutex<()>,
    woken: Condvar,
}

impl WriterCore {
    pub(super) fn open(
        directory: Arc<dyn Directory>,
        schema: Option<&Schema>,
        options: WriterOptions,
    ) -> Result<Self> {
        options.buffers.check()?;
        let writer = Writer::open_shared(directory)?;
        let current = writer.manifest();
        if current.as_ref().is_some_and(|current| current.contents.near_duplicates) {
            return Err(Error::Unsupported {
                what: "adding documents one by one to an index with sketches of texts".into(),
                remedy: "build the index from files or records, or use one without near-duplicates".into(),
            });
        }
        let schema = choose_schema(current.as_ref().map(|manifest| &manifest.schema), schema)?;
        let stored = what_to_store(current.as_ref(), &schema, &options)?;
        let sizes = LaneSizes::new(&options, &schema, &stored)?;
        writer.describe(|manifest| {
            let new = || Manifest::new(schema.clone(), Records::File, stored);
            Some(Manifest { stored, ..manifest.unwrap_or_else(new) })
        });
        let buffers =
            (0..sizes.lanes).map(|_| Ok(Mutex::new(LaneBuffer::new(&schema, &stored, sizes.share)?)));
        Ok(WriterCore {
            lanes: buffers.collect::<Result<_>>()?,
            next: AtomicU64::new(1),
            epoch: AtomicU64::new(1),
            pool: BufferPool::new(sizes.lanes),
            pending: Mutex::default(),
            prepared: AtomicBool::new(false),
            noted: AtomicBool::new(false),
            taking_out: TakingOut::default(),
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

    /// Returns the first lane that no thread uses, so that few threads fill few lanes. If there is none,
    /// waits for one.
    pub(super) fn lane(&self) -> MutexGuard<'_, LaneBuffer> {
        let free = self.lanes.iter().find_map(|lane| lane.try_lock().ok());
        free.unwrap_or_else(|| {
            let turn = usize::try_from(self.next.load(Ordering::Relaxed)).unwrap_or(0);
            lock(&self.lanes[turn % self.lanes.len()])
        })
    }

    fn new_buffer(&self) -> Result<LaneBuffer> {
        LaneBuffer::new(&self.schema, &self.stored, self.sizes.share)
    }

    /// Makes one operation: its document and its edit of older documents take effect together. Returns its
    /// number.
    pub(super) fn change(
        &self,
        document: Option<&Document>,
        edit: Option<(EditTarget, EditAction)>,
    ) -> Result<u64> {
        self.pool.check()?;
        let mut lane = self.lane();
        let mut full = None;
        // Done while the lane is locked, so that no buffer is taken between the number and its operation.
        let mut sequence = self.next_operation();
        let mut added = Ok(());
        if let Some(document) = document {
            added = lane.add(document, sequence);
            if added.is_err() && lane.documents() > 1 {
                // It may fit into an empty buffer.
                full = Some(self.exchange(&mut lane)?);
                sequence = self.next_operation();
                added = lane.add(document, sequence);
            }
        }
        if let Some((target, action)) = edit.filter(|_| added.is_ok()) {
            lane.edit(Edit { target, action, sequence });
        }
        if full.is_none() && self.is_full(&mut lane) {
            full = Some(self.exchange(&mut lane)?);
        }
        drop(lane);
        if let Some(full) = full {
            self.write(full)?;
            self.resolve_what_waits()?;
        }
        added.map(|()| sequence)
    }

    /// The number of a new operation. The lane that it changes must be locked.
    pub(super) fn next_operation(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// True if a lane is so full that its buffer must be written.
    pub(super) fn is_full(&self, lane: &mut LaneBuffer) -> bool {
        lane.is_full(self.sizes.limit)
    }

    /// Makes what waits for the next commit a part of it, if it takes too much memory.
    pub(super) fn resolve_what_waits(&self) -> Result<()> {
        let waiting = lock(&self.pending).values().map(EpochOutput::bytes).sum::<usize>();
        if waiting > self.sizes.pending {
            let _one_at_a_time = lock(&self.taking_out);
            self.resolve()?;
        }
        Ok(())
    }

    /// True if the next commit would differ from the newest one.
    pub(super) fn has_changed(&self) -> bool {
        self.writer.has_changed() || self.noted.load(Ordering::Relaxed)
    }

    /// Exchanges the buffer of a lane for an empty one, and returns the full one, which must be written.
    pub(super) fn exchange(&self, lane: &mut LaneBuffer) -> Result<DetachedBuffer<'_>> {
        let empty = self.pool.empty(&|| self.new_buffer())?;
        let full = std::mem::replace(lane, empty);
        Ok(self.pool.begin_writing(full, self.epoch.load(Ordering::Relaxed), false))
    }

    /// Writes a buffer that was taken out of its lane, and keeps its memory for later.
    pub(super) fn write(&self, mut detached: DetachedBuffer<'_>) -> Result<()> {
        let epoch = detached.epoch;
        let Some(buffer) = detached.buffer() else { return Ok(()) };
        self.write_segment(buffer, epoch).inspect_err(|error| self.pool.fail(error))?;
        buffer.clear();
        let most = self.sizes.limit / 4 * 5;
        self.pool.end_writing(detached, |buffer| buffer.resident() <= most);
        Ok(())
    }

    fn write_segment(&self, buffer: &mut LaneBuffer, epoch: u64) -> Result<()> {
        let mut written = None;
        if buffer.documents() > 0 {
            let id = self.writer.new_id();
            let (directory, buffers) = (self.writer.directory(), &self.options.buffers);
            let flushed = flush(directory, id, buffer.for_flush(), buffers);
            written = Some(flushed.inspect_err(|_| self.writer.give_up(id))?);
        }
        let (sequences, mut edits) = buffer.take_rest();
        let mut pending = lock(&self.pending);
        let output = pending.entry(epoch).or_default();
        output.edits.append(&mut edits);
        if let Some((segment, unsynced)) = written {
            output.segments.push(NewSegment { segment, unsynced: Some(unsynced), sequences });
        }
        // Only segments of its own epoch: a commit waits for this thread, and so for the file that it syncs.
        let unsynced = output.segments.iter_mut().filter(|new| new.unsynced.is_some());
        let mut unsynced: Vec<&mut NewSegment> = unsynced.collect();
        let too_many = unsynced.len() > MAX_UNSYNCED;
        let oldest = unsynced.first_mut().filter(|_| too_many).and_then(|new| new.unsynced.take());
        drop(pending);
        oldest.map_or(Ok(()), |unsynced| unsynced.sync().map(drop))
    }

    /// True if all operations that have returned are part of the next commit. Call it while `taking_out` is
    /// held.
    pub(super) fn is_resolved(&self) -> bool {
        // In this order: what leaves a lane is first being written, and then pending.
        let are_empty = self.lanes.iter().all(|lane| lock(lane).is_empty());
        are_empty && self.pool.writes_nothing() && lock(&self.pending).is_empty()
    }

    /// Takes the content of all lanes in one step, writes it, and applies all edits. Call it while
    /// `taking_out` is held. Returns the number of the last operation.
    pub(super) fn resolve(&self) -> Result<u64> {
        self.resolve_all().inspect_err(|error| self.pool.fail(error))
    }

    fn resolve_all(&self) -> Result<u64> {
        let mut empty = self.pool.empty_for_all(&|| self.new_buffer())?;
        let (taken, now, last) = {
            let mut lanes: Vec<MutexGuard<'_, LaneBuffer>> = self.lanes.iter().map(lock).collect();
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
        let mut ready = EpochOutput::default();
        {
            let mut pending = lock(&self.pending);
            let later = pending.split_off(&now);
            for (_, mut older) in std::mem::replace(&mut *pending, later) {
                ready.segments.append(&mut older.segments);
                ready.edits.append(&mut older.edits);
            }
        }
        self.take_in(ready)?;
        self.woken.notify_all();
        Ok(last)
    }

    /// Writes buffers in parallel, with as many threads as can be started.
    fn write_all(&self, detached: Vec<DetachedBuffer<'_>>) -> Result<()> {
        let helpers = detached.len().saturating_sub(1);
        let queue = Mutex::new(detached);
        let next = || lock(&queue).pop();
        let write = || std::iter::from_fn(next).try_for_each(|detached| self.write(detached));
        std::thread::scope(|scope| {
            let spawn = |_| Builder::new().name("commit".into()).spawn_scoped(scope, write).ok();
            let threads: Vec<_> = (0..helpers).filter_map(spawn).collect();
            write()?;
            let panicked =
                |panic: Box<dyn Any + Send>| Err(Error::panicked("a thread that writes a segment", &*panic));
            threads.into_iter().try_for_each(|thread| thread.join().unwrap_or_else(panicked))
        })
    }

    /// Adds new segments to the next commit, and applies edits to all its segments.
    fn take_in(&self, ready: EpochOutput) -> Result<()> {
        let EpochOutput { mut segments, edits } = ready;
        // Held until all edits are applied: a merged segment would already have some of them.
        let _no_merge_between = self.writer.hold_merges();
        let old = self.writer.segment_ids();
        for NewSegment { segment, unsynced, .. } in &mut segments {
            match unsynced.take() {
                Some(unsynced) => self.writer.take_in_unsynced(segment, unsynced)?,
                None => {
                    self.writer.take_in(Some(segment), Vec::new(), Vec::new());
                }
            }
        }
        for edits in EditBatch::in_order(edits) {
            for NewSegment { segment, sequences, .. } in &segments {
                let id = segment.id;
                if let Some(segment) = self.writer.segment(id)? {
                    let found = edits.in_new(&segment, sequences)?;
                    self.writer.change(id, |segment| found.apply(segment))?;
                }
            }
            for &id in &old {
                if let Some(segment) = self.writer.segment(id)? {
                    let found = edits.in_old(&segment)?;
                    self.writer.change(id, |segment| found.apply(segment))?;
                }
            }
            self.writer.describe(|manifest| {
                let mut manifest = manifest?;
                // Lines of a file that was indexed in part are gone: the next build must read it from its
                // start.
                for (path, begun) in &mut manifest.partial {
                    if edits.deletes_key(path) {
                        *begun = Partial::default();
                    }
                }
                Some(manifest)
            });
        }
        self.writer.sync_oldest(MOST_UNSYNCED)
    }

    /// Merges the segments that the policy chooses until the writer is closed. A failed merge is recorded and
    /// tried again later.
    pub(super) fn merge_in_background(&self, policy: &MergePolicy) {
        while !self.is_over() {
            let outcome = self.merge_what_is_due(policy).and_then(|()| self.tidy_up());
            if !matches!(outcome, Err(Error::Cancelled)) {
                *lock(&self.merge_failure) = outcome.err().map(|error| error.to_string());
            }
            let ending = lock(&self.ending);
            if !self.is_over() {
                drop(self.woken.wait_timeout(ending, LOOK_EVERY));
            }
        }
    }

    /// The merge policy, if segments are merged.
    pub(super) fn policy(&self) -> Option<MergePolicy> {
        self.options.merge
    }

    fn is_over(&self) -> bool {
        self.closing.load(Ordering::Relaxed) || self.pool.check().is_err()
    }

    /// Ends merging, and gives up the merge in progress.
    pub(super) fn close(&self) {
        let _changed = lock(&self.ending);
        self.closing.store(true, Ordering::Relaxed);
        self.woken.notify_all();
    }

    /// Merges until the policy chooses no more segments.
    pub(super) fn merge_what_is_due(&self, policy: &MergePolicy) -> Result<()> {
        let _one_at_a_time = lock(&self.merging);
        let merge = PolicyMerge {
            writer: &self.writer,
            policy: *policy,
            buffers: self.options.buffers,
            room: merging_room(self.options.memory),
        };
        let go_on = || {
            self.pool.check()?;
            if self.closing.load(Ordering::Relaxed) { Err(Error::Cancelled) } else { Ok(()) }
        };
        merge.run(|| !self.is_over(), |_| false, go_on)
    }
}
