//! The driver for columns: it builds with all adapters, compares their answers, and times them in turns.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use scanns_bench::archive::{EXPORT, Tags};
use scanns_bench::cache::cool;
use serde::de::DeserializeOwned;

use super::answer::Digests;
use super::fetches;
use super::protocol::{Built, Opened, Operation, Request, Timing};
use crate::toolchain::Ready;

/// An engine with its adapter.
#[derive(Clone, Debug)]
pub struct Engine {
    /// Name and version.
    pub name: String,
    /// Program, first arguments and verb of the adapter that builds.
    pub build: Vec<String>,
    /// The same for the adapter that answers.
    pub ask: Vec<String>,
    /// The directory of its index.
    pub index: PathBuf,
    /// The file for its standard error.
    pub log: PathBuf,
    /// True if the engine defines the order of ties, so that its answers must be identical.
    pub is_strict: bool,
}

/// An engine with a separate adapter for columns: the program of its other adapter with the suffix
/// `-columns`.
fn beside(name: &str, ready: Ready, plan: &Plan) -> Engine {
    let [build, ask] = ["build", "ask"].map(|verb| {
        let mut words = ready.command.clone();
        if let Some(program) = words.first_mut() {
            program.push_str("-columns");
        }
        words.push(verb.into());
        words
    });
    engine(name, &ready.version, [build, ask], plan)
}

fn engine(name: &str, version: &str, [build, ask]: [Vec<String>; 2], plan: &Plan) -> Engine {
    Engine {
        name: format!("{name} {version}"),
        build,
        ask,
        index: plan.work.join(format!("columns-{}-{}-{}", name.to_lowercase(), plan.documents, plan.seed)),
        log: plan.work.join(format!("columns-{}.log", name.to_lowercase())),
        is_strict: true,
    }
}

/// scanns.
pub fn scanns(ready: Ready, plan: &Plan) -> Engine {
    beside("scanns", ready, plan)
}

/// tantivy, which does not define the order of ties.
pub fn tantivy(ready: Ready, plan: &Plan) -> Engine {
    Engine { is_strict: false, ..beside("tantivy", ready, plan) }
}

/// Lucene.
pub fn lucene(ready: Ready, plan: &Plan) -> Engine {
    let commands = ["columns-build", "columns-ask"].map(|verb| [&ready.command[..], &[verb.into()]].concat());
    engine("Lucene", &ready.version, commands, plan)
}

/// What to measure.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Number of documents.
    pub documents: u32,
    /// Seed of the corpus.
    pub seed: u64,
    /// Number of turns of each engine.
    pub turns: usize,
    /// How an operation is timed in a turn.
    pub timing: Timing,
    /// Number of exports of each kind that begin with an empty page cache.
    pub colds: usize,
    /// Directory of the corpus.
    pub work: PathBuf,
}

/// Times in milliseconds, by operation, number of hits, and whether the index was in the page cache.
pub type Times = BTreeMap<(Operation, u32, bool), Vec<f64>>;

/// The measurements of one engine.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The report of the build.
    pub built: Built,
    /// The times of all operations.
    pub times: Times,
    /// Peak memory while it answered.
    pub peak_bytes: u64,
    /// Operations for which only the loose digests were equal. See [`super::answer`].
    pub loosely: Vec<Operation>,
}

/// All operations, each with the number of hits and the terms to run it for.
fn jobs(documents: u32) -> Vec<(Operation, u32, Vec<String>)> {
    let decades = Tags::decades(documents);
    let of =
        |operation: Operation| decades.iter().map(move |(hits, terms)| (operation, *hits, terms.clone()));
    let mut jobs: Vec<_> = Operation::BY_HITS.into_iter().flat_map(of).collect();
    jobs.extend(Operation::EXPORTS.map(|operation| (operation, 0, vec![EXPORT.to_owned()])));
    jobs
}

/// Builds the missing indexes, compares answers, and measures.
///
/// # Errors
/// If an adapter fails, or answers differ.
pub fn run(plan: &Plan, engines: &[Engine]) -> Result<Vec<Measured>> {
    let path = plan.work.join(format!("fetches-{}-{}", plan.documents, plan.seed));
    if !path.exists() {
        eprintln!("peers: writing {} fetches", plan.documents);
        fetches::write(&path, plan.documents, plan.seed)?;
    }
    let mut measured = Vec::new();
    for engine in engines {
        let built = engine.built(&path)?;
        ensure!(built.documents == u64::from(plan.documents), "{} has {built:?}", engine.name);
        measured.push(Measured { built, times: Times::new(), peak_bytes: 0, loosely: Vec::new() });
    }
    let mut asked = engines.iter().map(Asked::start).collect::<Result<Vec<_>>>()?;
    for asked in &mut asked {
        let opened: Opened = asked.say(&Request::Open)?;
        ensure!(opened.segments == 1, "{} has {} segments", asked.engine.name, opened.segments);
    }
    let jobs = jobs(plan.documents);
    eprintln!("peers: comparing answers");
    let can = compare(&jobs, &mut asked, &mut measured)?;
    eprintln!("peers: warming");
    warm(plan, &can, &mut asked)?;
    for turn in 0..plan.turns {
        eprintln!("peers: turn {} of {}", turn + 1, plan.turns);
        for (operation, hits, terms) in &jobs {
            for step in 0..asked.len() {
                let at = (turn + step) % asked.len();
                if !can[at].contains(operation) {
                    continue;
                }
                let request = Request::Time(*operation, plan.timing, terms.clone());
                let times: Vec<Vec<f64>> = asked[at].say(&request)?;
                let times: Vec<f64> = times.into_iter().flatten().map(|micros| micros / 1e3).collect();
                if times.is_empty() {
                    continue;
                }
                measured[at].times.entry((*operation, *hits, true)).or_default().extend(times);
            }
        }
    }
    for _ in 0..plan.colds {
        cold(&can, &mut asked, &mut measured)?;
    }
    for (asked, measured) in asked.into_iter().zip(&mut measured) {
        measured.peak_bytes = asked.end()?;
    }
    Ok(measured)
}

/// Compares the answers of all engines, and returns the operations that each engine supports.
fn compare(
    jobs: &[(Operation, u32, Vec<String>)],
    asked: &mut [Asked<'_>],
    measured: &mut [Measured],
) -> Result<Vec<Vec<Operation>>> {
    let mut can = vec![Vec::new(); asked.len()];
    for (operation, _, terms) in jobs {
        for term in terms {
            // Grouping by hand must give the same groups as the engine's own grouping.
            let meant = if *operation == Operation::GroupsByHand { Operation::Groups } else { *operation };
            let mut expected: Option<Digests> = None;
            for (at, asked) in asked.iter_mut().enumerate() {
                let operation = if at == 0 { meant } else { *operation };
                let found: Option<Digests> = asked.say(&Request::Check(operation, term.clone()))?;
                let Some(found) = found else { continue };
                if !can[at].contains(&operation) {
                    can[at].push(operation);
                }
                let first = expected.get_or_insert_with(|| found.clone());
                let alike = !asked.engine.is_strict && first.loose == found.loose;
                ensure!(
                    *first == found || alike,
                    "{operation} of {term}: {} found {found:?}, but the first engine found {first:?}",
                    asked.engine.name
                );
                let loosely = &mut measured[at].loosely;
                if *first != found && !loosely.contains(&operation) {
                    loosely.push(operation);
                }
            }
        }
    }
    Ok(can)
}

/// Runs all operations for a while, because a virtual machine compiles code only after it has run often.
fn warm(plan: &Plan, can: &[Vec<Operation>], asked: &mut [Asked<'_>]) -> Result<()> {
    let mut terms: Vec<String> = Tags::decades(plan.documents)
        .into_iter()
        .filter(|(hits, _)| *hits <= 100_000)
        .filter_map(|(_, terms)| terms.into_iter().next())
        .collect();
    terms.push(EXPORT.to_owned());
    let timing = Timing { warm_ms: 8 * plan.timing.warm_ms, rounds: 0, most_ms: 0 };
    for (asked, can) in asked.iter_mut().zip(can) {
        for &operation in can {
            let _: Vec<Vec<f64>> = asked.say(&Request::Time(operation, timing, terms.clone()))?;
        }
    }
    Ok(())
}

/// Exports once with each engine, from an index that was just opened and is not in the page cache.
fn cold(can: &[Vec<Operation>], asked: &mut [Asked<'_>], measured: &mut [Measured]) -> Result<()> {
    let once = Timing { warm_ms: 0, rounds: 1, most_ms: 0 };
    for operation in Operation::EXPORTS {
        for ((asked, can), measured) in asked.iter_mut().zip(can).zip(measured.iter_mut()) {
            if !can.contains(&operation) {
                continue;
            }
            let _: Vec<u8> = asked.say(&Request::Close)?;
            let files = files(&asked.engine.index)?;
            cool(files.iter().map(PathBuf::as_path))?;
            let _: Opened = asked.say(&Request::Open)?;
            let times: Vec<Vec<f64>> = asked.say(&Request::Time(operation, once, vec![EXPORT.to_owned()]))?;
            let times = times.into_iter().flatten().map(|micros| micros / 1e3);
            measured.times.entry((operation, 0, false)).or_default().extend(times);
        }
    }
    Ok(())
}

/// All files in a directory and its subdirectories.
fn files(directory: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).with_context(|| format!("cannot read {}", directory.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else {
            found.push(path);
        }
    }
    Ok(found)
}

impl Engine {
    fn command(&self, words: &[String]) -> Result<Command> {
        let log = OpenOptions::new().create(true).append(true).open(&self.log);
        let log = log.with_context(|| format!("cannot write {}", self.log.display()))?;
        let (program, rest) = words.split_first().context("an adapter has no program")?;
        let mut command = Command::new(program);
        command.args(rest).stderr(log);
        Ok(command)
    }

    /// Builds the index and returns the report. If an index of an earlier run exists, returns its report.
    fn built(&self, fetches: &Path) -> Result<Built> {
        let mut told = self.index.as_os_str().to_owned();
        told.push(".built.json");
        if let Ok(text) = fs::read_to_string(&told) {
            eprintln!(
                "peers: using the index of {} from an earlier run; remove {told:?} to rebuild",
                self.name
            );
            return Ok(serde_json::from_str(&text)?);
        }
        eprintln!("peers: building with {}", self.name);
        let mut command = self.command(&self.build)?;
        command.arg("--fetches").arg(fetches).arg("--out").arg(&self.index);
        let output = command.stdin(Stdio::null()).output();
        let output = output.with_context(|| format!("cannot start the adapter of {}", self.name))?;
        ensure!(output.status.success(), "{} failed, see {}", self.name, self.log.display());
        let text = String::from_utf8(output.stdout)?;
        let built = serde_json::from_str(text.trim())
            .with_context(|| format!("{} printed an invalid report: {text:?}", self.name))?;
        for file in files(&self.index)? {
            fs::File::open(&file)?.sync_all()?;
        }
        fs::write(told, text)?;
        Ok(built)
    }
}

/// A running adapter that answers requests.
struct Asked<'e> {
    engine: &'e Engine,
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl<'e> Asked<'e> {
    fn start(engine: &'e Engine) -> Result<Self> {
        let mut command = engine.command(&engine.ask)?;
        command.arg("--index").arg(&engine.index).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child =
            command.spawn().with_context(|| format!("cannot start the adapter of {}", engine.name))?;
        let (Some(requests), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            bail!("the adapter of {} has no pipes", engine.name);
        };
        Ok(Asked { engine, child, requests, answers: BufReader::new(answers) })
    }

    fn say<T: DeserializeOwned>(&mut self, request: &Request) -> Result<T> {
        let why =
            || format!("{} did not answer {request}, see {}", self.engine.name, self.engine.log.display());
        let mut line = String::new();
        writeln!(self.requests, "{request}").with_context(why)?;
        self.requests.flush().with_context(why)?;
        self.answers.read_line(&mut line).with_context(why)?;
        serde_json::from_str(&line).with_context(why)
    }

    /// Ends the adapter and returns its peak memory since the index was last opened.
    fn end(mut self) -> Result<u64> {
        let opened: Opened = self.say(&Request::Open)?;
        drop(self.requests);
        ensure!(self.child.wait()?.success(), "the adapter of {} failed at exit", self.engine.name);
        Ok(opened.peak_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_is_asked_of_every_decade_and_exports_of_their_term() {
        let jobs = jobs(1000);
        let of = |wanted: Operation| jobs.iter().filter(|job| job.0 == wanted).count();
        assert!(Operation::BY_HITS.into_iter().all(|operation| of(operation) == 4), "1, 10, 100, all");
        assert!(Operation::EXPORTS.into_iter().all(|operation| of(operation) == 1));
    }

    #[test]
    fn an_adapter_that_says_nothing_is_an_error_that_names_it() {
        let dir = tempfile::tempdir().unwrap();
        let engine = Engine {
            name: "mute".into(),
            build: vec!["true".into()],
            ask: vec!["true".into()],
            index: dir.path().join("index"),
            log: dir.path().join("log"),
            is_strict: true,
        };
        let error = format!("{:#}", engine.built(dir.path()).unwrap_err());
        assert!(error.contains("mute printed an invalid report"), "{error}");
        let mut asked = Asked::start(&engine).unwrap();
        let error = format!("{:#}", asked.say::<Opened>(&Request::Open).unwrap_err());
        assert!(error.contains("mute did not answer open"), "{error}");
    }
}
