//! Arguments of `scanns du`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::access::AsUserArgs;
use super::values::whole;

/// Arguments of `scanns du`.
#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub struct DuArgs {
    /// The index of a file system, from scanns index --content none or --dump
    #[arg(value_name = "INDEX")]
    pub index: PathBuf,
    /// Files and directories in the index
    #[arg(value_name = "PATH", required = true)]
    pub paths: Vec<OsString>,
    #[command(flatten)]
    pub as_user: AsUserArgs,
    /// Write a line for files, too
    #[arg(short, long, conflicts_with = "summarize")]
    pub all: bool,
    /// Count sizes instead of the space on the medium
    #[arg(long)]
    pub apparent_size: bool,
    /// The unit of sums: 1K, 1M, 1G, 512, or K, M, G to print the unit, too
    #[arg(short = 'B', long, value_name = "SIZE")]
    pub block_size: Option<String>,
    /// Bytes: --apparent-size --block-size=1
    #[arg(short, long)]
    pub bytes: bool,
    /// Write a line for the sum of all paths
    #[arg(short = 'c', long)]
    pub total: bool,
    /// Write lines down to this depth only; 0 is the same as -s
    #[arg(short = 'd', long, value_name = "N", value_parser = whole::<usize>)]
    pub max_depth: Option<usize>,
    /// Leave out what matches this pattern of the shell, with what is below it; may be given several times
    #[arg(long, value_name = "PATTERN")]
    pub exclude: Vec<OsString>,
    /// Print sums such as 1.5K, 234M, 2G
    #[arg(short = 'h', long)]
    pub human_readable: bool,
    /// Like -h, with powers of 1000
    #[arg(long)]
    pub si: bool,
    /// Count entries instead of space
    #[arg(long)]
    pub inodes: bool,
    /// --block-size=1K
    #[arg(short)]
    pub k: bool,
    /// --block-size=1M
    #[arg(short)]
    pub m: bool,
    /// Count a file with several names once for each
    #[arg(short = 'l', long)]
    pub count_links: bool,
    /// End lines with NUL
    #[arg(short = '0', long)]
    pub null: bool,
    /// Do not follow links, which is always so
    #[arg(short = 'P', long)]
    pub no_dereference: bool,
    /// Leave the directories in a directory out of its sum
    #[arg(short = 'S', long)]
    pub separate_dirs: bool,
    /// Write one line for each path
    #[arg(short, long)]
    pub summarize: bool,
    /// Leave out sums below SIZE, or above it if it is negative
    #[arg(short, long, value_name = "SIZE", allow_hyphen_values = true)]
    pub threshold: Option<String>,
    /// Show the latest date of what is in each directory
    #[arg(long, value_name = "DATE", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "mtime")]
    pub time: Option<DuTimeArg>,
    /// Leave out other file systems
    #[arg(short = 'x', long)]
    pub one_file_system: bool,
    /// Sum up by this value instead of by directory, the greatest sum first
    #[arg(long, value_name = "VALUE")]
    #[arg(conflicts_with_all = ["all", "max_depth", "separate_dirs", "summarize", "time"])]
    pub by: Option<DuKeyArg>,
    /// Print help
    #[arg(long, action = clap::ArgAction::Help)]
    pub help: Option<bool>,
}

/// A date.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum DuTimeArg {
    /// The last modification
    Mtime,
    /// The last access
    #[value(alias = "access", alias = "use")]
    Atime,
    /// The last change of the status
    #[value(alias = "status")]
    Ctime,
}

/// What sums may be by.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum DuKeyArg {
    /// The owner
    Owner,
    /// The group
    Group,
    /// The extension of files, in lower case; what is not a file has none
    Ext,
    /// The time since the last modification, in classes
    Age,
    /// The type: file, directory, link and others
    Type,
}

/// Examples for the help.
pub const DU_EXAMPLES: &str = "\
Examples:
  scanns du fs.scanns -sh /data/lab /home
  scanns du fs.scanns -d 1 -h /data | sort -h
  scanns du fs.scanns --inodes -d 2 /data
  scanns du fs.scanns -a -t 1G --time /data/lab
  scanns du fs.scanns --by owner -h /data
  scanns du fs.scanns --by age --apparent-size -c /data/lab

The options are GNU du's, and the sums are those of GNU du 9.1, as of the time of the index: files with
several names count once, and directories come after what is in them, in the order of names. -h is for sizes
that people read; --help prints this.";
