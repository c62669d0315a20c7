//! The questions: commands, and their answers.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use scanns_bench::child;
use serde_json::Value;

use super::truth::{Paths, Sums, Targets, Truth};

/// A command, and what is known of its answer.
#[derive(Debug)]
pub struct Question {
    /// What is measured.
    pub name: &'static str,
    /// The command as a user writes it.
    pub timed: Vec<OsString>,
    /// The same for a program that reads the answer.
    checked: Vec<OsString>,
    expected: Expected,
}

/// What an answer must be.
#[derive(Debug)]
enum Expected {
    Paths(Paths),
    /// The sum of the last line, in KiB, and the number of lines.
    Usage {
        kib: u64,
        lines: u64,
    },
    Report(Sums),
    Owners(BTreeMap<Vec<u8>, u64>),
}

/// All questions to an index.
pub fn all(index: &Path, targets: &Targets, truth: Truth) -> Vec<Question> {
    let make = |name: &'static str, words: &[&OsStr], more: &[&str], expected: Expected| {
        let (verb, rest) =
            words.split_first().map_or((OsStr::new("info"), words), |(verb, rest)| (*verb, rest));
        let command = |options: &[&str], tests: &[&str]| {
            let mut command = vec![verb.to_os_string()];
            command.extend(options.iter().map(OsString::from));
            command.push(index.into());
            command.extend(rest.iter().map(OsString::from));
            command.extend(tests.iter().map(OsString::from));
            command
        };
        // The tests of find come last.
        let checked = if verb == "find" { command(&[], more) } else { command(more, &[]) };
        Question { name, timed: command(&[], &[]), checked, expected }
    };
    let text = OsStr::new;
    let [rare, small, middle] =
        [&targets.rare, &targets.small, &targets.middle].map(|name| OsStr::from_bytes(name));
    let root = text("/data");
    let usage = |sums: &Sums, lines: u64| Expected::Usage { kib: sums.blocks.div_ceil(2), lines };
    let (one, several) = (usage(&truth.all, 1), usage(&truth.middle, truth.middle.directories));
    let sum = usage(&truth.middle, 1);
    vec![
        make(
            "find -name '*.h5' -size +1G",
            &[text("find"), text("-name"), text("*.h5"), text("-size"), text("+1G")],
            &["-print0"],
            Expected::Paths(truth.large),
        ),
        make(
            "find -name RARE",
            &[text("find"), text("-name"), rare],
            &["-print0"],
            Expected::Paths(truth.rare),
        ),
        make(
            "find DIRECTORY, 1/1000 of all",
            &[text("find"), small],
            &["-print0"],
            Expected::Paths(truth.small),
        ),
        make("du DIRECTORY, 1/50 of all", &[text("du"), middle], &["-0"], several),
        make("du -s DIRECTORY", &[text("du"), text("-s"), middle], &["-0"], sum),
        make("du -s of everything", &[text("du"), text("-s"), root], &["-0"], one),
        make("report", &[text("report")], &["--format", "json"], Expected::Report(truth.all)),
        make(
            "search, counts by owner",
            &[text("search"), text("*"), text("--count"), text("--facet"), text("owner:all")],
            &["--json"],
            Expected::Owners(truth.owners),
        ),
    ]
}

impl Question {
    /// True if an exit code comes with an answer; 1 says that nothing was found.
    pub fn is_fine(&self, code: Option<i32>) -> bool {
        code == Some(0) || code == Some(1) && matches!(self.expected, Expected::Paths(Paths { count: 0, .. }))
    }

    /// Compares the answer with what is known.
    ///
    /// # Errors
    /// If the command fails, or its answer differs.
    pub fn verify(&self, scanns: &Path) -> Result<()> {
        let ran = child::run(scanns, &self.checked, None, true)?;
        ensure!(self.is_fine(ran.code), "the command ended with {:?}: {}", ran.code, ran.errors);
        match &self.expected {
            Expected::Paths(expected) => {
                let mut found = Paths::default();
                records(&ran.output).for_each(|path| found.add(path));
                ensure!(found == *expected, "{found:?}, not {expected:?}");
            }
            Expected::Usage { kib, lines } => {
                let last = records(&ran.output).last().unwrap_or_default();
                let sum = last.split(|&byte| byte == b'\t').next().and_then(|sum| str::from_utf8(sum).ok());
                let found = (sum.and_then(|sum| sum.parse().ok()), records(&ran.output).count() as u64);
                ensure!(found == (Some(*kib), *lines), "{found:?}, not {kib} KiB and {lines} lines");
            }
            Expected::Report(expected) => {
                let report: Value = serde_json::from_slice(&ran.output).context("not JSON")?;
                let totals = report.get("totals").context("a report without totals")?;
                let total = |names: [&str; 2]| totals.get(names[0])?.get(names[1])?.as_u64();
                let found = [["all", "entries"], ["all", "space"], ["files", "size"]].map(total);
                let further = totals.get("further_names").and_then(Value::as_u64);
                let known = [expected.entries, expected.blocks * 512, expected.size].map(Some);
                ensure!(found == known && further == Some(expected.further), "{totals}, not {known:?}");
            }
            Expected::Owners(expected) => {
                let found = owners(&ran.output)?;
                ensure!(found == *expected, "{} owners, not {}: {found:?}", found.len(), expected.len());
            }
        }
        Ok(())
    }
}

/// The parts of a text that end with NUL.
fn records(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.strip_suffix(b"\0").into_iter().flat_map(|text| text.split(|&byte| byte == 0))
}

/// The counts by owner of a search in JSON lines.
fn owners(text: &[u8]) -> Result<BTreeMap<Vec<u8>, u64>> {
    let mut counts = BTreeMap::new();
    for line in text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        let line: Value = serde_json::from_slice(line).context("not JSON")?;
        let buckets = line.get("buckets").and_then(Value::as_array);
        for bucket in buckets.into_iter().flatten() {
            let owner = bucket.get("value").and_then(Value::as_str).context("a count without an owner")?;
            let count = bucket.get("count").and_then(Value::as_u64).context("an owner without a count")?;
            counts.insert(owner.as_bytes().to_vec(), count);
        }
    }
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_end_with_nul() {
        assert_eq!(records(b"a\0\nb\0").collect::<Vec<_>>(), [&b"a"[..], b"\nb"]);
        assert_eq!(records(b"").count(), 0);
    }

    #[test]
    fn a_wrong_answer_is_an_error() {
        let place = tempfile::tempdir().unwrap();
        let script = place.path().join("scanns");
        std::fs::write(&script, "#!/bin/sh\nprintf '5\\t/data/a\\0007\\t/data\\000'\n").unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&script, mode).unwrap();
        let question = |expected| Question { name: "du", timed: Vec::new(), checked: Vec::new(), expected };
        question(Expected::Usage { kib: 7, lines: 2 }).verify(&script).unwrap();
        for expected in [
            Expected::Usage { kib: 7, lines: 3 },
            Expected::Usage { kib: 5, lines: 2 },
            Expected::Paths(Paths { count: 2, bytes: 16, hash: 0 }),
            Expected::Report(Sums::default()),
            Expected::Owners(BTreeMap::new()),
        ] {
            let question = question(expected);
            assert!(question.verify(&script).is_err(), "{question:?}");
        }
    }
}
