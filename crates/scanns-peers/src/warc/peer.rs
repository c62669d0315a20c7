//! The commands of the programs, and what they print.
//!
//! Options of the adapter for Lucene, which is called with the verb `warc-build`:
//!
//! | option | |
//! |---|---|
//! | `--files FILE` | a file with the paths of the archives, each of which ends with a NUL |
//! | `--out DIR` | the directory of the index, which is emptied |
//! | `--threads N` | a thread reads one archive at a time |
//! | `--buffer-mib N` | memory of documents before a segment is written |
//! | `--until STAGE` | `index`; or only `records` or `text`, to see what these take |
//!
//! It prints a line of JSON: `documents`, `tokens` and `segments` of the index, the number of `pages` and
//! of the characters of their `html` and `text`, `seconds` without the start of the virtual machine, and
//! `peak_bytes`.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::toolchain::Ready;

/// Memory in MiB of the documents that Lucene collects before it writes a segment.
const BUFFER_MIB: &str = "512";

/// What to compare.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// A directory with files `.warc.gz`, or with pages in HTML, of which archives are made.
    pub archives: PathBuf,
    /// The command scanns.
    pub scanns: PathBuf,
    /// Lucene, if it is available.
    pub lucene: Option<Ready>,
    /// The directory of the programs `gunzip-only` and `warc-pack`.
    pub programs: PathBuf,
    /// Threads of each program.
    pub threads: usize,
    /// Rounds; in each, every program runs once.
    pub rounds: usize,
    /// Directory for indexes and archives.
    pub work: PathBuf,
}

/// A program that reads the archives.
#[derive(Clone, Debug)]
pub(super) struct Program {
    /// Its name in the table.
    pub(super) name: String,
    /// The program.
    pub(super) path: PathBuf,
    /// Its arguments.
    pub(super) words: Vec<OsString>,
    /// The directory of its index, if it builds one.
    pub(super) index: Option<PathBuf>,
}

/// What a program says about its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct Build {
    /// Documents in the index.
    pub(super) documents: u64,
    /// Terms in all documents, repeated ones counted again.
    pub(super) tokens: u64,
}

/// scanns, the decompressor, and Lucene if it is available.
pub(super) fn all(comparison: &Comparison, archives: &[PathBuf]) -> Result<Vec<Program>> {
    let threads = comparison.threads.to_string();
    let files = || archives.iter().map(OsString::from);
    let index = comparison.work.join("warc-scanns");
    let words = ["index", "--records", "warc", "--positions", "--threads", &threads, "-o"];
    let words = words.into_iter().map(OsString::from).chain([index.clone().into()]).chain(files());
    let scanns = Program {
        name: "scanns".into(),
        path: comparison.scanns.clone(),
        words: words.collect(),
        index: Some(index),
    };
    let gunzip = Program {
        name: "gunzip-only".into(),
        path: comparison.programs.join("gunzip-only"),
        words: std::iter::once(threads.as_str().into()).chain(files()).collect(),
        index: None,
    };
    let lucene = lucene(comparison, archives)?;
    Ok([scanns, gunzip].into_iter().chain(lucene).collect())
}

fn lucene(comparison: &Comparison, archives: &[PathBuf]) -> Result<Option<Program>> {
    let Some(ready) = &comparison.lucene else { return Ok(None) };
    let list = comparison.work.join("warc-files");
    write_list(&list, archives)?;
    let index = comparison.work.join("warc-lucene");
    let (program, first) = ready.command.split_first().context("there is no command for Lucene")?;
    let mut words: Vec<OsString> = first.iter().map(OsString::from).collect();
    words.extend(["warc-build".into(), "--files".into(), list.into(), "--out".into(), index.clone().into()]);
    let threads = comparison.threads.to_string();
    let settings = ["--threads", &threads, "--buffer-mib", BUFFER_MIB, "--until", "index"];
    words.extend(settings.map(OsString::from));
    Ok(Some(Program {
        name: format!("Lucene {}", ready.version),
        path: program.into(),
        words,
        index: Some(index),
    }))
}

fn write_list(path: &Path, archives: &[PathBuf]) -> Result<()> {
    let mut list = String::new();
    for archive in archives {
        list.push_str(archive.to_str().with_context(|| format!("{} is not UTF-8", archive.display()))?);
        list.push('\0');
    }
    fs::write(path, list).with_context(|| format!("cannot write {}", path.display()))
}

/// The counts in what a program has printed: a line of JSON, or the words of scanns.
pub(super) fn parse(printed: &str) -> Option<Build> {
    if let Some(json) = printed.lines().find(|line| line.starts_with('{')) {
        return serde_json::from_str(json).ok();
    }
    let number = |name: &str| {
        let words: Vec<&str> = printed.split_whitespace().collect();
        words.windows(2).find_map(|pair| {
            let [number, word] = pair else { return None };
            let is_named = word.trim_end_matches(',').trim_end_matches('s') == name;
            is_named.then(|| number.replace(',', "").parse().ok()).flatten()
        })
    };
    Some(Build { documents: number("document")?, tokens: number("token")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read_from_json_and_from_words() {
        let java = "WARNING: x\n{\"documents\":7,\"tokens\":23,\"pages\":7,\"seconds\":0.5}\n";
        assert_eq!(parse(java), Some(Build { documents: 7, tokens: 23 }));
        let scanns = "21,762 documents, 585.1 MiB in 3.32 s: 176 MiB/s\n24,125,724 tokens in 4 segments\n";
        assert_eq!(parse(scanns), Some(Build { documents: 21_762, tokens: 24_125_724 }));
        assert_eq!(parse("nothing"), None);
    }

    #[test]
    fn all_programs_get_the_same_archives_and_threads() {
        let dir = tempfile::tempdir().unwrap();
        let ready =
            crate::toolchain::Ready { version: "1".into(), command: vec!["java".into(), "Peer".into()] };
        let comparison = Comparison {
            archives: "x".into(),
            scanns: "scanns".into(),
            lucene: Some(ready),
            programs: "bin".into(),
            threads: 3,
            rounds: 1,
            work: dir.path().into(),
        };
        let programs = all(&comparison, &["/a.warc.gz".into(), "/b.warc.gz".into()]).unwrap();
        let names: Vec<&str> = programs.iter().map(|program| program.name.as_str()).collect();
        assert_eq!(names, ["scanns", "gunzip-only", "Lucene 1"]);
        assert!(programs.iter().all(|program| program.words.iter().any(|word| word == "3")));
        assert_eq!(programs[1].words, ["3", "/a.warc.gz", "/b.warc.gz"]);
        assert_eq!(fs::read(dir.path().join("warc-files")).unwrap(), b"/a.warc.gz\0/b.warc.gz\0");
        let mut unnamed = comparison;
        unnamed.lucene = None;
        assert_eq!(all(&unnamed, &[]).unwrap().len(), 2);
    }
}
