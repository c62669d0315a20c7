//! The writer of an index for programs: adds, updates and deletes documents, and commits.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;

use super::lane_buffer::{EditAction, EditTarget};
use super::near::CommitBegun;
use super::options::WriterOptions;
use super::writer_core::WriterCore;
use crate::error::{Error, Result};
use crate::index::build::directory::{prepare_directory, remove_empty_index};
use crate::index::commit::column_setting::ColumnSetting;
use crate::index::commit::writer::StagedCommit;
use crate::index::field_views::FieldViews;
use crate::index::snapshot::Snapshot;
use crate::query::Query;
use crate::schema::{Document, Field, Schema, Value};
use crate::store::{Directory, FsDirectory};
use crate::sys::lock;

/// The writer of an index. Any number of threads may use it at the same time.
///
/// Changes become visible to other readers, and durable, with the next commit. They are lost if the writer is
/// dropped, or the machine fails, before the commit. [`IndexWriter::snapshot`] shows them before.
///
/// ```
/// use scanns::schema::{Document, FieldEntry, Schema};
/// use scanns::{Index, Query};
///
/// # fn main() -> scanns::Result<()> {
/// # let place = tempfile::tempdir().unwrap();
/// # let path = place.path().join("mail.scanns");
/// let mut schema = Schema::new();
/// let text = schema.add(FieldEntry::text("text"))?;
/// let index = Index::create(&path, &schema)?;
/// let writer = index.writer()?;
/// std::thread::scope(|scope| {
///     for number in 0..4 {
///         let writer = &writer;
///         scope.spawn(move || writer.add(&Document::new(format!("mail-{number}")).with(text, "Ready?")));
///     }
/// });
/// writer.update(&Document::new("mail-1").with(text, "Ready!"))?;
/// writer.delete("mail-3")?;
/// assert_eq!(index.snapshot()?.info().documents, 0, "nothing is committed yet");
/// writer.commit()?;
/// assert_eq!(index.snapshot()?.searcher().count(&Query::All)?, 3);
/// # Ok(())
/// # }
/// ```
pub struct IndexWriter {
    pub(super) core: Arc<WriterCore>,
    merger: Option<JoinHandle<()>>,
}

impl IndexWriter {
    /// Opens the index at `path` for writing, or creates one with `schema`. An existing index keeps its
    /// schema; a given schema must be equal to it.
    ///
    /// # Errors
    /// [`Error::Locked`] while another process writes to the index; [`Error::Conflict`] if the schemas
    /// differ, or if the index does not exist and no schema is given; [`Error::InvalidValue`] if the memory
    /// is too small for the lanes.
    pub fn open(path: impl AsRef<Path>, schema: Option<&Schema>, options: WriterOptions) -> Result<Self> {
        let path = path.as_ref();
        let made = prepare_directory(path)?;
        let opened = Self::open_in(Arc::new(FsDirectory::new(path)), schema, options);
        if opened.is_err() && made {
            remove_empty_index(&FsDirectory::new(path), path);
        }
        opened
    }

    /// Like [`IndexWriter::open`], in any directory.
    pub fn open_in(
        directory: Arc<dyn Directory>,
        schema: Option<&Schema>,
        options: WriterOptions,
    ) -> Result<Self> {
        let core = Arc::new(WriterCore::open(directory, schema, options)?);
        let merge = |policy| {
            let core = core.clone();
            let run = move || core.merge_in_background(&policy);
            std::thread::Builder::new().name("merge".into()).spawn(run).map_err(|source| Error::System {
                action: "start a thread",
                source,
                remedy: "raise the limits on processes and address space (ulimit -u, ulimit -v)",
            })
        };
        let merger = options.merge.map(merge).transpose()?;
        Ok(IndexWriter { core, merger })
    }

    /// The fields of documents.
    pub fn schema(&self) -> &Schema {
        &self.core.schema
    }

    /// Adds a document, even if other documents have the same key. Returns the number of the operation.
    ///
    /// # Errors
    /// [`Error::InvalidField`] or [`Error::InvalidValue`] if the document does not fit the schema or the
    /// memory. The document is not added, and the writer remains usable. After any other error the writer has
    /// failed, and every call returns [`Error::WriterFailed`].
    pub fn add(&self, document: &Document) -> Result<u64> {
        document.check(&self.core.schema)?;
        self.core.change(Some(document), None)
    }

    /// Adds a document and deletes all earlier documents with the same key. Both happen in the same commit.
    /// Returns the number of the operation. Documents that are added later are not affected.
    ///
    /// # Errors
    /// The errors of [`IndexWriter::add`]. If the document is not added, nothing is deleted.
    pub fn update(&self, document: &Document) -> Result<u64> {
        document.check(&self.core.schema)?;
        let target = EditTarget::Key(document.key().to_vec());
        self.core.change(Some(document), Some((target, EditAction::Delete)))
    }

    /// Deletes all documents with this key that were added before. Returns the number of the operation.
    ///
    /// If the index also contains files, the key may be the path of a file, which deletes the file or all its
    /// lines, or a path, a colon and the number of a line.
    ///
    /// # Errors
    /// The errors of [`IndexWriter::add`].
    pub fn delete(&self, key: impl AsRef<[u8]>) -> Result<u64> {
        self.core.change(None, Some((EditTarget::Key(key.as_ref().to_vec()), EditAction::Delete)))
    }

    /// Deletes all documents that were added before and that the query matches. Returns the number of the
    /// operation. Patterns may match any number of terms, and a fuzzy word matches all terms within its edit
    /// distance.
    ///
    /// # Errors
    /// The errors of [`IndexWriter::add`]; [`Error::Unsupported`] or [`Error::InvalidField`] for a query that
    /// the index cannot answer.
    pub fn delete_matching(&self, query: &Query) -> Result<u64> {
        self.must_be_answerable(query)?;
        self.core.change(None, Some((EditTarget::Query(query.clone()), EditAction::Delete)))
    }

    /// Sets new values in a column of numbers, dates or booleans for all documents with this key that were
    /// added before; without values, clears the column for them. Returns the number of the operation. The
    /// documents are not indexed again: only a few blocks of the column are written.
    ///
    /// # Errors
    /// The errors of [`IndexWriter::add`]; [`Error::InvalidField`] for a field that cannot be changed in
    /// place, because it is not such a column or is also stored with the documents; [`Error::InvalidValue`]
    /// for values of another kind.
    pub fn set(&self, key: impl AsRef<[u8]>, field: Field, values: &[Value]) -> Result<u64> {
        let setting = ColumnSetting::new(&self.core.schema, field, values)?;
        self.core.change(None, Some((EditTarget::Key(key.as_ref().to_vec()), EditAction::Set(setting))))
    }

    /// Like [`IndexWriter::set`], for all documents that were added before and that the query matches.
    ///
    /// # Errors
    /// The errors of [`IndexWriter::set`] and [`IndexWriter::delete_matching`].
    pub fn set_matching(&self, query: &Query, field: Field, values: &[Value]) -> Result<u64> {
        let setting = ColumnSetting::new(&self.core.schema, field, values)?;
        self.must_be_answerable(query)?;
        self.core.change(None, Some((EditTarget::Query(query.clone()), EditAction::Set(setting))))
    }

    /// Refuses a query that the index cannot answer: at the commit it would make the writer fail.
    pub(super) fn must_be_answerable(&self, query: &Query) -> Result<()> {
        let schema = &self.core.schema;
        if query.has_join() {
            return Err(Error::Unsupported {
                what: "changing the documents of a query with a join".into(),
                remedy: "search the documents in a snapshot, and change them by key".into(),
            });
        }
        FieldViews::of_schema(schema, &[]).searcher().count(query)?;
        for phrase in query.phrase_fields() {
            let kept = schema.entry(phrase).and_then(|entry| entry.postings());
            if kept.is_none_or(|kept| !kept.has_positions()) {
                let field = schema.entry(phrase).map_or(String::new(), |entry| entry.name.clone());
                return Err(Error::Unsupported {
                    what: format!("a phrase in field '{field}', which has no positions,"),
                    remedy: "search its words instead, or index the field with positions".into(),
                });
            }
        }
        Ok(())
    }

    /// Sets the note `name` of the next commit to `value`; `None` removes it.
    /// [`Snapshot::notes`](crate::Snapshot::notes) returns the notes of a commit.
    pub fn note(&self, name: &[u8], value: Option<&[u8]>) {
        self.core.writer.describe(|manifest| {
            let mut manifest = manifest?;
            match value {
                Some(value) => manifest.notes.insert(name.to_vec(), value.to_vec()),
                None => manifest.notes.remove(name),
            };
            Some(manifest)
        });
        self.core.noted.store(true, Ordering::Relaxed);
    }

    /// Makes every operation that has returned durable. Concurrent operations are in this commit or the next
    /// one; the result contains the number of the last operation in this commit. Without changes nothing is
    /// written.
    ///
    /// # Errors
    /// The errors of the directory. The index is then in the state of the previous commit or, if only the
    /// last step could not be confirmed, in the state of either commit. [`Error::Conflict`] while another
    /// commit is prepared.
    pub fn commit(&self) -> Result<Commit> {
        let _one_at_a_time = self.core.writer.begin_commit();
        let begun = self.begin_staging(false)?;
        let sequence = begun.sequence;
        match self.stage(begun)? {
            Some(prepared) => prepared.publish(),
            None => Ok(Commit { generation: self.core.writer.generation(), sequence }),
        }
    }

    /// The first phase of a commit: does everything that can fail for lack of space. Readers do not see the
    /// commit yet. Concurrent operations are in the next commit. Other commits are refused until this one is
    /// finished or dropped.
    ///
    /// # Errors
    /// The errors of [`IndexWriter::commit`].
    pub fn prepare(&self) -> Result<PreparedCommit<'_>> {
        let _one_at_a_time = self.core.writer.begin_commit();
        let begun = self.begin_staging(true)?;
        let nothing = || self.core.writer.nothing_to_commit();
        self.stage(begun)?.ok_or_else(nothing)
    }

    /// Makes all operations part of the next commit.
    fn begin_staging(&self, always: bool) -> Result<CommitBegun> {
        if self.core.prepared.load(Ordering::Acquire) {
            return Err(Error::Conflict {
                what: "a commit".into(),
                with: "a prepared commit".into(),
                remedy: "finish or drop the prepared commit first".into(),
            });
        }
        self.core.begin_staging(always)
    }

    /// Writes what a commit needs; `None` if there is nothing to commit.
    fn stage(&self, begun: CommitBegun) -> Result<Option<PreparedCommit<'_>>> {
        let core = &*self.core;
        let CommitBegun { sequence, start, noted } = begun;
        let Some(start) = start else { return Ok(None) };
        let failed = |error: &Error| {
            core.pool.fail(error);
            core.prepared.store(false, Ordering::Release);
        };
        let staged = core.writer.stage(start).inspect_err(failed)?;
        Ok(Some(PreparedCommit { core, staged: Some(staged), noted, sequence }))
    }

    /// Opens the state of the writer for reading: everything that was added, updated, set or deleted by calls
    /// that have returned, in any thread. Hits, scores, counts and values are those of a commit of this
    /// state. Without changes, returns a clone of the snapshot before.
    ///
    /// Nothing is committed or synced: other readers see the last commit, and after a crash or
    /// [`IndexWriter::roll_back`] the index is as that left it. A later commit makes the same documents
    /// durable and does not write them again. The documents that are new since the last snapshot or commit
    /// are written as segments. Frequent snapshots make small ones, which are merged in the background.
    ///
    /// The snapshot stays as it is, whatever the writer does, and may outlive it. On storage where readers
    /// need leases, it must not be used after the writer is dropped. The generation in [`Snapshot::info`] is
    /// the number of the commit before it, and 0 if there is none.
    ///
    /// ```
    /// use scanns::schema::{Document, FieldEntry, Schema};
    /// use scanns::{Index, Query};
    ///
    /// # fn main() -> scanns::Result<()> {
    /// # let place = tempfile::tempdir().unwrap();
    /// # let path = place.path().join("mail.scanns");
    /// let mut schema = Schema::new();
    /// let text = schema.add(FieldEntry::text("text"))?;
    /// let index = Index::create(&path, &schema)?;
    /// let writer = index.writer()?;
    /// writer.add(&Document::new("mail-1").text(text, "Ready?"))?;
    ///
    /// let snapshot = writer.snapshot()?;
    /// assert_eq!(snapshot.searcher().count(&Query::term(text, "ready"))?, 1);
    /// assert_eq!(index.snapshot()?.info().documents, 0, "nothing is committed yet");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The errors of [`IndexWriter::add`] and of the directory. If the documents cannot be written, the
    /// writer has failed.
    pub fn snapshot(&self) -> Result<Snapshot> {
        self.core.snapshot()
    }

    /// Merges segments on this thread until the merge policy has no more to merge. The merged segments are
    /// part of the next commit. Background threads do the same, but only while the writer is open.
    ///
    /// # Errors
    /// The errors of the directory. The index is complete without the merge.
    pub fn merge(&self) -> Result<()> {
        let policy = self.core.policy();
        policy.map_or(Ok(()), |policy| self.core.merge_what_is_due(&policy))?;
        self.core.tidy_up()
    }

    /// Why the last background merge failed, if it failed. The index is complete without it.
    pub fn merge_failure(&self) -> Option<String> {
        lock(&self.core.merge_failure).clone()
    }

    /// Discards all changes since the last commit and closes the index, as dropping the writer does.
    pub fn roll_back(self) {
        drop(self);
    }

    fn close(&mut self) {
        self.core.close();
        if let Some(merger) = self.merger.take() {
            // A thread that panicked merged nothing, and no thread waits for it.
            let _ = merger.join();
        }
        self.core.writer.roll_back();
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
    /// The number of the last operation in the commit. The commit contains all operations up to this one, and
    /// no later ones.
    pub sequence: u64,
}

/// A commit that is on the medium, but not visible to readers yet. If it is dropped, its changes stay with
/// the writer and are in the next commit.
#[must_use = "a prepared commit has no effect until it is finished"]
pub struct PreparedCommit<'w> {
    core: &'w WriterCore,
    /// `None` once it is published.
    staged: Option<StagedCommit>,
    /// True if notes were changed.
    noted: bool,
    sequence: u64,
}

impl PreparedCommit<'_> {
    /// The number of the last operation in the commit.
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    /// The second phase: makes the commit the state of the index.
    ///
    /// # Errors
    /// The errors of [`IndexWriter::commit`].
    pub fn commit(self) -> Result<Commit> {
        let _one_at_a_time = self.core.writer.begin_commit();
        self.publish()
    }

    fn publish(mut self) -> Result<Commit> {
        let core = self.core;
        if let Some(staged) = self.staged.take() {
            core.writer.publish(staged).inspect_err(|error| core.pool.fail(error))?;
            core.prepared.store(false, Ordering::Release);
            core.forget_outdated();
        }
        Ok(Commit { generation: core.writer.generation(), sequence: self.sequence })
    }
}

impl Drop for PreparedCommit<'_> {
    fn drop(&mut self) {
        if self.staged.is_some() {
            if self.noted {
                self.core.noted.store(true, Ordering::Relaxed);
            }
            self.core.prepared.store(false, Ordering::Release);
        }
    }
}
