//! Arguments of `scanns dump`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::units::parse_size;

/// Examples for the help.
pub const DUMP_EXAMPLES: &str = r"Examples:
  scanns dump fs.scanns /home --format ncdu | ncdu -f -
      browses a directory as it was when it was indexed; gdu -f loads the same file
  scanns dump fs.scanns -o fs.dump
      writes all entries as find prints them; scanns index --dump fs.dump reads them back
  scanns dump fs.scanns --format find --dump-format '%p\0' | xargs -0 …
      prints what find -printf would print
  scanns dump fs.scanns /data --format paths0 --relative-to /data --where 'mtime:>now-1d' \
      | rsync -a --from0 --files-from=- /data backup:/data
      copies what changed within a day
  scanns dump fs.scanns --format gufi -o fs.trace
      writes a trace for gufi_trace2index

Formats:
  find     the format string of find that loses nothing, see scanns help dumps, or --dump-format STRING
  gufi     a trace of GUFI in its new format: whole seconds, no names of owners
  ncdu     JSON of ncdu with owners, modes and dates (-e): whole seconds, no targets of links
  paths    paths, each on a line
  paths0   paths, each ended by a NUL byte, for xargs -0, rsync --from0 and all names

Tables of columns (CSV, JSON lines, Arrow, Parquet) come from scanns export. scanns help dumps lists the
formats that can be indexed. Directories that a format needs are added. What a format has and the index does
not know is counted and told, and the exit code is 1.";

/// Arguments of `scanns dump`.
#[derive(Debug, Args)]
pub struct DumpOutArgs {
    /// The index of a file system, from scanns index --content none or --dump
    #[arg(value_name = "INDEX")]
    pub index: PathBuf,
    /// Files and directories in the index; directories with everything below them [default: all]
    #[arg(value_name = "PATH")]
    pub paths: Vec<OsString>,
    /// The format
    #[arg(long, value_enum, default_value = "find")]
    pub format: DumpOutFormat,
    /// The format string of find -printf, or the separator of GUFI
    #[arg(long, value_name = "STRING")]
    pub dump_format: Option<OsString>,
    /// The file to write; it gets its name when it is complete. - is standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub output: PathBuf,
    /// Only entries that match a query, as in scanns search; directories around them are added where the
    /// format needs them
    #[arg(long = "where", value_name = "QUERY")]
    pub query: Option<String>,
    /// Write paths relative to DIR, and leave others out: for paths, paths0 and gufi
    #[arg(long, value_name = "DIR")]
    pub relative_to: Option<OsString>,
    /// Maximum memory for sorting; more entries are sorted in temporary files next to FILE, or in $TMPDIR
    /// for standard output
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = parse_size)]
    pub memory: u64,
}

/// A format of another tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DumpOutFormat {
    /// find -printf
    Find,
    /// A trace of GUFI
    Gufi,
    /// JSON of ncdu
    Ncdu,
    /// Lines of paths
    Paths,
    /// Paths with NUL bytes
    Paths0,
}
