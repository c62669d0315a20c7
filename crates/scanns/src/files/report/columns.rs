//! The values of a batch of entries that a report looks at, column by column.
//!
//! Strings are numbered within a batch, so that what follows from an owner or a directory is found once for
//! all its entries. A path stays in two parts, its directory and its name, and is rarely put together.

use std::cmp::Ordering;

use crate::files::order::walk_order;
use crate::index::snapshot::batch::{BatchColumn, BatchField};
use crate::schema::Field;

/// The columns, in the order of the fields of [`ReportColumns`]. The first two are of the path.
const COLUMNS: [&str; 15] = [
    "path", "path", "type", "owner", "group", "uid", "gid", "size", "blocks", "mtime", "atime", "mode",
    "links", "inode", "device",
];

/// The columns of a batch of entries.
#[derive(Clone, Copy)]
pub(super) struct ReportColumns<'b> {
    pub(super) directory: &'b BatchColumn,
    name: &'b BatchColumn,
    pub(super) kind: &'b BatchColumn,
    pub(super) owner: &'b BatchColumn,
    pub(super) group: &'b BatchColumn,
    pub(super) uid: &'b BatchColumn,
    pub(super) gid: &'b BatchColumn,
    pub(super) size: &'b BatchColumn,
    pub(super) blocks: &'b BatchColumn,
    pub(super) mtime: &'b BatchColumn,
    pub(super) atime: &'b BatchColumn,
    pub(super) mode: &'b BatchColumn,
    pub(super) links: &'b BatchColumn,
    pub(super) inode: &'b BatchColumn,
    pub(super) device: &'b BatchColumn,
}

impl<'b> ReportColumns<'b> {
    /// The fields to read, if `field` finds a field by its name.
    pub(super) fn fields(field: impl Fn(&str) -> Field) -> Vec<BatchField> {
        let fields = COLUMNS.iter().enumerate().map(|(at, name)| match at {
            0 => BatchField::Directories(field(name)),
            1 => BatchField::Names(field(name)),
            _ => BatchField::Values(field(name)),
        });
        fields.collect()
    }

    /// The columns of a batch; `None` unless these are the ones of [`ReportColumns::fields`].
    pub(super) fn new(columns: &'b [BatchColumn]) -> Option<Self> {
        let [
            directory,
            name,
            kind,
            owner,
            group,
            uid,
            gid,
            size,
            blocks,
            mtime,
            atime,
            mode,
            links,
            inode,
            device,
        ] = columns
        else {
            return None;
        };
        Some(ReportColumns {
            directory,
            name,
            kind,
            owner,
            group,
            uid,
            gid,
            size,
            blocks,
            mtime,
            atime,
            mode,
            links,
            inode,
            device,
        })
    }

    /// The path of an entry.
    #[inline]
    pub(super) fn path(&self, row: usize) -> SplitPath<'b> {
        let text =
            |column: &'b BatchColumn| column.first(row).map_or(&[][..], |number| column.numbered(number));
        SplitPath { directory: text(self.directory), name: text(self.name) }
    }
}

/// A path in two parts.
#[derive(Clone, Copy, Debug)]
pub(super) struct SplitPath<'p> {
    /// The directory, with the slash at its end.
    pub(super) directory: &'p [u8],
    /// What follows; empty for the root.
    pub(super) name: &'p [u8],
}

impl<'p> SplitPath<'p> {
    /// Splits a path after its last slash.
    pub(super) fn of(path: &'p [u8]) -> Self {
        let name = memchr::memrchr(b'/', path).map_or(0, |slash| slash + 1);
        let (directory, name) = path.split_at_checked(name).unwrap_or((path, &[]));
        SplitPath { directory, name }
    }

    /// The length of the path.
    pub(super) fn len(&self) -> usize {
        self.directory.len() + self.name.len()
    }

    /// The whole path.
    pub(super) fn to_vec(self) -> Vec<u8> {
        [self.directory, self.name].concat()
    }

    /// Compares with a whole path in the order of a walk.
    pub(super) fn walk_order(&self, other: &[u8]) -> Ordering {
        match other.split_at_checked(self.directory.len()) {
            Some((directory, name)) => {
                walk_order(self.directory, directory).then_with(|| walk_order(self.name, name))
            }
            None => walk_order(self.directory, other),
        }
    }
}

/// The directory of entries, from one with a slash at its end. The root keeps its slash, and relative names
/// are in the directory with the empty path.
pub(super) fn directory_of(with_slash: &[u8]) -> &[u8] {
    match with_slash {
        [] | [b'/'] => with_slash,
        [directory @ .., _] => directory,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn split_paths_have_the_order_of_whole_ones() {
        let seed = fastrand::u64(..);
        println!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        let mut path = || -> Vec<u8> {
            let len = random.usize(..8);
            (0..len).map(|_| *random.choice(b"/a-\xff").unwrap()).collect()
        };
        for _ in 0..20_000 {
            let (one, other) = (path(), path());
            let split = SplitPath::of(&one);
            assert_eq!(split.walk_order(&other), walk_order(&one, &other), "{one:?} {other:?}");
            assert_eq!((split.to_vec(), split.len()), (one.clone(), one.len()));
        }
    }
}
