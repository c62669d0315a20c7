//! Places that could not be read: what an index or a dump has no entry of may be there all the same.

use std::collections::HashSet;
use std::os::unix::ffi::OsStrExt;

use super::order::relative;
use crate::error::Result;
use crate::index::snapshot::Snapshot;
use crate::record::dump::DumpTally;
use crate::source::ancestors;

/// Places at and below which entries may be missing.
#[derive(Clone, Debug, Default)]
pub(super) struct UnreadPlaces {
    places: HashSet<Vec<u8>>,
    /// What has entries missing at places that are not known.
    anywhere: Option<Vec<u8>>,
}

impl UnreadPlaces {
    /// The places that an index could not read.
    pub(super) fn of_index(snapshot: &Snapshot) -> Result<Self> {
        let mut unread = UnreadPlaces::default();
        for coverage in snapshot.coverage()? {
            let path = coverage.path.as_os_str().as_bytes();
            if !coverage.complete || coverage.failures.len() as u64 != coverage.unread {
                match coverage.format {
                    Some(_) => unread.anywhere = Some(path.to_vec()),
                    None => drop(unread.places.insert(path.to_vec())),
                }
            }
            let failed = coverage.failures.iter().map(|failure| failure.path.as_os_str().as_bytes().to_vec());
            unread.places.extend(failed);
        }
        Ok(unread)
    }

    /// The places that a dump lacks as it says, read or excluded; `dump` is its path.
    pub(super) fn of_dump(tally: &DumpTally, dump: &[u8]) -> Self {
        UnreadPlaces {
            places: tally.unread_paths.iter().map(|unread| unread.path.clone()).collect(),
            anywhere: (!tally.knows_unread()).then(|| dump.to_vec()),
        }
    }

    /// The places as paths below a root.
    pub(super) fn below(self, root: &[u8]) -> Self {
        let mut below = UnreadPlaces { places: HashSet::new(), anywhere: self.anywhere };
        for place in self.places {
            if ancestors(root).any(|above| above == place.as_slice()) {
                below.anywhere = Some(place);
            } else if let Some(path) = relative(&place, root) {
                below.places.insert(path.to_vec());
            }
        }
        below
    }

    /// The place at or above a path.
    pub(super) fn above<'p>(&'p self, path: &'p [u8]) -> Option<&'p [u8]> {
        let place = ancestors(path).find(|&place| self.places.contains(place));
        place.or(self.anywhere.as_deref())
    }

    /// True if exactly this path could not be read.
    pub(super) fn contains(&self, path: &[u8]) -> bool {
        self.places.contains(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(paths: &[&str]) -> UnreadPlaces {
        let places = paths.iter().map(|path| path.as_bytes().to_vec()).collect();
        UnreadPlaces { places, anywhere: None }
    }

    #[test]
    fn a_place_covers_itself_and_what_is_below_it() {
        let unread = places(&["/a/b", "c"]);
        for (path, expected) in [
            ("/a/b", Some("/a/b")),
            ("/a/b/c/d", Some("/a/b")),
            ("/a/bc", None),
            ("/a", None),
            ("c/d", Some("c")),
            ("/c/d", None),
        ] {
            assert_eq!(unread.above(path.as_bytes()), expected.map(str::as_bytes), "{path}");
        }
        assert!(unread.contains(b"/a/b") && !unread.contains(b"/a/b/c"));
    }

    #[test]
    fn places_are_relative_to_a_root_and_one_above_it_covers_everything() {
        let unread = places(&["/a/b/c", "/x"]).below(b"/a");
        assert_eq!(unread.above(b"b/c/d"), Some(&b"b/c"[..]));
        assert_eq!(unread.above(b"x"), None);
        for root in ["/a/b", "/a/b/c"] {
            let unread = places(&["/a/b"]).below(root.as_bytes());
            assert_eq!(unread.above(b"d"), Some(&b"/a/b"[..]), "{root}");
        }
    }
}
