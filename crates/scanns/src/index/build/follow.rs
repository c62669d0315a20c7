//! Keeps an index up to date while directories change: watches them, scans once, and applies what happens.
//!
//! The watches are there before the scan, so everything that happens during the scan is looked at after it.
//! If the system loses events, everything is scanned again.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::directory::{prepare_directory, remove_empty_index};
use super::options::{ChangeOptions, IndexOptions};
use super::report::IndexReport;
use super::run::build;
use crate::error::{Error, Result};
use crate::index::access_column::access_field;
use crate::index::commit::manifest::Manifest;
use crate::index::progress::Progress;
use crate::source::{ChangedPaths, ScanOptions, TreeWatch};
use crate::store::{FsDirectory, read_newest};

/// Paths that take more bytes than this are not kept: a scan finds them.
const MOST: usize = 256 << 20;

/// How often another writer of the index is waited for.
const RETRY: Duration = Duration::from_secs(1);

/// A step of [`Index::follow`](crate::Index::follow).
#[derive(Debug)]
pub enum FollowStep<'r> {
    /// Everything was scanned. The number is the number of watched directories.
    Scanned(&'r IndexReport, usize),
    /// What happened was applied and committed.
    Applied(&'r IndexReport),
    /// Events were lost, so everything is scanned again.
    Lost,
    /// Another process writes to the index; what happened is applied later.
    Busy,
}

/// Follows directories until `stop` is set.
pub(crate) fn follow(
    index: &Path,
    options: &IndexOptions,
    every: Duration,
    stop: &Arc<AtomicBool>,
    tell: &mut dyn FnMut(FollowStep<'_>),
) -> Result<()> {
    // Once it exists, an index in a tree that it follows can be left out.
    let created = prepare_directory(index)?;
    refuse_access(&FsDirectory::new(index))?;
    let followed = follow_existing(Follower { index, options, every, stop }, tell);
    let directory = FsDirectory::new(index);
    if created && read_newest(&directory).is_ok_and(|newest| newest.is_none()) {
        remove_empty_index(&directory, index);
    }
    followed
}

/// Refuses an index with access classes: if the permissions of a directory change, so do the classes of
/// everything below it, of which no event tells.
fn refuse_access(directory: &FsDirectory) -> Result<()> {
    let manifest = read_newest(directory)?.map(|newest| Manifest::decode(&newest.content)).transpose()?;
    match manifest.filter(|manifest| access_field(&manifest.schema, manifest.records).is_some()) {
        None => Ok(()),
        Some(_) => Err(Error::Unsupported {
            what: "following directories with an index that has access classes".into(),
            remedy: "update the index with scanns index, or follow them with another one".into(),
        }),
    }
}

fn follow_existing(follower: Follower<'_>, tell: &mut dyn FnMut(FollowStep<'_>)) -> Result<()> {
    let leave_out = fs::canonicalize(follower.index).ok();
    let scan = ScanOptions { leave_out, ..follower.options.scan_options() };
    let (mut watch, roots) = (TreeWatch::new(scan.clone())?, scan.paths);
    while !follower.is_stopped() {
        follower.scan(&mut watch, &roots, tell)?;
        follower.apply_all(&mut watch, tell)?;
    }
    Ok(())
}

struct Follower<'a> {
    index: &'a Path,
    options: &'a IndexOptions,
    every: Duration,
    stop: &'a Arc<AtomicBool>,
}

impl Follower<'_> {
    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Watches everything, and then scans everything.
    fn scan(
        &self,
        watch: &mut TreeWatch,
        roots: &[PathBuf],
        tell: &mut dyn FnMut(FollowStep<'_>),
    ) -> Result<()> {
        watch.watch_trees(roots.to_vec(), self.stop)?;
        if let Some(report) = self.build(None, tell)? {
            tell(FollowStep::Scanned(&report, watch.directories()));
        }
        Ok(())
    }

    /// Applies what happens, until events are lost.
    fn apply_all(&self, watch: &mut TreeWatch, tell: &mut dyn FnMut(FollowStep<'_>)) -> Result<()> {
        while !self.is_stopped() {
            let mut paths = ChangedPaths::default();
            if !self.collect(watch, &mut paths)? || paths.bytes() > MOST {
                tell(FollowStep::Lost);
                return Ok(());
            }
            if paths.is_empty() {
                continue;
            }
            paths.sort();
            let named = Some(Arc::new(paths));
            if let Some(report) = self.build(Some(ChangeOptions { named, ..Default::default() }), tell)? {
                tell(FollowStep::Applied(&report));
            }
        }
        Ok(())
    }

    /// Collects events for a while, from the first one on; false if some were lost.
    fn collect(&self, watch: &mut TreeWatch, paths: &mut ChangedPaths) -> Result<bool> {
        let mut end = None;
        while !self.is_stopped() && end.is_none_or(|end| Instant::now() < end) && paths.bytes() <= MOST {
            if !watch.wait()? {
                continue;
            }
            if !watch.take(paths, self.stop)? {
                return Ok(false);
            }
            end = end.or_else(|| Some(Instant::now() + self.every));
            // Repeated events of one file, as of a log, take no more space than one.
            paths.sort();
        }
        Ok(true)
    }

    /// Scans, or applies changes. Waits for other writers of the index. `None` if it was stopped before.
    fn build(
        &self,
        changes: Option<ChangeOptions>,
        tell: &mut dyn FnMut(FollowStep<'_>),
    ) -> Result<Option<IndexReport>> {
        let options = IndexOptions { changes, ..self.options.clone() };
        let mut was_busy = false;
        while !self.is_stopped() {
            match build(self.index, &options, &Progress::new(), self.stop) {
                Err(Error::Locked { .. }) => {
                    if !was_busy {
                        tell(FollowStep::Busy);
                    }
                    was_busy = true;
                    std::thread::sleep(RETRY);
                }
                built => return built.map(Some),
            }
        }
        Ok(None)
    }
}
