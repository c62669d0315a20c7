//! An index that programs write to, document by document, from any number of threads.
//!
//! ```text
//! add, update, delete ─► lane ─► part in memory ─► segment ─┐
//!                        lane ─► part in memory ─► segment ─┼─► commit
//! ```
//!
//! Whoever adds a document does the work of indexing it, in a lane that nobody else uses at that moment; a lane that is
//! full is written by the thread that filled it while the others go on. Every operation has a number; the numbers order
//! adds and deletes across lanes. A commit takes the parts out of all lanes at one moment, which takes no longer than
//! exchanging them for empty ones, and writes them while new operations go on in those. `shared.rs` has all of this; `part.rs` is what a lane has in
//! memory, `room.rs` keeps the memory cap, `pending.rs` applies deletes to what was added before them.

mod part;
mod pending;
mod room;
mod shared;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard};
use std::thread::JoinHandle;

use super::build::{leave_nothing_behind, prepare_directory};
use super::merge_policy::MergePolicy;
use super::stored::StoredOptions;
use super::writer::Prepared;
use crate::error::{Error, Result};
use crate::schema::{Document, Field, Schema};
use crate::search::Query;
use crate::segment::FlushBuffers;
use crate::store::{Directory, FsDirectory};
use part::Target;
use shared::{Shared, lock};

/// How an [`IndexWriter`] works.
#[derive(Clone, Copy, Debug)]
pub struct WriterOptions {
    /// Most memory to take, in bytes.
    pub memory: u64,
    /// Lanes: threads that can add at the same time without waiting for each other.
    pub lanes: usize,
    /// Bytes of memory after which a lane is written as a segment, if its share of `memory` is not less.
    pub segment_memory: u64,
    /// What is kept of documents. Values of fields that the schema stores are kept in any case; where it stores none,
    /// [`Store::Content`](crate::Store::Content) keeps the text of the field that is searched where none is named.
    pub stored: StoredOptions,
    /// Which segments are merged in the background; `None` for none.
    pub merge: Option<MergePolicy>,
    /// Sizes of the buffers on the way to the file.
    pub buffers: FlushBuffers,
}

impl Default for WriterOptions {
    fn default() -> Self {
        WriterOptions {
            memory: 1 << 30,
            lanes: std::thread::available_parallelism().map_or(1, usize::from),
            segment_memory: super::SEGMENT_MEMORY,
            stored: StoredOptions::default(),
            merge: Some(MergePolicy::default()),
            buffers: FlushBuffers::default(),
        }
    }
}

/// The one writer of an index; any number of threads may use it at once.
///
/// What was added is in the index after the next commit, and gone if the writer is dropped before, or the machine fails.
pub struct IndexWriter {
    shared: Arc<Shared>,
    merger: Option<JoinHandle<()>>,
}

impl IndexWriter {
    /// Opens the index at `path` for writing, or makes one with `schema`. An index that exists has its schema; one that is
    /// given must be the same.
    ///
    /// # Errors
    /// [`Error::Locked`] while another process writes to it, [`Error::Options`] for another schema, or none where there is
    /// no index, or too little memory for the lanes.
    pub fn open(path: &Path, schema: Option<&Schema>, options: WriterOptions) -> Result<Self> {
        let made = prepare_directory(path)?;
        let opened = Self::open_in(Arc::new(FsDirectory::new(path)), schema, options);
        if opened.is_err() && made {
            leave_nothing_behind(&FsDirectory::new(path), path);
        }
        opened
    }

    /// Like [`IndexWriter::open`], in any directory.
    pub fn open_in(
        directory: Arc<dyn Directory>,
        schema: Option<&Schema>,
        options: WriterOptions,
    ) -> Result<Self> {
        let shared = Arc::new(Shared::open(directory, schema, options)?);
        let merge = |policy| {
            let shared = shared.clone();
            let run = move || shared.merge_in_background(&policy);
            std::thread::Builder::new().name("merge".into()).spawn(run).map_err(|source| Error::System {
                action: "start a thread",
                source,
                remedy: "raise the limit of processes (ulimit -u)",
            })
        };
        let merger = options.merge.map(merge).transpose()?;
        Ok(IndexWriter { shared, merger })
    }

    /// The fields of documents.
    pub fn schema(&self) -> &Schema {
        &self.shared.schema
    }

    /// Adds a document, also if there are others with its key; returns the number of the operation.
    ///
    /// # Errors
    /// [`Error::Options`] for a document that does not fit the schema or the memory: it is left out, and the writer goes
    /// on. After any other error the writer refuses all but [`IndexWriter::roll_back`].
    pub fn add(&self, document: &Document) -> Result<u64> {
        document.check(&self.shared.schema)?;
        self.shared.change(Some(document), None)
    }

    /// Adds a document in the place of all that have its key; both happen in the same commit. Returns the number of the
    /// operation: what later operations add is not affected.
    ///
    /// # Errors
    /// As [`IndexWriter::add`]; a document that is left out replaces nothing.
    pub fn update(&self, document: &Document) -> Result<u64> {
        document.check(&self.shared.schema)?;
        self.shared.change(Some(document), Some(Target::Key(document.key().to_vec())))
    }

    /// Deletes all documents with this key that were added before; returns the number of the operation.
    pub fn delete(&self, key: &[u8]) -> Result<u64> {
        self.shared.change(None, Some(Target::Key(key.to_vec())))
    }

    /// Deletes all documents that were added before and that the query matches in a field; returns the number of the
    /// operation.
    pub fn delete_matching(&self, field: Field, query: &Query) -> Result<u64> {
        if self.shared.schema.entry(field).is_none_or(|entry| entry.kind.postings().is_none()) {
            return Err(Error::Options("a query needs a field of the index that is searched".into()));
        }
        self.shared.change(None, Some(Target::Query(field, query.clone())))
    }

    /// Has the next commit say `value` of `name`; `None` takes it out. [`Snapshot::notes`](super::Snapshot::notes) tells.
    pub fn note(&self, name: &[u8], value: Option<&[u8]>) {
        self.shared.writer.describe(|manifest| {
            let mut manifest = manifest?;
            match value {
                Some(value) => manifest.notes.insert(name.to_vec(), value.to_vec()),
                None => manifest.notes.remove(name),
            };
            Some(manifest)
        });
        self.shared.noted.store(true, Ordering::Relaxed);
    }

    /// Makes every operation that has returned durable; returns the generation of the commit. Operations that go on
    /// meanwhile are in this commit or the next. Without changes nothing is written.
    ///
    /// # Errors
    /// Whatever the directory says. The commit before is then the state of the index, or, where only the last step could
    /// not be made certain, either of the two.
    pub fn commit(&self) -> Result<u64> {
        let begun = self.begin_commit()?;
        if !self.shared.has_changed() {
            return Ok(self.shared.writer.generation());
        }
        self.prepare_begun(begun)?.commit()
    }

    /// The first phase of a commit: all that can fail for want of space is done, and readers see nothing of it yet.
    /// Operations go on meanwhile; other commits wait until this one is finished or dropped.
    ///
    /// # Errors
    /// As [`IndexWriter::commit`].
    pub fn prepare(&self) -> Result<PreparedCommit<'_>> {
        self.prepare_begun(self.begin_commit()?)
    }

    /// Waits for other commits, and makes all operations part of this one.
    fn begin_commit(&self) -> Result<MutexGuard<'_, ()>> {
        self.shared.check_alive()?;
        let one_at_a_time = self.shared.writer.begin_commit();
        self.shared.resolve().inspect_err(|_| self.shared.fail())?;
        Ok(one_at_a_time)
    }

    fn prepare_begun<'w>(&'w self, one_at_a_time: MutexGuard<'w, ()>) -> Result<PreparedCommit<'w>> {
        let shared = &*self.shared;
        let noted = shared.noted.swap(false, Ordering::Relaxed);
        let prepared = shared.writer.prepare().inspect_err(|_| shared.fail())?;
        Ok(PreparedCommit { shared, prepared: Some(prepared), noted, _one_at_a_time: one_at_a_time })
    }

    /// Why merging in the background ended, if it did; the index is right without.
    pub fn merge_failure(&self) -> Option<String> {
        lock(&self.shared.merge_failure).clone()
    }

    /// Forgets everything since the last commit, and closes the index, as dropping the writer does.
    pub fn roll_back(self) {
        drop(self);
    }

    fn close(&mut self) {
        *lock(&self.shared.ended) = true;
        self.shared.woken.notify_all();
        if let Some(merger) = self.merger.take() {
            // A thread that ended badly merged nothing, and no one waits for it.
            let _ = merger.join();
        }
        self.shared.writer.roll_back();
    }
}

impl Drop for IndexWriter {
    fn drop(&mut self) {
        self.close();
    }
}

/// A commit that is on the medium, and that no reader sees yet. Dropped, it comes to nothing: its changes stay with the
/// writer, and are in the next one.
#[must_use = "a commit that is not finished does not happen"]
pub struct PreparedCommit<'w> {
    shared: &'w Shared,
    /// None once it is published.
    prepared: Option<Prepared>,
    /// Notes were changed.
    noted: bool,
    _one_at_a_time: MutexGuard<'w, ()>,
}

impl PreparedCommit<'_> {
    /// The second phase: makes it the state of the index; returns its generation.
    ///
    /// # Errors
    /// As [`IndexWriter::commit`].
    pub fn commit(mut self) -> Result<u64> {
        let writer = &self.shared.writer;
        if let Some(prepared) = self.prepared.take() {
            writer.publish(prepared).inspect_err(|_| self.shared.fail())?;
        }
        Ok(writer.generation())
    }
}

impl Drop for PreparedCommit<'_> {
    fn drop(&mut self) {
        if self.prepared.is_some() && self.noted {
            self.shared.noted.store(true, Ordering::Relaxed);
        }
    }
}
