//! Which inputs exist: paths and lists in, a list of regular files with their sizes out, in reading order.
//!
//! Nothing here opens a file that is to be indexed, and no fault in the tree stops the walk: what cannot be
//! taken is counted or listed with its reason. Start with [`collect`]; `file_list.rs` understands what the
//! user named, `walk.rs` descends into directories, `filter.rs` holds the globs, `order.rs` sorts and removes
//! what was reached twice.

mod file_list;
mod filter;
mod order;
mod walk;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, Result};
use filter::Filter;
use walk::Walk;

/// One regular file to index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// The path under which it was found.
    pub path: PathBuf,
    /// Size in bytes when it was found.
    pub bytes: u64,
    /// When it was modified last, in nanoseconds since 1970.
    pub modified: i64,
    /// What else the file system said of it, if that was asked for.
    pub status: Option<Box<FileStatus>>,
}

/// What a file system says of a file, beside its size and when it was modified.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileStatus {
    /// When it was read last, in nanoseconds since 1970.
    pub accessed: i64,
    /// When anything of it was changed last, in nanoseconds since 1970.
    pub changed: i64,
    /// Its number in the file system.
    pub inode: u64,
    /// How many names it has.
    pub links: u64,
    /// The file system.
    pub device: u64,
    /// Its owner.
    pub uid: u32,
    /// Its group.
    pub gid: u32,
    /// Its kind and permissions.
    pub mode: u32,
}

/// What tells whether a file changed since it was indexed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// Its size in bytes.
    pub bytes: u64,
    /// When it was modified last, in nanoseconds since 1970.
    pub modified: i64,
}

impl Input {
    /// What the file was like when it was found.
    pub fn stamp(&self) -> Stamp {
        Stamp { bytes: self.bytes, modified: self.modified }
    }
}

/// An input that could not be taken, and why.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Failure {
    /// The path under which it was found or given.
    pub path: PathBuf,
    /// The reason in words.
    pub reason: String,
}

/// Where a list of paths comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListFrom {
    /// A file.
    Path(PathBuf),
    /// Standard input.
    Stdin,
}

/// What stands between the paths of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Separator {
    /// NUL if the list contains a NUL byte, line feeds otherwise.
    Auto,
    /// Line feeds.
    Newline,
    /// NUL bytes, as `find -print0` writes.
    Nul,
}

/// A list of paths to take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileList {
    /// Where it is read from.
    pub from: ListFrom,
    /// How its paths are separated.
    pub separator: Separator,
}

/// What to collect.
#[derive(Clone, Debug)]
pub struct SourceOptions {
    /// Files and directories; taken whatever the globs say, symbolic links among them followed.
    pub paths: Vec<PathBuf>,
    /// More files and directories; subject to the globs.
    pub files_from: Option<FileList>,
    /// Follow symbolic links found in directories.
    pub follow_symlinks: bool,
    /// Globs of which a file must match one, by its path or its name; empty: every file.
    pub include: Vec<String>,
    /// Globs that leave out files and whole directories, by path or name.
    pub exclude: Vec<String>,
    /// Leave out files and directories whose name begins with a dot.
    pub skip_hidden: bool,
    /// Keep what file systems say of files, for [`Input::status`].
    pub status: bool,
    /// Threads that walk.
    pub threads: usize,
}

impl Default for SourceOptions {
    fn default() -> Self {
        SourceOptions {
            paths: Vec::new(),
            files_from: None,
            follow_symlinks: false,
            include: Vec::new(),
            exclude: Vec::new(),
            skip_hidden: false,
            status: false,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}

/// What was found.
#[derive(Debug, Default)]
pub struct Inputs {
    /// Large files first, largest of them first; then all others, each directory's together, by path.
    pub inputs: Vec<Input>,
    /// What could not be taken, by path.
    pub failures: Vec<Failure>,
    /// What was left out on purpose: special files, symbolic links not followed, what the globs exclude (an
    /// excluded directory counts once).
    pub skipped: u64,
    /// Sum of all inputs' sizes.
    pub bytes: u64,
}

/// Collects the inputs that `options` name.
///
/// # Errors
/// Globs that do not parse, a list that cannot be read, [`Error::Cancelled`] after `cancel` was set. Faults
/// of single inputs are no errors; they are in [`Inputs::failures`].
pub fn collect(options: &SourceOptions, cancel: &AtomicBool) -> Result<Inputs> {
    let filter = Filter::new(options)?;
    let mut walk = Walk::new(&filter, options, cancel);
    let paths = options.paths.iter().map(|path| (path.clone(), true));
    let listed = options.files_from.as_ref().map(file_list::read_list).transpose()?.unwrap_or_default();
    let given = paths.chain(listed.into_iter().map(|path| (path, false))).collect::<Vec<_>>();
    let overlaps = given.len() > 1 || options.follow_symlinks;
    walk.take_given(&given)?;
    if cancel.load(Ordering::Relaxed) {
        return Err(Error::Cancelled);
    }
    Ok(order::arrange(walk.into_found(), overlaps))
}

#[cfg(test)]
mod tests;
