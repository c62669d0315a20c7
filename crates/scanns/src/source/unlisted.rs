//! Directories that seem to be empty in an index because a scan left out what is in them.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The number of directories that are kept.
const MOST: usize = 10_000;

/// Directories of which nothing was listed on purpose: they were not entered, or everything in them was left
/// out. Some may have listed entries all the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnlistedDirectories {
    /// The first 10,000.
    pub paths: Vec<PathBuf>,
    /// The number of others.
    pub more: u64,
    /// The first 10,000 places that were left out with everything below them.
    pub places: Vec<PathBuf>,
}

impl UnlistedDirectories {
    pub(crate) fn add(&mut self, path: &[u8]) {
        if self.paths.len() < MOST {
            self.paths.push(PathBuf::from(OsStr::from_bytes(path)));
        } else {
            self.more += 1;
        }
    }

    /// Adds a place that is left out with everything below it.
    pub(crate) fn leave_out(&mut self, path: &[u8]) {
        if self.places.len() < MOST {
            self.places.push(PathBuf::from(OsStr::from_bytes(path)));
        }
    }

    /// Adds others, each once.
    pub(crate) fn append(&mut self, other: UnlistedDirectories) {
        self.paths.extend(other.paths);
        self.paths.sort_unstable();
        self.paths.dedup();
        let more = self.paths.len().saturating_sub(MOST);
        self.paths.truncate(MOST);
        self.more += other.more + more as u64;
        self.places.extend(other.places);
        self.places.sort_unstable();
        self.places.dedup();
        self.places.truncate(MOST);
    }

    /// Those at and below a directory.
    pub(crate) fn below(&self, directory: &Path) -> Self {
        let below = |paths: &[PathBuf]| -> Vec<PathBuf> {
            paths.iter().filter(|path| path.starts_with(directory)).cloned().collect()
        };
        UnlistedDirectories { paths: below(&self.paths), more: self.more, places: below(&self.places) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_are_kept_once_and_others_counted() {
        let mut all = UnlistedDirectories::default();
        (0..MOST + 5).for_each(|number| all.add(format!("/a/{number:05}").as_bytes()));
        assert_eq!((all.paths.len(), all.more), (MOST, 5));
        let mut other = UnlistedDirectories::default();
        ["/a/00001", "/b", "/A"].iter().for_each(|path| other.add(path.as_bytes()));
        assert_eq!(other.below(Path::new("/a")).paths, [PathBuf::from("/a/00001")]);
        ["/b/x", "/a/x"].iter().for_each(|path| other.leave_out(path.as_bytes()));
        assert_eq!(other.below(Path::new("/b")).places, [PathBuf::from("/b/x")]);
        all.leave_out(b"/a/x");
        all.append(other);
        assert_eq!((all.paths.len(), all.more, all.places.len()), (MOST, 7, 2));
        assert_eq!(all.paths[0], PathBuf::from("/A"));
    }
}
