//! [`Index`]: the entry point for all operations on an index.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::build::follow::{FollowStep, follow};
use super::build::options::IndexOptions;
use super::build::report::IndexReport;
use super::build::run::{self, build_in};
use super::check::{CheckReport, check_in, salvage_in};
use super::commit::shard_list::{listed_shards, must_not_be_assembled};
use super::live::{IndexWriter, WriterOptions};
use super::maintain::{DeleteReport, MergeOptions, MergeReport, Selection, delete_in, merge_in, must_exist};
use super::named_snapshot::{self, NamedSnapshot};
use super::preview::{Preview, preview};
use super::progress::Progress;
use super::snapshot::Snapshot;
use super::update::{UpdateReport, update_in};
use crate::error::{Error, Result};
use crate::schema::Schema;
use crate::segment::CheckLevel;
use crate::store::{Directory, FsDirectory, generations};

/// An index: its location, and the operations on it.
///
/// A handle is cheap to create and to clone. It holds no lock and keeps no file open: [`Index::snapshot`]
/// opens a commit for reading, and [`Index::writer`] takes the lock of the writer. Builds, deletes, updates
/// and merges hold this lock while they run.
///
/// ```
/// use scanns::schema::{Document, FieldEntry, Schema};
/// use scanns::{Index, query::Operator, search::Model};
///
/// # fn main() -> scanns::Result<()> {
/// # let place = tempfile::tempdir().unwrap();
/// # let path = place.path().join("mail.scanns");
/// let mut schema = Schema::new();
/// let text = schema.add(FieldEntry::text("text").positions())?;
///
/// let index = Index::create(&path, &schema)?;
/// let writer = index.writer()?;
/// writer.add(&Document::new("mail-1").text(text, "The index is ready."))?;
/// writer.commit()?;
///
/// let snapshot = index.snapshot()?;
/// let query = snapshot.parse("ready", Operator::And)?;
/// let hits = snapshot.searcher().top_k(&query, Model::Classic, 10)?;
/// assert_eq!(snapshot.key(&hits[0])?, b"mail-1");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Index {
    directory: Arc<dyn Directory>,
    /// The path of the index, if it is on a file system.
    path: Option<PathBuf>,
}

impl Index {
    /// Creates an empty index with the fields of `schema` at `path`, and commits it. The directory must be
    /// empty or missing.
    ///
    /// # Errors
    /// [`Error::Conflict`] if the index already exists, [`Error::NotAnIndex`] if `path` is something else,
    /// [`Error::Locked`] if another process is creating an index there.
    pub fn create(path: impl AsRef<Path>, schema: &Schema) -> Result<Self> {
        let index = Index::at(path);
        let exists = index.path.as_ref().is_some_and(|path| path.exists());
        if exists && !generations(&*index.directory)?.is_empty() {
            return Err(Error::Conflict {
                what: format!("creating an index at {}", index.directory.describe()),
                with: "an existing index".into(),
                remedy: "open it, or choose another path".into(),
            });
        }
        index.writer_with(Some(schema), WriterOptions::default())?.prepare()?.commit()?;
        Ok(index)
    }

    /// Opens the index at `path`.
    ///
    /// # Errors
    /// [`Error::NotAnIndex`] if there is no directory at `path`. The contents of the directory are only read
    /// by later calls.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        must_exist(path.as_ref())?;
        Ok(Index::at(path))
    }

    /// Returns true if an index was committed at `path`, or assembled there of shards.
    pub fn is_at(path: impl AsRef<Path>) -> bool {
        let path = path.as_ref();
        let is_committed = || generations(&FsDirectory::new(path)).is_ok_and(|found| !found.is_empty());
        path.is_dir() && (is_committed() || listed_shards(path).is_ok_and(|shards| shards.is_some()))
    }

    /// Returns a handle to the index at `path`, which need not exist yet: the first build or writer creates
    /// it.
    pub fn at(path: impl AsRef<Path>) -> Self {
        let path = path.as_ref();
        Index { directory: Arc::new(FsDirectory::new(path)), path: Some(path.to_path_buf()) }
    }

    /// Returns a handle to the index in any directory, for example a
    /// [`RamDirectory`](crate::store::RamDirectory).
    pub fn in_directory(directory: Arc<dyn Directory>) -> Self {
        Index { directory, path: None }
    }

    /// Opens the newest commit for reading.
    ///
    /// # Errors
    /// [`Error::NotAnIndex`] if nothing was ever committed, [`Error::Corrupt`] and [`Error::NewerFormat`] if
    /// the commit cannot be read.
    pub fn snapshot(&self) -> Result<Snapshot> {
        let Some(path) = &self.path else {
            return Snapshot::open_in(&*self.directory)?.ok_or_else(|| self.never_committed());
        };
        Snapshot::open(path)
    }

    /// Opens the newest commit for reading, as [`Index::snapshot`] does, but shares all segments that an
    /// older snapshot of the index has open: only new segments are opened, and the deletes and changed values
    /// of the others. Returns a clone of the older snapshot if there is no newer commit.
    ///
    /// ```
    /// # use scanns::schema::{Document, FieldEntry, Schema};
    /// # use scanns::Index;
    /// # fn main() -> scanns::Result<()> {
    /// # let place = tempfile::tempdir().unwrap();
    /// # let path = place.path().join("mail.scanns");
    /// # let mut schema = Schema::new();
    /// # schema.add(FieldEntry::text("text"))?;
    /// let index = Index::create(&path, &schema)?;
    /// let writer = index.writer()?;
    /// let mut snapshot = index.snapshot()?;
    /// writer.add(&Document::new("mail-1"))?;
    /// writer.commit()?;
    /// snapshot = index.refresh(&snapshot)?;
    /// assert_eq!(snapshot.info().documents, 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The errors of [`Index::snapshot`]; [`Error::NotInView`] for a view.
    pub fn refresh(&self, snapshot: &Snapshot) -> Result<Snapshot> {
        match &self.path {
            Some(path) => snapshot.refreshed(path),
            None => snapshot.refreshed_in(&*self.directory)?.ok_or_else(|| self.never_committed()),
        }
    }

    fn never_committed(&self) -> Error {
        Error::NotAnIndex { path: self.directory.describe().into(), why: "nothing was ever committed in it" }
    }

    /// Refuses to change an index that was assembled of shards, as a whole.
    fn must_be_one(&self, action: &str) -> Result<()> {
        self.path.as_ref().map_or(Ok(()), |path| must_not_be_assembled(path, action))
    }

    /// Keeps the newest commit under a name, as an index of its own that shares the space of the files that
    /// both need: hard links in the directory `snapshots/NAME` of the index. Later changes and merges of the
    /// index leave it as it is, and a writer on it is refused. Removing that directory removes the snapshot.
    ///
    /// ```
    /// # use scanns::schema::{Document, FieldEntry, FieldKind, Schema};
    /// # use scanns::Index;
    /// # fn main() -> scanns::Result<()> {
    /// # let place = tempfile::tempdir().unwrap();
    /// # let path = place.path().join("mail.scanns");
    /// # let mut schema = Schema::new();
    /// # schema.add(FieldEntry::new("name", FieldKind::Keyword))?;
    /// let index = Index::create(&path, &schema)?;
    /// let kept = index.keep_snapshot("january")?;
    /// # let writer = index.writer()?;
    /// writer.add(&Document::new("mail-1"))?;
    /// writer.commit()?;
    ///
    /// assert_eq!(index.snapshot()?.info().documents, 1);
    /// assert_eq!(Index::open(&kept.path)?.snapshot()?.info().documents, 0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::InvalidValue`] if `name` is not a file name or begins with a dot; [`Error::Conflict`] if
    /// there is such a snapshot; [`Error::Locked`] while another writer is open; [`Error::Unsupported`] if
    /// the index is in memory, or its file system has no hard links.
    pub fn keep_snapshot(&self, name: &str) -> Result<NamedSnapshot> {
        self.must_be_one("keeping a snapshot of")?;
        named_snapshot::keep(self.path.as_ref().ok_or_else(no_place_for_snapshots)?, name)
    }

    /// Returns the named snapshots of the index, in the order of their names. A snapshot that cannot be read
    /// has an error.
    ///
    /// # Errors
    /// An error if the directory of the snapshots cannot be listed.
    pub fn named_snapshots(&self) -> Result<Vec<(OsString, Result<NamedSnapshot>)>> {
        self.path.as_ref().map_or(Ok(Vec::new()), |path| named_snapshot::list(path))
    }

    /// Opens the index for writing with the default options, which use half of the memory of the machine.
    ///
    /// # Errors
    /// [`Error::Locked`] while another writer is open; an error if the index does not exist yet, since its
    /// fields are then unknown: use [`Index::create`] or [`Index::writer_with`].
    pub fn writer(&self) -> Result<IndexWriter> {
        self.writer_with(None, WriterOptions::default())
    }

    /// Opens the index for writing, or creates it with `schema`. If the index exists, a given schema must be
    /// equal to its schema.
    ///
    /// # Errors
    /// [`Error::Locked`] while another writer is open; an error if the schemas differ, if the index does not
    /// exist and no schema is given, or if the memory is too small.
    pub fn writer_with(&self, schema: Option<&Schema>, options: WriterOptions) -> Result<IndexWriter> {
        self.must_be_one("writing to")?;
        match &self.path {
            Some(path) => IndexWriter::open(path, schema, options),
            None => IndexWriter::open_in(Arc::clone(&self.directory), schema, options),
        }
    }

    /// Updates the index to match the files that the options name, and commits. Creates the index if it does
    /// not exist.
    ///
    /// Files that have not changed since they were indexed are skipped, and the documents of changed files
    /// are replaced. Set `cancel` to stop early: the documents indexed until then are committed, the report
    /// says that the build was stopped, and a later call continues the build.
    ///
    /// # Errors
    /// Returns an error if nothing could be committed: for example, something else is at the path, another
    /// writer is open, or the disk is full. Files that cannot be read are not an error; the report lists
    /// them.
    pub fn build(
        &self,
        options: &IndexOptions,
        progress: &Progress,
        cancel: &Arc<AtomicBool>,
    ) -> Result<IndexReport> {
        self.must_be_one("building")?;
        match &self.path {
            Some(path) => run::build(path, options, progress, cancel),
            None if options.snapshot.is_some() => Err(no_place_for_snapshots()),
            None => build_in(&*self.directory, options, progress, cancel),
        }
    }

    /// Keeps the index up to date while the directories that the options name change, until `stop` is set. It
    /// watches them, scans them once, and then applies what happens, collected for a time of `every`. Changes
    /// by other machines, of network file systems, are not seen.
    ///
    /// # Errors Those of [`Index::build`], and an error if the system allows no more watches or the index is
    /// in memory.
    pub fn follow(
        &self,
        options: &IndexOptions,
        every: Duration,
        stop: &Arc<AtomicBool>,
        tell: &mut dyn FnMut(FollowStep<'_>),
    ) -> Result<()> {
        self.must_be_one("following directories with")?;
        match &self.path {
            Some(path) => follow(path, options, every, stop, tell),
            None => Err(Error::Unsupported {
                what: "following directories with an index in memory".into(),
                remedy: "use an index in a file system".into(),
            }),
        }
    }

    /// Returns what [`Index::delete`] and [`Index::update`] would select now: the number of documents, and at
    /// most `most` of their keys.
    ///
    /// # Errors
    /// The errors of [`Index::snapshot`]; an error if the query of the selection does not parse.
    pub fn preview(&self, which: &Selection, most: usize) -> Result<Preview> {
        preview(&self.snapshot()?, which, most)
    }

    /// Deletes the selected documents, and commits.
    ///
    /// # Errors
    /// [`Error::Locked`] while another writer is open; an error if the query of the selection does not parse.
    pub fn delete(&self, which: &Selection) -> Result<DeleteReport> {
        self.must_be_one("deleting from")?;
        delete_in(&*self.directory, which)
    }

    /// Sets new column values for the selected documents, and commits. `values` contains the name of each
    /// field and its values as text. Documents are not indexed again.
    ///
    /// # Errors
    /// The errors of [`Index::delete`]; an error if a field is not a column, or if a value does not fit its
    /// field.
    pub fn update(&self, which: &Selection, values: &[(String, Vec<String>)]) -> Result<UpdateReport> {
        self.must_be_one("changing values of")?;
        update_in(&*self.directory, which, values)
    }

    /// Merges segments, which also reclaims the space of deleted documents, and commits.
    ///
    /// # Errors
    /// [`Error::Locked`] while another writer is open, [`Error::Cancelled`] after `cancel` was set.
    pub fn merge(
        &self,
        options: &MergeOptions,
        progress: &Progress,
        cancel: &AtomicBool,
    ) -> Result<MergeReport> {
        self.must_be_one("merging")?;
        merge_in(&*self.directory, options, progress, cancel)
    }

    /// Verifies the newest commit. Damage is not an error; it is in the report.
    ///
    /// # Errors
    /// [`Error::NotAnIndex`]; an error if no commit can be read; [`Error::Cancelled`] after `cancel` was set.
    pub fn check(&self, level: CheckLevel, progress: &Progress, cancel: &AtomicBool) -> Result<CheckReport> {
        self.must_be_one("checking")?;
        check_in(&*self.directory, level, progress, cancel)
    }

    /// Verifies the index and, if something is damaged, commits the intact segments without the damaged ones.
    ///
    /// If the newest commit cannot be read, the newest readable one takes its place, and no file is removed.
    ///
    /// # Errors
    /// The errors of [`Index::check`]; [`Error::Locked`] while another writer is open.
    pub fn salvage(
        &self,
        level: CheckLevel,
        progress: &Progress,
        cancel: &AtomicBool,
    ) -> Result<CheckReport> {
        self.must_be_one("salvaging")?;
        salvage_in(&*self.directory, level, progress, cancel)
    }
}

fn no_place_for_snapshots() -> Error {
    Error::Unsupported {
        what: "a named snapshot of an index that is not in a file system".into(),
        remedy: "use an index in a file system".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{FieldEntry, FieldKind};
    use crate::store::RamDirectory;

    fn schema() -> Schema {
        let mut schema = Schema::new();
        schema.add(FieldEntry::new("name", FieldKind::Keyword)).unwrap();
        schema
    }

    #[test]
    fn an_index_is_created_empty_and_only_once() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("new.scanns");
        assert!(Index::open(&path).is_err());
        let index = Index::create(&path, &schema()).unwrap();
        let snapshot = index.snapshot().unwrap();
        assert_eq!((snapshot.info().documents, snapshot.schema()), (0, &schema()));
        assert!(matches!(Index::create(&path, &schema()), Err(Error::Conflict { .. })));
        assert_eq!(Index::open(&path).unwrap().writer().unwrap().schema(), &schema());
    }

    #[test]
    fn an_index_in_memory_has_no_snapshot_before_its_first_commit() {
        let index = Index::in_directory(Arc::new(RamDirectory::new()));
        assert!(matches!(index.snapshot(), Err(Error::NotAnIndex { .. })));
        assert!(index.writer().is_err(), "the fields are unknown");
        index
            .writer_with(Some(&schema()), WriterOptions::default())
            .unwrap()
            .prepare()
            .unwrap()
            .commit()
            .unwrap();
        assert_eq!(index.snapshot().unwrap().info().documents, 0);
    }
}
