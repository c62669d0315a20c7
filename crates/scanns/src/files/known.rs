//! Answers what an expression asks beyond a single entry: other entries, owners, contents.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::fs;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::entries::{ALL, EntryReader};
use super::find::{FindFacts, FindType, FoundTarget, OwnerIdentity, ReferenceEntry};
use super::order::{parent, without_slash};
use super::unread_directories::UnreadDirectories;
use crate::error::Result;
use crate::query::{Operator, Query, ValueRange};
use crate::schema::Value;
use crate::source::{Entry, EntryBatch, EntryKind, nanoseconds};

/// The most links that are followed, as on Linux.
const MOST_LINKS: usize = 40;

/// Facts about the entries of an index.
pub(super) struct IndexFacts<'s> {
    pub(super) reader: EntryReader<'s>,
    /// The directories that have entries.
    filled: OnceCell<HashSet<Vec<u8>>>,
    /// What could not be read.
    unread: OnceCell<UnreadDirectories>,
    /// By query of `-content`, the paths of its documents.
    contents: Vec<HashSet<Vec<u8>>>,
}

impl<'s> IndexFacts<'s> {
    pub(super) fn new(reader: EntryReader<'s>) -> Self {
        IndexFacts { reader, filled: OnceCell::new(), unread: OnceCell::new(), contents: Vec::new() }
    }

    /// False for a directory that the user of a view may not list: it seems empty to him.
    fn may_be_listed(&self, path: &[u8]) -> bool {
        let snapshot = self.reader.snapshot;
        // What cannot be read is reported by the query that follows.
        let hit = || snapshot.hit(path).ok().flatten();
        !snapshot.is_view()
            || hit()
                .is_some_and(|hit| snapshot.leaf(&hit).is_some_and(|segment| segment.has_content(hit.doc)))
    }

    /// What scans and dumps could not read.
    pub(super) fn unread(&self) -> &UnreadDirectories {
        // A note that cannot be read is reported where an index is opened for an answer.
        self.unread.get_or_init(|| UnreadDirectories::of(self.reader.snapshot).unwrap_or_default())
    }

    /// Finds the documents of the queries of `-content`.
    pub(super) fn find_contents(&mut self, queries: &[Vec<u8>]) -> Result<()> {
        for query in queries {
            let text = String::from_utf8_lossy(query);
            let query = self.reader.snapshot.parse(&text, Operator::Or)?;
            let mut found = HashSet::new();
            self.reader.for_each_path(&query, &mut |path| {
                found.insert(path.to_vec());
            })?;
            self.contents.push(found);
        }
        Ok(())
    }

    /// The entry at a path.
    pub(super) fn entry_at(&self, path: &[u8]) -> Option<EntryBatch> {
        // What cannot be read is reported by the query that follows.
        self.reader.at(without_slash(path)).ok().flatten()
    }

    /// The number of an owner whose name the index has, and else of a user or group of this system.
    fn owner(&self, column: &str, number: &str, database: &str, name: &[u8]) -> Option<OwnerIdentity> {
        let range = ValueRange::one(self.reader.field(column), Value::Text(name.to_vec()));
        let mut found = None;
        let visit = &mut |entry: &Entry<'_>| {
            let id = if number == "uid" { entry.uid } else { entry.gid };
            found = Some(id.map_or(OwnerIdentity::Name, OwnerIdentity::Id));
            Ok(ControlFlow::Break(()))
        };
        self.reader.for_each(&Query::Values(range), &ALL, visit).ok()?;
        found.or_else(|| {
            let text = fs::read(Path::new("/etc").join(database)).ok()?;
            let mut lines = text.split(|&byte| byte == b'\n').map(|line| line.split(|&byte| byte == b':'));
            let mut line = lines.find(|line| line.clone().next() == Some(name))?;
            Some(OwnerIdentity::Id(std::str::from_utf8(line.nth(2)?).ok()?.parse().ok()?))
        })
    }

    /// The entry that a path leads to if all links are followed; `None` if the index does not tell.
    pub(super) fn resolve(&self, path: &[u8]) -> Option<EntryBatch> {
        self.follow(path, MOST_LINKS).ok()
    }

    /// The entry at a path, of which the directories may be links.
    pub(super) fn entry_through_links(&self, path: &[u8]) -> Option<EntryBatch> {
        let path = without_slash(path);
        self.entry_at(path).or_else(|| {
            let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
            let directory = self.resolve(parent(path))?;
            let directory = directory.iter().next()?;
            self.entry_at(&joined(directory.path, name))
        })
    }

    /// The entry that a path leads to if all links are followed; otherwise why there is none.
    fn follow(&self, path: &[u8], links: usize) -> Result<EntryBatch, FoundTarget> {
        let mut place: Vec<u8> = Vec::new();
        let mut names = path.split(|&byte| byte == b'/').enumerate().peekable();
        while let Some((at, name)) = names.next() {
            let is_last = names.peek().is_none();
            match name {
                b"" if at == 0 => place.push(b'/'),
                b"" | b"." => {}
                b".." => place = parent(&place).to_vec(),
                name => {
                    if !place.is_empty() && !place.ends_with(b"/") {
                        place.push(b'/');
                    }
                    place.extend_from_slice(name);
                }
            }
            if matches!(name, b"" | b"." | b"..") && !is_last {
                continue;
            }
            let Some(batch) = self.entry_at(&place) else {
                // The directory tells whether the index would know the entry.
                let known = self.entry_at(parent(&place)).is_some();
                // A prefix of the path may lie outside of the index.
                if !is_last && !known {
                    continue;
                }
                return Err(if known { FoundTarget::Missing } else { FoundTarget::Unknown });
            };
            let Some(entry) = batch.iter().next() else { return Err(FoundTarget::Unknown) };
            if entry.kind == Some(EntryKind::Link) {
                let Some(target) = entry.target else { return Err(FoundTarget::Unknown) };
                if links == 0 {
                    return Err(FoundTarget::Loop);
                }
                let rest: Vec<&[u8]> = names.map(|(_, name)| name).collect();
                let next = [&[joined(parent(&place), target).as_slice()][..], &rest].concat().join(&b'/');
                return self.follow(&next, links - 1);
            }
            if is_last {
                return Ok(batch);
            }
        }
        Err(FoundTarget::Unknown)
    }
}

impl FindFacts for IndexFacts<'_> {
    fn reference(&self, path: &[u8]) -> Option<ReferenceEntry> {
        if let Some(batch) = self.entry_at(path) {
            return batch.iter().next().map(|entry| ReferenceEntry::of(&entry));
        }
        if self.reader.snapshot.is_view() {
            // What this process may see is not for the user of a view to ask.
            return None;
        }
        // A file that was made to be compared with, such as a time stamp.
        let meta = fs::symlink_metadata(std::ffi::OsStr::from_bytes(path)).ok()?;
        Some(ReferenceEntry {
            mtime: Some(nanoseconds(meta.mtime(), meta.mtime_nsec())),
            atime: Some(nanoseconds(meta.atime(), meta.atime_nsec())),
            ctime: Some(nanoseconds(meta.ctime(), meta.ctime_nsec())),
            btime: None,
            inode: Some(meta.ino()),
            device: Some(meta.dev()),
        })
    }

    fn is_empty_directory(&self, entry: &Entry) -> Option<bool> {
        let filled = self.filled.get_or_init(|| {
            let mut filled: HashSet<Vec<u8>> = HashSet::new();
            let mut last: Vec<u8> = Vec::new();
            let visit = &mut |path: &[u8]| {
                let directory = parent(path);
                if directory != last && directory != path {
                    last = directory.to_vec();
                    filled.insert(last.clone());
                }
            };
            // What cannot be read is reported by the query that follows.
            let _ = self.reader.for_each_path(&Query::All, visit);
            filled
        });
        let is_filled = filled.contains(entry.path);
        let is_known = || self.unread().is_read(entry.path) && self.may_be_listed(entry.path);
        (is_filled || is_known()).then_some(!is_filled)
    }

    fn target(&self, entry: &Entry) -> FoundTarget {
        match entry.target {
            Some(target) => match self.follow(&joined(parent(entry.path), target), MOST_LINKS) {
                Ok(found) => {
                    let kind = found.iter().next().and_then(|entry| FindType::of(&entry));
                    kind.map_or(FoundTarget::Unknown, FoundTarget::Entry)
                }
                Err(why) => why,
            },
            None => FoundTarget::Unknown,
        }
    }

    fn user(&self, name: &[u8]) -> Option<OwnerIdentity> {
        self.owner("owner", "uid", "passwd", name)
    }

    fn group(&self, name: &[u8]) -> Option<OwnerIdentity> {
        self.owner("group", "gid", "group", name)
    }

    fn has_names(&self) -> bool {
        true
    }

    fn matches_content(&self, query: usize, entry: &Entry) -> bool {
        self.contents.get(query).is_some_and(|paths| paths.contains(entry.path))
    }
}

/// The path of a target in a directory.
pub(super) fn joined(directory: &[u8], target: &[u8]) -> Vec<u8> {
    match target.starts_with(b"/") {
        true => target.to_vec(),
        false if directory.ends_with(b"/") => [directory, target].concat(),
        false => [directory, target].join(&b'/'),
    }
}
