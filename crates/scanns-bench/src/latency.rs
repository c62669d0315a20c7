//! Time per query by class and by the number of concurrent searchers, with a warm cache.
//!
//! Table II of the paper measures all hits in no order. Most users ask for the ten best hits in order. Each
//! searcher is a thread that asks every query of a class once per round. Each one starts at a different
//! query, so that they do not read the same postings at the same time. A single searcher may also share each
//! query among several threads.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Barrier;
use std::time::Instant;

use anyhow::{Context, Result};
use scanns::index::{InvertOptions, MemoryIndex};
use scanns::query::Operator;
use scanns::schema::Analyzer;
use scanns::search::{Model, SearchThreads, Searcher};
use scanns::sources::PageSize;
use scanns::{Query, Snapshot};
use scanns_bench::results::{Better, Results, Series};
use scanns_bench::stats::{in_turns, quantile};

use crate::text;

/// The index and the queries.
#[derive(Debug, clap::Args)]
pub struct LatencyArgs {
    /// An index
    pub index: PathBuf,
    /// A file with a class, a tab and terms on each line; classes that begin with "and" require all terms
    pub queries: PathBuf,
    /// The file has queries in the query language instead of terms
    #[arg(long)]
    pub language: bool,
    /// Files to index in memory as well, one document each, and to search as the paper did
    #[arg(long)]
    pub in_memory: Option<PathBuf>,
    /// Concurrent searchers
    #[arg(long, value_delimiter = ',', default_value = "1,2,4")]
    pub searchers: Vec<usize>,
    /// Threads that share each query, with one searcher
    #[arg(long, value_delimiter = ',', default_value = "1")]
    pub threads: Vec<usize>,
    /// How scores are computed
    #[arg(long, default_value = "bm25", value_parser = Model::parse)]
    pub model: Model,
    /// Rounds; in each, every class is asked with every number of searchers
    #[arg(long, default_value_t = 11)]
    pub repetitions: usize,
}

impl LatencyArgs {
    /// The defaults, in a few rounds, for an index, queries, and files to search in memory.
    pub fn quick(index: &Path, queries: &Path, in_memory: Option<&Path>) -> Self {
        LatencyArgs {
            index: index.into(),
            queries: queries.into(),
            language: false,
            in_memory: in_memory.map(Path::to_path_buf),
            searchers: vec![1, 2],
            threads: vec![1, 2],
            model: Model::Bm25 { k1: 1.2, b: 0.75 },
            repetitions: 5,
        }
    }
}

/// What a query asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Want {
    /// Every hit with its score, in no order.
    All,
    /// The ten best, best first.
    Best,
    /// The number of hits.
    Count,
}

impl Want {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Want::All => "all hits",
            Want::Best => "10 best",
            Want::Count => "count",
        }
    }

    /// Runs a query. Returns the number of hits.
    pub(crate) fn ask(self, searcher: &Searcher<'_>, query: &Query, model: Model) -> Result<usize> {
        if self == Want::Best {
            return Ok(std::hint::black_box(searcher.top_k(query, model, 10)?).len());
        }
        if self == Want::Count {
            return Ok(usize::try_from(searcher.count(query)?)?);
        }
        let mut hits = Vec::with_capacity(1024);
        searcher.for_each(query, model, |hit| {
            hits.push((hit.doc, hit.score));
            ControlFlow::Continue(())
        })?;
        Ok(std::hint::black_box(hits).len())
    }
}

/// Queries by class.
pub(crate) type Classes = BTreeMap<String, Vec<Query>>;

/// Reads queries; `parse` makes a query of terms and an operator. In terms, unlike in queries of the query
/// `language`, reserved characters are escaped.
pub(crate) fn classes(
    path: &Path,
    language: bool,
    parse: impl Fn(&str, Operator) -> scanns::Result<Query>,
) -> Result<Classes> {
    let text =
        std::fs::read_to_string(path).with_context(|| format!("cannot read queries {}", path.display()))?;
    let mut classes = Classes::new();
    for line in text.lines() {
        let (class, terms) = line.split_once('\t').with_context(|| {
            format!("{}: expected a class, a tab and terms, found '{line}'", path.display())
        })?;
        let escape = |c: char| (!language && !c.is_alphanumeric() && c != ' ').then_some('\\');
        let escaped: String = terms.chars().flat_map(|c| escape(c).into_iter().chain([c])).collect();
        let operator = if class.starts_with("and") { Operator::And } else { Operator::Or };
        classes.entry(class.into()).or_default().push(parse(&escaped, operator)?);
    }
    anyhow::ensure!(!classes.is_empty(), "{} contains no queries", path.display());
    Ok(classes)
}

/// Asks every query once per searcher. Returns all times in µs, sorted.
fn round(searcher: &Searcher<'_>, queries: &[Query], case: &Case<'_>, model: Model) -> Result<Vec<f64>> {
    let barrier = Barrier::new(case.searchers);
    let ask = |offset: usize| -> Result<Vec<f64>> {
        let (before, after) = queries.split_at(queries.len() * offset / case.searchers);
        barrier.wait();
        let time = |query: &Query| {
            let begin = Instant::now();
            case.want.ask(searcher, query, model)?;
            Ok(begin.elapsed().as_secs_f64() * 1e6)
        };
        after.iter().chain(before).map(time).collect()
    };
    let mut times = std::thread::scope(|scope| -> Result<Vec<f64>> {
        let ask = &ask;
        let threads: Vec<_> = (0..case.searchers).map(|at| scope.spawn(move || ask(at))).collect();
        let mut times = Vec::new();
        for thread in threads {
            times.extend(thread.join().map_err(|_| anyhow::anyhow!("a searcher failed"))??);
        }
        Ok(times)
    })?;
    times.sort_by(f64::total_cmp);
    Ok(times)
}

/// One measurement. The cases take turns.
struct Case<'a> {
    class: &'a str,
    want: Want,
    searchers: usize,
    /// The threads that share each query.
    threads: &'a SearchThreads,
}

/// Checks that each query has as many hits as it counts, and that its ten best are the best of all hits.
fn verify(searcher: &Searcher<'_>, classes: &Classes, model: Model) -> Result<()> {
    for query in classes.values().flatten() {
        let mut scores = Vec::new();
        searcher.for_each(query, model, |hit| {
            scores.push(hit.score);
            ControlFlow::Continue(())
        })?;
        let count = searcher.count(query)?;
        anyhow::ensure!(scores.len() as u64 == count, "{} hits, but a count of {count}", scores.len());
        scores.sort_by(|one, next| next.total_cmp(one));
        scores.truncate(10);
        let best: Vec<f32> = searcher.top_k(query, model, 10)?.iter().map(|hit| hit.score).collect();
        anyhow::ensure!(best == scores, "the ten best score {best:?}, but the best of all {scores:?}");
    }
    Ok(())
}

/// Measures all cases on one index.
fn measure<'a>(
    subject: &str,
    searcher: &dyn Fn() -> Searcher<'a>,
    classes: &Classes,
    args: &LatencyArgs,
    results: &mut Results,
) -> Result<()> {
    let several: Vec<SearchThreads> = args
        .threads
        .iter()
        .filter(|&&threads| threads > 1)
        .map(|&threads| SearchThreads::new(threads))
        .collect();
    verify(&searcher(), classes, args.model)?;
    for threads in &several {
        verify(&searcher().with_threads(threads), classes, args.model)?;
    }
    println!("latency: {subject}, {} documents, answers verified", searcher().documents());
    let one = SearchThreads::new(1);
    let mut cases = Vec::new();
    for class in classes.keys() {
        for want in [Want::All, Want::Best, Want::Count] {
            let alone = |&searchers: &usize| Case { class, want, searchers: searchers.max(1), threads: &one };
            cases.extend(args.searchers.iter().map(alone));
            cases.extend(several.iter().map(|threads| Case { class, want, searchers: 1, threads }));
        }
    }
    // Average, median and 99th percentile of a round, by case.
    let mut rounds: Vec<[Vec<f64>; 3]> = vec![Default::default(); cases.len()];
    let places: Vec<usize> = (0..cases.len()).collect();
    in_turns(args.repetitions.max(1), &places, |&at| {
        let (Some(case), Some(kept)) = (cases.get(at), rounds.get_mut(at)) else { return Ok(0.0) };
        let queries = classes.get(case.class).map_or(&[][..], Vec::as_slice);
        let times = round(&searcher().with_threads(case.threads), queries, case, args.model)?;
        #[expect(clippy::cast_precision_loss, reason = "a count of queries")]
        let average = times.iter().sum::<f64>() / times.len().max(1) as f64;
        for (kept, time) in kept.iter_mut().zip([average, quantile(&times, 0.5), quantile(&times, 0.99)]) {
            kept.push(time);
        }
        anyhow::Ok(average)
    })?;
    for (case, rounds) in cases.iter().zip(rounds) {
        for (what, times) in ["average", "p50", "p99"].into_iter().zip(rounds) {
            let metric = format!("{}, {what}", case.want.name());
            let searchers = u32::try_from(case.searchers)?;
            let series =
                Series::of("latency", subject, case.class, (metric.as_str(), "µs", Better::Lower), times);
            let series = series.with("searchers", f64::from(searchers));
            let threads = u32::try_from(case.threads.threads())?;
            results.add(if threads > 1 { series.with("threads", f64::from(threads)) } else { series }, None);
        }
    }
    Ok(())
}

/// Indexes the files at `path` in memory, one document each.
fn in_memory(path: &Path) -> Result<MemoryIndex> {
    let options = InvertOptions { budget: 64 << 30, pages: PageSize::Auto, ..InvertOptions::default() };
    let mut index = MemoryIndex::new(&Analyzer::parse("paths")?, &options)?;
    for (number, mut text) in text::load(path, None)?.into_iter().enumerate() {
        anyhow::ensure!(index.add(number.to_string().as_bytes(), &mut text), "the index is full");
    }
    index.settle();
    Ok(index)
}

/// The average for one searcher in table II of the paper, in µs.
const PAPER: f64 = 134.0;

/// Measures an index on disk and, if asked, one in memory.
pub fn run(args: &LatencyArgs, results: &mut Results) -> Result<()> {
    let snapshot = Snapshot::open(&args.index)?;
    let queries = classes(&args.queries, args.language, |text, operator| snapshot.parse(text, operator))?;
    let name = text::name(&args.index);
    let subject = format!("{name}, {} segments", snapshot.segments().len());
    measure(&subject, &|| snapshot.searcher(), &queries, args, results)?;
    if let Some(path) = &args.in_memory {
        let index = in_memory(path)?;
        let queries = classes(&args.queries, args.language, |text, operator| index.parse(text, operator))?;
        let subject = format!("{} in memory", text::name(path));
        measure(&subject, &|| Searcher::new(vec![&index]), &queries, args, results)?;
        let metric = ("all hits, average", "µs", Better::Lower);
        let paper = Series::of("latency", &subject, "SCANNS [1], their machine", metric, vec![PAPER]);
        results.add(paper.with("searchers", 1.0).published(), None);
    }
    Ok(())
}
