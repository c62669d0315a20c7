//! Paths that a person writes, as the index has them.

use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use super::order::without_slash;
use crate::index::snapshot::Snapshot;
use crate::source::absolute;

/// The path of the index that a written path means.
///
/// Slashes at its end do not count. If the index has the path, it is that path: an index of a dump may have
/// relative paths, of which some begin with `./`. Otherwise it is the absolute path, if the index has it or a
/// directory above it, which may be a link. What the index does not have stays as it is.
pub fn indexed_path(snapshot: &Snapshot, written: &[u8]) -> Vec<u8> {
    let path = without_slash(written);
    // What cannot be read is reported by the question that follows.
    let has = |path: &[u8]| !path.is_empty() && snapshot.hit(path).is_ok_and(|hit| hit.is_some());
    if path.is_empty() || has(path) {
        return path.to_vec();
    }
    let other = match path.strip_prefix(b"./") {
        Some(rest) => rest.to_vec(),
        None => [b"./", path].concat(),
    };
    if !path.starts_with(b"/") && has(&other) {
        return other;
    }
    let whole = absolute(Path::new(OsStr::from_bytes(path))).ok();
    let whole = whole.filter(|path| path.ancestors().any(|place| has(place.as_os_str().as_bytes())));
    whole.map_or_else(|| path.to_vec(), |path| path.into_os_string().into_vec())
}
