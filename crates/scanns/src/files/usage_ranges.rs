//! The sums of whole directories, without reading their entries.
//!
//! The documents of a segment are sorted by directory, so what is below a directory is a range of them, or a
//! few after merges. Columns of numbers have sums of all blocks, so the sum of a range reads at most two
//! blocks. Files with several names are found in a sparse column; all names but one are subtracted.
//!
//! This answers for `-s` and small values of `-d`; it declines where only the entries themselves can answer.

use std::collections::{HashMap, HashSet};
use std::ops::{ControlFlow, Range};

use super::entries::EntryReader;
use super::order::{below_prefix, walk_order};
use super::select::directories_below;
use super::usage_sum::{LinkedFile, UsageMeasure, UsageOptions, UsageSum, UsageTime};
use crate::column::{Column, ColumnKind, RangeReader};
use crate::error::Result;
use crate::schema::Value;
use crate::segment::Segment;
use crate::source::{Entry, EntryKind};

/// The greatest number of ranges of one directory in one segment. More of them mean that the documents are
/// not sorted.
const MOST_RANGES: usize = 4_096;

/// The greatest number of directories that are summed up one by one. For more of them, reading all entries
/// takes less time.
const MOST_DIRECTORIES: usize = 20_000;

/// A directory and the sum of everything at and below it.
pub(super) type DirectorySum = (Vec<u8>, UsageSum);

/// The columns of a segment that are summed up.
struct SegmentSums<'s> {
    segment: &'s Segment,
    paths: &'s Column,
    /// The inodes of files with several names.
    linked: &'s Column,
    /// The measure; `None` for the number of entries.
    measure: Option<RangeReader<'s>>,
    time: Option<RangeReader<'s>>,
}

/// A name of a file that is counted under another name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct DroppedName {
    leaf: usize,
    doc: u32,
    amount: u64,
}

/// The number of a segment, and a document in it.
type DocumentPlace = (usize, u32);

/// Sums up directories.
struct RangeSums<'r> {
    reader: &'r EntryReader<'r>,
    options: UsageOptions,
    leaves: Vec<SegmentSums<'r>>,
    /// Sorted.
    dropped: Vec<DroppedName>,
}

/// Returns the sums of the directory `start` and of the directories below it that get a line, in the order of
/// a walk. Files in `seen` are not counted; those that are counted are added to it. `None` if the entries
/// must be read.
pub(super) fn directory_sums(
    reader: &EntryReader<'_>,
    start: &[u8],
    options: &UsageOptions,
    seen: &mut HashSet<LinkedFile>,
) -> Result<Option<Vec<DirectorySum>>> {
    // Sums of ranges include what a view hides.
    let Some(depth) = options
        .max_depth
        .filter(|_| !reader.snapshot.is_view())
        .filter(|_| !options.all && !options.separate && options.exclude.is_empty())
    else {
        return Ok(None);
    };
    let Some(mut sums) = RangeSums::open(reader, options) else { return Ok(None) };
    let Some(mut directories) = sums.directories(start, depth)? else { return Ok(None) };
    let Some(ranges) = sums.ranges_below(start)? else { return Ok(None) };
    let mut counted = Vec::new();
    if !options.count_links {
        counted = sums.drop_names(&ranges, depth == 0, seen)?;
    }
    for (path, sum) in &mut directories {
        let Some(below) = sums.below(path)? else { return Ok(None) };
        // The root of the file system is in itself.
        if path.ends_with(b"/") { *sum = below } else { sum.add(below) }
    }
    directories.sort_unstable_by(|one, other| walk_order(&one.0, &other.0));
    seen.extend(counted);
    Ok(Some(directories))
}

impl<'r> RangeSums<'r> {
    /// Opens the columns; `None` if an index of an earlier version does not have them.
    fn open(reader: &'r EntryReader<'r>, options: &UsageOptions) -> Option<Self> {
        let linked = reader.linked()?;
        let measure = match options.measure {
            UsageMeasure::Space => Some("blocks"),
            UsageMeasure::ApparentSize => Some("size"),
            UsageMeasure::Entries => None,
        };
        let time = options.time.map(|time| match time {
            UsageTime::Modified => "mtime",
            UsageTime::Accessed => "atime",
            UsageTime::Changed => "ctime",
        });
        let of_segment = |segment: &'r Segment| {
            let reader_of = |name: Option<&str>| match name {
                Some(name) => Some(Some(RangeReader::new(segment.column(reader.field(name))?))),
                None => Some(None),
            };
            Some(SegmentSums {
                segment,
                paths: segment.column(reader.field("path"))?,
                linked: segment.column(linked)?,
                measure: reader_of(measure)?,
                time: reader_of(time)?,
            })
        };
        let leaves: Option<Vec<SegmentSums<'r>>> = reader.snapshot.leaves().iter().map(of_segment).collect();
        Some(RangeSums { reader, options: options.clone(), leaves: leaves?, dropped: Vec::new() })
    }

    /// The directories that get a line, each with its own sum; `None` if the start point is no directory, if
    /// something below it is on another device where only one is wanted, if something is not known,
    /// or if there are too many.
    fn directories(&self, start: &[u8], depth: usize) -> Result<Option<Vec<DirectorySum>>> {
        // A start point that is not found or is a line of a file is a matter of the entries.
        let Ok(Some(own)) = self.reader.at(start) else { return Ok(None) };
        let Some(entry) = own.get(0).filter(|entry| entry.kind == Some(EntryKind::Directory)) else {
            return Ok(None);
        };
        let Some(sum) = self.own(&entry) else { return Ok(None) };
        if self.options.one_device && !self.is_on_one_device(start, entry.device)? {
            return Ok(None);
        }
        let mut found = Some(vec![(start.to_vec(), sum)]);
        if depth > 0 {
            let query = directories_below(self.reader, start, depth);
            let columns = ["type", "size", "blocks", "mtime", "atime", "ctime"];
            self.reader.for_each(&query, &columns, &mut |entry| {
                let known = self.own(entry).filter(|_| entry.path != start);
                match (known, &mut found) {
                    (Some(sum), Some(found)) => found.push((entry.path.to_vec(), sum)),
                    _ if entry.path != start => found = None,
                    _ => {}
                }
                found = found.take().filter(|found| found.len() <= MOST_DIRECTORIES);
                Ok(if found.is_some() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
            })?;
        }
        Ok(found)
    }

    /// The sum of an entry alone; `None` if it is not known.
    fn own(&self, entry: &Entry<'_>) -> Option<UsageSum> {
        let sum = match self.options.measure {
            UsageMeasure::Space => entry.blocks?.saturating_mul(512),
            UsageMeasure::ApparentSize => entry.size?,
            UsageMeasure::Entries => 1,
        };
        let time = self.options.time.and_then(|time| match time {
            UsageTime::Modified => entry.mtime,
            UsageTime::Accessed => entry.atime,
            UsageTime::Changed => entry.ctime,
        });
        Some(UsageSum { sum, time })
    }

    /// The documents below a directory in each segment; `None` if they are too scattered.
    fn ranges_below(&self, path: &[u8]) -> Result<Option<Vec<Vec<Range<u32>>>>> {
        let ranges = self.leaves.iter().map(|leaf| documents_below(leaf.paths, path));
        ranges.collect::<Result<Option<Vec<_>>>>()
    }

    /// True if everything below a directory is known to be on `device`.
    fn is_on_one_device(&self, path: &[u8], device: Option<u64>) -> Result<bool> {
        let (Some(device), Some(ranges)) = (device, self.ranges_below(path)?) else { return Ok(false) };
        for (leaf, ranges) in self.leaves.iter().zip(ranges) {
            let Some(column) = leaf.segment.column(self.reader.field("device")) else { return Ok(false) };
            let mut devices = RangeReader::new(column);
            for docs in ranges {
                let figures = devices.figures(docs.clone())?;
                let is_known = figures.values == count(&docs);
                if !is_known || figures.least != device || figures.most != device {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// The sum of what is below a directory; `None` if something is not known.
    fn below(&mut self, path: &[u8]) -> Result<Option<UsageSum>> {
        let mut sum = UsageSum::default();
        for at in 0..self.leaves.len() {
            let Some(leaf) = self.leaves.get_mut(at) else { break };
            let Some(ranges) = documents_below(leaf.paths, path)? else { return Ok(None) };
            for docs in ranges {
                let Some(of_range) = leaf.sum(docs.clone(), self.options.measure)? else { return Ok(None) };
                sum.add(of_range);
                let first = self.dropped.partition_point(|name| (name.leaf, name.doc) < (at, docs.start));
                let dropped = self.dropped.iter().skip(first);
                let here = dropped.take_while(|name| (name.leaf, name.doc) < (at, docs.end));
                sum.sum = sum.sum.saturating_sub(here.map(|name| name.amount).sum());
            }
        }
        Ok(Some(sum))
    }

    /// Chooses a name for each file with several of them below the start point; the others will not be
    /// counted, and neither will files in `seen`. If only the start point gets a line (`alone`), any name
    /// will do. Returns the files that will be counted.
    fn drop_names(
        &mut self,
        ranges: &[Vec<Range<u32>>],
        alone: bool,
        seen: &HashSet<LinkedFile>,
    ) -> Result<Vec<LinkedFile>> {
        let (mut counted, mut in_question) = (Vec::new(), Vec::new());
        for (file, mut names) in self.linked_names(ranges)? {
            if seen.contains(&file) {
                self.dropped.append(&mut names);
                continue;
            }
            counted.push(file);
            let are_alike = names.windows(2).all(|two| matches!(two, [a, b] if a.amount == b.amount));
            if names.len() > 1 && !(alone && are_alike) {
                in_question.push(names);
            } else {
                self.dropped.extend(names.into_iter().skip(1));
            }
        }
        let mut first = self.first_in_walk(&in_question)?;
        for names in &mut in_question {
            names.retain(|name| !first.remove(&(name.leaf, name.doc)));
            self.dropped.append(names);
        }
        self.dropped.sort_unstable();
        Ok(counted)
    }

    /// The names of all files with several names in these documents.
    fn linked_names(&self, ranges: &[Vec<Range<u32>>]) -> Result<HashMap<LinkedFile, Vec<DroppedName>>> {
        let mut files: HashMap<LinkedFile, Vec<DroppedName>> = HashMap::new();
        for (at, (leaf, ranges)) in self.leaves.iter().zip(ranges).enumerate() {
            let devices = leaf.segment.column(self.reader.field("device"));
            for docs in ranges {
                leaf.linked.each_value_in(docs.clone(), |doc, inode| {
                    if leaf.segment.is_live(doc) {
                        let device = devices.map_or(Ok(None), |devices| devices.first(doc))?;
                        let amount = leaf.amount(doc, self.options.measure)?;
                        files.entry((device, inode)).or_default().push(DroppedName { leaf: at, doc, amount });
                    }
                    Ok(())
                })?;
            }
        }
        Ok(files)
    }

    /// The segment and document of the name of each file that comes first in a walk.
    fn first_in_walk(&self, files: &[Vec<DroppedName>]) -> Result<HashSet<DocumentPlace>> {
        let mut all: Vec<(DroppedName, usize)> = Vec::new();
        for (file, names) in files.iter().enumerate() {
            all.extend(names.iter().map(|&name| (name, file)));
        }
        all.sort_unstable();
        let mut first: Vec<Option<(Vec<u8>, DocumentPlace)>> = vec![None; files.len()];
        for names in all.chunk_by(|(one, _), (other, _)| one.leaf == other.leaf) {
            let Some(leaf) = names.first().and_then(|(name, _)| self.leaves.get(name.leaf)) else { continue };
            let docs: Vec<u32> = names.iter().map(|(name, _)| name.doc).collect();
            let mut rows = vec![Vec::new(); docs.len()];
            leaf.paths.values_of_each(&docs, &mut rows)?;
            for ((name, file), mut row) in names.iter().zip(rows) {
                let (Some(Value::Text(path)), Some(first)) = (row.pop(), first.get_mut(*file)) else {
                    continue;
                };
                if first.as_ref().is_none_or(|(before, _)| walk_order(&path, before).is_lt()) {
                    *first = Some((path, (name.leaf, name.doc)));
                }
            }
        }
        Ok(first.into_iter().flatten().map(|(_, place)| place).collect())
    }
}

impl SegmentSums<'_> {
    /// The sum of a range of documents, without those that are deleted; `None` if it is not known.
    fn sum(&mut self, docs: Range<u32>, measure: UsageMeasure) -> Result<Option<UsageSum>> {
        let mut sum = UsageSum { sum: count(&docs), time: None };
        if let Some(column) = &mut self.measure {
            let figures = column.figures(docs.clone())?;
            if figures.values != sum.sum {
                return Ok(None);
            }
            sum.sum = in_bytes(u64::try_from(figures.sum).unwrap_or(u64::MAX), measure);
        }
        let mut deleted = self.segment.deletes().within(docs.clone()).peekable();
        if let Some(times) = &mut self.time {
            // A deleted entry may have the latest date.
            if deleted.peek().is_some() {
                return Ok(None);
            }
            let figures = times.figures(docs)?;
            if let (true, Value::Date(date)) = (figures.values > 0, ColumnKind::Date.value_of(figures.most)) {
                sum.time = Some(date);
            }
        }
        for doc in deleted {
            sum.sum = sum.sum.saturating_sub(self.amount(doc, measure)?);
        }
        Ok(Some(sum))
    }

    /// What a document counts.
    fn amount(&self, doc: u32, measure: UsageMeasure) -> Result<u64> {
        match &self.measure {
            Some(column) => Ok(in_bytes(column.column().first(doc)?.unwrap_or(0), measure)),
            None => Ok(1),
        }
    }
}

/// A value of the column of a measure in its unit.
fn in_bytes(value: u64, measure: UsageMeasure) -> u64 {
    if measure == UsageMeasure::Space { value.saturating_mul(512) } else { value }
}

fn count(docs: &Range<u32>) -> u64 {
    u64::from(docs.end.saturating_sub(docs.start))
}

/// The documents below a directory; `None` if they are too scattered.
fn documents_below(paths: &Column, directory: &[u8]) -> Result<Option<Vec<Range<u32>>>> {
    let Some(terms) = paths.terms() else { return Ok(None) };
    let below = terms.prefix_range(&below_prefix(directory))?;
    if below.is_empty() {
        return Ok(Some(Vec::new()));
    }
    paths.ranges_within(below.start.into(), u64::from(below.end) - 1, MOST_RANGES)
}

#[cfg(test)]
mod tests;
