//! What a scan tells at its end: its roots, what it could not read, and what it left out.

use std::path::PathBuf;

use crate::source::ignore::IgnoreFaults;
use crate::source::inputs::Failure;
use crate::source::skipped::Skipped;
use crate::source::unlisted::UnlistedDirectories;

/// The maximum number of failures that a report names.
pub(super) const MOST_FAILURES: usize = 1 << 20;

/// The result of a scan, apart from its entries.
#[derive(Clone, Debug, Default)]
pub struct ScanReport {
    /// The named paths that exist, by path. A path that was named twice is there once.
    pub roots: Vec<ScannedRoot>,
    /// Named paths that could not be read, directories that could not be listed to their end, and entries
    /// whose values could not be read, by path. Nothing is known of them, nor of what is below them: that it
    /// is missing among the entries does not mean that it was deleted.
    pub unread: Vec<Failure>,
    /// Failures that `unread` does not name, because there are more than 2^20.
    pub unread_more: u64,
    /// Entries that were deleted between the listing of their directory and the moment at which their values
    /// were read, and directories that were deleted before they could be listed.
    pub vanished: Skipped,
    /// Entries that the globs and the rules of `.gitignore` files exclude; an excluded directory counts once.
    pub filtered: Skipped,
    /// Globs that included or excluded nothing.
    pub unused_globs: Vec<String>,
    /// What was wrong with the rules of `.gitignore` files.
    pub rule_faults: IgnoreFaults,
    /// Hidden entries that were skipped; a hidden directory counts once.
    pub hidden: Skipped,
    /// Directories that were listed as entries, but not entered, since they are in other file systems.
    pub other_file_systems: Skipped,
    /// Directories that were listed as entries, but not entered, since they are pseudo file systems.
    pub pseudo: Skipped,
    /// Directories that were listed as entries, but not entered, since they contain snapshots.
    pub snapshots: Skipped,
    /// Directories that seem to be empty, since they were not entered, or everything in them was left out.
    pub unlisted: UnlistedDirectories,
    /// Entries that were left out here, since they are listed under another path: below a named path that is
    /// in another one, or reached by a link.
    pub repeated: Skipped,
    /// Links whose target could not be read. They were listed without it.
    pub without_target: Skipped,
    /// File systems that have no extended attributes, with the first entry of which they were asked for.
    pub without_attributes: Skipped,
    /// Entries of which some extended attribute or ACL could not be read. They were listed without it.
    pub unread_attributes: Skipped,
    /// Entries of which only a part of the extended attributes or of the ACL was kept: the first 4 KiB of a
    /// value, and 32 KiB of all.
    pub cut_attributes: Skipped,
    /// Entries of which it cannot be decided who may see them: they, or directories above them, have an ACL
    /// of NFSv4, or one that could not be read. Only root sees them.
    pub undecided_access: Skipped,
    /// Metadata operations: system calls that open or list directories and read values.
    pub operations: u64,
    /// False if the scan was stopped.
    pub complete: bool,
}

/// A named path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScannedRoot {
    /// The absolute path.
    pub path: PathBuf,
    /// The number of entries at and below the path.
    pub entries: u64,
    /// The number of directories that were listed.
    pub directories: u64,
    /// True for a directory without entries, as the place of a file system that is not mounted.
    pub is_empty: bool,
    /// The time before the first of its entries was read, in nanoseconds since 1970.
    pub began: i64,
    /// The time after the last of its entries was read.
    pub ended: i64,
}

impl ScanReport {
    /// Adds what another thread found, or another scan.
    pub(crate) fn append(&mut self, mut other: ScanReport) {
        other.roots.into_iter().for_each(|root| self.add_root(root));
        self.unread.append(&mut other.unread);
        self.unread_more += other.unread_more;
        self.vanished.append(other.vanished);
        self.filtered.append(other.filtered);
        self.rule_faults.append(other.rule_faults);
        self.hidden.append(other.hidden);
        self.other_file_systems.append(other.other_file_systems);
        self.pseudo.append(other.pseudo);
        self.snapshots.append(other.snapshots);
        self.unlisted.append(other.unlisted);
        self.repeated.append(other.repeated);
        self.without_target.append(other.without_target);
        self.without_attributes.append(other.without_attributes);
        self.unread_attributes.append(other.unread_attributes);
        self.cut_attributes.append(other.cut_attributes);
        self.undecided_access.append(other.undecided_access);
        self.operations += other.operations;
    }

    fn add_root(&mut self, root: ScannedRoot) {
        match self.roots.iter_mut().find(|known| known.path == root.path) {
            Some(known) => {
                known.entries += root.entries;
                known.directories += root.directories;
                known.is_empty |= root.is_empty;
                known.ended = known.ended.max(root.ended);
            }
            None => self.roots.push(root),
        }
    }

    /// Sorts what several threads found in any order.
    pub(super) fn arrange(&mut self) {
        self.unread.sort_unstable();
        let more = self.unread.len().saturating_sub(MOST_FAILURES);
        self.unread_more += more as u64;
        self.unread.truncate(MOST_FAILURES);
    }
}
