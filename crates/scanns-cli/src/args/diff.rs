//! Arguments of `scanns diff`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::values::whole;
use crate::units;

/// Arguments of `scanns diff`.
#[derive(Debug, Args)]
pub struct DiffArgs {
    /// The older index of a file system, or a dump, or - for a dump on standard input
    #[arg(value_name = "OLD")]
    pub old: PathBuf,
    /// The newer index of a file system, or a dump, or - for a dump on standard input
    #[arg(value_name = "NEW")]
    pub new: PathBuf,
    /// Show only these differences
    #[arg(long, value_name = "KIND,…", value_delimiter = ',')]
    pub only: Vec<DiffKindArg>,
    /// Do not compare these: type, size, mtime, ctime, mode, owner, group, uid, gid, links, target, inode,
    /// xattrs, acl
    #[arg(long, value_name = "FIELD,…", value_delimiter = ',')]
    pub ignore: Vec<String>,
    /// Compare the times of the last access, too
    #[arg(long)]
    pub atime: bool,
    /// Compare only what is at and below PATH
    #[arg(long, value_name = "PATH")]
    pub below: Option<OsString>,
    /// Compare the paths below this directory of OLD with those below --new-root
    #[arg(long, value_name = "DIR", requires = "new_root")]
    pub old_root: Option<OsString>,
    /// Compare the paths below this directory of NEW with those below --old-root
    #[arg(long, value_name = "DIR", requires = "old_root")]
    pub new_root: Option<OsString>,
    /// Show sums by directory, owner, group and extension instead of each difference
    #[arg(long)]
    pub summary: bool,
    /// Sum up directories that are at most N levels below the top of both trees, or below --below
    #[arg(long, value_name = "N", default_value = "2", requires = "summary", value_parser = whole::<usize>)]
    pub depth: usize,
    /// How differences are written [default: by the extension of FILE, or lines]; json and parquet replace
    /// invalid UTF-8 in names, and have the bytes beside them
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub format: Option<DiffOutputArg>,
    /// The file to write, which appears when it is complete; - for standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub output: PathBuf,
    /// End paths with NUL, leave them as they are, and leave out values
    #[arg(short = '0', long, conflicts_with_all = ["summary", "format"])]
    pub null: bool,
    /// The format of dumps, if it is not found out: see scanns help dumps
    #[arg(long, value_name = "FORMAT")]
    pub dump: Option<String>,
    /// Details of the format of dumps: see scanns help dumps
    #[arg(long, value_name = "STRING")]
    pub dump_format: Option<String>,
    /// Sort trees that need more memory in temporary files
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = units::parse_size)]
    pub memory: u64,
    /// The directory of temporary files [default: $TMPDIR or /tmp]
    #[arg(long, value_name = "DIR")]
    pub temporary: Option<PathBuf>,
}

/// What has happened to an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DiffKindArg {
    /// It is only in NEW
    Added,
    /// It is only in OLD
    Removed,
    /// It has another path
    Moved,
    /// It has other values
    Changed,
    /// It is in one of them, and the other one could not be read there or was not looked at
    Unseen,
}

/// How answers about files are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DiffFormatArg {
    /// For people
    Lines,
    /// A table with a header
    Csv,
    /// One JSON object per line
    #[value(alias = "jsonl")]
    Json,
}

/// How differences are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DiffOutputArg {
    /// For people
    Lines,
    /// A table with a header: .csv
    Csv,
    /// One JSON object per line: .jsonl, .json, .ndjson
    #[value(alias = "jsonl")]
    Json,
    /// Apache Parquet, with a row for each difference: .parquet
    Parquet,
}

impl DiffOutputArg {
    /// The format as text; `None` for Parquet.
    pub fn text(self) -> Option<DiffFormatArg> {
        match self {
            DiffOutputArg::Lines => Some(DiffFormatArg::Lines),
            DiffOutputArg::Csv => Some(DiffFormatArg::Csv),
            DiffOutputArg::Json => Some(DiffFormatArg::Json),
            DiffOutputArg::Parquet => None,
        }
    }
}

/// Examples for the help.
pub const DIFF_EXAMPLES: &str = r"Examples:
  scanns diff monday.scanns tuesday.scanns
      + /data/new.h5                        only in tuesday.scanns
      - /data/old.h5                        only in monday.scanns
      > /data/run -> /archive/run           moved; what moved along with a directory has no line
      M /data/log  size 10 -> 20, mtime …   changed
      ? /data/ann/x  not seen in NEW        it may still be there: /data/ann could not be read or was left out
  scanns diff monday.dump.gz tuesday.scanns --only removed --below /home
  scanns diff last-month.scanns fs.scanns --summary --depth 3
      which directories, owners, groups and kinds of files have grown or shrunk
  scanns diff a.scanns b.scanns --old-root /data --new-root /mnt/copy --ignore inode,ctime
      whether a copy is complete; equal content has an equal size and mtime
  scanns diff monday.scanns tuesday.scanns -o changes.parquet
      a row for each difference, for DuckDB, pandas or Spark: kind, path, old_path, type, sizes, dates, fields
  scanns diff a.scanns b.scanns --ignore ctime --only added,changed -0 | tr '\0' '\n'

OLD and NEW are indexes of file systems (scanns index --content none), or dumps. Nothing else is read: files
whose size, times and other values are equal are the same. A file has moved if its inode and kind are the
same and its time of birth, or else its size and mtime. Sizes and links of directories are not compared:
they follow from what is in them. Values that only one side has are not compared, and counted.
Exit codes are those of diff: 0 the same, 1 different, or something could not be read, 2 trouble, also if a
dump is cut off.";
