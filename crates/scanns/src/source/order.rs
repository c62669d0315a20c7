//! The order in which inputs are read, and removal of what was reached by two paths.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use crate::source::inputs::{Input, Inputs};
use crate::source::walk::{Found, Identity};

/// Files from this size on are read first, largest first, so that none is left for one thread at the end.
const LARGE: u64 = 4 << 20;

/// Puts everything in order; `overlaps` says that a file may have been reached twice.
///
/// Directories are sorted, and so is each one's content already: a tenth of the time that sorting all paths
/// would take, and files of a directory, which tend to lie together on the disk, are read together.
pub(super) fn arrange(mut found: Found, overlaps: bool) -> Inputs {
    found.directories.sort_unstable_by(|a, b| {
        let first = |files: &[(Input, Identity)]| files.first().map(|file| file.0.path.clone());
        let by_path = a.path.as_os_str().cmp(b.path.as_os_str());
        by_path.then_with(|| first(&a.files).cmp(&first(&b.files)))
    });
    let mut files: Vec<_> = found.directories.into_iter().flat_map(|directory| directory.files).collect();
    if overlaps {
        remove_repeated(&mut files);
    }
    let bytes = files.iter().map(|(input, _)| input.bytes).sum();
    let (mut inputs, others): (Vec<_>, Vec<_>) =
        files.into_iter().map(|(input, _)| input).partition(|input| input.bytes >= LARGE);
    inputs.sort_by_key(|input| Reverse(input.bytes));
    inputs.extend(others);
    found.failures.sort_unstable();
    found.failures.dedup();
    Inputs { inputs, failures: found.failures, skipped: found.skipped, bytes }
}

/// Keeps the first of several paths to the same place. Hard links are different places and stay: only paths
/// that agree in device and inode are looked at, and of those only the ones whose resolved path is the same
/// are dropped.
fn remove_repeated(files: &mut Vec<(Input, Identity)>) {
    let mut count: HashMap<Identity, u32> = HashMap::new();
    files.iter().for_each(|(_, identity)| *count.entry(*identity).or_default() += 1);
    let mut seen: HashSet<PathBuf> = HashSet::new();
    files.retain(|(input, identity)| {
        if count.get(identity).is_none_or(|&count| count < 2) {
            return true;
        }
        seen.insert(std::fs::canonicalize(&input.path).unwrap_or_else(|_| input.path.clone()))
    });
}
