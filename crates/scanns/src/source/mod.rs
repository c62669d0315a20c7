//! Which inputs exist: paths and lists in, a list of regular files with their sizes out, in reading order. On
//! request directories, links and special files are in the list too.
//!
//! No input is opened here, and no failure stops the walk: a path that cannot be read is counted, or listed
//! with its reason. Start with [`collect`]. `file_list.rs` reads lists of paths, `walk.rs` descends into
//! directories and `walk_found.rs` keeps what it finds, `filter.rs` matches globs, `ignore/` has the rules
//! of `.gitignore` files, and `order.rs` sorts files and removes duplicates; `sorted/` does so in bounded
//! memory. `absolute.rs` gives each file one path, however it was named, `sample.rs` chooses a few files to
//! look at, `look_again.rs` looks at files of an earlier list, and `listed_filter.rs` applies globs to
//! another one. `scan/` lists trees of any size with their metadata, and keeps nothing; it can also look at
//! chosen paths alone (`changed_paths.rs`), such as those at which something happened (`tree_watch.rs`).
//! `access/` says who may see an entry.

mod absolute;
pub(crate) mod access;
mod changed_paths;
mod entry;
mod entry_batch;
mod entry_kind;
mod file_list;
mod filter;
mod ignore;
mod inputs;
mod listed_filter;
mod look_again;
mod options;
mod order;
mod sample;
mod scan;
mod skipped;
mod sorted;
mod stamp;
mod tree_watch;
mod unlisted;
mod walk;
mod walk_found;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, Result};
pub use absolute::absolute;
pub use changed_paths::ChangedPaths;
pub use entry::{Entry, ancestors, is_at_or_below, is_below, nanoseconds};
pub use entry_batch::EntryBatch;
pub use entry_kind::EntryKind;
use filter::Filter;
pub use ignore::{DamagedPattern, IgnoreFaults, UnreadRules};
pub use inputs::{CLOCK_TICK, Failure, FileStatus, Input, Inputs, Root, fitting_date};
pub(crate) use listed_filter::ListedFilter;
pub use look_again::look_again;
pub use options::{FileList, ListFrom, Separator, SourceOptions};
pub use sample::{FileSample, sample_files};
pub use scan::{KnownPlace, Look, LookReport, ScanOptions, ScanReport, ScannedRoot, look, scan};
pub use skipped::Skipped;
pub(crate) use sorted::{InputSorter, ListedFile, SortedInputs, collect_sorted};
pub use stamp::Stamp;
pub use tree_watch::TreeWatch;
pub use unlisted::UnlistedDirectories;
use walk::Walk;

/// Collects the inputs that `options` name. All paths in the result are absolute, see [`absolute`].
///
/// # Errors
/// Invalid globs, a list that cannot be read, and [`Error::Cancelled`] if `cancel` was set. Failures of
/// single inputs are not errors; they are in [`Inputs::failures`].
pub fn collect(options: &SourceOptions, cancel: &AtomicBool) -> Result<Inputs> {
    let filter = Filter::new(options)?;
    let mut walk = Walk::new(&filter, options, cancel);
    let GivenPaths { paths: given, mut failures } = given_paths(options, cancel)?;
    let overlaps = given.len() > 1 || options.follow_symlinks;
    walk.take_given(&given)?;
    if cancel.load(Ordering::Relaxed) {
        return Err(Error::Cancelled);
    }
    let mut found = walk.into_found();
    found.failures.append(&mut failures);
    let mut inputs = order::arrange(found, overlaps, options.large_first);
    inputs.unused_globs = filter.unused();
    inputs.inputs.extend(options.paths.iter().find(|path| is_stream(path)).map(|_| Input::standard_input()));
    Ok(inputs)
}

fn is_stream(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The paths that options name.
struct GivenPaths {
    /// Absolute paths. The globs do not apply to one that is marked true.
    paths: Vec<(PathBuf, bool)>,
    /// Paths that cannot be made absolute.
    failures: Vec<Failure>,
}

fn given_paths(options: &SourceOptions, cancel: &AtomicBool) -> Result<GivenPaths> {
    let paths = options.paths.iter().filter(|path| !is_stream(path)).map(|path| (path.clone(), true));
    let listed = options.files_from.as_ref().map(|list| file_list::read_list(list, cancel));
    let listed = listed.transpose()?.unwrap_or_default();
    let mut failures = Vec::new();
    let given = paths.chain(listed.into_iter().map(|path| (path, false)));
    let given = given.filter_map(|(path, explicit)| match absolute(&path) {
        Ok(place) => Some((place, explicit)),
        Err(error) => {
            failures.push(Failure { path, reason: error.to_string() });
            None
        }
    });
    let paths = given.collect();
    Ok(GivenPaths { paths, failures })
}

#[cfg(test)]
mod tests;
