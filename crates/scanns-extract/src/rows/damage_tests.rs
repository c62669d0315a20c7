//! Damaged tables: they must not hang, and not take more memory than the process may have.
//!
//! The parsers may panic or run out of memory, which ends their process. So the test starts itself again as a
//! worker with the limits of the real child, and goes on after each file that ended one.

use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use parquet::basic::Compression;
use rustix::process::{Resource, Rlimit, setrlimit};

use super::tests::{arrow_of, batch, file_of, parquet_of};
use super::write_rows;

/// Where a worker starts and ends, and the seed: `from,to,seed`.
const WORK: &str = "ROWS_DAMAGE_WORK";

/// Refuses more than a number of bytes.
struct Little(usize);

impl Write for Little {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or_else(|| io::Error::other("enough"))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A damaged copy: bytes changed, a stretch cut out or repeated.
fn mutated(bytes: &[u8], random: &mut fastrand::Rng) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..random.usize(1..4) {
        let at = random.usize(..bytes.len());
        let end = (at + random.usize(1..40)).min(bytes.len());
        match random.u8(..8) {
            0 => drop(bytes.drain(at..end)),
            1 => bytes = [&bytes[..end], &bytes[at..]].concat(),
            2 => bytes[at..end].fill(random.choice([0, 0xff, 0x7f, 0x80]).unwrap()),
            3 => bytes[at] = random.choice([0, 1, 0x7f, 0x80, 0xff]).unwrap(),
            _ => bytes[at] ^= 1 << random.u8(..8),
        }
        if bytes.is_empty() {
            break;
        }
    }
    bytes
}

#[test]
fn damaged_tables_cost_no_more_than_their_process() {
    let rounds = std::env::var("ROWS_MUTATIONS").ok().and_then(|rounds| rounds.parse().ok());
    let rounds: u64 = rounds.unwrap_or(if cfg!(debug_assertions) { 2_000 } else { 100_000 });
    let seed = fastrand::u64(..);
    let (mut from, mut ended, mut reports) = (0, 0, String::new());
    while from < rounds {
        let worker = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "rows::damage_tests::worker", "--ignored", "--nocapture"])
            .env(WORK, format!("{from},{rounds},{seed}"))
            .stderr(Stdio::null())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&worker.stdout).into_owned();
        let number = |name: &str| {
            let line = said.lines().rev().find_map(|line| line.strip_prefix(name))?;
            line.trim().parse::<u64>().ok()
        };
        assert_eq!(number("slow:"), None, "seed {seed}: {said}");
        if let Some(report) = said.lines().find(|line| line.starts_with("done:")) {
            reports.push_str(report);
            break;
        }
        ended += 1;
        from = number("round:").expect("a worker says its rounds") + 1;
        assert!(ended < 20 + rounds / 50, "seed {seed}: too many files end the process");
    }
    println!("{rounds} damaged tables, {ended} ended their process, seed {seed}; the last worker: {reports}");
}

#[test]
#[ignore = "a part of another test, in a process of its own"]
fn worker() {
    let Ok(work) = std::env::var(WORK) else { return };
    let work: Vec<u64> = work.split(',').map(|number| number.parse().unwrap()).collect();
    let [from, to, seed] = work[..] else { panic!("from, to, seed") };
    for (resource, limit) in [(Resource::As, 2 << 30), (Resource::Cpu, 300)] {
        setrlimit(resource, Rlimit { current: Some(limit), maximum: Some(limit) }).unwrap();
    }
    let small = batch(20);
    let seeds = [
        parquet_of(&small, Compression::UNCOMPRESSED, 8),
        parquet_of(&small, Compression::SNAPPY, 100),
        parquet_of(&small, Compression::ZSTD(Default::default()), 100),
        arrow_of(&small, false),
        arrow_of(&small, true),
    ];
    std::panic::set_hook(Box::new(|_| {}));
    let (mut panics, mut errors, mut longest) = (0, 0, Duration::ZERO);
    for round in from..to {
        println!("round: {round}");
        let mut random = fastrand::Rng::with_seed(seed ^ round.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let bytes = mutated(random.choice(&seeds).unwrap(), &mut random);
        let start = Instant::now();
        match catch_unwind(AssertUnwindSafe(|| write_rows(file_of(&bytes), &mut Little(4 << 20)))) {
            Err(_) => panics += 1,
            Ok(Err(_)) => errors += 1,
            Ok(Ok(_)) => {}
        }
        longest = longest.max(start.elapsed());
        if start.elapsed() > Duration::from_secs(20) {
            println!("slow: {round}");
            return;
        }
    }
    println!("done: {errors} errors, {panics} panics, at most {longest:?}");
}
