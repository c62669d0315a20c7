//! `scanns tune`: measures, searches, writes a profile, and explains the result.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::{Result, ensure};
use indicatif::{ProgressBar, ProgressDrawTarget};
use scanns::index::IndexOptions;
use scanns::schema::Records;
use scanns::sources::{ReadOptions, ScanSettings};
use scanns::tuning::{Profile, Resource, TuneOptions, TuneReport, TuneStep};
use serde_json::{Value, json};

use crate::args::{RecordsArg, TuneArgs};
use crate::output::Output;
use crate::report::{self, Outcome};
use crate::{index, profile, progress, units};

/// Runs the verb.
pub fn run(args: &TuneArgs) -> Result<Outcome> {
    let options = options(args)?;
    let cancel = progress::stop_flag()?;
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    bar.enable_steady_tick(Duration::from_millis(200));
    let tuned = scanns::tuning::tune(&options, &mut |step| bar.set_message(told(&step)), &cancel);
    bar.finish_and_clear();
    let found = match tuned {
        Err(scanns::Error::Cancelled) => {
            report::note("stopped on request; no profile was written");
            return Ok(Outcome::Stopped);
        }
        found => found?,
    };
    let text = profile::text(&found.tuned.best, &measured(args, &found), &machine());
    profile::write(&args.out, &text)?;
    if args.out.as_os_str() == "-" {
        return Ok(Outcome::Done);
    }
    let mut out = Output::stdout();
    if args.json {
        out.json(&json(args, &found))?;
    } else {
        print(&mut out, &found)?;
        write!(out, "\nwritten to ")?;
        out.quoted(args.out.as_os_str().as_encoded_bytes())?;
        write!(out, "; use it with scanns index --profile ")?;
        out.quoted(args.out.as_os_str().as_encoded_bytes())?;
        writeln!(out)?;
    }
    out.flush()?;
    Ok(Outcome::Done)
}

fn options(args: &TuneArgs) -> Result<TuneOptions> {
    let directory = args.out.parent().filter(|parent| !parent.as_os_str().is_empty());
    let directory = directory.map_or_else(|| PathBuf::from("."), Path::to_path_buf);
    // This is checked before the measurements, which take a minute.
    ensure!(
        directory.is_dir(),
        "cannot write the profile: {} is not a directory",
        report::path_text(&directory)
    );
    let records = args.text.records.and_then(RecordsArg::kind).unwrap_or(Records::File);
    ensure!(!records.have_fields(), "tune measures files and lines: omit --records {}", records.name());
    let threads = index::default_threads(&args.resources)?;
    let index = IndexOptions {
        dump: None,
        scan: ScanSettings::default(),
        changes: None,
        source: index::source(&args.input, threads.read + threads.index),
        read: ReadOptions { read_threads: threads.read, lanes: threads.index, ..ReadOptions::default() },
        records,
        fields: scanns::sources::FieldOptions::default(),
        analyzer: index::analyzer(&args.text)?,
        postings: index::postings(&args.text),
        stored: scanns::writer::StoredOptions::default(),
        memory: args.resources.memory.unwrap_or_else(index::default_memory),
        segment_memory: args.resources.segment_memory,
        buffers: scanns::writer::FlushBuffers::default(),
        merge: None,
        contents: None,
        extractors: None,
        again: false,
        keep_removed: false,
        commit_every: None,
        commit_bytes: None,
        time_limit: None,
        snapshot: None,
    };
    Ok(TuneOptions { index, scratch: args.scratch.clone().unwrap_or(directory), budget: args.budget })
}

/// A description of the current step, for the terminal.
fn told(step: &TuneStep) -> String {
    match step {
        TuneStep::Walking => "finding files".into(),
        TuneStep::Machine => "measuring memory and processor".into(),
        TuneStep::Sampling => "taking a sample".into(),
        TuneStep::Devices => "measuring devices".into(),
        TuneStep::Trying { profile, number, most } => {
            format!("trial {number} of at most {most}: {}", in_words(profile))
        }
    }
}

fn in_words(profile: &Profile) -> String {
    let Profile { read_threads, index_threads, block_bytes, queue_depth, pages, .. } = profile;
    format!(
        "{read_threads} read + {index_threads} index threads, blocks of {}, depth {queue_depth}, pages {}",
        units::size(*block_bytes as u64),
        profile::page_name(*pages)
    )
}

/// Bytes per second in MiB.
fn mib(rate: f64) -> f64 {
    rate / units::approximate(units::MIB)
}

fn print(out: &mut Output, found: &TuneReport) -> Result<()> {
    let (files, bytes) = found.sample;
    writeln!(
        out,
        "sample: {}, {}, of {}, {}; {} copied from large files; {} the page cache",
        units::counted(files as u64, "file"),
        units::size(bytes),
        units::counted(found.inputs.0 as u64, "file"),
        units::size(found.inputs.1),
        units::size(found.copied),
        if found.cached { "in" } else { "past" },
    )?;
    print_limits(out, found)?;
    let tuned = &found.tuned;
    let times: usize = tuned.tried.iter().map(|tried| tried.times).sum();
    writeln!(out, "\ntried: {times} builds of the sample in {}", units::duration(tuned.seconds))?;
    for tried in &tuned.tried {
        let mark = if tried.profile == tuned.best { '*' } else { ' ' };
        writeln!(
            out,
            "{mark} {:7.0} MiB/s  x{:<2} {}",
            mib(tried.rate),
            tried.times,
            in_words(&tried.profile)
        )?;
    }
    writeln!(out, "\nbest: {}", in_words(&tuned.best))?;
    writeln!(out, "{}", verdict(found))?;
    let roofline = &found.roofline;
    writeln!(out, "\nroofs, MiB/s of text that each resource alone would permit:")?;
    for &(resource, rate) in &roofline.roofs {
        writeln!(out, "  {:9.0}  {}", mib(rate), name(resource))?;
    }
    let (limit, share) = roofline.limit();
    let told = match remedy(limit) {
        remedy if share >= NEAR => remedy,
        _ => "threads wait for each other, the processors are busy with other work, or the sample is small",
    };
    writeln!(
        out,
        "reached {:.0} MiB/s, {:.0} % of the lowest roof: {told}. {:.1} processors were busy.",
        mib(roofline.reached),
        share * 100.0,
        roofline.busy
    )?;
    Ok(())
}

/// The winner and its gain.
fn verdict(found: &TuneReport) -> String {
    let tuned = &found.tuned;
    let (gain, error) = ((tuned.gain.0 - 1.0) * 100.0, tuned.gain.1 * 100.0);
    if tuned.best != tuned.start {
        return format!("that is {gain:.1} % ± {error:.1} faster than the defaults");
    }
    if tuned.challenger == tuned.start {
        return "the defaults are best: nothing else was faster".into();
    }
    format!(
        "the defaults are best; next best: {}, {gain:+.1} % ± {error:.1}, which is within the noise",
        in_words(&tuned.challenger)
    )
}

fn print_limits(out: &mut Output, found: &TuneReport) -> Result<()> {
    let (memory, device, processor) = (&found.memory, &found.device, &found.processor);
    writeln!(out, "\nlimits of the machine:")?;
    let by_threads = |figures: &[(usize, f64)], unit: &dyn Fn(f64) -> String| {
        let each = |&(threads, figure): &(usize, f64)| format!("{} ({threads})", unit(figure));
        figures.iter().map(each).collect::<Vec<_>>().join(", ")
    };
    let gib = |rate: f64| format!("{:.1} GiB/s", mib(rate) / 1024.0);
    let millions = |rate: f64| format!("{:.0} million/s", rate / 1e6);
    writeln!(out, "  memory copied, by threads        {}", by_threads(&memory.copy, &gib))?;
    writeln!(out, "  independent look-ups             {}", by_threads(&memory.independent, &millions))?;
    writeln!(out, "  dependent look-up                {:.0} ns", memory.dependent * 1e9)?;
    let per_gib = |price: f64| price * units::approximate(1 << 30);
    writeln!(
        out,
        "  fresh memory                     {:.2} s/GiB in base pages, {:.2} in huge pages",
        per_gib(memory.fresh_base),
        per_gib(memory.fresh_huge)
    )?;
    for rate in &device.direct {
        writeln!(
            out,
            "  read past the page cache         {:.0} MiB/s by {} at depth {}",
            mib(rate.bytes_per_second),
            units::size(rate.block_bytes as u64),
            rate.queue_depth
        )?;
    }
    if let Some(seconds) = device.small_file {
        writeln!(out, "  read of a small file             {:.0} µs", seconds * 1e6)?;
    }
    writeln!(out, "  sample, read as by a build       {:.0} MiB/s", mib(device.sample))?;
    writeln!(
        out,
        "  durable writes                   {:.0} MiB/s; {:.1} ms for a small file",
        mib(device.write),
        device.sync * 1e3
    )?;
    writeln!(
        out,
        "  one processor, text in memory    {:.0} MiB/s split and inverted, {:.0} in fresh memory; {:.0} \
         sorted and encoded",
        mib(processor.invert),
        mib(processor.invert_fresh),
        mib(processor.flush)
    )?;
    Ok(())
}

fn name(resource: Resource) -> &'static str {
    match resource {
        Resource::Reading => "reading the inputs",
        Resource::Writing => "writing the index",
        Resource::Memory => "memory: traffic, look-ups of new terms, fresh pages",
        Resource::Processor => "processor: index threads on text in memory",
    }
}

/// The share of the lowest roof that a build must reach for that roof to be its limit.
const NEAR: f64 = 0.6;

/// The limit in words, and what would raise it.
fn remedy(limit: Resource) -> &'static str {
    match limit {
        Resource::Reading => "the input device is the limit; a faster one, or several, would help",
        Resource::Writing => "the output device is the limit; put the index on a faster one",
        Resource::Memory => {
            "memory is the limit; faster memory or more channels would help, more threads would not"
        }
        Resource::Processor => {
            "the processors are the limit; more cores would help, faster devices would not"
        }
    }
}

/// The measurements, for the profile.
fn measured(args: &TuneArgs, found: &TuneReport) -> toml::Table {
    let tuned = &found.tuned;
    let rounded = |number: f64| toml::Value::Float((number * 1000.0).round() / 1000.0);
    let rate = |profile| rounded(tuned.rate(profile).map_or(0.0, mib));
    let paths = args.input.paths.iter().map(|path| path.to_string_lossy().into_owned().into());
    toml::Table::from_iter([
        ("date".to_string(), humantime::format_rfc3339_seconds(SystemTime::now()).to_string().into()),
        ("paths".into(), toml::Value::Array(paths.collect())),
        ("limit".into(), name(found.roofline.limit().0).into()),
        ("share-of-limit".into(), rounded(found.roofline.limit().1)),
        ("mib-per-second".into(), rate(&tuned.best)),
        ("mib-per-second-with-defaults".into(), rate(&tuned.start)),
        ("gain-of-next-best-or-best".into(), rounded(tuned.gain.0)),
        ("gain-standard-error".into(), rounded(tuned.gain.1)),
    ])
}

/// The machine, for the profile.
fn machine() -> toml::Table {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let cpu = read("/proc/cpuinfo");
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let memory = scanns::tuning::memory_limit_bytes().map_or_else(|| "unknown".into(), units::size);
    toml::Table::from_iter([
        ("processor".to_string(), model.map_or("unknown", |(_, model)| model.trim()).into()),
        ("cores".into(), i64::try_from(cores).unwrap_or(i64::MAX).into()),
        ("memory".into(), memory.into()),
        ("kernel".into(), read("/proc/sys/kernel/osrelease").trim().into()),
    ])
}

fn profile_json(profile: &Profile) -> Value {
    json!({
        "read_threads": profile.read_threads,
        "index_threads": profile.index_threads,
        "block_bytes": profile.block_bytes,
        "blocks": profile.blocks,
        "queue_depth": profile.queue_depth,
        "arena_page": profile::page_name(profile.pages),
    })
}

fn json(args: &TuneArgs, found: &TuneReport) -> Value {
    let (memory, device, processor, tuned) = (&found.memory, &found.device, &found.processor, &found.tuned);
    let by_threads = |figures: &[(usize, f64)]| -> Value {
        figures.iter().map(|(threads, figure)| json!({ "threads": threads, "per_second": figure })).collect()
    };
    let tried = |tried: &scanns::tuning::Tried| {
        json!({
            "parameters": profile_json(&tried.profile),
            "times": tried.times,
            "mib_per_s": mib(tried.rate),
        })
    };
    let direct = |rate: &scanns::tuning::ReadRate| {
        json!({
            "block_bytes": rate.block_bytes,
            "queue_depth": rate.queue_depth,
            "mib_per_s": mib(rate.bytes_per_second),
        })
    };
    let roof =
        |&(resource, rate): &(Resource, f64)| json!({ "resource": name(resource), "mib_per_s": mib(rate) });
    json!({
        "profile": args.out.to_string_lossy(),
        "best": profile_json(&tuned.best),
        "defaults": profile_json(&tuned.start),
        "challenger": profile_json(&tuned.challenger),
        "gain": tuned.gain.0,
        "gain_error": tuned.gain.1,
        "tried": tuned.tried.iter().map(tried).collect::<Value>(),
        "search_seconds": tuned.seconds,
        "seconds": found.seconds,
        "sample": { "files": found.sample.0, "bytes": found.sample.1, "copied": found.copied, "cached":
            found.cached },
        "limits": {
            "copy_bytes": by_threads(&memory.copy),
            "independent_look_ups": by_threads(&memory.independent),
            "dependent_look_up_ns": memory.dependent * 1e9,
            "fresh_base_s_per_gib": memory.fresh_base * units::approximate(1 << 30),
            "fresh_huge_s_per_gib": memory.fresh_huge * units::approximate(1 << 30),
            "direct": device.direct.iter().map(direct).collect::<Value>(),
            "small_file_us": device.small_file.map(|seconds| seconds * 1e6),
            "sample_mib_per_s": mib(device.sample),
            "write_mib_per_s": mib(device.write),
            "sync_ms": device.sync * 1e3,
            "invert_mib_per_s": mib(processor.invert),
            "invert_fresh_mib_per_s": mib(processor.invert_fresh),
            "flush_mib_per_s": mib(processor.flush),
            "bytes_per_token": processor.bytes_per_token,
            "bytes_per_term": processor.bytes_per_term,
        },
        "roofs": found.roofline.roofs.iter().map(roof).collect::<Value>(),
        "limit": name(found.roofline.limit().0),
        "share_of_limit": found.roofline.limit().1,
        "processors_busy": found.roofline.busy,
    })
}
