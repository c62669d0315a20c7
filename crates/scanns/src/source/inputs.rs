//! What a walk finds.

use std::path::PathBuf;

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
