//! scanns: indexing and search for data that outgrew `find` and `grep`.
//!
//! Data flows one way, and the modules are listed in its order: a *source* says which inputs exist, *read*
//! brings their bytes into blocks, *record* finds the documents, *tokenize* the terms, *invert* turns them
//! into postings in memory, *segment* writes those as one immutable file, *index* keeps a set of segments
//! durable, *search* answers ranked queries over a snapshot. A module imports only modules above it.

/// The examples of the README compile.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

mod error;

mod sys;

mod codec;

mod store;

mod schema;

mod column;

mod source;

mod read;

mod record;

mod tokenize;

mod invert;

mod segment;

mod search;

mod index;

pub use codec::{Form, Head, Numbers, Presence};
pub use column::{
    Block as ColumnBlock, Column, ColumnCursor, ColumnKind, Damaged, DictionaryReader, Entry, Gather,
    Gathered, Range as BlockRange, Scan, Values, Walker,
};
pub use error::{Error, Result};
pub use index::{
    Batch, BatchColumn, BatchField, BatchOptions, BatchVisit, CheckReport, ColumnInfo, Commit, DeleteReport,
    DeviceLimits, FieldConflict, FieldOptions, FlushOptions, FlushPolicy, IndexInfo, IndexOptions,
    IndexReport, IndexWriter, IndexerVariant, LadderOptions, LadderPart, LadderRun, MalformedRecord,
    MemoryIndex, MemoryLimits, MergeOptions, MergePolicy, MergeReport, Phase, PreparedCommit,
    ProcessorLimits, Profile, Progress, ReadRate, ReaderVariant, RecordReport, Resource, Roofline,
    SEGMENT_MEMORY, SegmentCheck, SegmentInfo, Selection, Snapshot, StoredOptions, TokenizerVariant, Trial,
    Trials, Tried, TuneOptions, TuneReport, TuneStep, Tuned, UpdateReport, VariantTokenizer, WriterOptions,
    build, build_in, check, check_in, delete, delete_in, find_parameters, index_files, infer_fields, merge,
    merge_in, salvage, salvage_in, tune, update, update_in,
};
pub use invert::ladder::{LadderIndex, TermList, Visit};
pub use invert::{CHECK_EVERY, InvertOptions, Inverter};
pub use read::{Block, Direct, Lane, LineNumber, Piece, ReadOptions, ReadReport, ReaderDriver, start};
pub use record::{
    Conflict, CsvDelimiter, CsvEnds, CsvHeader, FieldFigures, FileFormat, Inference, Inferred, Malformed,
    RecordCounts, RecordError, RecordFormat, RecordReader, Recorded, Sources, map_name,
};
pub use schema::{
    Analyzer, Chain, Compression, Delimiters, Document, Field, FieldEntry, FieldKind, Grams, LANGUAGES,
    Language, MAX_FIELDS, Postings, Records, Schema, Store, Stored, Value, ValueRef, format_date, parse_date,
};
pub use search::{
    Aggregated, Aggregation, BoolQuery, Bucket, BucketKey, Buckets, Budget, CalendarUnit, Distinct,
    Explanation, Facet, FacetRange, FacetTerms, Group, GroupBy, Groups, Highlighter, Hit, KeyOrder, Leaf,
    LeafStats, ListSource, MATCH_WINDOW, MAX_CLAUSES, MAX_DEPTH, MAX_EXPANSIONS, MatchBits, Missing, Model,
    MoreLikeThis, Operator, Pattern, PhraseQuery, PositionSource, Query, QueryText, Rm3, SearchThreads,
    Searcher, Snippet, SnippetOptions, SortBy, SortKey, SortedHit, Stats, Suggestion, Sum, TermCount,
    TermRef, TermStream, TermsOrder, ValueRange, WildcardPart, parse, parse_json,
};
pub use segment::{CheckLevel, FieldStats, FlushBuffers, SegmentStats, StoredFigures, TermInDocument};
pub use source::{Failure, FileList, FileStatus, Input, Inputs, ListFrom, Separator, SourceOptions, collect};
pub use store::{
    Bytes, Call, CallKind, Directory, Fault, FaultDirectory, FsDirectory, Lease, Output, RamDirectory,
    WriterLock,
};
pub use sys::{BLOCK_PADDING, PageSize, Plain, Simd, Slab, memory_limit_bytes};
pub use tokenize::{MAX_TOKEN, TokenSink, Tokenizer};
