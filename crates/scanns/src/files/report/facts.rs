//! What a report counts of one entry, without its texts.

use super::classes::{age_class, size_class};
use super::options::ReportOptions;
use super::sums::EntrySums;
use crate::source::{Entry, EntryKind};

/// The values of an entry that are counted.
#[derive(Clone, Copy, Debug)]
pub(super) struct EntryValues {
    pub(super) kind: Option<EntryKind>,
    pub(super) size: Option<u64>,
    pub(super) blocks: Option<u64>,
    pub(super) mtime: Option<i64>,
    pub(super) atime: Option<i64>,
    pub(super) mode: Option<u32>,
    /// The numbers of the names of its owner and its group.
    pub(super) owner: u32,
    pub(super) group: u32,
}

/// What is counted of an entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct EntryFacts {
    pub(super) kind: Option<EntryKind>,
    pub(super) sums: EntrySums,
    /// Its size is zero.
    pub(super) is_empty: bool,
    pub(super) size_class: usize,
    /// The classes of the ages since it was modified and since it was read.
    pub(super) modified: usize,
    pub(super) accessed: usize,
    /// True if it was neither written nor read for a long time.
    pub(super) is_cold: bool,
    pub(super) mtime: Option<i64>,
    /// Its permissions, 0 if they are not known.
    pub(super) mode: u32,
    /// The numbers of the names of its owner and its group.
    pub(super) owner: u32,
    pub(super) group: u32,
}

impl EntryFacts {
    /// The facts of an entry with these values.
    #[inline]
    pub(super) fn new(values: &EntryValues, options: &ReportOptions) -> Self {
        let before = options.cold_before();
        let EntryValues { kind, size, blocks, mtime, atime, mode, owner, group } = *values;
        EntryFacts {
            kind,
            sums: EntrySums { entries: 1, size: size.unwrap_or(0), space: space_of(size, blocks) },
            is_empty: size == Some(0),
            size_class: size_class(size),
            modified: age_class(mtime, options.now),
            accessed: age_class(atime, options.now),
            is_cold: [mtime, atime].iter().all(|time| time.is_some_and(|time| time < before)),
            mtime,
            mode: mode.unwrap_or(0),
            owner,
            group,
        }
    }

    /// True for files, and for entries of which nothing else is known.
    #[inline]
    pub(super) fn is_file(&self) -> bool {
        matches!(self.kind, None | Some(EntryKind::File))
    }
}

/// The space of an entry in bytes; if it is not known, its size in whole blocks.
pub(super) fn space_of(size: Option<u64>, blocks: Option<u64>) -> u64 {
    let blocks = blocks.unwrap_or_else(|| size.unwrap_or(0).div_ceil(512));
    blocks.saturating_mul(512)
}

/// The extension of a name: what follows its last dot, if something precedes and follows it.
pub(in crate::files) fn extension(name: &[u8]) -> Option<&[u8]> {
    let dot = memchr::memrchr(b'.', name).filter(|&dot| dot > 0)?;
    name.get(dot + 1..).filter(|extension| !extension.is_empty())
}

/// The device and inode of a file with several names.
pub(in crate::files) type LinkedKey = (Option<u64>, u64);

/// What tells a file with several names from others; `None` for other entries.
#[inline]
pub(in crate::files) fn linked_key(entry: &Entry<'_>) -> Option<LinkedKey> {
    let has_several = entry.links.is_some_and(|links| links > 1) && entry.kind != Some(EntryKind::Directory);
    entry.inode.filter(|_| has_several).map(|inode| (entry.device, inode))
}
