//! Arguments of `scanns ls` and `scanns stat`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgAction, Args};

use super::access::AsUserArgs;

/// Examples for the help of `scanns ls`.
pub const LS_EXAMPLES: &str = r"Examples:
  scanns ls fs.scanns
      lists the uppermost directory of an index
  scanns ls fs.scanns -l /home/ann
      lists a directory with owners, sizes and dates, as they were when it was indexed
  scanns ls fs.scanns -lSrh /data/*.h5
      sorts files by their sizes, the largest last
  scanns ls fs.scanns -lR --time-style=+%F /data > listing.txt
      lists a tree
  scanns ls fs.scanns -A --zero /data | xargs -0 …

Options and output are those of GNU ls in the C locale, one entry a line. Names that begin with a dot are
hidden without -a or -A. A value that the index does not know is shown as ? and counted, and the exit code is
1. If a path is not in the index, the exit code is 2.";

/// Examples for the help of `scanns stat`.
pub const STAT_EXAMPLES: &str = r"Examples:
  scanns stat fs.scanns /data/run1.h5
      shows all that is known of a file, where that comes from, and how old it is
  scanns stat fs.scanns -c '%s %U %y' /data/run1.h5
      shows size, owner and modification
  scanns stat fs.scanns --printf '%n\0' /data/*.h5
  scanns stat fs.scanns --format json /data/run1.h5 | jq .scanned

Directives: %n name, %N quoted with the target of a link, %s size, %b blocks of %B bytes, %f mode in
hexadecimal, %F type, %a mode in octal, %A as letters, %u %U user, %g %G group, %i inode, %h links, %d %D
device (%Hd major, %Ld minor), %x %X access, %y %Y modification, %z %Z change, %w %W birth; small letters are
dates, capital ones seconds since 1970. Widths and flags are those of GNU stat.";

/// Arguments of `scanns ls`.
#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub struct LsArgs {
    /// The index of a file system, from scanns index --content none or --dump
    #[arg(value_name = "INDEX")]
    pub index: PathBuf,
    /// Files and directories in the index [default: the uppermost ones]
    #[arg(value_name = "PATH")]
    pub paths: Vec<OsString>,
    #[command(flatten)]
    pub as_user: AsUserArgs,
    /// List names that begin with a dot, and . and ..
    #[arg(short, long)]
    pub all: bool,
    /// List names that begin with a dot, but not . and ..
    #[arg(short = 'A', long)]
    pub almost_all: bool,
    /// Use the date of the last change of the status: show it with -l, sort by it with -t or without -l
    #[arg(short = 'c', overrides_with = "access")]
    pub status: bool,
    /// List directories themselves, not what is in them
    #[arg(short, long)]
    pub directory: bool,
    /// Mark names with one of */=@| for their type
    #[arg(short = 'F', long)]
    pub classify: bool,
    /// With -l or -s, print sizes such as 1.5K, 234M, 2G
    #[arg(short = 'h', long)]
    pub human_readable: bool,
    /// Print the inode before each name
    #[arg(short, long)]
    pub inode: bool,
    /// Print mode, links, owner, group, size and date, too
    #[arg(short = 'l')]
    pub long: bool,
    /// Like -l, with numbers instead of the names of owners
    #[arg(short, long)]
    pub numeric_uid_gid: bool,
    /// Mark directories with a slash
    #[arg(short = 'p')]
    pub slash: bool,
    /// List directories in directories, too
    #[arg(short = 'R', long)]
    pub recursive: bool,
    /// Reverse the order
    #[arg(short, long)]
    pub reverse: bool,
    /// Print the space before each name, in KiB
    #[arg(short, long)]
    pub size: bool,
    /// Sort by size, the largest first
    #[arg(short = 'S', overrides_with_all = ["by_time", "unsorted", "by_extension", "by_version"])]
    pub by_size: bool,
    /// Sort by the date of the modification, the latest first
    #[arg(short = 't', overrides_with_all = ["by_size", "unsorted", "by_extension", "by_version"])]
    pub by_time: bool,
    /// How to print dates: locale, long-iso, full-iso, iso, or +FORMAT as in date
    #[arg(long, value_name = "STYLE", default_value = "locale")]
    pub time_style: String,
    /// Use the date of the last access: show it with -l, sort by it with -t or without -l
    #[arg(short = 'u', overrides_with = "status")]
    pub access: bool,
    /// Do not sort
    #[arg(short = 'U', overrides_with_all = ["by_size", "by_time", "by_extension", "by_version"])]
    pub unsorted: bool,
    /// Sort by name with numbers in it by their values: run9 before run10
    #[arg(short = 'v', overrides_with_all = ["by_size", "by_time", "unsorted", "by_extension"])]
    pub by_version: bool,
    /// Sort by extension, then by name
    #[arg(short = 'X', overrides_with_all = ["by_size", "by_time", "unsorted", "by_version"])]
    pub by_extension: bool,
    /// One entry on a line, which is always so
    #[arg(short = '1')]
    pub one: bool,
    /// End lines with NUL
    #[arg(short = '0', long)]
    pub zero: bool,
    /// Print help
    #[arg(long, action = ArgAction::Help)]
    pub help: Option<bool>,
}

/// Arguments of `scanns stat`.
#[derive(Debug, Args)]
pub struct StatArgs {
    /// The index of a file system, from scanns index --content none or --dump
    #[arg(value_name = "INDEX")]
    pub index: PathBuf,
    /// Files and directories in the index
    #[arg(value_name = "PATH", required = true)]
    pub paths: Vec<OsString>,
    #[command(flatten)]
    pub as_user: AsUserArgs,
    /// Print this format for each path, and a line feed; json prints an object for each
    #[arg(short = 'c', long, value_name = "FORMAT", conflicts_with = "printf")]
    pub format: Option<OsString>,
    /// Like -c, with escapes such as \n and \0, and without a line feed
    #[arg(long, value_name = "FORMAT")]
    pub printf: Option<OsString>,
}
