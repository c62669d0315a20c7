//! Paths on the command line as the index has them.

use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use scanns::Snapshot;
use scanns::sources::absolute;

/// The path without slashes at its end if the index has it; otherwise the absolute path, if the index has it
/// or a directory above it, which may be a link.
pub fn in_index(snapshot: &Snapshot, written: &OsStr) -> Vec<u8> {
    let mut path = written.as_bytes();
    while let [rest @ .., b'/'] = path
        && !rest.is_empty()
    {
        path = rest;
    }
    // What cannot be read is reported by the question that follows.
    let has = |path: &[u8]| snapshot.hit(path).is_ok_and(|hit| hit.is_some());
    if has(path) {
        return path.to_vec();
    }
    let whole = absolute(Path::new(OsStr::from_bytes(path))).ok();
    let whole = whole.filter(|path| path.ancestors().any(|place| has(place.as_os_str().as_bytes())));
    whole.map_or_else(|| path.to_vec(), |path| path.into_os_string().into_vec())
}
