//! What each engine is told to do, and the process that does it.

use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::corpus::Corpus;
use crate::protocol::{Answers, Built, Kept, Merged, Scoring, Unit, Writers};
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
    /// Merges of a process, as builds.
    pub merges: usize,
    /// The models it has.
    pub models: &'static [Scoring],
    /// True if its scores must be those of scanns.
    pub scored_alike: bool,
    /// True if it can keep the terms of each document.
    pub has_vectors: bool,
    /// Where its index goes.
    pub index: PathBuf,
    /// Where what it says besides its reports goes.
    pub log: PathBuf,
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
    /// Whether the merged index is asked.
    pub merged: bool,
    /// Whether positions are read and compared.
    pub positions: bool,
}

/// MiB that are more than the documents of one segment need, as large as both peers allow.
const ROOMY_MIB: usize = 2000;

/// scanns, with the defaults of its command.
pub fn scanns(ready: Ready, work: &Path) -> Engine {
    Engine {
        name: format!("scanns {}", ready.version),
        command: ready.command,
        writers: Writers::Local,
        buffer_mib: usize::try_from(scanns::writer::SEGMENT_MEMORY >> 20).unwrap_or(64),
        repetitions: 1,
        merges: 1,
        models: &[Scoring::Bm25, Scoring::Classic, Scoring::LmDirichlet],
        scored_alike: true,
        has_vectors: true,
        index: work.join("index-scanns"),
        log: work.join("scanns.log"),
    }
}

/// Lucene. Measured: a writer per thread with a GiB for files, one writer with 64 MiB for lines; no others
/// were faster. The first build of a virtual machine is a cold one, so there are two. A merge is over sooner:
/// six of 43 MiB in a row took 12.8, 8.8, 7.5, 6.9, 5.9 and 5.9 s on a machine that was busy, so there are
/// four.
pub fn lucene(ready: &Ready, corpus: &Corpus, writers: Option<Writers>, work: &Path) -> Engine {
    let (best, buffer_mib) = match (corpus.segments, corpus.unit) {
        (Some(_), _) => (Writers::Shared, ROOMY_MIB),
        (None, Unit::File) => (Writers::Local, 1024),
        (None, Unit::Line) => (Writers::Shared, 64),
    };
    let writers = writers.unwrap_or(best);
    let how = match (corpus.segments, writers) {
        (Some(_), _) => "",
        (None, Writers::Local) => ", writer per thread",
        (None, Writers::Shared) => ", shared writer",
    };
    Engine {
        name: format!("Lucene {}{how}", ready.version),
        command: ready.command.clone(),
        writers,
        buffer_mib,
        repetitions: 2,
        merges: 4,
        models: &[Scoring::Bm25, Scoring::Classic, Scoring::LmDirichlet],
        scored_alike: true,
        has_vectors: true,
        index: work.join(format!("index-lucene-{writers}")),
        log: work.join("lucene.log"),
    }
}

/// tantivy. Measured: 64 MiB per thread for dumps, a GiB for trees; one index per thread is not faster, and
/// no search spans several.
pub fn tantivy(ready: Ready, corpus: &Corpus, work: &Path) -> Engine {
    let best = if corpus.is_tree() { 1024 } else { 64 };
    Engine {
        name: format!("tantivy {}", ready.version),
        command: ready.command,
        writers: Writers::Shared,
        buffer_mib: if corpus.segments.is_some() { ROOMY_MIB } else { best },
        repetitions: 1,
        merges: 1,
        models: &[Scoring::Bm25],
        scored_alike: false,
        has_vectors: false,
        index: work.join("index-tantivy"),
        log: work.join("tantivy-run.log"),
    }
}

impl Engine {
    /// Builds in a process of its own; one report for each repetition. What is to be merged is built once.
    ///
    /// # Errors
    /// Where the process fails or prints something else than a report, or the index is not what was asked
    /// for.
    pub fn build(&self, corpus: &Corpus) -> Result<Vec<Built>> {
        let repetitions = if corpus.segments.is_some() { 1 } else { self.repetitions };
        let mut command = self.process("build");
        command.arg("--files").arg(&corpus.list).arg("--out").arg(&self.index);
        command.args(["--records", &corpus.unit.to_string(), "--threads", &corpus.threads.to_string()]);
        command.args(["--writers", &self.writers.to_string(), "--buffer-mib", &self.buffer_mib.to_string()]);
        command.args(["--segments", &corpus.segments.unwrap_or(0).to_string()]);
        command.args(["--repetitions", &repetitions.to_string()]).args(flags(self.keeps(corpus)));
        let lines = self.lines_of(&mut command, "built", repetitions)?;
        let builds = lines.iter().map(|line| Built::parse(&self.name, line)).collect::<Result<Vec<_>>>()?;
        for built in &builds {
            let wanted = corpus.segments.map_or(built.segments, |segments| segments as u64);
            ensure!(
                built.segments == wanted,
                "{} built {} segments instead of {wanted}: with more --segments each is smaller, and is \
                 written whole",
                self.name,
                built.segments
            );
            self.read_back(corpus, built.contents.is_some())?;
        }
        Ok(builds)
    }

    /// Merges what was built into one segment, in a process of its own; one report for each repetition.
    ///
    /// # Errors
    /// Where the process fails or prints something else than a report, or there is more than one segment.
    pub fn merge(&self, corpus: &Corpus) -> Result<Vec<Merged>> {
        let mut command = self.process("merge");
        command.arg("--index").arg(&self.index).arg("--out").arg(self.merged());
        command.args(["--repetitions", &self.merges.to_string()]).args(flags(self.keeps(corpus)));
        let lines = self.lines_of(&mut command, "merged", self.merges)?;
        let merges = lines.iter().map(|line| Merged::parse(&self.name, line)).collect::<Result<Vec<_>>>()?;
        for merged in &merges {
            ensure!(
                merged.segments == 1,
                "{} has {} segments after a merge to one",
                self.name,
                merged.segments
            );
            self.read_back(corpus, merged.contents.is_some())?;
        }
        Ok(merges)
    }

    /// Where the merged index is.
    fn merged(&self) -> PathBuf {
        let mut path = self.index.clone().into_os_string();
        path.push("-merged");
        path.into()
    }

    /// What it keeps of what is to be kept.
    pub fn keeps(&self, corpus: &Corpus) -> Kept {
        Kept { vectors: corpus.kept.vectors && self.has_vectors, ..corpus.kept }
    }

    /// The same for people, with what it cannot keep.
    pub fn keeps_in_words(&self, corpus: &Corpus) -> String {
        let kept = self.keeps(corpus);
        let lacks = if kept == corpus.kept { "" } else { "; vectors n/a" };
        kept.words() + lacks
    }

    /// Refuses an adapter that did not read back what was stored.
    fn read_back(&self, corpus: &Corpus, contents: bool) -> Result<()> {
        ensure!(
            contents == corpus.kept.stored,
            "{} is to read back what was stored, and nothing else",
            self.name
        );
        Ok(())
    }

    /// Asks in a process of its own.
    ///
    /// # Errors
    /// Where the process fails or prints something else than a report.
    pub fn search(&self, searching: &Searching, model: Scoring, searchers: usize) -> Result<Answers> {
        let mut command = self.process("search");
        let index = if searching.merged { self.merged() } else { self.index.clone() };
        command.arg("--index").arg(index).arg("--queries").arg(&searching.queries);
        command.args(searching.positions.then_some("--positions"));
        command.args(["--model", &model.to_string(), "--searchers", &searchers.to_string()]);
        for (name, number) in [
            ("--warm-ms", searching.warm_ms),
            ("--rounds", searching.rounds as u64),
            ("--class-ms", searching.class_ms),
        ] {
            command.args([name, &number.to_string()]);
        }
        let lines = self.lines_of(&mut command, "answered", 1)?;
        Answers::parse(&self.name, &lines.concat(), searching.count)
    }

    /// Writes the best hits of each query in the lines of a file, in a process of its own: see
    /// [`crate::scores`].
    ///
    /// # Errors
    /// Where the process fails.
    pub fn rank(&self, queries: &Path, model: Scoring, hits: usize, out: &Path) -> Result<()> {
        let mut command = self.process("rank");
        command.arg("--index").arg(&self.index).arg("--queries").arg(queries).arg("--out").arg(out);
        command.args(["--model", &model.to_string(), "--hits", &hits.to_string()]);
        self.lines_of(&mut command, "reported", 0).map(drop)
    }

    fn process(&self, verb: &str) -> Command {
        let mut words = self.command.iter();
        let mut command = Command::new(words.next().map_or("", String::as_str));
        command.args(words).arg(verb);
        command
    }

    /// The `expected` lines that the adapter prints; `done` is what it did for each.
    fn lines_of(&self, command: &mut Command, done: &str, expected: usize) -> Result<Vec<String>> {
        let lines = self.lines(command)?;
        ensure!(
            lines.len() == expected,
            "{} {done} {} times: expected {expected}, see {}",
            self.name,
            lines.len(),
            self.log.display()
        );
        Ok(lines)
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

/// The options of an adapter that say what is kept.
fn flags(kept: Kept) -> impl Iterator<Item = &'static str> {
    let all = [(kept.positions, "--positions"), (kept.stored, "--stored"), (kept.vectors, "--vectors")];
    all.into_iter().filter(|(kept, _)| *kept).map(|(_, flag)| flag)
}

/// Bytes of the files in a directory and those below.
///
/// # Errors
/// Where they cannot be looked at.
pub fn bytes_below(directory: &Path) -> std::io::Result<u64> {
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
    use scanns::sources::Input;

    use super::*;

    fn shell(dir: &Path, script: &str) -> Engine {
        let command = ["sh", "-c", script, "sh"].map(String::from).to_vec();
        let ready = Ready { version: "1".into(), command };
        Engine { repetitions: 2, merges: 3, ..scanns(ready, dir) }
    }

    fn corpus(dir: &Path) -> Corpus {
        let files = vec![Input { path: "x".into(), bytes: 100, modified: 0, status: None }];
        Corpus {
            name: "x".into(),
            unit: Unit::File,
            files,
            list: dir.join("list"),
            threads: 1,
            segments: None,
            kept: Kept::default(),
        }
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
        let lines = Corpus { unit: Unit::Line, ..small.clone() };
        assert_eq!(tantivy(ready(), &lines, dir.path()).buffer_mib, 64);
        assert_eq!(lucene(&ready(), &lines, None, dir.path()).writers, Writers::Shared);
        let merged = Corpus { segments: Some(8), ..small };
        assert_eq!(tantivy(ready(), &merged, dir.path()).buffer_mib, ROOMY_MIB);
        assert_eq!(lucene(&ready(), &merged, None, dir.path()).name, "Lucene 1");
    }

    #[test]
    fn an_index_that_is_not_what_was_asked_for_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let built = r#"{"documents":3,"tokens":9,"bytes":70,"seconds":1,"rest_seconds":1,"segments":7,
            "bytes_written":40,"peak_bytes":4096,"contents":null}"#;
        let engine = shell(dir.path(), &format!("echo '{}'", built.replace('\n', "")));
        let eight = Corpus { segments: Some(8), ..corpus(dir.path()) };
        let error = engine.build(&eight).unwrap_err().to_string();
        assert!(error.contains("built 7 segments instead of 8"), "{error}");
        let seven = Corpus { segments: Some(7), ..eight };
        assert_eq!(engine.build(&seven).unwrap().len(), 1, "once, whatever the repetitions");
        let stored = Corpus { kept: Kept { stored: true, ..Kept::default() }, ..seven };
        assert!(engine.build(&stored).unwrap_err().to_string().contains("read back"));
        assert!(engine.merge(&stored).unwrap_err().to_string().contains("merged 1 times: expected 3"));
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
