//! Paths that a person writes, as the index has them.

use std::ffi::OsStr;
use std::ops::ControlFlow;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use super::entries::EntryReader;
use super::order::without_slash;
use super::select::below;
use crate::error::Result;
use crate::index::snapshot::Snapshot;
use crate::source::absolute;

/// The path of the index that a written path means.
///
/// Slashes at its end do not count. If the index has the path, it is that path: an index of a dump may have
/// relative paths, of which some begin with `./`. Otherwise it is the absolute path, if the index has it or a
/// directory above it, which may be a link. A directory without an entry of its own, as in an index of
/// regular files alone, is found by what is in it. What the index does not have stays as it is.
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
    let is_near = |path: &PathBuf| path.ancestors().any(|place| has(place.as_os_str().as_bytes()));
    let is_known = whole.as_ref().is_some_and(is_near);
    let whole = whole.map(|path| path.into_os_string().into_vec());
    if let Some(whole) = whole.as_ref().filter(|_| is_known) {
        return whole.clone();
    }
    let forms = [Some(path.to_vec()), Some(other), whole];
    let filled = forms.into_iter().flatten().find(|form| has_entries_below(snapshot, form));
    filled.unwrap_or_else(|| path.to_vec())
}

/// True if an index of files has entries at or below a path.
fn has_entries_below(snapshot: &Snapshot, path: &[u8]) -> bool {
    // What cannot be read is reported by the question that follows.
    EntryReader::new(snapshot).is_ok_and(|reader| is_filled(&reader, path).unwrap_or(false))
}

/// True if there are entries at or below a path.
pub(super) fn is_filled(reader: &EntryReader<'_>, path: &[u8]) -> Result<bool> {
    let mut is_filled = false;
    reader.for_each(&below(reader, path), &[], &mut |_| {
        is_filled = true;
        Ok(ControlFlow::Break(()))
    })?;
    Ok(is_filled)
}
