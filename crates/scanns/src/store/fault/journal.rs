//! Records the changes of a directory, and replays what is on the medium after a power cut.
//!
//! The medium must have the bytes and the names that were synced. It may have any part of the rest: names in
//! the order in which they were changed up to some point, as on a file system with a journal, or any subset;
//! of files, all bytes, none, some length, or pages of zeros and of earlier content. A file that was
//! truncated by creating it again counts as not synced, since its old bytes may be gone while the new name
//! does not exist yet.

use std::collections::BTreeMap;
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::super::RamDirectory;

/// The number of bytes that a file system keeps or loses together.
pub(super) const PAGE: u64 = 4096;
const PAGE_BYTES: usize = 4096;

/// Identifies a file, independent of its name.
pub(super) type FileNumber = usize;

/// A change of a file or a name.
#[derive(Debug)]
pub(super) enum JournalStep {
    /// A new file has the name; the previous file with this name is truncated.
    Create { file: FileNumber, name: String, replaced: Option<FileNumber> },
    /// Bytes were appended to a file.
    Write { file: FileNumber, bytes: Box<[u8]> },
    /// All bytes of a file are on the medium.
    Sync { file: FileNumber },
    /// A sync failed, and the bytes of the file read as zeros.
    Lose { file: FileNumber },
    /// A file was renamed.
    Rename { file: FileNumber, from: String, to: String },
    /// The name of a file was removed.
    Remove { file: FileNumber, name: String },
    /// All names are on the medium.
    SyncNames,
}

/// All steps, each with the number of calls made before it was done.
#[derive(Debug, Default)]
pub(super) struct Journal {
    steps: Vec<(u64, JournalStep)>,
}

#[derive(Default)]
struct File {
    content: Vec<u8>,
    synced: bool,
}

/// Pseudo-random numbers that depend on the seed alone.
struct Dice {
    seed: u64,
    thrown: u64,
}

impl Dice {
    /// A number below `sides`.
    fn throw(&mut self, sides: u64) -> u64 {
        self.thrown += 1;
        xxh3_64_with_seed(&self.thrown.to_le_bytes(), self.seed) % sides
    }
}

impl Journal {
    pub(super) fn note(&mut self, calls: u64, step: JournalStep) {
        self.steps.push((calls, step));
    }

    /// The content of the medium if only calls with numbers below `end` were made.
    pub(super) fn replay(&self, end: u64, seed: u64) -> RamDirectory {
        let mut files: Vec<File> = Vec::new();
        let mut names = BTreeMap::new();
        let mut changes = Vec::new();
        for (_, step) in self.steps.iter().take_while(|(calls, _)| *calls <= end) {
            match step {
                JournalStep::Create { replaced, .. } => {
                    files.push(File::default());
                    if let Some(old) = replaced.and_then(|old| files.get_mut(old)) {
                        old.synced = false;
                    }
                    changes.push(step);
                }
                JournalStep::Rename { .. } | JournalStep::Remove { .. } => changes.push(step),
                JournalStep::SyncNames => changes.drain(..).for_each(|change| apply(change, &mut names)),
                JournalStep::Write { file, bytes } => {
                    if let Some(file) = files.get_mut(*file) {
                        file.content.extend_from_slice(bytes);
                        file.synced = false;
                    }
                }
                JournalStep::Sync { file } => {
                    if let Some(file) = files.get_mut(*file) {
                        file.synced = true;
                    }
                }
                JournalStep::Lose { file } => {
                    if let Some(file) = files.get_mut(*file) {
                        file.content.fill(0);
                        file.synced = false;
                    }
                }
            }
        }
        let mut dice = Dice { seed, thrown: 0 };
        keep_some(&changes, &mut names, &mut dice);
        let left =
            |(name, file): (String, FileNumber)| Some((name, what_is_left(files.get(file)?, &mut dice)));
        RamDirectory::with_files(names.into_iter().filter_map(left).collect())
    }
}

/// Applies a subset of the changes of names, as the dice decide.
fn keep_some(changes: &[&JournalStep], names: &mut BTreeMap<String, FileNumber>, dice: &mut Dice) {
    let in_order = dice.throw(2) == 0;
    let kept = dice.throw(changes.len() as u64 + 1);
    for (change, at) in changes.iter().zip(0..) {
        if if in_order { at < kept } else { dice.throw(2) == 0 } {
            apply(change, names);
        }
    }
}

/// Applies a change. This works without the changes before it, because a change refers to files, not to the
/// previous owner of a name.
fn apply(change: &JournalStep, names: &mut BTreeMap<String, FileNumber>) {
    match change {
        JournalStep::Create { file, name, .. } => {
            names.insert(name.clone(), *file);
        }
        JournalStep::Rename { file, from, to } => {
            if names.get(from) == Some(file) {
                names.remove(from);
            }
            names.insert(to.clone(), *file);
        }
        JournalStep::Remove { file, name } if names.get(name) == Some(file) => {
            names.remove(name);
        }
        _ => {}
    }
}

/// The content of a file after the power cut.
fn what_is_left(file: &File, dice: &mut Dice) -> Arc<[u8]> {
    let len = file.content.len();
    let keep = |count: usize| file.content.iter().take(count).copied().collect();
    if file.synced {
        return keep(len);
    }
    match dice.throw(4) {
        0 => keep(len),
        1 => keep(0),
        2 => keep(usize::try_from(dice.throw(len as u64 + 1)).unwrap_or(len)),
        _ => {
            let mut content = file.content.clone();
            for page in content.chunks_mut(PAGE_BYTES) {
                match dice.throw(3) {
                    0 => {}
                    1 => page.fill(0),
                    _ => garble(page, dice),
                }
            }
            content.into()
        }
    }
}

/// Replaces the page by data that another file left on the medium.
fn garble(page: &mut [u8], dice: &mut Dice) {
    for bytes in page.chunks_mut(8) {
        let noise = dice.throw(u64::MAX).to_le_bytes();
        bytes.iter_mut().zip(noise).for_each(|(byte, noise)| *byte = noise);
    }
}
