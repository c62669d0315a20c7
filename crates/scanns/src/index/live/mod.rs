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
//! memory, `pool.rs` keeps the memory cap, `pending.rs` applies
//! deletes and other values to what was added before them.

mod part;
mod pending;
mod pool;
mod shared;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;

use super::build::{leave_nothing_behind, prepare_directory};
use super::merge_policy::MergePolicy;
use super::stored::StoredOptions;
use super::update::Setting;
use super::writer::Prepared;
use crate::error::{Error, Result};
use crate::schema::{Document, Field, Schema, Value};
use crate::search::{Query, Searcher};
use crate::segment::FlushBuffers;
use crate::store::{Directory, FsDirectory};
use part::{Action, Target};
use shared::{Shared, lock};

/// How an [`IndexWriter`] works.
#[derive(Clone, Copy, Debug)]
pub struct WriterOptions {
    /// Most memory to take, in bytes; by default half of what the machine or the container has. A document may be as
    /// large as the share of a lane allows, about a fifth of what it is divided by the lanes.
    pub memory: u64,
    /// Lanes: threads that can add at the same time without waiting for each other; 0 for as many as there are cores and
    /// memory for.
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
            memory: crate::sys::memory_limit_bytes().map_or(1 << 30, |limit| limit / 2),
            lanes: 0,
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
    /// on. After any other error it does not: every call is then answered by [`Error::WriterFailed`].
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
        self.shared.change(Some(document), Some((Target::Key(document.key().to_vec()), Action::Delete)))
    }

    /// Deletes all documents with this key that were added before; returns the number of the operation.
    ///
    /// Where files were indexed too, the key may be the path of a file, for the file or all of its lines, or a path, a
    /// colon and a line.
    ///
    /// # Errors
    /// As [`IndexWriter::add`].
    pub fn delete(&self, key: &[u8]) -> Result<u64> {
        self.shared.change(None, Some((Target::Key(key.to_vec()), Action::Delete)))
    }

    /// Deletes all documents that were added before and that the query matches in a field; returns the number of the
    /// operation.
    ///
    /// # Errors
    /// As [`IndexWriter::add`]; [`Error::Options`] also for a query that cannot be asked.
    ///
    /// Patterns may match any number of terms, and a fuzzy word matches all that are within its edits.
    pub fn delete_matching(&self, field: Field, query: &Query) -> Result<u64> {
        self.must_be_answerable(field, query)?;
        self.shared.change(None, Some((Target::Query(field, query.clone()), Action::Delete)))
    }

    /// Gives all documents with this key that were added before other values in a column of numbers, dates, true or false;
    /// none to have them without. Returns the number of the operation. The documents are not indexed again: a few blocks
    /// of the column are written.
    ///
    /// # Errors
    /// As [`IndexWriter::add`]; [`Error::Options`] for a field that cannot be changed so, as it is no such column or is
    /// kept with the documents, and for values of another kind.
    pub fn set(&self, key: &[u8], field: Field, values: &[Value]) -> Result<u64> {
        let setting = Setting::new(&self.shared.schema, field, values)?;
        self.shared.change(None, Some((Target::Key(key.to_vec()), Action::Set(setting))))
    }

    /// The same for all documents that were added before and that the query matches in the field `of`.
    ///
    /// # Errors
    /// As [`IndexWriter::set`] and [`IndexWriter::delete_matching`].
    pub fn set_matching(&self, of: Field, query: &Query, field: Field, values: &[Value]) -> Result<u64> {
        let setting = Setting::new(&self.shared.schema, field, values)?;
        self.must_be_answerable(of, query)?;
        self.shared.change(None, Some((Target::Query(of, query.clone()), Action::Set(setting))))
    }

    /// Refuses what cannot be asked now: at the commit it would be the end of the writer.
    fn must_be_answerable(&self, field: Field, query: &Query) -> Result<()> {
        if self.shared.schema.entry(field).is_none_or(|entry| entry.postings().is_none()) {
            return Err(Error::Options("a query needs a field of the index that is searched".into()));
        }
        let searched = self.shared.schema.searched().map(|(field, _)| (field, Vec::new()));
        let asked = Searcher::over(searched.collect(), field).count(query);
        asked.map_err(|error| Error::Options(format!("the query cannot be asked: {error}")))?;
        for phrase in query.phrases_in(field) {
            let kept = self.shared.schema.entry(phrase).and_then(|entry| entry.postings());
            if kept.is_none_or(|kept| !kept.has_positions()) {
                return Err(Error::Options("a phrase needs a field with positions".into()));
            }
        }
        Ok(())
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

    /// Makes every operation that has returned durable. Operations that go on meanwhile are in this commit or the next:
    /// the number of the last one tells. Without changes nothing is written.
    ///
    /// # Errors
    /// Whatever the directory says. The commit before is then the state of the index, or, where only the last step could
    /// not be made certain, either of the two. [`Error::Options`] while another commit is prepared.
    pub fn commit(&self) -> Result<Commit> {
        let _one_at_a_time = self.shared.writer.begin_commit();
        let sequence = self.take_all_in()?;
        if self.shared.has_changed() {
            let prepared = self.prepare_begun(sequence)?;
            return prepared.publish();
        }
        Ok(Commit { generation: self.shared.writer.generation(), sequence })
    }

    /// The first phase of a commit: all that can fail for want of space is done, and readers see nothing of it yet.
    /// Operations go on meanwhile, and are in the next commit; other commits are refused until this one is finished or
    /// dropped.
    ///
    /// # Errors
    /// As [`IndexWriter::commit`].
    pub fn prepare(&self) -> Result<PreparedCommit<'_>> {
        let _one_at_a_time = self.shared.writer.begin_commit();
        let sequence = self.take_all_in()?;
        self.prepare_begun(sequence)
    }

    /// Makes all operations part of the next commit; returns the number of the last.
    fn take_all_in(&self) -> Result<u64> {
        if self.shared.prepared.load(Ordering::Acquire) {
            return Err(Error::Options("a commit is prepared: finish it or drop it before the next".into()));
        }
        self.shared.resolve()
    }

    fn prepare_begun(&self, sequence: u64) -> Result<PreparedCommit<'_>> {
        let shared = &*self.shared;
        let noted = shared.noted.swap(false, Ordering::Relaxed);
        let prepared = shared.writer.prepare().inspect_err(|error| shared.pool.fail(error))?;
        shared.prepared.store(true, Ordering::Release);
        Ok(PreparedCommit { shared, prepared: Some(prepared), noted, sequence })
    }

    /// Merges segments on this thread until the policy of the options asks for nothing more; the next commit has them.
    /// The same is done in the background, but only as long as the writer is open.
    ///
    /// # Errors
    /// Whatever the directory says: the index is right without.
    pub fn merge(&self) -> Result<()> {
        let policy = self.shared.policy();
        policy.map_or(Ok(()), |policy| self.shared.merge_what_is_due(&policy))
    }

    /// Why merging in the background failed when it was last tried, if it did; the index is right without.
    pub fn merge_failure(&self) -> Option<String> {
        lock(&self.shared.merge_failure).clone()
    }

    /// Forgets everything since the last commit, and closes the index, as dropping the writer does.
    pub fn roll_back(self) {
        drop(self);
    }

    fn close(&mut self) {
        self.shared.close();
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

/// A commit that was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Commit {
    /// Counts commits from 1.
    pub generation: u64,
    /// The number of the last operation that is in it; all before are, and none after.
    pub sequence: u64,
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
    sequence: u64,
}

impl PreparedCommit<'_> {
    /// The number of the last operation that is in it.
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    /// The second phase: makes it the state of the index.
    ///
    /// # Errors
    /// As [`IndexWriter::commit`].
    pub fn commit(self) -> Result<Commit> {
        let _one_at_a_time = self.shared.writer.begin_commit();
        self.publish()
    }

    fn publish(mut self) -> Result<Commit> {
        let shared = self.shared;
        if let Some(prepared) = self.prepared.take() {
            shared.writer.publish(prepared).inspect_err(|error| shared.pool.fail(error))?;
            shared.prepared.store(false, Ordering::Release);
        }
        Ok(Commit { generation: shared.writer.generation(), sequence: self.sequence })
    }
}

impl Drop for PreparedCommit<'_> {
    fn drop(&mut self) {
        if self.prepared.is_some() {
            if self.noted {
                self.shared.noted.store(true, Ordering::Relaxed);
            }
            self.shared.prepared.store(false, Ordering::Release);
        }
    }
}
