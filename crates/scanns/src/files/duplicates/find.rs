//! The steps of a search for files with equal content.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

use super::candidates::{FileCandidate, candidate_of, size_of_record};
use super::content::{ContentReader, PART, Unread};
use super::groups::{DuplicateGroup, by_waste};
use super::state::HashKey;
use super::workers::ReadWork;
use crate::error::Result;
use crate::store::{RecordSorter, SortedRecords};
use crate::sys::lock;

/// The memory of a file besides its paths.
const EACH: usize = 200;

/// Options of [`find_duplicates`](super::find_duplicates).
#[derive(Clone, Debug)]
pub struct DuplicateOptions {
    /// The least size of files that are compared.
    pub min_size: u64,
    /// Whether the bytes of files with equal hashes are compared, too.
    pub verify: bool,
    /// The number of threads that read.
    pub threads: usize,
    /// The most memory of files, in bytes. More files are sorted in temporary files; the files of one size
    /// are in memory together.
    pub memory: usize,
    /// The directory of temporary files.
    pub temporary: PathBuf,
    /// Whether hashes are kept for the next run.
    pub keep_hashes: bool,
}

/// Files that were not compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FaultyFiles {
    /// Their number.
    pub count: u64,
    /// The first of them.
    pub first: Vec<u8>,
    /// Why the first of them was not compared, if the system refused it.
    pub reason: String,
}

/// The result of [`find_duplicates`](super::find_duplicates).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DuplicateReport {
    /// The number of groups.
    pub groups: u64,
    /// The number of files in groups.
    pub files: u64,
    /// The bytes that would be free if one file of each group were left.
    pub wasted: u64,
    /// The number of files whose size another file has.
    pub candidates: u64,
    /// Hashes that an earlier run has kept.
    pub known: u64,
    /// Files that have changed since they were indexed, or are gone.
    pub changed: FaultyFiles,
    /// Files whose size the index does not know, so that they were not compared.
    pub unsized_files: FaultyFiles,
    /// True if the index knows no sizes at all.
    pub has_no_sizes: bool,
    /// Files that the system does not let be read.
    pub failed: FaultyFiles,
    /// Files with the hash of other files, but not their bytes.
    pub collisions: u64,
    /// Paths that are not in the index.
    pub missing: Vec<Vec<u8>>,
    /// True if the search was stopped; there are no groups then.
    pub stopped: bool,
}

/// A search.
pub(super) struct DuplicateSearch<'w> {
    pub(super) options: &'w DuplicateOptions,
    pub(super) work: ReadWork<'w>,
    pub(super) report: DuplicateReport,
}

/// The hash of a file, and whether an earlier run has kept it.
type Hashed = Result<(u128, bool), Unread>;

impl DuplicateSearch<'_> {
    /// Finds the groups of files among sorted candidates, sorted by their waste.
    pub(super) fn run(&mut self, sorted: &SortedRecords) -> Result<SortedRecords> {
        self.count(sorted)?;
        let options = self.options;
        let mut found = RecordSorter::new(by_waste, options.memory / 3, &options.temporary);
        let (mut batch, mut memory) = (Vec::new(), 0);
        each_size(sorted, &mut |files| {
            let paths = files.iter().flat_map(|file| &file.paths);
            memory += files.len() * EACH + paths.map(Vec::len).sum::<usize>();
            batch.extend(files);
            if memory < options.memory / 3 {
                return Ok(true);
            }
            memory = 0;
            self.batch(std::mem::take(&mut batch), &mut found)?;
            Ok(!self.report.stopped)
        })?;
        if !self.report.stopped {
            self.batch(batch, &mut found)?;
        }
        found.finish()
    }

    /// Counts the candidates.
    fn count(&mut self, sorted: &SortedRecords) -> Result<()> {
        let mut total: u64 = 0;
        each_size(sorted, &mut |files| {
            let size = files.first().map_or(0, |file| file.size);
            self.report.candidates += files.len() as u64;
            total = total.saturating_add(size.saturating_mul(files.len() as u64));
            Ok(true)
        })?;
        self.work.progress.total.store(total, Ordering::Relaxed);
        Ok(())
    }

    /// Finds the groups among some files, of which all of one size are here.
    fn batch(&mut self, mut files: Vec<FileCandidate>, found: &mut RecordSorter) -> Result<()> {
        // Inodes that are close to each other are so on most disks, too.
        files.sort_unstable_by_key(|file| file.file);
        let all: Vec<usize> = (0..files.len()).collect();
        let partly = self.hashed(&files, &all, false);
        let alike = self.alike(&files, partly);
        let (small, large): (Vec<_>, Vec<_>) = alike.into_iter().partition(|group| is_small(&files, group));
        let mut rest: Vec<usize> = large.into_iter().flatten().collect();
        rest.sort_unstable();
        let wholly = self.hashed(&files, &rest, true);
        let mut groups = small;
        groups.extend(self.alike(&files, wholly));
        if self.options.verify && !self.report.stopped {
            groups = self.verified(&files, &groups);
        }
        if self.report.stopped {
            return Ok(());
        }
        let mut record = Vec::new();
        for group in groups {
            let members = group.iter().filter_map(|&at| files.get(at).cloned());
            let group = DuplicateGroup::of(members);
            self.work.done(group.size.saturating_mul(group.files.len() as u64));
            self.report.groups += 1;
            self.report.files += group.files.len() as u64;
            self.report.wasted = self.report.wasted.saturating_add(group.wasted());
            record.clear();
            group.put(&mut record);
            found.push(&record)?;
        }
        Ok(())
    }

    /// The hashes of some files, or of their starts and ends.
    fn hashed(&mut self, files: &[FileCandidate], some: &[usize], is_whole: bool) -> Vec<(usize, Hashed)> {
        let (state, progress, keep) = (self.work.state, self.work.progress, self.options.keep_hashes);
        let each = |reader: &mut ContentReader<'_>, at: &usize| -> Hashed {
            let Some(file) = files.get(*at) else { return Err(Unread::Changed) };
            let key = HashKey::of(file, is_whole);
            if let Some(hash) = key.and_then(|key| lock(state).get(&key)) {
                reader.check(file)?;
                return Ok((hash, true));
            }
            let read = |bytes: u64| {
                progress.read.fetch_add(bytes, Ordering::Relaxed);
            };
            let hash = if is_whole { reader.whole(file, &read)? } else { reader.partial(file, &read)? };
            if let Some(key) = key.filter(|_| keep) {
                lock(state).insert(key, hash);
            }
            Ok((hash, false))
        };
        let results = self.work.run(some, each);
        let stopped = || Err(Unread::Stopped);
        some.iter().copied().zip(results.into_iter().map(|result| result.unwrap_or_else(stopped))).collect()
    }

    /// Files of one size and one hash; others are settled.
    fn alike(&mut self, files: &[FileCandidate], hashed: Vec<(usize, Hashed)>) -> Vec<Vec<usize>> {
        let mut groups: HashMap<(u64, u128), Vec<usize>> = HashMap::new();
        for (at, hash) in hashed {
            let Some(file) = files.get(at) else { continue };
            match hash {
                Ok((hash, is_known)) => {
                    self.report.known += u64::from(is_known);
                    groups.entry((file.size, hash)).or_default().push(at);
                }
                Err(why) => self.unread(file, why),
            }
        }
        let mut alike = Vec::new();
        for ((size, _), group) in groups {
            if group.len() > 1 { alike.push(group) } else { self.work.done(size) }
        }
        alike.sort_unstable();
        alike
    }

    /// Compares the bytes of the files of each group.
    fn verified(&mut self, files: &[FileCandidate], groups: &[Vec<usize>]) -> Vec<Vec<usize>> {
        let each = |reader: &mut ContentReader<'_>, group: &Vec<usize>| {
            let mut faults = Vec::new();
            let classes = classes(group, |one, other| {
                let (Some(first), Some(second)) = (files.get(one), files.get(other)) else { return None };
                match reader.is_equal(first, second) {
                    Ok(is_equal) => Some(is_equal),
                    Err(why) => {
                        faults.push((other, why));
                        None
                    }
                }
            });
            (classes, faults)
        };
        let mut verified = Vec::new();
        for (classes, faults) in self.work.run(groups, each).into_iter().flatten() {
            self.report.collisions += classes.len().saturating_sub(1) as u64;
            verified.extend(classes.into_iter().filter(|class| class.len() > 1));
            for (at, why) in faults {
                if let Some(file) = files.get(at) {
                    self.unread(file, why);
                }
            }
        }
        verified
    }

    /// Counts a file that was not read.
    fn unread(&mut self, file: &FileCandidate, why: Unread) {
        let path = file.paths.first().cloned().unwrap_or_default();
        self.work.done(file.size);
        let (faulty, reason) = match why {
            Unread::Stopped => {
                self.report.stopped = true;
                return;
            }
            Unread::Changed => (&mut self.report.changed, String::new()),
            Unread::Failed(error) => (&mut self.report.failed, error.to_string()),
        };
        if faulty.count == 0 {
            (faulty.first, faulty.reason) = (path, reason);
        }
        faulty.count += 1;
    }
}

/// True if the files of a group were read as a whole at once.
fn is_small(files: &[FileCandidate], group: &[usize]) -> bool {
    let first = group.first().and_then(|&at| files.get(at));
    first.is_none_or(|file| file.size <= 2 * PART as u64)
}

/// Divides a group into classes of equal files; a file that cannot be compared (`None`) is left out.
fn classes(group: &[usize], mut is_equal: impl FnMut(usize, usize) -> Option<bool>) -> Vec<Vec<usize>> {
    let mut classes: Vec<Vec<usize>> = Vec::new();
    'files: for &file in group {
        for class in &mut classes {
            let Some(&first) = class.first() else { continue };
            match is_equal(first, file) {
                Some(true) => {
                    class.push(file);
                    continue 'files;
                }
                Some(false) => {}
                None => continue 'files,
            }
        }
        classes.push(vec![file]);
    }
    classes
}

/// Calls `each` with the files of every size that several files have; names of one file are together.
fn each_size(sorted: &SortedRecords, each: &mut dyn FnMut(Vec<FileCandidate>) -> Result<bool>) -> Result<()> {
    let mut cursor = sorted.read()?;
    let mut files: Vec<FileCandidate> = Vec::new();
    while let Some(record) = cursor.record() {
        if files.first().is_some_and(|file| file.size != size_of_record(record)) {
            let files = std::mem::take(&mut files);
            if files.len() > 1 && !each(files)? {
                return Ok(());
            }
        }
        if let Some(mut candidate) = candidate_of(record) {
            match files.last_mut() {
                Some(last) if last.file.is_some() && last.file == candidate.file => {
                    last.paths.append(&mut candidate.paths);
                }
                _ => files.push(candidate),
            }
        }
        cursor.advance()?;
    }
    if files.len() > 1 {
        each(files)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_divided_into_classes_of_equal_files() {
        let bytes = ["a", "b", "a", "?", "b", "c"];
        let found = classes(&[0, 1, 2, 3, 4, 5], |one, other| {
            (bytes[other] != "?").then(|| bytes[one] == bytes[other])
        });
        assert_eq!(found, [vec![0, 2], vec![1, 4], vec![5]]);
    }
}
