//! Tests of the `scanns` command: the real binary on files in temporary directories.
//!
//! `access.rs` is about who may see what, `answers.rs` tests success, `answer_tables.rs` tables of Parquet,
//! `faults.rs` failures, `limits.rs` and `address_space.rs` limits of the system, and `odd_files.rs` unusual
//! files. `asking.rs` is about other forms of queries, `attributes.rs` about extended attributes and ACLs,
//! `chains.rs` about custom analyzers, `changes.rs` about lists of changes, `collections.rs` about web
//! archives and the like, `columns.rs` about orders and counts by values, `conditions.rs` about filters,
//! `contents.rs` about compressed and binary files, `csv.rs` about rows of CSV, `diff.rs` about differences
//! of trees, `du.rs`, `ls.rs` and `stat.rs` compare answers about trees with GNU's, `dump.rs` is about dumps
//! for other tools, `duplicates.rs` about files with equal content, `entries.rs` about trees without content,
//! `eval.rs` about measures, `export/` about exports, `find_sort.rs` about orders of found entries,
//! `formats.rs` about pages, archives and documents, `guides.rs` runs the commands of the documentation,
//! `imports.rs` is about what dumps do not tell, `incomplete.rs` about entries that could not be read,
//! `keys.rs` about keys of records, `left_out.rs` about places that scans left out on purpose, `maintain.rs`
//! about changes of an existing index, `moved.rs` about files that were moved, `places.rs` about paths on the
//! command line, `polite.rs` about builds that leave the machine to others, `printed.rs` about hostile names
//! and what people see, `records.rs` about records with fields, `record_values.rs` about their values,
//! `report.rs` about reports on file systems, `serve.rs` about servers, `similar.rs` about queries made from
//! documents and explanations of scores, `snapshots.rs` about named snapshots, `snippets.rs` about snippets,
//! `sources.rs` about an index that follows its files, `stored.rs` about stored documents, `table_rows.rs`
//! about rows of Parquet and Arrow as records, `tables.rs` about tables as dumps, `trusted/` compares answers
//! with those of other tools, and `tune.rs` is about profiles.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test, outside of functions marked as one")]

mod access;
mod address_space;
#[cfg(feature = "arrow")]
mod answer_tables;
mod answers;
mod asking;
mod attributes;
mod chains;
mod changes;
mod collections;
mod columns;
mod conditions;
mod contents;
mod csv;
mod diff;
mod du;
mod dump;
mod duplicates;
mod entries;
mod eval;
mod export;
mod faults;
mod find_sort;
mod formats;
mod guides;
mod imports;
mod incomplete;
mod keys;
mod left_out;
mod limits;
mod ls;
mod maintain;
mod moved;
mod near;
mod odd_files;
mod places;
mod polite;
mod printed;
mod record_values;
mod records;
mod report;
mod serve;
mod similar;
mod snapshots;
mod snippets;
mod sources;
mod stat;
mod stored;
#[cfg(feature = "arrow")]
mod table_rows;
mod tables;
mod trusted;
mod tune;
mod why;

use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A directory for one test, with paths for files and for an index.
struct Place {
    dir: TempDir,
}

/// The result of a run of the command.
struct Ran {
    code: Option<i32>,
    stdout: Vec<u8>,
    stderr: String,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("files")).unwrap();
        Place { dir }
    }

    /// A place with these files.
    fn with(files: &[(&str, &str)]) -> Self {
        let place = Place::new();
        for (name, text) in files {
            place.write(name, text.as_bytes());
        }
        place
    }

    fn files(&self) -> PathBuf {
        self.dir.path().join("files")
    }

    fn index(&self) -> PathBuf {
        self.dir.path().join("a.scanns")
    }

    /// Writes a file and returns its path.
    fn write(&self, name: impl AsRef<OsStr>, bytes: &[u8]) -> PathBuf {
        let path = self.files().join(name.as_ref());
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path
    }

    /// Indexes the files, which must succeed.
    fn indexed(&self, more: &[&str]) -> Ran {
        let ran = self.index_with(more);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        ran
    }

    /// Indexes the files.
    fn index_with(&self, more: &[&str]) -> Ran {
        run(scanns(&["index"]).arg("-o").arg(self.index()).args(more).arg(self.files()))
    }

    /// Searches the index.
    fn search(&self, more: &[&str]) -> Ran {
        run(scanns(&["search"]).arg(self.index()).args(more))
    }

    /// Runs `scanns info` on the index.
    fn info(&self, more: &[&str]) -> Ran {
        run(scanns(&["info"]).arg(self.index()).args(more))
    }

    /// The file names of the hits, sorted.
    fn found(&self, more: &[&str]) -> Vec<String> {
        let mut names: Vec<_> = self.search(&[&["--all", "--json"], more].concat()).lines();
        names.sort_by_key(|hit| hit["key"].as_str().map(str::to_owned));
        names.iter().map(|hit| base(hit["key"].as_str().unwrap())).collect()
    }

    fn count(&self, query: &str) -> u64 {
        self.search(&["--count", "--json", query]).json()["count"].as_u64().unwrap()
    }
}

impl From<Output> for Ran {
    fn from(out: Output) -> Self {
        let stderr = String::from_utf8_lossy(&out.stderr).into_owned();
        Ran { code: out.status.code(), stdout: out.stdout, stderr }
    }
}

impl Ran {
    fn text(&self) -> &str {
        std::str::from_utf8(&self.stdout).unwrap()
    }

    /// Standard output as one JSON value; a failure also shows the exit code.
    fn json(&self) -> Value {
        serde_json::from_slice(&self.stdout).unwrap_or_else(|error| {
            panic!("{error} in {:?}, exit {:?}: {}", self.text(), self.code, self.stderr)
        })
    }

    /// Standard output as one JSON value per line. The exit code may be 1 only if there are none.
    fn lines(&self) -> Vec<Value> {
        assert!(self.code == Some(0) || self.code == Some(1) && self.stdout.is_empty(), "{}", self.stderr);
        self.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// The part of a key after the last slash.
fn base(key: &str) -> String {
    Path::new(key).file_name().unwrap().to_string_lossy().into_owned()
}

/// The command with its first arguments and empty standard input.
fn scanns(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_scanns"));
    command.args(args).stdin(Stdio::null());
    command
}

fn run(command: &mut Command) -> Ran {
    command.output().unwrap().into()
}

/// The command without the rights of the superuser to read everything; `None` where they cannot be dropped.
fn humble() -> Option<Command> {
    let program = env!("CARGO_BIN_EXE_scanns");
    if std::fs::metadata("/proc/self").is_ok_and(|me| me.uid() != 0) {
        return Some(Command::new(program));
    }
    let without_rights = |program: &str| {
        let mut command = Command::new("setpriv");
        command.arg("--bounding-set=-dac_override,-dac_read_search").arg(program);
        command
    };
    without_rights("true").status().is_ok_and(|status| status.success()).then(|| without_rights(program))
}

/// Reports on the real standard error, which the test harness does not capture, that a test was skipped.
fn skipped(test: &str, why: &str) {
    std::io::stderr().write_all(format!("SKIPPED {test}: {why}\n").as_bytes()).unwrap();
}
