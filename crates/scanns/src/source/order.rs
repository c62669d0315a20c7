//! Sorts inputs in reading order, and removes files that were reached by two paths.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use crate::source::entry_kind::EntryKind;
use crate::source::inputs::{Input, Inputs};
use crate::source::walk_found::{Found, Identity};

/// Files of at least this size are read first, by descending size, so that no large file is left for one
/// thread at the end.
pub(super) const LARGE: u64 = 4 << 20;

/// Sorts everything; `overlaps` says that a file may have been reached twice, and `large_first` that large
/// files come before the others.
///
/// Only directories are sorted here, because the files of each directory are sorted already. This takes a
/// tenth of the time of sorting all paths. The files of a directory, which are often next to each other on
/// the disk, are read together.
pub(super) fn arrange(mut found: Found, overlaps: bool, large_first: bool) -> Inputs {
    found.directories.sort_unstable_by(|one, other| one.path.as_os_str().cmp(other.path.as_os_str()));
    let mut files: Vec<(Input, Identity)> = Vec::new();
    for same in found.directories.chunk_by_mut(|one, other| one.path == other.path) {
        let start = files.len();
        same.iter_mut().for_each(|directory| files.append(&mut directory.files));
        // Files that were named, and links that were followed, come apart from the others.
        if let (true, Some(files)) = (same.len() > 1, files.get_mut(start..)) {
            files.sort_by(|(one, _), (other, _)| one.path.as_os_str().cmp(other.path.as_os_str()));
        }
    }
    if overlaps {
        remove_repeated(&mut files);
    }
    let bytes = files.iter().map(|(input, _)| input.bytes).sum();
    let (mut inputs, others): (Vec<_>, Vec<_>) =
        files.into_iter().map(|(input, _)| input).partition(|input| large_first && input.bytes >= LARGE);
    inputs.sort_by_key(|input| Reverse(input.bytes));
    inputs.extend(others);
    found.failures.sort_unstable();
    found.failures.dedup();
    found.roots.sort_unstable();
    found.roots.dedup();
    let Found { failures, skipped, rule_faults, roots, undecided, .. } = found;
    Inputs { inputs, failures, skipped, unused_globs: Vec::new(), rule_faults, undecided, bytes, roots }
}

/// Keeps the first of several paths to the same file. Hard links are different files and stay. Only paths
/// with equal device and inode are compared, and a path is only dropped if its resolved path is the same,
/// too.
fn remove_repeated(files: &mut Vec<(Input, Identity)>) {
    let mut count: HashMap<Identity, u32> = HashMap::new();
    files.iter().for_each(|(_, identity)| *count.entry(*identity).or_default() += 1);
    let mut seen: HashSet<PathBuf> = HashSet::new();
    files.retain(|(input, identity)| {
        if count.get(identity).is_none_or(|&count| count < 2) {
            return true;
        }
        seen.insert(resolved(input))
    });
}

/// The path of an input without links, except that the input itself may be one.
fn resolved(input: &Input) -> PathBuf {
    let resolved = match (input.kind, input.path.parent(), input.path.file_name()) {
        (EntryKind::Link, Some(parent), Some(name)) => {
            std::fs::canonicalize(parent).map(|parent| parent.join(name))
        }
        _ => std::fs::canonicalize(&input.path),
    };
    resolved.unwrap_or_else(|_| input.path.clone())
}
