//! Takes files in any order, from several threads.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use super::file_record::put_file;
use super::repeated::{find_repeated, put_identified};
use super::sorted_inputs::{MOST_FAILURES, SortedInputs};
use crate::error::{Error, Result};
use crate::source::entry::is_at_or_below;
use crate::source::inputs::{Failure, Input};
use crate::source::stamp::Stamp;
use crate::source::walk_found::{Found, Identity};
use crate::store::{RecordSorter, SortSpace};
use crate::sys::{lock, now};

/// Takes files, and sorts them.
#[derive(Debug)]
pub struct InputSorter<'s> {
    /// The directory whose files are left out.
    left_out: &'s Path,
    space: &'s SortSpace,
    gathered: Mutex<GatheredFiles>,
}

/// What was taken so far.
#[derive(Debug)]
struct GatheredFiles {
    files: RecordSorter,
    /// The same files by device and inode, if some may be reached by two paths.
    identified: Option<RecordSorter>,
    /// Paths and reasons, with a NUL byte between.
    failures: RecordSorter,
    /// The last time at which a file was modified, but for times in the future.
    last_modified: i64,
    /// Room for a record.
    record: Vec<u8>,
    /// Why no more is taken.
    fault: Option<Error>,
}

impl<'s> InputSorter<'s> {
    /// Takes files that are not below `left_out`. With `overlap`, a file may be reached by two paths.
    pub(crate) fn new(left_out: &'s Path, space: &'s SortSpace, overlap: bool) -> Self {
        // The files have half of the memory, or a third with their identities. What is found out about them
        // at the end has the rest.
        let sorter = |parts: usize| RecordSorter::new(Ord::cmp, space.memory / parts, &space.directory);
        let gathered = GatheredFiles {
            files: sorter(if overlap { 3 } else { 2 }),
            identified: overlap.then(|| sorter(3)),
            failures: sorter(32),
            last_modified: i64::MIN,
            record: Vec::new(),
            fault: None,
        };
        InputSorter { left_out, space, gathered: Mutex::new(gathered) }
    }

    /// Takes files and failures out of `found`; false if they could not be kept.
    pub(in crate::source) fn take(&self, found: &mut Found) -> bool {
        let now = now();
        let mut gathered = lock(&self.gathered);
        let files = found.take_files().into_iter().flat_map(|directory| directory.files);
        let files = files.filter(|(input, _)| !self.leaves_out(input.key()));
        let taken = gathered.take(files, std::mem::take(&mut found.failures), now);
        gathered.fault = gathered.fault.take().or(taken.err());
        gathered.fault.is_none()
    }

    /// Takes a file; its path is absolute.
    ///
    /// # Errors
    /// A temporary file cannot be written.
    pub(crate) fn push(&self, path: &[u8], stamp: Stamp) -> Result<()> {
        if self.leaves_out(path) {
            return Ok(());
        }
        lock(&self.gathered).push(path, stamp, None)
    }

    fn leaves_out(&self, path: &[u8]) -> bool {
        is_at_or_below(path, self.left_out.as_os_str().as_bytes())
    }

    /// The files, sorted.
    ///
    /// # Errors
    /// A temporary file could not be written or read; [`Error::Cancelled`] if `cancel` was set.
    pub(crate) fn finish(self, cancel: &AtomicBool) -> Result<SortedInputs> {
        let gathered = self.gathered.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        let GatheredFiles { files, identified, failures, last_modified, fault, .. } = gathered;
        if let Some(fault) = fault {
            return Err(fault);
        }
        let sorter =
            |parts: usize| RecordSorter::new(Ord::cmp, self.space.memory / parts, &self.space.directory);
        let mut repeated = sorter(8);
        if let Some(identified) = identified {
            find_repeated(&identified.finish()?, &mut repeated, cancel)?;
        }
        let mut sorted = SortedInputs::of(files.finish()?, repeated.finish()?, sorter(8), cancel)?;
        sorted.last_modified = last_modified;
        let failures = failures.finish()?;
        let mut cursor = failures.read()?;
        while let Some(record) = cursor.record() {
            if sorted.failures.len() < MOST_FAILURES {
                sorted.failures.extend(failure_of(record));
            }
            sorted.failed += 1;
            cursor.advance()?;
        }
        sorted.failures.sort_unstable();
        if cancel.load(Ordering::Relaxed) { Err(Error::Cancelled) } else { Ok(sorted) }
    }
}

impl GatheredFiles {
    fn take(
        &mut self,
        files: impl Iterator<Item = (Input, Identity)>,
        failures: Vec<Failure>,
        now: i64,
    ) -> Result<()> {
        for (input, identity) in files {
            if input.modified <= now {
                self.last_modified = self.last_modified.max(input.modified);
            }
            self.push(input.key(), input.stamp(), Some(identity))?;
        }
        for Failure { path, reason } in failures {
            self.record.clear();
            self.record.extend_from_slice(path.as_os_str().as_bytes());
            self.record.push(0);
            self.record.extend_from_slice(reason.as_bytes());
            self.failures.push(&self.record)?;
        }
        Ok(())
    }

    fn push(&mut self, path: &[u8], stamp: Stamp, identity: Option<Identity>) -> Result<()> {
        self.record.clear();
        put_file(&mut self.record, path, stamp);
        self.files.push(&self.record)?;
        if let (Some(identity), Some(identified)) = (identity, &mut self.identified) {
            self.record.clear();
            put_identified(&mut self.record, identity, path, stamp);
            identified.push(&self.record)?;
        }
        Ok(())
    }
}

fn failure_of(record: &[u8]) -> Option<Failure> {
    let end = memchr::memchr(0, record)?;
    let path = PathBuf::from(OsStr::from_bytes(record.get(..end)?));
    let reason = String::from_utf8_lossy(record.get(end + 1..)?).into_owned();
    Some(Failure { path, reason })
}
