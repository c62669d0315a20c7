//! What a look at chosen paths needs and finds out.

use std::ffi::CString;
use std::ops::Range;
use std::sync::Mutex;

use crate::source::changed_paths::ChangedPaths;

/// What the caller knows of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnownPlace {
    /// Nothing, and nothing of what is below it.
    Nothing,
    /// Something that is not a directory.
    Other,
    /// A directory, or perhaps only entries below it.
    Directory {
        /// Its number in its file system.
        inode: Option<u64>,
        /// The device of its file system.
        device: Option<u64>,
    },
}

/// What a look must know.
pub struct Look<'a> {
    /// Where to look.
    pub paths: &'a ChangedPaths,
    /// What the caller knows of a path. Several threads call it.
    pub known: &'a (dyn Fn(&[u8]) -> KnownPlace + Sync),
    /// Whether directories on the way to the paths are listed, too.
    pub(super) with_directories: bool,
    pub(super) report: Mutex<LookReport>,
}

impl<'a> Look<'a> {
    /// Looks at paths, which are sorted, and if wanted at the directories above them.
    pub fn new(
        paths: &'a ChangedPaths,
        known: &'a (dyn Fn(&[u8]) -> KnownPlace + Sync),
        with_directories: bool,
    ) -> Self {
        Look { paths, known, with_directories, report: Mutex::default() }
    }

    /// The first name behind `prefix` bytes of the paths in a range, and its places.
    pub(super) fn next_name(&self, prefix: usize, range: Range<usize>) -> Option<LookName> {
        let (path, tree) = self.paths.get(range.start).filter(|_| !range.is_empty())?;
        let rest = path.get(prefix..)?;
        let length = memchr::memchr(b'/', rest).unwrap_or(rest.len());
        let whole = path.get(..prefix + length)?;
        let places = self.paths.places_within(whole, range);
        let is_named = whole.len() == path.len();
        let below = places.start + usize::from(is_named)..places.end;
        let name = CString::new(rest.get(..length)?).ok()?;
        Some(LookName { name, is_named, tree: tree && is_named, below, end: places.end })
    }
}

/// A name at which to look.
pub(super) struct LookName {
    pub(super) name: CString,
    /// Whether it is the last name of a path.
    pub(super) is_named: bool,
    /// Whether everything below it may have changed.
    pub(super) tree: bool,
    /// The paths below it.
    pub(super) below: Range<usize>,
    /// The place of the first path that is not at or below it.
    pub(super) end: usize,
}

/// What a look found out about entries that are gone.
#[derive(Debug, Default)]
pub struct LookReport {
    /// Places at and below which everything that exists was listed as an entry, or could not be read: what is
    /// not among the entries is gone.
    pub trees: Vec<Vec<u8>>,
    /// Places at which nothing is any more, and was nothing but a file before.
    pub files: Vec<Vec<u8>>,
}
