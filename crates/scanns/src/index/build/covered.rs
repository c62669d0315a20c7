//! What a build notes in its commit: the trees that it looked at, and what it could not read of them.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::index::commit::indexed_files::archive_of;
use crate::index::commit::writer::Writer;
use crate::index::coverage::{Coverage, cover, coverage_of, some_of};
use crate::source::{Failure, Input, Inputs};
use crate::sys::now;

/// What the last commit says that the index covers.
pub(super) fn covered_before(writer: &Writer<'_>) -> Result<Vec<Coverage>> {
    writer.manifest().map_or(Ok(Vec::new()), |manifest| coverage_of(&manifest.notes))
}

/// Notes in the next commit what the index covers.
pub(super) fn note(writer: &Writer<'_>, covered: Vec<Coverage>) -> Result<()> {
    let mut noted = Ok(());
    writer.describe(|manifest| {
        let mut manifest = manifest?;
        noted = cover(&mut manifest.notes, covered);
        Some(manifest)
    });
    noted
}

/// Says of directories that are gone how to get rid of what the index has of them.
pub(super) fn explain_gone(failures: &mut [Failure], before: &[Coverage]) {
    let is_gone = |path: &Path| {
        path.symlink_metadata().is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
            && before.iter().any(|known| known.format.is_none() && known.path == path)
    };
    for Failure { path, reason } in failures {
        if is_gone(path) {
            reason.push_str("; what the index has of it was kept: scanns delete removes it");
        }
    }
}

/// What could not be read of files that are not among `again`, which this build reads: they have not changed.
pub(super) fn still_unread(before: &[Coverage], again: &[Input]) -> Vec<Failure> {
    let scans = before.iter().filter(|known| known.format.is_none());
    let old: Vec<&Failure> = scans.flat_map(|known| &known.failures).collect();
    if old.is_empty() {
        return Vec::new();
    }
    let again: HashSet<&Path> = again.iter().map(|input| input.path.as_path()).collect();
    let is_same = |failure: &&&Failure| file_of(&failure.path).is_some_and(|file| !again.contains(file));
    old.iter().filter(is_same).map(|&failure| failure.clone()).collect()
}

/// The file of a path that may lead into an archive.
fn file_of(path: &Path) -> Option<&Path> {
    let is_file = path.symlink_metadata().is_ok_and(|found| found.is_file());
    if is_file { Some(path) } else { archive_of(path).map(|(archive, _)| archive) }
}

/// The directories of a build that reads files.
pub(super) struct TextCoverage {
    began: i64,
    /// The directories, and the number of files in each.
    roots: Vec<(PathBuf, u64)>,
}

impl TextCoverage {
    /// The directories in which inputs were found since `began`.
    pub(super) fn of(inputs: &Inputs, began: i64) -> Self {
        let mut roots: Vec<(PathBuf, u64)> = inputs.roots.iter().map(|root| (root.path.clone(), 0)).collect();
        let numbers: HashMap<&Path, usize> =
            inputs.roots.iter().enumerate().map(|(number, root)| (root.path.as_path(), number)).collect();
        // Files of a directory mostly follow each other.
        let (mut last, mut root) = (None, None);
        for input in inputs.inputs.iter().filter(|_| !inputs.roots.is_empty()) {
            let parent = input.path.parent();
            if parent != last {
                let places = parent.into_iter().flat_map(Path::ancestors);
                (last, root) = (parent, places.filter_map(|place| numbers.get(place)).next());
            }
            if let Some((_, files)) = root.and_then(|&root| roots.get_mut(root)) {
                *files += 1;
            }
        }
        TextCoverage { began, roots }
    }

    /// What the build covered, now that it has read all files, or was stopped.
    ///
    /// `unread` is what could not be read of files that have not changed.
    pub(super) fn ended(self, failures: &[Failure], unread: &[Failure], complete: bool) -> Vec<Coverage> {
        let (began, ended) = (self.began, now());
        let of_root = |(path, entries): (PathBuf, u64)| {
            let all = failures.iter().chain(unread);
            let inside = all.filter(|failure| failure.path.starts_with(&path));
            let (failures, unread) = some_of(inside);
            Coverage { path, began, ended, entries, complete, unread, failures, ..Coverage::default() }
        };
        self.roots.into_iter().map(of_root).collect()
    }
}
