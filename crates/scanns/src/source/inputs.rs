//! The results of a walk: inputs, and failures. `entry_kind.rs` has the kinds of inputs.

use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Duration;

use crate::schema::format_date;
use crate::source::entry::Entry;
use crate::source::entry_kind::EntryKind;
use crate::source::ignore::IgnoreFaults;
use crate::source::skipped::Skipped;
use crate::source::stamp::Stamp;
use crate::sys::{PERMISSIONS, ReadIdentity, now};

/// The name of standard input, before the time. Files have absolute paths.
const STREAM: &str = "stdin@";

/// One regular file to index, another entry of a directory, or standard input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Input {
    /// The path under which it was found.
    pub path: PathBuf,
    /// What it is. Only regular files have text.
    pub kind: EntryKind,
    /// Size in bytes when it was found; 0 of entries that are not regular files, whose size is in `status`.
    pub bytes: u64,
    /// The time of the last modification, in nanoseconds since 1970. A time before 1677-09-21 or after
    /// 2262-04-11 is `i64::MIN` or `i64::MAX`.
    pub modified: i64,
    /// More metadata of the file, if [`SourceOptions::status`](super::SourceOptions::status) is set.
    pub status: Option<Box<FileStatus>>,
}

/// Metadata of a file, in addition to its size and time of modification.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileStatus {
    /// The time of the last access, in nanoseconds since 1970.
    pub accessed: i64,
    /// The time of the last change of the file or its metadata, in nanoseconds since 1970.
    pub changed: i64,
    /// The time at which the file was created (its birth), in nanoseconds since 1970, where the file system
    /// knows it.
    pub created: Option<i64>,
    /// Its size in bytes, of links the length of their target.
    pub size: u64,
    /// The space that it takes, in blocks of 512 bytes.
    pub blocks: u64,
    /// The target of a symbolic link, as it stands in the link.
    pub target: Option<PathBuf>,
    /// The number of the file in its file system (inode).
    pub inode: u64,
    /// The number of names (hard links).
    pub links: u64,
    /// The device of the file system.
    pub device: u64,
    /// The user id of the owner.
    pub uid: u32,
    /// The group id.
    pub gid: u32,
    /// The type and the permissions.
    pub mode: u32,
    /// The text of its access class, if [`SourceOptions::access`](super::SourceOptions::access) is set.
    pub access: Option<Box<[u8]>>,
}

impl FileStatus {
    /// What tells the file from others.
    pub(crate) fn identity(&self) -> ReadIdentity {
        let FileStatus { device, inode, changed, uid, gid, mode, .. } = *self;
        ReadIdentity { device, inode, changed, uid, gid, mode: mode & PERMISSIONS }
    }
}

impl Input {
    /// Standard input, under a name of its own, so that its documents replace no others.
    pub(super) fn standard_input() -> Self {
        let modified = now();
        let path = format!("{STREAM}{}", format_date(modified)).into();
        Input { path, kind: EntryKind::File, bytes: 0, modified, status: None }
    }

    /// True for standard input, which can be read only once, and whose size is unknown.
    pub fn is_stream(&self) -> bool {
        self.path.as_os_str().as_bytes().starts_with(STREAM.as_bytes())
    }

    /// The bytes of its path.
    pub(crate) fn key(&self) -> &[u8] {
        self.path.as_os_str().as_bytes()
    }

    /// What is known of it as an entry of a file system.
    pub(crate) fn entry(&self) -> Entry<'_> {
        let found =
            Entry { path: self.key(), kind: Some(self.kind), mtime: Some(self.modified), ..Entry::default() };
        let Some(status) = &self.status else { return found };
        let FileStatus { accessed, changed, created, size, blocks, inode, links, device, .. } = **status;
        Entry {
            target: status.target.as_ref().map(|target| target.as_os_str().as_bytes()),
            atime: Some(accessed),
            ctime: Some(changed),
            btime: created,
            size: Some(size),
            blocks: Some(blocks),
            uid: Some(status.uid),
            gid: Some(status.gid),
            mode: Some(status.mode),
            inode: Some(inode),
            links: Some(links),
            device: Some(device),
            access: status.access.as_deref(),
            ..found
        }
    }

    /// The stamp of the file when it was found.
    pub fn stamp(&self) -> Stamp {
        Stamp { bytes: self.bytes, modified: self.modified }
    }
}

/// An input that could not be read, with the reason.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Failure {
    /// The path under which it was found or given.
    pub path: PathBuf,
    /// The reason, as text.
    pub reason: String,
}

/// A time of an input as a date; `None` for a time that no date can hold, see [`Input::modified`].
pub fn fitting_date(time: i64) -> Option<i64> {
    (time > i64::MIN && time < i64::MAX).then_some(time)
}

impl FileStatus {
    /// Bytes of memory that it takes.
    pub(crate) fn bytes(&self) -> usize {
        let target = self.target.as_ref().map_or(0, |target| target.as_os_str().len());
        size_of::<FileStatus>() + target + self.access.as_ref().map_or(0, |access| access.len())
    }
}

/// A clock of a file system stands still for at most this many nanoseconds.
pub const CLOCK_TICK: i64 = 20_000_000;

/// The inputs of a build.
#[derive(Debug, Default)]
pub struct Inputs {
    /// Large files by descending size; then all other files, by directory and path.
    pub inputs: Vec<Input>,
    /// Inputs that could not be read, by path.
    pub failures: Vec<Failure>,
    /// Entries that were skipped on purpose: those that the globs and the rules of `.gitignore` files exclude
    /// (an excluded directory counts once), and special files and symbolic links if
    /// [`SourceOptions::entries`](super::SourceOptions::entries) is not set.
    pub skipped: u64,
    /// Globs that included or excluded nothing.
    pub unused_globs: Vec<String>,
    /// What was wrong with the rules of `.gitignore` files.
    pub rule_faults: IgnoreFaults,
    /// Inputs of which it cannot be decided who may see them, if access classes were wanted.
    pub undecided: Skipped,
    /// The total size of all inputs.
    pub bytes: u64,
    /// The directories that the options name, by path.
    pub roots: Vec<Root>,
}

impl Inputs {
    /// Waits until the clock of file systems has gone on since the last change of an input, for at most
    /// [`CLOCK_TICK`]. A file that is written to after it was read has another time then.
    pub(crate) fn wait_for_clock(&self) {
        let time = |input: &Input| input.status.as_ref().map_or(input.modified, |status| status.changed);
        let now = now();
        let files = self.inputs.iter().filter(|input| !input.is_stream());
        wait_for_clock(files.map(time).filter(|&time| time <= now).max().unwrap_or(i64::MIN));
    }
}

/// Waits until the clock of file systems has gone on since the time `last`, for at most [`CLOCK_TICK`].
pub(super) fn wait_for_clock(last: i64) {
    let rest = last.saturating_add(CLOCK_TICK).saturating_sub(now());
    std::thread::sleep(Duration::from_nanos(u64::try_from(rest).unwrap_or(0)));
}

/// A directory that the options name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Root {
    /// Its path.
    pub path: PathBuf,
    /// True for a directory without entries, as the place of a file system that is not mounted.
    pub is_empty: bool,
}
