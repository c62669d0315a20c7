//! Prints how fast the readers bring a file or tree into blocks, in MiB/s.
//!
//! `reader_rate PATH [BLOCK_KIB] [DEPTH] [direct|sync|buffered|auto] [THREADS]`: `direct` reads through
//! io_uring past the page cache, `sync` the same by plain reads, `buffered` through the page cache. Each of the
//! lanes only takes blocks and gives them back.

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use scanns::{Analyzer, Direct, ReadOptions, Records, SourceOptions};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = PathBuf::from(arguments.next().ok_or("a path is needed")?);
    let block_bytes = arguments.next().map_or(Ok(1 << 10), |kib| kib.parse::<usize>())? << 10;
    let queue_depth = arguments.next().map_or(Ok(4), |depth| depth.parse::<usize>())?;
    let (direct, uring) = match arguments.next().as_deref() {
        None | Some("direct") => (Direct::Always, true),
        Some("sync") => (Direct::Always, false),
        Some("buffered") => (Direct::Never, false),
        Some("auto") => (Direct::Auto, true),
        Some(other) => return Err(format!("'{other}' is none of direct, sync, buffered, auto").into()),
    };
    let threads = arguments.next().map_or(Ok(1), |threads| threads.parse::<usize>())?;

    let begin = Instant::now();
    let cancel = Arc::new(AtomicBool::new(false));
    let source = SourceOptions { paths: vec![path], ..SourceOptions::default() };
    let found = scanns::collect(&source, &cancel)?;
    println!(
        "{} files found in {:.3} s, CPU {:.2} s",
        found.inputs.len(),
        begin.elapsed().as_secs_f64(),
        cpu_seconds()
    );

    let options = ReadOptions {
        read_threads: threads,
        lanes: threads,
        block_bytes,
        blocks_per_lane: queue_depth + 2,
        queue_depth,
        direct,
        uring,
        ..ReadOptions::default()
    };
    let (begin, before) = (Instant::now(), cpu_seconds());
    let analyzer = Analyzer::parse("paths")?;
    let (driver, lanes) = scanns::start(Arc::new(found.inputs), Records::File, &analyzer, &options, cancel)?;
    let lanes: Vec<_> = lanes.into_iter().map(|lane| std::thread::spawn(|| lane.count())).collect();
    let blocks: usize = lanes.into_iter().filter_map(|lane| lane.join().ok()).sum();
    let report = driver.finish()?;
    let (seconds, mib) = (begin.elapsed().as_secs_f64(), report.bytes as f64 / f64::from(1 << 20));
    let rate = mib / seconds;
    println!(
        "{mib:.0} MiB in {blocks} blocks, {seconds:.3} s, {rate:.0} MiB/s, CPU {:.2} s",
        cpu_seconds() - before
    );
    Ok(())
}

/// Processor time of this process so far, in steps of 10 ms; 0 where `/proc` does not tell.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11).take(2);
    fields.filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}
