//! What HTTP costs: answers of `scanns serve` beside those of the library, and the server under load.
//!
//! `options.rs` has the options and the queries, `client.rs` the server and its client, `load.rs` closed and
//! open loops, and `hidden.rs` asks what the time of an answer tells of documents that a user may not see.
//! Client and server share the machine, so that rates of the server are below those of a client on another
//! one.

mod client;
mod hidden;
mod load;
mod options;

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use scanns::Snapshot;
use scanns_bench::results::{Better, Results, Series};
use scanns_bench::stats::{median, quantile};

use self::client::{Client, Served, encoded};
pub use self::hidden::HiddenArgs;
pub(crate) use self::hidden::run as run_hidden;
pub use self::options::ServeArgs;
use self::options::{Asked, queries};
use crate::text;

/// Times of one connection beside those of the library, in µs, in turns.
fn latency(
    snapshot: &Snapshot,
    served: &Served,
    class: &str,
    asked: &[Asked],
    args: &ServeArgs,
    results: &mut Results,
) -> Result<()> {
    let mut client = Client::connect(&served.socket)?;
    let (mut library, mut http) = (Vec::new(), Vec::new());
    for round in 0..=args.repetitions.max(1) {
        for query in asked {
            let begin = Instant::now();
            query.of_library(snapshot)?;
            let own = begin.elapsed().as_secs_f64() * 1e6;
            let answer = client.get(&query.target)?;
            ensure!(
                answer.status == 200,
                "status {} of {}: {}",
                answer.status,
                query.target,
                String::from_utf8_lossy(&client.text)
            );
            // The first round warms up.
            if round > 0 {
                library.push(own);
                http.push(answer.time.as_secs_f64() * 1e6);
            }
        }
    }
    let above: Vec<f64> = http.iter().zip(&library).map(|(http, own)| http - own).collect();
    let p99 = |times: &[f64]| {
        let mut sorted = times.to_vec();
        sorted.sort_by(f64::total_cmp);
        quantile(&sorted, 0.99)
    };
    println!(
        "{class}: library {:.0} µs, HTTP {:.0} µs, above {:.0} µs at p50; p99 {:.0} and {:.0} µs",
        median(&library),
        median(&http),
        median(&above),
        p99(&library),
        p99(&http)
    );
    let subject = text::name(&args.index);
    let metric = ("10 best over HTTP", "µs", Better::Lower);
    results.add(Series::of("serve", &subject, class, metric, http), Some(&library));
    Ok(())
}

/// The time for which the server works on a query after its client hung up, in ms.
fn hang_up(served: &Served, index: &str, slow: &str, args: &ServeArgs, results: &mut Results) -> Result<()> {
    let target = format!("/api/v1/{index}/search?q={}", encoded(slow));
    let whole = Client::connect(&served.socket)?.get(&target)?;
    let mut samples = Vec::new();
    for round in 0..args.repetitions.max(1) {
        let mut client = Client::connect(&served.socket)?;
        client.send(&target)?;
        let share = u32::try_from(round % 8 + 1)?;
        std::thread::sleep(whole.time * share / 10);
        drop(client);
        let gone = Instant::now();
        let (mut last, mut worked) = (served.processor_time()?, Duration::ZERO);
        // It rests if it has taken no time for 20 ms.
        while gone.elapsed() < worked + Duration::from_millis(20) {
            std::thread::sleep(Duration::from_micros(500));
            let now = served.processor_time()?;
            if now > last + Duration::from_micros(100) {
                worked = gone.elapsed();
            }
            last = now;
        }
        samples.push(worked.as_secs_f64() * 1e3);
    }
    let most = samples.iter().copied().fold(0.0, f64::max);
    println!(
        "a query of {:.0} ms whose client hangs up ends after {:.1} ms, at most {most:.1} ms",
        whole.time.as_secs_f64() * 1e3,
        median(&samples)
    );
    let metric = ("work after hanging up", "ms", Better::Lower);
    results.add(Series::of("serve", &text::name(&args.index), slow, metric, samples), None);
    Ok(())
}

/// Measures the server.
pub fn run(args: &ServeArgs, results: &mut Results) -> Result<()> {
    let snapshot = Snapshot::open(&args.index)?;
    let place = tempfile::tempdir()?;
    let served = Served::start(&args.program, &args.index, place.path(), &[])?;
    let index = args.index.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    for (class, asked) in queries(&args.queries, &index)? {
        latency(&snapshot, &served, &class, &asked, args, results)?;
        load::measure(&snapshot, &served, &class, &asked, args, results)?;
    }
    if let Some(slow) = &args.slow {
        hang_up(&served, &index, slow, args, results)?;
    }
    println!("the server held at most {} KiB", served.peak_memory()?);
    Ok(())
}
