//! Replaces files as a whole or not at all.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// Writes `bytes` to the file at `path`, which has its old or its new content at any time. Something that is
/// not a regular file, such as a pipe, is written directly.
///
/// # Errors
/// The file cannot be written; it then keeps its old content.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return fs::write(path, bytes);
    }
    let mut new = path.as_os_str().to_owned();
    new.push(format!(".{}", std::process::id()));
    let write = || {
        let mut file = File::create(&new)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&new, path)
    };
    write().inspect_err(|_| {
        // The file may not exist.
        let _ = fs::remove_file(&new);
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_and_a_failure_leaves_nothing_behind() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("a");
        for text in ["old", "new"] {
            replace(&path, text.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        replace(Path::new("/dev/null"), b"x").unwrap();
        fs::create_dir(place.path().join("b")).unwrap();
        assert!(replace(&place.path().join("b"), b"x").is_err());
        assert!(replace(&place.path().join("c/d"), b"x").is_err());
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 2);
    }
}
