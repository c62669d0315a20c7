//! The directories that a dump covers: those that it lists and that are below no other that it lists.

use std::collections::BTreeSet;

use crate::source::{ancestors, is_at_or_below};

/// More directories than this are not kept: then it is not known what the dump covers.
const MOST: usize = 1 << 20;

/// The uppermost directories of the entries so far.
#[derive(Debug, Default)]
pub(super) struct Tops {
    tops: BTreeSet<Vec<u8>>,
    /// The directory that covers the last entry.
    last: Vec<u8>,
    /// True if there were too many.
    gave_up: bool,
}

/// The directories around an entry, from the innermost on; `directory` is its path without its name, which
/// ends with a slash.
pub(super) fn around(directory: &[u8]) -> impl Iterator<Item = &[u8]> {
    let kept =
        directory.iter().rposition(|&byte| byte != b'/').map_or(directory.len().min(1), |last| last + 1);
    let innermost = directory.get(..kept).unwrap_or(directory);
    ancestors(innermost).filter(|place| !place.is_empty())
}

impl Tops {
    /// Exactly the directory `top`.
    pub(super) fn only(top: &[u8]) -> Self {
        Tops { tops: BTreeSet::from([top.to_vec()]), ..Tops::default() }
    }

    /// Takes a directory that the dump lists.
    #[inline]
    pub(super) fn add(&mut self, path: &[u8]) {
        if self.gave_up || !self.last.is_empty() && is_at_or_below(path, &self.last) {
            return;
        }
        self.add_other(path);
    }

    fn add_other(&mut self, path: &[u8]) {
        if let Some(top) = ancestors(path).find(|&place| self.tops.contains(place)) {
            self.last = top.to_vec();
            return;
        }
        // Directories below the new one are in one range of the order of bytes, among others.
        let mut first = path.to_vec();
        if !first.ends_with(b"/") {
            first.push(b'/');
        }
        let below = self.tops.range(first.clone()..).take_while(|top| top.starts_with(&first));
        let below: Vec<_> = below.cloned().collect();
        for top in &below {
            self.tops.remove(top);
        }
        self.last = path.to_vec();
        self.tops.insert(path.to_vec());
        if self.tops.len() > MOST {
            *self = Tops { gave_up: true, ..Tops::default() };
        }
    }

    /// Adds the directories of another part of the dump.
    pub(super) fn merge(&mut self, other: Tops) {
        other.tops.iter().for_each(|top| self.add(top));
        if self.gave_up || other.gave_up {
            *self = Tops { gave_up: true, ..Tops::default() };
        }
    }

    /// True if it is not known what the dump covers.
    pub(super) fn is_empty(&self) -> bool {
        self.tops.is_empty()
    }

    /// True if `path` is one of the directories, or below one.
    pub(super) fn cover(&self, path: &[u8]) -> bool {
        ancestors(path).any(|place| self.tops.contains(place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_uppermost_directories_are_kept_in_any_order() {
        let all: [&[u8]; 7] = [b"/a", b"/a/b", b"/a/b/c", b"/ab", b"/a!b/x", b"/d/e", b"/d/e/f"];
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..100 {
            let mut order = all;
            random.shuffle(&mut order);
            let (mut one, mut other) = (Tops::default(), Tops::default());
            order.iter().for_each(|path| if random.bool() { one.add(path) } else { other.add(path) });
            one.merge(other);
            let found: Vec<&[u8]> = one.tops.iter().map(Vec::as_slice).collect();
            assert_eq!(found, [&b"/a"[..], b"/a!b/x", b"/ab", b"/d/e"]);
            for (path, covered) in
                [("/a/x", true), ("/a", true), ("/", false), ("/a!b", false), ("/abc", false)]
            {
                assert_eq!(one.cover(path.as_bytes()), covered, "{path}");
            }
        }
    }

    #[test]
    fn the_root_and_relative_paths_cover_what_is_below_them() {
        let mut tops = Tops::default();
        tops.add(b".");
        assert!(tops.cover(b"./a/b") && !tops.cover(b"/a") && !tops.cover(b"a"));
        tops.add(b"/");
        assert!(tops.cover(b"/a/b") && tops.cover(b"/"));
        assert_eq!(ancestors(b"/a/b").collect::<Vec<_>>(), [&b"/a/b"[..], b"/a", b"/"]);
        assert_eq!(ancestors(b"a").collect::<Vec<_>>(), [&b"a"[..]]);
        assert!(
            is_at_or_below(b"/a", b"/") && is_at_or_below(b"/a/b", b"/a") && !is_at_or_below(b"/ab", b"/a")
        );
        assert!(Tops::only(b"/x").cover(b"/x/y"));
    }

    #[test]
    fn the_directories_around_an_entry_have_no_slash_at_their_end() {
        for (directory, expected) in [
            ("/a/b/", &["/a/b", "/a", "/"][..]),
            ("a/b/", &["a/b", "a"]),
            ("./", &["."]),
            ("/", &["/"]),
            ("//", &["/"]),
            ("", &[]),
        ] {
            let found: Vec<&[u8]> = around(directory.as_bytes()).collect();
            assert_eq!(found, expected.iter().map(|path| path.as_bytes()).collect::<Vec<_>>(), "{directory}");
        }
    }
}
