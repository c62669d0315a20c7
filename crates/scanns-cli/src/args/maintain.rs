//! What can be typed to change or prove an index that is there.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::OperatorArg;
use super::values::positive;

pub const DELETE_EXAMPLES: &str = "\
Examples:
  scanns delete docs.scanns /usr/share/doc/bash/README
      the document of a file, or all documents that are lines of it
  scanns delete fs.scanns dump.txt:17
      one line
  scanns delete docs.scanns --query 'draft obsolete' --default-operator and
      every document that a query matches
  find old/ -type f -print0 | scanns delete docs.scanns -0 --keys-from -
      the list comes from another program

Deleted documents are gone from answers and counts at once. Their space is freed when their segments are
merged.";

pub const UPDATE_EXAMPLES: &str = "\
Examples:
  scanns update shop.scanns --set stock=0 --query 'sku:A-17'
      one value of the documents that a query matches
  scanns update files.scanns --set owner_seen=true --set checked=2026-11-23 /archive/run7/out.h5
      two values of one document
  scanns update files.scanns --set expires= --keys-from kept.txt
      these documents have no value any more

Values of numbers, dates, true and false that are columns are changed in place, and seen from the commit
on: the documents are not indexed again, and what is written does not grow with the index. scanns info
NAME.scanns --fields shows the columns. Others are changed by indexing the document again.";

pub const MERGE_EXAMPLES: &str = "\
Examples:
  scanns merge docs.scanns
      one segment: searches are fastest, deleted documents take no space any more
  scanns merge docs.scanns --segments 8
      merges the smallest ones until there are eight
  scanns merge docs.scanns --rate 100MiB
      leaves most of the device to others

Needs as much free space as the segments that are merged take. Ctrl-C leaves the index as it was.";

pub const CHECK_EXAMPLES: &str = "\
Examples:
  scanns check docs.scanns
      every byte, every structure, every figure
  scanns check docs.scanns --level checksums
      every byte against its checksum, at the speed of the disk
  scanns check docs.scanns --salvage
      commits what is whole; the documents of damaged segments are lost and can be indexed again

Exit codes: 0 all is whole; 1 something is damaged, or was and has been left out.";

/// Which documents of an index.
#[derive(Debug, Args)]
pub struct WhichArgs {
    /// Keys as scanns search shows them: the path of a file, or a path, a colon and a line
    #[arg(value_name = "KEY", required_unless_present_any = ["keys_from", "query"])]
    pub keys: Vec<OsString>,
    /// Read keys from FILE as well, or from standard input if FILE is -
    #[arg(long, value_name = "FILE")]
    pub keys_from: Option<PathBuf>,
    /// Keys in the list end with a NUL byte, not with a line feed
    #[arg(short = '0', long, requires = "keys_from")]
    pub null: bool,
    /// The documents that this query matches
    #[arg(long, conflicts_with_all = ["keys", "keys_from"])]
    pub query: Option<String>,
    /// Whether a document must match any term of the query or all, where it does not say
    #[arg(long, value_enum, value_name = "OP", default_value = "or", requires = "query")]
    pub default_operator: OperatorArg,
}

/// Arguments of `scanns delete`.
#[derive(Debug, Args)]
pub struct DeleteArgs {
    /// The index
    #[arg(value_name = "NAME.scanns")]
    pub index: PathBuf,
    #[command(flatten)]
    pub which: WhichArgs,
    /// Report as one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `scanns update`.
#[derive(Debug, Args)]
pub struct UpdateArgs {
    /// The index
    #[arg(value_name = "NAME.scanns")]
    pub index: PathBuf,
    #[command(flatten)]
    pub which: WhichArgs,
    /// Give a field a value; several commas apart, or nothing behind the = to have none
    #[arg(long, value_name = "FIELD=VALUE", required = true, value_parser = assignment)]
    pub set: Vec<(String, Vec<String>)>,
    /// Report as one JSON object
    #[arg(long)]
    pub json: bool,
}

/// A field and the values that it gets.
fn assignment(text: &str) -> Result<(String, Vec<String>), String> {
    let (field, values) = text.split_once('=').ok_or("write a field, =, and a value: stars=5")?;
    let values = values.split(',').map(str::trim).filter(|value| !value.is_empty());
    Ok((field.trim().into(), values.map(String::from).collect()))
}

/// Arguments of `scanns merge`.
#[derive(Debug, Args)]
pub struct MergeArgs {
    /// The index
    #[arg(value_name = "NAME.scanns")]
    pub index: PathBuf,
    /// Merge until there are at most N segments
    #[arg(long, value_name = "N", default_value = "1", value_parser = positive)]
    pub segments: usize,
    /// Merge into one segment in which similar documents stand near each other
    ///
    /// Documents with the same terms get numbers near each other, found by recursive graph bisection. Then
    /// the lists of terms take fewer bytes, stored text is compressed better, and queries pass more of
    /// what they need not score. It pays for an index that is searched often and changed rarely, and
    /// whose documents came in no order. Where similar ones stand together already, as in a walk through
    /// directories, there is little to gain, and where the index would not get smaller, documents keep
    /// their order. Everything is decoded and written anew, which takes several times as long as a
    /// merge; Ctrl-C leaves the index as it was. Answers stay the same, but documents with equal scores may
    /// change places. What is indexed later is not in this order until the index is reordered again
    #[arg(long, conflicts_with = "segments")]
    pub reorder: bool,
    /// Most memory to reorder with [default: half of what the machine or its control group has]
    ///
    /// About 12 bytes for each posting (a document of a term) and 72 for each document are best. With less,
    /// consecutive stretches of documents that fit are reordered, each by itself, and gain less. Threads
    /// share more of the work if each doubling of them has 4 bytes more for each posting and 16 for each
    /// document; the order does not depend on that
    #[arg(long, value_name = "SIZE", value_parser = crate::units::parse_size, requires = "reorder")]
    pub memory: Option<u64>,
    /// Write at most this number of bytes per second [default: as many as possible]
    #[arg(long, value_name = "SIZE", value_parser = crate::units::parse_size)]
    pub rate: Option<u64>,
    /// Threads to merge terms with [default: all cores, up to 8]
    #[arg(long, value_name = "N", value_parser = positive)]
    pub threads: Option<usize>,
    /// Report as one JSON object
    #[arg(long)]
    pub json: bool,
    /// Print neither progress nor summary
    #[arg(short, long)]
    pub quiet: bool,
}

/// Arguments of `scanns check`.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// The index
    #[arg(value_name = "NAME.scanns")]
    pub index: PathBuf,
    /// How much to prove
    #[arg(long, value_enum, default_value = "all")]
    pub level: LevelArg,
    /// Commit what is whole, without the segments that are damaged
    #[arg(long)]
    pub salvage: bool,
    /// Report as one JSON object
    #[arg(long)]
    pub json: bool,
    /// Print no progress
    #[arg(short, long)]
    pub quiet: bool,
}

/// How much of an index to prove; each includes those before it.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum LevelArg {
    /// That the commit can be read and its files are there
    Manifest,
    /// Every byte against its checksum
    Checksums,
    /// That terms, postings and keys can be read and are in order
    Structure,
    /// That all figures follow from the postings
    All,
}
