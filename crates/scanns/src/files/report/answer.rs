//! The content of a report, and how it follows from what was collected.

use super::classes::AgeTable;
use super::collector::ReportCollector;
use super::lists::FileDetails;
use super::names::NamedSums;
use super::options::ReportOptions;
use super::summed::{RankedDirectory, SummedDirectories};
use super::sums::EntrySums;
use super::top_list::{CountedPaths, RankedItem, TopList};
use super::tree::{ReportNode, cut_tree};
use super::unknown::UnknownValues;
use crate::files::unread_directories::UnreadDirectories;
use crate::source::EntryKind;

/// A report about files: sums, lists and tables over entries.
///
/// A file with several names counts once, at the first of its names in the order of a walk. Entries whose
/// type is not known count as files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilesReport {
    /// The options of the report.
    pub options: ReportOptions,
    /// The uppermost directory that has all entries; empty if they have none in common.
    pub top: Vec<u8>,
    /// Sums of all entries, and of some types.
    pub totals: ReportTotals,
    /// By type, of all entries.
    pub types: Vec<NamedSums>,
    /// By owner, of all entries. An owner without a name is a number.
    pub owners: Vec<NamedSums>,
    /// By group, of all entries.
    pub groups: Vec<NamedSums>,
    /// By extension in lower case, of files.
    pub extensions: Vec<NamedSums>,
    /// Files by size and by the time since they were modified.
    pub modified: AgeTable,
    /// Files by size and by the time since they were read.
    pub accessed: AgeTable,
    /// Files that were neither read nor written for some days, by owner. Files with an unknown date are not
    /// among them.
    pub cold: Vec<NamedSums>,
    /// Paths with the greatest values.
    pub rankings: ReportRankings,
    /// Entries that deserve a look.
    pub notable: ReportNotable,
    /// Values that the index does not know.
    pub unknown: Vec<UnknownValues>,
    /// The tree of directories, cut to the large ones; the sums of the nodes in a node are its own.
    pub tree: Vec<ReportNode>,
    /// Asked paths that the index does not have.
    pub missing: Vec<Vec<u8>>,
}

/// Sums of all entries, and of some types.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReportTotals {
    /// All entries.
    pub all: EntrySums,
    /// Further names of files that have several.
    pub further_names: u64,
    /// Regular files, and entries of an unknown type.
    pub files: EntrySums,
    /// Directories.
    pub directories: EntrySums,
    /// Symbolic links.
    pub links: EntrySums,
    /// Pipes, sockets and devices.
    pub others: EntrySums,
    /// Files that were neither read nor written for some days.
    pub cold: EntrySums,
}

/// Paths with the greatest values, the greatest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReportRankings {
    /// Directories by the space of everything at and below them.
    pub by_space: Vec<RankedDirectory>,
    /// Directories by the number of entries at and below them.
    pub by_entries: Vec<RankedDirectory>,
    /// Directories by the number of names in them.
    pub by_names: Vec<RankedDirectory>,
    /// Files by size.
    pub files: Vec<RankedFile>,
    /// Paths with the most names; `/a/b` has two.
    pub deepest: Vec<RankedPath>,
    /// Paths whose last name has the most bytes.
    pub longest_names: Vec<RankedPath>,
    /// Paths with the most bytes.
    pub longest_paths: Vec<RankedPath>,
}

/// Entries that deserve a look.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReportNotable {
    /// Files of size zero.
    pub empty_files: CountedPaths,
    /// Directories without entries.
    pub empty_directories: CountedPaths,
    /// Directories that could not be read, or whose entries were left out on purpose, so that the index may
    /// lack what is in them.
    pub unread_directories: CountedPaths,
    /// Files that run with the rights of their owner.
    pub set_user: CountedPaths,
    /// Files that run with the rights of their group.
    pub set_group: CountedPaths,
    /// Files that everybody may change.
    pub writable_files: CountedPaths,
    /// Directories in which everybody may remove the files of others.
    pub writable_directories: CountedPaths,
}

/// A file of a ranking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankedFile {
    /// Its path.
    pub path: Vec<u8>,
    /// Its size in bytes.
    pub size: u64,
    /// Its space in bytes.
    pub space: u64,
    /// Its owner, a number if it has no name.
    pub owner: Option<Vec<u8>>,
    /// The time of its last modification, in nanoseconds since 1970.
    pub mtime: Option<i64>,
}

/// A path of a ranking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankedPath {
    /// The path.
    pub path: Vec<u8>,
    /// The value by which it is ranked.
    pub value: u64,
}

impl FilesReport {
    /// The report of what was collected.
    pub(super) fn new(
        mut collected: ReportCollector,
        missing: Vec<Vec<u8>>,
        unread: &UnreadDirectories,
    ) -> FilesReport {
        collected.end();
        let ReportCollector { options, directories, lists, types, cold, owners, .. } = collected;
        let summed = SummedDirectories::new(&directories);
        let (types, cold) = (types.sorted(), cold.sorted(&owners));
        let rankings = ReportRankings {
            by_space: summed.ranking(options.top, |sums, _| sums.space),
            by_entries: summed.ranking(options.top, |sums, _| sums.entries),
            by_names: summed.ranking(options.top, |_, names| names),
            files: lists.largest_files.sorted().into_iter().map(RankedFile::new).collect(),
            deepest: ranked(lists.deepest),
            longest_names: ranked(lists.longest_names),
            longest_paths: ranked(lists.longest_paths),
        };
        let (empty_directories, unread_directories) = summed.empty_and_unread(options.top, unread);
        let notable = ReportNotable {
            empty_files: lists.empty_files.counted(),
            empty_directories,
            unread_directories,
            set_user: lists.set_user.counted(),
            set_group: lists.set_group.counted(),
            writable_files: lists.writable_files.counted(),
            writable_directories: lists.writable_directories.counted(),
        };
        FilesReport {
            options,
            top: summed.path(summed.top),
            totals: ReportTotals::new(&types, &cold, collected.further_names),
            types,
            owners: owners.sorted(),
            groups: collected.groups.sorted(),
            extensions: collected.extensions.sorted(),
            modified: collected.modified,
            accessed: collected.accessed,
            cold,
            rankings,
            notable,
            unknown: collected.unknown.values(),
            tree: cut_tree(&directories, &summed.whole, summed.top),
            missing,
        }
    }
}

impl ReportTotals {
    fn new(types: &[NamedSums], cold: &[NamedSums], further_names: u64) -> Self {
        let sum = |named: &[NamedSums], wanted: &[Option<EntryKind>]| {
            let names: Vec<_> = wanted.iter().map(|kind| kind.map(|kind| kind.name().as_bytes())).collect();
            let mut sums = EntrySums::default();
            let found = named.iter().filter(|one| names.is_empty() || names.contains(&one.name.as_deref()));
            found.for_each(|named| sums += named.sums);
            sums
        };
        let others = [EntryKind::Fifo, EntryKind::Socket, EntryKind::Device].map(Some);
        ReportTotals {
            all: sum(types, &[]),
            further_names,
            files: sum(types, &[None, Some(EntryKind::File)]),
            directories: sum(types, &[Some(EntryKind::Directory)]),
            links: sum(types, &[Some(EntryKind::Link)]),
            others: sum(types, &others),
            cold: sum(cold, &[]),
        }
    }
}

impl RankedFile {
    fn new(item: RankedItem<FileDetails>) -> Self {
        let FileDetails { space, mtime, owner } = item.more;
        RankedFile { path: item.path, size: item.value, space, owner, mtime }
    }
}

fn ranked(list: TopList<()>) -> Vec<RankedPath> {
    list.sorted().into_iter().map(|item| RankedPath { path: item.path, value: item.value }).collect()
}
