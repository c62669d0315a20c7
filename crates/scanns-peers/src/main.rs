//! The driver of the comparison: it parses the arguments, prepares the engines, runs the jobs, and writes the
//! table and the report.

mod arguments;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use arguments::Args;
use clap::Parser;
use scanns::sources::Input;
use scanns_bench::results::Results;
use scanns_bench::stats::mib;
use scanns_peers::analyzer::AnalyzerName;
use scanns_peers::application;
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
    if let Some(documents) = args.application {
        return compare_application(&args, documents);
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

/// Measures an application instead of text search.
fn compare_application(args: &Args, documents: Option<u32>) -> Result<()> {
    let natural = || natural::named(Path::new("manuals")).context("there is no corpus manuals");
    let corpus = match args.corpus {
        Some(_) => corpus_path(args)?,
        None => natural()?.prepare(&args.work)?,
    };
    let mut results = Results::begin(&[&args.work, &corpus]);
    println!("{}", results.machine);
    note_load(&mut results);
    let peers = make_ready(args, &mut results)?;
    let plan = application::drive::Plan {
        documents: documents.unwrap_or(if args.quick { 45_000 } else { 200_000 }),
        seed: args.seed,
        turns: args.rounds.unwrap_or(if args.quick { 1 } else { 3 }).max(1),
        rounds: if args.quick { 3 } else { 11 },
        words: args.queries.unwrap_or(if args.quick { 10 } else { 30 }),
        work: args.work.clone(),
    };
    let beside = |name: &str, ready: &toolchain::Ready| application::drive::beside(name, ready, &args.work);
    let mut engines = vec![beside("scanns", &toolchain::scanns()?)];
    engines.extend(peers.lucene.iter().map(|ready| application::drive::lucene(ready, &args.work)));
    engines.extend(peers.tantivy.iter().map(|ready| beside("tantivy", ready)));
    let files = corpus::files_of(&corpus)?;
    let (classes, measured) = application::drive::run(&plan, &files, &engines)?;
    let names: Vec<&str> = engines.iter().map(|engine| engine.name.as_str()).collect();
    let subject = format!("{} documents of an application", plan.documents);
    println!("{}", application::lines::report(&subject, &names, &classes, &measured, &mut results));
    let report = args.report.clone().unwrap_or_else(|| args.work.join("results-application"));
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
    for (commit, path) in &args.earlier {
        let ready = toolchain::of_commit(commit, path)?;
        engines.push(engine::earlier(ready, corpus, &args.work)?);
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
