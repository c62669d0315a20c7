//! Scans file systems: the names and the metadata of all entries become documents, and documents below the
//! scanned directories whose entries are gone are deleted. No file is opened, and no list of entries is kept.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::block::{BlockRows, EntryBlock, SendBlock};
use super::lane::EntryReport;
use super::lost_mounts::LostMounts;
use super::run::{FindEntries, Import, index_entries};
use super::threads::ImportThreads;
use crate::content::ContentOptions;
use crate::error::Result;
use crate::index::build::access_field::covered;
use crate::index::build::covered::{covered_before, explain_gone};
use crate::index::build::document_source::DocumentSource;
use crate::index::build::file_fields::EntrySource;
use crate::index::build::index_threads::BuildCall;
use crate::index::build::rare_fields::RareFields;
use crate::index::build::report::IndexReport;
use crate::index::build::run::{emptied, refuse_nothing};
use crate::index::commit::indexed_files::EmptiedRoot;
use crate::index::commit::writer::Writer;
use crate::index::coverage::{Coverage, some_of};
use crate::index::progress::Phase;
use crate::source::{Failure, ScanOptions, ScanReport, ScannedRoot, absolute, ancestors, scan as scan_trees};

/// Why documents are kept whose entries the scan did not find.
pub(super) const TOO_MANY_UNREAD: &str = "more directories could not be read than the scan could remember";

/// Scans what the options name, and commits.
pub(in crate::index::build) fn scan(
    writer: &Writer<'_>,
    call: BuildCall<'_>,
    source: &DocumentSource,
    contents: ContentOptions,
) -> Result<IndexReport> {
    let sources = EntrySource::of_scan(&call.options.source.paths).into_iter().map(Arc::new);
    // The index may be in a tree that it indexes.
    let index = fs::canonicalize(writer.directory().describe()).ok();
    let options = ScanOptions { leave_out: index, ..call.options.scan_options() };
    let options = RareFields::of(source.schema()).scanned(options);
    let access = covered(writer, &call.options.source, source.has_access())?;
    let options = ScanOptions { access, ..options };
    let before = covered_before(writer)?;
    let expected = expected(&options.paths, &before);
    let scan = ScanImport { options, from: sources.collect(), expected, before };
    index_entries(&scan, writer, call, source, contents)
}

/// An estimate of the number of entries: of the last scan, or what the file system has if a path is its
/// root; 0 if neither is known of some path.
fn expected(paths: &[PathBuf], before: &[Coverage]) -> u64 {
    let of_path = |path: &PathBuf| -> Option<u64> {
        let path = absolute(path).ok()?;
        let is_it = |known: &&Coverage| known.path == path && known.format.is_none() && known.complete;
        if let Some(known) = before.iter().find(is_it) {
            return Some(known.entries);
        }
        let device = |path: &Path| Some(fs::metadata(path).ok()?.dev());
        if path.parent().is_some_and(|parent| device(parent) == device(&path)) {
            return None;
        }
        let system = rustix::fs::statvfs(&path).ok()?;
        system.f_files.checked_sub(system.f_ffree)
    };
    paths.iter().map(of_path).sum::<Option<u64>>().unwrap_or(0)
}

/// A scan of file systems.
struct ScanImport {
    options: ScanOptions,
    from: Arc<[Arc<EntrySource>]>,
    /// The number of entries that is expected; 0 if it is not known.
    expected: u64,
    /// What the index covers so far.
    before: Vec<Coverage>,
}

impl FindEntries for ScanImport {
    type Found = ScanReport;

    fn find(&self, import: &Import<'_>, stop: &AtomicBool, send: &SendBlock<'_>) -> Result<ScanReport> {
        let progress = import.call.progress;
        progress.total_bytes.store(self.expected, Ordering::Relaxed);
        progress.enter(Phase::Scanning);
        let report = scan_trees(&self.options, stop, &|batch| {
            progress.bytes.fetch_add(batch.len() as u64, Ordering::Relaxed);
            send(EntryBlock { dump: 0, from: self.from.clone(), rows: BlockRows::Entries(batch) })
        })?;
        progress.failures.store(report.unread.len() as u64, Ordering::Relaxed);
        Ok(report)
    }

    fn settle(
        &self,
        import: &Import<'_>,
        threads: ImportThreads<ScanReport>,
        report: &mut IndexReport,
    ) -> Result<Vec<Coverage>> {
        let ImportThreads { found: mut scan, lanes, .. } = threads;
        explain_gone(&mut scan.unread, &self.before);
        report_scan(&mut scan, lanes, report)?;
        delete_gone(import, &scan, self.options.access.is_some(), report)?;
        let covered = coverage(&scan, &report.failed);
        report.unused_globs = if scan.complete { scan.unused_globs.clone() } else { Vec::new() };
        report.scan = Some(scan);
        Ok(covered)
    }
}

/// Reports what the index threads did, and moves what could not be read from `scan` to the report.
///
/// # Errors
/// There was nothing to read.
pub(super) fn report_scan(
    scan: &mut ScanReport,
    lanes: Vec<EntryReport>,
    report: &mut IndexReport,
) -> Result<()> {
    refuse_nothing(&scan.unread, scan.roots.is_empty())?;
    report.unchanged = lanes.iter().map(|lane| lane.unchanged).sum();
    report.add_lanes(lanes.into_iter().map(|EntryReport { lane, .. }| lane).collect());
    report.failed = std::mem::take(&mut scan.unread);
    report.rule_faults = scan.rule_faults.clone();
    report.undecided_access = scan.undecided_access.clone();
    report.skipped = scan.filtered.count + scan.hidden.count;
    report.cancelled |= !scan.complete;
    Ok(())
}

/// What the scan covered, by named path.
fn coverage(scan: &ScanReport, unread: &[Failure]) -> Vec<Coverage> {
    let left_out = [
        ("filtered", &scan.filtered),
        ("hidden", &scan.hidden),
        ("other file systems", &scan.other_file_systems),
        ("pseudo file systems", &scan.pseudo),
        ("snapshots", &scan.snapshots),
        ("vanished", &scan.vanished),
        ("unread attributes", &scan.unread_attributes),
        ("cut attributes", &scan.cut_attributes),
        ("undecided access", &scan.undecided_access),
    ];
    let left_out = left_out.into_iter().filter(|(_, skipped)| skipped.count > 0);
    let left_out: Vec<_> = left_out.map(|(what, skipped)| (what.to_owned(), skipped.clone())).collect();
    let of_root = |root: &ScannedRoot| {
        let (failures, count) = some_of(unread.iter().filter(|failure| failure.path.starts_with(&root.path)));
        Coverage {
            path: root.path.clone(),
            format: None,
            began: root.began,
            ended: root.ended,
            entries: root.entries,
            directories: root.directories,
            complete: scan.complete,
            unread: count + scan.unread_more,
            failures,
            left_out: left_out.clone(),
            unlisted: scan.unlisted.below(&root.path),
            updated: None,
        }
    };
    scan.roots.iter().map(of_root).collect()
}

/// Deletes documents below the scanned directories whose entries are gone. What the scan could not read may
/// still exist, and what was below an empty place of a file system, too. With access classes, nobody knows
/// who may see now what could not be read, and it is forgotten.
fn delete_gone(
    import: &Import<'_>,
    scan: &ScanReport,
    forgets_unread: bool,
    report: &mut IndexReport,
) -> Result<()> {
    if import.known.is_empty() || report.cancelled {
        return Ok(());
    }
    if scan.unread_more > 0 && !forgets_unread {
        report.kept = Some(TOO_MANY_UNREAD);
        return Ok(());
    }
    let roots: HashMap<&[u8], bool> =
        scan.roots.iter().map(|root| (root.path.as_os_str().as_bytes(), root.is_empty)).collect();
    let unread: HashSet<&[u8]> =
        report.failed.iter().map(|failure| failure.path.as_os_str().as_bytes()).collect();
    let mut lost = LostMounts::new(import.known);
    let mut emptied_roots: HashMap<PathBuf, u64> = HashMap::new();
    let gone = |path: &[u8]| -> Result<bool> {
        if !forgets_unread && ancestors(path).any(|place| unread.contains(place)) {
            return Ok(false);
        }
        let root = ancestors(path).find_map(|place| Some((place, *roots.get(place)?)));
        let kept_below = match root {
            None => return Ok(false),
            Some((root, true)) => Some(PathBuf::from(std::ffi::OsStr::from_bytes(root))),
            Some((root, false)) => lost.above(path, root)?,
        };
        let is_gone = kept_below.is_none();
        if let Some(place) = kept_below {
            *emptied_roots.entry(place).or_default() += 1;
        }
        Ok(is_gone)
    };
    (report.removed_files, report.removed) = import.delete_unseen(gone)?;
    let mut places: Vec<_> =
        emptied_roots.into_iter().map(|(path, files)| EmptiedRoot { path, files }).collect();
    places.sort_unstable();
    report.failed.extend(places.iter().map(emptied));
    Ok(())
}
