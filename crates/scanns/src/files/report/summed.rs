//! Rankings of directories by what is below them.

use super::columns::SplitPath;
use super::directories::{DirectoryNode, DirectoryTable};
use super::sums::EntrySums;
use super::top_list::{CountedPaths, PathCounter, RankedItem, TopList};
use crate::files::unread_directories::UnreadDirectories;

/// A directory of a ranking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankedDirectory {
    /// Its path.
    pub path: Vec<u8>,
    /// Everything at and below it.
    pub sums: EntrySums,
    /// The number of names in it.
    pub names: u64,
}

/// The directories with the sums of everything below them.
pub(super) struct SummedDirectories<'t> {
    table: &'t DirectoryTable,
    /// By number, the sums of each directory with everything below it.
    pub(super) whole: Vec<EntrySums>,
    /// The uppermost directory that has all entries.
    pub(super) top: usize,
}

impl<'t> SummedDirectories<'t> {
    /// Sums up the directories of a table.
    pub(super) fn new(table: &'t DirectoryTable) -> Self {
        let whole = table.whole();
        let mut children: Vec<(u32, usize)> = vec![(0, 0); whole.len()];
        for (at, node) in table.nodes().iter().enumerate().skip(1) {
            let around = usize::try_from(node.parent).ok().and_then(|parent| children.get_mut(parent));
            if let Some((count, last)) = around {
                (*count, *last) = (count.saturating_add(1), at);
            }
        }
        // Directories around the first entry hold nothing else.
        let mut top = 0;
        while let (Some(node), Some(&(1, only))) = (table.nodes().get(top), children.get(top)) {
            if node.is_known || node.own.entries > 0 {
                break;
            }
            top = only;
        }
        SummedDirectories { table, whole, top }
    }

    /// The path of a directory.
    pub(super) fn path(&self, at: usize) -> Vec<u8> {
        self.table.path(u32::try_from(at).unwrap_or(DirectoryTable::TOP))
    }

    /// The directories below which there is an entry, but not those around the uppermost.
    fn all(&self) -> impl Iterator<Item = (usize, &DirectoryNode, EntrySums)> {
        let first = self.top.max(1);
        let nodes = self.table.nodes().iter().zip(&self.whole).enumerate().skip(first);
        nodes.map(|(at, (node, &sums))| (at, node, sums))
    }

    /// The directories with the greatest values.
    pub(super) fn ranking(&self, most: usize, value: impl Fn(EntrySums, u64) -> u64) -> Vec<RankedDirectory> {
        let mut list = TopList::new(most);
        for (at, node, sums) in self.all() {
            let value = value(sums, node.direct);
            if value >= list.least() {
                list.offer(value, SplitPath::of(&self.path(at)), || (sums, node.direct));
            }
        }
        let item = |item: RankedItem<(EntrySums, u64)>| RankedDirectory {
            path: item.path,
            sums: item.more.0,
            names: item.more.1,
        };
        list.sorted().into_iter().map(item).collect()
    }

    /// Directories without entries, and those that could not be read.
    pub(super) fn empty_and_unread(
        &self,
        most: usize,
        unread: &UnreadDirectories,
    ) -> (CountedPaths, CountedPaths) {
        let (mut empty, mut not_read) = (PathCounter::new(most), PathCounter::new(most));
        for (at, node, _) in self.all().filter(|(_, node, _)| node.is_known) {
            if node.direct > 0 && unread.is_empty() {
                continue;
            }
            let path = self.path(at);
            if unread.reason(&path).is_some() || node.direct == 0 && !unread.is_read(&path) {
                not_read.add(SplitPath::of(&path));
            } else if node.direct == 0 {
                empty.add(SplitPath::of(&path));
            }
        }
        (empty.counted(), not_read.counted())
    }
}
