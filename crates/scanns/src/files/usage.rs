//! The space that directories take, as GNU du counts it.
//!
//! Sums of whole directories come from `usage_ranges.rs`, where that can answer. Otherwise all entries are
//! read. Entries come in any order. Memory holds a sum for each directory, the files with several names, and,
//! if all files are wanted, their lines.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use super::entries::EntryReader;
use super::indexed_path::indexed_path;
use super::order::{parent, walk_order};
use super::select::below;
use super::usage_exclude::ExcludedPaths;
use super::usage_ranges::{DirectorySum, directory_sums};
use super::usage_sum::{LinkedFile, UsageMeasure, UsageOptions, UsageSum, UsageTime};
use crate::error::Result;
use crate::index::snapshot::Snapshot;
use crate::query::Query;
use crate::source::{Entry, EntryKind, ancestors, is_at_or_below};

/// A line of the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageLine {
    /// The path, as the start point was written.
    pub path: Vec<u8>,
    /// The sum, in bytes or entries.
    pub sum: u64,
    /// The latest date, in nanoseconds since 1970.
    pub time: Option<i64>,
}

/// The result of [`disk_usage`].
#[derive(Clone, Debug, Default)]
pub struct UsageReport {
    /// The sum over all start points, and the latest date.
    pub total: u64,
    /// The latest date of all.
    pub latest: Option<i64>,
    /// Start points that are not in the index.
    pub missing: Vec<Vec<u8>>,
    /// Start points that have no entry of their own; what is below them counts.
    pub without_entry: Vec<Vec<u8>>,
    /// Entries whose space is not known; their sizes count instead.
    pub unknown: u64,
    /// The first of them.
    pub first_unknown: Vec<u8>,
    /// Files whose size and space are not known; they count nothing.
    pub unsized_files: u64,
    /// The first of them.
    pub first_unsized: Vec<u8>,
    /// True if the index has neither sizes nor space, so that there is no answer.
    pub has_no_sizes: bool,
}

/// Sums up what is at and below each of `paths`, and calls `visit` with the lines: a directory after what is
/// below it, siblings in the order of their names. Paths are found by [`indexed_path`]. An entry below
/// several of the paths counts for the first.
///
/// # Errors
/// [`Error::Unsupported`](crate::Error::Unsupported) if the documents are not files with metadata; the errors
/// of reading and of `visit`.
pub fn disk_usage(
    snapshot: &Snapshot,
    paths: &[Vec<u8>],
    options: UsageOptions,
    mut visit: impl FnMut(&UsageLine) -> Result<()>,
) -> Result<UsageReport> {
    let reader = EntryReader::new(snapshot)?;
    let report =
        UsageReport { has_no_sizes: lacks_sizes(&reader, options.measure)?, ..UsageReport::default() };
    if report.has_no_sizes {
        return Ok(report);
    }
    let excluded = ExcludedPaths::new(&options.exclude);
    let (seen, done) = (HashSet::new(), Vec::new());
    let mut usage = Usage { reader, options, report, seen, done, excluded };
    for path in paths {
        usage.start_point(path, &mut visit)?;
    }
    Ok(usage.report)
}

/// The state between start points.
struct Usage<'s> {
    reader: EntryReader<'s>,
    options: UsageOptions,
    report: UsageReport,
    /// Files with several names that were counted.
    seen: HashSet<LinkedFile>,
    /// Start points before the current one.
    done: Vec<Vec<u8>>,
    excluded: ExcludedPaths,
}

/// What was collected below a start point.
#[derive(Default)]
struct Collected {
    /// By directory: itself and the entries in it that are no directories.
    directories: HashMap<Vec<u8>, UsageSum>,
    /// Other entries that get a line.
    files: Vec<(Vec<u8>, UsageSum)>,
    /// Files with several names, with the first name in the order of the walk.
    linked: HashMap<LinkedFile, (Vec<u8>, UsageSum)>,
}

impl Collected {
    /// Adds the directories down from `start` that have no entries of their own.
    fn add_directories(&mut self, start: &[u8]) {
        let known = self.directories.keys().chain(self.linked.values().map(|(path, _)| path));
        let between =
            known.flat_map(|path| ancestors(path).skip(1).take_while(|place| is_at_or_below(place, start)));
        let missing: HashSet<Vec<u8>> =
            between.filter(|place| !self.directories.contains_key(*place)).map(<[u8]>::to_vec).collect();
        for place in missing.into_iter().chain([start.to_vec()]) {
            self.directories.entry(place).or_default();
        }
    }
}

impl Usage<'_> {
    fn start_point(
        &mut self,
        written: &[u8],
        visit: &mut impl FnMut(&UsageLine) -> Result<()>,
    ) -> Result<()> {
        let start = indexed_path(self.reader.snapshot, written);
        let start = start.as_slice();
        let is_apart = |done: &Vec<u8>| !is_at_or_below(start, done) && !is_at_or_below(done, start);
        if self.done.iter().all(is_apart)
            && let Some(directories) = directory_sums(&self.reader, start, &self.options, &mut self.seen)?
        {
            self.done.push(start.to_vec());
            return self.whole_lines(written, start, directories, visit);
        }
        let (mut collected, mut device) = (Collected::default(), None);
        let query = below(&self.reader, start);
        let columns = ["type", "size", "blocks", "inode", "links", "device", "mtime", "atime", "ctime"];
        let reader = self.reader.clone();
        if self.options.one_device {
            device = device_of(&reader, &query, start)?;
        }
        let (mut found, mut is_below) = (false, false);
        reader.for_each(&query, &columns, &mut |entry| {
            if entry.path == start {
                found = true;
            }
            is_below = true;
            let is_other = device.is_some() && entry.device.is_some() && entry.device != device;
            let is_done = self.done.iter().any(|done| is_at_or_below(entry.path, done));
            if !is_other && !is_done && !self.excluded.has(entry.path, start, written) {
                self.entry(entry, start, &mut collected);
            }
            Ok(ControlFlow::Continue(()))
        })?;
        if !found && !is_below {
            self.report.missing.push(written.to_vec());
            return Ok(());
        }
        if !found {
            self.report.without_entry.push(written.to_vec());
            collected.add_directories(start);
        }
        self.done.push(start.to_vec());
        for (file, (path, sum)) in std::mem::take(&mut collected.linked) {
            self.seen.insert(file);
            self.count(&path, sum, start, &mut collected);
        }
        self.lines(written, start, collected, visit)
    }

    /// Takes an entry below `start`.
    fn entry(&mut self, entry: &Entry<'_>, start: &[u8], collected: &mut Collected) {
        let sum =
            UsageSum { sum: measured(entry, self.options.measure, &mut self.report), time: self.time(entry) };
        if entry.kind == Some(EntryKind::Directory) {
            match collected.directories.get_mut(entry.path) {
                Some(directory) => directory.add(sum),
                None => drop(collected.directories.insert(entry.path.to_vec(), sum)),
            }
            return;
        }
        let inode =
            entry.inode.filter(|_| !self.options.count_links && entry.links.is_some_and(|links| links > 1));
        let Some(inode) = inode else { return self.count(entry.path, sum, start, collected) };
        let file = (entry.device, inode);
        if self.seen.contains(&file) {
            return;
        }
        let linked = collected.linked.entry(file).or_insert_with(|| (entry.path.to_vec(), sum));
        if walk_order(entry.path, &linked.0).is_lt() {
            *linked = (entry.path.to_vec(), sum);
        }
    }

    /// Counts an entry that is no directory for the directory that it is in.
    fn count(&self, path: &[u8], sum: UsageSum, start: &[u8], collected: &mut Collected) {
        if self.options.all || path == start {
            collected.files.push((path.to_vec(), sum));
        }
        if path == start {
            return;
        }
        let directory = parent(path);
        match collected.directories.get_mut(directory) {
            Some(known) => known.add(sum),
            None => drop(collected.directories.insert(directory.to_vec(), sum)),
        }
    }

    fn time(&self, entry: &Entry<'_>) -> Option<i64> {
        match self.options.time? {
            UsageTime::Modified => entry.mtime,
            UsageTime::Accessed => entry.atime,
            UsageTime::Changed => entry.ctime,
        }
    }

    /// Sums up directories, and passes the lines on.
    fn lines(
        &mut self,
        written: &[u8],
        start: &[u8],
        collected: Collected,
        visit: &mut impl FnMut(&UsageLine) -> Result<()>,
    ) -> Result<()> {
        let Collected { directories, files, .. } = collected;
        let mut entries: Vec<(Vec<u8>, UsageSum, bool)> =
            directories.into_iter().map(|(path, sum)| (path, sum, true)).collect();
        entries.extend(files.into_iter().map(|(path, sum)| (path, sum, false)));
        entries.sort_unstable_by(|one, other| walk_order(&one.0, &other.0).then(other.2.cmp(&one.2)));
        // The directories around the current place: with what is below them, and alone.
        let mut open: Vec<(Vec<u8>, UsageSum, UsageSum)> = Vec::new();
        for (path, sum, is_directory) in entries {
            while open.last().is_some_and(|last| !is_at_or_below(&path, &last.0)) {
                self.close(&mut open, written, start, visit)?;
            }
            if is_directory {
                open.push((path, sum, sum));
            } else if let Some((_, whole, alone)) = open.last_mut().filter(|last| last.0 == path) {
                // A dump says of something with entries that it is a file. Below the start point it was
                // counted for the directory that it is in.
                if path == start {
                    whole.add(sum);
                    alone.add(sum);
                }
            } else {
                if path == start {
                    self.report.total = self.report.total.saturating_add(sum.sum);
                    self.report.latest = self.report.latest.max(sum.time);
                }
                self.line(&path, sum, written, start, visit)?;
            }
        }
        while !open.is_empty() {
            self.close(&mut open, written, start, visit)?;
        }
        Ok(())
    }

    /// Passes the lines of whole directories on.
    fn whole_lines(
        &mut self,
        written: &[u8],
        start: &[u8],
        directories: Vec<DirectorySum>,
        visit: &mut impl FnMut(&UsageLine) -> Result<()>,
    ) -> Result<()> {
        if let Some((_, whole)) = directories.first() {
            self.report.total = self.report.total.saturating_add(whole.sum);
            self.report.latest = self.report.latest.max(whole.time);
        }
        let mut open: Vec<DirectorySum> = Vec::new();
        for next in directories {
            while let Some((path, sum)) = open.pop_if(|last| !is_at_or_below(&next.0, &last.0)) {
                self.line(&path, sum, written, start, visit)?;
            }
            open.push(next);
        }
        while let Some((path, sum)) = open.pop() {
            self.line(&path, sum, written, start, visit)?;
        }
        Ok(())
    }

    /// Ends the innermost directory.
    fn close(
        &mut self,
        open: &mut Vec<(Vec<u8>, UsageSum, UsageSum)>,
        written: &[u8],
        start: &[u8],
        visit: &mut impl FnMut(&UsageLine) -> Result<()>,
    ) -> Result<()> {
        let Some((path, whole, alone)) = open.pop() else { return Ok(()) };
        match open.last_mut() {
            Some((_, around, _)) => around.add(whole),
            None => {
                self.report.total = self.report.total.saturating_add(whole.sum);
                self.report.latest = self.report.latest.max(whole.time);
            }
        }
        self.line(&path, if self.options.separate { alone } else { whole }, written, start, visit)
    }

    fn line(
        &self,
        path: &[u8],
        sum: UsageSum,
        written: &[u8],
        start: &[u8],
        visit: &mut impl FnMut(&UsageLine) -> Result<()>,
    ) -> Result<()> {
        let below = path.get(start.len()..).unwrap_or_default();
        let names = below.split(|&byte| byte == b'/').filter(|name| !name.is_empty());
        if self.options.max_depth.is_some_and(|most| names.clone().count() > most) {
            return Ok(());
        }
        let mut shown = written.to_vec();
        for name in names {
            if !shown.ends_with(b"/") {
                shown.push(b'/');
            }
            shown.extend_from_slice(name);
        }
        visit(&UsageLine { path: shown, sum: sum.sum, time: sum.time })
    }
}

/// True if no entry has what is summed up.
pub(super) fn lacks_sizes(reader: &EntryReader<'_>, measure: UsageMeasure) -> Result<bool> {
    let needed: &[&str] = match measure {
        UsageMeasure::Entries => return Ok(false),
        UsageMeasure::ApparentSize => &["size"],
        UsageMeasure::Space => &["blocks", "size"],
    };
    // An empty index lacks nothing.
    if !reader.has_values("path")? {
        return Ok(false);
    }
    for column in needed {
        if reader.has_values(column)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The measure of an entry.
pub(super) fn measured(entry: &Entry<'_>, measure: UsageMeasure, report: &mut UsageReport) -> u64 {
    let is_file = matches!(entry.kind, None | Some(EntryKind::File));
    if entry.kind == Some(EntryKind::Member) {
        return 0; // its archive has the space
    }
    let is_known = entry.size.is_some() || measure == UsageMeasure::Space && entry.blocks.is_some();
    if is_file && !is_known && measure != UsageMeasure::Entries {
        if report.unsized_files == 0 {
            report.first_unsized = entry.path.to_vec();
        }
        report.unsized_files += 1;
        return 0;
    }
    match (measure, entry.blocks) {
        (UsageMeasure::Entries, _) => 1,
        (UsageMeasure::ApparentSize, _) => entry.size.unwrap_or(0),
        (UsageMeasure::Space, Some(blocks)) => blocks.saturating_mul(512),
        (UsageMeasure::Space, None) => {
            if report.unknown == 0 {
                report.first_unknown = entry.path.to_vec();
            }
            report.unknown += 1;
            entry.size.unwrap_or(0).div_ceil(512).saturating_mul(512)
        }
    }
}

/// The device of a start point, whose entries `query` finds.
pub(super) fn device_of(reader: &EntryReader<'_>, query: &Query, start: &[u8]) -> Result<Option<u64>> {
    let mut device = None;
    reader.for_each(query, &["device"], &mut |entry| {
        device = device.or(entry.device.filter(|_| entry.path == start));
        Ok(if device.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })?;
    Ok(device)
}
