//! Measures each role of a buffer with sizes from 1 KiB to 8 MiB, after the issue LUCENE-888 of Apache
//! Lucene, which found that the roles need different sizes.
//!
//! The roles are: reading blocks, through the page cache and past it; collecting writes to the file of a
//! segment; collecting postings before that; and telling the kernel to write back. Reading an index has no
//! buffer of its own: its files are mapped, and the kernel chooses how much to read when a page is first
//! touched. That role therefore has one figure and no sizes.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use anyhow::{Context, Result};
use scanns::Snapshot;
use scanns::index::Progress;
use scanns::schema::{Analyzer, Records};
use scanns::sources::{Direct, Input, ReadOptions};
use scanns::writer::FlushBuffers;

use scanns_bench::results::{Better, Results, Series};
use scanns_bench::stats::{in_turns, mib};

use crate::text;
use crate::whole::{self, Agreed, Job};

/// What to measure.
#[derive(Debug, clap::Args)]
pub struct BufferArgs {
    /// A file or tree to read and index
    pub path: PathBuf,
    /// Directory for indexes, which are removed afterwards
    #[arg(long, default_value = "target/bench")]
    pub work: PathBuf,
    /// Sizes in KiB; reading uses only multiples of 4
    #[arg(long, value_delimiter = ',', default_values_t = SIZES)]
    pub sizes: Vec<usize>,
    /// Roles; all if none is given
    #[arg(long, value_enum, value_delimiter = ',')]
    pub roles: Vec<Role>,
    /// Limit for the input in MiB; only whole files are used
    #[arg(long, default_value_t = 512)]
    pub mib: u64,
    /// Rounds
    #[arg(long, default_value_t = 5)]
    pub repetitions: usize,
}

const SIZES: [usize; 10] = [1, 4, 16, 64, 256, 512, 1024, 2048, 4096, 8192];

/// The role of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Role {
    /// Blocks read through the page cache
    ReadCached,
    /// Blocks read past the page cache
    ReadDirect,
    /// Bytes collected for a write to the file of a segment
    Write,
    /// Bytes of postings collected before they are added to the file
    Postings,
    /// Bytes written before the kernel is told to write back
    WriteBack,
    /// An index that is opened and touched for the first time
    FirstTouch,
}

impl Role {
    const ALL: [Role; 6] =
        [Role::ReadCached, Role::ReadDirect, Role::Write, Role::Postings, Role::WriteBack, Role::FirstTouch];

    fn name(self) -> &'static str {
        match self {
            Role::ReadCached => "blocks read, page cache",
            Role::ReadDirect => "blocks read, direct",
            Role::Write => "writes of a segment",
            Role::Postings => "postings of a segment",
            Role::WriteBack => "write-back",
            Role::FirstTouch => "first touch of an index",
        }
    }

    fn reads(self) -> bool {
        matches!(self, Role::ReadCached | Role::ReadDirect)
    }
}

impl BufferArgs {
    /// Fewer sizes and rounds and less input, for a fast run.
    pub fn quick(path: &Path, work: &Path) -> Self {
        let sizes = vec![1, 16, 256, 1024, 8192];
        BufferArgs { path: path.into(), work: work.into(), sizes, roles: Vec::new(), mib: 64, repetitions: 2 }
    }

    /// Sizes in KiB that a role can have.
    fn sizes_of(&self, role: Role) -> Vec<usize> {
        self.sizes
            .iter()
            .copied()
            .filter(|&kib| kib > 0 && (!role.reads() || kib.is_multiple_of(4)))
            .collect()
    }
}

/// The input and the state that all roles share.
struct BufferBench<'a> {
    args: &'a BufferArgs,
    inputs: Arc<Vec<Input>>,
    bytes: u64,
    subject: String,
    agreed: Agreed,
}

/// Measures every role.
pub fn run(args: &BufferArgs, results: &mut Results) -> Result<()> {
    let inputs = whole::inputs(&args.path, Some(args.mib))?;
    let bytes = inputs.iter().map(|input| input.bytes).sum();
    let subject = format!("{}, {:.0} MiB", text::name(&args.path), mib(bytes));
    println!("buffers: {subject}");
    let mut bench = BufferBench { args, inputs: Arc::new(inputs), bytes, subject, agreed: Agreed::default() };
    for role in Role::ALL.into_iter().filter(|role| args.roles.is_empty() || args.roles.contains(role)) {
        match role {
            Role::ReadCached | Role::ReadDirect => bench.reading(role, results)?,
            Role::Write | Role::Postings | Role::WriteBack => bench.writing(role, results)?,
            Role::FirstTouch => bench.first_touch(results)?,
        }
    }
    Ok(())
}

impl BufferBench<'_> {
    fn rounds(&self) -> usize {
        self.args.repetitions.max(1)
    }

    fn reading(&self, role: Role, results: &mut Results) -> Result<()> {
        let sizes = self.args.sizes_of(role);
        let rates = in_turns(self.rounds(), &sizes, |&kib| self.read(role, kib << 10))?;
        for (kib, rates) in sizes.into_iter().zip(rates) {
            let series = Series::rate("buffers", &self.subject, role.name(), rates);
            results.add(series.with("KiB", f64::from(u32::try_from(kib)?)), None);
        }
        Ok(())
    }

    /// Reads all files once. Returns MiB/s.
    fn read(&self, role: Role, block_bytes: usize) -> Result<f64> {
        let options = ReadOptions {
            lanes: 1,
            block_bytes,
            direct: if role == Role::ReadDirect { Direct::Always } else { Direct::Never },
            ..ReadOptions::default()
        };
        let begin = Instant::now();
        let cancel = Arc::new(AtomicBool::new(false));
        let analyzer = Analyzer::parse("paths")?;
        let (driver, lanes) =
            scanns::internals::start(Arc::clone(&self.inputs), Records::File, &analyzer, &options, cancel)?;
        let blocks: usize = lanes.into_iter().map(Iterator::count).sum();
        let report = driver.finish()?;
        let seconds = begin.elapsed().as_secs_f64();
        anyhow::ensure!(blocks > 0 && report.failures.is_empty(), "{} inputs failed", report.failures.len());
        anyhow::ensure!(report.bytes == self.bytes, "read {} of {} bytes", report.bytes, self.bytes);
        Ok(mib(report.bytes) / seconds)
    }

    fn writing(&mut self, role: Role, results: &mut Results) -> Result<()> {
        let sizes = self.args.sizes_of(role);
        let points: Vec<(usize, usize)> = sizes.iter().copied().enumerate().collect();
        let mut whole = vec![Vec::new(); sizes.len()];
        let flushing = in_turns(self.rounds(), &points, |&(at, kib)| {
            let (rate, flushing) = self.build(role, kib << 10)?;
            whole.get_mut(at).context("a list for every size")?.push(rate);
            anyhow::Ok(flushing)
        })?;
        let metrics =
            [("rate while flushing", "MiB/s of index"), ("rate of the whole build", "MiB/s of text")];
        for ((metric, unit), all) in metrics.into_iter().zip([flushing, whole]) {
            for (&kib, samples) in sizes.iter().zip(all) {
                let series = Series::of(
                    "buffers",
                    &self.subject,
                    role.name(),
                    (metric, unit, Better::Higher),
                    samples,
                );
                results.add(series.with("KiB", f64::from(u32::try_from(kib)?)), None);
            }
        }
        Ok(())
    }

    fn job(&self) -> Job {
        let paths = self.inputs.iter().map(|input| input.path.clone()).collect();
        Job { segment_memory: 32 << 20, ..Job::on(paths, 1) }
    }

    /// Builds once. Returns the MiB/s of text until the commit, and the MiB/s of index while segments are
    /// written.
    fn build(&mut self, role: Role, bytes: usize) -> Result<(f64, f64)> {
        let mut job = self.job();
        let usual = FlushBuffers::default();
        match role {
            Role::Write => job.buffers = FlushBuffers { write: bytes, ..usual },
            Role::Postings => job.buffers = FlushBuffers { lists: bytes, ..usual },
            _ => job.write_back = Some(bytes as u64),
        }
        let room = whole::room(&self.args.work)?;
        let report = whole::build(&job, room.path(), &Progress::new())?;
        self.agreed.check(&report)?;
        Ok((mib(report.bytes) / report.seconds, mib(report.bytes_written) / report.flush_seconds))
    }

    /// Opens an index and reads all of its terms, from a cold and from a warm cache.
    fn first_touch(&mut self, results: &mut Results) -> Result<()> {
        let room = whole::room(&self.args.work)?;
        let job = self.job();
        let report = whole::build(&job, room.path(), &Progress::new())?;
        self.agreed.check(&report)?;
        let files =
            std::fs::read_dir(room.path())?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
        let mut terms = None;
        let rates = in_turns(self.rounds(), &[true, false], |&cold| {
            if cold {
                scanns_bench::cache::cool(files.iter().map(PathBuf::as_path))?;
            }
            let begin = Instant::now();
            let found = Snapshot::open(room.path())?.unique_terms()?;
            let seconds = begin.elapsed().as_secs_f64();
            anyhow::ensure!(*terms.get_or_insert(found) == found, "{found} terms, but {terms:?} before");
            anyhow::Ok(mib(report.index_bytes) / seconds)
        })?;
        for (cache, rates) in ["cold", "warm"].into_iter().zip(rates) {
            let metric = ("rate of opening and reading all terms", "MiB/s of index", Better::Higher);
            let variant = format!("{}, {cache}", Role::FirstTouch.name());
            results.add(Series::of("buffers", &self.subject, &variant, metric, rates), None);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_role_has_a_finite_rate_for_each_of_its_sizes() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("in");
        let corpus = crate::corpus::CorpusArgs::on(&path, 2, None);
        crate::corpus::run(&corpus).unwrap();
        let mut args = BufferArgs::quick(&path, place.path());
        (args.sizes, args.repetitions) = (vec![1, 4, 64], 1);
        let mut results = Results::begin(&[]);
        run(&args, &mut results).unwrap();
        // Two roles that read have two sizes each. Three roles that write have three sizes with two figures
        // each. One role has no sizes and two figures.
        assert_eq!(results.series.len(), 2 * 2 + 3 * 3 * 2 + 2);
        assert!(
            results
                .series
                .iter()
                .flat_map(|series| &series.samples)
                .all(|&rate| rate.is_finite() && rate > 0.0)
        );
        assert!(
            Role::ALL.iter().all(|role| results.series.iter().any(|s| s.variant.starts_with(role.name())))
        );
    }

    #[test]
    fn blocks_are_whole_pages() {
        let args =
            BufferArgs { sizes: vec![0, 1, 4, 6, 8], ..BufferArgs::quick(Path::new("x"), Path::new("y")) };
        assert_eq!(args.sizes_of(Role::ReadDirect), [4, 8]);
        assert_eq!(args.sizes_of(Role::Write), [1, 4, 6, 8]);
    }
}
