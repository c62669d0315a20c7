//! Paths on the command line as the index has them.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use scanns::Snapshot;
use scanns::files::indexed_path;
use scanns::search::Model;

use crate::missing::left_out;
use crate::quoting::quoted;
use crate::report;

/// The path of the index that a written path means.
pub fn in_index(snapshot: &Snapshot, written: &OsStr) -> Vec<u8> {
    indexed_path(snapshot, written.as_bytes())
}

/// The paths of the index that written paths mean.
pub fn all_in_index(snapshot: &Snapshot, written: &[OsString]) -> Vec<Vec<u8>> {
    written.iter().map(|written| in_index(snapshot, written)).collect()
}

/// Says which paths are not in the index, and why, or how its paths look if nothing above the first of them
/// is.
pub fn note_not_in_index(snapshot: &Snapshot, missing: &[Vec<u8>]) {
    let Some(first) = missing.first() else { return };
    let place = indexed_path(snapshot, first);
    let has = |path: &Path| {
        let path = path.as_os_str().as_bytes();
        !path.is_empty() && snapshot.hit(path).is_ok_and(|hit| hit.is_some())
    };
    let is_near = Path::new(OsStr::from_bytes(&place)).ancestors().any(has);
    let form = match example(snapshot) {
        _ if has_files_alone(snapshot) => format!(", which has {FILES_ALONE}"),
        _ if is_near => String::new(),
        None => ", which is empty".into(),
        Some(path) if path.starts_with(b"/") && !first.starts_with(b"/") => {
            format!(", whose paths are absolute, such as {}", quoted(&path))
        }
        Some(path) => format!(", which has paths such as {}", quoted(&path)),
    };
    for path in missing {
        let form = match left_out(snapshot, &indexed_path(snapshot, path)) {
            Some(place) => format!(", since {place}"),
            None if path == first => form.clone(),
            None => String::new(),
        };
        report::note(&format!("{}: not in the index{form}", quoted(path)));
    }
}

/// Says of which directories the index has only what is in them.
pub fn note_without_entry(snapshot: &Snapshot, directories: &[Vec<u8>]) {
    for directory in directories {
        let (directory, what) = match has_files_alone(snapshot) {
            true => (quoted(directory), FILES_ALONE),
            false => (quoted(directory), "what is in it, and no entry of this directory"),
        };
        report::note(&format!("{directory}: the index has {what}"));
    }
}

/// What an index of the text of files has, and how to get the rest.
pub const FILES_ALONE: &str =
    "regular files alone: scanns index --content none makes one of all entries, with directories and links";

/// True for an index of files with their text, in which directories are no entries.
pub fn has_files_alone(snapshot: &Snapshot) -> bool {
    !snapshot.has_entries()
}

/// A path that the index has: a directory that was scanned, or else the first of its entries.
fn example(snapshot: &Snapshot) -> Option<Vec<u8>> {
    // What cannot be read is reported by the question that was asked.
    let scanned = snapshot.coverage().ok()?.into_iter().find(|coverage| coverage.format.is_none());
    if let Some(scanned) = scanned {
        return Some(scanned.path.into_os_string().into_encoded_bytes());
    }
    let hits = snapshot.searcher().top_k(&scanns::Query::All, Model::Classic, 1).ok()?;
    snapshot.key(hits.first()?).ok()
}
