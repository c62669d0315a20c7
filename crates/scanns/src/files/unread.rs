//! Places that could not be read or were left out: what an index or a dump has no entry of may be there all
//! the same.

use std::collections::HashSet;
use std::os::unix::ffi::OsStrExt;

use super::entries::EntryReader;
use super::order::{relative, without_slash};
use super::tops::tops;
use crate::error::Result;
use crate::index::snapshot::Snapshot;
use crate::record::dump::DumpTally;
use crate::source::{EntryKind, ancestors, is_at_or_below};

/// Places at and below which entries may be missing.
#[derive(Clone, Debug, Default)]
pub(super) struct UnreadPlaces {
    places: HashSet<Vec<u8>>,
    /// What has entries missing at places that are not known.
    anywhere: Option<Vec<u8>>,
    /// The directories that have all entries that were looked for; `None` if they are not known.
    roots: Option<Vec<Vec<u8>>>,
}

/// Why a tree may have an entry that it lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UnreadReason<'p> {
    /// This place at or above it could not be read, or was left out.
    Place(&'p [u8]),
    /// Nothing at and below this place was looked for.
    Uncovered(&'p [u8]),
    /// It is above the directories that were looked at.
    Above,
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

    /// The places that an index could not read or left out, and the directories that it covers.
    pub(super) fn of_tree(reader: &EntryReader<'_>) -> Result<Self> {
        let all = reader.snapshot.coverage()?;
        let mut unread = UnreadPlaces::of_index(reader.snapshot)?;
        let left_out = all.iter().flat_map(|coverage| &coverage.unlisted.places);
        unread.places.extend(left_out.map(|path| path.as_os_str().as_bytes().to_vec()));
        unread.roots = if all.is_empty() || !reader.snapshot.has_entries() {
            None
        } else if all.iter().all(|coverage| coverage.format.is_none()) {
            Some(all.iter().map(|coverage| coverage.path.as_os_str().as_bytes().to_vec()).collect())
        } else {
            root_of_dumps(reader)?.map(|root| vec![root])
        };
        Ok(unread)
    }

    /// The places that a dump lacks as it says, read or excluded; `dump` is its path.
    pub(super) fn of_dump(tally: &DumpTally, dump: &[u8]) -> Self {
        UnreadPlaces {
            places: tally.unread_paths.iter().map(|unread| unread.path.clone()).collect(),
            anywhere: (!tally.knows_unread()).then(|| dump.to_vec()),
            roots: None,
        }
    }

    /// The places as paths below a root.
    pub(super) fn below(self, root: &[u8]) -> Self {
        let is_covered = |roots: &Vec<Vec<u8>>| roots.iter().any(|covered| is_at_or_below(root, covered));
        let roots = self.roots.filter(|roots| !is_covered(roots)).map(|roots| {
            roots.iter().filter_map(|covered| Some(relative(covered, root)?.to_vec())).collect()
        });
        let mut below = UnreadPlaces { places: HashSet::new(), anywhere: self.anywhere, roots };
        for place in self.places {
            if ancestors(root).any(|above| above == place.as_slice()) {
                below.anywhere = Some(place);
            } else if let Some(path) = relative(&place, root) {
                below.places.insert(path.to_vec());
            }
        }
        below
    }

    /// Why an entry at a path may be there, if it is known where the tree has gaps.
    pub(super) fn reason<'p>(&'p self, path: &'p [u8]) -> Option<UnreadReason<'p>> {
        if let Some(place) = ancestors(path).find(|&place| self.places.contains(place)) {
            return Some(UnreadReason::Place(place));
        }
        let roots = self.roots.as_ref()?;
        if roots.iter().any(|root| is_at_or_below(path, root)) {
            return None;
        }
        let is_above = |place: &&[u8]| roots.iter().any(|root| is_at_or_below(root, place));
        let uppermost = ancestors(path).take_while(|place| !is_above(place)).last();
        Some(uppermost.map_or(UnreadReason::Above, UnreadReason::Uncovered))
    }

    /// What has entries missing at places that are not known.
    pub(super) fn anywhere(&self) -> Option<&[u8]> {
        self.anywhere.as_deref()
    }

    /// True if exactly this path could not be read.
    pub(super) fn contains(&self, path: &[u8]) -> bool {
        self.places.contains(path)
    }
}

/// The directory that all entries of an index of dumps are in; `None` if there are several, or files beside
/// it.
fn root_of_dumps(reader: &EntryReader<'_>) -> Result<Option<Vec<u8>>> {
    let Some([top]) = tops(reader)?.and_then(|tops| <[Vec<u8>; 1]>::try_from(tops).ok()) else {
        return Ok(None);
    };
    let entry = reader.at(&top)?;
    let kind = entry.as_ref().and_then(|batch| batch.get(0)).and_then(|entry| entry.kind);
    Ok(Some(without_slash(&top).to_vec()).filter(|_| kind == Some(EntryKind::Directory)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(paths: &[&str]) -> UnreadPlaces {
        let places = paths.iter().map(|path| path.as_bytes().to_vec()).collect();
        UnreadPlaces { places, ..UnreadPlaces::default() }
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
            let expected = expected.map(|place: &str| UnreadReason::Place(place.as_bytes()));
            assert_eq!(unread.reason(path.as_bytes()), expected, "{path}");
        }
        assert!(unread.contains(b"/a/b") && !unread.contains(b"/a/b/c"));
    }

    #[test]
    fn places_are_relative_to_a_root_and_one_above_it_covers_everything() {
        let unread = places(&["/a/b/c", "/x"]).below(b"/a");
        assert_eq!(unread.reason(b"b/c/d"), Some(UnreadReason::Place(b"b/c")));
        assert_eq!(unread.reason(b"x"), None);
        for root in ["/a/b", "/a/b/c"] {
            let unread = places(&["/a/b"]).below(root.as_bytes());
            assert_eq!((unread.reason(b"d"), unread.anywhere()), (None, Some(&b"/a/b"[..])), "{root}");
        }
    }

    #[test]
    fn what_is_below_none_of_the_roots_was_not_looked_for() {
        let roots = |roots: &[&str]| {
            let roots = roots.iter().map(|root| root.as_bytes().to_vec()).collect();
            UnreadPlaces { roots: Some(roots), ..places(&["/etc/x"]) }
        };
        let unread = roots(&["/etc", "/var/log"]);
        for (path, expected) in [
            ("/etc/a/b", None),
            ("/etc", None),
            ("/etc/x/y", Some(UnreadReason::Place(b"/etc/x"))),
            ("/usr/bin/ls", Some(UnreadReason::Uncovered(b"/usr"))),
            ("/var/lib/a/b", Some(UnreadReason::Uncovered(b"/var/lib"))),
            ("/var", Some(UnreadReason::Above)),
            ("/", Some(UnreadReason::Above)),
            ("etc", Some(UnreadReason::Uncovered(b"etc"))),
        ] {
            assert_eq!(unread.reason(path.as_bytes()), expected, "{path}");
        }
        assert_eq!(roots(&["/"]).reason(b"/a"), None);
        let below = unread.clone().below(b"/var");
        assert_eq!(below.reason(b"log/a"), None);
        assert_eq!(below.reason(b"lib/a"), Some(UnreadReason::Uncovered(b"lib")));
        assert_eq!(unread.below(b"/etc/b").reason(b"c"), None);
    }
}
