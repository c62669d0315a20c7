//! Indexing and search for data that outgrew `find` and `grep`.
//!
//! An [`Index`] is a directory with a few large files. Programs add documents to it through a
//! [`writer`](writer::IndexWriter), or build it from files and records of [`sources`]. A [`Snapshot`] is one
//! commit of an index, opened for reading. A [`Searcher`](search::Searcher) over a snapshot ranks, counts,
//! sorts and aggregates.
//!
//! | module | contents |
//! |---|---|
//! | [`schema`] | fields and their options, analyzers, documents and values |
//! | [`files`] | questions about file systems, in the words of find and du, and reports |
//! | [`index`] | options and reports of builds, merges and checks |
//! | [`sources`] | files as inputs: which files, how they are read, how JSON and CSV become documents |
//! | [`writer`] | adding, replacing and deleting documents from a program |
//! | [`query`] | queries as trees, as text and as JSON |
//! | [`search`] | searchers, models, sorting, snippets, explanations, expansion of queries |
//! | [`aggregate`] | facets, statistics and groups over all matches |
//! | [`shards`] | several indexes in other processes, searched as one |
//! | [`columns`] | values by document, one by one and in batches |
//! | [`access`] | who may see documents |
//! | [`analysis`] | the tokens of a text |
//! | [`store`] | storage of index files: a file system, memory, or your own implementation |
//! | [`tuning`] | parameters of a build that depend on the machine |
//!
//! # Write documents and search them
//!
//! ```
//! use scanns::Index;
//! use scanns::query::Operator;
//! use scanns::schema::{Document, FieldEntry, FieldKind, Schema};
//! use scanns::search::Model;
//!
//! # fn main() -> scanns::Result<()> {
//! # let place = tempfile::tempdir().unwrap();
//! # let path = place.path().join("mail.scanns");
//! let mut schema = Schema::new();
//! let text = schema.add(FieldEntry::text("text").positions())?;
//! let author = schema.add(FieldEntry::new("author", FieldKind::Keyword).stored())?;
//!
//! let index = Index::create(&path, &schema)?;
//! let writer = index.writer()?;
//! writer.add(&Document::new("mail-1").text(text, "The index is ready.").text(author, "Ann"))?;
//! writer.add(&Document::new("mail-2").text(text, "Is it ready now?").text(author, "Bob"))?;
//! writer.commit()?;
//!
//! let snapshot = index.snapshot()?;
//! let query = snapshot.parse("\"is ready\" index", Operator::Or)?;
//! let hits = snapshot.searcher().top_k(&query, Model::Classic, 10)?;
//! assert_eq!(snapshot.key(&hits[0])?, b"mail-1");
//! # Ok(())
//! # }
//! ```
//!
//! # Index files
//!
//! ```no_run
//! use std::sync::{Arc, atomic::AtomicBool};
//!
//! use scanns::Index;
//! use scanns::index::{IndexOptions, Progress};
//! use scanns::sources::SourceOptions;
//!
//! # fn main() -> scanns::Result<()> {
//! let source = SourceOptions { paths: vec!["/usr/share/doc".into()], ..SourceOptions::default() };
//! let options = IndexOptions { source, ..IndexOptions::default() };
//! let stop = Arc::new(AtomicBool::new(false));
//! let report = Index::at("docs.scanns").build(&options, &Progress::new(), &stop)?;
//! println!("{} documents, {} inputs failed", report.documents, report.failed.len());
//! # Ok(())
//! # }
//! ```
//!
//! # How it works inside
//!
//! Data flows one way, and the modules of the crate are listed in this order: *source* lists the inputs,
//! *read* reads their bytes into blocks, *record* finds the documents, *tokenize* the terms, *invert* turns
//! them into postings in memory, *segment* writes the postings as one immutable file, *search* answers
//! queries over segments, and *index* keeps a set of segments durable. A module only imports modules that are
//! listed before it.

#![cfg_attr(not(feature = "tune"), allow(dead_code, unused_imports, reason = "tuning alone uses some of it"))]

/// The examples of the guide for programs compile.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/library.md")]
struct LibraryGuide;

mod error;

mod sys;

mod codec;

pub mod store;

pub mod schema;

pub mod query;

mod column;

mod source;

mod content;

mod read;

mod record;

mod tokenize;

mod invert;

mod segment;

pub mod search;

pub mod index;

pub mod files;

#[cfg(any(test, feature = "internals"))]
mod fuzzing;

pub use error::{Error, Result};
pub use index::handle::Index;
pub use index::snapshot::Snapshot;
pub use query::tree::Query;
pub use search::top_k::Hit;

/// Computations over all matches of a query: counts by value, sums, percentiles, groups.
///
/// ```
/// use scanns::aggregate::{Aggregated, Aggregation, Facet, FacetTerms};
/// use scanns::schema::{Document, FieldEntry, FieldKind, Schema};
/// use scanns::{Index, Query};
///
/// # fn main() -> scanns::Result<()> {
/// # let place = tempfile::tempdir().unwrap();
/// # let path = place.path().join("fruit.scanns");
/// let mut schema = Schema::new();
/// let color = schema.add(FieldEntry::new("color", FieldKind::Keyword).column())?;
/// let index = Index::create(&path, &schema)?;
/// let writer = index.writer()?;
/// for (name, value) in [("apple", "red"), ("cherry", "red"), ("lime", "green")] {
///     writer.add(&Document::new(name).text(color, value))?;
/// }
/// writer.commit()?;
///
/// let snapshot = index.snapshot()?;
/// let asked = [Aggregation::Facet(Facet::Terms(FacetTerms::new(color)), Vec::new())];
/// let found = snapshot.searcher().aggregate(&Query::All, &asked)?;
/// let Aggregated::Buckets(colors) = &found[0] else { unreachable!("a facet is answered by buckets") };
/// assert_eq!(colors.buckets.iter().map(|bucket| bucket.count).collect::<Vec<_>>(), [2, 1]);
/// # Ok(())
/// # }
/// ```
pub mod aggregate {
    pub use crate::search::aggregate::{
        Aggregated, Aggregation, Aggregations, Answered, Bucket, BucketKey, Buckets, CalendarUnit, Collector,
        Distinct, Facet, FacetLevel, FacetRange, FacetTerms, Group, GroupBy, Groups, Matches, NestedLevel,
        ParsedFacet, SortedHit, SortedHits, Stats, Sum, SumOrder, TermsOrder, TopHits,
    };
}

/// Several indexes in other processes or on other machines, searched as one: see
/// [`ShardSet`](shards::ShardSet). [`Snapshot::open_all`] opens several indexes in one process.
pub mod shards {
    pub use crate::index::shards::{
        MESSAGE_VERSION, MissingShard, Shard, ShardAnswer, ShardGroup, ShardGroups, ShardHit, ShardOrder,
        ShardQuery, ShardSearch, ShardSet, ShardShow, ShardShown, ShardSnippets,
    };
}

/// Who may see the documents of an index of files: users, access classes, and their evaluation as Linux does
/// it.
///
/// ```
/// use scanns::access::{AccessClass, AccessUser};
///
/// let anna = AccessUser::new(1000, 1000, &[100]);
/// let class = AccessClass::parse(b"1;r+u2000;s+g100").unwrap();
/// let rights = class.evaluate(&anna);
/// assert!(rights.entry && !rights.content, "she finds the name, and only user 2000 may read the file");
/// ```
pub mod access {
    pub use crate::files::{AccessExplanation, AccessStep, ExplainedCheck, StepSource, explain_access};
    pub use crate::index::snapshot::access::AccessFigures;
    pub use crate::source::access::{
        AccessClass, AccessNeed, AccessRights, AccessUser, AclEntry, AclTag, AskedPermission, DecidedBy,
        FilePermissions, Gate, PermissionAcl, named_user, user_name,
    };
}

/// The tokens that an analyzer finds in a text.
pub mod analysis {
    pub use crate::tokenize::{ShortToken, TokenSink, Tokenizer};
}

/// Values of documents: the columns of one segment, and batches of the values of hits.
///
/// ```
/// use scanns::schema::{Document, FieldEntry, FieldKind, Schema, Value};
/// use scanns::search::Model;
/// use scanns::{Index, Query};
///
/// # fn main() -> scanns::Result<()> {
/// # let place = tempfile::tempdir().unwrap();
/// # let path = place.path().join("files.scanns");
/// let mut schema = Schema::new();
/// schema.add(FieldEntry::new("name", FieldKind::Keyword))?;
/// let size = schema.add(FieldEntry::new("size", FieldKind::Unsigned).column())?;
/// let index = Index::create(&path, &schema)?;
/// let writer = index.writer()?;
/// writer.add(&Document::new("a.txt").with(size, Value::Unsigned(1000)))?;
/// writer.commit()?;
///
/// let snapshot = index.snapshot()?;
/// let hits = snapshot.searcher().top_k(&Query::All, Model::Classic, 1)?;
/// let values = snapshot.field_values(&hits[0], &[size])?;
/// assert_eq!(values, [vec![Value::Unsigned(1000)]]);
/// # Ok(())
/// # }
/// ```
pub mod columns {
    pub use crate::column::{Column, ColumnCursor, ColumnKind, DictionaryReader, Gather, Gathered};
    pub use crate::index::snapshot::batch::{
        Batch, BatchColumn, BatchField, BatchOptions, BatchVisit, CsvText, JsonText,
    };
    pub use crate::index::snapshot::column_info::ColumnInfo;
}

/// Views of a snapshot, which show some documents and hide the others: see
/// [`Snapshot::seen_by`](crate::Snapshot::seen_by).
pub mod views {
    pub use crate::segment::{DocBits, VisibleDocs};
}

/// Documents that a program adds, replaces and deletes.
pub mod writer {
    pub use crate::index::SEGMENT_MEMORY;
    pub use crate::index::commit::merge_policy::MergePolicy;
    pub use crate::index::live::{Commit, IndexWriter, PreparedCommit, WriterOptions};
    pub use crate::index::stored_options::StoredOptions;
    pub use crate::segment::FlushBuffers;
}

/// Processes that find the text of documents in other people's formats, and the messages that they exchange
/// with a build. The crate `scanns-extract` is the other end.
pub mod extraction {
    pub use crate::content::{
        CacheNotes, ExtractCache, ExtractCacheError, ExtractCacheOptions, ExtractFailure, ExtractLimits,
        Extracted, ExtractorCommand, Extractors, RowsFormat, TableConverter, frame, is_notebook,
    };
}

/// Files as inputs of a build: which files to index, how to read them, and how their records become
/// documents.
pub mod sources {
    pub use crate::content::{ContentOptions, Extraction, TextForm};
    pub use crate::index::build::entries::preview_dumps;
    pub use crate::index::build::options::{
        ChangeOptions, DumpOptions, FieldOptions, OwnerFiles, ScanSettings,
    };
    pub use crate::index::build::record_sample::infer_fields;
    pub use crate::read::{ContentCount, Direct, ReadOptions, TableReading};
    pub use crate::record::changes::{CHANGE_FORMATS, ChangeFormat, ChangesTally};
    pub use crate::record::dump::{
        BadRow, BadValues, ColumnMap, ColumnType, CsvTable, DUMP_FORMATS, DumpFormat, DumpTally, MapView,
        MappedField, MappedRow, OpenTable, RECOMMENDED_FORMAT, ReadTable, TableColumn, TableDump,
        TableFormat, TableInput, TableMap, TableValue, UnreadPath, Visit,
    };
    pub use crate::record::{
        CollectionFormat, Conflict, CsvDelimiter, CsvDialect, CsvHeader, CsvNames, CsvOptions, CsvQuotes,
        CsvRows, CsvSniffer, FieldFigures, FileFormat, FlawedRecords, Inference, Inferred, Malformed,
        RecordCounts, RecordError, RecordFormat, RecordNote, RecordNotes, RecordReader, Recorded,
        RenamedColumn, Sources, TextFieldOptions, map_name, text_of_file,
    };
    pub use crate::source::{
        ChangedPaths, DamagedPattern, Entry, EntryKind, Failure, FileList, FileSample, FileStatus,
        IgnoreFaults, Input, Inputs, ListFrom, Root, ScanReport, ScannedRoot, Separator, Skipped,
        SourceOptions, UnlistedDirectories, UnreadRules, absolute, collect, is_at_or_below, sample_files,
    };
    pub use crate::sys::PageSize;
}

/// Parameters of a build that depend on the machine.
pub mod tuning {
    #[cfg(feature = "tune")]
    pub use crate::index::tune::{
        DeviceLimits, MemoryLimits, ProcessorLimits, Profile, ReadRate, Resource, Roofline, Trial, Trials,
        Tried, TuneOptions, TuneReport, TuneStep, Tuned, find_parameters, tune,
    };
    pub use crate::sys::{address_space_limit, lower_priority, memory_limit_bytes};
}

/// Internal parts of the engine, for benchmarks. They may change with every release.
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod internals {
    pub use crate::column::Scan;
    pub use crate::fuzzing::{TARGETS as FUZZ_TARGETS, run as fuzz};
    pub use crate::invert::{CHECK_EVERY, Inverter};
    pub use crate::read::{Lane, Piece, ReadBlock, ReaderDriver, start};
    pub use crate::sys::{BLOCK_PADDING, BlockMemory, PAGE, ReadFile, Slab, nodes, pin_current_thread};
}
