//! Entries that sums leave out, as du's `--exclude` does it.
//!
//! A pattern matches a path as its start point was written, or what follows one of its slashes; `*` matches
//! slashes, too. What is below an excluded directory is left out with it.

use super::find::Glob;

/// Patterns of paths that are left out.
#[derive(Debug, Default)]
pub(super) struct ExcludedPaths {
    patterns: Vec<Glob>,
    /// The last directory that was looked at, and whether it is left out.
    last: Option<(Vec<u8>, bool)>,
}

impl ExcludedPaths {
    pub(super) fn new(patterns: &[Vec<u8>]) -> Self {
        ExcludedPaths {
            patterns: patterns.iter().map(|pattern| Glob::new(pattern, false)).collect(),
            last: None,
        }
    }

    /// True if the entry at `path` is left out, which is at or below `start`, written as `written`.
    pub(super) fn has(&mut self, path: &[u8], start: &[u8], written: &[u8]) -> bool {
        if self.patterns.is_empty() {
            return false;
        }
        let rest = path.get(start.len()..).unwrap_or_default();
        let rest = rest.strip_prefix(b"/").unwrap_or(rest);
        let mut shown = written.to_vec();
        if !rest.is_empty() && !shown.ends_with(b"/") {
            shown.push(b'/');
        }
        let from = shown.len();
        shown.extend_from_slice(rest);
        let directory = memchr::memrchr(b'/', rest).map_or(0, |slash| from + slash);
        let directory = shown.get(..directory).unwrap_or_default();
        self.is_in_excluded(directory, written, from) || self.matches(&shown)
    }

    /// True if a directory is left out, or one above it down to the start point.
    fn is_in_excluded(&mut self, directory: &[u8], written: &[u8], from: usize) -> bool {
        if let Some((last, is_excluded)) = &self.last
            && last == directory
        {
            return *is_excluded;
        }
        let slashes = directory.iter().enumerate().skip(from).filter(|(_, byte)| **byte == b'/');
        let mut above = slashes.filter_map(|(at, _)| directory.get(..at));
        let is_excluded = self.matches(written)
            || above.any(|place| self.matches(place))
            || !directory.is_empty() && self.matches(directory);
        self.last = Some((directory.to_vec(), is_excluded));
        is_excluded
    }

    fn matches(&self, path: &[u8]) -> bool {
        let ends = memchr::memchr_iter(b'/', path).filter_map(|slash| path.get(slash + 1..));
        std::iter::once(path)
            .chain(ends)
            .any(|part| self.patterns.iter().any(|pattern| pattern.matches(part)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_paths_and_what_follows_a_slash() {
        for (pattern, expected) in [
            ("c", &["/a/b/c", "/a/b/c/d"][..]),
            ("b", &["/a/b", "/a/b/c", "/a/b/c/d"]),
            ("b/c", &["/a/b/c", "/a/b/c/d"]),
            ("*.o", &["/a/x.o"]),
            ("*b*d", &["/a/b/c/d"]),
            ("a", &["/a", "/a/b", "/a/b/c", "/a/b/c/d", "/a/x.o"]),
            ("/a/b", &["/a/b", "/a/b/c", "/a/b/c/d"]),
            ("none", &[]),
        ] {
            let mut excluded = ExcludedPaths::new(&[pattern.into()]);
            let all = ["/a", "/a/b", "/a/b/c", "/a/b/c/d", "/a/x.o"];
            let found: Vec<&str> =
                all.into_iter().filter(|path| excluded.has(path.as_bytes(), b"/a", b"/a")).collect();
            assert_eq!(found, expected, "{pattern}");
        }
        let mut excluded = ExcludedPaths::new(&[b"./b".to_vec()]);
        assert!(excluded.has(b"/a/b", b"/a", b".") && !excluded.has(b"/a/b", b"/a", b"/a"));
    }
}
