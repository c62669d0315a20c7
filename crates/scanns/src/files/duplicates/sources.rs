//! Searches the files of an index for equal content.

use std::ops::{Bound, ControlFlow};
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

use super::super::entries::EntryReader;
use super::super::order::{walk_order, without_slash};
use super::super::select::{all_of, below, with_unknown};
use super::candidates::{by_size, put_candidate};
use super::find::{DuplicateOptions, DuplicateReport, DuplicateSearch, FaultyFiles};
use super::groups::DuplicateGroup;
use super::state::HashState;
use super::workers::{DuplicateProgress, DuplicateTick, ReadWork};
use crate::error::Result;
use crate::index::snapshot::Snapshot;
use crate::query::{Query, ValueRange};
use crate::schema::Value;
use crate::store::{RecordSorter, SortedRecords};

/// What goes on while duplicates are searched.
pub struct DuplicateWatch<'w> {
    /// How far the search has come.
    pub progress: &'w DuplicateProgress,
    /// Hashes of an earlier run, and of this one.
    pub state: &'w Mutex<HashState>,
    /// Stops the search if it is true.
    pub stop: &'w AtomicBool,
    /// Called ten times per second.
    pub tick: &'w mut DuplicateTick<'w>,
}

/// Finds groups of files with equal content at and below `paths`, or in the whole index without any, and
/// calls `visit` with them, the greatest waste first. Files are opened for reading; those that are not what
/// the index knows of them are left out and counted.
///
/// # Errors
/// [`Error::Unsupported`](crate::Error::Unsupported) if the documents are not files with metadata;
/// [`Error::NotInView`](crate::Error::NotInView) for a view, whose files this process may read although the
/// view hides their content; the errors of reading the index, of temporary files and of `visit`.
pub fn find_duplicates(
    snapshot: &Snapshot,
    paths: &[Vec<u8>],
    options: &DuplicateOptions,
    watch: DuplicateWatch<'_>,
    visit: &mut dyn FnMut(&DuplicateGroup) -> Result<()>,
) -> Result<DuplicateReport> {
    snapshot.refuse_in_view("which files have equal content")?;
    let reader = EntryReader::new(snapshot)?;
    let mut missing = Vec::new();
    for path in paths {
        if reader.at(without_slash(path))?.is_none() {
            missing.push(path.clone());
        }
    }
    let sorted = candidates(&reader, paths, options)?;
    let DuplicateWatch { progress, state, stop, tick } = watch;
    let work = ReadWork { threads: options.threads, progress, state, stop, tick };
    let unsized_files = unsized_files(&reader, paths)?;
    let has_no_sizes = unsized_files.count > 0 && !reader.has_values("size")?;
    let report = DuplicateReport { missing, unsized_files, has_no_sizes, ..DuplicateReport::default() };
    let mut search = DuplicateSearch { options, work, report };
    let groups = search.run(&sorted)?;
    drop(sorted);
    if search.report.stopped {
        return Ok(search.report);
    }
    let mut cursor = groups.read()?;
    while let Some(record) = cursor.record() {
        if let Some(group) = DuplicateGroup::read(record) {
            visit(&group)?;
        }
        cursor.advance()?;
    }
    Ok(search.report)
}

/// Files, and entries that may be files, at and below `paths`.
fn files(reader: &EntryReader<'_>, paths: &[Vec<u8>]) -> Vec<Query> {
    let field = reader.field("type");
    let file = Query::Values(ValueRange::one(field, Value::Text(b"file".to_vec())));
    let mut conditions = vec![with_unknown(reader, field, vec![file])];
    if !paths.is_empty() {
        let below = paths.iter().map(|path| below(reader, without_slash(path)));
        conditions.push(Query::any_of(below.collect()));
    }
    conditions
}

/// The files whose sizes are not known.
fn unsized_files(reader: &EntryReader<'_>, paths: &[Vec<u8>]) -> Result<FaultyFiles> {
    let mut conditions = files(reader, paths);
    conditions.push(with_unknown(reader, reader.field("size"), Vec::new()));
    let mut found = FaultyFiles::default();
    reader.for_each_path(&all_of(conditions), &mut |path| {
        if found.count == 0 || walk_order(path, &found.first).is_lt() {
            found.first = path.to_vec();
        }
        found.count += 1;
    })?;
    Ok(found)
}

/// The regular files of the index that are large enough, by size.
fn candidates(
    reader: &EntryReader<'_>,
    paths: &[Vec<u8>],
    options: &DuplicateOptions,
) -> Result<SortedRecords> {
    let mut conditions = files(reader, paths);
    conditions.push(Query::Values(ValueRange {
        field: reader.field("size"),
        low: Bound::Included(Value::Unsigned(options.min_size)),
        high: Bound::Unbounded,
    }));
    let mut sorter = RecordSorter::new(by_size, options.memory / 3, &options.temporary);
    let columns = ["size", "mtime", "ctime", "inode", "device"];
    let mut record = Vec::new();
    reader.for_each(&all_of(conditions), &columns, &mut |entry| {
        record.clear();
        put_candidate(&mut record, entry);
        sorter.push(&record)?;
        Ok(ControlFlow::Continue(()))
    })?;
    sorter.finish()
}
