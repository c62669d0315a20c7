//! Measures how long it takes to look up a term among all terms of an index, and to open the index.
//!
//! Terms are drawn evenly from the dictionary and looked up in random order, so that hardly any two of them
//! share a block or a cache line. Absent terms are the same terms with one more byte. Everything is warm.

use std::hint::black_box;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use scanns::Snapshot;
use scanns_bench::results::{Better, Results, Series};

use crate::text;

/// What to look up.
#[derive(Debug, clap::Args)]
pub struct DictionaryArgs {
    /// An index
    pub index: PathBuf,
    /// Terms to draw; 0 measures opening only
    #[arg(long, default_value_t = 200_000)]
    pub terms: usize,
    /// Rounds
    #[arg(long, default_value_t = 7)]
    pub repetitions: usize,
    /// Seed of the draw
    #[arg(long, default_value_t = 5)]
    pub seed: u64,
}

/// Draws terms evenly. Also returns the number of all terms.
fn draw(snapshot: &Snapshot, args: &DictionaryArgs) -> Result<(u64, Vec<Vec<u8>>)> {
    let mut random = fastrand::Rng::with_seed(args.seed);
    let (mut seen, mut drawn) = (0u64, Vec::with_capacity(args.terms));
    let searcher = snapshot.searcher();
    let mut terms = searcher.terms(b"")?;
    while let Some(term) = terms.advance()? {
        seen += 1;
        if drawn.len() < args.terms {
            drawn.push(term.term.clone());
        } else if let Some(slot) =
            usize::try_from(random.u64(..seen)).ok().and_then(|place| drawn.get_mut(place))
        {
            slot.clone_from(&term.term);
        }
    }
    random.shuffle(&mut drawn);
    Ok((seen, drawn))
}

/// Nanoseconds per look-up, one sample per round.
fn look_up(snapshot: &Snapshot, terms: &[Vec<u8>], rounds: usize, there: bool) -> Result<Vec<f64>> {
    let field = snapshot.schema().default_field().unwrap_or_default();
    let mut times = Vec::with_capacity(rounds);
    for _ in 0..=rounds {
        let begin = Instant::now();
        let mut found = 0;
        for term in terms {
            found += usize::from(black_box(snapshot.doc_freq(field, term)?) > 0);
        }
        times.push(begin.elapsed().as_secs_f64() * 1e9 / terms.len().max(1) as f64);
        ensure!(!there || found == terms.len(), "{found} of {} terms were found", terms.len());
    }
    // The first round only warmed the cache.
    times.remove(0);
    Ok(times)
}

/// Memory of this process in MiB: its own, and the memory of mapped files.
fn memory() -> Result<[f64; 2]> {
    let text = std::fs::read_to_string("/proc/self/status").context("cannot read /proc/self/status")?;
    let find = |name: &str| -> Result<f64> {
        let line =
            text.lines().find_map(|line| line.strip_prefix(name)).with_context(|| format!("no {name}"))?;
        let kib: f64 = line.trim().trim_end_matches("kB").trim().parse()?;
        Ok(kib / 1024.0)
    };
    Ok([find("RssAnon:")?, find("RssFile:")?])
}

/// Measures an index.
pub fn run(args: &DictionaryArgs, results: &mut Results) -> Result<()> {
    let before = memory()?;
    let begin = Instant::now();
    let snapshot = Snapshot::open(&args.index)?;
    let first = begin.elapsed().as_secs_f64() * 1e3;
    let after = memory()?;
    let (count, terms) = if args.terms > 0 { draw(&snapshot, args)? } else { (0, Vec::new()) };
    let subject = format!("{}, {} segments", text::name(&args.index), snapshot.segments().len());
    println!("dictionary: {subject}, {count} terms");
    let absent: Vec<Vec<u8>> = terms.iter().map(|term| [term, &b"\x01"[..]].concat()).collect();
    let mut add = |what: &str, metric: (&str, &str), values: Vec<f64>| {
        let metric = (metric.0, metric.1, Better::Lower);
        results.add(Series::of("dictionary", &subject, what, metric, values), None);
    };
    if !terms.is_empty() {
        add("term that is there", ("look-up", "ns"), look_up(&snapshot, &terms, args.repetitions, true)?);
        add("term that is not", ("look-up", "ns"), look_up(&snapshot, &absent, args.repetitions, false)?);
    }
    add("index", ("opening for the first time", "ms"), vec![first]);
    let mut times = Vec::new();
    for _ in 0..args.repetitions.max(1) {
        let begin = Instant::now();
        black_box(Snapshot::open(&args.index)?);
        times.push(begin.elapsed().as_secs_f64() * 1e3);
    }
    add("index", ("opening", "ms"), times);
    add("index", ("memory once open", "MiB"), vec![(after[0] - before[0]).max(0.0)]);
    add("index", ("mapped once open", "MiB"), vec![(after[1] - before[1]).max(0.0)]);
    Ok(())
}
