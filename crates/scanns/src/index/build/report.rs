//! The report of a build: the result for every input and every record.

use std::path::PathBuf;

use crate::index::named_snapshot::NamedSnapshot;
use crate::read::ContentCount;
use crate::record::changes::ChangesTally;
use crate::record::dump::DumpTally;
use crate::record::{CsvDialect, Inferred, RecordNote, RenamedColumn};
use crate::source::{Failure, IgnoreFaults, ScanReport, Skipped};

/// The result of a build. Every input is in one of the counts.
#[derive(Clone, Debug, Default)]
pub struct IndexReport {
    /// Documents added.
    pub documents: u64,
    /// Bytes of text read.
    pub bytes: u64,
    /// Tokens in all documents added.
    pub tokens: u64,
    /// Seconds from the start until the commit was durable.
    pub seconds: f64,
    /// Bytes written to the index directory.
    pub bytes_written: u64,
    /// Bytes of the whole index after the commit.
    pub index_bytes: u64,
    /// The peak of resident memory of the process, in bytes.
    pub peak_rss: u64,
    /// Inputs that could not be indexed, with the reason.
    pub failed: Vec<Failure>,
    /// Of a shard of a plan: files that have changed since they were listed, and are indexed as they are now.
    pub changed: Skipped,
    /// Directory entries that are not regular files or were excluded.
    pub skipped: u64,
    /// Files whose content was left out because it is binary, by kind; their names and metadata are indexed.
    pub binary: Vec<ContentCount>,
    /// Files whose text was decompressed or converted to UTF-8, by encoding.
    pub decoded: Vec<ContentCount>,
    /// What was left out of files that did not fail, such as numbers of tables that JSON does not have.
    pub remarks: Vec<Failure>,
    /// Terms that were longer than 32 KiB and were cut.
    pub cut_terms: u64,
    /// The result for JSON and CSV records.
    pub records: RecordReport,
    /// Entries of dumps that were left out because a later entry has the same path.
    pub repeated: u64,
    /// The first such path.
    pub first_repeated: Option<PathBuf>,
    /// The result for each imported dump.
    pub dumps: Vec<DumpReport>,
    /// An absolute and a relative path, if the index has both after an import or a scan: the same file may be
    /// in it twice.
    pub mixed: Option<MixedPaths>,
    /// What a scan of names and metadata found out about the trees.
    pub scan: Option<ScanReport>,
    /// What was read of a list of changes.
    pub changes: Option<ChangesReport>,
    /// Why documents were kept whose entries the dumps do not list, or the scan did not find, if any may have
    /// been.
    pub kept: Option<&'static str>,
    /// Segments added.
    pub segments: usize,
    /// Documents of earlier commits that were deleted because their files were indexed again.
    pub replaced: u64,
    /// Documents that were deleted because their files are gone from the given directories, or are excluded
    /// now.
    pub removed: u64,
    /// The number of such files, whether their documents were deleted or kept.
    pub removed_files: u64,
    /// Globs that included or excluded nothing; none if the build was stopped or follows changes.
    pub unused_globs: Vec<String>,
    /// What was wrong with the rules of `.gitignore` files, which the build did without.
    pub rule_faults: IgnoreFaults,
    /// Inputs of which it cannot be decided who may see them, if access classes are stored: only root does.
    pub undecided_access: Skipped,
    /// Inputs that were skipped because the index has them and they have not changed.
    pub unchanged: u64,
    /// Files that were moved, and whose documents were moved without reading their text again.
    pub moved: u64,
    /// Seconds that index threads spent writing segments, summed over all threads.
    pub flush_seconds: f64,
    /// Why a merge failed, if one failed. The index is complete without the merge.
    pub merge_failure: Option<String>,
    /// The snapshot that [`IndexOptions::snapshot`](crate::index::IndexOptions::snapshot) asked for.
    pub snapshot: Option<NamedSnapshot>,
    /// Why there is no such snapshot. The index is committed without it.
    pub snapshot_failure: Option<String>,
    /// True if the build was stopped. The documents indexed until then are committed, and the next build
    /// continues from there.
    pub cancelled: bool,
}

impl IndexReport {
    /// Adds what became of a later part of the same list of changes.
    pub(crate) fn add_part(&mut self, part: IndexReport) {
        self.documents += part.documents;
        self.bytes_written = part.bytes_written;
        self.index_bytes = part.index_bytes;
        self.failed.extend(part.failed);
        self.skipped += part.skipped;
        self.records.conflicts.extend(part.records.conflicts);
        self.repeated += part.repeated;
        self.first_repeated = self.first_repeated.take().or(part.first_repeated);
        match (&mut self.scan, part.scan) {
            (Some(scan), Some(more)) => scan.append(more),
            (scan, more) => *scan = more,
        }
        self.kept = self.kept.or(part.kept);
        self.segments += part.segments;
        self.replaced += part.replaced;
        self.removed += part.removed;
        self.removed_files += part.removed_files;
        self.unchanged += part.unchanged;
        self.flush_seconds += part.flush_seconds;
        self.merge_failure = part.merge_failure.or(self.merge_failure.take());
        self.cancelled |= part.cancelled;
    }
}

/// The result for a list of changes.
#[derive(Clone, Debug, Default)]
pub struct ChangesReport {
    /// The file of the list; `-` is standard input.
    pub path: PathBuf,
    /// The name of its format.
    pub format: &'static str,
    /// How it was compressed.
    pub compression: Option<&'static str>,
    /// Rows, and what could not be used of them.
    pub tally: ChangesTally,
    /// Paths that were looked at because the list names them.
    pub paths: u64,
    /// Paths that are in none of the scanned directories.
    pub outside: Skipped,
    /// The number of the last record, if records have numbers.
    pub number: Option<u64>,
    /// True if records have numbers and no earlier list says with which number this list should begin.
    pub is_first: bool,
}

/// The result for a dump of a file system.
#[derive(Clone, Debug, Default)]
pub struct DumpReport {
    /// The file of the dump; `-` is standard input.
    pub path: PathBuf,
    /// The name of its format.
    pub format: &'static str,
    /// How it was compressed.
    pub compression: Option<&'static str>,
    /// The number of entries read.
    pub entries: u64,
    /// Rows that could not be read, and whether the dump is complete.
    pub tally: DumpTally,
    /// Sentences about this format that the user should know.
    pub remarks: &'static [&'static str],
    /// Of the fields type, size, mtime and owner, those of which no entry has a value.
    pub lacking: Vec<&'static str>,
}

/// An absolute and a relative path of an index that has both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MixedPaths {
    /// An absolute path.
    pub absolute: PathBuf,
    /// A relative path.
    pub relative: PathBuf,
}

impl DumpReport {
    /// True if more than one percent of the rows, or of the values of a column, could not be read, or the end
    /// of the dump is missing.
    pub fn is_lossy(&self) -> bool {
        let DumpTally { bad, truncated, complete, ref bad_values, .. } = self.tally;
        let exceeds = |lost: u64| lost.saturating_mul(100) > self.entries.saturating_add(bad);
        let values = bad_values.iter().any(|values| exceeds(values.count));
        truncated || complete == Some(false) || exceeds(bad) || values
    }
}

/// The result for JSON and CSV records.
#[derive(Clone, Debug, Default)]
pub struct RecordReport {
    /// The schema, if this build inferred it.
    pub inferred: Option<Inferred>,
    /// Blank records. They are not documents.
    pub blank: u64,
    /// Malformed records. They are not documents.
    pub malformed: u64,
    /// Lines of the malformed records.
    pub malformed_lines: u64,
    /// Bytes of the malformed records, with their line ends.
    pub malformed_bytes: u64,
    /// Bytes of all records, with their line ends.
    pub bytes: u64,
    /// Some of the malformed records.
    pub examples: Vec<MalformedRecord>,
    /// Documents from rows of CSV whose quotes contradict each other: quotes were read as ordinary
    /// characters.
    pub repaired: RowRemark,
    /// Documents from rows of CSV with fewer values than the header has names.
    pub short: RowRemark,
    /// Documents from rows of CSV with line feeds in quoted values.
    pub several: RowRemark,
    /// Records of collections that are not documents, or are unusual.
    pub notes: Vec<NotedRecords>,
    /// Columns of CSV that could not keep their names, at most 100 for each index thread.
    pub renamed: Vec<RenamedColumn>,
    /// How rows of CSV are written, if this build found it out.
    pub csv: Option<CsvDialect>,
    /// Fields with values that could not be indexed.
    pub conflicts: Vec<FieldConflict>,
    /// Records that were left out because a later record of the build has the same key.
    pub doubles: u64,
    /// The first of them.
    pub double: Option<DoubleRecord>,
    /// Files that were read again although they have not changed, because records that had the keys of theirs
    /// may be gone.
    pub restored: u64,
    /// Documents without a value in the field that is the key. Their places are their keys.
    pub without_key: u64,
    /// The first of them: its file, and its number as in [`MalformedRecord::line`].
    pub first_without_key: Option<(PathBuf, u64)>,
    /// Names whose values belong to no field, with the number of their values, the most frequent first; at
    /// most 1,000.
    pub unknown: Vec<(String, u64)>,
    /// The number of values of all other such names.
    pub unknown_rest: u64,
    /// Those of `unknown` that nobody chose to leave out: the fields of the index were inferred, and the
    /// sample did not have these names.
    pub unforeseen: Vec<(String, u64)>,
}

impl RecordReport {
    /// True if more than one percent of the lines or bytes of all records were lost, of which `documents`
    /// became documents, or if more than one percent of these have values of a name that was not foreseen.
    pub fn is_lossy(&self, documents: u64) -> bool {
        let lines = self.malformed_lines.saturating_add(documents);
        let exceeds = |lost: u64, all: u64| u128::from(lost) * 100 > u128::from(all);
        exceeds(self.malformed_lines, lines)
            || exceeds(self.malformed_bytes, self.bytes)
            || self.unforeseen.iter().any(|(_, values)| exceeds(*values, documents))
    }
}

/// Records of collections with the same remark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotedRecords {
    /// What is unusual about them.
    pub note: RecordNote,
    /// Their number.
    pub count: u64,
    /// The file of the first one.
    pub path: PathBuf,
    /// Its number in the file, from 1.
    pub record: u64,
}

/// Documents from unusual rows of CSV.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowRemark {
    /// The number of rows.
    pub count: u64,
    /// The number of their lines.
    pub lines: u64,
    /// Some of the rows.
    pub examples: Vec<MalformedRecord>,
}

/// Two records with the same key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DoubleRecord {
    /// The key.
    pub key: Vec<u8>,
    /// The file of the record that was left out.
    pub path: PathBuf,
    /// Its number in the file, from 1: see [`MalformedRecord::record`].
    pub line: u64,
    /// The file of the record that was kept.
    pub kept_path: PathBuf,
    /// The number of that record.
    pub kept_line: u64,
}

/// A malformed or unusual record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MalformedRecord {
    /// The file of the record.
    pub path: PathBuf,
    /// The line of the file in which the record begins, from 1.
    pub line: u64,
    /// The number of the record in the file, from 1, which is also in the key of a document. The header of a
    /// CSV file does not count.
    pub record: u64,
    /// Why the record is malformed.
    pub reason: String,
    /// At most 80 bytes of the record around the error.
    pub text: String,
}

/// Values that were not indexed because they are not of the kind of their field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldConflict {
    /// The name of the field.
    pub field: String,
    /// The number of these values.
    pub count: u64,
    /// The number of all values of the field that were read.
    pub values: u64,
    /// The first of these values, cut to 80 bytes.
    pub example: String,
    /// The file of this value.
    pub path: PathBuf,
    /// The number of its record in the file, as in [`MalformedRecord::line`]; 0 for a date of the file
    /// itself.
    pub line: u64,
    /// The line of a schema file with which the field would take the value; `None` if only a field of texts
    /// would.
    pub hint: Option<String>,
}

impl FieldConflict {
    /// Adds the conflicts that another thread found in the same field.
    pub(crate) fn merge(&mut self, other: FieldConflict) {
        self.count += other.count;
        if other.path < self.path {
            (self.path, self.example, self.line) = (other.path, other.example, other.line);
        }
    }

    /// True if the kind of the field is probably wrong: more than one percent of its values do not fit.
    pub fn is_serious(&self) -> bool {
        self.count.saturating_mul(100) > self.values
    }
}
