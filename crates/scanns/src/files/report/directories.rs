//! Sums by directory, of entries in any order.
//!
//! The directories are a tree of names, so that memory holds each name once: about 60 bytes a directory, and
//! its name. A directory gets a number after the one around it, so sums of subtrees need one pass over all
//! numbers from the last to the first, and no sorting. Entries usually come in the order of a walk; then the
//! directory of an entry is the last one or shares a prefix with it, and few names are looked up.

use std::hash::BuildHasher;
use std::ops::Range;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::sums::EntrySums;

/// A directory.
#[derive(Clone, Debug, Default)]
pub(super) struct DirectoryNode {
    /// The number of the directory around it.
    pub(super) parent: u32,
    /// Where its name is among all names.
    name: Range<usize>,
    /// Itself, and the entries in it that are no directories.
    pub(super) own: EntrySums,
    /// The number of names in it.
    pub(super) direct: u64,
    /// True if it is an entry itself.
    pub(super) is_known: bool,
}

/// The last directory that was looked up.
#[derive(Debug, Default)]
struct DirectoryCursor {
    path: Vec<u8>,
    /// Where the names on its path end, and their numbers.
    open: Vec<(usize, u32)>,
}

/// All directories. The first one is around all others, and has the empty path.
#[derive(Debug)]
pub(super) struct DirectoryTable {
    nodes: Vec<DirectoryNode>,
    names: Vec<u8>,
    places: HashTable<u32>,
    hasher: DefaultHashBuilder,
    cursor: DirectoryCursor,
}

impl DirectoryTable {
    /// The directory around all others.
    pub(super) const TOP: u32 = 0;

    pub(super) fn new() -> Self {
        DirectoryTable {
            nodes: vec![DirectoryNode::default()],
            names: Vec::new(),
            places: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
            cursor: DirectoryCursor::default(),
        }
    }

    pub(super) fn nodes(&self) -> &[DirectoryNode] {
        &self.nodes
    }

    /// The number of the directory with a path.
    #[inline]
    pub(super) fn number(&mut self, path: &[u8]) -> u32 {
        if self.cursor.path != path {
            self.seek(path);
        }
        self.cursor.open.last().map_or(Self::TOP, |last| last.1)
    }

    /// The number of names on the path of the last directory; the root is none.
    pub(super) fn depth(&self) -> usize {
        self.cursor.open.len() - usize::from(self.cursor.path.starts_with(b"/"))
    }

    /// The directory with a number.
    #[inline]
    pub(super) fn node(&mut self, number: u32) -> Option<&mut DirectoryNode> {
        self.nodes.get_mut(usize::try_from(number).ok()?)
    }

    fn seek(&mut self, path: &[u8]) {
        let mut cursor = std::mem::take(&mut self.cursor);
        let common = cursor.path.iter().zip(path).take_while(|(one, other)| one == other).count();
        let is_root = |end: usize| end == 1 && path.starts_with(b"/");
        while let Some(&(end, _)) = cursor.open.last() {
            // The root ends before its slash does, and an empty name after it ends there, too.
            let is_whole = match is_root(end) {
                true => cursor.open.len() == 1 || path.get(end) == Some(&b'/'),
                false => end == path.len() || path.get(end) == Some(&b'/'),
            };
            if end <= common && is_whole {
                break;
            }
            cursor.open.pop();
        }
        cursor.path.truncate(common.min(cursor.open.last().map_or(0, |last| last.0)));
        cursor.path.extend_from_slice(path.get(cursor.path.len()..).unwrap_or_default());
        loop {
            let (end, parent) = cursor.open.last().copied().unwrap_or((0, Self::TOP));
            if end >= path.len() {
                break;
            }
            let start = match cursor.open.len() {
                0 => 0,
                1 if is_root(end) => 1,
                _ => end + 1,
            };
            let rest = path.get(start..).unwrap_or_default();
            let len = match memchr::memchr(b'/', rest) {
                Some(0) if start == 0 => 1,
                Some(len) => len,
                None => rest.len(),
            };
            let number = self.child(parent, rest.get(..len).unwrap_or_default());
            cursor.open.push((start + len, number));
        }
        self.cursor = cursor;
    }

    /// The number of a directory in another one.
    pub(super) fn child(&mut self, parent: u32, name: &[u8]) -> u32 {
        let hash = self.hasher.hash_one((parent, name));
        let DirectoryTable { nodes, names, places, hasher, .. } = self;
        let key = |number: u32| {
            let node = nodes.get(usize::try_from(number).unwrap_or(usize::MAX));
            node.map(|node| (node.parent, names.get(node.name.clone()).unwrap_or_default()))
        };
        if let Some(&number) = places.find(hash, |&number| key(number) == Some((parent, name))) {
            return number;
        }
        let Ok(number) = u32::try_from(nodes.len()) else { return Self::TOP };
        let hash_of = |&number: &u32| hasher.hash_one(key(number).unwrap_or_default());
        places.insert_unique(hash, number, hash_of);
        let start = names.len();
        names.extend_from_slice(name);
        let name = start..names.len();
        nodes.push(DirectoryNode { parent, name, ..DirectoryNode::default() });
        number
    }

    /// The name of a directory.
    pub(super) fn name(&self, number: u32) -> &[u8] {
        let node = usize::try_from(number).ok().and_then(|number| self.nodes.get(number));
        node.and_then(|node| self.names.get(node.name.clone())).unwrap_or_default()
    }

    /// The path of a directory.
    pub(super) fn path(&self, number: u32) -> Vec<u8> {
        let mut names = Vec::new();
        let mut at = number;
        while at != Self::TOP {
            names.push(self.name(at));
            at = self.parent(at);
        }
        let mut path = Vec::new();
        for (depth, name) in names.iter().rev().enumerate() {
            if depth > 0 && !(depth == 1 && path == b"/") {
                path.push(b'/');
            }
            path.extend_from_slice(name);
        }
        path
    }

    fn parent(&self, number: u32) -> u32 {
        let node = usize::try_from(number).ok().and_then(|number| self.nodes.get(number));
        node.map_or(Self::TOP, |node| node.parent)
    }

    /// Adds the directories of another table.
    pub(super) fn merge(&mut self, other: &DirectoryTable) {
        let mut numbers = vec![Self::TOP];
        for (at, node) in other.nodes.iter().enumerate() {
            let around = usize::try_from(node.parent).ok().and_then(|parent| numbers.get(parent));
            let around = around.copied().unwrap_or(Self::TOP);
            let number = match at {
                0 => Self::TOP,
                _ => self.child(around, other.names.get(node.name.clone()).unwrap_or_default()),
            };
            if at > 0 {
                numbers.push(number);
            }
            if let Some(own) = self.node(number) {
                own.own += node.own;
                own.direct += node.direct;
                own.is_known |= node.is_known;
            }
        }
    }

    /// By number, the sums of each directory with everything below it.
    pub(super) fn whole(&self) -> Vec<EntrySums> {
        let mut sums: Vec<EntrySums> = self.nodes.iter().map(|node| node.own).collect();
        for (at, node) in self.nodes.iter().enumerate().skip(1).rev() {
            let below = sums.get(at).copied().unwrap_or_default();
            if let Some(around) = usize::try_from(node.parent).ok().and_then(|parent| sums.get_mut(parent)) {
                *around += below;
            }
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_come_back_and_depths_count_names() {
        let paths: [&[u8]; 14] = [
            b"/",
            b"/a",
            b"/a/b",
            b"/ab/c",
            b"/a/b/c/d",
            b"a",
            b"a/b",
            b"",
            b"//a",
            b"/a//b",
            b"s3://x/y",
            b"./a",
            b"//",
            b"/a/b",
        ];
        let mut table = DirectoryTable::new();
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..1000 {
            let path = paths[random.usize(..paths.len())];
            let number = table.number(path);
            assert_eq!(table.path(number), path, "{:?}", String::from_utf8_lossy(path));
            let slashes = path.iter().filter(|&&byte| byte == b'/').count();
            let expected = match path {
                b"" | b"/" => 0,
                [b'/', ..] => slashes,
                _ => slashes + 1,
            };
            assert_eq!(table.depth(), expected, "{:?}", String::from_utf8_lossy(path));
        }
        let numbers: std::collections::HashSet<u32> = paths.iter().map(|path| table.number(path)).collect();
        assert_eq!(numbers.len(), 13);
        assert!(table.nodes().iter().enumerate().skip(1).all(|(at, node)| (node.parent as usize) < at));
    }
}
