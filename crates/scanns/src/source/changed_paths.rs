//! Paths at which something changed, in the order in which a scan looks at them.
//!
//! All paths are in one allocation. They are sorted by their names from the root on, so a directory stands
//! before everything that is below it, and this is one range.

use std::cmp::Ordering;
use std::ops::Range;

/// Absolute paths without a slash at their end.
#[derive(Debug, Default)]
pub struct ChangedPaths {
    texts: Vec<u8>,
    places: Vec<ChangedPlace>,
}

/// A path in the texts.
#[derive(Clone, Copy, Debug)]
struct ChangedPlace {
    start: usize,
    len: usize,
    tree: bool,
}

impl ChangedPlace {
    fn text(self, texts: &[u8]) -> &[u8] {
        texts.get(self.start..self.start + self.len).unwrap_or_default()
    }
}

impl ChangedPaths {
    /// Adds a path. With `tree`, everything below it may have changed, too.
    pub fn push(&mut self, path: &[u8], tree: bool) {
        self.places.push(ChangedPlace { start: self.texts.len(), len: path.len(), tree });
        self.texts.extend_from_slice(path);
    }

    /// The memory that the paths take, in bytes.
    pub fn bytes(&self) -> usize {
        self.texts.len() + self.places.len() * size_of::<ChangedPlace>()
    }

    /// The number of paths.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Sorts the paths, and keeps one of each.
    pub fn sort(&mut self) {
        self.sort_places();
        let kept: usize = self.places.iter().map(|place| place.len).sum();
        if 2 * kept < self.texts.len() {
            let mut texts = Vec::with_capacity(kept);
            for place in &mut self.places {
                let start = texts.len();
                texts.extend_from_slice(place.text(&self.texts));
                place.start = start;
            }
            self.texts = texts;
        }
    }

    fn sort_places(&mut self) {
        let texts = &self.texts;
        self.places.sort_unstable_by(|one, other| by_names(one.text(texts), other.text(texts)));
        self.places.dedup_by(|later, kept| {
            let same = later.text(texts) == kept.text(texts);
            kept.tree |= same && later.tree;
            same
        });
    }

    /// A path, and whether everything below it may have changed.
    pub fn get(&self, at: usize) -> Option<(&[u8], bool)> {
        let place = self.places.get(at)?;
        Some((place.text(&self.texts), place.tree))
    }

    /// True if a path is one of them, after [`ChangedPaths::sort`].
    pub fn contains(&self, path: &[u8]) -> bool {
        let places = self.at_or_below(path);
        self.get(places.start).is_some_and(|(found, _)| found == path)
    }

    /// The paths, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], bool)> {
        self.places.iter().map(|place| (place.text(&self.texts), place.tree))
    }

    /// The places of a directory and of what is below it, after [`ChangedPaths::sort`].
    pub fn at_or_below(&self, directory: &[u8]) -> Range<usize> {
        self.places_within(directory, 0..self.places.len())
    }

    /// The same among the paths of a range that begins at or before the directory.
    pub fn places_within(&self, directory: &[u8], range: Range<usize>) -> Range<usize> {
        let places = self.places.get(range.clone()).unwrap_or_default();
        let before = places.partition_point(|place| by_names(place.text(&self.texts), directory).is_lt());
        let rest = places.get(before..).unwrap_or_default();
        let within = rest.partition_point(|place| starts_with(place.text(&self.texts), directory));
        range.start + before..range.start + before + within
    }
}

/// True if a path is the directory, or below it.
fn starts_with(path: &[u8], directory: &[u8]) -> bool {
    crate::source::entry::is_at_or_below(path, directory)
}

/// Compares paths name by name: a slash comes before every other byte.
fn by_names(one: &[u8], other: &[u8]) -> Ordering {
    let same = one.iter().zip(other).take_while(|(one, other)| one == other).count();
    let next = |path: &[u8]| path.get(same).map(|&byte| if byte == b'/' { 0 } else { u16::from(byte) + 1 });
    next(one).cmp(&next(other))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::is_at_or_below;

    #[test]
    fn a_directory_and_what_is_below_it_are_one_range() {
        let mut paths = ChangedPaths::default();
        for (path, tree) in [
            ("/a/b", false),
            ("/a-b", false),
            ("/a", false),
            ("/a/b/c", true),
            ("/a\u{1}", false),
            ("/ab", false),
            ("/a/b", true),
            ("/", false),
        ] {
            paths.push(path.as_bytes(), tree);
        }
        paths.sort();
        let sorted: Vec<_> =
            paths.iter().map(|(path, tree)| (std::str::from_utf8(path).unwrap(), tree)).collect();
        let expected = [
            ("/", false),
            ("/a", false),
            ("/a/b", true),
            ("/a/b/c", true),
            ("/a\u{1}", false),
            ("/a-b", false),
            ("/ab", false),
        ];
        assert_eq!(sorted, expected);
        assert_eq!(paths.at_or_below(b"/a"), 1..4);
        assert_eq!(paths.at_or_below(b"/"), 0..7);
        assert_eq!(paths.at_or_below(b"/a/b"), 2..4);
        assert!(paths.at_or_below(b"/a/x").is_empty());
        let bytes = paths.bytes();
        (0..100).for_each(|_| paths.push(b"/a/b/c", false));
        paths.sort();
        assert!(paths.len() == 7 && paths.bytes() <= bytes);
        assert!(paths.contains(b"/a/b") && !paths.contains(b"/a/") && !paths.contains(b"/b"));
        assert_eq!(paths.get(3), Some((&b"/a/b/c"[..], true)));
        assert_eq!((paths.len(), paths.get(7)), (7, None));
    }

    #[test]
    fn ranges_are_those_of_a_plain_search() {
        let seed = fastrand::u64(..);
        println!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        for _ in 0..300 {
            let mut paths = ChangedPaths::default();
            let path = |random: &mut fastrand::Rng| -> Vec<u8> {
                let names: [&[u8]; 5] = [b"/a", b"/b", b"/a.", b"/\x01", b"/\xff"];
                let count = random.usize(1..5);
                (0..count).flat_map(|_| names[random.usize(..5)].to_vec()).collect()
            };
            (0..random.usize(..40)).for_each(|_| paths.push(&path(&mut random), false));
            paths.sort();
            let directory = path(&mut random);
            let plain: Vec<_> = paths.iter().map(|(path, _)| path).collect();
            let plain: Vec<_> = plain.into_iter().filter(|path| is_at_or_below(path, &directory)).collect();
            let range = paths.at_or_below(&directory);
            let found: Vec<_> = range.map(|at| paths.get(at).unwrap().0).collect();
            assert_eq!(found, plain);
        }
    }
}
