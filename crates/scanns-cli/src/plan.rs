//! `scanns plan`, `scanns build-shard` and `scanns assemble`: builds that many processes share.

mod status;

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Parser;
use scanns::extraction::ExtractLimits;
use scanns::files::SortSpace;
use scanns::index::{
    AssembledIndex, IndexOptions, PlanReport, PlanRequest, PlannedShard, Progress, ShardOptions,
    ShardOutcome, ShardPlan, make_plan,
};
use scanns::sources::{ReadOptions, Skipped, SourceOptions};
use serde_json::{Map, Value, json};

use crate::args::{AssembleArgs, BuildShardArgs, Command, IndexArgs, InputArgs, PlanArgs, Verb};
use crate::index::{self, list_failures, list_some_failures};
use crate::output::Output;
use crate::progress;
use crate::records;
use crate::report::{self, Outcome};
use crate::units;

/// Commands that are shown to build missing shards.
const COMMANDS_SHOWN: usize = 3;

/// Runs `scanns plan`.
pub fn run(args: &PlanArgs) -> Result<Outcome> {
    if let Some(plan) = &args.output.status {
        return status::print(plan, args.output.json);
    }
    let (Some(path), Some(shards)) = (&args.output.output, args.output.shards) else {
        bail!("give the plan with --output, and the number of shards with --shards");
    };
    if args.fields.infer_schema.is_some() {
        bail!("scanns index --infer-schema writes the fields to a file; give that to scanns plan --schema");
    }
    if args.contents.extract_cache.is_some() {
        bail!("--extract-cache is an option of scanns build-shard");
    }
    let index = args.output.index.clone().unwrap_or_else(|| path.with_extension("scanns"));
    let mut build = options(args, &index)?;
    build.read = ReadOptions { chunk_bytes: args.output.chunk_size, ..build.read };
    if args.dump.dump_preview.is_some() {
        bail!("--dump-preview is an option of scanns index");
    }
    let cancel = progress::stop_flag()?;
    let limits = index::contents::limits(args.contents.limits);
    let directory = args.listing.scratch.clone().unwrap_or_else(|| directory_of(path));
    let memory = usize::try_from(args.listing.memory).unwrap_or(usize::MAX);
    let space = SortSpace { memory, directory };
    let request = PlanRequest { build: &build, limits, path, index: &index, shards, space: &space };
    let planned = make_plan(request, &cancel);
    let planned = match planned {
        Err(error @ scanns::Error::Cancelled) => {
            report::note(&error.to_string());
            return Ok(Outcome::Stopped);
        }
        planned => planned?,
    };
    match args.output.json {
        true => print_json(path, &index, &planned)?,
        false => print(args, path, &index, &planned)?,
    }
    let loses_nothing = planned.listing.dumps.iter().all(|dump| !dump.is_lossy());
    let is_whole = planned.failed == 0 && planned.left_out.is_empty() && loses_nothing;
    Ok(if is_whole { Outcome::Done } else { Outcome::WithFailures })
}

/// The directory in which a plan is written.
fn directory_of(plan: &Path) -> PathBuf {
    let parent = plan.parent().filter(|parent| !parent.as_os_str().is_empty());
    parent.unwrap_or(Path::new(".")).to_path_buf()
}

/// The arguments of `scanns index` with its defaults.
fn defaults() -> Result<IndexArgs> {
    match Command::try_parse_from(["scanns", "index", "--output", "none", "none"])?.verb {
        Verb::Index(args) => Ok(*args),
        _ => bail!("the arguments of scanns index cannot be parsed"),
    }
}

/// The options of a build of the inputs as one index.
fn options(args: &PlanArgs, output: &Path) -> Result<IndexOptions> {
    let mut build = defaults()?;
    build.input = args.input.clone();
    build.text = args.text.clone();
    build.fields = args.fields.clone();
    build.contents = args.contents.clone();
    build.storing = args.storing.clone();
    build.resources.threads = args.listing.threads;
    build.output.output = Some(output.to_path_buf());
    build.output.quiet = args.output.quiet;
    if args.dump.dump.is_none() {
        return index::options(&build);
    }
    let InputArgs { files_from, follow, include, exclude, gitignore, skip_hidden, .. } = &args.input;
    if files_from.is_some() || *follow || *gitignore {
        bail!(
            "--files-from, --follow and --gitignore need a walk: leave them out with --dump; --include, \
             --exclude and --skip-hidden apply to the paths in the dump"
        );
    }
    build.dump = args.dump.clone();
    (build.input.include, build.input.exclude, build.input.skip_hidden) = (Vec::new(), Vec::new(), false);
    let mut options = index::options(&build)?;
    options.source = SourceOptions {
        paths: Vec::new(),
        include: include.clone(),
        exclude: exclude.clone(),
        skip_hidden: *skip_hidden,
        ..options.source
    };
    Ok(options)
}

fn print(args: &PlanArgs, path: &Path, index: &Path, planned: &PlanReport) -> Result<()> {
    let PlanReport { shards, listing, left_out, .. } = planned;
    if !args.output.quiet {
        let mut out = Output::stdout();
        index::dumps::print(&mut out, &listing.dumps)?;
        let files = units::counted(shards.iter().map(|shard| shard.files).sum(), "file");
        let bytes = units::size(shards.iter().map(|shard| shard.bytes).sum());
        let count = units::counted(shards.len() as u64, "shard");
        writeln!(out, "{files}, {bytes} in {count}")?;
        let (inputs, bytes) = (range_of(shards, |shard| shard.inputs), range_of(shards, |shard| shard.bytes));
        let inputs = range_text(inputs, units::count);
        writeln!(out, "each {inputs} files or parts of files, {}", range_text(bytes, units::size))?;
        if planned.cut_files > 0 {
            writeln!(out, "cut between records: {}", units::counted(planned.cut_files, "file"))?;
        }
        let empty = shards.iter().filter(|shard| shard.inputs == 0).count() as u64;
        if empty > 0 {
            let (shards, has) = (units::counted(empty, "shard"), if empty == 1 { "has" } else { "have" });
            writeln!(
                out,
                "{shards} {has} nothing: files of records are cut into parts of --chunk-size at least"
            )?;
        }
        if listing.skipped > 0 {
            let skipped = units::counted(listing.skipped, "input");
            writeln!(out, "skipped: {skipped}, excluded or not a regular file")?;
        }
        write!(out, "plan ")?;
        out.quoted(path.as_os_str().as_encoded_bytes())?;
        write!(out, "{} for the index ", if planned.is_known { ", the same as before," } else { "" })?;
        out.quoted(index.as_os_str().as_encoded_bytes())?;
        writeln!(out)?;
        out.flush()?;
        index::list_listing(listing, &args.input.exclude);
    }
    index::dumps::list(&listing.dumps);
    for (reason, Skipped { count, first }) in left_out {
        let first = first.as_deref().map(report::path_text).unwrap_or_default();
        report::note(&format!(
            "{} left out, {reason}; the first is {first}",
            units::counted(*count, "entry")
        ));
    }
    list_some_failures(&listing.failed, planned.failed);
    Ok(())
}

/// The least and the greatest of a figure of shards.
fn range_of(shards: &[PlannedShard], figure: fn(&PlannedShard) -> u64) -> (u64, u64) {
    let figures = || shards.iter().map(figure);
    (figures().min().unwrap_or(0), figures().max().unwrap_or(0))
}

fn range_text(range: (u64, u64), text: fn(u64) -> String) -> String {
    let (least, most) = (text(range.0), text(range.1));
    if least == most { most } else { format!("{least} to {most}") }
}

fn print_json(path: &Path, index: &Path, planned: &PlanReport) -> Result<()> {
    let PlanReport { id, is_known, shards, cut_files, failed, listing, left_out, .. } = planned;
    let mut object = Map::new();
    report::put_bytes(&mut object, "plan", path.as_os_str().as_encoded_bytes());
    report::put_bytes(&mut object, "index", index.as_os_str().as_encoded_bytes());
    let shard = |shard: &PlannedShard| {
        let PlannedShard { name, inputs, files, bytes, .. } = shard;
        json!({ "name": name, "inputs": inputs, "files": files, "bytes": bytes })
    };
    for (name, value) in [
        ("id", json!(format!("{id:032x}"))),
        ("is_known", json!(is_known)),
        ("shards", shards.iter().map(shard).collect()),
        ("cut_files", json!(cut_files)),
        ("skipped", json!(listing.skipped)),
        ("failed", json!(failed)),
        ("failures", listing.failed.iter().map(index::failure_json).collect()),
        ("unused_globs", json!(listing.unused_globs)),
        ("dumps", listing.dumps.iter().map(index::dumps::as_json).collect()),
        ("left_out", left_out.iter().map(|(reason, skipped)| left_out_json(reason, skipped)).collect()),
    ] {
        object.insert(name.into(), value);
    }
    print_object(&object.into())
}

fn left_out_json(reason: &str, skipped: &Skipped) -> Value {
    let mut object = Map::new();
    object.insert("reason".into(), json!(reason));
    object.insert("entries".into(), json!(skipped.count));
    if let Some(first) = &skipped.first {
        report::put_bytes(&mut object, "first", first.as_os_str().as_encoded_bytes());
    }
    object.into()
}

fn print_object(object: &Value) -> Result<()> {
    let mut out = Output::stdout();
    out.json(object)?;
    out.flush()?;
    Ok(())
}

/// Runs `scanns build-shard`.
pub fn build_shard(args: &BuildShardArgs) -> Result<Outcome> {
    let plan = ShardPlan::open(&args.plan)?;
    let output = args.output.clone().unwrap_or_else(|| plan.index().to_path_buf());
    let place = output.join(&plan.shard(args.shard)?.name);
    let mut build = resources(args, &plan)?;
    let options = ShardOptions {
        build: index::options(&build)?,
        scratch: args.scratch.clone(),
        output: args.output.clone(),
    };
    build.output.output = Some(place.clone());
    let cancel = progress::stop_flag()?;
    let state = Progress::default();
    let outcome = progress::during(&state, !args.quiet, || plan.build(args.shard, &options, &state, &cancel));
    let told = |what: &str| {
        let mut object = Map::new();
        report::put_bytes(&mut object, "index", place.as_os_str().as_encoded_bytes());
        object.insert("outcome".into(), what.into());
        match (args.json, args.quiet) {
            (true, _) => print_object(&object.into()),
            (false, true) => Ok(()),
            (false, false) => {
                let mut out = Output::stdout();
                out.quoted(place.as_os_str().as_encoded_bytes())?;
                writeln!(out, " {what}")?;
                Ok(out.flush()?)
            }
        }
    };
    match outcome? {
        ShardOutcome::Built(mut built) => {
            built.seconds = report::seconds();
            index::print(&build, &options.build, &built)
                .with_context(|| format!("{} is complete and published", report::path_text(&place)))?;
            if !args.json {
                list_changed(&built.changed);
            }
            return Ok(index::outcome(&built));
        }
        ShardOutcome::WasThere => told("is there already")?,
        ShardOutcome::Discarded => told("was published by another process at the same time")?,
        ShardOutcome::Stopped => {
            report::note("stopped; nothing is left of this attempt, and the same command begins again");
            return Ok(Outcome::Stopped);
        }
    }
    Ok(Outcome::Done)
}

/// The arguments of a build with these resources.
fn resources(args: &BuildShardArgs, plan: &ShardPlan) -> Result<IndexArgs> {
    let mut build = defaults()?;
    build.resources = args.resources;
    build.profile.clone_from(&args.profile);
    build.reading = args.reading.clone();
    build.keeping.merge_rate = args.merge_rate;
    build.contents.extract_cache.clone_from(&args.extract_cache);
    build.contents.extract_cache_size = args.extract_cache_size;
    let ExtractLimits { seconds, memory, .. } = plan.extract_limits();
    build.contents.limits.extract_time = std::time::Duration::from_secs(seconds);
    build.contents.limits.extract_memory = memory;
    // The index of the shard may be there; the plan says what its documents are.
    build.output.output = None;
    build.output.json = args.json;
    build.output.quiet = args.quiet;
    build.text.records = Some(crate::args::RecordsArg::File);
    build.input.paths = Vec::new();
    Ok(build)
}

/// Runs `scanns assemble`.
pub fn assemble(args: &AssembleArgs) -> Result<Outcome> {
    let plan = ShardPlan::open(&args.plan)?;
    let cancel = progress::stop_flag()?;
    let assembled = plan.assemble(args.output.as_deref(), args.level.into(), &cancel)?;
    let index = args.output.as_deref().unwrap_or(plan.index());
    if args.json {
        print_object(&assembled_json(index, plan.shards().len(), &assembled))?;
    }
    if !assembled.is_complete() {
        bail!("{}", incomplete(&args.plan, args.output.as_ref(), plan.shards().len(), &assembled));
    }
    if !args.quiet && !args.json {
        let mut out = Output::stdout();
        let documents = units::counted(assembled.documents, "document");
        let files = units::counted(assembled.files, "file");
        let shards = units::counted(plan.shards().len() as u64, "shard");
        writeln!(out, "{documents} of {files} in {shards}")?;
        records::print_doubles(&mut out, assembled.doubles, assembled.double.as_ref())?;
        if assembled.leftovers > 0 {
            let left = units::counted(assembled.leftovers, "file or directory of ended attempts");
            writeln!(out, "removed: {left}")?;
        }
        write!(out, "index ")?;
        out.quoted(index.as_os_str().as_encoded_bytes())?;
        writeln!(out)?;
        out.flush()?;
    }
    if !args.json {
        list_changed(&assembled.changed);
        list_failures(&assembled.failures);
    }
    Ok(if assembled.failed == 0 { Outcome::Done } else { Outcome::WithFailures })
}

fn assembled_json(index: &Path, shards: usize, assembled: &AssembledIndex) -> Value {
    let mut object = Map::new();
    report::put_bytes(&mut object, "index", index.as_os_str().as_encoded_bytes());
    let damaged = assembled.damaged.iter();
    let damaged: Value =
        damaged.map(|shard| json!({ "shard": shard.number, "reason": shard.reason })).collect();
    for (name, value) in [
        ("complete", json!(assembled.is_complete())),
        ("shards", json!(shards)),
        ("documents", json!(assembled.documents)),
        ("files", json!(assembled.files)),
        ("missing", json!(assembled.missing)),
        ("damaged", damaged),
        ("failed", json!(assembled.failed)),
        ("failures", assembled.failures.iter().map(index::failure_json).collect()),
        ("changed", json!(assembled.changed.count)),
        ("doubles", json!(assembled.doubles)),
        ("double", json!(assembled.double.as_ref().map(records::double_json))),
        ("leftovers", json!(assembled.leftovers)),
    ] {
        object.insert(name.into(), value);
    }
    if let Some(first) = &assembled.changed.first {
        report::put_bytes(&mut object, "first_changed", first.as_os_str().as_encoded_bytes());
    }
    object.into()
}

/// Says how many files were not indexed as they were listed.
fn list_changed(changed: &Skipped) {
    if let Some(first) = &changed.first {
        let (files, first) = (units::counted(changed.count, "file"), report::path_text(first));
        report::note(&format!(
            "{files} had changed since the plan was made, indexed as found then; the first is {first}"
        ));
    }
}

/// Says why the index is not complete, and what to do.
fn incomplete(plan: &Path, output: Option<&PathBuf>, shards: usize, assembled: &AssembledIndex) -> String {
    let mut text = String::new();
    if !assembled.missing.is_empty() {
        let (are, shards) = (assembled.missing.len(), units::counted(shards as u64, "shard"));
        let (plan, numbers) = (report::path_text(plan), status::ranges(&assembled.missing));
        text = format!("{are} of {shards} missing: {numbers}");
        let output = output.map_or(String::new(), |output| format!(" -o {}", report::path_text(output)));
        for number in assembled.missing.iter().take(COMMANDS_SHOWN) {
            text.push_str(&format!("\n  scanns build-shard {plan} {number}{output}"));
        }
        let more = assembled.missing.len().saturating_sub(COMMANDS_SHOWN);
        if more > 0 {
            text.push_str(&format!("\n  and {more} more"));
        }
    }
    for damaged in assembled.damaged.iter().take(COMMANDS_SHOWN) {
        let between = if text.is_empty() { "" } else { "\n" };
        text.push_str(&format!("{between}shard {}: {}", damaged.number, damaged.reason));
    }
    let more = assembled.damaged.len().saturating_sub(COMMANDS_SHOWN);
    if more > 0 {
        text.push_str(&format!("\n{} cannot be used either", units::counted(more as u64, "more shard")));
    }
    text
}
