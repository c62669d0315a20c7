//! The command line: every verb, option and help text. Nothing here acts on them.
//!
//! A value is checked here if it can be judged on its own. The verb checks what depends on the machine or on
//! several options. `search.rs`, `eval.rs`, `export.rs` and the like hold the arguments of the verbs with
//! these names, `dump_out.rs` those of `dump`, `ls.rs` those of `ls` and `stat`, and `maintain.rs` those of
//! `delete`, `update`, `merge` and `check`, `why.rs` those of `why`. Other files hold options:
//! `contents.rs` about files that are not plain text, `records.rs` about fields, `columns.rs` about columns,
//! `similar.rs` for queries made from documents, `stored.rs` about stored documents, `read.rs` about reading,
//! and `access.rs` about users. `values.rs` parses values, and `short.rs` says what the short help shows.

mod access;
mod columns;
mod completions;
mod contents;
mod diff;
mod display;
mod du;
mod dump;
mod dump_out;
mod duplicates;
mod eval;
mod examples;
mod export;
mod extract;
mod file_report;
mod find;
mod generate;
mod info;
mod ls;
mod maintain;
mod plan;
mod read;
mod records;
mod scan;
mod search;
mod serve;
mod short;
mod similar;
mod stored;
mod terms;
mod values;
mod watch;
mod why;

use std::path::PathBuf;
use std::time::Duration;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use scanns::schema::Analyzer;

use crate::units;

pub use access::AsUserArgs;
pub use columns::{ColumnArgs, FieldSort, SortArg};
use completions::COMPLETIONS_EXAMPLES;
pub use completions::{CompletionsArgs, ShellArg};
pub use contents::{BinaryArg, ContentArg, ContentArgs, EncodingArg, ExtractArg};
pub use diff::{DIFF_EXAMPLES, DiffArgs, DiffFormatArg, DiffKindArg, DiffOutputArg};
pub use display::{DisplayArgs, WhenArg};
pub use du::{DU_EXAMPLES, DuArgs, DuKeyArg, DuTimeArg};
pub use dump::{DUMPS_HELP, DumpArgs};
pub use dump_out::{DUMP_EXAMPLES, DumpOutArgs, DumpOutFormat};
pub use duplicates::{DUPLICATES_EXAMPLES, DuplicatesArgs};
use eval::EVAL_EXAMPLES;
pub use eval::{DocnoArg, EvalArgs, PartArg};
use examples::{INDEX_EXAMPLES, INFO_EXAMPLES, TUNE_EXAMPLES};
use export::EXPORT_EXAMPLES;
pub use export::{ExportArgs, ExportCompression, ExportFormat};
use extract::EXTRACT_EXAMPLES;
pub use extract::{ExtractArgs, ExtractLimitArgs};
use file_report::REPORT_EXAMPLES;
pub use file_report::{ReportArgs, ReportFormat};
pub use find::{FIND_EXAMPLES, FindArgs};
pub use generate::{GenerateArgs, GeneratedArg};
pub use info::InfoArgs;
pub use ls::{LS_EXAMPLES, LsArgs, STAT_EXAMPLES, StatArgs};
use maintain::{CHECK_EXAMPLES, DELETE_EXAMPLES, MERGE_EXAMPLES, UPDATE_EXAMPLES};
pub use maintain::{CareArgs, CheckArgs, DeleteArgs, LevelArg, MergeArgs, UpdateArgs, WhichArgs};
pub use plan::{
    ASSEMBLE_EXAMPLES, AssembleArgs, BUILD_SHARD_EXAMPLES, BuildShardArgs, PLAN_DUMP_HELP,
    PLAN_DUMP_ROOT_HELP, PLAN_EXAMPLES, PlanArgs,
};
pub use read::{DirectArg, PageArg, ReadArgs};
pub use records::{FieldArgs, RecordsArg};
pub use scan::ScanArgs;
use search::SEARCH_EXAMPLES;
pub use search::{ModelArg, ModelArgs, OperatorArg, SearchArgs, SnippetArgs};
use serve::SERVE_EXAMPLES;
pub use serve::{QueryLimitArgs, ServeArgs, ServeConnectionArgs};
pub use similar::{FeedbackArgs, LikeArgs};
pub use stored::{StoreArg, StoreArgs};
use terms::TERMS_EXAMPLES;
pub use terms::TermsArgs;
pub use values::CommitEvery;
use values::{analyzer, commit_every, positive, time};
use watch::WATCH_EXAMPLES;
pub use watch::WatchArgs;
pub use why::{WHY_EXAMPLES, WhyArgs};

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
    /// Build an index, or update one
    #[command(after_help = INDEX_EXAMPLES)]
    #[command(mut_arg("paths", |paths| paths.required_unless_present("snapshot")))]
    Index(Box<IndexArgs>),
    /// Slice the inputs of an index into shards, which many processes or machines can build
    #[command(after_help = PLAN_EXAMPLES)]
    #[command(mut_arg("paths", |paths| paths.required_unless_present("status")))]
    #[command(mut_arg("dump", |dump| dump.help(PLAN_DUMP_HELP)))]
    #[command(mut_arg("dump_root", |root| root.help(PLAN_DUMP_ROOT_HELP)))]
    #[command(mut_arg("dump_preview", |preview| preview.hide(true)))]
    Plan(Box<PlanArgs>),
    /// Build one shard of a plan
    #[command(after_help = BUILD_SHARD_EXAMPLES)]
    BuildShard(Box<BuildShardArgs>),
    /// Make one index of the shards of a plan
    #[command(after_help = ASSEMBLE_EXAMPLES)]
    Assemble(AssembleArgs),
    /// Follow directories as they change, with an index of names and metadata
    #[command(after_help = WATCH_EXAMPLES)]
    Watch(WatchArgs),
    /// Find documents, best first
    #[command(after_help = SEARCH_EXAMPLES)]
    Search(Box<SearchArgs>),
    /// Serve indexes over HTTP, for programs and with a page for people
    #[command(after_help = SERVE_EXAMPLES)]
    Serve(Box<ServeArgs>),
    /// Find entries of a file system with the expressions of GNU find
    #[command(after_help = FIND_EXAMPLES)]
    Find(FindArgs),
    /// Show the space that directories take, with the options of GNU du
    #[command(after_help = DU_EXAMPLES)]
    Du(DuArgs),
    /// Report on a file system: sums, ages, largest directories and files, as tables or as a page
    #[command(after_help = REPORT_EXAMPLES)]
    Report(ReportArgs),
    /// List directories, with the options of GNU ls
    #[command(after_help = LS_EXAMPLES)]
    Ls(LsArgs),
    /// Show what is known of entries of a file system, as GNU stat does
    #[command(after_help = STAT_EXAMPLES)]
    Stat(StatArgs),
    /// Write the entries of a file system for other tools: find, GUFI, ncdu, lists of paths
    #[command(after_help = DUMP_EXAMPLES)]
    Dump(DumpOutArgs),
    /// Compare two file systems by their indexes or dumps
    #[command(after_help = DIFF_EXAMPLES)]
    Diff(Box<DiffArgs>),
    /// Find files with equal content
    #[command(after_help = DUPLICATES_EXAMPLES)]
    Duplicates(Box<DuplicatesArgs>),
    /// Evaluate rankings with TREC topics and relevance judgements
    #[command(after_help = EVAL_EXAMPLES)]
    Eval(Box<EvalArgs>),
    /// Describe an index
    #[command(after_help = INFO_EXAMPLES)]
    Info(InfoArgs),
    /// Export the values of documents as CSV, JSON lines, Arrow or Parquet
    #[command(after_help = EXPORT_EXAMPLES)]
    Export(ExportArgs),
    /// Show the text and the fields that a build finds in files
    #[command(after_help = EXTRACT_EXAMPLES)]
    Extract(ExtractArgs),
    /// List terms and the number of documents that contain them
    #[command(after_help = TERMS_EXAMPLES)]
    Terms(TermsArgs),
    /// Say why a document is found by a query or seen by a user, or why not
    #[command(after_help = WHY_EXAMPLES)]
    Why(WhyArgs),
    /// Delete documents
    #[command(after_help = DELETE_EXAMPLES)]
    Delete(DeleteArgs),
    /// Change column values in place
    #[command(after_help = UPDATE_EXAMPLES)]
    Update(UpdateArgs),
    /// Merge segments, and free the space of deleted documents
    #[command(after_help = MERGE_EXAMPLES)]
    Merge(MergeArgs),
    /// Verify an index, or salvage its intact segments
    #[command(after_help = CHECK_EXAMPLES)]
    Check(CheckArgs),
    /// Find the parameters of scanns index that suit this machine and data, and report what limits it
    #[command(after_help = TUNE_EXAMPLES)]
    Tune(Box<TuneArgs>),
    /// Print a script that completes commands and options in a shell
    #[command(after_help = COMPLETIONS_EXAMPLES)]
    Completions(CompletionsArgs),
    /// Which dumps of file systems can be indexed
    #[command(hide = true, override_help = DUMPS_HELP)]
    Dumps,
    /// Write man pages, or a reference in Markdown
    #[command(hide = true)]
    Generate(GenerateArgs),
}

const EXIT_CODES: &str = "\
Exit codes: 0 success; 1 nothing matched, or some inputs failed and are listed; 2 wrong usage,
or nothing was done; 130 stopped on request.";

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
    pub contents: ContentArgs,
    #[command(flatten)]
    pub dump: DumpArgs,
    #[command(flatten)]
    pub scan: ScanArgs,
    #[command(flatten)]
    pub storing: StoreArgs,
    #[command(flatten)]
    pub resources: ResourceArgs,
    /// Use the threads, blocks, queue depth and pages in a profile that scanns tune has written; options
    /// override it
    #[arg(long, value_name = "FILE", help_heading = "Resources")]
    pub profile: Option<PathBuf>,
    /// Leave the machine and the file system to others, as on the login node of a cluster: lowest priority
    /// (nice 19), 1 thread, 256MiB of memory, and with --content none 1000 metadata operations per second.
    /// --threads, --memory and --max-ops override it
    #[arg(long, help_heading = "Resources")]
    pub polite: bool,
    #[command(flatten)]
    pub reading: ReadArgs,
    #[command(flatten)]
    pub keeping: KeepArgs,
    #[command(flatten)]
    pub output: IndexOutputArgs,
}

/// When to index files again, commit and stop.
#[derive(Debug, Args)]
#[command(next_help_heading = "Keeping up to date")]
pub struct KeepArgs {
    /// Index unchanged files again, too; a file is unchanged if its size and modification time are, and the
    /// time of the last change of its status (ctime) if file metadata is indexed
    #[arg(long)]
    pub reindex: bool,
    /// Keep the documents of files that are gone from the given directories, or that the options exclude now
    #[arg(long)]
    pub keep_removed: bool,
    /// Commit each time that this time has passed or this much input was read. If a build is killed, the same
    /// command resumes it at its last commit. May be given twice, once with a time and once with a size
    #[arg(long, value_name = "TIME|SIZE", default_value = "5m", value_parser = commit_every)]
    pub commit_every: Vec<CommitEvery>,
    /// Stop early enough to finish within this time; the same command resumes the build
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub time_limit: Option<Duration>,
    /// Maximum number of bytes per second that background merges write [default: unlimited]
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
    /// The profile to write; an existing file is replaced, and - is standard output
    #[arg(long, value_name = "FILE", default_value = "scanns-profile.toml")]
    pub out: PathBuf,
    /// Directory for trial indexes, on the file system of the future index [default: the directory of the
    /// profile]
    #[arg(long, value_name = "DIR")]
    pub scratch: Option<PathBuf>,
    /// Print the report as one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Which files to read.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Input")]
pub struct InputArgs {
    /// Files and directories; directories are walked
    #[arg(value_name = "PATH", required_unless_present = "files_from")]
    pub paths: Vec<PathBuf>,
    /// Also read paths from FILE, or from standard input if FILE is -
    #[arg(long, value_name = "FILE")]
    pub files_from: Option<PathBuf>,
    /// Paths in the list end with NUL bytes (find -print0) instead of line feeds
    #[arg(short = '0', long, requires = "files_from")]
    pub null: bool,
    /// Follow symbolic links
    #[arg(long)]
    pub follow: bool,
    /// Index only files that match, as --exclude matches; may be given several times. With --content none,
    /// directories are entries all the same
    #[arg(long, value_name = "GLOB")]
    pub include: Vec<String>,
    /// Skip files and directories that match: '*.o' is a name, a/b the end of a path, a/ a directory, and
    /// '/data/**' a whole path; may be given several times
    #[arg(long, value_name = "GLOB")]
    pub exclude: Vec<String>,
    /// Skip what git ignores: the patterns of .gitignore files, of .git/info/exclude and of the user's
    /// core.excludesFile apply, and .git is skipped, but no other hidden file. Give it each time, like
    /// --exclude
    #[arg(long, conflicts_with = "files_from")]
    pub gitignore: bool,
    /// Skip files and directories whose names begin with a dot
    #[arg(long)]
    pub skip_hidden: bool,
}

/// How to split the input into documents and terms.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Documents and terms")]
pub struct TextArgs {
    /// What one document is [default: auto, or as in the index]
    #[arg(long, value_enum)]
    pub records: Option<RecordsArg>,
    /// How to split text into terms: a name or 'TOKENIZER | STEP | …', see below [default: standard, or as in
    /// the index]
    #[arg(long, value_name = "NAME", value_parser = analyzer)]
    pub analyzer: Option<Analyzer>,
    /// Split text into terms at these bytes; \s is white space, \t \n \r \0 \\ \xHH are bytes
    #[arg(long, value_name = "SPEC", conflicts_with = "analyzer")]
    pub delimiters: Option<String>,
    /// Store the positions of terms, which phrases need; they cannot be added to an existing index
    #[arg(long)]
    pub positions: bool,
    /// Also store where terms begin and end in the text, in bytes, which highlighting needs; implies
    /// --positions; offsets cannot be added to an existing index
    #[arg(long)]
    pub offsets: bool,
}

/// How much of the machine to use.
#[derive(Clone, Copy, Debug, Args)]
#[command(next_help_heading = "Resources")]
pub struct ResourceArgs {
    /// Number of cores to use: N index threads, and one read thread per four of them, which mostly waits for
    /// the device [default: all available cores]
    #[arg(long, value_name = "N", value_parser = positive)]
    pub threads: Option<usize>,
    /// Maximum memory to use [default: half of the memory of the machine or its control group]
    #[arg(long, value_name = "SIZE", value_parser = units::parse_size)]
    pub memory: Option<u64>,
    /// Memory at which an index thread writes a segment, within --memory. It grows with the number of
    /// segments, up to eight times. More memory makes fewer segments, which search faster, and a slower
    /// build [default: 128MiB for files of words, 64MiB for paths and records]
    #[arg(long, value_name = "SIZE", value_parser = units::parse_size)]
    pub segment_memory: Option<u64>,
}

/// Where to write the index, and what to report.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct IndexOutputArgs {
    /// The index: a new directory, or an existing index to add to
    #[arg(short, long, value_name = "NAME.scanns")]
    #[arg(required_unless_present_any = ["infer_schema", "dump_preview"])]
    pub output: Option<PathBuf>,
    /// Keep the index as it is after this command under a name; without PATH, as it is now
    ///
    /// It is kept in the directory snapshots of the index, as an index that shares the space of what does not
    /// change. scanns info lists the snapshots of an index, and rm -r NAME.scanns/snapshots/NAME removes one.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["infer_schema", "dump_preview"])]
    pub snapshot: Option<String>,
    /// Print the report as one JSON object
    #[arg(long)]
    pub json: bool,
    /// Print neither progress nor summary, only failures
    #[arg(short, long)]
    pub quiet: bool,
}

/// The definitions of the command line, with everything that `--help` shows.
pub fn definitions() -> clap::Command {
    Command::command()
}

/// The command as typed, or clap's answer to it: help, version, or an error.
pub fn parse() -> Result<Command, clap::Error> {
    let matches = short::shortened(Command::command()).try_get_matches().map_err(without_wrong_tip)?;
    Command::from_arg_matches(&matches)
}

/// An error without clap's tip to write an unknown option after `--`, where it would be a path.
fn without_wrong_tip(mut error: clap::Error) -> clap::Error {
    if error.kind() == ErrorKind::UnknownArgument
        && let Some(ContextValue::StyledStrs(mut tips)) = error.remove(ContextKind::Suggested)
    {
        tips.retain(|tip| !tip.to_string().starts_with("to pass"));
        if !tips.is_empty() {
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
        }
    }
    error
}

#[cfg(test)]
mod tests {
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
