//! Options of scans of names and metadata.

use std::num::NonZeroU32;

use clap::Args;

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
    #[arg(long, value_name = "N")]
    pub max_ops: Option<NonZeroU32>,
    /// Be satisfied with sizes and times that a network file system has in its cache
    #[arg(long)]
    pub lazy: bool,
}
