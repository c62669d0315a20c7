//! The common code of the adapters for columns in Rust: requests, time measurement and peak memory. The Java
//! adapter does the same.

use std::fs;
use std::io::{BufRead, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use clap::Parser;
use serde::Serialize;

use super::answer::Digests;
use super::protocol::{Arguments, Built, Opened, Operation, Request, Task, Timing};
use crate::adapter;

/// A search engine with columns.
pub trait Engine {
    /// An open index.
    type Index: Index;

    /// Builds an index of the file `fetches` in the empty directory `out` with one thread, and merges it into
    /// one segment.
    fn build(&self, fetches: &Path, out: &Path) -> Result<Built>;

    /// Opens an index.
    fn open(&self, path: &Path) -> Result<Self::Index>;
}

/// An open index.
pub trait Index {
    /// A prepared query for a term.
    type Query;
    /// The results of an operation.
    type Answer;

    /// The numbers of documents and segments.
    fn size(&self) -> (u64, u64);

    /// Returns true if the engine supports the operation.
    fn can(&self, operation: Operation) -> bool;

    /// Prepares the query for a term, and finds the hits for [`Operation::Fetch`].
    fn query(&self, term: &str) -> Result<Self::Query>;

    /// Runs an operation.
    fn run(&self, operation: Operation, query: &Self::Query) -> Result<Self::Answer>;

    /// Computes the digests of an answer, for the comparison of engines.
    fn digests(&self, answer: &Self::Answer) -> Result<Digests>;
}

/// Runs an adapter: parses the command line, and builds or answers requests.
///
/// # Errors
/// All errors of the task are returned.
pub fn serve(engine: &impl Engine) -> Result<()> {
    match Arguments::parse().task {
        Task::Build { fetches, out } => {
            if out.exists() {
                fs::remove_dir_all(&out).with_context(|| format!("cannot remove {}", out.display()))?;
            }
            fs::create_dir_all(&out).with_context(|| format!("cannot create {}", out.display()))?;
            println!("{}", serde_json::to_string(&engine.build(&fetches, &out)?)?);
            Ok(())
        }
        Task::Ask { index } => answer(engine, &index, std::io::stdin().lock(), &mut std::io::stdout().lock()),
    }
}

/// Answers all requests.
fn answer<E: Engine>(engine: &E, path: &Path, requests: impl BufRead, out: &mut impl Write) -> Result<()> {
    let mut index: Option<E::Index> = None;
    for line in requests.lines() {
        let opened = || index.as_ref().ok_or_else(|| anyhow!("the index is not open"));
        let said = match Request::parse(&line?)? {
            Request::Open => {
                let opened = engine.open(path)?;
                let (documents, segments) = opened.size();
                index = Some(opened);
                json(&Opened { documents, segments, peak_bytes: peak_since() })?
            }
            Request::Close => {
                index = None;
                "[]".into()
            }
            Request::Check(operation, term) => {
                let opened = opened()?;
                let found = opened.can(operation).then(|| {
                    let query = opened.query(&term)?;
                    opened.digests(&opened.run(operation, &query)?)
                });
                json(&found.transpose()?)?
            }
            Request::Time(operation, timing, terms) => json(&time(opened()?, operation, timing, &terms)?)?,
        };
        writeln!(out, "{said}")?;
        out.flush()?;
    }
    Ok(())
}

fn json(value: &impl Serialize) -> Result<String> {
    Ok(serde_json::to_string(value)?)
}

/// Times an operation. Returns microseconds by term and round.
fn time<I: Index>(
    index: &I,
    operation: Operation,
    timing: Timing,
    terms: &[String],
) -> Result<Vec<Vec<f64>>> {
    let queries = terms.iter().map(|term| index.query(term)).collect::<Result<Vec<_>>>()?;
    let warm = Instant::now() + Duration::from_millis(timing.warm_ms);
    for query in queries.iter().cycle().take_while(|_| Instant::now() < warm) {
        std::hint::black_box(index.run(operation, query)?);
    }
    let mut times = vec![Vec::new(); queries.len()];
    let end = Instant::now() + Duration::from_millis(timing.most_ms);
    let mut done = 0;
    for _ in 0..timing.rounds {
        for (query, times) in queries.iter().zip(&mut times) {
            if done >= 3 && Instant::now() > end {
                break;
            }
            done += 1;
            let begin = Instant::now();
            let found = std::hint::black_box(index.run(operation, query)?);
            times.push(begin.elapsed().as_secs_f64() * 1e6);
            drop(found);
        }
    }
    Ok(times)
}

/// Returns the peak resident memory of this process since the last call, or since its start if the kernel
/// cannot reset the peak.
pub fn peak_since() -> u64 {
    let peak = adapter::peak_bytes();
    // Linux resets the peak to the current resident memory.
    let _ = fs::write("/proc/self/clear_refs", "5");
    peak
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An index in which terms are numbers, and answers are their squares.
    struct Squares;

    impl Engine for Squares {
        type Index = Squares;

        fn build(&self, _: &Path, _: &Path) -> Result<Built> {
            Err(anyhow!("this engine cannot build"))
        }

        fn open(&self, _: &Path) -> Result<Squares> {
            Ok(Squares)
        }
    }

    impl Index for Squares {
        type Query = u64;
        type Answer = u64;

        fn size(&self) -> (u64, u64) {
            (9, 1)
        }

        fn can(&self, operation: Operation) -> bool {
            operation == Operation::Sort
        }

        fn query(&self, term: &str) -> Result<u64> {
            Ok(term.parse()?)
        }

        fn run(&self, _: Operation, query: &u64) -> Result<u64> {
            Ok(query * query)
        }

        fn digests(&self, answer: &u64) -> Result<Digests> {
            Ok(Digests { strict: answer.to_string(), loose: String::new() })
        }
    }

    #[test]
    fn requests_are_answered_line_by_line() {
        let said = |requests: &str| {
            let mut out = Vec::new();
            answer(&Squares, Path::new("x"), requests.as_bytes(), &mut out)?;
            Ok::<_, anyhow::Error>(String::from_utf8(out)?.lines().map(str::to_owned).collect::<Vec<_>>())
        };
        let lines = said("open\ncheck sort 7\ncheck facets 7\ntime sort 0 4 1000 1,2\nclose\n").unwrap();
        assert!(lines[0].starts_with(r#"{"documents":9,"segments":1,"#));
        assert_eq!(lines[1..3], [r#"{"strict":"49","loose":""}"#, "null"]);
        let times: Vec<Vec<f64>> = serde_json::from_str(&lines[3]).unwrap();
        assert_eq!(times.iter().map(Vec::len).collect::<Vec<_>>(), [4, 4]);
        assert!(said("check sort 7\n").is_err(), "the index is not open");
    }
}
