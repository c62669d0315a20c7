//! Entries in the order of a walk as a tree with one root: directories are entered and left, and directories
//! that are missing between the root and an entry are added.

use super::sorter::{EntrySorter, by_walk};
use super::tally::ExportReport;
use crate::error::{Error, Result};
use crate::files::entry_record::{entry_of, put_entry};
use crate::files::place::{common, directory_of, holds};
use crate::source::{Entry, EntryBatch, EntryKind};
use crate::store::SortSpace;

/// A step of a walk.
#[derive(Debug)]
pub(super) enum TreeStep<'t> {
    /// A directory, whose entries follow.
    Enter(&'t Entry<'t>),
    /// Another entry.
    Leaf(&'t Entry<'t>),
    /// The end of the innermost directory.
    Leave,
}

/// The entry at a path, for directories that were not asked for; `None` if the index does not have it.
pub(super) type FindDirectory<'f> = dyn FnMut(&[u8]) -> Result<Option<EntryBatch>> + 'f;

/// Takes the steps of a walk; the report counts what the format cannot hold.
pub(super) type VisitStep<'v> = dyn FnMut(TreeStep<'_>, &mut ExportReport) -> Result<()> + 'v;

/// Entries that will be a tree.
pub(super) struct TreeSorter {
    sorter: EntrySorter,
    /// The deepest directory that holds all entries.
    root: Option<Vec<u8>>,
}

impl TreeSorter {
    pub(super) fn new(space: SortSpace) -> Self {
        TreeSorter { sorter: EntrySorter::new(by_walk, space), root: None }
    }

    /// Adds an entry.
    ///
    /// # Errors
    /// Absolute and relative paths have no common directory.
    pub(super) fn push(&mut self, entry: &Entry<'_>) -> Result<()> {
        match &mut self.root {
            None => self.root = Some(entry.path.to_vec()),
            Some(root) => match common(root, entry.path) {
                Some(place) => root.truncate(place.len()),
                None => return Err(divided()),
            },
        }
        self.sorter.push(entry)
    }

    /// Calls `visit` with the steps of a walk.
    pub(super) fn finish(
        self,
        report: &mut ExportReport,
        find: &mut FindDirectory<'_>,
        visit: &mut VisitStep<'_>,
    ) -> Result<()> {
        let root = self.root.unwrap_or_default();
        let mut walk = TreeWalk { root, open: Vec::new(), waiting: Vec::new(), report, find, visit };
        self.sorter.finish(&mut |entry| walk.entry(entry))?;
        walk.end()
    }
}

fn divided() -> Error {
    Error::Unsupported {
        what: "a tree of absolute and relative paths".into(),
        remedy: "ask for one of the directories".into(),
    }
}

struct TreeWalk<'w, 'f, 'v> {
    root: Vec<u8>,
    /// The paths of the directories that were entered.
    open: Vec<Vec<u8>>,
    /// The record of the last entry, which waits for the next: if that is below it, it is a directory.
    waiting: Vec<u8>,
    report: &'w mut ExportReport,
    find: &'w mut FindDirectory<'f>,
    visit: &'w mut VisitStep<'v>,
}

impl TreeWalk<'_, '_, '_> {
    fn entry(&mut self, entry: &Entry<'_>) -> Result<()> {
        let mut waiting = std::mem::take(&mut self.waiting);
        if let Some(last) = entry_of(&waiting) {
            self.place(&last, holds(last.path, entry.path))?;
        }
        waiting.clear();
        put_entry(&mut waiting, entry);
        self.waiting = waiting;
        Ok(())
    }

    fn end(&mut self) -> Result<()> {
        let waiting = std::mem::take(&mut self.waiting);
        if let Some(last) = entry_of(&waiting) {
            self.place(&last, false)?;
        }
        while self.open.pop().is_some() {
            (self.visit)(TreeStep::Leave, self.report)?;
        }
        Ok(())
    }

    /// Takes an entry to its place in the tree.
    fn place(&mut self, entry: &Entry<'_>, is_filled: bool) -> Result<()> {
        while self.open.last().is_some_and(|last| !holds(last, entry.path)) {
            self.open.pop();
            (self.visit)(TreeStep::Leave, self.report)?;
        }
        let above = directory_of(entry.path);
        let is_directory = is_filled || above.is_none() || entry.kind == Some(EntryKind::Directory);
        if !is_directory && entry.path == self.root {
            // A single file: its directory is the root.
            self.root = above.unwrap_or_default().to_vec();
        }
        if entry.path != self.root
            && let Some(above) = above
        {
            self.enter_missing(above)?;
        }
        self.report.entries += 1;
        if is_directory {
            self.enter(&Entry { kind: Some(EntryKind::Directory), ..*entry })
        } else {
            (self.visit)(TreeStep::Leaf(entry), self.report)
        }
    }

    fn enter(&mut self, entry: &Entry<'_>) -> Result<()> {
        self.open.push(entry.path.to_vec());
        (self.visit)(TreeStep::Enter(entry), self.report)
    }

    /// Enters the directories between the innermost one and `directory`, which is entered, too.
    fn enter_missing(&mut self, directory: &[u8]) -> Result<()> {
        let mut missing = Vec::new();
        let mut place = Some(directory);
        while let Some(path) = place.filter(|path| self.open.last().is_none_or(|last| last != path)) {
            missing.push(path);
            place = if path == self.root { None } else { directory_of(path) };
        }
        for path in missing.into_iter().rev() {
            self.report.added += 1;
            let found = if path.is_empty() { None } else { (self.find)(path)? };
            if let Some(entry) = found.iter().flat_map(EntryBatch::iter).next() {
                self.enter(&Entry { kind: Some(EntryKind::Directory), ..entry })?;
                continue;
            }
            if !path.is_empty() {
                self.report.make_up(path);
            }
            self.enter(&Entry { path, kind: Some(EntryKind::Directory), ..Entry::default() })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(paths: &[&str]) -> (String, ExportReport) {
        let space = SortSpace { memory: 1 << 20, directory: ".".into() };
        let mut sorter = TreeSorter::new(space);
        for path in paths {
            let (path, kind) = match path.strip_suffix('/') {
                Some(directory) if !directory.is_empty() => (directory, Some(EntryKind::Directory)),
                _ => (*path, None),
            };
            sorter.push(&Entry { path: path.as_bytes(), kind, ..Entry::default() }).unwrap();
        }
        let (mut text, mut report) = (String::new(), ExportReport::default());
        let mut visit = |step: TreeStep<'_>, _: &mut ExportReport| {
            let path = |entry: &Entry<'_>| String::from_utf8_lossy(entry.path).into_owned();
            match step {
                TreeStep::Enter(entry) => text += &format!("{} [", path(entry)),
                TreeStep::Leaf(entry) => text += &format!("{} ", path(entry)),
                TreeStep::Leave => text += "]",
            }
            Ok(())
        };
        sorter.finish(&mut report, &mut |_| Ok(None), &mut visit).unwrap();
        (text, report)
    }

    #[test]
    fn missing_directories_are_added_up_to_the_root_that_holds_all() {
        for (paths, expected, added, made_up) in [
            (&["/a/b", "/a/", "/a/c/d"][..], "/a [/a/b /a/c [/a/c/d ]]", 1, 1),
            (&["/x/a/b/c", "/x/a/d/"], "/x/a [/x/a/b [/x/a/b/c ]/x/a/d []]", 2, 2),
            (&["/a/b"], "/a [/a/b ]", 1, 1),
            (&["/"], "/ []", 0, 0),
            (&["/", "/a", "/a-b", "/a/b"], "/ [/a [/a/b ]/a-b ]", 0, 0),
            (&["a/b", "c"], " [a [a/b ]c ]", 2, 1),
            (&["a", "a/b"], "a [a/b ]", 0, 0),
            (&[".", "./a"], ". [./a ]", 0, 0),
            (&["name"], " [name ]", 1, 0),
            (&[], "", 0, 0),
        ] {
            let (text, report) = walk(paths);
            assert_eq!(text, expected);
            assert_eq!((report.added, report.made_up), (added, made_up), "{expected}");
            assert_eq!(report.entries, paths.len() as u64);
        }
    }
}
