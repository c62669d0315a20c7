//! The server under load: as many requests as it can answer, requests that come at random times, and more
//! than it can answer.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use scanns::Snapshot;
use scanns_bench::results::{Better, Results, Series};
use scanns_bench::stats::quantile;

use super::client::{Client, HttpAnswer, Served};
use super::options::{Asked, ServeArgs};
use crate::text;

/// Runs `work` on each of the threads, with its number, until it is told that the time is over. Returns the
/// number of requests per second.
fn rate(
    threads: usize,
    time: Duration,
    work: impl Fn(usize, &AtomicBool) -> Result<usize> + Sync,
) -> Result<f64> {
    let is_over = AtomicBool::new(false);
    let begin = Instant::now();
    let total = std::thread::scope(|scope| -> Result<usize> {
        let (work, is_over) = (&work, &is_over);
        let workers: Vec<_> = (0..threads).map(|at| scope.spawn(move || work(at, is_over))).collect();
        std::thread::sleep(time);
        is_over.store(true, Ordering::Relaxed);
        let mut total = 0;
        for worker in workers {
            total += worker.join().map_err(|_| anyhow!("a thread failed"))??;
        }
        Ok(total)
    })?;
    #[expect(clippy::cast_precision_loss, reason = "a count of requests")]
    Ok(total as f64 / begin.elapsed().as_secs_f64())
}

/// The queries per second of the library on a number of threads.
fn of_library(snapshot: &Snapshot, asked: &[Asked], threads: usize, time: Duration) -> Result<f64> {
    rate(threads, time, |at, is_over| {
        let mut count = 0;
        for query in asked.iter().cycle().skip(at) {
            if is_over.load(Ordering::Relaxed) {
                break;
            }
            query.of_library(snapshot)?;
            count += 1;
        }
        Ok(count)
    })
}

/// The queries per second of the server with a number of connections, each of which waits for its answers;
/// and the answers that it refused.
fn of_server(
    served: &Served,
    asked: &[Asked],
    connections: usize,
    time: Duration,
) -> Result<(f64, Vec<HttpAnswer>)> {
    let refused = Mutex::new(Vec::new());
    let rate = rate(connections, time, |at, is_over| {
        let (mut client, mut count) = (Client::connect(&served.socket)?, 0);
        for query in asked.iter().cycle().skip(at) {
            if is_over.load(Ordering::Relaxed) {
                break;
            }
            let answer = client.get(&query.target)?;
            match answer.status {
                200 => count += 1,
                503 => refused.lock().map_err(|_| anyhow!("a thread failed"))?.push(answer),
                status => return Err(anyhow!("status {status} of {}", query.target)),
            }
        }
        Ok(count)
    })?;
    Ok((rate, refused.into_inner().map_err(|_| anyhow!("a thread failed"))?))
}

/// Sends requests at random times, `rate` a second, whether or not others were answered. Returns the times
/// from when a request was due to the end of its answer, in µs, sorted.
fn open_loop(served: &Served, asked: &[Asked], rate: f64, args: &ServeArgs) -> Result<Vec<f64>> {
    let mut random = fastrand::Rng::with_seed(args.seed);
    let (mut due, mut at) = (Vec::new(), 0.0);
    #[expect(clippy::cast_precision_loss, reason = "seconds")]
    while at < args.seconds as f64 {
        due.push(Duration::from_secs_f64(at));
        at -= (1.0 - random.f64()).ln() / rate;
    }
    let (next, times) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let begin = Instant::now();
    std::thread::scope(|scope| -> Result<()> {
        let send = || -> Result<()> {
            let (mut client, mut own) = (Client::connect(&served.socket)?, Vec::new());
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let (Some(&due), Some(query)) = (due.get(number), asked.get(number % asked.len().max(1)))
                else {
                    break;
                };
                if let Some(rest) = due.checked_sub(begin.elapsed()) {
                    std::thread::sleep(rest);
                }
                client.get(&query.target)?;
                own.push(begin.elapsed().saturating_sub(due).as_secs_f64() * 1e6);
            }
            times.lock().map_err(|_| anyhow!("a thread failed"))?.extend(own);
            Ok(())
        };
        let clients: Vec<_> = (0..32).map(|_| scope.spawn(send)).collect();
        for client in clients {
            client.join().map_err(|_| anyhow!("a thread failed"))??;
        }
        Ok(())
    })?;
    let mut times = times.into_inner().map_err(|_| anyhow!("a thread failed"))?;
    times.sort_by(f64::total_cmp);
    Ok(times)
}

/// Measures a class of queries under load.
pub(super) fn measure(
    snapshot: &Snapshot,
    served: &Served,
    class: &str,
    asked: &[Asked],
    args: &ServeArgs,
    results: &mut Results,
) -> Result<()> {
    let cores = std::thread::available_parallelism()?.get();
    let time = Duration::from_secs(args.seconds);
    let (mut own, mut http, mut most) = (Vec::new(), Vec::new(), 0.0_f64);
    for _ in 0..args.repetitions.clamp(1, 5) {
        own.push(of_library(snapshot, asked, cores, time)?);
        let (worked, begin) = (served.processor_time()?, Instant::now());
        let (rate, _) = of_server(served, asked, cores * 2, time)?;
        let busy = (served.processor_time()? - worked).as_secs_f64() / begin.elapsed().as_secs_f64();
        http.push(rate);
        most = most.max(rate);
        #[expect(clippy::cast_precision_loss, reason = "a number of cores")]
        let cores = cores as f64;
        println!(
            "{class}: {rate:.0} requests/s with {busy:.2} cores, so {:.0} with all; the library {:.0}",
            rate / busy * cores,
            own.last().copied().unwrap_or_default()
        );
    }
    let times = open_loop(served, asked, most * 0.7, args)?;
    let (half, late) = (quantile(&times, 0.5), quantile(&times, 0.99));
    println!(
        "{class}: open loop at {:.0}/s: p50 {half:.0} µs, p99 {late:.0} µs, {:.1} ×",
        most * 0.7,
        late / half
    );
    let (rate, refused) = of_server(served, asked, 240, time)?;
    let mut waits: Vec<f64> = refused.iter().map(|answer| answer.time.as_secs_f64() * 1e3).collect();
    waits.sort_by(f64::total_cmp);
    println!(
        "{class}: 240 connections: {rate:.0} answers/s, {} refused in {:.2} ms, p99 {:.2} ms",
        waits.len(),
        quantile(&waits, 0.5),
        quantile(&waits, 0.99)
    );
    let subject = text::name(&args.index);
    let metric = ("queries of all cores", "1/s", Better::Higher);
    results.add(Series::of("serve", &subject, class, metric, http), Some(&own));
    let metric = ("open loop at 70 %", "µs", Better::Lower);
    results.add(Series::of("serve", &subject, class, metric, times), None);
    let metric = ("refused", "ms", Better::Lower);
    results.add(Series::of("serve", &subject, class, metric, waits), None);
    Ok(())
}
