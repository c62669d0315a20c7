//! What each engine is told to do, and the process that does it.

use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use scanns::Input;

use crate::protocol::{Answers, Built, Scoring, Unit, Writers};
use crate::toolchain::Ready;

/// An engine with its settings: a column of the table.
#[derive(Clone, Debug)]
pub struct Engine {
    /// Name and version, and what tells it from other columns of the same engine.
    pub name: String,
    /// Program and first arguments.
    pub command: Vec<String>,
    /// Whether threads share a writer.
    pub writers: Writers,
    /// MiB gathered in memory before a segment is written.
    pub buffer_mib: usize,
    /// Builds of a process, one after the other; the last one counts, the first one is shown as well.
    pub repetitions: usize,
    /// The models it has.
    pub models: &'static [Scoring],
    /// True if its scores must be those of scanns.
    pub scored_alike: bool,
    /// Where its index goes.
    pub index: PathBuf,
    /// Where what it says besides its reports goes.
    pub log: PathBuf,
}

/// What is built, by all engines alike.
#[derive(Clone, Debug)]
pub struct Corpus {
    /// A name for people.
    pub name: String,
    /// What a document is.
    pub unit: Unit,
    /// The files, in the order in which they are taken.
    pub files: Vec<Input>,
    /// The same as a list for adapters.
    pub list: PathBuf,
    /// Threads that index.
    pub threads: usize,
}

/// How searches are measured.
#[derive(Clone, Debug)]
pub struct Searching {
    /// File of queries.
    pub queries: PathBuf,
    /// How many there are.
    pub count: usize,
    /// Milliseconds of asking before any time is taken.
    pub warm_ms: u64,
    /// Rounds over the queries of a class.
    pub rounds: usize,
    /// Milliseconds after which a class has no further round.
    pub class_ms: u64,
}

impl Corpus {
    /// True for many small files, of which each document makes many new terms.
    fn is_tree(&self) -> bool {
        let bytes: u64 = self.files.iter().map(|file| file.bytes).sum();
        self.unit == Unit::File && bytes / (self.files.len().max(1) as u64) < 1 << 20
    }
}

/// scanns, with the defaults of its command.
pub fn scanns(ready: Ready, work: &Path) -> Engine {
    Engine {
        name: format!("scanns {}", ready.version),
        command: ready.command,
        writers: Writers::Local,
        buffer_mib: usize::try_from(scanns::SEGMENT_MEMORY >> 20).unwrap_or(64),
        repetitions: 1,
        models: &[Scoring::Bm25, Scoring::Classic],
        scored_alike: true,
        index: work.join("index-scanns"),
        log: work.join("scanns.log"),
    }
}

/// Lucene. Measured: a writer per thread with a GiB for files, one writer with 64 MiB for lines; no others were faster.
/// The first build of a virtual machine is a cold one, so there are two.
pub fn lucene(ready: &Ready, corpus: &Corpus, writers: Option<Writers>, work: &Path) -> Engine {
    let (best, buffer_mib) =
        if corpus.unit == Unit::File { (Writers::Local, 1024) } else { (Writers::Shared, 64) };
    let writers = writers.unwrap_or(best);
    let how = if writers == Writers::Local { "writer per thread" } else { "shared writer" };
    Engine {
        name: format!("Lucene {}, {how}", ready.version),
        command: ready.command.clone(),
        writers,
        buffer_mib,
        repetitions: 2,
        models: &[Scoring::Bm25, Scoring::Classic],
        scored_alike: true,
        index: work.join(format!("index-lucene-{writers}")),
        log: work.join("lucene.log"),
    }
}

/// tantivy. Measured: 64 MiB per thread for dumps, a GiB for trees; one index per thread is not faster, and no search
/// spans several.
pub fn tantivy(ready: Ready, corpus: &Corpus, work: &Path) -> Engine {
    Engine {
        name: format!("tantivy {}", ready.version),
        command: ready.command,
        writers: Writers::Shared,
        buffer_mib: if corpus.is_tree() { 1024 } else { 64 },
        repetitions: 1,
        models: &[Scoring::Bm25],
        scored_alike: false,
        index: work.join("index-tantivy"),
        log: work.join("tantivy-run.log"),
    }
}

impl Engine {
    /// Builds in a process of its own; one report for each repetition.
    ///
    /// # Errors
    /// Where the process fails or prints what is no report.
    pub fn build(&self, corpus: &Corpus) -> Result<Vec<Built>> {
        let mut command = self.process("build");
        command.arg("--files").arg(&corpus.list).arg("--out").arg(&self.index);
        command.args(["--records", &corpus.unit.to_string(), "--threads", &corpus.threads.to_string()]);
        command.args(["--writers", &self.writers.to_string(), "--buffer-mib", &self.buffer_mib.to_string()]);
        command.args(["--repetitions", &self.repetitions.to_string()]);
        let lines = self.lines(&mut command)?;
        ensure!(
            lines.len() == self.repetitions,
            "{} built {} times: expected {}, see {}",
            self.name,
            lines.len(),
            self.repetitions,
            self.log.display()
        );
        lines.iter().map(|line| Built::parse(&self.name, line)).collect()
    }

    /// Asks in a process of its own.
    ///
    /// # Errors
    /// Where the process fails or prints what is no report.
    pub fn search(&self, searching: &Searching, model: Scoring, searchers: usize) -> Result<Answers> {
        let mut command = self.process("search");
        command.arg("--index").arg(&self.index).arg("--queries").arg(&searching.queries);
        command.args(["--model", &model.to_string(), "--searchers", &searchers.to_string()]);
        for (name, number) in [
            ("--warm-ms", searching.warm_ms),
            ("--rounds", searching.rounds as u64),
            ("--class-ms", searching.class_ms),
        ] {
            command.args([name, &number.to_string()]);
        }
        let lines = self.lines(&mut command)?;
        let [line] = &lines[..] else {
            anyhow::bail!("{} printed {} lines: expected one", self.name, lines.len())
        };
        Answers::parse(&self.name, line, searching.count)
    }

    fn process(&self, verb: &str) -> Command {
        let mut words = self.command.iter();
        let mut command = Command::new(words.next().map_or("", String::as_str));
        command.args(words).arg(verb);
        command
    }

    /// Runs the adapter and returns what it printed, by lines.
    fn lines(&self, command: &mut Command) -> Result<Vec<String>> {
        let log = OpenOptions::new().create(true).append(true).open(&self.log);
        let log: File = log.with_context(|| format!("cannot write {}", self.log.display()))?;
        let output = command.stdin(Stdio::null()).stderr(log).output();
        let output = output.with_context(|| format!("cannot start the adapter of {}", self.name))?;
        if !output.status.success() {
            let said = fs::read_to_string(&self.log).unwrap_or_default();
            let last: Vec<&str> = said.lines().rev().take(8).collect();
            let last: Vec<&str> = last.into_iter().rev().collect();
            anyhow::bail!(
                "the adapter of {} ended with {}; the end of {}:\n{}",
                self.name,
                output.status,
                self.log.display(),
                last.join("\n")
            );
        }
        Ok(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect())
    }

    /// Bytes of the files of its index.
    ///
    /// # Errors
    /// Where they cannot be looked at.
    pub fn index_bytes(&self) -> Result<u64> {
        bytes_below(&self.index).with_context(|| format!("cannot look at {}", self.index.display()))
    }
}

fn bytes_below(directory: &Path) -> std::io::Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let found = entry.metadata()?;
        bytes += if found.is_dir() { bytes_below(&entry.path())? } else { found.len() };
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(dir: &Path, script: &str) -> Engine {
        let command = ["sh", "-c", script, "sh"].map(String::from).to_vec();
        let ready = Ready { version: "1".into(), command };
        Engine { repetitions: 2, ..scanns(ready, dir) }
    }

    fn corpus(dir: &Path) -> Corpus {
        let files = vec![Input { path: "x".into(), bytes: 100, modified: 0 }];
        Corpus { name: "x".into(), unit: Unit::File, files, list: dir.join("list"), threads: 1 }
    }

    #[test]
    fn an_adapter_that_fails_or_says_too_little_is_told_with_its_last_words() {
        let dir = tempfile::tempdir().unwrap();
        let error = shell(dir.path(), "echo no such JDK >&2; exit 3").build(&corpus(dir.path())).unwrap_err();
        assert!(error.to_string().contains("no such JDK") && error.to_string().contains("exit status: 3"));
        let error = shell(dir.path(), "echo '{}'").build(&corpus(dir.path())).unwrap_err();
        assert!(error.to_string().contains("built 1 times: expected 2"), "{error}");
        let error = shell(dir.path(), "echo a; echo b").build(&corpus(dir.path())).unwrap_err();
        assert!(error.to_string().contains("no report"), "{error}");
    }

    #[test]
    fn many_small_files_are_a_tree() {
        let dir = tempfile::tempdir().unwrap();
        let small = corpus(dir.path());
        let ready = || Ready { version: "1".into(), command: Vec::new() };
        assert_eq!(tantivy(ready(), &small, dir.path()).buffer_mib, 1024);
        let lines = Corpus { unit: Unit::Line, ..small };
        assert_eq!(tantivy(ready(), &lines, dir.path()).buffer_mib, 64);
        assert_eq!(lucene(&ready(), &lines, None, dir.path()).writers, Writers::Shared);
    }

    #[test]
    fn the_size_of_an_index_is_that_of_all_its_files() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("writer-0")).unwrap();
        fs::write(dir.path().join("a"), [0; 10]).unwrap();
        fs::write(dir.path().join("writer-0/b"), [0; 20]).unwrap();
        assert_eq!(bytes_below(dir.path()).unwrap(), 30);
    }
}
