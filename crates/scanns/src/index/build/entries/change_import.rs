//! Looks at the paths of a part of a list of changes, and brings the index up to date there: the result is as
//! if everything had been scanned, provided that the list names every path that changed.
//!
//! Entries that exist are compared with the index as those of a scan are. Documents are deleted where nothing
//! is any more, and where a directory was scanned as a whole but did not contain them. The rules of scans
//! hold: what cannot be read, and what is below the empty place of a file system, is no deletion.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use super::block::{BlockRows, EntryBlock, SendBlock};
use super::linked_names::LinkedFiles;
use super::lost_mounts::LostMounts;
use super::run::{FindEntries, Import};
use super::scan_import::{TOO_MANY_UNREAD, report_scan};
use super::threads::ImportThreads;
use crate::error::Result;
use crate::index::build::file_fields::EntrySource;
use crate::index::build::index_threads::BuildCall;
use crate::index::build::rare_fields::RareFields;
use crate::index::build::report::IndexReport;
use crate::index::build::run::emptied;
use crate::index::commit::indexed_files::EmptiedRoot;
use crate::index::commit::writer::Writer;
use crate::index::coverage::{Coverage, some_of};
use crate::index::progress::Phase;
use crate::source::{
    ChangedPaths, Failure, KnownPlace, Look, LookReport, ScanOptions, ScanReport, UnlistedDirectories,
    ancestors, look as look_at,
};
use crate::sys::{lock, now, unpoisoned};

/// A part of a list of changes.
pub(super) struct ChangePart {
    /// Where to look.
    pub(super) paths: Arc<ChangedPaths>,
    /// The format of the list.
    pub(super) format: &'static str,
    /// The number of rows and files of the list so far whose changes may be missing.
    pub(super) lost: u64,
    /// The metadata target of Lustre, and the number of the last record.
    pub(super) record: Option<(String, u64)>,
}

/// The application of a part.
pub(super) struct ChangeImport<'a> {
    options: ScanOptions,
    from: Arc<[Arc<EntrySource>]>,
    /// The scans that the list is about, with the lists before this one.
    roots: &'a [Coverage],
    part: ChangePart,
}

impl<'a> ChangeImport<'a> {
    pub(super) fn new(
        roots: &'a [Coverage],
        part: ChangePart,
        writer: &Writer<'_>,
        call: BuildCall<'_>,
    ) -> Self {
        let paths: Vec<PathBuf> = roots.iter().map(|root| root.path.clone()).collect();
        let from = EntrySource::of_scan(&paths).into_iter().map(Arc::new).collect();
        // The index may be in a tree that it indexes.
        let index = fs::canonicalize(writer.directory().describe()).ok();
        let schema = writer.manifest().map(|manifest| manifest.schema).unwrap_or_default();
        let options = ScanOptions { paths, leave_out: index, ..call.options.scan_options() };
        let options = RareFields::of(&schema).scanned(options);
        ChangeImport { options, from, roots, part }
    }

    /// What is covered after the part was applied.
    fn coverage(&self, unread: &[Failure], new_unlisted: &UnlistedDirectories) -> Vec<Coverage> {
        let now = now();
        let of_root = |root: &Coverage| {
            let mut updates = root.updated.clone().unwrap_or_default();
            updates.format = self.part.format.to_owned();
            updates.applied = now;
            updates.lists += 1;
            updates.lost += self.part.lost;
            updates.records.extend(self.part.record.clone());
            let known: HashSet<&PathBuf> = root.failures.iter().map(|failure| &failure.path).collect();
            let new = unread.iter().filter(|failure| failure.path.starts_with(&root.path));
            let new = new.filter(|failure| !known.contains(&failure.path));
            let (failures, count) = some_of(root.failures.iter().chain(new));
            let count = root.unread.max(root.failures.len() as u64) - root.failures.len() as u64 + count;
            let mut unlisted = root.unlisted.clone();
            unlisted.append(new_unlisted.below(&root.path));
            Coverage { updated: Some(updates), failures, unread: count, unlisted, ..root.clone() }
        };
        self.roots.iter().map(of_root).collect()
    }

    /// Directories that may seem to be empty now. If some entries are left out, the directory of one that is
    /// gone may have others that are not in the index.
    fn unlisted(&self, scan: &mut ScanReport, looked: &LookReport) -> UnlistedDirectories {
        let mut unlisted = std::mem::take(&mut scan.unlisted);
        let ScanOptions { include, exclude, skip_hidden, gitignore, .. } = &self.options;
        if !include.is_empty() || !exclude.is_empty() || *skip_hidden || *gitignore {
            let gone = looked.files.iter().chain(&looked.trees);
            gone.filter_map(|path| ancestors(path).nth(1)).for_each(|above| unlisted.add(above));
        }
        unlisted
    }
}

impl FindEntries for ChangeImport<'_> {
    type Found = (ScanReport, LookReport);

    fn find(&self, import: &Import<'_>, stop: &AtomicBool, send: &SendBlock<'_>) -> Result<Self::Found> {
        let progress = import.call.progress;
        progress.total_bytes.store(self.part.paths.len() as u64, Ordering::Relaxed);
        progress.enter(Phase::Scanning);
        let (failed, linked) = (Mutex::new(None), LinkedFiles::default());
        let known = |path: &[u8]| match import.known.place(path) {
            Ok((known, inode)) => {
                linked.add_known(inode);
                known
            }
            Err(error) => {
                lock(&failed).get_or_insert(error);
                stop.store(true, Ordering::Relaxed);
                KnownPlace::Nothing
            }
        };
        let look = |paths: &ChangedPaths, with_directories| {
            look_at(&self.options, Look::new(paths, &known, with_directories), stop, &|batch| {
                progress.bytes.fetch_add(batch.len() as u64, Ordering::Relaxed);
                linked.add(batch.iter());
                send(EntryBlock { dump: 0, from: self.from.clone(), rows: BlockRows::Entries(batch) })
            })
        };
        let (mut scan, mut looked) = look(&self.part.paths, true)?;
        let others = linked.names(import.known, &self.part.paths, &looked.trees)?;
        if !others.is_empty() && scan.complete {
            let (more, looked_more) = look(&others, false)?;
            scan.complete = more.complete;
            scan.append(more);
            looked.trees.extend(looked_more.trees);
            looked.files.extend(looked_more.files);
        }
        progress.failures.store(scan.unread.len() as u64, Ordering::Relaxed);
        match unpoisoned(failed.into_inner()) {
            Some(error) => Err(error),
            None => Ok((scan, looked)),
        }
    }

    fn settle(
        &self,
        import: &Import<'_>,
        threads: ImportThreads<Self::Found>,
        report: &mut IndexReport,
    ) -> Result<Vec<Coverage>> {
        let ImportThreads { found: (mut scan, looked), lanes, .. } = threads;
        report_scan(&mut scan, lanes, report)?;
        let unread_more = scan.unread_more;
        if unread_more > 0 {
            report.kept = Some(TOO_MANY_UNREAD);
        }
        let unlisted = self.unlisted(&mut scan, &looked);
        report.scan = Some(scan);
        if report.cancelled {
            return Ok(Vec::new());
        }
        let covered = self.coverage(&report.failed, &unlisted);
        if unread_more == 0 {
            self.delete_gone(import, &looked, report)?;
        }
        Ok(covered)
    }
}

impl ChangeImport<'_> {
    /// Deletes documents whose entries are gone.
    fn delete_gone(&self, import: &Import<'_>, looked: &LookReport, report: &mut IndexReport) -> Result<()> {
        let gone = RefCell::new(GonePlaces {
            trees: looked.trees.iter().map(Vec::as_slice).collect(),
            roots: self.roots.iter().map(|root| (root.path.as_os_str().as_bytes(), None)).collect(),
            unread: report.failed.iter().map(|failure| failure.path.as_os_str().as_bytes()).collect(),
            lost: LostMounts::new(import.known),
            kept: HashMap::new(),
        });
        let mut files = Vec::new();
        for file in &looked.files {
            if gone.borrow_mut().may_delete(file)? {
                files.push(file.as_slice());
            }
        }
        let (documents, entries) = import.known.documents_at(files.into_iter())?;
        (report.removed_files, report.removed) = import.delete(documents, entries)?;
        if !looked.trees.is_empty() {
            let is_gone = |path: &[u8]| gone.borrow_mut().is_gone(path);
            let (entries, documents) = import.delete_unseen(is_gone)?;
            report.removed_files += entries;
            report.removed += documents;
        }
        let kept = gone.into_inner().kept.into_iter();
        let mut places: Vec<_> = kept.map(|(path, files)| EmptiedRoot { path, files }).collect();
        places.sort_unstable();
        report.failed.extend(places.iter().map(emptied));
        Ok(())
    }
}

/// Where entries are gone, and what speaks against it.
struct GonePlaces<'a, 'k, 's> {
    /// Places at and below which everything was looked at.
    trees: HashSet<&'a [u8]>,
    /// The scanned directories, and whether they are empty once that is known.
    roots: HashMap<&'a [u8], Option<bool>>,
    unread: HashSet<&'a [u8]>,
    lost: LostMounts<'k, 's>,
    /// Empty places of file systems, and the number of entries that were kept because of each.
    kept: HashMap<PathBuf, u64>,
}

impl GonePlaces<'_, '_, '_> {
    /// True if a path that was not found is gone.
    fn is_gone(&mut self, path: &[u8]) -> Result<bool> {
        let mut looked_at = false;
        for place in ancestors(path) {
            looked_at |= self.trees.contains(place);
            // What is below another scanned directory is not part of this tree.
            if self.roots.contains_key(place) {
                break;
            }
        }
        if looked_at { self.may_delete(path) } else { Ok(false) }
    }

    /// True if neither an unread directory nor an empty place of a file system is above a path.
    fn may_delete(&mut self, path: &[u8]) -> Result<bool> {
        if ancestors(path).any(|place| self.unread.contains(place)) {
            return Ok(false);
        }
        let Some(root) = ancestors(path).find(|place| self.roots.contains_key(place)) else {
            return Ok(false);
        };
        let Some(is_empty) = self.roots.get_mut(root) else { return Ok(false) };
        let root_path = Path::new(OsStr::from_bytes(root));
        let is_empty = *is_empty
            .get_or_insert_with(|| fs::read_dir(root_path).is_ok_and(|mut entries| entries.next().is_none()));
        let place = if is_empty { Some(root_path.to_path_buf()) } else { self.lost.above(path, root)? };
        let Some(place) = place else { return Ok(true) };
        *self.kept.entry(place).or_default() += 1;
        Ok(false)
    }
}
