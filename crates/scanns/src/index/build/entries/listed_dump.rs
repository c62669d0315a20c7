//! Lists the regular files of dumps, whose contents are to be indexed. The file system is not touched.

use std::ffi::OsStr;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use super::block::{BlockRows, EntryBlock};
use super::dump_import::refuse_unreadable;
use super::dump_reader::{DumpSource, ReadDumpReport};
use super::rooted::rooted;
use crate::error::{Error, Result};
use crate::index::build::options::DumpOptions;
use crate::index::build::report::{DumpReport, IndexReport};
use crate::index::progress::Progress;
use crate::record::dump::DumpTally;
use crate::source::{
    Entry, EntryKind, Failure, InputSorter, ListedFilter, Skipped, SortedInputs, SourceOptions, Stamp,
    absolute,
};
use crate::store::SortSpace;

/// Why entries of a dump are not in the list, in the order of [`LeftOut`].
const REASONS: [&str; 5] = [
    "of which the dump does not say whether they are files; find prints the type with %y",
    "without a size or a time of modification",
    "with relative paths; --dump-root names the directory to which they belong",
    "with paths that cannot be resolved",
    "with the path of another one; of equal paths the one modified last is kept",
];

/// A reason not to list an entry.
#[derive(Clone, Copy)]
enum LeftOut {
    OfUnknownType,
    WithoutStamp,
    Relative,
    Unresolved,
    Doubled,
}

/// The regular files of dumps.
pub(crate) struct ListedDumps {
    pub(crate) inputs: SortedInputs,
    pub(crate) dumps: Vec<DumpReport>,
    /// What is not in the list though it may be a file, by reason.
    pub(crate) left_out: Vec<(&'static str, Skipped)>,
}

impl ListedDumps {
    /// Inputs that come from no dump.
    pub(crate) fn none_but(inputs: SortedInputs) -> Self {
        ListedDumps { inputs, dumps: Vec::new(), left_out: Vec::new() }
    }
}

/// Lists the regular files of dumps that the globs of `source` choose, but for those at and below `left_out`.
///
/// # Errors
/// A dump cannot be opened, or its format is not known; no entry can be read; a temporary file cannot be
/// written; [`Error::Cancelled`] if `cancel` was set.
pub(crate) fn list_dumps(
    dump: &DumpOptions,
    source: &SourceOptions,
    left_out: &Path,
    space: &SortSpace,
    cancel: &AtomicBool,
) -> Result<ListedDumps> {
    let root = dump
        .root
        .as_ref()
        .map(|root| absolute(root).map_err(|error| Error::io("find the directory", root, error)));
    let root = root.transpose()?;
    let mut lister = DumpLister {
        sorter: InputSorter::new(left_out, space, false),
        filter: ListedFilter::new(source, root.as_deref().unwrap_or(Path::new("/")))?,
        root: root.map(|root| root.as_os_str().as_bytes().to_vec()),
        space: Vec::new(),
        skipped: 0,
        left_out: Default::default(),
    };
    let (dumps, failures) = lister.read(dump, cancel)?;
    if cancel.load(Ordering::Relaxed) {
        return Err(Error::Cancelled);
    }
    lister.finish(dumps, failures, cancel)
}

/// Takes the entries of dumps.
struct DumpLister<'l> {
    sorter: InputSorter<'l>,
    filter: ListedFilter,
    /// The directory to which relative paths belong.
    root: Option<Vec<u8>>,
    /// Room for a path.
    space: Vec<u8>,
    /// Entries that are no regular files or are excluded, but for directories.
    skipped: u64,
    left_out: [Skipped; REASONS.len()],
}

impl DumpLister<'_> {
    /// Reads all dumps; returns their reports, and why they could not be read to their ends.
    fn read(
        &mut self,
        options: &DumpOptions,
        cancel: &AtomicBool,
    ) -> Result<(Vec<DumpReport>, Vec<Failure>)> {
        let progress = Progress::default();
        let source = DumpSource { options, progress: &progress, stop: cancel };
        let (mut counted, mut taken): (Vec<DumpReport>, _) = (Vec::new(), Ok(()));
        let read = source.read(&mut |block: EntryBlock| {
            if counted.len() <= block.dump {
                counted.resize_with(block.dump + 1, DumpReport::default);
            }
            let Some(report) = counted.get_mut(block.dump) else { return false };
            let DumpReport { entries, tally, .. } = report;
            let mut each = |entry: &Entry<'_>| {
                *entries += 1;
                taken = self.take(entry);
                if taken.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            };
            let flow = match &block.rows {
                BlockRows::Bytes { bytes, offset, rows } => rows.read(bytes, *offset, tally, &mut each),
                BlockRows::Entries(batch) => batch.iter().try_for_each(|entry| each(&entry)),
            };
            flow.is_continue()
        });
        taken?;
        let (mut counted, mut failures) = (counted.into_iter(), Vec::new());
        let report = |read: ReadDumpReport| {
            let mut report = counted.next().unwrap_or_default();
            report.tally.merge(read.tally);
            let ReadDumpReport { path, format, compression, remarks, failure, .. } = read;
            failures.extend(failure.map(|reason| Failure { path: path.clone(), reason }));
            DumpReport { path, format, compression, remarks, ..report }
        };
        let reports = read?.into_iter().map(report).collect();
        Ok((reports, failures))
    }

    fn take(&mut self, entry: &Entry<'_>) -> Result<()> {
        match entry.kind.or_else(|| entry.mode.and_then(EntryKind::of_mode)) {
            Some(EntryKind::File) => {}
            Some(EntryKind::Directory) => return Ok(()),
            Some(_) => {
                self.skipped += 1;
                return Ok(());
            }
            None => return self.leave_out(LeftOut::OfUnknownType, entry.path),
        }
        let path = rooted(entry.path, self.root.as_deref(), &mut self.space);
        if !path.starts_with(b"/") {
            return self.leave_out(LeftOut::Relative, entry.path);
        }
        let resolved = if is_plain(path) {
            None
        } else {
            match absolute(Path::new(OsStr::from_bytes(path))) {
                Ok(resolved) => Some(resolved),
                Err(_) => return self.leave_out(LeftOut::Unresolved, entry.path),
            }
        };
        let path = resolved.as_ref().map_or(path, |resolved| resolved.as_os_str().as_bytes());
        if !self.filter.takes_file(path) {
            self.skipped += 1;
            return Ok(());
        }
        match (entry.size, entry.mtime) {
            (Some(bytes), Some(modified)) => self.sorter.push(path, Stamp { bytes, modified }),
            _ => self.leave_out(LeftOut::WithoutStamp, entry.path),
        }
    }

    fn leave_out(&mut self, reason: LeftOut, path: &[u8]) -> Result<()> {
        if let Some(skipped) = self.left_out.get_mut(reason as usize) {
            skipped.count += 1;
            skipped.first.get_or_insert_with(|| PathBuf::from(OsStr::from_bytes(path)));
        }
        Ok(())
    }

    fn finish(
        self,
        dumps: Vec<DumpReport>,
        failures: Vec<Failure>,
        cancel: &AtomicBool,
    ) -> Result<ListedDumps> {
        let DumpLister { sorter, filter, skipped, mut left_out, .. } = self;
        let mut inputs = sorter.finish(cancel)?;
        (inputs.skipped, inputs.unused_globs) = (skipped, filter.unused());
        if let (Some(first), Some(doubled)) =
            (inputs.doubled.first.clone(), left_out.get_mut(LeftOut::Doubled as usize))
        {
            *doubled = Skipped { count: inputs.doubled.count, first: Some(first) };
        }
        let unread = dumps.iter().flat_map(|dump| unread(&dump.tally));
        inputs.fail(failures.iter().cloned().chain(unread));
        let report = IndexReport { dumps, failed: failures, ..IndexReport::default() };
        refuse_unreadable(&report)?;
        let dumps = report.dumps;
        let left_out: Vec<_> =
            REASONS.into_iter().zip(left_out).filter(|(_, skipped)| skipped.count > 0).collect();
        if let (0, Some((reason, Skipped { count, .. })), Some(dump)) =
            (inputs.count, left_out.first(), dumps.first())
        {
            let reason =
                format!("it lists no file with its size and time; {count} entries are left out, {reason}");
            return Err(Error::Dump { path: dump.path.clone(), reason });
        }
        Ok(ListedDumps { inputs, dumps, left_out })
    }
}

/// What a dump says that could not be read.
fn unread(tally: &DumpTally) -> impl Iterator<Item = Failure> {
    let unread = tally.unread_paths.iter().filter(|unread| !unread.excluded);
    unread
        .map(|unread| Failure { path: OsStr::from_bytes(&unread.path).into(), reason: unread.reason.clone() })
}

/// True for an absolute path without `.`, `..` and repeated slashes.
fn is_plain(path: &[u8]) -> bool {
    let mut names = path.strip_prefix(b"/").unwrap_or(path).split(|&byte| byte == b'/');
    names.all(|name| !matches!(name, b"" | b"." | b".."))
}
