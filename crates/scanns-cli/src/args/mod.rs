//! The command line: every verb, option and help text, and nothing that acts on them.
//!
//! A value is checked here if it can be judged alone; what depends on the machine or on several options is
//! judged by the verb that uses it. `eval.rs` has the verb that measures answers, `export.rs` the one that
//! writes values, `maintain.rs` has the verbs that need no inputs, `records.rs` is what fields records have,
//! `search.rs` the one that searches, `columns.rs` what it asks of columns, `similar.rs` how queries are made
//! of documents, `stored.rs` what is kept of documents, `terms.rs` the one that lists terms, `values.rs`
//! reads values.

mod columns;
mod eval;
mod export;
mod maintain;
mod records;
mod search;
mod similar;
mod stored;
mod terms;
mod values;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use scanns::schema::{Analyzer, Records};

use crate::units;

pub use columns::{ColumnArgs, FieldSort, SortArg};
use eval::EVAL_EXAMPLES;
pub use eval::{DocnoArg, EvalArgs, PartArg};
use export::EXPORT_EXAMPLES;
pub use export::{ExportArgs, ExportCompression, ExportFormat};
use maintain::{CHECK_EXAMPLES, DELETE_EXAMPLES, MERGE_EXAMPLES, UPDATE_EXAMPLES};
pub use maintain::{CheckArgs, DeleteArgs, LevelArg, MergeArgs, UpdateArgs, WhichArgs};
pub use records::FieldArgs;
use search::SEARCH_EXAMPLES;
pub use search::{ModelArg, ModelArgs, OperatorArg, SearchArgs, SnippetArgs};
pub use similar::{FeedbackArgs, LikeArgs};
pub use stored::{StoreArg, StoreArgs};
use terms::TERMS_EXAMPLES;
pub use terms::TermsArgs;
pub use values::CommitEvery;
use values::{analyzer, commit_every, positive, time};

/// Indexing and search for data that outgrew find and grep.
#[derive(Debug, Parser)]
#[command(name = "scanns", version, arg_required_else_help = true, after_help = EXIT_CODES)]
pub struct Command {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Build an index, or bring one up to date
    #[command(after_help = INDEX_EXAMPLES)]
    Index(Box<IndexArgs>),
    /// Find documents, best first
    #[command(after_help = SEARCH_EXAMPLES)]
    Search(Box<SearchArgs>),
    /// Measure how good answers are, with topics and judgements of TREC
    #[command(after_help = EVAL_EXAMPLES)]
    Eval(Box<EvalArgs>),
    /// Say what an index holds
    #[command(after_help = INFO_EXAMPLES)]
    Info(InfoArgs),
    /// Write the values of documents as CSV or JSON lines
    #[command(after_help = EXPORT_EXAMPLES)]
    Export(ExportArgs),
    /// List terms and how many documents have them
    #[command(after_help = TERMS_EXAMPLES)]
    Terms(TermsArgs),
    /// Delete documents
    #[command(after_help = DELETE_EXAMPLES)]
    Delete(DeleteArgs),
    /// Change values of columns in place
    #[command(after_help = UPDATE_EXAMPLES)]
    Update(UpdateArgs),
    /// Merge segments into fewer, and free the space of deleted documents
    #[command(after_help = MERGE_EXAMPLES)]
    Merge(MergeArgs),
    /// Prove that an index is whole, or keep what is
    #[command(after_help = CHECK_EXAMPLES)]
    Check(CheckArgs),
    /// Find the parameters of index that suit this machine and some data, and say what limits it
    #[command(after_help = TUNE_EXAMPLES)]
    Tune(Box<TuneArgs>),
}

const EXIT_CODES: &str = "\
Exit codes: 0 all well; 1 done, but some inputs failed and are listed; 2 wrong usage or nothing was done;
130 stopped on request.";

const INDEX_EXAMPLES: &str = "\
Examples:
  scanns index -o docs.scanns /usr/share/doc
      every file below a directory is a document of Unicode words
  scanns index -o src.scanns --include '*.c' --include '*.h' ~/linux
      only some of the files
  scanns index -o fs.scanns --records lines --analyzer paths dump.txt
      every line is a document; white space and / delimit terms
  scanns index -o docs.scanns --analyzer 'standard | fold | snowball:german' ~/texte
      words without accents, stemmed; see the end of this help
  scanns index -o docs.scanns /usr/share/doc
      again: only what is new or has changed is read
  scanns index -o archive.scanns --time-limit 55m /archive
      stops in time; the same command goes on where it stopped
  scanns index -o mail.scanns --store content ~/mail
      keeps the text too: scanns search --content shows it
  scanns index -o home.scanns --metadata /home
      keeps size, owner, times and others of every file too: scanns info home.scanns --fields
  scanns index -o logs.scanns --records jsonl logs/*.jsonl
      every line is a document with fields; which there are is found out from a sample, and printed
  scanns index --records csv --infer-schema sales.toml sales.csv
  scanns index -o sales.scanns --records csv --schema sales.toml sales.csv
      the same in two steps, so that the fields can be edited before
  find . -size -1M -print0 | scanns index -o small.scanns -0 --files-from -
      the list of files comes from another program

Analyzers:
  standard          Unicode words in lower case
  english           the same without 's and stop words, stemmed: finds run by running
  snowball:german   the same as standard, stemmed for a language: arabic, danish, dutch, english, finnish,
                    french, german, hungarian, italian, norwegian, portuguese, romanian, russian, spanish,
                    swedish, tamil, turkish
  whitespace        what stands between white space, byte for byte
  paths             what stands between white space and /
  ancestors         every line is a path: finds it by each directory above it, /a and /a/b by /a/b/c
  code              identifiers and their parts: get_userName is found by get, user and name too
  keyword           the whole text as one term
  ngram:2-3         runs of 2 to 3 characters of words: finds parts of words
  edge-ngram:1-8    those at the beginning of words

Chains, for analyzers of your own: a tokenizer, then steps that change words or leave them out, as in
--analyzer 'standard | possessive | stop:english | stop:und,der | porter', english with two more stop words
  tokenizers        standard, whitespace, paths, code, ancestors, keyword as above, and
  delimiters:,;\\s   what stands between these bytes; \\x7c is a bar
  lowercase         Unicode lower case: ÉTÉ is été
  fold              no diacritics and other forms of letters: Größe is Grosse, ﬁn is fin
  possessive        no English 's at the end: dog's is dog
  stop:german       leaves out the stop words of a language, those of snowball
  stop:the,of       leaves out words of your own; a single one is stop:the,
  porter            Porter's stems for English: running is run
  snowball:german   stems of a language: häuser is haus
  length:2-30       leaves out what has fewer or more characters
  ngram:2-3         runs of 2 to 3 characters, as the last step
  edge-ngram:1-8    those at the beginning: etc is e, et, etc

Sizes are bytes, or a number with a suffix: 64k, 1.5g, 512MiB, 4GiB.";

const INFO_EXAMPLES: &str = "\
Examples:
  scanns info docs.scanns
  scanns info docs.scanns --segments --unique
  scanns info sales.scanns --fields
  scanns info docs.scanns --terms lic --limit 5";

const TUNE_EXAMPLES: &str = "\
Examples:
  scanns tune /data
      measures for a minute and writes scanns-profile.toml
  scanns index --profile scanns-profile.toml -o data.scanns /data
      uses it
  scanns tune --records lines --analyzer paths --budget 5m --out dump.toml --scratch /fast dump.txt
      give the documents and terms that the index will have, and the file system that it will be on

Indexes of a sample of the data are built with one choice of parameters after the other. Nothing but the
profile is left behind. Other work on the machine disturbs the measurements.";

/// Arguments of `scanns index`.
#[derive(Debug, Args)]
pub struct IndexArgs {
    #[command(flatten)]
    pub input: InputArgs,
    #[command(flatten)]
    pub text: TextArgs,
    #[command(flatten)]
    pub fields: FieldArgs,
    #[command(flatten)]
    pub storing: StoreArgs,
    #[command(flatten)]
    pub resources: ResourceArgs,
    /// Take threads, blocks, queue depth and pages from a file that scanns tune has written, where no option
    /// here says otherwise
    #[arg(long, value_name = "FILE", help_heading = "Resources")]
    pub profile: Option<PathBuf>,
    #[command(flatten)]
    pub reading: ReadArgs,
    #[command(flatten)]
    pub keeping: KeepArgs,
    #[command(flatten)]
    pub output: IndexOutputArgs,
}

/// What is kept, and when.
#[derive(Debug, Args)]
#[command(next_help_heading = "Keeping up to date")]
pub struct KeepArgs {
    /// Index files again that are in the index and have not changed since, by their size and time of
    /// modification
    #[arg(long)]
    pub reindex: bool,
    /// Commit what there is after this time, or this much input, again and again: a build that is killed
    /// goes on from there when it is run again. May be given twice, once for each
    #[arg(long, value_name = "TIME|SIZE", default_value = "5m", value_parser = commit_every)]
    pub commit_every: Vec<CommitEvery>,
    /// Stop in time to be done after this: run the same command again to go on
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub time_limit: Option<Duration>,
    /// Merges in the background write at most this number of bytes per second [default: as many as they can]
    #[arg(long, value_name = "SIZE", value_parser = units::parse_size)]
    pub merge_rate: Option<u64>,
}

/// Arguments of `scanns tune`.
#[derive(Debug, Args)]
pub struct TuneArgs {
    #[command(flatten)]
    pub input: InputArgs,
    #[command(flatten)]
    pub text: TextArgs,
    #[command(flatten)]
    pub resources: ResourceArgs,
    /// How long to measure: 30s, 2m, 1h
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = time)]
    pub budget: Duration,
    /// The profile to write; it is replaced
    #[arg(long, value_name = "FILE", default_value = "scanns-profile.toml")]
    pub out: PathBuf,
    /// Where trial indexes go while it runs: give the file system that the index will be on [default: the
    /// directory of the profile]
    #[arg(long, value_name = "DIR")]
    pub scratch: Option<PathBuf>,
    /// Report as one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Which inputs exist.
#[derive(Debug, Args)]
#[command(next_help_heading = "Input")]
pub struct InputArgs {
    /// Files and directories; directories are walked
    #[arg(value_name = "PATH", required_unless_present = "files_from")]
    pub paths: Vec<PathBuf>,
    /// Read paths from FILE as well, or from standard input if FILE is -
    #[arg(long, value_name = "FILE")]
    pub files_from: Option<PathBuf>,
    /// Paths in the list end with a NUL byte (find -print0), not with a line feed
    #[arg(short = '0', long, requires = "files_from")]
    pub null: bool,
    /// Follow symbolic links
    #[arg(long)]
    pub follow: bool,
    /// Take only files that match; may be given several times
    #[arg(long, value_name = "GLOB")]
    pub include: Vec<String>,
    /// Leave out files and directories that match; may be given several times
    #[arg(long, value_name = "GLOB")]
    pub exclude: Vec<String>,
    /// Leave out files and directories whose name begins with a dot
    #[arg(long)]
    pub skip_hidden: bool,
}

/// What a document is and what a term is.
#[derive(Debug, Args)]
#[command(next_help_heading = "Documents and terms")]
pub struct TextArgs {
    /// What one document is [default: file, or what the index has]
    #[arg(long, value_enum)]
    pub records: Option<RecordsArg>,
    /// How terms are found: a name or 'TOKENIZER | STEP | …', see below [default: standard, or what the
    /// index has]
    #[arg(long, value_name = "NAME", value_parser = analyzer)]
    pub analyzer: Option<Analyzer>,
    /// Terms are what stands between these bytes; \s is white space, \t \n \r \0 \\ \xHH are bytes
    #[arg(long, value_name = "SPEC", conflicts_with = "analyzer")]
    pub delimiters: Option<String>,
    /// Keep where in its documents each term stands, as phrases need it; an index has positions from its
    /// first build on, or never
    #[arg(long)]
    pub positions: bool,
    /// Keep where each term begins and ends in the text too, in bytes, as highlighting needs it; implies
    /// --positions, and as with those an index has offsets from its first build on, or never
    #[arg(long)]
    pub offsets: bool,
}

/// What one document is.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum RecordsArg {
    /// One document per file
    File,
    /// One document per line
    Lines,
    /// One document per line, an object of JSON whose members are fields; those of objects inside are a.b
    Jsonl,
    /// One document per row of CSV, whose columns are fields; the first row has their names
    Csv,
}

impl From<RecordsArg> for Records {
    fn from(records: RecordsArg) -> Self {
        match records {
            RecordsArg::File => Records::File,
            RecordsArg::Lines => Records::Lines,
            RecordsArg::Jsonl => Records::Jsonl,
            RecordsArg::Csv => Records::Csv,
        }
    }
}

/// How much of the machine may be used.
#[derive(Debug, Args)]
#[command(next_help_heading = "Resources")]
pub struct ResourceArgs {
    /// Cores to use: N index threads, and a read thread per four of them, which mostly waits for the device
    /// [default: the cores available]
    #[arg(long, value_name = "N", value_parser = positive)]
    pub threads: Option<usize>,
    /// Most memory to use [default: half of what the machine or its control group has]
    #[arg(long, value_name = "SIZE", value_parser = units::parse_size)]
    pub memory: Option<u64>,
    /// Memory of an index thread at which it writes its first segments, within --memory; it grows with their
    /// number, up to eight times as much. More makes fewer segments, which search faster, and a slower
    /// build [default: 64MiB]
    #[arg(long, value_name = "SIZE", value_parser = units::parse_size)]
    pub segment_memory: Option<u64>,
}

/// How bytes are brought in.
#[derive(Debug, Args)]
#[command(next_help_heading = "Reading (advanced)")]
pub struct ReadArgs {
    /// Threads that read
    #[arg(long, value_name = "N", value_parser = positive)]
    pub read_threads: Option<usize>,
    /// Threads that index, a multiple of those that read
    #[arg(long, value_name = "N", value_parser = positive)]
    pub index_threads: Option<usize>,
    /// Bytes per block, a multiple of 4KiB [default: 1MiB]
    #[arg(long, value_name = "SIZE", value_parser = units::parse_size)]
    pub block_size: Option<u64>,
    /// Blocks per index thread, at least 2 [default: 4]
    #[arg(long, value_name = "N", value_parser = positive)]
    pub blocks: Option<usize>,
    /// Reads under way per index thread [default: 4]
    #[arg(long, value_name = "N", value_parser = positive)]
    pub queue_depth: Option<usize>,
    /// Files of lines are shared out in stretches of this size
    #[arg(long, value_name = "SIZE", default_value = "16MiB", value_parser = units::parse_size)]
    pub chunk_size: u64,
    /// When to read past the page cache
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto")]
    pub direct: DirectArg,
    /// Drop what was read from the page cache again
    #[arg(long)]
    pub drop_cache: bool,
    /// Read with plain system calls even where io_uring works
    #[arg(long)]
    pub no_uring: bool,
    /// Keep threads near their memory on machines with several NUMA nodes (the default)
    #[arg(long, overrides_with = "no_pin")]
    pub pin: bool,
    /// Leave the placing of threads to the system
    #[arg(long)]
    pub no_pin: bool,
    /// Pages that back blocks, terms and postings [default: auto]
    #[arg(long, value_enum, value_name = "SIZE")]
    pub arena_page: Option<PageArg>,
}

/// When to read past the page cache.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum DirectArg {
    /// For large files that are not in the page cache
    Auto,
    /// For all large files where the file system allows it
    Always,
    /// For no file
    Never,
}

/// Page sizes.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum PageArg {
    /// Whichever is cheaper to get on this machine, measured as memory grows
    Auto,
    /// Base pages
    #[value(name = "4KiB")]
    Base,
    /// Huge pages where the machine grants them
    #[value(name = "2MiB")]
    Huge,
}

/// Where the index goes and what is said about it.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct IndexOutputArgs {
    /// The index: a new directory, or an index to add to
    #[arg(short, long, value_name = "NAME.scanns", required_unless_present = "infer_schema")]
    pub output: Option<PathBuf>,
    /// Report as one JSON object; its unique_terms are null where counting them would take more than the
    /// memory
    #[arg(long)]
    pub json: bool,
    /// Print neither progress nor summary, only failures
    #[arg(short, long)]
    pub quiet: bool,
}

/// Arguments of `scanns info`.
#[derive(Debug, Args)]
pub struct InfoArgs {
    /// The index
    #[arg(value_name = "NAME.scanns")]
    pub index: PathBuf,
    /// List terms that start with PREFIX, and in how many documents each occurs
    #[arg(long, value_name = "PREFIX")]
    pub terms: Option<OsString>,
    /// How many terms to list at most
    #[arg(long, value_name = "N", default_value = "20", requires = "terms", value_parser = positive)]
    pub limit: usize,
    /// List the segments
    #[arg(long)]
    pub segments: bool,
    /// List the fields with what is known of their values: of columns the least and the greatest, of
    /// keywords how many different ones there are, the space that they take, and how their blocks are
    /// written
    #[arg(long)]
    pub fields: bool,
    /// Count the different terms of the whole index, which reads all of them
    #[arg(long)]
    pub unique: bool,
    /// One JSON object
    #[arg(long)]
    pub json: bool,
}

/// The command as typed, or clap's answer to it: help, version, or what is wrong.
pub fn parse() -> Result<Command, clap::Error> {
    Command::try_parse()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Command::command().debug_assert();
    }

    #[test]
    fn help_groups_the_options_of_index() {
        let mut command = Command::command();
        let index = command.find_subcommand_mut("index").unwrap();
        let help = index.render_long_help().to_string();
        for heading in ["Input:", "Documents and terms:", "Resources:", "Reading (advanced):", "Output:"] {
            assert!(help.contains(heading), "{heading} is missing in\n{help}");
        }
    }
}
