//! One spelling for each path, so that a file has one key however it was named.

use std::ffi::OsStr;
use std::io;
use std::path::{Component, Path, PathBuf};

/// Returns `path` as an absolute path without `.`, `..` and repeated slashes.
///
/// Symbolic links keep their names, except before a `..`, whose meaning depends on where they lead. The file
/// need not exist.
///
/// # Errors
/// The current directory is gone, or a directory before a `..` does not exist.
pub fn absolute(path: &Path) -> io::Result<PathBuf> {
    if path.as_os_str().is_empty() {
        return Err(io::ErrorKind::NotFound.into());
    }
    // Adds the current directory, and removes `.` and repeated slashes.
    let whole = std::path::absolute(path)?;
    let mut place = PathBuf::new();
    for part in whole.components() {
        match part {
            Component::ParentDir => place = place.join(OsStr::new("..")).canonicalize()?,
            part => place.push(part),
        }
    }
    Ok(place)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn every_spelling_of_a_path_becomes_the_same() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::write(root.join("a/f"), "").unwrap();
        symlink(root.join("a/b"), root.join("link")).unwrap();
        for spelling in ["a/f", "a//f", "./a/./f", "a/b/../f", "a/f/", "link/../f"] {
            assert_eq!(absolute(&root.join(spelling)).unwrap(), root.join("a/f"), "{spelling}");
        }
        assert_eq!(absolute(&root.join("link/x")).unwrap(), root.join("link/x"), "links keep their names");
        assert_eq!(absolute(Path::new("x/y")).unwrap(), std::env::current_dir().unwrap().join("x/y"));
        assert_eq!(absolute(Path::new("/..")).unwrap(), Path::new("/"));
        assert!(absolute(&root.join("gone/../f")).is_err());
        assert!(absolute(Path::new("")).is_err());
    }
}
