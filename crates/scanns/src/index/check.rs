//! Verifies an index, reports damage and the documents lost by it, and can commit the intact segments.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};

use super::progress::Progress;
use crate::error::{Error, Result};
use crate::index::commit::manifest::{Manifest, Partial, SegmentEntry};
use crate::schema::Schema;
use crate::segment::{CheckLevel, KnownPaths, file_name, is_file_name, is_of_segment};
use crate::store::{Directory, generations, leased, publish, read_generation, sweep};

/// The result of a check.
#[derive(Clone, Debug)]
pub struct CheckReport {
    /// The commit that was checked.
    pub generation: u64,
    /// Errors of newer commits that could not be read.
    pub manifests: Vec<String>,
    /// The results for the segments of the commit.
    pub segments: Vec<SegmentCheck>,
    /// Files that no commit needs. A killed writer left them; the next writer removes them.
    pub leftovers: Vec<String>,
    /// The commit made by salvaging; `None` if nothing was damaged.
    pub salvaged: Option<u64>,
}

/// The result of checking one segment.
#[derive(Clone, Debug)]
pub struct SegmentCheck {
    /// The identity of the segment, as 32 hexadecimal digits.
    pub id: String,
    /// Documents that are not deleted, according to the commit.
    pub documents: u64,
    /// The size of the segment's file, according to the commit.
    pub bytes: u64,
    /// The error, if the segment is damaged.
    pub fault: Option<String>,
}

impl CheckReport {
    /// True if nothing is damaged.
    pub fn is_whole(&self) -> bool {
        self.manifests.is_empty() && self.segments.iter().all(|segment| segment.fault.is_none())
    }

    /// The number of documents in damaged segments.
    pub fn lost(&self) -> u64 {
        self.segments.iter().filter(|segment| segment.fault.is_some()).map(|segment| segment.documents).sum()
    }
}

/// Checks the newest commit of the index at `path`. Damage is reported, not returned as an error.
///
/// # Errors
/// [`Error::NotAnIndex`]; an error if no commit can be read; [`Error::Cancelled`] after `cancel` was set.
pub(crate) fn check_in(
    directory: &dyn Directory,
    level: CheckLevel,
    progress: &Progress,
    cancel: &AtomicBool,
) -> Result<CheckReport> {
    look(directory, level, progress, cancel).map(|(report, _)| report)
}

/// Checks the index at `path` and, if something is damaged, commits the intact segments. Damaged segments are
/// dropped, and their files removed.
///
/// If the newest commits cannot be read, the newest readable commit is used, and no file is removed. The next
/// build reads files of lines again if some of their lines are left.
///
/// # Errors
/// The errors of [`check`]; an error if another writer is open, if the disk is full, or if the newest commit
/// cannot be read and segments of the commit before it were merged: some are missing, and others exist.
pub(crate) fn salvage_in(
    directory: &dyn Directory,
    level: CheckLevel,
    progress: &Progress,
    cancel: &AtomicBool,
) -> Result<CheckReport> {
    let _lock = directory.lock()?;
    let (mut report, mut manifest) = look(directory, level, progress, cancel)?;
    if report.is_whole() {
        return Ok(report);
    }
    if !report.manifests.is_empty() && lacks_files(directory, &manifest, &report)? {
        let what = format!(
            "its newest commit cannot be read, and files of commit {} before it are gone; restore the \
             manifest from a copy",
            report.generation
        );
        return Err(Error::corrupt(directory.describe(), what));
    }
    let damaged = |entry: &SegmentEntry| {
        let id = format!("{:032x}", entry.id);
        report.segments.iter().any(|segment| segment.id == id && segment.fault.is_some())
    };
    manifest.segments.retain(|entry| !damaged(entry));
    forget_lines(directory, &mut manifest)?;
    let newest = generations(directory)?.first().copied().unwrap_or(report.generation);
    publish(directory, newest + 1, &manifest.encode())?;
    let needed = needed(&manifest);
    if report.manifests.is_empty() {
        // The commit stands; files that cannot be removed now are removed by the next writer.
        let leased = leased(directory, newest + 1)?;
        if leased.generations.is_empty() {
            let _ =
                sweep(directory, newest + 1, &leased, |name| is_of_segment(name) && !needed.contains(name));
        }
    }
    report.salvaged = Some(newest + 1);
    Ok(report)
}

/// True if segments of an older commit are missing while others exist. A newer commit then has their
/// documents in other segments, and the older commit does not describe what is left of the index.
fn lacks_files(directory: &dyn Directory, manifest: &Manifest, report: &CheckReport) -> Result<bool> {
    let names: HashSet<String> = directory.list()?.into_iter().collect();
    let lacks = manifest.segments.iter().any(|entry| !names.contains(&file_name(entry.id)));
    Ok(lacks && report.leftovers.iter().any(|name| is_file_name(name)))
}

/// Makes a later build read every file of lines again if some of its lines are left: it is unknown which
/// lines are lost.
fn forget_lines(directory: &dyn Directory, manifest: &mut Manifest) -> Result<()> {
    let Manifest { segments, partial, .. } = manifest;
    partial.values_mut().for_each(|begun| *begun = Partial::default());
    for entry in segments {
        let segment = entry.open(directory)?;
        KnownPaths::of(&segment)?
            .each_of_lines(|path| drop(partial.insert(path.to_vec(), Partial::default())))?;
    }
    Ok(())
}

/// The files that a commit needs.
fn needed(manifest: &Manifest) -> HashSet<String> {
    manifest.segments.iter().flat_map(SegmentEntry::files).collect()
}

/// True if the error means that the index is damaged, false if the index could not be read.
fn is_damage(error: &Error) -> bool {
    match error {
        Error::Corrupt { .. } => true,
        Error::Io { source, .. } => source.kind() == std::io::ErrorKind::NotFound,
        _ => false,
    }
}

/// Checks the newest readable commit, and repeats this if a newer commit removed files in the meantime.
fn look(
    directory: &dyn Directory,
    level: CheckLevel,
    progress: &Progress,
    cancel: &AtomicBool,
) -> Result<(CheckReport, Manifest)> {
    loop {
        let before = generations(directory)?.first().copied();
        let looked = look_once(directory, level, progress, cancel);
        let whole = looked.as_ref().is_ok_and(|(report, _)| report.is_whole());
        if whole || generations(directory)?.first().copied() == before {
            return looked;
        }
    }
}

/// Checks the newest commit that can be read.
fn look_once(
    directory: &dyn Directory,
    level: CheckLevel,
    progress: &Progress,
    cancel: &AtomicBool,
) -> Result<(CheckReport, Manifest)> {
    let mut manifests = Vec::new();
    let mut first_error = None;
    let mut found = None;
    for generation in generations(directory)? {
        let read = read_generation(directory, generation).and_then(|content| Manifest::decode(&content));
        match read {
            Ok(manifest) => {
                found = Some((generation, manifest));
                break;
            }
            Err(error) if !is_damage(&error) => return Err(error),
            Err(error) => {
                manifests.push(error.to_string());
                first_error.get_or_insert(error);
            }
        }
    }
    let Some((generation, manifest)) = found else {
        return Err(first_error.unwrap_or_else(|| Error::NotAnIndex {
            path: directory.describe().into(),
            why: "nothing was ever committed in it",
        }));
    };
    let total = manifest.segments.iter().map(|entry| entry.bytes).sum();
    progress.total_bytes.store(total, Ordering::Relaxed);
    let mut segments = Vec::with_capacity(manifest.segments.len());
    let mut done = 0;
    for entry in &manifest.segments {
        let mut go_on = |bytes: u64| {
            progress.bytes.store(done + bytes.min(entry.bytes), Ordering::Relaxed);
            if cancel.load(Ordering::Relaxed) { Err(Error::Cancelled) } else { Ok(()) }
        };
        go_on(0)?;
        let fault = match check_segment(directory, entry, &manifest.schema, level, &mut go_on) {
            Err(error) if !is_damage(&error) => return Err(error),
            checked => checked.err().map(|error| error.to_string()),
        };
        done += entry.bytes;
        segments.push(SegmentCheck {
            id: format!("{:032x}", entry.id),
            documents: entry.live(),
            bytes: entry.bytes,
            fault,
        });
    }
    let needed = needed(&manifest);
    let mut leftovers = directory.list()?;
    leftovers.retain(|name| is_of_segment(name) && !needed.contains(name));
    leftovers.sort_unstable();
    Ok((CheckReport { generation, manifests, segments, leftovers, salvaged: None }, manifest))
}

fn check_segment(
    directory: &dyn Directory,
    entry: &SegmentEntry,
    schema: &Schema,
    level: CheckLevel,
    go_on: &mut dyn FnMut(u64) -> Result<()>,
) -> Result<()> {
    let segment = entry.open(directory)?;
    entry.must_describe(&segment, schema)?;
    segment.check(level, go_on)
}
