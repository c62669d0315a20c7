//! The driver of the application: it writes with all adapters, draws questions, compares the answers, and
//! asks in turns.

use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use fastrand::Rng;
use scanns::Snapshot;
use scanns::sources::Input;
use serde::de::DeserializeOwned;

use super::documents;
use super::protocol::{Asked, Kind, Written};
use super::serve::merged;
use crate::toolchain::Ready;

/// An engine with its adapter.
#[derive(Clone, Debug)]
pub struct Engine {
    /// Name and version.
    pub name: String,
    /// Program, first arguments and verb of the adapter that writes.
    pub write: Vec<String>,
    /// The same for the adapter that asks.
    pub ask: Vec<String>,
    /// The directory of its index.
    pub index: PathBuf,
    /// The file for its standard error.
    pub log: PathBuf,
    /// True if its scores must equal those of scanns, when nothing is deleted.
    pub scored_alike: bool,
}

/// An engine whose adapter for the application is the program of its other adapter with the suffix
/// `-application`.
pub fn beside(name: &str, ready: &Ready, work: &Path) -> Engine {
    let program = ready.command.first().cloned().unwrap_or_default() + "-application";
    engine(name, &ready.version, ["write", "ask"].map(|verb| vec![program.clone(), verb.into()]), work)
}

/// Lucene, whose scores are those of scanns.
pub fn lucene(ready: &Ready, work: &Path) -> Engine {
    let commands =
        ["application-write", "application-ask"].map(|verb| [&ready.command[..], &[verb.into()]].concat());
    Engine { scored_alike: true, ..engine("Lucene", &ready.version, commands, work) }
}

fn engine(name: &str, version: &str, [write, ask]: [Vec<String>; 2], work: &Path) -> Engine {
    Engine {
        name: format!("{name} {version}"),
        write,
        ask,
        index: work.join(format!("application-{}", name.to_lowercase())),
        log: work.join(format!("application-{}.log", name.to_lowercase())),
        scored_alike: false,
    }
}

/// What to measure.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Documents that are added, before updates and deletions.
    pub documents: u32,
    /// Seed of the documents and of the questions.
    pub seed: u64,
    /// Turns of each engine.
    pub turns: usize,
    /// Rounds of questions within a process.
    pub rounds: usize,
    /// Words of each class of frequency.
    pub words: usize,
    /// Directory for documents, questions and indexes.
    pub work: PathBuf,
}

/// A class of questions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Class {
    /// The name that the table shows.
    pub name: String,
    /// The numbers of its questions.
    pub questions: Vec<usize>,
}

/// The measurements of one engine.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The report of writing.
    pub written: Written,
    /// The answers of each turn: on the index as it was written, and on the one that was merged.
    pub asked: [Vec<Asked>; 2],
}

/// Writes and asks with all engines; the first one must be scanns.
///
/// # Errors
/// If an adapter fails, or answers differ.
pub fn run(plan: &Plan, files: &[Input], engines: &[Engine]) -> Result<(Vec<Class>, Vec<Measured>)> {
    let calls = plan.work.join(format!("application-{}-{}.jsonl", plan.documents, plan.seed));
    eprintln!("peers: making {} documents", plan.documents);
    let left = documents::write(&calls, files, plan.documents, plan.seed)?;
    let mut measured = Vec::new();
    for engine in engines {
        let written = engine.write(&calls)?;
        ensure!(written.documents == left, "{} has {} of {left} documents", engine.name, written.documents);
        eprintln!("peers: {} wrote {left} documents in {:.1} s", engine.name, written.seconds);
        measured.push(Measured { written, asked: Default::default() });
    }
    let first = engines.first().context("there is no engine")?;
    let (classes, lines) = questions(&Snapshot::open(&merged(&first.index))?, plan)?;
    let path = plan.work.join("application-questions.tsv");
    fs::write(&path, lines.iter().map(|line| format!("{line}\n")).collect::<String>())?;
    for turn in 0..plan.turns {
        eprintln!("peers: turn {} of {}", turn + 1, plan.turns);
        for step in 0..engines.len() {
            let at = (turn + step) % engines.len();
            let engine = &engines[at];
            for (place, index) in [engine.index.clone(), merged(&engine.index)].iter().enumerate() {
                let asked = engine.ask(index, &path, plan.rounds, lines.len())?;
                measured[at].asked[place].push(asked);
            }
        }
        for (engine, measured_one) in engines.iter().zip(&measured) {
            for place in 0..2 {
                let of = |measured: &Measured| measured.asked[place].last().cloned();
                let (Some(expected), Some(found)) = (measured.first().and_then(of), of(measured_one)) else {
                    continue;
                };
                // Deleted documents count for scores until they are merged away.
                let scored_alike = engine.scored_alike && place == 1;
                agree(&lines, &expected, &found, &engine.name, scored_alike)?;
            }
        }
    }
    Ok((classes, measured))
}

/// Checks that the answers of the engine `name` are those of scanns.
fn agree(lines: &[String], expected: &Asked, found: &Asked, name: &str, scored_alike: bool) -> Result<()> {
    for ((line, expected), found) in lines.iter().zip(&expected.answers).zip(&found.answers) {
        let (Some(expected), Some(found)) = (expected, found) else { continue };
        // Other norms make other scores, and so other hits.
        let by_score = ["by-age", "range", "top", "stored", "snippets", "keys"];
        let kind = line.split('\t').next().unwrap_or_default();
        let is_by_score = by_score.contains(&kind);
        // Of documents with equal scores, threads have added others first, which have a few tags more or
        // less.
        let apart = if kind == "stored" { 0.1 } else { 1e-6 };
        let near = |(one, other): (&f64, &f64)| (one - other).abs() <= apart * one.abs().max(1.0);
        let same_numbers = (is_by_score && !scored_alike) || expected.iter().zip(found).all(near);
        ensure!(
            expected.len() == found.len() && same_numbers,
            "answers differ, so times are not comparable: for {line}, scanns has {expected:?}, {name} has \
             {found:?}"
        );
    }
    Ok(())
}

/// Draws questions about words of an index: about frequent ones, and ones of middling frequency.
fn questions(snapshot: &Snapshot, plan: &Plan) -> Result<(Vec<Class>, Vec<String>)> {
    let documents = snapshot.info().documents;
    let mut random = Rng::with_seed(plan.seed);
    let mut bands: [Vec<String>; 2] = Default::default();
    let limits = [documents / 10..documents * 9 / 10, documents / 1000..documents / 50];
    for (term, count) in snapshot.terms(b"", usize::MAX)? {
        let Ok(text) = String::from_utf8(term) else { continue };
        let usable = text.len() > 3 && text.bytes().all(|byte| byte.is_ascii_lowercase());
        for (band, limit) in bands.iter_mut().zip(&limits) {
            if usable && limit.contains(&count) {
                band.push(text.clone());
            }
        }
    }
    for band in &mut bands {
        random.shuffle(band);
        band.truncate(plan.words);
    }
    let [common, middling] = &bands;
    if common.len() < 3 || middling.len() < 3 {
        bail!("the corpus has too few words for questions; name a larger one with --corpus");
    }
    let mut drawn = Drawn::default();
    let term = |word: &String| format!("term {word}");
    let one = |words: &[String]| words.iter().map(term).collect::<Vec<_>>();
    let several = |words: &[String], count: usize| -> Vec<String> {
        let list = |words: &[String]| words.iter().map(|word| format!(" | term {word}")).collect::<String>();
        words.windows(count).map(|words| format!("bool 0 {count}{}", list(words))).collect()
    };
    for kind in [Kind::Stored, Kind::Snippets, Kind::Keys] {
        drawn.add("ten hits", kind, one(middling));
    }
    for (name, words) in [("frequent", common), ("middling", middling)] {
        for kind in [
            Kind::ByAge,
            Kind::Statistics,
            Kind::Histogram,
            Kind::Facet,
            Kind::Range,
            Kind::Sort,
            Kind::SortTwice,
            Kind::Top,
            Kind::Count,
        ] {
            drawn.add(name, kind, one(words));
        }
    }
    drawn.add("two of frequent", Kind::Top, several(common, 2));
    drawn.add("three of frequent", Kind::Top, several(common, 3));
    let changed = |word: &String| format!("fuzzy 1 {}", word.replacen(['a', 'e'], "o", 1));
    drawn.add("misspelt", Kind::Count, middling.iter().map(changed).collect());
    drawn.add("prefix", Kind::Count, middling.iter().map(|word| format!("prefix {}", &word[..3])).collect());
    let regex = |word: &String| format!("regex {}.*{}", &word[..2], &word[word.len() - 1..]);
    drawn.add("regular expression", Kind::Count, middling.iter().map(regex).collect());
    drawn.add("the index", Kind::Open, vec!["all".into()]);
    Ok((drawn.classes, drawn.lines))
}

#[derive(Default)]
struct Drawn {
    classes: Vec<Class>,
    lines: Vec<String>,
}

impl Drawn {
    fn add(&mut self, of: &str, kind: Kind, forms: Vec<String>) {
        let first = self.lines.len();
        self.lines.extend(forms.into_iter().map(|form| format!("{kind}\t{form}")));
        let questions = (first..self.lines.len()).collect();
        self.classes.push(Class { name: format!("{kind}, {of}"), questions });
    }
}

impl Engine {
    fn write(&self, calls: &Path) -> Result<Written> {
        self.said(&self.write, |command| command.arg("--calls").arg(calls).arg("--out").arg(&self.index))
    }

    fn ask(&self, index: &Path, questions: &Path, rounds: usize, count: usize) -> Result<Asked> {
        let asked: Asked = self.said(&self.ask, |command| {
            command.arg("--index").arg(index).arg("--questions").arg(questions);
            command.args(["--rounds", &rounds.to_string()])
        })?;
        ensure!(
            asked.answers.len() == count && asked.micros.len() == count,
            "{} answered {} of {count} questions",
            self.name,
            asked.answers.len()
        );
        Ok(asked)
    }

    /// Runs the adapter, and parses the line that it prints.
    fn said<T: DeserializeOwned>(
        &self,
        words: &[String],
        options: impl FnOnce(&mut Command) -> &mut Command,
    ) -> Result<T> {
        let (program, first) = words.split_first().context("an engine has no program")?;
        let mut command = Command::new(program);
        options(command.args(first));
        let log = OpenOptions::new().create(true).append(true).open(&self.log);
        let log: File = log.with_context(|| format!("cannot write {}", self.log.display()))?;
        let output = command.stdin(Stdio::null()).stderr(log).output();
        let output = output.with_context(|| format!("cannot start {program}"))?;
        ensure!(output.status.success(), "{} failed, see {}", self.name, self.log.display());
        serde_json::from_slice(&output.stdout).with_context(|| {
            format!("{} printed an invalid report; is it built for another protocol.rs?", self.name)
        })
    }
}
