//! Arguments of `plan`, `build-shard` and `assemble`.

use std::path::PathBuf;

use clap::Args;

use super::values::positive;
use super::{
    ContentArgs, DumpArgs, FieldArgs, InputArgs, LevelArg, ReadArgs, ResourceArgs, StoreArgs, TextArgs,
};
use crate::units;

/// Arguments of `scanns plan`.
#[derive(Debug, Args)]
pub struct PlanArgs {
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
    pub storing: StoreArgs,
    #[command(flatten)]
    pub listing: ListingArgs,
    #[command(flatten)]
    pub output: PlanOutputArgs,
}

/// How much of the machine to use.
#[derive(Debug, Args)]
#[command(next_help_heading = "Resources")]
pub struct ListingArgs {
    /// Number of threads that list the inputs and find where files are cut [default: all available cores]
    #[arg(long, value_name = "N", value_parser = positive)]
    pub threads: Option<usize>,
    /// Memory for the list of the inputs; a longer one is sorted in temporary files
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = units::parse_size)]
    pub memory: u64,
    /// The directory of temporary files [default: the directory of the plan]
    #[arg(long, value_name = "DIR")]
    pub scratch: Option<PathBuf>,
}

/// Where the plan and the shards go.
#[derive(Debug, Args)]
#[command(next_help_heading = "Plan")]
pub struct PlanOutputArgs {
    /// The plan, a new file; the list of the inputs is written beside it, with the ending .inputs
    #[arg(short, long, value_name = "PLAN.json", required_unless_present = "status")]
    pub output: Option<PathBuf>,
    /// The number of shards
    #[arg(long, value_name = "N", required_unless_present = "status")]
    pub shards: Option<u32>,
    /// The directory of the index, in which the shards are published [default: PLAN.scanns beside the plan]
    #[arg(long, value_name = "NAME.scanns")]
    pub index: Option<PathBuf>,
    /// Cut files of records that are larger than this where shards begin; smaller ones stay whole
    #[arg(long, value_name = "SIZE", default_value = "16MiB", value_parser = units::parse_size)]
    pub chunk_size: u64,
    /// Say which shards of a plan are done, running or missing, and plan nothing
    #[arg(long, value_name = "PLAN.json", conflicts_with_all = ["output", "shards", "paths", "files_from"])]
    pub status: Option<PathBuf>,
    /// Print the report as one JSON object
    #[arg(long)]
    pub json: bool,
    /// Print only what failed or was left out
    #[arg(short, long)]
    pub quiet: bool,
}

/// Arguments of `scanns build-shard`.
#[derive(Debug, Args)]
pub struct BuildShardArgs {
    /// The plan
    #[arg(value_name = "PLAN.json")]
    pub plan: PathBuf,
    /// The number of the shard, from 0
    #[arg(value_name = "SHARD")]
    pub shard: u32,
    /// Build in this directory, which may be on a local disk, and copy the shard to the index at the end
    /// [default: the directory of the index]
    #[arg(long, value_name = "DIR")]
    pub scratch: Option<PathBuf>,
    /// The directory of the index [default: as planned]
    #[arg(short, long, value_name = "NAME.scanns")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub resources: ResourceArgs,
    /// Use the threads, blocks, queue depth and pages in a profile that scanns tune has written; options
    /// override it
    #[arg(long, value_name = "FILE", help_heading = "Resources")]
    pub profile: Option<PathBuf>,
    /// Maximum number of bytes per second that background merges write [default: unlimited]
    #[arg(long, value_name = "SIZE", value_parser = units::parse_size, help_heading = "Resources")]
    pub merge_rate: Option<u64>,
    /// Keep what is found in documents such as PDF in this directory, as scanns index does
    #[arg(long, value_name = "DIR", help_heading = "Resources")]
    pub extract_cache: Option<PathBuf>,
    /// The most disk space of --extract-cache
    #[arg(long, value_name = "SIZE", default_value = "10GiB", value_parser = units::parse_size)]
    #[arg(requires = "extract_cache", help_heading = "Resources")]
    pub extract_cache_size: u64,
    #[command(flatten)]
    pub reading: ReadArgs,
    /// Print the report as one JSON object
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Print neither progress nor summary, only failures
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,
}

/// Arguments of `scanns assemble`.
#[derive(Debug, Args)]
pub struct AssembleArgs {
    /// The plan
    #[arg(value_name = "PLAN.json")]
    pub plan: PathBuf,
    /// The directory of the index [default: as planned]
    #[arg(short, long, value_name = "NAME.scanns")]
    pub output: Option<PathBuf>,
    /// How much of each shard to verify
    #[arg(long, value_enum, default_value = "manifest")]
    pub level: LevelArg,
    /// Print the report as one JSON object
    #[arg(long)]
    pub json: bool,
    /// Print only what failed
    #[arg(short, long)]
    pub quiet: bool,
}

/// What `--dump` means for a plan.
pub const PLAN_DUMP_HELP: &str = "\
Each PATH is a dump of a file system, compressed or not, or - for standard input: its regular files with a \
size and a time are the inputs, and no directory is walked. The shards read the files. The format is found \
out where it is certain; otherwise name it: see scanns help dumps";

/// What `--dump-root` means for a plan.
pub const PLAN_DUMP_ROOT_HELP: &str = "\
The directory to which relative paths in the dump belong. --exclude and --skip-hidden apply to directories \
below it [default: /]";

/// Examples for the help.
pub const PLAN_EXAMPLES: &str = "\
Examples:
  scanns plan -o plan.json --shards 20 /data
  for shard in $(seq 0 19); do scanns build-shard plan.json $shard; done
  scanns assemble plan.json
      builds the index plan.scanns of 20 shards; the second line can run on many machines at once
  scanns plan -o plan.json --shards 20 --records jsonl --index logs.scanns logs/*.jsonl
      cuts large files of records between records
  scanns plan -o plan.json --shards 500 --dump fs.dump --include '/data/*'
      takes the list of the files from a dump of the file system and walks nothing; see scanns help dumps
  scanns plan --status plan.json
      says which shards are done, running or missing

The plan has all options that say what documents are. Threads and memory of the builds are options of scanns
build-shard. To number the records behind a cut, scanns plan reads everything before it once.";

/// Examples for the help.
pub const BUILD_SHARD_EXAMPLES: &str = "\
Examples:
  scanns build-shard plan.json 7
  scanns build-shard plan.json $SLURM_ARRAY_TASK_ID --scratch $TMPDIR --threads 16 --memory 32GiB
      one task of a job array

The same shard may be built again, or twice at the same time, or be killed: a shard appears complete or not at
all, and one that is there is not built again.";

/// Examples for the help.
pub const ASSEMBLE_EXAMPLES: &str = "\
Examples:
  scanns assemble plan.json
  scanns assemble plan.json --level checksums
      reads every byte of the shards and compares checksums";
