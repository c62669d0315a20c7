//! Arguments of the verbs that change or verify an existing index.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::OperatorArg;
use super::values::positive;
use scanns::index::CheckLevel;

pub const DELETE_EXAMPLES: &str = "\
Examples:
  scanns delete docs.scanns /usr/share/doc/bash/README
      deletes the document of a file, or the documents of all its lines
  scanns delete fs.scanns dump.txt:17
      deletes the document of one line
  scanns delete docs.scanns --query 'draft obsolete' --default-operator and
      deletes every document that matches a query
  scanns delete docs.scanns --dry-run ~/old
      says how many documents below a directory would be deleted, and some of them
  find old/ -type f -print0 | scanns delete docs.scanns -0 --keys-from -
      takes the list of keys from another program

Deleted documents disappear from answers and counts at once. Their space is freed when their segments are
merged.";

pub const UPDATE_EXAMPLES: &str = "\
Examples:
  scanns update shop.scanns --set stock=0 --query 'sku:A-17'
      changes one value of the documents that match a query
  scanns update files.scanns --set owner_seen=true --set checked=2026-11-23 /archive/run7/out.h5
      changes two values of one document
  scanns update files.scanns --set expires= --keys-from kept.txt
      removes the values of a field from these documents

Columns of numbers, dates and booleans are changed in place, and the change is visible after the commit:
documents are not indexed again, and the bytes written do not grow with the index. scanns info NAME.scanns
--fields lists the columns. To change other values, index the document again.";

pub const MERGE_EXAMPLES: &str = "\
Examples:
  scanns merge docs.scanns
      merges all segments into one: searches are fastest, and deleted documents take no space
  scanns merge docs.scanns --segments 8
      merges the smallest segments until eight are left
  scanns merge docs.scanns --rate 100MiB
      limits the rate, and leaves the rest of the device to other programs

Merging needs as much free space as the merged segments take. Ctrl-C leaves the index as it was.";

pub const CHECK_EXAMPLES: &str = "\
Examples:
  scanns check docs.scanns
      checks every byte, every structure and every figure
  scanns check docs.scanns --level checksums
      checks every byte against its checksum, at the speed of the disk
  scanns check docs.scanns --salvage
      commits the intact segments; the documents of damaged segments are lost and can be indexed again

Exit codes: 0 the index is intact; 1 something is damaged, or was removed because it was damaged.";

/// Which documents to select.
#[derive(Debug, Args)]
pub struct WhichArgs {
    /// Keys, as scanns search prints them: the path of a file, or a path, a colon and a line number. A
    /// directory selects all files below it. Relative paths are those from the current directory
    #[arg(value_name = "KEY", required_unless_present_any = ["keys_from", "query"])]
    pub keys: Vec<OsString>,
    /// Also read keys from FILE, or from standard input if FILE is -
    #[arg(long, value_name = "FILE")]
    pub keys_from: Option<PathBuf>,
    /// Keys in the list end with NUL bytes instead of line feeds
    #[arg(short = '0', long, requires = "keys_from")]
    pub null: bool,
    /// Select the documents that match this query
    #[arg(long, conflicts_with_all = ["keys", "keys_from"])]
    pub query: Option<String>,
    /// How to combine words without an operator between them
    #[arg(long, value_enum, value_name = "OP", default_value = "or", requires = "query")]
    pub default_operator: OperatorArg,
}

/// What to do before documents are deleted or changed.
#[derive(Debug, Args)]
pub struct CareArgs {
    /// Change nothing; print the number of the selected documents, and some of their keys
    #[arg(short = 'n', long)]
    pub dry_run: bool,
    /// Do not ask
    ///
    /// On a terminal, scanns asks if a query selects more than 1,000 documents or a tenth of the index. It
    /// does not ask in scripts, where standard input or standard error is not a terminal
    #[arg(short, long)]
    pub yes: bool,
}

/// Arguments of `scanns delete`.
#[derive(Debug, Args)]
pub struct DeleteArgs {
    /// The index
    #[arg(value_name = "NAME.scanns")]
    pub index: PathBuf,
    #[command(flatten)]
    pub which: WhichArgs,
    #[command(flatten)]
    pub care: CareArgs,
    /// Print the report as one JSON object
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
    #[command(flatten)]
    pub care: CareArgs,
    /// Set the value of a field; separate several values by commas, and write none to remove the value
    #[arg(long, value_name = "FIELD=VALUE", required = true, value_parser = assignment)]
    pub set: Vec<(String, Vec<String>)>,
    /// Print the report as one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Parses a field and its new values.
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
    /// Merge into one segment, with similar documents next to each other
    ///
    /// Recursive graph bisection gives close numbers to documents with the same terms. The lists of terms
    /// then take fewer bytes, stored text compresses better, and queries skip more documents without
    /// scoring them. This pays if the index is searched often and changed rarely, and if its documents
    /// came in no particular order. There is little to gain if similar documents are already together, as
    /// after a walk through directories. If the index would not get smaller, documents keep their order.
    /// Everything is decoded and written again, which takes several times as long as a merge; Ctrl-C leaves
    /// the index as it was. Answers stay the same, but documents with equal scores may change places.
    /// Documents that are indexed later are not in this order until the index is reordered again
    #[arg(long, conflicts_with = "segments")]
    pub reorder: bool,
    /// Maximum memory for --reorder [default: half of the memory of the machine or its control group]
    ///
    /// The best value is about 12 bytes for each posting (a document of a term) and 72 bytes for each
    /// document. With less memory, consecutive stretches of documents are reordered separately, which saves
    /// less space. With another 4 bytes for each posting and 16 bytes for each document per doubling of
    /// threads, threads share more of the work; this does not change the order
    #[arg(long, value_name = "SIZE", value_parser = crate::units::parse_size, requires = "reorder")]
    pub memory: Option<u64>,
    /// Maximum number of bytes to write per second [default: unlimited]
    #[arg(long, value_name = "SIZE", value_parser = crate::units::parse_size)]
    pub rate: Option<u64>,
    /// Number of threads that merge terms [default: all cores, up to 8]
    #[arg(long, value_name = "N", value_parser = positive)]
    pub threads: Option<usize>,
    /// Print the report as one JSON object
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
    /// How much to verify
    #[arg(long, value_enum, default_value = "all")]
    pub level: LevelArg,
    /// Commit the intact segments without the damaged ones
    #[arg(long)]
    pub salvage: bool,
    /// Print the report as one JSON object
    #[arg(long)]
    pub json: bool,
    /// Print no progress
    #[arg(short, long)]
    pub quiet: bool,
}

/// How much of an index to verify; each level includes the previous ones.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum LevelArg {
    /// The commit is readable and its files exist
    Manifest,
    /// Every byte matches its checksum
    Checksums,
    /// Terms, postings and keys are readable and in order
    Structure,
    /// All figures agree with the postings
    All,
}

impl From<LevelArg> for CheckLevel {
    fn from(level: LevelArg) -> Self {
        match level {
            LevelArg::Manifest => CheckLevel::Manifest,
            LevelArg::Checksums => CheckLevel::Checksums,
            LevelArg::Structure => CheckLevel::Structure,
            LevelArg::All => CheckLevel::Cross,
        }
    }
}
