//! Directories of which the index does not know the entries, because a scan or a dump could not read them or
//! left them out on purpose.

use std::collections::{HashMap, HashSet};
use std::os::unix::ffi::OsStrExt;

use super::order::parent;
use crate::error::Result;
use crate::index::snapshot::Snapshot;
use crate::source::is_at_or_below;

/// What could not be read of the file systems of an index.
#[derive(Clone, Debug, Default)]
pub(super) struct UnreadDirectories {
    /// By path, why it could not be read.
    reasons: HashMap<Vec<u8>, String>,
    /// The directories that these paths are in, and those that seem to be empty because their entries were
    /// left out.
    around: HashSet<Vec<u8>>,
    /// Directories below which more could not be read than the index remembers. The empty path stands for
    /// all directories.
    beyond: Vec<Vec<u8>>,
}

impl UnreadDirectories {
    pub(super) fn of(snapshot: &Snapshot) -> Result<Self> {
        let mut places = UnreadDirectories::default();
        for coverage in snapshot.coverage()? {
            for failure in &coverage.failures {
                let path = failure.path.as_os_str().as_bytes();
                places.around.insert(parent(path).to_vec());
                places.reasons.insert(path.to_vec(), failure.reason.clone());
            }
            let unlisted = coverage.unlisted.paths.iter().map(|path| path.as_os_str().as_bytes().to_vec());
            places.around.extend(unlisted);
            if coverage.unread > coverage.failures.len() as u64 || coverage.unlisted.more > 0 {
                let tree = if coverage.format.is_none() { coverage.path.as_os_str().as_bytes() } else { b"" };
                places.beyond.push(tree.to_vec());
            }
        }
        Ok(places)
    }

    /// True if nothing could not be read.
    pub(super) fn is_empty(&self) -> bool {
        self.reasons.is_empty() && self.beyond.is_empty()
    }

    /// Why a directory could not be read.
    pub(super) fn reason(&self, directory: &[u8]) -> Option<&str> {
        self.reasons.get(directory).map(String::as_str)
    }

    /// Whether the index knows everything that is in a directory.
    pub(super) fn is_read(&self, directory: &[u8]) -> bool {
        let is_beyond = |tree: &Vec<u8>| tree.is_empty() || is_at_or_below(directory, tree);
        !self.reasons.contains_key(directory)
            && !self.around.contains(directory)
            && !self.beyond.iter().any(is_beyond)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_known_unless_it_or_what_is_in_it_could_not_be_read() {
        let places = UnreadDirectories {
            reasons: HashMap::from([(b"/a/x".to_vec(), "no".to_owned())]),
            around: HashSet::from([b"/a".to_vec()]),
            beyond: vec![b"/b".to_vec()],
        };
        assert_eq!(places.reason(b"/a/x"), Some("no"));
        for (directory, expected) in
            [("/a/x", false), ("/a", false), ("/a/y", true), ("/b/c", false), ("/bc", true), ("/", true)]
        {
            assert_eq!(places.is_read(directory.as_bytes()), expected, "{directory}");
        }
    }
}
