//! Paths as places in a tree. The empty path is the directory of relative names.

use crate::source::is_at_or_below;

/// The directory of a path; `None` for `/` and for the empty path.
pub(super) fn directory_of(path: &[u8]) -> Option<&[u8]> {
    if matches!(path, b"/" | b"") {
        return None;
    }
    match memchr::memrchr(b'/', path) {
        Some(0) => path.get(..1),
        Some(slash) => path.get(..slash),
        None => Some(&[]),
    }
}

/// True if a path is a directory or below it.
pub(super) fn holds(directory: &[u8], path: &[u8]) -> bool {
    if directory.is_empty() { !path.starts_with(b"/") } else { is_at_or_below(path, directory) }
}

/// The last part of a path; `/` for the root, and `.` for the empty path.
pub(super) fn name_of(path: &[u8]) -> &[u8] {
    match memchr::memrchr(b'/', path).and_then(|slash| path.get(slash + 1..)) {
        None if path.is_empty() => b".",
        None | Some([]) => path,
        Some(name) => name,
    }
}

/// The deepest directory that holds both paths, or is one of them; `None` for an absolute and a relative one.
pub(super) fn common<'p>(one: &'p [u8], other: &[u8]) -> Option<&'p [u8]> {
    let mut place = one;
    while !holds(place, other) {
        place = directory_of(place)?;
    }
    Some(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_absolute_and_relative_paths_are_found() {
        let common = |one: &'static str, other: &str| {
            common(one.as_bytes(), other.as_bytes()).map(|place| String::from_utf8_lossy(place).into_owned())
        };
        for (one, other, expected) in [
            ("/a/b", "/a/c", Some("/a")),
            ("/a", "/a/c", Some("/a")),
            ("/a/c", "/a", Some("/a")),
            ("/a", "/ab", Some("/")),
            ("a/b", "a-b", Some("")),
            ("a", "/a", None),
            ("/a", "a", None),
        ] {
            assert_eq!(common(one, other).as_deref(), expected, "{one} {other}");
        }
        let names: [&[u8]; 4] = [b"/", b"", b"/a/b", b"b"];
        assert_eq!(names.map(name_of), [b"/".as_slice(), b".", b"b", b"b"]);
    }
}
