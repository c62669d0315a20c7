//! The settings of each engine, and the process that runs its adapter.

use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::analyzer::AnalyzerName;
use crate::corpus::Corpus;
use crate::protocol::{Answers, Built, Kept, Merged, Scoring, Unit, Writers};
use crate::toolchain::Ready;
use crate::verify::whole;

/// An engine with its settings, which is one column of the table.
#[derive(Clone, Debug)]
pub struct Engine {
    /// Name and version, and the setting in which it differs from other columns of the same engine.
    pub name: String,
    /// Program and first arguments.
    pub command: Vec<String>,
    /// Whether threads share a writer.
    pub writers: Writers,
    /// MiB to buffer in memory before a segment is written; 0 for the default of the engine.
    pub buffer_mib: usize,
    /// Builds in one process, one after the other. The last one counts; the first one is also shown.
    pub repetitions: usize,
    /// Merges in one process, likewise.
    pub merges: usize,
    /// The supported models.
    pub models: &'static [Scoring],
    /// True if its scores must equal those of scanns.
    pub scored_alike: bool,
    /// True if it can store the terms of each document.
    pub has_vectors: bool,
    /// True if it finds tokens by rules of its own and has not all queries: how many of its answers agree is
    /// told, not required, and what it does not have is left empty.
    pub guest: bool,
    /// True if its adapter is told how to find terms. Adapters of early commits only split at delimiters.
    pub has_analyzers: bool,
    /// The directory of its index.
    pub index: PathBuf,
    /// The file for its standard error.
    pub log: PathBuf,
}

/// How searches are measured.
#[derive(Clone, Debug)]
pub struct Searching {
    /// File of queries.
    pub queries: PathBuf,
    /// The number of queries in it.
    pub count: usize,
    /// Milliseconds of warm-up before the first measurement.
    pub warm_ms: u64,
    /// Rounds over the queries of a class.
    pub rounds: usize,
    /// Milliseconds after which a class gets no more rounds.
    pub class_ms: u64,
    /// Whether the merged index is searched.
    pub merged: bool,
    /// Whether positions are read and compared.
    pub positions: bool,
}

/// A buffer size in MiB for more than the documents of one segment: the largest that both peers allow.
const ROOMY_MIB: usize = 2000;

/// scanns, with the defaults of its command line.
pub fn scanns(ready: Ready, work: &Path) -> Engine {
    Engine {
        name: format!("scanns {}", ready.version),
        command: ready.command,
        writers: Writers::Local,
        buffer_mib: 0,
        repetitions: 1,
        merges: 1,
        models: &[Scoring::Bm25, Scoring::Classic, Scoring::LmDirichlet],
        scored_alike: true,
        has_vectors: true,
        guest: false,
        has_analyzers: true,
        index: work.join("index-scanns"),
        log: work.join("scanns.log"),
    }
}

/// scanns as it was at an earlier commit, by the adapter of that commit: `ready.version` is the commit.
///
/// # Errors
/// If the corpus asks for what the adapter does not have, or the adapter cannot be started.
pub fn earlier(ready: Ready, corpus: &Corpus, work: &Path) -> Result<Engine> {
    let commit = ready.version.clone();
    let mut engine = scanns(ready, work);
    engine.name = format!("scanns at {commit}");
    engine.index = work.join(format!("index-scanns-{commit}"));
    engine.log = work.join(format!("scanns-{commit}.log"));
    let help = engine.process("build").arg("--help").output();
    let help = help.with_context(|| format!("cannot start the adapter of {}", engine.name))?;
    engine.has_analyzers = String::from_utf8_lossy(&help.stdout).contains("--analyzer");
    ensure!(
        engine.has_analyzers || corpus.analyzer == AnalyzerName::Delimited,
        "the adapter of {} finds terms by --analyzer {} only",
        engine.name,
        AnalyzerName::Delimited
    );
    Ok(engine)
}

/// Lucene, with the fastest settings found: one writer per thread with 1 GiB for files, one shared writer
/// with 64 MiB for lines. The first build of a virtual machine is cold, so each process builds twice. Merges
/// are shorter and need more repetitions to become warm: six merges of 43 MiB in a row took 12.8, 8.8, 7.5,
/// 6.9, 5.9 and 5.9 s on a busy machine, so each process merges four times.
pub fn lucene(ready: &Ready, corpus: &Corpus, writers: Option<Writers>, work: &Path) -> Engine {
    let (best, buffer_mib) = match (corpus.segments, corpus.origin) {
        (Some(_), _) => (Writers::Shared, ROOMY_MIB),
        (None, Unit::File) => (Writers::Local, 1024),
        (None, Unit::Line | Unit::Json) => (Writers::Shared, 64),
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
        guest: false,
        has_analyzers: true,
        index: work.join(format!("index-lucene-{writers}")),
        log: work.join("lucene.log"),
    }
}

/// tantivy, with the fastest settings found: 64 MiB per thread for dumps, 1 GiB for trees. One index per
/// thread is not faster, and tantivy cannot search several indexes at once.
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
        guest: false,
        has_analyzers: true,
        index: work.join("index-tantivy"),
        log: work.join("tantivy-run.log"),
    }
}

/// SeekStorm, with what it recommends for fast builds and searches: see its adapter.
///
/// # Errors
/// If the corpus asks for what it does not have here.
pub fn guest(name: &str, ready: Ready, corpus: &Corpus, work: &Path) -> Result<Engine> {
    ensure!(
        corpus.segments.is_none() && !corpus.kept.stored && !corpus.kept.vectors,
        "{name} can be compared without --merge, --stored and --vectors only"
    );
    let lower = name.to_lowercase();
    Ok(Engine {
        name: format!("{name} {}", ready.version),
        command: ready.command,
        writers: Writers::Shared,
        buffer_mib: 0,
        repetitions: 1,
        merges: 1,
        models: &[Scoring::Bm25],
        scored_alike: false,
        has_vectors: false,
        guest: true,
        has_analyzers: true,
        index: work.join(format!("index-{lower}")),
        log: work.join(format!("{lower}-run.log")),
    })
}

impl Engine {
    /// Builds the index in a separate process and returns one report for each repetition. An index that will
    /// be merged is built once.
    ///
    /// # Errors
    /// If the process fails or prints an invalid report, or the index is not as requested.
    pub fn build(&self, corpus: &Corpus) -> Result<Vec<Built>> {
        let repetitions = if corpus.segments.is_some() { 1 } else { self.repetitions };
        let mut command = self.process("build");
        command.arg("--files").arg(&corpus.list).arg("--out").arg(&self.index);
        command.args(["--records", &corpus.unit.to_string(), "--threads", &corpus.threads.to_string()]);
        if self.has_analyzers {
            command.args(["--analyzer", &corpus.analyzer.to_string()]);
        }
        command.args(["--writers", &self.writers.to_string(), "--buffer-mib", &self.buffer_mib.to_string()]);
        command.args(["--segments", &corpus.segments.unwrap_or(0).to_string()]);
        command.args(["--repetitions", &repetitions.to_string()]).args(flags(self.keeps(corpus)));
        let lines = self.lines_of(&mut command, "built", repetitions)?;
        let builds = lines.iter().map(|line| Built::parse(&self.name, line)).collect::<Result<Vec<_>>>()?;
        for built in &builds {
            let wanted = corpus.segments.map_or(built.segments, |segments| segments as u64);
            ensure!(
                built.segments == wanted,
                "{} built {} segments instead of {wanted}; increase --segments, so that each segment fits \
                 into the buffer",
                self.name,
                built.segments
            );
            self.read_back(corpus, built.contents.is_some())?;
        }
        Ok(builds)
    }

    /// Merges the index into one segment in a separate process, and returns one report for each repetition.
    ///
    /// # Errors
    /// If the process fails or prints an invalid report, or the merged index has more than one segment.
    pub fn merge(&self, corpus: &Corpus) -> Result<Vec<Merged>> {
        let mut command = self.process("merge");
        command.arg("--index").arg(&self.index).arg("--out").arg(self.merged());
        command.args(["--repetitions", &self.merges.to_string()]).args(flags(self.keeps(corpus)));
        let lines = self.lines_of(&mut command, "merged", self.merges)?;
        let merges = lines.iter().map(|line| Merged::parse(&self.name, line)).collect::<Result<Vec<_>>>()?;
        for merged in &merges {
            ensure!(
                merged.segments == 1,
                "{} has {} segments after a merge into one",
                self.name,
                merged.segments
            );
            self.read_back(corpus, merged.contents.is_some())?;
        }
        Ok(merges)
    }

    /// The directory of the merged index.
    fn merged(&self) -> PathBuf {
        let mut path = self.index.clone().into_os_string();
        path.push("-merged");
        path.into()
    }

    /// The requested parts of an index that this engine supports.
    pub fn keeps(&self, corpus: &Corpus) -> Kept {
        Kept { vectors: corpus.kept.vectors && self.has_vectors, ..corpus.kept }
    }

    /// Describes [`Self::keeps`] for the table, with the parts that the engine does not support.
    pub fn keeps_in_words(&self, corpus: &Corpus) -> String {
        let kept = self.keeps(corpus);
        let lacks = if kept == corpus.kept { "" } else { "; vectors n/a" };
        kept.words() + lacks
    }

    /// Checks that the adapter read stored text back if text is stored, and only then.
    fn read_back(&self, corpus: &Corpus, contents: bool) -> Result<()> {
        ensure!(
            contents == corpus.kept.stored,
            "{} must read back stored text if text is stored, and only then",
            self.name
        );
        Ok(())
    }

    /// Runs the queries in a separate process.
    ///
    /// # Errors
    /// If the process fails or prints an invalid report.
    pub fn search(&self, searching: &Searching, model: Scoring, searchers: usize) -> Result<Answers> {
        let mut command = self.process("search");
        let index = if searching.merged { self.merged() } else { self.index.clone() };
        command.arg("--index").arg(index).arg("--queries").arg(&searching.queries);
        command.args((searching.positions && !self.guest).then_some("--positions"));
        command.args(["--model", &model.to_string(), "--searchers", &searchers.to_string()]);
        for (name, number) in [
            ("--warm-ms", searching.warm_ms),
            ("--rounds", searching.rounds as u64),
            ("--class-ms", searching.class_ms),
        ] {
            command.args([name, &number.to_string()]);
        }
        let lines = self.lines_of(&mut command, "answered", 1)?;
        let answers = Answers::parse(&self.name, &lines.concat(), searching.count)?;
        if !self.guest {
            whole(&self.name, &answers)?;
        }
        Ok(answers)
    }

    /// Writes the best hits of each query of the file `queries` to `out`, in a separate process. See
    /// [`crate::scores`] for the format.
    ///
    /// # Errors
    /// If the process fails.
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

    /// Runs the adapter and returns the lines that it printed, which must be `expected` lines. `done` is the
    /// verb for the message if they are not.
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

    /// Runs the adapter and returns the lines that it printed.
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

    /// The size of the index in bytes.
    ///
    /// # Errors
    /// If the files cannot be inspected.
    pub fn index_bytes(&self) -> Result<u64> {
        bytes_below(&self.index).with_context(|| format!("cannot read {}", self.index.display()))
    }
}

/// The options of an adapter for `kept`.
fn flags(kept: Kept) -> impl Iterator<Item = &'static str> {
    let all = [(kept.positions, "--positions"), (kept.stored, "--stored"), (kept.vectors, "--vectors")];
    all.into_iter().filter(|(kept, _)| *kept).map(|(_, flag)| flag)
}

/// The total size of the files in a directory and its subdirectories.
///
/// # Errors
/// If they cannot be inspected.
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
        let files = vec![Input { path: "x".into(), bytes: 100, ..Input::default() }];
        Corpus {
            name: "x".into(),
            unit: Unit::File,
            origin: Unit::File,
            analyzer: AnalyzerName::Delimited,
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
        assert!(error.to_string().contains("invalid report"), "{error}");
    }

    #[test]
    fn many_small_files_are_a_tree() {
        let dir = tempfile::tempdir().unwrap();
        let small = corpus(dir.path());
        let ready = || Ready { version: "1".into(), command: Vec::new() };
        assert_eq!(tantivy(ready(), &small, dir.path()).buffer_mib, 1024);
        let lines = Corpus { unit: Unit::Line, origin: Unit::Line, ..small.clone() };
        assert_eq!(tantivy(ready(), &lines, dir.path()).buffer_mib, 64);
        assert_eq!(lucene(&ready(), &lines, None, dir.path()).writers, Writers::Shared);
        let merged = Corpus { segments: Some(8), ..small };
        assert_eq!(tantivy(ready(), &merged, dir.path()).buffer_mib, ROOMY_MIB);
        assert_eq!(lucene(&ready(), &merged, None, dir.path()).name, "Lucene 1");
    }

    #[test]
    fn earlier_commits_are_engines_of_their_own_and_split_at_delimiters_if_they_know_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let ready = |help: &str| {
            let script = format!("echo '{help}'");
            Ready { version: "1a2b".into(), command: ["sh", "-c", &script].map(String::from).to_vec() }
        };
        let plain = corpus(dir.path());
        let old = earlier(ready("--records"), &plain, dir.path()).unwrap();
        assert!(old.name == "scanns at 1a2b" && old.index.ends_with("index-scanns-1a2b"), "{old:?}");
        assert!(
            !old.has_analyzers && earlier(ready("--analyzer"), &plain, dir.path()).unwrap().has_analyzers
        );
        let english = Corpus { analyzer: AnalyzerName::English, ..plain };
        assert!(earlier(ready("--analyzer"), &english, dir.path()).is_ok());
        let error = earlier(ready("--records"), &english, dir.path()).unwrap_err().to_string();
        assert!(error.contains("--analyzer delimited only"), "{error}");
    }

    #[test]
    fn guests_are_compared_by_what_they_have_only() {
        let dir = tempfile::tempdir().unwrap();
        let ready = || Ready { version: "4".into(), command: Vec::new() };
        let plain = corpus(dir.path());
        assert_eq!(guest("SeekStorm", ready(), &plain, dir.path()).unwrap().name, "SeekStorm 4");
        let stored = Corpus { kept: Kept { stored: true, ..Kept::default() }, ..plain };
        let error = guest("SeekStorm", ready(), &stored, dir.path()).unwrap_err().to_string();
        assert!(error.contains("without --merge, --stored"), "{error}");
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
        assert_eq!(engine.build(&seven).unwrap().len(), 1, "built once, despite the repetitions");
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
