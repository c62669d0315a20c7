//! The lists of a report: paths with the greatest values, and paths that deserve a look.

use super::columns::SplitPath;
use super::facts::EntryFacts;
use super::options::ReportOptions;
use super::top_list::{PathCounter, TopList};
use crate::source::EntryKind;

/// What is told about a file of a list besides its size.
#[derive(Clone, Debug)]
pub(super) struct FileDetails {
    pub(super) space: u64,
    pub(super) mtime: Option<i64>,
    pub(super) owner: Option<Vec<u8>>,
}

/// The lists.
#[derive(Debug)]
pub(super) struct ReportLists {
    pub(super) largest_files: TopList<FileDetails>,
    pub(super) deepest: TopList<()>,
    pub(super) longest_names: TopList<()>,
    pub(super) longest_paths: TopList<()>,
    pub(super) empty_files: PathCounter,
    pub(super) set_user: PathCounter,
    pub(super) set_group: PathCounter,
    pub(super) writable_files: PathCounter,
    pub(super) writable_directories: PathCounter,
}

impl ReportLists {
    pub(super) fn new(options: &ReportOptions) -> Self {
        let most = options.top;
        ReportLists {
            largest_files: TopList::new(most),
            deepest: TopList::new(most),
            longest_names: TopList::new(most),
            longest_paths: TopList::new(most),
            empty_files: PathCounter::new(most),
            set_user: PathCounter::new(most),
            set_group: PathCounter::new(most),
            writable_files: PathCounter::new(most),
            writable_directories: PathCounter::new(most),
        }
    }

    /// Takes a path, with the number of its names.
    #[inline]
    pub(super) fn path(&mut self, path: SplitPath<'_>, depth: usize) {
        self.deepest.offer(depth as u64, path, || ());
        self.longest_names.offer(path.name.len() as u64, path, || ());
        self.longest_paths.offer(path.len() as u64, path, || ());
    }

    /// Takes an entry.
    #[inline]
    pub(super) fn entry(&mut self, path: SplitPath<'_>, facts: &EntryFacts, owner: Option<&[u8]>) {
        if facts.is_file() {
            self.largest_files.offer(facts.sums.size, path, || FileDetails {
                space: facts.sums.space,
                mtime: facts.mtime,
                owner: owner.map(<[u8]>::to_vec),
            });
            if facts.is_empty {
                self.empty_files.add(path);
            }
        }
        if facts.mode & 0o7002 != 0 {
            self.permissions(path, facts);
        }
    }

    fn permissions(&mut self, path: SplitPath<'_>, facts: &EntryFacts) {
        let has = |bits| facts.mode & bits != 0;
        match facts.kind {
            None | Some(EntryKind::File) => {
                let lists = [(0o4000, &mut self.set_user), (0o2000, &mut self.set_group)];
                let all = lists.into_iter().chain([(0o002, &mut self.writable_files)]);
                all.filter(|(bits, _)| has(*bits)).for_each(|(_, list)| list.add(path));
            }
            // Where the sticky bit is set, users may remove only what is theirs.
            Some(EntryKind::Directory) if has(0o002) && !has(0o1000) => self.writable_directories.add(path),
            Some(_) => {}
        }
    }

    pub(super) fn merge(&mut self, other: ReportLists) {
        self.largest_files.merge(other.largest_files);
        self.deepest.merge(other.deepest);
        self.longest_names.merge(other.longest_names);
        self.longest_paths.merge(other.longest_paths);
        self.empty_files.merge(other.empty_files);
        self.set_user.merge(other.set_user);
        self.set_group.merge(other.set_group);
        self.writable_files.merge(other.writable_files);
        self.writable_directories.merge(other.writable_directories);
    }
}
