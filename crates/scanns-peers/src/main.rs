//! The driver of the comparison: it parses the arguments, prepares the engines, runs the jobs, and writes the
//! table and the report.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use clap::Parser;
use scanns::sources::Input;
use scanns_bench::results::Results;
use scanns_bench::stats::mib;
use scanns_peers::analyzer::AnalyzerName;
use scanns_peers::columns::drive::{self, Plan};
use scanns_peers::columns::lines;
use scanns_peers::columns::protocol::Timing;
use scanns_peers::corpus::{self, Corpus};
use scanns_peers::engine::{self, Engine};
use scanns_peers::files::{self, drive::Comparison};
use scanns_peers::job::{self, Effort, Measured};
use scanns_peers::natural;
use scanns_peers::peers::{Peer, Peers};
use scanns_peers::protocol::{Kept, Scoring, Unit, Writers};
use scanns_peers::scores::{self, Trial};
use scanns_peers::toolchain;
use scanns_peers::{figures, summary, table, table::Line, texts, warc};

const EXAMPLES: &str = "\
Examples:
  make bench-peers ARGS=--quick
      a small generated dump, to check that everything works
  make bench-peers ARGS='--corpus ~/linux --records file'
      a source tree, one document per file
  make bench-peers ARGS='--corpus ~/linux --records file --analyzer code'
      the same with identifiers and their parts as terms
  make bench-peers ARGS='--corpus dump --records line --only tantivy --threads 8'
      the lines of a dump, without Lucene
  make bench-peers ARGS='--corpus ~/linux --records file --positions --stored --vectors'
      with positions, stored text and vectors; tantivy has no vectors
  make bench-peers ARGS='--corpus manuals --records file --analyzer english'
      manuals of Debian packages, downloaded once, with stems as terms
  make bench-peers ARGS='--corpus dump --scores 10000'
      compare the scores of random queries with Lucene's
  make bench-peers ARGS='--corpus dump --merge'
      merge eight segments of each engine into one, and search that one
  make bench-peers ARGS='--columns 10000000'
      columns: facets, groups, sorts, fields of hits and exports by number of hits
  make bench-peers ARGS='--files /srv'
      names and sizes of a file system, with plocate, fd, find, du, duc, ncdu, gdu and dua
  make bench-peers ARGS='--warc /usr/share/doc'
      web archives made of the HTML pages in a directory, with Lucene and jsoup";

/// Builds and searches indexes of the same text with scanns, Lucene and tantivy in turns, and compares them.
/// All results are verified: documents, tokens and hits must be equal, and also scores where two engines
/// compute the same formula. Positions and stored text are read back and must be equal as well.
#[derive(Debug, Parser)]
#[command(version, after_help = EXAMPLES)]
struct Args {
    /// A file or tree, or a standard corpus of up to 250 MiB: manuals, source or languages, which are made of
    /// Debian packages once, or dump [default: dump, a generated metadata dump of 256 MiB; with --quick of
    /// 32 MiB, or a tree of 32 MiB with --merge]
    #[arg(long, value_name = "PATH")]
    corpus: Option<PathBuf>,
    /// What a document is; several kinds are measured one after the other
    #[arg(long, value_enum, value_delimiter = ',', default_value = "file,line")]
    records: Vec<Unit>,
    /// What finds terms in text. All engines must find the same terms; where engines read UAX #29 otherwise,
    /// up to 0.2 % of the tokens may differ, and a note tells how many do
    #[arg(long, value_enum, default_value_t = AnalyzerName::Delimited)]
    analyzer: AnalyzerName,
    /// Measure merges instead of builds: each engine builds --segments segments of the same files with one
    /// thread and without merges, then merges them into one segment and commits it; searches run on that
    /// segment
    #[arg(long, conflicts_with = "lucene_writers")]
    merge: bool,
    /// Number of segments to merge; each gets a share of the files, so there must be at least N files
    #[arg(long, value_name = "N", default_value_t = 8, requires = "merge",
          value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(2..=1000))]
    segments: usize,
    /// Measure nothing: run N random queries of all kinds, and compare the documents and scores of the best
    /// 1,000 hits of each with Lucene's
    #[arg(long, value_name = "N", conflicts_with = "merge")]
    scores: Option<usize>,
    /// Measure columns instead: index N generated fetches of a web archive and merge the segments, with one
    /// thread; then run facets, groups, sorts, reads of fields and exports for queries with 1, 10, 100 …
    /// hits. --rounds is the number of turns of each engine [default: 10 million, with --quick 100,000]
    #[arg(long, value_name = "N", num_args = 0..=1, conflicts_with_all = ["merge", "scores", "corpus"])]
    columns: Option<Option<u32>>,
    /// Compare names and sizes of the entries of DIR instead, with the tools that are installed: plocate, fd,
    /// find, du, duc, ncdu, gdu and dua. Each builds and answers as a process of its own, and answers are
    /// compared with those of GNU find and GNU du. DIR must not change meanwhile.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["merge", "scores", "corpus", "columns", "only"])]
    files: Option<PathBuf>,
    /// Compare builds from web archives instead: the files .warc.gz in DIR, or four archives that are made of
    /// the HTML files below DIR; with Lucene and jsoup, and with a program that only decompresses
    #[arg(long, value_name = "DIR")]
    #[arg(conflicts_with_all = ["merge", "scores", "corpus", "columns", "files", "only"])]
    warc: Option<PathBuf>,
    /// The command to measure with --files and --warc [default: scanns beside this program]
    #[arg(long, value_name = "PATH")]
    scanns: Option<PathBuf>,
    /// What the indexes keep
    #[command(flatten)]
    kept: Kept,
    /// Number of indexing threads [default: the available cores]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Rounds of builds and of searches [default: 3, with --files or --warc 5, with --quick 1]
    #[arg(long, value_name = "N")]
    rounds: Option<usize>,
    /// Compare only with this engine
    #[arg(long, value_enum)]
    only: Option<Peer>,
    /// Compare with these too. They find words by rules of their own and have not all queries, so their tokens
    /// and hits may differ, which is told. The first use compiles them, which takes half an hour
    #[arg(long, value_enum, value_delimiter = ',', value_name = "PEER")]
    #[arg(conflicts_with_all = ["only", "merge", "scores", "columns", "files", "warc"])]
    also: Vec<Peer>,
    /// Do little of everything: shows that everything works, but its figures mean little
    #[arg(long)]
    quick: bool,
    /// Number of threads that search at the same time; several numbers are measured one after the other
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "1")]
    searchers: Vec<usize>,
    /// How documents are scored; tantivy has BM25 only [default: bm25,classic, with --scores also
    /// lm-dirichlet]
    #[arg(long, value_enum, value_name = "MODEL", value_delimiter = ',')]
    models: Vec<Scoring>,
    /// Queries of each class [default: 100, or 30 with --quick]
    #[arg(long, value_name = "N")]
    queries: Option<usize>,
    /// Seed of the queries
    #[arg(long, value_name = "N", default_value_t = 7)]
    seed: u64,
    /// Writers of Lucene: one per thread, one shared, or both, each in its own column of the table [default:
    /// the faster kind: local for files, shared for lines]
    #[arg(long, value_enum, value_delimiter = ',', value_name = "KIND")]
    lucene_writers: Vec<Writers>,
    /// Heap of Lucene's virtual machine in MiB [default: 8192, but at most half of the memory limit of this
    /// process]
    #[arg(long, value_name = "MIB")]
    heap: Option<u64>,
    /// Directory for adapters and indexes
    #[arg(long, value_name = "DIR", default_value = "target/peers")]
    work: PathBuf,
    /// Directory for results.json, results.csv, report.html and summary.md [default: results in the --work
    /// directory]
    #[arg(long, value_name = "DIR")]
    report: Option<PathBuf>,
}

/// The number of segments in a comparison of scores, or the number of files if that is less.
const SEGMENTS_OF_SCORES: usize = 3;

fn main() -> Result<()> {
    let args = Args::parse();
    fs::create_dir_all(&args.work).with_context(|| format!("cannot create {}", args.work.display()))?;
    if let Some(documents) = args.columns {
        return compare_columns(&args, documents);
    }
    if let Some(tree) = &args.files {
        return compare_files(&args, tree);
    }
    if let Some(archives) = &args.warc {
        return compare_warc(&args, archives);
    }
    let corpus = corpus_path(&args)?;
    let mut results = Results::begin(&[&args.work, &corpus]);
    println!("{}", results.machine);
    note_load(&mut results);
    let peers = make_ready(&args, &mut results)?;
    let files = corpus::files_of(&corpus)?;
    let few = args.scores.map(|_| files.len().min(SEGMENTS_OF_SCORES));
    let segments = args.merge.then_some(args.segments).or(few);
    let kept = Kept { positions: args.kept.positions || args.scores.is_some(), ..args.kept };
    let found_by = match args.analyzer {
        AnalyzerName::Delimited => String::new(),
        other => format!(", {other}"),
    };
    let (mut equal, mut summary) = (true, String::new());
    for &unit in &args.records {
        let origin = corpus::origin(unit, &files);
        let list = list(&args, unit, origin, &files)?;
        if let Some(segments) = segments {
            corpus::write_shares(&list, segments)?;
        }
        let corpus = Corpus {
            name: format!("{}, one document per {unit}{found_by}", name(&corpus)),
            unit,
            origin,
            analyzer: args.analyzer,
            files: files.clone(),
            list,
            threads: args.threads.unwrap_or_else(cores),
            segments,
            kept,
        };
        match args.scores {
            Some(queries) => equal &= compare_scores(&args, queries, &corpus, &peers, &mut results)?,
            None => summary += &measure(&args, &corpus, &peers, &mut results)?,
        }
    }
    let report = args.report.clone().unwrap_or_else(|| args.work.join("results"));
    scanns_bench::report::save(&results, &report)?;
    if !summary.is_empty() {
        println!("{summary}");
        fs::write(report.join("summary.md"), summary.trim_start())?;
    }
    println!("report: {}", report.join("report.html").display());
    ensure!(equal, "the answers of scanns and Lucene differ, see above");
    Ok(())
}

/// Writes the list of files for the adapters: of the files of text, or of their documents as JSON.
fn list(args: &Args, unit: Unit, origin: Unit, files: &[Input]) -> Result<PathBuf> {
    if unit != Unit::Json {
        return corpus::write_list(files.iter().map(|file| &file.path), &args.work);
    }
    ensure!(!args.kept.stored, "--records json is compared without --stored");
    corpus::write_list(&texts::write_json(files, origin, &args.work.join("json"))?, &args.work)
}

/// Measures columns instead of text search.
fn compare_columns(args: &Args, documents: Option<u32>) -> Result<()> {
    let mut results = Results::begin(&[&args.work]);
    println!("{}", results.machine);
    note_load(&mut results);
    let peers = make_ready(args, &mut results)?;
    let documents = documents.unwrap_or(if args.quick { 100_000 } else { 10_000_000 });
    let plan = Plan {
        documents,
        seed: args.seed,
        turns: args.rounds.unwrap_or(if args.quick { 1 } else { 3 }).max(1),
        timing: Timing {
            warm_ms: if args.quick { 50 } else { 250 },
            rounds: if args.quick { 3 } else { 10 },
            most_ms: if args.quick { 100 } else { 800 },
        },
        colds: if args.quick { 1 } else { 5 },
        work: args.work.clone(),
    };
    let mut engines = vec![drive::scanns(toolchain::scanns()?, &plan)];
    engines.extend(peers.lucene.map(|ready| drive::lucene(ready, &plan)));
    engines.extend(peers.tantivy.map(|ready| drive::tantivy(ready, &plan)));
    let measured = drive::run(&plan, &engines)?;
    let names: Vec<&str> = engines.iter().map(|engine| engine.name.as_str()).collect();
    println!("\n{}", lines::report(documents, &names, &measured, &mut results));
    let report = args.report.clone().unwrap_or_else(|| args.work.join("results-columns"));
    scanns_bench::report::save(&results, &report)?;
    println!("report: {}", report.join("report.html").display());
    Ok(())
}

/// Measures tools for file systems instead of text search.
fn compare_files(args: &Args, tree: &Path) -> Result<()> {
    let mut results = Results::begin(&[&args.work, tree]);
    println!("{}", results.machine);
    note_load(&mut results);
    let comparison = Comparison {
        tree: tree.into(),
        scanns: Some(toolchain::command(args.scanns.as_deref())?),
        rounds: args.rounds.unwrap_or(if args.quick { 1 } else { 5 }).max(1),
        work: args.work.clone(),
    };
    let right = files::compare(&comparison, &mut results)?;
    let report = args.report.clone().unwrap_or_else(|| args.work.join("results-files"));
    scanns_bench::report::save(&results, &report)?;
    println!("report: {}", report.join("report.html").display());
    ensure!(right, "the answers of scanns are not those of find and du, see above");
    Ok(())
}

/// Measures builds from web archives instead of text search.
fn compare_warc(args: &Args, archives: &Path) -> Result<()> {
    let mut results = Results::begin(&[&args.work, archives]);
    println!("{}", results.machine);
    note_load(&mut results);
    let lucene = toolchain::lucene(&args.work, heap_mib(args));
    let lucene = lucene.map_err(|error| results.note(format!("Lucene is left out: {error:#}"))).ok();
    let comparison = warc::Comparison {
        archives: archives.into(),
        scanns: toolchain::command(args.scanns.as_deref())?,
        lucene,
        programs: toolchain::web_archives(&args.work)?,
        threads: args.threads.unwrap_or_else(cores),
        rounds: args.rounds.unwrap_or(if args.quick { 1 } else { 5 }),
        work: args.work.clone(),
    };
    warc::compare(&comparison, &mut results)?;
    let report = args.report.clone().unwrap_or_else(|| args.work.join("results-warc"));
    scanns_bench::report::save(&results, &report)?;
    println!("report: {}", report.join("report.html").display());
    Ok(())
}

/// Runs one job, prints its table and records its series. Returns the summary of its searches in Markdown.
fn measure(args: &Args, corpus: &Corpus, peers: &Peers, results: &mut Results) -> Result<String> {
    let engines = engines(args, corpus, peers)?;
    let (measured, queries) = job::run(corpus, &engines, &effort(args), &args.work)?;
    let columns: Vec<&str> = engines.iter().map(|engine| engine.name.as_str()).collect();
    let kept = engines.iter().map(|engine| engine.keeps_in_words(corpus)).collect();
    let mut lines = figures::lines(&measured, &queries);
    lines.insert(0, Line::words("keeps", kept));
    let bytes = corpus.files.iter().map(|file| file.bytes).sum();
    let how = match corpus.segments {
        Some(segments) => format!(
            "{segments} segments of each engine merged into one; searches compare one segment with one \
             segment"
        ),
        None => format!("{} threads", corpus.threads),
    };
    let built = measured.first().and_then(|one| one.builds.first()?.first());
    println!(
        "\n{}: {:.1} MiB, {} documents, {} tokens, {}; × is the ratio to scanns",
        corpus.name,
        mib(bytes),
        built.map_or(0, |built| built.documents),
        built.map_or(0, |built| built.tokens),
        how
    );
    println!("{}", table::render(&columns, &lines));
    table::record(&corpus.name, corpus.threads, &columns, &lines, results);
    let remarks: Vec<String> = measured.iter().filter_map(Measured::remark).collect();
    for remark in &remarks {
        results.note(format!("{}: {remark}", corpus.name));
    }
    for engine in &engines {
        let writers = engine.writers;
        let buffer = match engine.buffer_mib {
            0 => "its default of memory".into(),
            mib => format!("{mib} MiB"),
        };
        let built = corpus.segments.map_or_else(
            || format!("{writers} writers, {buffer} buffered before a segment is written"),
            |segments| format!("{segments} segments built by one thread"),
        );
        results.note(format!("{}, {}: {built}, {}", corpus.name, engine.name, engine.command.join(" ")));
    }
    Ok(summary::markdown(&corpus.name, &columns, &lines, &remarks))
}

fn engines(args: &Args, corpus: &Corpus, peers: &Peers) -> Result<Vec<Engine>> {
    let mut engines = vec![engine::scanns(toolchain::scanns()?, &args.work)];
    if let Some(ready) = &peers.lucene {
        let given = args.lucene_writers.iter().map(|&writers| Some(writers));
        let writers: Vec<Option<Writers>> =
            if args.lucene_writers.is_empty() { vec![None] } else { given.collect() };
        engines.extend(writers.into_iter().map(|writers| engine::lucene(ready, corpus, writers, &args.work)));
    }
    if let Some(ready) = &peers.tantivy {
        engines.push(engine::tantivy(ready.clone(), corpus, &args.work));
    }
    for (name, ready) in &peers.guests {
        engines.push(engine::guest(name, ready.clone(), corpus, &args.work)?);
    }
    Ok(engines)
}

/// The requested models, or the defaults.
fn models(args: &Args) -> Vec<Scoring> {
    match (args.models.as_slice(), args.scores) {
        ([], None) => vec![Scoring::Bm25, Scoring::Classic],
        ([], Some(_)) => vec![Scoring::Bm25, Scoring::Classic, Scoring::LmDirichlet],
        (models, _) => models.to_vec(),
    }
}

/// Compares scores with Lucene's. Returns true if all are equal.
fn compare_scores(
    args: &Args,
    queries: usize,
    corpus: &Corpus,
    peers: &Peers,
    results: &mut Results,
) -> Result<bool> {
    let ready = peers.lucene.as_ref().context("--scores needs Lucene, which is not available")?;
    let engines = [
        engine::scanns(toolchain::scanns()?, &args.work),
        engine::lucene(ready, corpus, Some(Writers::Shared), &args.work),
    ];
    let trial = Trial { queries, seed: args.seed, models: models(args) };
    let mut equal = true;
    for (model, outcome) in scores::run(corpus, &engines[0], &engines[1], &trial, &args.work)? {
        let kinds: Vec<String> =
            outcome.kinds.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
        let line = format!("{}, {model}, seed {}: {}", corpus.name, args.seed, outcome.words());
        println!("\n{line}\n  {}", kinds.join(", "));
        outcome.faults.iter().for_each(|fault| println!("  {fault}"));
        results.note(line);
        equal &= outcome.wrong == 0;
    }
    Ok(equal)
}

fn effort(args: &Args) -> Effort {
    Effort {
        rounds: args.rounds.unwrap_or(if args.quick { 1 } else { 3 }).max(1),
        searchers: args.searchers.clone(),
        models: models(args),
        queries: args.queries.unwrap_or(if args.quick { 30 } else { 100 }),
        seed: args.seed,
        warm_ms: if args.quick { 1_000 } else { 8_000 },
        class_ms: if args.quick { 50 } else { 500 },
    }
}

/// Prepares the requested peers.
fn make_ready(args: &Args, results: &mut Results) -> Result<Peers> {
    let wanted: Vec<Peer> = match args.only {
        Some(only) => vec![only],
        None => [Peer::Lucene, Peer::Tantivy].into_iter().chain(args.also.iter().copied()).collect(),
    };
    Peers::prepare(&wanted, &args.work, heap_mib(args), results)
}

/// MiB of heap for Lucene.
fn heap_mib(args: &Args) -> u64 {
    let most = scanns::tuning::memory_limit_bytes().map_or(2048, |limit| (limit >> 20) / 2);
    args.heap.unwrap_or_else(|| most.min(8192))
}

/// Adds a note if other programs keep the machine busy, because the figures are then unreliable.
fn note_load(results: &mut Results) {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load: f64 = text.split(' ').next().and_then(|number| number.parse().ok()).unwrap_or(0.0);
    if load > 0.5 {
        results.note(format!("other programs were running at the start: load {load} on {} cores", cores()));
    }
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// The path of the corpus: the given one, one of natural text, or a dump that the benchmarks generate.
fn corpus_path(args: &Args) -> Result<PathBuf> {
    let given = args.corpus.as_ref().filter(|given| given.exists() || *given != Path::new("dump"));
    match given.and_then(|given| natural::named(given)) {
        Some(natural) => return natural.prepare(&args.work),
        None if given.is_some() => return Ok(given.cloned().unwrap_or_default()),
        None => {}
    }
    let mebibytes = if args.quick { "32" } else { "256" };
    // A small dump is one file, but segments are made of whole files.
    let kind = if args.quick && args.merge { "tree" } else { "dump" };
    let dump = args.work.join(format!("{kind}-{mebibytes}"));
    if !dump.exists() {
        let generator = std::env::current_exe()?.with_file_name("scanns-bench");
        let status =
            Command::new(&generator).args(["corpus", "--kind", kind, "--mib", mebibytes]).arg(&dump).status();
        let status = status.with_context(|| {
            format!("{} is missing: build it with cargo build --release -p scanns-bench", generator.display())
        })?;
        ensure!(status.success(), "cannot generate a corpus; name one with --corpus");
    }
    Ok(dump)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Args::command().debug_assert();
    }
}
