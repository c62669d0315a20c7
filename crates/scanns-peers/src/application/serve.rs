//! The common code of the adapters for the application in Rust: the command line, threads and time
//! measurement.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, anyhow};
use clap::Parser;

use super::documents::{Call, read_batch};
use super::protocol::{Arguments, Asked, Kind, Question, Task, Written};
use crate::adapter::peak_bytes;
use crate::engine::bytes_below;

/// A search engine that an application writes to.
pub trait Engine {
    /// Writes to an index; several threads use it at the same time.
    type Writer: Writer;
    /// An open index.
    type Index: Index;

    /// Creates an index in the empty directory `path`.
    fn create(&self, path: &Path) -> Result<Self::Writer>;

    /// Merges all segments of an index into one.
    fn merge(&self, path: &Path) -> Result<()>;

    /// Opens the newest commit.
    fn open(&self, path: &Path) -> Result<Self::Index>;
}

/// A writer.
pub trait Writer: Sync {
    /// Adds a document, replaces the one with the same key, or deletes one. Not called with a commit.
    fn call(&self, call: &Call<'_>) -> Result<()>;

    /// Commits.
    fn commit(&mut self) -> Result<()>;

    /// Closes the index as an application would.
    fn close(self) -> Result<()>;
}

/// An open index.
pub trait Index {
    /// A query, and its best hits if the question needs them.
    type Prepared;

    /// The numbers of documents and segments.
    fn size(&self) -> (u64, u64);

    /// Prepares a question: makes the query, and finds the hits whose fields are asked for. None if the
    /// engine cannot answer it.
    fn prepare(&self, question: &Question) -> Result<Option<Self::Prepared>>;

    /// Answers a question with the numbers that engines must agree on.
    fn answer(&self, kind: Kind, prepared: &Self::Prepared) -> Result<Vec<f64>>;
}

/// The number of threads that add documents.
const THREADS: usize = 2;

/// Runs an adapter.
///
/// # Errors
/// All errors of the task are returned.
pub fn serve(engine: &impl Engine) -> Result<()> {
    match Arguments::parse().task {
        Task::Write { calls, out } => println!("{}", serde_json::to_string(&write(engine, &calls, &out)?)?),
        Task::Ask { index, questions, rounds } => {
            let text = fs::read_to_string(&questions)
                .with_context(|| format!("cannot read the questions {}", questions.display()))?;
            let questions = text.lines().map(str::parse).collect::<Result<Vec<_>>>()?;
            println!("{}", serde_json::to_string(&ask(engine, &index, &questions, rounds)?)?);
        }
    }
    Ok(())
}

/// The directory of the index that is merged into one segment.
pub fn merged(path: &Path) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push("-merged");
    path.into()
}

/// Copies the files of an index into an empty directory.
fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            fs::copy(entry.path(), to.join(entry.file_name()))?;
        }
    }
    Ok(())
}

fn write<E: Engine>(engine: &E, calls: &Path, out: &Path) -> Result<Written> {
    let merged = merged(out);
    for directory in [out, &merged] {
        if directory.exists() {
            fs::remove_dir_all(directory)
                .with_context(|| format!("cannot remove {}", directory.display()))?;
        }
    }
    fs::create_dir_all(out).with_context(|| format!("cannot create {}", out.display()))?;
    let mut file =
        BufReader::new(File::open(calls).with_context(|| format!("cannot open {}", calls.display()))?);
    let mut writer = engine.create(out)?;
    let (mut lines, mut commits) = (Vec::new(), Vec::new());
    let begun = Instant::now();
    while read_batch(&mut file, &mut lines)? {
        let share = |first: usize| -> Result<()> {
            for line in lines.iter().skip(first).step_by(THREADS) {
                writer.call(&serde_json::from_str(line)?)?;
            }
            Ok(())
        };
        std::thread::scope(|scope| {
            let share = &share;
            let threads: Vec<_> = (0..THREADS).map(|first| scope.spawn(move || share(first))).collect();
            threads
                .into_iter()
                .try_for_each(|thread| thread.join().map_err(|_| anyhow!("a thread panicked"))?)
        })?;
        let begin = Instant::now();
        writer.commit()?;
        commits.push(begin.elapsed().as_secs_f64());
    }
    let seconds = begun.elapsed().as_secs_f64();
    let (documents, segments) = engine.open(out)?.size();
    writer.close()?;
    let (index_bytes, peak_bytes) = (bytes_below(out)?, peak_bytes());
    copy(out, &merged)?;
    engine.merge(&merged)?;
    Ok(Written { documents, seconds, commits, segments, index_bytes, peak_bytes })
}

fn ask<E: Engine>(engine: &E, path: &Path, questions: &[Question], rounds: usize) -> Result<Asked> {
    let index = engine.open(path)?;
    let prepared = questions.iter().map(|question| index.prepare(question)).collect::<Result<Vec<_>>>()?;
    let mut answers = vec![None; questions.len()];
    let mut micros = vec![Vec::with_capacity(rounds); questions.len()];
    for _ in 0..rounds.max(1) {
        for (at, (question, prepared)) in questions.iter().zip(&prepared).enumerate() {
            let begin = Instant::now();
            let answer = match (question.kind, prepared) {
                (Kind::Open, _) => {
                    let (documents, _) = std::hint::black_box(engine.open(path)?).size();
                    Some(vec![f64::from(u32::try_from(documents)?)])
                }
                (kind, Some(prepared)) => Some(std::hint::black_box(index.answer(kind, prepared)?)),
                (_, None) => None,
            };
            let time = begin.elapsed().as_secs_f64() * 1e6;
            if answer.is_some() {
                micros[at].push(time);
                answers[at] = answer;
            }
        }
    }
    Ok(Asked { segments: index.size().1, answers, micros, peak_bytes: peak_bytes() })
}
