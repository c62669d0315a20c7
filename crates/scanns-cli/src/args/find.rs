//! Arguments of `scanns find`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use scanns::files::FindSort;

use super::access::AsUserArgs;
use super::values::whole;
use crate::units::parse_size;

/// Arguments of `scanns find`.
#[derive(Debug, Args)]
pub struct FindArgs {
    #[command(flatten)]
    pub as_user: AsUserArgs,
    /// Stop after this number of entries
    #[arg(long, value_name = "N", value_parser = whole::<u64>)]
    pub limit: Option<u64>,
    /// Sort the entries by path, name, depth, size, blocks, mtime, atime, ctime, btime, owner, group, uid,
    /// gid, inode or links, with :desc the greatest first; entries whose value is not known come last, and
    /// equal ones are in the order of their paths. With --limit, only the first entries are kept in memory
    #[arg(long, value_name = "VALUE[:desc]", value_parser = FindSort::parse)]
    pub sort: Option<FindSort>,
    /// Sort entries that need more memory in temporary files
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = parse_size, requires = "sort")]
    pub memory: u64,
    /// The directory of temporary files [default: $TMPDIR or /tmp]
    #[arg(long, value_name = "DIR", requires = "sort")]
    pub temporary: Option<PathBuf>,
    /// The index of a file system, from scanns index --content none or --dump
    #[arg(value_name = "INDEX")]
    pub index: PathBuf,
    /// Where to look, then what to look for, as in GNU find
    #[arg(value_name = "PATH… EXPRESSION", trailing_var_arg = true, allow_hyphen_values = true)]
    pub command: Vec<OsString>,
}

/// Examples for the help.
pub const FIND_EXAMPLES: &str = r"Examples:
  scanns find fs.scanns -name '*.h5' -size +1G
      all files of this name and size, in the whole index
  scanns find fs.scanns /data/lab -type f -mtime +365 -printf '%s %u %p\n'
      old files below a directory, with sizes and owners
  scanns find --sort size:desc --limit 20 fs.scanns /data -type f -ls
      the largest files
  scanns find fs.scanns /home -user ann -perm -o+w -ls
  scanns find fs.scanns /data -empty -print0 | xargs -0 ls -d
  scanns find docs.scanns -name '*.md' -content 'durable AND index'
      files whose text matches a query, too

The expression is GNU find's: tests (-name -path -regex -type -size -mtime -newer -user -perm -empty …),
operators ( ! -a -o , ) and actions (-print -print0 -printf -ls -fprint -prune -quit). What needs the files
themselves (-exec, -delete, -readable) is refused, with a pipe that does it. -content QUERY is an addition.
Entries are sorted as a walk with sorted names would find them; --sort sorts what the expression prints.";
