//! The options of a build.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::content::{ContentOptions, Extractors};
use crate::error::{Error, Result};
use crate::index::commit::merge_policy::MergePolicy;
use crate::index::stored_options::StoredOptions;
use crate::read::ReadOptions;
use crate::record::changes::ChangeFormat;
use crate::record::dump::{DumpFormat, MapView, TableFormat};
use crate::record::{CsvOptions, Sources};
use crate::schema::{Analyzer, Postings, Records, Schema};
use crate::segment::FlushBuffers;
use crate::source::{ChangedPaths, ScanOptions, SourceOptions};

/// Options of a build: what to index, and how.
#[derive(Clone, Debug)]
pub struct IndexOptions {
    /// The inputs.
    pub source: SourceOptions,
    /// Dumps of file systems to import instead of the inputs; their entries become documents.
    pub dump: Option<DumpOptions>,
    /// How file systems are scanned if no content is indexed.
    pub scan: ScanSettings,
    /// A list of what changed in file systems that were scanned before; only these places are looked at.
    pub changes: Option<ChangeOptions>,
    /// How inputs are read; `lanes` is the number of index threads.
    pub read: ReadOptions,
    /// What to do with files that are not plain text; `None` for the setting of the index, or the default for
    /// a new index. This overrides [`ReadOptions::contents`].
    pub contents: Option<ContentOptions>,
    /// What finds the text of documents in other formats; `None` to take them for binary files. They are only
    /// asked if `contents` has [`Extraction::All`](crate::sources::Extraction::All).
    pub extractors: Option<Arc<Extractors>>,
    /// What a document is.
    pub records: Records,
    /// The fields of documents.
    pub fields: FieldOptions,
    /// How text is split into terms; `None` for the analyzer of the index, or [`Analyzer::Standard`] for a
    /// new index.
    pub analyzer: Option<Analyzer>,
    /// What to store about a term in a document; `None` for the setting of the index, or frequencies for a
    /// new index.
    pub postings: Option<Postings>,
    /// What to store of documents in addition to the inverted index.
    pub stored: StoredOptions,
    /// The memory limit, in bytes.
    pub memory: u64,
    /// Bytes of memory after which an index thread writes its first segments, at most its share of `memory`;
    /// `None` for [`SEGMENT_MEMORY`], or twice as much for files of words. Later segments grow up to eight
    /// times as large.
    pub segment_memory: Option<u64>,
    /// Sizes of the buffers through which segments are written. The defaults are the fastest measured sizes.
    pub buffers: FlushBuffers,
    /// Which segments are merged while others are written; `None` to merge none.
    pub merge: Option<MergePolicy>,
    /// Whether to index files again that are in the index and have not changed.
    pub again: bool,
    /// Whether to keep the documents of files that are gone from the given directories, or that the globs
    /// exclude now. The report counts the files either way.
    pub keep_removed: bool,
    /// Time between commits; `None` to commit only at the end.
    pub commit_every: Option<Duration>,
    /// Bytes of text between commits; `None` for no such commits.
    pub commit_bytes: Option<u64>,
    /// Time after which a build stops, including the time to commit what it indexed.
    pub time_limit: Option<Duration>,
    /// Keep the commit at the end as a named snapshot, unless the build is stopped.
    pub snapshot: Option<String>,
}

impl Default for IndexOptions {
    /// Files, without a source yet, with half of the memory and a commit every five minutes.
    fn default() -> Self {
        IndexOptions {
            source: SourceOptions::default(),
            dump: None,
            scan: ScanSettings::default(),
            changes: None,
            read: ReadOptions::default(),
            contents: None,
            extractors: None,
            records: Records::File,
            fields: FieldOptions::default(),
            analyzer: None,
            postings: None,
            stored: StoredOptions::default(),
            memory: crate::sys::memory_limit_bytes().map_or(1 << 30, |limit| limit / 2),
            segment_memory: None,
            buffers: FlushBuffers::default(),
            merge: Some(MergePolicy::default()),
            again: false,
            keep_removed: false,
            commit_every: Some(Duration::from_secs(300)),
            commit_bytes: None,
            time_limit: None,
            snapshot: None,
        }
    }
}

/// How file systems are scanned for names and metadata alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScanSettings {
    /// Whether to stay in the file systems of the given paths.
    pub one_file_system: bool,
    /// Whether to enter pseudo file systems, such as `/proc`.
    pub pseudo: bool,
    /// Whether to enter directories with snapshots of the file system.
    pub snapshots: bool,
    /// The maximum number of metadata operations per second.
    pub max_operations: Option<NonZeroU32>,
    /// Whether values from the cache of a network file system are good enough.
    pub lazy: bool,
    /// Whether a new index gets the extended attributes `user.*`. Later scans of an index do as the first
    /// one.
    pub xattrs: bool,
    /// Whether a new index gets ACLs.
    pub acl: bool,
}

impl ScanSettings {
    /// Refuses settings where content is indexed, or paths are listed one by one.
    pub(crate) fn refuse(self, names_only: bool) -> Result<()> {
        let Some(option) = self.first() else { return Ok(()) };
        let (with, remedy) = match names_only {
            false => (
                "an index of the text of files",
                "leave it out, or give --content none and, if this index exists, a new one",
            ),
            true => ("a list of files", "leave it out, or name the directories to scan"),
        };
        Err(Error::Conflict { what: option.into(), with: with.into(), remedy: remedy.into() })
    }

    /// The first setting that is not the default, as an option of the command.
    fn first(self) -> Option<&'static str> {
        let ScanSettings { one_file_system, pseudo, snapshots, max_operations, lazy, xattrs, acl } = self;
        let given = [
            (one_file_system, "--one-file-system"),
            (pseudo, "--pseudo"),
            (snapshots, "--snapshots"),
            (max_operations.is_some(), "--max-ops"),
            (lazy, "--lazy"),
            (xattrs, "--xattrs"),
            (acl, "--acl"),
        ];
        given.into_iter().find(|(is_given, _)| *is_given).map(|(_, option)| option)
    }
}

impl IndexOptions {
    /// The options of a scan of the inputs. The index decides about attributes.
    pub(crate) fn scan_options(&self) -> ScanOptions {
        let ScanSettings { one_file_system, pseudo, snapshots, max_operations, lazy, .. } = self.scan;
        let SourceOptions {
            paths, include, exclude, follow_symlinks, skip_hidden, gitignore, threads, ..
        } = self.source.clone();
        ScanOptions {
            paths,
            follow_symlinks,
            include,
            exclude,
            skip_hidden,
            gitignore,
            one_file_system,
            pseudo,
            snapshots,
            threads,
            max_operations,
            lazy,
            ..ScanOptions::default()
        }
    }
}

/// Dumps of file systems.
#[derive(Clone, Debug, Default)]
pub struct DumpOptions {
    /// The files with the dumps, compressed or not; `-` is standard input.
    pub files: Vec<PathBuf>,
    /// Their format.
    pub format: DumpFormat,
    /// The directory to which the relative paths of the dumps belong. Everything in the index below it that
    /// the dumps do not list is deleted. Without it this holds for the uppermost directories that they list.
    pub root: Option<PathBuf>,
    /// Whether modes alone decide who may see the entries, since no file has an ACL. Dumps do not tell ACLs,
    /// so an index with access classes takes no others. They must list all directories up to the root.
    pub without_acls: bool,
    /// Formats of tables that the program can open, such as Parquet.
    pub tables: Vec<TableFormat>,
    /// Shows the map of a table before its rows are read.
    pub show_map: Option<fn(&Path, &MapView)>,
}

/// A list of changes. The paths of [`IndexOptions::source`] are the scanned directories that it is about; if
/// there are none, it is about all.
#[derive(Clone, Debug, Default)]
pub struct ChangeOptions {
    /// The file with the list, compressed or not; `-` is standard input.
    pub list: PathBuf,
    /// Paths that are sorted, instead of a list.
    pub named: Option<Arc<ChangedPaths>>,
    /// The format of the list; `None` to recognise it.
    pub format: Option<ChangeFormat>,
    /// The metadata target from which a changelog of Lustre comes. The numbers of its records are kept, so
    /// that it is noticed if some are missing.
    pub mdt: String,
}

/// The default of [`IndexOptions::segment_memory`], the fastest size measured on metadata dumps: with twice
/// as much a build was 7 % slower, with four times as much 25 %. Files of words lose nothing with twice as
/// much, since a few terms make up most of them, and get it: half as many segments are searched faster.
pub const SEGMENT_MEMORY: u64 = 64 << 20;

/// The fields of documents: the fields of JSON and CSV records, and the metadata of files.
#[derive(Clone, Debug, Default)]
pub struct FieldOptions {
    /// The fields, and the names of their values in records; `None` for the fields of the index, or for
    /// fields that are inferred from a sample for a new index.
    pub schema: Option<(Schema, Sources)>,
    /// The name of the field whose values are the keys of records: a record replaces an earlier one with the
    /// same key. `None` for the key of the index or of the given schema; for a new index whose fields are
    /// inferred, the first field of different paths, if there is one.
    pub key: Option<String>,
    /// Whether to store file metadata (path, name, ext, size, mtime and others) as columns, if documents are
    /// files; `None` for the setting of the index, or yes for a new index. Only the first build of an index
    /// can choose this.
    pub metadata: Option<bool>,
    /// Whether a new index gets the access classes of files, from which it follows who may see a document.
    /// Later builds of an index do as the first one.
    pub access: bool,
    /// Where the names of the owners of files come from.
    pub owners: OwnerFiles,
    /// How rows of CSV are written. An index remembers it, and later builds must agree.
    pub csv: CsvOptions,
}

/// Files with the names of users and groups, for files of another machine. Each line begins with a name, any
/// value and a number, with colons between them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnerFiles {
    /// Users, in the format of /etc/passwd; `None` for the users of this system.
    pub passwd: Option<PathBuf>,
    /// Groups, in the format of /etc/group; `None` for the groups of this system.
    pub group: Option<PathBuf>,
}
