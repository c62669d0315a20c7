//! Every request is answered or refused: no text, and no query that a program may build, makes the engine
//! panic, hang or take much memory.
//!
//! `text.rs` makes texts: by the grammar, by changing such texts, and of any characters. `typed.rs` makes
//! queries as programs do. `columns.rs` requests orders, counts and groups of the matches. `world.rs` has the
//! indexes, on disk and in memory, of one segment and of several, with deleted documents. Queries that parse
//! are run. An execution depends only on its seed, a number counted from `SCANNS_SEED`. A failure is reported
//! with its seed, and running the tests with this seed starts with the failure.
//!
//! The test runs for `SCANNS_FUZZ_SECONDS`, or with `SCANNS_LONG=1` for ten million executions.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test, outside of functions marked as one")]

mod columns;
mod text;
mod typed;
mod world;

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use fastrand::Rng;
use scanns::query::{Operator, Pattern};
use scanns::search::{Model, Searcher};
use scanns::{Error, Hit, Query};
use world::World;

/// Executions of the long run.
const LONG: u64 = 10_000_000;

/// Seconds of the short run.
const SECONDS: u64 = 5;

/// The maximum time of an execution, on a busy machine.
const SLOWEST: Duration = Duration::from_secs(10);

/// The maximum amount of additional memory of all executions together, in bytes.
const MOST_MEMORY: u64 = 256 << 20;

/// The request of one execution.
#[derive(Debug)]
enum Asked {
    Text(String, Operator),
    Query(Query),
}

fn long() -> bool {
    std::env::var_os("SCANNS_LONG").is_some_and(|value| value != "0")
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |value| value.parse().unwrap())
}

/// The request of the execution with this seed, its world, and the generator that decides how it is run.
fn asked(seed: u64, worlds: &[World]) -> (Asked, &World, Rng) {
    let mut random = Rng::with_seed(seed);
    let world = &worlds[random.usize(0..worlds.len())];
    let asked = match random.u8(0..4) {
        0 => Asked::Query(typed::query(&mut random, world, 0)),
        _ => {
            let operator = if random.bool() { Operator::And } else { Operator::Or };
            Asked::Text(text::text(&mut random, world), operator)
        }
    };
    (asked, world, random)
}

fn model(random: &mut Rng) -> Model {
    match random.u8(0..10) {
        0..3 => Model::default(),
        3 => Model::Bm25 { k1: 0.0, b: 1.0 },
        4 => Model::Classic,
        5 => Model::LmDirichlet { mu: 2000.0 },
        6 => Model::LmJelinekMercer { lambda: 0.7 },
        7 => Model::Pl2 { c: 1.0 },
        8 => Model::Dph,
        _ => Model::PNorm { p: [1.0, 2.0, f64::INFINITY][random.usize(0..3)] },
    }
}

/// Checks that an error refuses a request: the indexes are intact, so no error may report damage or a
/// failure.
fn refused(error: &Error) {
    let failed = matches!(
        error,
        Error::Io { .. }
            | Error::System { .. }
            | Error::OutOfMemory { .. }
            | Error::Corrupt { .. }
            | Error::WorkerPanicked { .. }
    );
    assert!(!failed, "an answer became an error: {error:?}");
    assert!(!error.to_string().is_empty());
}

/// Runs one execution; true if there was a query to run.
fn execute(seed: u64, worlds: &[World]) -> bool {
    let (asked, world, mut random) = asked(seed, worlds);
    let opened = world.open(&mut random);
    let query = match asked {
        Asked::Query(query) => query,
        Asked::Text(text, operator) => match opened.parse(&text, operator) {
            Ok(query) => query,
            Err(error) => {
                refused(&error);
                return false;
            }
        },
    };
    assert!(query.memory_bytes() > 0);
    let searcher = opened.searcher();
    let searcher = if random.u8(0..8) == 0 { searcher.exhaustive() } else { searcher };
    let model = model(&mut random);
    let most = [0, 1, 10, 1000][random.usize(0..4)];
    let outcome = match random.u8(0..11) {
        0..3 => searcher.top_k(&query, model, most).map(drop),
        3..5 => searcher.count(&query).map(drop),
        5..7 => {
            let mut left = most;
            searcher.for_each(&query, model, |_| {
                left = left.saturating_sub(1);
                if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })
        }
        7 => agree(&searcher, &query, model),
        _ => columns::ask(&searcher, &query, model, world, &mut random),
    };
    if let Err(error) = outcome {
        refused(&error);
    }
    true
}

/// All ways to run a query give the same answer.
fn agree(searcher: &Searcher, query: &Query, model: Model) -> Result<(), Error> {
    let mut all: Vec<Hit> = Vec::new();
    searcher.for_each(query, model, |hit| {
        all.push(hit);
        ControlFlow::Continue(())
    })?;
    assert!(all.iter().all(|hit| hit.score.is_finite() && hit.score >= 0.0), "{query:?} scores {model:?}");
    assert!(all.is_sorted_by_key(|hit| (hit.leaf, hit.doc)), "{query:?} is not in order");
    // In the extended Boolean model an exclusion only lowers the score.
    if !matches!(model, Model::PNorm { .. }) {
        assert_eq!(searcher.count(query)?, all.len() as u64, "{query:?} is counted otherwise");
    }
    all.sort_by(|a, b| b.score.total_cmp(&a.score).then((a.leaf, a.doc).cmp(&(b.leaf, b.doc))));
    all.truncate(10);
    assert_eq!(searcher.top_k(query, model, 10)?, all, "{query:?} by {model:?} has other best hits");
    Ok(())
}

/// State that the executing threads share with the watching one.
struct Shared {
    next: AtomicU64,
    executed: AtomicU64,
    run: AtomicU64,
    stop: AtomicBool,
    /// By thread, the seed of its current execution.
    now: Vec<AtomicU64>,
}

/// Executes until the time is up or an execution fails.
fn work(shared: &Shared, thread: usize, worlds: &[World]) {
    while !shared.stop.load(Ordering::Relaxed) {
        let seed = shared.next.fetch_add(1, Ordering::Relaxed);
        shared.now[thread].store(seed, Ordering::Relaxed);
        match catch_unwind(AssertUnwindSafe(|| execute(seed, worlds))) {
            Ok(run) => {
                shared.run.fetch_add(u64::from(run), Ordering::Relaxed);
                shared.executed.fetch_add(1, Ordering::Relaxed);
            }
            Err(panic) => {
                shared.stop.store(true, Ordering::Relaxed);
                eprintln!("SCANNS_SEED={seed} panics: {:?}", asked(seed, worlds).0);
                resume_unwind(panic);
            }
        }
    }
}

/// A value from the kernel's table about this process, in bytes.
fn memory(name: &str) -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kib| kib << 10)
}

/// Ends the process, because a thread that hangs cannot be stopped.
fn give_up(shared: &Shared, worlds: &[World], why: &str) -> ! {
    for now in &shared.now {
        let seed = now.load(Ordering::Relaxed);
        eprintln!("{why}: SCANNS_SEED={seed} asks {:?}", asked(seed, worlds).0);
    }
    std::process::exit(1);
}

/// Watches until the time is up; returns the maximum amount of additional memory.
fn watch(shared: &Shared, worlds: &[World]) -> u64 {
    // Resets the peak after the worlds were built, if the kernel allows it.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
    let before = memory("VmHWM:");
    if before.is_none() {
        eprintln!("SKIPPED: memory is not watched, there is no /proc");
    }
    let seconds = Duration::from_secs(number("SCANNS_FUZZ_SECONDS", SECONDS));
    let begin = Instant::now();
    let mut seen = vec![(0, begin); shared.now.len()];
    let mut taken = 0;
    let mut told = begin;
    while !shared.stop.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(50));
        for (now, seen) in shared.now.iter().zip(&mut seen) {
            let seed = now.load(Ordering::Relaxed);
            if seed != seen.0 {
                *seen = (seed, Instant::now());
            } else if seen.1.elapsed() > SLOWEST {
                give_up(shared, worlds, "hangs");
            }
        }
        taken = memory("VmHWM:").zip(before).map_or(0, |(now, before)| now.saturating_sub(before));
        if taken > MOST_MEMORY {
            give_up(shared, worlds, "takes too much memory");
        }
        let executed = shared.executed.load(Ordering::Relaxed);
        let over = if long() { executed >= LONG } else { begin.elapsed() > seconds };
        if over {
            shared.stop.store(true, Ordering::Relaxed);
        }
        if told.elapsed() > Duration::from_secs(10) {
            told = Instant::now();
            eprintln!("{executed} executions, {} MiB more than before", taken >> 20);
        }
    }
    taken
}

#[test]
fn whatever_is_asked_is_answered_or_refused() {
    let place = tempfile::tempdir().unwrap();
    let worlds = world::all(place.path());
    let first = number("SCANNS_SEED", 0x5eed_0700);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = if long() { cores } else { 1 };
    let shared = Shared {
        next: AtomicU64::new(first),
        executed: AtomicU64::new(0),
        run: AtomicU64::new(0),
        stop: AtomicBool::new(false),
        now: (0..threads).map(|_| AtomicU64::new(first)).collect(),
    };
    let taken = std::thread::scope(|scope| {
        for thread in 0..threads {
            let (shared, worlds) = (&shared, &worlds);
            scope.spawn(move || work(shared, thread, worlds));
        }
        watch(&shared, &worlds)
    });
    let (executed, run) = (shared.executed.into_inner(), shared.run.into_inner());
    eprintln!(
        "SCANNS_SEED={first}: {executed} executions, {run} with a query, at most {} MiB more than before",
        taken >> 20
    );
    assert!(run > executed / 4, "most texts were refused, so little was tried");
}

/// Adds the kinds of the clauses in a query to `seen`.
fn kinds(query: &Query, seen: &mut BTreeSet<&'static str>) {
    seen.extend(query.clauses().map(|clause| match clause {
        Query::Term(_) => "term",
        Query::Bool(_) => "list",
        Query::Phrase(phrase) if phrase.slop == 0 => "phrase",
        Query::Phrase(_) => "sloppy phrase",
        Query::Pattern { pattern: Pattern::Prefix(_), .. } => "prefix",
        Query::Pattern { pattern: Pattern::Wildcard(_), .. } => "wildcard",
        Query::Pattern { pattern: Pattern::Regex(_), .. } => "regex",
        Query::Pattern { pattern: Pattern::Fuzzy { .. }, .. } => "fuzzy",
        Query::Pattern { pattern: Pattern::Range(..), .. } => "range",
        Query::Pattern { pattern: Pattern::Set(_), .. } => "set",
        Query::All => "all",
        Query::Exists(_) => "exists",
        Query::Values(_) => "values",
        Query::ValuePattern { .. } => "value pattern",
        Query::Join(_) => "join",
        Query::Boost(..) => "boost",
        Query::Scored(_) => "scored",
        Query::Best(_) => "best",
    }));
}

#[test]
fn all_kinds_of_queries_come_of_texts_and_are_built() {
    let place = tempfile::tempdir().unwrap();
    let worlds = world::all(place.path());
    let (mut of_texts, mut built, mut refusals) = (BTreeSet::new(), BTreeSet::new(), 0);
    for seed in 0..4000 {
        let (asked, world, mut random) = asked(seed, &worlds);
        match asked {
            Asked::Query(query) => kinds(&query, &mut built),
            Asked::Text(text, operator) => match world.open(&mut random).parse(&text, operator) {
                Ok(query) => kinds(&query, &mut of_texts),
                Err(_) => refusals += 1,
            },
        }
    }
    assert_eq!((of_texts.len(), built.len()), (16, 18), "{of_texts:?} {built:?}");
    assert!((200..2000).contains(&refusals), "{refusals} refused");
}

#[test]
fn an_execution_follows_from_its_seed() {
    let place = tempfile::tempdir().unwrap();
    let worlds = world::all(place.path());
    for seed in 0..200 {
        let show = || format!("{:?}", asked(seed, &worlds).0);
        assert_eq!(show(), show());
    }
}
