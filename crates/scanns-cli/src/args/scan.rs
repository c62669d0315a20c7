//! Options of scans of names and metadata.

use std::num::NonZeroU32;

use clap::Args;

use super::values::operations;

/// How file systems are scanned with --content none.
#[derive(Debug, Args)]
#[command(next_help_heading = "Scans of names and metadata (--content none)")]
pub struct ScanArgs {
    /// Stay in the file systems of the given paths; subvolumes and bind mounts of the same file system belong
    /// to it
    #[arg(short = 'x', long)]
    pub one_file_system: bool,
    /// Also enter pseudo file systems below the given paths, such as /proc and /sys
    #[arg(long)]
    pub pseudo: bool,
    /// Also enter directories with snapshots of the file system, such as .snapshot and .zfs
    #[arg(long)]
    pub snapshots: bool,
    /// The maximum number of metadata operations per second, so that others can work: 5000 suits most servers
    #[arg(long, value_name = "N", value_parser = operations)]
    pub max_ops: Option<NonZeroU32>,
    /// Be satisfied with sizes and times that a network file system has in its cache
    #[arg(long)]
    pub lazy: bool,
    /// Also store the extended attributes user.* of entries: xattrs:climate and 'xattrs:"project=climate"'
    /// find user.project=climate. The first scan of an index decides, and later ones do the same. 4 KiB of a
    /// value are kept, and 32 KiB of all values of an entry
    #[arg(long)]
    pub xattrs: bool,
    /// Also store ACLs: 'acl:*user:1000:*' finds entries with an entry for this user. ACLs of POSIX are
    /// stored as getfacl --numeric prints them, those of NFSv4 in hexadecimal. The first scan of an index
    /// decides
    #[arg(long)]
    pub acl: bool,
    /// The first PATH, or - for standard input, is a list of what changed since the last update, and only
    /// these places are looked at; the other PATHs are directories that were scanned before [default: all].
    /// The format is found out where it is certain; otherwise name it: paths, paths0 (find -print0), zfs-diff
    /// (zfs diff -FHt), lustre (lfs changelog), scale-watch (events of a clustered watch as JSON)
    #[arg(long, value_name = "FORMAT", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "auto", conflicts_with_all = ["dump", "files_from", "follow", "gitignore"])]
    pub changes: Option<String>,
    /// The metadata target from which a changelog of Lustre comes, if there are several: the index remembers
    /// the last record of each, and notices if records are missing
    #[arg(long, value_name = "NAME", requires = "changes", default_value = "MDT0000")]
    pub mdt: String,
}
