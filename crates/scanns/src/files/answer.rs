//! Answers a find command from an index.

use std::cell::RefCell;
use std::io;
use std::ops::ControlFlow;

use super::entries::EntryReader;
use super::find::{
    FindCommand, FindOutput, FindSink, FindWalk, FoundEntry, Next, Requirements, Setting, UnknownColumn,
    parse,
};
use super::find_sort::{FindSort, FoundEntries, found_of};
use super::gathered::{GatheredEntries, WantedEntries};
use super::indexed_path::{indexed_path, is_filled};
use super::known::IndexFacts;
use super::select::{all_of, below, matching};
use super::tops::tops;
use crate::error::{Error, Result};
use crate::index::snapshot::Snapshot;
use crate::source::Entry;
use crate::store::{SortSpace, SortedRecords};

/// The bytes of entries that are sorted in memory. More are printed in the order of the index, where the
/// expression allows it.
const SORTED_BYTES: usize = 512 << 20;

/// Options of [`find_entries`].
#[derive(Clone, Debug)]
pub struct FindOptions {
    /// Stop after this number of entries for which something was printed.
    pub limit: Option<u64>,
    /// Sort the entries for which something is printed; `None` for the order of a walk.
    pub sort: Option<FindSort>,
    /// Where they are sorted.
    pub space: SortSpace,
}

impl Default for FindOptions {
    /// All entries in the order of a walk; other orders with a GiB of memory and the directory of the system
    /// for temporary files.
    fn default() -> Self {
        let space = SortSpace { memory: 1 << 30, directory: std::env::temp_dir() };
        FindOptions { limit: None, sort: None, space }
    }
}

/// The result of [`find_entries`].
#[derive(Clone, Debug, Default)]
pub struct FindReport {
    /// Entries for which the expression was evaluated.
    pub evaluated: u64,
    /// Entries for which something was printed.
    pub printed: u64,
    /// The paths in the index at and below which entries were looked for; none for the whole index.
    pub places: Vec<Vec<u8>>,
    /// The greatest level below them that was looked at.
    pub max_depth: Option<usize>,
    /// Start points that are not in the index.
    pub missing: Vec<Vec<u8>>,
    /// Start points that have no entry of their own; what is below them was looked at.
    pub without_entry: Vec<Vec<u8>>,
    /// Tests and actions that needed a column that entries lack.
    pub unknown: Vec<UnknownColumn>,
    /// Links that lead to themselves and that `-xtype` asked for; find exits with 1 if there are any.
    pub loops: u64,
    /// True if entries were too many to be sorted, so that they were printed in the order of the index.
    pub unsorted: bool,
    /// What find would warn about.
    pub warnings: Vec<String>,
}

/// Answers a command in GNU find's language: start points, then an expression. Without start points, the
/// question is about the whole index. Start points are found by [`indexed_path`]. `open` gets the outputs of
/// the command and returns where they go.
///
/// Entries are printed in the order of a walk with sorted names, or as the options say.
///
/// # Errors
/// [`Error::Expression`] for a command that is not valid or cannot be answered by an index;
/// [`Error::Unsupported`] if the documents are not files with metadata; the errors of reading and writing.
pub fn find_entries<S: FindSink>(
    snapshot: &Snapshot,
    command: &[Vec<u8>],
    options: FindOptions,
    open: impl FnOnce(&[FindOutput]) -> io::Result<S>,
) -> Result<FindReport> {
    find_at(snapshot, command, Setting::current(), options, open)
}

/// Like [`find_entries`], at another time or in another time zone.
pub(super) fn find_at<S: FindSink>(
    snapshot: &Snapshot,
    command: &[Vec<u8>],
    setting: Setting,
    options: FindOptions,
    open: impl FnOnce(&[FindOutput]) -> io::Result<S>,
) -> Result<FindReport> {
    let mut facts = IndexFacts::new(EntryReader::new(snapshot)?);
    let parsed = parse(command, setting, &facts);
    let FindCommand { mut start_points, expression, warnings } =
        parsed.map_err(|error| Error::Expression { message: error.to_string() })?;
    if options.sort.is_some() && expression.may_quit() {
        return Err(no_order());
    }
    facts.find_contents(&expression.contents)?;
    let mut sink = open(&expression.outputs).map_err(written)?;
    let places = start_points.iter().map(|point| indexed_path(snapshot, point)).collect();
    let max_depth = expression.traversal.max_depth;
    let mut report = FindReport { warnings, places, max_depth, ..FindReport::default() };
    let filter = expression.requirements();
    let mut columns = expression.columns();
    columns.extend(options.sort.into_iter().flat_map(FindSort::columns));
    let sorted_by = |sort| RefCell::new(FoundEntries::new(sort, options.limit, &options.space));
    let found = options.sort.map(sorted_by);
    let select = |entry: &FoundEntry<'_>| match &found {
        Some(found) => found.borrow_mut().push(entry),
        None => Ok(()),
    };
    let mut walk = FindWalk::new(&expression, &facts, &mut sink);
    if found.is_some() {
        walk.select(&select);
    }
    let mut answer = FindAnswer {
        facts: &facts,
        filter: filter.as_ref(),
        columns: &columns,
        walk,
        limit: options.limit.filter(|_| found.is_none()).unwrap_or(u64::MAX),
        may_stream: filter.is_some() && !expression.traversal.depth_first,
        needs_order: found.is_none(),
        begun: Vec::new(),
        without_entry: Vec::new(),
        is_whole: false,
        unsorted: false,
    };
    if start_points.is_empty() {
        (start_points, answer.is_whole) = points_of_index(&facts.reader)?;
    }
    let missing = answer.start_points(&start_points);
    let failure = || found.as_ref().and_then(|found| found.borrow_mut().failure());
    report.missing = missing.map_err(|error| failure().unwrap_or(error))?;
    let counts = answer.walk.counts();
    (report.evaluated, report.printed, report.loops) = (counts.evaluated, counts.printed, counts.errors);
    if let Some(found) = &found {
        let (sorted, unknown) = found.borrow_mut().finish()?;
        report.printed = answer.print(&sorted, options.limit)?;
        report.unknown = unknown;
    }
    report.unknown.extend(answer.walk.unknown());
    (report.unsorted, report.without_entry) = (answer.unsorted, std::mem::take(&mut answer.without_entry));
    Ok(report)
}

/// The error of an order for `-quit`.
fn no_order() -> Error {
    let message = "-quit ends a walk at an entry, but sorted entries are printed after the walk: leave one \
                   of them out, or print the first entries with --limit";
    Error::Expression { message: message.into() }
}

/// The error of an output.
fn written(source: io::Error) -> Error {
    Error::io("write to", std::path::Path::new("the output"), source)
}

/// A command that is being answered.
struct FindAnswer<'a, 's, S> {
    facts: &'a IndexFacts<'s>,
    filter: Option<&'a Requirements>,
    /// The columns that the expression looks at.
    columns: &'a [&'static str],
    walk: FindWalk<'a, IndexFacts<'s>, S>,
    /// The number of entries after which printing stops.
    limit: u64,
    /// True if entries may come in any order.
    may_stream: bool,
    /// True if entries are printed in the order in which they come.
    needs_order: bool,
    /// The start points that were begun: as they were written, and in the index.
    begun: Vec<(Vec<u8>, Vec<u8>)>,
    /// The start points of which only entries below them are in the index.
    without_entry: Vec<Vec<u8>>,
    /// True if all entries are at or below the only start point.
    is_whole: bool,
    unsorted: bool,
}

impl<S: FindSink> FindAnswer<'_, '_, S> {
    /// Answers for start points; returns those that are not in the index.
    fn start_points(&mut self, points: &[Vec<u8>]) -> Result<Vec<Vec<u8>>> {
        let mut missing = Vec::new();
        for point in points {
            match self.start_point(point)? {
                Some(ControlFlow::Continue(())) => {}
                Some(ControlFlow::Break(())) => break,
                None => missing.push(point.clone()),
            }
        }
        Ok(missing)
    }

    /// Prints sorted entries, and returns their number.
    fn print(&mut self, sorted: &SortedRecords, limit: Option<u64>) -> Result<u64> {
        let (mut cursor, mut printed, mut current) = (sorted.read()?, 0, None);
        while let Some((entry, point)) = cursor.record().and_then(found_of)
            && limit.is_none_or(|limit| printed < limit)
        {
            if current != Some(point)
                && let Some((written, path)) = self.begun.get(point)
            {
                self.walk.begin(written, path);
                current = Some(point);
            }
            self.walk.print_selected(&entry).map_err(written)?;
            printed += 1;
            cursor.advance()?;
        }
        Ok(printed)
    }

    /// Answers for a start point; `None` if it is not in the index.
    fn start_point(&mut self, written_path: &[u8]) -> Result<Option<ControlFlow<()>>> {
        let path = indexed_path(self.facts.reader.snapshot, written_path);
        let path = path.as_slice();
        self.walk.begin(written_path, path);
        self.begun.push((written_path.to_vec(), path.to_vec()));
        let mut conditions = Vec::new();
        // The whole index has no entry of its own.
        if !path.is_empty() {
            match self.facts.reader.at(path)? {
                Some(point) => {
                    if let Some(stopped) = self.visit_all(point.iter())? {
                        return Ok(Some(stopped));
                    }
                }
                None if is_filled(&self.facts.reader, path)? => {
                    self.without_entry.push(written_path.to_vec());
                }
                None => return Ok(None),
            }
            if !self.is_whole {
                conditions.push(below(&self.facts.reader, path));
            }
        }
        if let Some(filter) = self.filter {
            conditions.extend(matching(&self.facts.reader, filter));
        }
        let query = all_of(conditions);
        let (facts, filter) = (self.facts, self.filter);
        let allow = |entry: &Entry<'_>| entry.path != path && filter.is_none_or(|filter| filter.allow(entry));
        let most_bytes = if self.may_stream { SORTED_BYTES } else { usize::MAX };
        let wanted = WantedEntries { query: &query, columns: self.columns, allow: &allow, most_bytes };
        let mut stopped = if self.may_stream && !self.needs_order {
            self.stream(&wanted)?
        } else if let Some(found) = GatheredEntries::read(&facts.reader, &wanted)? {
            self.visit_all(found.iter())?
        } else {
            self.unsorted = true;
            self.stream(&wanted)?
        };
        if stopped.is_none() && self.walk.end().map_err(written)? == Next::Stop {
            stopped = Some(ControlFlow::Break(()));
        }
        Ok(Some(stopped.unwrap_or(ControlFlow::Continue(()))))
    }

    /// Visits entries in the order of the index.
    fn stream(&mut self, wanted: &WantedEntries<'_>) -> Result<Option<ControlFlow<()>>> {
        let mut stopped = None;
        self.facts.reader.for_each(wanted.query, wanted.columns, &mut |entry| {
            if (wanted.allow)(entry) {
                stopped = self.visit(entry)?;
            }
            Ok(if stopped.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        Ok(stopped)
    }

    /// Visits entries in the order of a walk.
    fn visit_all<'e>(&mut self, entries: impl Iterator<Item = Entry<'e>>) -> Result<Option<ControlFlow<()>>> {
        for entry in entries {
            if let Some(stopped) = self.visit(&entry)? {
                return Ok(Some(stopped));
            }
        }
        Ok(None)
    }

    /// Evaluates the expression for an entry; tells if nothing more is wanted.
    fn visit(&mut self, entry: &Entry<'_>) -> Result<Option<ControlFlow<()>>> {
        let next = self.walk.visit(entry).map_err(written)?;
        let is_enough = self.walk.counts().printed >= self.limit;
        Ok((next == Next::Stop || is_enough).then_some(ControlFlow::Break(())))
    }
}

/// The start points of a question about the whole index: its uppermost entries; if there are many, the empty
/// path, which stands for the whole index. The second value is true if there is only one.
fn points_of_index(reader: &EntryReader<'_>) -> Result<(Vec<Vec<u8>>, bool)> {
    let tops = tops(reader)?.filter(|tops| !tops.is_empty()).unwrap_or_else(|| vec![Vec::new()]);
    let is_whole = tops.len() == 1;
    Ok((tops, is_whole))
}
