//! Questions about file systems: the answers of GNU find and du.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use scanns::files::{
    AskedPlaces, FindOptions, FindOutput, FindSink, ReportOptions, UsageKey, UsageLine, UsageMeasure,
    UsageOptions, UsageReport, UsageTime, disk_usage, find_entries, indexed_path, missing_entries,
    not_in_index, usage_by,
};
use scanns::{Error, Snapshot};
use serde::Deserialize;
use serde_json::json;

use crate::core::Core;
use crate::errors::{raise, wrong};
use crate::guard::{SignalWatch, detached};

/// Collects what the actions of an expression print, until a signal raises an exception.
#[derive(Clone)]
struct Printed {
    text: Arc<Mutex<Vec<u8>>>,
    watch: Arc<Option<SignalWatch>>,
}

impl FindSink for Printed {
    fn write(&mut self, _output: usize, bytes: &[u8]) -> io::Result<()> {
        if is_interrupted(&self.watch) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        self.text.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(())
    }
}

fn is_interrupted(watch: &Option<SignalWatch>) -> bool {
    watch.as_ref().is_some_and(|watch| watch.asks(Instant::now()))
}

/// The result of an answer, or the exception of a signal that came meanwhile.
fn unless_interrupted<T>(answer: PyResult<T>, watch: &Option<SignalWatch>) -> PyResult<T> {
    match watch.as_ref().and_then(SignalWatch::raised) {
        Some(error) => Err(error),
        None => answer,
    }
}

/// Runs an expression of find. Returns what it printed, and notes about the answer.
pub fn find<'py>(
    py: Python<'py>,
    snapshot: &Snapshot,
    command: &[Vec<u8>],
    limit: Option<u64>,
) -> PyResult<(Bound<'py, PyBytes>, Vec<String>)> {
    let watch = Arc::new(SignalWatch::of_this_thread());
    let printed = Printed { text: Arc::default(), watch: Arc::clone(&watch) };
    let sink = printed.clone();
    let answer = detached(py, || {
        let options = FindOptions { limit, ..FindOptions::default() };
        find_entries(snapshot, command, options, |outputs| {
            if outputs.iter().any(|output| matches!(output, FindOutput::File(_))) {
                let what = "an action that writes to a file cannot be used here";
                return Err(io::Error::other(what));
            }
            Ok(sink)
        })
    });
    let report = unless_interrupted(answer, &watch)?;
    let text = printed.text.lock().unwrap_or_else(PoisonError::into_inner);
    let mut notes = lacks(snapshot, &report.places, report.max_depth)?;
    if report.printed == 0 && !snapshot.has_entries() && asks_for_others(command) {
        notes.push(format!("the index has {FILES_ALONE}"));
    }
    notes.extend(report.warnings);
    notes.extend(not_in_index(snapshot, &report.missing, FILES_ALONE, &shown));
    notes.extend(without_entry(snapshot, &report.without_entry));
    notes.extend(report.unknown.iter().map(|unknown| {
        let word = shown(&unknown.word);
        let (entries, example) = (counted(unknown.count, "entry", "entries"), shown(&unknown.example));
        format!("{word}: the index does not know this of {entries}; the first is {example}")
    }));
    if report.loops > 0 {
        notes.push(format!("{} that lead to themselves", counted(report.loops, "link", "links")));
    }
    Ok((PyBytes::new(py, &text), notes))
}

/// What an index of the text of files has, and how to get the rest.
const FILES_ALONE: &str = "regular files alone: scanns.build(…, content=\"none\") makes one of all entries, \
                           with directories and links";

/// A path or a word for people.
fn shown(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A number of things: `1 file`, `1,234 files`.
fn counted(count: u64, one: &str, several: &str) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    format!("{text} {}", if count == 1 { one } else { several })
}

/// What an answer about paths of the index lacks; the last sentence says where to find more.
fn lacks(snapshot: &Snapshot, paths: &[Vec<u8>], depth: Option<usize>) -> PyResult<Vec<String>> {
    let asked = AskedPlaces { paths, depth };
    let mut notes = missing_entries(snapshot, asked, &shown).map_err(|error| raise(&error))?;
    if let Some(last) = notes.last_mut() {
        last.push_str("; Index.coverage() tells more");
    }
    Ok(notes)
}

/// What answers about everything in the index lack.
pub fn missing(core: &Core) -> scanns::Result<Vec<String>> {
    if let [_] = &core.paths[..] {
        return missing_entries(&core.snapshot, AskedPlaces::ALL, &shown);
    }
    let mut all = Vec::new();
    for path in &core.paths {
        all.extend(missing_entries(&Snapshot::open(path)?, AskedPlaces::ALL, &shown)?);
    }
    Ok(all)
}

/// The directories of which the index has only what is in them.
fn without_entry(snapshot: &Snapshot, directories: &[Vec<u8>]) -> Vec<String> {
    let what = match snapshot.has_entries() {
        true => "what is in it, and no entry of this directory",
        false => FILES_ALONE,
    };
    directories.iter().map(|directory| format!("{}: the index has {what}", shown(directory))).collect()
}

/// True if an expression asks for types of entries without regular files.
fn asks_for_others(command: &[Vec<u8>]) -> bool {
    let is_type = |word: &Vec<u8>| matches!(word.as_slice(), b"-type" | b"-xtype");
    command.windows(2).any(|words| match words {
        [word, types] => is_type(word) && !types.contains(&b'f'),
        _ => false,
    })
}

/// The options of du, by the names of the command.
#[derive(Debug, Deserialize)]
struct UsageSpec {
    all: bool,
    apparent_size: bool,
    inodes: bool,
    max_depth: Option<usize>,
    separate_dirs: bool,
    count_links: bool,
    one_file_system: bool,
    time: Option<String>,
    exclude: Vec<String>,
    by: Option<String>,
}

/// A line of an answer: a path or a value, its sum, and the latest date in nanoseconds since 1970.
pub type UsageRow<'py> = (Bound<'py, PyBytes>, u64, Option<i64>);

/// Sums up paths. Returns lines, and a report as JSON.
pub fn usage<'py>(
    py: Python<'py>,
    snapshot: &Snapshot,
    paths: &[Vec<u8>],
    options: &str,
) -> PyResult<(Vec<UsageRow<'py>>, String)> {
    let spec: UsageSpec =
        serde_json::from_str(options).map_err(|error| wrong("option of du", error, "an option of du"))?;
    let key = spec.by.as_deref().map(key_of).transpose()?;
    let options = options_of(spec)?;
    let watch = SignalWatch::of_this_thread();
    let answer = detached(py, || match key {
        Some(key) => {
            let (sums, report) = usage_by(snapshot, paths, options, key)?;
            let line = |one: scanns::files::UsageSumOf| (one.value.unwrap_or_default(), one.sum, None);
            Ok((sums.into_iter().map(line).collect::<Vec<_>>(), report))
        }
        None => {
            let mut lines = Vec::new();
            let report = disk_usage(snapshot, paths, options, |line| {
                if is_interrupted(&watch) {
                    return Err(Error::Cancelled);
                }
                let UsageLine { path, sum, time } = line.clone();
                lines.push((path, sum, time));
                Ok(())
            })?;
            Ok((lines, report))
        }
    });
    let (lines, report) = unless_interrupted(answer, &watch)?;
    if report.has_no_sizes {
        return Err(crate::errors::raise(&Error::Unsupported {
            what: "the space of an index without sizes".into(),
            remedy: "count entries with inodes=True, or index a dump that has sizes".into(),
        }));
    }
    let asked: Vec<Vec<u8>> = paths.iter().map(|path| indexed_path(snapshot, path)).collect();
    let mut notes = lacks(snapshot, &asked, None)?;
    notes.extend(notes_of(snapshot, &report));
    let summary = json!({ "total": report.total, "unknown": report.unknown, "notes": notes }).to_string();
    let rows = lines.into_iter().map(|(path, sum, time)| (PyBytes::new(py, &path), sum, time));
    Ok((rows.collect(), summary))
}

/// What a sum leaves out or guesses.
fn notes_of(snapshot: &Snapshot, report: &UsageReport) -> Vec<String> {
    let mut notes = not_in_index(snapshot, &report.missing, FILES_ALONE, &shown);
    notes.extend(without_entry(snapshot, &report.without_entry));
    if report.unknown > 0 {
        notes.push(format!(
            "the index does not know the space of {}, and their sizes are counted; the first is {}",
            counted(report.unknown, "entry", "entries"),
            shown(&report.first_unknown)
        ));
    }
    if report.unsized_files > 0 {
        notes.push(format!(
            "the index does not know the size of {}, which count nothing; the first is {}",
            counted(report.unsized_files, "file", "files"),
            shown(&report.first_unsized)
        ));
    }
    notes
}

fn key_of(name: &str) -> PyResult<UsageKey> {
    Ok(match name {
        "owner" => UsageKey::Owner,
        "group" => UsageKey::Group,
        "ext" => UsageKey::Extension,
        "age" => UsageKey::Age { now: ReportOptions::default().now },
        "type" => UsageKey::Type,
        other => return Err(wrong("value to sum by", other, "owner, group, ext, age or type")),
    })
}

fn options_of(spec: UsageSpec) -> PyResult<UsageOptions> {
    let time = match spec.time.as_deref() {
        None => None,
        Some("mtime") => Some(UsageTime::Modified),
        Some("atime") => Some(UsageTime::Accessed),
        Some("ctime") => Some(UsageTime::Changed),
        Some(other) => return Err(wrong("date", other, "mtime, atime or ctime")),
    };
    Ok(UsageOptions {
        measure: match (spec.inodes, spec.apparent_size) {
            (true, _) => UsageMeasure::Entries,
            (false, true) => UsageMeasure::ApparentSize,
            (false, false) => UsageMeasure::Space,
        },
        all: spec.all,
        max_depth: spec.max_depth,
        separate: spec.separate_dirs,
        count_links: spec.count_links,
        one_device: spec.one_file_system,
        time,
        exclude: spec.exclude.into_iter().map(String::into_bytes).collect(),
    })
}
