//! Options of a scan.

use std::num::NonZeroU32;
use std::path::PathBuf;

/// What a scan lists, and how hard it may work.
#[derive(Clone, Debug)]
pub struct ScanOptions {
    /// Files and directories. The globs do not apply to them, and symbolic links among them are followed.
    pub paths: Vec<PathBuf>,
    /// Whether to follow symbolic links in directories. A scan then remembers the directories and links that
    /// it met; otherwise its memory does not grow with the tree.
    pub follow_symlinks: bool,
    /// A directory that is neither listed nor entered, under whatever path it is met.
    pub leave_out: Option<PathBuf>,
    /// Globs of which an entry must match one, by its path or its name, unless it is a directory: directories
    /// are listed and entered. If empty, every entry is listed.
    pub include: Vec<String>,
    /// Globs that exclude entries and whole directories, by path or name.
    pub exclude: Vec<String>,
    /// Whether to skip files and directories whose names begin with a dot.
    pub skip_hidden: bool,
    /// Whether to leave out what `.gitignore` files, `.git/info/exclude` and the user's file of ignored names
    /// leave out, and `.git`.
    pub gitignore: bool,
    /// Whether to stay in the file systems of the named paths. A directory is in the same file system if its
    /// device or its mount is the same: subvolumes of btrfs and bind mounts of the same file system are
    /// entered.
    pub one_file_system: bool,
    /// Whether to enter pseudo file systems, such as `/proc`, that are not named.
    pub pseudo: bool,
    /// Whether to enter directories with snapshots of the file system, such as `.zfs`, that are not named.
    pub snapshots: bool,
    /// The number of threads. On network file systems, more threads than processors hide the latency.
    pub threads: usize,
    /// The maximum number of metadata operations per second, of all threads together.
    pub max_operations: Option<NonZeroU32>,
    /// Whether values from a cache are good enough (`AT_STATX_DONT_SYNC`): network file systems then ask no
    /// other servers, and sizes and times may be old.
    pub lazy: bool,
    /// Whether to read the extended attributes `user.*`.
    pub xattrs: bool,
    /// Whether to read ACLs.
    pub acl: bool,
    /// Whether to find the access classes of entries: then the directories that the index covers so far, in
    /// the uppermost of which a walk begins.
    pub access: Option<Vec<PathBuf>>,
}

impl Default for ScanOptions {
    fn default() -> Self {
        ScanOptions {
            paths: Vec::new(),
            follow_symlinks: false,
            leave_out: None,
            include: Vec::new(),
            exclude: Vec::new(),
            skip_hidden: false,
            gitignore: false,
            one_file_system: false,
            pseudo: false,
            snapshots: false,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            max_operations: None,
            lazy: false,
            xattrs: false,
            acl: false,
            access: None,
        }
    }
}
