//! Regular files of a walk or of a dump, sorted in bounded memory, whatever their number.
//!
//! In: files in any order, with their sizes and times. Out: the same files in the order of `order.rs` with
//! large files first, as often as wanted. [`collect_sorted`] lists what [`collect`](super::collect) lists,
//! and keeps at most the given memory; the rest is in temporary files without names.
//!
//! `file_record.rs` has the bytes of a file, `gather.rs` takes files, `repeated.rs` finds those that were
//! reached by two paths, and `sorted_inputs.rs` is the result.
//!
//! These grow with the input all the same: a list of paths (`--files-from`), directories that wait to be
//! walked, and with links that are followed, the links and two numbers for each directory.

mod file_record;
mod gather;
mod repeated;
mod sorted_inputs;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use super::filter::Filter;
use super::options::SourceOptions;
use super::walk::Walk;
use super::walk_found::Found;
use super::{GivenPaths, given_paths};
use crate::error::{Error, Result};
use crate::store::SortSpace;
pub use gather::InputSorter;
pub use sorted_inputs::{ListedFile, SortedInputs};

/// With more paths than this, it is not asked whether they lie within each other.
const MOST_GIVEN: usize = 1000;

/// Collects the regular files that `options` name, but for those at and below `left_out`. The options must
/// ask neither for other entries nor for metadata, and standard input is not among the files.
///
/// # Errors
/// Invalid globs, a list that cannot be read, a temporary file that cannot be written, and
/// [`Error::Cancelled`] if `cancel` was set.
pub fn collect_sorted(
    options: &SourceOptions,
    left_out: &Path,
    space: &SortSpace,
    cancel: &AtomicBool,
) -> Result<SortedInputs> {
    let filter = Filter::new(options)?;
    let GivenPaths { paths: given, failures } = given_paths(options, cancel)?;
    let overlap = options.follow_symlinks || may_overlap(&given);
    let sorter = InputSorter::new(left_out, space, overlap);
    let take = |found: &mut Found| sorter.take(found);
    let mut walk = Walk::new(&filter, options, cancel).handing_over(&take);
    walk.take_given(&given)?;
    let mut found = walk.into_found();
    found.failures.extend(failures);
    take(&mut found);
    if cancel.load(Ordering::Relaxed) {
        return Err(Error::Cancelled);
    }
    let mut sorted = sorter.finish(cancel)?;
    let Found { skipped, rule_faults, roots, .. } = found;
    (sorted.skipped, sorted.rule_faults, sorted.has_roots) = (skipped, rule_faults, !roots.is_empty());
    sorted.unused_globs = filter.unused();
    Ok(sorted)
}

/// True unless it is certain that no file is reached by two of the paths, as long as links are not followed.
fn may_overlap(given: &[(PathBuf, bool)]) -> bool {
    if given.len() > MOST_GIVEN {
        return true;
    }
    // What cannot be resolved cannot be walked either.
    let mut places: Vec<PathBuf> = given.iter().filter_map(|(path, _)| path.canonicalize().ok()).collect();
    // By components, so that what is below a path follows it.
    places.sort_unstable();
    places.windows(2).any(|pair| matches!(pair, [one, other] if other.starts_with(one)))
}
