//! Paths, and the order of a walk: a directory, then everything below it, then its siblings.

use std::cmp::Ordering;

use crate::codec::common_prefix;
use crate::source::is_at_or_below;

/// Compares paths in the order of a walk in which siblings are sorted: by their bytes, but a slash comes
/// before all others.
#[inline]
pub(super) fn walk_order(one: &[u8], other: &[u8]) -> Ordering {
    let at = common_prefix(one, other);
    // Nothing comes before a slash, which comes before all other bytes.
    let rank =
        |path: &[u8]| path.get(at).map_or(0, |&byte| if byte == b'/' { 1 } else { u16::from(byte) + 2 });
    rank(one).cmp(&rank(other))
}

/// A path without slashes at its end, unless it is the root.
pub(super) fn without_slash(path: &[u8]) -> &[u8] {
    match path {
        [rest @ .., b'/'] if !rest.is_empty() => without_slash(rest),
        path => path,
    }
}

/// A path with a slash at its end, with which the paths of all that is below it begin.
pub(super) fn below_prefix(path: &[u8]) -> Vec<u8> {
    let mut prefix = path.to_vec();
    if !prefix.ends_with(b"/") {
        prefix.push(b'/');
    }
    prefix
}

/// The directory of a path; the root and a relative name are their own.
pub(super) fn parent(path: &[u8]) -> &[u8] {
    match memchr::memrchr(b'/', path) {
        Some(0) => path.get(..1).unwrap_or(path),
        Some(slash) => path.get(..slash).unwrap_or(path),
        None => path,
    }
}

/// A path below a root; `.` for the root itself.
pub(super) fn relative<'p>(path: &'p [u8], root: &[u8]) -> Option<&'p [u8]> {
    if path == root {
        return Some(b".");
    }
    if !is_at_or_below(path, root) {
        return None;
    }
    let rest = path.get(root.len()..)?;
    Some(rest.strip_prefix(b"/").unwrap_or(rest)).filter(|rest| !rest.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_below_a_directory_comes_before_its_siblings() {
        let sorted = ["/", "/a", "/a/c", "/a/c/d", "/a\n", "/a-b", "/a-b/c", "/aa", "/b"];
        for (at, one) in sorted.iter().enumerate() {
            for (other_at, other) in sorted.iter().enumerate() {
                let order = walk_order(one.as_bytes(), other.as_bytes());
                assert_eq!(order, at.cmp(&other_at), "{one:?} {other:?}");
            }
        }
    }

    #[test]
    fn paths_are_relative_to_the_root() {
        for (path, root, expected) in [
            ("/a/b/c", "/a", Some("b/c")),
            ("/a", "/a", Some(".")),
            ("/ab", "/a", None),
            ("/b", "/", Some("b")),
            ("/", "/", Some(".")),
            ("a/b", "a", Some("b")),
        ] {
            let found = relative(path.as_bytes(), root.as_bytes());
            assert_eq!(found, expected.map(str::as_bytes), "{path} {root}");
        }
    }
}
