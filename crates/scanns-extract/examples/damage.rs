//! Damaged copies of files, read by child processes of `scanns` as an index build reads them.
//!
//! `damage SCANNS ROUNDS SEED DIRECTORY FILE...` changes bytes of copies of the files, or cuts them off, and
//! gives each to `SCANNS extract --serve`. It counts the answers, and keeps the copies that crash a child,
//! take more than 10 s, or break the protocol, in the directory.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use std::{env, fs, thread};

use scanns::extraction::{ExtractFailure, ExtractLimits, Extracted, ExtractorCommand, Extractors};

/// Seconds for a copy.
const SECONDS: u64 = 10;
/// Child processes.
const PROCESSES: usize = 2;
/// The largest file that is taken.
const MOST_BYTES: u64 = 1 << 20;
const USAGE: &str = "usage: damage SCANNS ROUNDS SEED DIRECTORY FILE...";

fn main() -> io::Result<()> {
    let mut arguments = env::args_os().skip(1);
    let mut next = || arguments.next().ok_or_else(|| io::Error::other(USAGE));
    let program = PathBuf::from(next()?);
    let mut number = || next()?.to_string_lossy().parse::<u64>().map_err(io::Error::other);
    let (rounds, seed) = (number()?, number()?);
    let kept = PathBuf::from(next()?);
    let mut files = Vec::new();
    for path in arguments.map(PathBuf::from) {
        if fs::metadata(&path)?.len() <= MOST_BYTES {
            files.push((path.clone(), fs::read(path)?));
        }
    }
    files.retain(|(_, data)| !data.is_empty());
    if files.is_empty() {
        return Err(io::Error::other(USAGE));
    }
    let arguments = ["extract", "--serve"].map(Into::into).to_vec();
    let limits = ExtractLimits { seconds: SECONDS, ..ExtractLimits::default() };
    let extractors = Extractors::new(ExtractorCommand { program, arguments }, limits, PROCESSES);
    let run = Run { files, seed, kept, extractors, counts: Mutex::default() };
    let round = AtomicUsize::new(0);
    let rounds = usize::try_from(rounds).map_err(io::Error::other)?;
    thread::scope(|scope| {
        for _ in 0..PROCESSES {
            scope.spawn(|| {
                loop {
                    let at = round.fetch_add(1, Ordering::Relaxed);
                    if at >= rounds {
                        break;
                    }
                    if let Err(error) = run.round(at) {
                        eprintln!("round {at}: {error}");
                    }
                }
            });
        }
    });
    run.report()
}

/// What the threads share.
struct Run {
    files: Vec<(PathBuf, Vec<u8>)>,
    seed: u64,
    kept: PathBuf,
    extractors: Extractors,
    /// How often each outcome was seen, and the longest time in milliseconds.
    counts: Mutex<BTreeMap<&'static str, (usize, u128)>>,
}

impl Run {
    /// Damages a copy of a file and reads it. The round and the seed decide all.
    fn round(&self, round: usize) -> io::Result<()> {
        let Some((path, data)) = self.files.get(round % self.files.len()) else { return Ok(()) };
        let mut data = data.clone();
        let mixed = u64::try_from(round).unwrap_or(0).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut random = fastrand::Rng::with_seed(self.seed ^ mixed);
        change(&mut data, &mut random);
        let start = Instant::now();
        let found = self.extractors.extract_bytes(&data, b"damaged", &AtomicBool::new(false));
        let time = start.elapsed().as_millis();
        let outcome = outcome(&found);
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(outcome).or_default();
        *count = (count.0 + 1, count.1.max(time));
        drop(counts);
        if matches!(outcome, "crash" | "time" | "protocol" | "start") {
            let why = found.err().map_or_else(String::new, |error| error.to_string());
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            println!("{outcome}: {name}, round {round}: {why}");
            fs::create_dir_all(&self.kept)?;
            fs::write(self.kept.join(Path::new(&format!("{round}-{name}"))), data)?;
        }
        Ok(())
    }

    fn report(&self) -> io::Result<()> {
        let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let mut out = io::stdout().lock();
        writeln!(out, "{} files, seed {}", self.files.len(), self.seed)?;
        for (outcome, (count, time)) in &*counts {
            writeln!(out, "{outcome}: {count}, at most {time} ms")?;
        }
        Ok(())
    }
}

/// The name of an outcome.
fn outcome(found: &Result<Extracted, ExtractFailure>) -> &'static str {
    match found {
        Ok(found) if found.cut => "a part",
        Ok(_) => "text",
        Err(ExtractFailure::NotADocument) => "not a document",
        Err(ExtractFailure::Failed(_)) => "an error",
        Err(ExtractFailure::TooMuchMemory { .. }) => "memory",
        Err(ExtractFailure::TimedOut { .. }) => "time",
        Err(ExtractFailure::Died { .. }) => "crash",
        Err(ExtractFailure::Protocol(_)) => "protocol",
        Err(_) => "start",
    }
}

/// Changes up to eight places, half of them near the start, or cuts the end off.
fn change(data: &mut Vec<u8>, random: &mut fastrand::Rng) {
    for _ in 0..random.usize(1..=8) {
        let most = if random.bool() { data.len().min(1_024) } else { data.len() };
        let at = random.usize(0..most);
        let end = (at + 4).min(data.len());
        match random.u8(0..8) {
            0 => data.truncate(at.max(1)),
            1 => data.get_mut(at..end).unwrap_or_default().fill(0xff),
            2 => data.get_mut(at..end).unwrap_or_default().fill(0),
            3 => {
                let from = random.usize(0..data.len());
                let length = random.usize(0..64).min(data.len() - from.max(at));
                data.copy_within(from..from + length, at);
            }
            _ => {
                if let Some(byte) = data.get_mut(at) {
                    *byte ^= 1 << random.u8(0..8);
                }
            }
        }
    }
}
