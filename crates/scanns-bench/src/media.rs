//! Builds from every source medium to every target medium, after table 1 of Lin et al., "The Performance
//! Envelope of Inverted Indexing on Modern Hardware": how long a build takes, what it reads and writes, and
//! how busy the devices are.
//!
//! The index holds documents and frequencies. With `--full`, it also holds positions, the text of documents
//! and their vectors, as the index of Lin et al. does.
//!
//! Unless `--warm` is given, files are read past the page cache or, where that is not possible, after the
//! cache was made to drop them. Bytes read and written are those that the kernel counts for this process,
//! which leaves out file systems in memory. Bytes of the index are those that the build reports. A device is
//! busy while it has at least one request, including the requests of other processes.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};
use rustix::fs::{major, minor};
use scanns::index::Progress;
use scanns::sources::Direct;

use scanns_bench::machine::Machine;
use scanns_bench::results::{Better, Results, Series};
use scanns_bench::stats::{in_turns, mib};

use crate::whole::{self, Agreed, Job};

/// Where memory is mounted as a file system on Linux.
const MEMORY: &str = "/dev/shm";

/// What to build, and where.
#[derive(Debug, clap::Args)]
pub struct MediaArgs {
    /// A file or tree to index; repeat it for copies of the same content on other media
    #[arg(long, required = true)]
    pub source: Vec<PathBuf>,
    /// A directory for indexes, which are removed afterwards; repeat it for other media
    #[arg(long, required = true)]
    pub target: Vec<PathBuf>,
    /// Also use memory (/dev/shm) as a source and as a target; the first source is copied there for the run
    #[arg(long)]
    pub memory: bool,
    /// Do not drop files from the page cache first
    #[arg(long)]
    pub warm: bool,
    /// Index threads; one per core if not given
    #[arg(long)]
    pub threads: Option<usize>,
    /// One document per line
    #[arg(long)]
    pub lines: bool,
    /// Also keep positions, and the text and vectors of documents
    #[arg(long)]
    pub full: bool,
    /// Rounds
    #[arg(long, default_value_t = 5)]
    pub repetitions: usize,
}

impl MediaArgs {
    /// One source and one target, and memory as both if the system has `/dev/shm`.
    pub fn quick(source: &Path, target: &Path) -> Self {
        MediaArgs {
            source: vec![source.into()],
            target: vec![target.into()],
            memory: Path::new(MEMORY).is_dir(),
            warm: false,
            threads: None,
            lines: false,
            full: false,
            repetitions: 3,
        }
    }
}

/// Bytes that the kernel has counted for this process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Io {
    read: u64,
    written: u64,
}

impl Io {
    /// Parses text in the format of `/proc/self/io`. Returns `None` if one of the two counts is missing.
    fn parse(text: &str) -> Option<Self> {
        let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name))?.trim().parse().ok();
        Some(Io { read: field("read_bytes:")?, written: field("write_bytes:")? })
    }

    fn now() -> Option<Self> {
        Self::parse(&fs::read_to_string("/proc/self/io").ok()?)
    }
}

/// Milliseconds for which a device was busy since the machine started. `text` is in the format of
/// `/proc/diskstats`.
fn busy(text: &str, device: Device) -> Option<u64> {
    let line = text.lines().find(|line| {
        let mut fields = line.split_whitespace().map(str::parse::<u32>);
        fields.next() == Some(Ok(device.major)) && fields.next() == Some(Ok(device.minor))
    })?;
    line.split_whitespace().nth(12)?.parse().ok()
}

/// The numbers by which the kernel identifies a block device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Device {
    major: u32,
    minor: u32,
}

/// The device of a path, if the kernel has counts for it. File systems in memory and on the network have
/// none.
fn device(path: &Path) -> Option<Device> {
    let number = fs::metadata(path).ok()?.dev();
    let device = Device { major: major(number), minor: minor(number) };
    busy(&fs::read_to_string("/proc/diskstats").ok()?, device).map(|_| device)
}

fn busy_now(device: Option<Device>) -> Option<u64> {
    busy(&fs::read_to_string("/proc/diskstats").ok()?, device?)
}

/// A source and a target.
#[derive(Clone, Copy, Debug)]
struct Pair<'a> {
    source: &'a Path,
    target: &'a Path,
}

/// The figures of a pair by name, one for each round.
type Figures = BTreeMap<&'static str, Vec<f64>>;

/// Name, unit, and which way is better, in the order of the report.
const METRICS: [(&str, &str, Better); 8] = [
    ("time until committed", "s", Better::Lower),
    ("rate until committed", "MiB/s", Better::Higher),
    ("read from devices", "MiB", Better::Neither),
    ("written to devices", "MiB", Better::Neither),
    ("written to the index", "MiB", Better::Neither),
    ("write amplification", "bytes written per byte of index", Better::Lower),
    ("source busy", "% of the time", Better::Neither),
    ("target busy", "% of the time", Better::Neither),
];

#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn ratio(one: u64, other: u64) -> f64 {
    one as f64 / other.max(1) as f64
}

/// Builds once. Returns the seconds until the commit.
fn measure(args: &MediaArgs, pair: Pair<'_>, agreed: &mut Agreed, figures: &mut Figures) -> Result<f64> {
    let threads = args.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let mut job = Job::on(vec![pair.source.to_path_buf()], threads);
    (job.lines, job.full) = (args.lines, args.full);
    if !args.warm {
        job.read.direct = Direct::Always;
        let inputs = whole::inputs(pair.source, None)?;
        scanns_bench::cache::cool(inputs.iter().map(|input| input.path.as_path()))?;
    }
    let room = whole::room(pair.target)?;
    let devices = [device(pair.source), device(pair.target)];
    let (io, before, begin) = (Io::now(), devices.map(busy_now), Instant::now());
    let report = whole::build(&job, room.path(), &Progress::new())?;
    let (elapsed, after, now) = (begin.elapsed(), devices.map(busy_now), Io::now());
    agreed.check(&report)?;
    let mut put = |name: &'static str, value: f64| figures.entry(name).or_default().push(value);
    put("time until committed", report.seconds);
    put("rate until committed", mib(report.bytes) / report.seconds);
    put("written to the index", mib(report.bytes_written));
    put("write amplification", ratio(report.bytes_written, report.index_bytes));
    if let (Some(io), Some(now)) = (io, now) {
        put("read from devices", mib(now.read.saturating_sub(io.read)));
        put("written to devices", mib(now.written.saturating_sub(io.written)));
    }
    for (name, (before, after)) in
        ["source busy", "target busy"].into_iter().zip(before.into_iter().zip(after))
    {
        if let (Some(before), Some(after)) = (before, after) {
            let milliseconds = u64::try_from(elapsed.as_millis())?;
            put(name, (100.0 * ratio(after.saturating_sub(before), milliseconds)).min(100.0));
        }
    }
    Ok(report.seconds)
}

/// Copies a file or tree into `to`.
fn copy(from: &Path, to: &Path) -> Result<()> {
    let base = if from.is_dir() { from } else { from.parent().unwrap_or(from) };
    for input in whole::inputs(from, None)? {
        let name = input.path.strip_prefix(base).unwrap_or(&input.path);
        let place = to.join(name);
        place.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::copy(&input.path, &place)
            .with_context(|| format!("cannot copy {} to {}", input.path.display(), place.display()))?;
    }
    Ok(())
}

/// The name of a path in the report: its file system and the path.
fn name(path: &Path, machine: &Machine) -> String {
    let here = |directory: &Path| path.canonicalize().is_ok_and(|path| path == directory);
    let mount = machine.mounts.iter().find(|mount| here(&mount.directory));
    let kind = mount.map_or("", |mount| mount.file_system.as_str());
    format!("{kind} {}", path.display()).trim().into()
}

/// Measures every pair.
pub fn run(args: &MediaArgs, results: &mut Results) -> Result<()> {
    let (mut sources, mut targets) = (args.source.clone(), args.target.clone());
    let mut copied = None;
    if args.memory {
        let first = args.source.first().context("give at least one source")?;
        let room = whole::room(Path::new(MEMORY))?;
        copy(first, room.path())?;
        sources.push(room.path().to_path_buf());
        targets.push(MEMORY.into());
        copied = Some(room);
    }
    targets.iter().try_for_each(fs::create_dir_all)?;
    let directories: Vec<&Path> = args.source.iter().chain(&targets).map(PathBuf::as_path).collect();
    let machine = Machine::look(&directories);
    let pairs: Vec<(usize, Pair<'_>)> = sources
        .iter()
        .flat_map(|source| targets.iter().map(move |target| Pair { source, target }))
        .enumerate()
        .collect();
    let first = args.source.first().map_or(String::new(), |source| crate::text::name(source));
    let unit = if args.lines { "line" } else { "file" };
    let keeps = if args.full { ", with positions, text and vectors" } else { "" };
    let warm = if args.warm { "warm" } else { "cold" };
    let subject = format!("{first}, one document per {unit}{keeps}, {warm}");
    println!("media: {subject}, {} pairs, {} rounds", pairs.len(), args.repetitions.max(1));
    let (mut agreed, mut figures) = (Agreed::default(), vec![Figures::new(); pairs.len()]);
    in_turns(args.repetitions.max(1), &pairs, |&(at, pair)| {
        measure(args, pair, &mut agreed, figures.get_mut(at).context("figures for every pair")?)
    })?;
    for (metric, unit, better) in METRICS {
        for ((_, pair), figures) in pairs.iter().zip(&figures) {
            let Some(samples) = figures.get(metric) else { continue };
            // The copy in memory has a different name in every run.
            let is_copy = copied.as_ref().is_some_and(|copy| copy.path() == pair.source);
            let source = if is_copy { Path::new(MEMORY) } else { pair.source };
            let variant = format!("{} to {}", name(source, &machine), name(pair.target, &machine));
            results
                .add(Series::of("media", &subject, &variant, (metric, unit, better), samples.clone()), None);
        }
    }
    let known = |mount: &scanns_bench::machine::Mount| results.machine.mounts.contains(mount);
    let more: Vec<_> = machine.mounts.into_iter().filter(|mount| !known(mount)).collect();
    results.machine.mounts.extend(more);
    drop(copied);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_the_kernel_are_read() {
        let text = "rchar: 9\nwchar: 8\nread_bytes: 4096\nwrite_bytes: 8192\ncancelled_write_bytes: 0\n";
        assert_eq!(Io::parse(text), Some(Io { read: 4096, written: 8192 }));
        assert_eq!(Io::parse("rchar: 9\n"), None);
        let text = "   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0\n 254       0 vda 1 2 3 4 5 6 7 8 9 254332 11 \
            12\nodd\n";
        assert_eq!(busy(text, Device { major: 254, minor: 0 }), Some(254_332));
        assert_eq!(
            (busy(text, Device { major: 254, minor: 1 }), busy("", Device { major: 0, minor: 0 })),
            (None, None)
        );
    }

    #[test]
    fn every_pair_has_figures_that_are_finite_and_is_named_by_its_file_systems() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("in");
        crate::corpus::run(&crate::corpus::CorpusArgs::on(&path, 2, None)).unwrap();
        let mut args = MediaArgs::quick(&path, place.path());
        (args.repetitions, args.full) = (1, true);
        let mut results = Results::begin(&[]);
        run(&args, &mut results).unwrap();
        let sides = if args.memory { 2 } else { 1 };
        let of = |metric: &str| results.series.iter().filter(|series| series.metric == metric).count();
        for metric in
            ["time until committed", "rate until committed", "written to the index", "write amplification"]
        {
            assert_eq!(of(metric), sides * sides, "{metric}");
        }
        let finite = |series: &Series| series.samples.iter().all(|value| value.is_finite() && *value >= 0.0);
        assert!(results.series.iter().all(finite));
        assert!(results.machine.mounts.len() >= sides);
        let amplification =
            results.series.iter().find(|series| series.metric == "write amplification").unwrap();
        assert!((1.0..1.1).contains(&amplification.samples[0]), "one new index: {:?}", amplification.samples);
        let left: Vec<_> =
            fs::read_dir(place.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left.len(), 2, "the corpus and its mark: {left:?}");
    }
}
