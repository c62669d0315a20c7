//! Names and paths of POSIX file systems, as several formats contain them.

/// Why `name` cannot be the name of an entry in a directory; `None` if it can.
pub(super) fn fault_of_name(name: &[u8]) -> Option<&'static str> {
    match name {
        b"" => Some("the entry has no name"),
        b"." | b".." => Some("the name is . or .., which no entry of a directory has"),
        _ => match memchr::memchr2(b'/', 0, name)? {
            at if name.get(at) == Some(&0) => {
                Some("the name contains a NUL byte, which no file system allows")
            }
            _ => Some("the name contains a slash, so its directory is not known"),
        },
    }
}

/// The greatest number of bytes of a path that is made of names.
const LONGEST_PATH: usize = 16 << 20;

/// Why `name` cannot be the name of an entry in a directory whose path has `directory` bytes; `None` if it
/// can.
pub(super) fn fault_in_directory(directory: usize, name: &[u8]) -> Option<&'static str> {
    let long = directory + name.len() > LONGEST_PATH;
    fault_of_name(name).or(long.then_some("the path is longer than 16 MiB"))
}

/// Makes `path` the path of `name` in the directory whose path is the first `directory` bytes of `path`.
pub(super) fn join(path: &mut Vec<u8>, directory: usize, name: &[u8]) {
    path.truncate(directory);
    if path.last().is_some_and(|last| *last != b'/') {
        path.push(b'/');
    }
    path.extend_from_slice(name);
}

/// `path` without slashes at its end, unless it is the root.
pub(super) fn without_end_slashes(path: &[u8]) -> &[u8] {
    match path.iter().rposition(|byte| *byte != b'/') {
        Some(last) => path.get(..=last).unwrap_or(path),
        None => path.get(..1).unwrap_or(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_none_are_told() {
        for name in [b"".as_slice(), b".", b"..", b"a/b", b"a\0b", b"/"] {
            assert!(fault_of_name(name).is_some());
        }
        assert!([b"a".as_slice(), b"...", b"\xff\n"].iter().all(|name| fault_of_name(name).is_none()));
    }

    #[test]
    fn paths_have_one_slash_between_and_none_at_the_end() {
        let mut path = b"/".to_vec();
        join(&mut path, 1, b"a");
        join(&mut path, 2, b"b");
        assert_eq!(path, b"/a/b");
        join(&mut path, 0, b"relative");
        assert_eq!(path, b"relative");
        for (path, expected) in [("/a//", "/a"), ("///", "/"), ("/", "/"), ("", ""), ("a", "a")] {
            assert_eq!(without_end_slashes(path.as_bytes()), expected.as_bytes());
        }
    }
}
