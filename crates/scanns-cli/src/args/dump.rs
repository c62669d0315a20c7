//! Options about dumps of file systems.

use std::path::PathBuf;

use clap::Args;

use super::values::whole;

/// Dumps of file systems.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Dumps of file systems")]
pub struct DumpArgs {
    /// Each PATH is a dump of a file system, compressed or not, or - for standard input; every entry in it
    /// becomes a document. The format is found out where it is certain; otherwise name it: see scanns help
    /// dumps
    #[arg(long, value_name = "FORMAT", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "auto")]
    pub dump: Option<String>,
    /// Details of the format: the format string with which find, lfs find or rbh-find printed the dump, the
    /// columns of SHOW, a separator, a time zone, the delimiter of CSV; see scanns help dumps
    #[arg(long, value_name = "STRING", requires = "dump")]
    pub dump_format: Option<String>,
    /// The directory to which relative paths in the dump belong; documents below it that the dump does not
    /// list are deleted [default: the uppermost directories in the dump]
    #[arg(long, value_name = "DIR", requires = "dump")]
    pub dump_root: Option<PathBuf>,
    /// Which columns of a table fill which fields: FIELD=COLUMN[:CONVERSION], with commas between several, as
    /// in size=bytes,mtime=changed:epoch-ms,path=dir+name; FIELD= turns a field off. May be given several
    /// times [default: what the names of the columns and their first values say for certain]
    #[arg(long, value_name = "MAP", requires = "dump")]
    pub map: Vec<String>,
    /// The first row of a CSV file is data; columns are named by their numbers: --map path=#1
    #[arg(long, requires = "dump")]
    pub dump_no_header: bool,
    /// With --access: no file of the file system has an ACL, so that owners and modes decide who may see
    /// what. Dumps do not tell ACLs. The dump must list all directories up to /, and is read twice
    #[arg(long, requires = "dump")]
    pub dump_no_acls: bool,
    /// Print the first N entries of the dumps, and how the columns of tables are read, and index nothing
    #[arg(long, value_name = "N", requires = "dump", value_parser = whole::<u64>)]
    pub dump_preview: Option<u64>,
}

/// What `scanns help dumps` says.
pub const DUMPS_HELP: &str = r"
A dump lists the entries of a file system: their paths, and what the dump has of their type, size, dates,
owner and permissions. scanns index --dump makes a document of each entry without touching the file system:

  find /data -printf '%y\t%s\t%b\t%m\t%U\t%u\t%G\t%g\t%T@\t%A@\t%C@\t%i\t%n\t%D\t%l\0%p\0\n' > data.dump
  scanns index -o data.scanns --dump data.dump
  scanns search data.scanns 'ext:h5 size:>1GiB mtime:<now-1y' --sort size:desc

This format string is the recommended one: scanns knows it, and it is exact for all names, even for those with
line feeds. A later dump updates the index: changed entries are replaced, and entries below the uppermost
directories of the dump that it does not list are deleted. If rows cannot be read, or the dump has no end,
nothing is deleted. Rows that cannot be read are counted, and the first one is shown.

Formats, and what --dump-format says about them:
  find            GNU find -printf, any format string: --dump=find --dump-format '%p\t%s\t%T@\n'. Times are
                  seconds: %T@ %A@ %C@ %B@. A path that ends with \0 is exact; otherwise names that contain
                  the separator are guessed and counted
  lfs-find        lfs find --printf of Lustre, with %Lc (stripes), %Lp (pool), %LP (project), %W@ (birth)
  rbh-find        rbh-find -printf of Robinhood, whose times are written %Ts %As %Cs; rbh-find-escaped with
                  -escaped, which is exact for all names
  gufi, gufi-old  traces of GUFI; the separator, if it is not the usual one: --dump-format '|'
  policy          mmapplypolicy of Storage Scale, rule LIST; policy-escaped with ESCAPE '%', policy-records
                  with -I prepare; the columns of SHOW: --dump-format uid:gid:mode:size
  lester          lester or ne2scan of Lustre
  dwalk           dwalk of mpiFileUtils, version 3 or 4; dwalk-lite for its short text (-l)
  pwalk           pwalk, CSV of 17 columns
  ncdu            ncdu -o or gdu -o
  mlocate         mlocate.db; plocate for plocate.db: names alone
  mtree           mtree -c, bsdtar --format=mtree
  hdfs            hdfs oiv -p Delimited; the time zone of its machine: --dump-format +02:00
  paths, paths0   paths alone, ended by line feeds or NUL bytes
  csv, tsv, jsonl, parquet, arrow
                  a table with an entry a row; the delimiter of CSV: --dump-format ';'. See below
  s3-inventory    manifest.json of an S3 Inventory, whose parts lie next to it, as CSV or Parquet. In a part
                  alone, columns have numbers: --map path=#2:url,size=#6

Tables: the names of the columns and their first values say which fields they fill, where this is certain. The
map is shown before it is used, with the columns that are not used; --dump-preview 5 shows it and 5 entries,
and writes nothing. --map completes and overrides it: FIELD=COLUMN[:CONVERSION], with commas between:

  scanns index -o fs.scanns --dump=csv --map size=bytes,mtime=mod_time:epoch-ms,path=dir+name fs.csv

  fields          path type target owner group mtime atime ctime btime size blocks uid gid mode inode links
                  device stripes pool project; path=DIR+NAME joins columns, FIELD= turns a field off
  columns         their names, in JSON with dots between nested names, or #1 #2 …; \, \: \+ \# are ordinary
                  characters of a name
  times           epoch, epoch-ms, epoch-us, epoch-ns, iso (UTC unless there is an offset), iso:Europe/Berlin,
                  iso:+02:00, or a format of strptime such as %d.%m.%Y %H:%M
  sizes           bytes, k, blocks512, human (10K and 1.5 GiB are powers of 1024, kB is 1000)
  modes           octal, decimal, symbolic
  types           words (file, d, symlink, …), symbolic, is-directory
  texts           text, percent (%XX), url (%XX and +), base64
  numbers         decimal, hex

A value that cannot be read is counted by column, and its entry lacks it. A row without a path is a bad row.

  zstdcat fs.zst | scanns index -o fs.scanns --dump=find --dump-format '%p|%s|%U|%T@\n' -
  scanns index -o fs.scanns --dump --passwd passwd.txt --group group.txt other-machine.dump.gz
  ncdu -0 -e -o - /home | scanns index -o home.scanns --dump -";
